/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Former names of the path record that the kernel's interfaces have; rdma/ib_user_sa.h defines it.
 */
#ifndef INFINIBAND_SA_KERN_ABI_H
#define INFINIBAND_SA_KERN_ABI_H

#include <linux/types.h>
#include <rdma/ib_user_sa.h>

#define ib_kern_path_rec ib_user_path_rec
#define ibv_kern_path_rec ib_user_path_rec

#endif
