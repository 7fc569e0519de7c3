/*
 * Data integrity under load: several processes, each connected with each, itself included, with
 * random requests of all kinds in flight; every byte and every completion is compared. What a
 * request is follows from the seed, its connection and its number, so both ends know it.
 *
 * usage: soak DEVICE SECONDS SEED
 *
 * Of two processes of six the memory is out of reach for their peers. What fails is printed with
 * the seed.
 */
#include "side.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
	PROCESSES = 6,
	LINKS = PROCESSES * PROCESSES,
	/* Requests of a connection that are under way at most; each has a slot of memory at both ends. */
	WINDOW = 16,
	SLOT = 160 << 10,
	SHORT = 128 << 10,
	LONG = 64 << 20,
	/* Receives that connections share. */
	POOL = 64,
	POOL_BYTES = 4096,
	POOL_SLOT = 8192,
	/* A connection on which nothing happens for so long hangs, in seconds. */
	HANGS = 60,
};

enum shape { PLAIN, WITH_SRQ, POOLED };

/* A connection, as it follows from the seed. */
struct connection {
	enum ibv_qp_type type;
	enum shape shape;
	enum interface interface;
	/* The processes of the requester, of the other queue pair, of the memory and the receives. */
	int from, pair, to;
	enum kind near, far;
	/* Memory for long messages, and how long they are at most. */
	enum kind large;
	size_t longest;
};

/* A request, as it follows from the seed. */
struct item {
	const struct opcode *opcode;
	bool is_word, counts, in_request, silent, is_long, has_window, early;
	size_t length;
	enum split near, far;
	uint32_t background, seed, imm;
	size_t spare;
};

/* What the two ends of a connection tell each other. */
struct channel {
	struct address requester, pair, data;
	/* Requests up to which there are memory and receives, that have completed, that were checked;
	   all that were posted, once that is known. */
	uint64_t prepared, completed, checked, last;
	struct {
		uint64_t at;
		uint32_t rkey;
	} slot[WINDOW];
} __attribute__((aligned(64)));

/* What all processes share. */
static struct shared {
	uint32_t seed;
	uint32_t stop, failed, arrived;
	uint64_t requests, bytes, opcodes[16];
	struct {
		uint64_t at, sum;
		uint32_t rkey;
	} counter[PROCESSES];
	struct channel channel[LINKS];
} *shared;

/* An end of a connection in this process. */
struct end {
	const struct connection *connection;
	struct channel *channel;
	int number;
	struct side side;
	struct memory memory, large;
	struct ibv_ah *ah;
	struct ibv_mw *window[WINDOW];
	bool is_bound[WINDOW];
	/* The requester: posted. The other end: receives that have completed, in their slots. */
	uint64_t posted, arrived;
	struct completion arrival[WINDOW];
	uint64_t active;
};

static struct connection connections[LINKS];
static int me;
static struct side own;
/* For either interface. */
static struct queue send_queue[2], receive_queue[2];
static struct end requester[LINKS], pair_end[LINKS], data_end[LINKS];
static struct memory counter, pool;
static struct ibv_srq *pool_srq;
static const struct opcode count = { "count", IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD, 0, 0,
				     FROM_MEMORY };
static const struct opcode compare = { "compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP,
				       IBV_WC_COMP_SWAP, 0, 0, FROM_MEMORY };
static const struct opcode add = { "fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD,
				   0, 0, FROM_MEMORY };
static const struct opcode store = { "atomic write", IBV_WR_ATOMIC_WRITE, IBV_WC_ATOMIC_WRITE, 0, 0,
				     TO_MEMORY };

