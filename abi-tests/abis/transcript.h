/*
 * What the program and the plugin share: one transcript of what was called with what, in which
 * everything goes by names, because addresses, handles and file descriptors differ from run to run.
 *
 * With several plugins in one process, each line begins with the release that it is of.
 *
 * A line without indentation is a public verb that the program calls, with two spaces in front it
 * is a function of the plugin that the library called or what the verb gave, with four it is what
 * went to the kernel or came from there. The last kind is compared only if the kernel accepts all.
 */
#ifndef ABI_TESTS_TRANSCRIPT_H
#define ABI_TESTS_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ibv_context;
struct ibv_device;

/*
 * Whether the kernel of fake_kernel.c answers, whether the kernel may refuse commands, as one with
 * an rxe device does, and whether it is one from before commands went through ioctl. The fake one
 * refuses all but those of contexts if it may, and an old one what it cannot know.
 */
extern bool fake_kernel, may_refuse, old_kernel;

/* The error number that the fake kernel answers every command with; 0 if it does them. */
extern int kernel_fails;

/* The release whose device the program is about, and whether there are others beside it. */
extern int current_release;
extern bool together;

/* Prints a line of a release: of the plugin's own one, or of the one that the program is about. */
#ifdef RELEASE
#define say(...) say_of(RELEASE, __VA_ARGS__)
#else
#define say(...) say_of(current_release, __VA_ARGS__)
#endif
void say_of(int release, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Gives `size` bytes from an address on a name, takes it back, and looks one up: "NULL", "?". */
void give_name(const void *address, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void take_name(const void *address);
const char *name_of(const void *address);

/* An errno value as text: "0", "EINVAL". */
const char *error_text(int error);

/* What a plugin can do beside its operations. */
struct plugin_calls {
	int release, private_abi;
	/* Calls what no operation calls of the functions of its version node. */
	void (*private_functions)(struct ibv_context *context);
	/* Opens a device through verbs_open_device. */
	struct ibv_context *(*open)(struct ibv_device *device, void *private_data);
	/* Looks whether anything outside of its objects was written to. */
	void (*check)(void);
};

/* The plugin of each release; it puts itself there when it is loaded. */
extern const struct plugin_calls *plugins[100];

#endif
