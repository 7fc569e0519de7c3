/*
 * Who must not reach a process that uses the device inside the library: another user, in any way,
 * and a process of the same user beyond the keys that it was given.
 *
 * usage, as root: users UID OTHER_UID
 *
 * A row prints a line: its title, a tab, and "ok" or what was wrong.
 */
#include "errors.h"
#include <dirent.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define PAGES 5
#define FORGERIES 300

/* What the victim tells of itself. */
struct victim {
	pid_t pid;
	struct end end, datagrams;
	char directory[128];
};

static size_t page;

static void become(uid_t uid)
{
	NEED(!setgroups(0, NULL) && !setresgid(uid, uid, uid) && !setresuid(uid, uid, uid));
	/* As a program that this user has started: its peers may look at its memory. */
	NEED(!prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static void tell(int fd, const void *bytes, size_t size)
{
	NEED(write(fd, bytes, size) == (ssize_t)size);
}

static bool hear(int fd, void *bytes, size_t size)
{
	return read(fd, bytes, size) == (ssize_t)size;
}

static struct ibv_qp *new_qp(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 4, 4, 1, 1, 0 },
		.qp_type = type,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	NEED(qp);
	return qp;
}

/* Bytes that differ from place to place. */
static uint8_t pattern(size_t place)
{
	return (uint8_t)(place * 31 + place / 256 + 7);
}

/*
 * The victim: of five pages the third is registered, for all access. Told 'c' and the end of a peer,
 * it connects its QP anew; told 'q', it looks at its memory and its events, and ends.
 */
static void be_victim(uid_t uid, int order, int answer)
{
	struct victim self = { 0 };
	struct ibv_context *context;
	struct ibv_qp *qp, *ud;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	char wrong[1024] = "", letter;
	uint8_t *memory;

	become(uid);
	memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(memory != MAP_FAILED);
	for (size_t place = 0; place < PAGES * page; place++)
		memory[place] = pattern(place);
	context = open_device();
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, memory + 2 * page, page, ALL_ACCESS);
	NEED(pd && cq && mr);
	/* So that nobody else has QPs of the same number. */
	for (int count = 0; count < 20; count++)
		new_qp(pd, cq, IBV_QPT_RC);
	qp = new_qp(pd, cq, IBV_QPT_RC);
	ud = new_qp(pd, cq, IBV_QPT_UD);
	self.pid = getpid();
	gid_of(context, &self.end.gid);
	self.end.qp_num = qp->qp_num;
	self.end.rkey = mr->rkey;
	self.end.address = (uintptr_t)mr->addr;
	self.datagrams = self.end;
	self.datagrams.qp_num = ud->qp_num;
	connect_to(ud, &self.end, (struct settings){ 0 });
	for (int count = 0; count < 2; count++) {
		struct ibv_recv_wr *bad, wr = { .wr_id = count };

		NEED(!ibv_post_recv(ud, &wr, &bad));
	}
	snprintf(self.directory, sizeof(self.directory), "/dev/shm/libibverbs-rs-%u", uid);
	tell(answer, &self, sizeof(self));
	while (hear(order, &letter, 1) && letter == 'c') {
		struct ibv_async_event event;
		struct end peer;

		NEED(hear(order, &peer, sizeof(peer)));
		NEED(!ibv_modify_qp(qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET },
				    IBV_QP_STATE));
		connect_to(qp, &peer, (struct settings){ 0 });
		while (next_event(context, 0, &event))
			;
		tell(answer, "+", 1);
	}
	for (size_t place = 0; place < PAGES * page; place++)
		if (memory[place] != pattern(place)) {
			add(wrong, "byte %zu of the victim has changed; ", place);
			break;
		}
	if (letter != 'q')
		add(wrong, "no order to end; ");
	check_no_event(wrong, context);
	if (ibv_poll_cq(cq, 1, &wc))
		add(wrong, "a completion of QP %#x; ", wc.qp_num);
	tell(answer, wrong, sizeof(wrong));
	_exit(0);
}

