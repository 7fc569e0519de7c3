/* The transcript and its names. */
#define _GNU_SOURCE
#include "transcript.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fake_kernel, may_refuse, old_kernel, together;
int current_release, kernel_fails;
const struct plugin_calls *plugins[100];

static struct {
	uintptr_t address;
	size_t size;
	char name[24];
} names[512];

enum { NAMES = sizeof(names) / sizeof(*names) };

void say_of(int release, const char *format, ...)
{
	va_list args;
	int saved = errno;

	if (together)
		printf("%d: ", release);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	errno = saved;
}

void give_name(const void *address, size_t size, const char *format, ...)
{
	va_list args;

	take_name(address);
	for (int i = 0; i < NAMES; i++) {
		if (names[i].address)
			continue;
		names[i].address = (uintptr_t)address;
		names[i].size = size;
		va_start(args, format);
		vsnprintf(names[i].name, sizeof(names[i].name), format, args);
		va_end(args);
		return;
	}
	printf("too many names\n");
	exit(3);
}

void take_name(const void *address)
{
	for (int i = 0; i < NAMES; i++)
		if (address && names[i].address == (uintptr_t)address)
			names[i].address = 0;
}

const char *name_of(const void *pointer)
{
	static char texts[16][48];
	static unsigned int next;
	char *text = texts[next++ % 16];
	uintptr_t address = (uintptr_t)pointer;

	if (!address)
		return "NULL";
	strcpy(text, "?");
	/* One byte more, for addresses of ends. */
	for (int i = 0; i < NAMES; i++) {
		size_t offset = address - names[i].address;

		if (!names[i].address || address < names[i].address || offset > names[i].size)
			continue;
		if (!offset) {
			strcpy(text, names[i].name);
			break;
		}
		snprintf(text, sizeof(texts[0]), "%s+%zu", names[i].name, offset);
	}
	return text;
}

const char *error_text(int error)
{
	static char number[24];
	const char *name = error > 0 ? strerrorname_np(error) : NULL;

	if (!error)
		return "0";
	if (name)
		return name;
	snprintf(number, sizeof(number), "%d", error);
	return number;
}
