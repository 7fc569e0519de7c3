/*
 * The control path of a libibverbs.so.1, whichever file is given: median time and system calls of
 * each operation. The library is loaded with dlopen(3), so that one program serves for all.
 *
 * usage: control LIBRARY time DEVICE ROUNDS    nanoseconds, a line "OPERATION MEDIAN FAST" each:
 *                                              the median and the end of the fastest tenth
 *        control LIBRARY calls DEVICE          system calls, a line "OPERATION NUMBER" each
 *        control LIBRARY none|load|list        does nothing, loads the library, and lists as well:
 *                                              for counting instructions from outside
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#undef ibv_query_port
#undef ibv_reg_mr

enum { MARK = 0x5eed0000, OPERATIONS = 64, SAMPLES = 4096 };

static const char *library;
static bool counting;

static struct operation {
	const char *name;
	double samples[SAMPLES];
	int count, calls, runs;
} operations[OPERATIONS];

static struct operation *operation(const char *name)
{
	struct operation *at = operations;

	while (at->name && strcmp(at->name, name))
		at++;
	if (!at->name)
		at->name = strdup(name);
	return at;
}

static double nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static void sample(const char *name, double value)
{
	struct operation *to = operation(name);

	if (to->count < SAMPLES)
		to->samples[to->count++] = value;
}

/*
 * Runs a statement as an operation: timed, or between two marks that the tracer sees. The mark is a
 * call that the kernel refuses: getpriority(2) with a number that is none.
 */
#define DO(what, statement)                                                                        \
	do {                                                                                       \
		if (counting) {                                                                    \
			syscall(SYS_getpriority, MARK, (long)(what));                              \
			statement;                                                                 \
			syscall(SYS_getpriority, MARK + 1, 0L);                                    \
		} else {                                                                           \
			double before_ = nanoseconds();                                            \
			statement;                                                                 \
			sample(what, nanoseconds() - before_);                                     \
		}                                                                                  \
	} while (0)

