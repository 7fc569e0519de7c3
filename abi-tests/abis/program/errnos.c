/*
 * What a verb gives when the kernel refuses its command: the error number of the kernel, in the form
 * of the verb. Each row prints "reached", the function and the error, or what was wrong.
 *
 * The errors of a row are those that the manual page lists and that the kernel's part of RDMA, or
 * one of its drivers, answers with.
 */
#include "program.h"
#include <limits.h>

/* What a call gave while the kernel answered with `wanted`. */
static void row(const char *call, int wanted, bool failed, int got)
{
	int length = strcspn(call + (*call == '('), "(),");

	if (failed && got == wanted)
		say("reached %.*s %s", length, call + (*call == '('), error_text(wanted));
	else
		say("CHECK: %s with %s: %s", call, error_text(wanted),
		    failed ? error_text(got) : "did not fail");
}

/* Runs a call once for each error number, while the kernel answers with that. */
#define EACH(returned, failed, got, call, ...)                                                     \
	do {                                                                                       \
		const int errors_[] = { __VA_ARGS__ };                                             \
                                                                                                   \
		for (size_t i_ = 0; i_ < sizeof(errors_) / sizeof(*errors_); i_++) {               \
			errno = 0;                                                                 \
			kernel_fails = errors_[i_];                                                \
			returned = (call);                                                         \
			kernel_fails = 0;                                                          \
			row(#call, errors_[i_], failed, got);                                      \
		}                                                                                  \
	} while (0)

/* A call that returns NULL and sets errno. */
#define FAILS_POINTER(call, ...) EACH(void *object_, !object_, errno, call, __VA_ARGS__)

/* A call that returns the error number, that number negated, or -1 and errno. */
#define FAILS(call, ...)                                                                           \
	EACH(long ret_, ret_ != 0, ret_ == -1 ? errno : (int)labs(ret_), call, __VA_ARGS__)

/* A call that returns a code of its own, and errno. */
#define FAILS_NEGATIVE(call, ...) EACH(long ret_, ret_ < 0, errno, call, __VA_ARGS__)

static void queries(struct ibv_context *ctx)
{
	struct ibv_device_attr attr;
	struct ibv_device_attr_ex attr_ex;
	struct ibv_port_attr port;
	struct ibv_gid_entry entry;
	struct ibv_comp_cntr_caps caps;
	union ibv_gid gid;
	uint64_t speed;

	FAILS_POINTER(ibv_open_device(ctx->device), ENOMEM, EIO);
	/* Each time another one: the provider may have closed it. */
	FAILS_POINTER(ibv_import_device(dup(ctx->cmd_fd)), ENOMEM, EIO);
	FAILS(ibv_query_device(ctx, &attr), EIO);
	FAILS(ibv_query_device_ex(ctx, NULL, &attr_ex), EIO);
	FAILS((ibv_query_port)(ctx, 1, (struct _compat_ibv_port_attr *)&port), EINVAL, EIO);
	FAILS(___ibv_query_port(ctx, 1, &port), EINVAL, EIO);
	FAILS(ibv_query_port_speed(ctx, 1, &speed), EINVAL, EIO, EOPNOTSUPP);
	FAILS(ibv_query_gid_ex(ctx, 1, 0, &entry, 0), EINVAL, EIO, ENODATA, ENODEV);
	FAILS(_ibv_query_gid_ex(ctx, 1, 0, &entry, 0, sizeof(entry)), EINVAL, EIO, ENODATA, ENODEV);
	FAILS(ibv_query_gid_table(ctx, &entry, 1, 0), EINVAL, EIO, ENODEV);
	FAILS(_ibv_query_gid_table(ctx, &entry, 1, 0, sizeof(entry)), EINVAL, EIO, ENODEV);
	FAILS(ibv_query_gid(ctx, 1, 0, &gid), EINVAL, EIO);
	FAILS(ibv_query_comp_cntr_caps(ctx, &caps), EIO, EOPNOTSUPP);
	FAILS(_ibv_query_comp_cntr_caps(ctx, &caps, sizeof(caps)), EIO, EOPNOTSUPP);
}

static void domains(struct ibv_context *ctx)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1,
	};
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_xrcd *xrcd = ibv_open_xrcd(ctx, &attr);

	FAILS_POINTER(ibv_alloc_pd(ctx), ENOMEM, EIO);
	FAILS(ibv_dealloc_pd(pd), EBUSY, EIO);
	FAILS_POINTER(ibv_open_xrcd(ctx, &attr), EINVAL, EBADF, EAGAIN, ENOMEM, EIO);
	FAILS(ibv_close_xrcd(xrcd), EBUSY, EIO);
	CHECK(!ibv_dealloc_pd(pd) && !ibv_close_xrcd(xrcd));
}

