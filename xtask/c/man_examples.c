/*
 * The examples of the manual, in a function each, with the lines of the page as they stand there: the
 * file NAME.inc has those of NAME.3. All of them run on the device inside the library, and what they
 * do is looked at. Prints how many there are; the exit status is 1 when one does not do what it says.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

/* What the examples take for granted. */
static struct ibv_device **list;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_qp_ex *qpx;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static struct ibv_mw *mw;
static struct ibv_wc wc;
static uint8_t *buffer, *part;
static size_t size;
static int port = 1;
static uint32_t own_psn = 77;
static struct {
	uint32_t qp_num, psn, rkey;
	uint64_t addr;
	union ibv_gid gid;
} peer;

static int handled, examples;

static void handle(const struct ibv_wc *of)
{
	handled += of->status == IBV_WC_SUCCESS;
}

/* Fails unless `what` is so. */
#define CHECK(what) \
	do { \
		if (!(what)) { \
			printf("line %d: not so: %s (%s)\n", __LINE__, #what, strerror(errno)); \
			exit(1); \
		} \
	} while (0)

/* The same for what an example has led to. */
#define EXAMPLE(what) \
	do { \
		examples++; \
		CHECK(what); \
	} while (0)

static struct ibv_pd *alloc_pd(void)
{
#include "ibv_alloc_pd.inc"
	return pd;
}

static struct ibv_qp *create_qp(void)
{
#include "ibv_create_qp.inc"
	return qp;
}

static struct ibv_qp_ex *create_qp_ex(void)
{
#include "ibv_create_qp_ex.inc"
	return qpx;
}

static int modify_qp(void)
{
#include "ibv_modify_qp.inc"
	return err;
}

static int get_device_list(void)
{
#include "ibv_get_device_list.inc"
	return 0;
}

static int open_device(void)
{
#include "ibv_open_device.inc"
	return 0;
}

static int import_device(int fd, uint32_t pd_handle, uint32_t mr_handle)
{
#include "ibv_import_device.inc"
	return context || pd || mr;
}

static int query_device(void)
{
#include "ibv_query_device.inc"
	return 0;
}

static int query_gid(void)
{
#include "ibv_query_gid.inc"
	return -1;
}

static void query_port(void)
{
#include "ibv_query_port.inc"
}

static struct ibv_mr *reg_mr(void)
{
#include "ibv_reg_mr.inc"
	return mr;
}

static int fork_init(void)
{
#include "ibv_fork_init.inc"
	return err;
}

static void verbs_ctx(void)
{
#include "verbs_get_ctx.inc"
}

static void event_type_str(void)
{
#include "ibv_event_type_str.inc"
}

static int post_recv(void)
{
#include "ibv_post_recv.inc"
	return err;
}

static int post_send(void)
{
#include "ibv_post_send.inc"
	return err;
}

static int wr_post(void)
{
#include "ibv_wr_post.inc"
	return err;
}

static int poll_cq(void)
{
#include "ibv_poll_cq.inc"
	return 0;
}

static int req_notify_cq(void)
{
#include "ibv_req_notify_cq.inc"
}

static int start_poll(struct ibv_cq_ex *cq)
{
#include "ibv_start_poll.inc"
	return ret == ENOENT ? 0 : ret;
}

static void get_async_event(void)
{
#include "ibv_get_async_event.inc"
}

static int alloc_mw(void)
{
#include "ibv_alloc_mw.inc"
	return mw->rkey == wr.bind_mw.rkey;
}

static int alloc_null_mr(void)
{
#include "ibv_alloc_null_mr.inc"
	struct ibv_recv_wr *bad, wr = { .wr_id = 2, .sg_list = list, .num_sge = 2 };

	return ibv_post_recv(qp, &wr, &bad);
}

static struct ibv_ah *create_ah_from_wc(struct ibv_send_wr *to)
{
	struct ibv_send_wr wr = *to;
#include "ibv_create_ah_from_wc.inc"
	*to = wr;
	return ah;
}

/* Connects the QP with itself. */
static void connect_qp(struct ibv_qp *to)
{
	qp = to;
	peer.qp_num = qp->qp_num;
	peer.psn = own_psn;
	CHECK(!modify_qp());
}

/* Whether the next completion is that of a request, and a good one. */
static int completes(uint64_t id)
{
	return ibv_poll_cq(cq, 1, &wc) == 1 && wc.wr_id == id && wc.status == IBV_WC_SUCCESS;
}

static void never_block(int fd)
{
	CHECK(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
}

static void devices(void)
{
	EXAMPLE(!fork_init());
	EXAMPLE(!get_device_list());
	CHECK((list = ibv_get_device_list(NULL)) && list[0]);
	EXAMPLE(!open_device());
	/* A file that is no device's. */
	EXAMPLE(!import_device(-1, 0, 0));
	CHECK((context = ibv_open_device(list[0])));
	EXAMPLE(!query_device());
	query_port();
	EXAMPLE(1);
	verbs_ctx();
	EXAMPLE(1);
	EXAMPLE(query_gid() >= 0);
	CHECK(!ibv_query_gid(context, 1, 1, &peer.gid));
}

static void objects(void)
{
	EXAMPLE((pd = alloc_pd()));
	EXAMPLE((mr = reg_mr()));
	buffer = mr->addr;
	size = mr->length;
	memset(buffer, 'b', size);
	CHECK((channel = ibv_create_comp_channel(context)));
	CHECK((cq = ibv_create_cq(context, 16, NULL, channel, 0)));
	EXAMPLE((qp = create_qp()));
	connect_qp(qp);
	EXAMPLE(1);
}

static void transfers(void)
{
	uint8_t *target = calloc(1, size);
	struct ibv_mr *own = mr, *remote = ibv_reg_mr(pd, target, size,
						      IBV_ACCESS_LOCAL_WRITE |
						      IBV_ACCESS_REMOTE_WRITE);

	CHECK(target && remote);
	peer.addr = (uintptr_t)target;
	peer.rkey = remote->rkey;
	EXAMPLE(!post_send());
	CHECK(completes(1) && !memcmp(target, buffer, size));
	wc.status = IBV_WC_REM_ACCESS_ERR;
	event_type_str();
	EXAMPLE(1);

	/* A write that fails, and its completion. */
	peer.rkey++;
	CHECK(!post_send());
	EXAMPLE(!poll_cq() && !ibv_poll_cq(cq, 1, &wc));
	peer.rkey--;
	ibv_destroy_qp(qp);
	connect_qp(create_qp());

	/* Two completions, one event. */
	never_block(channel->fd);
	CHECK(!ibv_req_notify_cq(cq, 0) && !post_send() && !post_send());
	EXAMPLE(req_notify_cq() == -1 && errno == EAGAIN && handled == 2);

	/* Into the buffer from the other one, but for the first 40 bytes: a receive of two pieces. */
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 2 },
	};

	ibv_destroy_qp(qp);
	connect_qp(ibv_create_qp(pd, &init));
	memset(target, 't', size);
	EXAMPLE(!alloc_null_mr());
	{
		struct ibv_sge piece = { .addr = peer.addr, .length = 100, .lkey = remote->lkey };
		struct ibv_send_wr *bad, wr = { .wr_id = 3, .sg_list = &piece, .num_sge = 1,
						.opcode = IBV_WR_SEND };

		target[40] = '!';
		CHECK(!ibv_post_send(qp, &wr, &bad));
		CHECK(completes(2) && wc.byte_len == 100);
		CHECK(buffer[0] == '!' && buffer[1] == 't' && buffer[59] == 't' && buffer[60] == 'b');
	}

	/* A receive, the new way to post into it, and bytes in the request. */
	struct ibv_qp_init_attr_ex extended = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = 4 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE,
	};

	ibv_destroy_qp(qp);
	EXAMPLE((qpx = create_qp_ex()));
	ibv_destroy_qp(&qpx->qp_base);
	connect_qp(ibv_create_qp_ex(context, &extended));
	qpx = ibv_qp_to_qp_ex(qp);
	EXAMPLE(!post_recv());
	EXAMPLE(!wr_post());
	for (int i = 0; i < 2; i++)
		CHECK(completes(2));
	CHECK(!memcmp(buffer, "done", 4));

	/* The second half through a window. */
	part = target + size / 2;
	size /= 2;
	CHECK((mr = ibv_reg_mr(pd, part, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)));
	CHECK((mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2)));
	ibv_destroy_qp(qp);
	connect_qp(create_qp());
	EXAMPLE(alloc_mw());
	CHECK(completes(0) && wc.opcode == IBV_WC_BIND_MW);
	CHECK(!ibv_dereg_mr(remote));
	mr = own;
	peer.addr = (uintptr_t)part;
	peer.rkey = mw->rkey;
	CHECK(!post_send() && completes(1) && !memcmp(part, buffer, size));
	ibv_destroy_qp(qp);
}

