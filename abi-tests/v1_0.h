/* The objects of IBVERBS_1.0, as a program of that time has them. */
#ifndef ABI_TESTS_V1_0_H
#define ABI_TESTS_V1_0_H

#include "common.h"
#include <pthread.h>

struct device_1_0 {
	void *obsolete[2];
	struct ibv_device *real;
	struct _ibv_device_ops ops;
};

struct cq_1_0;
struct qp_1_0;
struct srq_1_0;
struct ah_1_0;

struct recv_wr_1_0 {
	struct recv_wr_1_0 *next;
	uint64_t wr_id;
	struct ibv_sge *sg_list;
	int num_sge;
};

struct send_wr_1_0 {
	struct send_wr_1_0 *next;
	uint64_t wr_id;
	struct ibv_sge *sg_list;
	int num_sge;
	enum ibv_wr_opcode opcode;
	int send_flags;
	uint32_t imm_data;
	union {
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t remote_addr, compare_add, swap;
			uint32_t rkey;
		} atomic;
		struct {
			struct ah_1_0 *ah;
			uint32_t remote_qpn, remote_qkey;
		} ud;
	} wr;
};

/* Of the 27 functions of the context, these five were called by the inline verbs. */
struct ops_1_0 {
	void *before_poll_cq[7];
	int (*poll_cq)(struct cq_1_0 *cq, int count, struct ibv_wc *wc);
	int (*req_notify_cq)(struct cq_1_0 *cq, int solicited);
	void *before_post_srq_recv[7];
	int (*post_srq_recv)(struct srq_1_0 *srq, struct recv_wr_1_0 *wr, struct recv_wr_1_0 **bad);
	void *before_post_send[4];
	int (*post_send)(struct qp_1_0 *qp, struct send_wr_1_0 *wr, struct send_wr_1_0 **bad);
	int (*post_recv)(struct qp_1_0 *qp, struct recv_wr_1_0 *wr, struct recv_wr_1_0 **bad);
	void *behind_post_recv[4];
};

struct context_1_0 {
	struct device_1_0 *device;
	struct ops_1_0 ops;
	int cmd_fd, async_fd, num_comp_vectors;
	struct ibv_context *real;
};

struct pd_1_0 {
	struct context_1_0 *context;
	uint32_t handle;
	struct ibv_pd *real;
};

struct mr_1_0 {
	struct context_1_0 *context;
	struct pd_1_0 *pd;
	uint32_t handle, lkey, rkey;
	struct ibv_mr *real;
};

struct ah_1_0 {
	struct context_1_0 *context;
	struct pd_1_0 *pd;
	uint32_t handle;
	struct ibv_ah *real;
};

struct cq_1_0 {
	struct context_1_0 *context;
	void *cq_context;
	uint32_t handle;
	int cqe;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t comp_events_completed, async_events_completed;
	struct ibv_cq *real;
};

struct srq_1_0 {
	struct context_1_0 *context;
	void *srq_context;
	struct pd_1_0 *pd;
	uint32_t handle;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t events_completed;
	struct ibv_srq *real;
};

struct qp_init_attr_1_0 {
	void *qp_context;
	struct cq_1_0 *send_cq, *recv_cq;
	struct srq_1_0 *srq;
	struct ibv_qp_cap cap;
	enum ibv_qp_type qp_type;
	int sq_sig_all;
};

struct qp_1_0 {
	struct context_1_0 *context;
	void *qp_context;
	struct pd_1_0 *pd;
	struct cq_1_0 *send_cq, *recv_cq;
	struct srq_1_0 *srq;
	uint32_t handle, qp_num;
	enum ibv_qp_state state;
	enum ibv_qp_type qp_type;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t events_completed;
	struct ibv_qp *real;
};

_Static_assert(sizeof(struct device_1_0) == 40 && sizeof(struct context_1_0) == 248 &&
	       sizeof(struct pd_1_0) == 24 && sizeof(struct mr_1_0) == 40 &&
	       sizeof(struct ah_1_0) == 32 && sizeof(struct cq_1_0) == 128 &&
	       sizeof(struct srq_1_0) == 136 && sizeof(struct qp_1_0) == 168 &&
	       sizeof(struct qp_init_attr_1_0) == 64 && sizeof(struct send_wr_1_0) == 72 &&
	       sizeof(struct ops_1_0) == 216, "the layouts of IBVERBS_1.0 on 64-bit machines");

