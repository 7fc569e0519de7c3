/*
 * Destroys a CQ while an event of it is not acknowledged, and acknowledges after some seconds: by
 * then the log should have said who waits for what.
 *
 * usage: waits DEVICE SECONDS
 */
#include "qp.h"

static struct ibv_cq *cq;

static void *destroy(void *unused)
{
	(void)unused;
	CHECK(!ibv_destroy_cq(cq));
	return NULL;
}

int main(int argc, char **argv)
{
	struct ibv_comp_channel *channel;
	struct ibv_qp_init_attr init;
	struct ibv_cq *event;
	struct ibv_qp *qp;
	pthread_t thread;
	struct port port;
	void *context;

	start();
	if (argc != 3)
		return 2;
	open_port(&port, argv[1]);
	channel = NEED(ibv_create_comp_channel(port.context));
	cq = NEED(ibv_create_cq(port.context, 8, NULL, channel, 0));
	init = qp_init(IBV_QPT_RC, cq, NULL);
	qp = NEED(ibv_create_qp(port.pd, &init));
	connect_qp(qp, &port, qp->qp_num);

	struct ibv_send_wr send = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	CHECK(!ibv_req_notify_cq(cq, 0));
	CHECK(!ibv_post_send(qp, &send, &bad));
	CHECK(!ibv_get_cq_event(channel, &event, &context) && event == cq);
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!pthread_create(&thread, NULL, destroy, NULL));
	sleep(atoi(argv[2]));
	ibv_ack_cq_events(cq, 1);
	CHECK(!pthread_join(thread, NULL));
	CHECK(!ibv_destroy_comp_channel(channel));
	close_port(&port);
	return finish();
}
