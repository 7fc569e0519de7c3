/*
 * A program of the time of IBVERBS_1.0 on the device of today: every name of that version, the
 * objects as they were laid out then, and data through the five functions of its context. Members
 * that the original leaves without a value, such as handles and descriptors, are not looked at.
 *
 * usage: compat10 DEVICE PEER; PEER is the network interface at the other end of DEVICE's.
 */
#include "v1_0.h"
#include "qp.h"
#include <dlfcn.h>

static struct context_1_0 *context;
static struct pd_1_0 *pd;
static struct mr_1_0 *mr;
static union ibv_gid gid;
static int gid_index = -1;
static uint64_t buffer[512];

static void load_1_0(void)
{
	void *library = NEED(dlopen("libibverbs.so.1", RTLD_NOW));

#define LOAD(name) *(void **)&v1.name = NEED(dlvsym(library, #name, "IBVERBS_1.0"));
	LOAD(ibv_get_device_list) LOAD(ibv_free_device_list) LOAD(ibv_get_device_name)
	LOAD(ibv_get_device_guid) LOAD(ibv_open_device) LOAD(ibv_close_device)
	LOAD(ibv_get_async_event) LOAD(ibv_ack_async_event) LOAD(ibv_query_device)
	LOAD(ibv_query_port) LOAD(ibv_query_gid) LOAD(ibv_query_pkey) LOAD(ibv_alloc_pd)
	LOAD(ibv_dealloc_pd) LOAD(ibv_reg_mr) LOAD(ibv_dereg_mr) LOAD(ibv_create_comp_channel)
	LOAD(ibv_destroy_comp_channel) LOAD(ibv_create_cq) LOAD(ibv_resize_cq)
	LOAD(ibv_destroy_cq) LOAD(ibv_get_cq_event) LOAD(ibv_ack_cq_events) LOAD(ibv_create_srq)
	LOAD(ibv_modify_srq) LOAD(ibv_query_srq) LOAD(ibv_destroy_srq) LOAD(ibv_create_qp)
	LOAD(ibv_query_qp) LOAD(ibv_modify_qp) LOAD(ibv_destroy_qp) LOAD(ibv_create_ah)
	LOAD(ibv_destroy_ah) LOAD(ibv_attach_mcast) LOAD(ibv_detach_mcast)
}

static void devices(const char *name)
{
	int n = -1;
	struct device_1_0 **list = NEED(v1.ibv_get_device_list(&n)), *device = NULL;

	section("device list");
	printf("%d devices\n", n);
	for (int i = 0; i < n; i++) {
		printf("%s guid %s\n", v1.ibv_get_device_name(list[i]),
		       v1.ibv_get_device_guid(list[i]) ? "set" : "0");
		CHECK(!list[i]->obsolete[0] && !list[i]->obsolete[1] && list[i]->real);
		CHECK(v1.ibv_get_device_name(list[i]) == ibv_get_device_name(list[i]->real));
		CHECK(v1.ibv_get_device_guid(list[i]) == ibv_get_device_guid(list[i]->real));
		if (!strcmp(v1.ibv_get_device_name(list[i]), name))
			device = list[i];
	}
	CHECK(!list[n]);
	context = PTR("open_device", v1.ibv_open_device(NEED(device)));
	CHECK(context->device == device && context->real->device == device->real);
	printf("ops poll %d notify %d srq %d send %d recv %d\n", !!context->ops.poll_cq,
	       !!context->ops.req_notify_cq, !!context->ops.post_srq_recv,
	       !!context->ops.post_send, !!context->ops.post_recv);
	struct device_1_0 **second = NEED(v1.ibv_get_device_list(NULL));

	v1.ibv_free_device_list(second);
	v1.ibv_free_device_list(list);
}

