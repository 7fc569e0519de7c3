/*
 * Data, byte for byte: every operation over RC, UC and UD, with the old and the new posting and
 * polling interface, shared receive queues, inline data, memory windows, allocated buffers.
 *
 * usage: data DEVICE
 */
#include "qp.h"

enum { AREA = 1 << 18 };

static struct port port;
static struct ibv_cq *cq;
static uint8_t *from, *to;
static struct ibv_mr *from_mr, *to_mr;

/* Different bytes in every round; the target gets others. */
static void fill(unsigned round, size_t length)
{
	for (size_t i = 0; i < length; i++)
		from[i] = (uint8_t)(i * 7 + (i >> 8) + round * 13);
	memset(to, 0xee, length + 64);
}

static void finished(const char *what, int count, enum ibv_wc_status status)
{
	struct ibv_wc wc[4];

	NEED(count <= 4);
	if (poll_for(cq, count, wc) != count) {
		printf("%s: completion missing\n", what);
		failed_checks++;
		return;
	}
	for (int i = 0; i < count; i++)
		if (wc[i].status != status)
			printf("%s: %s\n", what, ibv_wc_status_str(wc[i].status));
}

static struct ibv_send_wr request(enum ibv_wr_opcode opcode, struct ibv_sge *sge, int num_sge)
{
	return (struct ibv_send_wr){ .wr_id = 1, .opcode = opcode, .sg_list = sge,
				     .num_sge = num_sge, .send_flags = IBV_SEND_SIGNALED };
}

static void show_recv(const struct ibv_wc *wc)
{
	printf("  received: %s opcode %d length %u flags %x", ibv_wc_status_str(wc->status),
	       wc->opcode, wc->byte_len, wc->wc_flags);
	if (wc->wc_flags & IBV_WC_WITH_IMM)
		printf(" imm %08x", be32toh(wc->imm_data));
	printf("\n");
}

static void connected(enum ibv_qp_type type)
{
	static const uint32_t lengths[] = { 0, 1, 8, 63, 1024, 1025, 70000 };
	struct ibv_qp_init_attr init = qp_init(type, cq, NULL);
	struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &init)), *peer;
	struct ibv_send_wr *bad_send;
	struct ibv_recv_wr *bad_recv;
	unsigned round = 0;

	peer = NEED(ibv_create_qp(port.pd, &init));
	printf("== %s\n", type == IBV_QPT_RC ? "RC" : "UC");
	connect_qp(qp, &port, peer->qp_num);
	connect_qp(peer, &port, qp->qp_num);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		uint32_t length = lengths[i], half = length / 2;
		struct ibv_sge source[2] = {
			{ .addr = (uintptr_t)from, .length = half, .lkey = from_mr->lkey },
			{ .addr = (uintptr_t)from + half, .length = length - half,
			  .lkey = from_mr->lkey },
		};
		struct ibv_sge target = { .addr = (uintptr_t)to, .length = length + 16,
					  .lkey = to_mr->lkey };
		struct ibv_recv_wr recv = { .wr_id = 2, .sg_list = &target, .num_sge = 1 };
		struct ibv_send_wr send = request(IBV_WR_SEND, source, 2);

		printf("%u bytes\n", length);
		for (int with_imm = 0; with_imm < 2; with_imm++) {
			struct ibv_wc wc[2];

			fill(round++, length);
			send.opcode = with_imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
			send.imm_data = htobe32(0x01020304 + round);
			CHECK(!ibv_post_recv(peer, &recv, &bad_recv));
			CHECK(!ibv_post_send(qp, &send, &bad_send));
			CHECK(poll_for(cq, 2, wc) == 2);
			show_recv(wc[0].wr_id == 2 ? &wc[0] : &wc[1]);
			CHECK(!memcmp(from, to, length) && to[length] == 0xee);
		}
		send.wr.rdma.remote_addr = (uintptr_t)to;
		send.wr.rdma.rkey = to_mr->rkey;
		fill(round++, length);
		send.opcode = IBV_WR_RDMA_WRITE;
		CHECK(!ibv_post_send(qp, &send, &bad_send));
		finished("write", 1, IBV_WC_SUCCESS);
		for (int wait = 0; type == IBV_QPT_UC && wait < 100 && memcmp(from, to, length); wait++)
			usleep(10000);
		CHECK(!memcmp(from, to, length) && to[length] == 0xee);
		fill(round++, length);
		send.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		recv.num_sge = 0;
		CHECK(!ibv_post_recv(peer, &recv, &bad_recv));
		CHECK(!ibv_post_send(qp, &send, &bad_send));
		finished("write with imm", 2, IBV_WC_SUCCESS);
		CHECK(!memcmp(from, to, length) && to[length] == 0xee);
		if (type != IBV_QPT_RC)
			continue;
		fill(round++, length);
		send = request(IBV_WR_RDMA_READ, &target, 1);
		target.length = length;
		send.wr.rdma.remote_addr = (uintptr_t)from;
		send.wr.rdma.rkey = from_mr->rkey;
		CHECK(!ibv_post_send(qp, &send, &bad_send));
		finished("read", 1, IBV_WC_SUCCESS);
		CHECK(!memcmp(from, to, length) && to[length] == 0xee);
	}

	/* Inline data may change, and need not be registered, as soon as it is posted. */
	uint8_t local[48];
	struct ibv_sge sge = { .addr = (uintptr_t)local, .length = sizeof(local), .lkey = 0 };
	struct ibv_send_wr send = request(IBV_WR_RDMA_WRITE, &sge, 1);

	memset(local, 0x42, sizeof(local));
	memset(to, 0, 64);
	send.send_flags |= IBV_SEND_INLINE;
	send.wr.rdma.remote_addr = (uintptr_t)to;
	send.wr.rdma.rkey = to_mr->rkey;
	CHECK(!ibv_post_send(qp, &send, &bad_send));
	memset(local, 0x43, sizeof(local));
	finished("inline", 1, IBV_WC_SUCCESS);
	for (int wait = 0; wait < 100 && to[47] != 0x42; wait++)
		usleep(10000);
	CHECK(to[0] == 0x42 && to[47] == 0x42 && to[48] == 0);
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_qp(peer));
}

