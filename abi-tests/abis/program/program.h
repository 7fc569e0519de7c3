/* A program that calls every public verb on the device of the plugin. */
#ifndef ABI_TESTS_PROGRAM_H
#define ABI_TESTS_PROGRAM_H

#include "../transcript.h"
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set by the header that takes away the inline functions. */
#ifndef PLAIN_SYMBOLS
#define PLAIN_SYMBOLS 0
#endif

/* Runs a call that hands back an object, and says which. */
#define MADE(call)                                                                                 \
	({                                                                                         \
		say("%s", #call);                                                                  \
		errno = 0;                                                                         \
		__auto_type made_ = (call);                                                        \
		if (made_)                                                                         \
			say("  = %s", name_of(made_));                                             \
		else                                                                               \
			say("  = NULL %s", error_text(errno));                                     \
		made_;                                                                             \
	})

/* Runs a call that returns a number, 0 or an errno value or something negative and errno. */
#define DONE(call)                                                                                 \
	({                                                                                         \
		say("%s", #call);                                                                  \
		errno = 0;                                                                         \
		long long done_ = (call);                                                          \
		if (done_ < 0)                                                                     \
			say("  = %lld %s", done_, error_text(errno));                              \
		else                                                                               \
			say("  = %lld", done_);                                                    \
		done_;                                                                             \
	})

/* Runs a call that returns nothing. */
#define CALLED(call)                                                                               \
	do {                                                                                       \
		say("%s", #call);                                                                  \
		call;                                                                              \
	} while (0)

/* Says where something does not hold. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			say("CHECK: %s:%d: %s", __FILE__, __LINE__, #condition);                   \
	} while (0)

/* What the parts share. Memory to register; anything as contexts of objects. */
extern char memory[65536];
extern char context_of[4];

void memory_verbs(struct ibv_context *ctx, struct ibv_pd *pd);
void newer_memory_verbs(struct ibv_context *ctx, struct ibv_pd *pd);
void queue_verbs(struct ibv_context *ctx, struct ibv_pd *pd);
void other_verbs(struct ibv_context *ctx, struct ibv_pd *pd);
void oldest_verbs(const char *device);
void refused_verbs(struct ibv_context *ctx, struct ibv_pd *pd);

/* Makes that the next read from a file descriptor of the library gives these bytes. */
void inject(int fd, const void *bytes, size_t size);

#endif
