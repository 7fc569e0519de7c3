/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Records of the subnet administration (IBTA volume 1, chapter 15): paths, multicast groups,
 * services. Users are librdmacm and what asks the subnet manager.
 */
#ifndef INFINIBAND_SA_H
#define INFINIBAND_SA_H

#include <infiniband/verbs.h>
#include <linux/types.h>

@types abi/sa

#endif