#define NEED(expression)                                                                           \
	do {                                                                                       \
		if (!(expression)) {                                                               \
			fprintf(stderr, "%s: %s\n", #expression, strerror(errno));                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* The functions of the library. */
#define FUNCTIONS(F)                                                                               \
	F(ibv_get_device_list) F(ibv_free_device_list) F(ibv_get_device_name) F(ibv_open_device)   \
	F(ibv_close_device) F(ibv_query_device) F(ibv_query_gid) F(_ibv_query_gid_ex)              \
	F(_ibv_query_gid_table) F(ibv_query_pkey) F(ibv_alloc_pd) F(ibv_dealloc_pd) F(ibv_reg_mr)  \
	F(ibv_dereg_mr) F(ibv_create_comp_channel) F(ibv_destroy_comp_channel) F(ibv_create_cq)    \
	F(ibv_destroy_cq) F(ibv_create_srq) F(ibv_destroy_srq) F(ibv_create_ah) F(ibv_destroy_ah)  \
	F(ibv_create_qp) F(ibv_modify_qp) F(ibv_query_qp) F(ibv_destroy_qp)

static struct {
#define MEMBER(name) __typeof__(name) *name;
	FUNCTIONS(MEMBER)
	void *handle;
} lib;

static void load(void)
{
	lib.handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!lib.handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
}

static void resolve(void)
{
#define RESOLVE(name) NEED(*(void **)&lib.name = dlsym(lib.handle, #name));
	FUNCTIONS(RESOLVE)
}

static void lists(int rounds)
{
	struct ibv_device **list;

	DO("device list, first", list = lib.ibv_get_device_list(NULL));
	if (list)
		DO("free device list", lib.ibv_free_device_list(list));
	for (int i = 0; i < rounds; i++) {
		DO("device list, later", list = lib.ibv_get_device_list(NULL));
		if (list)
			DO("free device list", lib.ibv_free_device_list(list));
	}
}

static struct ibv_context *open_close(const char *name, int rounds)
{
	struct ibv_device **list = lib.ibv_get_device_list(NULL), *device = NULL;
	struct ibv_context *context;

	NEED(list);
	for (struct ibv_device **at = list; *at; at++)
		if (!strcmp(lib.ibv_get_device_name(*at), name))
			device = *at;
	NEED(device);
	for (int i = 0; i < rounds; i++) {
		DO("open", context = lib.ibv_open_device(device));
		NEED(context);
		DO("close", lib.ibv_close_device(context));
	}
	context = lib.ibv_open_device(device);
	NEED(context);
	lib.ibv_free_device_list(list);
	return context;
}

static int queries(struct ibv_context *context, int rounds, union ibv_gid *gid)
{
	struct verbs_context *verbs = verbs_get_ctx(context);
	struct ibv_gid_entry entry, table[64];
	struct ibv_device_attr_ex device;
	struct ibv_port_attr port;
	uint16_t pkey;
	int index = -1;

	for (int i = 0; i < 16 && index < 0; i++)
		if (!lib._ibv_query_gid_ex(context, 1, i, &entry, 0, sizeof(entry)) &&
		    entry.gid.raw[10] == 0xff && entry.gid.raw[11] == 0xff)
			index = i;
	NEED(index >= 0);
	*gid = entry.gid;
	for (int i = 0; i < rounds; i++) {
		DO("query_device", lib.ibv_query_device(context, &device.orig_attr));
		DO("query_device_ex", verbs->query_device_ex(context, NULL, &device, sizeof(device)));
		DO("query_port", verbs->query_port(context, 1, &port, sizeof(port)));
		DO("query_gid", lib.ibv_query_gid(context, 1, index, gid));
		DO("query_gid_ex",
		   lib._ibv_query_gid_ex(context, 1, index, &entry, 0, sizeof(entry)));
		DO("query_gid_table",
		   lib._ibv_query_gid_table(context, table, 64, 0, sizeof(table[0])));
		DO("query_pkey", lib.ibv_query_pkey(context, 1, 0, &pkey));
	}
	return index;
}

static void regions(struct ibv_pd *pd, int rounds)
{
	static const struct {
		const char *reg, *dereg;
		size_t size;
	} sizes[] = {
		{ "reg_mr 4 KiB", "dereg_mr 4 KiB", 4096 },
		{ "reg_mr 1 MiB", "dereg_mr 1 MiB", 1 << 20 },
	};
	char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	for (int i = 0; i < rounds; i++) {
		for (int k = 0; k < 2; k++) {
			struct ibv_mr *mr;

			DO(sizes[k].reg, mr = lib.ibv_reg_mr(pd, memory, sizes[k].size,
							     IBV_ACCESS_LOCAL_WRITE));
			NEED(mr);
			DO(sizes[k].dereg, lib.ibv_dereg_mr(mr));
		}
	}
	munmap(memory, 1 << 20);
}

static void small_objects(struct ibv_context *context, struct ibv_pd *pd, struct ibv_ah_attr to,
			  int rounds)
{
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 128, .max_sge = 1 } };
	struct ibv_comp_channel *channel;
	struct ibv_srq *srq;
	struct ibv_pd *one;
	struct ibv_cq *cq;
	struct ibv_ah *ah;

	for (int i = 0; i < rounds; i++) {
		DO("alloc_pd", one = lib.ibv_alloc_pd(context));
		NEED(one);
		DO("dealloc_pd", lib.ibv_dealloc_pd(one));
		DO("create_comp_channel", channel = lib.ibv_create_comp_channel(context));
		NEED(channel);
		DO("destroy_comp_channel", lib.ibv_destroy_comp_channel(channel));
		DO("create_cq", cq = lib.ibv_create_cq(context, 256, NULL, NULL, 0));
		NEED(cq);
		DO("destroy_cq", lib.ibv_destroy_cq(cq));
		DO("create_srq", srq = lib.ibv_create_srq(pd, &srq_init));
		NEED(srq);
		DO("destroy_srq", lib.ibv_destroy_srq(srq));
		DO("create_ah", ah = lib.ibv_create_ah(pd, &to));
		NEED(ah);
		DO("destroy_ah", lib.ibv_destroy_ah(ah));
	}
}

static void queue_pairs(struct ibv_context *context, struct ibv_pd *pd, struct ibv_ah_attr to,
			int rounds)
{
	struct ibv_cq *cq = lib.ibv_create_cq(context, 256, NULL, NULL, 0);

	NEED(cq);
	for (int i = 0; i < rounds; i++) {
		struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq,
			.qp_type = IBV_QPT_RC,
			.cap = { .max_send_wr = 128, .max_recv_wr = 128, .max_send_sge = 1,
				 .max_recv_sge = 1 } };
		struct ibv_send_wr send = { .opcode = IBV_WR_RDMA_WRITE,
					    .send_flags = IBV_SEND_SIGNALED }, *bad_send;
		struct ibv_recv_wr recv = { .num_sge = 0 }, *bad_recv;
		struct ibv_qp_attr attr;
		struct ibv_qp *qp;
		struct ibv_wc wc;
		int ret;

		DO("create_qp", qp = lib.ibv_create_qp(pd, &init));
		NEED(qp);
		attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = 1,
					     .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
		DO("modify_qp to INIT",
		   ret = lib.ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
					   IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
		NEED(!ret);
		attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
			.dest_qp_num = qp->qp_num, .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
			.ah_attr = to };
		DO("modify_qp to RTR",
		   ret = lib.ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
		NEED(!ret);
		attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14,
			.retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1 };
		DO("modify_qp to RTS",
		   ret = lib.ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
					   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					   IBV_QP_MAX_QP_RD_ATOMIC));
		NEED(!ret);
		DO("query_qp", ret = lib.ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
		NEED(!ret);
		DO("post_recv", ret = ibv_post_recv(qp, &recv, &bad_recv));
		NEED(!ret);
		DO("post_send", ret = ibv_post_send(qp, &send, &bad_send));
		NEED(!ret);
		for (double end = nanoseconds() + 5e9; !ibv_poll_cq(cq, 1, &wc);)
			NEED(nanoseconds() < end);
		NEED(wc.status == IBV_WC_SUCCESS);
		DO("poll_cq, empty", ibv_poll_cq(cq, 1, &wc));
		DO("req_notify_cq", ibv_req_notify_cq(cq, 0));
		DO("destroy_qp", ret = lib.ibv_destroy_qp(qp));
		NEED(!ret);
	}
	lib.ibv_destroy_cq(cq);
}

