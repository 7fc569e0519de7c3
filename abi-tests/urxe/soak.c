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
#include "soak_request.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

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
	is_active(end);
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
	is_active(end);
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
		is_active(end);
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
		is_active(end);
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

/* On a busy machine a process may get no turn for a minute, which is nobody's fault. */
static void look_for_hanging(struct end *end)
{
	uint64_t last = load(&end->channel->last), rounds = rounds_since(end);
	uint64_t seconds = (nanoseconds(CLOCK_MONOTONIC) - end->active) / 1000000000;

	if (load(&end->channel->checked) == last || seconds < HANGS ||
	    (rounds < HANGS_ROUNDS && seconds < HANGS_ANYWAY))
		return;
	fail(end, load(&end->channel->checked), "nothing happens for %" PRIu64 " s and %" PRIu64 " rounds",
	     seconds, rounds);
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
	is_active(end);
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
	define_connections(shared->seed, 128UL << own.port.active_mtu);
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

		publish(&shared->rounds[me], shared->rounds[me] + 1);
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
	define_connections(shared->seed, 0);
	for (int link = 0; link < LINKS; link++)
		printf("  connection %2d, %-36s %d to %d: %" PRIu64 " requests\n", link,
		       type_name(&connections[link]), connections[link].from, connections[link].to,
		       shared->channel[link].checked);
	printf("%" PRIu64 " requests, %.1f GB, over %d connections of %d processes, seed %u: %s\n",
	       shared->requests, shared->bytes / 1e9, LINKS, PROCESSES, shared->seed,
	       failed ? "failed" : "no failures");
	return failed;
}
