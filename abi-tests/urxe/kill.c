/*
 * A process is killed at a random point while two of them work with each other over the device
 * inside the library, again and again: by RC and UD, with receive queues of the QPs and shared ones,
 * and by XRC. The survivor, which stays the same, must get an error completion in the time that its QP
 * has, or with UD just go on, must get back each receive that it has posted, once, and must be
 * connected with the next process at once. In the end nothing of the dead is left.
 *
 * With URXE_NO_ACCESS=1 the thread of the process that is talked to moves the bytes.
 *
 * usage: kill ROUNDS SEED
 *        kill victim SEED: the process that is killed; descriptors 3 and 4 lead to the survivor
 *        kill visitor SLOT: a process that opens the device, and looks what is there beside its
 *        own files and those of a slot
 *
 * A row prints a line: its title, a tab, and "ok" or what was wrong.
 */
#include "errors.h"
#include <dirent.h>
#include <sys/resource.h>

#define DEPTH 16
#define RECEIVES 16
#define BYTES (1 << 18)
/* For a busy machine, on top of the time that the QP has. */
#define PATIENCE 10.0
/* Datagrams that the survivor sends after the death. */
#define LATER 200

enum kind { RC, XRC, UD };

/* Where a side is found: its QP, and of XRC what requests go to. */
struct place {
	struct end end;
	uint32_t target, srq_num;
};

/* One of the two sides. */
struct side {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq, *xrc_srq;
	struct ibv_mr *mr;
	/* With XRC, the second one is what the peer sends to. */
	struct ibv_qp *qp, *target;
	struct ibv_ah *ah;
	uint8_t *memory;
	enum kind kind;
	bool shared;
	struct place peer;
	unsigned seed;
	unsigned sends, receives, sent;
	/* Receives of the shared queue by wr_id: posted. */
	uint8_t posted[RECEIVES];
	bool failed;
	unsigned errors;
	char wrong[1024];
};

static struct ibv_srq *new_srq(struct side *side, bool xrc)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { RECEIVES, 1, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
		.pd = side->pd,
	};
	struct ibv_srq *srq;

	if (xrc) {
		init.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		init.srq_type = IBV_SRQT_XRC;
		init.xrcd = side->xrcd;
		init.cq = side->cq;
	}
	srq = ibv_create_srq_ex(side->context, &init);
	NEED(srq);
	return srq;
}

static struct side open_side(bool shared_memory, unsigned seed)
{
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct side side = { .seed = seed };
	struct ibv_buf *buffer;

	side.context = open_device();
	side.pd = ibv_alloc_pd(side.context);
	side.cq = ibv_create_cq(side.context, 1024, NULL, NULL, 0);
	side.xrcd = ibv_open_xrcd(side.context, &domain);
	NEED(side.pd && side.cq && side.xrcd);
	side.srq = new_srq(&side, false);
	side.xrc_srq = new_srq(&side, true);
	if (shared_memory)
		side.memory = ibv_alloc_buf(side.pd, BYTES, &buffer);
	else
		side.memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(side.memory && side.memory != MAP_FAILED);
	side.mr = ibv_reg_mr(side.pd, side.memory, BYTES, ALL_ACCESS);
	NEED(side.mr);
	return side;
}

static struct place new_qp(struct side *side, enum kind kind, bool shared)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_XRC_SEND, IBV_QPT_UD };
	struct ibv_qp_init_attr_ex init = {
		.send_cq = side->cq,
		.recv_cq = kind == XRC ? NULL : side->cq,
		.srq = shared && kind != XRC ? side->srq : NULL,
		.cap = { DEPTH, kind == XRC ? 0 : RECEIVES, 1, kind == XRC ? 0 : 1, 64 },
		.qp_type = types[kind],
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = side->pd,
	};
	struct ibv_qp_init_attr_ex target = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = side->xrcd,
	};
	struct place place = {
		.end = { .rkey = side->mr->rkey, .address = (uintptr_t)side->memory },
	};

	side->kind = kind;
	side->shared = shared || kind == XRC;
	side->qp = ibv_create_qp_ex(side->context, &init);
	NEED(side->qp);
	gid_of(side->context, &place.end.gid);
	place.end.qp_num = place.target = side->qp->qp_num;
	if (kind == XRC) {
		side->target = ibv_create_qp_ex(side->context, &target);
		NEED(side->target && !ibv_get_srq_num(side->xrc_srq, &place.srq_num));
		place.target = side->target->qp_num;
	}
	side->sends = side->receives = side->errors = side->sent = 0;
	side->failed = false;
	side->wrong[0] = 0;
	return place;
}

