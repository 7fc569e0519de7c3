/* Address handles, flows and what belongs to them, counters. */
#include "plugin.h"

struct ibv_ah *op_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah = guarded(sizeof(*ah), "ah");
	RESPONSE(ib_uverbs_create_ah_resp);

	called("create_ah(%s, dlid %#x, sl %u, port %u, global %u)", name_of(pd), attr->dlid,
	       attr->sl, attr->port_num, attr->is_global);
	ah = created(ah, pd->context, ibv_cmd_create_ah(pd, ah, attr, RESP));
	ANSWERED;
	return ah;
}

int op_destroy_ah(struct ibv_ah *ah)
{
	called("destroy_ah(%s)", name_of(ah));
	return DESTROYED(ah, ibv_cmd_destroy_ah(ah));
}

struct ibv_flow *op_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct ibv_flow *flow = guarded(sizeof(*flow), "flow");
	uint32_t provider[] = { 0xf1f1f1f1, 0xf2f2f2f2 };
	int ret;

	called("create_flow(%s, type %d, size %u, priority %u, specs %u, port %u, flags %#x)",
	       name_of(qp), (int)attr->type, attr->size, attr->priority, attr->num_of_specs,
	       attr->port, attr->flags);
	ret = ibv_cmd_create_flow(qp, flow, attr, provider, sizeof(provider));
	flow = created(flow, qp->context, ret);
	if (flow && ret)
		*flow = (struct ibv_flow){ .context = qp->context };
	return flow;
}

int op_destroy_flow(struct ibv_flow *flow)
{
	called("destroy_flow(%s)", name_of(flow));
	return DESTROYED(flow, ibv_cmd_destroy_flow(flow));
}

struct ibv_flow_action *op_create_flow_action_esp(struct ibv_context *context,
						  struct ibv_flow_action_esp_attr *attr)
{
	struct verbs_flow_action *action = guarded(sizeof(*action), "flow_action");
	int ret;

	called("create_flow_action_esp(%s, mask %#x, esn %#x)", name_of(context), attr->comp_mask,
	       attr->esn);
	ret = ibv_cmd_create_flow_action_esp(context, attr, action, NULL);
	action = created(action, context, ret);
	return action ? &action->action : NULL;
}

int op_modify_flow_action_esp(struct ibv_flow_action *action,
			      struct ibv_flow_action_esp_attr *attr)
{
	called("modify_flow_action_esp(%s, mask %#x, esn %#x)", name_of(action), attr->comp_mask,
	       attr->esn);
	return kernel(ibv_cmd_modify_flow_action_esp((struct verbs_flow_action *)action, attr,
						     NULL));
}

int op_destroy_flow_action(struct ibv_flow_action *action)
{
	called("destroy_flow_action(%s)", name_of(action));
	return DESTROYED(action, ibv_cmd_destroy_flow_action((struct verbs_flow_action *)action));
}

struct ibv_counters *op_create_counters(struct ibv_context *context,
					struct ibv_counters_init_attr *attr)
{
	struct verbs_counters *counters = guarded(sizeof(*counters), "counters");
	struct link link;
	int ret;

	called("create_counters(%s, mask %#x)", name_of(context), attr->comp_mask);
	ret = ibv_cmd_create_counters(context, attr, counters,
				      linked(&link, UVERBS_OBJECT_COUNTERS, 0, 0xc1c1));
	counters = created(counters, context, ret);
	return counters ? &counters->counters : NULL;
}

int op_attach_counters_point_flow(struct ibv_counters *counters,
				  struct ibv_counter_attach_attr *attr, struct ibv_flow *flow)
{
	called("attach_counters_point_flow(%s, %d, index %u, mask %#x, %s)", name_of(counters),
	       (int)attr->counter_desc, attr->index, attr->comp_mask, name_of(flow));
	return 0;
}

int op_read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t count,
		     uint32_t flags)
{
	struct link link;
	int ret;

	called("read_counters(%s, values, %u, %#x)", name_of(counters), count, flags);
	ret = kernel(ibv_cmd_read_counters((struct verbs_counters *)counters, values, count, flags,
					   linked(&link, UVERBS_OBJECT_COUNTERS, 2, 0xc2c2)));
	say("    %#llx", (unsigned long long)values[0]);
	return ret;
}

int op_destroy_counters(struct ibv_counters *counters)
{
	called("destroy_counters(%s)", name_of(counters));
	return DESTROYED(counters, ibv_cmd_destroy_counters((struct verbs_counters *)counters));
}

#if RELEASE >= 65
int op_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps,
			    size_t size)
{
	called("query_comp_cntr_caps(%s, caps, %zu)", name_of(context), size);
	return kernel(ibv_cmd_query_comp_cntr_caps(context, caps, size));
}

struct ibv_comp_cntr *op_create_comp_cntr(struct ibv_context *context,
					  struct ibv_comp_cntr_init_attr *attr)
{
	struct ibv_comp_cntr *counter = guarded(sizeof(*counter), "comp_cntr");
	struct link link;
	int ret;

	called("create_comp_cntr(%s, mask %#x)", name_of(context), attr->comp_mask);
	ret = ibv_cmd_create_comp_cntr(context, counter, linked(&link, 19, 0, 0xc3c3));
	counter = created(counter, context, ret);
	return counter;
}

int op_destroy_comp_cntr(struct ibv_comp_cntr *counter)
{
	called("destroy_comp_cntr(%s)", name_of(counter));
	return DESTROYED(counter, ibv_cmd_destroy_comp_cntr(counter));
}

int op_set_comp_cntr(struct ibv_comp_cntr *counter, uint64_t value)
{
	called("set_comp_cntr(%s, %llu)", name_of(counter), (unsigned long long)value);
	return kernel(ibv_cmd_set_comp_cntr(counter, value));
}

int op_set_err_comp_cntr(struct ibv_comp_cntr *counter, uint64_t value)
{
	called("set_err_comp_cntr(%s, %llu)", name_of(counter), (unsigned long long)value);
	return kernel(ibv_cmd_set_err_comp_cntr(counter, value));
}

int op_inc_comp_cntr(struct ibv_comp_cntr *counter, uint64_t amount)
{
	called("inc_comp_cntr(%s, %llu)", name_of(counter), (unsigned long long)amount);
	return kernel(ibv_cmd_inc_comp_cntr(counter, amount));
}

int op_inc_err_comp_cntr(struct ibv_comp_cntr *counter, uint64_t amount)
{
	called("inc_err_comp_cntr(%s, %llu)", name_of(counter), (unsigned long long)amount);
	return kernel(ibv_cmd_inc_err_comp_cntr(counter, amount));
}

int op_read_comp_cntr(struct ibv_comp_cntr *counter, uint64_t *value)
{
	called("read_comp_cntr(%s, value)", name_of(counter));
	return kernel(ibv_cmd_read_comp_cntr(counter, value));
}

int op_read_err_comp_cntr(struct ibv_comp_cntr *counter, uint64_t *value)
{
	called("read_err_comp_cntr(%s, value)", name_of(counter));
	return kernel(ibv_cmd_read_err_comp_cntr(counter, value));
}

int op_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *counter,
			   struct ibv_qp_attach_comp_cntr_attr *attr)
{
	called("qp_attach_comp_cntr(%s, %s, mask %#x, ops %#x)", name_of(qp), name_of(counter),
	       attr->comp_mask, attr->op_mask);
	return kernel(ibv_cmd_qp_attach_comp_cntr(qp, counter, attr));
}
#endif
