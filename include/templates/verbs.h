/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The verbs: devices, memory, queues, and what is sent through them.
 *
 * Manual pages: section 3 has one for each function, libibverbs-rs(7) an overview. Functions return 0 or
 * an error number, or a pointer that is NULL with errno set, unless they say otherwise. Numbers in
 * network byte order are of the types __be16, __be32 and __be64; all others are in that of the host.
 *
 * What is marked "inline" in the manual is so for speed: the call goes straight to the functions of
 * the device's provider. The library also has a plain symbol for each.
 */
#ifndef INFINIBAND_VERBS_H
#define INFINIBAND_VERBS_H

#include <stdint.h>
#include <pthread.h>
#include <stddef.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <linux/types.h>
#include <linux/if_ether.h>
#include <sys/types.h>
#include <infiniband/verbs_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define __attribute_const __attribute__((const))
#else
#define __attribute_const
#endif

/*
 * Whether a struct of which the other side knows sz bytes has the member fld: structs grow at their
 * end, and calls pass the size that the caller was compiled with.
 */
#define vext_field_avail(type, fld, sz) (offsetof(type, fld) < (sz))

/* ibv_context.abi_compat of a context that is inside of a struct verbs_context, as all are today. */
#define __VERBS_ABI_IS_EXTENDED ((void *)UINTPTR_MAX)

/* Returned by ibv_parent_domain_init_attr.alloc: let the library allocate. */
#define IBV_ALLOCATOR_USE_DEFAULT ((void *)-1)

@forward

/* ---- Devices. */

@types abi/device

/* ---- Ports and GIDs. */

@types abi/port

/* ---- Asynchronous events. */

@types abi/event

/* ---- Address handles: the way to a peer. */

@types abi/ah

/* ---- Protection domains, memory regions and windows, device memory. */

@types abi/memory

/* ---- Completion queues. */

@types abi/cq

/* ---- Shared receive queues and tag matching. */

@types abi/srq

/* ---- Work queues and receive side scaling. */

@types abi/wq

/* ---- Queue pairs. */

@types abi/qp

/* ---- Work requests. */

@types abi/work_request

/* ---- Queue pairs that are posted to by calls. */

@types abi/qp_ex

/* ---- Flow rules. */

@types abi/flow

/* ---- Counters. */

@types abi/counters

/* ---- Contexts. */

@types abi/context

/*
 * The extended context around a context, or NULL. It grows at its front: programs find a member by
 * its distance from the end, and compare the struct's size with that.
 */
static inline struct verbs_context *verbs_get_ctx(struct ibv_context *ctx)
{
	if (ctx->abi_compat != __VERBS_ABI_IS_EXTENDED)
		return NULL;
	return (struct verbs_context *)(void *)((char *)ctx -
						offsetof(struct verbs_context, context));
}

/* The extended context if it has the member op, and a function there; NULL otherwise. */
#define verbs_get_ctx_op(ctx, op) \
	__extension__({ \
		struct verbs_context *__vctx = verbs_get_ctx(ctx); \
		const size_t __needed = \
			sizeof(struct verbs_context) - offsetof(struct verbs_context, op); \
		if (__vctx && (__vctx->sz < __needed || !__vctx->op)) \
			__vctx = NULL; \
		__vctx; \
	})

/* ---- Devices and contexts: functions. */

@functions verbs/device verbs/context address/resolve

/*
 * The exported function knows the attributes up to port_cap_flags2, and is what old programs call;
 * those compiled with this header get all.
 */
static inline int ___ibv_query_port(struct ibv_context *context, uint8_t port_num,
		struct ibv_port_attr *port_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, query_port);

	if (vctx)
		return vctx->query_port(context, port_num, port_attr, sizeof(*port_attr));
	memset(port_attr, 0, sizeof(*port_attr));
	return ibv_query_port(context, port_num, (struct _compat_ibv_port_attr *)port_attr);
}

/* Stores the properties of a port, from 1, in port_attr. ibv_query_port(3) */
#define ibv_query_port(context, port_num, port_attr) \
	___ibv_query_port(context, port_num, port_attr)

/*
 * Stores the properties of a device in attr, all that are known; input is NULL or zero. EINVAL: an
 * input that is not. ibv_query_device_ex(3)
 */
