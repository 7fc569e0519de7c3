/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Integers of 64 bits in network byte order.
 *
 * Deprecated: endian.h has htobe64() and be64toh().
 */
#ifndef INFINIBAND_ARCH_H
#define INFINIBAND_ARCH_H

#include <stdint.h>
#include <endian.h>

/* A system's own header may have functions of these names, or macros. */
#ifndef ntohll
#undef htonll

/* Host byte order to network byte order. */
__attribute__((deprecated)) static inline uint64_t htonll(uint64_t x)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(x) : x;
}

/* Network byte order to host byte order. */
__attribute__((deprecated)) static inline uint64_t ntohll(uint64_t x)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(x) : x;
}

#define htonll htonll
#define ntohll ntohll
#endif

#endif