/* A process of its own, with a pipe to it and one from it. */
struct process {
	pid_t pid;
	int order, answer;
};

static struct process start(uid_t uid, struct victim *victim)
{
	int order[2], answer[2];
	struct process process;

	NEED(!pipe2(order, O_CLOEXEC) && !pipe2(answer, O_CLOEXEC));
	fflush(stdout);
	process.pid = fork();
	NEED(process.pid >= 0);
	if (!process.pid) {
		close(order[1]);
		close(answer[0]);
		be_victim(uid, order[0], answer[1]);
	}
	close(order[0]);
	close(answer[1]);
	process.order = order[1];
	process.answer = answer[0];
	NEED(hear(process.answer, victim, sizeof(*victim)));
	return process;
}

static void finish(const char *title, struct process process)
{
	char wrong[1024];

	tell(process.order, "q", 1);
	if (!hear(process.answer, wrong, sizeof(wrong)))
		strcpy(wrong, "the victim has ended");
	NEED(waitpid(process.pid, NULL, 0) == process.pid);
	report(title, wrong);
}

/* Something that the other user tries must fail for want of rights. */
#define FORBIDDEN(title, call)                                                                     \
	do {                                                                                       \
		errno = 0;                                                                         \
		bool done_ = (call);                                                               \
		report(title, done_ ? "it was possible"                                            \
			      : errno == EACCES || errno == EPERM ? "ok"                           \
								  : strerror(errno));              \
	} while (0)