static void channels(struct ibv_context *ctx)
{
	FAILS_POINTER(ibv_create_comp_channel(ctx), EMFILE, ENOMEM, EIO);
}

static void regions(struct ibv_context *ctx, struct ibv_pd *pd)
{
	const int all = IBV_ACCESS_LOCAL_WRITE;
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 128, .lkey = 5 };
	struct ibv_mr_init_attr attr = {
		.length = 4096, .access = all, .addr = memory, .iova = 0x50000,
		.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA,
	};
	struct ibv_alloc_dm_attr dm_attr = { .length = 1024 };
	struct ibv_dmah_init_attr dmah_attr = {
		.comp_mask = IBV_DMAH_INIT_ATTR_MASK_CPU_ID, .cpu_id = 3,
	};
	struct ibv_mr *mr = (ibv_reg_mr)(pd, memory, 4096, all);
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	struct ibv_dm *dm = ibv_alloc_dm(ctx, &dm_attr);
	struct ibv_dmah *dmah = ibv_alloc_dmah(ctx, &dmah_attr);
	struct ibv_buf *buf = NULL;
	char *bytes = ibv_alloc_buf(pd, 512, &buf);

	FAILS_POINTER((ibv_reg_mr)(pd, memory, 4096, all), EINVAL, EFAULT, ENOMEM, EIO, EOPNOTSUPP);
	FAILS_POINTER((ibv_reg_mr_iova)(pd, memory, 4096, 0x10000, all), EINVAL, EFAULT, ENOMEM, EIO,
		      EOPNOTSUPP);
	FAILS_POINTER(ibv_reg_mr_iova2(pd, memory, 4096, 0x10000, all), EINVAL, EFAULT, ENOMEM, EIO,
		      EOPNOTSUPP);
	FAILS_POINTER(__ibv_reg_mr(pd, memory, 4096, all, 1), EINVAL, EFAULT, ENOMEM, EIO,
		      EOPNOTSUPP);
	FAILS_POINTER(__ibv_reg_mr_iova(pd, memory, 4096, 0x10000, all, 1), EINVAL, EFAULT, ENOMEM,
		      EIO, EOPNOTSUPP);
	FAILS_POINTER(ibv_reg_mr_ex(pd, &attr), EINVAL, EFAULT, ENOMEM, EIO, EOPNOTSUPP);
	FAILS_POINTER(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 0, all), EINVAL, EBADF, ENOMEM, EIO,
		      EOPNOTSUPP);
	FAILS_POINTER(ibv_import_mr(pd, 4343), EINVAL, ENOMEM, EIO);
	FAILS_NEGATIVE(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, all), EINVAL,
		       EFAULT, ENOMEM, EBUSY, EIO, EOPNOTSUPP);
	FAILS(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1), EINVAL, EOPNOTSUPP,
	      ENOENT, EPERM, EFAULT, EIO);
	FAILS(ibv_dereg_mr(mr), EBUSY, EIO);
	FAILS_POINTER(ibv_alloc_mw(pd, IBV_MW_TYPE_1), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_dealloc_mw(mw), EIO);
	FAILS_POINTER(ibv_alloc_dm(ctx, &dm_attr), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS_POINTER(ibv_reg_dm_mr(pd, dm, 0, 64, IBV_ACCESS_ZERO_BASED), EINVAL, ENOMEM, EIO,
		      EOPNOTSUPP);
	FAILS(ibv_free_dm(dm), EBUSY, EIO);
	FAILS_POINTER(ibv_alloc_dmah(ctx, &dmah_attr), EINVAL, EPERM, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_dealloc_dmah(dmah), EBUSY, EIO);
	FAILS_POINTER(ibv_reg_buf_mr(pd, buf, bytes, 64, all), ENOMEM);
	ibv_free_buf(buf);
	CHECK(!ibv_dereg_mr(mr) && !ibv_dealloc_mw(mw) && !ibv_free_dm(dm) &&
	      !ibv_dealloc_dmah(dmah));
}

