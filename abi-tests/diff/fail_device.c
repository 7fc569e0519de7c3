/*
 * Device, port and import calls with arguments that must be refused, and what they return.
 *
 * usage: fail_device DEVICE
 */
#include "qp.h"
#include <fcntl.h>
#include <sys/stat.h>
#undef ibv_query_port

/* Exported, but declared in no installed header. */
const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

static struct ibv_context *context;

/* Prints an attribute struct without the members that differ between machines or boots. */
static void show_device(const struct ibv_device_attr *attr)
{
	printf("fw '%s' max_mr_size %" PRIx64 " page_size_cap %" PRIx64 " vendor %x part %x hw %x\n",
	       attr->fw_ver, attr->max_mr_size, attr->page_size_cap, attr->vendor_id,
	       attr->vendor_part_id, attr->hw_ver);
	printf("qp %d wr %d caps %x sge %d rd %d cq %d cqe %d mr %d pd %d\n", attr->max_qp,
	       attr->max_qp_wr, attr->device_cap_flags, attr->max_sge, attr->max_sge_rd,
	       attr->max_cq, attr->max_cqe, attr->max_mr, attr->max_pd);
	printf("rd_atom %d %d %d %d %d atomic %d ee %d rdd %d mw %d raw %d %d\n",
	       attr->max_qp_rd_atom, attr->max_ee_rd_atom, attr->max_res_rd_atom,
	       attr->max_qp_init_rd_atom, attr->max_ee_init_rd_atom, attr->atomic_cap,
	       attr->max_ee, attr->max_rdd, attr->max_mw, attr->max_raw_ipv6_qp,
	       attr->max_raw_ethy_qp);
	printf("mcast %d %d %d ah %d fmr %d %d srq %d %d %d pkeys %d ack %d ports %d\n",
	       attr->max_mcast_grp, attr->max_mcast_qp_attach, attr->max_total_mcast_qp_attach,
	       attr->max_ah, attr->max_fmr, attr->max_map_per_fmr, attr->max_srq,
	       attr->max_srq_wr, attr->max_srq_sge, attr->max_pkeys, attr->local_ca_ack_delay,
	       attr->phys_port_cnt);
}

static void show_device_ex(const struct ibv_device_attr_ex *attr)
{
	show_device(&attr->orig_attr);
	printf("comp_mask %x odp %" PRIx64 " %x %x %x ts %" PRIx64 " clock %" PRIu64
	       " caps %" PRIx64 "\n",
	       attr->comp_mask, attr->odp_caps.general_caps,
	       attr->odp_caps.per_transport_caps.rc_odp_caps,
	       attr->odp_caps.per_transport_caps.uc_odp_caps,
	       attr->odp_caps.per_transport_caps.ud_odp_caps, attr->completion_timestamp_mask,
	       attr->hca_core_clock, attr->device_cap_flags_ex);
	printf("tso %u %x rss %x %u %u %" PRIx64 " %x wq %u pacing %u %u %x raw %x\n",
	       attr->tso_caps.max_tso, attr->tso_caps.supported_qpts,
	       attr->rss_caps.supported_qpts, attr->rss_caps.max_rwq_indirection_tables,
	       attr->rss_caps.max_rwq_indirection_table_size, attr->rss_caps.rx_hash_fields_mask,
	       attr->rss_caps.rx_hash_function, attr->max_wq_type_rq,
	       attr->packet_pacing_caps.qp_rate_limit_min,
	       attr->packet_pacing_caps.qp_rate_limit_max,
	       attr->packet_pacing_caps.supported_qpts, attr->raw_packet_caps);
	printf("tm %u %u %x %u %u mod %u %u dm %" PRIu64 " pci %x %x %x xrc %x ports %u\n",
	       attr->tm_caps.max_rndv_hdr_size, attr->tm_caps.max_num_tags, attr->tm_caps.flags,
	       attr->tm_caps.max_ops, attr->tm_caps.max_sge, attr->cq_mod_caps.max_cq_count,
	       attr->cq_mod_caps.max_cq_period, attr->max_dm_size,
	       attr->pci_atomic_caps.fetch_add, attr->pci_atomic_caps.swap,
	       attr->pci_atomic_caps.compare_swap, attr->xrc_odp_caps, attr->phys_port_cnt_ex);
}