static void queries(void)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	uint8_t *bytes = (uint8_t *)&port;
	size_t touched = sizeof(port);
	uint16_t pkey = 0;

	section("queries");
	ERR("query_device", v1.ibv_query_device(context, &attr));
	printf("cqe %d qp %d ports %d\n", attr.max_cqe, attr.max_qp, attr.phys_port_cnt);
	memset(&port, 0xa5, sizeof(port));
	ERR("query_port", v1.ibv_query_port(context, 1, &port));
	while (touched && bytes[touched - 1] == 0xa5)
		touched--;
	printf("state %d gids %d touched %zu\n", port.state, port.gid_tbl_len, touched);
	ERR("query_port 2", v1.ibv_query_port(context, 2, &port));
	MINUS("query_pkey", v1.ibv_query_pkey(context, 1, 0, &pkey));
	printf("pkey %04x\n", pkey);
	MINUS("query_pkey 7", v1.ibv_query_pkey(context, 1, 7, &pkey));
	MINUS("query_gid 5000", v1.ibv_query_gid(context, 1, 5000, &gid));
	for (int i = 0; i < 4 && gid_index < 0; i++)
		if (!v1.ibv_query_gid(context, 1, i, &gid) && !memcmp(gid.raw, mapped, 12))
			gid_index = i;
	printf("gid at %d\n", gid_index);
}

static void memory(void)
{
	section("memory");
	pd = PTR("alloc_pd", v1.ibv_alloc_pd(context));
	CHECK(pd->context == context);
	CHECK(pd->real->context == context->real);
	PTR("reg_mr, bad access", v1.ibv_reg_mr(pd, buffer, sizeof(buffer), 1 << 15));
	PTR("reg_mr, no memory", v1.ibv_reg_mr(pd, (void *)4096, 4096, 1));
	mr = PTR("reg_mr", v1.ibv_reg_mr(pd, buffer, sizeof(buffer), ALL_ACCESS));
	CHECK(mr->context == context && mr->pd == pd && mr->lkey == mr->real->lkey &&
	      mr->rkey == mr->real->rkey);
	ERR("dealloc_pd", v1.ibv_dealloc_pd(pd));
}

static int poll_1_0(struct cq_1_0 *cq, struct ibv_wc *wc)
{
	int64_t end = milliseconds() + 10000;
	int n;

	while (!(n = context->ops.poll_cq(cq, 1, wc)) && milliseconds() < end)
		;
	return n;
}

static struct qp_1_0 *make_qp(enum ibv_qp_type type, struct cq_1_0 *cq, struct srq_1_0 *srq)
{
	struct qp_init_attr_1_0 init = { .qp_context = &gid, .send_cq = cq, .recv_cq = cq,
		.srq = srq, .qp_type = type,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2,
			 .max_recv_sge = 2, .max_inline_data = 16 } };
	struct qp_1_0 *qp = PTR("create_qp", v1.ibv_create_qp(pd, &init));

	printf("cap %u %u %u %u %u\n", init.cap.max_send_wr, init.cap.max_recv_wr,
	       init.cap.max_send_sge, init.cap.max_recv_sge, init.cap.max_inline_data);
	CHECK(qp->context == context && qp->qp_context == &gid && qp->pd == pd);
	CHECK(qp->send_cq == cq && qp->recv_cq == cq && qp->srq == srq);
	CHECK(qp->qp_type == type);
	CHECK(qp->qp_num == qp->real->qp_num);
	return qp;
}

static void connect_1_0(struct qp_1_0 *qp)
{
	bool rc = qp->qp_type == IBV_QPT_RC;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
		.qp_access_flags = ALL_ACCESS & ~IBV_ACCESS_MW_BIND,
	};

	ERR("to INIT", v1.ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    (rc ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY)));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num,
		.rq_psn = 7, .max_dest_rd_atomic = 1, .min_rnr_timer = 1,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 9 } },
	};
	ERR("to RTR", v1.ibv_modify_qp(qp, &attr, IBV_QP_STATE |
				   (rc ? IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					 IBV_QP_MIN_RNR_TIMER : 0)));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .sq_psn = 7, .timeout = 14,
				     .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1 };
	ERR("to RTS", v1.ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
				   (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					 IBV_QP_MAX_QP_RD_ATOMIC : 0)));
	CHECK(qp->real->state == IBV_QPS_RTS);
}

