/* Verbs of queues. */
#include "program.h"

static struct ibv_cq *cq;
static struct ibv_comp_channel *channel;

static void completion_queues(struct ibv_context *ctx)
{
	struct ibv_modify_cq_attr modify = {
		.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { .cq_count = 7, .cq_period = 9 },
	};
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 20, .cq_context = context_of + 3, .channel = NULL, .comp_vector = 0,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN,
	};
	struct ibv_poll_cq_attr poll = { .comp_mask = 0 };
	struct ibv_cq_ex *extended;
	struct ibv_cq *from_event = NULL;
	struct ibv_wc wc;
	void *context = NULL;
	uint64_t element;

	say("ibv_create_comp_channel(ctx)");
	channel = ibv_create_comp_channel(ctx);
	CHECK(channel && channel->context == ctx && channel->refcnt == 0);
	if (!channel)
		exit(3);
	give_name(channel, sizeof(*channel), "channel");
	cq = MADE(ibv_create_cq(ctx, 10, context_of + 1, channel, 0));
	if (!cq)
		exit(3);
	CHECK(cq->context == ctx && cq->channel == channel && cq->cq_context == context_of + 1 &&
	      channel->refcnt == 1);
	DONE(ibv_req_notify_cq(cq, 1));
	DONE(ibv_poll_cq(cq, 1, &wc));
	DONE(ibv_resize_cq(cq, 30));
	DONE(ibv_modify_cq(cq, &modify));
	element = (uintptr_t)cq;
	inject(channel->fd, &element, sizeof(element));
	DONE(ibv_get_cq_event(channel, &from_event, &context));
	CHECK(from_event == cq && context == context_of + 1);
	ibv_ack_cq_events(cq, 1);
	CHECK(cq->comp_events_completed == 1);
	cq->comp_events_completed = 0;

	extended = MADE(ibv_create_cq_ex(ctx, &attr));
	CHECK(extended && extended->context == ctx && extended->cq_context == context_of + 3);
	if (extended) {
		DONE(ibv_start_poll(extended, &poll));
		DONE(ibv_destroy_cq(ibv_cq_ex_to_cq(extended)));
	}
	attr.channel = channel;
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	attr.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	extended = MADE(ibv_create_cq_ex(ctx, &attr));
	CHECK(extended && channel->refcnt == 2);
	if (extended)
		DONE(ibv_destroy_cq(ibv_cq_ex_to_cq(extended)));
	CHECK(channel->refcnt == 1);
}

static struct ibv_srq *shared_receive_queues(struct ibv_context *ctx, struct ibv_pd *pd,
					     struct ibv_xrcd *xrcd)
{
	struct ibv_srq_init_attr attr = {
		.srq_context = context_of + 2, .attr = { .max_wr = 11, .max_sge = 2, .srq_limit = 3 },
	};
	struct ibv_srq_init_attr_ex extended = {
		.srq_context = context_of, .attr = { .max_wr = 12, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC, .pd = pd, .xrcd = xrcd, .cq = cq,
	};
	struct ibv_srq_attr srq_attr = { .max_wr = 20, .srq_limit = 5 };
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 64, .lkey = 8 };
	struct ibv_recv_wr wr = { .wr_id = 0x1234, .sg_list = &sge, .num_sge = 1 }, *bad = NULL;
	struct ibv_ops_wr ops = { .wr_id = 0x4321 }, *bad_ops = NULL;
	struct ibv_srq *srq, *xrc;
	uint32_t number = 0;

	srq = MADE(ibv_create_srq(pd, &attr));
	CHECK(srq && srq->context == ctx && srq->pd == pd && srq->srq_context == context_of + 2);
	if (srq) {
		DONE(ibv_modify_srq(srq, &srq_attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT));
		DONE(ibv_query_srq(srq, &srq_attr));
		DONE(ibv_post_srq_recv(srq, &wr, &bad));
		DONE(ibv_post_srq_ops(srq, &ops, &bad_ops));
		CHECK(bad_ops == &ops);
	}
	xrc = MADE(ibv_create_srq_ex(ctx, &extended));
	if (xrc) {
		DONE(ibv_get_srq_num(xrc, &number));
		CHECK(number == 815);
		DONE(ibv_destroy_srq(xrc));
	}
	return srq;
}