static void meet(struct side *side, struct settings settings)
{
	struct end end = side->peer.end;
	struct ibv_ah_attr address = address_of(side->context, end.gid);

	if (side->target)
		connect_to(side->target, &end, settings);
	end.qp_num = side->peer.target;
	connect_to(side->qp, &end, settings);
	if (side->kind == UD) {
		side->ah = ibv_create_ah(side->pd, &address);
		NEED(side->ah);
	}
}

static void part(struct side *side)
{
	NEED(!ibv_destroy_qp(side->qp));
	NEED(!side->target || !ibv_destroy_qp(side->target));
	NEED(!side->ah || !ibv_destroy_ah(side->ah));
	side->target = NULL;
	side->ah = NULL;
}

static void post_receive(struct side *side, unsigned slot)
{
	struct ibv_sge list = { (uintptr_t)side->memory + slot * 4096, 4096, side->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = 1000 + slot, .sg_list = &list, .num_sge = 1 };
	struct ibv_srq *srq = side->kind == XRC ? side->xrc_srq : side->srq;
	int error = side->shared ? ibv_post_srq_recv(srq, &wr, &bad)
				 : ibv_post_recv(side->qp, &wr, &bad);

	if (error) {
		if (!side->wrong[0])
			add(side->wrong, "receive %u cannot be posted: %s; ", slot, strerror(error));
		return;
	}
	side->posted[slot] = 1;
	side->receives++;
}

static void post_receives(struct side *side)
{
	for (unsigned slot = 0; slot < RECEIVES; slot++)
		if (!side->posted[slot])
			post_receive(side, slot);
}

/* A random request. */
static void post_request(struct side *side)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND,	  IBV_WR_SEND,	    IBV_WR_SEND,
		IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	unsigned random = rand_r(&side->seed);
	struct ibv_sge list = { (uintptr_t)side->memory, 8, side->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = &list,
		.num_sge = 1,
		.opcode = side->kind == UD ? IBV_WR_SEND : opcodes[random % 7],
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { side->peer.end.address, side->peer.end.rkey },
		.qp_type.xrc.remote_srqn = side->peer.srq_num,
	};
	int error;

	switch (wr.opcode) {
	case IBV_WR_SEND:
		list.length = random % 3 ? random / 8 % 64 : random / 8 % 4096;
		if (side->kind == UD) {
			list.length %= 1024;
			wr.wr.ud.ah = side->ah;
			wr.wr.ud.remote_qpn = side->peer.end.qp_num;
			wr.wr.ud.remote_qkey = 0x11111111;
		}
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr.wr.atomic.remote_addr = side->peer.end.address;
		wr.wr.atomic.rkey = side->peer.end.rkey;
		wr.wr.atomic.compare_add = 1;
		break;
	default:
		list.length = random % 5 ? random / 8 % 512 : random / 8 % BYTES;
	}
	error = ibv_post_send(side->qp, &wr, &bad);
	if (error)
		add(side->wrong, "a request cannot be posted: %s; ", strerror(error));
	else
		side->sends++;
}

/* Polls, posts receives again while the QP works, and requests if wanted. */
static void step(struct side *side, bool requests)
{
	struct ibv_wc all[16];
	int count = ibv_poll_cq(side->cq, 16, all);

	if (count < 0)
		add(side->wrong, "polling gives %d; ", count);
	for (int index = 0; index < count; index++) {
		const struct ibv_wc *wc = &all[index];

		if (wc->status != IBV_WC_SUCCESS) {
			side->failed = true;
			side->errors++;
		}
		if (wc->wr_id < 1000) {
			side->sends--;
			side->sent++;
			continue;
		}
		if (wc->wr_id >= 1000 + RECEIVES || !side->posted[wc->wr_id - 1000]) {
			add(side->wrong, "receive %llu completes twice; ",
			    (unsigned long long)wc->wr_id);
			continue;
		}
		side->posted[wc->wr_id - 1000] = 0;
		side->receives--;
		if (!side->failed)
			post_receive(side, wc->wr_id - 1000);
	}
	while (requests && !side->failed && !side->wrong[0] && side->sends < DEPTH)
		post_request(side);
}

static bool move(int fd, void *bytes, size_t size, bool writes)
{
	return (writes ? write(fd, bytes, size) : read(fd, bytes, size)) == (ssize_t)size;
}

