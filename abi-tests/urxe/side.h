/*
 * One side of a connection: its objects, and the orders that it carries out. The side that is
 * talked to is in this process or in another one, behind a socket; the orders are the same.
 */
#ifndef ABI_TESTS_URXE_SIDE_H
#define ABI_TESTS_URXE_SIDE_H

#include "memory.h"
#include "request.h"
#include <fcntl.h>
#include <sys/socket.h>

enum role { TARGET, SOURCE, ROLES };

enum {
	QUEUE = 64,
	MAX_INLINE = 512,
	LEVEL = 3,      /* service level of all connections */
	QKEY = 0x11111111,
	HOPS = 64,
	GRH = 40,
	QP_ACCESS = REGION_ACCESS & ~IBV_ACCESS_MW_BIND,
};

/* How a connection is made and used. */
struct kind_of_link {
	enum ibv_qp_type type;
	enum interface interface;
	bool srq, channel;
};

/* Where a QP is found. */
struct address {
	union ibv_gid gid;
	uint16_t lid;
	uint32_t qp_num, srq_num;
};

enum what { OPEN, CONNECT, PREPARE, VERIFY, INVALIDATE, ATTACH, DETACH, CLOSE, QUIT };

struct order {
	enum what what;
	/* OPEN */
	struct kind_of_link link;
	bool has_qp, has_srq;
	/* CONNECT */
	struct address peer;
	/* PREPARE and VERIFY: memory, and what is in it. */
	enum role role;
	enum kind kind;
	struct layout layout;
	uint32_t background, seed;
	uint64_t skip, length;
	/* A receive with these pieces or with none, or a completion that there has to be. */
	bool receives, bare, completes;
	/* Whether an event is wanted for solicited completions alone, and the one to come is such. */
	bool solicited_only, solicited;
	struct completion want;
	/* What is in front of a datagram. */
	uint32_t header_length;
	uint8_t header[GRH];
	/* A word that has another value than the image. */
	bool has_word;
	uint64_t word_at, word;
	/* A window opens these bytes. */
	uint64_t window_at, window_length;
};

struct reply {
	struct address address;
	/* The first piece of the memory, or the begin of the window. */
	uint64_t at;
	uint32_t rkey;
	char wrong[256];
};

struct side {
	const char *name;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int gid_index;
	struct memory memory[ROLES][KINDS];
	/* The connection. */
	struct kind_of_link link;
	struct queue send, recv;
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	uint32_t srq_num;
	struct ibv_qp *qp;
	struct ibv_mw *window[2];
	bool is_bound;
	/* When the last receive was posted. */
	uint64_t since;
	uint64_t wr_id;
};

/* The file that makes XRC domains of several processes one. */
static int domain_file = -1;

/* IBTA volume 1, table "Operation types per transport"; ibv_post_send(3), ibv_wr_post(3). */
static inline bool allows(enum ibv_qp_type type, enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return type != IBV_QPT_XRC_RECV;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW:
		return type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_XRC_SEND;
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
	case IBV_WR_ATOMIC_WRITE:
	case IBV_WR_FLUSH:
		return type == IBV_QPT_RC;
	default:
		return false;
	}
}

static inline uint64_t operations(enum ibv_qp_type type)
{
	uint64_t all = 0;

	for (int opcode = 0; opcode <= IBV_WR_ATOMIC_WRITE; opcode++)
		if (allows(type, opcode))
			all |= operation_of(opcode);
	return all;
}

static inline uint16_t checksum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~((sum & 0xffff) + (sum >> 16));
}

/*
 * What is in front of a datagram that came with a global route: of RoCE version 2, an IPv4 header
 * in the second half (IBTA annex A17), or one of IPv6. Packets are padded to words.
 */
