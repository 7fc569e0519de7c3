/*
 * Completion events and asynchronous events: what arrives, how acknowledgements are counted, and
 * that the destruction of an object waits for them.
 *
 * usage: events DEVICE PEER; PEER is the network interface at the other end of DEVICE's.
 */
#include "qp.h"
#include <fcntl.h>

static struct port port;
static char buffer[4096];
static struct ibv_mr *mr;

struct loop {
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_qp *qp;
};

static void open_loop(struct loop *loop)
{
	struct ibv_qp_init_attr init;

	loop->channel = NEED(ibv_create_comp_channel(port.context));
	loop->send_cq = NEED(ibv_create_cq(port.context, 32, &loop->send_cq, loop->channel, 0));
	loop->recv_cq = NEED(ibv_create_cq(port.context, 32, &loop->recv_cq, loop->channel, 0));
	init = qp_init(IBV_QPT_RC, loop->send_cq, NULL);
	init.recv_cq = loop->recv_cq;
	init.sq_sig_all = 1;
	loop->qp = NEED(ibv_create_qp(port.pd, &init));
	connect_qp(loop->qp, &port, loop->qp->qp_num);
}

static void close_loop(struct loop *loop)
{
	CHECK(!ibv_destroy_qp(loop->qp));
	CHECK(!ibv_destroy_cq(loop->send_cq));
	CHECK(!ibv_destroy_cq(loop->recv_cq));
	CHECK(!ibv_destroy_comp_channel(loop->channel));
}

