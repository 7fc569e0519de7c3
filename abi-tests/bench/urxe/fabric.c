/*
 * libfabric's shared memory provider, used as verbs.c uses the device.
 *
 * usage: fabric TEST SIZE SECONDS CPU CPU
 *
 *   tag-lat  one way of a tagged message and back, µs
 *   tag-bw   tagged messages, GB/s, or millions a second below 4 KiB
 */
#include "common.h"
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

enum { GROUP = 32, DEPTH = 256, RECEIVES = 512, TAG = 1 };

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_ep *endpoint;
static struct fid_cq *send_cq, *recv_cq;
static struct fid_av *addresses;
static fi_addr_t peer;
static struct fi_context2 contexts[2];
static char *memory;
static size_t size;

#define WORKS(call)                                                                                \
	do {                                                                                       \
		int status_ = (int)(call);                                                         \
		if (status_) {                                                                     \
			fprintf(stderr, "%s: %s\n", #call, fi_strerror(-status_));                 \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void open_endpoint(void)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_CONTEXT, .size = 2 * RECEIVES };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	size_t length = sizeof(between->told[0]);

	NEED(hints);
	hints->caps = FI_TAGGED;
	hints->mode = FI_CONTEXT;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup("shm");
	WORKS(fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &info));
	fi_freeinfo(hints);
	WORKS(fi_fabric(info->fabric_attr, &fabric, NULL));
	WORKS(fi_domain(fabric, info, &domain, NULL));
	WORKS(fi_endpoint(domain, info, &endpoint, NULL));
	WORKS(fi_cq_open(domain, &cq, &send_cq, NULL));
	WORKS(fi_cq_open(domain, &cq, &recv_cq, NULL));
	WORKS(fi_av_open(domain, &av, &addresses, NULL));
	WORKS(fi_ep_bind(endpoint, &send_cq->fid, FI_TRANSMIT));
	WORKS(fi_ep_bind(endpoint, &recv_cq->fid, FI_RECV));
	WORKS(fi_ep_bind(endpoint, &addresses->fid, 0));
	WORKS(fi_enable(endpoint));
	WORKS(fi_getname(&endpoint->fid, between->told[side], &length));
	barrier();
	NEED(fi_av_insert(addresses, between->told[!side], 1, &peer, 0, NULL) == 1);
	memory = ordinary_memory(2 * size);
}

/* Both queues have to be looked at for anything to go on. */
static int poll_cq(struct fid_cq *cq, int most)
{
	struct fi_cq_entry entries[GROUP];
	ssize_t found = fi_cq_read(cq, entries, most < GROUP ? most : GROUP);

	if (found == -FI_EAGAIN)
		return 0;
	NEED(found > 0);
	return found;
}

static void complete(struct fid_cq *cq, int count)
{
	while (count > 0)
		count -= poll_cq(cq, count);
}

static void post_receive(void)
{
	WORKS(fi_trecv(endpoint, memory + size, size, NULL, peer, TAG, 0, &contexts[1]));
}

/* Whether messages are short enough to be posted inline, which completes them at once. */
static bool is_inline(void)
{
	return size <= info->tx_attr->inject_size;
}

/* False when there is no room. */
static bool post_send(void)
{
	ssize_t status = is_inline()
				 ? fi_tinject(endpoint, memory, size, peer, TAG)
				 : fi_tsend(endpoint, memory, size, NULL, peer, TAG, &contexts[0]);

	if (status == -FI_EAGAIN)
		return false;
	WORKS(status);
	return true;
}

static void send_one(void)
{
	while (!post_send())
		poll_cq(recv_cq, 0);
	if (!is_inline())
		complete(send_cq, 1);
}

static void receive_one(void)
{
	complete(recv_cq, 1);
	post_receive();
}

static void latency(void)
{
	post_receive();
	barrier();
	if (side) {
		ANSWERS({
			receive_one();
			send_one();
		});
	} else {
		ROUND_TRIPS({
			send_one();
			receive_one();
		});
	}
}

static void bandwidth(void)
{
	uint64_t posted = 0, done = 0;
	double begin, now;

	if (side)
		for (int i = 0; i < RECEIVES; i++)
			post_receive();
	barrier();
	if (side) {
		for (uint64_t count = 0;;) {
			int found = poll_cq(recv_cq, GROUP);

			for (int i = 0; i < found; i++)
				post_receive();
			if (count / GROUP != (count + found) / GROUP)
				atomic_store_explicit(&between->back, count + found,
						      memory_order_release);
			count += found;
			if (!found && atomic_load_explicit(&between->stop, memory_order_relaxed) &&
			    atomic_load(&between->there) == count)
				break;
		}
		barrier();
		return;
	}
	begin = seconds();
	do {
		for (int i = 0; i < (size >= 1 << 20 ? 8 : 128);) {
			if (posted - done == DEPTH)
				done += poll_cq(send_cq, GROUP);
			if (posted - done < DEPTH &&
			    posted - atomic_load_explicit(&between->back, memory_order_acquire) <
				    RECEIVES - GROUP) {
				if (post_send()) {
					posted++;
					done += is_inline();
					i++;
				} else {
					done += poll_cq(send_cq, GROUP);
				}
			} else if (posted > done) {
				done += poll_cq(send_cq, GROUP);
			}
		}
		now = seconds();
	} while (now - begin < duration);
	complete(send_cq, posted - done);
	atomic_store(&between->there, posted);
	atomic_store(&between->stop, true);
	barrier();
	now = seconds();
	if (size < 4096)
		printf("%.4f\n", posted / (now - begin) / 1e6);
	else
		printf("%.3f\n", posted * (double)size / (now - begin) / 1e9);
}

int main(int argc, char **argv)
{
	if (argc != 6)
		return 2;
	size = strtoul(argv[2], NULL, 0);
	duration = atof(argv[3]);
	cpus[0] = atoi(argv[4]);
	cpus[1] = atoi(argv[5]);
	NEED(size > 0);
	split();
	open_endpoint();
	barrier();
	if (!strcmp(argv[1], "tag-lat"))
		latency();
	else if (!strcmp(argv[1], "tag-bw"))
		bandwidth();
	else
		return 2;
	fflush(stdout);
	barrier();
	fi_close(&endpoint->fid);
	fi_close(&addresses->fid);
	fi_close(&send_cq->fid);
	fi_close(&recv_cq->fid);
	fi_close(&domain->fid);
	fi_close(&fabric->fid);
	fi_freeinfo(info);
	join();
	return 0;
}
