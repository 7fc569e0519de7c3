/* A plugin for another version of the interface of the kernel's driver. */
#include "provider.h"

static const struct verbs_device_ops ops = {
	.name = "version", .match_min_abi_version = 90, .match_max_abi_version = 91,
	.match_table = matches_rxe,
};

__attribute__((constructor)) static void load(void)
{
	verbs_register_driver_65(&ops);
}
