/*
 * Fork support after failures: a range that cannot be excluded changes nothing, here or in the
 * kernel, nor does one that wraps round the end of memory. The original's books are wrong
 * afterwards, so this is for this library alone. Needs no device.
 */
#include "fork.h"

enum { PAGES = 16 };

static char *memory;

static void expect(const char *flags)
{
	char found[PAGES + 1];

	page_flags(memory, PAGES, PAGE, found);
	if (strcmp(found, flags)) {
		printf("found    %s\nexpected %s\n", found, flags);
		failed_checks++;
	}
}

int main(void)
{
	start();
	forbid_rdma_netlink();
	CHECK(!ibv_fork_init());
	memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	CHECK(!munmap(memory + 10 * PAGE, PAGE));
	expect("..........?.....");

	/* Over the hole: nothing of it stays. */
	errno = 0;
	CHECK(ibv_dontfork_range(memory + 8 * PAGE, 4 * PAGE) == -1 && errno == ENOMEM);
	expect("..........?.....");
	CHECK(ibv_dontfork_range(memory + 10 * PAGE, PAGE) == -1);
	expect("..........?.....");

	/* What was excluded before stays so, and its count is right. */
	CHECK(!ibv_dontfork_range(memory + 8 * PAGE, PAGE));
	CHECK(!ibv_dontfork_range(memory + 11 * PAGE, 2 * PAGE));
	expect("........D.?DD...");
	CHECK(ibv_dontfork_range(memory + 7 * PAGE, 6 * PAGE) == -1);
	expect("........D.?DD...");
	CHECK(!ibv_dofork_range(memory + 8 * PAGE, PAGE));
	CHECK(!ibv_dofork_range(memory + 11 * PAGE, 2 * PAGE));
	expect("..........?.....");

	/* Memory that went away while it was excluded is none to care about. */
	CHECK(!ibv_dontfork_range(memory, 4 * PAGE));
	CHECK(!munmap(memory + PAGE, PAGE));
	CHECK(!ibv_dofork_range(memory, 4 * PAGE));
	expect(".?........?.....");

	/* What no memory can be is left to the kernel, which refuses to register it. */
	CHECK(!ibv_dontfork_range((void *)-(uintptr_t)PAGE, 3 * PAGE));
	CHECK(!ibv_dontfork_range(memory, SIZE_MAX));
	expect(".?........?.....");
	CHECK(!ibv_dofork_range((void *)-(uintptr_t)PAGE, 3 * PAGE));
	CHECK(!ibv_dontfork_range(memory + 2 * PAGE, 5 * PAGE));
	expect(".?DDDDD...?.....");
	CHECK(!ibv_dofork_range(memory + 2 * PAGE, 5 * PAGE));
	expect(".?........?.....");
	return finish();
}
