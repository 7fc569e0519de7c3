/*
 * Objects destroyed while others need them: the return values, and that all goes in the end.
 *
 * usage: destroy_order DEVICE
 */
#include "qp.h"

static struct port port;
static char buffer[8192];

static void pd_with_mr(void)
{
	struct ibv_pd *pd = NEED(ibv_alloc_pd(port.context));
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, buffer, 4096, ALL_ACCESS));

	section("PD with MR");
	ERR("dealloc_pd", ibv_dealloc_pd(pd));
	ERR("dealloc_pd again", ibv_dealloc_pd(pd));
	ERR("dereg_mr", ibv_dereg_mr(mr));
	ERR("dealloc_pd", ibv_dealloc_pd(pd));
}

static void pd_with_mw(void)
{
	struct ibv_pd *pd = NEED(ibv_alloc_pd(port.context));

	for (int type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
		struct ibv_mw *mw;

		printf("== PD with MW of type %d\n", type);
		mw = PTR("alloc_mw", ibv_alloc_mw(pd, type));
		if (!mw)
			continue;
		CHECK(mw->pd == pd && mw->context == port.context && (int)mw->type == type);
		ERR("dealloc_pd", ibv_dealloc_pd(pd));
		ERR("dealloc_mw", ibv_dealloc_mw(mw));
	}
	ERR("dealloc_pd", ibv_dealloc_pd(pd));
}

static void pd_with_ah(void)
{
	struct ibv_pd *pd = NEED(ibv_alloc_pd(port.context));
	struct ibv_ah_attr attr = to_gid(&port);
	struct ibv_ah *ah = NEED(ibv_create_ah(pd, &attr));

	section("PD with AH");
	CHECK(ah->pd == pd && ah->context == port.context);
	ERR("dealloc_pd", ibv_dealloc_pd(pd));
	ERR("destroy_ah", ibv_destroy_ah(ah));
	ERR("dealloc_pd", ibv_dealloc_pd(pd));
}

static void pd_with_srq(void)
{
	struct ibv_pd *pd = NEED(ibv_alloc_pd(port.context));
	struct ibv_srq_init_attr init = { .srq_context = &port,
					  .attr = { .max_wr = 10, .max_sge = 2 } };
	struct ibv_srq *srq = NEED(ibv_create_srq(pd, &init));

	section("PD with SRQ");
	CHECK(srq->pd == pd && srq->context == port.context && srq->srq_context == &port);
	CHECK(init.attr.max_wr >= 10 && init.attr.max_sge >= 2);
	ERR("dealloc_pd", ibv_dealloc_pd(pd));
	ERR("destroy_srq", ibv_destroy_srq(srq));
	ERR("dealloc_pd", ibv_dealloc_pd(pd));
}

static void cq_and_qp(void)
{
	struct ibv_pd *pd = NEED(ibv_alloc_pd(port.context));
	struct ibv_cq *send_cq = NEED(ibv_create_cq(port.context, 16, &pd, NULL, 0));
	struct ibv_cq *recv_cq = NEED(ibv_create_cq(port.context, 16, NULL, NULL, 0));
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 10, .max_sge = 2 } };
	struct ibv_srq *srq = NEED(ibv_create_srq(pd, &srq_init));
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, send_cq, srq);
	struct ibv_qp *qp;

	section("QP with its PD, CQs and SRQ");
	init.recv_cq = recv_cq;
	init.qp_context = &init;
	qp = NEED(ibv_create_qp(pd, &init));
	CHECK(qp->context == port.context && qp->qp_context == &init && qp->pd == pd);
	CHECK(qp->send_cq == send_cq && qp->recv_cq == recv_cq && qp->srq == srq);
	CHECK(qp->qp_type == IBV_QPT_RC && qp->state == IBV_QPS_RESET);
	CHECK(send_cq->cq_context == &pd && !send_cq->channel && send_cq->cqe >= 16);
	ERR("dealloc_pd", ibv_dealloc_pd(pd));
	ERR("destroy send CQ", ibv_destroy_cq(send_cq));
	ERR("destroy recv CQ", ibv_destroy_cq(recv_cq));
	ERR("destroy_srq", ibv_destroy_srq(srq));
	ERR("destroy_qp", ibv_destroy_qp(qp));
	ERR("destroy_srq", ibv_destroy_srq(srq));
	ERR("destroy recv CQ", ibv_destroy_cq(recv_cq));
	ERR("destroy send CQ", ibv_destroy_cq(send_cq));
	ERR("dealloc_pd", ibv_dealloc_pd(pd));
}

