/*
 * Processes that live and do not answer: stopped for a while or for good, with a forged lock, or
 * forged events. The rows take their time together, each in a process of its own.
 */
#include "errors.h"
#include <glob.h>

#define BYTES 4096
/* For how long the device waits for a process that lives, in seconds. */
#define PATIENCE 10
#define QPS_PER_SLOT (1u << 14)
/* Place of the epoch in the file of a process, see src/urxe/shared. */
#define EPOCH 8

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static char bytes[BYTES];

static void prepare(void)
{
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };

	context = open_device();
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 8, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, bytes, BYTES, ALL_ACCESS);
	NEED(pd && cq && mr);
	init.send_cq = init.recv_cq = cq;
	qp = ibv_create_qp(pd, &init);
	NEED(qp);
}

static struct end self(void)
{
	struct end end = { .qp_num = qp->qp_num, .rkey = mr->rkey, .address = (uintptr_t)bytes };

	gid_of(context, &end.gid);
	return end;
}

/* A process that answers requests to its memory, by a thread of its own if nobody else may. */
static pid_t start(bool is_closed, struct end *peer)
{
	int there[2], here[2];
	struct end own;
	pid_t pid;
	char ready;

	NEED(!pipe(there) && !pipe(here));
	fflush(stdout);
	pid = fork();
	NEED(pid >= 0);
	if (!pid) {
		if (is_closed)
			setenv("URXE_NO_ACCESS", "1", 1);
		prepare();
		own = self();
		NEED(write(here[1], &own, sizeof(own)) == sizeof(own));
		NEED(read(there[0], peer, sizeof(*peer)) == sizeof(*peer));
		connect_to(qp, peer, (struct settings){ 0 });
		NEED(write(here[1], "+", 1) == 1);
		for (;;)
			pause();
	}
	prepare();
	own = self();
	NEED(read(here[0], peer, sizeof(*peer)) == sizeof(*peer));
	NEED(write(there[1], &own, sizeof(own)) == sizeof(own));
	NEED(read(here[0], &ready, 1) == 1);
	connect_to(qp, peer, (struct settings){ 0 });
	return pid;
}

/* Does something to a process after a while. */
static void later(pid_t pid, int milliseconds, int signal)
{
	pid_t child = fork();

	NEED(child >= 0);
	if (!child) {
		usleep(milliseconds * 1000);
		kill(pid, signal);
		_exit(0);
	}
}

static void stop(pid_t pid)
{
	int status;

	NEED(!kill(pid, SIGSTOP) && waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
}

static void post(enum ibv_wr_opcode opcode, const struct end *peer)
{
	struct ibv_sge list = { (uintptr_t)bytes, opcode == IBV_WR_RDMA_WRITE ? BYTES : 8, mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = opcode, .sg_list = &list, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (opcode == IBV_WR_RDMA_WRITE) {
		wr.wr.rdma.remote_addr = peer->address;
		wr.wr.rdma.rkey = peer->rkey;
	} else {
		wr.wr.atomic.remote_addr = peer->address;
		wr.wr.atomic.rkey = peer->rkey;
		wr.wr.atomic.compare_add = 1;
	}
	NEED(!ibv_post_send(qp, &wr, &bad));
}

/* A request to a stopped process, of which something becomes after a while; the time it took. */
static double request(char *wrong, bool is_closed, int milliseconds, int signal,
		      enum ibv_wc_status status)
{
	enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_ATOMIC_FETCH_AND_ADD };
	struct end peer;
	pid_t pid = start(is_closed, &peer);
	double begin, end;
	struct ibv_wc wc;

	bytes[0] = 7;
	stop(pid);
	new_lines();
	begin = seconds();
	if (milliseconds)
		later(pid, milliseconds, signal);
	/* What it changes is counted: once. */
	for (int turn = 0; turn < (is_closed ? 2 : 1); turn++)
		post(opcodes[turn], &peer);
	for (int turn = 0; turn < (is_closed && !status ? 2 : 1); turn++) {
		bool is_there = false;

		while (!is_there && seconds() < begin + 6 * PATIENCE)
			is_there = wait_for(cq, &wc);
		if (!is_there)
			add(wrong, "no completion; ");
		else if (wc.status != status)
			add(wrong, "%s; ", ibv_wc_status_str(wc.status));
	}
	end = seconds();
	if (is_closed && !status && bytes[0] != 7)
		add(wrong, "the word was not what had been written; ");
	kill(pid, SIGKILL);
	return end - begin;
}

static void goes_on(char *wrong)
{
	double took = request(wrong, true, 2000, SIGCONT, IBV_WC_SUCCESS);

	if (took < 1.9)
		add(wrong, "after %.3f s; ", took);
}

static void stays(char *wrong)
{
	double took = request(wrong, true, 0, 0, IBV_WC_RETRY_EXC_ERR);

	if (took < PATIENCE * 0.9)
		add(wrong, "after %.3f s; ", took);
	check_log(wrong, "urxe: QP #, wr_id #: the process in slot # lives, but has not got done*");
}

/* Of the dead nobody believes that they will answer. */
static void dies(char *wrong)
{
	double took = request(wrong, true, 1000, SIGKILL, IBV_WC_RETRY_EXC_ERR);

	if (took < 0.9 || took > PATIENCE * 0.9)
		add(wrong, "after %.3f s; ", took);
}

static void is_open(char *wrong)
{
	double took = request(wrong, false, 0, 0, IBV_WC_SUCCESS);

	if (took > PATIENCE * 0.9)
		add(wrong, "after %.3f s; ", took);
}

static int slot_file(uint32_t slot)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/slot-%04u", getenv("URXE_DIR"), slot);
	fd = open(path, O_RDWR | O_CLOEXEC);
	NEED(fd >= 0);
	return fd;
}