static void extended_cq(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_cq_ex *extended = ibv_create_cq_ex(context, &attr);
	struct ibv_cq *plain = cq;

	CHECK(extended);
	cq = ibv_cq_ex_to_cq(extended);
	connect_qp(create_qp());
	peer.addr = (uintptr_t)buffer + size;
	peer.rkey = mr->rkey;
	CHECK(!post_send() && !post_send());
	EXAMPLE(!start_poll(extended));
	CHECK(!ibv_poll_cq(cq, 1, &wc));
	ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
	cq = plain;
}

/* A datagram, and the answer to who sent it. */
static void datagrams(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 5 };
	struct ibv_ah_attr to = {
		.port_num = 1, .is_global = 1,
		.grh = { .dgid = peer.gid, .sgid_index = 1, .hop_limit = 64 },
	};
	struct ibv_sge piece = { .addr = (uintptr_t)buffer + 512, .length = 8, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = { .wr_id = 1, .sg_list = &piece, .num_sge = 1,
					.opcode = IBV_WR_SEND };

	CHECK((qp = ibv_create_qp(pd, &init)));
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	wr.wr.ud.ah = ibv_create_ah(pd, &to);
	wr.wr.ud.remote_qpn = qp->qp_num;
	wr.wr.ud.remote_qkey = 5;
	CHECK(wr.wr.ud.ah);
	CHECK(!post_recv() && !ibv_post_send(qp, &wr, &bad) && completes(2));
	CHECK(!ibv_destroy_ah(wr.wr.ud.ah));
	wr.wr.ud.remote_qpn = 0;
	EXAMPLE(create_ah_from_wc(&wr) == wr.wr.ud.ah && wr.wr.ud.ah);
	CHECK(!post_recv() && !ibv_post_send(qp, &wr, &bad) && completes(2) && wc.byte_len == 48);
	ibv_destroy_ah(wr.wr.ud.ah);
	ibv_destroy_qp(qp);
}

/* The last receive of a QP with a shared receive queue. */
static void event(void)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_async_event left;

	CHECK((init.srq = srq = ibv_create_srq(pd, &srq_attr)));
	connect_qp(ibv_create_qp(pd, &init));
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	never_block(context->async_fd);
	get_async_event();
	EXAMPLE(errno == EAGAIN && ibv_get_async_event(context, &left));
	ibv_destroy_qp(qp);
	ibv_destroy_srq(srq);
}

int main(void)
{
	devices();
	objects();
	transfers();
	extended_cq();
	datagrams();
	event();
	printf("%d examples\n", examples);
	return 0;
}
