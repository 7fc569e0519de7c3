/*
 * Every error completion and asynchronous event of the device inside the library, as a client gets
 * them: status, vendor_err, the line in the log that explains it, the flushed requests behind it,
 * and the event at the other side. Run with VERBS_LOG_LEVEL=2 and VERBS_LOG_FILE.
 *
 * usage: errors            in one process and in two
 *        errors interface  events of port and device; in a network namespace of its own, as root
 */
#include "errors.h"

static struct ibv_context *context;
static struct ibv_pd *pd, *other_pd;
static struct ibv_cq *cqs[2];
static union ibv_gid own_gid;
static char *pages;
static size_t page;

/* Keys, and what they are good for. */
static struct {
	uint32_t good, unknown, other_pd, read_only, narrow, fault, window, other_window;
} keys = { .unknown = 0x7fffff00 };

/* Two QPs that are connected to each other: requests go from the first to the second. */
struct pair {
	struct ibv_qp *qp[2];
};

static struct pair new_pair(enum ibv_qp_type type, struct ibv_srq *srq, struct settings settings)
{
	struct pair pair;

	for (int side = 0; side < 2; side++) {
		struct ibv_qp_init_attr init = {
			.send_cq = cqs[side],
			.recv_cq = cqs[side],
			.srq = side ? srq : NULL,
			.cap = { 4, 4, 4, 4, 64 },
			.qp_type = type,
		};

		pair.qp[side] = ibv_create_qp(pd, &init);
		NEED(pair.qp[side]);
	}
	for (int side = 0; side < 2; side++)
		connect_to(pair.qp[side],
			   &(struct end){ .gid = own_gid, .qp_num = pair.qp[!side]->qp_num },
			   settings);
	return pair;
}

