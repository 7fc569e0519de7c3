/*
 * Addresses from received packets, and Ethernet addresses from GIDs.
 *
 * usage: ah DEVICE NETDEV PEER; addresses, routes and neighbours of NETDEV are changed, and PEER
 * is the interface at its other end; an RDMA device on PEER goes.
 */
#include "qp.h"
#include <arpa/inet.h>
#include <stdarg.h>

static struct port port;
static const char *netdev;

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

static union ibv_gid gid_of(const char *text)
{
	union ibv_gid gid = { 0 };

	CHECK(inet_pton(AF_INET6, text, &gid) == 1);
	return gid;
}

static void show_attr(const struct ibv_ah_attr *attr)
{
	char text[INET6_ADDRSTRLEN];
	bool local = attr->grh.dgid.raw[0] == 0xfe;

	printf("  dlid %u sl %u bits %u rate %u global %u port %u\n", attr->dlid, attr->sl,
	       attr->src_path_bits, attr->static_rate, attr->is_global, attr->port_num);
	printf("  dgid %s flow %x sgid %u hops %u class %u\n",
	       local ? "link-local" : inet_ntop(AF_INET6, &attr->grh.dgid, text, sizeof(text)),
	       attr->grh.flow_label, attr->grh.sgid_index, attr->grh.hop_limit,
	       attr->grh.traffic_class);
}

static void init_ah(const char *what, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;

	memset(&attr, 0xa5, sizeof(attr));
	printf("%s\n", what);
	if (!MINUS("  init_ah_from_wc",
		   ibv_init_ah_from_wc(port.context, port_num, wc, grh, &attr)))
		show_attr(&attr);
	ah = PTR("  create_ah_from_wc", ibv_create_ah_from_wc(port.pd, wc, grh, port_num));
	if (ah) {
		CHECK(ah->context == port.context && ah->pd == port.pd);
		CHECK(!ibv_destroy_ah(ah));
	}
}