/* One message to itself, and its two completions. */
static void message(struct loop *loop, unsigned flags)
{
	struct ibv_sge sge = { .addr = (uintptr_t)buffer, .length = 8, .lkey = mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
				    .send_flags = flags }, *bad_send;
	struct ibv_wc wc;

	CHECK(!ibv_post_recv(loop->qp, &recv, &bad_recv));
	CHECK(!ibv_post_send(loop->qp, &send, &bad_send));
	CHECK(poll_for(loop->recv_cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	CHECK(poll_for(loop->send_cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
}

/* Says which CQ the next event is of, if there is one. */
static struct ibv_cq *next_event(struct loop *loop, const char *what)
{
	struct ibv_cq *cq = NULL;
	void *context = NULL;

	if (!readable(loop->channel->fd, 300)) {
		printf("%s: no event\n", what);
		return NULL;
	}
	if (MINUS(what, ibv_get_cq_event(loop->channel, &cq, &context)))
		return NULL;
	printf("  of the %s CQ\n", cq == loop->send_cq ? "send" : cq == loop->recv_cq ? "recv" : "?");
	CHECK(context == cq->cq_context);
	CHECK(context == (cq == loop->send_cq ? (void *)&loop->send_cq : (void *)&loop->recv_cq));
	return cq;
}

static void completion_events(void)
{
	struct loop loop;
	struct ibv_cq *cq;

	section("completion events");
	open_loop(&loop);
	message(&loop, 0);
	next_event(&loop, "not asked for");
	ERR("req_notify", ibv_req_notify_cq(loop.recv_cq, 0));
	message(&loop, 0);
	cq = next_event(&loop, "asked for");
	message(&loop, 0);
	next_event(&loop, "not asked for again");
	CHECK(cq == loop.recv_cq && cq->comp_events_completed == 0);
	ibv_ack_cq_events(cq, 1);
	CHECK(cq->comp_events_completed == 1);
	ibv_ack_cq_events(cq, 0);
	CHECK(cq->comp_events_completed == 1);

	ERR("req_notify, solicited", ibv_req_notify_cq(loop.recv_cq, 1));
	message(&loop, 0);
	next_event(&loop, "unsolicited");
	message(&loop, IBV_SEND_SOLICITED);
	cq = next_event(&loop, "solicited");
	ibv_ack_cq_events(cq, 1);
	ERR("req_notify, solicited", ibv_req_notify_cq(loop.recv_cq, 1));
	ERR("req_notify, any", ibv_req_notify_cq(loop.recv_cq, 0));
	message(&loop, 0);
	cq = next_event(&loop, "any wins");
	ibv_ack_cq_events(cq, 1);
	ERR("req_notify, send", ibv_req_notify_cq(loop.send_cq, 0));
	message(&loop, 0);
	cq = next_event(&loop, "send");
	ibv_ack_cq_events(cq, 1);
	close_loop(&loop);
}

struct destruction {
	int (*destroy)(void *object);
	void *object;
	volatile int result;
	pthread_t thread;
};

static void *destroy_thread(void *argument)
{
	struct destruction *destruction = argument;

	destruction->result = destruction->destroy(destruction->object);
	return NULL;
}

static void begin(struct destruction *destruction, int (*destroy)(void *), void *object)
{
	*destruction = (struct destruction){ .destroy = destroy, .object = object, .result = -1 };
	CHECK(!pthread_create(&destruction->thread, NULL, destroy_thread, destruction));
	usleep(200000);
	printf("destroy %s\n", destruction->result == -1 ? "waits" : "does not wait");
}

static void end(struct destruction *destruction)
{
	CHECK(!pthread_join(destruction->thread, NULL));
	printf("destroy: %s\n", destruction->result ? error_name(destruction->result) : "0");
}

static int destroy_cq(void *object)
{
	return ibv_destroy_cq(object);
}

static int destroy_srq(void *object)
{
	return ibv_destroy_srq(object);
}

static int destroy_qp(void *object)
{
	return ibv_destroy_qp(object);
}

static void unacknowledged(void)
{
	struct loop loop;
	struct destruction destruction;
	struct ibv_cq *cq = NULL;

	section("destroy waits for acknowledgements");
	open_loop(&loop);
	for (int i = 0; i < 3; i++) {
		CHECK(!ibv_req_notify_cq(loop.recv_cq, 0));
		message(&loop, 0);
		cq = next_event(&loop, "event");
	}
	CHECK(cq == loop.recv_cq);
	CHECK(!ibv_destroy_qp(loop.qp));
	begin(&destruction, destroy_cq, cq);
	ibv_ack_cq_events(cq, 2);
	usleep(200000);
	printf("after two of three: %s\n", destruction.result == -1 ? "waits" : "does not wait");
	printf("references %d\n", loop.channel->refcnt);
	ibv_ack_cq_events(cq, 1);
	end(&destruction);
	printf("references %d\n", loop.channel->refcnt);

	/* An event that nobody read is none to be acknowledged: it goes with its CQ. */
	open_loop(&loop);
	CHECK(!ibv_req_notify_cq(loop.recv_cq, 0));
	message(&loop, 0);
	CHECK(readable(loop.channel->fd, 1000));
	CHECK(!ibv_destroy_qp(loop.qp));
	ERR("destroy_cq, event not read", ibv_destroy_cq(loop.recv_cq));
	printf("channel %s\n", readable(loop.channel->fd, 100) ? "has an event" : "is empty");
	CHECK(!ibv_destroy_cq(loop.send_cq));
	CHECK(!ibv_destroy_comp_channel(loop.channel));
}

static bool next_async(struct ibv_context *context, struct ibv_async_event *event)
{
	memset(event, 0xa5, sizeof(*event));
	if (!readable(context->async_fd, 1000))
		return false;
	if (ibv_get_async_event(context, event)) {
		printf("get_async_event: %s\n", error_name(errno));
		return false;
	}
	return true;
}

static void srq_limit(void)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(port.context, 32, NULL, NULL, 0));
	struct ibv_srq_init_attr init = { .srq_context = &mr, .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = NEED(ibv_create_srq(port.pd, &init));
	struct ibv_qp_init_attr qp_attr = qp_init(IBV_QPT_RC, cq, srq);
	struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &qp_attr));
	struct ibv_sge sge = { .addr = (uintptr_t)buffer, .length = 8, .lkey = mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct destruction destruction;
	struct ibv_async_event event;
	struct ibv_wc wc;

	section("SRQ limit");
	connect_qp(qp, &port, qp->qp_num);
	for (int i = 0; i < 3; i++)
		CHECK(!ibv_post_srq_recv(srq, &recv, &bad_recv));
	ERR("modify_srq", ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	for (int i = 0; i < 2; i++) {
		CHECK(!ibv_post_send(qp, &send, &bad));
		CHECK(poll_for(cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	}
	if (next_async(port.context, &event)) {
		printf("%s\n", ibv_event_type_str(event.event_type));
		CHECK(event.element.srq == srq);
		CHECK(!ibv_query_srq(srq, &attr));
		printf("limit now %u\n", attr.srq_limit);
		CHECK(!ibv_destroy_qp(qp));
		begin(&destruction, destroy_srq, srq);
		ibv_ack_async_event(&event);
		end(&destruction);
	} else {
		printf("no event\n");
		CHECK(!ibv_destroy_qp(qp));
		CHECK(!ibv_destroy_srq(srq));
	}
	CHECK(!ibv_destroy_cq(cq));
}

static void overrun(void)
{
	struct ibv_cq *small = NEED(ibv_create_cq(port.context, 1, NULL, NULL, 0));
	struct ibv_cq *cq = NEED(ibv_create_cq(port.context, 32, NULL, NULL, 0));
	struct ibv_qp_init_attr init = qp_init(IBV_QPT_RC, small, NULL);
	struct ibv_qp *qp;
	struct ibv_sge sge = { .addr = (uintptr_t)buffer, .length = 8, .lkey = mr->lkey };
	struct ibv_send_wr send = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
				    .send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_async_event event, first = { .event_type = IBV_EVENT_PORT_ERR };
	struct destruction destruction;
	int count = 0;

	section("CQ overrun");
	init.recv_cq = cq;
	qp = NEED(ibv_create_qp(port.pd, &init));
	connect_qp(qp, &port, qp->qp_num);
	send.wr.rdma.remote_addr = (uintptr_t)buffer;
	send.wr.rdma.rkey = mr->rkey;
	for (int i = 0; i < 4; i++)
		CHECK(!ibv_post_send(qp, &send, &bad));
	while (next_async(port.context, &event)) {
		if (!count++) {
			printf("%s\n", ibv_event_type_str(event.event_type));
			CHECK(event.element.cq == small);
			first = event;
		} else {
			ibv_ack_async_event(&event);
		}
	}
	CHECK(!ibv_destroy_qp(qp));
	begin(&destruction, destroy_cq, small);
	ibv_ack_async_event(&first);
	end(&destruction);
	CHECK(!ibv_destroy_cq(cq));
}

static void last_wqe(void)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(port.context, 32, NULL, NULL, 0));
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_srq *srq = NEED(ibv_create_srq(port.pd, &init));
	struct ibv_qp_init_attr qp_attr = qp_init(IBV_QPT_RC, cq, srq);
	struct ibv_qp *qp = NEED(ibv_create_qp(port.pd, &qp_attr));
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct destruction destruction;
	struct ibv_async_event event;

	section("last WQE");
	connect_qp(qp, &port, qp->qp_num);
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	NEED(next_async(port.context, &event));
	printf("%s\n", ibv_event_type_str(event.event_type));
	CHECK(event.element.qp == qp && qp->events_completed == 0);
	begin(&destruction, destroy_qp, qp);
	ibv_ack_async_event(&event);
	end(&destruction);
	CHECK(!ibv_destroy_srq(srq));
	CHECK(!ibv_destroy_cq(cq));
}

/* Shows which port events come when the link goes and comes back, in the order of their numbers. */
static void port_events(const char *peer)
{
	struct ibv_async_event event;
	char command[64];

	for (int up = 0; up < 2; up++) {
		bool seen[64] = { false };

		printf("== link %s\n", up ? "up" : "down");
		snprintf(command, sizeof(command), "ip link set %s %s", peer, up ? "up" : "down");
		CHECK(!system(command));
		while (next_async(port.context, &event)) {
			if ((unsigned)event.event_type < 64)
				seen[event.event_type] = true;
			CHECK(event.element.port_num == 1);
			ibv_ack_async_event(&event);
		}
		for (int type = 0; type < 64; type++)
			if (seen[type])
				printf("%s\n", ibv_event_type_str(type));
		struct ibv_port_attr attr;
		CHECK(!ibv_query_port(port.context, 1, &attr));
		printf("port state %s\n", ibv_port_state_str(attr.state));
	}
}

/* Two contexts have events of their own; a blocking read is ended by an event. */
static void *wait_event(void *argument)
{
	struct ibv_async_event event;
	struct ibv_context *context = argument;

	if (ibv_get_async_event(context, &event))
		return NULL;
	ibv_ack_async_event(&event);
	return (void *)(uintptr_t)(event.event_type + 1);
}

static void blocking(const char *device, const char *peer)
{
	struct ibv_context *context = open_device(device);
	pthread_t thread;
	void *result;
	char command[128];

	section("blocking wait");
	CHECK(!pthread_create(&thread, NULL, wait_event, context));
	usleep(100000);
	snprintf(command, sizeof(command), "ip link set %s down; ip link set %s up", peer, peer);
	CHECK(!system(command));
	CHECK(!pthread_join(thread, &result));
	printf("woken: %s\n", result ? "yes" : "no");
	MINUS("close", ibv_close_device(context));
}

int main(int argc, char **argv)
{
	start();
	if (argc != 3)
		return 2;
	open_port(&port, argv[1]);
	mr = NEED(ibv_reg_mr(port.pd, buffer, sizeof(buffer), ALL_ACCESS));
	completion_events();
	unacknowledged();
	srq_limit();
	overrun();
	last_wqe();
	port_events(argv[2]);
	blocking(argv[1], argv[2]);
	CHECK(!ibv_dereg_mr(mr));
	close_port(&port);
	return finish();
}
