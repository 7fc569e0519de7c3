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

@only ibv_tmh_op ibv_tmh ibv_rvh

#ifdef __cplusplus
}
#endif

#endif
