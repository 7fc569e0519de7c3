/*
 * Calls every inline function of verbs.h with functions that record in all the places where it looks
 * for one, and prints what was called with which arguments, and what came back. Compiled with two
 * headers, it prints the same if their functions do the same.
 *
 * Objects are printed by name: the members of one struct, and whatever lies in its bytes.
 */
#include <stdio.h>
#include <infiniband/verbs.h>
#include <infiniband/arch.h>

/* All objects that are passed around. */
static struct {
	struct verbs_context vctx;
	struct ibv_pd pd, other_pd;
	struct ibv_mr mr;
	struct ibv_mw mw;
	struct ibv_qp_ex qp;
	struct ibv_cq_ex cq;
	struct ibv_srq srq;
	struct ibv_wq wq;
	struct ibv_dm dm;
	struct ibv_td td;
	struct ibv_xrcd xrcd;
	struct ibv_flow flow;
	struct ibv_flow_action action;
	struct ibv_counters counters;
	struct ibv_rwq_ind_table table;
	char result[1024], other[1024], room[1024];
} all;

static long long answer;
static void *answer_pointer;

/* A pointer as text that is the same in every run. */
static const char *object(const void *pointer)
{
	static char texts[8][24];
	static unsigned int next;
	char *text = texts[next++ % 8];
	const char *at = pointer;

	if (at >= (const char *)&all && at < (const char *)(&all + 1))
		snprintf(text, 24, "all+%zu", (size_t)(at - (const char *)&all));
	else
		snprintf(text, 24, "%s", pointer ? "elsewhere" : "NULL");
	return text;
}

/* A number; one that is an address among the objects in a form that is the same in every run. */
static unsigned long long number(unsigned long long number)
{
	const unsigned long long begin = (uintptr_t)&all;

	if (number >= begin && number < begin + sizeof(all))
		return 0xadd000000 + (number - begin);
	return number;
}

/* The macros, whose names are to be those of the exported functions below. */
static inline struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, unsigned int access)
{
	return ibv_reg_mr(pd, addr, length, access);
}

static inline struct ibv_mr *reg_mr_constant(struct ibv_pd *pd, void *addr, size_t length)
{
	return ibv_reg_mr(pd, addr, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}

static inline struct ibv_mr *reg_mr_optional(struct ibv_pd *pd, void *addr, size_t length)
{
	return ibv_reg_mr(pd, addr, length, IBV_ACCESS_RELAXED_ORDERING);
}

static inline struct ibv_mr *reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova)
{
	return ibv_reg_mr_iova(pd, addr, length, iova, IBV_ACCESS_LOCAL_WRITE);
}

static inline struct ibv_mr *reg_mr_iova_optional(struct ibv_pd *pd, void *addr, size_t length,
		uint64_t iova)
{
	return ibv_reg_mr_iova(pd, addr, length, iova, IBV_ACCESS_RELAXED_ORDERING);
}

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/* ---- Exported functions. */

int ibv_query_port(struct ibv_context *a, uint8_t b, struct _compat_ibv_port_attr *c)
{
	printf("    -> ibv_query_port(%s, %llx, %s)\n", object(a), number((unsigned long long)b),
		object(c));
	return (int)answer;
}

int ibv_query_device(struct ibv_context *a, struct ibv_device_attr *b)
{
	printf("    -> ibv_query_device(%s, %s)\n", object(a), object(b));
	return (int)answer;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *a, struct ibv_qp_init_attr *b)
{
	printf("    -> ibv_create_qp(%s, %s)\n", object(a), object(b));
	return (struct ibv_qp *)answer_pointer;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *a, struct ibv_srq_init_attr *b)
{
	printf("    -> ibv_create_srq(%s, %s)\n", object(a), object(b));
	return (struct ibv_srq *)answer_pointer;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *a, void *b, size_t c, int d)
{
	printf("    -> ibv_reg_mr(%s, %s, %llx, %llx)\n", object(a), object(b), number((unsigned
		long long)c), number((unsigned long long)d));
	return (struct ibv_mr *)answer_pointer;
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *a, void *b, size_t c, uint64_t d, int e)
{
	printf("    -> ibv_reg_mr_iova(%s, %s, %llx, %llx, %llx)\n", object(a), object(b),
		number((unsigned long long)c), number((unsigned long long)d), number((unsigned long
		long)e));
	return (struct ibv_mr *)answer_pointer;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *a, void *b, size_t c, uint64_t d, unsigned int
		e)
{
	printf("    -> ibv_reg_mr_iova2(%s, %s, %llx, %llx, %llx)\n", object(a), object(b),
		number((unsigned long long)c), number((unsigned long long)d), number((unsigned long
		long)e));
	return (struct ibv_mr *)answer_pointer;
}

int _ibv_query_gid_ex(struct ibv_context *a, uint32_t b, uint32_t c, struct ibv_gid_entry *d,
		uint32_t e, size_t f)
{
	printf("    -> _ibv_query_gid_ex(%s, %llx, %llx, %s, %llx, %llx)\n", object(a),
		number((unsigned long long)b), number((unsigned long long)c), object(d),
		number((unsigned long long)e), number((unsigned long long)f));
	return (int)answer;
}

ssize_t _ibv_query_gid_table(struct ibv_context *a, struct ibv_gid_entry *b, size_t c,
		uint32_t d, size_t e)
{
	printf("    -> _ibv_query_gid_table(%s, %s, %llx, %llx, %llx)\n", object(a), object(b),
		number((unsigned long long)c), number((unsigned long long)d), number((unsigned long
		long)e));
	return (ssize_t)answer;
}

int _ibv_query_comp_cntr_caps(struct ibv_context *a, struct ibv_comp_cntr_caps *b, size_t c)
{
	printf("    -> _ibv_query_comp_cntr_caps(%s, %s, %llx)\n", object(a), object(b),
		number((unsigned long long)c));
	return (int)answer;
}

/* ---- Functions of a provider. */

static int record_verbs_context_query_port(struct ibv_context *a, uint8_t b, struct ibv_port_attr
		*c, size_t d)
{
	printf("    -> query_port(%s, %llx, %s, %llx)\n", object(a), number((unsigned long long)b),
		object(c), number((unsigned long long)d));
	return (int)answer;
}

static int record_verbs_context_advise_mr(struct ibv_pd *a, enum ib_uverbs_advise_mr_advice b,
		uint32_t c, struct ibv_sge *d, uint32_t e)
{
	printf("    -> advise_mr(%s, %llx, %llx, %s, %llx)\n", object(a), number((unsigned long
		long)b), number((unsigned long long)c), object(d), number((unsigned long long)e));
	return (int)answer;
}