static void completions(struct ibv_context *ctx)
{
	struct ibv_modify_cq_attr modify = { .attr_mask = IBV_CQ_ATTR_MODERATE };
	struct ibv_cq_init_attr_ex attr = { .cqe = 20 };
	struct ibv_cq *cq = ibv_create_cq(ctx, 10, NULL, NULL, 0);

	FAILS_POINTER(ibv_create_cq(ctx, 10, NULL, NULL, 0), EINVAL, ENOMEM, EIO);
	FAILS_POINTER(ibv_create_cq_ex(ctx, &attr), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_resize_cq(cq, 30), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_modify_cq(cq, &modify), EINVAL, EIO, EOPNOTSUPP);
	FAILS(ibv_destroy_cq(cq), EBUSY, EIO);
	CHECK(!ibv_destroy_cq(cq));
}

static void shared_queues(struct ibv_context *ctx, struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 11, .max_sge = 2 } };
	struct ibv_srq_init_attr_ex extended = {
		.attr = { .max_wr = 12, .max_sge = 1 }, .pd = pd, .cq = cq,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
	};
	struct ibv_srq_attr srq_attr = { .max_wr = 20 };
	struct ibv_srq *srq = ibv_create_srq(pd, &attr);

	FAILS_POINTER(ibv_create_srq(pd, &attr), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS_POINTER(ibv_create_srq_ex(ctx, &extended), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_modify_srq(srq, &srq_attr, IBV_SRQ_MAX_WR), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_query_srq(srq, &srq_attr), EIO, EOPNOTSUPP);
	FAILS(ibv_destroy_srq(srq), EBUSY, EIO);
	CHECK(!ibv_destroy_srq(srq));
}

static void pairs(struct ibv_context *ctx, struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 4, .max_recv_wr = 5, .max_send_sge = 1, .max_recv_sge = 2 },
	};
	struct ibv_qp_init_attr_ex extended = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RAW_PACKET, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = IBV_QP_CREATE_SCATTER_FCS,
	};
	struct ibv_xrcd_init_attr xrcd_attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(ctx, &xrcd_attr);
	struct ibv_qp_open_attr opened = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = 88, .xrcd = xrcd, .qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp_attr to = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_rate_limit_attr limit = { .rate_limit = 100 };
	union ibv_gid gid = { .raw = { [0] = 0xff, [15] = 0x5d } };
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	FAILS_POINTER(ibv_create_qp(pd, &attr), EINVAL, ENOMEM, EPERM, EIO, EOPNOTSUPP);
	FAILS_POINTER(ibv_create_qp_ex(ctx, &extended), EINVAL, ENOMEM, EPERM, EIO, EOPNOTSUPP);
	FAILS_POINTER(ibv_open_qp(ctx, &opened), EINVAL, ENOMEM, EIO);
	FAILS(ibv_modify_qp(qp, &to, IBV_QP_STATE), EINVAL, ENOMEM, EIO, EOPNOTSUPP, ENETUNREACH,
	      EHOSTUNREACH, ETIMEDOUT);
	FAILS(ibv_query_qp(qp, &to, 0, &attr), ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_modify_qp_rate_limit(qp, &limit), EINVAL, EIO, EOPNOTSUPP);
	FAILS(ibv_attach_mcast(qp, &gid, 0), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_detach_mcast(qp, &gid, 0), EINVAL, EIO, EOPNOTSUPP);
	FAILS(ibv_destroy_qp(qp), EBUSY, EIO);
	CHECK(!ibv_destroy_qp(qp) && !ibv_close_xrcd(xrcd));
}

static void handles(struct ibv_pd *pd)
{
	struct ibv_ah_attr attr = { .dlid = 0x12, .port_num = 1 };
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);

	FAILS_POINTER(ibv_create_ah(pd, &attr), EINVAL, ENOMEM, EIO, EOPNOTSUPP, ETIMEDOUT);
	FAILS(ibv_destroy_ah(ah), EIO);
	CHECK(!ibv_destroy_ah(ah));
}

