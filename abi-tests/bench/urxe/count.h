/*
 * The marks between which calls.c counts system calls: getpriority(2) with a number that the kernel
 * refuses, and the side.
 */
enum { MARK_BEGIN = 0x5eed0000, MARK_END };