static inline int ibv_query_device_ex(struct ibv_context *context,
		const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, query_device_ex);

	if (input && input->comp_mask)
		return EINVAL;
	if (vctx) {
		int ret = vctx->query_device_ex(context, input, attr, sizeof(*attr));

		if (ret != EOPNOTSUPP && ret != ENOSYS)
			return ret;
	}
	memset(attr, 0, sizeof(*attr));
	return ibv_query_device(context, &attr->orig_attr);
}

/* Reads the device's clock, in its own unit. ibv_query_rt_values_ex(3) */
static inline int ibv_query_rt_values_ex(struct ibv_context *context, struct ibv_values_ex *values)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, query_rt_values);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->query_rt_values(context, values);
}

@functions verbs/gid verbs/pkey verbs/event -ibv_query_gid_type

/* Stores the entry gid_index of a port's GID table, flags are 0. ibv_query_gid_ex(3) */
static inline int ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num,
		uint32_t gid_index, struct ibv_gid_entry *entry, uint32_t flags)
{
	return _ibv_query_gid_ex(context, port_num, gid_index, entry, flags, sizeof(*entry));
}

/*
 * Stores the valid GIDs of all ports, up to max_entries. Returns how many, or a negative error
 * number. ibv_query_gid_table(3)
 */
static inline ssize_t ibv_query_gid_table(struct ibv_context *context,
		struct ibv_gid_entry *entries, size_t max_entries, uint32_t flags)
{
	return _ibv_query_gid_table(context, entries, max_entries, flags, sizeof(*entries));
}

/* Whether the QP type qpt is in a mask of them, such as ibv_tso_caps.supported_qpts. */
static inline int ibv_is_qpt_supported(uint32_t caps, enum ibv_qp_type qpt)
{
	return (caps >> ((unsigned int)qpt & 31) & 1) != 0;
}

/* ---- Protection domains and memory: functions. */

@functions verbs/pd verbs/mr/mod verbs/mr/extended verbs/dm verbs/dmah verbs/buf fork/mod -ibv_dontfork_range -ibv_dofork_range

/*
 * What ibv_reg_mr means. ibv_reg_mr_iova2 knows the access bits that a device may ignore and is not
 * in old libraries; so programs that evidently do not use these bits call the function that is.
 */
__attribute__((always_inline)) static inline struct ibv_mr *__ibv_reg_mr(struct ibv_pd *pd,
		void *addr, size_t length, unsigned int access, int is_access_const)
{
	if (is_access_const && !(access & IBV_ACCESS_OPTIONAL_RANGE))
		return ibv_reg_mr(pd, addr, length, (int)access);
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, access);
}

/* Registers length bytes at addr for access, bits of enum ibv_access_flags. ibv_reg_mr(3) */
#define ibv_reg_mr(pd, addr, length, access) \
	__ibv_reg_mr(pd, addr, length, (unsigned int)(access), \
		     __builtin_constant_p(((unsigned int)(access) & IBV_ACCESS_OPTIONAL_RANGE) == 0))

/* What ibv_reg_mr_iova means, see __ibv_reg_mr. */
__attribute__((always_inline)) static inline struct ibv_mr *__ibv_reg_mr_iova(struct ibv_pd *pd,
		void *addr, size_t length, uint64_t iova, unsigned int access,
		int is_access_const)
{
	if (is_access_const && !(access & IBV_ACCESS_OPTIONAL_RANGE))
		return ibv_reg_mr_iova(pd, addr, length, iova, (int)access);
	return ibv_reg_mr_iova2(pd, addr, length, iova, access);
}

/* Registers memory that work requests name by addresses from iova on. ibv_reg_mr_iova(3) */
#define ibv_reg_mr_iova(pd, addr, length, iova, access) \
	__ibv_reg_mr_iova(pd, addr, length, iova, (unsigned int)(access), \
			  __builtin_constant_p( \
				  ((unsigned int)(access) & IBV_ACCESS_OPTIONAL_RANGE) == 0))

/* Allocates a thread domain, for objects that one thread at a time uses. ibv_alloc_td(3) */
static inline struct ibv_td *ibv_alloc_td(struct ibv_context *context,
		struct ibv_td_init_attr *init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_td);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->alloc_td(context, init_attr);
}

