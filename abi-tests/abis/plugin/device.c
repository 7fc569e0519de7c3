/* Devices and contexts. */
#include "plugin.h"

enum { FRONT = 128, BACK = 128, GUARD = 0xa5, DRIVER_RXE = 14 };

/* A context with guard bytes in the same piece of memory, which the library allocates. */
struct context {
	uint8_t front[FRONT];
	struct verbs_context verbs;
	uint8_t back[BACK];
};

/* The contexts there are. */
static struct context *contexts[8];

static const struct verbs_context_ops table = {
#define OPERATION(type, name, parameters) .name = op_##name,
#include "operations.h"
#undef OPERATION
};

/* An rxe device, or the one of the fake kernel, which is found by its name. */
static const struct verbs_match_ent matches[] = {
	{ .driver_data = (void *)1, .u.driver_id = DRIVER_RXE, .kind = MATCH_DRIVER_ID },
	{ .driver_data = (void *)2, .u.modalias = "rdma_device:*Nabi" TEXT(RELEASE) "*",
	  .kind = MATCH_NAME },
	{ .kind = MATCH_END },
};

static bool all(const uint8_t *bytes, size_t size, uint8_t value)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

static void check_context(struct context *context)
{
	if (!all(context->front, FRONT, GUARD))
		say("GUARD: in front of %s was written to", name_of(&context->verbs.context));
	if (!all(context->back, BACK, GUARD))
		say("GUARD: behind %s was written to", name_of(&context->verbs.context));
}

static void check(void)
{
	check_guards();
	for (int i = 0; i < 8; i++)
		if (contexts[i])
			check_context(contexts[i]);
}

/* A context in which no function is missing yet, by the library's function of this release. */
static struct context *new_context(struct ibv_device *device, int cmd_fd)
{
	static int number;
	struct context *context = _verbs_init_and_alloc_context(
		device, cmd_fd, sizeof(*context), (void *)offsetof(struct context, verbs),
		DRIVER_RXE);
	int i = 0;

	if (!context)
		return NULL;
	if (!all(context->front, FRONT, 0) || !all(context->back, BACK, 0))
		say("GUARD: a new context is not zero around the library's part");
	memset(context->front, GUARD, FRONT);
	memset(context->back, GUARD, BACK);
	while (contexts[i])
		i++;
	contexts[i] = context;
	give_name(&context->verbs.context, sizeof(context->verbs.context), "ctx%d", ++number);
	if (context->verbs.sz != sizeof(context->verbs))
		say("GUARD: sz is %zu", context->verbs.sz);
	if (context->verbs.context.cmd_fd != cmd_fd || context->verbs.context.async_fd != -1 ||
	    context->verbs.context.device != device)
		say("GUARD: the new context is not what it was made of");
	return context;
}

/* Ends what new_context has begun. */
static void free_context(struct context *context)
{
	check_context(context);
	for (int i = 0; i < 8; i++)
		if (contexts[i] == context)
			contexts[i] = NULL;
	verbs_uninit_context(&context->verbs);
	check_context(context);
	take_name(&context->verbs.context);
	free(context);
}

static struct verbs_context *alloc_context(struct ibv_device *device, int cmd_fd, void *data)
{
	struct context *context;
	int ret;

	called("alloc_context(%s, %s, %s)", name_of(device), cmd_fd < 0 ? "no fd" : "fd",
	       name_of(data));
	context = new_context(device, cmd_fd);
	if (!context)
		return NULL;
	{
		REQUEST(ibv_get_context);
		RESPONSE(ib_uverbs_get_context_resp);
#if RELEASE >= 57
		int arr[] = { 3, 4 };
		struct ibv_fd_arr fds = { .arr = arr, .count = 2 };

		ret = ibv_cmd_get_context(&context->verbs, CMD, may_refuse ? NULL : &fds, RESP);
#else
		ret = ibv_cmd_get_context(&context->verbs, CMD, RESP);
#endif
		ANSWERED;
	}
	if (ret) {
		say("  get_context: %s", error_text(ret));
		free_context(context);
		errno = ret;
		return NULL;
	}
	say("    %d completion vectors, core support %#llx",
	    context->verbs.context.num_comp_vectors,
	    (unsigned long long)((struct verbs_device *)device)->core_support);
	verbs_set_ops(&context->verbs, &table);
	/* What inline functions of programs use. */
	if (context->verbs.context.ops.post_send != op_post_send ||
	    context->verbs.create_qp_ex != (verbs_slot)op_create_qp_ex ||
	    context->verbs.advise_mr != (verbs_slot)op_advise_mr ||
	    context->verbs.open_xrcd != (verbs_slot)op_open_xrcd)
		say("GUARD: functions of the context are not where they belong");
#if RELEASE >= 59
	if (context->verbs.alloc_dmah != (verbs_slot)op_alloc_dmah ||
	    context->verbs.reg_mr_ex != (verbs_slot)op_reg_mr_ex)
		say("GUARD: newer functions of the context are not where they belong");
#endif
#if RELEASE >= 64
	if (context->verbs.free_buf != (verbs_slot)op_free_buf)
		say("GUARD: the newest functions of the context are not where they belong");
#endif
	check_context(context);
	return &context->verbs;
}