/* Macros of today that have the names of functions. */
#undef ibv_query_port
#undef ibv_reg_mr

/* Looked up with version IBVERBS_1.0 by load_1_0(). */
static struct {
	struct device_1_0 **(*ibv_get_device_list)(int *count);
	void (*ibv_free_device_list)(struct device_1_0 **list);
	const char *(*ibv_get_device_name)(struct device_1_0 *device);
	uint64_t (*ibv_get_device_guid)(struct device_1_0 *device);
	struct context_1_0 *(*ibv_open_device)(struct device_1_0 *device);
	int (*ibv_close_device)(struct context_1_0 *context);
	int (*ibv_get_async_event)(struct context_1_0 *context, struct ibv_async_event *event);
	void (*ibv_ack_async_event)(struct ibv_async_event *event);
	int (*ibv_query_device)(struct context_1_0 *context, struct ibv_device_attr *attr);
	int (*ibv_query_port)(struct context_1_0 *context, uint8_t port, struct ibv_port_attr *attr);
	int (*ibv_query_gid)(struct context_1_0 *context, uint8_t port, int index, union ibv_gid *gid);
	int (*ibv_query_pkey)(struct context_1_0 *context, uint8_t port, int index, uint16_t *pkey);
	struct pd_1_0 *(*ibv_alloc_pd)(struct context_1_0 *context);
	int (*ibv_dealloc_pd)(struct pd_1_0 *pd);
	struct mr_1_0 *(*ibv_reg_mr)(struct pd_1_0 *pd, void *addr, size_t length, int access);
	int (*ibv_dereg_mr)(struct mr_1_0 *mr);
	/* This one never had a wrapper: it takes the context of today. */
	struct ibv_comp_channel *(*ibv_create_comp_channel)(struct ibv_context *context);
	int (*ibv_destroy_comp_channel)(struct ibv_comp_channel *channel);
	struct cq_1_0 *(*ibv_create_cq)(struct context_1_0 *context, int cqe, void *cq_context,
				    struct ibv_comp_channel *channel, int vector);
	int (*ibv_resize_cq)(struct cq_1_0 *cq, int cqe);
	int (*ibv_destroy_cq)(struct cq_1_0 *cq);
	int (*ibv_get_cq_event)(struct ibv_comp_channel *channel, struct cq_1_0 **cq, void **context);
	void (*ibv_ack_cq_events)(struct cq_1_0 *cq, unsigned int count);
	struct srq_1_0 *(*ibv_create_srq)(struct pd_1_0 *pd, struct ibv_srq_init_attr *attr);
	int (*ibv_modify_srq)(struct srq_1_0 *srq, struct ibv_srq_attr *attr, int mask);
	int (*ibv_query_srq)(struct srq_1_0 *srq, struct ibv_srq_attr *attr);
	int (*ibv_destroy_srq)(struct srq_1_0 *srq);
	struct qp_1_0 *(*ibv_create_qp)(struct pd_1_0 *pd, struct qp_init_attr_1_0 *attr);
	int (*ibv_query_qp)(struct qp_1_0 *qp, struct ibv_qp_attr *attr, int mask,
			struct qp_init_attr_1_0 *init);
	int (*ibv_modify_qp)(struct qp_1_0 *qp, struct ibv_qp_attr *attr, int mask);
	int (*ibv_destroy_qp)(struct qp_1_0 *qp);
	struct ah_1_0 *(*ibv_create_ah)(struct pd_1_0 *pd, struct ibv_ah_attr *attr);
	int (*ibv_destroy_ah)(struct ah_1_0 *ah);
	int (*ibv_attach_mcast)(struct qp_1_0 *qp, union ibv_gid *gid, uint16_t lid);
	int (*ibv_detach_mcast)(struct qp_1_0 *qp, union ibv_gid *gid, uint16_t lid);
} v1;

#endif
