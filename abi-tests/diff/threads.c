/*
 * Eight threads at once: lists, opening and closing, objects of a shared context and of their own,
 * data on queue pairs of their own. Nothing may be lost, and all is counted.
 *
 * usage: threads DEVICE [ROUNDS]
 */
#include "qp.h"

enum { THREADS = 8 };

static const char *name;
static int rounds = 20;
static struct port port;
static pthread_barrier_t barrier;

struct tally {
	int lists, opens, objects, messages;
};

/* A message over a new queue pair, and all its objects gone again. */
static void one_message(const struct port *at, struct tally *tally)
{
	uint64_t words[16] = { 0x0123456789abcdef };
	struct ibv_mr *mr = NEED(ibv_reg_mr(at->pd, words, sizeof(words), ALL_ACCESS));
	struct ibv_comp_channel *channel = NEED(ibv_create_comp_channel(at->context));
	struct ibv_cq *cq = NEED(ibv_create_cq(at->context, 8, words, channel, 0)), *event;
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, cq, NULL);
	struct ibv_qp *qp = NEED(ibv_create_qp(at->pd, &init));
	struct ibv_sge from = { .addr = (uintptr_t)&words[0], .length = 8, .lkey = mr->lkey };
	struct ibv_sge to = { .addr = (uintptr_t)&words[8], .length = 8, .lkey = mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = { .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED }, *bad_send;
	void *context;
	struct ibv_wc wc[2];

	connect_qp(qp, at, qp->qp_num);
	CHECK(!ibv_req_notify_cq(cq, 0));
	CHECK(!ibv_post_recv(qp, &recv, &bad_recv));
	CHECK(!ibv_post_send(qp, &send, &bad_send));
	CHECK(!ibv_get_cq_event(channel, &event, &context) && event == cq && context == words);
	CHECK(poll_for(cq, 2, wc) == 2);
	CHECK(wc[0].status == IBV_WC_SUCCESS && wc[1].status == IBV_WC_SUCCESS);
	CHECK(words[8] == words[0]);
	tally->messages++;
	ibv_ack_cq_events(cq, 1);
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_cq(cq));
	CHECK(!ibv_destroy_comp_channel(channel));
	CHECK(!ibv_dereg_mr(mr));
	tally->objects += 5;
}

static void *work(void *argument)
{
	struct tally *tally = argument;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < rounds; i++) {
		struct ibv_device **list = NEED(ibv_get_device_list(NULL));
		struct port own;

		tally->lists++;
		own.context = NEED(ibv_open_device(NEED(find_device(list, name))));
		ibv_free_device_list(list);
		tally->opens++;
		CHECK(own.context->device == port.context->device);
		own.pd = NEED(ibv_alloc_pd(own.context));
		own.gid = port.gid;
		own.gid_index = port.gid_index;
		one_message(i % 2 ? &own : &port, tally);
		CHECK(!ibv_dealloc_pd(own.pd));
		CHECK(!ibv_close_device(own.context));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct tally tally[THREADS] = { 0 }, sum = { 0 };
	pthread_t thread[THREADS];

	start();
	if (argc < 2)
		return 2;
	name = argv[1];
	if (argc > 2)
		rounds = atoi(argv[2]);
	open_port(&port, name);
	CHECK(!pthread_barrier_init(&barrier, NULL, THREADS));
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, work, &tally[i]));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		sum.lists += tally[i].lists;
		sum.opens += tally[i].opens;
		sum.objects += tally[i].objects;
		sum.messages += tally[i].messages;
	}
	close_port(&port);
	printf("%d lists, %d opens, %d objects, %d messages\n", sum.lists, sum.opens, sum.objects,
	       sum.messages);
	return finish();
}