static struct verbs_context *import_context(struct ibv_device *device, int cmd_fd)
{
	struct context *context;
	struct link link;

	called("import_context(%s, %s)", name_of(device), cmd_fd < 0 ? "no fd" : "fd");
	context = new_context(device, cmd_fd);
	if (!context)
		return NULL;
	kernel(ibv_cmd_query_context(&context->verbs.context, NULL));
	kernel(ibv_cmd_query_context(&context->verbs.context,
				     may_refuse ? NULL :
				     linked(&link, UVERBS_OBJECT_DEVICE, 4, 0x5a5a)));
	verbs_set_ops(&context->verbs, &table);
	/* A second table that has little leaves the rest as it is. */
	verbs_set_ops(&context->verbs, &(struct verbs_context_ops){ .query_port = op_query_port });
	check_context(context);
	return &context->verbs;
}

void op_free_context(struct ibv_context *public)
{
	struct context *context = (void *)((char *)public - offsetof(struct context, verbs.context));

	called("free_context(%s)", name_of(public));
	free_context(context);
}

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs)
{
	struct verbs_device *device = guarded(sizeof(*device), "device");
	char text[32] = "";
	int length;

	called("alloc_device(%s)", sysfs->match && sysfs->match >= matches &&
	       sysfs->match < matches + 2 ? "matched" : "not matched");
	say("    matched by entry %d, %.3s, %.6s, index %d, ports %u, abi %u, type %d",
	    (int)(intptr_t)sysfs->match->driver_data, sysfs->ibdev_name, sysfs->sysfs_name,
	    sysfs->ibdev_idx, sysfs->num_ports, sysfs->abi_ver, (int)sysfs->node_type);
	length = ibv_read_ibdev_sysfs_file(text, sizeof(text), sysfs, "%s%cver", "fw", '_');
	say("    fw_ver %d %s", length, text);
	return device;
}

static void uninit_device(struct verbs_device *device)
{
	called("uninit_device(%s)", name_of(device));
	release(device);
}

static const struct verbs_device_ops ops = {
	.name = "abi" TEXT(RELEASE),
	.match_min_abi_version = 1,
	.match_max_abi_version = 7,
	.match_table = matches,
	.alloc_context = alloc_context,
	.import_context = import_context,
	.alloc_device = alloc_device,
	.uninit_device = uninit_device,
};

static const struct plugin_calls calls = {
	.release = RELEASE,
	.private_abi = PRIVATE_ABI,
	.private_functions = private_functions,
	.open = verbs_open_device,
	.check = check,
};

__attribute__((constructor)) static void load(void)
{
	plugins[RELEASE] = &calls;
#if PRIVATE_ABI == 34
	verbs_register_driver_34(&ops);
#elif PRIVATE_ABI == 57
	verbs_register_driver_57(&ops);
#elif PRIVATE_ABI == 59
	verbs_register_driver_59(&ops);
#elif PRIVATE_ABI == 64
	verbs_register_driver_64(&ops);
#else
	verbs_register_driver_65(&ops);
#endif
}

int op_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
		       struct ibv_device_attr_ex *attr, size_t size)
{
	RESPONSE(ib_uverbs_ex_query_device_resp);
	size_t resp_size = sizeof(response.resp);
	int ret;

	called("query_device_ex(%s, %s, %s, %zu)", name_of(context), name_of(input),
	       attr ? "attr" : "NULL", size);
	ret = kernel(ibv_cmd_query_device_any(context, input, attr, size, &response.resp,
					      &resp_size));
	say("    answer of %zu bytes", resp_size);
	if (may_refuse)
		attr->orig_attr.vendor_part_id = 0;
	return ret;
}

int op_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
	REQUEST(ibv_query_port);
	struct ibv_port_attr *own = guarded(sizeof(*own), "port_attr");
	int ret;

	called("query_port(%s, %u, attr)", name_of(context), port);
	ret = kernel(ibv_cmd_query_port(context, port, own, CMD));
#if RELEASE >= 49
	say("    active_speed_ex %#x", own->active_speed_ex);
#endif
	/* Nothing of it is to depend on the kernel. */
	if (may_refuse)
		memset(own, 0, sizeof(*own));
	*attr = *own;
	attr->port_cap_flags2 = 0x2222;
#if RELEASE >= 49
	attr->active_speed_ex = 0x55555555;
#endif
	release(own);
	return ret;
}

#if RELEASE >= 62
int op_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *speed)
{
	int ret;

	called("query_port_speed(%s, %u, speed)", name_of(context), port);
	ret = kernel(ibv_cmd_query_port_speed(context, port, speed));
	if (may_refuse)
		*speed = 0x100000001;
	return ret;
}
#endif

int op_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	called("query_rt_values(%s, mask %#x)", name_of(context), values->comp_mask);
	values->raw_clock.tv_nsec = 4711;
	return 0;
}

void op_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	called("async_event(%s, type %d, %s)", name_of(context), (int)event->event_type,
	       name_of(event->element.cq));
}
