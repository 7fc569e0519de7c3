/*
 * Life cycles, many rounds of each, for a memory checker: device lists, opening and closing, every
 * object, events, failures. Prints nothing but the rounds, and checks every return value.
 *
 * usage: life DEVICE ROUNDS [lists|open|objects|failures|data]
 */
#include "qp.h"

static const char *name;
static int rounds;

static void lists(void)
{
	for (int i = 0; i < rounds; i++) {
		int n;
		struct ibv_device **a = NEED(ibv_get_device_list(&n));
		struct ibv_device **b = NEED(ibv_get_device_list(NULL));

		for (int k = 0; k < n; k++) {
			CHECK(a[k] == b[k]);
			CHECK(ibv_get_device_guid(a[k]));
			CHECK(ibv_get_device_index(a[k]) >= 0);
		}
		ibv_free_device_list(i % 2 ? a : b);
		ibv_free_device_list(i % 2 ? b : a);
	}
}

static void open_close(void)
{
	for (int i = 0; i < rounds; i++) {
		struct ibv_device_attr_ex attr;
		struct ibv_gid_entry entries[8];
		struct ibv_port_attr port;
		union ibv_gid gid;
		uint16_t pkey;
		struct ibv_context *context = open_device(name);

		CHECK(!ibv_query_device(context, &attr.orig_attr));
		CHECK(!ibv_query_device_ex(context, NULL, &attr));
		CHECK(!ibv_query_port(context, 1, &port) && port.gid_tbl_len > 0);
		CHECK(!ibv_query_gid(context, 1, 0, &gid));
		CHECK(!ibv_query_gid_ex(context, 1, 0, entries, 0));
		CHECK(ibv_query_gid_table(context, entries, 8, 0) > 0);
		CHECK(!ibv_query_pkey(context, 1, 0, &pkey) && pkey == 0xffff);
		CHECK(ibv_get_pkey_index(context, 1, pkey) == 0);
		CHECK(!ibv_close_device(context));
	}
}

static void one_of_each(struct port *port, char *buffer)
{
	struct ibv_comp_channel *channel = NEED(ibv_create_comp_channel(port->context));
	struct ibv_pd *pd = NEED(ibv_alloc_pd(port->context));
	struct ibv_cq *cq = NEED(ibv_create_cq(port->context, 16, NULL, channel, 0));
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 8, .channel = channel,
					       .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct ibv_cq_ex *cq_ex = NEED(ibv_create_cq_ex(port->context, &cq_attr));
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = NEED(ibv_create_srq(pd, &srq_init));
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, buffer, 4096, ALL_ACCESS));
	struct ibv_mr_init_attr mr_attr = { .comp_mask = IBV_REG_MR_MASK_ADDR, .addr = buffer,
					    .length = 100, .access = 1 };
	struct ibv_mr *mr_ex = NEED(ibv_reg_mr_ex(pd, &mr_attr));
	struct ibv_mw *mw = NEED(ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	struct ibv_ah_attr ah_attr = to_gid(port);
	struct ibv_ah *ah = NEED(ibv_create_ah(pd, &ah_attr));
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, srq);
	struct ibv_qp *rc = NEED(ibv_create_qp(pd, &init)), *ud, *ex;
	struct ibv_qp_init_attr_ex ex_attr = { .send_cq = cq, .recv_cq = cq,
		.qp_type = IBV_QPT_RC, .cap = init.cap, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND };
	struct ibv_qp_attr attr;
	struct ibv_buf *buf;
	void *memory = NEED(ibv_alloc_buf(pd, 5000, &buf));
	struct ibv_mr *buf_mr = NEED(ibv_reg_buf_mr(pd, buf, memory, 5000, 1));

	init = qp_init(IBV_QPT_UD, cq, NULL);
	ud = NEED(ibv_create_qp(pd, &init));
	ex = NEED(ibv_create_qp_ex(port->context, &ex_attr));
	CHECK(!ibv_resize_cq(cq, 40));
	connect_qp(rc, port, rc->qp_num);
	CHECK(!ibv_query_qp(rc, &attr, IBV_QP_STATE, &init) && attr.qp_state == IBV_QPS_RTS);
	CHECK(ibv_dealloc_pd(pd) == EBUSY && ibv_destroy_cq(cq) == EBUSY);
	CHECK(!ibv_destroy_qp(ex) && !ibv_destroy_qp(ud) && !ibv_destroy_qp(rc));
	CHECK(!ibv_dereg_mr(buf_mr));
	ibv_free_buf(buf);
	CHECK(!ibv_destroy_ah(ah) && !ibv_dealloc_mw(mw));
	CHECK(!ibv_dereg_mr(mr_ex) && !ibv_dereg_mr(mr) && !ibv_destroy_srq(srq));
	CHECK(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq_ex)) && !ibv_destroy_cq(cq));
	CHECK(!ibv_destroy_comp_channel(channel) && !ibv_dealloc_pd(pd));
}