/* Where the word of an atomic is in its slot, and what it adds. */
enum { WORD = 64 };
static const uint64_t OPERAND = 0x8000000080000001;

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void publish(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static uint64_t mixed(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t state = (a + 1) * 0x9e3779b97f4a7c15 ^ (b + 1) * 0xc2b2ae3d27d4eb4f ^
			 (c + 1) * 0x165667b19e3779f9;

	state |= state == 0;
	for (int i = 0; i < 3; i++)
		next_random(&state);
	return state;
}

static void define_connections(void)
{
	static const struct {
		enum ibv_qp_type type;
		enum shape shape;
	} types[] = {
		{ IBV_QPT_RC, PLAIN }, { IBV_QPT_RC, WITH_SRQ }, { IBV_QPT_RC, POOLED },
		{ IBV_QPT_UC, PLAIN }, { IBV_QPT_UC, WITH_SRQ }, { IBV_QPT_UD, PLAIN },
		{ IBV_QPT_UD, WITH_SRQ }, { IBV_QPT_XRC_SEND, WITH_SRQ }, { IBV_QPT_RC, PLAIN },
		{ IBV_QPT_RC, POOLED },
	};

	for (int i = 0; i < LINKS; i++) {
		struct connection *connection = &connections[i];
		uint64_t state = mixed(shared->seed, i, 1ULL << 60);
		int type = next_random(&state) % (sizeof(types) / sizeof(*types));

		connection->type = types[type].type;
		connection->shape = types[type].shape;
		connection->interface = next_random(&state) & 1 ? NEW : OLD;
		connection->from = i / PROCESSES;
		connection->pair = connection->to = i % PROCESSES;
		if (connection->type == IBV_QPT_XRC_SEND && next_random(&state) & 1)
			connection->to = (connection->pair + 1) % PROCESSES;
		connection->near = next_random(&state) % DEVICE;
		connection->far = next_random(&state) % DEVICE;
		/* Registering ordinary memory touches it all, so few have much of it. */
		connection->large = i % 3 == 0 ? ON_DEMAND : i % 3 == 1 ? BUFFER : ORDINARY;
		connection->longest = i % 3 == 0 || i % 12 == 2 ? LONG : LONG / 16;
		/* No windows on the region of all memory. */
		if (connection->far == IMPLICIT)
			connection->far = ORDINARY;
	}
}

/* Whether a request is a long one, which is under way alone. */
static bool is_long(const struct connection *connection, uint64_t number)
{
	return connection->type != IBV_QPT_UD && connection->shape != POOLED &&
	       mixed(shared->seed, connection - connections, number ^ 1ULL << 61) % 1000 == 0;
}

static struct item item_of(const struct connection *connection, uint64_t number)
{
	uint64_t state = mixed(shared->seed, connection - connections, number);
	enum ibv_qp_type type = connection->type;
	struct item item = { .background = next_random(&state), .seed = next_random(&state),
			     .imm = next_random(&state), .opcode = &opcodes[0] };
	size_t most = type == IBV_QPT_UD ? 128UL << own.port.active_mtu :
		      connection->shape == POOLED ? POOL_BYTES : SHORT;
	bool has_windows = type == IBV_QPT_RC || type == IBV_QPT_UC;
	unsigned what = next_random(&state) % 14;

	if (connection->shape == POOLED)
		what %= 2;
	if (is_long(connection, number))
		what %= 5;
	if (what < 5 && allows(type, opcodes[what].opcode))
		item.opcode = &opcodes[what];
	else if (what == 5 && has_windows)
		item.opcode = &send_with_inv;
	else if (what == 6 && allows(type, IBV_WR_ATOMIC_CMP_AND_SWP))
		item.opcode = &compare;
	else if (what == 7 && allows(type, IBV_WR_ATOMIC_FETCH_AND_ADD))
		item.opcode = &add;
	else if (what == 8 && allows(type, IBV_WR_ATOMIC_FETCH_AND_ADD))
		item.opcode = &count;
	else if (what == 9 && allows(type, IBV_WR_ATOMIC_WRITE) && connection->interface == NEW)
		item.opcode = &store;
	else if (what >= 10 && allows(type, opcodes[what % 5].opcode))
		item.opcode = &opcodes[what % 5];
	item.counts = item.opcode == &count;
	item.is_word = item.counts || item.opcode == &compare || item.opcode == &add ||
		       item.opcode == &store;
	item.near = next_random(&state) % SPLITS;
	item.far = next_random(&state) % SPLITS;
	item.spare = next_random(&state) % 3 * 11;
	/* All orders of magnitude alike. */
	if (is_long(connection, number)) {
		item.is_long = true;
		item.length = SHORT << next_random(&state) % 9;
		item.length += next_random(&state) % item.length;
		if (item.length > connection->longest || next_random(&state) % 8 == 0)
			item.length = connection->longest;
	} else {
		item.length = next_random(&state) >> (64 - next_random(&state) % 18);
		if (next_random(&state) % 16 == 0)
			item.length = 0;
		if (item.length > most)
			item.length = most;
	}
	if (item.is_word)
		item.length = 8;
	item.in_request = !item.is_word && item.opcode->way != FROM_MEMORY &&
			  item.length <= MAX_INLINE && next_random(&state) & 1;
	/* There is always one with a completion among those that may be under way. */
	item.silent = number % 4 != 3 && next_random(&state) % 3 == 0 && !item.is_long &&
		      !is_long(connection, number + 1);
	item.has_window = has_windows && !item.counts && item.opcode->way != TO_RECEIVE &&
			  item.length && next_random(&state) % 4 == 0;
	if (item.opcode == &send_with_inv)
		item.has_window = true;
	/* Posted before its receive. */
	item.early = item.opcode->way == TO_RECEIVE && item.opcode != &send_with_inv &&
		     (type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND) && !item.is_long && number &&
		     !is_long(connection, number - 1) && next_random(&state) % 4 == 0;
	return item;
}

static const char *type_name(const struct connection *connection)
{
	static const char *const shapes[] = { "", " with SRQ", " with a common SRQ" };
	static char text[64];
	const char *type = connection->type == IBV_QPT_RC ? "RC" :
			   connection->type == IBV_QPT_UC ? "UC" :
			   connection->type == IBV_QPT_UD ? "UD" : "XRC";

	snprintf(text, sizeof(text), "%s%s, %s interfaces", type, shapes[connection->shape],
		 connection->interface == NEW ? "new" : "old");
	return text;
}

/* Says what is wrong, and ends the run. */
static void fail(const struct end *end, uint64_t number, const char *format, ...)
{
	const struct connection *connection = end->connection;
	struct item item = item_of(connection, number);
	char text[300];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	__atomic_store_n(&shared->failed, 1, __ATOMIC_SEQ_CST);
	printf("FAILED in process %d: connection %d (%s) from %d to %d, request %" PRIu64
	       ": %s, %zu bytes, %s%s%s%s%s (%s) to %s (%s): %s\n"
	       "prepared %" PRIu64 ", completed %" PRIu64 ", checked %" PRIu64 ", posted %" PRIu64
	       "; seed %u\n",
	       me, end->number, type_name(connection), connection->from, connection->to, number,
	       item.opcode->name, item.length, item.in_request ? "inline, " : "",
	       item.early ? "early, " : "", item.silent ? "silent, " : "",
	       item.has_window ? "window, " : "", kind_name[connection->near],
	       split_name[item.near], kind_name[connection->far], split_name[item.far], text,
	       load(&end->channel->prepared), load(&end->channel->completed),
	       load(&end->channel->checked), end->posted, shared->seed);
	exit(1);
}

/* The memory of a request at an end. */
static struct memory slot_of(struct end *end, const struct item *item, uint64_t number)
{
	struct memory memory = item->is_long ? end->large : end->memory;
	size_t offset = item->is_long ? 0 : number % WINDOW * SLOT;

	memory.bytes += offset;
	memory.base += offset;
	return memory;
}

/* Memory of long messages is given back. */
static void give_back(struct end *end, const struct item *item)
{
	if (!item->is_long)
		return;
	madvise(end->large.bytes, end->large.size,
		end->connection->large == BUFFER ? MADV_REMOVE : MADV_DONTNEED);
	madvise(scratch(), LARGE_AREA, MADV_DONTNEED);
}

static size_t header_of(const struct connection *connection)
{
	return connection->type == IBV_QPT_UD ? GRH : 0;
}

static struct layout far_layout(const struct connection *connection, const struct item *item)
{
	struct layout layout;

	if (item->is_word)
		place(&layout, ONE, 8, WORD);
	else if (item->opcode->way == TO_RECEIVE)
		place(&layout, item->far, item->length + header_of(connection) + item->spare, GUARD);
	else
		place(&layout, ONE, item->length, GUARD);
	return layout;
}

static uint64_t word_before(const struct item *item)
{
	return item->seed * 0xf0e1d2c3b4a59687;
}

static uint64_t word_after(const struct item *item)
{
	uint64_t before = word_before(item);

	if (item->opcode == &compare)
		return item->imm & 1 ? before : ~before;
	return item->opcode == &add ? before + OPERAND : ~before;
}

/* The image of the memory of the other end is made in `area`, before or after the request. */
static void far_image(uint8_t *area, const struct end *end, const struct item *item, bool after)
{
	const struct connection *connection = end->connection;
	struct layout layout = far_layout(connection, item);
	bool has_message = item->opcode->way == FROM_MEMORY || after;

	put_image(area, &layout, item->background, item->seed, header_of(connection),
		  has_message && !item->is_word ? item->length : 0);
	if (item->is_word) {
		uint64_t word = after ? word_after(item) : word_before(item);

		memcpy(area + WORD, &word, 8);
	}
	if (after && header_of(connection)) {
		struct order order;

		if (is_ethernet(&own)) {
			global_route(&order, &own.gid, &own.gid, item->length);
			put_header(area, &layout, order.header, GRH);
		}
	}
}

/* Opens a window on the bytes of a request. */
static void open_window(struct end *end, const struct item *item, uint64_t number,
			struct memory *memory)
{
	int slot = number % WINDOW;
	struct request request = { .opcode = IBV_WR_BIND_MW };
	struct reply reply = { 0 };

	if (!end->window[slot])
		end->window[slot] = NEED(ibv_alloc_mw(own.pd, IBV_MW_TYPE_2));
	request.mw = end->window[slot];
	request.rkey = ibv_inc_rkey(request.mw->rkey);
	request.bind = (struct ibv_mw_bind_info){
		.mr = memory->mr, .addr = memory->base + (item->is_word ? WORD : GUARD),
		.length = item->length ? item->length : 1,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	on_window(&end->side, &request, IBV_WC_BIND_MW, &reply);
	if (reply.wrong[0])
		fail(end, number, "%s", reply.wrong);
	end->is_bound[slot] = true;
	end->channel->slot[slot].rkey = request.mw->rkey;
	end->channel->slot[slot].at = request.bind.addr;
}

static void close_window(struct end *end, uint64_t number)
{
	int slot = number % WINDOW;
	struct request request = { .opcode = IBV_WR_LOCAL_INV };
	struct reply reply = { 0 };

	if (!end->is_bound[slot])
		return;
	request.imm = end->window[slot]->rkey;
	on_window(&end->side, &request, IBV_WC_LOCAL_INV, &reply);
	if (reply.wrong[0])
		fail(end, number, "%s", reply.wrong);
	end->is_bound[slot] = false;
}

/* Makes a request's memory and receive ready, at the other end. */
static void prepare_next(struct end *end, uint64_t number)
{
	const struct connection *connection = end->connection;
	struct item item = item_of(connection, number);
	struct memory memory = slot_of(end, &item, number);
	struct layout layout = far_layout(connection, &item);
	int slot = number % WINDOW;

	far_image(memory.bytes, end, &item, false);
	end->channel->slot[slot].rkey = memory.mr->rkey;
	end->channel->slot[slot].at =
		memory.base + (layout.count ? layout.piece[0].at : GUARD);
	if (item.has_window)
		open_window(end, &item, number, &memory);
	if (item.opcode->arrival) {
		struct ibv_sge sge[MAX_PIECES];
		struct ibv_recv_wr wr = { .wr_id = number, .sg_list = sge }, *bad;
		int ret;

		if (item.opcode->way == TO_RECEIVE)
			wr.num_sge = to_list(&memory, &layout, sge);
		ret = end->side.srq ? ibv_post_srq_recv(end->side.srq, &wr, &bad) :
				      ibv_post_recv(end->side.qp, &wr, &bad);
		if (ret)
			fail(end, number, "receive refused: %s", error_name(ret));
	}
}

static struct completion arrival_of(const struct end *end, const struct item *item, uint64_t number)
{
	const struct connection *connection = end->connection;
	struct completion want = {
		.wr_id = number, .opcode = item->opcode->arrival, .flags = item->opcode->arrival_flags,
		.byte_len = item->length + header_of(connection),
		.qp_num = end->channel->pair.qp_num, .src_qp = end->channel->requester.qp_num,
		.slid = own.port.lid, .sl = LEVEL,
	};

	if (want.flags & IBV_WC_WITH_IMM)
		want.imm = item->imm;
	if (want.flags & IBV_WC_WITH_INV)
		want.imm = end->channel->slot[number % WINDOW].rkey;
	if (header_of(connection) && is_ethernet(&own))
		want.flags |= IBV_WC_GRH;
	return want;
}

static void compare_area(struct end *end, uint64_t number, const uint8_t *area, size_t length)
{
	if (!memcmp(area, scratch(), length))
		return;
	for (size_t i = 0; i < length; i++)
		if (area[i] != scratch()[i])
			fail(end, number, "byte %zu of %zu is %#x, not %#x", i, length, area[i],
			     scratch()[i]);
}

/* Checks a request that has completed, at the other end; false if its receive has not yet. */
static bool check_next(struct end *end, uint64_t number)
{
	const struct connection *connection = end->connection;
	struct item item = item_of(connection, number);
	struct memory memory = slot_of(end, &item, number);
	struct layout layout = far_layout(connection, &item);

	if (item.opcode->arrival) {
		struct completion want = arrival_of(end, &item, number), *is;
		char text[200];

		is = &end->arrival[end->arrived % WINDOW];
		if (is->status == UINT32_MAX)
			return false;
		if (is_wrong(is, &want, text, sizeof(text)))
			fail(end, number, "receive's %s", text);
		is->status = UINT32_MAX;
		end->arrived++;
	}
	if (item.opcode == &send_with_inv)
		end->is_bound[number % WINDOW] = false;
	far_image(scratch(), end, &item, true);
	if (item.counts) {
		uint64_t word = word_before(&item);

		memcpy(scratch() + WORD, &word, 8);
	}
	compare_area(end, number, memory.bytes, layout.used);
	close_window(end, number);
	give_back(end, &item);
	return true;
}

/* Posts the next request. */
static void post_next(struct end *end, uint64_t number)
{
	const struct connection *connection = end->connection;
	struct item item = item_of(connection, number);
	struct memory memory = slot_of(end, &item, number);
	struct layout layout;
	struct ibv_sge sge[MAX_PIECES];
	static uint8_t plain[4096];
	bool reads = item.opcode->way == FROM_MEMORY || item.is_word;
	struct channel *channel = end->channel;
	struct request request = {
		.opcode = item.opcode->opcode, .wr_id = number, .sge = sge,
		.flags = item.silent ? 0 : IBV_SEND_SIGNALED, .ah = end->ah,
		.qp_num = channel->pair.qp_num, .qkey = QKEY, .srq_num = channel->data.srq_num,
		.address = channel->slot[number % WINDOW].at,
		.rkey = channel->slot[number % WINDOW].rkey,
	};
	int ret;

	place(&layout, item.near, item.length, GUARD);
	put_image(memory.bytes, &layout, item.background + 1, item.seed, 0,
		  reads ? 0 : item.length);
	request.num_sge = to_list(&memory, &layout, sge);
	if (item.in_request) {
		request.flags |= IBV_SEND_INLINE;
		memcpy(plain, memory.bytes, layout.used);
		for (int i = 0; i < request.num_sge; i++)
			sge[i].addr = (uintptr_t)plain + layout.piece[i].at;
	}
	if (item.opcode->arrival_flags & IBV_WC_WITH_IMM)
		request.imm = item.imm;
	if (item.opcode == &send_with_inv)
		request.imm = request.rkey;
	if (item.is_word) {
		uint64_t before = word_before(&item);

		request.swap = request.value = ~before;
		request.compare_add = OPERAND;
		if (item.opcode == &compare)
			request.compare_add = before ^ (item.imm & 1);
	}
	if (item.counts) {
		request.address = shared->counter[connection->to].at;
		request.rkey = shared->counter[connection->to].rkey;
		request.compare_add = item.seed;
		__atomic_fetch_add(&shared->counter[connection->to].sum, item.seed, __ATOMIC_RELAXED);
	}
	ret = post(end->side.qp, connection->interface, &request);
	if (ret)
		fail(end, number, "request refused: %s", error_name(ret));
	if (item.in_request)
		memset(plain, 0x77, layout.used);
	__atomic_fetch_add(&shared->requests, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared->bytes, item.length, __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared->opcodes[item.opcode->opcode], 1, __ATOMIC_RELAXED);
}

/* Checks the requester's memory of a request that has completed. */
static void check_source(struct end *end, uint64_t number)
{
	struct item item = item_of(end->connection, number);
	struct memory memory = slot_of(end, &item, number);
	struct layout layout;

	place(&layout, item.near, item.length, GUARD);
	put_image(scratch(), &layout, item.background + 1, item.seed, 0,
		  item.is_word ? 0 : item.length);
	if (item.counts) {
		/* Whatever the counter was. */
		for (int i = 0; i < layout.count; i++)
			memcpy(scratch() + layout.piece[i].at, memory.bytes + layout.piece[i].at,
			       layout.piece[i].length);
	} else if (item.is_word && item.opcode != &store) {
		uint64_t before = word_before(&item);

		put_header(scratch(), &layout, (uint8_t *)&before, 8);
	}
	compare_area(end, number, memory.bytes, layout.used);
	give_back(end, &item);
}

/* A request has completed, and with it those before it. */
static void take_sent(struct end *end, const struct completion *is)
{
	struct item item = item_of(end->connection, is->wr_id);
	struct completion want = { .wr_id = is->wr_id, .opcode = item.opcode->completion,
				   .byte_len = item.length, .qp_num = end->side.qp->qp_num };
	uint64_t done = end->channel->completed;
	char text[200];

	if (is->wr_id < done || is->wr_id >= end->posted || item.silent)
		fail(end, is->wr_id, "a completion that should not be: %s",
		     ibv_wc_status_str(is->status));
	if (is_wrong(is, &want, text, sizeof(text)))
		fail(end, is->wr_id, "request's %s (vendor error %u)", text, is->vendor_err);
	while (done <= is->wr_id)
		check_source(end, done++);
	publish(&end->channel->completed, done);
	end->active = nanoseconds(CLOCK_MONOTONIC);
}

static void post_pooled(uint64_t index)
{
	struct ibv_sge sge = { .addr = pool.base + index * POOL_SLOT, .length = POOL_BYTES,
			       .lkey = pool.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 1ULL << 63 | index, .sg_list = &sge, .num_sge = 1 }, *bad;

	put_bytes(pool.bytes + index * POOL_SLOT, POOL_BYTES + GUARD, index, 0);
	NEED(!ibv_post_srq_recv(pool_srq, &wr, &bad));
}

/* A message in one of the receives that connections share: those of each come in order. */
static void take_pooled(struct end *end, struct completion *is)
{
	uint64_t number = end->channel->checked, index = is->wr_id & (POOL - 1);
	struct item item = item_of(end->connection, number);
	struct completion want = arrival_of(end, &item, number);
	struct layout layout = { .count = 1, .piece[0] = { 0, POOL_BYTES },
				 .used = POOL_BYTES + GUARD };
	char text[200];

	want.wr_id = is->wr_id;
	if (is_wrong(is, &want, text, sizeof(text)))
		fail(end, number, "receive's %s", text);
	put_image(scratch(), &layout, index, item.seed, 0, item.length);
	compare_area(end, number, pool.bytes + index * POOL_SLOT, layout.used);
	post_pooled(index);
	publish(&end->channel->prepared, number + 1 + WINDOW);
	publish(&end->channel->checked, number + 1);
	end->active = nanoseconds(CLOCK_MONOTONIC);
}

static void take_received(struct end *end, struct completion *is)
{
	for (uint64_t i = 0; i < WINDOW; i++) {
		struct completion *place = &end->arrival[(end->arrived + i) % WINDOW];

		if (place->status == UINT32_MAX) {
			*place = *is;
			return;
		}
	}
	fail(end, is->wr_id, "a receive too many");
}

/* Hands the completions of all queues to their ends; whether there were any. */
static bool poll_all(void)
{
	struct completion is;
	bool any = false;

	for (int i = 0; i < 2; i++) {
		for (int most = 64; most && poll_once(&send_queue[i], &is); most--) {
			any = true;
			for (int link = 0; link < LINKS; link++)
				if (connections[link].from == me &&
				    requester[link].side.qp->qp_num == is.qp_num)
					take_sent(&requester[link], &is);
		}
		for (int most = 64; most && poll_once(&receive_queue[i], &is); most--) {
			any = true;
			for (int link = 0; link < LINKS; link++) {
				struct end *end = &data_end[link];

				if (connections[link].to != me ||
				    end->channel->pair.qp_num != is.qp_num)
					continue;
				if (end->connection->shape == POOLED)
					take_pooled(end, &is);
				else
					take_received(end, &is);
			}
		}
	}
	return any;
}

/* What the requester does; whether it did anything. */
static bool request_some(struct end *end)
{
	struct channel *channel = end->channel;
	bool any = false;

	if (load(&channel->last) != UINT64_MAX)
		return false;
	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		uint64_t number = end->posted, checked = load(&channel->checked);
		struct item item = item_of(end->connection, number);

		if (item.is_long ? load(&channel->prepared) <= number || checked != number :
		    item.early	 ? number >= checked + WINDOW :
				   number >= load(&channel->prepared))
			break;
		/* Its own slot has to be free, too. */
		if (number >= channel->completed + WINDOW)
			break;
		/* Counted before it is posted, which may complete it. */
		end->posted++;
		post_next(end, number);
		end->active = nanoseconds(CLOCK_MONOTONIC);
		any = true;
	}
	if (__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		/* The last one has a completion. */
		struct item item = item_of(end->connection, end->posted - 1);

		if (end->posted && item.silent) {
			if (load(&channel->prepared) > end->posted) {
				post_next(end, end->posted++);
				return true;
			}
			return false;
		}
		publish(&channel->last, end->posted);
	}
	return any;
}

/* What the other end does; whether it did anything. */
static bool respond(struct end *end)
{
	struct channel *channel = end->channel;
	uint64_t prepared = channel->prepared, checked = channel->checked;
	bool any = false;

	if (end->connection->shape == POOLED)
		return false;
	while (prepared < checked + WINDOW) {
		bool alone = is_long(end->connection, prepared) ||
			     (prepared && is_long(end->connection, prepared - 1));

		if (alone && prepared != checked)
			break;
		prepare_next(end, prepared);
		publish(&channel->prepared, ++prepared);
		any = true;
	}
	while (checked < load(&channel->completed) && check_next(end, checked)) {
		publish(&channel->checked, ++checked);
		any = true;
	}
	if (any)
		end->active = nanoseconds(CLOCK_MONOTONIC);
	return any;
}

/* Whether all that was posted has been checked. */
static bool is_through(void)
{
	for (int link = 0; link < LINKS; link++) {
		struct channel *channel = &shared->channel[link];

		if (load(&channel->checked) != load(&channel->last))
			return false;
	}
	return true;
}

static void look_for_hanging(struct end *end)
{
	uint64_t now = nanoseconds(CLOCK_MONOTONIC), last = load(&end->channel->last);

	if (now < end->active + HANGS * 1000000000ULL || load(&end->channel->checked) == last)
		return;
	fail(end, load(&end->channel->checked), "nothing happens");
}

/* Waits until all processes are here. */
static void meet(uint32_t phase)
{
	__atomic_fetch_add(&shared->arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&shared->arrived, __ATOMIC_SEQ_CST) < phase * PROCESSES) {
		if (__atomic_load_n(&shared->failed, __ATOMIC_SEQ_CST))
			exit(1);
		usleep(1000);
	}
}

