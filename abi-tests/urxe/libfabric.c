/*
 * libfabric's datagram endpoints (FI_EP_DGRAM of its provider verbs) over the device inside the
 * library, without an event queue, which is what needs the connection manager's character device.
 * Two processes tell each other their addresses (FI_ADDR_IB_UD) over TCP, and send datagrams of all
 * sizes in both directions; every byte is compared.
 *
 * usage: libfabric DOMAIN MESSAGES SEED
 *
 * A process prints how many bytes it compared, and exits with 1 if something was not as it should
 * be.
 */
#define _GNU_SOURCE
#include "bytes.h"
#include <arpa/inet.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW = 32, GAP_BYTES = 128, SECONDS = 20, UNTOUCHED = 0xa5 };

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_ep *endpoint;
static struct fid_cq *sends, *receives;
static struct fid_av *addresses;
static struct fid_mr *region;
static fi_addr_t peer;
static int tcp, side;
static uint8_t *memory;
/* Bytes of the longest message, of what the provider wants in front of one that is sent and of one
 * that comes (the GRH), and of a place for them. */
static size_t longest, send_prefix, prefix, place_bytes;
/* What the library wants to keep with each request. */
static struct fi_context2 contexts[2 * WINDOW];

#define NEED(it)                                                                                   \
	do {                                                                                       \
		if (!(it)) {                                                                       \
			fprintf(stderr, "side %d, line %d: %s\n", side, __LINE__, #it);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

#define WORKS(call)                                                                                \
	do {                                                                                       \
		int status_ = (int)(call);                                                         \
		if (status_) {                                                                     \
			fprintf(stderr, "side %d: %s: %s\n", side, #call, fi_strerror(-status_));  \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* The place of a receive, or, from WINDOW on, of a send. */
static uint8_t *place_of(size_t index)
{
	return memory + index * place_bytes;
}

/* Connects the two processes. */
static void connect_tcp(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	NEED(listener >= 0 && !bind(listener, (struct sockaddr *)&address, length));
	NEED(!listen(listener, 1) && !getsockname(listener, (struct sockaddr *)&address, &length));
	side = fork() == 0;
	if (side == 0) {
		tcp = accept(listener, NULL, NULL);
		NEED(tcp >= 0);
	} else {
		tcp = socket(AF_INET, SOCK_STREAM, 0);
		NEED(tcp >= 0 && !connect(tcp, (struct sockaddr *)&address, length));
	}
	close(listener);
}

/* Gives the peer some bytes and takes as many. */
static void exchange(const void *mine, void *its, size_t length)
{
	NEED(write(tcp, mine, length) == (ssize_t)length);
	NEED(recv(tcp, its, length, MSG_WAITALL) == (ssize_t)length);
}

static void open_endpoint(const char *name)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_DATA, .size = 4 * WINDOW };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	uint8_t mine[64] = { 0 }, its[64];
	size_t length = sizeof(mine);

	NEED(hints);
	hints->caps = FI_MSG;
	hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_MSG_PREFIX | FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->addr_format = FI_ADDR_IB_UD;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	hints->domain_attr->name = strdup(name);
	hints->fabric_attr->prov_name = strdup("verbs");
	WORKS(fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &info));
	fi_freeinfo(hints);
	NEED(!strcmp(info->fabric_attr->prov_name, "verbs"));
	NEED(!strcmp(info->domain_attr->name, name));
	NEED(info->addr_format == FI_ADDR_IB_UD && info->domain_attr->cq_data_size >= 4);
	WORKS(fi_fabric(info->fabric_attr, &fabric, NULL));
	WORKS(fi_domain(fabric, info, &domain, NULL));
	WORKS(fi_endpoint(domain, info, &endpoint, NULL));
	WORKS(fi_cq_open(domain, &cq, &sends, NULL));
	WORKS(fi_cq_open(domain, &cq, &receives, NULL));
	WORKS(fi_av_open(domain, &av, &addresses, NULL));
	WORKS(fi_ep_bind(endpoint, &sends->fid, FI_TRANSMIT));
	WORKS(fi_ep_bind(endpoint, &receives->fid, FI_RECV));
	WORKS(fi_ep_bind(endpoint, &addresses->fid, 0));
	WORKS(fi_enable(endpoint));

	if (info->tx_attr->mode & FI_MSG_PREFIX)
		send_prefix = info->ep_attr->msg_prefix_size;
	if (info->rx_attr->mode & FI_MSG_PREFIX)
		prefix = info->ep_attr->msg_prefix_size;
	longest = info->ep_attr->max_msg_size - send_prefix;
	place_bytes = (prefix + longest + GAP_BYTES + 63) & ~(size_t)63;
	NEED(!posix_memalign((void **)&memory, 4096, 2 * WINDOW * place_bytes));
	WORKS(fi_mr_reg(domain, memory, 2 * WINDOW * place_bytes, FI_SEND | FI_RECV, 0, 0, 0,
			&region, NULL));

	WORKS(fi_getname(&endpoint->fid, mine, &length));
	exchange(mine, its, sizeof(its));
	NEED(memcmp(mine, its, sizeof(its)));
	NEED(fi_av_insert(addresses, its, 1, &peer, 0, NULL) == 1);
}

/* All sizes come, each after another that is far from it. */
static size_t size_of(uint32_t number)
{
	return (number * 2027ULL + number / 5) % (longest + 1);
}

static uint32_t seed_of(int from, uint32_t number, uint32_t seed)
{
	return seed + 2 * number + from;
}

static void post_receive(uint32_t number)
{
	size_t index = number % WINDOW;

	memset(place_of(index), UNTOUCHED, place_bytes);
	WORKS(fi_recv(endpoint, place_of(index), prefix + longest, fi_mr_desc(region),
		      FI_ADDR_UNSPEC, &contexts[index]));
}

/* Sends one message by one of the ways that there are; how many completions it will give. */
static int post_send(uint32_t number, uint32_t seed)
{
	size_t size = size_of(number), index = WINDOW + number % WINDOW;
	uint8_t *place = place_of(index);
	void *desc[2] = { fi_mr_desc(region), fi_mr_desc(region) };
	struct iovec list[2] = { { place, send_prefix + size / 3 },
				 { place + send_prefix + size / 3, size - size / 3 } };
	struct fi_msg message = { .msg_iov = list, .desc = desc, .iov_count = 2, .addr = peer,
				  .context = &contexts[index], .data = number };

	memset(place, 0, send_prefix);
	put_bytes(place + send_prefix, size, seed_of(side, number, seed), 0);
	if (number % 3 == 0 && send_prefix + size <= info->tx_attr->inject_size) {
		WORKS(fi_injectdata(endpoint, place, send_prefix + size, number, peer));
		/* It need not stay as it is. */
		memset(place, 0xee, send_prefix + size);
		return 0;
	}
	if (number % 3 == 1 && info->tx_attr->iov_limit >= 2)
		WORKS(fi_sendmsg(endpoint, &message, FI_REMOTE_CQ_DATA | FI_COMPLETION));
	else
		WORKS(fi_senddata(endpoint, place, send_prefix + size, desc[0], number, peer,
				  &contexts[index]));
	return 1;
}

/* A completion, if there is one. */
static bool poll_cq(struct fid_cq *cq, struct fi_cq_data_entry *entry)
{
	ssize_t found = fi_cq_read(cq, entry, 1);
	struct fi_cq_err_entry error = { 0 };

	if (found == -FI_EAVAIL && fi_cq_readerr(cq, &error, 0) > 0)
		fprintf(stderr, "side %d: %s\n", side,
			fi_cq_strerror(cq, error.prov_errno, error.err_data, NULL, 0));
	NEED(found == 1 || found == -FI_EAGAIN);
	return found == 1;
}

static void check_receive(const struct fi_cq_data_entry *entry, uint32_t number, uint32_t seed)
{
	size_t index = number % WINDOW, size = size_of(number), good;
	const uint8_t *place = place_of(index), *bytes = place + prefix;

	NEED(entry->op_context == &contexts[index]);
	NEED(entry->flags & FI_REMOTE_CQ_DATA && entry->data == number);
	NEED(entry->len == prefix + size);
	good = check_bytes(bytes, size, seed_of(!side, number, seed), 0);
	if (good < size)
		fprintf(stderr, "side %d: byte %zu of message %u is 0x%02x\n", side, good, number,
			bytes[good]);
	NEED(good == size);
	for (size_t i = prefix + size; i < place_bytes; i++)
		NEED(place[i] == UNTOUCHED);
}

int main(int argc, char **argv)
{
	uint32_t messages, seed, sent = 0, came = 0;
	uint64_t compared = 0;
	int under_way = 0, status = 0;
	time_t begun = time(NULL);
	char ready = 0;

	if (argc != 4)
		return 2;
	messages = strtoul(argv[2], NULL, 0);
	seed = strtoul(argv[3], NULL, 0);
	make_bytes();
	connect_tcp();
	open_endpoint(argv[1]);
	/* A datagram without a receive is lost, so at most WINDOW are on their way. */
	for (uint32_t i = 0; i < WINDOW; i++)
		post_receive(i);
	exchange(&ready, &ready, 1);
	while (came < messages || under_way) {
		struct fi_cq_data_entry entry;

		NEED(time(NULL) - begun < SECONDS);
		/* What has come tells that the peer has posted as many receives anew. */
		while (sent < messages && sent < came + WINDOW / 2 && under_way < WINDOW / 2)
			under_way += post_send(sent++, seed);
		if (poll_cq(sends, &entry))
			under_way--;
		if (came < messages && poll_cq(receives, &entry)) {
			check_receive(&entry, came, seed);
			compared += size_of(came);
			post_receive(came++ + WINDOW);
		}
	}
	exchange(&ready, &ready, 1);
	WORKS(fi_close(&endpoint->fid));
	WORKS(fi_close(&region->fid));
	WORKS(fi_close(&addresses->fid));
	WORKS(fi_close(&receives->fid));
	WORKS(fi_close(&sends->fid));
	WORKS(fi_close(&domain->fid));
	WORKS(fi_close(&fabric->fid));
	printf("%u messages up to %zu bytes, %llu bytes compared, 0 wrong\n", came, longest,
	       (unsigned long long)compared);
	fflush(stdout);
	if (side)
		_exit(0);
	NEED(wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status));
	return 0;
}