static void free_pair(struct pair pair)
{
	struct ibv_wc wc;

	NEED(!ibv_destroy_qp(pair.qp[0]) && !ibv_destroy_qp(pair.qp[1]));
	for (int side = 0; side < 2; side++)
		while (ibv_poll_cq(cqs[side], 1, &wc) > 0)
			;
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	NEED(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

/* A request that fails. */
struct failure {
	const char *title;
	enum ibv_wr_opcode opcode;
	/* Of the requester: key, offset in the memory, bytes; NULL is a good key, 0 bytes are 8. */
	const uint32_t *lkey;
	int64_t offset;
	uint32_t length;
	int num_sge;
	/* Of the responder. */
	const uint32_t *rkey;
	int64_t remote_offset;
	/* Receives that it has posted, and their keys and bytes. */
	int receives;
	const uint32_t *receive_key;
	uint32_t receive_length;
	struct settings settings;
	/* What comes of it. */
	enum ibv_wc_status status;
	unsigned vendor_err;
	const char *line;
	/* At the responder: status of its receive, and an event. */
	enum ibv_wc_status receive_status;
	unsigned receive_vendor_err;
	int event;
};

/* No event. */
#define NOTHING 0
#define EVENT(name) (1 + (int)(name))

static const struct failure failures[] = {
	/* Local errors. */
	{ "local length: more than a message may have", IBV_WR_SEND, .length = UINT32_MAX,
	  .status = IBV_WC_LOC_LEN_ERR, .vendor_err = 3,
	  .line = "urxe: QP #, wr_id #: # bytes in a message, the most are #" },
	{ "local length: result of an atomic", IBV_WR_ATOMIC_FETCH_AND_ADD, .length = 4,
	  .status = IBV_WC_LOC_LEN_ERR, .vendor_err = 6,
	  .line = "urxe: QP #, wr_id #: # bytes for the result of an atomic" },
	{ "local QP operation: a read", IBV_WR_RDMA_READ, .settings = { .no_reads = true },
	  .status = IBV_WC_LOC_QP_OP_ERR, .vendor_err = 2,
	  .line = "urxe: QP #, wr_id #: a read or an atomic, and max_rd_atomic is 0" },
	{ "local QP operation: an atomic", IBV_WR_ATOMIC_CMP_AND_SWP,
	  .settings = { .no_reads = true }, .status = IBV_WC_LOC_QP_OP_ERR, .vendor_err = 2,
	  .line = "urxe: QP #, wr_id #: a read or an atomic, and max_rd_atomic is 0" },
	{ "local protection: no key", IBV_WR_SEND, &keys.unknown, .status = IBV_WC_LOC_PROT_ERR,
	  .vendor_err = 4, .line = "urxe: QP #, wr_id #: local key # is not known" },
	{ "local protection: another PD", IBV_WR_SEND, &keys.other_pd,
	  .status = IBV_WC_LOC_PROT_ERR, .vendor_err = 4,
	  .line = "urxe: QP #, wr_id #: local key # is of PD #, not of PD #" },
	{ "local protection: key of a window", IBV_WR_SEND, &keys.window,
	  .status = IBV_WC_LOC_PROT_ERR, .vendor_err = 4,
	  .line = "urxe: QP #, wr_id #: local key # is of a window: not a local key" },
	{ "local protection: no local write", IBV_WR_RDMA_READ, &keys.read_only,
	  .status = IBV_WC_LOC_PROT_ERR, .vendor_err = 4,
	  .line = "urxe: QP #, wr_id #: local key # allows # and lacks access #" },
	{ "local protection: before the range", IBV_WR_SEND, &keys.narrow, .offset = 60,
	  .status = IBV_WC_LOC_PROT_ERR, .vendor_err = 4,
	  .line = "urxe: QP #, wr_id #: local key # covers # bytes at #: # bytes at # begin # "
		  "bytes before them" },
	{ "local protection: behind the range", IBV_WR_SEND, &keys.narrow, .offset = 124,
	  .status = IBV_WC_LOC_PROT_ERR, .vendor_err = 4,
	  .line = "urxe: QP #, wr_id #: local key # covers # bytes at #: # bytes at # end # bytes "
		  "behind them" },
	{ "local protection: memory that is gone", IBV_WR_RDMA_WRITE, &keys.fault,
	  .status = IBV_WC_LOC_PROT_ERR, .vendor_err = 5,
	  .line = "urxe: QP #, wr_id #: memory of the request is not mapped" },
	/* The receive. */
	{ "remote invalid request: receive too short", IBV_WR_SEND, .length = 100, .receives = 2,
	  .receive_length = 60, .status = IBV_WC_REM_INV_REQ_ERR, .vendor_err = 21,
	  .line = "urxe: QP #, wr_id #: a message of # bytes is # bytes longer than the receive "
		  "(wr_id #) of QP #",
	  .receive_status = IBV_WC_LOC_LEN_ERR, .receive_vendor_err = 21 },
	{ "remote operation: key of the receive", IBV_WR_SEND, .receives = 2,
	  .receive_key = &keys.unknown, .status = IBV_WC_REM_OP_ERR, .vendor_err = 22,
	  .line = "urxe: QP #, wr_id #: receive (wr_id #) of QP #: key # is not known",
	  .receive_status = IBV_WC_LOC_PROT_ERR, .receive_vendor_err = 22 },
	{ "remote operation: the receive is not to be written", IBV_WR_SEND, .receives = 2,
	  .receive_key = &keys.read_only, .status = IBV_WC_REM_OP_ERR, .vendor_err = 22,
	  .line = "urxe: QP #, wr_id #: receive (wr_id #) of QP #: key # allows # and lacks access #",
	  .receive_status = IBV_WC_LOC_PROT_ERR, .receive_vendor_err = 22 },
	{ "remote operation: memory of the receive is gone", IBV_WR_SEND, .receives = 2,
	  .receive_key = &keys.fault, .status = IBV_WC_REM_OP_ERR, .vendor_err = 23,
	  .line = "urxe: QP #, wr_id #: memory of the receive (wr_id #) of QP # is not mapped",
	  .receive_status = IBV_WC_LOC_PROT_ERR, .receive_vendor_err = 23 },
	{ "local access: write with immediate data to memory that is gone",
	  IBV_WR_RDMA_WRITE_WITH_IMM, .receives = 2, .rkey = &keys.fault,
	  .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 23,
	  .line = "urxe: QP #, wr_id #: memory of key # of QP # is not mapped",
	  .receive_status = IBV_WC_LOC_ACCESS_ERR, .receive_vendor_err = 23 },
	{ "RNR retry exceeded", IBV_WR_SEND, .status = IBV_WC_RNR_RETRY_EXC_ERR, .vendor_err = 16,
	  .line = "urxe: QP #, wr_id #: QP # has no receive, after # tries # ns apart" },
	/* Rights of the peer's QP. */
	{ "remote invalid request: QP without writes", IBV_WR_RDMA_WRITE,
	  .settings = { .no_access = true }, .status = IBV_WC_REM_INV_REQ_ERR, .vendor_err = 18,
	  .line = "urxe: QP #, wr_id #: QP # allows # and lacks access #",
	  .event = EVENT(IBV_EVENT_QP_REQ_ERR) },
	{ "remote invalid request: QP without reads", IBV_WR_RDMA_READ,
	  .settings = { .no_access = true }, .status = IBV_WC_REM_INV_REQ_ERR, .vendor_err = 18,
	  .line = "urxe: QP #, wr_id #: QP # allows # and lacks access #",
	  .event = EVENT(IBV_EVENT_QP_REQ_ERR) },
	{ "remote invalid request: QP without room for reads", IBV_WR_RDMA_READ,
	  .settings = { .no_reads_of_peer = true }, .status = IBV_WC_REM_INV_REQ_ERR,
	  .vendor_err = 26,
	  .line = "urxe: QP #, wr_id #: max_dest_rd_atomic of QP # is 0",
	  .event = EVENT(IBV_EVENT_QP_REQ_ERR) },
	{ "remote invalid request: an atomic that is not aligned", IBV_WR_ATOMIC_FETCH_AND_ADD,
	  .remote_offset = 4, .status = IBV_WC_REM_INV_REQ_ERR, .vendor_err = 20,
	  .line = "urxe: QP #, wr_id #: # is not the address of a word",
	  .event = EVENT(IBV_EVENT_QP_REQ_ERR) },
	/* Keys of the peer. */
	{ "remote access: no key", IBV_WR_RDMA_WRITE, .rkey = &keys.unknown,
	  .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 19,
	  .line = "urxe: QP #, wr_id #: at QP #: key # is not known",
	  .event = EVENT(IBV_EVENT_QP_ACCESS_ERR) },
	{ "remote access: another PD", IBV_WR_RDMA_READ, .rkey = &keys.other_pd,
	  .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 19,
	  .line = "urxe: QP #, wr_id #: at QP #: key # is of PD #, not of PD #",
	  .event = EVENT(IBV_EVENT_QP_ACCESS_ERR) },
	{ "remote access: no remote write", IBV_WR_RDMA_WRITE, .rkey = &keys.read_only,
	  .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 19,
	  .line = "urxe: QP #, wr_id #: at QP #: key # allows # and lacks access #",
	  .event = EVENT(IBV_EVENT_QP_ACCESS_ERR) },
	{ "remote access: no remote atomic", IBV_WR_ATOMIC_CMP_AND_SWP, .rkey = &keys.read_only,
	  .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 19,
	  .line = "urxe: QP #, wr_id #: at QP #: key # allows # and lacks access #",
	  .event = EVENT(IBV_EVENT_QP_ACCESS_ERR) },
	{ "remote access: before the range", IBV_WR_RDMA_WRITE, .rkey = &keys.narrow,
	  .remote_offset = 60, .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 19,
	  .line = "urxe: QP #, wr_id #: at QP #: key # covers # bytes at #: # bytes at # begin # "
		  "bytes before them",
	  .event = EVENT(IBV_EVENT_QP_ACCESS_ERR) },
	{ "remote access: behind the range", IBV_WR_RDMA_READ, .rkey = &keys.narrow,
	  .remote_offset = 124, .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 19,
	  .line = "urxe: QP #, wr_id #: at QP #: key # covers # bytes at #: # bytes at # end # bytes "
		  "behind them",
	  .event = EVENT(IBV_EVENT_QP_ACCESS_ERR) },
	{ "remote access: a range that wraps", IBV_WR_RDMA_WRITE, .remote_offset = INT64_MIN,
	  .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 19,
	  .line = "urxe: QP #, wr_id #: at QP #: key # covers # bytes at #: # bytes at # end # bytes "
		  "behind them",
	  .event = EVENT(IBV_EVENT_QP_ACCESS_ERR) },
	{ "remote access: window of another QP", IBV_WR_RDMA_READ, .rkey = &keys.other_window,
	  .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 19,
	  .line = "urxe: QP #, wr_id #: at QP #: key # is of a window of QP #, not of QP #",
	  .event = EVENT(IBV_EVENT_QP_ACCESS_ERR) },
	{ "remote access: memory that is gone", IBV_WR_RDMA_READ, .rkey = &keys.fault,
	  .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 23,
	  .line = "urxe: QP #, wr_id #: memory of key # of QP # is not mapped",
	  .event = EVENT(IBV_EVENT_QP_ACCESS_ERR) },
	{ "remote access: an atomic on memory that is gone", IBV_WR_ATOMIC_FETCH_AND_ADD,
	  .rkey = &keys.fault, .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 23,
	  .line = "urxe: QP #, wr_id #: memory of key # of QP # is not mapped",
	  .event = EVENT(IBV_EVENT_QP_ACCESS_ERR) },
	{ "remote access: invalidation of a region", IBV_WR_SEND_WITH_INV, .receives = 2,
	  .rkey = &keys.good, .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 8,
	  .line = "urxe: QP #, wr_id #: invalidation at QP #: key # is not of a window of type 2, "
		  "so it cannot be invalidated",
	  .receive_status = IBV_WC_MW_BIND_ERR, .receive_vendor_err = 8 },
	/* Windows. */
	{ "MW bind: invalidation of a region", IBV_WR_LOCAL_INV, .rkey = &keys.good,
	  .status = IBV_WC_MW_BIND_ERR, .vendor_err = 8,
	  .line = "urxe: QP #, wr_id #: local invalidation: key # is not of a window of type 2, so "
		  "it cannot be invalidated" },
	{ "MW bind: invalidation of a window of another QP", IBV_WR_LOCAL_INV,
	  .rkey = &keys.other_window, .status = IBV_WC_MW_BIND_ERR, .vendor_err = 8,
	  .line = "urxe: QP #, wr_id #: local invalidation: key # is of a window of QP #, not of "
		  "QP #" },
};

/* Memory that is registered on demand, and is not there. */
static char *gone;

static char *at(const uint32_t *key, int64_t offset)
{
	return key == &keys.fault ? gone : pages + offset;
}

static uint32_t key_of(const uint32_t *key)
{
	return key ? *key : keys.good;
}

static void run(const struct failure *row)
{
	struct pair pair = new_pair(IBV_QPT_RC, NULL, row->settings);
	uint32_t length = row->length ? row->length : 8;
	struct ibv_sge list = { (uintptr_t)at(row->lkey, row->offset), length, key_of(row->lkey) };
	struct ibv_sge room = { (uintptr_t)at(row->receive_key, 0),
				row->receive_length ? row->receive_length : 64,
				key_of(row->receive_key) };
	uint64_t remote = row->remote_offset == INT64_MIN
				  ? UINT64_MAX - 3
				  : (uintptr_t)at(row->rkey, row->remote_offset);
	struct ibv_send_wr *bad, next = {
		.wr_id = 0x22,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, wr = {
		.wr_id = 0x11,
		.next = &next,
		.sg_list = &list,
		.num_sge = row->opcode == IBV_WR_LOCAL_INV ? 0 : 1,
		.opcode = row->opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};
	char wrong[1024] = "";

	for (int count = 0; count < row->receives; count++) {
		struct ibv_recv_wr *bad_recv, recv = {
			.wr_id = 0x1000 + count,
			.sg_list = &room,
			.num_sge = 1,
		};

		NEED(!ibv_post_recv(pair.qp[1], &recv, &bad_recv));
	}
	switch (row->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr.wr.atomic.remote_addr = remote;
		wr.wr.atomic.rkey = key_of(row->rkey);
		break;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		wr.invalidate_rkey = key_of(row->rkey);
		break;
	default:
		wr.wr.rdma.remote_addr = remote;
		wr.wr.rdma.rkey = key_of(row->rkey);
	}
	new_lines();
	NEED(!ibv_post_send(pair.qp[0], &wr, &bad));
	check_completion(wrong, "request", cqs[0], 0x11, row->status, row->vendor_err);
	check_completion(wrong, "next request", cqs[0], 0x22, IBV_WC_WR_FLUSH_ERR, 0);
	check_log(wrong, row->line);
	if (row->receive_status)
		check_completion(wrong, "receive", cqs[1], 0x1000, row->receive_status,
				 row->receive_vendor_err);
	for (int count = 1; row->receive_status && count < row->receives; count++)
		check_completion(wrong, "next receive", cqs[1], 0x1000 + count,
				 IBV_WC_WR_FLUSH_ERR, 0);
	if (row->event)
		check_event(wrong, context, (enum ibv_event_type)(row->event - 1), pair.qp[1]);
	check_no_event(wrong, context);
	if (state_of(pair.qp[0]) != IBV_QPS_ERR)
		add(wrong, "the requester's QP is in state %d; ", state_of(pair.qp[0]));
	if ((state_of(pair.qp[1]) == IBV_QPS_ERR) != (row->event || row->receive_status))
		add(wrong, "the responder's QP is in state %d; ", state_of(pair.qp[1]));
	free_pair(pair);
	report(row->title, wrong);
}

/* Binding windows of both types. */
static int bind(struct ibv_qp *qp, struct ibv_mw *mw, uint32_t rkey, struct ibv_mr *mr,
		uint64_t address, uint64_t length, unsigned access)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = 0x33,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { mw, rkey, { mr, address, length, access } },
	};

	return ibv_post_send(qp, &wr, &bad);
}

static void fails_to_bind(const char *title, const char *line, struct ibv_pd *domain,
			  struct ibv_mr *mr, uint32_t key_change, int64_t offset, uint64_t length,
			  unsigned access, bool is_bound)
{
	struct pair pair = new_pair(IBV_QPT_RC, NULL, (struct settings){ 0 });
	struct ibv_mw *mw = ibv_alloc_mw(domain, IBV_MW_TYPE_2);
	uint64_t address = (uintptr_t)pages + offset;
	char wrong[1024] = "";
	struct ibv_wc wc;

	NEED(mw);
	if (is_bound) {
		NEED(!bind(pair.qp[0], mw, mw->rkey + 1, mr, address, length, access));
		NEED(wait_for(cqs[0], &wc) && wc.status == IBV_WC_SUCCESS);
	}
	new_lines();
	NEED(!bind(pair.qp[0], mw, mw->rkey + key_change, mr, address, length, access));
	check_completion(wrong, "request", cqs[0], 0x33, IBV_WC_MW_BIND_ERR, 7);
	check_log(wrong, line);
	free_pair(pair);
	NEED(!ibv_dealloc_mw(mw));
	report(title, wrong);
}

static void bindings(struct ibv_mr *good, struct ibv_mr *other, struct ibv_mr *read_only)
{
#define BINDING "urxe: QP #, wr_id #: binding a window: "
	const unsigned read = IBV_ACCESS_REMOTE_READ;

	fails_to_bind("MW bind: no new key", BINDING "# is no new key of the window with key #", pd,
		      good, 0, 0, 64, read, false);
	fails_to_bind("MW bind: bound already", BINDING "window # is bound already", pd, good, 1, 0,
		      64, read, true);
	fails_to_bind("MW bind: no bytes",
		      BINDING "window # is of type 2 and not bound to no bytes", pd, good, 1, 0, 0,
		      read, false);
	fails_to_bind("MW bind: window of another PD",
		      BINDING "the window is of PD #, the QP of PD #", other_pd, other, 1, 0, 64,
		      read, false);
	fails_to_bind("MW bind: region of another PD",
		      BINDING "region: key # is of PD #, not of PD #", pd, other, 1, 0, 64, read,
		      false);
	fails_to_bind("MW bind: outside of the region", BINDING "region: key # covers # bytes at #: *",
		      pd, good, 1, 0, 16 * page, read, false);
	fails_to_bind("MW bind: region without IBV_ACCESS_MW_BIND",
		      BINDING "region # with access # cannot have a window with access #", pd,
		      read_only, 1, 0, 64, read, false);
}

/* Datagrams. */
static void datagrams(void)
{
	struct pair pair = new_pair(IBV_QPT_UD, NULL, (struct settings){ 0 });
	struct ibv_ah_attr address = address_of(context, own_gid);
	struct ibv_ah *ah = ibv_create_ah(pd, &address);
	struct ibv_sge list = { (uintptr_t)pages, 100, keys.good };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 0x44,
		.sg_list = &list,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { ah, pair.qp[1]->qp_num, 0x22222222 },
	};
	char wrong[1024] = "";

	NEED(ah);
	new_lines();
	NEED(!ibv_post_send(pair.qp[0], &wr, &bad));
	check_completion(wrong, "request", cqs[0], 0x44, IBV_WC_SUCCESS, 0);
	check_log(wrong, "urxe: QP #, wr_id #: QP # has Q_Key #, the datagram has #: dropped");
	report("datagram: another Q_Key", wrong);

	wrong[0] = 0;
	list.length = 2 * page;
	NEED(!ibv_post_send(pair.qp[0], &wr, &bad));
	check_completion(wrong, "request", cqs[0], 0x44, IBV_WC_LOC_LEN_ERR, 3);
	check_log(wrong, "urxe: QP #, wr_id #: # bytes in a datagram, MTU #");
	if (state_of(pair.qp[0]) != IBV_QPS_SQE)
		add(wrong, "the QP is not in state SQE; ");
	NEED(!ibv_post_send(pair.qp[0], &wr, &bad));
	check_completion(wrong, "next request", cqs[0], 0x44, IBV_WC_WR_FLUSH_ERR, 0);
	report("local length: a datagram above the MTU", wrong);
	NEED(!ibv_destroy_ah(ah));
	free_pair(pair);
}