static void make_end(struct end *end, int number, bool has_memory, enum kind kind)
{
	const struct connection *connection = &connections[number];

	end->connection = connection;
	end->channel = &shared->channel[number];
	end->number = number;
	end->side = own;
	end->side.link = (struct kind_of_link){ .type = connection->type,
						.interface = connection->interface };
	end->side.send = send_queue[connection->interface];
	end->side.recv = receive_queue[connection->interface];
	end->active = nanoseconds(CLOCK_MONOTONIC);
	for (int i = 0; i < WINDOW; i++)
		end->arrival[i].status = UINT32_MAX;
	if (!has_memory)
		return;
	make_memory(&end->large, own.context, own.pd, connection->large,
		    connection->longest + (64 << 10));
	make_memory(&end->memory, own.context, own.pd, kind, WINDOW * SLOT);
}

static struct address address_of(const struct end *end)
{
	return (struct address){ .gid = own.gid, .lid = own.port.lid,
				 .qp_num = end->side.qp ? end->side.qp->qp_num : 0,
				 .srq_num = end->side.srq_num };
}

static void open_domain(struct side *side)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							IBV_XRCD_INIT_ATTR_OFLAGS,
					   .fd = domain_file, .oflags = O_CREAT };

	side->xrcd = NEED(ibv_open_xrcd(own.context, &attr));
}