/* Everything but loading and the first list, which a process can do only once. */
static void objects(const char *device, int rounds)
{
	struct ibv_context *context = open_close(device, rounds);
	struct ibv_pd *pd = lib.ibv_alloc_pd(context);
	struct ibv_ah_attr to = { .is_global = 1, .port_num = 1, .grh.hop_limit = 64 };

	NEED(pd);
	to.grh.sgid_index = queries(context, rounds, &to.grh.dgid);
	regions(pd, rounds);
	small_objects(context, pd, to, rounds);
	queue_pairs(context, pd, to, rounds);
	lib.ibv_dealloc_pd(pd);
	lib.ibv_close_device(context);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int time_all(const char *device, int rounds)
{
	/* Loading and the first list, in processes of their own. */
	for (int i = 0; i < (rounds < 20 ? rounds : 20); i++) {
		double times[2];
		int ends[2];
		pid_t child;

		NEED(!pipe(ends));
		child = fork();
		if (!child) {
			double begin = nanoseconds();

			load();
			times[0] = nanoseconds() - begin;
			resolve();
			begin = nanoseconds();
			NEED(lib.ibv_get_device_list(NULL));
			times[1] = nanoseconds() - begin;
			NEED(write(ends[1], times, sizeof(times)) == sizeof(times));
			_exit(0);
		}
		close(ends[1]);
		NEED(read(ends[0], times, sizeof(times)) == sizeof(times));
		close(ends[0]);
		waitpid(child, NULL, 0);
		sample("dlopen", times[0]);
		sample("device list, first", times[1]);
	}
	load();
	resolve();
	lib.ibv_free_device_list(lib.ibv_get_device_list(NULL));
	for (int i = 0; i < rounds; i++) {
		struct ibv_device **list;

		DO("device list, later", list = lib.ibv_get_device_list(NULL));
		DO("free device list", lib.ibv_free_device_list(list));
	}
	objects(device, rounds);
	for (struct operation *at = operations; at->name; at++) {
		qsort(at->samples, at->count, sizeof(double), by_value);
		printf("%s\t%.0f\t%.0f\n", at->name, at->samples[at->count / 2],
		       at->samples[at->count / 10]);
	}
	return 0;
}

/* The process that is looked at. */
static void traced(const char *device)
{
	NEED(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	raise(SIGSTOP);
	counting = true;
	DO("dlopen", load());
	resolve();
	lists(2);
	objects(device, 2);
	_exit(0);
}

static void read_text(pid_t child, unsigned long address, char *text, size_t size)
{
	for (size_t at = 0; at + sizeof(long) <= size; at += sizeof(long)) {
		long word = ptrace(PTRACE_PEEKDATA, child, (void *)(address + at), NULL);

		memcpy(text + at, &word, sizeof(word));
	}
	text[size - 1] = 0;
}

/* Counts the calls between marks. Of what is done twice the second time counts. */
static int count_all(const char *device)
{
	struct operation *current = NULL;
	pid_t child = fork();
	int status;

	if (!child)
		traced(device);
	NEED(waitpid(child, &status, 0) == child);
	NEED(!ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	for (bool entry = true; !ptrace(PTRACE_SYSCALL, child, NULL, NULL);) {
		struct user_regs_struct regs;

		NEED(waitpid(child, &status, 0) == child);
		if (WIFEXITED(status) || WIFSIGNALED(status))
			break;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80))
			continue;
		if (entry) {
			NEED(!ptrace(PTRACE_GETREGS, child, NULL, &regs));
			if (regs.orig_rax == SYS_getpriority && (uint32_t)regs.rdi == MARK) {
				char name[40];

				read_text(child, regs.rsi, name, sizeof(name));
				current = operation(name);
				current->runs++;
				current->calls = 0;
			} else if (regs.orig_rax == SYS_getpriority &&
				   (uint32_t)regs.rdi == MARK + 1) {
				current = NULL;
			} else if (current) {
				current->calls++;
			}
		}
		entry = !entry;
	}
	NEED(WIFEXITED(status) && !WEXITSTATUS(status));
	for (struct operation *at = operations; at->name; at++)
		printf("%s\t%d\n", at->name, at->calls);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	library = argv[1];
	if (!strcmp(argv[2], "time") && argc == 5)
		return time_all(argv[3], atoi(argv[4]));
	if (!strcmp(argv[2], "calls") && argc == 4)
		return count_all(argv[3]);
	if (!strcmp(argv[2], "none"))
		return 0;
	load();
	if (!strcmp(argv[2], "list")) {
		resolve();
		lib.ibv_get_device_list(NULL);
	}
	return 0;
}