static struct ibv_dm *record_verbs_context_alloc_dm(struct ibv_context *a, struct ibv_alloc_dm_attr
		*b)
{
	printf("    -> alloc_dm(%s, %s)\n", object(a), object(b));
	return (struct ibv_dm *)answer_pointer;
}

static struct ibv_mw *record_ibv_context_ops_alloc_mw(struct ibv_pd *a, enum ibv_mw_type b)
{
	printf("    -> alloc_mw(%s, %llx)\n", object(a), number((unsigned long long)b));
	return (struct ibv_mw *)answer_pointer;
}

static struct ibv_mr *record_verbs_context_alloc_null_mr(struct ibv_pd *a)
{
	printf("    -> alloc_null_mr(%s)\n", object(a));
	return (struct ibv_mr *)answer_pointer;
}

static struct ibv_pd *record_verbs_context_alloc_parent_domain(struct ibv_context *a, struct
		ibv_parent_domain_init_attr *b)
{
	printf("    -> alloc_parent_domain(%s, %s)\n", object(a), object(b));
	return (struct ibv_pd *)answer_pointer;
}

static struct ibv_td *record_verbs_context_alloc_td(struct ibv_context *a, struct ibv_td_init_attr
		*b)
{
	printf("    -> alloc_td(%s, %s)\n", object(a), object(b));
	return (struct ibv_td *)answer_pointer;
}

static int record_verbs_context_attach_counters_point_flow(struct ibv_counters *a, struct
		ibv_counter_attach_attr *b, struct ibv_flow *c)
{
	printf("    -> attach_counters_point_flow(%s, %s, %s)\n", object(a), object(b), object(c));
	return (int)answer;
}

static int record_ibv_context_ops_bind_mw(struct ibv_qp *a, struct ibv_mw *b, struct ibv_mw_bind *c)
{
	printf("    -> bind_mw(%s, %s, %s)\n", object(a), object(b), object(c));
	return (int)answer;
}

static int record_verbs_context_close_xrcd(struct ibv_xrcd *a)
{
	printf("    -> close_xrcd(%s)\n", object(a));
	return (int)answer;
}

static struct ibv_counters *record_verbs_context_create_counters(struct ibv_context *a, struct
		ibv_counters_init_attr *b)
{
	printf("    -> create_counters(%s, %s)\n", object(a), object(b));
	return (struct ibv_counters *)answer_pointer;
}

static struct ibv_cq_ex *record_verbs_context_create_cq_ex(struct ibv_context *a, struct
		ibv_cq_init_attr_ex *b)
{
	printf("    -> create_cq_ex(%s, %s)\n", object(a), object(b));
	return (struct ibv_cq_ex *)answer_pointer;
}

static struct ibv_flow *record_verbs_context_ibv_create_flow(struct ibv_qp *a, struct ibv_flow_attr
		*b)
{
	printf("    -> ibv_create_flow(%s, %s)\n", object(a), object(b));
	return (struct ibv_flow *)answer_pointer;
}

static struct ibv_flow_action *record_verbs_context_create_flow_action_esp(struct ibv_context *a,
		struct ibv_flow_action_esp_attr *b)
{
	printf("    -> create_flow_action_esp(%s, %s)\n", object(a), object(b));
	return (struct ibv_flow_action *)answer_pointer;
}

static struct ibv_qp *record_verbs_context_create_qp_ex(struct ibv_context *a, struct
		ibv_qp_init_attr_ex *b)
{
	printf("    -> create_qp_ex(%s, %s)\n", object(a), object(b));
	return (struct ibv_qp *)answer_pointer;
}

static struct ibv_rwq_ind_table *record_verbs_context_create_rwq_ind_table(struct ibv_context *a,
		struct ibv_rwq_ind_table_init_attr *b)
{
	printf("    -> create_rwq_ind_table(%s, %s)\n", object(a), object(b));
	return (struct ibv_rwq_ind_table *)answer_pointer;
}

static struct ibv_srq *record_verbs_context_create_srq_ex(struct ibv_context *a, struct
		ibv_srq_init_attr_ex *b)
{
	printf("    -> create_srq_ex(%s, %s)\n", object(a), object(b));
	return (struct ibv_srq *)answer_pointer;
}

static struct ibv_wq *record_verbs_context_create_wq(struct ibv_context *a, struct ibv_wq_init_attr
		*b)
{
	printf("    -> create_wq(%s, %s)\n", object(a), object(b));
	return (struct ibv_wq *)answer_pointer;
}

static int record_ibv_context_ops_dealloc_mw(struct ibv_mw *a)
{
	printf("    -> dealloc_mw(%s)\n", object(a));
	return (int)answer;
}

static int record_verbs_context_dealloc_td(struct ibv_td *a)
{
	printf("    -> dealloc_td(%s)\n", object(a));
	return (int)answer;
}

static int record_verbs_context_destroy_counters(struct ibv_counters *a)
{
	printf("    -> destroy_counters(%s)\n", object(a));
	return (int)answer;
}

static int record_verbs_context_ibv_destroy_flow(struct ibv_flow *a)
{
	printf("    -> ibv_destroy_flow(%s)\n", object(a));
	return (int)answer;
}

static int record_verbs_context_destroy_flow_action(struct ibv_flow_action *a)
{
	printf("    -> destroy_flow_action(%s)\n", object(a));
	return (int)answer;
}

static int record_verbs_context_destroy_rwq_ind_table(struct ibv_rwq_ind_table *a)
{
	printf("    -> destroy_rwq_ind_table(%s)\n", object(a));
	return (int)answer;
}

static int record_verbs_context_destroy_wq(struct ibv_wq *a)
{
	printf("    -> destroy_wq(%s)\n", object(a));
	return (int)answer;
}

static void record_ibv_cq_ex_end_poll(struct ibv_cq_ex *a)
{
	printf("    -> end_poll(%s)\n", object(a));
}

static int record_verbs_context_free_dm(struct ibv_dm *a)
{
	printf("    -> free_dm(%s)\n", object(a));
	return (int)answer;
}

static int record_verbs_context_get_srq_num(struct ibv_srq *a, uint32_t *b)
{
	printf("    -> get_srq_num(%s, %s)\n", object(a), object(b));
	return (int)answer;
}

static int record_ibv_dm_memcpy_from_dm(void *a, struct ibv_dm *b, uint64_t c, size_t d)
{
	printf("    -> memcpy_from_dm(%s, %s, %llx, %llx)\n", object(a), object(b), number((unsigned
		long long)c), number((unsigned long long)d));
	return (int)answer;
}