/* The ends of this process, unconnected. */
static void make_ends(void)
{
	for (int number = 0; number < LINKS; number++) {
		struct connection *connection = &connections[number];
		struct channel *channel = &shared->channel[number];
		bool xrc = connection->type == IBV_QPT_XRC_SEND;

		if (connection->from == me) {
			struct end *end = &requester[number];

			make_end(end, number, true, connection->near);
			make_qp(&end->side, connection->type);
			channel->requester = address_of(end);
		}
		if (xrc && connection->pair == me) {
			struct end *end = &pair_end[number];

			make_end(end, number, false, ORDINARY);
			open_domain(&end->side);
			make_qp(&end->side, IBV_QPT_XRC_RECV);
			channel->pair = address_of(end);
		}
		if (connection->to == me) {
			struct end *end = &data_end[number];

			make_end(end, number, connection->shape != POOLED, connection->far);
			if (xrc)
				open_domain(&end->side);
			if (connection->shape == POOLED)
				end->side.srq = pool_srq;
			else if (connection->shape == WITH_SRQ)
				make_srq(&end->side);
			if (!xrc) {
				/* It binds windows, and waits for that. */
				make_queue(&end->side.send, own.context, connection->interface, false,
					   16);
				make_qp(&end->side, connection->type);
				channel->pair = address_of(end);
			}
			channel->data = address_of(end);
			channel->prepared = connection->shape == POOLED ? WINDOW : 0;
		}
		if (me == 0)
			channel->last = UINT64_MAX;
	}
}

