/* Completions: all their fields, by both interfaces, and what is wrong about one. */
#ifndef ABI_TESTS_URXE_COMPLETIONS_H
#define ABI_TESTS_URXE_COMPLETIONS_H

#include "../common.h"
#include <poll.h>
#include <time.h>

enum interface { OLD, NEW };

/* Longest wait for a completion, in seconds. */
enum { PATIENCE = 20 };

/* A completion queue, polled by one of the interfaces, with a channel or without. */
struct queue {
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex;
	struct ibv_comp_channel *channel;
	/* Times of the last completion. */
	uint64_t tick, wallclock;
};

/* What a completion is to be, or is. */
struct completion {
	uint64_t wr_id;
	uint32_t status, opcode, vendor_err, byte_len, imm, flags, qp_num, src_qp;
	uint16_t pkey_index, slid;
	uint8_t sl, path_bits;
	/* Not compared: times, of extended queues. */
	uint64_t tick, wallclock;
};

static inline uint64_t nanoseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static inline void make_queue(struct queue *queue, struct ibv_context *context, enum interface polled,
			      bool channel, int size)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = size,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};

	*queue = (struct queue){ 0 };
	if (channel)
		attr.channel = queue->channel = NEED(ibv_create_comp_channel(context));
	if (polled == NEW) {
		queue->cq_ex = NEED(ibv_create_cq_ex(context, &attr));
		queue->cq = ibv_cq_ex_to_cq(queue->cq_ex);
	} else {
		queue->cq = NEED(ibv_create_cq(context, size, NULL, queue->channel, 0));
	}
}

static inline void drop_queue(struct queue *queue)
{
	CHECK(!ibv_destroy_cq(queue->cq));
	if (queue->channel)
		CHECK(!ibv_destroy_comp_channel(queue->channel));
}

static inline bool poll_old(struct queue *queue, struct completion *is)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(queue->cq, 1, &wc) != 1)
		return false;
	*is = (struct completion){
		.wr_id = wc.wr_id, .status = wc.status, .opcode = wc.opcode,
		.vendor_err = wc.vendor_err, .byte_len = wc.byte_len, .imm = wc.imm_data,
		.flags = wc.wc_flags, .qp_num = wc.qp_num, .src_qp = wc.src_qp,
		.pkey_index = wc.pkey_index, .slid = wc.slid, .sl = wc.sl,
		.path_bits = wc.dlid_path_bits,
	};
	return true;
}

static inline bool poll_new(struct queue *queue, struct completion *is)
{
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_cq_ex *cq = queue->cq_ex;

	if (ibv_start_poll(cq, &attr))
		return false;
	*is = (struct completion){
		.wr_id = cq->wr_id, .status = cq->status, .opcode = ibv_wc_read_opcode(cq),
		.vendor_err = ibv_wc_read_vendor_err(cq), .byte_len = ibv_wc_read_byte_len(cq),
		.flags = ibv_wc_read_wc_flags(cq), .qp_num = ibv_wc_read_qp_num(cq),
		.src_qp = ibv_wc_read_src_qp(cq), .slid = ibv_wc_read_slid(cq),
		.sl = ibv_wc_read_sl(cq), .path_bits = ibv_wc_read_dlid_path_bits(cq),
		.tick = ibv_wc_read_completion_ts(cq),
		.wallclock = ibv_wc_read_completion_wallclock_ns(cq),
	};
	is->imm = is->flags & IBV_WC_WITH_INV ? ibv_wc_read_invalidated_rkey(cq) :
						ibv_wc_read_imm_data(cq);
	ibv_end_poll(cq);
	return true;
}

static inline bool poll_once(struct queue *queue, struct completion *is)
{
	return queue->cq_ex ? poll_new(queue, is) : poll_old(queue, is);
}

/* Takes the event of the channel; false if none comes within so many milliseconds. */
static inline bool take_event(struct queue *queue, int patience)
{
	struct pollfd entry = { .fd = queue->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&entry, 1, patience) != 1 || ibv_get_cq_event(queue->channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return cq == queue->cq;
}

/* Waits for a completion; false if none came. A queue with a channel is waited for asleep. */
static inline bool wait_for(struct queue *queue, struct completion *is)
{
	uint64_t end = nanoseconds(CLOCK_MONOTONIC) + PATIENCE * 1000000000ULL;

	for (unsigned tries = 0; !poll_once(queue, is); tries++) {
		if (nanoseconds(CLOCK_MONOTONIC) > end)
			return false;
		if (queue->channel) {
			CHECK(!ibv_req_notify_cq(queue->cq, 0));
			if (poll_once(queue, is))
				return true;
			take_event(queue, PATIENCE * 1000);
		} else if (tries > 100) {
			usleep(50);
		}
	}
	return true;
}

/* Writes down how a completion is not as it should be; whether there is such a thing. */
static inline bool is_wrong(const struct completion *is, const struct completion *want, char *text,
			    size_t room)
{
#define FIELD(name)                                                                                \
	if (is->name != want->name) {                                                              \
		snprintf(text, room, "completion: " #name " is %#" PRIx64 ", not %#" PRIx64        \
			 " (status %s)",                                                           \
			 (uint64_t)is->name, (uint64_t)want->name, ibv_wc_status_str(is->status)); \
		return true;                                                                       \
	}
	FIELD(status)
	FIELD(wr_id)
	FIELD(vendor_err)
	FIELD(qp_num)
	/* Of a failure nothing else is valid. */
	if (want->status != IBV_WC_SUCCESS)
		return false;
	FIELD(opcode)
	FIELD(byte_len)
	FIELD(flags)
	FIELD(imm)
	FIELD(src_qp)
	FIELD(slid)
	FIELD(sl)
	FIELD(path_bits)
	FIELD(pkey_index)
#undef FIELD
	return false;
}

/* Times of an extended queue never go back, and lie between `since` and now. */
static inline bool is_untimely(struct queue *queue, const struct completion *is, uint64_t since,
			       char *text, size_t room)
{
	/* The two clocks are read one after the other. */
	const uint64_t slack = 50000000;
	uint64_t now = nanoseconds(CLOCK_MONOTONIC), today = nanoseconds(CLOCK_REALTIME);

	if (!queue->cq_ex)
		return false;
	if (is->tick < queue->tick || is->tick < since || is->tick > now) {
		snprintf(text, room, "time %" PRIu64 " of a completion: last %" PRIu64
			 ", posted %" PRIu64 ", now %" PRIu64, is->tick, queue->tick, since, now);
		return true;
	}
	if (is->wallclock + slack < queue->wallclock || is->wallclock > today + slack ||
	    is->wallclock + (now - is->tick) + slack < today) {
		snprintf(text, room, "time of day %" PRIu64 " of a completion: last %" PRIu64
			 ", now %" PRIu64, is->wallclock, queue->wallclock, today);
		return true;
	}
	queue->tick = is->tick;
	queue->wallclock = is->wallclock;
	return false;
}

#endif