static int record_ibv_dm_memcpy_to_dm(struct ibv_dm *a, uint64_t b, const void *c, size_t d)
{
	printf("    -> memcpy_to_dm(%s, %llx, %s, %llx)\n", object(a), number((unsigned long
		long)b), object(c), number((unsigned long long)d));
	return (int)answer;
}

static int record_verbs_context_modify_cq(struct ibv_cq *a, struct ibv_modify_cq_attr *b)
{
	printf("    -> modify_cq(%s, %s)\n", object(a), object(b));
	return (int)answer;
}

static int record_verbs_context_modify_flow_action_esp(struct ibv_flow_action *a, struct
		ibv_flow_action_esp_attr *b)
{
	printf("    -> modify_flow_action_esp(%s, %s)\n", object(a), object(b));
	return (int)answer;
}

static int record_verbs_context_modify_qp_rate_limit(struct ibv_qp *a, struct ibv_qp_rate_limit_attr
		*b)
{
	printf("    -> modify_qp_rate_limit(%s, %s)\n", object(a), object(b));
	return (int)answer;
}

static int record_verbs_context_modify_wq(struct ibv_wq *a, struct ibv_wq_attr *b)
{
	printf("    -> modify_wq(%s, %s)\n", object(a), object(b));
	return (int)answer;
}

static int record_ibv_cq_ex_next_poll(struct ibv_cq_ex *a)
{
	printf("    -> next_poll(%s)\n", object(a));
	return (int)answer;
}

static struct ibv_qp *record_verbs_context_open_qp(struct ibv_context *a, struct ibv_qp_open_attr
		*b)
{
	printf("    -> open_qp(%s, %s)\n", object(a), object(b));
	return (struct ibv_qp *)answer_pointer;
}

static struct ibv_xrcd *record_verbs_context_open_xrcd(struct ibv_context *a, struct
		ibv_xrcd_init_attr *b)
{
	printf("    -> open_xrcd(%s, %s)\n", object(a), object(b));
	return (struct ibv_xrcd *)answer_pointer;
}

static int record_ibv_context_ops_poll_cq(struct ibv_cq *a, int b, struct ibv_wc *c)
{
	printf("    -> poll_cq(%s, %llx, %s)\n", object(a), number((unsigned long long)b), object(c));
	return (int)answer;
}

static int record_ibv_context_ops_post_recv(struct ibv_qp *a, struct ibv_recv_wr *b, struct
		ibv_recv_wr **c)
{
	printf("    -> post_recv(%s, %s, %s)\n", object(a), object(b), object(c));
	return (int)answer;
}

static int record_ibv_context_ops_post_send(struct ibv_qp *a, struct ibv_send_wr *b, struct
		ibv_send_wr **c)
{
	printf("    -> post_send(%s, %s, %s)\n", object(a), object(b), object(c));
	return (int)answer;
}

static int record_verbs_context_post_srq_ops(struct ibv_srq *a, struct ibv_ops_wr *b, struct
		ibv_ops_wr **c)
{
	printf("    -> post_srq_ops(%s, %s, %s)\n", object(a), object(b), object(c));
	return (int)answer;
}

static int record_ibv_context_ops_post_srq_recv(struct ibv_srq *a, struct ibv_recv_wr *b, struct
		ibv_recv_wr **c)
{
	printf("    -> post_srq_recv(%s, %s, %s)\n", object(a), object(b), object(c));
	return (int)answer;
}

static int record_ibv_wq_post_recv(struct ibv_wq *a, struct ibv_recv_wr *b, struct ibv_recv_wr **c)
{
	printf("    -> post_recv(%s, %s, %s)\n", object(a), object(b), object(c));
	return (int)answer;
}

static int record_verbs_context_query_device_ex(struct ibv_context *a, const struct
		ibv_query_device_ex_input *b, struct ibv_device_attr_ex *c, size_t d)
{
	printf("    -> query_device_ex(%s, %s, %s, %llx)\n", object(a), object(b), object(c),
		number((unsigned long long)d));
	return (int)answer;
}

static int record_verbs_context_query_rt_values(struct ibv_context *a, struct ibv_values_ex *b)
{
	printf("    -> query_rt_values(%s, %s)\n", object(a), object(b));
	return (int)answer;
}

static int record_verbs_context_read_counters(struct ibv_counters *a, uint64_t *b, uint32_t c,
		uint32_t d)
{
	printf("    -> read_counters(%s, %s, %llx, %llx)\n", object(a), object(b), number((unsigned
		long long)c), number((unsigned long long)d));
	return (int)answer;
}

static struct ibv_mr *record_verbs_context_reg_dm_mr(struct ibv_pd *a, struct ibv_dm *b, uint64_t c,
		size_t d, unsigned int e)
{
	printf("    -> reg_dm_mr(%s, %s, %llx, %llx, %llx)\n", object(a), object(b),
		number((unsigned long long)c), number((unsigned long long)d), number((unsigned long
		long)e));
	return (struct ibv_mr *)answer_pointer;
}

static int record_ibv_context_ops_req_notify_cq(struct ibv_cq *a, int b)
{
	printf("    -> req_notify_cq(%s, %llx)\n", object(a), number((unsigned long long)b));
	return (int)answer;
}

static int record_ibv_cq_ex_start_poll(struct ibv_cq_ex *a, struct ibv_poll_cq_attr *b)
{
	printf("    -> start_poll(%s, %s)\n", object(a), object(b));
	return (int)answer;
}

static uint32_t record_ibv_cq_ex_read_byte_len(struct ibv_cq_ex *a)
{
	printf("    -> read_byte_len(%s)\n", object(a));
	return (uint32_t)answer;
}

static uint64_t record_ibv_cq_ex_read_completion_ts(struct ibv_cq_ex *a)
{
	printf("    -> read_completion_ts(%s)\n", object(a));
	return (uint64_t)answer;
}

static uint64_t record_ibv_cq_ex_read_completion_wallclock_ns(struct ibv_cq_ex *a)
{
	printf("    -> read_completion_wallclock_ns(%s)\n", object(a));
	return (uint64_t)answer;
}

static uint16_t record_ibv_cq_ex_read_cvlan(struct ibv_cq_ex *a)
{
	printf("    -> read_cvlan(%s)\n", object(a));
	return (uint16_t)answer;
}

static uint8_t record_ibv_cq_ex_read_dlid_path_bits(struct ibv_cq_ex *a)
{
	printf("    -> read_dlid_path_bits(%s)\n", object(a));
	return (uint8_t)answer;
}