static inline void global_route(struct order *order, const union ibv_gid *from,
				const union ibv_gid *to, size_t length)
{
	size_t payload = 8 + 12 + 8 + ((length + 3) & ~3UL) + 4;
	uint8_t *header = order->header, *ip = header + 20;

	order->header_length = GRH;
	memset(header, 0, GRH);
	if (to->raw[0] == 0xff) {
		struct ibv_grh grh = { .version_tclass_flow = htobe32(6 << 28),
				       .paylen = htobe16(payload), .next_hdr = 17,
				       .hop_limit = HOPS, .sgid = *from, .dgid = *to };

		memcpy(header, &grh, GRH);
		return;
	}
	ip[0] = 0x45;
	ip[2] = (20 + payload) >> 8;
	ip[3] = 20 + payload;
	ip[6] = 0x40;
	ip[8] = HOPS;
	ip[9] = 17;
	memcpy(ip + 12, from->raw + 12, 4);
	memcpy(ip + 16, to->raw + 12, 4);
	ip[11] = checksum(ip);
	ip[10] = checksum(ip) >> 8;
}

static inline bool is_ethernet(const struct side *side)
{
	return side->port.link_layer == IBV_LINK_LAYER_ETHERNET;
}

static inline void open_side(struct side *side, const char *name, const char *device)
{
	*side = (struct side){ .name = name, .context = open_device(device) };
	side->pd = NEED(ibv_alloc_pd(side->context));
	NEED(!ibv_query_port(side->context, 1, &side->port));
	if (is_ethernet(side))
		side->gid_index = ipv4_gid(side->context, &side->gid);
	else
		NEED(!ibv_query_gid(side->context, 1, 0, &side->gid));
}

static inline struct memory *memory_of(struct side *side, enum role role, enum kind kind)
{
	struct memory *memory = &side->memory[role][region_of(kind)];

	if (!memory->mr)
		make_memory(memory, side->context, side->pd, region_of(kind),
			    region_of(kind) == ORDINARY ? LARGE_AREA : SMALL_AREA);
	return memory;
}

static inline void close_side(struct side *side)
{
	for (int role = 0; role < ROLES; role++)
		for (int kind = 0; kind < KINDS; kind++)
			drop_memory(&side->memory[role][kind]);
	CHECK(!ibv_dealloc_pd(side->pd));
	CHECK(!ibv_close_device(side->context));
}

static inline void make_srq(struct side *side)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = QUEUE, .max_sge = MAX_PIECES },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC, .pd = side->pd,
	};

	if (side->xrcd) {
		init.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		init.srq_type = IBV_SRQT_XRC;
		init.xrcd = side->xrcd;
		init.cq = side->recv.cq;
	}
	side->srq = NEED(ibv_create_srq_ex(side->context, &init));
	if (side->xrcd)
		NEED(!ibv_get_srq_num(side->srq, &side->srq_num));
}

static inline void make_qp(struct side *side, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = type, .send_cq = side->send.cq, .recv_cq = side->recv.cq,
		.pd = side->pd, .comp_mask = IBV_QP_INIT_ATTR_PD,
		.srq = side->srq,
		.cap = { .max_send_wr = QUEUE, .max_recv_wr = QUEUE, .max_send_sge = MAX_PIECES,
			 .max_recv_sge = MAX_PIECES, .max_inline_data = MAX_INLINE },
	};

	if (type == IBV_QPT_XRC_RECV) {
		init = (struct ibv_qp_init_attr_ex){ .qp_type = type, .xrcd = side->xrcd,
						     .comp_mask = IBV_QP_INIT_ATTR_XRCD };
	} else if (side->link.interface == NEW) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = operations(type);
	}
	side->qp = NEED(ibv_create_qp_ex(side->context, &init));
}

static inline struct ibv_ah_attr route(const struct side *side, const struct address *to)
{
	struct ibv_ah_attr attr = { .sl = LEVEL, .port_num = 1, .dlid = to->lid };

	if (is_ethernet(side)) {
		attr.is_global = 1;
		attr.grh = (struct ibv_global_route){
			.dgid = to->gid, .sgid_index = side->gid_index, .hop_limit = HOPS };
	}
	return attr;
}

