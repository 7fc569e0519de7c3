/*
 * What makes perftest's programs quick to test, and takes them where they would not go by
 * themselves; beside that they do all that they do otherwise.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

/*
 * For each size of message perftest measures anew how fast the processor's counter runs, against
 * gettimeofday and for a quarter of a second. Here a second of gettimeofday is shorter.
 */
int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	const long long faster = 16;
	struct timespec now;

	(void)tz;
	clock_gettime(CLOCK_MONOTONIC, &now);
	long long us = (now.tv_sec * 1000000000LL + now.tv_nsec) * faster / 1000;
	tv->tv_sec = us / 1000000;
	tv->tv_usec = us % 1000000;
	return 0;
}

/*
 * perftest posts by ibv_wr_* only on devices that it has a list of. With NEW_POST set the device is
 * taken for a ConnectX-5, of
 * which nothing else is asked that only such a one has.
 */
int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	int (*query)(struct ibv_context *, struct ibv_device_attr *) =
		dlvsym(RTLD_NEXT, "ibv_query_device", "IBVERBS_1.1");
	int error = query(context, attr);

	if (!error && getenv("NEW_POST")) {
		attr->vendor_id = 0x02c9;
		attr->vendor_part_id = 4119;
	}
	return error;
}

int mlx5dv_query_device(struct ibv_context *context, struct mlx5dv_context *attrs)
{
	(void)context;
	attrs->flags = 0;
	attrs->comp_mask = 0;
	return 0;
}