static uint32_t record_ibv_cq_ex_read_flow_tag(struct ibv_cq_ex *a)
{
	printf("    -> read_flow_tag(%s)\n", object(a));
	return (uint32_t)answer;
}

static __be32 record_ibv_cq_ex_read_imm_data(struct ibv_cq_ex *a)
{
	printf("    -> read_imm_data(%s)\n", object(a));
	return (__be32)answer;
}

static enum ibv_wc_opcode record_ibv_cq_ex_read_opcode(struct ibv_cq_ex *a)
{
	printf("    -> read_opcode(%s)\n", object(a));
	return (enum ibv_wc_opcode)answer;
}

static uint32_t record_ibv_cq_ex_read_qp_num(struct ibv_cq_ex *a)
{
	printf("    -> read_qp_num(%s)\n", object(a));
	return (uint32_t)answer;
}

static uint8_t record_ibv_cq_ex_read_sl(struct ibv_cq_ex *a)
{
	printf("    -> read_sl(%s)\n", object(a));
	return (uint8_t)answer;
}

static uint32_t record_ibv_cq_ex_read_slid(struct ibv_cq_ex *a)
{
	printf("    -> read_slid(%s)\n", object(a));
	return (uint32_t)answer;
}

static uint32_t record_ibv_cq_ex_read_src_qp(struct ibv_cq_ex *a)
{
	printf("    -> read_src_qp(%s)\n", object(a));
	return (uint32_t)answer;
}

static void record_ibv_cq_ex_read_tm_info(struct ibv_cq_ex *a, struct ibv_wc_tm_info *b)
{
	printf("    -> read_tm_info(%s, %s)\n", object(a), object(b));
}

static uint32_t record_ibv_cq_ex_read_vendor_err(struct ibv_cq_ex *a)
{
	printf("    -> read_vendor_err(%s)\n", object(a));
	return (uint32_t)answer;
}

static unsigned int record_ibv_cq_ex_read_wc_flags(struct ibv_cq_ex *a)
{
	printf("    -> read_wc_flags(%s)\n", object(a));
	return (unsigned int)answer;
}

static void record_ibv_qp_ex_wr_abort(struct ibv_qp_ex *a)
{
	printf("    -> wr_abort(%s)\n", object(a));
}

static void record_ibv_qp_ex_wr_atomic_cmp_swp(struct ibv_qp_ex *a, uint32_t b, uint64_t c, uint64_t
		d, uint64_t e)
{
	printf("    -> wr_atomic_cmp_swp(%s, %llx, %llx, %llx, %llx)\n", object(a), number((unsigned
		long long)b), number((unsigned long long)c), number((unsigned long long)d),
		number((unsigned long long)e));
}

static void record_ibv_qp_ex_wr_atomic_fetch_add(struct ibv_qp_ex *a, uint32_t b, uint64_t c,
		uint64_t d)
{
	printf("    -> wr_atomic_fetch_add(%s, %llx, %llx, %llx)\n", object(a), number((unsigned
		long long)b), number((unsigned long long)c), number((unsigned long long)d));
}

static void record_ibv_qp_ex_wr_atomic_write(struct ibv_qp_ex *a, uint32_t b, uint64_t c, const void
		*d)
{
	printf("    -> wr_atomic_write(%s, %llx, %llx, %s)\n", object(a), number((unsigned long
		long)b), number((unsigned long long)c), object(d));
}

static void record_ibv_qp_ex_wr_bind_mw(struct ibv_qp_ex *a, struct ibv_mw *b, uint32_t c, const
		struct ibv_mw_bind_info *d)
{
	printf("    -> wr_bind_mw(%s, %s, %llx, %s)\n", object(a), object(b), number((unsigned long
		long)c), object(d));
}

static int record_ibv_qp_ex_wr_complete(struct ibv_qp_ex *a)
{
	printf("    -> wr_complete(%s)\n", object(a));
	return (int)answer;
}

static void record_ibv_qp_ex_wr_flush(struct ibv_qp_ex *a, uint32_t b, uint64_t c, size_t d, uint8_t
		e, uint8_t f)
{
	printf("    -> wr_flush(%s, %llx, %llx, %llx, %llx, %llx)\n", object(a), number((unsigned
		long long)b), number((unsigned long long)c), number((unsigned long long)d),
		number((unsigned long long)e), number((unsigned long long)f));
}

static void record_ibv_qp_ex_wr_local_inv(struct ibv_qp_ex *a, uint32_t b)
{
	printf("    -> wr_local_inv(%s, %llx)\n", object(a), number((unsigned long long)b));
}

static void record_ibv_qp_ex_wr_rdma_read(struct ibv_qp_ex *a, uint32_t b, uint64_t c)
{
	printf("    -> wr_rdma_read(%s, %llx, %llx)\n", object(a), number((unsigned long long)b),
		number((unsigned long long)c));
}

static void record_ibv_qp_ex_wr_rdma_write(struct ibv_qp_ex *a, uint32_t b, uint64_t c)
{
	printf("    -> wr_rdma_write(%s, %llx, %llx)\n", object(a), number((unsigned long long)b),
		number((unsigned long long)c));
}

static void record_ibv_qp_ex_wr_rdma_write_imm(struct ibv_qp_ex *a, uint32_t b, uint64_t c, __be32
		d)
{
	printf("    -> wr_rdma_write_imm(%s, %llx, %llx, %llx)\n", object(a), number((unsigned long
		long)b), number((unsigned long long)c), number((unsigned long long)d));
}

static void record_ibv_qp_ex_wr_send(struct ibv_qp_ex *a)
{
	printf("    -> wr_send(%s)\n", object(a));
}

static void record_ibv_qp_ex_wr_send_imm(struct ibv_qp_ex *a, __be32 b)
{
	printf("    -> wr_send_imm(%s, %llx)\n", object(a), number((unsigned long long)b));
}

static void record_ibv_qp_ex_wr_send_inv(struct ibv_qp_ex *a, uint32_t b)
{
	printf("    -> wr_send_inv(%s, %llx)\n", object(a), number((unsigned long long)b));
}

static void record_ibv_qp_ex_wr_send_tso(struct ibv_qp_ex *a, void *b, uint16_t c, uint16_t d)
{
	printf("    -> wr_send_tso(%s, %s, %llx, %llx)\n", object(a), object(b), number((unsigned
		long long)c), number((unsigned long long)d));
}