/* Frees a thread domain. EBUSY: a parent domain uses it. ibv_alloc_td(3) */
static inline int ibv_dealloc_td(struct ibv_td *td)
{
	struct verbs_context *vctx = verbs_get_ctx_op(td->context, dealloc_td);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->dealloc_td(td);
}

/*
 * Allocates a PD that adds a thread domain or allocators to another one. ibv_dealloc_pd frees it.
 * ibv_alloc_parent_domain(3)
 */
static inline struct ibv_pd *ibv_alloc_parent_domain(struct ibv_context *context,
		struct ibv_parent_domain_init_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_parent_domain);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->alloc_parent_domain(context, attr);
}

/* Registers a region whose writes vanish and whose reads are zeros. ibv_alloc_null_mr(3) */
static inline struct ibv_mr *ibv_alloc_null_mr(struct ibv_pd *pd)
{
	struct verbs_context *vctx = verbs_get_ctx_op(pd->context, alloc_null_mr);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->alloc_null_mr(pd);
}

/*
 * Tells what will be done with on-demand memory; flags are IBV_ADVISE_MR_FLAG_*. ibv_advise_mr(3)
 */
static inline int ibv_advise_mr(struct ibv_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		uint32_t flags, struct ibv_sge *sg_list, uint32_t num_sge)
{
	struct verbs_context *vctx = verbs_get_ctx_op(pd->context, advise_mr);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->advise_mr(pd, advice, flags, sg_list, num_sge);
}

/* Allocates memory on the device. ibv_alloc_dm(3) */
static inline struct ibv_dm *ibv_alloc_dm(struct ibv_context *context,
		struct ibv_alloc_dm_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, alloc_dm);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->alloc_dm(context, attr);
}

/* Frees device memory. EBUSY: it is registered. ibv_alloc_dm(3) */
static inline int ibv_free_dm(struct ibv_dm *dm)
{
	struct verbs_context *vctx = verbs_get_ctx_op(dm->context, free_dm);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->free_dm(dm);
}

/*
 * Copies length bytes of the host to device memory, dm_offset bytes from its begin. ibv_alloc_dm(3)
 */
static inline int ibv_memcpy_to_dm(struct ibv_dm *dm, uint64_t dm_offset, const void *host_addr,
		size_t length)
{
	return dm->memcpy_to_dm(dm, dm_offset, host_addr, length);
}

/*
 * Copies length bytes of device memory, dm_offset bytes from its begin, to the host.
 * ibv_alloc_dm(3)
 */
static inline int ibv_memcpy_from_dm(void *host_addr, struct ibv_dm *dm, uint64_t dm_offset,
		size_t length)
{
	return dm->memcpy_from_dm(host_addr, dm, dm_offset, length);
}

/* Registers a part of device memory. ibv_alloc_dm(3) */
static inline struct ibv_mr *ibv_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
		size_t length, unsigned int access)
{
	struct verbs_context *vctx = verbs_get_ctx_op(pd->context, reg_dm_mr);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->reg_dm_mr(pd, dm, dm_offset, length, access);
}

/* Allocates a memory window, IBV_MW_TYPE_1 or 2. ibv_alloc_mw(3) */
static inline struct ibv_mw *ibv_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	if (!pd->context->ops.alloc_mw) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return pd->context->ops.alloc_mw(pd, type);
}

/* Frees a memory window. ibv_alloc_mw(3) */
static inline int ibv_dealloc_mw(struct ibv_mw *mw)
{
	return mw->context->ops.dealloc_mw(mw);
}

/*
 * Posts a request to bind a window of type 1 to a part of a region, or with length 0 to nothing;
 * mw->rkey is the new key. EINVAL: a window of another type, or a part of no region; EPERM: a region
 * of another PD. ibv_bind_mw(3)
 */
static inline int ibv_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind)
{
	const struct ibv_mw_bind_info *part = &mw_bind->bind_info;

	if (mw->type != IBV_MW_TYPE_1)
		return EINVAL;
	if (!part->mr) {
		if (part->addr || part->length)
			return EINVAL;
	} else if (part->mr->pd != mw->pd) {
		return EPERM;
	}
	return mw->context->ops.bind_mw(qp, mw, mw_bind);
}