static void connect_ends(void)
{
	for (int number = 0; number < LINKS; number++) {
		struct connection *connection = &connections[number];
		struct channel *channel = &shared->channel[number];
		bool xrc = connection->type == IBV_QPT_XRC_SEND;

		if (connection->from == me) {
			struct end *end = &requester[number];
			struct ibv_ah_attr attr = route(&own, &channel->pair);

			connect_side(&end->side, &channel->pair);
			if (connection->type == IBV_QPT_UD)
				end->ah = NEED(ibv_create_ah(own.pd, &attr));
		}
		if (xrc ? connection->pair == me : connection->to == me)
			connect_side(xrc ? &pair_end[number].side : &data_end[number].side,
				     &channel->requester);
	}
}

static void drop_end(struct end *end)
{
	if (!end->connection)
		return;
	for (int i = 0; i < WINDOW; i++)
		if (end->window[i])
			CHECK(!ibv_dealloc_mw(end->window[i]));
	if (end->ah)
		CHECK(!ibv_destroy_ah(end->ah));
	if (end->side.qp)
		CHECK(!ibv_destroy_qp(end->side.qp));
	if (end->side.srq && end->side.srq != pool_srq)
		CHECK(!ibv_destroy_srq(end->side.srq));
	if (end->side.xrcd)
		CHECK(!ibv_close_xrcd(end->side.xrcd));
	if (end->side.send.cq != send_queue[0].cq && end->side.send.cq != send_queue[1].cq)
		drop_queue(&end->side.send);
	drop_memory(&end->memory);
	drop_memory(&end->large);
}

