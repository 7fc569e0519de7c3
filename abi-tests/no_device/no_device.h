/*
 * Programs that need no RDMA device and no installed headers: the few declarations that they take,
 * written down here, and the library given as a file.
 */
#ifndef ABI_TESTS_NO_DEVICE_H
#define ABI_TESTS_NO_DEVICE_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failed_checks;
static void *library __attribute__((unused));

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("CHECK failed at %s:%d: %s\n", __FILE__, __LINE__, #condition);     \
			failed_checks++;                                                           \
		}                                                                                  \
	} while (0)

/* A function of the library, by its default version. */
static inline void *function(const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		printf("no %s\n", name);
		exit(3);
	}
	return found;
}

/* Loads the library that the first argument names; the end of the program reports. */
static inline bool load(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2) {
		printf("usage: %s LIBRARY\n", argv[0]);
		return false;
	}
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		printf("%s\n", dlerror());
	return library != NULL;
}

static inline int finish(void)
{
	printf("end, %d failed checks\n", failed_checks);
	return failed_checks ? 1 : 0;
}

#endif
