/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The opcode byte of an InfiniBand packet, first byte of the base transport header (IBTA volume 1,
 * chapter 9): the transport service in the upper three bits, the operation in the others. For
 * programs that build or read packets; work requests have other opcodes, enum ibv_wr_opcode.
 */
#ifndef INFINIBAND_OPCODE_H
#define INFINIBAND_OPCODE_H

/* The enumerator of a transport's operation: IBV_OPCODE(RC, SEND_ONLY) defines IBV_OPCODE_RC_SEND_ONLY. */
#define IBV_OPCODE(transport, op) \
	IBV_OPCODE_##transport##_##op = IBV_OPCODE_##transport + IBV_OPCODE_##op

@types abi/opcode

#endif
