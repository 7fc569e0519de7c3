/*
 * Functions that need no device: strings, rates, sysfs helpers, fork support, imports. What they
 * return is written down here. usage: fixed_values LIBRARY
 */
#include "no_device.h"
#include <sys/mman.h>

static void strings(void)
{
	static const struct {
		const char *function;
		int value;
		const char *text;
	} expected[] = {
		{ "ibv_node_type_str", 1, "InfiniBand channel adapter" },
		{ "ibv_node_type_str", 4, "iWARP NIC" },
		{ "ibv_node_type_str", 99, "unknown" },
		{ "ibv_port_state_str", 4, "active" },
		{ "ibv_port_state_str", 1, "down" },
		{ "ibv_port_state_str", -1, "unknown" },
		{ "ibv_event_type_str", 0, "CQ error" },
		{ "ibv_event_type_str", 15, "SRQ limit reached" },
		{ "ibv_event_type_str", 1000, "unknown" },
		{ "ibv_wc_status_str", 0, "success" },
		{ "ibv_wc_status_str", 10, "remote access error" },
		{ "ibv_wc_status_str", -5, "unknown" },
	};

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		const char *(*text)(int);

		*(void **)&text = function(expected[i].function);
		if (strcmp(text(expected[i].value), expected[i].text)) {
			printf("%s(%d) is '%s'\n", expected[i].function, expected[i].value,
			       text(expected[i].value));
			failed_checks++;
		}
	}
}

static void rates(void)
{
	static const int table[][3] = { /* rate, times 2.5, Mbps */
		{ 2, 1, 2500 }, { 5, 2, 5000 }, { 3, 4, 10000 }, { 6, 8, 20000 }, { 4, 12, 30000 },
		{ 7, 16, 40000 }, { 8, 24, 60000 }, { 9, 32, 80000 }, { 10, 48, 120000 },
		{ 19, 11, 28125 }, { 20, 20, 53125 }, { 21, 160, 425000 }, { 22, 240, 637500 },
	};
	int (*to_mult)(int), (*from_mult)(int), (*to_mbps)(int), (*from_mbps)(int);

	*(void **)&to_mult = function("ibv_rate_to_mult");
	*(void **)&from_mult = function("mult_to_ibv_rate");
	*(void **)&to_mbps = function("ibv_rate_to_mbps");
	*(void **)&from_mbps = function("mbps_to_ibv_rate");
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		CHECK(to_mult(table[i][0]) == table[i][1] && from_mult(table[i][1]) == table[i][0]);
		CHECK(to_mbps(table[i][0]) == table[i][2] && from_mbps(table[i][2]) == table[i][0]);
	}
	CHECK(to_mult(0) == -1 && to_mult(77) == -1 && from_mult(3) == 0 && from_mult(-1) == 0);
	CHECK(to_mbps(0) == -1 && to_mbps(-1) == -1 && from_mbps(1) == 0);
}

static void sysfs(void)
{
	const char *(*path)(void);
	int (*read_file)(const char *, const char *, char *, size_t);
	char folder[] = "/tmp/sysfsXXXXXX", name[64], text[32];
	FILE *file;

	*(void **)&path = function("ibv_get_sysfs_path");
	*(void **)&read_file = function("ibv_read_sysfs_file");
	CHECK(!strcmp(path(), "/sys"));
	CHECK(mkdtemp(folder));
	snprintf(name, sizeof(name), "%s/value", folder);
	file = fopen(name, "w");
	fputs("12345\n", file);
	fclose(file);
	memset(text, '#', sizeof(text));
	CHECK(read_file(folder, "value", text, sizeof(text)) == 5);
	CHECK(!memcmp(text, "12345\0#", 7));
	CHECK(read_file(folder, "value", text, 6) == 5);
	CHECK(read_file(folder, "value", text, 5) == -1);
	errno = 0;
	CHECK(read_file(folder, "other", text, sizeof(text)) == -1 && errno == ENOENT);
	unlink(name);
	rmdir(folder);
}

/* Fork support, where the kernel has none of its own. */
static void forks(void)
{
	int (*init)(void), (*status)(void), (*dont)(void *, size_t), (*again)(void *, size_t);
	char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*(void **)&init = function("ibv_fork_init");
	*(void **)&status = function("ibv_is_fork_initialized");
	*(void **)&dont = function("ibv_dontfork_range");
	*(void **)&again = function("ibv_dofork_range");
	if (status() == 2) {
		CHECK(!init() && status() == 2);
		return;
	}
	CHECK(status() == 0);
	CHECK(!init() && status() == 1);
	CHECK(!init() && status() == 1);
	CHECK(!dont(memory, 1) && !dont(memory, 8192) && !again(memory, 1) && !again(memory, 8192));
	CHECK(!dont(NULL, 4096) && !dont(memory, 0));
	munmap(memory, 8192);
	errno = 0;
	CHECK(dont(memory, 8192) == -1 && errno == ENOMEM);
}

static void imports(void)
{
	void *(*import_device)(int);

	*(void **)&import_device = function("ibv_import_device");
	errno = 0;
	CHECK(!import_device(-1) && errno == EINVAL);
	errno = 0;
	CHECK(!import_device(0) && errno);
}

int main(int argc, char **argv)
{
	if (!load(argc, argv))
		return 3;
	strings();
	rates();
	sysfs();
	forks();
	imports();
	return finish();
}