static const struct settings patience = { .timeout = 8, .retry_cnt = 2, .rnr_retry = 7 };

static enum kind kind_of(unsigned seed)
{
	return (const enum kind[]){ RC, RC, XRC, UD }[seed >> 20 & 3];
}

static void be_victim(unsigned seed)
{
	struct side side = open_side(seed & 1, seed);
	struct place self = new_qp(&side, kind_of(seed), seed & 2);

	NEED(move(4, &self, sizeof(self), true));
	NEED(move(3, &side.peer, sizeof(side.peer), false));
	meet(&side, patience);
	post_receives(&side);
	NEED(move(4, &self, 1, true));
	while (!side.wrong[0])
		step(&side, true);
	fprintf(stderr, "victim: %s\n", side.wrong);
	exit(1);
}

/* Runs this program again. */
static pid_t spawn(const char *what, unsigned seed, int input, int output)
{
	char number[16];
	pid_t pid;

	snprintf(number, sizeof(number), "%u", seed);
	fflush(stdout);
	pid = fork();
	NEED(pid >= 0);
	if (pid)
		return pid;
	/* Out of the way of what they become. */
	input = fcntl(input, F_DUPFD, 10);
	output = fcntl(output, F_DUPFD, 10);
	dup2(input, 3);
	dup2(output, 4);
	for (int fd = 5; fd < 64; fd++)
		close(fd);
	execl("/proc/self/exe", "kill", what, number, NULL);
	_exit(127);
}

/*
 * What is left in the shared queue can be received, each once: messages of a QP of this process that
 * is connected to itself.
 */
static void check_shared_queue(struct side *side)
{
	unsigned left = side->receives;
	struct ibv_sge list = { (uintptr_t)side->memory, 8, side->mr->lkey };
	double until = seconds() + PATIENCE;
	char wrong[1024] = "";

	side->peer = new_qp(side, side->kind == XRC ? XRC : RC, true);
	meet(side, (struct settings){ .timeout = 8, .rnr_retry = 1 });
	side->receives = left;
	side->failed = false;
	for (unsigned count = 0; count < left && !wrong[0]; count++) {
		struct ibv_send_wr *bad, wr = {
			.wr_id = 1,
			.sg_list = &list,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.qp_type.xrc.remote_srqn = side->peer.srq_num,
		};

		NEED(!ibv_post_send(side->qp, &wr, &bad));
		side->sends++;
		/* As if it had failed, nothing is posted again. */
		side->failed = true;
		while ((side->sends || side->receives != left - count - 1) && !wrong[0]) {
			step(side, false);
			if (side->errors || seconds() > until)
				add(wrong, "of %u receives in the shared queue %u are lost; ", left,
				    left - count);
		}
	}
	add(wrong, "%s", side->wrong);
	part(side);
	if (wrong[0]) {
		/* New queues for the next rounds. */
		NEED(!ibv_destroy_srq(side->srq) && !ibv_destroy_srq(side->xrc_srq));
		side->srq = new_srq(side, false);
		side->xrc_srq = new_srq(side, true);
	}
	memset(side->posted, 0, sizeof(side->posted));
	side->receives = 0;
	strcpy(side->wrong, wrong);
}

static double longest, connecting;

