/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Numbers and structs of the kernel's ioctl interface for verbs that programs see too; the kernel
 * has them in rdma/ib_user_ioctl_verbs.h, which a program must not include beside this file.
 */
#ifndef IB_USER_IOCTL_VERBS_H
#define IB_USER_IOCTL_VERBS_H

#include <linux/types.h>
#include <rdma/ib_user_verbs.h>

/* A pointer of a program in a struct of the kernel, where it always has 64 bits. */
#ifndef RDMA_UAPI_PTR
#define RDMA_UAPI_PTR(_type, _name) __aligned_u64 _name
#endif

@kernel-types uapi/ioctl_verbs

#endif
