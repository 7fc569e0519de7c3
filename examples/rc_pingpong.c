/*
 * A ping-pong over a reliable connection: two processes send a message to and fro.
 *
 *     cc -o rc_pingpong rc_pingpong.c $(pkg-config --cflags --libs libibverbs)
 *     ./rc_pingpong GID_INDEX             the server
 *     ./rc_pingpong GID_INDEX ADDRESS     the client
 *
 * It takes the first device. IBV_DRIVERS=urxe in the environment gives any machine one in software.
 * ibv_devinfo -v lists the GIDs; on Ethernet one that belongs to an IP address is what is wanted.
 */
#include <infiniband/verbs.h>

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 1000
#define SIZE 4096

/* What each side has to know of the other before the queue pairs can talk. */
struct address {
	uint32_t qp_num, psn;
	uint16_t lid; /* the port's address on InfiniBand, 0 on Ethernet */
	union ibv_gid gid;
};

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Verbs that make an object return NULL and set errno if they cannot. */
static void *made(void *object, const char *what)
{
	check(object != NULL, what);
	return object;
}

/* Verbs that return an int return the error number. */
static void zero(int error, const char *what)
{
	errno = error;
	check(!error, what);
}

static struct ibv_context *open_first_device(void)
{
	struct ibv_device **list = made(ibv_get_device_list(NULL), "ibv_get_device_list");
	struct ibv_device *first = made(list[0], "no device");
	struct ibv_context *context = made(ibv_open_device(first), "ibv_open_device");

	ibv_free_device_list(list); /* an open device stays valid */
	return context;
}

/* Any channel will do to tell each other the addresses: here it is a TCP connection. */
static int meet(const char *host)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(18555) };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (host) {
		check(inet_pton(AF_INET, host, &at.sin_addr) == 1, host);
		check(!connect(fd, (struct sockaddr *)&at, sizeof(at)), "connect");
		return fd;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	check(!bind(fd, (struct sockaddr *)&at, sizeof(at)), "bind");
	check(!listen(fd, 1), "listen");
	check((fd = accept(fd, NULL, NULL)) >= 0, "accept");
	return fd;
}

/* One line each way: number of the queue pair, first packet number, LID, the halves of the GID. */
static struct address exchange(int peer, const struct address *mine)
{
	struct address theirs;
	uint64_t prefix, id; /* a GID is in network byte order */
	char line[54];

	sprintf(line, "%06x %06x %04x %016" PRIx64 " %016" PRIx64 "\n", mine->qp_num, mine->psn,
		mine->lid, be64toh(mine->gid.global.subnet_prefix), be64toh(mine->gid.global.interface_id));
	check(send(peer, line, 53, 0) == 53, "send");
	check(recv(peer, line, 53, MSG_WAITALL) == 53, "the other side");
	check(sscanf(line, "%x %x %hx %" SCNx64 " %" SCNx64, &theirs.qp_num, &theirs.psn, &theirs.lid,
		     &prefix, &id) == 5, line);
	theirs.gid.global.subnet_prefix = htobe64(prefix);
	theirs.gid.global.interface_id = htobe64(id);
	return theirs;
}

/* INIT to RTR: it receives. RTR to RTS: it sends. */
static void to_rts(struct ibv_qp *qp, const struct address *mine, const struct address *theirs,
		   uint8_t gid_index)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = theirs->qp_num,
		.rq_psn = theirs->psn, /* the first packet number that is expected */
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12, /* 0.64 ms: how long a sender waits if no receive is posted */
		.ah_attr = { .dlid = theirs->lid, .port_num = 1, .is_global = 1,
			     .grh = { .dgid = theirs->gid, .sgid_index = gid_index, .hop_limit = 64 } },
	};

	zero(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "to RTR");
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = mine->psn;
	attr.timeout = 14;   /* 67 ms: 4.096 us times two to the power of it */
	attr.retry_cnt = 7;  /* so often before the peer is taken for gone */
	attr.rnr_retry = 7;  /* 7 stands for ever */
	attr.max_rd_atomic = 1;
	zero(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			   IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC), "to RTS");
}

/* Waits for a message; completions of our own sends come in between. */
static void wait_for_message(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	do {
		while (!ibv_poll_cq(cq, 1, &wc))
			;
		check(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status));
	} while (wc.opcode != IBV_WC_RECV);
}

int main(int argc, char **argv)
{
	uint8_t gid_index = (uint8_t)atoi(argc > 1 ? argv[1] : "0");
	const char *host = argc > 2 ? argv[2] : NULL;
	int round;

	/* Everything hangs on the context; memory is used only through a registered region. */
	struct ibv_context *context = open_first_device();
	struct ibv_pd *pd = made(ibv_alloc_pd(context), "ibv_alloc_pd");
	char *buffer = calloc(2, SIZE); /* the half that is sent, and the half that is received into */
	struct ibv_mr *mr = made(ibv_reg_mr(pd, buffer, 2 * SIZE, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr");
	struct ibv_cq *cq = made(ibv_create_cq(context, 16, NULL, NULL, 0), "ibv_create_cq");
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = made(ibv_create_qp(pd, &init), "ibv_create_qp");

	struct ibv_sge out = { (uintptr_t)buffer, SIZE, mr->lkey };
	struct ibv_sge in = { (uintptr_t)buffer + SIZE, SIZE, mr->lkey };
	struct ibv_send_wr send = { .sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad_send;
	struct ibv_recv_wr recv = { .sg_list = &in, .num_sge = 1 }, *bad_recv;

	/* RESET to INIT: receives may be posted. One has to be there before the other side sends. */
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	zero(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			   IBV_QP_ACCESS_FLAGS), "to INIT");
	zero(ibv_post_recv(qp, &recv, &bad_recv), "ibv_post_recv");
	struct address mine = { .qp_num = qp->qp_num, .psn = (uint32_t)getpid() & 0xffffff }, theirs;
	struct ibv_port_attr port;
	zero(ibv_query_port(context, 1, &port), "ibv_query_port");
	mine.lid = port.lid;
	zero(ibv_query_gid(context, 1, gid_index, &mine.gid), "ibv_query_gid");
	int peer = meet(host);
	theirs = exchange(peer, &mine);
	to_rts(qp, &mine, &theirs, gid_index);
	exchange(peer, &mine); /* both are ready now */

	clock_t start = clock(); /* a polling process is never idle */
	for (round = 0; round < ROUNDS; round++) {
		memset(buffer, round, SIZE);
		if (host) /* ping */
			zero(ibv_post_send(qp, &send, &bad_send), "ibv_post_send");
		wait_for_message(cq);
		check(buffer[SIZE] == (char)round && buffer[2 * SIZE - 1] == (char)round, "the data");
		zero(ibv_post_recv(qp, &recv, &bad_recv), "ibv_post_recv");
		if (!host) /* pong */
			zero(ibv_post_send(qp, &send, &bad_send), "ibv_post_send");
	}
	clock_t end = clock();
	printf("%s: %d round trips of %d bytes, %.2f us each\n", ibv_get_device_name(context->device),
	       ROUNDS, SIZE, (double)(end - start) * 1e6 / CLOCKS_PER_SEC / ROUNDS);

	exchange(peer, &mine); /* nobody leaves while the other still waits */
	zero(ibv_destroy_qp(qp), "ibv_destroy_qp"); /* in the reverse order */
	zero(ibv_destroy_cq(cq), "ibv_destroy_cq");
	zero(ibv_dereg_mr(mr), "ibv_dereg_mr");
	zero(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	zero(ibv_close_device(context), "ibv_close_device");
}
