/* Completion queues, queue pairs, shared and other receive queues. */
#include "plugin.h"

struct ibv_cq *op_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
			    int comp_vector)
{
	struct verbs_cq *cq = guarded(sizeof(*cq), "cq");
	REQUEST(ibv_create_cq);
	RESPONSE(ib_uverbs_create_cq_resp);

	called("create_cq(%s, %d, %s, %d)", name_of(context), cqe, name_of(channel), comp_vector);
	cq = created(cq, context, ibv_cmd_create_cq(context, cqe, channel, comp_vector, &cq->cq,
						    CMD, RESP));
	ANSWERED;
	return cq ? &cq->cq : NULL;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	called("start_poll(%s, mask %#x)", name_of(cq), attr->comp_mask);
	return ENOENT;
}

struct ibv_cq_ex *op_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct verbs_cq *cq = guarded(sizeof(*cq), "cq_ex");
	REQUEST(ibv_create_cq_ex);
	RESPONSE(ib_uverbs_ex_create_cq_resp);
	bool second = attr->comp_mask;
	int ret;

	called("create_cq_ex(%s, %u, context %s, %s, %u, wc_flags %#llx, mask %#x, flags %#x)",
	       name_of(context), attr->cqe, name_of(attr->cq_context), name_of(attr->channel),
	       attr->comp_vector, (unsigned long long)attr->wc_flags, attr->comp_mask,
	       attr->comp_mask ? attr->flags : 0);
#if RELEASE >= 59
	{
		struct verbs_create_cq_prov_attr memory = {
			.buffer = { .length = 0x4000, .ptr = (uint8_t *)0x7000 },
		};
		struct link link;

		if (second && !may_refuse)
			/* The flag says that the memory is given by its address. */
			ret = ibv_cmd_create_cq_ex2(context, attr, &memory, cq, CMD, RESP, 2,
						    linked(&link, UVERBS_OBJECT_CQ, 0, 0xc0c0));
		else if (second)
			ret = ibv_cmd_create_cq_ex2(context, attr, NULL, cq, CMD, RESP, 0, NULL);
		else
			ret = ibv_cmd_create_cq_ex(context, attr, NULL, cq, CMD, RESP, 0);
	}
#elif RELEASE >= 53
	{
		struct link link;

		if (second)
			ret = ibv_cmd_create_cq_ex2(context, attr, cq, CMD, RESP, 0,
						    may_refuse ? NULL :
						    linked(&link, UVERBS_OBJECT_CQ, 0, 0xc0c0));
		else
			ret = ibv_cmd_create_cq_ex(context, attr, cq, CMD, RESP, 0);
	}
#else
	ret = ibv_cmd_create_cq_ex(context, attr, cq, CMD, RESP, second);
#endif
	cq = created(cq, context, ret);
	ANSWERED;
	if (cq)
		cq->cq_ex.start_poll = start_poll;
	return cq ? &cq->cq_ex : NULL;
}

int op_resize_cq(struct ibv_cq *cq, int cqe)
{
	REQUEST(ibv_resize_cq);
	RESPONSE(ib_uverbs_resize_cq_resp);
	int ret;

	called("resize_cq(%s, %d)", name_of(cq), cqe);
	ret = kernel(ibv_cmd_resize_cq(cq, cqe, CMD, RESP));
	ANSWERED;
	return ret;
}

int op_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	REQUEST(ibv_modify_cq);

	called("modify_cq(%s, mask %#x, %u, %u)", name_of(cq), attr->attr_mask,
	       attr->moderate.cq_count, attr->moderate.cq_period);
	return kernel(ibv_cmd_modify_cq(cq, attr, ONLY_CMD));
}

int op_destroy_cq(struct ibv_cq *cq)
{
	called("destroy_cq(%s)", name_of(cq));
	return DESTROYED(cq, ibv_cmd_destroy_cq(cq));
}

int op_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	called("poll_cq(%s, %d, wc)", name_of(cq), count);
	if (!may_refuse)
		return ibv_cmd_poll_cq(cq, count, wc);
	return 1;
}

int op_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	called("req_notify_cq(%s, %d)", name_of(cq), solicited_only);
	return kernel(ibv_cmd_req_notify_cq(cq, solicited_only));
}

