/*
 * Every opcode over every type of queue pair, with data that is compared byte by byte and
 * completions that are compared field by field: all sizes and splits, kinds of memory, inline data,
 * both posting and polling interfaces, with shared receive queues and without.
 *
 * usage: matrix DEVICE one|many|hidden [PART]
 *
 * one: both sides are in this process. many: the other side is in a process of its own, and shared
 * receive queues of XRC in another one. hidden: the same, and a user's processes may not trace each
 * other, so that their memory is out of reach. Only links whose title contains PART.
 */
#include "trial.h"
#include <sys/prctl.h>
#include <sys/wait.h>

static void splits(void)
{
	FOR_EACH(opcode, opcodes) {
		if (!allowed(opcode->opcode))
			continue;
		FOR_EACH(size, sizes) {
			if (*size > largest())
				continue;
			for (enum split near = 0; near < SPLITS; near++)
				for (enum split far = 0; far < SPLITS; far++) {
					/* Only lists of receives are split; large ones, once each. */
					if (opcode->way != TO_RECEIVE ? far > 0 :
					    *size > 65537 && near != far)
						continue;
					run(&(struct trial){ .opcode = opcode, .length = *size,
							     .near = near, .far = far });
				}
		}
	}
	end_group("splits");
}

/* Whether the other side can open windows: with a queue pair that sends. */
static bool has_windows(void)
{
	return !is_xrc() && !is_ud();
}

/* Reads and writes in lists, which may share a system call. */
static void lists(void)
{
	static const size_t some[] = { PARTS, 1000, 65537 };

	if (kind_of_link.interface != OLD || is_xrc())
		return;
	FOR_EACH(opcode, opcodes) {
		if (opcode->arrival || !allowed(opcode->opcode))
			continue;
		for (enum kind near = 0; near < WINDOW_1; near++)
			for (enum kind far = 0; far < KINDS; far++)
				FOR_EACH(size, some)
					run(&(struct trial){ .opcode = opcode, .length = *size,
							     .near_kind = near, .far_kind = far,
							     .in_list = true });
	}
	end_group("lists");
}

static void kinds(void)
{
	static const size_t some[] = { 1, 61, 4000, 65537 };

	FOR_EACH(opcode, opcodes) {
		if (!allowed(opcode->opcode))
			continue;
		for (enum kind near = 0; near < WINDOW_1; near++)
			for (enum kind far = 0; far < KINDS; far++) {
				if (is_window(far) && (opcode->way == TO_RECEIVE || !has_windows()))
					continue;
				FOR_EACH(size, some) {
					if (*size > largest())
						continue;
					run(&(struct trial){ .opcode = opcode, .length = *size,
							     .near = HALVES, .far = ODD,
							     .near_kind = near, .far_kind = far });
				}
			}
	}
	end_group("memory");
}

static void inlines(void)
{
	static const size_t some[] = { 0, 1, 63, 64, 65, 255, MAX_INLINE };
	static const enum kind kinds[] = { ORDINARY, BUFFER, DEVICE };

	FOR_EACH(opcode, opcodes) {
		if (!allowed(opcode->opcode) || opcode->way == FROM_MEMORY)
			continue;
		FOR_EACH(size, some)
			for (enum split near = 0; near < SPLITS; near++)
				FOR_EACH(far, kinds)
					run(&(struct trial){ .opcode = opcode, .length = *size,
							     .near = near, .far = HALVES,
							     .far_kind = *far, .in_request = true });
	}
	end_group("inline");
}

/* Receives that come after the request: its tries go on until then. */
static void late(void)
{
	static const size_t some[] = { 0, 9, 5000, 65537 };

	if (!is_reliable())
		return;
	FOR_EACH(opcode, opcodes) {
		if (!opcode->arrival)
			continue;
		FOR_EACH(size, some)
			for (int in_request = 0; in_request < 2; in_request++) {
				if (in_request && *size > MAX_INLINE)
					continue;
				run(&(struct trial){ .opcode = opcode, .length = *size, .far = ODD,
						     .in_request = in_request, .late = true });
			}
	}
	end_group("late receives");
}

