/* Verbs of address handles, flows and counters. */
#include "program.h"

static void flows(struct ibv_context *ctx, struct ibv_qp *qp)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(rule), .priority = 3,
			  .num_of_specs = 1, .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth),
			 .val = { .ether_type = 0x0800 }, .mask = { .ether_type = 0xffff } },
	};
	struct ibv_flow_action_esp_attr esp = {
		.comp_mask = IBV_FLOW_ACTION_ESP_MASK_ESN, .esn = 0x5678,
	};
	struct ibv_counters_init_attr counters_attr = { .comp_mask = 0 };
	struct ibv_counter_attach_attr attach = {
		.counter_desc = IBV_COUNTER_PACKETS, .index = 1,
	};
	uint64_t values[2] = { 0, 0 };
	struct ibv_flow *flow = MADE(ibv_create_flow(qp, &rule.attr));
	struct ibv_flow_action *action = MADE(ibv_create_flow_action_esp(ctx, &esp));
	struct ibv_counters *counters = MADE(ibv_create_counters(ctx, &counters_attr));

	if (action) {
		esp.esn = 0x9abc;
		DONE(ibv_modify_flow_action_esp(action, &esp));
		DONE(ibv_destroy_flow_action(action));
	}
	if (counters) {
		DONE(ibv_attach_counters_point_flow(counters, &attach, flow));
		DONE(ibv_read_counters(counters, values, 2, IBV_READ_COUNTERS_ATTR_PREFER_CACHED));
		DONE(ibv_destroy_counters(counters));
	}
	if (flow)
		DONE(ibv_destroy_flow(flow));
}

static void completion_counters(struct ibv_context *ctx, struct ibv_qp *qp)
{
	struct ibv_comp_cntr_init_attr attr = { .comp_mask = 0 };
	struct ibv_qp_attach_comp_cntr_attr attach = { .op_mask = 5 };
	struct ibv_comp_cntr *counter = MADE(ibv_create_comp_cntr(ctx, &attr));
	uint64_t value = 0;

	if (!counter)
		return;
	DONE(ibv_qp_attach_comp_cntr(qp, counter, &attach));
	DONE(ibv_set_comp_cntr(counter, 10));
	DONE(ibv_set_err_comp_cntr(counter, 11));
	DONE(ibv_inc_comp_cntr(counter, 12));
	DONE(ibv_inc_err_comp_cntr(counter, 13));
	DONE(ibv_read_comp_cntr(counter, &value));
	DONE(ibv_read_err_comp_cntr(counter, &value));
	DONE(ibv_destroy_comp_cntr(counter));
}

void other_verbs(struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_ah_attr ah_attr = { .dlid = 0x12, .sl = 3, .port_num = 1, .is_global = 1 };
	/* To itself, so that a kernel finds the way. */
	int unknown = ibv_query_gid(ctx, 1, 0, &ah_attr.grh.dgid);
	struct ibv_ah *ah = MADE(ibv_create_ah(pd, &ah_attr));
	struct ibv_cq *cq = MADE(ibv_create_cq(ctx, 4, NULL, NULL, 0));
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = { .max_send_wr = 1, .max_recv_wr = 1,
						       .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp *qp = MADE(ibv_create_qp(pd, &attr));

	if (unknown)
		say("    no GID");
	CHECK(ah && ah->context == ctx && ah->pd == pd);
	if (ah)
		DONE(ibv_destroy_ah(ah));
	if (qp) {
		flows(ctx, qp);
		completion_counters(ctx, qp);
		DONE(ibv_destroy_qp(qp));
	}
	if (cq)
		DONE(ibv_destroy_cq(cq));
}
