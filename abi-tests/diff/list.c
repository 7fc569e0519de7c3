/*
 * The device list over its life: repeated lists, pointers while held, names and numbers, devices
 * that go and come back while a list holds them and while they are open.
 *
 * usage: list DEVICE NETDEV; DEVICE is removed and made again on NETDEV.
 */
#include "common.h"
#include <dirent.h>
#include <sys/wait.h>

static const char *name, *netdev;

static void run(const char *format, ...)
{
	char command[256];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command))
		printf("failed: %s\n", command);
}

static int open_files(void)
{
	DIR *dir = NEED(opendir("/proc/self/fd"));
	int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void show_list(struct ibv_device **list)
{
	for (; *list; list++)
		printf("  %s\n", ibv_get_device_name(*list));
}

/* Asks for lists until the device is in one or not in one; hands back the last list. */
static struct ibv_device **wait_list(bool present)
{
	for (int i = 0; i < 500; i++) {
		struct ibv_device **list = NEED(ibv_get_device_list(NULL));

		if (!!find_device(list, name) == present)
			return list;
		ibv_free_device_list(list);
		usleep(20000);
	}
	printf("the device did not %s\n", present ? "appear" : "go");
	exit(3);
}

static bool ends_with(const char *text, const char *end)
{
	size_t a = strlen(text), b = strlen(end);

	return a >= b && !strcmp(text + a - b, end);
}

static void repeated(void)
{
	int n = -1, m = -1;
	struct ibv_device **first = NEED(ibv_get_device_list(&n));
	struct ibv_device **second = NEED(ibv_get_device_list(&m));
	struct ibv_device **third = NEED(ibv_get_device_list(NULL));

	section("repeated lists");
	printf("%d devices\n", n);
	show_list(first);
	CHECK(n == m);
	CHECK(first != second && second != third);
	for (int i = 0; i <= n; i++)
		CHECK(first[i] == second[i] && second[i] == third[i]);
	CHECK(first[n] == NULL);
	ibv_free_device_list(second);
	ibv_free_device_list(first);
	show_list(third);
	second = NEED(ibv_get_device_list(&m));
	for (int i = 0; i <= n; i++)
		CHECK(second[i] == third[i]);
	ibv_free_device_list(third);
	ibv_free_device_list(second);

	/* The library keeps the devices when no list is held, so the pointers come again. */
	struct ibv_device *device = NULL;

	for (int i = 0; i < 3; i++) {
		first = NEED(ibv_get_device_list(NULL));
		CHECK(!device || *first == device);
		device = *first;
		ibv_free_device_list(first);
	}
}

static void numbers(void)
{
	struct ibv_device **list = NEED(ibv_get_device_list(NULL));
	int index = -1;

	section("numbers of a device");
	for (struct ibv_device **at = list; *at; at++) {
		struct ibv_device *device = *at;
		const char *ib = ibv_get_device_name(device);
		uint64_t guid = ibv_get_device_guid(device);

		CHECK(ib == device->name);
		CHECK(ends_with(device->ibdev_path, ib));
		CHECK(ends_with(device->dev_path, device->dev_name));
		CHECK(!strncmp(device->dev_name, "uverbs", 6));
		printf("%s: node %d transport %d path %s guid %s\n", ib, device->node_type,
		       device->transport_type, device->ibdev_path, guid ? "set" : "0");
		CHECK(ibv_get_device_guid(device) == guid);
		CHECK(ibv_get_device_index(device) > index);
		index = ibv_get_device_index(device);

		struct ibv_context *context = NEED(ibv_open_device(device));
		struct ibv_device_attr attr;

		CHECK(!ibv_query_device(context, &attr) && attr.node_guid == guid);
		ibv_close_device(context);
	}
	ibv_free_device_list(list);
}

static void opened(void)
{
	struct ibv_device **list = NEED(ibv_get_device_list(NULL)), **later;
	struct ibv_device *device = NEED(find_device(list, name));
	struct ibv_context *a = NEED(ibv_open_device(device));
	struct ibv_context *b = NEED(ibv_open_device(device));
	int before;

	section("lists and open devices");
	CHECK(a != b && a->device == device && b->device == device);
	CHECK(a->cmd_fd >= 0 && a->async_fd >= 0 && a->cmd_fd != b->cmd_fd);
	printf("completion vectors %d\n", a->num_comp_vectors);
	ibv_free_device_list(list);
	CHECK(!strcmp(ibv_get_device_name(a->device), name));
	later = NEED(ibv_get_device_list(NULL));
	CHECK(find_device(later, name) == device);
	MINUS("close", ibv_close_device(a));
	MINUS("close", ibv_close_device(b));
	CHECK(!strcmp(ibv_get_device_name(device), name));
	before = open_files();
	a = NEED(ibv_open_device(device));
	CHECK(open_files() == before + 2);
	ibv_close_device(a);
	CHECK(open_files() == before);
	ibv_free_device_list(later);
	later = NEED(ibv_get_device_list(NULL));
	CHECK(open_files() == before);
	ibv_free_device_list(later);
}

static void removed_while_held(void)
{
	struct ibv_device **held = NEED(ibv_get_device_list(NULL)), **now, **back;
	struct ibv_device *device = NEED(find_device(held, name)), *again;
	uint64_t guid = ibv_get_device_guid(device);
	int index = ibv_get_device_index(device);

	section("removed while a list holds it");
	run("rdma link del %s", name);
	now = wait_list(false);
	show_list(now);
	CHECK(!find_device(now, name) && find_device(held, name) == device);
	CHECK(!strcmp(ibv_get_device_name(device), name));
	CHECK(ibv_get_device_guid(device) == guid && ibv_get_device_index(device) == index);
	PTR("open a device that is gone", ibv_open_device(device));
	PTR("once more", ibv_open_device(device));

	section("made again");
	run("rdma link add %s type rxe netdev %s", name, netdev);
	back = wait_list(true);
	show_list(back);
	again = NEED(find_device(back, name));
	CHECK(again != device);
	CHECK(ibv_get_device_index(again) != index && ibv_get_device_guid(again) == guid);
	for (struct ibv_device **at = now; *at; at++)
		CHECK(find_device(back, ibv_get_device_name(*at)) == *at);
	CHECK(!strcmp(ibv_get_device_name(device), name));

	/* The old one has the number that the new one may have now: the device file's. */
	struct ibv_context *context = PTR("open the new one", ibv_open_device(again));

	ibv_close_device(context);
	ibv_free_device_list(now);
	ibv_free_device_list(held);
	ibv_free_device_list(back);
}

/* rxe cannot give a device up while it is open: its removal waits, and it works until closed. */
static void removed_while_open(void)
{
	struct ibv_context *context = open_device(name), *other;
	struct ibv_device *device = context->device, *again;
	struct ibv_pd *pd = NEED(ibv_alloc_pd(context));
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	static char buffer[4096];
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE));
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp *qp = NEED(ibv_create_qp(pd, &init));
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_device_attr device_attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	uint16_t pkey;
	struct ibv_device **list;
	pid_t child;

	section("removed while open");
	child = fork();
	if (!child) {
		execlp("rdma", "rdma", "link", "del", name, NULL);
		_exit(127);
	}
	list = wait_list(false);
	show_list(list);
	ibv_free_device_list(list);
	printf("still called %s\n", strcmp(ibv_get_device_name(device), name) ? "?" : "that");
	ERR("query_device", ibv_query_device(context, &device_attr));
	ERR("query_port", ibv_query_port(context, 1, &port));
	MINUS("query_gid", ibv_query_gid(context, 1, 0, &gid));
	MINUS("query_pkey", ibv_query_pkey(context, 1, 0, &pkey));
	PTR("open", other = ibv_open_device(device));
	ERR("modify_qp", ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS));
	ERR("destroy_cq in use", ibv_destroy_cq(cq));
	ERR("destroy_qp", ibv_destroy_qp(qp));
	ERR("destroy_cq", ibv_destroy_cq(cq));
	ERR("dereg_mr", ibv_dereg_mr(mr));
	ERR("dealloc_pd", ibv_dealloc_pd(pd));
	pd = PTR("alloc_pd", ibv_alloc_pd(context));
	if (pd)
		ERR("dealloc_pd", ibv_dealloc_pd(pd));
	CHECK(waitpid(child, NULL, WNOHANG) == 0);
	MINUS("close", ibv_close_device(context));
	CHECK(waitpid(child, NULL, 0) == child);

	run("rdma link add %s type rxe netdev %s", name, netdev);
	list = wait_list(true);
	again = NEED(find_device(list, name));
	context = PTR("open the new one", ibv_open_device(again));
	ERR("query_port", ibv_query_port(context, 1, &port));
	ibv_close_device(context);
	ibv_free_device_list(list);
}

/* Frees the list that holds a removed device last: its memory goes then, and not earlier. */
static void last_reference(void)
{
	struct ibv_device **held, **list;
	struct ibv_device *device;

	section("last reference to a removed device");
	held = NEED(ibv_get_device_list(NULL));
	device = NEED(find_device(held, name));
	run("rdma link del %s", name);
	ibv_free_device_list(wait_list(false));
	printf("%s node %d\n", ibv_get_device_name(device), device->node_type);
	ibv_free_device_list(held);
	run("rdma link add %s type rxe netdev %s", name, netdev);
	list = wait_list(true);
	show_list(list);
	ibv_free_device_list(list);
}

int main(int argc, char **argv)
{
	start();
	if (argc != 3)
		return 2;
	name = argv[1];
	netdev = argv[2];
	repeated();
	numbers();
	opened();
	removed_while_held();
	removed_while_open();
	last_reference();
	return finish();
}