/* Without a receive unreliable messages are lost, and their senders do not know. */
static void lost(void)
{
	if (is_reliable())
		return;
	FOR_EACH(opcode, opcodes) {
		struct trial trial = { .opcode = opcode, .length = 100 };
		struct completion want = { .opcode = opcode->completion, .byte_len = 100 };
		struct order near, far;
		struct reply own_reply, reply;
		struct ibv_sge sge[MAX_PIECES];
		struct request request = { .opcode = opcode->opcode, .sge = sge };

		if (!opcode->arrival || !allowed(opcode->opcode))
			continue;
		serial += 8;
		near = near_order(&trial, true);
		far = far_order(&trial);
		far.receives = false;
		near.what = PREPARE;
		answer(&own, &near, &own_reply);
		ask(data, &far, &reply);
		request.rkey = reply.rkey;
		request.address = reply.at;
		request.num_sge = to_list(memory_of(&own, SOURCE, ORDINARY), &near.layout, sge);
		carry_out(&request, &want, &own_reply);
		far.what = VERIFY;
		ask(data, &far, &reply);
		judge(describe(&trial), own_reply.wrong[0] ? own_reply.wrong : reply.wrong);
	}
	end_group("lost messages");
}

struct word {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t completion;
	/* How the compared value differs from that in memory. */
	uint64_t off;
};

