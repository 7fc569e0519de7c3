/*
 * What calls give when the process has no memory, no descriptors or no threads left.
 *
 * usage: starved memory|descriptors|buffers|threads; buffers as in a confidential guest
 */
#include "errors.h"
#include <dirent.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { NEVER = -1 };

/* No public header has it. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

/* How many allocations of this thread still succeed; after that none does. */
static _Thread_local int allocations = NEVER;

/* Whether one has failed. */
static _Thread_local bool has_failed;

/* Pieces of memory that the process has. */
static atomic_long pieces;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static bool fails(void)
{
	if (allocations == NEVER)
		return false;
	if (allocations) {
		allocations--;
		return false;
	}
	has_failed = true;
	errno = ENOMEM;
	return true;
}

static void *counted(void *memory)
{
	if (memory)
		pieces++;
	return memory;
}

void *malloc(size_t size)
{
	return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
	if (fails())
		return NULL;
	return memory ? __libc_realloc(memory, size) : counted(__libc_malloc(size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
	if (fails())
		return ENOMEM;
	*memory = counted(__libc_memalign(alignment, size));
	return *memory ? 0 : ENOMEM;
}

void free(void *memory)
{
	if (memory)
		pieces--;
	__libc_free(memory);
}

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static struct ibv_xrcd *xrcd;
static struct ibv_td *td;
static struct ibv_buf *buf;
static struct ibv_dm *dm;
static struct ibv_ah_attr address;
static struct ibv_qp *target;
static uint32_t receiver;
static char *pages, *bytes;
static size_t page;

/* A device, and an object of each kind. */
static void prepare(void)
{
	struct ibv_srq_init_attr srq_init = { .attr = { 2, 2, 0 } };
	struct ibv_alloc_dm_attr dm_attr = { .length = 64 };
	struct ibv_xrcd_init_attr xrcd_attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_qp_init_attr_ex receiver_attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};
	union ibv_gid gid;

	context = open_device();
	gid_of(context, &gid);
	address = address_of(context, gid);
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	td = ibv_alloc_td(context, &(struct ibv_td_init_attr){ 0 });
	dm = ibv_alloc_dm(context, &dm_attr);
	xrcd = ibv_open_xrcd(context, &xrcd_attr);
	NEED(pd && cq && td && dm && xrcd);
	mr = ibv_reg_mr(pd, pages, page, ALL_ACCESS);
	srq = ibv_create_srq(pd, &srq_init);
	receiver_attr.xrcd = xrcd;
	target = ibv_create_qp_ex(context, &receiver_attr);
	bytes = ibv_alloc_buf(pd, page, &buf);
	NEED(mr && srq && target && bytes);
	receiver = target->qp_num;
}

static void (*setup)(void) = prepare;

static void nothing(void)
{
}

/* All of it goes, unless something is still counted as in use. */
static void end(char *wrong)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = receiver,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	if (!context)
		return;
	if (ibv_destroy_qp(target) || ibv_open_qp(context, &attr))
		add(wrong, "the QP stays; ");
	if (ibv_dereg_mr(mr))
		add(wrong, "the region stays; ");
	ibv_free_buf(buf);
	if (ibv_free_dm(dm))
		add(wrong, "the device memory stays; ");
	if (ibv_destroy_srq(srq))
		add(wrong, "the SRQ stays; ");
	if (ibv_destroy_cq(cq))
		add(wrong, "the CQ stays; ");
	if (ibv_close_xrcd(xrcd))
		add(wrong, "the XRC domain stays; ");
	if (ibv_dealloc_td(td))
		add(wrong, "the thread domain stays; ");
	if (ibv_dealloc_pd(pd))
		add(wrong, "the PD stays; ");
	if (ibv_close_device(context))
		add(wrong, "the device stays; ");
}

