/*
 * What the soak does, as it follows from the seed: its connections, and of each the requests by their
 * numbers. Both ends of a connection know it.
 */
#ifndef ABI_TESTS_URXE_SOAK_PLAN_H
#define ABI_TESTS_URXE_SOAK_PLAN_H

#include "side.h"

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
	/* A connection hangs if nothing happens on it for so long, in seconds, although its processes
	 * have looked after all of theirs so many times; and if nothing happens for so much longer. */
	HANGS = 60,
	HANGS_ROUNDS = 1000,
	HANGS_ANYWAY = 600,
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

static struct connection connections[LINKS];
static uint32_t plan_seed;
static size_t largest_datagram;


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

static uint64_t mixed(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t state = (a + 1) * 0x9e3779b97f4a7c15 ^ (b + 1) * 0xc2b2ae3d27d4eb4f ^
			 (c + 1) * 0x165667b19e3779f9;

	state |= state == 0;
	for (int i = 0; i < 3; i++)
		next_random(&state);
	return state;
}

/* All connections of a run with this seed, where datagrams have so many bytes at most. */
static void define_connections(uint32_t seed, size_t datagram)
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

	plan_seed = seed;
	largest_datagram = datagram;
	for (int i = 0; i < LINKS; i++) {
		struct connection *connection = &connections[i];
		uint64_t state = mixed(plan_seed, i, 1ULL << 60);
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
	       mixed(plan_seed, connection - connections, number ^ 1ULL << 61) % 1000 == 0;
}

static struct item item_of(const struct connection *connection, uint64_t number)
{
	uint64_t state = mixed(plan_seed, connection - connections, number);
	enum ibv_qp_type type = connection->type;
	struct item item = { .background = next_random(&state), .seed = next_random(&state),
			     .imm = next_random(&state), .opcode = &opcodes[0] };
	size_t most = type == IBV_QPT_UD ? largest_datagram :
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

#endif