/* The next key of a window of type 2: the low 8 bits, which are the program's, plus 1. ibv_inc_rkey(3) */
static inline uint32_t ibv_inc_rkey(uint32_t rkey)
{
	return (rkey & ~(uint32_t)0xff) | ((rkey + 1) & 0xff);
}

/* ---- Completions: functions. */

@functions verbs/comp_channel verbs/cq

/*
 * Creates a CQ that is polled by calls, with the fields of completions that cq_attr asks for.
 * ibv_create_cq_ex(3)
 */
static inline struct ibv_cq_ex *ibv_create_cq_ex(struct ibv_context *context,
		struct ibv_cq_init_attr_ex *cq_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_cq_ex);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_cq_ex(context, cq_attr);
}

/* The plain CQ that an extended one begins with. ibv_create_cq_ex(3) */
static inline struct ibv_cq *ibv_cq_ex_to_cq(struct ibv_cq_ex *cq)
{
	return (struct ibv_cq *)cq;
}

/* Changes when a CQ raises events. ibv_modify_cq(3) */
static inline int ibv_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(cq->context, modify_cq);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->modify_cq(cq, attr);
}

/*
 * Takes up to num_entries completions off a CQ. Returns how many, or a negative number.
 * ibv_poll_cq(3)
 */
static inline int ibv_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	return cq->context->ops.poll_cq(cq, num_entries, wc);
}

/*
 * Asks for an event at the next completion, solicited_only: the next one that the sender marked, or
 * an error. ibv_req_notify_cq(3)
 */
static inline int ibv_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return cq->context->ops.req_notify_cq(cq, solicited_only);
}

/*
 * Polling an extended CQ: ibv_start_poll takes the first completion or returns ENOENT, ibv_next_poll
 * the next, ibv_end_poll ends what ibv_start_poll began with 0. Status and wr_id are members of the
 * CQ; all else is read by the calls below, of which those may be used whose bit was in wc_flags.
 */
/*
 * Takes the first completion; ENOENT: there is none. attr: nothing is defined. ibv_create_cq_ex(3)
 */
static inline int ibv_start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	return cq->start_poll(cq, attr);
}

/* Takes the next completion; ENOENT: there is none. ibv_create_cq_ex(3) */
static inline int ibv_next_poll(struct ibv_cq_ex *cq)
{
	return cq->next_poll(cq);
}

/* Ends polling. ibv_create_cq_ex(3) */
static inline void ibv_end_poll(struct ibv_cq_ex *cq)
{
	cq->end_poll(cq);
}

/* What has completed. */
static inline enum ibv_wc_opcode ibv_wc_read_opcode(struct ibv_cq_ex *cq)
{
	return cq->read_opcode(cq);
}

/* The device's own error code. */
static inline uint32_t ibv_wc_read_vendor_err(struct ibv_cq_ex *cq)
{
	return cq->read_vendor_err(cq);
}

/* Bytes that were received, read or written. */
static inline uint32_t ibv_wc_read_byte_len(struct ibv_cq_ex *cq)
{
	return cq->read_byte_len(cq);
}

/* Immediate data of the sender; with IBV_WC_WITH_IMM. */
static inline __be32 ibv_wc_read_imm_data(struct ibv_cq_ex *cq)
{
	return cq->read_imm_data(cq);
}

/* The key that the sender has invalidated; with IBV_WC_WITH_INV. */
static inline uint32_t ibv_wc_read_invalidated_rkey(struct ibv_cq_ex *cq)
{
	return (uint32_t)cq->read_imm_data(cq);
}

/* The QP. */
static inline uint32_t ibv_wc_read_qp_num(struct ibv_cq_ex *cq)
{
	return cq->read_qp_num(cq);
}

/* The sender's QP; UD. */
static inline uint32_t ibv_wc_read_src_qp(struct ibv_cq_ex *cq)
{
	return cq->read_src_qp(cq);
}

/* Bits of enum ibv_wc_flags. */
static inline unsigned int ibv_wc_read_wc_flags(struct ibv_cq_ex *cq)
{
	return cq->read_wc_flags(cq);
}

/* The sender's LID; UD. */
static inline uint32_t ibv_wc_read_slid(struct ibv_cq_ex *cq)
{
	return cq->read_slid(cq);
}

/* Service level; UD. */
static inline uint8_t ibv_wc_read_sl(struct ibv_cq_ex *cq)
{
	return cq->read_sl(cq);
}

