/*
 * Queue pairs: creation, states and queries with arguments that must be refused, and work requests
 * that must be.
 *
 * usage: fail_qp DEVICE
 */
#include "qp.h"

static struct port port;
static struct ibv_cq *cq;

static void drop(struct ibv_qp *qp)
{
	if (qp)
		CHECK(!ibv_destroy_qp(qp));
}

static void show_cap(const struct ibv_qp_cap *cap)
{
	printf("  wr %u %u sge %u %u inline %u\n", cap->max_send_wr, cap->max_recv_wr,
	       cap->max_send_sge, cap->max_recv_sge, cap->max_inline_data);
}

static void create_one(const char *what, struct ibv_qp_init_attr init)
{
	struct ibv_qp *qp = PTR(what, ibv_create_qp(port.pd, &init));

	show_cap(&init.cap);
	drop(qp);
}

static void create(void)
{
	struct ibv_qp_init_attr init;
	char what[40];

	section("create_qp by type");
	for (int type = -1; type < 20; type++) {
		init = qp_init(type, cq, NULL);
		snprintf(what, sizeof(what), "type %d", type);
		create_one(what, init);
	}
	create_one("type 255", qp_init(IBV_QPT_DRIVER, cq, NULL));
	create_one("type 256", qp_init(256, cq, NULL));

	section("create_qp by capacity");
	init = qp_init(IBV_QPT_RC, cq, NULL);
	init.cap = (struct ibv_qp_cap){ 0 };
	create_one("nothing", init);
	init.cap.max_send_wr = 1;
	create_one("one send", init);
	init.cap.max_send_wr = 1048577;
	create_one("too many send wr", init);
	init.cap.max_send_wr = 4;
	init.cap.max_recv_wr = 1048577;
	create_one("too many recv wr", init);
	init.cap.max_recv_wr = 4;
	init.cap.max_send_sge = 33;
	create_one("too many send sge", init);
	init.cap.max_send_sge = 32;
	init.cap.max_recv_sge = 33;
	create_one("too many recv sge", init);
	init.cap.max_recv_sge = 32;
	create_one("most sge", init);
	for (unsigned bytes = 1; bytes <= 4096; bytes *= 2) {
		init.cap.max_inline_data = bytes;
		snprintf(what, sizeof(what), "inline %u", bytes);
		create_one(what, init);
	}
	init.cap.max_inline_data = -1U;
	create_one("inline all ones", init);
}

static void create_ex(void)
{
	struct ibv_qp_init_attr_ex attr;
	struct ibv_qp_init_attr plain = qp_init(IBV_QPT_RC, cq, NULL);
	char what[60];

	section("create_qp_ex by comp_mask");
	for (int bit = -1; bit < 32; bit++) {
		for (unsigned pd = 0; pd < 2; pd++) {
			unsigned mask = (bit < 0 ? 0 : 1U << bit) | pd;

			/* That needs a domain or a table, and the device has neither. */
			if (mask & (IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_IND_TABLE))
				continue;
			attr = (struct ibv_qp_init_attr_ex){ .comp_mask = mask, .pd = port.pd };
			memcpy(&attr, &plain, offsetof(struct ibv_qp_init_attr, sq_sig_all));
			snprintf(what, sizeof(what), "comp_mask 0x%x", mask);
			drop(PTR(what, ibv_create_qp_ex(port.context, &attr)));
		}
	}
	section("create_qp_ex by create_flags");
	for (int bit = 0; bit < 32; bit++) {
		attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
		attr.create_flags = 1U << bit;
		snprintf(what, sizeof(what), "create_flags 0x%x", attr.create_flags);
		drop(PTR(what, ibv_create_qp_ex(port.context, &attr)));
	}
	section("create_qp_ex by send_ops_flags");
	attr.create_flags = 0;
	for (int type = IBV_QPT_RC; type <= IBV_QPT_UD; type++) {
		for (int bit = 0; bit < 64; bit++) {
			struct ibv_qp *qp;

			attr.qp_type = type;
			attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
			attr.send_ops_flags = 1ULL << bit;
			snprintf(what, sizeof(what), "type %d send_ops_flags 0x%" PRIx64, type,
				 attr.send_ops_flags);
			qp = PTR(what, ibv_create_qp_ex(port.context, &attr));
			if (qp)
				CHECK(ibv_qp_to_qp_ex(qp) && &ibv_qp_to_qp_ex(qp)->qp_base == qp);
			drop(qp);
		}
	}
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	attr.qp_type = IBV_QPT_RC;
	attr.xrcd = (void *)8;
	attr.create_flags = -1U;
	attr.max_tso_header = 9999;
	attr.rwq_ind_tbl = (void *)8;
	attr.rx_hash_conf.rx_hash_key = (void *)8;
	attr.source_qpn = -1U;
	drop(PTR("garbage behind the mask", ibv_create_qp_ex(port.context, &attr)));
}

static void show_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	printf("  state %d\n", attr.qp_state);
	CHECK(qp->state == attr.qp_state);
}