void op_cq_event(struct ibv_cq *cq)
{
	called("cq_event(%s)", name_of(cq));
}

struct ibv_xrcd *op_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	struct verbs_xrcd *xrcd = guarded(sizeof(*xrcd), "xrcd");
	REQUEST(ibv_open_xrcd);
	RESPONSE(ib_uverbs_open_xrcd_resp);
	int ret;

	called("open_xrcd(%s, mask %#x, fd %d, flags %#x)", name_of(context), attr->comp_mask,
	       attr->fd, attr->oflags);
	ret = ibv_cmd_open_xrcd(context, xrcd, sizeof(*xrcd), attr, CMD, RESP);
	xrcd = created(xrcd, context, ret);
	ANSWERED;
	return xrcd ? &xrcd->xrcd : NULL;
}

int op_close_xrcd(struct ibv_xrcd *xrcd)
{
	called("close_xrcd(%s)", name_of(xrcd));
	return DESTROYED(xrcd, ibv_cmd_close_xrcd((struct verbs_xrcd *)xrcd));
}

struct ibv_srq *op_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct verbs_srq *srq = guarded(sizeof(*srq), "srq");
	REQUEST(ibv_create_srq);
	RESPONSE(ib_uverbs_create_srq_resp);

	called("create_srq(%s, context %s, %u, %u, limit %u)", name_of(pd),
	       name_of(attr->srq_context), attr->attr.max_wr, attr->attr.max_sge,
	       attr->attr.srq_limit);
	srq = created(srq, pd->context, ibv_cmd_create_srq(pd, &srq->srq, attr, CMD, RESP));
	ANSWERED;
	return srq ? &srq->srq : NULL;
}

struct ibv_srq *op_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct verbs_srq *srq = guarded(sizeof(*srq), "srq_ex");
	REQUEST(ibv_create_xsrq);
	RESPONSE(ib_uverbs_create_srq_resp);
	int ret;

	called("create_srq_ex(%s, mask %#x, type %d, %s, %s, %s, %u)", name_of(context),
	       attr->comp_mask, (int)attr->srq_type, name_of(attr->pd), name_of(attr->xrcd),
	       name_of(attr->cq), attr->attr.max_wr);
	ret = ibv_cmd_create_srq_ex(context, srq, attr, CMD, RESP);
	srq = created(srq, context, ret);
	ANSWERED;
	if (srq && !ret)
		say("    type %d, %s, %s", (int)srq->srq_type, name_of(srq->xrcd),
		    name_of(srq->cq));
	return srq ? &srq->srq : NULL;
}

int op_get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	called("get_srq_num(%s, number)", name_of(srq));
	*number = 815;
	return 0;
}

int op_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	REQUEST(ibv_modify_srq);

	called("modify_srq(%s, %u, limit %u, mask %#x)", name_of(srq), attr->max_wr,
	       attr->srq_limit, mask);
	return kernel(ibv_cmd_modify_srq(srq, attr, mask, CMD));
}

int op_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	REQUEST(ibv_query_srq);
	int ret;

	called("query_srq(%s, attr)", name_of(srq));
	ret = kernel(ibv_cmd_query_srq(srq, attr, CMD));
	say("    %#x %#x %#x", attr->max_wr, attr->max_sge, attr->srq_limit);
	return ret;
}

int op_destroy_srq(struct ibv_srq *srq)
{
	called("destroy_srq(%s)", name_of(srq));
	return DESTROYED(srq, ibv_cmd_destroy_srq(srq));
}

int op_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	called("post_srq_recv(%s, wr_id %#llx, bad)", name_of(srq), (unsigned long long)wr->wr_id);
	if (!may_refuse)
		return kernel(ibv_cmd_post_srq_recv(srq, wr, bad));
	return 0;
}

int op_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *wr, struct ibv_ops_wr **bad)
{
	called("post_srq_ops(%s, wr_id %#llx, bad)", name_of(srq), (unsigned long long)wr->wr_id);
	*bad = wr;
	return ENOMEM;
}

