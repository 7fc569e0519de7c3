/*
 * Answers every RDMA ioctl with ENOTTY, as a kernel without them would, so that a verbs library
 * has to fall back to its write commands. Preloaded before the library under test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

/* _IOWR(0x1b, 1, struct ib_uverbs_ioctl_hdr) */
#define RDMA_VERBS_IOCTL 0xc0181b01UL

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	if (request == RDMA_VERBS_IOCTL) {
		errno = ENOTTY;
		return -1;
	}
	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	return syscall(SYS_ioctl, fd, request, argument);
}
