/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Headers of messages to a tag matching SRQ, in front of the data.
 */
#ifndef _TM_TYPES_H
#define _TM_TYPES_H

#include <linux/types.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Header that a sender puts in front of a message to a tag matching SRQ. */
struct ibv_tmh {
	/* One of ibv_tmh_op. */
	uint8_t opcode;
	/* 0. */
	uint8_t reserved[3];
	/* Context for the receiver, network byte order. */
	__be32 app_ctx;
	/* Tag, network byte order. */
	__be64 tag;
};

/* Where the data of a rendezvous message lies at the sender; follows the ibv_tmh. */
struct ibv_rvh {
	/* Address, network byte order. */
	__be64 va;
	/* Remote key, network byte order. */
	__be32 rkey;
	/* Length in bytes, network byte order. */
	__be32 len;
};

#ifdef __cplusplus
}
#endif

#endif
