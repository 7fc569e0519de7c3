/* Memory that notices when something else writes to it, and the transcript of the plugin. */
#define _GNU_SOURCE
#include "plugin.h"
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, GUARD = 0xa5, OBJECTS = 256 };

/* What stands at the beginning of the page that an object ends with. */
struct guard {
	size_t size;
	bool in_kernel;
	char name[24];
};

static struct guard *objects[OBJECTS];

static struct guard *guard_of(const void *object)
{
	return (void *)((uintptr_t)object & ~(uintptr_t)(PAGE - 1));
}

void *guarded(size_t size, const char *kind)
{
	static struct {
		const char *kind;
		int last;
	} counts[64];
	struct guard *guard = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *object = (char *)guard + PAGE - size;
	int i = 0, k = 0;

	if (guard == MAP_FAILED || sizeof(*guard) + 64 + size > PAGE ||
	    mprotect((char *)guard + PAGE, PAGE, PROT_NONE))
		abort();
	while (counts[k].kind && strcmp(counts[k].kind, kind))
		k++;
	counts[k].kind = kind;
	memset(guard, GUARD, PAGE);
	memset(object, 0, size);
	guard->size = size;
	guard->in_kernel = false;
	snprintf(guard->name, sizeof(guard->name), "%s%d", kind, ++counts[k].last);
	give_name(object, size, "%s", guard->name);
	while (objects[i])
		i++;
	objects[i] = guard;
	return object;
}

static void check_guard(struct guard *guard)
{
	const uint8_t *from = (uint8_t *)(guard + 1), *to = (uint8_t *)guard + PAGE - guard->size;

	for (const uint8_t *byte = from; byte < to; byte++) {
		if (*byte == GUARD)
			continue;
		say("GUARD: %td bytes in front of %s were written to", to - byte, guard->name);
		return;
	}
}

void check_guards(void)
{
	for (int i = 0; i < OBJECTS; i++)
		if (objects[i])
			check_guard(objects[i]);
}

void release(void *object)
{
	struct guard *guard = guard_of(object);

	if (!object)
		return;
	check_guard(guard);
	take_name(object);
	for (int i = 0; i < OBJECTS; i++)
		if (objects[i] == guard)
			objects[i] = NULL;
	munmap(guard, 2 * PAGE);
}

bool *in_kernel(void *object)
{
	return &guard_of(object)->in_kernel;
}

void called(const char *format, ...)
{
	char text[512];
	va_list args;

	check_guards();
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	say("  %s", text);
}

int kernel(int result)
{
	if (!result)
		return 0;
	say("    kernel's answer: %s", error_text(result));
	return may_refuse ? 0 : result;
}

void *created(void *object, struct ibv_context *context, int result)
{
	*in_kernel(object) = !result;
	if (kernel(result)) {
		release(object);
		errno = result;
		return NULL;
	}
	if (result)
		*(struct ibv_context **)object = context;
	return object;
}

struct ibv_command_buffer *linked(struct link *link, uint16_t object, uint16_t method,
				  uint64_t value)
{
	*link = (struct link){
		.buffer = {
			.next_attr = link->attrs + 1,
			.last_attr = link->attrs + 1,
			.uhw_in_idx = 255,
			.uhw_out_idx = 255,
			.hdr = { .object_id = object, .method_id = method },
		},
		.attrs[0] = {
			.attr_id = 1 << 12 | 5,
			.len = sizeof(value),
			.flags = UVERBS_ATTR_F_MANDATORY,
			.data = value,
		},
	};
	return &link->buffer;
}