/* What the functions of work requests find of the plugin's structure. */
static void work_requests(struct ibv_qp *qp)
{
	struct ibv_qp_ex *extended;

	say("ibv_qp_to_qp_ex(qp)");
	extended = ibv_qp_to_qp_ex(qp);
	say("  = %s", name_of(extended));
	if (!extended)
		return;
	CALLED(ibv_wr_start(extended));
	extended->wr_id = 0x77;
	extended->wr_flags = IBV_SEND_SIGNALED;
	CALLED(ibv_wr_send_imm(extended, 0x99));
	CALLED(ibv_wr_set_sge(extended, 6, (uintptr_t)memory + 32, 100));
	/* The library's symbols know where an older queue pair ends. */
	if (PLAIN_SYMBOLS || current_release >= 44)
		CALLED(ibv_wr_atomic_write(extended, 6, 0x8000, memory + 8));
	if (PLAIN_SYMBOLS || current_release >= 45)
		CALLED(ibv_wr_flush(extended, 6, 0x8000, 24, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE));
	DONE(ibv_wr_complete(extended));
	CALLED(ibv_wr_abort(extended));
}

static void use_queue_pair(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .pkey_index = 0 };
	struct ibv_qp_init_attr init;
	struct ibv_qp_rate_limit_attr limit = {
		.rate_limit = 100, .max_burst_sz = 200, .typical_pkt_sz = 300,
	};
	struct ibv_ece ece = { .vendor_id = 5, .options = 6, .comp_mask = 0 };
	union ibv_gid gid = { .raw = { [0] = 0xff, [15] = 0x5d } };
	struct ibv_sge sge = { .addr = (uintptr_t)memory + 128, .length = 32, .lkey = 9 };
	struct ibv_send_wr send = {
		.wr_id = 0xabc, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.wr.atomic = { .remote_addr = 0x1111, .compare_add = 0x2222, .swap = 0x3333,
			       .rkey = 0x44 },
	}, *bad_send = NULL;
	struct ibv_recv_wr receive = { .wr_id = 0xdef, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad_receive = NULL;

	DONE(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      IBV_QP_ACCESS_FLAGS));
	CHECK(qp->state == IBV_QPS_INIT);
	DONE(ibv_query_qp(qp, &attr, IBV_QP_CAP, &init));
	DONE(ibv_modify_qp_rate_limit(qp, &limit));
	DONE(ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE,
					IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS));
	DONE(ibv_set_ece(qp, &ece));
	DONE(ibv_query_ece(qp, &ece));
	CHECK(ece.vendor_id == 1 && ece.options == 2 && ece.comp_mask == 3);
	DONE(ibv_attach_mcast(qp, &gid, 0xc001));
	DONE(ibv_detach_mcast(qp, &gid, 0xc001));
	DONE(ibv_post_send(qp, &send, &bad_send));
	DONE(ibv_post_recv(qp, &receive, &bad_receive));
}