/* One round; what was wrong is in side->wrong. */
static void round_of(struct side *side, unsigned seed)
{
	struct place self = new_qp(side, kind_of(seed), seed & 4);
	int to[2], from[2];
	double now, begin, death, until;
	unsigned later = 0;
	bool alive = true, told = false;
	char wrong[1024] = "", ready;
	pid_t pid;

	NEED(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC));
	pid = spawn("victim", seed, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	NEED(move(from[0], &side->peer, sizeof(side->peer), false));
	begin = seconds();
	meet(side, patience);
	post_receives(side);
	/* The other side begins as soon as it has this. */
	NEED(move(to[1], &self, sizeof(self), true));
	NEED(move(from[0], &ready, 1, false));
	now = seconds();
	if (now - begin > connecting)
		connecting = now - begin;
	/* Mostly early, as there is much to begin with. */
	death = now + (seed / 8 % 4 ? seed / 64 % 1500 : seed / 64 % 8000) * 1e-6;
	until = death + PATIENCE;
	while (!side->failed && !wrong[0] && !side->wrong[0]) {
		step(side, true);
		now = seconds();
		if (alive && now >= death) {
			NEED(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
			alive = false;
			death = seconds();
			until = death + PATIENCE;
			told = side->failed;
			later = side->sent + LATER;
		}
		if (side->kind == UD && !alive && side->sent >= later)
			break;
		if (now > until)
			add(wrong, "no %s after %.0f s, %u requests wait; ",
			    side->kind == UD ? "progress" : "error completion", PATIENCE, side->sends);
	}
	if (side->kind == UD && side->errors)
		add(wrong, "%u datagrams fail; ", side->errors);
	if (alive) {
		add(wrong, "an error while both sides live; ");
		NEED(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	} else if (side->kind != UD && !told && seconds() - death > longest) {
		longest = seconds() - death;
	}
	/* Everything that was posted comes back. */
	NEED(!ibv_modify_qp(side->qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR },
			    IBV_QP_STATE));
	side->failed = true;
	until = seconds() + PATIENCE;
	while ((side->sends || (!side->shared && side->receives)) && seconds() < until)
		step(side, false);
	step(side, false);
	if (side->sends || (!side->shared && side->receives))
		add(wrong, "%u requests and %u receives are not flushed; ", side->sends,
		    side->receives);
	part(side);
	if (side->shared)
		check_shared_queue(side);
	else
		memset(side->posted, 0, sizeof(side->posted));
	add(side->wrong, "%s", wrong);
	for (struct ibv_async_event event; next_event(side->context, 0, &event);)
		;
	close(to[1]);
	close(from[0]);
}

/* Whether a file belongs to a slot. */
static bool is_of(const char *file, unsigned slot)
{
	char name[32], part[32];

	snprintf(name, sizeof(name), "slot-%04u", slot);
	snprintf(part, sizeof(part), "-%04u-", slot);
	return !strcmp(file, name) || strstr(file, part);
}

/* What is in the directory, but for what belongs to this process and the other one. */
static void check_files(char *wrong, unsigned own, unsigned other)
{
	const char *path = getenv("URXE_DIR");
	struct dirent *entry;
	DIR *directory = opendir(path);

	NEED(directory);
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.' && !is_of(entry->d_name, own) &&
		    !is_of(entry->d_name, other))
			add(wrong, "%s is left; ", entry->d_name);
	closedir(directory);
}

/* Descriptors and mappings of files that are gone. */
static void check_own(char *wrong)
{
	const char *path = getenv("URXE_DIR");
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	NEED(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, path) && strstr(line, "(deleted)")) {
			add(wrong, "a file that is gone is mapped; ");
			break;
		}
	fclose(maps);
	for (int fd = 0; fd < 256; fd++) {
		char link[64], target[256] = "";

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (readlink(link, target, sizeof(target) - 1) > 0 && strstr(target, path) &&
		    strstr(target, "(deleted)"))
			add(wrong, "descriptor %d is %s; ", fd, target);
	}
}

int main(int argc, char **argv)
{
	unsigned rounds, seed, failed = 0;
	char wrong[1024] = "", title[200];
	struct rlimit no_core = { 0, 0 };
	struct side side;
	struct place place;

	NEED(argc >= 2);
	setrlimit(RLIMIT_CORE, &no_core);
	if (!strcmp(argv[1], "victim")) {
		be_victim(strtoul(argv[2], NULL, 10));
		return 1;
	}
	NEED(argc == 3);
	side = open_side(false, 1);
	if (!strcmp(argv[1], "visitor")) {
		place = new_qp(&side, RC, false);
		check_files(wrong, place.end.qp_num >> 14, strtoul(argv[2], NULL, 10));
		report("nothing of the dead is left in the directory", wrong);
		return 0;
	}
	rounds = strtoul(argv[1], NULL, 10);
	seed = strtoul(argv[2], NULL, 10);
	for (unsigned round = 0; round < rounds; round++) {
		unsigned mixed = (seed * 1000003u + round) * 2654435761u >> 3;

		side.seed = mixed;
		round_of(&side, mixed);
		if (side.wrong[0]) {
			snprintf(title, sizeof(title), "round %u of seed %u", round, seed);
			report(title, side.wrong);
			if (++failed == 10)
				break;
		}
	}
	snprintf(title, sizeof(title),
		 "%u processes killed%s; error after %.3f s and next connection in %.3f s at most",
		 rounds, getenv("URXE_NO_ACCESS") ? " without access" : "", longest, connecting);
	report(title, failed ? "see above" : NULL);
	place = new_qp(&side, RC, false);
	NEED(waitpid(spawn("visitor", place.end.qp_num >> 14, 0, 1), NULL, 0) > 0);
	check_own(wrong);
	report("nothing of the dead is left in the survivor", wrong);
	return 0;
}