static void work_queues(struct ibv_context *ctx, struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 13, .max_sge = 1, .pd = pd, .cq = cq,
	};
	struct ibv_wq_attr ready = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
	struct ibv_wq *wq = ibv_create_wq(ctx, &attr);
	struct ibv_rwq_ind_table_init_attr table_attr = { .ind_tbl = &wq };
	struct ibv_rwq_ind_table *table = ibv_create_rwq_ind_table(ctx, &table_attr);

	FAILS_POINTER(ibv_create_wq(ctx, &attr), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_modify_wq(wq, &ready), EINVAL, EIO, EOPNOTSUPP);
	FAILS(ibv_destroy_wq(wq), EBUSY, EIO);
	FAILS_POINTER(ibv_create_rwq_ind_table(ctx, &table_attr), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_destroy_rwq_ind_table(table), EBUSY, EIO);
	CHECK(!ibv_destroy_rwq_ind_table(table) && !ibv_destroy_wq(wq));
}

static void flows(struct ibv_context *ctx, struct ibv_qp *qp)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(rule), .num_of_specs = 1,
			  .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) },
	};
	struct ibv_flow_action_esp_attr esp = { .comp_mask = IBV_FLOW_ACTION_ESP_MASK_ESN };
	struct ibv_counters_init_attr counters_attr = { .comp_mask = 0 };
	uint64_t value;
	struct ibv_flow *flow = ibv_create_flow(qp, &rule.attr);
	struct ibv_flow_action *action = ibv_create_flow_action_esp(ctx, &esp);
	struct ibv_counters *counters = ibv_create_counters(ctx, &counters_attr);

	FAILS_POINTER(ibv_create_flow(qp, &rule.attr), EINVAL, ENOMEM, EPERM, EBUSY, EIO, EOPNOTSUPP);
	FAILS(ibv_destroy_flow(flow), EIO);
	FAILS_POINTER(ibv_create_flow_action_esp(ctx, &esp), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_modify_flow_action_esp(action, &esp), EINVAL, EIO, EOPNOTSUPP);
	FAILS(ibv_destroy_flow_action(action), EBUSY, EIO);
	FAILS_POINTER(ibv_create_counters(ctx, &counters_attr), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_read_counters(counters, &value, 1, 0), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_destroy_counters(counters), EBUSY, EIO);
	CHECK(!ibv_destroy_flow(flow) && !ibv_destroy_flow_action(action) &&
	      !ibv_destroy_counters(counters));
}

static void completion_counters(struct ibv_context *ctx, struct ibv_qp *qp)
{
	struct ibv_comp_cntr_init_attr attr = { .comp_mask = 0 };
	struct ibv_qp_attach_comp_cntr_attr attach = { .op_mask = 5 };
	struct ibv_comp_cntr *counter = ibv_create_comp_cntr(ctx, &attr);
	uint64_t value;

	FAILS_POINTER(ibv_create_comp_cntr(ctx, &attr), EINVAL, ENOMEM, EIO, EOPNOTSUPP);
	FAILS(ibv_qp_attach_comp_cntr(qp, counter, &attach), EINVAL, EBUSY, EIO, EOPNOTSUPP);
	FAILS(ibv_set_comp_cntr(counter, 1), EIO, EOPNOTSUPP);
	FAILS(ibv_set_err_comp_cntr(counter, 1), EIO, EOPNOTSUPP);
	FAILS(ibv_inc_comp_cntr(counter, 1), EIO, EOPNOTSUPP);
	FAILS(ibv_inc_err_comp_cntr(counter, 1), EIO, EOPNOTSUPP);
	FAILS(ibv_read_comp_cntr(counter, &value), EIO, EOPNOTSUPP);
	FAILS(ibv_read_err_comp_cntr(counter, &value), EIO, EOPNOTSUPP);
	FAILS(ibv_destroy_comp_cntr(counter), EBUSY, EIO);
	CHECK(!ibv_destroy_comp_cntr(counter));
}

void refused_verbs(struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD };
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	queries(ctx);
	domains(ctx);
	channels(ctx);
	regions(ctx, pd);
	completions(ctx);
	shared_queues(ctx, pd, cq);
	pairs(ctx, pd, cq);
	handles(pd);
	work_queues(ctx, pd, cq);
	flows(ctx, qp);
	completion_counters(ctx, qp);
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
}
