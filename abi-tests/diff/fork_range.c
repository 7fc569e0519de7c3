/*
 * ibv_dontfork_range and ibv_dofork_range by themselves: counts per page, ranges that overlap in
 * every way, failures, huge pages. What the kernel was told is read from /proc/self/smaps.
 *
 * usage: fork_range [late|none|failure]; needs no device
 */
#include "fork.h"

enum { PAGES = 24, HUGE = 2 << 20 };

static char *memory;

static void step(const char *what, int (*call)(void *, size_t), size_t from, size_t length)
{
	char text[80];
	int ret;

	errno = 0;
	ret = call(memory + from, length);
	snprintf(text, sizeof(text), "%s %zu+%zu: %d%s%s", what, from, length, ret, ret ? " " : "",
		 ret ? error_name(errno) : "");
	show_pages(text, memory, PAGES, PAGE);
}

static void dont(size_t from, size_t length)
{
	step("dont", ibv_dontfork_range, from, length);
}

static void allow(size_t from, size_t length)
{
	step("do", ibv_dofork_range, from, length);
}

static void by_hand(void)
{
	section("by hand");
	MINUS("NULL", ibv_dontfork_range(NULL, PAGE));
	MINUS("NULL", ibv_dofork_range(NULL, PAGE));
	dont(0, 0);
	dont(10, 1);
	dont(PAGE - 1, 2);
	allow(10, 1);
	allow(PAGE - 1, 2);
	dont(2 * PAGE, 4 * PAGE);
	dont(3 * PAGE, PAGE);
	allow(2 * PAGE, 4 * PAGE);
	allow(3 * PAGE, PAGE);
	dont(2 * PAGE, 2 * PAGE);
	dont(4 * PAGE, 2 * PAGE);
	allow(2 * PAGE, 4 * PAGE);
	dont(0, PAGES * PAGE);
	dont(0, PAGES * PAGE);
	allow(8 * PAGE, PAGE);
	allow(8 * PAGE, PAGE);
	dont(8 * PAGE, PAGE);
	dont(8 * PAGE, PAGE);
	allow(0, PAGES * PAGE);
	allow(0, PAGES * PAGE);
}

/*
 * The last thing to be done: what the original's books say after a failure is of no use, so only
 * what is returned is looked at here. The state afterwards is in ours/fork_failures.c.
 */
static void failure(void)
{
	char *hole = memory + 10 * PAGE;

	section("a range that is not mapped");
	CHECK(!munmap(hole, PAGE));
	MINUS("dont", ibv_dontfork_range(memory + 8 * PAGE, 4 * PAGE));
}

/* The same random steps in every run, compared with a count per page kept here. */
static void at_random(void)
{
	int count[PAGES] = { 0 };
	struct {
		size_t from, length;
	} held[64];
	unsigned seed = 12345, n = 0, wrong = 0;
	char flags[PAGES + 1];

	section("at random");
	for (int round = 0; round < 1500; round++) {
		seed = seed * 1103515245 + 12345;
		unsigned a = seed >> 8;
		bool add = n == 0 || (n < 64 && a & 1);
		size_t from, length;

		if (add) {
			from = a / 2 % (PAGES * PAGE);
			length = 1 + (a / 7) % (PAGES * PAGE - from);
			held[n].from = from;
			held[n++].length = length;
			CHECK(!ibv_dontfork_range(memory + from, length));
		} else {
			unsigned which = a / 2 % n;

			from = held[which].from;
			length = held[which].length;
			held[which] = held[--n];
			CHECK(!ibv_dofork_range(memory + from, length));
		}
		for (size_t i = from / PAGE; i <= (from + length - 1) / PAGE; i++)
			count[i] += add ? 1 : -1;
		if (round % 10)
			continue;
		page_flags(memory, PAGES, PAGE, flags);
		for (int i = 0; i < PAGES; i++)
			wrong += flags[i] != (count[i] > 0 ? 'D' : '.');
	}
	printf("%u pages not as counted\n", wrong);
	while (n) {
		n--;
		CHECK(!ibv_dofork_range(memory + held[n].from, held[n].length));
	}
	show_pages("all allowed", memory, PAGES, PAGE);
}

static void *hammer(void *argument)
{
	char *mine = argument;

	for (int i = 0; i < 300; i++) {
		CHECK(!ibv_dontfork_range(mine, 3 * PAGE));
		CHECK(!ibv_dontfork_range(memory, PAGES * PAGE));
		CHECK(!ibv_dofork_range(mine, 3 * PAGE));
		CHECK(!ibv_dofork_range(memory, PAGES * PAGE));
	}
	return NULL;
}

static void threads(void)
{
	pthread_t thread[4];

	section("threads");
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&thread[i], NULL, hammer, memory + 5 * i * PAGE));
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	show_pages("afterwards", memory, PAGES, PAGE);
}

static void huge_pages(void)
{
	char *huge = mmap(NULL, 3 * HUGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	section("huge pages");
	if (huge == MAP_FAILED) {
		printf("none: %s\n", error_name(errno));
		return;
	}
	memset(huge, 1, 3 * HUGE);
	show_pages("at first", huge, 3, HUGE);
	MINUS("a byte", ibv_dontfork_range(huge + 100, 1));
	show_pages("a byte in 0", huge, 3, HUGE);
	if (!getenv("RDMAV_HUGEPAGES_SAFE"))
		return;
	MINUS("from 0 to 1", ibv_dontfork_range(huge + HUGE - 10, 20));
	show_pages("from 0 to 1", huge, 3, HUGE);
	MINUS("the byte again", ibv_dofork_range(huge + 100, 1));
	show_pages("the byte again", huge, 3, HUGE);
	MINUS("all of 2", ibv_dontfork_range(huge + 2 * HUGE, HUGE));
	show_pages("all of 2", huge, 3, HUGE);
	MINUS("undo", ibv_dofork_range(huge + HUGE - 10, 20));
	MINUS("undo", ibv_dofork_range(huge + 2 * HUGE, HUGE));
	show_pages("none", huge, 3, HUGE);
	munmap(huge, 3 * HUGE);
}

int main(int argc, char **argv)
{
	start();
	forbid_rdma_netlink();
	memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	printf("at first: %s\n", fork_status());
	if (argc > 1 && !strcmp(argv[1], "late"))
		dont(0, PAGE);
	if (argc == 1 || strcmp(argv[1], "none"))
		ERR("fork_init", ibv_fork_init());
	printf("then: %s\n", fork_status());
	by_hand();
	if (argc == 1) {
		at_random();
		threads();
	}
	ERR("fork_init again", ibv_fork_init());
	if (argc > 1 && !strcmp(argv[1], "failure"))
		failure();
	else
		huge_pages();
	return finish();
}
