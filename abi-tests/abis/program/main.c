/*
 * Calls every public verb, the functions and the inline ones, with arguments that can be told
 * apart, and lets the plugin of the release call every function of its version node.
 *
 * usage: verbs fake|refusing|old|real RELEASE...; EXPORTS names the list of the names in version nodes
 *        verbs failing RELEASE: what the verbs give when the kernel refuses commands, see errnos.c
 */
#define _GNU_SOURCE
#include "program.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <ucontext.h>

char memory[65536] __attribute__((aligned(4096)));
char context_of[4];

void inject(int fd, const void *bytes, size_t size)
{
	int ends[2];

	CHECK(!pipe(ends) && write(ends[1], bytes, size) == (ssize_t)size && dup2(ends[0], fd) == fd);
	close(ends[0]);
	close(ends[1]);
}

/* Says what was touched where nothing is to be touched. */
static void fault(int signal, siginfo_t *info, void *context)
{
	(void)context;
	say("GUARD: signal %d, something touched %s", signal, name_of(info->si_addr));
	fflush(stdout);
	_exit(9);
}

static void query_verbs(struct ibv_context *ctx)
{
	struct ibv_device_attr device_attr;
	struct ibv_device_attr_ex device_attr_ex;
	struct ibv_query_device_ex_input input = { .comp_mask = 0 };
	struct ibv_port_attr port_attr;
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct ibv_comp_cntr_caps caps;
	struct {
		struct ibv_port_attr attr;
		char behind[8];
	} short_attr;
	uint64_t speed = 0;

	give_name(&input, sizeof(input), "input");
	DONE(ibv_query_device(ctx, &device_attr));
	DONE(ibv_query_device_ex(ctx, &input, &device_attr_ex));
	memset(&port_attr, 0xff, sizeof(port_attr));
	DONE(ibv_query_port(ctx, 1, &port_attr));
	say("  port_cap_flags2 %#x active_speed_ex %#x", port_attr.port_cap_flags2,
	    port_attr.active_speed_ex);
	/* The symbol is for programs that know the oldest form, of 48 bytes. */
	memset(&short_attr, 0xee, sizeof(short_attr));
	DONE((ibv_query_port)(ctx, 1, (struct _compat_ibv_port_attr *)&short_attr));
	CHECK(((uint8_t *)&short_attr)[47] != 0xee && ((uint8_t *)&short_attr)[48] == 0xee);
	/* A program of release 48 gives 52 bytes. */
	memset(&short_attr, 0xee, sizeof(short_attr));
	DONE(verbs_get_ctx_op(ctx, query_port)->query_port(ctx, 1, &short_attr.attr, 52));
	CHECK(short_attr.attr.port_cap_flags2 == 0x2222 && ((uint8_t *)&short_attr)[52] == 0xee);
	DONE(ibv_query_port_speed(ctx, 1, &speed));
	say("    speed %#llx", (unsigned long long)speed);
	DONE(ibv_query_rt_values_ex(ctx, &values));
	CHECK(values.raw_clock.tv_nsec == 4711);
	DONE(ibv_query_comp_cntr_caps(ctx, &caps));
}

static void event_verbs(struct ibv_context *ctx)
{
	struct {
		uint64_t element;
		uint32_t type, reserved;
	} from_kernel = { 1, IBV_EVENT_PORT_ACTIVE, 0 };
	struct ibv_async_event event;

	inject(ctx->async_fd, &from_kernel, sizeof(from_kernel));
	DONE(ibv_get_async_event(ctx, &event));
	CHECK(event.event_type == IBV_EVENT_PORT_ACTIVE && event.element.port_num == 1);
	ibv_ack_async_event(&event);
}

/* The plugin that the program is about, or NULL. */
static const struct plugin_calls *plugin(void)
{
	return plugins[current_release];
}

/* Every name of the plugin's version node is there, and no name that only other nodes have. */
static void check_names(const char *path)
{
	char line[128], name[64], version[32];
	FILE *file = fopen(path, "re");
	int present = 0, abi;

	if (!file) {
		say("CHECK: cannot read %s", path);
		return;
	}
	snprintf(version, sizeof(version), "IBVERBS_PRIVATE_%d", plugin()->private_abi);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63[^@]%*[@]IBVERBS_PRIVATE_%d", name, &abi) != 2)
			continue;
		if (abi == plugin()->private_abi) {
			present++;
			if (!dlvsym(RTLD_DEFAULT, name, version))
				say("CHECK: no %s in %s", name, version);
		} else if (!strncmp(name, "verbs_register_driver", 21) &&
			   dlvsym(RTLD_DEFAULT, name, version)) {
			say("CHECK: %s in %s", name, version);
		}
	}
	fclose(file);
	say("names of the version node: %s", present > 70 ? "all there" : "too few");
}

/* The name of the device that the program is about. */
static const char *device_name(void)
{
	static char name[16];

	snprintf(name, sizeof(name), "abi%d", current_release);
	return fake_kernel ? name : "rxe0";
}

