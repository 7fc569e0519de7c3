/*
 * What the programs here share: two processes, each pinned to a CPU, with some memory between them.
 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include "need.h"

/* Two lines each: the processor fetches lines in pairs. */
#define ALONE _Alignas(128)

/* The page between the two processes. */
struct between {
	/* Counters, each written by one side. */
	ALONE _Atomic uint64_t there;
	ALONE _Atomic uint64_t back;
	ALONE _Atomic bool stop;
	/* The number of the last round trip, once that is known. */
	ALONE _Atomic uint64_t last_turn;
	/* How many barriers each side has reached. */
	ALONE _Atomic uint32_t arrived[2];
	/* What each side tells the other before the start. */
	char told[2][512];
};

static struct between *between;
/* 0 for the requester, which is the parent, 1 for the responder. */
static int side;
static pid_t partner;
static int cpus[2];
static double duration;

static inline double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static inline void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	NEED(memory != MAP_FAILED);
	return memory;
}

/* Memory of this process, written once so that the pages are its own. */
static inline void *ordinary_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	NEED(memory != MAP_FAILED);
	memset(memory, 1, size);
	return memory;
}

/* Ends this process when the other one failed. */
static inline void ended(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (info->si_code != CLD_EXITED || info->si_status)
		_exit(1);
}

/* Starts the second process; from here on each is on its own CPU. */
static inline void split(void)
{
	struct sigaction action = { .sa_sigaction = ended, .sa_flags = SA_SIGINFO | SA_RESTART };
	cpu_set_t set;

	between = shared_memory(sizeof(*between));
	atomic_store(&between->last_turn, UINT64_MAX);
	NEED(!sigaction(SIGCHLD, &action, NULL));
	partner = getpid();
	pid_t child = fork();

	NEED(child >= 0);
	if (child) {
		partner = child;
	} else {
		side = 1;
		signal(SIGCHLD, SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
	CPU_ZERO(&set);
	CPU_SET(cpus[side], &set);
	NEED(!sched_setaffinity(0, sizeof(set), &set));
}

/* Waits for the other process, without a system call. */
static inline void barrier(void)
{
	uint32_t mine = atomic_fetch_add(&between->arrived[side], 1) + 1;

	while ((int32_t)(atomic_load(&between->arrived[!side]) - mine) < 0)
		__builtin_ia32_pause();
}

/* The responder ends; the requester waits for that, so that nothing is left over. */
static inline void join(void)
{
	int status;

	if (side)
		_exit(0);
	signal(SIGCHLD, SIG_DFL);
	NEED(waitpid(partner, &status, 0) == partner);
	NEED(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* Times of batches of round trips, of which the median counts: what interrupts some is left out. */
enum { BATCH = 50, BATCHES = 1 << 16 };
static double batches[BATCHES];

static inline int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double median_batch(int count)
{
	qsort(batches, count, sizeof(batches[0]), by_value);
	return batches[count / 2];
}

/*
 * Runs `turn` in batches until the time is over, and prints the microseconds of one way: half of
 * the median turn. The other side runs ANSWERS.
 */
#define ROUND_TRIPS(turn)                                                                          \
	do {                                                                                       \
		uint64_t turns_ = 0;                                                               \
		int count_ = 0;                                                                    \
		double begin_ = seconds(), before_ = begin_, now_ = begin_;                        \
		while (count_ < BATCHES && now_ - begin_ < duration) {                             \
			for (int i_ = 0; i_ < BATCH; i_++, turns_++)                               \
				turn;                                                              \
			now_ = seconds();                                                          \
			batches[count_++] = now_ - before_;                                        \
			before_ = now_;                                                            \
		}                                                                                  \
		atomic_store(&between->last_turn, turns_ + 1);                                     \
		turn;                                                                              \
		printf("%.4f\n", median_batch(count_) / BATCH / 2 * 1e6);                          \
	} while (0)

/* The other side: as often as ROUND_TRIPS runs, whose last turn comes after it says so. */
#define ANSWERS(turn)                                                                              \
	for (uint64_t turns_ = 0;                                                                  \
	     turns_ < atomic_load_explicit(&between->last_turn, memory_order_acquire); turns_++)   \
		turn

/*
 * Where the transfers of a bandwidth test go, one after the other, in all programs alike: as much
 * memory as makes up 16 of the small and 4 of the large ones.
 */
static inline size_t places(size_t size)
{
	return size >= 1 << 20 ? 4 : 16;
}

#endif
