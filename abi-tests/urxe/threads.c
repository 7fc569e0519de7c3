/*
 * Threads that share all objects: they post to the same queues and poll the same completion queues,
 * while locks that one thread had for itself become those of all. Every message has to come once,
 * whole, and behind those that its thread has sent before.
 *
 * Each row is a process of its own, which makes new objects for each round.
 */
#include "errors.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum {
	ROUNDS = 200,
	THREADS = 3,
	/* Messages of a thread in a round, and of all with the main thread's one. */
	EACH = 40,
	ALL = THREADS * EACH + 1,
	/* Words of every fifth message; the others have one, and are sent inline. */
	WORDS = 64,
	/* Requests that a queue has room for. */
	ROOM = 64,
	/* Seconds after which a row hangs. */
	LIMIT = 60,
};

/* What the threads use. */
static const struct shape {
	const char *title;
	/* ibv_wr_post(3) and ibv_create_cq_ex(3); ibv_post_send(3) and ibv_poll_cq(3) otherwise. */
	bool extended;
	bool srq;
	/* The first thread alone polls. */
	bool one_polls;
} shapes[] = {
	{ .title = "all post and poll" },
	{ .title = "all post, one polls", .one_polls = true },
	{ .title = "all post and poll, a shared receive queue", .srq = true },
	{ .title = "all use the extended interfaces", .extended = true },
	{ .title = "extended interfaces, one polls", .extended = true, .one_polls = true },
};

/* membarrier(2), by which a thread takes part in a lock that was another one's alone. */
static const struct surroundings {
	const char *title;
	bool refused_before, refused_later;
	/* In a child of a process that uses the device. */
	bool forked;
} surroundings[] = {
	{ .title = "" },
	{ .title = ", no barriers", .refused_before = true },
	{ .title = ", barriers fail", .refused_later = true },
	{ .title = ", in a child", .forked = true },
};

static char title[200];
static const struct shape *shape;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_qp *sender, *receiver;
static struct ibv_srq *srq;
enum { SENDS, RECEIVES, QUEUES };
static struct ibv_cq *cq[QUEUES];

/* What is sent and where it comes to, by the numbers of the requests: so many words. */
static struct {
	uint64_t from[ALL][WORDS], to[ALL][WORDS];
} memory;
/* Requests that are done, messages that have come, and how many of each there are. */
static atomic_uchar is_done[QUEUES][ALL], has_come[ALL];
static atomic_uint done[QUEUES];
/* The last message of each thread that has come, where one thread polls. */
static uint64_t last[THREADS + 1];
static pthread_barrier_t start;

__attribute__((format(printf, 1, 2))) static _Noreturn void fail(const char *format, ...)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	char wrong[300];
	va_list args;

	pthread_mutex_lock(&once);
	va_start(args, format);
	vsnprintf(wrong, sizeof(wrong), format, args);
	va_end(args);
	report(title, wrong);
	_exit(1);
}