/* A send queue that is to be drained takes its time. */
static void wait_drained(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { .sq_draining = 1 };

	for (int i = 0; i < 500 && attr.sq_draining; i++) {
		usleep(10000);
		CHECK(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	}
}

static void states(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = qp_init(type, cq, NULL);
	struct ibv_qp *qp;
	char what[60];

	printf("== modify_qp, type %d\n", type);
	for (int from = IBV_QPS_RESET; from <= IBV_QPS_ERR; from++) {
		for (int to = IBV_QPS_RESET; to <= IBV_QPS_UNKNOWN + 1; to++) {
			struct ibv_qp_attr attr = { .qp_state = to };

			qp = NEED(ibv_create_qp(port.pd, &init));
			if (from >= IBV_QPS_INIT)
				CHECK(!to_init(qp));
			if (from >= IBV_QPS_RTR)
				CHECK(!to_rtr(qp, &port, qp->qp_num));
			if (from >= IBV_QPS_RTS)
				CHECK(!to_rts(qp));
			if (from >= IBV_QPS_SQD) {
				struct ibv_qp_attr move = { .qp_state = from };

				snprintf(what, sizeof(what), "to %d", from);
				if (ERR(what, ibv_modify_qp(qp, &move, IBV_QP_STATE))) {
					drop(qp);
					break;
				}
				if (from == IBV_QPS_SQD)
					wait_drained(qp);
			}
			snprintf(what, sizeof(what), "%d to %d with nothing else", from, to);
			ERR(what, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
			show_state(qp);
			drop(qp);
		}
	}
}

static void masks(void)
{
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, NULL);
	struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &init));
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	char what[60];

	section("modify_qp to INIT with one mask bit changed");
	for (int bit = 0; bit < 31; bit++) {
		snprintf(what, sizeof(what), "mask bit %d", bit);
		ERR(what, ibv_modify_qp(qp, &attr, mask ^ 1 << bit));
		printf("  state %d\n", qp->state);
		if (qp->state != IBV_QPS_RESET) {
			struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

			CHECK(!ibv_modify_qp(qp, &reset, IBV_QP_STATE));
		}
	}
	ERR("no mask", ibv_modify_qp(qp, &attr, 0));
	ERR("all masks", ibv_modify_qp(qp, &attr, -1));
	attr.port_num = 2;
	ERR("port 2", ibv_modify_qp(qp, &attr, mask));
	attr.port_num = 0;
	ERR("port 0", ibv_modify_qp(qp, &attr, mask));
	attr.port_num = 1;
	attr.pkey_index = 70;
	ERR("pkey index 70", ibv_modify_qp(qp, &attr, mask));
	attr.pkey_index = 0;
	attr.qp_access_flags = 1 << 20;
	ERR("access bit 20", ibv_modify_qp(qp, &attr, mask));
	attr.qp_access_flags = -1U;
	ERR("all access bits", ibv_modify_qp(qp, &attr, mask));
	CHECK(qp->state == IBV_QPS_INIT || qp->state == IBV_QPS_RESET);
	printf("  state %d\n", qp->state);

	section("modify_qp to RTR with one member wrong");
	for (int wrong = 0; wrong < 8; wrong++) {
		struct ibv_qp_attr rtr = {
			.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = 5,
			.rq_psn = 100, .max_dest_rd_atomic = 4, .min_rnr_timer = 1,
			.ah_attr = to_gid(&port),
		};

		if (qp->state == IBV_QPS_RESET)
			CHECK(!to_init(qp));
		switch (wrong) {
		case 0: rtr.path_mtu = 0; break;
		case 1: rtr.path_mtu = 9; break;
		case 2: rtr.max_dest_rd_atomic = 255; break;
		case 3: rtr.min_rnr_timer = 255; break;
		case 4: rtr.ah_attr.port_num = 3; break;
		case 5: rtr.ah_attr.grh.sgid_index = 200; break;
		case 6: rtr.ah_attr.is_global = 0; break;
		case 7: rtr.dest_qp_num = -1U; break;
		}
		snprintf(what, sizeof(what), "wrong %d", wrong);
		ERR(what, ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
		printf("  state %d\n", qp->state);
		struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
		CHECK(!ibv_modify_qp(qp, &reset, IBV_QP_STATE));
	}
	drop(qp);
}

