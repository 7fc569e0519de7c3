/*
 * GIDs by every entry point, with a table that has a hole, and pkeys.
 *
 * usage: gid DEVICE NETDEV; addresses of NETDEV are added and removed.
 */
#include "qp.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <net/if.h>

enum type { TYPE_ROCE_V1, TYPE_ROCE_V2 };

static struct ibv_context *context;
static const char *netdev;
static int (*query_gid_type)(struct ibv_context *context, uint8_t port, unsigned int index,
			     enum type *type);

static void address(const char *verb, const char *text)
{
	char command[128];

	snprintf(command, sizeof(command), "ip address %s %s dev %s", verb, text, netdev);
	if (system(command))
		printf("failed: %s\n", command);
}

static void show_gid(const union ibv_gid *gid)
{
	char text[INET6_ADDRSTRLEN];

	/* The link-local one comes from the hardware address, which is a random one. */
	if (gid->raw[0] == 0xfe && gid->raw[1] == 0x80)
		printf("link-local");
	else
		printf("%s", inet_ntop(AF_INET6, gid, text, sizeof(text)));
}

/* All that there is to know of one index, by all calls. */
static void show_index(uint32_t port, uint32_t index)
{
	unsigned ndev = if_nametoindex(netdev);
	struct ibv_gid_entry entry;
	union ibv_gid gid;
	enum type type = 77;
	int ret;

	memset(&entry, 0xa5, sizeof(entry));
	memset(&gid, 0xa5, sizeof(gid));
	printf("port %u index %u\n", port, index);
	ret = MINUS("  query_gid", ibv_query_gid(context, port, index, &gid));
	printf("    ");
	show_gid(&gid);
	printf("\n");
	if (!ERR("  query_gid_ex", ibv_query_gid_ex(context, port, index, &entry, 0))) {
		printf("    index %u port %u type %u ndev %s ", entry.gid_index, entry.port_num,
		       entry.gid_type, entry.ndev_ifindex == ndev ? "right" : "?");
		show_gid(&entry.gid);
		printf("\n");
		CHECK(!ret && !memcmp(&gid, &entry.gid, 16));
	} else {
		printf("    touched %s\n", ((uint8_t *)&entry)[0] == 0xa5 ? "no" : "yes");
	}
	MINUS("  query_gid_type", query_gid_type(context, port, index, &type));
	printf("    type %d\n", (int)type);
}

static void show_table(void)
{
	struct ibv_gid_entry entries[64];
	int64_t n, m;

	memset(entries, 0xa5, sizeof(entries));
	n = ibv_query_gid_table(context, entries, 64, 0);
	printf("table %" PRId64 "\n", n);
	for (int64_t i = 0; i < n; i++) {
		printf("  index %u port %u type %u ndev %s ", entries[i].gid_index,
		       entries[i].port_num, entries[i].gid_type,
		       entries[i].ndev_ifindex == if_nametoindex(netdev) ? "right" : "?");
		show_gid(&entries[i].gid);
		printf("\n");
	}
	CHECK(entries[n > 0 ? n : 0].gid_index == 0xa5a5a5a5);
	for (int64_t room = 0; room <= n; room++) {
		memset(entries, 0xa5, sizeof(entries));
		m = ibv_query_gid_table(context, entries, room, 0);
		printf("  room %" PRId64 ": %s%" PRId64 " %s\n", room, m < 0 ? "-" : "",
		       m < 0 ? -m : m, m < 0 ? error_name(-m) : "entries");
		CHECK(entries[room].gid_index == 0xa5a5a5a5);
	}
}

static void show_all(const char *title)
{
	section(title);
	for (uint32_t index = 0; index < 6; index++)
		show_index(1, index);
	show_table();
}

static void limits(void)
{
	struct ibv_gid_entry entry;
	uint8_t large[64];
	ssize_t n;

	section("out of range");
	show_index(1, 1023);
	show_index(1, 1024);
	show_index(1, 0x7fffffff);
	show_index(0, 0);
	show_index(2, 0);
	show_index(255, 0);
	MINUS("query_gid -1", ibv_query_gid(context, 1, -1, &entry.gid));
	ERR("query_gid_ex -1", ibv_query_gid_ex(context, 1, -1U, &entry, 0));
	ERR("query_gid_ex port 257", ibv_query_gid_ex(context, 257, 0, &entry, 0));
	ERR("query_gid_ex port -1", ibv_query_gid_ex(context, -1U, 0, &entry, 0));

	section("flags and sizes");
	for (int bit = 0; bit < 32; bit += 5) {
		printf("flags bit %d ", bit);
		ERR("query_gid_ex", ibv_query_gid_ex(context, 1, 0, &entry, 1U << bit));
		n = ibv_query_gid_table(context, &entry, 1, 1U << bit);
		printf("  table %s\n", n < 0 ? error_name(-n) : "ok");
	}
	for (size_t size = 0; size <= sizeof(large); size += 8) {
		size_t touched;

		memset(large, 0xa5, sizeof(large));
		printf("size %zu ", size);
		ERR("query_gid_ex", _ibv_query_gid_ex(context, 1, 0, (void *)large, 0, size));
		for (touched = sizeof(large); touched && large[touched - 1] == 0xa5;)
			touched--;
		printf("  touched %zu\n", touched);
		memset(large, 0xa5, sizeof(large));
		n = _ibv_query_gid_table(context, (void *)large, 1, 0, size);
		printf("  table %s\n", n < 0 ? error_name(-n) : "ok");
		for (touched = sizeof(large); touched && large[touched - 1] == 0xa5;)
			touched--;
		printf("  touched %zu\n", touched);
	}
}

static void pkeys(void)
{
	uint16_t pkey;

	section("pkeys");
	for (int index = -1; index < 3; index++) {
		printf("index %d ", index);
		pkey = 0xa5a5;
		MINUS("query_pkey", ibv_query_pkey(context, 1, index, &pkey));
		printf("  %04x\n", ntohs(pkey));
	}
	MINUS("port 0", ibv_query_pkey(context, 0, 0, &pkey));
	MINUS("port 2", ibv_query_pkey(context, 2, 0, &pkey));
	MINUS("index of ffff", ibv_get_pkey_index(context, 1, htons(0xffff)));
	MINUS("index of 7fff", ibv_get_pkey_index(context, 1, htons(0x7fff)));
	MINUS("index on port 2", ibv_get_pkey_index(context, 2, htons(0xffff)));
}

int main(int argc, char **argv)
{
	start();
	if (argc != 3)
		return 2;
	netdev = argv[2];
	context = open_device(argv[1]);
	*(void **)&query_gid_type = NEED(dlsym(RTLD_DEFAULT, "ibv_query_gid_type"));
	show_all("as it is");
	address("add", "10.0.0.2/24");
	address("add", "10.0.0.3/24");
	address("add", "fd00::7/64 nodad");
	usleep(300000);
	show_all("with more addresses");
	address("del", "10.0.0.2/24");
	usleep(300000);
	show_all("with a hole");
	limits();
	address("del", "10.0.0.3/24");
	address("del", "fd00::7/64");
	usleep(300000);
	show_all("as it was");
	pkeys();
	ibv_close_device(context);
	return finish();
}