static int send_one(struct ibv_qp *qp, uint64_t wr_id, uint32_t length)
{
	struct ibv_sge list = { (uintptr_t)pages, length, keys.good };
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &list,
		.num_sge = length ? 1 : 0,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	return ibv_post_send(qp, &wr, &bad);
}

static int receive(struct ibv_qp *qp, struct ibv_srq *srq, uint64_t wr_id, uint32_t key)
{
	struct ibv_sge list = { (uintptr_t)pages, 64, key };
	struct ibv_recv_wr *bad, wr = { .wr_id = wr_id, .sg_list = &list, .num_sge = 1 };

	return srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad);
}

/* XRC: the SRQ of a request is not there, or of another domain. */
static void xrc(void)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_xrcd *domains[2] = { ibv_open_xrcd(context, &attr),
					ibv_open_xrcd(context, &attr) };
	struct ibv_srq_init_attr_ex queue = {
		.attr = { 2, 2, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.cq = cqs[1],
		.xrcd = domains[1],
	};
	struct ibv_srq *srq = ibv_create_srq_ex(context, &queue);
	uint32_t srq_num;

	NEED(domains[0] && domains[1] && srq && !ibv_get_srq_num(srq, &srq_num));
	for (int row = 0; row < 2; row++) {
		struct ibv_qp_init_attr_ex target = {
			.qp_type = IBV_QPT_XRC_RECV,
			.comp_mask = IBV_QP_INIT_ATTR_XRCD,
			.xrcd = domains[0],
		}, source = {
			.qp_type = IBV_QPT_XRC_SEND,
			.send_cq = cqs[0],
			.cap = { 2, 0, 1, 0, 0 },
			.comp_mask = IBV_QP_INIT_ATTR_PD,
			.pd = pd,
		};
		struct pair pair = { { ibv_create_qp_ex(context, &source),
				       ibv_create_qp_ex(context, &target) } };
		struct ibv_send_wr *bad, wr = {
			.wr_id = 0x55,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.qp_type.xrc.remote_srqn = row ? srq_num : srq_num + 1,
		};
		char wrong[1024] = "";

		NEED(pair.qp[0] && pair.qp[1]);
		for (int side = 0; side < 2; side++)
			connect_to(pair.qp[side],
				   &(struct end){ .gid = own_gid,
						  .qp_num = pair.qp[!side]->qp_num },
				   (struct settings){ 0 });
		new_lines();
		NEED(!ibv_post_send(pair.qp[0], &wr, &bad));
		check_completion(wrong, "request", cqs[0], 0x55, IBV_WC_REM_INV_REQ_ERR, 24);
		check_log(wrong, row ? "urxe: QP #, wr_id #: SRQ # is of XRC domain #, QP # of domain #"
				     : "urxe: QP #, wr_id #: there is no SRQ #");
		check_event(wrong, context, IBV_EVENT_QP_REQ_ERR, pair.qp[1]);
		report(row ? "remote invalid request: SRQ of another domain"
			   : "remote invalid request: no such SRQ",
		       wrong);
		free_pair(pair);
	}
	NEED(!ibv_destroy_srq(srq) && !ibv_close_xrcd(domains[0]) && !ibv_close_xrcd(domains[1]));
}