static void query(void)
{
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, NULL), got;
	struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &init));
	struct ibv_qp_attr attr;
	char what[40];

	section("query_qp");
	connect_qp(qp, &port, qp->qp_num);
	memset(&attr, 0xa5, sizeof(attr));
	memset(&got, 0xa5, sizeof(got));
	ERR("query_qp", ibv_query_qp(qp, &attr, IBV_QP_STATE, &got));
	CHECK(attr.dest_qp_num == qp->qp_num);
	printf("state %d %d mtu %d mig %d qkey %x psn %x %x access %x\n", attr.qp_state,
	       attr.cur_qp_state, attr.path_mtu, attr.path_mig_state, attr.qkey, attr.rq_psn,
	       attr.sq_psn, attr.qp_access_flags);
	show_cap(&attr.cap);
	printf("pkey %u %u sqd %u %u rd %u %u rnr %u port %u timeout %u retry %u %u alt %u %u"
	       " rate %x\n",
	       attr.pkey_index, attr.alt_pkey_index, attr.en_sqd_async_notify, attr.sq_draining,
	       attr.max_rd_atomic, attr.max_dest_rd_atomic, attr.min_rnr_timer, attr.port_num,
	       attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.alt_port_num,
	       attr.alt_timeout, attr.rate_limit);
	printf("ah: global %u port %u dlid %u sl %u bits %u rate %u gid %s index %s hops %u"
	       " class %u flow %x\n",
	       attr.ah_attr.is_global, attr.ah_attr.port_num, attr.ah_attr.dlid, attr.ah_attr.sl,
	       attr.ah_attr.src_path_bits, attr.ah_attr.static_rate,
	       memcmp(&attr.ah_attr.grh.dgid, &port.gid, 16) ? "?" : "as given",
	       attr.ah_attr.grh.sgid_index == port.gid_index ? "as given" : "?",
	       attr.ah_attr.grh.hop_limit, attr.ah_attr.grh.traffic_class,
	       attr.ah_attr.grh.flow_label);
	printf("alt ah: global %u port %u\n", attr.alt_ah_attr.is_global,
	       attr.alt_ah_attr.port_num);
	CHECK(got.send_cq == cq && got.recv_cq == cq && !got.srq && got.qp_context == NULL);
	printf("init: type %d sig %d\n", got.qp_type, got.sq_sig_all);
	show_cap(&got.cap);
	for (int bit = 0; bit < 32; bit++) {
		snprintf(what, sizeof(what), "query mask bit %d", bit);
		ERR(what, ibv_query_qp(qp, &attr, (int)(1U << bit), &got));
	}
	ERR("no mask", ibv_query_qp(qp, &attr, 0, &got));
	drop(qp);
	init.sq_sig_all = 77;
	qp = NEED(ibv_create_qp(port.pd, &init));
	CHECK(!ibv_query_qp(qp, &attr, 0, &got));
	printf("sq_sig_all 77 is %d\n", got.sq_sig_all);
	drop(qp);
}

static void post(void)
{
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, NULL);
	struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &init));
	struct ibv_sge sge[3] = { { .addr = 1, .length = 8, .lkey = 1 } };
	struct ibv_recv_wr recv = { .sg_list = sge, .num_sge = 1 }, *bad_recv = NULL;
	struct ibv_send_wr send = { .sg_list = sge, .num_sge = 1, .opcode = IBV_WR_SEND };
	struct ibv_send_wr *bad_send = NULL;
	char what[40];
	int posted = 0;

	section("post_recv and post_send");
	ERR("recv in RESET", ibv_post_recv(qp, &recv, &bad_recv));
	ERR("send in RESET", ibv_post_send(qp, &send, &bad_send));
	CHECK(!to_init(qp));
	recv.num_sge = 3;
	bad_recv = NULL;
	ERR("recv, too many sge", ibv_post_recv(qp, &recv, &bad_recv));
	CHECK(bad_recv == &recv);
	recv.num_sge = 1;
	while (posted < 1000 && !ibv_post_recv(qp, &recv, &bad_recv))
		posted++;
	printf("recv queue takes %d\n", posted);
	ERR("recv, full", ibv_post_recv(qp, &recv, &bad_recv));
	ERR("send in INIT", ibv_post_send(qp, &send, &bad_send));
	drop(qp);

	qp = NEED(ibv_create_qp(port.pd, &init));
	connect_qp(qp, &port, qp->qp_num);
	send.num_sge = 3;
	bad_send = NULL;
	ERR("send, too many sge", ibv_post_send(qp, &send, &bad_send));
	printf("  bad_wr %s\n", bad_send == &send ? "set" : "not set");
	send.num_sge = 1;
	send.send_flags = IBV_SEND_INLINE;
	sge[0].length = 10000;
	ERR("send, too much inline", ibv_post_send(qp, &send, &bad_send));
	send.send_flags = 0;
	for (unsigned opcode = 7; opcode < 20; opcode++) {
		sge[0].length = 8;
		send.opcode = opcode;
		if (opcode == IBV_WR_LOCAL_INV || opcode == IBV_WR_BIND_MW ||
		    opcode == IBV_WR_SEND_WITH_INV)
			continue;
		snprintf(what, sizeof(what), "send, opcode %u", opcode);
		ERR(what, ibv_post_send(qp, &send, &bad_send));
	}
	drop(qp);
}

int main(int argc, char **argv)
{
	start();
	if (argc != 2)
		return 2;
	open_port(&port, argv[1]);
	cq = NEED(ibv_create_cq(port.context, 64, NULL, NULL, 0));
	create();
	create_ex();
	states(IBV_QPT_RC);
	states(IBV_QPT_UC);
	states(IBV_QPT_UD);
	masks();
	query();
	post();
	CHECK(!ibv_destroy_cq(cq));
	close_port(&port);
	return finish();
}
