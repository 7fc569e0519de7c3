/*
 * What a provider plugin registers, from the facts of rdma-core's private interface, which are the
 * same in private ABIs 34 to 65: for plugins that only try to be loaded and never open a device.
 */
#ifndef ABI_TESTS_PROVIDER_H
#define ABI_TESTS_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <infiniband/verbs.h>

struct verbs_device;
struct verbs_sysfs_dev;
struct verbs_context;

enum { MATCH_END, MATCH_PCI, MATCH_NAME, MATCH_DRIVER_ID, DRIVER_RXE = 14 };
/* Size of struct verbs_device in bytes, in all private ABIs. */
enum { VERBS_DEVICE_SIZE = 712 };

struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor, device;
	uint8_t kind;
};

struct verbs_device_ops {
	const char *name;
	uint32_t match_min_abi_version, match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;
	bool (*match_device)(struct verbs_sysfs_dev *sysfs_dev);
	struct verbs_context *(*alloc_context)(struct ibv_device *device, int cmd_fd,
					       void *private_data);
	struct verbs_context *(*import_context)(struct ibv_device *device, int cmd_fd);
	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs_dev);
	void (*uninit_device)(struct verbs_device *device);
};

void verbs_register_driver_65(const struct verbs_device_ops *ops);

static const struct verbs_match_ent matches_rxe[] __attribute__((unused)) = {
	{ .u.driver_id = DRIVER_RXE, .kind = MATCH_DRIVER_ID },
	{ .kind = MATCH_END },
};

#endif