/* Path bits of the LID that was sent to; UD. */
static inline uint8_t ibv_wc_read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	return cq->read_dlid_path_bits(cq);
}

/* Time of the completion in ticks of the device's clock. */
static inline uint64_t ibv_wc_read_completion_ts(struct ibv_cq_ex *cq)
{
	return cq->read_completion_ts(cq);
}

/* Time of the completion in nanoseconds since 1970. */
static inline uint64_t ibv_wc_read_completion_wallclock_ns(struct ibv_cq_ex *cq)
{
	return cq->read_completion_wallclock_ns(cq);
}

/* The VLAN tag that was taken off the packet. */
static inline uint16_t ibv_wc_read_cvlan(struct ibv_cq_ex *cq)
{
	return cq->read_cvlan(cq);
}

/* The tag of the flow rule that matched; 0: none. */
static inline uint32_t ibv_wc_read_flow_tag(struct ibv_cq_ex *cq)
{
	return cq->read_flow_tag(cq);
}

/* Stores the tag and the application's word of a tag matching message. */
static inline void ibv_wc_read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *tm_info)
{
	cq->read_tm_info(cq, tm_info);
}

/* ---- Queue pairs: functions. */

@functions verbs/qp verbs/mcast

/*
 * Creates a QP with any options; with comp_mask IBV_QP_INIT_ATTR_PD alone as ibv_create_qp does,
 * which every device can. ibv_create_qp_ex(3)
 */
static inline struct ibv_qp *ibv_create_qp_ex(struct ibv_context *context,
		struct ibv_qp_init_attr_ex *qp_init_attr_ex)
{
	struct verbs_context *vctx;

	/* The extended attributes begin like the plain ones. */
	if (qp_init_attr_ex->comp_mask == IBV_QP_INIT_ATTR_PD)
		return ibv_create_qp(qp_init_attr_ex->pd,
				     (struct ibv_qp_init_attr *)qp_init_attr_ex);
	vctx = verbs_get_ctx_op(context, create_qp_ex);
	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_qp_ex(context, qp_init_attr_ex);
}

/* Opens a QP of an XRC domain that another process has created. ibv_open_qp(3) */
static inline struct ibv_qp *ibv_open_qp(struct ibv_context *context,
		struct ibv_qp_open_attr *qp_open_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, open_qp);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->open_qp(context, qp_open_attr);
}

/* Limits how fast a QP sends, in kbit/s. ibv_modify_qp_rate_limit(3) */
static inline int ibv_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(qp->context, modify_qp_rate_limit);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->modify_qp_rate_limit(qp, attr);
}

/* Opens an XRC domain, which processes share by a file. ibv_open_xrcd(3) */
static inline struct ibv_xrcd *ibv_open_xrcd(struct ibv_context *context,
		struct ibv_xrcd_init_attr *xrcd_init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, open_xrcd);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->open_xrcd(context, xrcd_init_attr);
}

/* Closes an XRC domain. ibv_open_xrcd(3) */
static inline int ibv_close_xrcd(struct ibv_xrcd *xrcd)
{
	/* Only an extended context can have opened it. */
	return verbs_get_ctx(xrcd->context)->close_xrcd(xrcd);
}

/*
 * Posts a list of send requests; on an error *bad_wr is the first that was not posted.
 * ibv_post_send(3)
 */
static inline int ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		struct ibv_send_wr **bad_wr)
{
	return qp->context->ops.post_send(qp, wr, bad_wr);
}

/*
 * Posts a list of receives; on an error *bad_wr is the first that was not posted. ibv_post_recv(3)
 */
static inline int ibv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		struct ibv_recv_wr **bad_wr)
{
	return qp->context->ops.post_recv(qp, wr, bad_wr);
}

/*
 * Posting to an extended QP: ibv_wr_start, for each request one call that says what to do and one or
 * two that say with which data and to whom, ibv_wr_complete to hand all to the device or ibv_wr_abort
 * to forget them. wr_id and wr_flags, members of the QP, count for the requests begun after they are
 * set. An error is reported by ibv_wr_complete, and none of the requests is posted then. Only
 * operations may be used whose bit was in send_ops_flags. ibv_wr_post(3)
 */