struct ibv_qp *op_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	/* A whole one: ibv_qp_to_qp_ex looks at its end. */
	struct verbs_qp *qp = guarded(sizeof(*qp), "qp");
	REQUEST(ibv_create_qp);
	RESPONSE(ib_uverbs_create_qp_resp);
	int ret;

	called("create_qp(%s, context %s, %s, %s, %s, %u/%u/%u/%u/%u, type %d, all %d)",
	       name_of(pd), name_of(attr->qp_context), name_of(attr->send_cq),
	       name_of(attr->recv_cq), name_of(attr->srq), attr->cap.max_send_wr,
	       attr->cap.max_recv_wr, attr->cap.max_send_sge, attr->cap.max_recv_sge,
	       attr->cap.max_inline_data, (int)attr->qp_type, attr->sq_sig_all);
	if (may_refuse)
		ret = ibv_cmd_create_qp(pd, &qp->qp, attr, ONLY_CMD, RESP);
	else
		ret = ibv_cmd_create_qp(pd, &qp->qp, attr, CMD, RESP);
	qp = created(qp, pd->context, ret);
	ANSWERED;
	if (qp && ret)
		qp->qp = (struct ibv_qp){
			.context = pd->context, .pd = pd, .srq = attr->srq,
			.qp_context = attr->qp_context, .send_cq = attr->send_cq,
			.recv_cq = attr->recv_cq, .qp_type = attr->qp_type,
		};
	return qp ? &qp->qp : NULL;
}

static void wr_start(struct ibv_qp_ex *qp)
{
	called("wr_start(%s)", name_of(qp));
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm)
{
	called("wr_send_imm(%s, %#x) wr_id %#llx flags %#x", name_of(qp), imm,
	       (unsigned long long)qp->wr_id, qp->wr_flags);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	called("wr_set_sge(%s, %#x, %s, %u)", name_of(qp), lkey,
	       name_of((void *)(uintptr_t)addr), length);
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	called("wr_complete(%s)", name_of(qp));
	return 0;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
	called("wr_abort(%s)", name_of(qp));
}

#if RELEASE >= 44
static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, const void *value)
{
	called("wr_atomic_write(%s, %#x, %#llx, %s)", name_of(qp), rkey, (unsigned long long)addr,
	       name_of(value));
}
#endif

#if RELEASE >= 45
static void wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, size_t length,
		     uint8_t type, uint8_t level)
{
	called("wr_flush(%s, %#x, %#llx, %zu, %u, %u)", name_of(qp), rkey,
	       (unsigned long long)addr, length, type, level);
}
#endif

struct ibv_qp *op_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct verbs_qp *qp = guarded(sizeof(*qp), "qp_ex");
	int ret;

	called("create_qp_ex(%s, mask %#x, %s, %s, %s, %s, context %s, type %d, ops %#llx, flags "
	       "%#x)", name_of(context), attr->comp_mask,
	       attr->comp_mask & IBV_QP_INIT_ATTR_PD ? name_of(attr->pd) : "-",
	       attr->comp_mask & IBV_QP_INIT_ATTR_XRCD ? name_of(attr->xrcd) : "-",
	       name_of(attr->send_cq), name_of(attr->recv_cq), name_of(attr->qp_context),
	       (int)attr->qp_type, attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ?
	       (unsigned long long)attr->send_ops_flags : 0,
	       attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ? attr->create_flags : 0);
	/* The library is to set it, and to set nothing else. */
	qp->comp_mask = 0xffffffff;
	if (attr->comp_mask & (IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_IND_TABLE)) {
		REQUEST(ibv_create_qp_ex);
		RESPONSE(ib_uverbs_ex_create_qp_resp);
#if RELEASE >= 64
		struct link link;

		ret = ibv_cmd_create_qp_ex2(context, qp, attr, CMD, RESP, may_refuse ? NULL :
					    linked(&link, UVERBS_OBJECT_QP, 0, 0xe2e2));
#else
		ret = ibv_cmd_create_qp_ex2(context, qp, attr, CMD, RESP);
#endif
		ANSWERED;
	} else {
		REQUEST(ibv_create_qp);
		RESPONSE(ib_uverbs_create_qp_resp);

		if (may_refuse)
			ret = ibv_cmd_create_qp_ex(context, qp, attr, ONLY_CMD, RESP);
		else
			ret = ibv_cmd_create_qp_ex(context, qp, attr, CMD, RESP);
		ANSWERED;
	}
	qp = created(qp, context, ret);
	if (!qp)
		return NULL;
	if (ret)
		qp->comp_mask = attr->comp_mask & IBV_QP_INIT_ATTR_XRCD ? VERBS_QP_XRCD : 0;
	say("  comp_mask %#x", qp->comp_mask);
	if (qp->comp_mask & VERBS_QP_XRCD && !ret)
		say("    of %s", name_of(qp->xrcd));
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		qp->comp_mask |= VERBS_QP_EX;
		qp->qp_ex.wr_start = wr_start;
		qp->qp_ex.wr_send_imm = wr_send_imm;
		qp->qp_ex.wr_set_sge = wr_set_sge;
		qp->qp_ex.wr_complete = wr_complete;
		qp->qp_ex.wr_abort = wr_abort;