static struct ibv_device *find(struct ibv_device **list, int count)
{
	const char *name = device_name();

	for (int i = 0; i < count; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return list[i];
	say("no %s among %d devices", name, count);
	exit(3);
}

/* One release: its device, and a context and a protection domain of it. */
struct test {
	int release;
	struct ibv_device *device;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
};

static void open_device(struct test *test)
{
	struct ibv_device *device = test->device;
	struct ibv_context *ctx = test->ctx = MADE(ibv_open_device(device));

	if (!ctx)
		exit(3);
	test->pd = MADE(ibv_alloc_pd(ctx));
	if (!test->pd)
		exit(3);
}

static void query(struct test *test)
{
	query_verbs(test->ctx);
}

static void memory_of(struct test *test)
{
	memory_verbs(test->ctx, test->pd);
}

static void queues(struct test *test)
{
	queue_verbs(test->ctx, test->pd);
}

static void others(struct test *test)
{
	other_verbs(test->ctx, test->pd);
}

static void events(struct test *test)
{
	event_verbs(test->ctx);
}

static void newer_memory(struct test *test)
{
	newer_memory_verbs(test->ctx, test->pd);
}

static void private_names(struct test *test)
{
	struct ibv_context *ctx = test->ctx;

	CALLED(plugin()->private_functions(ctx));
	if (getenv("EXPORTS"))
		check_names(getenv("EXPORTS"));
}

static void refused(struct test *test)
{
	refused_verbs(test->ctx, test->pd);
}

static void oldest(struct test *test)
{
	(void)test;
	oldest_verbs(device_name());
}

static void other_contexts(struct test *test)
{
	struct ibv_context *second, *imported;
	int fd;

	say("verbs_open_device(device, context_of + 2)");
	second = plugin()->open(test->device, context_of + 2);
	say("  = %s", name_of(second));
	if (second)
		DONE(ibv_close_device(second));
	/* The devices of the fake kernel are one to the library, by their device file. */
	if (together)
		return;
	fd = dup(test->ctx->cmd_fd);
	imported = MADE(ibv_import_device(fd));
	if (imported)
		DONE(ibv_close_device(imported));
}

static void close_device(struct test *test)
{
	struct ibv_context *ctx = test->ctx;
	struct ibv_pd *pd = test->pd;

	DONE(ibv_dealloc_pd(pd));
	plugin()->check();
	DONE(ibv_close_device(ctx));
	plugin()->check();
}

static struct test tests[16];
static int count_of_tests;

static void each(void (*function)(struct test *test))
{
	for (int i = 0; i < count_of_tests; i++) {
		current_release = tests[i].release;
		function(&tests[i]);
	}
}

static struct ibv_device **list;
static int count;

static void list_begins(struct test *test)
{
	(void)test;
	say("ibv_get_device_list(&count)");
}

static void find_device(struct test *test)
{
	if (!plugin()) {
		say("no plugin");
		exit(3);
	}
	test->device = find(list, count);
	say("  = %s", name_of(test->device));
}

/* The device is no longer in sysfs when the devices are listed again. */
static void unplug(struct test *test)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/class/infiniband_verbs/uverbs%d/ibdev",
		 getenv("SYSFS_PATH"), test->release);
	CHECK(!unlink(path));
	say("ibv_get_device_list(&count) without the device");
}

static void unplugged(struct test *test)
{
	(void)test;
	say("  = %d devices", count);
}

static void ended(struct test *test)
{
	(void)test;
	say("end");
}

int main(int argc, char **argv)
{
	bool failing;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGSEGV, &(struct sigaction){ .sa_sigaction = fault, .sa_flags = SA_SIGINFO },
		  NULL);
	give_name(memory, sizeof(memory), "memory");
	give_name(context_of, sizeof(context_of), "context_of");
	fake_kernel = argc < 2 || strcmp(argv[1], "real");
	failing = argc > 1 && !strcmp(argv[1], "failing");
	may_refuse = argc > 1 && strcmp(argv[1], "fake") && !failing;
	old_kernel = argc > 1 && !strcmp(argv[1], "old");
	together = argc > 3;
	for (int i = 2; i < argc && count_of_tests < 16; i++)
		tests[count_of_tests++].release = atoi(argv[i]) % 100;

	each(list_begins);
	list = ibv_get_device_list(&count);
	if (!list) {
		say("  = NULL %s", error_text(errno));
		return 3;
	}
	each(find_device);
	each(open_device);
	ibv_free_device_list(list);

	if (failing) {
		each(refused);
		each(close_device);
		return 0;
	}
	/* With several, each step is made with all before the next one. */
	each(query);
	each(memory_of);
	each(queues);
	each(others);
	each(events);
	each(oldest);
	each(newer_memory);
	each(private_names);
	each(other_contexts);
	each(close_device);
	if (fake_kernel) {
		each(unplug);
		list = ibv_get_device_list(&count);
		each(unplugged);
		ibv_free_device_list(list);
	}
	each(ended);
	return 0;
}
