/*
 * What the device does not have: every such call says so in the same way. Domains, device memory,
 * DMA handles, counters, flow steering, XRC, clocks.
 *
 * usage: fail_other DEVICE
 */
#include "qp.h"
#include <dlfcn.h>
#include <fcntl.h>

static struct port port;
static struct ibv_cq *cq;
static struct ibv_qp *qp;

static void domains(void)
{
	struct ibv_td_init_attr td = { 0 };
	struct ibv_parent_domain_init_attr parent = { .pd = port.pd };

	section("thread and parent domains");
	PTR("alloc_td", ibv_alloc_td(port.context, &td));
	td.comp_mask = 1;
	PTR("alloc_td, future mask", ibv_alloc_td(port.context, &td));
	PTR("alloc_parent_domain", ibv_alloc_parent_domain(port.context, &parent));
	parent.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC;
	PTR("alloc_parent_domain, unprotected", ibv_alloc_parent_domain(port.context, &parent));
	parent.comp_mask = 1U << 31;
	PTR("alloc_parent_domain, future mask", ibv_alloc_parent_domain(port.context, &parent));
	parent.comp_mask = 0;
	parent.pd = NULL;
	PTR("alloc_parent_domain, no PD", ibv_alloc_parent_domain(port.context, &parent));
}

static void xrc(void)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					   .fd = -1, .oflags = O_CREAT };
	struct ibv_qp_open_attr open_attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_TYPE | IBV_QP_OPEN_ATTR_XRCD,
		.qp_num = 17, .qp_type = IBV_QPT_XRC_RECV };

	section("XRC");
	PTR("open_xrcd", ibv_open_xrcd(port.context, &attr));
	attr.comp_mask = 0;
	PTR("open_xrcd, no mask", ibv_open_xrcd(port.context, &attr));
	attr.comp_mask = 4;
	PTR("open_xrcd, future mask", ibv_open_xrcd(port.context, &attr));
	PTR("open_qp", ibv_open_qp(port.context, &open_attr));
	open_attr.comp_mask = 16;
	PTR("open_qp, future mask", ibv_open_qp(port.context, &open_attr));
}

static void device_memory(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 4096 };

	section("device memory");
	PTR("alloc_dm", ibv_alloc_dm(port.context, &attr));
	attr.comp_mask = 1;
	PTR("alloc_dm, future mask", ibv_alloc_dm(port.context, &attr));
	PTR("import_dm", ibv_import_dm(port.context, 1));
	PTR("reg_dm_mr", ibv_reg_dm_mr(port.pd, NULL, 0, 4096, IBV_ACCESS_ZERO_BASED));
}

static void handles(void)
{
	struct ibv_dmah_init_attr attr = { .comp_mask = IBV_DMAH_INIT_ATTR_MASK_CPU_ID };

	section("DMA handles");
	PTR("alloc_dmah", ibv_alloc_dmah(port.context, &attr));
	attr.comp_mask = IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE | IBV_DMAH_INIT_ATTR_MASK_PH;
	attr.tph_mem_type = 200;
	attr.ph = 3;
	PTR("alloc_dmah, unknown memory type", ibv_alloc_dmah(port.context, &attr));
	attr.comp_mask = 8;
	PTR("alloc_dmah, future mask", ibv_alloc_dmah(port.context, &attr));
}

static void completion_counters(void)
{
	struct ibv_comp_cntr_caps caps;
	struct ibv_comp_cntr_init_attr attr = { .type = IBV_COMP_CNTR_TYPE_WRS };
	struct ibv_qp_attach_comp_cntr_attr attach = { .op_mask = 1 };
	struct ibv_comp_cntr counter = { .context = port.context };
	uint8_t *bytes = (uint8_t *)&caps;
	uint64_t value = 3;

	section("completion counters");
	for (size_t size = 0; size <= sizeof(caps); size += 4) {
		printf("size %zu ", size);
		memset(&caps, 0xa5, sizeof(caps));
		ERR("query_comp_cntr_caps", _ibv_query_comp_cntr_caps(port.context, &caps, size));
		for (size_t i = 0; i < sizeof(caps); i++)
			printf("%02x", bytes[i]);
		printf("\n");
	}
	PTR("create_comp_cntr", ibv_create_comp_cntr(port.context, &attr));
	attr.comp_mask = 1;
	PTR("create_comp_cntr, future mask", ibv_create_comp_cntr(port.context, &attr));
	ERR("set_comp_cntr", ibv_set_comp_cntr(&counter, 1));
	ERR("set_err_comp_cntr", ibv_set_err_comp_cntr(&counter, 1));
	ERR("inc_comp_cntr", ibv_inc_comp_cntr(&counter, 1));
	ERR("inc_err_comp_cntr", ibv_inc_err_comp_cntr(&counter, 1));
	ERR("read_comp_cntr", ibv_read_comp_cntr(&counter, &value));
	ERR("read_err_comp_cntr", ibv_read_err_comp_cntr(&counter, &value));
	CHECK(value == 3);
	ERR("qp_attach_comp_cntr", ibv_qp_attach_comp_cntr(qp, &counter, &attach));
	ERR("destroy_comp_cntr", ibv_destroy_comp_cntr(&counter));
}

static void counters(void)
{
	struct ibv_counters_init_attr init = { 0 };
	struct ibv_counters object = { .context = port.context };
	struct ibv_counter_attach_attr attach = { .counter_desc = IBV_COUNTER_BYTES };
	uint64_t values[2];

	section("counters");
	PTR("create_counters", ibv_create_counters(port.context, &init));
	init.comp_mask = 1;
	PTR("create_counters, future mask", ibv_create_counters(port.context, &init));
	ERR("attach_counters_point_flow", ibv_attach_counters_point_flow(&object, &attach, NULL));
	ERR("read_counters", ibv_read_counters(&object, values, 2, 0));
	ERR("destroy_counters", ibv_destroy_counters(&object));
}

