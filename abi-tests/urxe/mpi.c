/*
 * Open MPI with the device inside the library below it: messages, collectives and one-sided
 * accesses between all ranks, with sizes at which UCX changes its way of sending; every byte is
 * compared.
 *
 * usage: mpirun ... mpi SEED
 *
 * Each rank prints what it did not find as it should be, and exits with 1 then; rank 0 prints how
 * much was compared by all.
 */
#include "bytes.h"
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 4 << 20, IN_FLIGHT = 64, ROUNDS = 3, SHOWN = 10 };

/* What lies behind a message and must stay as it is. */
enum { BEHIND = 64, UNTOUCHED = 0xa5 };

static int rank, ranks;
static uint32_t seed;
static unsigned long long compared, wrong;

/* The sizes, up to LARGEST: around powers of two, where UCX goes from one way to the next. */
static size_t sizes[100];
static int size_count;

static void need(int works, const char *what)
{
	if (works)
		return;
	printf("rank %d: %s failed\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

#define NEED(it) need(it, #it)

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
	va_list list;

	if (++wrong > SHOWN)
		return;
	va_start(list, format);
	printf("rank %d: ", rank);
	vprintf(format, list);
	printf("\n");
	va_end(list);
}

/* The seed of a message: of its sender, its kind and its number. */
static uint32_t message(int from, int to, uint32_t number)
{
	return seed + 7919U * number + 104729U * (uint32_t)from + 1299709U * (uint32_t)to;
}

/* Memory for the largest message and what lies behind it. */
static uint8_t *area(size_t size)
{
	uint8_t *memory = malloc(size + BEHIND);

	NEED(memory != NULL);
	return memory;
}

static void clear(uint8_t *to, size_t size)
{
	memset(to, UNTOUCHED, size + BEHIND);
}

/* Compares a message that came, and what lies behind it. */
static void compare(const char *what, const uint8_t *at, size_t size, uint32_t number,
		    uint64_t position)
{
	size_t good = check_bytes(at, size, number, position);

	if (good < size)
		complain("%s of %zu bytes: byte %zu is 0x%02x", what, size, good, at[good]);
	for (size_t i = size; i < size + BEHIND; i++) {
		if (at[i] != UNTOUCHED) {
			complain("%s of %zu bytes: byte %zu, behind it, is 0x%02x", what, size, i,
				 at[i]);
			break;
		}
	}
	compared += size;
}

static void choose_sizes(void)
{
	sizes[size_count++] = 0;
	for (size_t power = 1; power <= LARGEST; power *= 2) {
		if (power > 4)
			sizes[size_count++] = power - 1;
		sizes[size_count++] = power;
		if (power > 4 && power < LARGEST)
			sizes[size_count++] = power + 1;
	}
}

/* One message there, one back, between each two ranks. */
static void ping_pong(void)
{
	uint8_t *sent = area(LARGEST), *came = area(LARGEST);

	for (int first = 0; first < ranks; first++) {
		for (int second = first + 1; second < ranks; second++) {
			int peer = rank == first ? second : first;

			if (rank != first && rank != second)
				continue;
			for (int i = 0; i < ROUNDS * size_count; i++) {
				size_t size = sizes[i % size_count];
				MPI_Status status;
				int count;

				put_bytes(sent, size, message(rank, peer, i), 0);
				clear(came, size);
				if (rank == first)
					MPI_Send(sent, size, MPI_BYTE, peer, i, MPI_COMM_WORLD);
				MPI_Recv(came, size, MPI_BYTE, peer, i, MPI_COMM_WORLD, &status);
				if (rank == second)
					MPI_Send(sent, size, MPI_BYTE, peer, i, MPI_COMM_WORLD);
				MPI_Get_count(&status, MPI_BYTE, &count);
				if ((size_t)count != size)
					complain("a message of %zu bytes has %d", size, count);
				compare("message", came, size, message(peer, rank, i), 0);
			}
		}
	}
	free(sent);
	free(came);
}

/* Many messages at once in both directions, to all, taken in another order than sent. */
static void crowd(void)
{
	MPI_Request *requests = calloc(2 * IN_FLIGHT, sizeof(*requests));
	uint8_t *sent[IN_FLIGHT], *came[IN_FLIGHT];

	NEED(requests != NULL);
	for (int i = 0; i < IN_FLIGHT; i++) {
		sent[i] = area(sizes[i % size_count]);
		came[i] = area(sizes[i % size_count]);
	}
	for (int peer = 0; peer < ranks; peer++) {
		int to = (rank + peer) % ranks, from = (rank - peer + ranks) % ranks;

		for (int i = 0; i < IN_FLIGHT; i++) {
			put_bytes(sent[i], sizes[i % size_count], message(rank, to, i), 3);
			MPI_Isend(sent[i], sizes[i % size_count], MPI_BYTE, to, i, MPI_COMM_WORLD,
				  &requests[i]);
		}
		for (int i = IN_FLIGHT - 1; i >= 0; i--) {
			clear(came[i], sizes[i % size_count]);
			MPI_Irecv(came[i], sizes[i % size_count], MPI_BYTE, from, i, MPI_COMM_WORLD,
				  &requests[IN_FLIGHT + i]);
		}
		MPI_Waitall(2 * IN_FLIGHT, requests, MPI_STATUSES_IGNORE);
		for (int i = 0; i < IN_FLIGHT; i++)
			compare("message of a crowd", came[i], sizes[i % size_count],
				message(from, rank, i), 3);
	}
	for (int i = 0; i < IN_FLIGHT; i++) {
		free(sent[i]);
		free(came[i]);
	}
	free(requests);
}

/* A message whose bytes lie apart, at the sender and, otherwise, at the receiver. */
static void scattered(void)
{
	enum { BLOCKS = 4096, BLOCK = 37, STRIDE = 64, BYTES = BLOCKS * BLOCK };
	uint8_t *sent = area(BLOCKS * STRIDE), *came = area(BYTES);
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	MPI_Datatype blocks;

	MPI_Type_vector(BLOCKS, BLOCK, STRIDE, MPI_BYTE, &blocks);
	MPI_Type_commit(&blocks);
	for (size_t i = 0; i < BLOCKS; i++)
		put_bytes(sent + i * STRIDE, BLOCK, message(rank, right, 1), i * BLOCK);
	clear(came, BYTES);
	MPI_Sendrecv(sent, 1, blocks, right, 1, came, BYTES, MPI_BYTE, left, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	compare("message from blocks", came, BYTES, message(left, rank, 1), 0);

	put_bytes(came, BYTES, message(rank, right, 2), 0);
	clear(sent, BLOCKS * STRIDE);
	MPI_Sendrecv(came, BYTES, MPI_BYTE, right, 2, sent, 1, blocks, left, 2, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	for (size_t i = 0; i < BLOCKS; i++) {
		size_t good = check_bytes(sent + i * STRIDE, BLOCK, message(left, rank, 2),
					  i * BLOCK);

		if (good < BLOCK)
			complain("byte %zu of block %zu is wrong", good, i);
		for (size_t gap = BLOCK; gap < STRIDE; gap++)
			if (sent[i * STRIDE + gap] != UNTOUCHED)
				complain("the gap behind block %zu was written", i);
		compared += BLOCK;
	}
	MPI_Type_free(&blocks);
	free(sent);
	free(came);
}

/* The sum over all ranks, in numbers that no rounding changes. */
static void sums(void)
{
	static const int counts[] = { 1, 7, 512, 8191, 262144 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		int64_t *mine = malloc(counts[i] * sizeof(*mine));
		int64_t *sum = malloc(counts[i] * sizeof(*sum));

		NEED(mine && sum);
		for (int place = 0; place < counts[i]; place++)
			mine[place] = (int64_t)(rank + 1) * (place + (int)(seed % 1000));
		MPI_Allreduce(mine, sum, counts[i], MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
		for (int place = 0; place < counts[i]; place++) {
			int64_t one = place + (int)(seed % 1000);
			int64_t want = (int64_t)ranks * (ranks + 1) / 2 * one;

			if (sum[place] != want)
				complain("sum %d of %d is %lld, not %lld", place, counts[i],
					 (long long)sum[place], (long long)want);
		}
		compared += counts[i] * sizeof(*sum);
		free(mine);
		free(sum);
	}
}

/* A message from each rank to each. */
static void all_to_all(void)
{
	for (int i = 0; i < size_count; i++) {
		size_t size = sizes[i] / ranks;
		uint8_t *sent = area(size * ranks), *came = area(size * ranks);

		clear(came, size * ranks);
		for (int to = 0; to < ranks; to++)
			put_bytes(sent + to * size, size, message(rank, to, i), 0);
		MPI_Alltoall(sent, size, MPI_BYTE, came, size, MPI_BYTE, MPI_COMM_WORLD);
		for (int from = 0; from < ranks; from++) {
			uint32_t number = message(from, rank, i);
			size_t good = check_bytes(came + from * size, size, number, 0);

			if (good < size)
				complain("byte %zu of %zu from rank %d to all", good, size, from);
		}
		compare("what lies behind", came + size * ranks, 0, 0, 0);
		compared += size * ranks;
		free(sent);
		free(came);
	}
}

/* Puts, gets and atomics in the memory of the next rank, which does not take part. */
static void one_sided(void)
{
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
	uint8_t *memory, *mine = area(LARGEST), *came = area(LARGEST);
	enum { WORDS = 2, ADDED = 500 };
	uint64_t *words;
	MPI_Win window, counters;

	MPI_Win_allocate(LARGEST + BEHIND, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
	for (int i = 0; i < size_count; i++) {
		size_t size = sizes[i];

		clear(memory, size);
		clear(came, size);
		put_bytes(mine, size, message(rank, right, i), 0);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
		MPI_Put(mine, size, MPI_BYTE, right, 0, size, MPI_BYTE, window);
		MPI_Win_flush(right, window);
		MPI_Get(came, size, MPI_BYTE, right, 0, size, MPI_BYTE, window);
		MPI_Win_unlock(right, window);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
		compare("what was put", memory, size, message(left, rank, i), 0);
		MPI_Win_unlock(rank, window);
		compare("what was got", came, size, message(rank, right, i), 0);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_free(&window);

	/* Everybody adds to the words of everybody. */
	MPI_Alloc_mem(WORDS * sizeof(*words), MPI_INFO_NULL, &words);
	memset(words, 0, WORDS * sizeof(*words));
	MPI_Win_create(words, WORDS * sizeof(*words), sizeof(*words), MPI_INFO_NULL, MPI_COMM_WORLD,
		       &counters);
	MPI_Win_lock_all(0, counters);
	for (int i = 0; i < ADDED; i++) {
		uint64_t one = 1, before, next;

		MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, i % ranks, 0, MPI_SUM, counters);
		MPI_Win_flush(i % ranks, counters);
		if (before >= (uint64_t)ranks * ADDED)
			complain("a counter was %llu", (unsigned long long)before);
		for (before = 0;;) {
			uint64_t found;

			next = before + 1;
			MPI_Compare_and_swap(&next, &before, &found, MPI_UINT64_T, i % ranks, 1,
					     counters);
			MPI_Win_flush(i % ranks, counters);
			if (found == before)
				break;
			before = found;
		}
	}
	MPI_Win_unlock_all(counters);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, counters);
	for (int word = 0; word < WORDS; word++) {
		uint64_t share = ADDED / ranks + (rank < ADDED % ranks);

		if (words[word] != share * ranks)
			complain("word %d is %llu, not %llu", word, (unsigned long long)words[word],
				 (unsigned long long)(share * ranks));
	}
	MPI_Win_unlock(rank, counters);
	MPI_Win_free(&counters);
	MPI_Free_mem(words);
	free(mine);
	free(came);
}

int main(int argc, char **argv)
{
	unsigned long long mine[2], all[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	NEED(argc == 2 && ranks > 1);
	seed = strtoul(argv[1], NULL, 0);
	make_bytes();
	choose_sizes();

	ping_pong();
	crowd();
	scattered();
	sums();
	all_to_all();
	one_sided();

	mine[0] = compared;
	mine[1] = wrong;
	MPI_Allreduce(mine, all, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks, %llu bytes compared, %llu wrong\n", ranks, all[0], all[1]);
	MPI_Finalize();
	return all[1] != 0;
}