static void atomics(void)
{
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, NULL);
	struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &init));
	struct ibv_sge sge = { .addr = (uintptr_t)from, .length = 8, .lkey = from_mr->lkey };
	struct ibv_send_wr send = request(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 1), *bad;
	volatile uint64_t *value = (uint64_t *)to, *old = (uint64_t *)from;

	section("atomics");
	connect_qp(qp, &port, qp->qp_num);
	*value = 0xfffffffffffffffe;
	send.wr.atomic.remote_addr = (uintptr_t)to;
	send.wr.atomic.rkey = to_mr->rkey;
	send.wr.atomic.compare_add = 5;
	CHECK(!ibv_post_send(qp, &send, &bad));
	finished("fetch and add", 1, IBV_WC_SUCCESS);
	printf("fetch and add: %" PRIx64 " was %" PRIx64 "\n", *value, *old);
	send.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	for (int i = 0; i < 2; i++) {
		send.wr.atomic.compare_add = 3;
		send.wr.atomic.swap = 0x1122334455667788;
		CHECK(!ibv_post_send(qp, &send, &bad));
		finished("compare and swap", 1, IBV_WC_SUCCESS);
		printf("compare and swap: %" PRIx64 " was %" PRIx64 "\n", *value, *old);
	}
	send.wr.atomic.remote_addr++;
	ERR("not aligned", ibv_post_send(qp, &send, &bad));
	CHECK(!ibv_destroy_qp(qp));
}

/* One request that the target must refuse; the queue pair is gone after it. */
static void refused(const char *what, struct ibv_send_wr send, uint32_t length)
{
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, NULL);
	struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &init));
	struct ibv_qp *peer = NEED(ibv_create_qp(port.pd, &init));
	struct ibv_sge sge = { .addr = (uintptr_t)from, .length = length, .lkey = from_mr->lkey };
	struct ibv_qp_attr attr;
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	connect_qp(qp, &port, peer->qp_num);
	connect_qp(peer, &port, qp->qp_num);
	send.sg_list = &sge;
	send.num_sge = 1;
	CHECK(!ibv_post_send(qp, &send, &bad));
	NEED(poll_for(cq, 1, &wc) == 1);
	printf("%s: %s\n", what, ibv_wc_status_str(wc.status));
	usleep(20000);
	CHECK(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	printf("  state %d\n", attr.qp_state);
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_qp(peer));
}

