/*
 * Address handles and multicast groups: arguments that must be refused.
 *
 * usage: fail_ah DEVICE
 */
#include "qp.h"

static struct port port;

static void create(void)
{
	static const char *const name[] = {
		"as it should be", "no GRH", "port 0", "port 2", "port 255", "gid index 16",
		"gid index 255", "destination zero", "destination multicast",
		"destination unreachable", "rate 200", "service level 15", "hop limit 0",
	};

	section("create_ah");
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
		struct ibv_ah_attr attr = to_gid(&port);
		struct ibv_ah_attr copy;
		struct ibv_ah *ah;

		switch (i) {
		case 1: attr.is_global = 0; break;
		case 2: attr.port_num = 0; break;
		case 3: attr.port_num = 2; break;
		case 4: attr.port_num = 255; break;
		case 5: attr.grh.sgid_index = 16; break;
		case 6: attr.grh.sgid_index = 255; break;
		case 7: memset(&attr.grh.dgid, 0, 16); break;
		case 8: attr.grh.dgid = (union ibv_gid){ .raw = { 0xff, 0x0e, [10] = 0xff, 0xff, 239, 1, 1, 1 } }; break;
		case 9: attr.grh.dgid.raw[12] = 203; break;
		case 10: attr.static_rate = 200; break;
		case 11: attr.sl = 15; break;
		case 12: attr.grh.hop_limit = 0; break;
		}
		copy = attr;
		ah = PTR(name[i], ibv_create_ah(port.pd, &attr));
		CHECK(!memcmp(&copy, &attr, sizeof(attr)));
		if (ah)
			CHECK(!ibv_destroy_ah(ah));
	}
}

static void multicast(void)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(port.context, 4, NULL, NULL, 0));
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, NULL);
	struct ibv_qp *rc = NEED(ibv_create_qp(port.pd, &init)), *ud;
	union ibv_gid group = { .raw = { 0xff, 0x0e, [10] = 0xff, 0xff, 239, 1, 2, 3 } };

	init = qp_init(IBV_QPT_UD, cq, NULL);
	ud = NEED(ibv_create_qp(port.pd, &init));
	section("multicast");
	ERR("attach RC", ibv_attach_mcast(rc, &group, 0));
	ERR("detach RC", ibv_detach_mcast(rc, &group, 0));
	ERR("detach, not attached", ibv_detach_mcast(ud, &group, 0));
	ERR("attach, in RESET", ibv_attach_mcast(ud, &group, 0));
	ERR("attach unicast", ibv_attach_mcast(ud, &port.gid, 0));
	ERR("detach", ibv_detach_mcast(ud, &group, 0));
	ERR("attach with LID", ibv_attach_mcast(ud, &group, 0xc001));
	ERR("detach without", ibv_detach_mcast(ud, &group, 0));
	ERR("detach with LID", ibv_detach_mcast(ud, &group, 0xc001));
	CHECK(!ibv_destroy_qp(rc));
	ERR("destroy_qp", ibv_destroy_qp(ud));
	CHECK(!ibv_destroy_cq(cq));
}

int main(int argc, char **argv)
{
	start();
	if (argc != 2)
		return 2;
	open_port(&port, argv[1]);
	create();
	multicast();
	close_port(&port);
	return finish();
}