#if RELEASE >= 44
		qp->qp_ex.wr_atomic_write = wr_atomic_write;
#endif
#if RELEASE >= 45
		qp->qp_ex.wr_flush = wr_flush;
#endif
	}
	return &qp->qp;
}

struct ibv_qp *op_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	struct verbs_qp *qp = guarded(sizeof(*qp), "opened_qp");
	REQUEST(ibv_open_qp);
	RESPONSE(ib_uverbs_create_qp_resp);
	int ret;

	called("open_qp(%s, mask %#x, number %u, %s, context %s, type %d)", name_of(context),
	       attr->comp_mask, attr->qp_num, name_of(attr->xrcd), name_of(attr->qp_context),
	       (int)attr->qp_type);
	qp->comp_mask = 0xffffffff;
	ret = ibv_cmd_open_qp(context, qp, sizeof(*qp), attr, CMD, RESP);
	qp = created(qp, context, ret);
	ANSWERED;
	if (!qp)
		return NULL;
	if (ret) {
		qp->comp_mask = VERBS_QP_XRCD;
		qp->xrcd = (struct verbs_xrcd *)attr->xrcd;
	}
	say("  comp_mask %#x, %s", qp->comp_mask, name_of(qp->xrcd));
	return &qp->qp;
}

int op_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	REQUEST(ibv_modify_qp);

	called("modify_qp(%s, state %d, port %u, mask %#x)", name_of(qp), (int)attr->qp_state,
	       attr->port_num, mask);
	return kernel(ibv_cmd_modify_qp(qp, attr, mask, ONLY_CMD));
}

int op_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *limit)
{
	struct ibv_qp_attr attr = { .rate_limit = limit->rate_limit };
	REQUEST(ibv_modify_qp_ex);
	RESPONSE(ib_uverbs_ex_modify_qp_resp);

	called("modify_qp_rate_limit(%s, %u, %u, %u, mask %#x)", name_of(qp), limit->rate_limit,
	       limit->max_burst_sz, limit->typical_pkt_sz, limit->comp_mask);
	return kernel(ibv_cmd_modify_qp_ex(qp, &attr, IBV_QP_RATE_LIMIT, ONLY_CMD, &response.resp,
					   sizeof(response.resp)));
}

int op_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		struct ibv_qp_init_attr *init)
{
	REQUEST(ibv_query_qp);
	int ret;

	called("query_qp(%s, attr, mask %#x, init)", name_of(qp), mask);
	ret = ibv_cmd_query_qp(qp, attr, mask, init, CMD);
	if (kernel(ret))
		return ret;
	if (ret)
		*init = (struct ibv_qp_init_attr){
			.qp_context = qp->qp_context, .send_cq = qp->send_cq,
			.recv_cq = qp->recv_cq, .srq = qp->srq, .qp_type = qp->qp_type,
		};
	say("    sq_psn %#x rate %#x", attr->sq_psn, attr->rate_limit);
	say("  init: context %s, %s, %s, type %d", name_of(init->qp_context),
	    name_of(init->send_cq), name_of(init->recv_cq), (int)init->qp_type);
	return 0;
}

int op_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t flags)
{
	called("query_qp_data_in_order(%s, %d, %#x)", name_of(qp), (int)opcode, flags);
	return 1;
}

int op_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	called("query_ece(%s, ece)", name_of(qp));
	*ece = (struct ibv_ece){ .vendor_id = 1, .options = 2, .comp_mask = 3 };
	return 0;
}

int op_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	called("set_ece(%s, %u, %u, %u)", name_of(qp), ece->vendor_id, ece->options,
	       ece->comp_mask);
	return 0;
}