/* As in a container: the system calls that reach other processes fail. */
static void forbid_access(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	NEED(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	NEED(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}

static void work(const char *device)
{
	uint64_t counted = 0;
	unsigned idle = 0;

	if (me == 4)
		setenv("URXE_NO_ACCESS", "1", 1);
	if (me == 5)
		forbid_access();
	open_side(&own, "soak", device);
	define_connections();
	for (int i = 0; i < 2; i++) {
		make_queue(&send_queue[i], own.context, i, false, 4096);
		make_queue(&receive_queue[i], own.context, i, false, 4096);
	}
	make_memory(&counter, own.context, own.pd, me & 1 ? BUFFER : ORDINARY, 4096);
	shared->counter[me].at = counter.base + WORD;
	shared->counter[me].rkey = counter.mr->rkey;
	make_memory(&pool, own.context, own.pd, ORDINARY, POOL * POOL_SLOT);
	pool_srq = NEED(ibv_create_srq(own.pd, &(struct ibv_srq_init_attr){
						       .attr = { .max_wr = POOL, .max_sge = 1 } }));
	for (uint64_t i = 0; i < POOL; i++)
		post_pooled(i);
	make_ends();
	meet(1);
	connect_ends();
	meet(2);
	while (!is_through()) {
		bool any = poll_all();

		for (int link = 0; link < LINKS; link++) {
			if (connections[link].from == me) {
				any |= request_some(&requester[link]);
				look_for_hanging(&requester[link]);
			}
			if (connections[link].to == me)
				any |= respond(&data_end[link]);
		}
		/* The processor counts, too. */
		__atomic_fetch_add((uint64_t *)(counter.bytes + WORD), 1, __ATOMIC_SEQ_CST);
		counted++;
		if (__atomic_load_n(&shared->failed, __ATOMIC_RELAXED))
			exit(1);
		idle = any ? 0 : idle + 1;
		/* Most wait for another process, and there are more of them than processors. */
		if (idle > 10)
			usleep(50);
		else
			sched_yield();
	}
	__atomic_fetch_add(&shared->counter[me].sum, counted, __ATOMIC_RELAXED);
	meet(3);
	if (load((uint64_t *)(counter.bytes + WORD)) != load(&shared->counter[me].sum)) {
		printf("FAILED in process %d: counter is %" PRIu64 ", not %" PRIu64 "; seed %u\n", me,
		       load((uint64_t *)(counter.bytes + WORD)), load(&shared->counter[me].sum),
		       shared->seed);
		exit(1);
	}
	CHECK(!poll_all());
	meet(4);
	for (int link = 0; link < LINKS; link++) {
		drop_end(&requester[link]);
		drop_end(&pair_end[link]);
		drop_end(&data_end[link]);
	}
	CHECK(!ibv_destroy_srq(pool_srq));
	for (int i = 0; i < 2; i++) {
		drop_queue(&send_queue[i]);
		drop_queue(&receive_queue[i]);
	}
	drop_memory(&counter);
	drop_memory(&pool);
	close_side(&own);
	exit(failed_checks != 0);
}

int main(int argc, char **argv)
{
	pid_t child[PROCESSES];
	bool failed = false;

	if (argc != 4) {
		printf("usage: %s DEVICE SECONDS SEED\n", argv[0]);
		return 2;
	}
	start();
	make_bytes();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	NEED(shared != MAP_FAILED);
	shared->seed = strtoul(argv[3], NULL, 0);
	domain_file = NEED(memfd_create("domain", 0));
	printf("seed %u\n", shared->seed);
	for (me = 0; me < PROCESSES; me++) {
		child[me] = fork();
		NEED(child[me] >= 0);
		if (!child[me]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			work(argv[1]);
		}
	}
	/* The time begins when all are connected, and is over when one fails. */
	for (int64_t left = atoi(argv[2]) * 10LL; left > 0 && !failed;) {
		siginfo_t info = { 0 };

		usleep(100000);
		left -= __atomic_load_n(&shared->arrived, __ATOMIC_SEQ_CST) >= 2 * PROCESSES;
		failed = !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < PROCESSES; i++) {
		int status;
		siginfo_t info = { 0 };

		NEED(!waitid(P_ALL, 0, &info, WEXITED | WNOWAIT));
		NEED(waitpid(info.si_pid, &status, 0) > 0);
		if (!status)
			continue;
		if (WIFSIGNALED(status))
			printf("a process died of signal %d; seed %u\n", WTERMSIG(status), shared->seed);
		failed = true;
		__atomic_store_n(&shared->failed, 1, __ATOMIC_SEQ_CST);
	}
	if (!shared->requests)
		failed = true;
	for (int opcode = 0; opcode < 16; opcode++)
		if (shared->opcodes[opcode])
			printf("  opcode %2d: %" PRIu64 "\n", opcode, shared->opcodes[opcode]);
	define_connections();
	for (int link = 0; link < LINKS; link++)
		printf("  connection %2d, %-36s %d to %d: %" PRIu64 " requests\n", link,
		       type_name(&connections[link]), connections[link].from, connections[link].to,
		       shared->channel[link].checked);
	printf("%" PRIu64 " requests, %.1f GB, over %d connections of %d processes, seed %u: %s\n",
	       shared->requests, shared->bytes / 1e9, LINKS, PROCESSES, shared->seed,
	       failed ? "failed" : "no failures");
	return failed;
}