/* Takes the queue pair through its states, to send to and receive from its peer. */
static inline void connect_side(struct side *side, const struct address *peer)
{
	enum ibv_qp_type type = side->qp->qp_type;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY, .qp_access_flags = QP_ACCESS,
		.path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp_num, .rq_psn = 100,
		.max_dest_rd_atomic = 16, .min_rnr_timer = 1, .ah_attr = route(side, peer),
		.sq_psn = 100, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 16,
	};
	bool reliable = type != IBV_QPT_UD && type != IBV_QPT_UC;
	int init = type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS, rtr = 0, rts = 0;

	if (type != IBV_QPT_UD)
		rtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (reliable) {
		rtr |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		rts = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		      IBV_QP_MAX_QP_RD_ATOMIC;
	}
	NEED(!ibv_modify_qp(side->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | init));
	attr.qp_state = IBV_QPS_RTR;
	NEED(!ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | rtr));
	attr.qp_state = IBV_QPS_RTS;
	NEED(!ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | rts));
}

/* The objects of a connection; of XRC a side has the target QP, the SRQ, or both. */
static inline void open_link(struct side *side, const struct order *order, struct reply *reply)
{
	bool xrc = order->link.type == IBV_QPT_XRC_RECV;

	side->link = order->link;
	make_queue(&side->send, side->context, order->link.interface, false, 2 * QUEUE);
	make_queue(&side->recv, side->context, order->link.interface, order->link.channel,
		   2 * QUEUE);
	if (xrc) {
		struct ibv_xrcd_init_attr attr = {
			.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
			.fd = domain_file, .oflags = O_CREAT,
		};

		side->xrcd = NEED(ibv_open_xrcd(side->context, &attr));
	}
	if (order->has_srq)
		make_srq(side);
	if (order->has_qp)
		make_qp(side, order->link.type);
	reply->address = (struct address){ .gid = side->gid, .lid = side->port.lid,
					   .qp_num = side->qp ? side->qp->qp_num : 0,
					   .srq_num = side->srq_num };
}

static inline void close_link(struct side *side)
{
	for (int i = 0; i < 2; i++)
		if (side->window[i])
			CHECK(!ibv_dealloc_mw(side->window[i]));
	if (side->qp)
		CHECK(!ibv_destroy_qp(side->qp));
	if (side->srq)
		CHECK(!ibv_destroy_srq(side->srq));
	if (side->xrcd)
		CHECK(!ibv_close_xrcd(side->xrcd));
	drop_queue(&side->send);
	drop_queue(&side->recv);
	side->window[0] = side->window[1] = NULL;
	side->is_bound = false;
	side->qp = NULL;
	side->srq = NULL;
	side->xrcd = NULL;
	side->srq_num = 0;
}

#define WRONG(reply, ...)                                                                          \
	do {                                                                                       \
		if (!(reply)->wrong[0])                                                            \
			snprintf((reply)->wrong, sizeof((reply)->wrong), __VA_ARGS__);             \
	} while (0)

/* Waits for the completion of a send request, and compares it. */
static inline void sent(struct side *side, const struct completion *want, uint64_t since,
			struct reply *reply)
{
	char text[200];
	struct completion is;

	if (!wait_for(&side->send, &is))
		WRONG(reply, "no completion of the request");
	else if (is_wrong(&is, want, text, sizeof(text)) ||
		 is_untimely(&side->send, &is, since, text, sizeof(text)))
		WRONG(reply, "request's %s", text);
}

/* Posts a request that is about windows on the own queue pair, and waits for it. */
static inline void on_window(struct side *side, struct request *request, uint32_t opcode,
			     struct reply *reply)
{
	struct completion want = { .opcode = opcode, .qp_num = side->qp->qp_num };
	uint64_t since = nanoseconds(CLOCK_MONOTONIC);
	int ret;

	request->wr_id = want.wr_id = ++side->wr_id << 40;
	request->flags = IBV_SEND_SIGNALED;
	if (opcode == IBV_WC_BIND_MW && request->mw->type == IBV_MW_TYPE_1) {
		struct ibv_mw_bind bind = { .wr_id = request->wr_id, .bind_info = request->bind,
					    .send_flags = IBV_SEND_SIGNALED };

		ret = ibv_bind_mw(side->qp, request->mw, &bind);
	} else {
		ret = post(side->qp, side->link.interface, request);
	}
	if (ret)
		WRONG(reply, "request on a window: %s", error_name(ret));
	else
		sent(side, &want, since, reply);
}

