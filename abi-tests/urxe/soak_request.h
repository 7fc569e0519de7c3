/* The two ends of a request of the soak: memory and receives, posting, and what has to be there. */
#ifndef ABI_TESTS_URXE_SOAK_REQUEST_H
#define ABI_TESTS_URXE_SOAK_REQUEST_H

#include "soak_plan.h"
#include <stdarg.h>

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
	/* How often each process has looked after its connections. */
	uint64_t rounds[PROCESSES];
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
	/* When something happened, and the rounds of the processes then. */
	uint64_t active, rounds[PROCESSES];
};

static int me;
static struct side own;
/* For either interface. */
static struct queue send_queue[2], receive_queue[2];
static struct end requester[LINKS], pair_end[LINKS], data_end[LINKS];
static struct memory counter, pool;
static struct ibv_srq *pool_srq;

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void publish(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Something has happened. */
static void is_active(struct end *end)
{
	end->active = nanoseconds(CLOCK_MONOTONIC);
	for (int i = 0; i < PROCESSES; i++)
		end->rounds[i] = load(&shared->rounds[i]);
}

/* How often the process of its connection that did so least has looked after it since. */
static uint64_t rounds_since(const struct end *end)
{
	int involved[] = { end->connection->from, end->connection->pair, end->connection->to };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t count = load(&shared->rounds[involved[i]]) - end->rounds[involved[i]];

		least = count < least ? count : least;
	}
	return least;
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

#endif