static void protection(void)
{
	struct ibv_mr *local = NEED(ibv_reg_mr(port.pd, to, AREA, IBV_ACCESS_LOCAL_WRITE));
	struct ibv_mr *readable_mr = NEED(ibv_reg_mr(port.pd, to, 4096, IBV_ACCESS_REMOTE_READ));
	struct ibv_pd *other_pd = NEED(ibv_alloc_pd(port.context));
	struct ibv_mr *other = NEED(ibv_reg_mr(other_pd, to, AREA, ALL_ACCESS));
	struct ibv_send_wr send = request(IBV_WR_RDMA_WRITE, NULL, 0);

	section("protection");
	memset(to, 0x77, 4096);
	send.wr.rdma.remote_addr = (uintptr_t)to;
	send.wr.rdma.rkey = local->rkey;
	refused("write without the right", send, 8);
	send.wr.rdma.rkey = other->rkey;
	refused("write to another PD", send, 8);
	send.wr.rdma.rkey = to_mr->rkey ^ 0x55;
	refused("write with a wrong key", send, 8);
	send.wr.rdma.rkey = to_mr->rkey;
	send.wr.rdma.remote_addr = (uintptr_t)to + AREA - 4;
	refused("write over the end", send, 8);
	send.wr.rdma.remote_addr = (uintptr_t)to;
	send.wr.rdma.rkey = readable_mr->rkey;
	refused("write to what is for reading", send, 8);
	send.opcode = IBV_WR_RDMA_READ;
	send.wr.rdma.rkey = local->rkey;
	refused("read without the right", send, 8);
	for (int i = 0; i < 4096; i++)
		CHECK(to[i] == 0x77);
	CHECK(!ibv_dereg_mr(local) && !ibv_dereg_mr(readable_mr) && !ibv_dereg_mr(other));
	CHECK(!ibv_dealloc_pd(other_pd));
}

static void shared_receive(void)
{
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 8, .max_sge = 2 } };
	struct ibv_srq *srq = NEED(ibv_create_srq(port.pd, &srq_init));
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, srq);
	struct ibv_qp *qp[3];
	struct ibv_sge target[2] = {
		{ .addr = (uintptr_t)to, .length = 5, .lkey = to_mr->lkey },
		{ .addr = (uintptr_t)to + 100, .length = 100, .lkey = to_mr->lkey },
	};
	struct ibv_sge source = { .addr = (uintptr_t)from, .length = 20, .lkey = from_mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = target, .num_sge = 2 }, *bad_recv;
	struct ibv_send_wr send = request(IBV_WR_SEND, &source, 1), *bad;
	struct ibv_wc wc;

	section("SRQ");
	send.send_flags = 0;
	for (int i = 0; i < 3; i++) {
		qp[i] = NEED(ibv_create_qp(port.pd, &init));
		connect_qp(qp[i], &port, qp[i]->qp_num);
	}
	for (int i = 0; i < 3; i++) {
		fill(i, 200);
		recv.wr_id = 10 + i;
		CHECK(!ibv_post_srq_recv(srq, &recv, &bad_recv));
		CHECK(!ibv_post_send(qp[i], &send, &bad));
		NEED(poll_for(cq, 1, &wc) == 1);
		CHECK(wc.qp_num == qp[i]->qp_num && wc.wr_id == 10U + i);
		show_recv(&wc);
		CHECK(!memcmp(to, from, 5) && !memcmp(to + 100, from + 5, 15) && to[5] == 0xee);
	}
	for (int i = 0; i < 3; i++)
		CHECK(!ibv_destroy_qp(qp[i]));
	CHECK(!ibv_destroy_srq(srq));
}