/* Begins a list of requests; no other thread may post to the QP until it ends. */
static inline void ibv_wr_start(struct ibv_qp_ex *qp)
{
	qp->wr_start(qp);
}

/* Posts the list. */
static inline int ibv_wr_complete(struct ibv_qp_ex *qp)
{
	return qp->wr_complete(qp);
}

/* Drops the list. */
static inline void ibv_wr_abort(struct ibv_qp_ex *qp)
{
	qp->wr_abort(qp);
}

/* Send. */
static inline void ibv_wr_send(struct ibv_qp_ex *qp)
{
	qp->wr_send(qp);
}

/* Send with immediate data. */
static inline void ibv_wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	qp->wr_send_imm(qp, imm_data);
}

/* Send, and invalidate a key of the peer. */
static inline void ibv_wr_send_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	qp->wr_send_inv(qp, invalidate_rkey);
}

/* Send a TCP stream that the device cuts into segments of mss bytes, each behind hdr. */
static inline void ibv_wr_send_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	qp->wr_send_tso(qp, hdr, hdr_sz, mss);
}

/* Write to the peer's memory. */
static inline void ibv_wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	qp->wr_rdma_write(qp, rkey, remote_addr);
}

/* Write to the peer's memory, and complete one of its receives with immediate data. */
static inline void ibv_wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
		__be32 imm_data)
{
	qp->wr_rdma_write_imm(qp, rkey, remote_addr, imm_data);
}

/* Read from the peer's memory. */
static inline void ibv_wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	qp->wr_rdma_read(qp, rkey, remote_addr);
}

/* Write swap to 8 bytes of the peer's memory if they are compare; the old value is read. */
static inline void ibv_wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
		uint64_t compare, uint64_t swap)
{
	qp->wr_atomic_cmp_swp(qp, rkey, remote_addr, compare, swap);
}

/* Add to 8 bytes of the peer's memory; the old value is read. */
static inline void ibv_wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey,
		uint64_t remote_addr, uint64_t add)
{
	qp->wr_atomic_fetch_add(qp, rkey, remote_addr, add);
}

/* Write 8 bytes in one piece, from atomic_wr. */
static inline void ibv_wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
		const void *atomic_wr)
{
	qp->wr_atomic_write(qp, rkey, remote_addr, atomic_wr);
}

/*
 * Make earlier writes to len bytes visible or persistent: type is of enum ibv_placement_type, level
 * of enum ibv_selectivity_level.
 */
static inline void ibv_wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
		size_t len, uint8_t type, uint8_t level)
{
	qp->wr_flush(qp, rkey, remote_addr, len, type, level);
}

/* Bind a window of type 2 to a part of a region, under the key rkey. */
static inline void ibv_wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
		const struct ibv_mw_bind_info *bind_info)
{
	qp->wr_bind_mw(qp, mw, rkey, bind_info);
}

/* Invalidate a key of an own window. */
static inline void ibv_wr_local_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
	qp->wr_local_inv(qp, invalidate_rkey);
}

/* The data: one piece. */
static inline void ibv_wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr,
		uint32_t length)
{
	qp->wr_set_sge(qp, lkey, addr, length);
}

/* The data: a list of pieces. */
static inline void ibv_wr_set_sge_list(struct ibv_qp_ex *qp, size_t num_sge,
		const struct ibv_sge *sg_list)
{
	qp->wr_set_sge_list(qp, num_sge, sg_list);
}

/* The data: length bytes, copied now. */
static inline void ibv_wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	qp->wr_set_inline_data(qp, addr, length);
}

/* The data: a list of pieces, copied now. */
static inline void ibv_wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t num_buf,
		const struct ibv_data_buf *buf_list)
{
	qp->wr_set_inline_data_list(qp, num_buf, buf_list);
}

/* The peer of a UD request. */
static inline void ibv_wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn,
		uint32_t remote_qkey)
{
	qp->wr_set_ud_addr(qp, ah, remote_qpn, remote_qkey);
}

/* The peer's SRQ of an XRC request. */
static inline void ibv_wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t remote_srqn)
{
	qp->wr_set_xrc_srqn(qp, remote_srqn);
}

/* ---- Shared receive queues and work queues: functions. */

@functions verbs/srq

/*
 * Creates an SRQ of any type; with a PD and no other type than IBV_SRQT_BASIC as ibv_create_srq
 * does, which every device can. ibv_create_srq_ex(3)
 */
