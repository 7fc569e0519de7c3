/*
 * Private symbols that a program can reach without being a plugin: opening a device with private
 * data, the log, the switch for devices that have gone, the heap of shared memory.
 *
 * usage: private DEVICE LOG; LOG is where VERBS_LOG_FILE points to.
 */
#include "common.h"
#include <dlfcn.h>

static void *private_symbol(const char *name)
{
	void *symbol = dlvsym(RTLD_DEFAULT, name, "IBVERBS_PRIVATE_65");

	printf("%s: %s\n", name, symbol ? "found" : "missing");
	return NEED(symbol);
}

static void show_log(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[512];

	if (!file) {
		printf("no log\n");
		return;
	}
	while (fgets(line, sizeof(line), file))
		if (strstr(line, "private.c"))
			printf("log: %s", line);
	fclose(file);
}

int main(int argc, char **argv)
{
	struct ibv_context *(*verbs_open)(struct ibv_device *device, void *private_data);
	void (*verbs_log)(void *context, uint32_t level, const char *format, ...);
	void *(*heap_init)(void);
	const char *path = argc > 2 ? argv[2] : "";
	struct ibv_context *context;
	struct ibv_device **list;
	const unsigned char *allow;

	start();
	unlink(path);
	verbs_open = private_symbol("verbs_open_device");
	verbs_log = private_symbol("__verbs_log");
	heap_init = private_symbol("ibv_dmabuf_heap_cc_shared_init");
	allow = private_symbol("verbs_allow_disassociate_destroy");

	printf("before the first list: %u\n", *allow);
	list = NEED(ibv_get_device_list(NULL));
	printf("after the first list: %u\n", *allow);
	context = PTR("verbs_open_device", verbs_open(NEED(find_device(list, argv[1])), NULL));
	ibv_free_device_list(list);
	if (context) {
		CHECK(context->async_fd >= 0);
		CHECK(context->num_comp_vectors >= 1);
		/* Levels 1 to 4, with more arguments than there are registers. */
		for (uint32_t level = 1; level <= 4; level++) {
			errno = EXDEV;
			verbs_log(NULL, level, "private.c %s %u %d %lld %s %x %.3f %c%c%s", "level",
				  level, -1, 1LL << 40, "six", 0x77u, 2.5, 'a', 'b', "\n");
			CHECK(errno == EXDEV);
		}
		ERR("close", ibv_close_device(context));
	}
	PTR("heap", heap_init());
	/* The original's log is a stream of the C library. */
	fflush(NULL);
	show_log(path);
	return finish();
}
