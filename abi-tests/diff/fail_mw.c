/*
 * Memory windows: the rules of ibv_bind_mw and of allocation, and what is left unchanged.
 *
 * usage: fail_mw DEVICE
 */
#include "qp.h"

static struct port port;
static struct ibv_cq *cq;
static char buffer[8192];

static void allocate(void)
{
	section("alloc_mw");
	for (int type = -1; type < 5; type++) {
		struct ibv_mw *mw;
		char what[20];

		snprintf(what, sizeof(what), "type %d", type);
		mw = PTR(what, ibv_alloc_mw(port.pd, type));
		if (mw) {
			CHECK(mw->pd == port.pd && mw->context == port.context);
			printf("  type %d\n", mw->type);
			ERR("dealloc", ibv_dealloc_mw(mw));
		}
	}
}

static struct ibv_qp *make(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = qp_init(type, cq, NULL);

	return NEED(ibv_create_qp(port.pd, &init));
}

/*
 * Binds a new window on a new QP, and waits for the completion if there is to be one. New, because
 * a bind that fails later leaves the key of the library another one than the kernel's.
 */
static void attempt(const char *what, enum ibv_qp_type type, enum ibv_mw_type mw_type,
		    struct ibv_mw_bind bind)
{
	struct ibv_mw *mw = NEED(ibv_alloc_mw(port.pd, mw_type));
	struct ibv_qp *qp = make(type);
	uint32_t before = mw->rkey;
	struct ibv_wc wc;

	connect_qp(qp, &port, qp->qp_num);
	if (ERR(what, ibv_bind_mw(qp, mw, &bind))) {
		CHECK(mw->rkey == before);
	} else {
		CHECK(mw->rkey != before && mw->rkey >> 8 == before >> 8);
		NEED(poll_for(cq, 1, &wc) == 1);
		CHECK(wc.wr_id == bind.wr_id && wc.qp_num == qp->qp_num);
		printf("  completion: %s\n", ibv_wc_status_str(wc.status));
		if (wc.status == IBV_WC_SUCCESS) {
			printf("  opcode %d\n", wc.opcode);
			ERR("  dereg_mr, bound", ibv_dereg_mr(bind.bind_info.mr));
		}
	}
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_dealloc_mw(mw));
}

static void bind(void)
{
	enum ibv_mw_type one = IBV_MW_TYPE_1, two = IBV_MW_TYPE_2;
	struct ibv_mw *mw = NEED(ibv_alloc_mw(port.pd, one));
	struct ibv_pd *other_pd = NEED(ibv_alloc_pd(port.context));
	struct ibv_mr *mr = NEED(ibv_reg_mr(port.pd, buffer, sizeof(buffer), ALL_ACCESS));
	struct ibv_mr *no_bind = NEED(ibv_reg_mr(port.pd, buffer, sizeof(buffer),
						 IBV_ACCESS_LOCAL_WRITE));
	struct ibv_mr *no_write = NEED(ibv_reg_mr(port.pd, buffer, sizeof(buffer),
						  IBV_ACCESS_MW_BIND | IBV_ACCESS_REMOTE_READ));
	struct ibv_mr *other = NEED(ibv_reg_mr(other_pd, buffer, sizeof(buffer), ALL_ACCESS));
	struct ibv_mw_bind good = { .wr_id = 77, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = mr, .addr = (uintptr_t)buffer, .length = 4096,
			       .mw_access_flags = IBV_ACCESS_REMOTE_READ } }, b;
	struct ibv_qp *reset = make(IBV_QPT_RC);

	section("bind_mw");
	ERR("in RESET", ibv_bind_mw(reset, mw, &good));
	CHECK(!ibv_dealloc_mw(mw));
	CHECK(!ibv_destroy_qp(reset));
	attempt("window of type 2", IBV_QPT_RC, two, good);
	b = good;
	b.bind_info.mr = NULL;
	attempt("no region, but a range", IBV_QPT_RC, one, b);
	b.bind_info.length = 0;
	attempt("no region, but an address", IBV_QPT_RC, one, b);
	b.bind_info.length = 1;
	b.bind_info.addr = 0;
	attempt("no region, but a length", IBV_QPT_RC, one, b);
	b = good;
	b.bind_info.mr = other;
	attempt("region of another PD", IBV_QPT_RC, one, b);
	b = good;
	b.bind_info.mw_access_flags = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_READ;
	attempt("zero based", IBV_QPT_RC, one, b);
	attempt("UD", IBV_QPT_UD, one, good);
	b = good;
	b.bind_info.mr = no_bind;
	attempt("region without MW_BIND", IBV_QPT_RC, one, b);
	b.bind_info.mr = no_write;
	b.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE;
	attempt("write without the region's", IBV_QPT_RC, one, b);
	b = good;
	b.bind_info.addr -= 1;
	attempt("before the region", IBV_QPT_RC, one, b);
	b = good;
	b.bind_info.length = sizeof(buffer) + 1;
	attempt("longer than the region", IBV_QPT_RC, one, b);
	b = good;
	b.bind_info.mw_access_flags = IBV_ACCESS_LOCAL_WRITE;
	attempt("local access", IBV_QPT_RC, one, b);
	b.bind_info.mw_access_flags = 1 << 30;
	attempt("unknown access", IBV_QPT_RC, one, b);
	b = good;
	b.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE | IBV_SEND_SOLICITED;
	attempt("flags of a send", IBV_QPT_RC, one, b);
	b.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	attempt("fence", IBV_QPT_RC, one, b);
	attempt("UC", IBV_QPT_UC, one, good);
	attempt("as it should be", IBV_QPT_RC, one, good);
	ERR("dereg_mr", ibv_dereg_mr(mr));
	CHECK(!ibv_dereg_mr(no_bind) && !ibv_dereg_mr(no_write) && !ibv_dereg_mr(other));
	CHECK(!ibv_dealloc_pd(other_pd));
}

int main(int argc, char **argv)
{
	start();
	if (argc != 2)
		return 2;
	open_port(&port, argv[1]);
	cq = NEED(ibv_create_cq(port.context, 64, NULL, NULL, 0));
	allocate();
	bind();
	CHECK(!ibv_destroy_cq(cq));
	close_port(&port);
	return finish();
}
