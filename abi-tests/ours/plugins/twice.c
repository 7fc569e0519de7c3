/* A plugin that registers the same provider twice, and one that has no functions at all. */
#include "provider.h"

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	(void)sysfs_dev;
	return NULL;
}

static const struct verbs_device_ops ops = {
	.name = "twice", .match_max_abi_version = 100, .match_table = matches_rxe,
	.alloc_device = alloc_device,
};

static const struct verbs_device_ops none = {
	.name = "none", .match_max_abi_version = 100, .match_table = matches_rxe,
};

static const struct verbs_device_ops no_table = { .name = "no_table" };

__attribute__((constructor)) static void load(void)
{
	verbs_register_driver_65(&ops);
	verbs_register_driver_65(&ops);
	verbs_register_driver_65(&none);
	verbs_register_driver_65(&no_table);
}