/* Takes the window of type 2 away from its bytes. */
static inline void invalidate_window(struct side *side, struct reply *reply)
{
	struct request request = { .opcode = IBV_WR_LOCAL_INV, .imm = side->window[1]->rkey };

	on_window(side, &request, IBV_WC_LOCAL_INV, reply);
	side->is_bound = false;
}

/* Binds a window of the kind to the bytes that the order names; it may be bound to others. */
static inline void bind_window(struct side *side, const struct order *order, struct memory *memory,
			       struct reply *reply)
{
	int type = order->kind == WINDOW_1 ? 0 : 1;
	struct request request = { .opcode = IBV_WR_BIND_MW };

	if (!side->window[type])
		side->window[type] = NEED(ibv_alloc_mw(side->pd, type ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1));
	request.mw = side->window[type];
	if (type && side->is_bound)
		invalidate_window(side, reply);
	request.rkey = ibv_inc_rkey(request.mw->rkey);
	request.bind = (struct ibv_mw_bind_info){
		.mr = memory->mr, .addr = memory->base + order->window_at,
		.length = order->window_length, .mw_access_flags = QP_ACCESS & ~(
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_FLUSH_GLOBAL |
			IBV_ACCESS_FLUSH_PERSISTENT),
	};
	if (order->kind == WINDOW_ZERO)
		request.bind.mw_access_flags |= IBV_ACCESS_ZERO_BASED;
	on_window(side, &request, IBV_WC_BIND_MW, reply);
	if (type) {
		side->is_bound = true;
		if (request.mw->rkey != request.rkey)
			WRONG(reply, "window has key %#x, not %#x", request.mw->rkey, request.rkey);
	}
	reply->rkey = request.mw->rkey;
	reply->at = order->kind == WINDOW_ZERO ? 0 : request.bind.addr;
}

/* The pieces as a scatter and gather list. Empty ones need neither address nor key. */
static inline int to_list(const struct memory *memory, const struct layout *layout, struct ibv_sge *sge)
{
	for (int i = 0; i < layout->count; i++) {
		const struct piece *piece = &layout->piece[i];

		sge[i] = (struct ibv_sge){ .addr = memory->base + piece->at, .length = piece->length,
					   .lkey = memory->mr->lkey };
		if (!piece->length)
			sge[i].addr = sge[i].lkey = 0;
	}
	return layout->count;
}

static inline void post_receive(struct side *side, const struct order *order, struct memory *memory,
				struct reply *reply)
{
	struct ibv_sge sge[MAX_PIECES];
	struct ibv_recv_wr wr = { .wr_id = order->want.wr_id, .sg_list = sge }, *bad;
	int ret;

	wr.num_sge = order->bare ? 0 : to_list(memory, &order->layout, sge);
	if (side->recv.channel)
		CHECK(!ibv_req_notify_cq(side->recv.cq, order->solicited_only));
	ret = side->srq ? ibv_post_srq_recv(side->srq, &wr, &bad) : ibv_post_recv(side->qp, &wr, &bad);
	if (ret)
		WRONG(reply, "receive refused: %s", error_name(ret));
}

/* Fills memory, with a message in it for a source; posts a receive; opens a window. */
static inline void prepare(struct side *side, const struct order *order, struct reply *reply)
{
	struct memory *memory = memory_of(side, order->role, order->kind);

	set_image(memory, &order->layout, order->background, order->seed, order->length);
	if (order->has_word) {
		if (memory->dm)
			CHECK(!ibv_memcpy_to_dm(memory->dm, order->word_at, &order->word, 8));
		else
			memcpy(memory->bytes + order->word_at, &order->word, 8);
	}
	side->since = nanoseconds(CLOCK_MONOTONIC);
	if (order->receives)
		post_receive(side, order, memory, reply);
	reply->rkey = memory->mr->rkey;
	reply->at = memory->base + (order->has_word	 ? order->word_at :
				    order->layout.count ? order->layout.piece[0].at :
							  GUARD);
	if (is_window(order->kind))
		bind_window(side, order, memory, reply);
}

