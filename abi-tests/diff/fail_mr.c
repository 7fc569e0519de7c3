/*
 * Memory regions: what is registered, and what must be refused, by every entry point.
 *
 * usage: fail_mr DEVICE
 */
#include "qp.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

static struct port port;
static char *memory;
enum { SIZE = 16384 };

static void drop(struct ibv_mr *mr)
{
	if (mr)
		CHECK(!ibv_dereg_mr(mr));
}

/* Checks and shows what a new region says about itself. */
static void show(struct ibv_mr *mr, void *addr, size_t length)
{
	if (!mr)
		return;
	CHECK(mr->context == port.context && mr->pd == port.pd);
	printf("  addr %s length %zu keys %s\n",
	       mr->addr == addr ? "as given" : mr->addr ? "other" : "NULL", mr->length,
	       mr->lkey && mr->rkey ? "lkey rkey" : mr->lkey ? "lkey" : "none");
	CHECK(mr->length == length);
	drop(mr);
}

static void plain(void)
{
	char what[80];

	section("reg_mr by access flags");
	for (int access = 0; access < 1024; access = access < 32 ? access + 1 : access * 2) {
		snprintf(what, sizeof(what), "access 0x%x", access);
		show(PTR(what, ibv_reg_mr(port.pd, memory, SIZE, access)), memory, SIZE);
	}
	for (int bit = 10; bit < 32; bit++) {
		unsigned access = IBV_ACCESS_LOCAL_WRITE | 1U << bit;

		snprintf(what, sizeof(what), "access 0x%x", access);
		show(PTR(what, (ibv_reg_mr)(port.pd, memory, SIZE, access)), memory, SIZE);
		snprintf(what, sizeof(what), "iova2 access 0x%x", access);
		show(PTR(what, ibv_reg_mr_iova2(port.pd, memory, SIZE, (uintptr_t)memory, access)),
		     memory, SIZE);
	}

	section("reg_mr by range");
	show(PTR("no length", ibv_reg_mr(port.pd, memory, 0, 1)), memory, 0);
	show(PTR("one byte", ibv_reg_mr(port.pd, memory + 5, 1, 1)), memory + 5, 1);
	show(PTR("NULL, a page", ibv_reg_mr(port.pd, NULL, 4096, 1)), NULL, 4096);
	show(PTR("NULL, nothing", ibv_reg_mr(port.pd, NULL, 0, 1)), NULL, 0);
	show(PTR("over the end", ibv_reg_mr(port.pd, memory, SIZE + 4096, 1)), memory, SIZE + 4096);
	show(PTR("round the end", ibv_reg_mr(port.pd, (void *)-4096L, 8192, 1)), (void *)-4096L, 8192);
	show(PTR("everything", ibv_reg_mr(port.pd, NULL, SIZE_MAX, 1)), NULL, SIZE_MAX);
	show(PTR("everything from 1 on", ibv_reg_mr(port.pd, memory, SIZE_MAX, 1)), memory,
	     SIZE_MAX);
	show(PTR("implicit", ibv_reg_mr(port.pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND)), NULL,
	     SIZE_MAX);
	show(PTR("implicit with address",
		 ibv_reg_mr(port.pd, memory, SIZE_MAX, IBV_ACCESS_ON_DEMAND)), memory, SIZE_MAX);
	show(PTR("on demand", ibv_reg_mr(port.pd, memory, SIZE, IBV_ACCESS_ON_DEMAND)), memory,
	     SIZE);

	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	show(PTR("read-only, local read", ibv_reg_mr(port.pd, page, 4096, 0)), page, 4096);
	show(PTR("read-only, local write", ibv_reg_mr(port.pd, page, 4096, 1)), page, 4096);
	munmap(page, 4096);
	show(PTR("not mapped", ibv_reg_mr(port.pd, page, 4096, 1)), page, 4096);
}

static void iova(void)
{
	section("reg_mr_iova");
	show(PTR("iova 0", ibv_reg_mr_iova(port.pd, memory, SIZE, 0, 1)), memory, SIZE);
	show(PTR("same offset", ibv_reg_mr_iova(port.pd, memory + 8, 100, 0x10008, 1)), memory + 8,
	     100);
	show(PTR("other offset", ibv_reg_mr_iova(port.pd, memory + 8, 100, 0x10000, 1)),
	     memory + 8, 100);
	show(PTR("last page", ibv_reg_mr_iova(port.pd, memory, 4096, -4096UL, 1)), memory, 4096);
	show(PTR("round the end", ibv_reg_mr_iova(port.pd, memory, 8192, -4096UL, 1)), memory,
	     8192);
	show(PTR("zero based, iova", ibv_reg_mr_iova(port.pd, memory, 4096, 0x1000,
						     IBV_ACCESS_ZERO_BASED)), memory, 4096);
	show(PTR("zero based", ibv_reg_mr_iova(port.pd, memory, 4096, 0, IBV_ACCESS_ZERO_BASED)),
	     memory, 4096);
}