static void reliable(void)
{
	struct ibv_comp_channel *channel = PTR("create_comp_channel", v1.ibv_create_comp_channel(context->real));
	struct cq_1_0 *cq = PTR("create_cq", v1.ibv_create_cq(context, 10, &mr, channel, 0)), *from;
	struct qp_1_0 *qp;
	struct ibv_sge sge[2] = {
		{ .addr = (uintptr_t)&buffer[0], .length = 8, .lkey = mr->lkey },
		{ .addr = (uintptr_t)&buffer[100], .length = 16, .lkey = mr->lkey },
	};
	struct recv_wr_1_0 recv = { .wr_id = 5, .sg_list = &sge[1], .num_sge = 1 }, *bad_recv;
	struct send_wr_1_0 send = { .wr_id = 6, .sg_list = &sge[0], .num_sge = 1,
				    .opcode = IBV_WR_SEND_WITH_IMM,
				    .send_flags = IBV_SEND_SIGNALED, .imm_data = 0x01020304 };
	struct send_wr_1_0 second = send, *bad_send = NULL;
	struct ibv_wc wc;
	void *cq_context = NULL;

	section("RC");
	CHECK(cq->context == context && cq->cq_context == &mr);
	ERR("resize_cq", v1.ibv_resize_cq(cq, 40));
	printf("real cqe %d\n", cq->real->cqe);
	qp = make_qp(IBV_QPT_RC, cq, NULL);
	connect_1_0(qp);
	ERR("req_notify", context->ops.req_notify_cq(cq, 0));
	buffer[0] = 0x1122334455667788;
	ERR("post_recv", context->ops.post_recv(qp, &recv, &bad_recv));
	ERR("post_send", context->ops.post_send(qp, &send, &bad_send));
	MINUS("get_cq_event", v1.ibv_get_cq_event(channel, &from, &cq_context));
	CHECK(from == cq && cq_context == &mr);
	v1.ibv_ack_cq_events(from, 1);
	for (int i = 0; i < 2; i++) {
		CHECK(poll_1_0(cq, &wc) == 1);
		CHECK(wc.status == IBV_WC_SUCCESS && wc.qp_num == qp->qp_num);
		if (wc.wr_id == 5) {
			printf("recv opcode %d len %u imm %x flags %x\n", wc.opcode, wc.byte_len,
			       wc.imm_data, wc.wc_flags);
			CHECK(buffer[100] == 0x1122334455667788);
		} else {
			CHECK(wc.wr_id == 6);
		}
	}

	/* A chain: write and read back; then a chain whose second request has too many entries. */
	second = send;
	send.next = &second;
	send.opcode = IBV_WR_RDMA_WRITE;
	send.wr.rdma.remote_addr = (uintptr_t)&buffer[200];
	send.wr.rdma.rkey = mr->rkey;
	second.opcode = IBV_WR_RDMA_READ;
	second.sg_list = &sge[1];
	second.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	second.wr.rdma = send.wr.rdma;
	second.wr_id = 7;
	ERR("post write, read", context->ops.post_send(qp, &send, &bad_send));
	for (int i = 0; i < 2; i++) {
		CHECK(poll_1_0(cq, &wc) == 1);
		printf("wr_id %d status %d opcode %d\n", (int)wc.wr_id, wc.status, wc.opcode);
	}
	CHECK(buffer[200] == 0x1122334455667788 && buffer[100] == buffer[200]);

	send.next = NULL;
	send.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	send.wr.atomic.remote_addr = (uintptr_t)&buffer[300];
	send.wr.atomic.rkey = mr->rkey;
	send.wr.atomic.compare_add = 5;
	buffer[300] = 1000;
	ERR("post fetch and add", context->ops.post_send(qp, &send, &bad_send));
	CHECK(poll_1_0(cq, &wc) == 1);
	printf("status %d: %d was %d\n", wc.status, (int)buffer[300], (int)buffer[0]);
	send.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	send.wr.atomic.compare_add = 1005;
	send.wr.atomic.swap = 77;
	ERR("post compare and swap", context->ops.post_send(qp, &send, &bad_send));
	CHECK(poll_1_0(cq, &wc) == 1);
	printf("status %d: %d was %d\n", wc.status, (int)buffer[300], (int)buffer[0]);

	struct recv_wr_1_0 many = { .sg_list = sge, .num_sge = 9 }, *bad = NULL;

	recv.next = &many;
	ERR("post_recv, second bad", context->ops.post_recv(qp, &recv, &bad));
	CHECK(bad == &many);

	ERR("destroy_comp_channel", v1.ibv_destroy_comp_channel(channel));
	ERR("destroy_cq in use", v1.ibv_destroy_cq(cq));
	ERR("destroy_qp", v1.ibv_destroy_qp(qp));
	ERR("destroy_cq", v1.ibv_destroy_cq(cq));
	ERR("destroy_comp_channel", v1.ibv_destroy_comp_channel(channel));
}