/* Waits for the completion of a receive, if there has to be one, and compares it and the memory. */
static inline void verify(struct side *side, const struct order *order, struct reply *reply)
{
	struct memory *memory = memory_of(side, order->role, order->kind);
	struct completion is;
	char text[200];
	int64_t at;

	if (order->completes && side->recv.channel) {
		bool wanted = !order->solicited_only || order->solicited;

		if (take_event(&side->recv, wanted ? PATIENCE * 1000 : 0) != wanted)
			WRONG(reply, wanted ? "no event" : "an event that was not asked for");
	}
	if (order->completes) {
		if (!wait_for(&side->recv, &is))
			WRONG(reply, "no completion of the receive");
		else if (is_wrong(&is, &order->want, text, sizeof(text)) ||
			 is_untimely(&side->recv, &is, side->since, text, sizeof(text)))
			WRONG(reply, "receive's %s", text);
		/* Its window has gone. */
		if (order->want.flags & IBV_WC_WITH_INV)
			side->is_bound = false;
	}
	if (side->recv.cq && (poll_once(&side->recv, &is) || poll_once(&side->send, &is)))
		WRONG(reply, "a completion too many: wr_id %#" PRIx64 ", %s", is.wr_id,
		      ibv_wc_status_str(is.status));
	put_image(scratch(), &order->layout, order->background, order->seed, order->skip,
		  order->length);
	put_header(scratch(), &order->layout, order->header, order->header_length);
	if (order->has_word)
		memcpy(scratch() + order->word_at, &order->word, 8);
	at = differs(memory, &order->layout);
	if (at >= 0)
		WRONG(reply, "%s: byte %" PRId64 " of %zu of the area is wrong (%s)", side->name, at,
		      order->layout.used, kind_name[order->kind]);
}

static inline void answer(struct side *side, const struct order *order, struct reply *reply)
{
	int before = failed_checks;

	*reply = (struct reply){ 0 };
	switch (order->what) {
	case OPEN:
		open_link(side, order, reply);
		break;
	case CONNECT:
		connect_side(side, &order->peer);
		break;
	case PREPARE:
		prepare(side, order, reply);
		break;
	case VERIFY:
		verify(side, order, reply);
		break;
	case INVALIDATE:
		invalidate_window(side, reply);
		break;
	case ATTACH:
		CHECK(!ibv_attach_mcast(side->qp, &order->peer.gid, order->peer.lid));
		break;
	case DETACH:
		CHECK(!ibv_detach_mcast(side->qp, &order->peer.gid, order->peer.lid));
		break;
	case CLOSE:
		close_link(side);
		break;
	case QUIT:
		break;
	}
	if (failed_checks != before)
		WRONG(reply, "%s: a check failed", side->name);
}

/* A side that is talked to: in this process, or in the process behind the socket. */
struct remote {
	struct side *here;
	int socket;
	pid_t child;
};

static inline void ask(struct remote *remote, const struct order *order, struct reply *reply)
{
	if (remote->here) {
		answer(remote->here, order, reply);
		return;
	}
	if (send(remote->socket, order, sizeof(*order), MSG_NOSIGNAL) != sizeof(*order) ||
	    recv(remote->socket, reply, sizeof(*reply), 0) != sizeof(*reply)) {
		printf("the other process has gone\n");
		exit(3);
	}
}

/* What the other process does: one order after the other. */
static inline void serve(int socket, const char *name, const char *device)
{
	struct order order;
	struct reply reply;
	struct side side;

	open_side(&side, name, device);
	while (recv(socket, &order, sizeof(order), 0) == sizeof(order) && order.what != QUIT) {
		answer(&side, &order, &reply);
		if (send(socket, &reply, sizeof(reply), MSG_NOSIGNAL) != sizeof(reply))
			break;
	}
	close_side(&side);
	exit(failed_checks != 0);
}

#endif
