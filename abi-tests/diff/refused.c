/*
 * A device that has gone, and a kernel without memory, as a program sees them: the kernel answers
 * every command with the error, by a filter of system calls, below the real provider.
 *
 * usage: refused DEVICE
 */
#include "qp.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <rdma/rdma_user_ioctl.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct port port;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_qp *qp, *ud;
static struct ibv_mr *mr;
static struct ibv_mw *mw;
static struct ibv_ah *ah;
static struct ibv_ah_attr address;
static struct ibv_srq_init_attr srq_init = { .attr = { 4, 1, 0 } };
static struct ibv_qp_init_attr init;
static union ibv_gid group = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 9 } };
static char memory[4096] __attribute__((aligned(4096)));

static void prepare(const char *name)
{
	open_port(&port, name);
	cq = NEED(ibv_create_cq(port.context, 16, NULL, NULL, 0));
	srq = NEED(ibv_create_srq(port.pd, &srq_init));
	init = qp_init(IBV_QPT_RC, cq, NULL);
	qp = NEED(ibv_create_qp(port.pd, &init));
	init = qp_init(IBV_QPT_UD, cq, NULL);
	ud = NEED(ibv_create_qp(port.pd, &init));
	mr = NEED(ibv_reg_mr(port.pd, memory, sizeof(memory), ALL_ACCESS));
	mw = NEED(ibv_alloc_mw(port.pd, IBV_MW_TYPE_2));
	address = to_gid(&port);
	ah = NEED(ibv_create_ah(port.pd, &address));
}

/* From now on the kernel answers commands with an error, for ever. */
static void refuse(int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RDMA_VERBS_IOCTL, 3, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port.context->cmd_fd, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	      !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

/* A call that returns NULL, and this errno. */
#define NULLS(wanted, call)                                                                        \
	do {                                                                                       \
		void *made_ = PTR(#call, call);                                                    \
		CHECK(!made_ && errno == wanted);                                                  \
	} while (0)

/* A call that returns this error number. */
#define FAILS(wanted, call) CHECK(ERR(#call, call) == wanted)

static void gone(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 4 };
	struct ibv_device_attr device_attr;
	struct ibv_port_attr port_attr;

	section("the device has gone");
	NULLS(EIO, ibv_alloc_pd(port.context));
	FAILS(EIO, ibv_query_device(port.context, &device_attr));
	FAILS(EIO, ___ibv_query_port(port.context, 1, &port_attr));
	NULLS(EIO, ibv_create_comp_channel(port.context));
	NULLS(EIO, ibv_create_cq(port.context, 4, NULL, NULL, 0));
	NULLS(EIO, ibv_create_cq_ex(port.context, &cq_attr));
	FAILS(EIO, ibv_resize_cq(cq, 32));
	NULLS(EIO, ibv_create_srq(port.pd, &srq_init));
	FAILS(EIO, ibv_modify_srq(srq, &(struct ibv_srq_attr){ .max_wr = 8 }, IBV_SRQ_MAX_WR));
	FAILS(EIO, ibv_query_srq(srq, &(struct ibv_srq_attr){ 0 }));
	NULLS(EIO, ibv_create_qp(port.pd, &init));
	FAILS(EIO, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	FAILS(EIO, ibv_query_qp(qp, &attr, IBV_QP_STATE, &(struct ibv_qp_init_attr){ 0 }));
	FAILS(EIO, ibv_attach_mcast(ud, &group, 0));
	FAILS(EIO, ibv_detach_mcast(ud, &group, 0));
	NULLS(EIO, (ibv_reg_mr)(port.pd, memory, sizeof(memory), ALL_ACCESS));
	NULLS(EIO, ibv_alloc_mw(port.pd, IBV_MW_TYPE_1));
	NULLS(EIO, ibv_create_ah(port.pd, &address));
	FAILS(EIO, ibv_destroy_ah(ah));
	FAILS(EIO, ibv_dealloc_mw(mw));
	FAILS(EIO, ibv_dereg_mr(mr));
	FAILS(EIO, ibv_destroy_qp(qp));
	FAILS(EIO, ibv_destroy_srq(srq));
	FAILS(EIO, ibv_destroy_cq(cq));
	FAILS(EIO, ibv_dealloc_pd(port.pd));
	NULLS(EIO, ibv_open_device(port.context->device));
}

static void without_memory(void)
{
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 4 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	section("the kernel has no memory");
	NULLS(ENOMEM, ibv_alloc_pd(port.context));
	NULLS(ENOMEM, ibv_create_comp_channel(port.context));
	NULLS(ENOMEM, ibv_create_cq(port.context, 4, NULL, NULL, 0));
	NULLS(ENOMEM, ibv_create_cq_ex(port.context, &cq_attr));
	FAILS(ENOMEM, ibv_resize_cq(cq, 32));
	NULLS(ENOMEM, ibv_create_srq(port.pd, &srq_init));
	NULLS(ENOMEM, ibv_create_qp(port.pd, &init));
	FAILS(ENOMEM, ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	FAILS(ENOMEM, ibv_query_qp(qp, &attr, IBV_QP_STATE, &(struct ibv_qp_init_attr){ 0 }));
	FAILS(ENOMEM, ibv_attach_mcast(ud, &group, 0));
	NULLS(ENOMEM, (ibv_reg_mr)(port.pd, memory, sizeof(memory), ALL_ACCESS));
	NULLS(ENOMEM, ibv_alloc_mw(port.pd, IBV_MW_TYPE_1));
	NULLS(ENOMEM, ibv_create_ah(port.pd, &address));
	NULLS(ENOMEM, ibv_open_device(port.context->device));
}

/* In a process of its own: there is no way back. */
static void in_child(const char *name, int error, void (*calls)(void))
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		prepare(name);
		refuse(error);
		calls();
		_exit(failed_checks != 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

int main(int argc, char **argv)
{
	start();
	if (argc != 2)
		return 2;
	in_child(argv[1], EIO, gone);
	in_child(argv[1], ENOMEM, without_memory);
	return finish();
}
