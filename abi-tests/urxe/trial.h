/* The link under test, and a case on it: data that is moved once, and all that is compared then. */
#ifndef ABI_TESTS_URXE_TRIAL_H
#define ABI_TESTS_URXE_TRIAL_H

#include "side.h"

enum { MOST_FAILURES = 20 };

/* A case. */
struct trial {
	const struct opcode *opcode;
	size_t length;
	enum split near, far;
	enum kind near_kind, far_kind;
	/* The bytes are in the request. */
	bool in_request;
	/* The receive is posted after the request. */
	bool late;
	/* A read or a write that is cut into a list of requests. */
	bool in_list;
};

/* The requester, and those that it talks to. */
static struct side own;
static struct remote pair, apart, *data;

/* The link under test. */
static struct kind_of_link kind_of_link;
static char title[100];
static struct address own_address, peer;
static struct ibv_ah *ah;
static unsigned in_group, in_all, failures;
static uint32_t serial;

static bool is_xrc(void)
{
	return kind_of_link.type == IBV_QPT_XRC_SEND;
}

static bool is_ud(void)
{
	return kind_of_link.type == IBV_QPT_UD;
}

static bool is_reliable(void)
{
	return kind_of_link.type == IBV_QPT_RC || is_xrc();
}

static bool allowed(enum ibv_wr_opcode opcode)
{
	return allows(kind_of_link.type, opcode);
}

static void must(struct remote *remote, const struct order *order, struct reply *reply)
{
	ask(remote, order, reply);
	if (reply->wrong[0]) {
		printf("%s: order %d: %s\n", title, order->what, reply->wrong);
		exit(3);
	}
}

static void connect_link(void)
{
	struct order order = { .what = OPEN, .link = kind_of_link, .has_qp = true };
	struct reply reply;

	/* The requester has no receives of its own, except of datagrams to all. */
	order.link.srq = false;
	own.link = order.link;
	answer(&own, &order, &reply);
	own_address = reply.address;
	order.link = kind_of_link;
	order.has_srq = kind_of_link.srq;
	if (is_xrc()) {
		order.link.type = IBV_QPT_XRC_RECV;
		order.has_srq = data == &pair;
	}
	must(&pair, &order, &reply);
	peer = reply.address;
	if (data != &pair) {
		order.has_qp = false;
		order.has_srq = true;
		must(data, &order, &reply);
		peer.srq_num = reply.address.srq_num;
	}
	connect_side(&own, &peer);
	order.what = CONNECT;
	order.peer = own_address;
	must(&pair, &order, &reply);
	if (is_ud()) {
		struct ibv_ah_attr attr = route(&own, &peer);

		ah = NEED(ibv_create_ah(own.pd, &attr));
	}
}

static void close_all(void)
{
	struct order order = { .what = CLOSE };
	struct reply reply;

	if (ah)
		CHECK(!ibv_destroy_ah(ah));
	ah = NULL;
	close_link(&own);
	must(&pair, &order, &reply);
	if (data != &pair)
		must(data, &order, &reply);
}

/* Counts a case, and says what was wrong about it. A link is made anew after a failure. */
static void judge(const char *what, const char *wrong)
{
	in_group++;
	if (!wrong[0])
		return;
	printf("FAILED %s: %s: %s\n", title, what, wrong);
	if (++failures >= MOST_FAILURES) {
		printf("too many failures\n");
		exit(1);
	}
	close_all();
	connect_link();
}

static void end_group(const char *name)
{
	printf("%-52s %-14s %6u cases\n", title, name, in_group);
	in_all += in_group;
	in_group = 0;
}

/* The own memory before and after a request: its pieces have the message, or get it. */
static struct order near_order(const struct trial *trial, bool has_message)
{
	struct order order = { .role = SOURCE, .kind = trial->near_kind, .background = serial + 1,
			       .seed = serial + 2, .length = has_message ? trial->length : 0 };

	place(&order.layout, trial->near, trial->length, GUARD);
	return order;
}

/* The memory of the other side before the request. */
static struct order far_order(const struct trial *trial)
{
	const struct opcode *opcode = trial->opcode;
	struct order order = { .what = PREPARE, .role = TARGET, .kind = trial->far_kind,
			       .background = serial + 3, .seed = serial + 2,
			       .window_at = GUARD, .window_length = 64 };
	/* A receive may be longer than the message. */
	size_t more = is_ud() ? GRH : 0, spare = serial & 4 ? 0 : 11;

	if (opcode->way == TO_RECEIVE) {
		place(&order.layout, trial->far, trial->length + more + spare, GUARD);
	} else {
		place(&order.layout, ONE, trial->length, GUARD);
		order.bare = true;
		order.length = opcode->way == FROM_MEMORY ? trial->length : 0;
		if (trial->length)
			order.window_length = trial->length;
	}
	order.receives = opcode->arrival && !trial->late;
	order.solicited_only = serial & 8;
	order.solicited = serial & 16;
	return order;
}

/* What the completion of the receive has to be. */
static struct completion arrival(const struct trial *trial, uint32_t imm)
{
	struct completion want = {
		.wr_id = 0xabcdef0000000000 | serial, .opcode = trial->opcode->arrival,
		.byte_len = trial->length + (is_ud() ? GRH : 0),
		.flags = trial->opcode->arrival_flags, .imm = imm, .qp_num = peer.qp_num,
		.src_qp = own.qp->qp_num, .slid = own.port.lid, .sl = LEVEL,
	};

