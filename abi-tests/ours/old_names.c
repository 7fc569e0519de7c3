/*
 * What the IBVERBS_1.0 interface of this library does better than the original's: members of the
 * wrappers that the original leaves without a value, a query of a queue pair without SRQ.
 *
 * usage: old_names DEVICE
 */
#include "v1_0.h"
#include "qp.h"
#include <dlfcn.h>

#define LOAD(name) *(void **)&v1.name = NEED(dlvsym(library, #name, "IBVERBS_1.0"));

int main(int argc, char **argv)
{
	void *library = NEED(dlopen("libibverbs.so.1", RTLD_NOW));
	struct device_1_0 **list, **at;
	struct context_1_0 *context;
	struct qp_init_attr_1_0 init;
	struct ibv_qp_attr attr;
	static char buffer[4096];
	struct pd_1_0 *pd;
	struct mr_1_0 *mr;
	struct cq_1_0 *cq;
	struct qp_1_0 *qp;

	start();
	if (argc != 2)
		return 2;
	LOAD(ibv_get_device_list);
	LOAD(ibv_get_device_name);
	LOAD(ibv_free_device_list);
	LOAD(ibv_open_device);
	LOAD(ibv_close_device);
	LOAD(ibv_alloc_pd);
	LOAD(ibv_dealloc_pd);
	LOAD(ibv_reg_mr);
	LOAD(ibv_dereg_mr);
	LOAD(ibv_create_cq);
	LOAD(ibv_resize_cq);
	LOAD(ibv_destroy_cq);
	LOAD(ibv_create_qp);
	LOAD(ibv_modify_qp);
	LOAD(ibv_query_qp);
	LOAD(ibv_destroy_qp);
	at = list = NEED(v1.ibv_get_device_list(NULL));
	while (*at && strcmp(v1.ibv_get_device_name(*at), argv[1]))
		at++;
	context = NEED(v1.ibv_open_device(NEED(*at)));
	v1.ibv_free_device_list(list);
	CHECK(context->cmd_fd == context->real->cmd_fd);
	CHECK(context->async_fd == context->real->async_fd);
	CHECK(context->num_comp_vectors == context->real->num_comp_vectors);
	pd = NEED(v1.ibv_alloc_pd(context));
	CHECK(pd->handle == pd->real->handle);
	mr = NEED(v1.ibv_reg_mr(pd, buffer, sizeof(buffer), 1));
	CHECK(mr->handle == mr->real->handle);
	cq = NEED(v1.ibv_create_cq(context, 10, NULL, NULL, 0));
	CHECK(cq->cqe == cq->real->cqe && cq->handle == cq->real->handle);
	CHECK(!v1.ibv_resize_cq(cq, 100));
	CHECK(cq->cqe == cq->real->cqe && cq->cqe >= 100);
	init = (struct qp_init_attr_1_0){
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	qp = NEED(v1.ibv_create_qp(pd, &init));
	CHECK(qp->state == IBV_QPS_RESET && qp->handle == qp->real->handle);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = 1 };
	CHECK(!v1.ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				IBV_QP_ACCESS_FLAGS));
	CHECK(qp->state == IBV_QPS_INIT);
	memset(&init, 0xa5, sizeof(init));
	CHECK(!v1.ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	CHECK(attr.qp_state == IBV_QPS_INIT && init.send_cq == cq && init.recv_cq == cq);
	CHECK(!init.srq && init.qp_type == IBV_QPT_RC && init.sq_sig_all == 1);
	CHECK(!v1.ibv_destroy_qp(qp) && !v1.ibv_destroy_cq(cq));
	CHECK(!v1.ibv_dereg_mr(mr) && !v1.ibv_dealloc_pd(pd) && !v1.ibv_close_device(context));
	return finish();
}
