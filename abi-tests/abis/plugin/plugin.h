/*
 * A plugin that takes one device, writes down every call of the library, and looks whether the
 * library stays within what the plugin has allocated.
 */
#ifndef ABI_TESTS_PLUGIN_H
#define ABI_TESTS_PLUGIN_H

#include "api.h"
#include "../transcript.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every operation of the table of this release. */
#define OPERATION(type, name, parameters) type op_##name parameters;
#include "operations.h"
#undef OPERATION

/*
 * Memory for an object, zeroed, with guard bytes in front and a page behind that nothing can touch.
 * Its name in the transcript is `kind` and a number.
 */
void *guarded(size_t size, const char *kind);

/* Checks the guard bytes of an object and frees it; NULL is nothing. */
void release(void *object);

/* Says which object's guard bytes have changed, if one's have. */
void check_guards(void);

/* Whether the kernel has this object too; it can be set. */
bool *in_kernel(void *object);

/* Writes down that an operation was called. */
void called(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * The result of a command to the kernel as the result of an operation: a real one may refuse what
 * its driver cannot do, and the plugin does it alone then.
 */
int kernel(int result);

/*
 * The same for a command that creates an object, whose first member is its context but for a flow.
 * NULL and errno if there is no object then.
 */
void *created(void *object, struct ibv_context *context, int result);

/* The same for one that destroys it. `destroy` is called only for what the kernel has. */
#define DESTROYED(object, destroy)                                                                 \
	({                                                                                         \
		int result_ = *in_kernel(object) ? (destroy) : 0;                                  \
		if (!result_)                                                                      \
			release(object);                                                           \
		result_;                                                                           \
	})

/* Room for a command and an answer with words of the plugin behind them. */
#define REQUEST(type)                                                                              \
	struct {                                                                                   \
		struct type cmd;                                                                   \
		uint32_t provider[2];                                                              \
	} request = { .provider = { 0x11111111, 0x22222222 } }
#define RESPONSE(type)                                                                             \
	struct {                                                                                   \
		struct type resp;                                                                  \
		uint32_t provider[8];                                                              \
	} response = { .provider = { 0 } }

/* Both as arguments. The driver of rxe takes no words of the plugin with most commands. */
#define CMD &request.cmd, sizeof(request.cmd) + (fake_kernel ? sizeof(request.provider) : 0)
#define ONLY_CMD &request.cmd, sizeof(request.cmd)
#define RESP &response.resp, sizeof(response)

/* Says what the kernel has answered into the plugin's words. */
#define ANSWERED                                                                                   \
	say("    provider's answer %#x %#x", response.provider[0],                                 \
	    response.provider[sizeof(response.provider) / 4 - 1])

/* One more attribute for a command, as plugins add them. */
struct link {
	struct ibv_command_buffer buffer;
	struct ib_uverbs_attr attrs[1];
};

/* Prepares it for a method with a value that goes to the kernel as it is. */
struct ibv_command_buffer *linked(struct link *link, uint16_t object, uint16_t method,
				  uint64_t value);

/* Calls the functions of the version node that no operation calls. */
void private_functions(struct ibv_context *context);

#endif