static void bind_window(struct ibv_pd *pd, struct ibv_qp *qp)
{
	struct ibv_mr *mr = MADE(ibv_reg_mr(pd, memory, 4096,
					    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND));
	struct ibv_mw *mw = MADE(ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	struct ibv_mw_bind bind = {
		.wr_id = 0x321, .bind_info = {
			.mr = mr, .addr = (uintptr_t)memory + 256, .length = 512,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		},
	};

	if (mw && mr)
		DONE(ibv_bind_mw(qp, mw, &bind));
	if (mw)
		DONE(ibv_dealloc_mw(mw));
	if (mr)
		DONE(ibv_dereg_mr(mr));
}

static void queue_pairs(struct ibv_context *ctx, struct ibv_pd *pd, struct ibv_srq *srq,
			struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr attr = {
		.qp_context = context_of + 1, .send_cq = cq, .recv_cq = cq, .srq = srq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 5, .max_send_sge = 1, .max_recv_sge = 2,
			 .max_inline_data = 16 },
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
	};
	struct ibv_qp_init_attr_ex extended = {
		.qp_context = context_of + 2, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 6, .max_recv_wr = 7, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_UD, .comp_mask = IBV_QP_INIT_ATTR_PD |
						   IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd, .send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM,
	};
	struct ibv_qp_init_attr_ex with_flags = {
		.qp_context = context_of + 3, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET, .comp_mask = IBV_QP_INIT_ATTR_PD |
							   IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = pd, .create_flags = IBV_QP_CREATE_SCATTER_FCS,
	};
	struct ibv_qp_init_attr_ex receiver = {
		.qp_context = context_of, .qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd,
	};
	struct ibv_qp_open_attr open_attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_CONTEXT | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = 88, .xrcd = xrcd, .qp_context = context_of + 3,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp *qp;

	qp = MADE(ibv_create_qp(pd, &attr));
	if (qp) {
		CHECK(qp->context == ctx && qp->pd == pd && qp->srq == srq &&
		      qp->qp_context == context_of + 1);
		use_queue_pair(qp);
		bind_window(pd, qp);
		DONE(ibv_destroy_qp(qp));
	}
	qp = MADE(ibv_create_qp_ex(ctx, &extended));
	if (qp) {
		work_requests(qp);
		DONE(ibv_destroy_qp(qp));
	}
	qp = MADE(ibv_create_qp_ex(ctx, &with_flags));
	if (qp) {
		/* It has no functions for work requests. */
		work_requests(qp);
		DONE(ibv_destroy_qp(qp));
	}
	qp = MADE(ibv_create_qp_ex(ctx, &receiver));
	if (qp) {
		work_requests(qp);
		DONE(ibv_destroy_qp(qp));
	}
	qp = MADE(ibv_open_qp(ctx, &open_attr));
	if (qp) {
		work_requests(qp);
		DONE(ibv_destroy_qp(qp));
	}
}

static void work_queues(struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_wq_init_attr attr = {
		.wq_context = context_of + 1, .wq_type = IBV_WQT_RQ, .max_wr = 13, .max_sge = 1,
		.pd = pd, .cq = cq,
	};
	struct ibv_wq_attr modify = {
		.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE, .wq_state = IBV_WQS_RDY,
		.curr_wq_state = IBV_WQS_RESET,
	};
	struct ibv_rwq_ind_table_init_attr table_attr = { .log_ind_tbl_size = 0 };
	struct ibv_recv_wr wr = { .wr_id = 0x555 }, *bad = NULL;
	struct ibv_rwq_ind_table *table;
	struct ibv_wq *wq = MADE(ibv_create_wq(ctx, &attr));

	if (!wq)
		return;
	CHECK(wq->wq_context == context_of + 1);
	DONE(ibv_modify_wq(wq, &modify));
	DONE(ibv_post_wq_recv(wq, &wr, &bad));
	table_attr.ind_tbl = &wq;
	table = MADE(ibv_create_rwq_ind_table(ctx, &table_attr));
	if (table) {
		struct ibv_qp_init_attr_ex spread = {
			.send_cq = cq, .qp_type = IBV_QPT_RAW_PACKET, .pd = pd,
			.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE,
			.rwq_ind_tbl = table,
		};
		struct ibv_qp *qp = MADE(ibv_create_qp_ex(ctx, &spread));

		if (qp)
			DONE(ibv_destroy_qp(qp));
		DONE(ibv_destroy_rwq_ind_table(table));
	}
	DONE(ibv_destroy_wq(wq));
}

void queue_verbs(struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_xrcd_init_attr xrcd_attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1,
		.oflags = 0x40,
	};
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;

	completion_queues(ctx);
	xrcd = MADE(ibv_open_xrcd(ctx, &xrcd_attr));
	srq = shared_receive_queues(ctx, pd, xrcd);
	queue_pairs(ctx, pd, srq, xrcd);
	work_queues(ctx, pd);
	if (srq)
		DONE(ibv_destroy_srq(srq));
	if (xrcd)
		DONE(ibv_close_xrcd(xrcd));
	DONE(ibv_destroy_comp_channel(channel));
	DONE(ibv_destroy_cq(cq));
	DONE(ibv_destroy_comp_channel(channel));
}
