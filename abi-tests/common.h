/*
 * Helpers of the test programs: printing what a call returned in a form that is the same in every
 * run, and opening a device by its name. Values that differ from run to run (addresses, handles,
 * keys, file descriptors) are never printed, only relations between them.
 */
#ifndef ABI_TESTS_COMMON_H
#define ABI_TESTS_COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define UNUSED __attribute__((unused))

/* Number of checks that did not hold; the exit status says whether there was one. */
static int failed_checks UNUSED;

/* The symbolic name of an errno value; "unset" for one that a failed call left at 0. */
static inline const char *error_name(int error)
{
	static __thread char number[24];
	const char *name = error > 0 ? strerrorname_np(error) : NULL;

	if (!error)
		return "unset";
	if (name)
		return name;
	snprintf(number, sizeof(number), "%d", error);
	return number;
}

static inline int show_error(const char *what, int ret, int error)
{
	if (!ret)
		printf("%s: 0\n", what);
	else if (error && error != ret)
		printf("%s: %s (errno %s)\n", what, error_name(ret), error_name(error));
	else
		printf("%s: %s\n", what, error_name(ret));
	return ret;
}

static inline int64_t show_minus(const char *what, int64_t ret, int error)
{
	if (ret < 0)
		printf("%s: %" PRId64 " %s\n", what, ret, error_name(error));
	else
		printf("%s: %" PRId64 "\n", what, ret);
	return ret;
}

static inline void *show_pointer(const char *what, void *pointer, int error)
{
	if (pointer)
		printf("%s: ok\n", what);
	else
		printf("%s: NULL %s\n", what, error_name(error));
	return pointer;
}

/*
 * Runs a call that returns 0 or an errno value, and prints that. A call may set errno as well or
 * leave it; only another value there is worth a word.
 */
#define ERR(what, call)                                                                            \
	({                                                                                         \
		errno = 0;                                                                         \
		int ret_ = (call);                                                                 \
		show_error(what, ret_, errno);                                                     \
	})

/* Runs a call that returns a number, or something negative and errno. */
#define MINUS(what, call)                                                                          \
	({                                                                                         \
		errno = 0;                                                                         \
		int64_t ret_ = (call);                                                             \
		show_minus(what, ret_, errno);                                                     \
	})

/* Runs a call that returns a pointer, or NULL and errno. */
#define PTR(what, call)                                                                            \
	({                                                                                         \
		errno = 0;                                                                         \
		__auto_type ret_ = (call);                                                         \
		(__typeof__(ret_))show_pointer(what, ret_, errno);                                 \
	})

/* Says where a condition does not hold, and goes on. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("CHECK failed at %s:%d: %s\n", __FILE__, __LINE__, #condition);     \
			failed_checks++;                                                           \
		}                                                                                  \
	} while (0)

/* The value of an expression that has to be non-zero for the program to go on. */
#define NEED(expression)                                                                           \
	({                                                                                         \
		errno = 0;                                                                         \
		__auto_type need_ = (expression);                                                  \
		if (!need_) {                                                                      \
			printf("cannot go on at %s:%d: %s: %s\n", __FILE__, __LINE__, #expression, \
			       error_name(errno));                                                 \
			exit(3);                                                                   \
		}                                                                                  \
		need_;                                                                             \
	})

/* A title for the lines that follow. */
static inline void section(const char *title)
{
	printf("== %s\n", title);
}

/* Output line by line, so that nothing is lost in a crash or doubled by a fork. */
static inline void start(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
}

static inline int finish(void)
{
	printf("end, %d failed checks\n", failed_checks);
	return failed_checks ? 1 : 0;
}

/* The device with this name in a list, or NULL. */
static inline struct ibv_device *find_device(struct ibv_device **list, const char *name)
{
	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return *list;
	return NULL;
}

/* Opens the device with this name; there is no way to go on without. */
static inline struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = NEED(ibv_get_device_list(NULL));
	struct ibv_context *context = NEED(ibv_open_device(NEED(find_device(list, name))));

	ibv_free_device_list(list);
	return context;
}

/* Index of the GID that is the IPv4 address of the device's interface. */
static inline int ipv4_gid(struct ibv_context *context, union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	for (int i = 0; i < 16; i++)
		if (!ibv_query_gid(context, 1, i, gid) && !memcmp(gid->raw, mapped, 12))
			return i;
	printf("no IPv4 GID\n");
	exit(3);
}

#endif