static void datagrams(void)
{
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_UD, cq, NULL);
	struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &init));
	struct ibv_ah_attr attr = to_gid(&port), back;
	struct ibv_ah *ah = NEED(ibv_create_ah(port.pd, &attr)), *reply;
	struct ibv_sge target = { .addr = (uintptr_t)to, .length = 140, .lkey = to_mr->lkey };
	struct ibv_sge source = { .addr = (uintptr_t)from, .length = 100, .lkey = from_mr->lkey };
	struct ibv_recv_wr recv = { .wr_id = 2, .sg_list = &target, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = request(IBV_WR_SEND_WITH_IMM, &source, 1), *bad;
	struct ibv_wc wc[2];

	section("UD");
	connect_qp(qp, &port, 0);
	send.imm_data = htobe32(0xabcdef01);
	send.wr.ud.ah = ah;
	send.wr.ud.remote_qpn = qp->qp_num;
	send.wr.ud.remote_qkey = QKEY;
	fill(1, 200);
	CHECK(!ibv_post_recv(qp, &recv, &bad_recv));
	CHECK(!ibv_post_send(qp, &send, &bad));
	NEED(poll_for(cq, 2, wc) == 2);
	if (wc[0].wr_id != 2)
		wc[0] = wc[1];
	show_recv(&wc[0]);
	CHECK(wc[0].src_qp == qp->qp_num);
	CHECK(!memcmp(to + 40, from, 100));

	/* The way back, from what was received. */
	MINUS("init_ah_from_wc", ibv_init_ah_from_wc(port.context, 1, &wc[0],
						     (struct ibv_grh *)to, &back));
	printf("global %u sgid %s dgid %s hops %u\n", back.is_global,
	       back.grh.sgid_index == port.gid_index ? "right" : "wrong",
	       memcmp(&back.grh.dgid, &port.gid, 16) ? "wrong" : "right", back.grh.hop_limit);
	reply = PTR("create_ah_from_wc", ibv_create_ah_from_wc(port.pd, &wc[0],
							       (struct ibv_grh *)to, 1));
	send.wr.ud.ah = reply;
	fill(2, 200);
	CHECK(!ibv_post_recv(qp, &recv, &bad_recv));
	CHECK(!ibv_post_send(qp, &send, &bad));
	finished("reply", 2, IBV_WC_SUCCESS);
	CHECK(!memcmp(to + 40, from, 100));

	/* With another key nothing arrives. */
	send.wr.ud.remote_qkey = QKEY + 1;
	CHECK(!ibv_post_recv(qp, &recv, &bad_recv));
	CHECK(!ibv_post_send(qp, &send, &bad));
	finished("wrong qkey", 1, IBV_WC_SUCCESS);
	usleep(200000);
	printf("arrived: %d\n", ibv_poll_cq(cq, 1, wc));
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_ah(ah) && !ibv_destroy_ah(reply));
}