/* All that the other user can try, without the library and with it. */
static void be_stranger(uid_t uid, const struct victim *victim)
{
	char path[256], other[256], bytes[8] = "";
	struct iovec here = { bytes, sizeof(bytes) };
	struct iovec there = { (void *)(uintptr_t)victim->end.address, sizeof(bytes) };
	unsigned slot = victim->end.qp_num >> 14;
	struct ibv_device **list;
	struct ibv_context *context;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	struct ibv_qp *qp, *ud;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	struct ibv_ah_attr address;
	struct end end = victim->end;
	struct ibv_sge list_of_one;
	struct stat status;
	char wrong[1024] = "";

	become(uid);
	FORBIDDEN("another user: list the directory", opendir(victim->directory));
	FORBIDDEN("another user: enter the directory", !chdir(victim->directory));
	snprintf(path, sizeof(path), "%s/slot-%04u", victim->directory, slot);
	FORBIDDEN("another user: look at the file", !stat(path, &status));
	FORBIDDEN("another user: open the file", open(path, O_RDONLY) >= 0);
	FORBIDDEN("another user: write the file", open(path, O_RDWR) >= 0);
	FORBIDDEN("another user: remove the file", !unlink(path));
	snprintf(path, sizeof(path), "%s/event-%04u-%08x", victim->directory, slot, 1);
	FORBIDDEN("another user: open an event file", open(path, O_WRONLY | O_NONBLOCK) >= 0);
	snprintf(path, sizeof(path), "%s/slot-1000", victim->directory);
	FORBIDDEN("another user: add a file", open(path, O_RDWR | O_CREAT, 0600) >= 0);
	snprintf(other, sizeof(other), "/dev/shm/taken-%u", uid);
	FORBIDDEN("another user: move the directory", !rename(victim->directory, other));
	FORBIDDEN("another user: remove the directory", !rmdir(victim->directory));
	FORBIDDEN("another user: read the memory",
		  process_vm_readv(victim->pid, &here, 1, &there, 1, 0) > 0);
	FORBIDDEN("another user: write the memory",
		  process_vm_writev(victim->pid, &here, 1, &there, 1, 0) > 0);
	snprintf(path, sizeof(path), "/proc/%d/mem", victim->pid);
	FORBIDDEN("another user: open the memory", open(path, O_RDONLY) >= 0);
	snprintf(path, sizeof(path), "/proc/%d/fd", victim->pid);
	FORBIDDEN("another user: list the descriptors", opendir(path));
	FORBIDDEN("another user: end the process", !kill(victim->pid, SIGKILL));

	/* With the library, which is told to meet in the directory of the victim. */
	fflush(stdout);
	if (!fork()) {
		setenv("URXE_DIR", victim->directory, 1);
		list = ibv_get_device_list(NULL);
		context = list && list[0] ? ibv_open_device(list[0]) : NULL;
		pd = context ? ibv_alloc_pd(context) : NULL;
		cq = context ? ibv_create_cq(context, 4, NULL, NULL, 0) : NULL;
		report("another user: meet in the directory",
		       !context || !cq ? "ok" : "the device could be opened there");
		_exit(0);
	}
	NEED(wait(NULL) > 0);

	/* With the library, and all that is known of the victim. */
	context = open_device();
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, bytes, sizeof(bytes), IBV_ACCESS_LOCAL_WRITE);
	NEED(pd && cq && mr);
	qp = new_qp(pd, cq, IBV_QPT_RC);
	ud = new_qp(pd, cq, IBV_QPT_UD);
	connect_to(qp, &end, (struct settings){ .timeout = 8 });
	list_of_one = (struct ibv_sge){ (uintptr_t)bytes, sizeof(bytes), mr->lkey };
	for (int opcode = IBV_WR_RDMA_WRITE; opcode <= IBV_WR_RDMA_READ; opcode++) {
		struct ibv_send_wr *bad, wr = {
			.sg_list = &list_of_one,
			.num_sge = 1,
			.opcode = (enum ibv_wr_opcode)opcode,
			.wr.rdma = { victim->end.address, victim->end.rkey },
		};
		struct ibv_wc wc;

		NEED(!ibv_post_send(qp, &wr, &bad) && wait_for(cq, &wc));
		if (wc.status != IBV_WC_RETRY_EXC_ERR)
			add(wrong, "opcode %d: %s; ", opcode, ibv_wc_status_str(wc.status));
		NEED(!ibv_modify_qp(qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET },
				    IBV_QP_STATE));
		connect_to(qp, &end, (struct settings){ .timeout = 8 });
	}
	report("another user: requests to the QP, with the right key", wrong);
	wrong[0] = 0;
	address = address_of(context, victim->end.gid);
	ah = ibv_create_ah(pd, &address);
	NEED(ah);
	connect_to(ud, &end, (struct settings){ 0 });
	{
		struct ibv_send_wr *bad, wr = {
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.ud = { ah, victim->datagrams.qp_num, 0x11111111 },
		};

		NEED(!ibv_post_send(ud, &wr, &bad));
		check_completion(wrong, "datagram", cq, 0, IBV_WC_SUCCESS, 0);
	}
	report("another user: datagrams, with the right Q_Key", wrong);
	_exit(0);
}

/* A directory that the other user has made first, in the name of a third one. */
static void squat(uid_t squatter, uid_t owner)
{
	char path[128];
	pid_t pid;
	int status;

	snprintf(path, sizeof(path), "/dev/shm/libibverbs-rs-%u", owner);
	NEED(!mkdir(path, 0777) && !chmod(path, 0777) && !chown(path, squatter, squatter));
	fflush(stdout);
	pid = fork();
	NEED(pid >= 0);
	if (!pid) {
		struct ibv_device **list;
		struct ibv_context *context;

		become(owner);
		list = ibv_get_device_list(NULL);
		context = list && list[0] ? ibv_open_device(list[0]) : NULL;
		_exit(context && ibv_create_cq(context, 4, NULL, NULL, 0) ? 1 : 0);
	}
	NEED(waitpid(pid, &status, 0) == pid);
	report("another user: a directory made beforehand is not used", status ? "it is" : "ok");
	NEED(!rmdir(path));
}