static void record_ibv_qp_ex_wr_set_inline_data(struct ibv_qp_ex *a, void *b, size_t c)
{
	printf("    -> wr_set_inline_data(%s, %s, %llx)\n", object(a), object(b), number((unsigned
		long long)c));
}

static void record_ibv_qp_ex_wr_set_inline_data_list(struct ibv_qp_ex *a, size_t b, const struct
		ibv_data_buf *c)
{
	printf("    -> wr_set_inline_data_list(%s, %llx, %s)\n", object(a), number((unsigned long
		long)b), object(c));
}

static void record_ibv_qp_ex_wr_set_sge(struct ibv_qp_ex *a, uint32_t b, uint64_t c, uint32_t d)
{
	printf("    -> wr_set_sge(%s, %llx, %llx, %llx)\n", object(a), number((unsigned long
		long)b), number((unsigned long long)c), number((unsigned long long)d));
}

static void record_ibv_qp_ex_wr_set_sge_list(struct ibv_qp_ex *a, size_t b, const struct ibv_sge *c)
{
	printf("    -> wr_set_sge_list(%s, %llx, %s)\n", object(a), number((unsigned long long)b),
		object(c));
}

static void record_ibv_qp_ex_wr_set_ud_addr(struct ibv_qp_ex *a, struct ibv_ah *b, uint32_t c,
		uint32_t d)
{
	printf("    -> wr_set_ud_addr(%s, %s, %llx, %llx)\n", object(a), object(b), number((unsigned
		long long)c), number((unsigned long long)d));
}

static void record_ibv_qp_ex_wr_set_xrc_srqn(struct ibv_qp_ex *a, uint32_t b)
{
	printf("    -> wr_set_xrc_srqn(%s, %llx)\n", object(a), number((unsigned long long)b));
}

static void record_ibv_qp_ex_wr_start(struct ibv_qp_ex *a)
{
	printf("    -> wr_start(%s)\n", object(a));
}

#define ibv_query_port(context, port_num, port_attr) ___ibv_query_port(context, port_num, port_attr)

/* Puts all objects into their first state. */
static void reset(void)
{
	struct ibv_context *context = &all.vctx.context;

	memset(&all, 0, sizeof(all));
	memset(all.room, 0x5a, sizeof(all.room));
	all.vctx.sz = sizeof(all.vctx);
	context->abi_compat = __VERBS_ABI_IS_EXTENDED;
	all.pd.context = all.other_pd.context = all.mr.context = all.mw.context = context;
	all.qp.qp_base.context = all.cq.context = all.srq.context = all.wq.context = context;
	all.dm.context = all.td.context = all.xrcd.context = all.flow.context = context;
	all.action.context = all.counters.context = all.table.context = context;
	all.mr.pd = all.mw.pd = &all.pd;
	all.mw.type = IBV_MW_TYPE_1;
	all.vctx.query_port = record_verbs_context_query_port;
	all.vctx.advise_mr = record_verbs_context_advise_mr;
	all.vctx.alloc_dm = record_verbs_context_alloc_dm;
	all.vctx.context.ops.alloc_mw = record_ibv_context_ops_alloc_mw;
	all.vctx.alloc_null_mr = record_verbs_context_alloc_null_mr;
	all.vctx.alloc_parent_domain = record_verbs_context_alloc_parent_domain;
	all.vctx.alloc_td = record_verbs_context_alloc_td;
	all.vctx.attach_counters_point_flow = record_verbs_context_attach_counters_point_flow;
	all.vctx.context.ops.bind_mw = record_ibv_context_ops_bind_mw;
	all.vctx.close_xrcd = record_verbs_context_close_xrcd;
	all.vctx.create_counters = record_verbs_context_create_counters;
	all.vctx.create_cq_ex = record_verbs_context_create_cq_ex;
	all.vctx.ibv_create_flow = record_verbs_context_ibv_create_flow;
	all.vctx.create_flow_action_esp = record_verbs_context_create_flow_action_esp;
	all.vctx.create_qp_ex = record_verbs_context_create_qp_ex;
	all.vctx.create_rwq_ind_table = record_verbs_context_create_rwq_ind_table;
	all.vctx.create_srq_ex = record_verbs_context_create_srq_ex;
	all.vctx.create_wq = record_verbs_context_create_wq;
	all.vctx.context.ops.dealloc_mw = record_ibv_context_ops_dealloc_mw;
	all.vctx.dealloc_td = record_verbs_context_dealloc_td;
	all.vctx.destroy_counters = record_verbs_context_destroy_counters;
	all.vctx.ibv_destroy_flow = record_verbs_context_ibv_destroy_flow;
	all.vctx.destroy_flow_action = record_verbs_context_destroy_flow_action;
	all.vctx.destroy_rwq_ind_table = record_verbs_context_destroy_rwq_ind_table;
	all.vctx.destroy_wq = record_verbs_context_destroy_wq;
	all.cq.end_poll = record_ibv_cq_ex_end_poll;
	all.vctx.free_dm = record_verbs_context_free_dm;
	all.vctx.get_srq_num = record_verbs_context_get_srq_num;
	all.dm.memcpy_from_dm = record_ibv_dm_memcpy_from_dm;
	all.dm.memcpy_to_dm = record_ibv_dm_memcpy_to_dm;
	all.vctx.modify_cq = record_verbs_context_modify_cq;
	all.vctx.modify_flow_action_esp = record_verbs_context_modify_flow_action_esp;
	all.vctx.modify_qp_rate_limit = record_verbs_context_modify_qp_rate_limit;
	all.vctx.modify_wq = record_verbs_context_modify_wq;
	all.cq.next_poll = record_ibv_cq_ex_next_poll;
	all.vctx.open_qp = record_verbs_context_open_qp;
	all.vctx.open_xrcd = record_verbs_context_open_xrcd;
	all.vctx.context.ops.poll_cq = record_ibv_context_ops_poll_cq;
	all.vctx.context.ops.post_recv = record_ibv_context_ops_post_recv;
	all.vctx.context.ops.post_send = record_ibv_context_ops_post_send;
	all.vctx.post_srq_ops = record_verbs_context_post_srq_ops;
	all.vctx.context.ops.post_srq_recv = record_ibv_context_ops_post_srq_recv;
	all.wq.post_recv = record_ibv_wq_post_recv;
	all.vctx.query_device_ex = record_verbs_context_query_device_ex;
	all.vctx.query_rt_values = record_verbs_context_query_rt_values;
	all.vctx.read_counters = record_verbs_context_read_counters;
	all.vctx.reg_dm_mr = record_verbs_context_reg_dm_mr;
	all.vctx.context.ops.req_notify_cq = record_ibv_context_ops_req_notify_cq;
	all.cq.start_poll = record_ibv_cq_ex_start_poll;
	all.cq.read_byte_len = record_ibv_cq_ex_read_byte_len;
	all.cq.read_completion_ts = record_ibv_cq_ex_read_completion_ts;
	all.cq.read_completion_wallclock_ns = record_ibv_cq_ex_read_completion_wallclock_ns;
	all.cq.read_cvlan = record_ibv_cq_ex_read_cvlan;
	all.cq.read_dlid_path_bits = record_ibv_cq_ex_read_dlid_path_bits;
	all.cq.read_flow_tag = record_ibv_cq_ex_read_flow_tag;
	all.cq.read_imm_data = record_ibv_cq_ex_read_imm_data;
	all.cq.read_opcode = record_ibv_cq_ex_read_opcode;
	all.cq.read_qp_num = record_ibv_cq_ex_read_qp_num;
	all.cq.read_sl = record_ibv_cq_ex_read_sl;
	all.cq.read_slid = record_ibv_cq_ex_read_slid;
	all.cq.read_src_qp = record_ibv_cq_ex_read_src_qp;
	all.cq.read_tm_info = record_ibv_cq_ex_read_tm_info;
	all.cq.read_vendor_err = record_ibv_cq_ex_read_vendor_err;
	all.cq.read_wc_flags = record_ibv_cq_ex_read_wc_flags;
	all.qp.wr_abort = record_ibv_qp_ex_wr_abort;
	all.qp.wr_atomic_cmp_swp = record_ibv_qp_ex_wr_atomic_cmp_swp;
	all.qp.wr_atomic_fetch_add = record_ibv_qp_ex_wr_atomic_fetch_add;
	all.qp.wr_atomic_write = record_ibv_qp_ex_wr_atomic_write;
	all.qp.wr_bind_mw = record_ibv_qp_ex_wr_bind_mw;
	all.qp.wr_complete = record_ibv_qp_ex_wr_complete;
	all.qp.wr_flush = record_ibv_qp_ex_wr_flush;
	all.qp.wr_local_inv = record_ibv_qp_ex_wr_local_inv;
	all.qp.wr_rdma_read = record_ibv_qp_ex_wr_rdma_read;
	all.qp.wr_rdma_write = record_ibv_qp_ex_wr_rdma_write;
	all.qp.wr_rdma_write_imm = record_ibv_qp_ex_wr_rdma_write_imm;
	all.qp.wr_send = record_ibv_qp_ex_wr_send;
	all.qp.wr_send_imm = record_ibv_qp_ex_wr_send_imm;
	all.qp.wr_send_inv = record_ibv_qp_ex_wr_send_inv;
	all.qp.wr_send_tso = record_ibv_qp_ex_wr_send_tso;
	all.qp.wr_set_inline_data = record_ibv_qp_ex_wr_set_inline_data;
	all.qp.wr_set_inline_data_list = record_ibv_qp_ex_wr_set_inline_data_list;
	all.qp.wr_set_sge = record_ibv_qp_ex_wr_set_sge;
	all.qp.wr_set_sge_list = record_ibv_qp_ex_wr_set_sge_list;
	all.qp.wr_set_ud_addr = record_ibv_qp_ex_wr_set_ud_addr;
	all.qp.wr_set_xrc_srqn = record_ibv_qp_ex_wr_set_xrc_srqn;
	all.qp.wr_start = record_ibv_qp_ex_wr_start;
}

