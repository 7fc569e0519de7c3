/*
 * Calls every public verb, the functions and the inline ones, with arguments that can be told
 * apart, and lets the plugin of the release call every function of its version node.
 *
 * usage: verbs fake|refusing|real; the variable EXPORTS names the list of the names in version nodes
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
	snprintf(version, sizeof(version), "IBVERBS_PRIVATE_%d", plugin_calls->private_abi);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63[^@]%*[@]IBVERBS_PRIVATE_%d", name, &abi) != 2)
			continue;
		if (abi == plugin_calls->private_abi) {
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

static struct ibv_device *find(struct ibv_device **list, int count)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(ibv_get_device_name(list[i]), !fake_kernel ? "rxe0" : "abi0"))
			return list[i];
	say("no device among %d", count);
	exit(3);
}

/* The device is no longer in sysfs when the devices are listed again. */
static void unplug(void)
{
	struct ibv_device **list;
	char path[256];
	int count = -1;

	snprintf(path, sizeof(path), "%s/class/infiniband_verbs/uverbs0/ibdev",
		 getenv("SYSFS_PATH"));
	unlink(path);
	say("ibv_get_device_list(&count) without the device");
	list = ibv_get_device_list(&count);
	say("  = %d devices", count);
	ibv_free_device_list(list);
}

int main(int argc, char **argv)
{
	const char *names = getenv("EXPORTS");
	struct ibv_device **list, *device;
	struct ibv_context *ctx, *second, *imported;
	struct ibv_pd *pd;
	int count = 0, fd;

	fake_kernel = argc < 2 || strcmp(argv[1], "real");
	may_refuse = argc > 1 && strcmp(argv[1], "fake");
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGSEGV, &(struct sigaction){ .sa_sigaction = fault, .sa_flags = SA_SIGINFO },
		  NULL);
	give_name(memory, sizeof(memory), "memory");
	give_name(context_of, sizeof(context_of), "context_of");

	say("ibv_get_device_list(&count)");
	list = ibv_get_device_list(&count);
	if (!list || !plugin_calls) {
		say("no list, or no plugin: %s", error_text(errno));
		return 3;
	}
	device = find(list, count);
	say("  = %s", name_of(device));

	ctx = MADE(ibv_open_device(device));
	if (!ctx)
		return 3;
	/* So that the device goes with the last context and not with the list. */
	pd = MADE(ibv_alloc_pd(ctx));
	if (!pd)
		return 3;

	query_verbs(ctx);
	memory_verbs(ctx, pd);
	queue_verbs(ctx, pd);
	other_verbs(ctx, pd);
	event_verbs(ctx);
	newer_memory_verbs(ctx, pd);

	CALLED(plugin_calls->private_functions(ctx));
	if (names)
		check_names(names);

	say("verbs_open_device(device, context_of + 2)");
	second = plugin_calls->open(device, context_of + 2);
	say("  = %s", name_of(second));
	if (second)
		DONE(ibv_close_device(second));

	fd = open(!fake_kernel ? "/dev/infiniband/uverbs0" : "/dev/null", O_RDWR | O_CLOEXEC);
	imported = MADE(ibv_import_device(fd));
	if (imported)
		DONE(ibv_close_device(imported));

	DONE(ibv_dealloc_pd(pd));
	plugin_calls->check();
	ibv_free_device_list(list);
	DONE(ibv_close_device(ctx));
	plugin_calls->check();
	if (fake_kernel)
		unplug();
	say("end");
	return 0;
}
