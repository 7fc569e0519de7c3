/*
 * Fork support as programs use it: before the first device list, after it, after a registration,
 * by the environment; what a child sees of registered memory.
 *
 * usage: fork_verbs DEVICE early|between|late|never [nonetlink]
 */
#include "fork.h"
#include "qp.h"

static char *memory;

int main(int argc, char **argv)
{
	const char *when;
	struct ibv_device **list;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *a, *b, *c;

	start();
	if (argc < 3)
		return 2;
	when = argv[2];
	if (argc > 3)
		forbid_rdma_netlink();
	memory = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(memory, 7, 8 * PAGE);
	printf("at the start: %s\n", fork_status());
	if (!strcmp(when, "early"))
		ERR("fork_init", ibv_fork_init());
	printf("before the list: %s\n", fork_status());
	list = NEED(ibv_get_device_list(NULL));
	printf("after the list: %s\n", fork_status());
	if (!strcmp(when, "between"))
		ERR("fork_init", ibv_fork_init());
	context = NEED(ibv_open_device(NEED(find_device(list, argv[1]))));
	ibv_free_device_list(list);
	pd = NEED(ibv_alloc_pd(context));
	a = NEED(ibv_reg_mr(pd, memory + 100, 100, 1));
	if (!strcmp(when, "late"))
		ERR("fork_init", ibv_fork_init());
	printf("after a registration: %s\n", fork_status());
	show_pages("MR in page 0", memory, 8, PAGE);
	b = NEED(ibv_reg_mr(pd, memory + PAGE - 8, 2 * PAGE, 1));
	show_pages("and in 0 to 2", memory, 8, PAGE);
	c = NEED(ibv_reg_mr(pd, memory, PAGE, 1));
	show_pages("and in 0 again", memory, 8, PAGE);
	show_child("registered", memory);
	show_child("not registered", memory + 4 * PAGE);
	PTR("registration that fails", ibv_reg_mr(pd, memory + 5 * PAGE, PAGE, 1 << 15));
	show_pages("and leaves page 5 alone", memory, 8, PAGE);
	CHECK(!ibv_dereg_mr(b));
	show_pages("second gone", memory, 8, PAGE);
	CHECK(!ibv_dereg_mr(a));
	show_pages("first gone", memory, 8, PAGE);
	CHECK(!ibv_dereg_mr(c));
	show_pages("all gone", memory, 8, PAGE);
	show_child("no longer registered", memory);

	/* On-demand regions need no protection. */
	a = ibv_reg_mr(pd, memory, PAGE, 1 | IBV_ACCESS_ON_DEMAND);
	show_pages("on demand in page 0", memory, 8, PAGE);
	if (a)
		CHECK(!ibv_dereg_mr(a));
	struct ibv_mr_init_attr attr = { .comp_mask = IBV_REG_MR_MASK_ADDR, .addr = memory + PAGE,
					 .length = PAGE, .access = 1 };
	a = NEED(ibv_reg_mr_ex(pd, &attr));
	show_pages("reg_mr_ex in page 1", memory, 8, PAGE);
	CHECK(!ibv_dereg_mr(a));
	a = NEED(ibv_reg_mr_iova(pd, memory + 2 * PAGE, PAGE, 0, 1));
	show_pages("reg_mr_iova in page 2", memory, 8, PAGE);
	MINUS("rereg_mr", ibv_rereg_mr(a, 1, NULL, memory + 6 * PAGE, PAGE, 0));
	show_pages("and a failed move to page 6", memory, 8, PAGE);
	CHECK(!ibv_dereg_mr(a));
	show_pages("none", memory, 8, PAGE);

	/* Queues of the device are not for children either. */
	struct ibv_cq *cq = NEED(ibv_create_cq(context, 16, NULL, NULL, 0));
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, NULL);
	struct ibv_qp *qp = NEED(ibv_create_qp(pd, &init));

	ERR("fork_init again", ibv_fork_init());
	printf("at the end: %s\n", fork_status());
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_cq(cq));
	CHECK(!ibv_dealloc_pd(pd));
	CHECK(!ibv_close_device(context));
	return finish();
}