/* The sum over an IPv4 header that has its checksum field empty. */
static uint16_t checksum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += header[i] << 8 | header[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

/* The 40 bytes in front of a datagram that came over IPv4: its header is in the last 20. */
static struct ibv_grh ipv4(const char *from, const char *to)
{
	union {
		struct ibv_grh grh;
		uint8_t bytes[40];
	} both;
	uint8_t *ip = both.bytes + 20;
	uint16_t sum;

	memset(both.bytes, 0x5a, 20);
	memset(ip, 0, 20);
	ip[0] = 0x45;
	ip[1] = 0x20; /* type of service */
	ip[3] = 100;
	ip[8] = 63; /* time to live */
	ip[9] = 17; /* UDP */
	CHECK(inet_pton(AF_INET, from, ip + 12) == 1 && inet_pton(AF_INET, to, ip + 16) == 1);
	sum = checksum(ip);
	memcpy(ip + 10, &sum, 2);
	return both.grh;
}

static void from_wc(void)
{
	struct ibv_wc wc = { .slid = 17, .sl = 3, .dlid_path_bits = 5, .wc_flags = 0, .src_qp = 9 };
	struct ibv_grh grh = {
		.version_tclass_flow = htonl(6 << 28 | 0x2a << 20 | 0x12345), .next_hdr = 0x1b,
		.hop_limit = 77, .sgid = gid_of("fd00::9"), .dgid = gid_of("fd00::7"),
	};
	struct ibv_grh four, other;

	section("address from a completion");
	init_ah("no GRH", &wc, &grh, 1);
	init_ah("no GRH, port 3", &wc, &grh, 3);
	wc.wc_flags = IBV_WC_GRH;
	init_ah("IPv6", &wc, &grh, 1);
	grh.next_hdr = 17;
	init_ah("IPv6, UDP", &wc, &grh, 1);
	init_ah("IPv6, port 0", &wc, &grh, 0);
	init_ah("IPv6, port 2", &wc, &grh, 2);
	init_ah("IPv6, port 200", &wc, &grh, 200);
	grh.next_hdr = 0;
	init_ah("IPv6, next header 0", &wc, &grh, 1);
	grh.next_hdr = 6;
	init_ah("IPv6, next header 6", &wc, &grh, 1);
	grh.next_hdr = 58;
	init_ah("IPv6, next header 58", &wc, &grh, 1);
	grh.next_hdr = 17;
	other = grh;
	other.dgid = gid_of("fd00::77");
	init_ah("IPv6, not to us", &wc, &other, 1);
	other = grh;
	other.dgid = gid_of("ff0e::1");
	init_ah("IPv6, to a group", &wc, &other, 1);
	other.dgid = gid_of("fd00::7");
	other.sgid = gid_of("ff0e::1");
	init_ah("IPv6, from a group", &wc, &other, 1);
	other = grh;
	other.sgid = gid_of("::ffff:10.0.0.9");
	other.dgid = gid_of("::ffff:10.0.0.1");
	init_ah("mapped addresses", &wc, &other, 1);
	for (unsigned version = 0; version < 16; version += 3) {
		other = grh;
		other.version_tclass_flow = htonl(version << 28);
		printf("version %u: ", version);
		init_ah("IPv6", &wc, &other, 1);
	}

	four = ipv4("10.0.0.9", "10.0.0.1");
	init_ah("IPv4", &wc, &four, 1);
	four = ipv4("10.0.0.9", "10.0.0.77");
	init_ah("IPv4, not to us", &wc, &four, 1);
	four = ipv4("10.0.0.9", "239.1.2.3");
	init_ah("IPv4, to a group", &wc, &four, 1);
	four = ipv4("10.0.0.9", "10.0.0.1");
	((uint8_t *)&four)[30] ^= 0xff;
	init_ah("IPv4, wrong checksum", &wc, &four, 1);
	four = ipv4("10.0.0.9", "10.0.0.1");
	((uint8_t *)&four)[20] = 0x46;
	init_ah("IPv4, longer header", &wc, &four, 1);
	four = ipv4("10.0.0.9", "10.0.0.1");
	((uint8_t *)&four)[20 + 9] = 6;
	init_ah("IPv4, TCP and so a wrong checksum", &wc, &four, 1);
	uint16_t sum;

	((uint8_t *)&four)[20 + 10] = ((uint8_t *)&four)[20 + 11] = 0;
	sum = checksum((uint8_t *)&four + 20);
	memcpy((uint8_t *)&four + 30, &sum, 2);
	init_ah("IPv4, TCP", &wc, &four, 1);

	/* What looks like IPv6 in front is IPv4 if the header there has the right sum. */
	for (int right = 1; right >= 0; right--) {
		four = ipv4("10.0.0.9", "10.0.0.1");
		four.version_tclass_flow = grh.version_tclass_flow;
		four.next_hdr = 17;
		four.hop_limit = 9;
		((uint8_t *)&four)[30] ^= right ? 0 : 1;
		init_ah(right ? "IPv4 behind a 6" : "IPv4 behind a 6, wrong checksum", &wc, &four, 1);
	}
	memset(&other, 0, sizeof(other));
	init_ah("nothing", &wc, &other, 1);
	memset(&other, 0xff, sizeof(other));
	init_ah("all ones", &wc, &other, 1);
}

static void resolve(const char *what, const char *to, int sgid_index, uint16_t want_vlan)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1,
		.grh = { .dgid = gid_of(to), .sgid_index = sgid_index, .hop_limit = 64 } };
	uint8_t mac[6];
	uint16_t vlan = 0x7777;
	int ret;

	memset(mac, 0xa5, sizeof(mac));
	errno = 0;
	ret = ibv_resolve_eth_l2_from_gid(port.context, &attr, mac, &vlan);
	printf("%s: %s%s", what, ret < 0 ? "-" : "", ret ? error_name(abs(ret)) : "0");
	if (!ret) {
		FILE *file;
		char path[64], own[32] = "";

		for (int i = 0; i < 2; i++) {
			snprintf(path, sizeof(path), "/sys/class/net/%s/address",
				 i ? "veth1" : netdev);
			file = fopen(path, "re");
			if (file && fgets(own, sizeof(own), file))
				own[17] = 0;
			if (file)
				fclose(file);
			char text[32];

			snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
				 mac[1], mac[2], mac[3], mac[4], mac[5]);
			if (!strcmp(text, own)) {
				printf(" %s", i ? "the peer's address" : "own address");
				break;
			}
			if (i)
				printf(" %s", text);
		}
		printf(" vlan %x", vlan);
		CHECK(vlan == want_vlan);
	}
	printf("\n");
}