static void flow(void)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(rule), .num_of_specs = 1,
			  .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) },
	};
	struct ibv_flow_action_esp_attr esp = { 0 };

	section("flow steering");
	PTR("create_flow", ibv_create_flow(qp, &rule.attr));
	rule.attr.num_of_specs = 0;
	rule.attr.size = sizeof(rule.attr);
	PTR("create_flow, no spec", ibv_create_flow(qp, &rule.attr));
	rule.attr.comp_mask = 1;
	PTR("create_flow, future mask", ibv_create_flow(qp, &rule.attr));
	PTR("create_flow_action_esp", ibv_create_flow_action_esp(port.context, &esp));
}

static void clocks(void)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	section("clock");
	ERR("query_rt_values_ex", ibv_query_rt_values_ex(port.context, &values));
	printf("comp_mask %x\n", values.comp_mask);
	values.comp_mask = 2;
	ERR("query_rt_values_ex, future mask", ibv_query_rt_values_ex(port.context, &values));
}

static void enhancements(void)
{
	struct ibv_ece ece = { .vendor_id = 7, .options = 8, .comp_mask = 9 };
	struct ibv_qp_rate_limit_attr rate = { .rate_limit = 1000 };

	section("ECE, order and rates");
	ERR("query_ece", ibv_query_ece(qp, &ece));
	printf("vendor %x options %x mask %x\n", ece.vendor_id, ece.options, ece.comp_mask);
	ece = (struct ibv_ece){ .vendor_id = 0 };
	ERR("set_ece, no vendor", ibv_set_ece(qp, &ece));
	ece.vendor_id = 0x15b3;
	ERR("set_ece", ibv_set_ece(qp, &ece));
	ece.comp_mask = 1;
	ERR("set_ece, future mask", ibv_set_ece(qp, &ece));
	for (unsigned opcode = 0; opcode < 17; opcode++) {
		printf("order of %u:", opcode);
		for (unsigned flags = 0; flags < 5; flags++)
			printf(" %d", ibv_query_qp_data_in_order(qp, opcode, flags));
		printf("\n");
	}
	ERR("modify_qp_rate_limit", ibv_modify_qp_rate_limit(qp, &rate));
	printf("extended QP: %s\n", ibv_qp_to_qp_ex(qp) ? "yes" : "no");
}

/* The slots of the extended context that nobody filled still are functions, and say so. */
static void slots(void)
{
	struct verbs_context *verbs = NEED(verbs_get_ctx(port.context));

	section("slots of verbs_context");
	printf("size %zu, expected %zu\n", verbs->sz, sizeof(*verbs));
#define SLOT(name) printf(#name ": %s\n", verbs->name ? "set" : "NULL")
	SLOT(free_buf);
	SLOT(alloc_buf);
	SLOT(dm_export_dmabuf_fd);
	SLOT(reg_mr_ex);
	SLOT(dealloc_dmah);
	SLOT(alloc_dmah);
	SLOT(query_port);
	SLOT(advise_mr);
	SLOT(alloc_null_mr);
	SLOT(read_counters);
	SLOT(attach_counters_point_flow);
	SLOT(create_counters);
	SLOT(destroy_counters);
	SLOT(reg_dm_mr);
	SLOT(alloc_dm);
	SLOT(free_dm);
	SLOT(modify_flow_action_esp);
	SLOT(destroy_flow_action);
	SLOT(create_flow_action_esp);
	SLOT(modify_qp_rate_limit);
	SLOT(alloc_parent_domain);
	SLOT(dealloc_td);
	SLOT(alloc_td);
	SLOT(modify_cq);
	SLOT(post_srq_ops);
	SLOT(destroy_rwq_ind_table);
	SLOT(create_rwq_ind_table);
	SLOT(destroy_wq);
	SLOT(modify_wq);
	SLOT(create_wq);
	SLOT(query_rt_values);
	SLOT(create_cq_ex);
	SLOT(priv);
	SLOT(query_device_ex);
	SLOT(ibv_destroy_flow);
	SLOT(ABI_placeholder2);
	SLOT(ibv_create_flow);
	SLOT(ABI_placeholder1);
	SLOT(open_qp);
	SLOT(create_qp_ex);
	SLOT(get_srq_num);
	SLOT(create_srq_ex);
	SLOT(open_xrcd);
	SLOT(close_xrcd);
	CHECK((void *)verbs->ABI_placeholder1 == (void *)verbs->ibv_create_flow);
	CHECK((void *)verbs->ABI_placeholder2 == (void *)verbs->ibv_destroy_flow);

	section("slots of ibv_context.ops");
	void **slot = (void **)&port.context->ops;

	for (size_t i = 0; i < sizeof(port.context->ops) / sizeof(void *); i++)
		printf("%zu: %s\n", i, slot[i] ? "set" : "NULL");
	CHECK(port.context->abi_compat == (void *)UINTPTR_MAX);
}

int main(int argc, char **argv)
{
	start();
	if (argc != 2)
		return 2;
	open_port(&port, argv[1]);
	cq = NEED(ibv_create_cq(port.context, 16, NULL, NULL, 0));
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, NULL);
	qp = NEED(ibv_create_qp(port.pd, &init));
	domains();
	xrc();
	device_memory();
	handles();
	completion_counters();
	counters();
	flow();
	clocks();
	enhancements();
	slots();
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_cq(cq));
	close_port(&port);
	return finish();
}