/* Events of QPs, SRQs and CQs. */
static void events(void)
{
	struct ibv_srq_init_attr init = { .attr = { 8, 1, 0 } };
	struct ibv_srq_attr limit = { .srq_limit = 2 };
	struct ibv_qp_attr to_sqd = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_qp_attr to_rts_again = { .qp_state = IBV_QPS_RTS };
	struct ibv_qp_attr to_error = { .qp_state = IBV_QPS_ERR };
	struct ibv_srq *srq = ibv_create_srq(pd, &init);
	struct ibv_cq *kept = cqs[1], *tiny = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct pair pair;
	struct ibv_wc wc;
	char wrong[1024] = "";
	struct settings settings = { 0 };
	struct ibv_qp *early;

	NEED(srq && tiny);
	/* Communication established: a request comes before the owner has gone to RTS. */
	pair = new_pair(IBV_QPT_RC, NULL, settings);
	early = pair.qp[1];
	NEED(!ibv_modify_qp(early, &(struct ibv_qp_attr){ 0 }, IBV_QP_STATE));
	NEED(!to_init(early, &settings) && !receive(early, NULL, 1, keys.good));
	NEED(!to_rtr(early, &(struct end){ .gid = own_gid, .qp_num = pair.qp[0]->qp_num },
		     &settings));
	NEED(!send_one(pair.qp[0], 2, 8));
	check_completion(wrong, "request", cqs[0], 2, IBV_WC_SUCCESS, 0);
	check_event(wrong, context, IBV_EVENT_COMM_EST, early);
	report("event: communication established", wrong);
	free_pair(pair);

	/* SQ drained. */
	wrong[0] = 0;
	pair = new_pair(IBV_QPT_RC, NULL, settings);
	NEED(!ibv_modify_qp(pair.qp[0], &to_sqd, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	check_event(wrong, context, IBV_EVENT_SQ_DRAINED, pair.qp[0]);
	report("event: SQ drained", wrong);

	/* More events than their file has room for. */
	wrong[0] = 0;
	new_lines();
	for (int count = 0; count < 5000; count++) {
		NEED(!ibv_modify_qp(pair.qp[0], &to_rts_again, IBV_QP_STATE));
		NEED(!ibv_modify_qp(pair.qp[0], &to_sqd,
				    IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	}
	check_log(wrong, "urxe: an event for process slot #, file #, is lost: *");
	report("event: lost, as nobody reads", wrong);
	free_pair(pair);
	check_no_event(wrong, context);

	/* SRQ limit, and last WQE reached. */
	wrong[0] = 0;
	pair = new_pair(IBV_QPT_RC, srq, settings);
	NEED(!receive(NULL, srq, 1, keys.good) && !receive(NULL, srq, 2, keys.good));
	NEED(!ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT));
	NEED(!send_one(pair.qp[0], 3, 8) && wait_for(cqs[0], &wc));
	check_event(wrong, context, IBV_EVENT_SRQ_LIMIT_REACHED, srq);
	report("event: SRQ limit", wrong);
	wrong[0] = 0;
	NEED(!ibv_modify_qp(pair.qp[1], &to_error, IBV_QP_STATE));
	check_event(wrong, context, IBV_EVENT_QP_LAST_WQE_REACHED, pair.qp[1]);
	report("event: last WQE reached", wrong);
	free_pair(pair);

	/* CQ error, and the QP with it. */
	wrong[0] = 0;
	cqs[1] = tiny;
	pair = new_pair(IBV_QPT_RC, NULL, settings);
	for (int count = 0; count < 2; count++)
		NEED(!receive(pair.qp[1], NULL, count, keys.good));
	new_lines();
	for (int count = 0; count < 2; count++)
		NEED(!send_one(pair.qp[0], count, 8) && wait_for(cqs[0], &wc));
	check_log(wrong, "urxe: no room for a completion of QP # (wr_id #): all # entries of its CQ "
			 "are in use");
	check_event(wrong, context, IBV_EVENT_CQ_ERR, tiny);
	report("event: CQ error", wrong);
	wrong[0] = 0;
	check_event(wrong, context, IBV_EVENT_QP_FATAL, pair.qp[1]);
	check_no_event(wrong, context);
	report("event: QP fatal", wrong);
	free_pair(pair);
	cqs[1] = kept;
	NEED(!ibv_destroy_cq(tiny) && !ibv_destroy_srq(srq));
}

/* The other process: a responder. What it does is one letter. */
struct peer {
	pid_t pid;
	int order, answer;
	struct end end;
	bool has_srq;
};

static void tell(int fd, const void *bytes, size_t size)
{
	NEED(write(fd, bytes, size) == (ssize_t)size);
}

static bool hear(int fd, void *bytes, size_t size)
{
	return read(fd, bytes, size) == (ssize_t)size;
}

/* What the responder does: sets up, and then what it is told, with an answer of one text each. */
static void respond(int order, int answer, bool has_srq)
{
	struct ibv_srq_init_attr init = { .attr = { 4, 1, 0 } };
	struct ibv_qp_init_attr qp_init = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_srq *srq = NULL;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct end self = { 0 }, peer;
	char letter;

	context = open_device();
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	NEED(pd && cq);
	if (has_srq)
		srq = ibv_create_srq(pd, &init);
	qp_init.send_cq = qp_init.recv_cq = cq;
	qp_init.srq = srq;
	qp = ibv_create_qp(pd, &qp_init);
	mr = ibv_reg_mr(pd, pages, page, ALL_ACCESS);
	NEED(qp && mr);
	gid_of(context, &self.gid);
	self.qp_num = qp->qp_num;
	self.rkey = mr->rkey;
	self.address = (uintptr_t)pages;
	tell(answer, &self, sizeof(self));
	NEED(hear(order, &peer, sizeof(peer)));
	connect_to(qp, &peer, (struct settings){ 0 });
	NEED(!receive(qp, srq, 0x2000, mr->lkey));
	tell(answer, "+", 1);
	while (hear(order, &letter, 1)) {
		char wrong[1024] = "";

		switch (letter) {
		case 'f': /* The QP has failed. */
			check_event(wrong, context, IBV_EVENT_QP_FATAL, qp);
			break;
		case 's': /* The SRQ is in error, and with it the QP. */
			check_event(wrong, context, IBV_EVENT_SRQ_ERR, srq);
			check_event(wrong, context, IBV_EVENT_QP_FATAL, qp);
			check_event(wrong, context, IBV_EVENT_QP_LAST_WQE_REACHED, qp);
			break;
		case 'd': /* The memory of a receive goes away before it is polled. */
			NEED(!ibv_dereg_mr(mr));
			check_completion(wrong, "receive", cq, 0x2000, IBV_WC_LOC_PROT_ERR, 0);
			break;
		case 'o': /* The same with memory on demand. */
			NEED(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
					   ALL_ACCESS | IBV_ACCESS_ON_DEMAND));
			break;
		case 'u':
			NEED(!munmap(pages, page));
			check_completion(wrong, "receive", cq, 0x2000, IBV_WC_LOC_PROT_ERR, 0);
			break;
		default:
			add(wrong, "no such order; ");
		}
		tell(answer, wrong, sizeof(wrong));
	}
	_exit(0);
}

static struct peer start(struct ibv_qp *qp, bool has_srq)
{
	int order[2], answer[2];
	struct peer peer = { .has_srq = has_srq };
	struct end self = { .gid = own_gid, .qp_num = qp->qp_num };
	char ready;

	NEED(!pipe2(order, O_CLOEXEC) && !pipe2(answer, O_CLOEXEC));
	fflush(stdout);
	peer.pid = fork();
	NEED(peer.pid >= 0);
	if (!peer.pid) {
		close(order[1]);
		close(answer[0]);
		respond(order[0], answer[1], has_srq);
	}
	close(order[0]);
	close(answer[1]);
	peer.order = order[1];
	peer.answer = answer[0];
	NEED(hear(peer.answer, &peer.end, sizeof(peer.end)));
	tell(peer.order, &self, sizeof(self));
	NEED(hear(peer.answer, &ready, 1));
	connect_to(qp, &peer.end, (struct settings){ .timeout = 10, .retry_cnt = 2 });
	return peer;
}

/* Tells the responder to do something; what was wrong there. */
static void ask(struct peer *peer, char letter, char *wrong)
{
	char answer[1024];

	tell(peer->order, &letter, 1);
	if (!hear(peer->answer, answer, sizeof(answer)))
		add(wrong, "the other process has ended; ");
	else if (answer[0])
		add(wrong, "there: %s", answer);
}

static void stop(struct peer *peer)
{
	close(peer->order);
	close(peer->answer);
	NEED(waitpid(peer->pid, NULL, 0) == peer->pid);
}

/*
 * Places in the file of a process, see src/urxe/shared: the table of QPs, the members of the record
 * of a QP, those of the record of a receive queue.
 */
#define QPS_PER_SLOT (1u << 14)
#define QP_TABLE 4096
#define QP_LOCK 0
#define QP_QUEUE 96
#define QUEUE_CAPACITY 68

/* The file of a process, and the record of its QP. */
static int slot_file(uint32_t qp_num, uint64_t *record)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/slot-%04u", getenv("URXE_DIR"), qp_num / QPS_PER_SLOT);
	fd = open(path, O_RDWR | O_CLOEXEC);
	NEED(fd >= 0);
	NEED(pread(fd, record, 8, QP_TABLE + 8 * (qp_num % QPS_PER_SLOT)) == 8 && *record);
	return fd;
}

static struct ibv_qp *lone_qp(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cqs[0],
		.recv_cq = cqs[0],
		.cap = { 4, 4, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	NEED(qp);
	return qp;
}

/* The responder's receive queue has a size that no queue has. */
static void damages(const char *title, bool has_srq)
{
	struct ibv_qp *qp = lone_qp();
	struct peer peer = start(qp, has_srq);
	uint32_t capacity = 3;
	uint64_t record, queue;
	int fd = slot_file(peer.end.qp_num, &record);
	char wrong[1024] = "";

	NEED(pread(fd, &queue, 8, record + QP_QUEUE) == 8 && queue);
	NEED(pwrite(fd, &capacity, 4, queue + QUEUE_CAPACITY) == 4);
	close(fd);
	new_lines();
	NEED(!send_one(qp, 0x66, 8));
	check_completion(wrong, "request", cqs[0], 0x66, IBV_WC_BAD_RESP_ERR, 25);
	check_log(wrong, "urxe: QP #, wr_id #: the receive queue of QP # is damaged");
	ask(&peer, has_srq ? 's' : 'f', wrong);
	stop(&peer);
	NEED(!ibv_destroy_qp(qp));
	report(title, wrong);
}

/* A process that has the lock of the responder's QP is no more. */
static void lock_of_the_dead(void)
{
	struct ibv_qp *qp = lone_qp();
	struct peer peer = start(qp, false);
	uint64_t record, dead = 1ULL << 32 | 1 << 10 | 999;
	int fd = slot_file(peer.end.qp_num, &record);
	char wrong[1024] = "";

	NEED(pwrite(fd, &dead, 8, record + QP_LOCK) == 8);
	close(fd);
	new_lines();
	NEED(!send_one(qp, 0x67, 8));
	check_completion(wrong, "request", cqs[0], 0x67, IBV_WC_RETRY_EXC_ERR, 17);
	check_log(wrong, "urxe: QP #: a peer died in the middle of a request");
	ask(&peer, 'f', wrong);
	stop(&peer);
	NEED(!ibv_destroy_qp(qp));
	report("event: QP fatal, as a peer died in the middle of a request", wrong);
}

static void peer_gone(void)
{
	struct ibv_qp *qp = lone_qp();
	struct peer peer = start(qp, false);
	char wrong[1024] = "";
	double begin, took;

	NEED(!send_one(qp, 0x68, 8));
	check_completion(wrong, "request", cqs[0], 0x68, IBV_WC_SUCCESS, 0);
	NEED(!kill(peer.pid, SIGKILL));
	stop(&peer);
	new_lines();
	begin = seconds();
	NEED(!send_one(qp, 0x69, 8) && !send_one(qp, 0x6a, 8));
	check_completion(wrong, "request", cqs[0], 0x69, IBV_WC_RETRY_EXC_ERR, 17);
	took = seconds() - begin;
	check_completion(wrong, "next request", cqs[0], 0x6a, IBV_WC_WR_FLUSH_ERR, 0);
	check_log(wrong, "urxe: QP #, wr_id #: no answer of QP # in # times # ns");
	/* Three times 4.096 microseconds times 2^10, and what a busy machine takes. */
	if (took < 0.012 || took > 2)
		add(wrong, "after %.3f s; ", took);
	NEED(!ibv_destroy_qp(qp));
	report("transport retry exceeded: the peer is gone", wrong);
}

static void receives_gone(void)
{
	static const char *const titles[] = {
		"local protection: the region of a receive is gone when it is polled",
		"local protection: memory of a receive is gone when it is polled",
	};
	static const char *const lines[] = {
		"urxe: the memory of a receive is gone before it is polled: key # is not known",
		"urxe: the memory of a receive is not mapped when it is polled",
	};

	for (int row = 0; row < 2; row++) {
		struct ibv_qp *qp = lone_qp();
		struct peer peer = start(qp, false);
		char wrong[1024] = "";

		if (row)
			ask(&peer, 'o', wrong);
		NEED(!send_one(qp, 0x70, 8));
		check_completion(wrong, "request", cqs[0], 0x70, IBV_WC_SUCCESS, 0);
		new_lines();
		ask(&peer, row ? 'u' : 'd', wrong);
		check_log(wrong, lines[row]);
		stop(&peer);
		NEED(!ibv_destroy_qp(qp));
		report(titles[row], wrong);
	}
}

static int ip(const char *arguments)
{
	char command[200];

	snprintf(command, sizeof(command), "LD_PRELOAD= ip %s", arguments);
	return system(command);
}

/* Events of the port and the device, when the interface changes. */
static void interface(void)
{
	static const char *const titles[] = { "event: port error", "event: port active",
					      "event: GID change", "event: device fatal" };
	char wrong[1024] = "";

	if (ip("link add urxe-test type dummy 2>/dev/null") &&
	    ip("link add urxe-test type veth peer name urxe-peer 2>/dev/null")) {
		for (int row = 0; row < 4; row++)
			report(titles[row], "SKIPPED: no network interface can be made here");
		return;
	}
	ip("link set urxe-peer up 2>/dev/null");
	NEED(!ip("addr add 192.0.2.7/24 dev urxe-test") && !ip("link set urxe-test up"));
	sleep(1);
	setenv("URXE_NETDEV", "urxe-test", 1);
	context = open_device();
	check_no_event(wrong, context);
	NEED(!ip("link set urxe-test down"));
	check_event(wrong, context, IBV_EVENT_PORT_ERR, NULL);
	report(titles[0], wrong);
	wrong[0] = 0;
	NEED(!ip("link set urxe-test up"));
	check_event(wrong, context, IBV_EVENT_PORT_ACTIVE, NULL);
	report(titles[1], wrong);
	wrong[0] = 0;
	NEED(!ip("addr del 192.0.2.7/24 dev urxe-test"));
	check_event(wrong, context, IBV_EVENT_GID_CHANGE, NULL);
	NEED(!ip("addr add 192.0.2.8/24 dev urxe-test"));
	check_event(wrong, context, IBV_EVENT_GID_CHANGE, NULL);
	report(titles[2], wrong);
	wrong[0] = 0;
	NEED(!ip("link del urxe-test"));
	for (struct ibv_async_event event; next_event(context, 5000, &event);)
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			goto fatal;
	add(wrong, "no event; ");
fatal:
	report(titles[3], wrong);
	NEED(!ibv_close_device(context));
}

/* A window of type 2 that is bound, for a QP that stays. */
static uint32_t bound_window(struct pair *pair, struct ibv_mr *mr, struct ibv_mw **mw)
{
	struct ibv_wc wc;

	*mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	NEED(*mw && !bind(pair->qp[1], *mw, (*mw)->rkey + 1, mr, (uintptr_t)pages, 64,
			  IBV_ACCESS_REMOTE_READ));
	NEED(wait_for(cqs[1], &wc) && wc.status == IBV_WC_SUCCESS);
	return (*mw)->rkey;
}

int main(int argc, char **argv)
{
	struct ibv_mr *good, *other, *read_only, *narrow, *fault;
	struct pair keeper;
	struct ibv_mw *mw;

	open_log();
	page = sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	gone = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(pages != MAP_FAILED && gone != MAP_FAILED);
	if (argc > 1 && !strcmp(argv[1], "interface")) {
		interface();
		return 0;
	}
	context = open_device();
	gid_of(context, &own_gid);
	pd = ibv_alloc_pd(context);
	other_pd = ibv_alloc_pd(context);
	cqs[0] = ibv_create_cq(context, 64, NULL, NULL, 0);
	cqs[1] = ibv_create_cq(context, 64, NULL, NULL, 0);
	NEED(pd && other_pd && cqs[0] && cqs[1]);
	good = ibv_reg_mr(pd, pages, page, ALL_ACCESS);
	other = ibv_reg_mr(other_pd, pages, page, ALL_ACCESS);
	read_only = ibv_reg_mr(pd, pages, page, IBV_ACCESS_REMOTE_READ);
	narrow = ibv_reg_mr(pd, pages + 64, 64, ALL_ACCESS);
	fault = ibv_reg_mr(pd, gone, page, ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	NEED(good && other && read_only && narrow && fault && !munmap(gone, page));
	keys.good = good->lkey;
	keys.other_pd = other->lkey;
	keys.read_only = read_only->lkey;
	keys.narrow = narrow->lkey;
	keys.fault = fault->lkey;
	keeper = new_pair(IBV_QPT_RC, NULL, (struct settings){ 0 });
	keys.window = keys.other_window = bound_window(&keeper, good, &mw);
	for (size_t row = 0; row < sizeof(failures) / sizeof(*failures); row++)
		run(&failures[row]);
	bindings(good, other, read_only);
	datagrams();
	xrc();
	events();
	damages("bad response: the peer's receive queue is damaged", false);
	damages("bad response, and event SRQ error: the peer's SRQ is damaged", true);
	lock_of_the_dead();
	peer_gone();
	receives_gone();
	NEED(!ibv_dealloc_mw(mw));
	free_pair(keeper);
	NEED(!ibv_dereg_mr(good) && !ibv_dereg_mr(other) && !ibv_dereg_mr(read_only));
	NEED(!ibv_dereg_mr(narrow) && !ibv_dereg_mr(fault));
	NEED(!ibv_destroy_cq(cqs[0]) && !ibv_destroy_cq(cqs[1]));
	NEED(!ibv_dealloc_pd(pd) && !ibv_dealloc_pd(other_pd) && !ibv_close_device(context));
	return 0;
}