static const struct word words[] = {
	{ "compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP, 0 },
	{ "compare and swap of another value", IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP, 1 },
	{ "compare and swap of another half", IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP, 1ULL << 40 },
	{ "fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD, 0 },
	{ "atomic write", IBV_WR_ATOMIC_WRITE, IBV_WC_ATOMIC_WRITE, 0 },
};

static void on_word(const struct word *word, enum split near_split, enum kind near_kind,
		    enum kind far_kind, uint64_t at)
{
	struct trial trial = { .length = 8, .near = near_split, .near_kind = near_kind };
	struct completion want = { .opcode = word->completion, .byte_len = 8 };
	struct order near, far = { .what = PREPARE, .role = TARGET, .kind = far_kind };
	struct reply own_reply, reply;
	struct ibv_sge sge[MAX_PIECES];
	struct request request = { .opcode = word->opcode, .sge = sge };
	uint64_t before, after;
	char text[200];

	serial += 8;
	snprintf(text, sizeof(text), "%s, result in %s (%s), word in %s at %" PRIu64, word->name,
		 kind_name[near_kind], split_name[near_split], kind_name[far_kind], at);
	before = 0xf0e1d2c3b4a59687 * serial;
	near = near_order(&trial, false);
	near.what = PREPARE;
	far.background = serial + 3;
	place(&far.layout, ONE, 8, at);
	far.has_word = true;
	far.word_at = far.window_at = at;
	far.window_length = 8;
	far.word = before;
	answer(&own, &near, &own_reply);
	ask(data, &far, &reply);
	request.rkey = reply.rkey;
	request.address = reply.at;
	request.num_sge = to_list(memory_of(&own, SOURCE, near_kind), &near.layout, sge);
	request.swap = request.value = ~before * 3;
	switch (word->opcode) {
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		request.compare_add = 0x8000000080000001;
		after = before + request.compare_add;
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		request.compare_add = before ^ word->off;
		after = word->off ? before : request.swap;
		break;
	default:
		after = request.value;
	}
	if (!own_reply.wrong[0])
		carry_out(&request, &want, &own_reply);
	near.what = far.what = VERIFY;
	far.word = after;
	if (word->opcode != IBV_WR_ATOMIC_WRITE) {
		near.header_length = 8;
		memcpy(near.header, &before, 8);
	}
	ask(data, &far, &reply);
	if (!own_reply.wrong[0])
		answer(&own, &near, &own_reply);
	judge(text, own_reply.wrong[0] ? own_reply.wrong : reply.wrong);
}

static void atomics(void)
{
	static const uint64_t places[] = { 64, 4088, 8192 };

	FOR_EACH(word, words) {
		bool has_list = word->opcode != IBV_WR_ATOMIC_WRITE;

		/* Atomic write is an operation of the new interface alone. */
		if (!allowed(word->opcode) || (!has_list && kind_of_link.interface == OLD))
			continue;
		for (enum kind far = 0; far < KINDS; far++) {
			if (is_window(far) && !has_windows())
				continue;
			FOR_EACH(at, places)
				for (enum split near = 0; near < (has_list ? SPLITS : 1); near++)
					on_word(word, near, (serial / 8) % WINDOW_1, far, *at);
		}
	}
	if (is_reliable())
		end_group("atomics");
}

/* A flush moves nothing: its completion is what there is. */
static void flushes(void)
{
	static const uint8_t types[] = { IBV_FLUSH_GLOBAL, IBV_FLUSH_PERSISTENT,
					 IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT };
	static const size_t some[] = { 0, 1, 4097, 65536 };

	if (!allowed(IBV_WR_FLUSH) || kind_of_link.interface == OLD)
		return;
	for (enum kind kind = 0; kind < WINDOW_1; kind++)
		FOR_EACH(size, some)
			FOR_EACH(type, types)
				for (int level = IBV_FLUSH_RANGE; level <= IBV_FLUSH_MR; level++) {
					struct completion want = { .opcode = IBV_WC_FLUSH };
					struct order far = { .what = PREPARE, .role = TARGET,
							     .kind = kind };
					struct reply own_reply = { 0 }, reply;
					struct request request = {
						.opcode = IBV_WR_FLUSH, .flush_length = *size,
						.flush_type = *type, .flush_level = level };

					serial += 8;
					far.background = serial;
					far.seed = serial + 1;
					far.length = *size;
					place(&far.layout, ONE, *size, GUARD);
					ask(data, &far, &reply);
					request.rkey = reply.rkey;
					request.address = reply.at;
					carry_out(&request, &want, &own_reply);
					far.what = VERIFY;
					ask(data, &far, &reply);
					judge("flush", own_reply.wrong[0] ? own_reply.wrong :
									    reply.wrong);
				}
	end_group("flush");
}

/* A key that was invalidated opens nothing, and the connection ends. */
static void write_fails(const char *what, const struct reply *window, struct order *far)
{
	struct completion want = { .status = IBV_WC_REM_ACCESS_ERR };
	struct reply own_reply = { 0 }, reply;
	struct ibv_sge sge = { .addr = memory_of(&own, SOURCE, ORDINARY)->base, .length = 8,
			       .lkey = memory_of(&own, SOURCE, ORDINARY)->mr->lkey };
	struct request request = { .opcode = IBV_WR_RDMA_WRITE, .sge = &sge, .num_sge = 1,
				   .rkey = window->rkey, .address = window->at };
	struct completion is;

	request.wr_id = want.wr_id = ++serial;
	request.flags = IBV_SEND_SIGNALED;
	want.qp_num = own.qp->qp_num;
	if (post(own.qp, kind_of_link.interface, &request))
		WRONG(&own_reply, "request refused");
	else if (!wait_for(&own.send, &is) || is.status != want.status || is.wr_id != want.wr_id ||
		 is.qp_num != want.qp_num)
		WRONG(&own_reply, "a closed window does not give an access error");
	far->what = VERIFY;
	far->completes = false;
	ask(data, far, &reply);
	judge(what, own_reply.wrong[0] ? own_reply.wrong : reply.wrong);
	if (!own_reply.wrong[0] && !reply.wrong[0]) {
		close_all();
		connect_link();
	}
}

static void invalidations(void)
{
	static const enum kind windows[] = { WINDOW_2, WINDOW_ZERO, WINDOW_BUFFER };
	static const size_t some[] = { 0, 60, 5000 };

	if (!has_windows())
		return;
	FOR_EACH(window, windows)
		FOR_EACH(size, some)
			run(&(struct trial){ .opcode = &send_with_inv, .length = *size,
					     .far = HALVES, .far_kind = *window });
	if (kind_of_link.type == IBV_QPT_RC)
		FOR_EACH(window, windows)
			for (int by_peer = 0; by_peer < 2; by_peer++) {
				struct order far = { .what = PREPARE, .role = TARGET, .kind = *window,
						     .background = serial, .window_at = 64,
						     .window_length = 64 };
				struct order invalidate = { .what = INVALIDATE };
				struct reply opened, reply;

				place(&far.layout, ONE, 64, 64);
				must(data, &far, &opened);
				if (by_peer) {
					struct request request = { .opcode = IBV_WR_SEND_WITH_INV,
								   .imm = opened.rkey };
					struct completion want = { .opcode = IBV_WC_SEND };
					struct order receive = far;

					receive.kind = ORDINARY;
					receive.receives = receive.bare = true;
					receive.want = arrival(&(struct trial){
						.opcode = &send_with_inv }, opened.rkey);
					must(data, &receive, &reply);
					carry_out(&request, &want, &reply);
					judge("invalidation by the peer", reply.wrong);
					receive.what = VERIFY;
					receive.completes = true;
					must(data, &receive, &reply);
				} else {
					must(data, &invalidate, &reply);
				}
				write_fails("a write to a closed window", &opened, &far);
			}
	end_group("invalidation");
}

/* A datagram to all that are attached: the other side and this one. */
static void multicast(void)
{
	static const size_t some[] = { 0, 1, 33, 1000 };
	struct order member = { .what = ATTACH, .peer = { .gid = { .raw = { 0xff, 0x0e, [15] = 7 } },
							  .lid = 0xc007 } };
	struct ibv_ah *unicast = ah;
	struct address unicast_peer = peer;
	struct ibv_ah_attr attr;
	struct reply reply;

	if (!is_ud())
		return;
	must(&pair, &member, &reply);
	answer(&own, &member, &reply);
	attr = route(&own, &member.peer);
	ah = NEED(ibv_create_ah(own.pd, &attr));
	for (int opcode = 0; opcode < 2; opcode++)
		FOR_EACH(size, some) {
			struct trial trial = { .opcode = &opcodes[opcode], .length = *size,
					       .far = ODD };
			struct completion want = { .opcode = IBV_WC_SEND, .byte_len = *size };
			struct reply own_reply, far_reply;
			struct ibv_sge sge[MAX_PIECES];
			struct request request = { .opcode = trial.opcode->opcode, .sge = sge };
			struct order near, far, here;

			serial += 8;
			if (opcode)
				request.imm = htobe32(serial);
			near = near_order(&trial, true);
			near.what = PREPARE;
			answer(&own, &near, &own_reply);
			far = here = far_order(&trial);
			request.flags = far.solicited ? IBV_SEND_SOLICITED : 0;
			peer.qp_num = unicast_peer.qp_num;
			far.want = arrival(&trial, request.imm);
			here.want = far.want;
			here.want.qp_num = own.qp->qp_num;
			ask(&pair, &far, &far_reply);
			answer(&own, &here, &reply);
			request.num_sge = to_list(memory_of(&own, SOURCE, ORDINARY), &near.layout, sge);
			peer.qp_num = 0xffffff;
			carry_out(&request, &want, &own_reply);
			far.length = here.length = *size;
			far.skip = here.skip = GRH;
			far.what = here.what = VERIFY;
			far.completes = here.completes = true;
			if (is_ethernet(&own)) {
				global_route(&far, &own.gid, &member.peer.gid, *size);
				global_route(&here, &own.gid, &member.peer.gid, *size);
			}
			ask(&pair, &far, &far_reply);
			answer(&own, &here, &reply);
			judge("datagram to all, at the other side",
			      own_reply.wrong[0] ? own_reply.wrong : far_reply.wrong);
			judge("datagram to all, here", reply.wrong);
		}
	NEED(!ibv_destroy_ah(ah));
	ah = unicast;
	peer = unicast_peer;
	member.what = DETACH;
	must(&pair, &member, &reply);
	answer(&own, &member, &reply);
	end_group("multicast");
}

/* What a type does not have is refused: by posting, and at creation. */
static void refusals(void)
{
	for (int opcode = 0; opcode <= IBV_WR_ATOMIC_WRITE; opcode++) {
		struct request request = { .opcode = opcode, .ah = ah, .qp_num = peer.qp_num,
					   .qkey = QKEY, .flags = IBV_SEND_SIGNALED };
		struct ibv_qp_init_attr_ex init = {
			.qp_type = kind_of_link.type, .send_cq = own.send.cq, .recv_cq = own.recv.cq,
			.pd = own.pd, .send_ops_flags = operation_of(opcode),
			.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
			.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		};
		struct completion is;
		int ret;

		if (allowed(opcode))
			continue;
		ret = post_old(own.qp, &request);
		judge("a request of another type", ret == EINVAL ? "" : "is not refused");
		judge("a request of another type", poll_once(&own.send, &is) ? "completes" : "");
		if (!init.send_ops_flags)
			continue;
		errno = 0;
		if (ibv_create_qp_ex(own.context, &init))
			judge("a queue pair for requests of another type", "is made");
		else
			judge("a queue pair for requests of another type",
			      errno == EOPNOTSUPP ? "" : error_name(errno));
	}
	end_group("refusals");
}

struct link {
	const char *title;
	struct kind_of_link kind;
	bool apart;
};

static const struct link links[] = {
	{ "RC", { IBV_QPT_RC, OLD, false, false }, false },
	{ "RC, new interfaces, events", { IBV_QPT_RC, NEW, false, true }, false },
	{ "RC, SRQ, events", { IBV_QPT_RC, OLD, true, true }, false },
	{ "RC, SRQ, new interfaces", { IBV_QPT_RC, NEW, true, false }, false },
	{ "UC", { IBV_QPT_UC, OLD, false, false }, false },
	{ "UC, new interfaces, events", { IBV_QPT_UC, NEW, false, true }, false },
	{ "UC, SRQ, new interfaces", { IBV_QPT_UC, NEW, true, false }, false },
	{ "UD", { IBV_QPT_UD, OLD, false, false }, false },
	{ "UD, new interfaces, events", { IBV_QPT_UD, NEW, false, true }, false },
	{ "UD, SRQ, new interfaces", { IBV_QPT_UD, NEW, true, false }, false },
	{ "XRC", { IBV_QPT_XRC_SEND, OLD, true, true }, false },
	{ "XRC, SRQ elsewhere", { IBV_QPT_XRC_SEND, OLD, true, false }, true },
	{ "XRC, SRQ elsewhere, new interfaces, events", { IBV_QPT_XRC_SEND, NEW, true, true }, true },
};

static void start_remote(struct remote *remote, const char *name, const char *device)
{
	int sockets[2];

	NEED(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
	fflush(stdout);
	remote->socket = sockets[0];
	remote->child = fork();
	NEED(remote->child >= 0);
	if (!remote->child) {
		close(sockets[0]);
		serve(sockets[1], name, device);
	}
	close(sockets[1]);
}

static void end_remote(struct remote *remote)
{
	struct order order = { .what = QUIT };
	int status;

	if (remote->here) {
		close_side(remote->here);
		return;
	}
	CHECK(send(remote->socket, &order, sizeof(order), MSG_NOSIGNAL) == sizeof(order));
	CHECK(waitpid(remote->child, &status, 0) == remote->child && !status);
	close(remote->socket);
}

int main(int argc, char **argv)
{
	static struct side others[2];
	const char *part = argc > 3 ? argv[3] : "";
	uint64_t since = nanoseconds(CLOCK_MONOTONIC);

	if (argc < 3) {
		printf("usage: %s DEVICE one|many|hidden [PART]\n", argv[0]);
		return 2;
	}
	start();
	make_bytes();
	if (!strcmp(argv[2], "hidden"))
		CHECK(!prctl(PR_SET_DUMPABLE, 0));
	domain_file = NEED(memfd_create("domain", 0));
	if (!strcmp(argv[2], "one")) {
		pair.here = &others[0];
		apart.here = &others[1];
		open_side(pair.here, "the other side", argv[1]);
		open_side(apart.here, "the third side", argv[1]);
	} else {
		start_remote(&pair, "the other process", argv[1]);
		start_remote(&apart, "the third process", argv[1]);
	}
	open_side(&own, "this side", argv[1]);
	FOR_EACH(link, links) {
		if (!strstr(link->title, part))
			continue;
		snprintf(title, sizeof(title), "%s", link->title);
		kind_of_link = link->kind;
		data = link->apart ? &apart : &pair;
		connect_link();
		splits();
		kinds();
		lists();
		inlines();
		late();
		lost();
		atomics();
		flushes();
		invalidations();
		multicast();
		refusals();
		close_all();
	}
	close_side(&own);
	end_remote(&pair);
	end_remote(&apart);
	printf("%u cases in %.1f s, %u failures\n", in_all,
	       (nanoseconds(CLOCK_MONOTONIC) - since) / 1e9, failures + failed_checks);
	return failures || failed_checks;
}