#define NUMBER(name, ...) \
	do { \
		long long result; \
		printf("  " #name "\n"); \
		errno = 0; \
		result = (long long)name(__VA_ARGS__); \
		printf("    = %lld, errno %d\n", result, errno); \
	} while (0)
#define POINTER(name, ...) \
	do { \
		const void *result; \
		printf("  " #name "\n"); \
		errno = 0; \
		result = name(__VA_ARGS__); \
		printf("    = %s, errno %d\n", object(result), errno); \
	} while (0)
#define NOTHING(name, ...) \
	do { \
		printf("  " #name "\n"); \
		name(__VA_ARGS__); \
	} while (0)

/* The bytes of the room that are not as reset() left them, summed up. */
static void print_room(void)
{
	unsigned long sum = 0, changed = 0;
	unsigned long long first;
	size_t i;

	/* Where a request was refused, its address is there. */
	memcpy(&first, all.room, sizeof(first));
	first = number(first);
	memcpy(all.room, &first, sizeof(first));
	for (i = 0; i < sizeof(all.room); i++) {
		if (all.room[i] != 0x5a)
			changed++;
		sum = sum * 31 + (unsigned char)all.room[i];
	}
	printf("    %lu bytes written, sum %lx\n", changed, sum);
}

#define ROOM(type) ((type *)(void *)all.room)

/* Inline functions that look for a place in the extended context. */
static void extended(void)
{
	NUMBER(___ibv_query_port, &all.vctx.context, 40, (void *)all.room);
	NUMBER(ibv_advise_mr, &all.pd, (enum ib_uverbs_advise_mr_advice)1, 53, (void *)all.room, 87);
	POINTER(ibv_alloc_dm, &all.vctx.context, (void *)all.room);
	POINTER(ibv_alloc_null_mr, &all.pd);
	POINTER(ibv_alloc_parent_domain, &all.vctx.context, (void *)all.room);
	POINTER(ibv_alloc_td, &all.vctx.context, (void *)all.room);
	NUMBER(ibv_attach_counters_point_flow, &all.counters, (void *)all.room, &all.flow);
	POINTER(ibv_create_counters, &all.vctx.context, (void *)all.room);
	POINTER(ibv_create_cq_ex, &all.vctx.context, (void *)all.room);
	POINTER(ibv_create_flow, &all.qp.qp_base, (void *)all.room);
	POINTER(ibv_create_flow_action_esp, &all.vctx.context, (void *)all.room);
	POINTER(ibv_create_rwq_ind_table, &all.vctx.context, (void *)all.room);
	NUMBER(ibv_dealloc_td, &all.td);
	NUMBER(ibv_destroy_counters, &all.counters);
	NUMBER(ibv_destroy_flow, &all.flow);
	NUMBER(ibv_destroy_flow_action, &all.action);
	NUMBER(ibv_destroy_rwq_ind_table, &all.table);
	NUMBER(ibv_destroy_wq, &all.wq);
	NUMBER(ibv_free_dm, &all.dm);
	NUMBER(ibv_get_srq_num, &all.srq, (void *)all.room);
	NUMBER(ibv_modify_cq, (struct ibv_cq *)&all.cq, (void *)all.room);
	NUMBER(ibv_modify_flow_action_esp, &all.action, (void *)all.room);
	NUMBER(ibv_modify_qp_rate_limit, &all.qp.qp_base, (void *)all.room);
	NUMBER(ibv_modify_wq, &all.wq, (void *)all.room);
	POINTER(ibv_open_qp, &all.vctx.context, (void *)all.room);
	POINTER(ibv_open_xrcd, &all.vctx.context, (void *)all.room);
	NUMBER(ibv_post_srq_ops, &all.srq, (void *)all.room, (struct ibv_ops_wr **)(void *)all.room);
	NUMBER(ibv_query_rt_values_ex, &all.vctx.context, (void *)all.room);
	NUMBER(ibv_read_counters, &all.counters, (void *)all.room, 57, 69);
	POINTER(ibv_reg_dm_mr, &all.pd, &all.dm, 57, 70, 86);
	print_room();
}

/* Inline functions that need no extended context. */
static void plain(void)
{
	POINTER(ibv_cq_ex_to_cq, &all.cq);
	NUMBER(ibv_dealloc_mw, &all.mw);
	NOTHING(ibv_end_poll, &all.cq);
	NUMBER(ibv_memcpy_from_dm, (void *)all.room, &all.dm, 57, 70);
	NUMBER(ibv_memcpy_to_dm, &all.dm, 41, (void *)all.room, 70);
	NUMBER(ibv_next_poll, &all.cq);
	NUMBER(ibv_poll_cq, (struct ibv_cq *)&all.cq, 43, (void *)all.room);
	NUMBER(ibv_post_recv, &all.qp.qp_base, (void *)all.room, (struct ibv_recv_wr **)(void *)all.room);
	NUMBER(ibv_post_send, &all.qp.qp_base, (void *)all.room, (struct ibv_send_wr **)(void *)all.room);
	NUMBER(ibv_post_srq_recv, &all.srq, (void *)all.room, (struct ibv_recv_wr **)(void *)all.room);
	NUMBER(ibv_post_wq_recv, &all.wq, (void *)all.room, (struct ibv_recv_wr **)(void *)all.room);
	NUMBER(ibv_query_comp_cntr_caps, &all.vctx.context, (void *)all.other);
	NUMBER(ibv_query_gid_ex, &all.vctx.context, 40, 57, (void *)all.room, 85);
	NUMBER(ibv_query_gid_table, &all.vctx.context, (void *)all.room, 59, 69);
	NUMBER(ibv_req_notify_cq, (struct ibv_cq *)&all.cq, 46);
	NUMBER(ibv_start_poll, &all.cq, (void *)all.room);
	NUMBER(ibv_wc_read_byte_len, &all.cq);
	NUMBER(ibv_wc_read_completion_ts, &all.cq);
	NUMBER(ibv_wc_read_completion_wallclock_ns, &all.cq);
	NUMBER(ibv_wc_read_cvlan, &all.cq);
	NUMBER(ibv_wc_read_dlid_path_bits, &all.cq);
	NUMBER(ibv_wc_read_flow_tag, &all.cq);
	NUMBER(ibv_wc_read_imm_data, &all.cq);
	NUMBER(ibv_wc_read_invalidated_rkey, &all.cq);
	NUMBER(ibv_wc_read_opcode, &all.cq);
	NUMBER(ibv_wc_read_qp_num, &all.cq);
	NUMBER(ibv_wc_read_sl, &all.cq);
	NUMBER(ibv_wc_read_slid, &all.cq);
	NUMBER(ibv_wc_read_src_qp, &all.cq);
	NOTHING(ibv_wc_read_tm_info, &all.cq, (void *)all.room);
	NUMBER(ibv_wc_read_vendor_err, &all.cq);
	NUMBER(ibv_wc_read_wc_flags, &all.cq);
	NOTHING(ibv_wr_abort, &all.qp);
	NOTHING(ibv_wr_atomic_cmp_swp, &all.qp, 36, 59, 71, 84);
	NOTHING(ibv_wr_atomic_fetch_add, &all.qp, 36, 59, 67);
	NOTHING(ibv_wr_atomic_write, &all.qp, 36, 59, (void *)all.room);
	NOTHING(ibv_wr_bind_mw, &all.qp, &all.mw, 52, (void *)all.room);
	NUMBER(ibv_wr_complete, &all.qp);
	NOTHING(ibv_wr_flush, &all.qp, 36, 59, 67, 84, 101);
	NOTHING(ibv_wr_local_inv, &all.qp, 47);
	NOTHING(ibv_wr_rdma_read, &all.qp, 36, 59);
	NOTHING(ibv_wr_rdma_write, &all.qp, 36, 59);
	NOTHING(ibv_wr_rdma_write_imm, &all.qp, 36, 59, 72);
	NOTHING(ibv_wr_send, &all.qp);
	NOTHING(ibv_wr_send_imm, &all.qp, 40);
	NOTHING(ibv_wr_send_inv, &all.qp, 47);
	NOTHING(ibv_wr_send_tso, &all.qp, (void *)all.room, 54, 67);
	NOTHING(ibv_wr_set_inline_data, &all.qp, (void *)all.room, 54);
	NOTHING(ibv_wr_set_inline_data_list, &all.qp, 39, (void *)all.room);
	NOTHING(ibv_wr_set_sge, &all.qp, 36, 52, 70);
	NOTHING(ibv_wr_set_sge_list, &all.qp, 39, (void *)all.room);
	NOTHING(ibv_wr_set_ud_addr, &all.qp, (void *)all.room, 58, 75);
	NOTHING(ibv_wr_set_xrc_srqn, &all.qp, 43);
	NOTHING(ibv_wr_start, &all.qp);
}

/* Functions that decide by their arguments. */
static void queries(void)
{
	struct ibv_query_device_ex_input zero = { 0 }, bad = { 1 };
	static const int answers[] = { 0, EOPNOTSUPP, ENOSYS, EINVAL, -1 };
	size_t i;

	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		answer = answers[i];
		NUMBER(ibv_query_device_ex, &all.vctx.context, NULL, ROOM(struct ibv_device_attr_ex));
		NUMBER(ibv_query_device_ex, &all.vctx.context, &zero, ROOM(struct ibv_device_attr_ex));
		NUMBER(ibv_query_device_ex, &all.vctx.context, &bad, ROOM(struct ibv_device_attr_ex));
		print_room();
		NUMBER(ibv_query_port, &all.vctx.context, 3, ROOM(struct ibv_port_attr));
		print_room();
		memset(all.room, 0x5a, sizeof(all.room));
	}
}

static void creations(void)
{
	static const enum ibv_srq_type types[] = { IBV_SRQT_BASIC, IBV_SRQT_XRC, IBV_SRQT_TM };
	struct ibv_qp_init_attr_ex *qp_attr = ROOM(struct ibv_qp_init_attr_ex);
	struct ibv_srq_init_attr_ex *srq_attr = ROOM(struct ibv_srq_init_attr_ex);
	struct ibv_wq_init_attr wq_attr = { 0 };
	uint32_t mask;
	size_t i;

	for (mask = 0; mask < 128; mask++) {
		memset(all.room, 0, sizeof(all.room));
		qp_attr->comp_mask = mask;
		qp_attr->pd = &all.pd;
		POINTER(ibv_create_qp_ex, &all.vctx.context, qp_attr);
		for (i = 0; i < 3; i++) {
			memset(all.room, 0, sizeof(all.room));
			srq_attr->comp_mask = mask;
			srq_attr->srq_type = types[i];
			srq_attr->pd = &all.pd;
			POINTER(ibv_create_srq_ex, &all.vctx.context, srq_attr);
		}
	}
	wq_attr.wq_context = all.other;
	answer_pointer = &all.wq;
	memset(&all.wq.events_completed, 0x77, sizeof(all.wq.events_completed));
	memset(&all.wq.mutex, 0x77, sizeof(all.wq.mutex));
	memset(&all.wq.cond, 0x77, sizeof(all.wq.cond));
	POINTER(ibv_create_wq, &all.vctx.context, &wq_attr);
	printf("    context %s, %u events, mutex %d\n", object(all.wq.wq_context),
	       all.wq.events_completed, *(unsigned char *)&all.wq.mutex);
	answer_pointer = NULL;
	POINTER(ibv_create_wq, &all.vctx.context, &wq_attr);
	answer_pointer = all.result;
}

static void memory(void)
{
	struct ibv_mw_bind bind = { 0 };
	volatile unsigned int not_constant = IBV_ACCESS_LOCAL_WRITE;
	unsigned int i;

	/* Constants are recognised in calls that are inlined. */
	POINTER(__ibv_reg_mr, &all.pd, all.room, 3, 1, 0);
	POINTER(__ibv_reg_mr, &all.pd, all.room, 3, 1, 1);
	POINTER(__ibv_reg_mr, &all.pd, NULL, 3, IBV_ACCESS_RELAXED_ORDERING, 1);
	POINTER(__ibv_reg_mr_iova, &all.pd, all.room, 3, 4, 1, 0);
	POINTER(__ibv_reg_mr_iova, &all.pd, all.room, 3, 4, 1, 1);
	POINTER(__ibv_reg_mr_iova, &all.pd, all.room, 3, 4, IBV_ACCESS_RELAXED_ORDERING, 1);
	POINTER(reg_mr, &all.pd, NULL, 3, not_constant);
	POINTER(reg_mr_constant, &all.pd, NULL, 3);
	POINTER(reg_mr_optional, &all.pd, all.room, 3);
	POINTER(reg_mr_iova, &all.pd, all.room, 3, 7);
	POINTER(reg_mr_iova_optional, &all.pd, all.room, 3, 7);
	for (i = 0; i < 64; i++) {
		all.mw.type = i & 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2;
		all.mr.pd = i & 2 ? &all.pd : &all.other_pd;
		bind.bind_info.mr = i & 4 ? &all.mr : NULL;
		bind.bind_info.addr = i & 8;
		bind.bind_info.length = i & 16;
		bind.bind_info.mw_access_flags = i & 32;
		NUMBER(ibv_bind_mw, &all.qp.qp_base, &all.mw, &bind);
	}
	POINTER(ibv_alloc_mw, &all.pd, IBV_MW_TYPE_2);
	all.vctx.context.ops.alloc_mw = NULL;
	POINTER(ibv_alloc_mw, &all.pd, IBV_MW_TYPE_2);
}

static void pure(void)
{
	static const uint32_t numbers[] = { 0, 1, 0xfe, 0xff, 0x100, 0x3fff, 0x4000, 0xfffff, 0x100000,
					    0x12345678, 0x7fffffff, 0xffffffff };
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
						  IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND,
						  IBV_QPT_XRC_RECV };
	size_t i, j;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		NUMBER(ibv_inc_rkey, numbers[i]);
		NUMBER(ibv_flow_label_to_udp_sport, numbers[i]);
		NUMBER(htonll, numbers[i] * 0x100000003ULL);
		NUMBER(ntohll, numbers[i] * 0x100000003ULL);
		for (j = 0; j < sizeof(types) / sizeof(types[0]); j++)
			NUMBER(ibv_is_qpt_supported, numbers[i], types[j]);
	}
}

