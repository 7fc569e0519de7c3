/* The verbs of IBVERBS_1.0, whose objects the library wraps around those of today. */
#include "../../v1_0.h"
#undef CHECK
#include "program.h"
#include <dlfcn.h>

#define REAL(object) name_of((object)->real)

static void load_1_0(void)
{
#define LOAD(name) *(void **)&v1.name = NEED(dlvsym(RTLD_DEFAULT, #name, "IBVERBS_1.0"));
	LOAD(ibv_get_device_list) LOAD(ibv_free_device_list) LOAD(ibv_get_device_name)
	LOAD(ibv_open_device) LOAD(ibv_close_device) LOAD(ibv_query_device) LOAD(ibv_query_port)
	LOAD(ibv_alloc_pd) LOAD(ibv_dealloc_pd) LOAD(ibv_reg_mr) LOAD(ibv_dereg_mr)
	LOAD(ibv_create_cq) LOAD(ibv_resize_cq) LOAD(ibv_destroy_cq) LOAD(ibv_create_srq)
	LOAD(ibv_modify_srq) LOAD(ibv_query_srq) LOAD(ibv_destroy_srq) LOAD(ibv_create_qp)
	LOAD(ibv_query_qp) LOAD(ibv_modify_qp) LOAD(ibv_destroy_qp) LOAD(ibv_create_ah)
	LOAD(ibv_destroy_ah) LOAD(ibv_attach_mcast) LOAD(ibv_detach_mcast)
}

static struct device_1_0 *find_1_0(struct device_1_0 **list, const char *name)
{
	for (; *list; list++)
		if (!strcmp(v1.ibv_get_device_name(*list), name))
			return *list;
	say("no %s", name);
	exit(3);
}

static void data_1_0(struct context_1_0 *ctx, struct cq_1_0 *cq, struct srq_1_0 *srq,
		     struct qp_1_0 *qp, struct ah_1_0 *ah)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory + 64, .length = 16, .lkey = 3 };
	struct recv_wr_1_0 receive = { .wr_id = 0x1010, .sg_list = &sge, .num_sge = 1 };
	struct recv_wr_1_0 *bad_receive = NULL;
	struct send_wr_1_0 send = {
		.wr_id = 0x2020, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.wr.ud = { .ah = ah, .remote_qpn = 4, .remote_qkey = 5 },
	};
	struct send_wr_1_0 *bad_send = NULL;
	struct ibv_wc wc;

	DONE(ctx->ops.req_notify_cq(cq, 0));
	DONE(ctx->ops.poll_cq(cq, 1, &wc));
	DONE(ctx->ops.post_srq_recv(srq, &receive, &bad_receive));
	DONE(ctx->ops.post_recv(qp, &receive, &bad_receive));
	DONE(ctx->ops.post_send(qp, &send, &bad_send));
}

static void queues_1_0(struct context_1_0 *ctx, struct pd_1_0 *pd)
{
	struct ibv_srq_init_attr srq_attr = {
		.srq_context = context_of + 1, .attr = { .max_wr = 3, .max_sge = 1 },
	};
	struct ibv_srq_attr limit = { .max_wr = 4, .srq_limit = 2 };
	struct ibv_ah_attr ah_attr = { .dlid = 0x21, .sl = 1, .port_num = 1, .is_global = 1 };
	struct cq_1_0 *cq = v1.ibv_create_cq(ctx, 5, context_of + 2, NULL, 0);
	struct srq_1_0 *srq = v1.ibv_create_srq(pd, &srq_attr);
	struct qp_init_attr_1_0 attr = {
		.qp_context = context_of + 3, .send_cq = cq, .recv_cq = cq, .srq = srq,
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1 },
	}, init;
	struct ibv_qp_attr qp_attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 7 };
	union ibv_gid gid = { .raw = { [0] = 0xff, [15] = 0x77 } };
	struct ah_1_0 *ah = v1.ibv_create_ah(pd, &ah_attr);
	struct qp_1_0 *qp;

	if (!cq || !srq || !ah) {
		say("no objects");
		return;
	}
	qp = v1.ibv_create_qp(pd, &attr);
	if (!qp) {
		say("no queue pair");
		return;
	}
	say("  = %s, %s, %s, %s", REAL(cq), REAL(srq), REAL(ah), REAL(qp));
	CHECK(cq->context == ctx && srq->pd == pd && qp->send_cq == cq && ah->pd == pd);
	DONE(v1.ibv_resize_cq(cq, 9));
	DONE(v1.ibv_modify_srq(srq, &limit, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT));
	DONE(v1.ibv_query_srq(srq, &limit));
	DONE(v1.ibv_modify_qp(qp, &qp_attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					    IBV_QP_QKEY));
	DONE(v1.ibv_query_qp(qp, &qp_attr, IBV_QP_STATE, &init));
	DONE(v1.ibv_attach_mcast(qp, &gid, 2));
	DONE(v1.ibv_detach_mcast(qp, &gid, 2));
	data_1_0(ctx, cq, srq, qp, ah);
	DONE(v1.ibv_destroy_qp(qp));
	DONE(v1.ibv_destroy_ah(ah));
	DONE(v1.ibv_destroy_srq(srq));
	DONE(v1.ibv_destroy_cq(cq));
}

void oldest_verbs(const char *name)
{
	struct device_1_0 **list;
	struct ibv_device_attr device_attr;
	struct ibv_port_attr port_attr;
	struct context_1_0 *ctx;
	struct pd_1_0 *pd;
	struct mr_1_0 *mr;

	load_1_0();
	say("the interface IBVERBS_1.0");
	list = v1.ibv_get_device_list(NULL);
	ctx = v1.ibv_open_device(find_1_0(list, name));
	if (!ctx) {
		say("  = NULL %s", error_text(errno));
		return;
	}
	say("  = %s", REAL(ctx));
	DONE(v1.ibv_query_device(ctx, &device_attr));
	DONE(v1.ibv_query_port(ctx, 1, &port_attr));
	pd = v1.ibv_alloc_pd(ctx);
	mr = pd ? v1.ibv_reg_mr(pd, memory, 8192, IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (!mr) {
		say("  no memory region");
		return;
	}
	say("  = %s, %s", REAL(pd), REAL(mr));
	queues_1_0(ctx, pd);
	DONE(v1.ibv_dereg_mr(mr));
	DONE(v1.ibv_dealloc_pd(pd));
	DONE(v1.ibv_close_device(ctx));
	v1.ibv_free_device_list(list);
}