static void show_port(const struct ibv_port_attr *attr)
{
	printf("state %d mtu %d %d gids %d caps %x msg %u bad %u %u pkeys %u lid %u %u lmc %u\n",
	       attr->state, attr->max_mtu, attr->active_mtu, attr->gid_tbl_len,
	       attr->port_cap_flags, attr->max_msg_sz, attr->bad_pkey_cntr, attr->qkey_viol_cntr,
	       attr->pkey_tbl_len, attr->lid, attr->sm_lid, attr->lmc);
	printf("vl %u sl %u timeout %u init %u width %u speed %u phys %u link %u flags %x %x %u\n",
	       attr->max_vl_num, attr->sm_sl, attr->subnet_timeout, attr->init_type_reply,
	       attr->active_width, attr->active_speed, attr->phys_state, attr->link_layer,
	       attr->flags, attr->port_cap_flags2, attr->active_speed_ex);
}

static void query_device(void)
{
	struct verbs_context *verbs = NEED(verbs_get_ctx(context));
	struct ibv_query_device_ex_input input = { .comp_mask = 0 };
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;

	section("query_device");
	memset(&attr, 0xa5, sizeof(attr));
	ERR("query_device", ibv_query_device(context, &attr));
	show_device(&attr);
	memset(&ex, 0xa5, sizeof(ex));
	ERR("query_device_ex", ibv_query_device_ex(context, NULL, &ex));
	show_device_ex(&ex);
	CHECK(!memcmp(&attr, &ex.orig_attr, sizeof(attr)));
	memset(&ex, 0xa5, sizeof(ex));
	ERR("query_device_ex, input", ibv_query_device_ex(context, &input, &ex));
	show_device_ex(&ex);
	input.comp_mask = 1;
	ERR("query_device_ex, future input", ibv_query_device_ex(context, &input, &ex));
	input.comp_mask = 0x80000000;
	ERR("query_device_ex op, future input",
	    verbs->query_device_ex(context, &input, &ex, sizeof(ex)));
	for (size_t size = 0; size <= sizeof(ex); size += 8) {
		uint8_t *bytes = (uint8_t *)&ex;
		size_t touched;
		char what[40];

		snprintf(what, sizeof(what), "query_device_ex op, %zu bytes", size);
		memset(&ex, 0xa5, sizeof(ex));
		ERR(what, verbs->query_device_ex(context, NULL, &ex, size));
		for (touched = sizeof(ex); touched && bytes[touched - 1] == 0xa5;)
			touched--;
		printf("touched %zu\n", touched);
	}
	memset(&attr, 0xa5, sizeof(attr));
	ERR("ops._compat_query_device", context->ops._compat_query_device(context, &attr));
	show_device(&attr);
}

static void query_port(void)
{
	struct verbs_context *verbs = NEED(verbs_get_ctx(context));
	struct ibv_port_attr attr;
	uint64_t speed = 7;

	section("query_port");
	for (int port = 0; port <= 255; port += port < 4 ? 1 : 251) {
		printf("port %d\n", port);
		memset(&attr, 0xa5, sizeof(attr));
		if (!ERR("inline", ___ibv_query_port(context, port, &attr)))
			show_port(&attr);
		memset(&attr, 0xa5, sizeof(attr));
		if (!ERR("exported",
			 ibv_query_port(context, port, (struct _compat_ibv_port_attr *)&attr)))
			show_port(&attr);
		memset(&attr, 0xa5, sizeof(attr));
		if (!ERR("ops._compat_query_port",
			 context->ops._compat_query_port(context, port,
							 (struct _compat_ibv_port_attr *)&attr)))
			show_port(&attr);
		ERR("query_port_speed", ibv_query_port_speed(context, port, &speed));
		printf("speed %" PRIu64 "\n", speed);
	}
	ERR("query_port_speed, port 65537", ibv_query_port_speed(context, 65537, &speed));
	for (size_t size = 0; size <= sizeof(attr) + 8; size += 4) {
		uint8_t bytes[sizeof(attr) + 16];
		size_t touched;

		memset(bytes, 0xa5, sizeof(bytes));
		printf("length %zu ", size);
		ERR("slot", verbs->query_port(context, 1, (struct ibv_port_attr *)bytes, size));
		for (touched = sizeof(bytes); touched && bytes[touched - 1] == 0xa5;)
			touched--;
		printf("touched %zu\n", touched);
	}
}