static void refuse_barriers(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	NEED(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	NEED(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static unsigned words_of(uint64_t message)
{
	return message % 5 ? 1 : WORDS;
}

/* A message has come to the memory of a receive. */
static void check_message(uint64_t receive, uint32_t length)
{
	const uint64_t *words = memory.to[receive];
	uint64_t message = words[0], *before;

	if (message >= ALL)
		fail("receive %ju has got %#jx", receive, message);
	if (length != words_of(message) * sizeof(*words))
		fail("message %ju has %u bytes", message, length);
	for (unsigned i = 0; i < words_of(message); i++)
		if (words[i] != message)
			fail("word %u of message %ju is %#jx", i, message, words[i]);
	if (atomic_fetch_add(&has_come[message], 1))
		fail("message %ju comes again", message);
	if (!shape->one_polls)
		return;
	before = &last[message / EACH];
	if (*before > message)
		fail("message %ju comes behind %ju", message, *before);
	*before = message;
}

static void completed(int queue, uint64_t request, enum ibv_wc_status status, uint32_t length)
{
	if (status != IBV_WC_SUCCESS)
		fail("request %ju: %s", request, ibv_wc_status_str(status));
	if (request >= ALL)
		fail("a completion of request %#jx", request);
	if (atomic_fetch_add(&is_done[queue][request], 1))
		fail("request %ju is done twice", request);
	if (queue == RECEIVES)
		check_message(request, length);
	atomic_fetch_add(&done[queue], 1);
}

static void poll_extended(int queue)
{
	struct ibv_cq_ex *from = (struct ibv_cq_ex *)cq[queue];
	int status = ibv_start_poll(from, &(struct ibv_poll_cq_attr){});

	if (status == ENOENT)
		return;
	for (int i = 0; !status && i < 4; i++) {
		uint32_t length = queue == RECEIVES ? ibv_wc_read_byte_len(from) : 0;

		completed(queue, from->wr_id, from->status, length);
		status = i < 3 ? ibv_next_poll(from) : 0;
	}
	if (status && status != ENOENT)
		fail("polling: %s", strerror(status));
	ibv_end_poll(from);
}

static void poll_both(void)
{
	struct ibv_wc wc[4];

	for (int queue = 0; queue < QUEUES; queue++) {
		int count;

		if (shape->extended) {
			poll_extended(queue);
			continue;
		}
		count = ibv_poll_cq(cq[queue], 4, wc);
		if (count < 0)
			fail("polling: %d", count);
		for (int i = 0; i < count; i++)
			completed(queue, wc[i].wr_id, wc[i].status, wc[i].byte_len);
	}
}

static int post_receive(uint64_t request)
{
	struct ibv_sge piece = { (uintptr_t)memory.to[request], sizeof(memory.to[0]), mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = request, .sg_list = &piece, .num_sge = 1 }, *bad;

	return srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(receiver, &wr, &bad);
}

static int post_send(uint64_t request)
{
	size_t length = words_of(request) * sizeof(uint64_t);
	struct ibv_sge piece = { (uintptr_t)memory.from[request], length, mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = request,
		.sg_list = &piece,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | (length == 8 ? IBV_SEND_INLINE : 0),
	};
	struct ibv_send_wr *bad;
	struct ibv_qp_ex *qp;

	if (!shape->extended)
		return ibv_post_send(sender, &wr, &bad);
	qp = ibv_qp_to_qp_ex(sender);
	ibv_wr_start(qp);
	qp->wr_id = request;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qp);
	if (length == 8)
		ibv_wr_set_inline_data(qp, memory.from[request], length);
	else
		ibv_wr_set_sge(qp, piece.lkey, piece.addr, piece.length);
	return ibv_wr_complete(qp);
}

/* Posts a request; others make room if the queue is full. */
static void post(int (*how)(uint64_t), uint64_t request, bool polls)
{
	int status;

	while ((status = how(request))) {
		if (status != ENOMEM)
			fail("posting request %ju: %s", request, strerror(status));
		if (polls)
			poll_both();
		else
			sched_yield();
	}
}

static void *work(void *number)
{
	uint64_t first = (uintptr_t)number * EACH;
	bool polls = !shape->one_polls || !first;

	pthread_barrier_wait(&start);
	for (uint64_t request = first; request < first + EACH; request++) {
		post(post_receive, request, polls);
		post(post_send, request, polls);
		if (polls && request % 3)
			poll_both();
	}
	while (done[SENDS] < ALL - 1 || done[RECEIVES] < ALL - 1) {
		if (polls)
			poll_both();
		else
			sched_yield();
	}
	return NULL;
}

static struct ibv_cq *new_cq(void)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 4 * ROOM, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN };

	if (shape->extended)
		return ibv_cq_ex_to_cq(ibv_create_cq_ex(context, &init));
	return ibv_create_cq(context, 4 * ROOM, NULL, NULL, 0);
}

static struct ibv_qp *new_qp(struct ibv_srq *its_srq)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = cq[SENDS],
		.recv_cq = cq[RECEIVES],
		.srq = its_srq,
		.cap = { ROOM, ROOM, 1, 1, sizeof(uint64_t) },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	return ibv_create_qp_ex(context, &init);
}

