/* Queue pairs of the test programs: made, connected with each other, and waited for. */
#ifndef ABI_TESTS_QP_H
#define ABI_TESTS_QP_H

#include "common.h"
#include <poll.h>
#include <time.h>

enum {
	ALL_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND,
	QKEY = 0x11111111,
};

/* What most programs need of a device. */
struct port {
	struct ibv_context *context;
	struct ibv_pd *pd;
	union ibv_gid gid;
	int gid_index;
};

static inline void open_port(struct port *port, const char *name)
{
	port->context = open_device(name);
	port->pd = NEED(ibv_alloc_pd(port->context));
	port->gid_index = ipv4_gid(port->context, &port->gid);
}

static inline void close_port(struct port *port)
{
	CHECK(!ibv_dealloc_pd(port->pd));
	CHECK(!ibv_close_device(port->context));
}

static inline struct ibv_qp_init_attr qp_init(enum ibv_qp_type type, struct ibv_cq *cq,
					      struct ibv_srq *srq)
{
	return (struct ibv_qp_init_attr){
		.send_cq = cq, .recv_cq = cq, .srq = srq, .qp_type = type,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2,
			 .max_recv_sge = 2, .max_inline_data = 64 },
	};
}

static inline struct ibv_ah_attr to_gid(const struct port *port)
{
	return (struct ibv_ah_attr){
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = port->gid, .sgid_index = port->gid_index, .hop_limit = 64 },
	};
}

static inline int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	if (qp->qp_type == IBV_QPT_UD) {
		mask |= IBV_QP_QKEY;
	} else {
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
		if (qp->qp_type == IBV_QPT_RC)
			attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
		mask |= IBV_QP_ACCESS_FLAGS;
	}
	return ibv_modify_qp(qp, &attr, mask);
}

static inline int to_rtr(struct ibv_qp *qp, const struct port *port, uint32_t dest)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = dest,
		.rq_psn = 100, .max_dest_rd_atomic = 4, .min_rnr_timer = 1,
		.ah_attr = to_gid(port),
	};
	int mask = IBV_QP_STATE;

	if (qp->qp_type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(qp, &attr, mask);
}

static inline int to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .sq_psn = 100, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 4,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(qp, &attr, mask);
}

/* Takes a new queue pair to RTS, with the one numbered `dest` on the same port as its peer. */
static inline void connect_qp(struct ibv_qp *qp, const struct port *port, uint32_t dest)
{
	CHECK(!to_init(qp));
	CHECK(!to_rtr(qp, port, dest));
	CHECK(!to_rts(qp));
}

static inline int64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Polls until `count` completions came, or ten seconds are over; hands back how many came. */
static inline int poll_for(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	int64_t end = milliseconds() + 10000;
	int got = 0;

	while (got < count && milliseconds() < end) {
		int n = ibv_poll_cq(cq, count - got, wc + got);

		if (n < 0)
			return n;
		got += n;
	}
	return got;
}

/* Whether something can be read from a file descriptor within `timeout` milliseconds. */
static inline bool readable(int fd, int timeout)
{
	struct pollfd entry = { .fd = fd, .events = POLLIN };

	return poll(&entry, 1, timeout) == 1;
}

#endif