static void dmabuf(void)
{
	int null = NEED(open("/dev/null", O_RDWR));
	int fd = NEED(memfd_create("m", 0));

	section("reg_dmabuf_mr");
	CHECK(!ftruncate(fd, SIZE));
	show(PTR("fd -1", ibv_reg_dmabuf_mr(port.pd, 0, SIZE, 0, -1, 1)), NULL, SIZE);
	show(PTR("/dev/null", ibv_reg_dmabuf_mr(port.pd, 0, SIZE, 0, null, 1)), NULL, SIZE);
	show(PTR("memfd", ibv_reg_dmabuf_mr(port.pd, 0, SIZE, 0, fd, 1)), NULL, SIZE);
	show(PTR("bad access", ibv_reg_dmabuf_mr(port.pd, 0, SIZE, 0, fd, 1 << 15)), NULL, SIZE);
	close(fd);
	close(null);
}

struct attempt {
	const char *what;
	struct ibv_mr_init_attr attr;
};

static void extended(void)
{
	enum {
		IOVA = IBV_REG_MR_MASK_IOVA, ADDR = IBV_REG_MR_MASK_ADDR, FD = IBV_REG_MR_MASK_FD,
		OFFSET = IBV_REG_MR_MASK_FD_OFFSET, DMAH = IBV_REG_MR_MASK_DMAH,
		BUF = IBV_REG_MR_MASK_BUF,
	};
	int fd = NEED(memfd_create("m", 0));
	struct ibv_dmah *dmah = (void *)memory;
	struct attempt attempts[] = {
		{ "nothing", { .length = SIZE, .addr = memory } },
		{ "addr", { .comp_mask = ADDR, .addr = memory, .length = SIZE, .access = 1 } },
		{ "addr, garbage in the rest",
		  { .comp_mask = ADDR, .addr = memory, .length = SIZE, .access = 1, .iova = 77,
		    .fd = 12345, .fd_offset = 99, .dmah = dmah, .buf = (void *)memory } },
		{ "addr iova", { .comp_mask = ADDR | IOVA, .addr = memory, .length = SIZE,
				 .access = 1, .iova = 0x100000 } },
		{ "iova alone", { .comp_mask = IOVA, .addr = memory, .length = SIZE, .access = 1 } },
		{ "addr offset", { .comp_mask = ADDR | OFFSET, .addr = memory, .length = SIZE } },
		{ "fd", { .comp_mask = FD, .fd = fd, .length = SIZE } },
		{ "fd offset", { .comp_mask = FD | OFFSET, .fd = fd, .length = SIZE } },
		{ "fd iova", { .comp_mask = FD | IOVA, .fd = fd, .length = SIZE } },
		{ "fd offset iova", { .comp_mask = FD | OFFSET | IOVA, .fd = fd, .length = SIZE } },
		{ "fd -1 offset iova",
		  { .comp_mask = FD | OFFSET | IOVA, .fd = -1, .length = SIZE } },
		{ "fd addr", { .comp_mask = FD | ADDR | OFFSET | IOVA, .fd = fd, .addr = memory,
			       .length = SIZE } },
		{ "offset alone", { .comp_mask = OFFSET, .length = SIZE } },
		{ "buf NULL", { .comp_mask = BUF, .length = SIZE } },
		{ "buf NULL addr", { .comp_mask = BUF | ADDR, .addr = memory, .length = SIZE } },
		{ "future bit 6", { .comp_mask = ADDR | 1 << 6, .addr = memory, .length = SIZE } },
		{ "future bit 63",
		  { .comp_mask = ADDR | 1ULL << 63, .addr = memory, .length = SIZE } },
		{ "all bits", { .comp_mask = -1ULL, .addr = memory, .length = SIZE } },
		{ "access bit 15", { .comp_mask = ADDR, .addr = memory, .length = SIZE,
				     .access = 1 << 15 } },
		{ "optional access", { .comp_mask = ADDR, .addr = memory, .length = SIZE,
				       .access = 1 | IBV_ACCESS_RELAXED_ORDERING } },
		{ "optional access of the future", { .comp_mask = ADDR, .addr = memory,
			.length = SIZE, .access = 1 | 1 << 29 } },
		{ "on demand everything", { .comp_mask = ADDR, .length = SIZE_MAX,
					    .access = IBV_ACCESS_ON_DEMAND } },
		{ "no length", { .comp_mask = ADDR, .addr = memory, .access = 1 } },
	};

	section("reg_mr_ex");
	for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
		struct ibv_mr_init_attr *attr = &attempts[i].attr, copy = *attr;

		/* The buffer handle is looked into, so there has to be one. */
		if (attr->comp_mask & BUF && attr->comp_mask != -1ULL)
			continue;
		if (attr->comp_mask == -1ULL)
			attr->comp_mask &= ~(uint64_t)BUF, copy = *attr;
		show(PTR(attempts[i].what, ibv_reg_mr_ex(port.pd, attr)), attr->addr, attr->length);
		CHECK(!memcmp(&copy, attr, sizeof(copy)));
	}
	close(fd);
}