static void import(void)
{
	struct ibv_context *imported;
	int null = NEED(open("/dev/null", O_RDWR)), file;
	char name[] = "/tmp/importXXXXXX";

	section("import");
	PTR("import_device, fd -1", ibv_import_device(-1));
	PTR("import_device, fd 1000", ibv_import_device(1000));
	PTR("import_device, other device", ibv_import_device(null));
	file = NEED(mkstemp(name));
	unlink(name);
	PTR("import_device, file", ibv_import_device(file));
	imported = PTR("import_device", ibv_import_device(context->cmd_fd));
	if (imported)
		ibv_close_device(imported);
	PTR("import_device, async fd", ibv_import_device(context->async_fd));
	PTR("import_pd", ibv_import_pd(context, 0));
	PTR("import_dm", ibv_import_dm(context, 0));
	close(file);
	close(null);
}

static void asynchronous(void)
{
	struct ibv_async_event event = { .event_type = IBV_EVENT_PORT_ERR };
	int flags = fcntl(context->async_fd, F_GETFL), kept;

	section("async events");
	CHECK(!fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK));
	MINUS("get_async_event, none", ibv_get_async_event(context, &event));
	printf("type %d\n", event.event_type);
	kept = context->async_fd;
	context->async_fd = -1;
	MINUS("get_async_event, no fd", ibv_get_async_event(context, &event));
	context->async_fd = kept;
	event.element.port_num = 1;
	for (unsigned type = 0; type < 24; type++) {
		/* The types that carry no object are ignored. */
		if (type == IBV_EVENT_CQ_ERR || (type >= 1 && type <= 7) ||
		    type == IBV_EVENT_SRQ_ERR || type == IBV_EVENT_SRQ_LIMIT_REACHED ||
		    type == IBV_EVENT_QP_LAST_WQE_REACHED || type == IBV_EVENT_WQ_FATAL)
			continue;
		event.event_type = type;
		ibv_ack_async_event(&event);
	}
	event.event_type = 0x7fffffff;
	ibv_ack_async_event(&event);
}

static void sysfs(void)
{
	char text[64];
	int n;

	section("sysfs");
	printf("path %s\n", ibv_get_sysfs_path());
	n = MINUS("read_sysfs_file",
		  ibv_read_sysfs_file("/sys/class/infiniband_verbs", "abi_version", text, 64));
	if (n > 0)
		printf("'%.*s'\n", n, text);
	n = MINUS("node_type", ibv_read_sysfs_file(context->device->ibdev_path, "node_type", text,
						   sizeof(text)));
	if (n > 0)
		printf("'%.*s' nul %d\n", n, text, (int)strlen(text));
	for (size_t size = 0; size < 12; size++) {
		printf("size %zu ", size);
		memset(text, '#', sizeof(text));
		n = MINUS("node_type", ibv_read_sysfs_file(context->device->ibdev_path,
							   "node_type", text, size));
		for (int i = 0; i < 12; i++)
			putchar(text[i] == '\n' ? '$' : text[i] ? text[i] : '0');
		putchar('\n');
	}
	MINUS("no file", ibv_read_sysfs_file(context->device->ibdev_path, "nothing", text, 64));
	MINUS("a folder", ibv_read_sysfs_file(context->device->ibdev_path, "ports", text, 64));
	MINUS("empty names", ibv_read_sysfs_file("", "", text, 64));
}

int main(int argc, char **argv)
{
	start();
	if (argc != 2)
		return 2;
	context = open_device(argv[1]);
	query_device();
	query_port();
	import();
	asynchronous();
	sysfs();
	MINUS("close", ibv_close_device(context));
	return finish();
}