static inline struct ibv_srq *ibv_create_srq_ex(struct ibv_context *context,
		struct ibv_srq_init_attr_ex *srq_init_attr_ex)
{
	const uint32_t mask = srq_init_attr_ex->comp_mask;
	struct verbs_context *vctx;

	/* The extended attributes begin like the plain ones. */
	if (mask == IBV_SRQ_INIT_ATTR_PD ||
	    (mask == (IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE) &&
	     srq_init_attr_ex->srq_type == IBV_SRQT_BASIC))
		return ibv_create_srq(srq_init_attr_ex->pd,
				      (struct ibv_srq_init_attr *)srq_init_attr_ex);
	vctx = verbs_get_ctx_op(context, create_srq_ex);
	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_srq_ex(context, srq_init_attr_ex);
}

/* Stores the number by which XRC peers name an SRQ. ibv_get_srq_num(3) */
static inline int ibv_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num)
{
	struct verbs_context *vctx = verbs_get_ctx_op(srq->context, get_srq_num);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->get_srq_num(srq, srq_num);
}

/*
 * Posts a list of receives to an SRQ; on an error *bad_recv_wr is the first that was not posted.
 * ibv_post_srq_recv(3)
 */
static inline int ibv_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *recv_wr,
		struct ibv_recv_wr **bad_recv_wr)
{
	return srq->context->ops.post_srq_recv(srq, recv_wr, bad_recv_wr);
}

/*
 * Posts a list of operations to a tag matching SRQ; on an error *bad_op is the first that was not
 * posted. ibv_post_srq_ops(3)
 */
static inline int ibv_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op,
		struct ibv_ops_wr **bad_op)
{
	struct verbs_context *vctx = verbs_get_ctx_op(srq->context, post_srq_ops);

	if (!vctx) {
		*bad_op = op;
		return EOPNOTSUPP;
	}
	return vctx->post_srq_ops(srq, op, bad_op);
}

/* Creates a work queue, for an indirection table. ibv_create_wq(3) */
static inline struct ibv_wq *ibv_create_wq(struct ibv_context *context,
		struct ibv_wq_init_attr *wq_init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_wq);
	struct ibv_wq *wq;

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	wq = vctx->create_wq(context, wq_init_attr);
	if (wq) {
		/* For the events of the queue, which the library counts and providers do not. */
		wq->wq_context = wq_init_attr->wq_context;
		wq->events_completed = 0;
		pthread_mutex_init(&wq->mutex, NULL);
		pthread_cond_init(&wq->cond, NULL);
	}
	return wq;
}

/* Changes state or flags of a work queue. ibv_modify_wq(3) */
static inline int ibv_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *wq_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(wq->context, modify_wq);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->modify_wq(wq, wq_attr);
}

/* Destroys a work queue. EBUSY: an indirection table uses it. ibv_create_wq(3) */
static inline int ibv_destroy_wq(struct ibv_wq *wq)
{
	struct verbs_context *vctx = verbs_get_ctx_op(wq->context, destroy_wq);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->destroy_wq(wq);
}

/*
 * Posts a list of receives to a work queue; on an error *bad_recv_wr is the first that was not
 * posted. ibv_post_wq_recv(3)
 */
static inline int ibv_post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *recv_wr,
		struct ibv_recv_wr **bad_recv_wr)
{
	return wq->post_recv(wq, recv_wr, bad_recv_wr);
}

/* Creates a table of work queues over which packets are spread. ibv_create_rwq_ind_table(3) */
static inline struct ibv_rwq_ind_table *ibv_create_rwq_ind_table(struct ibv_context *context,
		struct ibv_rwq_ind_table_init_attr *init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_rwq_ind_table);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_rwq_ind_table(context, init_attr);
}

/* Destroys a table of work queues. EBUSY: a QP uses it. ibv_create_rwq_ind_table(3) */
static inline int ibv_destroy_rwq_ind_table(struct ibv_rwq_ind_table *rwq_ind_table)
{
	struct verbs_context *vctx = verbs_get_ctx_op(rwq_ind_table->context, destroy_rwq_ind_table);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->destroy_rwq_ind_table(rwq_ind_table);
}

/* ---- Address handles: functions. */

@functions verbs/ah address/from_wc

