/* A send request, posted by the old interface or the new one. */
#ifndef ABI_TESTS_URXE_REQUEST_H
#define ABI_TESTS_URXE_REQUEST_H

#include "completions.h"

struct request {
	enum ibv_wr_opcode opcode;
	uint64_t wr_id;
	unsigned int flags;
	/* Immediate data (network order), or the key to invalidate. */
	uint32_t imm;
	int num_sge;
	struct ibv_sge *sge;
	uint64_t address, compare_add, swap;
	uint32_t rkey;
	/* UD. */
	struct ibv_ah *ah;
	uint32_t qp_num, qkey;
	/* XRC. */
	uint32_t srq_num;
	/* BIND_MW. */
	struct ibv_mw *mw;
	struct ibv_mw_bind_info bind;
	/* FLUSH. */
	size_t flush_length;
	uint8_t flush_type, flush_level;
	/* ATOMIC_WRITE */
	uint64_t value;
};

static inline int post_old(struct ibv_qp *qp, const struct request *request)
{
	struct ibv_send_wr wr = {
		.wr_id = request->wr_id, .opcode = request->opcode, .send_flags = request->flags,
		.imm_data = request->imm, .num_sge = request->num_sge, .sg_list = request->sge,
	}, *bad = NULL;
	int ret;

	if (request->opcode == IBV_WR_BIND_MW) {
		wr.bind_mw.mw = request->mw;
		wr.bind_mw.rkey = request->rkey;
		wr.bind_mw.bind_info = request->bind;
	} else if (qp->qp_type == IBV_QPT_UD) {
		wr.wr.ud.ah = request->ah;
		wr.wr.ud.remote_qpn = request->qp_num;
		wr.wr.ud.remote_qkey = request->qkey;
	} else if (request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		   request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = request->address;
		wr.wr.atomic.rkey = request->rkey;
		wr.wr.atomic.compare_add = request->compare_add;
		wr.wr.atomic.swap = request->swap;
	} else {
		wr.wr.rdma.remote_addr = request->address;
		wr.wr.rdma.rkey = request->rkey;
	}
	if (qp->qp_type == IBV_QPT_XRC_SEND)
		wr.qp_type.xrc.remote_srqn = request->srq_num;
	ret = ibv_post_send(qp, &wr, &bad);
	if (ret)
		CHECK(bad == &wr);
	return ret;
}

/* Requests that a list cuts a read or a write into. */
enum { PARTS = 19 };

/* Bytes of the last of them. */
static inline size_t last_part(size_t length)
{
	return length - length / PARTS * (PARTS - 1);
}

/* A read or a write of one piece, as a list of requests. The last of them has its completion. */
static inline int post_parts(struct ibv_qp *qp, const struct request *request)
{
	struct ibv_send_wr wr[PARTS] = { 0 }, *bad = NULL;
	struct ibv_sge sge[PARTS];
	size_t length = request->sge->length, done = 0;

	for (int i = 0; i < PARTS; i++) {
		bool is_last = i == PARTS - 1;

		sge[i] = *request->sge;
		sge[i].addr += done;
		sge[i].length = is_last ? last_part(length) : length / PARTS;
		wr[i].wr_id = request->wr_id;
		wr[i].opcode = request->opcode;
		wr[i].send_flags = is_last ? request->flags : request->flags & ~IBV_SEND_SIGNALED;
		wr[i].num_sge = 1;
		wr[i].sg_list = &sge[i];
		wr[i].next = is_last ? NULL : &wr[i + 1];
		wr[i].wr.rdma.remote_addr = request->address + done;
		wr[i].wr.rdma.rkey = request->rkey;
		done += sge[i].length;
	}
	return ibv_post_send(qp, wr, &bad);
}