static void open_objects(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = ROOM, .max_sge = 1 } };
	/* The receiver has no request for a while, then: it is waited for. */
	struct settings settings = { .timeout = 14, .retry_cnt = 7, .rnr_retry = 7 };
	struct end peers[2] = {};

	for (int queue = 0; queue < QUEUES; queue++)
		NEED(cq[queue] = new_cq());
	if (shape->srq)
		NEED(srq = ibv_create_srq(pd, &init));
	NEED(sender = new_qp(NULL));
	NEED(receiver = new_qp(srq));
	gid_of(context, &peers[0].gid);
	peers[1].gid = peers[0].gid;
	peers[0].qp_num = sender->qp_num;
	peers[1].qp_num = receiver->qp_num;
	connect_to(sender, &peers[1], settings);
	connect_to(receiver, &peers[0], settings);
}

static void close_objects(void)
{
	NEED(!ibv_destroy_qp(sender) && !ibv_destroy_qp(receiver));
	NEED(!srq || !ibv_destroy_srq(srq));
	for (int queue = 0; queue < QUEUES; queue++)
		NEED(!ibv_destroy_cq(cq[queue]));
}

/* A message of the main thread, which comes first or last of all. */
static void exchange_one(void)
{
	unsigned before = done[RECEIVES];

	post(post_receive, ALL - 1, true);
	post(post_send, ALL - 1, true);
	while (done[SENDS] == before || done[RECEIVES] == before)
		poll_both();
}

static void one_round(bool main_is_first)
{
	pthread_t threads[THREADS];

	memset(memory.to, 0xee, sizeof(memory.to));
	memset((void *)is_done, 0, sizeof(is_done));
	memset((void *)has_come, 0, sizeof(has_come));
	memset(last, 0, sizeof(last));
	open_objects();
	/* The count of the others is one less than all, with that message or without it. */
	if (main_is_first)
		exchange_one();
	done[SENDS] = done[RECEIVES] = 0;
	for (uintptr_t i = 0; i < THREADS; i++)
		NEED(!pthread_create(&threads[i], NULL, work, (void *)i));
	for (int i = 0; i < THREADS; i++)
		NEED(!pthread_join(threads[i], NULL));
	if (!main_is_first)
		exchange_one();
	for (int i = 0; i < ALL; i++)
		if (!is_done[SENDS][i] || !is_done[RECEIVES][i] || !has_come[i])
			fail("request %d is not done", i);
	close_objects();
}

static void open_all(void)
{
	context = open_device();
	NEED(pd = ibv_alloc_pd(context));
	NEED(mr = ibv_reg_mr(pd, &memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
}

/* Ends with the process. */
static _Noreturn void row(const struct surroundings *around)
{
	alarm(LIMIT);
	for (int i = 0; i < ALL; i++)
		for (int word = 0; word < WORDS; word++)
			memory.from[i][word] = i;
	NEED(!pthread_barrier_init(&start, NULL, THREADS));
	if (around->refused_before)
		refuse_barriers();
	open_all();
	if (around->refused_later)
		refuse_barriers();
	if (around->forked) {
		pid_t child;
		int status;

		one_round(false);
		child = fork();
		NEED(child >= 0);
		if (child) {
			NEED(waitpid(child, &status, 0) == child);
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
		}
		alarm(LIMIT);
		open_all();
	}
	for (int i = 0; i < ROUNDS; i++)
		one_round(i % 2);
	report(title, NULL);
	_exit(0);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (size_t k = 0; k < sizeof(surroundings) / sizeof(surroundings[0]); k++) {
			pid_t child;
			int status;

			shape = &shapes[i];
			snprintf(title, sizeof(title), "%s%s", shape->title, surroundings[k].title);
			fflush(stdout);
			child = fork();
			NEED(child >= 0);
			if (!child)
				row(&surroundings[k]);
			NEED(waitpid(child, &status, 0) == child);
			if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
				char wrong[60];

				snprintf(wrong, sizeof(wrong), "wait status %#x", (unsigned)status);
				report(title, wrong);
			}
		}
	}
	return 0;
}
