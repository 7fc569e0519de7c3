/*
 * What this machine can do at best between two processes, without any library.
 *
 * usage: limits TEST SIZE SECONDS CPU CPU
 *
 *   hand-over  one way of a cache line to the other process and back, µs
 *   payload    the same with SIZE bytes written into the other's memory before the flag, µs
 *   copy       SIZE bytes into memory that both map, one copy, announced by a counter, GB/s
 *   vm-write   process_vm_writev(2) of SIZE bytes, GB/s
 *   vm-read    process_vm_readv(2)
 *   vm-call    process_vm_writev(2) of SIZE bytes, µs
 *   ring       messages of 8 bytes through a ring of cache lines, millions a second
 */
#include "common.h"
#include <sys/uio.h>

static void hand_over(size_t size)
{
	char *memory = shared_memory(2 * size + 128), *mine, *source = ordinary_memory(size + 1);
	uint64_t turn = 0;

	split();
	mine = memory + (side ? 0 : (size + 63) / 64 * 64);
	barrier();
	if (side) {
		ANSWERS({
			turn++;
			while (atomic_load_explicit(&between->there, memory_order_acquire) != turn)
				;
			memcpy(mine, source, size);
			atomic_store_explicit(&between->back, turn, memory_order_release);
		});
	} else {
		ROUND_TRIPS({
			turn++;
			memcpy(mine, source, size);
			atomic_store_explicit(&between->there, turn, memory_order_release);
			while (atomic_load_explicit(&between->back, memory_order_acquire) != turn)
				;
		});
	}
}

static void copy(size_t size)
{
	size_t count = places(size);
	char *target = shared_memory(size * count), *source = ordinary_memory(size);
	uint64_t sent = 0;
	double begin, now;

	split();
	barrier();
	if (side) {
		/* It sees each message, and leaves the bytes alone. */
		while (!atomic_load_explicit(&between->stop, memory_order_relaxed))
			atomic_store_explicit(
				&between->back,
				atomic_load_explicit(&between->there, memory_order_acquire),
				memory_order_release);
		return;
	}
	begin = seconds();
	do {
		for (int i = 0; i < 8; i++) {
			while (sent - atomic_load_explicit(&between->back, memory_order_acquire) >=
			       count)
				;
			memcpy(target + sent % count * size, source, size);
			atomic_store_explicit(&between->there, ++sent, memory_order_release);
		}
		now = seconds();
	} while (now - begin < duration);
	atomic_store(&between->stop, true);
	printf("%.3f\n", sent * (double)size / (now - begin) / 1e9);
}

static void process_vm(size_t size, bool write, bool per_call)
{
	size_t count = places(size);
	char *memory = ordinary_memory(size * count);
	uint64_t sent = 0;
	double begin, now;

	split();
	/* From here on the pages of the two are different ones. */
	memset(memory, side, size * count);
	barrier();
	if (side) {
		while (!atomic_load(&between->stop))
			__builtin_ia32_pause();
		return;
	}
	begin = seconds();
	do {
		for (int i = 0; i < 8; i++, sent++) {
			struct iovec near = { memory, size };
			struct iovec far = { memory + sent % count * size, size };
			ssize_t moved = write ? process_vm_writev(partner, &near, 1, &far, 1, 0)
					      : process_vm_readv(partner, &near, 1, &far, 1, 0);

			NEED(moved == (ssize_t)size);
		}
		now = seconds();
	} while (now - begin < duration);
	atomic_store(&between->stop, true);
	if (per_call)
		printf("%.4f\n", (now - begin) / sent * 1e6);
	else
		printf("%.3f\n", sent * (double)size / (now - begin) / 1e9);
}

static void ring(void)
{
	enum { SLOTS = 1024 };
	struct slot {
		_Alignas(64) _Atomic uint64_t number;
		uint64_t message;
	} *slots = shared_memory(SLOTS * sizeof(*slots));
	uint64_t count = 0, seen = 0, sum = 0;
	double begin, now;

	split();
	barrier();
	if (side) {
		for (;;) {
			struct slot *slot = &slots[count % SLOTS];

			while (atomic_load_explicit(&slot->number, memory_order_acquire) !=
			       count + 1)
				if (atomic_load_explicit(&between->stop, memory_order_relaxed) &&
				    atomic_load(&between->there) == count)
					return;
			sum += slot->message;
			if (++count % 64 == 0)
				atomic_store_explicit(&between->back, count,
						      memory_order_release);
			__asm__ volatile("" : : "r"(sum));
		}
	}
	begin = seconds();
	do {
		for (int i = 0; i < 256; i++) {
			struct slot *slot = &slots[count % SLOTS];

			while (count - seen >= SLOTS)
				seen = atomic_load_explicit(&between->back, memory_order_acquire);
			slot->message = count++;
			atomic_store_explicit(&slot->number, count, memory_order_release);
		}
		now = seconds();
	} while (now - begin < duration);
	atomic_store(&between->there, count);
	atomic_store(&between->stop, true);
	printf("%.3f\n", count / (now - begin) / 1e6);
}

int main(int argc, char **argv)
{
	if (argc != 6)
		return 2;

	const char *test = argv[1];
	size_t size = strtoul(argv[2], NULL, 0);

	duration = atof(argv[3]);
	cpus[0] = atoi(argv[4]);
	cpus[1] = atoi(argv[5]);
	if (!strcmp(test, "hand-over"))
		hand_over(0);
	else if (!strcmp(test, "payload"))
		hand_over(size);
	else if (!strcmp(test, "copy"))
		copy(size);
	else if (!strcmp(test, "vm-write"))
		process_vm(size, true, false);
	else if (!strcmp(test, "vm-read"))
		process_vm(size, false, false);
	else if (!strcmp(test, "vm-call"))
		process_vm(size, true, true);
	else if (!strcmp(test, "ring"))
		ring();
	else
		return 2;
	join();
	return 0;
}
