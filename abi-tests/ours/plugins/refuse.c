/* A plugin that decides by itself, and refuses every device. */
#include "provider.h"

static bool match_device(struct verbs_sysfs_dev *sysfs_dev)
{
	(void)sysfs_dev;
	fprintf(stderr, "refused\n");
	return false;
}

static const struct verbs_device_ops ops = {
	.name = "refuse", .match_max_abi_version = 100, .match_table = matches_rxe,
	.match_device = match_device,
};

__attribute__((constructor)) static void load(void)
{
	verbs_register_driver_65(&ops);
}
