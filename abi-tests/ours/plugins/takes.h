/*
 * A plugin that says that it is loaded, takes rxe devices, and opens none of them: EPROTO instead of
 * a context shows a program whose device it is. To be included by a file per private ABI.
 */
#ifndef ABI_TESTS_TAKES_H
#define ABI_TESTS_TAKES_H

#include <errno.h>
#include <stdlib.h>
#include "provider.h"

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	(void)sysfs_dev;
	return calloc(1, VERBS_DEVICE_SIZE);
}

static void uninit_device(struct verbs_device *device)
{
	free(device);
}

static struct verbs_context *alloc_context(struct ibv_device *device, int cmd_fd, void *data)
{
	(void)device, (void)cmd_fd, (void)data;
	errno = EPROTO;
	return NULL;
}

/* Registers the provider with a private ABI. */
#define TAKES(private_abi)                                                                        \
	void verbs_register_driver_##private_abi(const struct verbs_device_ops *ops);              \
	static const struct verbs_device_ops takes_ops = {                                         \
		.name = "takes", .match_max_abi_version = MATCH_MAX, .match_table = matches_rxe,   \
		.alloc_device = alloc_device, .uninit_device = uninit_device,                      \
		.alloc_context = alloc_context,                                                    \
	};                                                                                         \
	__attribute__((constructor)) static void load(void)                                        \
	{                                                                                          \
		fprintf(stderr, "private ABI " #private_abi " loaded\n");                          \
		verbs_register_driver_##private_abi(&takes_ops);                                   \
	}

#ifndef MATCH_MAX
#define MATCH_MAX 100
#endif

#endif