/* ---- Flow rules: functions. */

/* Steers packets that match the rule to the QP. ibv_create_flow(3) */
static inline struct ibv_flow *ibv_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *flow)
{
	struct verbs_context *vctx = verbs_get_ctx_op(qp->context, ibv_create_flow);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->ibv_create_flow(qp, flow);
}

/* Ends a flow rule. ibv_create_flow(3) */
static inline int ibv_destroy_flow(struct ibv_flow *flow_id)
{
	struct verbs_context *vctx = verbs_get_ctx_op(flow_id->context, ibv_destroy_flow);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->ibv_destroy_flow(flow_id);
}

/* Creates an action that encrypts or decrypts ESP packets. ibv_flow_action(3) */
static inline struct ibv_flow_action *ibv_create_flow_action_esp(struct ibv_context *ctx,
		struct ibv_flow_action_esp_attr *esp)
{
	struct verbs_context *vctx = verbs_get_ctx_op(ctx, create_flow_action_esp);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_flow_action_esp(ctx, esp);
}

/* Changes an ESP action. ibv_flow_action(3) */
static inline int ibv_modify_flow_action_esp(struct ibv_flow_action *action,
		struct ibv_flow_action_esp_attr *esp)
{
	struct verbs_context *vctx = verbs_get_ctx_op(action->context, modify_flow_action_esp);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->modify_flow_action_esp(action, esp);
}

/* Destroys an action. EBUSY: a rule uses it. ibv_flow_action(3) */
static inline int ibv_destroy_flow_action(struct ibv_flow_action *action)
{
	struct verbs_context *vctx = verbs_get_ctx_op(action->context, destroy_flow_action);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->destroy_flow_action(action);
}

/*
 * The UDP source port of RoCE v2 packets with the flow label fl: its upper 6 bits folded into the
 * lower 14, in the range of dynamic ports. ibv_flow_label_to_udp_sport(3)
 */
static inline uint16_t ibv_flow_label_to_udp_sport(uint32_t fl)
{
	const uint32_t low = fl & 0x3fff, high = (fl & IB_GRH_FLOWLABEL_MASK) >> 14;

	return (uint16_t)((low ^ high) | IB_ROCE_UDP_ENCAP_VALID_PORT_MIN);
}

/* ---- Counters: functions. */

/* Creates a set of counters. ibv_create_counters(3) */
static inline struct ibv_counters *ibv_create_counters(struct ibv_context *context,
		struct ibv_counters_init_attr *init_attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_counters);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_counters(context, init_attr);
}

/* Destroys a set of counters. EBUSY: a rule uses it. ibv_create_counters(3) */
static inline int ibv_destroy_counters(struct ibv_counters *counters)
{
	struct verbs_context *vctx = verbs_get_ctx_op(counters->context, destroy_counters);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->destroy_counters(counters);
}

/*
 * Says what a counter counts, flow: at which rule, NULL: at rules that will name the counters.
 * ibv_attach_counters_point_flow(3)
 */
static inline int ibv_attach_counters_point_flow(struct ibv_counters *counters,
		struct ibv_counter_attach_attr *attr, struct ibv_flow *flow)
{
	struct verbs_context *vctx = verbs_get_ctx_op(counters->context, attach_counters_point_flow);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->attach_counters_point_flow(counters, attr, flow);
}

/* Reads ncounters counters; flags are of enum ibv_read_counters_flags. ibv_read_counters(3) */
static inline int ibv_read_counters(struct ibv_counters *counters, uint64_t *counters_value,
		uint32_t ncounters, uint32_t flags)
{
	struct verbs_context *vctx = verbs_get_ctx_op(counters->context, read_counters);

	if (!vctx)
		return EOPNOTSUPP;
	return vctx->read_counters(counters, counters_value, ncounters, flags);
}

@functions verbs/comp_cntr

/* Stores what completion counters of a device can do. ibv_query_comp_cntr_caps(3) */
static inline int ibv_query_comp_cntr_caps(struct ibv_context *context,
		struct ibv_comp_cntr_caps *caps)
{
	return _ibv_query_comp_cntr_caps(context, caps, sizeof(*caps));
}

/* ---- Rates and texts. */

@functions verbs/rate verbs/strings

#ifdef __cplusplus
}
#endif

#undef __attribute_const

#endif