static void new_interface(void)
{
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct ibv_cq_ex *ex = NEED(ibv_create_cq_ex(port.context, &cq_attr));
	struct ibv_qp_init_attr plain = qp_init(IBV_QPT_RC, ibv_cq_ex_to_cq(ex), NULL);
	struct ibv_qp_init_attr_ex attr = { .comp_mask = IBV_QP_INIT_ATTR_PD |
							  IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					    .pd = port.pd };
	struct ibv_poll_cq_attr poll_attr = { 0 };
	struct ibv_recv_wr recv = { .wr_id = 99 }, *bad_recv;
	char received[80] = "";
	uint8_t local[32];
	struct ibv_qp *qp, *peer;
	struct ibv_qp_ex *qx;

	section("ibv_wr_* and ibv_start_poll");
	memcpy(&attr, &plain, offsetof(struct ibv_qp_init_attr, sq_sig_all));
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			      IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
			      IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			      IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_ATOMIC_WRITE;
	qp = NEED(ibv_create_qp_ex(port.context, &attr));
	qx = NEED(ibv_qp_to_qp_ex(qp));
	peer = NEED(ibv_create_qp(port.pd, &plain));
	connect_qp(qp, &port, peer->qp_num);
	connect_qp(peer, &port, qp->qp_num);
	CHECK(!ibv_post_recv(peer, &recv, &bad_recv));
	fill(3, 4096);
	memset(local, 0x24, sizeof(local));

	ibv_wr_start(qx);
	qx->wr_flags = IBV_SEND_SIGNALED;
	qx->wr_id = 1;
	ibv_wr_rdma_write(qx, to_mr->rkey, (uintptr_t)to);
	ibv_wr_set_sge(qx, from_mr->lkey, (uintptr_t)from, 100);
	/* rxe wants to be told once more that the data is inline. */
	qx->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	qx->wr_id = 2;
	ibv_wr_rdma_write_imm(qx, to_mr->rkey, (uintptr_t)to + 200, htobe32(0x55aa));
	ibv_wr_set_inline_data(qx, local, sizeof(local));
	qx->wr_flags = IBV_SEND_SIGNALED;
	qx->wr_id = 3;
	ibv_wr_rdma_read(qx, from_mr->rkey, (uintptr_t)from + 1000);
	ibv_wr_set_sge(qx, to_mr->lkey, (uintptr_t)to + 1000, 50);
	ERR("wr_complete", ibv_wr_complete(qx));

	int seen = 0, polled;
	int64_t end = milliseconds() + 10000;

	while (seen < 4 && milliseconds() < end) {
		polled = ibv_start_poll(ex, &poll_attr);
		if (polled == ENOENT)
			continue;
		CHECK(polled == 0);
		while (!polled) {
			bool receive = ex->wr_id == 99;

			if (ex->status != IBV_WC_SUCCESS)
				printf("%s\n", ibv_wc_status_str(ex->status));
			CHECK(ibv_wc_read_qp_num(ex) == (receive ? peer : qp)->qp_num);
			if (receive)
				snprintf(received, sizeof(received), "received opcode %d length %u imm %x flags %x\n",
				       ibv_wc_read_opcode(ex), ibv_wc_read_byte_len(ex),
				       be32toh(ibv_wc_read_imm_data(ex)),
				       ibv_wc_read_wc_flags(ex));
			else
				printf("%" PRIu64 ": opcode %d\n", ex->wr_id,
				       ibv_wc_read_opcode(ex));
			seen++;
			polled = ibv_next_poll(ex);
		}
		CHECK(polled == ENOENT);
		ibv_end_poll(ex);
	}
	CHECK(seen == 4);
	printf("%s", received);
	poll_attr.comp_mask = 1;
	ERR("start_poll, future mask", ibv_start_poll(ex, &poll_attr));
	CHECK(!memcmp(to, from, 100) && !memcmp(to + 200, local, 32));
	CHECK(!memcmp(to + 1000, from + 1000, 50));

	ibv_wr_start(qx);
	ibv_wr_send(qx);
	ibv_wr_set_sge(qx, from_mr->lkey, (uintptr_t)from, 8);
	ibv_wr_abort(qx);
	usleep(50000);
	poll_attr.comp_mask = 0;
	ERR("after an abort", ibv_start_poll(ex, &poll_attr));

	*(uint64_t *)(to + 2048) = 5;
	ibv_wr_start(qx);
	ibv_wr_atomic_fetch_add(qx, to_mr->rkey, (uintptr_t)to + 2048, 7);
	ibv_wr_set_sge(qx, from_mr->lkey, (uintptr_t)from, 8);
	ibv_wr_atomic_cmp_swp(qx, to_mr->rkey, (uintptr_t)to + 2048, 12, 13);
	ibv_wr_set_sge(qx, from_mr->lkey, (uintptr_t)from + 8, 8);
	uint64_t atomic = 0x8877665544332211;
	ibv_wr_atomic_write(qx, to_mr->rkey, (uintptr_t)to + 2056, &atomic);
	ERR("wr_complete", ibv_wr_complete(qx));
	struct ibv_wc wc[3];
	NEED(poll_for(ibv_cq_ex_to_cq(ex), 3, wc) == 3);
	printf("opcodes %d %d %d\n", wc[0].opcode, wc[1].opcode, wc[2].opcode);
	printf("values %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIx64 "\n", *(uint64_t *)from,
	       *(uint64_t *)(from + 8), *(uint64_t *)(to + 2048), *(uint64_t *)(to + 2056));
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_qp(peer));
	CHECK(!ibv_destroy_cq(ibv_cq_ex_to_cq(ex)));
}

