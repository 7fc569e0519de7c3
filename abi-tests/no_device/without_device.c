/*
 * The device list where there is no device: what is returned, that nothing is left behind, and that
 * the old interface says the same. A machine whose kernel has no RDMA gives ENOSYS; one that has
 * it, an empty list. usage: without_device LIBRARY
 */
#include "no_device.h"
#include <dirent.h>
#include <sys/resource.h>

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	void **(*get_list)(int *), **(*get_list_1_0)(int *);
	void (*free_list)(void **), (*free_list_1_0)(void **);
	struct rlimit limit, none;
	int before, n;

	/* No plugin directory of this machine, and no sysfs with devices. */
	setenv("SYSFS_PATH", "/nowhere", 1);
	if (!load(argc, argv))
		return 3;
	*(void **)&get_list = function("ibv_get_device_list");
	*(void **)&free_list = function("ibv_free_device_list");
	*(void **)&get_list_1_0 = dlvsym(library, "ibv_get_device_list", "IBVERBS_1.0");
	*(void **)&free_list_1_0 = dlvsym(library, "ibv_free_device_list", "IBVERBS_1.0");
	CHECK(get_list_1_0 && free_list_1_0 && get_list_1_0 != get_list);
	before = open_files();
	for (int i = 0; i < 100; i++) {
		void **list;

		n = -1;
		errno = 0;
		list = get_list(i % 2 ? &n : NULL);
		if (list) {
			CHECK(i % 2 == 0 || (n == 0 && !list[0]));
			free_list(list);
		} else {
			CHECK(errno == ENOSYS);
			CHECK(i % 2 == 0 || n == 0);
		}
		n = -1;
		errno = 0;
		list = get_list_1_0(&n);
		CHECK(n == 0);
		if (list) {
			CHECK(!list[0]);
			free_list_1_0(list);
		} else {
			CHECK(errno == ENOSYS);
		}
	}
	CHECK(open_files() == before);

	/* The same without a file descriptor to be had. */
	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	none = limit;
	none.rlim_cur = 0;
	CHECK(!setrlimit(RLIMIT_NOFILE, &none));
	errno = 0;
	n = -1;
	CHECK(!get_list(&n) && errno && n == 0);
	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	return finish();
}