static int index_of(const char *text)
{
	union ibv_gid want = gid_of(text), gid;

	for (int i = 0; i < 16; i++)
		if (!ibv_query_gid(port.context, 1, i, &gid) && !memcmp(&gid, &want, 16))
			return i;
	return -1;
}

static void ethernet(const char *peer)
{
	int four = port.gid_index, six = index_of("fd00::7");
	struct ibv_ah_attr attr = to_gid(&port);
	uint8_t mac[6];
	int64_t before;

	section("Ethernet address of a GID");
	CHECK(six >= 0);
	resolve("own IPv4", "::ffff:10.0.0.1", four, 0xffff);
	resolve("own IPv6", "fd00::7", six, 0xffff);
	resolve("neighbour IPv4", "::ffff:10.0.0.9", four, 0xffff);
	resolve("neighbour IPv6", "fd00::9", six, 0xffff);
	resolve("group IPv4", "::ffff:239.1.2.3", four, 0xffff);
	resolve("group IPv4, RoCE form", "ff0e::ffff:239.1.2.3", four, 0xffff);
	resolve("group IPv6", "ff0e::1234:5678", six, 0xffff);
	resolve("link-local", "fe80::22:33ff:fe44:5566", 0, 0xffff);
	resolve("broadcast", "::ffff:10.0.0.255", four, 0xffff);
	resolve("loopback", "::ffff:127.0.0.1", four, 0xffff);

	section("through a gateway");
	run("ip route add 192.0.2.0/24 via 10.0.0.9 dev %s", netdev);
	run("ip -6 route add 2001:db8::/64 via fd00::9 dev %s", netdev);
	resolve("IPv4", "::ffff:192.0.2.5", four, 0xffff);
	resolve("IPv6", "2001:db8::5", six, 0xffff);
	run("ip route del 192.0.2.0/24 dev %s", netdev);
	run("ip -6 route del 2001:db8::/64 dev %s", netdev);

	section("asked for on the network");
	run("ip netns add abi; ip link set %s netns abi 2>/dev/null; ip netns exec abi true", peer);
	run("ip netns exec abi ip link set %s up", peer);
	run("ip netns exec abi ip address add 10.0.0.20/24 dev %s", peer);
	usleep(200000);
	resolve("answers", "::ffff:10.0.0.20", four, 0xffff);
	before = milliseconds();
	resolve("silent", "::ffff:10.0.0.99", four, 0xffff);
	printf("in time: %s\n", milliseconds() - before < 6000 ? "yes" : "no");
	run("ip netns exec abi ip link set %s netns 1", peer);
	run("ip netns del abi");
	run("ip link set %s up", peer);

	section("no way");
	resolve("no route IPv4", "::ffff:198.51.100.1", four, 0xffff);
	resolve("no route IPv6", "2001:db8:1::1", six, 0xffff);
	resolve("zero", "::", four, 0xffff);
	resolve("empty source", "::ffff:10.0.0.9", 9, 0xffff);
	resolve("source out of range", "::ffff:10.0.0.9", 255, 0xffff);
	resolve("IPv6 from IPv4", "fd00::9", four, 0xffff);
	resolve("IPv4 from IPv6", "::ffff:10.0.0.9", six, 0xffff);
	attr.port_num = 7;
	errno = 0;
	int ret = ibv_resolve_eth_l2_from_gid(port.context, &attr, mac, NULL);
	printf("port 7: %s%s\n", ret < 0 ? "-" : "", ret ? error_name(abs(ret)) : "0");
	attr.port_num = 1;
	MINUS("no place for the VLAN", ibv_resolve_eth_l2_from_gid(port.context, &attr, mac, NULL));

}

int main(int argc, char **argv)
{
	start();
	if (argc != 4)
		return 2;
	netdev = argv[2];
	run("ip address add fd00::7/64 dev %s nodad", netdev);
	run("ip neighbour replace 10.0.0.9 lladdr 02:00:00:00:00:09 dev %s nud permanent", netdev);
	run("ip neighbour replace fd00::9 lladdr 02:00:00:00:00:19 dev %s nud permanent", netdev);
	usleep(300000);
	open_port(&port, argv[1]);
	from_wc();
	ethernet(argv[3]);
	close_port(&port);
	run("ip neighbour del 10.0.0.9 dev %s", netdev);
	run("ip neighbour del fd00::9 dev %s", netdev);
	run("ip address del fd00::7/64 dev %s", netdev);
	return finish();
}