static void windows(void)
{
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, NULL);
	struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &init));
	struct ibv_mw *mw = NEED(ibv_alloc_mw(port.pd, IBV_MW_TYPE_1));
	struct ibv_mw *two = NEED(ibv_alloc_mw(port.pd, IBV_MW_TYPE_2));
	struct ibv_mw_bind bind = { .wr_id = 3, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = to_mr, .addr = (uintptr_t)to, .length = 4096,
			       .mw_access_flags = IBV_ACCESS_REMOTE_WRITE } };
	struct ibv_sge sge = { .addr = (uintptr_t)from, .length = 64, .lkey = from_mr->lkey };
	struct ibv_send_wr send = request(IBV_WR_RDMA_WRITE, &sge, 1), *bad;
	uint32_t old;

	section("memory windows");
	connect_qp(qp, &port, qp->qp_num);
	ERR("bind", ibv_bind_mw(qp, mw, &bind));
	finished("bind", 1, IBV_WC_SUCCESS);
	fill(9, 256);
	send.wr.rdma.remote_addr = (uintptr_t)to + 32;
	send.wr.rdma.rkey = mw->rkey;
	CHECK(!ibv_post_send(qp, &send, &bad));
	finished("write through the window", 1, IBV_WC_SUCCESS);
	CHECK(!memcmp(to + 32, from, 64) && to[31] == 0xee && to[96] == 0xee);
	old = mw->rkey;
	bind.bind_info.length = 64;
	bind.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ;
	ERR("bind again", ibv_bind_mw(qp, mw, &bind));
	finished("bind again", 1, IBV_WC_SUCCESS);
	CHECK(mw->rkey != old);
	refused("old key", send, 64);
	send.wr.rdma.rkey = mw->rkey;
	refused("no right to write", send, 8);
	send.opcode = IBV_WR_RDMA_READ;
	send.wr.rdma.remote_addr = (uintptr_t)to;
	CHECK(!ibv_post_send(qp, &send, &bad));
	finished("read through the window", 1, IBV_WC_SUCCESS);
	CHECK(!memcmp(to, from, 64));
	bind.bind_info.length = 0;
	ERR("unbind", ibv_bind_mw(qp, mw, &bind));
	finished("unbind", 1, IBV_WC_SUCCESS);

	send = request(IBV_WR_BIND_MW, NULL, 0);
	send.bind_mw.mw = two;
	send.bind_mw.rkey = ibv_inc_rkey(two->rkey);
	send.bind_mw.bind_info = (struct ibv_mw_bind_info){ .mr = to_mr, .addr = (uintptr_t)to,
		.length = 4096, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE };
	ERR("post bind of type 2", ibv_post_send(qp, &send, &bad));
	finished("bind of type 2", 1, IBV_WC_SUCCESS);
	uint32_t key = send.bind_mw.rkey;
	fill(11, 256);
	send = request(IBV_WR_RDMA_WRITE, &sge, 1);
	send.wr.rdma.remote_addr = (uintptr_t)to;
	send.wr.rdma.rkey = key;
	CHECK(!ibv_post_send(qp, &send, &bad));
	finished("write through type 2", 1, IBV_WC_SUCCESS);
	CHECK(!memcmp(to, from, 64) && to[64] == 0xee);
	send = request(IBV_WR_LOCAL_INV, NULL, 0);
	send.invalidate_rkey = key;
	ERR("post local invalidate", ibv_post_send(qp, &send, &bad));
	finished("local invalidate", 1, IBV_WC_SUCCESS);
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_dealloc_mw(mw) && !ibv_dealloc_mw(two));
}