static void channel_with_cq(void)
{
	struct ibv_comp_channel *channel = NEED(ibv_create_comp_channel(port.context));
	struct ibv_cq *a = NEED(ibv_create_cq(port.context, 4, NULL, channel, 0));
	struct ibv_cq *b = NEED(ibv_create_cq(port.context, 4, NULL, channel, 1));

	section("channel with CQs");
	CHECK(channel->context == port.context && channel->fd >= 0);
	CHECK(a->channel == channel && b->channel == channel);
	printf("references %d\n", channel->refcnt);
	ERR("destroy_comp_channel", ibv_destroy_comp_channel(channel));
	ERR("destroy_cq", ibv_destroy_cq(a));
	printf("references %d\n", channel->refcnt);
	ERR("destroy_comp_channel", ibv_destroy_comp_channel(channel));
	ERR("destroy_cq", ibv_destroy_cq(b));
	printf("references %d\n", channel->refcnt);
	ERR("destroy_comp_channel", ibv_destroy_comp_channel(channel));
}

/* A CQ that cannot be destroyed keeps its reference to the channel. */
static void channel_with_busy_cq(void)
{
	struct ibv_comp_channel *channel = NEED(ibv_create_comp_channel(port.context));
	struct ibv_cq *cq = NEED(ibv_create_cq(port.context, 4, NULL, channel, 0));
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_UD, cq, NULL);
	struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &init));

	section("channel with a CQ in use");
	ERR("destroy_cq", ibv_destroy_cq(cq));
	printf("references %d\n", channel->refcnt);
	ERR("destroy_comp_channel", ibv_destroy_comp_channel(channel));
	ERR("destroy_qp", ibv_destroy_qp(qp));
	ERR("destroy_cq", ibv_destroy_cq(cq));
	ERR("destroy_comp_channel", ibv_destroy_comp_channel(channel));
}

static void extended_cq(void)
{
	struct ibv_comp_channel *channel = NEED(ibv_create_comp_channel(port.context));
	struct ibv_cq_init_attr_ex attr = { .cqe = 8, .channel = channel, .cq_context = &port,
					    .wc_flags = IBV_WC_EX_WITH_BYTE_LEN };
	struct ibv_cq_ex *cq = PTR("create_cq_ex", ibv_create_cq_ex(port.context, &attr));

	section("channel with an extended CQ");
	if (cq) {
		CHECK(cq->context == port.context && cq->channel == channel);
		CHECK(cq->cq_context == &port && cq->cqe >= 8);
		printf("references %d\n", channel->refcnt);
		ERR("destroy_comp_channel", ibv_destroy_comp_channel(channel));
		ERR("destroy_cq", ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	}
	printf("references %d\n", channel->refcnt);
	ERR("destroy_comp_channel", ibv_destroy_comp_channel(channel));
}

static void multicast(void)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(port.context, 4, NULL, NULL, 0));
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_UD, cq, NULL);
	struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &init));
	union ibv_gid group = { .raw = { 0xff, 0x0e, [10] = 0xff, 0xff, 239, 1, 2, 3 } };

	section("QP in a multicast group");
	CHECK(!to_init(qp));
	ERR("attach_mcast", ibv_attach_mcast(qp, &group, 0));
	ERR("attach_mcast again", ibv_attach_mcast(qp, &group, 0));
	ERR("destroy_qp", ibv_destroy_qp(qp));
	ERR("detach_mcast", ibv_detach_mcast(qp, &group, 0));
	ERR("detach_mcast again", ibv_detach_mcast(qp, &group, 0));
	ERR("destroy_qp", ibv_destroy_qp(qp));
	ERR("destroy_cq", ibv_destroy_cq(cq));
}

/* Closing takes everything with it on the kernel's side; nothing hangs, nothing is said. */
static void close_with_objects(const char *name)
{
	struct ibv_context *context = open_device(name);

	section("close with objects left");
	NEED(ibv_alloc_pd(context));
	NEED(ibv_create_cq(context, 4, NULL, NULL, 0));
	MINUS("close_device", ibv_close_device(context));
	context = open_device(name);
	MINUS("close_device", ibv_close_device(context));
}

int main(int argc, char **argv)
{
	start();
	if (argc != 2)
		return 2;
	open_port(&port, argv[1]);
	pd_with_mr();
	pd_with_mw();
	pd_with_ah();
	pd_with_srq();
	cq_and_qp();
	channel_with_cq();
	channel_with_busy_cq();
	extended_cq();
	multicast();
	close_port(&port);
	close_with_objects(argv[1]);
	return finish();
}