/* The places in the extended context, one after the other without a function. */
static void without_one(void)
{
	size_t at;

	for (at = 0; at < offsetof(struct verbs_context, _ABI_placeholder3); at += sizeof(void *)) {
		if (at == offsetof(struct verbs_context, priv) ||
		    at == offsetof(struct verbs_context, close_xrcd))
			continue;
		reset();
		memset((char *)&all.vctx + at, 0, sizeof(void *));
		printf("without the one at %zu\n", at);
		extended();
		queries();
	}
	/* Without those that the size does not reach. */
	for (at = 0; at < offsetof(struct verbs_context, _ABI_placeholder3); at += sizeof(void *)) {
		reset();
		all.vctx.sz = sizeof(all.vctx) - at;
		printf("%zu bytes smaller\n", at);
		extended();
		printf("  %s\n", object(verbs_get_ctx_op(&all.vctx.context, query_port)));
		printf("  %s\n", object(verbs_get_ctx_op(&all.vctx.context, open_xrcd)));
	}
}

int main(void)
{
	static const long long answers[] = { 0, EINVAL, EOPNOTSUPP, -1 };
	size_t i;

	answer_pointer = all.result;
	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		reset();
		answer = answers[i];
		extended();
		plain();
		NUMBER(ibv_close_xrcd, &all.xrcd);
		queries();
	}
	reset();
	POINTER(verbs_get_ctx, &all.vctx.context);
	creations();
	memory();
	pure();
	without_one();
	printf("not extended\n");
	reset();
	all.vctx.context.abi_compat = NULL;
	POINTER(verbs_get_ctx, &all.vctx.context);
	extended();
	queries();
	creations();
	return 0;
}