int op_destroy_qp(struct ibv_qp *qp)
{
	called("destroy_qp(%s)", name_of(qp));
	return DESTROYED(qp, ibv_cmd_destroy_qp(qp));
}

int op_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	if (wr->opcode == IBV_WR_SEND) {
		called("post_send(%s, wr_id %#llx to %s, %u, %u, bad)", name_of(qp),
		       (unsigned long long)wr->wr_id, name_of(wr->wr.ud.ah), wr->wr.ud.remote_qpn,
		       wr->wr.ud.remote_qkey);
		return 0;
	}
	called("post_send(%s, wr_id %#llx opcode %d, bad)", name_of(qp),
	       (unsigned long long)wr->wr_id, (int)wr->opcode);
	if (!may_refuse)
		return kernel(ibv_cmd_post_send(qp, wr, bad));
	return 0;
}

int op_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	called("post_recv(%s, wr_id %#llx, bad)", name_of(qp), (unsigned long long)wr->wr_id);
	if (!may_refuse)
		return kernel(ibv_cmd_post_recv(qp, wr, bad));
	return 0;
}

int op_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	called("attach_mcast(%s, %02x..%02x, %#x)", name_of(qp), gid->raw[0], gid->raw[15], lid);
	return kernel(ibv_cmd_attach_mcast(qp, gid, lid));
}

int op_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	called("detach_mcast(%s, %02x..%02x, %#x)", name_of(qp), gid->raw[0], gid->raw[15], lid);
	return kernel(ibv_cmd_detach_mcast(qp, gid, lid));
}

static int post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)bad;
	called("post_recv of %s, wr_id %#llx", name_of(wq), (unsigned long long)wr->wr_id);
	return 0;
}

struct ibv_wq *op_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	struct ibv_wq *wq = guarded(sizeof(*wq), "wq");
	REQUEST(ibv_create_wq);
	RESPONSE(ib_uverbs_ex_create_wq_resp);
	int ret;

	called("create_wq(%s, context %s, type %d, %u, %u, %s, %s, mask %#x)", name_of(context),
	       name_of(attr->wq_context), (int)attr->wq_type, attr->max_wr, attr->max_sge,
	       name_of(attr->pd), name_of(attr->cq), attr->comp_mask);
	ret = ibv_cmd_create_wq(context, attr, wq, CMD, RESP);
	wq = created(wq, context, ret);
	ANSWERED;
	if (!wq)
		return NULL;
	if (ret) {
		wq->pd = attr->pd;
		wq->cq = attr->cq;
	}
	wq->post_recv = post_wq_recv;
	return wq;
}

int op_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr)
{
	REQUEST(ibv_modify_wq);

	called("modify_wq(%s, mask %#x, state %d, %d, flags %#x, %#x)", name_of(wq),
	       attr->attr_mask, (int)attr->wq_state, (int)attr->curr_wq_state, attr->flags,
	       attr->flags_mask);
	return kernel(ibv_cmd_modify_wq(wq, attr, CMD));
}

int op_destroy_wq(struct ibv_wq *wq)
{
	called("destroy_wq(%s)", name_of(wq));
	return DESTROYED(wq, ibv_cmd_destroy_wq(wq));
}

struct ibv_rwq_ind_table *op_create_rwq_ind_table(struct ibv_context *context,
						  struct ibv_rwq_ind_table_init_attr *attr)
{
	struct ibv_rwq_ind_table *indirection = guarded(sizeof(*indirection), "table");
	RESPONSE(ib_uverbs_ex_create_rwq_ind_table_resp);
	int ret;

	called("create_rwq_ind_table(%s, log %u, %s, mask %#x)", name_of(context),
	       attr->log_ind_tbl_size, name_of(attr->ind_tbl[0]), attr->comp_mask);
	ret = ibv_cmd_create_rwq_ind_table(context, attr, indirection, RESP);
	indirection = created(indirection, context, ret);
	ANSWERED;
	return indirection;
}

int op_destroy_rwq_ind_table(struct ibv_rwq_ind_table *indirection)
{
	called("destroy_rwq_ind_table(%s)", name_of(indirection));
	return DESTROYED(indirection, ibv_cmd_destroy_rwq_ind_table(indirection));
}