static void shared(const char *peer)
{
	struct cq_1_0 *cq = NEED(v1.ibv_create_cq(context, 10, NULL, NULL, 0));
	struct ibv_srq_init_attr init = { .srq_context = &cq, .attr = { .max_wr = 4, .max_sge = 1 } };
	struct srq_1_0 *srq = PTR("create_srq", v1.ibv_create_srq(pd, &init));
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct ibv_sge sge = { .addr = (uintptr_t)buffer, .length = 8, .lkey = mr->lkey };
	struct recv_wr_1_0 recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	struct send_wr_1_0 send = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	struct qp_init_attr_1_0 qp_init;
	struct ibv_qp_attr qp_attr;
	struct ibv_async_event event;
	struct qp_1_0 *qp;
	struct ibv_wc wc;

	section("SRQ and async events");
	CHECK(srq->context == context && srq->srq_context == &cq && srq->pd == pd);
	qp = make_qp(IBV_QPT_RC, cq, srq);
	connect_1_0(qp);
	/* The original looks into the SRQ, so there has to be one. */
	ERR("query_qp", v1.ibv_query_qp(qp, &qp_attr, IBV_QP_STATE | IBV_QP_AV, &qp_init));
	CHECK(qp_init.send_cq == cq && qp_init.recv_cq == cq && qp_init.srq == srq && qp_init.qp_context == &gid);
	printf("state %d mtu %d type %d sig %d sends %u hops %u\n", qp_attr.qp_state, qp_attr.path_mtu,
	       qp_init.qp_type, qp_init.sq_sig_all, qp_init.cap.max_send_wr, qp_attr.ah_attr.grh.hop_limit);
	for (int i = 0; i < 3; i++)
		ERR("post_srq_recv", context->ops.post_srq_recv(srq, &recv, &bad_recv));
	ERR("modify_srq", v1.ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	ERR("query_srq", v1.ibv_query_srq(srq, &attr));
	printf("wr %u sge %u limit %u\n", attr.max_wr, attr.max_sge, attr.srq_limit);
	for (int i = 0; i < 2; i++) {
		CHECK(!context->ops.post_send(qp, &send, &bad));
		CHECK(poll_1_0(cq, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	}
	CHECK(readable(context->real->async_fd, 2000));
	MINUS("get_async_event", v1.ibv_get_async_event(context, &event));
	printf("type %d\n", event.event_type);
	CHECK((void *)event.element.srq == srq);
	v1.ibv_ack_async_event(&event);

	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };

	ERR("to ERR", v1.ibv_modify_qp(qp, &error, IBV_QP_STATE));
	CHECK(readable(context->real->async_fd, 2000));
	MINUS("get_async_event", v1.ibv_get_async_event(context, &event));
	printf("type %d\n", event.event_type);
	CHECK((void *)event.element.qp == qp);
	v1.ibv_ack_async_event(&event);
	ERR("destroy_srq in use", v1.ibv_destroy_srq(srq));
	ERR("destroy_qp", v1.ibv_destroy_qp(qp));
	ERR("destroy_srq", v1.ibv_destroy_srq(srq));

	char command[64];

	snprintf(command, sizeof(command), "ip link set %s down; ip link set %s up", peer, peer);
	CHECK(!system(command));
	CHECK(readable(context->real->async_fd, 2000));
	MINUS("get_async_event", v1.ibv_get_async_event(context, &event));
	printf("type %d port %d\n", event.event_type, event.element.port_num);
	v1.ibv_ack_async_event(&event);
	ERR("destroy_cq", v1.ibv_destroy_cq(cq));
}

static void datagrams(void)
{
	struct cq_1_0 *cq = NEED(v1.ibv_create_cq(context, 10, NULL, NULL, 0));
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1,
		.grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 9 } };
	struct ibv_sge sge[2] = {
		{ .addr = (uintptr_t)&buffer[0], .length = 8, .lkey = mr->lkey },
		{ .addr = (uintptr_t)&buffer[50], .length = 48, .lkey = mr->lkey },
	};
	struct recv_wr_1_0 recv = { .wr_id = 1, .sg_list = &sge[1], .num_sge = 1 }, *bad_recv;
	struct send_wr_1_0 send = { .wr_id = 2, .sg_list = &sge[0], .num_sge = 1,
				    .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED }, *bad;
	union ibv_gid group = { .raw = { 0xff, 0x0e, [10] = 0xff, 0xff, 239, 1, 2, 3 } };
	struct qp_1_0 *qp;
	struct ah_1_0 *ah;
	struct ibv_wc wc;

	section("UD");
	ah = PTR("create_ah", v1.ibv_create_ah(pd, &attr));
	CHECK(ah->context == context && ah->pd == pd);
	attr.port_num = 9;
	PTR("create_ah, port 9", v1.ibv_create_ah(pd, &attr));
	qp = make_qp(IBV_QPT_UD, cq, NULL);
	connect_1_0(qp);
	buffer[0] = 4711;
	send.wr.ud.ah = ah;
	send.wr.ud.remote_qpn = qp->qp_num;
	send.wr.ud.remote_qkey = QKEY;
	ERR("post_recv", context->ops.post_recv(qp, &recv, &bad_recv));
	ERR("post_send", context->ops.post_send(qp, &send, &bad));
	for (int i = 0; i < 2; i++) {
		CHECK(poll_1_0(cq, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
		if (wc.wr_id == 1) {
			printf("length %u flags %x\n", wc.byte_len, wc.wc_flags);
			CHECK(wc.src_qp == qp->qp_num && buffer[55] == 4711);
		}
	}
	ERR("attach_mcast", v1.ibv_attach_mcast(qp, &group, 0));
	ERR("detach_mcast", v1.ibv_detach_mcast(qp, &group, 0));
	ERR("detach_mcast again", v1.ibv_detach_mcast(qp, &group, 0));
	ERR("destroy_qp", v1.ibv_destroy_qp(qp));
	ERR("destroy_ah", v1.ibv_destroy_ah(ah));
	ERR("destroy_cq", v1.ibv_destroy_cq(cq));
}

int main(int argc, char **argv)
{
	start();
	if (argc != 3)
		return 2;
	load_1_0();
	devices(argv[1]);
	queries();
	memory();
	reliable();
	shared(argv[2]);
	datagrams();
	section("end");
	ERR("dereg_mr", v1.ibv_dereg_mr(mr));
	ERR("dealloc_pd", v1.ibv_dealloc_pd(pd));
	MINUS("close_device", v1.ibv_close_device(context));
	return finish();
}
