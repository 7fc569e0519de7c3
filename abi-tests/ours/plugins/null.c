/* A plugin that takes rxe devices and then cannot allocate one. */
#include "provider.h"

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	(void)sysfs_dev;
	return NULL;
}

static const struct verbs_device_ops ops = {
	.name = "null", .match_max_abi_version = 100, .match_table = matches_rxe,
	.alloc_device = alloc_device,
};

__attribute__((constructor)) static void load(void)
{
	verbs_register_driver_65(&ops);
}