static void buffers(void)
{
	struct ibv_pd *other_pd = NEED(ibv_alloc_pd(port.context));
	struct ibv_buf *buf = NULL;
	struct ibv_mr_init_attr attr, copy;
	struct ibv_mr *mr;
	uint8_t *memory;

	section("allocated buffers");
	memory = PTR("alloc_buf", ibv_alloc_buf(port.pd, 10000, &buf));
	CHECK(memory && buf && (uintptr_t)memory % 4096 == 0);
	memset(memory, 1, 10000);
	MINUS("export_buf_dmabuf_fd", ibv_export_buf_dmabuf_fd(buf));
	mr = PTR("reg_buf_mr", ibv_reg_buf_mr(port.pd, buf, memory, 10000, ALL_ACCESS));
	if (mr) {
		CHECK(mr->addr == memory && mr->length == 10000 && mr->pd == port.pd);
		struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, NULL);
		struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &init));
		struct ibv_sge sge = { .addr = (uintptr_t)from, .length = 9000,
				       .lkey = from_mr->lkey };
		struct ibv_send_wr send = request(IBV_WR_RDMA_WRITE, &sge, 1), *bad;

		connect_qp(qp, &port, qp->qp_num);
		fill(21, 9000);
		send.wr.rdma.remote_addr = (uintptr_t)memory;
		send.wr.rdma.rkey = mr->rkey;
		CHECK(!ibv_post_send(qp, &send, &bad));
		finished("write", 1, IBV_WC_SUCCESS);
		CHECK(!memcmp(memory, from, 9000) && memory[9000] == 1);
		CHECK(!ibv_destroy_qp(qp));
		CHECK(!ibv_dereg_mr(mr));
	}
	static const struct {
		const char *what;
		long offset, length;
		int mask;
		bool other_pd;
	} attempts[] = {
		{ "part", 100, 50, IBV_REG_MR_MASK_ADDR, false },
		{ "end", 9999, 1, IBV_REG_MR_MASK_ADDR, false },
		{ "whole page", 0, 12288, IBV_REG_MR_MASK_ADDR, false },
		{ "over the end", 0, 12289, IBV_REG_MR_MASK_ADDR, false },
		{ "before it", -4096, 4096, IBV_REG_MR_MASK_ADDR, false },
		{ "length wraps", 8, -1, IBV_REG_MR_MASK_ADDR, false },
		{ "no length", 8, 0, IBV_REG_MR_MASK_ADDR, false },
		{ "another PD", 0, 4096, IBV_REG_MR_MASK_ADDR, true },
		{ "no addr", 0, 4096, 0, false },
		{ "with iova", 0, 4096, IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA, false },
		{ "with fd", 0, 4096, IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD, false },
		{ "with fd_offset", 0, 4096, IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD_OFFSET,
		  false },
		{ "with a future bit", 0, 4096, IBV_REG_MR_MASK_ADDR | 1 << 6, false },
	};

	for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
		memset(&attr, 0x5a, sizeof(attr));
		attr.comp_mask = (unsigned)attempts[i].mask | IBV_REG_MR_MASK_BUF;
		attr.buf = buf;
		attr.addr = memory + attempts[i].offset;
		attr.length = attempts[i].length;
		attr.access = IBV_ACCESS_LOCAL_WRITE;
		attr.iova = (uintptr_t)memory & 0xfffff000;
		attr.fd = -1;
		copy = attr;
		mr = PTR(attempts[i].what,
			 ibv_reg_mr_ex(attempts[i].other_pd ? other_pd : port.pd, &attr));
		CHECK(!memcmp(&attr, &copy, sizeof(attr)));
		if (mr)
			CHECK(!ibv_dereg_mr(mr));
	}
	ibv_free_buf(buf);
	buf = (void *)8;
	memory = PTR("alloc_buf, nothing", ibv_alloc_buf(port.pd, 0, &buf));
	if (memory)
		ibv_free_buf(buf);
	PTR("alloc_buf, everything", ibv_alloc_buf(port.pd, SIZE_MAX, &buf));
	PTR("alloc_buf, half", ibv_alloc_buf(port.pd, SIZE_MAX / 2, &buf));
	CHECK(!ibv_dealloc_pd(other_pd));
}

int main(int argc, char **argv)
{
	start();
	if (argc != 2)
		return 2;
	open_port(&port, argv[1]);
	cq = NEED(ibv_create_cq(port.context, 64, NULL, NULL, 0));
	from = NEED((uint8_t *)aligned_alloc(4096, AREA));
	to = NEED((uint8_t *)aligned_alloc(4096, AREA));
	from_mr = NEED(ibv_reg_mr(port.pd, from, AREA, ALL_ACCESS));
	to_mr = NEED(ibv_reg_mr(port.pd, to, AREA, ALL_ACCESS));
	connected(IBV_QPT_RC);
	connected(IBV_QPT_UC);
	atomics();
	protection();
	shared_receive();
	datagrams();
	new_interface();
	windows();
	buffers();
	CHECK(!ibv_dereg_mr(from_mr) && !ibv_dereg_mr(to_mr));
	CHECK(!ibv_destroy_cq(cq));
	close_port(&port);
	free(from);
	free(to);
	return finish();
}