	if (is_ud() && is_ethernet(&own))
		want.flags |= IBV_WC_GRH;
	return want;
}

/* Posts a request and waits for its completion, or for the refusal that is wanted. */
static void carry_out_as(int (*posts)(struct ibv_qp *, const struct request *),
			 struct request *request, struct completion *want, struct reply *reply)
{
	uint64_t since = nanoseconds(CLOCK_MONOTONIC);
	int ret;

	request->wr_id = want->wr_id = 0x1234560000000000 | serial;
	request->flags |= IBV_SEND_SIGNALED;
	request->ah = ah;
	request->qp_num = peer.qp_num;
	request->qkey = QKEY;
	request->srq_num = peer.srq_num;
	want->qp_num = own.qp->qp_num;
	ret = posts(own.qp, request);
	if (ret)
		WRONG(reply, "request refused: %s", error_name(ret));
	else
		sent(&own, want, since, reply);
}

static void carry_out(struct request *request, struct completion *want, struct reply *reply)
{
	carry_out_as(kind_of_link.interface == NEW ? post_new : post_old, request, want, reply);
}

static const char *describe(const struct trial *trial)
{
	static char text[200];

	snprintf(text, sizeof(text), "%s, %zu bytes, %s%s (%s) to %s (%s)%s", trial->opcode->name,
		 trial->length, trial->in_request ? "inline, " : "", kind_name[trial->near_kind],
		 split_name[trial->near], kind_name[trial->far_kind], split_name[trial->far],
		 trial->late ? ", late" : trial->in_list ? ", in a list" : "");
	return text;
}

/* Moves data once, and compares everything. */
static void run(const struct trial *trial)
{
	const struct opcode *opcode = trial->opcode;
	bool reads = opcode->way == FROM_MEMORY;
	struct order near = near_order(trial, !reads), far;
	struct reply own_reply = { 0 }, reply;
	struct completion want = { .opcode = opcode->completion, .byte_len = trial->length };
	struct ibv_sge sge[MAX_PIECES];
	struct memory *memory = memory_of(&own, SOURCE, trial->near_kind);
	struct request request = { .opcode = opcode->opcode, .sge = sge };
	uint8_t plain[4096];

	serial += 8;
	near = near_order(trial, !reads);
	far = far_order(trial);
	if (opcode->arrival_flags)
		request.imm = htobe32(0xfedc0000 ^ serial);
	far.want = arrival(trial, request.imm);
	near.what = PREPARE;
	answer(&own, &near, &own_reply);
	ask(data, &far, &reply);
	if (reply.wrong[0]) {
		judge(describe(trial), reply.wrong);
		return;
	}
	if (opcode->opcode == IBV_WR_SEND_WITH_INV)
		request.imm = far.want.imm = reply.rkey;
	request.rkey = reply.rkey;
	request.address = reply.at;
	request.flags = far.solicited ? IBV_SEND_SOLICITED : 0;
	request.num_sge = to_list(memory, &near.layout, sge);
	if (trial->in_request) {
		/* In memory that is not registered, and other bytes as soon as it is posted. */
		request.flags |= IBV_SEND_INLINE;
		put_image(plain, &near.layout, near.background, near.seed, 0, near.length);
		for (int i = 0; i < request.num_sge; i++) {
			sge[i].addr = (uintptr_t)plain + near.layout.piece[i].at;
			sge[i].lkey = 0;
		}
	}
	if (trial->late) {
		int ret;

		request.wr_id = want.wr_id = 0x1234560000000000 | serial;
		request.flags |= IBV_SEND_SIGNALED;
		request.srq_num = peer.srq_num;
		want.qp_num = own.qp->qp_num;
		ret = post(own.qp, kind_of_link.interface, &request);
		if (ret)
			WRONG(&own_reply, "request refused: %s", error_name(ret));
		if (trial->in_request)
			memset(plain, 0x77, sizeof(plain));
		far.receives = true;
		ask(data, &far, &reply);
		if (!ret)
			sent(&own, &want, 0, &own_reply);
	} else if (trial->in_list) {
		want.byte_len = last_part(trial->length);
		carry_out_as(post_parts, &request, &want, &own_reply);
	} else {
		carry_out(&request, &want, &own_reply);
		if (trial->in_request)
			memset(plain, 0x77, sizeof(plain));
	}
	near.what = far.what = VERIFY;
	far.completes = far.want.opcode != 0;
	if (opcode->way != FROM_MEMORY) {
		far.length = trial->length;
		if (is_ud()) {
			far.skip = GRH;
			if (is_ethernet(&own))
				global_route(&far, &own.gid, &peer.gid, trial->length);
		}
	}
	near.length = trial->length;
	ask(data, &far, &reply);
	if (!own_reply.wrong[0]) {
		struct reply verified;

		answer(&own, &near, &verified);
		own_reply = verified;
	}
	judge(describe(trial), own_reply.wrong[0] ? own_reply.wrong : reply.wrong);
}

static const size_t sizes[] = { 0, 1, 7, 64, 65, 1023, 1024, 1025, 4095, 4096, 4097, 65536, 65537,
				16 << 20 };

static size_t largest(void)
{
	return is_ud() ? 128UL << own.port.active_mtu : 16 << 20;
}

#endif
