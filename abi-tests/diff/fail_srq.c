/*
 * Shared receive queues, work queues and indirection tables: what must be refused.
 *
 * usage: fail_srq DEVICE
 */
#include "qp.h"

static struct port port;

static struct ibv_srq *make(const char *what, uint32_t wr, uint32_t sge, uint32_t limit)
{
	struct ibv_srq_init_attr init = { .srq_context = &port,
		.attr = { .max_wr = wr, .max_sge = sge, .srq_limit = limit } };
	struct ibv_srq *srq = PTR(what, ibv_create_srq(port.pd, &init));

	printf("  wr %u sge %u limit %u\n", init.attr.max_wr, init.attr.max_sge,
	       init.attr.srq_limit);
	if (srq)
		CHECK(srq->srq_context == &port && srq->pd == port.pd);
	return srq;
}

static void drop(struct ibv_srq *srq)
{
	if (srq)
		CHECK(!ibv_destroy_srq(srq));
}

static void create(void)
{
	section("create_srq");
	drop(make("10, 2", 10, 2, 0));
	drop(make("nothing", 0, 0, 0));
	drop(make("no sge", 10, 0, 0));
	drop(make("with a limit", 10, 1, 5));
	drop(make("limit over the size", 10, 1, 500));
	drop(make("most sge", 4, 27, 0));
	drop(make("too many sge", 4, 28, 0));
	drop(make("too many wr", 1048577, 1, 0));
	drop(make("all ones", -1U, -1U, -1U));
}

static void create_ex(void)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(port.context, 4, NULL, NULL, 0));
	struct ibv_srq_init_attr_ex attr;
	char what[60];

	section("create_srq_ex");
	for (unsigned mask = 0; mask < 64; mask++) {
		for (int type = 0; type < 4; type++) {
			if (type && !(mask & IBV_SRQ_INIT_ATTR_TYPE))
				break;
			/* That needs a domain, and the device has none. */
			if (type == IBV_SRQT_XRC && mask & IBV_SRQ_INIT_ATTR_XRCD)
				continue;
			attr = (struct ibv_srq_init_attr_ex){
				.attr = { .max_wr = 4, .max_sge = 1 }, .comp_mask = mask,
				.srq_type = type, .pd = port.pd, .cq = cq,
				.tm_cap = { .max_num_tags = 4, .max_ops = 1 },
			};
			snprintf(what, sizeof(what), "comp_mask 0x%x type %d", mask, type);
			drop(PTR(what, ibv_create_srq_ex(port.context, &attr)));
		}
	}
	attr = (struct ibv_srq_init_attr_ex){ .attr = { .max_wr = 4, .max_sge = 1 }, .pd = port.pd,
					      .comp_mask = IBV_SRQ_INIT_ATTR_PD | 1U << 31 };
	drop(PTR("comp_mask bit 31", ibv_create_srq_ex(port.context, &attr)));
	attr.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
	attr.srq_type = IBV_SRQT_BASIC;
	attr.xrcd = (void *)8;
	attr.cq = (void *)8;
	attr.tm_cap.max_ops = -1U;
	struct ibv_srq *srq = PTR("garbage behind the mask", ibv_create_srq_ex(port.context, &attr));
	uint32_t number = 5;

	ERR("get_srq_num", ibv_get_srq_num(srq, &number));
	drop(srq);
	CHECK(!ibv_destroy_cq(cq));
}

static void modify(void)
{
	struct ibv_srq *srq = NEED(make("to be modified", 20, 2, 3));
	struct ibv_srq_attr attr = { 0 };

	section("modify_srq");
	ERR("query", ibv_query_srq(srq, &attr));
	printf("  wr %u sge %u limit %u\n", attr.max_wr, attr.max_sge, attr.srq_limit);
	for (int mask = 0; mask < 8; mask++) {
		char what[20];

		attr = (struct ibv_srq_attr){ .max_wr = 40, .max_sge = 99, .srq_limit = 7 };
		snprintf(what, sizeof(what), "mask %d", mask);
		ERR(what, ibv_modify_srq(srq, &attr, mask));
		CHECK(!ibv_query_srq(srq, &attr));
		printf("  wr %u sge %u limit %u\n", attr.max_wr, attr.max_sge, attr.srq_limit);
	}
	attr.srq_limit = 1 << 20;
	ERR("limit over the size", ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	attr.max_wr = 1 << 30;
	ERR("too many wr", ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	attr.max_wr = 0;
	ERR("no wr", ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	ERR("all masks", ibv_modify_srq(srq, &attr, -1));
	drop(srq);
}

static void post(void)
{
	struct ibv_srq *srq = NEED(make("to be filled", 3, 1, 0));
	struct ibv_sge sge[3] = { { .addr = 1, .length = 1, .lkey = 1 } };
	struct ibv_recv_wr bad = { .sg_list = sge, .num_sge = 3 };
	struct ibv_recv_wr good = { .sg_list = sge, .num_sge = 1, .next = &bad }, *at = NULL;
	int posted = 0, ret;

	section("post_srq_recv");
	ERR("second has too many sge", ibv_post_srq_recv(srq, &good, &at));
	CHECK(at == &bad);
	good.next = NULL;
	while (!(ret = ibv_post_srq_recv(srq, &good, &at)) && posted < 1000)
		posted++;
	printf("full after %d more: %s\n", posted, error_name(ret));
	CHECK(at == &good);
	drop(srq);
}

static void operations(void)
{
	struct ibv_srq *srq = NEED(make("for tag matching", 3, 1, 0));
	struct ibv_ops_wr op = { .opcode = IBV_WR_TAG_SYNC }, *bad = NULL;

	section("post_srq_ops");
	ERR("sync", ibv_post_srq_ops(srq, &op, &bad));
	drop(srq);
}

static void work_queue(void)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(port.context, 4, NULL, NULL, 0));
	struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1,
					 .pd = port.pd, .cq = cq };
	struct ibv_rwq_ind_table_init_attr table = { .log_ind_tbl_size = 0 };

	section("work queues");
	PTR("create_wq", ibv_create_wq(port.context, &attr));
	attr.comp_mask = 1U << 31;
	PTR("create_wq, future mask", ibv_create_wq(port.context, &attr));
	attr.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
	attr.create_flags = 1U << 31;
	PTR("create_wq, unknown flag", ibv_create_wq(port.context, &attr));
	PTR("create_rwq_ind_table", ibv_create_rwq_ind_table(port.context, &table));
	table.comp_mask = 1;
	PTR("create_rwq_ind_table, future mask", ibv_create_rwq_ind_table(port.context, &table));
	CHECK(!ibv_destroy_cq(cq));
}

int main(int argc, char **argv)
{
	start();
	if (argc != 2)
		return 2;
	open_port(&port, argv[1]);
	create();
	create_ex();
	modify();
	post();
	operations();
	work_queue();
	close_port(&port);
	return finish();
}
