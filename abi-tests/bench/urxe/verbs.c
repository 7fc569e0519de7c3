/*
 * RDMA between two processes over one reliable connection.
 *
 * usage: verbs TEST SIZE MEMORY POST SECONDS CPU CPU
 *
 *   send-lat   one way of a message and back, µs
 *   write-lat  the same with RDMA writes, whose last byte the other side looks at
 *   send-bw    messages, GB/s, or millions a second below 4 KiB
 *   write-bw   RDMA writes, the same
 *   read-bw    RDMA reads, the same
 *   send-count, write-count, read-count
 *              a fixed number of operations, for counting what they take: see count()
 *
 * MEMORY is "ordinary" or "buf", which is ibv_alloc_buf(3) on both sides. POST is "one", a call of
 * ibv_post_send for each request, or "list", one for 32 of them. What has at most 64 bytes is
 * posted inline. In the latency tests each request asks for its completion, in the others every
 * 32nd. The device is the first one, and its GID the one with index 1.
 */
#include "common.h"
#include <dirent.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <infiniband/verbs.h>
#include "count.h"

enum {
	GROUP = 32,
	DEPTH = 8 * GROUP,
	RECEIVES = 16 * GROUP,
	INLINE = 64,
	COUNTED = 4 * GROUP,
	GID_INDEX = 1,
	PSN = 0x123456,
};

/* What both sides tell each other. */
struct address {
	union ibv_gid gid;
	uint32_t qp, key;
	uint16_t lid;
	uint64_t memory;
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *send_cq, *recv_cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static struct address peer;
/* The first part is what is sent or read into, the rest the places that the peer writes to or
 * reads from. */
static char *memory;
static size_t size, stride;
static bool in_lists;
static enum ibv_wr_opcode opcode;

static struct ibv_send_wr requests[GROUP];
static struct ibv_sge parts[GROUP];
static struct ibv_recv_wr receives[GROUP];
static struct ibv_sge receive_parts[GROUP];

static char *allocate(const char *kind, size_t bytes)
{
	struct ibv_buf *buffer;
	char *address;

	if (strcmp(kind, "buf"))
		return ordinary_memory(bytes);
	address = ibv_alloc_buf(pd, bytes, &buffer);
	NEED(address);
	memset(address, 1, bytes);
	return address;
}

static void open_device(const char *kind)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = RECEIVES, .max_send_sge = 1,
			 .max_recv_sge = 1, .max_inline_data = INLINE },
	};
	size_t bytes;

	NEED(list && list[0]);
	context = ibv_open_device(list[0]);
	NEED(context);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(context);
	NEED(pd);
	stride = (size + 63) / 64 * 64;
	bytes = stride * (1 + places(size));
	memory = allocate(kind, bytes);
	mr = ibv_reg_mr(pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
						   IBV_ACCESS_REMOTE_READ);
	NEED(mr);
	send_cq = ibv_create_cq(context, DEPTH, NULL, NULL, 0);
	recv_cq = ibv_create_cq(context, RECEIVES, NULL, NULL, 0);
	NEED(send_cq && recv_cq);
	init.send_cq = send_cq;
	init.recv_cq = recv_cq;
	qp = ibv_create_qp(pd, &init);
	NEED(qp);
}

static void move(struct ibv_qp_attr attr, enum ibv_qp_state state, int mask)
{
	attr.qp_state = state;
	errno = ibv_modify_qp(qp, &attr, mask | IBV_QP_STATE);
	NEED(!errno);
}

