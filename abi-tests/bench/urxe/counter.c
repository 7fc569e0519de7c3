/*
 * Preloaded into verbs: counts allocations, and the bytes that go through memcpy(3) and memmove(3),
 * while the program says so. Short copies are compiled into their callers and go unseen, so only
 * those of 64 bytes and more are counted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { LEAST = 64 };

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_bool is_counting;
static atomic_ulong allocations, copies, bytes;

static void allocation(void)
{
	if (atomic_load_explicit(&is_counting, memory_order_relaxed))
		atomic_fetch_add(&allocations, 1);
}

void *malloc(size_t size)
{
	allocation();
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	allocation();
	return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	allocation();
	return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size)
{
	allocation();
	return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	allocation();
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
	allocation();
	*memory = __libc_memalign(alignment, size);
	return *memory ? 0 : ENOMEM;
}

static void copied(size_t size)
{
	if (size >= LEAST && atomic_load_explicit(&is_counting, memory_order_relaxed)) {
		atomic_fetch_add(&copies, 1);
		atomic_fetch_add(&bytes, size);
	}
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	void *result = to;

	copied(size);
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
	return result;
}

void *memmove(void *to, const void *from, size_t size)
{
	void *result = to;

	copied(size);
	if ((size_t)to - (size_t)from < size) {
		char *last_to = (char *)to + size - 1;
		const char *last_from = (const char *)from + size - 1;

		__asm__ volatile("std\n\trep movsb\n\tcld"
				 : "+D"(last_to), "+S"(last_from), "+c"(size)
				 :
				 : "memory", "cc");
	} else {
		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
	}
	return result;
}

/* Begins or ends counting. */
void bench_counting(bool on)
{
	atomic_store(&is_counting, on);
}

/* Prints "counted SIDE ALLOCATIONS COPIES BYTES". */
void bench_print(const char *side)
{
	printf("counted\t%s\t%lu\t%lu\t%lu\n", side, allocations, copies, bytes);
	fflush(stdout);
}