static inline void build(struct ibv_qp_ex *qp, const struct request *request)
{
	switch (request->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qp, request->imm);
		break;
	case IBV_WR_SEND_WITH_INV:
		ibv_wr_send_inv(qp, request->imm);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qp, request->rkey, request->address);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qp, request->rkey, request->address, request->imm);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qp, request->rkey, request->address);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qp, request->rkey, request->address, request->compare_add,
				      request->swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qp, request->rkey, request->address, request->compare_add);
		break;
	case IBV_WR_ATOMIC_WRITE:
		ibv_wr_atomic_write(qp, request->rkey, request->address, &request->value);
		return;
	case IBV_WR_FLUSH:
		ibv_wr_flush(qp, request->rkey, request->address, request->flush_length,
			     request->flush_type, request->flush_level);
		return;
	case IBV_WR_LOCAL_INV:
		ibv_wr_local_inv(qp, request->imm);
		return;
	case IBV_WR_BIND_MW:
		ibv_wr_bind_mw(qp, request->mw, request->rkey, &request->bind);
		return;
	default:
		NEED(false);
	}
	if (request->flags & IBV_SEND_INLINE) {
		struct ibv_data_buf list[32];

		for (int i = 0; i < request->num_sge; i++)
			list[i] = (struct ibv_data_buf){
				(void *)(uintptr_t)request->sge[i].addr, request->sge[i].length };
		if (request->num_sge == 1)
			ibv_wr_set_inline_data(qp, list[0].addr, list[0].length);
		else
			ibv_wr_set_inline_data_list(qp, request->num_sge, list);
	} else if (request->num_sge == 1) {
		ibv_wr_set_sge(qp, request->sge->lkey, request->sge->addr, request->sge->length);
	} else {
		ibv_wr_set_sge_list(qp, request->num_sge, request->sge);
	}
}

static inline int post_new(struct ibv_qp *base, const struct request *request)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(base);

	ibv_wr_start(qp);
	qp->wr_id = request->wr_id;
	qp->wr_flags = request->flags & ~IBV_SEND_INLINE;
	build(qp, request);
	if (base->qp_type == IBV_QPT_UD)
		ibv_wr_set_ud_addr(qp, request->ah, request->qp_num, request->qkey);
	if (base->qp_type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(qp, request->srq_num);
	return ibv_wr_complete(qp);
}

static inline int post(struct ibv_qp *qp, enum interface interface, const struct request *request)
{
	return interface == NEW ? post_new(qp, request) : post_old(qp, request);
}

/* The flag of ibv_qp_init_attr_ex::send_ops_flags of an opcode. */
static inline uint64_t operation_of(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND: return IBV_QP_EX_WITH_SEND;
	case IBV_WR_SEND_WITH_IMM: return IBV_QP_EX_WITH_SEND_WITH_IMM;
	case IBV_WR_SEND_WITH_INV: return IBV_QP_EX_WITH_SEND_WITH_INV;
	case IBV_WR_RDMA_WRITE: return IBV_QP_EX_WITH_RDMA_WRITE;
	case IBV_WR_RDMA_WRITE_WITH_IMM: return IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	case IBV_WR_RDMA_READ: return IBV_QP_EX_WITH_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP: return IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD: return IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	case IBV_WR_ATOMIC_WRITE: return IBV_QP_EX_WITH_ATOMIC_WRITE;
	case IBV_WR_FLUSH: return IBV_QP_EX_WITH_FLUSH;
	case IBV_WR_LOCAL_INV: return IBV_QP_EX_WITH_LOCAL_INV;
	case IBV_WR_BIND_MW: return IBV_QP_EX_WITH_BIND_MW;
	default: return 0;
	}
}

#define FOR_EACH(item, list)                                                                       \
	for (const __typeof__(*(list)) *item = (list); item < (list) + sizeof(list) / sizeof(*(list)); \
	     item++)

/* Where the bytes go. */
enum way { TO_RECEIVE, TO_MEMORY, FROM_MEMORY };

struct opcode {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t completion;
	/* Of the receive; 0 if there is none. */
	uint32_t arrival;
	uint32_t arrival_flags;
	enum way way;
};

static const struct opcode opcodes[] = {
	{ "send", IBV_WR_SEND, IBV_WC_SEND, IBV_WC_RECV, 0, TO_RECEIVE },
	{ "send with immediate", IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, IBV_WC_RECV, IBV_WC_WITH_IMM,
	  TO_RECEIVE },
	{ "write", IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, 0, 0, TO_MEMORY },
	{ "write with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE,
	  IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM, TO_MEMORY },
	{ "read", IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, 0, 0, FROM_MEMORY },
};

static const struct opcode send_with_inv = { "send with invalidation", IBV_WR_SEND_WITH_INV,
					     IBV_WC_SEND, IBV_WC_RECV, IBV_WC_WITH_INV, TO_RECEIVE };

#endif