static void connect_qp(void)
{
	struct address mine = { .qp = qp->qp_num, .key = mr->rkey,
				.memory = (uintptr_t)memory + stride };
	struct ibv_port_attr port;

	NEED(!ibv_query_port(context, 1, &port));
	NEED(!ibv_query_gid(context, 1, GID_INDEX, &mine.gid));
	mine.lid = port.lid;
	memcpy(between->told[side], &mine, sizeof(mine));
	barrier();
	memcpy(&peer, between->told[!side], sizeof(peer));

	struct ibv_qp_attr attr = {
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer.qp,
		.rq_psn = PSN,
		.sq_psn = PSN,
		.max_dest_rd_atomic = 16,
		.max_rd_atomic = 16,
		.min_rnr_timer = 1,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = { .is_global = 1, .dlid = peer.lid, .port_num = 1,
			     .grh = { .dgid = peer.gid, .sgid_index = GID_INDEX,
				      .hop_limit = 64 } },
	};

	move(attr, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	move(attr, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	move(attr, IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* Fills the group of requests that is posted again and again; `signaled` is how often. */
static void prepare(int signaled)
{
	for (int i = 0; i < GROUP; i++) {
		bool small = size <= INLINE && opcode != IBV_WR_RDMA_READ;

		parts[i] = (struct ibv_sge){ (uintptr_t)memory, size, mr->lkey };
		requests[i] = (struct ibv_send_wr){
			.sg_list = &parts[i],
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = (small ? IBV_SEND_INLINE : 0) |
				      ((i + 1) % signaled ? 0 : IBV_SEND_SIGNALED),
			.wr.rdma = { peer.memory + i % places(size) * stride, peer.key },
			.next = in_lists && i + 1 < GROUP ? &requests[i + 1] : NULL,
		};
		receive_parts[i] = (struct ibv_sge){
			(uintptr_t)memory + (1 + i % places(size)) * stride, size, mr->lkey
		};
		receives[i] = (struct ibv_recv_wr){
			.sg_list = &receive_parts[i],
			.num_sge = 1,
			.next = in_lists && i + 1 < GROUP ? &receives[i + 1] : NULL,
		};
	}
}

/* Posts the requests of the group, all at once or one after the other. */
static inline void post_group(void)
{
	struct ibv_send_wr *bad;

	for (int i = 0; i < (in_lists ? 1 : GROUP); i++)
		NEED(!ibv_post_send(qp, &requests[i], &bad));
}

static inline void post_receives(void)
{
	struct ibv_recv_wr *bad;

	for (int i = 0; i < (in_lists ? 1 : GROUP); i++)
		NEED(!ibv_post_recv(qp, &receives[i], &bad));
}

/* Waits for so many completions. */
static inline void complete(struct ibv_cq *cq, int count)
{
	struct ibv_wc wc[GROUP];

	while (count > 0) {
		int found = ibv_poll_cq(cq, count < GROUP ? count : GROUP, wc);

		NEED(found >= 0);
		for (int i = 0; i < found; i++) {
			if (wc[i].status != IBV_WC_SUCCESS) {
				fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc[i].status));
				_exit(1);
			}
		}
		count -= found;
	}
}

static inline void send_one(void)
{
	struct ibv_send_wr *bad;

	NEED(!ibv_post_send(qp, &requests[0], &bad));
}

static inline void receive_one(void)
{
	struct ibv_recv_wr *bad;

	complete(recv_cq, 1);
	NEED(!ibv_post_recv(qp, &receives[0], &bad));
}

static void send_latency(void)
{
	in_lists = false;
	prepare(1);
	post_receives();
	barrier();
	if (side) {
		ANSWERS({
			receive_one();
			send_one();
			complete(send_cq, 1);
		});
	} else {
		ROUND_TRIPS({
			send_one();
			complete(send_cq, 1);
			receive_one();
		});
	}
}

static void write_latency(void)
{
	/* The last byte tells the turn; the first place is where the peer writes. */
	volatile char *here = memory + stride + size - 1;
	char *mine = memory + size - 1, turn = 1;

	prepare(1);
	barrier();
	if (side) {
		ANSWERS({
			turn++;
			while (*here != turn)
				;
			*mine = turn;
			send_one();
			complete(send_cq, 1);
		});
	} else {
		ROUND_TRIPS({
			*mine = ++turn;
			send_one();
			complete(send_cq, 1);
			while (*here != turn)
				;
		});
	}
}

static void bandwidth(void)
{
	uint64_t posted = 0, done = 0;
	double begin, now;

	prepare(GROUP);
	if (opcode == IBV_WR_SEND && side)
		for (int i = 0; i < RECEIVES / GROUP; i++)
			post_receives();
	barrier();
	if (side) {
		/* The receiver says how far it is, as a program's own flow control does. */
		for (uint64_t count = 0; opcode == IBV_WR_SEND;) {
			struct ibv_wc wc[GROUP];
			int found = ibv_poll_cq(recv_cq, GROUP, wc);

			NEED(found >= 0);
			for (int i = 0; i < found; i++)
				NEED(wc[i].status == IBV_WC_SUCCESS);
			if ((count % GROUP) + found >= GROUP) {
				post_receives();
				atomic_store_explicit(&between->back,
						      (count + found) / GROUP * GROUP,
						      memory_order_release);
			}
			count += found;
			if (!found && atomic_load_explicit(&between->stop, memory_order_relaxed) &&
			    atomic_load(&between->there) == count)
				break;
		}
		barrier();
		return;
	}
	begin = seconds();
	do {
		for (int i = 0; i < (size >= 1 << 20 ? 1 : 4); i++) {
			if (opcode == IBV_WR_SEND)
				while (posted + GROUP - atomic_load_explicit(&between->back,
									    memory_order_acquire) >
				       RECEIVES)
					;
			if (posted - done == DEPTH) {
				complete(send_cq, 1);
				done += GROUP;
			}
			post_group();
			posted += GROUP;
		}
		now = seconds();
	} while (now - begin < duration);
	complete(send_cq, (posted - done) / GROUP);
	atomic_store(&between->there, posted);
	atomic_store(&between->stop, true);
	barrier();
	now = seconds();
	if (size < 4096)
		printf("%.4f\n", posted / (now - begin) / 1e6);
	else
		printf("%.3f\n", posted * (double)size / (now - begin) / 1e9);
}

/* What the requester does for the counted operations; a tool can count in here alone. */
__attribute__((noinline)) void requester_part(void)
{
	for (int i = 0; i < COUNTED / GROUP; i++) {
		post_group();
		complete(send_cq, 1);
	}
}

/* What the responder does before the messages come. */
__attribute__((noinline)) void responder_posts(void)
{
	for (int i = 0; i < COUNTED / GROUP; i++)
		post_receives();
}

/* What the responder does afterwards. */
__attribute__((noinline)) void responder_part(void)
{
	complete(recv_cq, COUNTED);
}

/* The threads of this process. */
static int threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	int count = 0;

	NEED(folder);
	for (struct dirent *entry; (entry = readdir(folder));)
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

/*
 * The operations, in steps that wait for each other, so that nobody polls in vain: what is counted
 * is the same each time. Prints "process SIDE PID OPERATIONS THREADS" and, if the counter is preloaded,
 * what that has counted.
 */
static void count(void)
{
	void (*counting)(bool);
	bool is_send = opcode == IBV_WR_SEND;

	*(void **)&counting = dlsym(RTLD_DEFAULT, "bench_counting");
	prepare(GROUP);
	/* The first time warms up. */
	for (int turn = 0; turn < 2; turn++) {
		barrier();
		if (turn && counting)
			counting(true);
		if (turn)
			syscall(SYS_getpriority, MARK_BEGIN, side);
		if (side && is_send)
			responder_posts();
		barrier();
		if (!side)
			requester_part();
		barrier();
		if (side && is_send)
			responder_part();
		if (turn)
			syscall(SYS_getpriority, MARK_END, side);
		if (turn && counting)
			counting(false);
	}
	/* One after the other. */
	if (side)
		barrier();
	printf("process\t%s\t%d\t%d\t%d\n", side ? "responder" : "requester", getpid(), COUNTED,
	       threads());
	fflush(stdout);
	void (*print)(const char *);

	*(void **)&print = dlsym(RTLD_DEFAULT, "bench_print");
	if (print)
		print(side ? "responder" : "requester");
	if (!side)
		barrier();
}

int main(int argc, char **argv)
{
	if (argc != 8)
		return 2;

	const char *test = argv[1], *kind = argv[3];

	size = strtoul(argv[2], NULL, 0);
	in_lists = !strcmp(argv[4], "list");
	duration = atof(argv[5]);
	cpus[0] = atoi(argv[6]);
	cpus[1] = atoi(argv[7]);
	NEED(size > 0);
	if (!strncmp(test, "send", 4))
		opcode = IBV_WR_SEND;
	else
		opcode = strncmp(test, "read", 4) ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
	split();
	open_device(kind);
	connect_qp();
	barrier();
	if (strstr(test, "-count"))
		count();
	else if (strstr(test, "-bw"))
		bandwidth();
	else if (opcode == IBV_WR_SEND)
		send_latency();
	else
		write_latency();
	fflush(stdout);
	barrier();
	join();
	return 0;
}
