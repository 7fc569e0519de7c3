/*
 * Lists the devices, opens each and asks for its first port: what a program sees of a configuration.
 *
 * usage: devices [REPEAT [nonetlink]]; without netlink sysfs has to do.
 */
#include "fork.h"

int main(int argc, char **argv)
{
	int repeat = argc > 1 ? atoi(argv[1]) : 1;

	start();
	if (argc > 2)
		forbid_rdma_netlink();
	while (repeat--) {
		struct ibv_device **list;
		int n = -1;

		errno = 0;
		list = ibv_get_device_list(&n);
		if (!list) {
			printf("no list: %s, %d\n", error_name(errno), n);
			continue;
		}
		printf("%d devices\n", n);
		for (int i = 0; i < n; i++) {
			struct ibv_context *context;
			struct ibv_port_attr port;

			errno = 0;
			context = ibv_open_device(list[i]);
			printf("%s: %s", ibv_get_device_name(list[i]),
			       context ? "open" : error_name(errno));
			if (context) {
				printf(", port %s", ibv_query_port(context, 1, &port) ? "?" :
				       ibv_port_state_str(port.state));
				ibv_close_device(context);
			}
			printf("\n");
		}
		ibv_free_device_list(list);
	}
	return 0;
}