/* Descriptors that the process has. */
static long descriptors_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	long count = 0;

	NEED(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static long lesser(long one, long other)
{
	return one < other ? one : other;
}

/*
 * Calls with enough memory for no allocation, then for one and so on, until it is enough for all.
 * The call may do without, but another one after it, or the one after that, must say that there is
 * none; and all is well when there is. Nothing of it is left: what is there once and for all, as a
 * thread that came, does not come each time. In a process of its own, with a device that is open
 * there.
 */
#define STARVES(title, made, failed, got, call, undo)                                              \
	do {                                                                                       \
		pid_t child_;                                                                      \
		int status_;                                                                       \
                                                                                                   \
		fflush(stdout);                                                                    \
		child_ = fork();                                                                   \
		NEED(child_ >= 0);                                                                 \
		if (child_) {                                                                      \
			NEED(waitpid(child_, &status_, 0) == child_);                              \
			if (status_)                                                               \
				report(title, "the process died");                                 \
			break;                                                                     \
		}                                                                                  \
		char wrong_[1024] = "";                                                            \
		int ends_ = 0;                                                                     \
		long left_ = LONG_MAX, open_ = LONG_MAX;                                           \
                                                                                                   \
		setup();                                                                           \
		for (int sweep_ = 0; sweep_ < 3 && !*wrong_; sweep_++) {                           \
			long had_ = pieces, had_open_ = descriptors_open();                        \
			int enough_ = 0;                                                           \
                                                                                                   \
			for (int first_ = 0; !enough_; first_++) {                                 \
				bool said_ = false;                                                \
                                                                                                   \
				for (int again_ = 0; again_ < 4 && !said_ && !enough_; again_++) { \
					errno = 0;                                                 \
					has_failed = false;                                        \
					allocations = again_ ? 0 : first_;                         \
					made = (call);                                             \
					allocations = NEVER;                                       \
					enough_ = !again_ && !has_failed;                          \
					if (!(failed)) {                                           \
						undo;                                              \
					} else if ((got) == ENOMEM) {                              \
						said_ = true;                                      \
					} else {                                                   \
						add(wrong_, "%s with %d allocations; ",            \
						    strerrorname_np(got), first_);                 \
					}                                                          \
				}                                                                  \
				ends_ += said_;                                                    \
				if (!said_ && !enough_)                                            \
					add(wrong_, "no ENOMEM with %d allocations; ", first_);    \
				made = (call);                                                     \
				if (failed)                                                        \
					add(wrong_, "%s when there is memory; ",                   \
					    strerrorname_np(got));                                 \
				else                                                               \
					undo;                                                      \
			}                                                                          \
			left_ = lesser(left_, pieces - had_);                                      \
			open_ = lesser(open_, descriptors_open() - had_open_);                     \
		}                                                                                  \
		if (!ends_)                                                                        \
			add(wrong_, "it allocates nothing; ");                                     \
		if (left_ > 0 || open_ > 0)                                                        \
			add(wrong_, "%ld pieces of memory, %ld descriptors are left; ", left_,     \
			    open_);                                                                \
		end(wrong_);                                                                       \
		report(title, wrong_);                                                             \
		_exit(0);                                                                          \
	} while (0)

/* A call that returns NULL and sets errno. */
#define STARVES_POINTER(title, wanted, call, undo)                                                 \
	STARVES(title ": " #wanted, void *made_, !made_, errno, call, undo)

/* A call that returns an error number. */
#define STARVES_NUMBER(title, wanted, call)                                                        \
	STARVES(title ": " #wanted, int made_, made_ != 0, made_, call, (void)0)

static void domains(void)
{
	struct ibv_td_init_attr td_attr = { 0 };
	struct ibv_parent_domain_init_attr parent = { 0 };
	struct ibv_xrcd_init_attr xrcd_attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	STARVES_POINTER("get_device_list", ENOMEM, ibv_get_device_list(NULL),
			ibv_free_device_list(made_));
	STARVES_POINTER("open_device", ENOMEM, ibv_open_device(context->device),
			ibv_close_device(made_));
	STARVES_POINTER("alloc_pd", ENOMEM, ibv_alloc_pd(context), ibv_dealloc_pd(made_));
	STARVES_POINTER("import_pd", ENOMEM, ibv_import_pd(context, pd->handle),
			ibv_unimport_pd(made_));
	STARVES_POINTER("alloc_td", ENOMEM, ibv_alloc_td(context, &td_attr),
			ibv_dealloc_td(made_));
	STARVES_POINTER("alloc_parent_domain", ENOMEM,
			(parent.pd = pd, ibv_alloc_parent_domain(context, &parent)),
			ibv_dealloc_pd(made_));
	STARVES_POINTER("open_xrcd", ENOMEM, ibv_open_xrcd(context, &xrcd_attr),
			ibv_close_xrcd(made_));
	STARVES_POINTER("create_ah", ENOMEM, ibv_create_ah(pd, &address), ibv_destroy_ah(made_));
}

/* Fork support is asked for before anything is registered. */
static void fork_support(void)
{
	setup = nothing;
	STARVES_NUMBER("fork_init", ENOMEM, ibv_fork_init());
	setup = prepare;
}

static void memory(void)
{
	struct ibv_alloc_dm_attr dm_attr = { .length = 64 };
	struct ibv_dmah_init_attr dmah_attr = { 0 };
	struct ibv_mr_init_attr attr = {
		.length = page, .access = IBV_ACCESS_LOCAL_WRITE, .addr = pages,
		.comp_mask = IBV_REG_MR_MASK_ADDR,
	};
	struct ibv_buf *other;

	STARVES_POINTER("reg_mr", ENOMEM, (ibv_reg_mr)(pd, pages, page, ALL_ACCESS),
			ibv_dereg_mr(made_));
	STARVES_POINTER("reg_mr_iova", ENOMEM, (ibv_reg_mr_iova)(pd, pages, page, 0, ALL_ACCESS),
			ibv_dereg_mr(made_));
	STARVES_POINTER("reg_mr_iova2", ENOMEM, ibv_reg_mr_iova2(pd, pages, page, 0, ALL_ACCESS),
			ibv_dereg_mr(made_));
	STARVES_POINTER("__ibv_reg_mr", ENOMEM, __ibv_reg_mr(pd, pages, page, ALL_ACCESS, 1),
			ibv_dereg_mr(made_));
	STARVES_POINTER("__ibv_reg_mr_iova", ENOMEM,
			__ibv_reg_mr_iova(pd, pages, page, 0, ALL_ACCESS, 1), ibv_dereg_mr(made_));
	STARVES_POINTER("reg_mr_ex", ENOMEM, ibv_reg_mr_ex(pd, &attr), ibv_dereg_mr(made_));
	STARVES_POINTER("import_mr", ENOMEM, ibv_import_mr(pd, mr->handle), ibv_unimport_mr(made_));
	STARVES_POINTER("alloc_null_mr", ENOMEM, ibv_alloc_null_mr(pd), ibv_dereg_mr(made_));
	STARVES_POINTER("alloc_mw", ENOMEM, ibv_alloc_mw(pd, IBV_MW_TYPE_1), ibv_dealloc_mw(made_));
	STARVES_POINTER("alloc_dm", ENOMEM, ibv_alloc_dm(context, &dm_attr), ibv_free_dm(made_));
	STARVES_POINTER("import_dm", ENOMEM, ibv_import_dm(context, dm->handle),
			ibv_unimport_dm(made_));
	STARVES_POINTER("reg_dm_mr", ENOMEM, ibv_reg_dm_mr(pd, dm, 0, 64, IBV_ACCESS_ZERO_BASED),
			ibv_dereg_mr(made_));
	STARVES_POINTER("alloc_dmah", ENOMEM, ibv_alloc_dmah(context, &dmah_attr),
			ibv_dealloc_dmah(made_));
	STARVES_POINTER("alloc_buf", ENOMEM, ibv_alloc_buf(pd, page, &other), ibv_free_buf(other));
	STARVES_POINTER("reg_buf_mr", ENOMEM, ibv_reg_buf_mr(pd, buf, bytes, 64, 0),
			ibv_dereg_mr(made_));
}

static void queues(void)
{
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 4 };
	struct ibv_comp_cntr_init_attr counting = { .type = IBV_COMP_CNTR_TYPE_WRS };
	struct ibv_srq_init_attr srq_init = { .attr = { 2, 2, 0 } };
	struct ibv_srq_init_attr_ex srq_attr = {
		.attr = { 2, 2, 0 }, .comp_mask = IBV_SRQ_INIT_ATTR_PD,
	};
	struct ibv_srq_attr more = { .max_wr = 9 };
	struct ibv_qp_init_attr init = { .cap = { 2, 2, 2, 2, 16 }, .qp_type = IBV_QPT_RC };
	struct ibv_qp_init_attr_ex attr = {
		.cap = { 2, 2, 2, 2, 16 }, .qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	};
	struct ibv_qp_open_attr open_attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	STARVES_POINTER("create_comp_channel", ENOMEM, ibv_create_comp_channel(context),
			ibv_destroy_comp_channel(made_));
	STARVES_POINTER("create_cq", ENOMEM, ibv_create_cq(context, 4, NULL, NULL, 0),
			ibv_destroy_cq(made_));
	STARVES_POINTER("create_cq_ex", ENOMEM, ibv_create_cq_ex(context, &cq_attr),
			ibv_destroy_cq(made_));
	STARVES_POINTER("create_comp_cntr", ENOMEM, ibv_create_comp_cntr(context, &counting),
			ibv_destroy_comp_cntr(made_));
	STARVES_POINTER("create_srq", ENOMEM, ibv_create_srq(pd, &srq_init),
			ibv_destroy_srq(made_));
	STARVES_POINTER("create_srq_ex", ENOMEM,
			(srq_attr.pd = pd, ibv_create_srq_ex(context, &srq_attr)),
			ibv_destroy_srq(made_));
	STARVES_NUMBER("modify_srq", ENOMEM,
		       (more.max_wr ^= 16, ibv_modify_srq(srq, &more, IBV_SRQ_MAX_WR)));
	STARVES_POINTER("create_qp", ENOMEM,
			(init.send_cq = init.recv_cq = cq, ibv_create_qp(pd, &init)),
			ibv_destroy_qp(made_));
	STARVES_POINTER("create_qp_ex", ENOMEM,
			(attr.send_cq = attr.recv_cq = cq, attr.pd = pd,
			 ibv_create_qp_ex(context, &attr)),
			ibv_destroy_qp(made_));
	STARVES_POINTER("open_qp", ENOMEM,
			(open_attr.qp_num = receiver, open_attr.xrcd = xrcd,
			 ibv_open_qp(context, &open_attr)),
			ibv_destroy_qp(made_));
}

/* No descriptor is left: what needs one says so, and leaks nothing. */
static void descriptors(void)
{
	struct ibv_alloc_dm_attr dm_attr = { .length = 64 };
	struct rlimit limit, less;
	char wrong[1024] = "";
	char text[16];
	int next;

	prepare();
	next = dup(0);
	NEED(next >= 0 && !close(next) && !getrlimit(RLIMIT_NOFILE, &limit));
	less = limit;
	less.rlim_cur = next;
	NEED(!setrlimit(RLIMIT_NOFILE, &less));
	REFUSES_POINTER("open_device: no descriptor", EMFILE, NULL,
			ibv_open_device(context->device));
	REFUSES_POINTER("create_comp_channel: no descriptor", EMFILE, NULL,
			ibv_create_comp_channel(context));
	REFUSES_POINTER("alloc_dm: no descriptor", EMFILE, NULL, ibv_alloc_dm(context, &dm_attr));
	REFUSES("dm_export_dmabuf_fd: no descriptor", EMFILE, NULL, ibv_dm_export_dmabuf_fd(dm));
	REFUSES("read_sysfs_file: no descriptor", EMFILE, NULL,
		ibv_read_sysfs_file("/proc/self", "stat", text, sizeof(text)));
	/* What can be found without one is nothing. */
	REFUSES_POINTER("get_device_list: no descriptor", ENOSYS, NULL, ibv_get_device_list(NULL));
	/* With some, a device opens or does not, and what it has opened is closed again. */
	for (int some = 1; some < 20; some++) {
		struct ibv_context *other;

		less.rlim_cur = next + some;
		NEED(!setrlimit(RLIMIT_NOFILE, &less));
		other = ibv_open_device(context->device);
		if (!other && errno != EMFILE)
			add(wrong, "%s with %d; ", strerrorname_np(errno), some);
		if (other && ibv_close_device(other))
			add(wrong, "it does not close with %d; ", some);
		NEED(!setrlimit(RLIMIT_NOFILE, &limit));
		if (dup(0) != next)
			add(wrong, "one is left with %d; ", some);
		close(next);
		if (other && some > 10)
			break;
	}
	report("open_device: few descriptors", wrong);
}

/* A buffer with a descriptor, which cannot be copied. */
static void buffers(void)
{
	struct ibv_parent_domain_init_attr attr = {
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC,
	};
	struct rlimit limit;
	int next;

	context = open_device();
	attr.pd = ibv_alloc_pd(context);
	pd = ibv_alloc_parent_domain(context, &attr);
	NEED(pd && ibv_alloc_buf(pd, page, &buf));
	next = dup(0);
	NEED(next >= 0 && !close(next) && !getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = next;
	NEED(!setrlimit(RLIMIT_NOFILE, &limit));
	REFUSES("export_buf_dmabuf_fd: no descriptor", EMFILE, NULL, ibv_export_buf_dmabuf_fd(buf));
}

/* From now on no thread can be made. */
static void no_threads(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	NEED(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	     !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

/* Regions for atomics need a thread of the process. */
static void threads(void)
{
	static const char line[] = "registration: no thread for the atomic*";
	const int plain = ALL_ACCESS & ~IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_modify_cq_attr moderate = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = 4, .cq_period = 100 },
	};
	struct ibv_mr_init_attr attr = {
		.length = page, .access = ALL_ACCESS, .addr = pages, .comp_mask = IBV_REG_MR_MASK_ADDR,
	};

	no_threads();
	context = open_device();
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 4, NULL, ibv_create_comp_channel(context), 0);
	NEED(pd && cq);
	mr = ibv_reg_mr(pd, pages, page, plain);
	NEED(mr);
	REFUSES_POINTER("reg_mr: no thread", EAGAIN, line, (ibv_reg_mr)(pd, pages, page, ALL_ACCESS));
	REFUSES_POINTER("reg_mr_iova: no thread", EAGAIN, line,
			(ibv_reg_mr_iova)(pd, pages, page, 0, ALL_ACCESS));
	REFUSES_POINTER("reg_mr_iova2: no thread", EAGAIN, line,
			ibv_reg_mr_iova2(pd, pages, page, 0, ALL_ACCESS));
	REFUSES_POINTER("__ibv_reg_mr: no thread", EAGAIN, line,
			__ibv_reg_mr(pd, pages, page, ALL_ACCESS, 1));
	REFUSES_POINTER("__ibv_reg_mr_iova: no thread", EAGAIN, line,
			__ibv_reg_mr_iova(pd, pages, page, 0, ALL_ACCESS, 1));
	REFUSES_POINTER("reg_mr_ex: no thread", EAGAIN, line, ibv_reg_mr_ex(pd, &attr));
	REFUSES_NEGATIVE("rereg_mr: no thread", EAGAIN, line,
			 ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL_ACCESS));
	REFUSES("modify_cq: no thread", EAGAIN, "ibv_modify_cq: no thread to watch*",
		ibv_modify_cq(cq, &moderate));
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	open_log();
	page = sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(pages != MAP_FAILED);
	if (!strcmp(mode, "memory")) {
		domains();
		memory();
		queues();
		fork_support();
	} else if (!strcmp(mode, "descriptors")) {
		descriptors();
	} else if (!strcmp(mode, "buffers")) {
		buffers();
	} else if (!strcmp(mode, "threads")) {
		threads();
	}
	return 0;
}