static void rereg(void)
{
	struct ibv_mr *mr = NEED(ibv_reg_mr(port.pd, memory, 4096, 1));
	struct ibv_pd *pd = NEED(ibv_alloc_pd(port.context));
	char *other = memory + 4096;

	section("rereg_mr");
	MINUS("no flags", ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0));
	MINUS("unknown flag", ibv_rereg_mr(mr, 8, NULL, NULL, 0, 0));
	MINUS("all flags", ibv_rereg_mr(mr, -1, pd, other, 4096, 1));
	MINUS("translation without address", ibv_rereg_mr(mr, 1, NULL, NULL, 4096, 0));
	MINUS("translation without length", ibv_rereg_mr(mr, 1, NULL, other, 0, 0));
	MINUS("access without its flag", ibv_rereg_mr(mr, 2, pd, NULL, 0, 1));
	MINUS("access", ibv_rereg_mr(mr, 4, NULL, NULL, 0, IBV_ACCESS_REMOTE_READ));
	CHECK(mr->pd == port.pd && mr->addr == memory && mr->length == 4096);
	MINUS("bad access", ibv_rereg_mr(mr, 4, NULL, NULL, 0, 1 << 15));
	MINUS("pd", ibv_rereg_mr(mr, 2, pd, NULL, 0, 0));
	printf("pd %s\n", mr->pd == pd ? "new" : "old");
	MINUS("translation", ibv_rereg_mr(mr, 1, NULL, other, 4096, 0));
	printf("addr %s\n", mr->addr == other ? "new" : mr->addr == memory ? "old" : "?");
	MINUS("translation to nowhere", ibv_rereg_mr(mr, 1, NULL, (void *)4096, 4096, 0));
	ERR("dereg", ibv_dereg_mr(mr));
	ERR("dealloc_pd", ibv_dealloc_pd(pd));
}

static void advise(void)
{
	/* On demand: other regions make some kernels' rxe fall over. */
	struct ibv_mr *mr = NEED(ibv_reg_mr(port.pd, memory, SIZE, 1 | IBV_ACCESS_ON_DEMAND));
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = SIZE, .lkey = mr->lkey };

	section("advise_mr");
	for (unsigned advice = 0; advice < 4; advice++) {
		printf("%u ", advice);
		ERR("flush", ibv_advise_mr(port.pd, advice, 1, &sge, 1));
		ERR("no flags", ibv_advise_mr(port.pd, advice, 0, &sge, 1));
	}
	ERR("unknown advice", ibv_advise_mr(port.pd, 1000, 0, &sge, 1));
	ERR("unknown flag", ibv_advise_mr(port.pd, 0, 1 << 20, &sge, 1));
	ERR("no entries", ibv_advise_mr(port.pd, 0, 0, &sge, 0));
	ERR("NULL", ibv_advise_mr(port.pd, 0, 0, NULL, 0));
	sge.lkey ^= 0xffff;
	ERR("wrong key", ibv_advise_mr(port.pd, 0, 1, &sge, 1));
	drop(mr);
}

static void other(void)
{
	struct ibv_mr *mr;

	section("other regions");
	show(PTR("import_mr", ibv_import_mr(port.pd, 0)), NULL, 0);
	mr = PTR("alloc_null_mr", ibv_alloc_null_mr(port.pd));
	drop(mr);
}

static void limits(void)
{
	struct rlimit limit, none = { 0, 0 };
	struct ibv_mr *mr;

	/* The super user may lock as much as wanted; another user may not. */
	section("memory lock limit");
	CHECK(!getrlimit(RLIMIT_MEMLOCK, &limit));
	none.rlim_max = limit.rlim_max;
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &none));
	mr = PTR("root", ibv_reg_mr(port.pd, memory, SIZE, 1));
	drop(mr);
	CHECK(!seteuid(65534));
	mr = PTR("nobody", ibv_reg_mr(port.pd, memory, SIZE, 1));
	drop(mr);
	CHECK(!seteuid(0));
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
}

int main(int argc, char **argv)
{
	start();
	if (argc != 2)
		return 2;
	memory = mmap(NULL, SIZE + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(memory + SIZE, 4096);
	open_port(&port, argv[1]);
	plain();
	iova();
	dmabuf();
	extended();
	rereg();
	advise();
	other();
	limits();
	close_port(&port);
	return finish();
}