/* A process of the same user that guesses keys and ranges. */
static void be_forger(uid_t uid, struct process process, const struct victim *victim)
{
	char bytes[8] = "forgery";
	struct ibv_context *context;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct end self = { 0 };
	char wrong[1024] = "", ready;
	unsigned seed = 1;

	become(uid);
	context = open_device();
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, bytes, sizeof(bytes), IBV_ACCESS_LOCAL_WRITE);
	NEED(pd && cq && mr);
	qp = new_qp(pd, cq, IBV_QPT_RC);
	gid_of(context, &self.gid);
	self.qp_num = qp->qp_num;
	for (int count = 0; count < FORGERIES && !wrong[0]; count++) {
		struct ibv_sge list = { (uintptr_t)bytes, sizeof(bytes), mr->lkey };
		struct ibv_send_wr *bad, wr = { .sg_list = &list, .num_sge = 1 };
		uint32_t rkey = victim->end.rkey;
		uint64_t address = victim->end.address;
		struct ibv_wc wc;

		switch (count % 6) {
		case 0: /* Any number. */
			rkey = (uint32_t)rand_r(&seed) * 2654435761u;
			break;
		case 1: /* The tag of another use of the key. */
			rkey ^= 1 + rand_r(&seed) % 255;
			break;
		case 2: /* A neighbour. */
			rkey += 256 * (1 + rand_r(&seed) % 1000);
			break;
		case 3: /* Before the region, and across its begin. */
			address -= 1 + rand_r(&seed) % (2 * page);
			break;
		case 4: /* Behind it, and across its end. */
			address += page - 7 + rand_r(&seed) % (2 * page);
			break;
		default: /* A range that wraps. */
			address = UINT64_MAX - rand_r(&seed) % 7;
		}
		if (rkey == victim->end.rkey && count % 6 < 3)
			continue;
		wr.opcode = count & 64   ? IBV_WR_ATOMIC_FETCH_AND_ADD
			    : count & 1 ? IBV_WR_RDMA_READ
					: IBV_WR_RDMA_WRITE;
		if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			address &= ~7ULL;
			if (count % 6 == 4)
				address += 8;
			wr.wr.atomic.remote_addr = address;
			wr.wr.atomic.rkey = rkey;
		} else {
			wr.wr.rdma.remote_addr = address;
			wr.wr.rdma.rkey = rkey;
		}
		NEED(!ibv_modify_qp(qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET },
				    IBV_QP_STATE));
		connect_to(qp, &victim->end, (struct settings){ .timeout = 14 });
		tell(process.order, "c", 1);
		tell(process.order, &self, sizeof(self));
		NEED(hear(process.answer, &ready, 1));
		NEED(!ibv_post_send(qp, &wr, &bad) && wait_for(cq, &wc));
		if (wc.status != IBV_WC_REM_ACCESS_ERR)
			add(wrong, "forgery %d: key %#x (of %#x) address %#llx: %s; ", count, rkey,
			    victim->end.rkey, (unsigned long long)address,
			    ibv_wc_status_str(wc.status));
	}
	if (memcmp(bytes, "forgery", sizeof(bytes)))
		add(wrong, "something was read; ");
	/* Clears the last event. */
	tell(process.order, "c", 1);
	tell(process.order, &self, sizeof(self));
	NEED(hear(process.answer, &ready, 1));
	report("the same user: forged keys and ranges", wrong);
	_exit(0);
}

static void run(void (*program)(uid_t, struct process, const struct victim *), uid_t uid,
		struct process process, const struct victim *victim)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	NEED(pid >= 0);
	if (!pid) {
		if (program)
			program(uid, process, victim);
		be_stranger(uid, victim);
	}
	NEED(waitpid(pid, &status, 0) == pid);
	if (status)
		report("the other process", "it has failed");
}

int main(int argc, char **argv)
{
	struct process process;
	struct victim victim;
	uid_t uid, other;

	NEED(argc == 3);
	uid = strtoul(argv[1], NULL, 10);
	other = strtoul(argv[2], NULL, 10);
	page = sysconf(_SC_PAGESIZE);
	process = start(uid, &victim);
	run(NULL, other, process, &victim);
	finish("another user: nothing has happened to the process", process);
	process = start(uid, &victim);
	run(be_forger, uid, process, &victim);
	finish("the same user: no byte outside of what was given has changed", process);
	squat(other, other + 1);
	return 0;
}
