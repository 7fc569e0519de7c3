/*
 * Completion queues and channels: arguments that must be refused, limits, and objects that are
 * made with more than asked for.
 *
 * usage: fail_cq DEVICE
 */
#include "qp.h"
#include <fcntl.h>
#include <sys/resource.h>

static struct port port;

static void drop(struct ibv_cq *cq)
{
	if (!cq)
		return;
	printf("  cqe %d\n", cq->cqe);
	CHECK(cq->context == port.context);
	CHECK(!ibv_destroy_cq(cq));
}

static void create(void)
{
	static const int sizes[] = { INT32_MIN, -1, 0, 1, 2, 3, 100, 32767, 32768, INT32_MAX };
	int vectors = port.context->num_comp_vectors;
	char what[40];

	section("create_cq");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		snprintf(what, sizeof(what), "%d entries", sizes[i]);
		drop(PTR(what, ibv_create_cq(port.context, sizes[i], NULL, NULL, 0)));
	}
	drop(PTR("last vector", ibv_create_cq(port.context, 4, NULL, NULL, vectors - 1)));
	drop(PTR("vector behind the last", ibv_create_cq(port.context, 4, NULL, NULL, vectors)));
	drop(PTR("vector -1", ibv_create_cq(port.context, 4, NULL, NULL, -1)));
	drop(PTR("vector INT_MAX", ibv_create_cq(port.context, 4, NULL, NULL, INT32_MAX)));
}

static void create_ex(void)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 4 };
	char what[60];

	section("create_cq_ex by wc_flags");
	for (int bit = -1; bit < 64; bit++) {
		attr.wc_flags = bit < 0 ? 0 : 1ULL << bit;
		snprintf(what, sizeof(what), "wc_flags 0x%" PRIx64, attr.wc_flags);
		drop((struct ibv_cq *)PTR(what, ibv_create_cq_ex(port.context, &attr)));
	}
	attr.wc_flags = IBV_WC_STANDARD_FLAGS;
	drop((struct ibv_cq *)PTR("standard", ibv_create_cq_ex(port.context, &attr)));

	section("create_cq_ex by comp_mask");
	for (int bit = 0; bit < 32; bit++) {
		attr.comp_mask = 1U << bit;
		snprintf(what, sizeof(what), "comp_mask 0x%x", attr.comp_mask);
		drop((struct ibv_cq *)PTR(what, ibv_create_cq_ex(port.context, &attr)));
	}
	section("create_cq_ex by flags");
	for (int bit = 0; bit < 32; bit++) {
		attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
		attr.flags = 1U << bit;
		snprintf(what, sizeof(what), "flags 0x%x", attr.flags);
		drop((struct ibv_cq *)PTR(what, ibv_create_cq_ex(port.context, &attr)));
	}
	attr.comp_mask = 0;
	attr.flags = -1U;
	attr.parent_domain = (void *)8;
	drop((struct ibv_cq *)PTR("garbage behind the mask", ibv_create_cq_ex(port.context, &attr)));
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	attr.parent_domain = port.pd;
	attr.flags = 0;
	drop((struct ibv_cq *)PTR("a plain PD", ibv_create_cq_ex(port.context, &attr)));
	attr.comp_mask = 0;
	attr.comp_vector = port.context->num_comp_vectors;
	drop((struct ibv_cq *)PTR("bad vector", ibv_create_cq_ex(port.context, &attr)));
	attr.comp_vector = 0;
	attr.cqe = -1U;
	drop((struct ibv_cq *)PTR("too many entries", ibv_create_cq_ex(port.context, &attr)));
	attr.cqe = 0;
	drop((struct ibv_cq *)PTR("no entries", ibv_create_cq_ex(port.context, &attr)));
}

static void resize(void)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(port.context, 10, NULL, NULL, 0));
	static const int sizes[] = { 100, 10, 5, 0, -1, 32767, 32768, INT32_MAX, 50 };
	char what[40];

	section("resize_cq");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		snprintf(what, sizeof(what), "%d entries", sizes[i]);
		ERR(what, ibv_resize_cq(cq, sizes[i]));
		printf("  cqe %d\n", cq->cqe);
	}
	drop(cq);
}

static void modify(void)
{
	struct ibv_cq *cq = NEED(ibv_create_cq(port.context, 10, NULL, NULL, 0));
	struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE,
					   .moderate = { .cq_count = 4, .cq_period = 10 } };

	section("modify_cq");
	ERR("moderation", ibv_modify_cq(cq, &attr));
	attr.attr_mask = 0;
	ERR("no mask", ibv_modify_cq(cq, &attr));
	attr.attr_mask = 2;
	ERR("future mask", ibv_modify_cq(cq, &attr));
	attr.attr_mask = -1U;
	ERR("all masks", ibv_modify_cq(cq, &attr));
	drop(cq);
}

static void channel(void)
{
	struct ibv_comp_channel *channel = NEED(ibv_create_comp_channel(port.context));
	struct ibv_cq *cq = NEED(ibv_create_cq(port.context, 10, NULL, channel, 0)), *got = NULL;
	void *context = NULL;
	int kept;

	section("comp_channel");
	CHECK(!fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK));
	CHECK(fcntl(channel->fd, F_GETFD) & FD_CLOEXEC);
	MINUS("get_cq_event, none", ibv_get_cq_event(channel, &got, &context));
	CHECK(!got && !context);
	kept = channel->fd;
	channel->fd = -1;
	MINUS("get_cq_event, no fd", ibv_get_cq_event(channel, &got, &context));
	drop(PTR("create_cq, no fd", ibv_create_cq(port.context, 10, NULL, channel, 0)));
	channel->fd = port.context->cmd_fd;
	drop(PTR("create_cq, another fd", ibv_create_cq(port.context, 10, NULL, channel, 0)));
	channel->fd = 1000;
	drop(PTR("create_cq, closed fd", ibv_create_cq(port.context, 10, NULL, channel, 0)));
	channel->fd = kept;
	printf("references %d\n", channel->refcnt);
	ibv_ack_cq_events(cq, 0);
	drop(cq);
	CHECK(!ibv_destroy_comp_channel(channel));
}

/* No file descriptor is left: what needs one says so, and leaks nothing. */
static void no_descriptors(void)
{
	struct rlimit limit, less;
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_device **list;
	int next = dup(0);

	close(next);
	section("full table of file descriptors");
	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	less = limit;
	for (int extra = 0; extra < 3; extra++) {
		printf("%d free\n", extra);
		less.rlim_cur = next + extra;
		CHECK(!setrlimit(RLIMIT_NOFILE, &less));
		channel = PTR("create_comp_channel", ibv_create_comp_channel(port.context));
		if (channel)
			CHECK(!ibv_destroy_comp_channel(channel));
		context = PTR("open_device", ibv_open_device(port.context->device));
		if (context)
			ibv_close_device(context);
		list = PTR("get_device_list", ibv_get_device_list(NULL));
		if (list)
			ibv_free_device_list(list);
		CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
		CHECK(dup(0) == next);
		close(next);
	}
}

int main(int argc, char **argv)
{
	start();
	if (argc != 2)
		return 2;
	open_port(&port, argv[1]);
	create();
	create_ex();
	resize();
	modify();
	channel();
	no_descriptors();
	close_port(&port);
	return finish();
}