/* The lock of a CQ names a process that lives and knows nothing of it. */
static void forged_lock(char *wrong)
{
	uint64_t record, epoch, holder, none = 0;
	struct end peer;
	pid_t pid = start(false, &peer);
	/* Closing the own file would lose the lock that says that this process lives. */
	int far = slot_file(peer.qp_num / QPS_PER_SLOT), own = slot_file(qp->qp_num / QPS_PER_SLOT);

	record = 64ULL * cq->handle;
	NEED(pread(far, &epoch, 8, EPOCH) == 8);
	holder = epoch << 32 | peer.qp_num / QPS_PER_SLOT;
	NEED(pwrite(own, &holder, 8, record) == 8);
	new_lines();
	if (ibv_resize_cq(cq, 16) != EIO)
		add(wrong, "resize_cq: %s; ", strerrorname_np(errno));
	check_log(wrong, "urxe: an object is in use by a process that lives*");
	NEED(pwrite(own, &none, 8, record) == 8);
	if (ibv_resize_cq(cq, 16))
		add(wrong, "resize_cq: %s without it; ", strerrorname_np(errno));
	kill(pid, SIGKILL);
}

/* Events of objects that there are not, and of those of another kind. */
static void forged_events(char *wrong)
{
	struct { uint64_t element; uint32_t type, reserved; } event = { 4096, IBV_EVENT_QP_FATAL, 0 };
	struct ibv_comp_channel *channel;
	struct ibv_async_event got;
	struct ibv_cq *of;
	void *of_context;
	char pattern[256];
	glob_t files;

	prepare();
	channel = ibv_create_comp_channel(context);
	NEED(channel);
	NEED(!fcntl(context->async_fd, F_SETFL, O_NONBLOCK));
	NEED(!fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	snprintf(pattern, sizeof(pattern), "%s/event-%04u-*", getenv("URXE_DIR"),
		 qp->qp_num / QPS_PER_SLOT);
	NEED(!glob(pattern, 0, NULL, &files) && files.gl_pathc == 2);
	for (size_t file = 0; file < files.gl_pathc; file++) {
		int fd = open(files.gl_pathv[file], O_WRONLY | O_NONBLOCK | O_CLOEXEC);

		NEED(fd >= 0);
		event.element = 4096;
		NEED(write(fd, &event, sizeof(event)) == sizeof(event));
		event.element = (uintptr_t)cq;
		NEED(write(fd, &event, sizeof(event)) == sizeof(event));
		close(fd);
	}
	new_lines();
	if (!ibv_get_async_event(context, &got) || errno != EAGAIN)
		add(wrong, "an event of %p; ", (void *)got.element.qp);
	check_log(wrong, "urxe: an event of #, which is nothing of this process, is dropped");
	/* That of a CQ that there is may come. */
	while (!ibv_get_cq_event(channel, &of, &of_context)) {
		if (of != cq)
			add(wrong, "a completion event of %p; ", (void *)of);
		ibv_ack_cq_events(of, 1);
	}
	check_log(wrong, "urxe: an event of #, which is nothing of this process, is dropped");
	if (ibv_destroy_qp(qp) || ibv_destroy_cq(cq))
		add(wrong, "the objects do not go; ");
}

static const struct {
	const char *title;
	void (*run)(char *wrong);
} rows[] = {
	{ "a peer with a thread of its own, stopped for two seconds", goes_on },
	{ "a peer with a thread of its own, stopped for good", stays },
	{ "a peer with a thread of its own, stopped and killed", dies },
	{ "a peer whose memory can be reached, stopped for good", is_open },
	{ "a lock that names a process which lives", forged_lock },
	{ "events of what there is not", forged_events },
};

int main(void)
{
	int status, failed = 0;

	for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		NEED(pid >= 0);
		if (!pid) {
			char wrong[1024] = "";

			open_log();
			rows[row].run(wrong);
			report(rows[row].title, wrong);
			exit(0);
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	if (failed)
		report("processes that live and do not answer", "one could not be tried");
	return 0;
}