static void objects(void)
{
	char *buffer = NEED((char *)aligned_alloc(4096, 8192));
	struct port port;

	open_port(&port, name);
	for (int i = 0; i < rounds; i++)
		one_of_each(&port, buffer);
	close_port(&port);
	free(buffer);
}

/* What fails must leave nothing behind either. */
static void failures(void)
{
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 8, .wc_flags = 1ULL << 60 };
	struct ibv_td_init_attr td = { 0 };
	struct port port;

	open_port(&port, name);
	for (int i = 0; i < rounds; i++) {
		struct ibv_cq *cq = NEED(ibv_create_cq(port.context, 8, NULL, NULL, 0));
		struct ibv_qp_init_attr init = qp_init(77, cq, NULL);
		struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = -1U, .max_sge = 1 } };
		struct ibv_ah_attr ah_attr = { .port_num = 9 };
		struct ibv_mr_init_attr mr_attr = { .comp_mask = 1 << 20 };

		CHECK(!ibv_create_qp(port.pd, &init));
		CHECK(!ibv_create_cq(port.context, -1, NULL, NULL, 0));
		CHECK(!ibv_create_cq_ex(port.context, &cq_attr));
		CHECK(!ibv_create_srq(port.pd, &srq_init));
		CHECK(!ibv_create_ah(port.pd, &ah_attr));
		CHECK(!ibv_reg_mr(port.pd, (void *)4096, 4096, 1));
		CHECK(!ibv_reg_mr_ex(port.pd, &mr_attr));
		CHECK(!ibv_reg_dmabuf_mr(port.pd, 0, 4096, 0, -1, 1));
		CHECK(!ibv_alloc_mw(port.pd, 9));
		CHECK(!ibv_alloc_td(port.context, &td));
		CHECK(!ibv_import_device(-1));
		CHECK(!ibv_destroy_cq(cq));
	}
	close_port(&port);
}

static void data(void)
{
	uint64_t *words = NEED((uint64_t *)aligned_alloc(4096, 4096));
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq, *event;
	struct ibv_qp_init_attr init;
	struct ibv_wc wc[2];
	struct port port;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	void *context;

	open_port(&port, name);
	channel = NEED(ibv_create_comp_channel(port.context));
	cq = NEED(ibv_create_cq(port.context, 8, words, channel, 0));
	mr = NEED(ibv_reg_mr(port.pd, words, 4096, ALL_ACCESS));
	init = qp_init(IBV_QPT_RC, cq, NULL);
	qp = NEED(ibv_create_qp(port.pd, &init));
	connect_qp(qp, &port, qp->qp_num);
	memset(words, 0, 4096);
	for (int i = 0; i < rounds; i++) {
		struct ibv_sge from = { .addr = (uintptr_t)words, .length = 8, .lkey = mr->lkey };
		struct ibv_sge to = { .addr = (uintptr_t)&words[8], .length = 8, .lkey = mr->lkey };
		struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad_recv;
		struct ibv_send_wr send = { .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
					    .send_flags = IBV_SEND_SIGNALED }, *bad_send;

		words[0] = i + 1;
		CHECK(!ibv_req_notify_cq(cq, 0));
		CHECK(!ibv_post_recv(qp, &recv, &bad_recv));
		CHECK(!ibv_post_send(qp, &send, &bad_send));
		CHECK(!ibv_get_cq_event(channel, &event, &context));
		CHECK(event == cq && context == words);
		CHECK(poll_for(cq, 2, wc) == 2 && !wc[0].status && !wc[1].status);
		CHECK(words[8] == words[0]);
		ibv_ack_cq_events(cq, 1);
	}
	CHECK(!ibv_destroy_qp(qp) && !ibv_dereg_mr(mr));
	CHECK(!ibv_destroy_cq(cq) && !ibv_destroy_comp_channel(channel));
	close_port(&port);
	free(words);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = { { "lists", lists }, { "open", open_close }, { "objects", objects },
		      { "failures", failures }, { "data", data } };

	start();
	if (argc < 3)
		return 2;
	name = argv[1];
	rounds = atoi(argv[2]);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (argc > 3 && strcmp(argv[3], parts[i].name))
			continue;
		parts[i].run();
		printf("%s: %d rounds\n", parts[i].name, rounds);
	}
	return finish();
}
