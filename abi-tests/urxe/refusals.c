/*
 * Every refusal of a call by the device inside the library: the error number, and the line in the
 * log that explains it. Run with VERBS_LOG_LEVEL=2 and VERBS_LOG_FILE.
 *
 * usage: refusals [confidential|infiniband]: what a device of that kind refuses, by environment
 */
#include "errors.h"
#include <sys/time.h>

static struct ibv_context *context;
static struct ibv_pd *pd, *other_pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr, *other_mr;
static union ibv_gid own_gid;
static char *pages;
static size_t page;

static struct ibv_qp *new_qp(enum ibv_qp_type type, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = { 2, 2, 2, 2, 16 },
		.qp_type = type,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	NEED(qp);
	return qp;
}

/* A QP that is connected to itself. */
static struct ibv_qp *connected_qp(enum ibv_qp_type type)
{
	struct ibv_qp *qp = new_qp(type, NULL);

	connect_to(qp, &(struct end){ .gid = own_gid, .qp_num = qp->qp_num },
		   (struct settings){ 0 });
	return qp;
}

static void device(void)
{
	struct ibv_port_attr port;
	struct ibv_values_ex values = { .comp_mask = 1 << 7 };
	union ibv_gid gid;
	__be16 pkey;
	uint64_t speed;

	REFUSES("query_port: port 2", EINVAL,
		"ibv_query_port: port # of a device that has port # only",
		ibv_query_port(context, 2, &port));
	REFUSES("query_port_speed: port 2", EINVAL,
		"ibv_query_port_speed: port # of a device that has port # only",
		ibv_query_port_speed(context, 2, &speed));
	REFUSES("query_gid: port 2", EINVAL,
		"ibv_query_gid: port # of a device that has port # only",
		ibv_query_gid(context, 2, 0, &gid));
	REFUSES("query_gid: index 99", EINVAL,
		"ibv_query_gid: index # of a GID table of # entries",
		ibv_query_gid(context, 1, 99, &gid));
	REFUSES("query_pkey: port 2", EINVAL,
		"ibv_query_pkey: port # of a device that has port # only",
		ibv_query_pkey(context, 2, 0, &pkey));
	REFUSES("query_pkey: index 1", EINVAL, "ibv_query_pkey: index # of a table of one entry",
		ibv_query_pkey(context, 1, 1, &pkey));
	REFUSES("query_device_ex: a mask", EINVAL, NULL,
		ibv_query_device_ex(context,
				    &(struct ibv_query_device_ex_input){ .comp_mask = 1 },
				    &(struct ibv_device_attr_ex){ 0 }));
	REFUSES("query_rt_values_ex: a mask", EINVAL,
		"ibv_query_rt_values_ex: unknown comp_mask #",
		ibv_query_rt_values_ex(context, &values));
}

static void *no_alloc(struct ibv_pd *domain, void *closure, size_t size, size_t alignment,
		      uint64_t type)
{
	(void)domain, (void)closure, (void)size, (void)alignment, (void)type;
	return NULL;
}

static void domains(void)
{
	struct ibv_td *td = ibv_alloc_td(context, &(struct ibv_td_init_attr){ 0 });
	struct ibv_parent_domain_init_attr parent = { .pd = pd, .td = td };
	struct ibv_pd *domain = ibv_alloc_parent_domain(context, &parent);

	NEED(td && domain);
	REFUSES_POINTER("alloc_td: a mask", EINVAL, "ibv_alloc_td: unknown comp_mask #",
			ibv_alloc_td(context, &(struct ibv_td_init_attr){ .comp_mask = 1 }));
	REFUSES("dealloc_td: in use", EBUSY,
		"ibv_dealloc_td: # parent domains still have the thread domain",
		ibv_dealloc_td(td));
	parent.comp_mask = 1 << 20;
	REFUSES_POINTER("alloc_parent_domain: a mask", EOPNOTSUPP,
			"ibv_alloc_parent_domain: unknown comp_mask #",
			ibv_alloc_parent_domain(context, &parent));
	parent = (struct ibv_parent_domain_init_attr){ .td = td };
	REFUSES_POINTER("alloc_parent_domain: no PD", EINVAL, "ibv_alloc_parent_domain: no PD",
			ibv_alloc_parent_domain(context, &parent));
	parent = (struct ibv_parent_domain_init_attr){
		.pd = pd,
		.alloc = no_alloc,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
	};
	REFUSES_POINTER("alloc_parent_domain: one allocator", EINVAL,
			"ibv_alloc_parent_domain: one of the two allocator functions is missing",
			ibv_alloc_parent_domain(context, &parent));
	REFUSES("dealloc_pd: in use", EBUSY, "ibv_dealloc_pd: # objects of PD # still exist",
		ibv_dealloc_pd(pd));
	REFUSES_POINTER("import_pd: no handle", EINVAL, "ibv_import_pd: there is no PD #",
			ibv_import_pd(context, 0x7fffffff));
	NEED(!ibv_dealloc_pd(domain) && !ibv_dealloc_td(td));
}

/* A region of memory on demand. */
static struct ibv_mr *on_demand(struct ibv_pd *domain, int access)
{
	struct ibv_mr *region = ibv_reg_mr(domain, pages, page, access | IBV_ACCESS_ON_DEMAND);

	NEED(region);
	return region;
}

static int advise(struct ibv_pd *domain, int advice, int flags, uint32_t key, uint64_t beyond)
{
	struct ibv_sge sge = { (uintptr_t)pages + beyond, 16, key };

	return ibv_advise_mr(domain, (enum ibv_advise_mr_advice)advice, flags, &sge, 1);
}

static void regions(void)
{
	struct ibv_mr *null = ibv_alloc_null_mr(pd), *again;
	struct ibv_mr *pageable = on_demand(pd, 0), *writable = on_demand(pd, 1);
	char *gone = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *readable = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const int prefetch = IBV_ADVISE_MR_ADVICE_PREFETCH;

	NEED(null && gone != MAP_FAILED && readable != MAP_FAILED);
	REFUSES_POINTER("reg_mr: unknown access", EINVAL, "registration: unknown access #",
			ibv_reg_mr(pd, pages, page, 1 << 15));
	REFUSES_POINTER("reg_mr: remote write alone", EINVAL,
			"registration: access # lets peers write without local write",
			ibv_reg_mr(pd, pages, page, IBV_ACCESS_REMOTE_WRITE));
	REFUSES_POINTER("reg_mr: remote atomic alone", EINVAL,
			"registration: access # lets peers write without local write",
			ibv_reg_mr(pd, pages, page, IBV_ACCESS_REMOTE_ATOMIC));
	REFUSES_POINTER("reg_mr: no bytes", EINVAL, "registration: # bytes at # are no range",
			ibv_reg_mr(pd, pages, 0, 0));
	REFUSES_POINTER("reg_mr: a range that wraps", EINVAL,
			"registration: # bytes at # are no range",
			ibv_reg_mr(pd, pages, SIZE_MAX, 0));
	REFUSES_POINTER("reg_mr_iova: a range that wraps", EINVAL,
			"registration: # bytes at device address # are no range",
			ibv_reg_mr_iova(pd, pages, page, UINT64_MAX - 5, 0));
	REFUSES_POINTER("reg_mr: memory that is not there", EFAULT,
			"registration: # bytes at # cannot be read: *",
			ibv_reg_mr(pd, gone, page, 0));
	REFUSES_POINTER("reg_mr: memory that cannot be written", EFAULT,
			"registration: # bytes at # cannot be written: *",
			ibv_reg_mr(pd, readable, page, IBV_ACCESS_LOCAL_WRITE));
	REFUSES_NEGATIVE("rereg_mr: no flags", EINVAL, "ibv_rereg_mr: flags #",
		ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0));
	REFUSES_NEGATIVE("rereg_mr: a null region", EINVAL,
		"ibv_rereg_mr: the region is not one of ordinary memory",
		ibv_rereg_mr(null, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 1));
	REFUSES_POINTER("import_mr: no handle", EINVAL, "ibv_import_mr: # is not a region of PD #",
			ibv_import_mr(pd, 0x7fffffff));
	again = ibv_import_mr(pd, mr->handle);
	NEED(again);
	REFUSES("dereg_mr: imported", EINVAL,
		"ibv_dereg_mr: the region was imported; see ibv_unimport_mr(3)",
		ibv_dereg_mr(again));
	ibv_unimport_mr(again);

	REFUSES("advise_mr: unknown advice", EOPNOTSUPP, "ibv_advise_mr: unknown advice #",
		advise(pd, 99, 0, pageable->lkey, 0));
	REFUSES("advise_mr: unknown flags", EINVAL, "ibv_advise_mr: unknown flags #",
		advise(pd, prefetch, 1 << 9, pageable->lkey, 0));
	REFUSES("advise_mr: no key", ENOENT, "ibv_advise_mr: key # is not known",
		advise(pd, prefetch, 1, 0x7fffff00, 0));
	REFUSES("advise_mr: a key of another PD", EPERM, "ibv_advise_mr: key # is of another PD",
		advise(other_pd, prefetch, 1, pageable->lkey, 0));
	REFUSES("advise_mr: a null region", EINVAL,
		"ibv_advise_mr: key # is not of a region of memory",
		advise(pd, prefetch, 1, null->lkey, 0));
	REFUSES("advise_mr: to write without access", EPERM,
		"ibv_advise_mr: key # does not allow to write",
		advise(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 1, pageable->lkey, 0));
	REFUSES("advise_mr: outside", EFAULT,
		"ibv_advise_mr: key # covers # bytes at #: # bytes at # end # bytes behind them",
		advise(pd, prefetch, 1, writable->lkey, page));
	NEED(!ibv_dereg_mr(null) && !ibv_dereg_mr(pageable) && !ibv_dereg_mr(writable));
}

static void dmabufs(void)
{
	int fd = memfd_create("test", 0), access = IBV_ACCESS_LOCAL_WRITE;
	struct ibv_mr_init_attr attr = { .comp_mask = 1 << 20 };
	struct ibv_buf *buf;

	NEED(fd >= 0 && !ftruncate(fd, 2 * page));
	REFUSES_POINTER("reg_dmabuf_mr: on demand", EINVAL,
			"ibv_reg_dmabuf_mr: access # is not for dma-bufs",
			ibv_reg_dmabuf_mr(pd, 0, page, 0, fd, IBV_ACCESS_ON_DEMAND));
	REFUSES_POINTER(
		"reg_dmabuf_mr: behind the end", EINVAL,
		"ibv_reg_dmabuf_mr: # bytes at # are not inside of the file of # bytes",
		ibv_reg_dmabuf_mr(pd, page, 2 * page, 0, fd, access));
	REFUSES_POINTER("reg_dmabuf_mr: within a page", EINVAL,
			"ibv_reg_dmabuf_mr: offset # and iova # differ within a page",
			ibv_reg_dmabuf_mr(pd, 16, 16, 32, fd, access));
	REFUSES_POINTER("reg_dmabuf_mr: no descriptor", EBADF, NULL,
			ibv_reg_dmabuf_mr(pd, 0, page, 0, 9999, access));
	REFUSES_POINTER("reg_mr_ex: a mask", EOPNOTSUPP, "ibv_reg_mr_ex: unknown comp_mask #",
			ibv_reg_mr_ex(pd, &attr));
	attr = (struct ibv_mr_init_attr){ .length = page, .access = access };
	REFUSES_POINTER("reg_mr_ex: nothing to register", EINVAL,
			"ibv_reg_mr_ex: comp_mask # names too much or too little",
			ibv_reg_mr_ex(pd, &attr));
	attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH;
	attr.addr = pages;
	REFUSES_POINTER("reg_mr_ex: no DMA handle", EINVAL,
			"ibv_reg_mr_ex: no DMA handle, or one for memory on demand",
			ibv_reg_mr_ex(pd, &attr));
	REFUSES_POINTER("alloc_buf: no bytes", EINVAL, "ibv_alloc_buf: no bytes",
			ibv_alloc_buf(pd, 0, &buf));
	close(fd);
}

static void handles(void)
{
	struct ibv_dmah_init_attr attr = { .comp_mask = 1 << 9 };
	struct ibv_mr_init_attr region = {
		.length = page,
		.access = 0,
		.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH,
		.addr = pages,
	};
	struct ibv_mr *with_handle;
	struct ibv_dmah *dmah;
	cpu_set_t all, first;

	REFUSES_POINTER("alloc_dmah: a mask", EOPNOTSUPP, "ibv_alloc_dmah: unknown comp_mask #",
			ibv_alloc_dmah(context, &attr));
	attr = (struct ibv_dmah_init_attr){ .comp_mask = IBV_DMAH_INIT_ATTR_MASK_PH, .ph = 4 };
	REFUSES_POINTER("alloc_dmah: a hint of three bits", EINVAL,
			"ibv_alloc_dmah: processing hint # has more than two bits",
			ibv_alloc_dmah(context, &attr));
	attr.comp_mask = IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE;
	attr.tph_mem_type = 9;
	REFUSES_POINTER("alloc_dmah: memory of type 9", EINVAL,
			"ibv_alloc_dmah: there is no memory of type #",
			ibv_alloc_dmah(context, &attr));
	attr.comp_mask = IBV_DMAH_INIT_ATTR_MASK_CPU_ID;
	attr.cpu_id = 100000;
	REFUSES_POINTER("alloc_dmah: no CPU", EINVAL, "ibv_alloc_dmah: there is no CPU #, only #",
			ibv_alloc_dmah(context, &attr));
	NEED(!sched_getaffinity(0, sizeof(all), &all));
	for (attr.cpu_id = 0; !CPU_ISSET(attr.cpu_id, &all); attr.cpu_id++)
		;
	dmah = ibv_alloc_dmah(context, &attr);
	NEED(dmah);
	if (CPU_COUNT(&all) > 1) {
		CPU_ZERO(&first);
		CPU_SET(attr.cpu_id, &first);
		NEED(!sched_setaffinity(0, sizeof(first), &first));
		for (attr.cpu_id++; !CPU_ISSET(attr.cpu_id, &all); attr.cpu_id++)
			;
		REFUSES_POINTER("alloc_dmah: a CPU that is not ours", EPERM,
				"ibv_alloc_dmah: the process may not run on CPU #",
				ibv_alloc_dmah(context, &attr));
		NEED(!sched_setaffinity(0, sizeof(all), &all));
	} else {
		report("alloc_dmah: a CPU that is not ours", "SKIPPED: there is one CPU");
	}
	region.dmah = dmah;
	with_handle = ibv_reg_mr_ex(pd, &region);
	NEED(with_handle);
	REFUSES("dealloc_dmah: in use", EBUSY, "ibv_dealloc_dmah: # regions have the handle",
		ibv_dealloc_dmah(dmah));
	NEED(!ibv_dereg_mr(with_handle) && !ibv_dealloc_dmah(dmah));
}

static void device_memory(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 4096 };
	struct ibv_dm *dm = ibv_alloc_dm(context, &attr), *again;
	const int zero_based = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE;
	struct ibv_mr *region;

	NEED(dm);
	attr.length = 0;
	REFUSES_POINTER("alloc_dm: no bytes", EINVAL,
			"ibv_alloc_dm: # bytes, alignment 2^#, comp_mask #",
			ibv_alloc_dm(context, &attr));
	attr.length = 1 << 23;
	REFUSES_POINTER("alloc_dm: too much", ENOMEM,
			"ibv_alloc_dm: # bytes are more than the # that are left",
			ibv_alloc_dm(context, &attr));
	REFUSES("memcpy_to_dm: outside", EINVAL,
		"ibv_memcpy_to_dm or _from_dm: # bytes at # are not inside of # bytes, or not in "
		"units of #",
		ibv_memcpy_to_dm(dm, 4092, pages, 8));
	REFUSES("memcpy_from_dm: outside", EINVAL,
		"ibv_memcpy_to_dm or _from_dm: # bytes at # are not inside of # bytes, or not in "
		"units of #",
		ibv_memcpy_from_dm(pages, dm, 4096, 8));
	REFUSES_POINTER("reg_dm_mr: not zero-based", EINVAL,
			"ibv_reg_dm_mr: access # is not zero-based, or on demand",
			ibv_reg_dm_mr(pd, dm, 0, 64, IBV_ACCESS_LOCAL_WRITE));
	REFUSES_POINTER("reg_dm_mr: outside", EINVAL,
			"ibv_reg_dm_mr: # bytes at # are not inside of # bytes",
			ibv_reg_dm_mr(pd, dm, 4092, 64, zero_based));
	region = ibv_reg_dm_mr(pd, dm, 0, 64, zero_based);
	NEED(region);
	REFUSES_NEGATIVE("rereg_mr: device memory", EINVAL,
		"ibv_rereg_mr: the region is one of device memory, or a null region",
		ibv_rereg_mr(region, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 1));
	REFUSES("free_dm: in use", EBUSY, "ibv_free_dm: # regions are in the memory",
		ibv_free_dm(dm));
	REFUSES_POINTER("import_dm: no handle", EINVAL, "ibv_import_dm: # is no device memory",
			ibv_import_dm(context, 0x7fffffff));
	again = ibv_import_dm(context, dm->handle);
	NEED(again);
	REFUSES("free_dm: imported", EINVAL,
		"ibv_free_dm: the memory was imported; see ibv_unimport_dm(3)", ibv_free_dm(again));
	ibv_unimport_dm(again);
	NEED(!ibv_dereg_mr(region) && !ibv_free_dm(dm));
}

static void windows(void)
{
	struct ibv_mw *first = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	struct ibv_mw *second = ibv_alloc_mw(pd, IBV_MW_TYPE_2), **all;
	struct ibv_qp *qp = connected_qp(IBV_QPT_RC);
	struct ibv_mw_bind bind = {
		.bind_info = { mr, (uintptr_t)pages, 64, IBV_ACCESS_REMOTE_READ },
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { first, 0, bind.bind_info },
	}, *bad;
	struct ibv_wc wc;
	unsigned count = 0;

	NEED(first && second);
	REFUSES_POINTER("alloc_mw: type 3", EINVAL, "ibv_alloc_mw: there is no window of type #",
			ibv_alloc_mw(pd, (enum ibv_mw_type)3));
	REFUSES("bind_mw: type 2", EINVAL, "ibv_bind_mw: not a window of type 1",
		qp->context->ops.bind_mw(qp, second, &bind));
	REFUSES("post_send: binding a window of type 1", EINVAL,
		"urxe: IBV_WR_BIND_MW is for windows of type 2", ibv_post_send(qp, &wr, &bad));
	NEED(!ibv_bind_mw(qp, first, &bind) && wait_for(cq, &wc) && wc.status == IBV_WC_SUCCESS);
	REFUSES("dereg_mr: a window is bound", EBUSY,
		"ibv_dereg_mr: window # is bound to region #", ibv_dereg_mr(mr));
	REFUSES_NEGATIVE("rereg_mr: a window is bound", EBUSY,
		"ibv_rereg_mr: window # is bound to region #",
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 1));
	NEED(!ibv_dealloc_mw(first) && !ibv_dealloc_mw(second) && !ibv_destroy_qp(qp));
	all = calloc(1 << 18, sizeof(*all));
	NEED(all);
	while (count < 1 << 18 && (all[count] = ibv_alloc_mw(pd, IBV_MW_TYPE_2)))
		count++;
	REFUSES_POINTER("alloc_mw: all keys in use", ENOMEM,
			"registration: no memory for a key, or all # of them are in use",
			ibv_alloc_mw(pd, IBV_MW_TYPE_2));
	while (count)
		NEED(!ibv_dealloc_mw(all[--count]));
	free(all);
}

/* Polls the one completion there is, and asks for the next one. */
static void poll_one(struct ibv_cq_ex *extended)
{
	struct ibv_cq *plain = ibv_cq_ex_to_cq(extended);
	struct ibv_qp_init_attr init = {
		.send_cq = plain, .recv_cq = plain, .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_poll_cq_attr attr = { 0 };

	NEED(qp);
	connect_to(qp, &(struct end){ .gid = own_gid, .qp_num = qp->qp_num },
		   (struct settings){ 0 });
	NEED(!ibv_post_send(qp, &wr, &bad) && !ibv_start_poll(extended, &attr));
	REFUSES("next_poll: no further completion", ENOENT, NULL, ibv_next_poll(extended));
	ibv_end_poll(extended);
	NEED(!ibv_destroy_qp(qp));
}

static void completion_queues(void)
{
	struct ibv_poll_cq_attr poll_attr = { 0 };
	struct ibv_cq_ex *extended;
	struct ibv_cq_init_attr_ex attr = { .cqe = 4, .wc_flags = IBV_WC_EX_WITH_TM_INFO };
	struct ibv_modify_cq_attr moderation = { .attr_mask = 1 << 5 };
	struct ibv_cq *small = ibv_create_cq(context, 4, NULL, NULL, 0);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_qp_init_attr init = {
		.send_cq = small,
		.recv_cq = small,
		.cap = { 4, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp;

	NEED(small);
	qp = ibv_create_qp(pd, &init);
	NEED(qp);
	REFUSES_POINTER("create_cq: no entries", EINVAL, "a CQ has 1 to # entries, not #",
			ibv_create_cq(context, 0, NULL, NULL, 0));
	REFUSES_POINTER("create_cq: too many entries", EINVAL, "a CQ has 1 to # entries, not #",
			ibv_create_cq(context, 1 << 20, NULL, NULL, 0));
	REFUSES_POINTER("create_cq: vector 5", EINVAL,
			"ibv_create_cq: there are # completion vectors, not #",
			ibv_create_cq(context, 4, NULL, NULL, 5));
	REFUSES_POINTER("create_cq_ex: fields", EOPNOTSUPP,
			"ibv_create_cq_ex: the device has no completion fields #",
			verbs_get_ctx(context)->create_cq_ex(context, &attr));
	attr.wc_flags = 0;
	attr.comp_mask = 1 << 20;
	REFUSES_POINTER("create_cq_ex: a mask", EOPNOTSUPP,
			"ibv_create_cq_ex: unknown comp_mask # or flags #",
			verbs_get_ctx(context)->create_cq_ex(context, &attr));
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	attr.parent_domain = pd;
	REFUSES_POINTER("create_cq_ex: a PD that is no parent", EINVAL,
			"ibv_create_cq_ex: parent_domain is not a parent domain",
			ibv_create_cq_ex(context, &attr));
	attr.comp_mask = 0;
	extended = ibv_create_cq_ex(context, &attr);
	NEED(extended);
	REFUSES("start_poll: a mask", EINVAL, NULL,
		ibv_start_poll(extended, &(struct ibv_poll_cq_attr){ .comp_mask = 1 }));
	REFUSES("start_poll: no completion", ENOENT, NULL, ibv_start_poll(extended, &poll_attr));
	poll_one(extended);
	NEED(!ibv_destroy_cq(ibv_cq_ex_to_cq(extended)));
	REFUSES("modify_cq: a mask", EINVAL, "ibv_modify_cq: unknown attr_mask #",
		ibv_modify_cq(small, &moderation));
	REFUSES("resize_cq: no entries", EINVAL, "a CQ has 1 to # entries, not #",
		ibv_resize_cq(small, 0));
	connect_to(qp, &(struct end){ .gid = own_gid, .qp_num = qp->qp_num },
		   (struct settings){ 0 });
	for (int count = 0; count < 3; count++)
		NEED(!ibv_post_send(qp, &wr, &bad));
	REFUSES("resize_cq: more wait", EINVAL, "ibv_resize_cq: # completions wait, more than #",
		ibv_resize_cq(small, 2));
	REFUSES("destroy_cq: in use", EBUSY, "ibv_destroy_cq: # QPs and SRQs still use the CQ",
		ibv_destroy_cq(small));
	NEED(!ibv_destroy_qp(qp) && !ibv_destroy_cq(small));
}

static void shared_queues(void)
{
	struct ibv_srq_init_attr init = { .attr = { 2, 2, 0 } };
	struct ibv_srq_init_attr_ex extended = {
		.attr = { 2, 2, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_TM,
		.pd = pd,
	};
	struct ibv_srq *srq = ibv_create_srq(pd, &init);
	struct ibv_srq_attr attr = { .max_wr = 1, .srq_limit = 3 };
	struct ibv_sge sge[3] = { 0 };
	struct ibv_recv_wr third = { 0 }, second = { .next = &third }, wr = { .next = &second };
	struct ibv_recv_wr long_wr = { .sg_list = sge, .num_sge = 3 }, *bad = NULL;
	struct ibv_qp *qp;
	uint32_t number;

	NEED(srq);
	init.attr.max_wr = 0;
	REFUSES_POINTER("create_srq: no room", EINVAL,
			"urxe: max_wr of an SRQ is #, and can be 1 to #",
			ibv_create_srq(pd, &init));
	init.attr = (struct ibv_srq_attr){ 2, 99, 0 };
	REFUSES_POINTER("create_srq: too many entries", EINVAL,
			"urxe: max_sge of an SRQ is #, and can be 1 to #",
			ibv_create_srq(pd, &init));
	REFUSES_POINTER("create_srq_ex: tag matching", EOPNOTSUPP,
			"ibv_create_srq_ex: type # or comp_mask # unknown",
			ibv_create_srq_ex(context, &extended));
	extended.srq_type = IBV_SRQT_XRC;
	REFUSES_POINTER("create_srq_ex: XRC without domain", EINVAL,
			"ibv_create_srq_ex: it needs a PD, and for XRC a domain and a CQ",
			ibv_create_srq_ex(context, &extended));
	REFUSES("modify_srq: a mask", EINVAL, "ibv_modify_srq: unknown mask #",
		ibv_modify_srq(srq, &attr, 1 << 6));
	REFUSES("modify_srq: a limit above the size", EINVAL,
		"ibv_modify_srq: the limit # is above the size #",
		ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	REFUSES("get_srq_num: not XRC", EINVAL,
		"ibv_get_srq_num: the SRQ is not of an XRC domain", ibv_get_srq_num(srq, &number));
	REFUSES("post_srq_recv: too long a list", EINVAL,
		"urxe: SRQ # refuses a receive: # can be outstanding, with # entries",
		ibv_post_srq_recv(srq, &long_wr, &bad));
	REFUSES("post_srq_recv: full", ENOMEM,
		"urxe: SRQ # refuses a receive: # can be outstanding, with # entries",
		ibv_post_srq_recv(srq, &wr, &bad));
	report("post_srq_recv: bad_wr", bad == &third ? "ok" : "not the first that is not posted");
	REFUSES("modify_srq: too small for what is posted", EINVAL,
		"ibv_modify_srq: cannot change the size from # to #",
		ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	qp = new_qp(IBV_QPT_RC, srq);
	REFUSES("post_recv: a QP with an SRQ", EINVAL,
		"urxe: QP # has no receive queue of its own", ibv_post_recv(qp, &third, &bad));
	REFUSES("destroy_srq: in use", EBUSY, "ibv_destroy_srq: # QPs still use SRQ #",
		ibv_destroy_srq(srq));
	NEED(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq));
}

/* A process that creates a target in the domain of a file, and ends when it is told to. */
static void own_target(int fd, int numbers, int orders)
{
	struct ibv_context *own = open_device();
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd,
	};
	struct ibv_qp_init_attr_ex target = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = ibv_open_xrcd(own, &attr),
	};
	struct ibv_qp *qp;
	char order;

	NEED(target.xrcd);
	qp = ibv_create_qp_ex(own, &target);
	NEED(qp);
	NEED(write(numbers, &qp->qp_num, sizeof(qp->qp_num)) == sizeof(qp->qp_num));
	NEED(read(orders, &order, 1) == 1);
	_exit(0);
}

/* A target whose owner has ended. */
static void ownerless(struct ibv_xrcd *xrcd, int fd)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_init_attr init;
	struct ibv_qp_open_attr open_attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	int numbers[2], orders[2];
	struct ibv_qp *qp;
	pid_t pid;

	NEED(!pipe(numbers) && !pipe(orders));
	fflush(stdout);
	pid = fork();
	NEED(pid >= 0);
	if (!pid)
		own_target(fd, numbers[1], orders[0]);
	NEED(read(numbers[0], &open_attr.qp_num, 4) == 4);
	qp = ibv_open_qp(context, &open_attr);
	NEED(qp);
	NEED(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	NEED(write(orders[1], "", 1) == 1 && waitpid(pid, NULL, 0) == pid);
	REFUSES("query_qp: its owner has ended", EINVAL, NULL,
		ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	REFUSES("modify_qp: its owner has ended", EINVAL, NULL,
		ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					 IBV_QP_ACCESS_FLAGS));
	NEED(!ibv_destroy_qp(qp));
	for (int end = 0; end < 2; end++)
		NEED(!close(numbers[end]) && !close(orders[end]));
}

static void xrc(void)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = 1 << 9 };
	struct ibv_qp_init_attr_ex target = { .qp_type = IBV_QPT_XRC_RECV };
	struct ibv_qp_open_attr open_attr = { .comp_mask = 1 << 9 };
	struct ibv_srq_init_attr_ex queue = {
		.attr = { 2, 2, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.cq = cq,
	};
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 1, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	int fd = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
	struct ibv_xrcd *xrcd;
	struct ibv_qp *qp;

	NEED(fd >= 0);
	REFUSES_POINTER("open_xrcd: a mask", EOPNOTSUPP, "ibv_open_xrcd: unknown comp_mask #",
			ibv_open_xrcd(context, &attr));
	attr.comp_mask = 0;
	REFUSES_POINTER("open_xrcd: nothing given", EINVAL,
			"ibv_open_xrcd: it needs fd, and O_CREAT, O_EXCL or nothing in oflags",
			ibv_open_xrcd(context, &attr));
	attr = (struct ibv_xrcd_init_attr){
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = O_CREAT,
	};
	xrcd = ibv_open_xrcd(context, &attr);
	NEED(xrcd);
	ownerless(xrcd, fd);
	attr.oflags = O_CREAT | O_EXCL;
	REFUSES_POINTER("open_xrcd: exclusively, a second time", EINVAL,
			"ibv_open_xrcd: O_EXCL, but the domain of the file is open",
			ibv_open_xrcd(context, &attr));
	attr.fd = 9999;
	REFUSES_POINTER("open_xrcd: no descriptor", EBADF, NULL, ibv_open_xrcd(context, &attr));
	REFUSES_POINTER("create_qp_ex: a target without domain", EINVAL,
			"ibv_create_qp: a QP of type # needs an XRC domain",
			ibv_create_qp_ex(context, &target));
	target.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	target.xrcd = xrcd;
	qp = ibv_create_qp_ex(context, &target);
	NEED(qp);
	REFUSES("post_send: a target of XRC", EINVAL,
		"urxe: QP # of type # takes no sends in state *", ibv_post_send(qp, &wr, &bad));
	REFUSES_POINTER("open_qp: a mask", EOPNOTSUPP, "ibv_open_qp: unknown comp_mask #",
			ibv_open_qp(context, &open_attr));
	open_attr.comp_mask = 0;
	REFUSES_POINTER("open_qp: nothing given", EINVAL,
			"ibv_open_qp: it needs number, domain and the type IBV_QPT_XRC_RECV",
			ibv_open_qp(context, &open_attr));
	open_attr = (struct ibv_qp_open_attr){
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qp->qp_num + 1,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	REFUSES_POINTER("open_qp: no such QP", EINVAL,
			"ibv_open_qp: there is no QP # of type XRC_RECV in the domain",
			ibv_open_qp(context, &open_attr));
	queue.xrcd = xrcd;
	init.srq = ibv_create_srq_ex(context, &queue);
	NEED(init.srq);
	REFUSES_POINTER("create_qp: an SRQ of XRC", EINVAL,
			"ibv_create_qp: a QP of type # needs an SRQ that is not of an XRC domain, "
			"or none",
			ibv_create_qp(pd, &init));
	REFUSES("close_xrcd: in use", EBUSY,
		"ibv_close_xrcd: # QPs and SRQs are still in the domain", ibv_close_xrcd(xrcd));
	NEED(!ibv_destroy_srq(init.srq) && !ibv_destroy_qp(qp) && !ibv_close_xrcd(xrcd));
	close(fd);
}

static int attach(struct ibv_qp *qp, struct ibv_comp_cntr *counter, unsigned mask, unsigned operations)
{
	struct ibv_qp_attach_comp_cntr_attr attr = { mask, operations };

	return ibv_qp_attach_comp_cntr(qp, counter, &attr);
}

static void counters(void)
{
	const unsigned sends = IBV_QP_ATTACH_COMP_CNTR_OP_SEND;
	struct ibv_comp_cntr_init_attr attr = { .type = IBV_COMP_CNTR_TYPE_WRS };
	struct ibv_comp_cntr *counter = ibv_create_comp_cntr(context, &attr), **all;
	struct ibv_context *second = open_device();
	struct ibv_comp_cntr *other = ibv_create_comp_cntr(second, &attr);
	struct ibv_qp *qp = new_qp(IBV_QPT_RC, NULL), *ud = new_qp(IBV_QPT_UD, NULL);
	struct ibv_qp *connected = connected_qp(IBV_QPT_RC);
	struct ibv_comp_cntr_caps caps;
	unsigned count = 0;

	NEED(counter && other && !ibv_query_comp_cntr_caps(context, &caps));
	attr.comp_mask = 1;
	REFUSES_POINTER("create_comp_cntr: a mask", EINVAL,
			"ibv_create_comp_cntr: comp_mask # and flags # must be 0",
			ibv_create_comp_cntr(context, &attr));
	attr = (struct ibv_comp_cntr_init_attr){ .type = (enum ibv_comp_cntr_type)9 };
	REFUSES_POINTER("create_comp_cntr: type 9", EOPNOTSUPP,
			"ibv_create_comp_cntr: there are no counters of type #",
			ibv_create_comp_cntr(context, &attr));
	REFUSES("qp_attach_comp_cntr: of another context", EINVAL,
		"ibv_qp_attach_comp_cntr: the counter is of another context than the QP",
		attach(qp, other, 0, sends));
	REFUSES("qp_attach_comp_cntr: a mask", EINVAL,
		"ibv_qp_attach_comp_cntr: comp_mask #, op_mask #", attach(qp, counter, 1, sends));
	REFUSES("qp_attach_comp_cntr: reads of UD", EOPNOTSUPP,
		"ibv_qp_attach_comp_cntr: op_mask #, of which # can be counted at QP # of type #",
		attach(ud, counter, 0, IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ));
	REFUSES("qp_attach_comp_cntr: too late", EINVAL,
		"ibv_qp_attach_comp_cntr: QP # is in state RTS", attach(connected, counter, 0, sends));
	NEED(!attach(qp, counter, 0, sends));
	REFUSES("qp_attach_comp_cntr: a second time", EBUSY,
		"ibv_qp_attach_comp_cntr: QP # has counters for # already",
		attach(qp, counter, 0, sends));
	REFUSES("destroy_comp_cntr: attached", EBUSY,
		"ibv_destroy_comp_cntr: the counter is attached to # QPs",
		ibv_destroy_comp_cntr(counter));
	attr.type = IBV_COMP_CNTR_TYPE_WRS;
	all = calloc(caps.max_counters + 1, sizeof(*all));
	NEED(all);
	while (count <= caps.max_counters && (all[count] = ibv_create_comp_cntr(context, &attr)))
		count++;
	REFUSES_POINTER("create_comp_cntr: too many", ENOMEM,
			"ibv_create_comp_cntr: the process has # counters already",
			ibv_create_comp_cntr(context, &attr));
	while (count)
		NEED(!ibv_destroy_comp_cntr(all[--count]));
	free(all);
	NEED(!ibv_destroy_qp(qp) && !ibv_destroy_qp(ud) && !ibv_destroy_qp(connected));
	NEED(!ibv_destroy_comp_cntr(counter) && !ibv_destroy_comp_cntr(other));
	NEED(!ibv_close_device(second));
}

static void creating_pairs(void)
{
	struct ibv_qp_init_attr init = {
		.recv_cq = cq,
		.send_cq = cq,
		.cap = { 1, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RAW_PACKET,
	};
	struct ibv_qp_init_attr_ex extended = {
		.recv_cq = cq,
		.send_cq = cq,
		.cap = { 1, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = pd,
		.create_flags = IBV_QP_CREATE_SCATTER_FCS,
	};
	static const struct {
		const char *title, *pattern;
		struct ibv_qp_cap cap;
	} sizes[] = {
		{ "create_qp: max_send_wr", "ibv_create_qp: max_send_wr is #, and can be # at most",
		  { 1 << 20, 1, 1, 1, 0 } },
		{ "create_qp: max_recv_wr", "ibv_create_qp: max_recv_wr is #, and can be # at most",
		  { 1, 1 << 20, 1, 1, 0 } },
		{ "create_qp: max_send_sge", "ibv_create_qp: max_send_sge is #, and can be # at most",
		  { 1, 1, 100, 1, 0 } },
		{ "create_qp: max_recv_sge", "ibv_create_qp: max_recv_sge is #, and can be # at most",
		  { 1, 1, 1, 100, 0 } },
		{ "create_qp: max_inline_data",
		  "ibv_create_qp: max_inline_data is #, and can be # at most",
		  { 1, 1, 1, 1, 1 << 16 } },
	};

	REFUSES_POINTER("create_qp: raw packets", EOPNOTSUPP,
			"ibv_create_qp: the device has no QPs of type #", ibv_create_qp(pd, &init));
	init.qp_type = IBV_QPT_RC;
	init.send_cq = NULL;
	REFUSES_POINTER("create_qp: no CQ", EINVAL, "ibv_create_qp: a QP of type # needs a CQ",
			ibv_create_qp(pd, &init));
	init.send_cq = cq;
	for (size_t row = 0; row < sizeof(sizes) / sizeof(*sizes); row++) {
		init.cap = sizes[row].cap;
		REFUSES_POINTER(sizes[row].title, EINVAL, sizes[row].pattern,
				ibv_create_qp(pd, &init));
	}
	REFUSES_POINTER("create_qp_ex: flags", EOPNOTSUPP,
			"ibv_create_qp_ex: comp_mask #, create_flags # are not supported",
			ibv_create_qp_ex(context, &extended));
	extended.comp_mask = 0;
	REFUSES_POINTER("create_qp_ex: no PD", EINVAL, "ibv_create_qp: a QP of type # needs a PD",
			ibv_create_qp_ex(context, &extended));
	extended.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	extended.qp_type = IBV_QPT_UC;
	extended.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ;
	REFUSES_POINTER("create_qp_ex: reads of UC", EOPNOTSUPP,
			"ibv_create_qp_ex: a QP of type # has no operations # (send_ops_flags)",
			ibv_create_qp_ex(context, &extended));
}

#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_MASK                                                                                   \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |            \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK                                                                                   \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |     \
	 IBV_QP_MAX_QP_RD_ATOMIC)

/* A change of a QP that is refused: one member of good attributes is bad. */
#define MODIFIES(title, pattern, qp, good, mask, change)                                           \
	do {                                                                                       \
		struct ibv_qp_attr attr = good;                                                    \
		change;                                                                            \
		REFUSES("modify_qp: " title, EINVAL, "ibv_modify_qp: " pattern,                    \
			ibv_modify_qp(qp, &attr, mask));                                           \
	} while (0)

static void modifying(bool by_lid)
{
	struct ibv_qp *qp = new_qp(IBV_QPT_RC, NULL);
	struct end self = { .gid = own_gid, .qp_num = qp->qp_num };
	const struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	const struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num,
		.ah_attr = address_of(context, own_gid),
	};
	const struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	struct ibv_qp_attr lost = rtr;

	NEED(!to_init(qp, &(struct settings){ 0 }));
	if (by_lid) {
		MODIFIES("LID 0", "the destination LID is 0", qp, rtr, RTR_MASK,
			 attr.ah_attr = (struct ibv_ah_attr){ .port_num = 1 });
		NEED(!ibv_destroy_qp(qp));
		return;
	}
	NEED(!ibv_modify_qp(qp, &(struct ibv_qp_attr){ 0 }, IBV_QP_STATE));
	MODIFIES("another state", "QP # is in state RESET, not in cur_qp_state RTS", qp, init,
		 INIT_MASK | IBV_QP_CUR_STATE, attr.cur_qp_state = IBV_QPS_RTS);
	MODIFIES("a way that there is not", "QP # of type # cannot go from RESET to RTS", qp, rts,
		 RTS_MASK, );
	MODIFIES("an attribute missing", "QP #: from RESET to INIT needs * too", qp, init,
		 INIT_MASK & ~IBV_QP_PORT, );
	MODIFIES("an attribute too many", "QP #: from RESET to INIT does not allow *", qp, init,
		 INIT_MASK | IBV_QP_SQ_PSN, );
	MODIFIES("port_num", "QP #: port_num # is out of range", qp, init, INIT_MASK,
		 attr.port_num = 2);
	MODIFIES("pkey_index", "QP #: pkey_index # is out of range", qp, init, INIT_MASK,
		 attr.pkey_index = 9);
	MODIFIES("qp_access_flags", "QP #: qp_access_flags # is out of range", qp, init, INIT_MASK,
		 attr.qp_access_flags = 1 << 15);
	NEED(!to_init(qp, &(struct settings){ 0 }));
	MODIFIES("path_mtu", "QP #: path_mtu # is out of range", qp, rtr, RTR_MASK,
		 attr.path_mtu = 9);
	MODIFIES("max_dest_rd_atomic", "QP #: max_dest_rd_atomic # is out of range", qp, rtr,
		 RTR_MASK, attr.max_dest_rd_atomic = 99);
	MODIFIES("min_rnr_timer", "QP #: min_rnr_timer # is out of range", qp, rtr, RTR_MASK,
		 attr.min_rnr_timer = 32);
	MODIFIES("dest_qp_num", "QP #: dest_qp_num # is out of range", qp, rtr, RTR_MASK,
		 attr.dest_qp_num = 1 << 24);
	MODIFIES("an alternate path", "QP #: the device has no alternate paths", qp, rtr,
		 RTR_MASK | IBV_QP_ALT_PATH, attr.alt_port_num = 1);
	MODIFIES("AV: port", "port # of a device that has port # only", qp, rtr, RTR_MASK,
		 attr.ah_attr.port_num = 2);
	MODIFIES("AV: service level", "service level # is above 15", qp, rtr, RTR_MASK,
		 attr.ah_attr.sl = 16);
	MODIFIES("AV: no such GID", "there is no GID with index #", qp, rtr, RTR_MASK,
		 attr.ah_attr.grh.sgid_index = 15);
	MODIFIES("AV: no destination", "the destination GID is zero", qp, rtr, RTR_MASK,
		 memset(&attr.ah_attr.grh.dgid, 0, 16));
	MODIFIES("AV: no global route",
		 "an address without global route (is_global) on an Ethernet port", qp, rtr,
		 RTR_MASK, attr.ah_attr.is_global = 0);
	lost.ah_attr.grh.dgid.raw[15] ^= 1;
	REFUSES("modify_qp: AV: nobody has the GID", ETIMEDOUT,
		"ibv_modify_qp: QP #: nobody answers for the destination GID",
		ibv_modify_qp(qp, &lost, RTR_MASK));
	NEED(!to_rtr(qp, &self, &(struct settings){ 0 }));
	MODIFIES("timeout", "QP #: timeout # is out of range", qp, rts, RTS_MASK,
		 attr.timeout = 32);
	MODIFIES("retry_cnt", "QP #: retry_cnt # is out of range", qp, rts, RTS_MASK,
		 attr.retry_cnt = 8);
	MODIFIES("rnr_retry", "QP #: rnr_retry # is out of range", qp, rts, RTS_MASK,
		 attr.rnr_retry = 8);
	MODIFIES("max_rd_atomic", "QP #: max_rd_atomic # is out of range", qp, rts, RTS_MASK,
		 attr.max_rd_atomic = 99);
	MODIFIES("path_mig_state", "QP #: path_mig_state # is out of range", qp, rts,
		 RTS_MASK | IBV_QP_PATH_MIG_STATE, attr.path_mig_state = IBV_MIG_ARMED);
	NEED(!ibv_destroy_qp(qp));
}

/* On InfiniBand nobody looks up who has an address. */
static void addresses_of_infiniband(void)
{
	struct ibv_ah_attr lost = address_of(context, own_gid);
	struct ibv_ah *ah;

	lost.grh.dgid.raw[15] ^= 1;
	ah = ibv_create_ah(pd, &lost);
	report("create_ah: nobody has the GID, of InfiniBand",
	       ah && !ibv_destroy_ah(ah) ? "" : "refused");
}

static void addresses(void)
{
	struct ibv_ah_attr attr = address_of(context, own_gid);
	struct ibv_ah_attr port = attr, level = attr, index = attr, zero = attr, local = attr;
	struct ibv_ah_attr lost = attr;

	port.port_num = 2;
	level.sl = 16;
	index.grh.sgid_index = 15;
	memset(&zero.grh.dgid, 0, 16);
	local.is_global = 0;
	lost.grh.dgid.raw[15] ^= 1;
	REFUSES_POINTER("create_ah: nobody has the GID", ETIMEDOUT,
			"ibv_create_ah: nobody answers for the destination GID",
			ibv_create_ah(pd, &lost));
	REFUSES_POINTER("create_ah: port", EINVAL,
			"ibv_create_ah: port # of a device that has port # only",
			ibv_create_ah(pd, &port));
	REFUSES_POINTER("create_ah: service level", EINVAL,
			"ibv_create_ah: service level # is above 15", ibv_create_ah(pd, &level));
	REFUSES_POINTER("create_ah: no such GID", EINVAL,
			"ibv_create_ah: there is no GID with index #", ibv_create_ah(pd, &index));
	REFUSES_POINTER("create_ah: no destination", EINVAL,
			"ibv_create_ah: the destination GID is zero", ibv_create_ah(pd, &zero));
	REFUSES_POINTER("create_ah: no global route", EINVAL,
			"ibv_create_ah: an address without global route (is_global) on an Ethernet "
			"port",
			ibv_create_ah(pd, &local));
}

static int post(struct ibv_qp *qp, enum ibv_wr_opcode opcode, unsigned flags, int count,
		uint32_t length)
{
	struct ibv_sge sge[3] = { { (uintptr_t)pages, length, mr->lkey },
				  { (uintptr_t)pages, length, mr->lkey },
				  { (uintptr_t)pages, length, mr->lkey } };
	struct ibv_send_wr *bad, wr = {
		.opcode = opcode,
		.send_flags = flags,
		.sg_list = sge,
		.num_sge = count,
	};
	int result = ibv_post_send(qp, &wr, &bad);

	if (result && bad != &wr)
		return 0;
	return result;
}

static void posting(void)
{
	struct ibv_qp *fresh = new_qp(IBV_QPT_RC, NULL), *rc = connected_qp(IBV_QPT_RC);
	struct ibv_qp *uc = connected_qp(IBV_QPT_UC), *ud = connected_qp(IBV_QPT_UD);
	struct ibv_ah_attr address = address_of(context, own_gid);
	struct ibv_ah *other = ibv_create_ah(other_pd, &address);
	struct ibv_send_wr datagram = { .opcode = IBV_WR_SEND, .wr.ud = { .ah = other } }, *bad_send;
	struct ibv_recv_wr third = { 0 }, second = { .next = &third }, wr = { .next = &second };
	struct ibv_sge sge[3] = { 0 };
	struct ibv_recv_wr long_wr = { .sg_list = sge, .num_sge = 3 }, *bad;
	struct ibv_wc wc;

	NEED(other);
	REFUSES("post_send: state RESET", EINVAL, "urxe: QP # of type # takes no sends in state RESET",
		post(fresh, IBV_WR_SEND, 0, 1, 8));
	REFUSES("post_send: a read of UC", EINVAL, "urxe: QP # of type # has no opcode #",
		post(uc, IBV_WR_RDMA_READ, 0, 1, 8));
	REFUSES("post_send: unknown flags", EINVAL, "urxe: QP #: send flags # are not supported",
		post(rc, IBV_WR_SEND, 1 << 9, 1, 8));
	REFUSES("post_send: an inline read", EINVAL, "urxe: QP #: opcode # has no inline data",
		post(rc, IBV_WR_RDMA_READ, IBV_SEND_INLINE, 1, 8));
	REFUSES("post_send: a flush", EINVAL, "urxe: QP #: opcode # is posted by ibv_wr_* only",
		post(rc, IBV_WR_FLUSH, 0, 0, 0));
	REFUSES("post_send: too long a list", EINVAL,
		"urxe: QP #: a request with # entries is too large: # entries or # inline bytes at "
		"most",
		post(rc, IBV_WR_SEND, 0, 3, 8));
	REFUSES("post_send: too much inline data", EINVAL,
		"urxe: QP #: a request with # entries of inline data is too large: # entries or # "
		"inline bytes at most",
		post(rc, IBV_WR_SEND, IBV_SEND_INLINE, 2, 600));
	REFUSES("post_send: a negative list", EINVAL, NULL, post(rc, IBV_WR_SEND, 0, -1, 8));
	REFUSES("post_send: no address handle", EINVAL,
		"urxe: QP #: a datagram without address handle", post(ud, IBV_WR_SEND, 0, 1, 8));
	REFUSES("post_send: an address handle of another PD", EINVAL,
		"urxe: QP # is of PD #, the address handle of PD #",
		ibv_post_send(ud, &datagram, &bad_send));
	NEED(!post(rc, IBV_WR_RDMA_WRITE, 0, 0, 0) && !post(rc, IBV_WR_RDMA_WRITE, 0, 0, 0));
	REFUSES("post_send: full", ENOMEM,
		"urxe: the send queue of QP # is full: # requests are outstanding, whose "
		"completions, or those of later ones, have not been polled",
		post(rc, IBV_WR_RDMA_WRITE, 0, 0, 0));
	REFUSES("post_recv: state RESET", EINVAL, "urxe: QP # takes no receives in state RESET",
		ibv_post_recv(fresh, &third, &bad));
	REFUSES("post_recv: too long a list", EINVAL,
		"urxe: the receive queue of QP # refuses a request: more than # entries",
		ibv_post_recv(rc, &long_wr, &bad));
	REFUSES("post_recv: full", ENOMEM,
		"urxe: the receive queue of QP # refuses a request: all # are outstanding",
		ibv_post_recv(rc, &wr, &bad));
	report("post_recv: bad_wr", bad == &third ? "ok" : "not the first that is not posted");
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
	NEED(!ibv_destroy_ah(other) && !ibv_destroy_qp(fresh) && !ibv_destroy_qp(rc));
	NEED(!ibv_destroy_qp(uc) && !ibv_destroy_qp(ud));
}

static struct ibv_qp_ex *extended_qp(enum ibv_qp_type type, uint64_t operations)
{
	struct ibv_qp_init_attr_ex init = {
		.recv_cq = cq,
		.send_cq = cq,
		.cap = { 2, 2, 2, 2, 16 },
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = operations,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(context, &init);

	NEED(qp);
	connect_to(qp, &(struct end){ .gid = own_gid, .qp_num = qp->qp_num },
		   (struct settings){ 0 });
	return ibv_qp_to_qp_ex(qp);
}

/* A series of requests by the functions ibv_wr_*, which is refused. */
#define SERIES(title, pattern, qp, ...)                                                            \
	REFUSES("ibv_wr_complete: " title, EINVAL, pattern, ({                                     \
			ibv_wr_start(qp);                                                          \
			__VA_ARGS__;                                                               \
			ibv_wr_complete(qp);                                                       \
		}))

static void series(void)
{
	struct ibv_qp_ex *rc = extended_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ |
							       IBV_QP_EX_WITH_LOCAL_INV);
	struct ibv_qp_ex *ud = extended_qp(IBV_QPT_UD, IBV_QP_EX_WITH_SEND);
	struct ibv_sge sge[3] = { 0 };
	struct ibv_data_buf piece = { pages, 600 };

	rc->wr_flags = ud->wr_flags = 0;
	SERIES("a setter first",
	       "wr_set_sge: QP #: not for this request, or more than # entries or # inline bytes", rc,
	       ibv_wr_set_sge(rc, mr->lkey, (uintptr_t)pages, 8));
	SERIES("too long a list",
	       "wr_set_sge_list: QP #: not for this request, or more than # entries or # inline "
	       "bytes",
	       rc, ibv_wr_send(rc), ibv_wr_set_sge_list(rc, 3, sge));
	SERIES("too much inline data",
	       "wr_set_inline_data: QP #: not for this request, or more than # entries or # inline "
	       "bytes",
	       rc, ibv_wr_send(rc), ibv_wr_set_inline_data(rc, pages, 600));
	SERIES("too much inline data in a list",
	       "wr_set_inline_data_list: QP #: not for this request, or more than # entries or # "
	       "inline bytes",
	       rc, ibv_wr_send(rc), ibv_wr_set_inline_data_list(rc, 1, &piece));
	SERIES("an inline read",
	       "wr_set_inline_data: QP #: not for this request, or more than # entries or # inline "
	       "bytes",
	       rc, ibv_wr_rdma_read(rc, 0, 0), ibv_wr_set_inline_data(rc, pages, 8));
	SERIES("data for an invalidation",
	       "wr_set_sge: QP #: not for this request, or more than # entries or # inline bytes", rc,
	       ibv_wr_local_inv(rc, 0), ibv_wr_set_sge(rc, mr->lkey, (uintptr_t)pages, 8));
	SERIES("a datagram without address", "urxe: QP #: a datagram without wr_set_ud_addr", ud,
	       ibv_wr_send(ud));
	SERIES("no address handle", "urxe: QP #: a datagram without address handle", ud,
	       ibv_wr_send(ud), ibv_wr_set_ud_addr(ud, NULL, 1, 1));
	REFUSES("ibv_wr_complete: full", ENOMEM, "urxe: the send queue of QP # is full: *", ({
			ibv_wr_start(rc);
			for (int count = 0; count < 3; count++)
				ibv_wr_send(rc);
			ibv_wr_complete(rc);
		}));
	NEED(!ibv_destroy_qp(&rc->qp_base) && !ibv_destroy_qp(&ud->qp_base));
}

static void multicast(void)
{
	struct ibv_qp *rc = new_qp(IBV_QPT_RC, NULL), *ud = connected_qp(IBV_QPT_UD);
	union ibv_gid group = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 9 } };

	REFUSES("attach_mcast: RC", EINVAL, "ibv_attach_mcast: QP # is not of type UD",
		ibv_attach_mcast(rc, &group, 0));
	REFUSES("attach_mcast: no group", EINVAL, "ibv_attach_mcast: no multicast address: *",
		ibv_attach_mcast(ud, &own_gid, 0));
	REFUSES("detach_mcast: not attached", EINVAL, "ibv_detach_mcast: QP #: error #",
		ibv_detach_mcast(ud, &group, 0));
	NEED(!ibv_attach_mcast(ud, &group, 0));
	REFUSES("destroy_qp: attached", EBUSY,
		"ibv_destroy_qp: QP # is attached to a multicast group", ibv_destroy_qp(ud));
	NEED(!ibv_detach_mcast(ud, &group, 0) && !ibv_destroy_qp(ud) && !ibv_destroy_qp(rc));
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* Waiting for events: a descriptor that does not block, and a signal. */
static void waiting(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval soon = { .it_value = { .tv_usec = 20000 } };
	struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
	struct ibv_async_event event;
	struct ibv_cq *from;
	void *of;

	NEED(channel && !sigaction(SIGALRM, &action, NULL));
	NEED(!setitimer(ITIMER_REAL, &soon, NULL));
	REFUSES("get_async_event: a signal", EINTR, NULL, ibv_get_async_event(context, &event));
	NEED(!setitimer(ITIMER_REAL, &soon, NULL));
	REFUSES("get_cq_event: a signal", EINTR, NULL, ibv_get_cq_event(channel, &from, &of));
	NEED(!fcntl(context->async_fd, F_SETFL, O_NONBLOCK));
	REFUSES("get_async_event: not blocking", EAGAIN, NULL, ibv_get_async_event(context, &event));
	NEED(!fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	REFUSES("get_cq_event: not blocking", EAGAIN, NULL, ibv_get_cq_event(channel, &from, &of));
	NEED(!fcntl(context->async_fd, F_SETFL, 0) && !ibv_destroy_comp_channel(channel));
}

/* What a child process may not do with the objects of its parent. */
static void child(void)
{
	static const char line[] = "urxe: the object is of the process that forked this one";
	struct ibv_qp *rc = connected_qp(IBV_QPT_RC), *ud = connected_qp(IBV_QPT_UD);
	struct ibv_srq_init_attr init = { .attr = { 2, 2, 0 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &init);
	union ibv_gid group = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 9 } };
	int status;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_recv_wr wr = { 0 }, *bad;
	struct ibv_cq_ex *cq_ex =
		ibv_create_cq_ex(context, &(struct ibv_cq_init_attr_ex){ .cqe = 4 });
	struct ibv_qp_init_attr qp_init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC };
	struct ibv_qp_init_attr_ex qp_init_ex = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
	};
	struct ibv_srq_init_attr_ex srq_init = {
		.attr = { 2, 2, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_xrcd_init_attr xrcd_attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_qp_ex *series = extended_qp(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
	struct ibv_comp_cntr_init_attr counting = { .type = IBV_COMP_CNTR_TYPE_WRS };
	struct ibv_comp_cntr *counter = ibv_create_comp_cntr(context, &counting);
	struct ibv_mw *window = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	uint64_t value;
	pid_t pid;

	NEED(window && srq && cq_ex && counter);
	fflush(stdout);
	pid = fork();
	NEED(pid >= 0);
	if (pid) {
		NEED(waitpid(pid, &status, 0) == pid);
		report("in a child process", status ? "the child failed" : "ok");
		new_lines();
		NEED(!ibv_destroy_qp(rc) && !ibv_destroy_qp(ud) && !ibv_destroy_srq(srq));
		NEED(!ibv_dealloc_mw(window) && !ibv_destroy_qp(&series->qp_base) && !ibv_destroy_comp_cntr(counter));
		NEED(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq_ex)));
		return;
	}
	REFUSES_POINTER("child: create_cq", ENODEV, line, ibv_create_cq(context, 4, NULL, NULL, 0));
	REFUSES("child: poll_cq", ENODEV, NULL, ibv_poll_cq(cq, 1, &(struct ibv_wc){ 0 }));
	REFUSES("child: resize_cq", ENODEV, line, ibv_resize_cq(cq, 99));
	REFUSES("child: post_send", ENODEV, line, post(rc, IBV_WR_SEND, 0, 1, 8));
	REFUSES("child: post_recv", ENODEV, line, ibv_post_recv(rc, &wr, &bad));
	REFUSES("child: modify_qp", ENODEV, line, ibv_modify_qp(rc, &attr, IBV_QP_STATE));
	REFUSES("child: query_qp", ENODEV, line,
		ibv_query_qp(rc, &attr, 0, &(struct ibv_qp_init_attr){ 0 }));
	REFUSES("child: post_srq_recv", ENODEV, line, ibv_post_srq_recv(srq, &wr, &bad));
	REFUSES("child: query_srq", ENODEV, line,
		ibv_query_srq(srq, &(struct ibv_srq_attr){ 0 }));
	REFUSES("child: modify_srq", ENODEV, line,
		ibv_modify_srq(srq, &(struct ibv_srq_attr){ .max_wr = 9 }, IBV_SRQ_MAX_WR));
	REFUSES_NEGATIVE("child: rereg_mr", ENODEV, line,
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 1));
	REFUSES("child: attach_mcast", ENODEV, line, ibv_attach_mcast(ud, &group, 0));
	REFUSES("child: detach_mcast", ENODEV, line, ibv_detach_mcast(ud, &group, 0));
	REFUSES("child: modify_cq", ENODEV, line,
		ibv_modify_cq(cq, &(struct ibv_modify_cq_attr){ .attr_mask = IBV_CQ_ATTR_MODERATE }));
	REFUSES("child: req_notify_cq", ENODEV, line, ibv_req_notify_cq(cq, 0));
	REFUSES_POINTER("child: create_cq_ex", ENODEV, line,
			ibv_create_cq_ex(context, &(struct ibv_cq_init_attr_ex){ .cqe = 4 }));
	REFUSES("child: start_poll", ENODEV, NULL,
		ibv_start_poll(cq_ex, &(struct ibv_poll_cq_attr){ 0 }));
	REFUSES_POINTER("child: create_qp", ENODEV, line, ibv_create_qp(pd, &qp_init));
	REFUSES_POINTER("child: create_qp_ex", ENODEV, line, ibv_create_qp_ex(context, &qp_init_ex));
	REFUSES_POINTER("child: create_srq", ENODEV, line, ibv_create_srq(pd, &init));
	REFUSES_POINTER("child: create_srq_ex", ENODEV, line,
			ibv_create_srq_ex(context, &srq_init));
	REFUSES_POINTER("child: open_xrcd", ENODEV, NULL, ibv_open_xrcd(context, &xrcd_attr));
	REFUSES("child: get_async_event", ENODEV, NULL,
		ibv_get_async_event(context, &(struct ibv_async_event){ 0 }));
	REFUSES("child: bind_mw", ENODEV, line, ibv_bind_mw(rc, window, &(struct ibv_mw_bind){ 0 }));
	ibv_wr_start(series);
	ibv_wr_send(series);
	REFUSES("child: wr_complete", ENODEV, NULL, ibv_wr_complete(series));
	REFUSES_POINTER("child: create_comp_cntr", ENODEV, line,
			ibv_create_comp_cntr(context, &counting));
	REFUSES("child: qp_attach_comp_cntr", ENODEV, line,
		attach(rc, counter, 0, IBV_QP_ATTACH_COMP_CNTR_OP_SEND));
	REFUSES("child: read_comp_cntr", ENODEV, line, ibv_read_comp_cntr(counter, &value));
	REFUSES("child: read_err_comp_cntr", ENODEV, line, ibv_read_err_comp_cntr(counter, &value));
	REFUSES("child: set_comp_cntr", ENODEV, line, ibv_set_comp_cntr(counter, 1));
	REFUSES("child: set_err_comp_cntr", ENODEV, line, ibv_set_err_comp_cntr(counter, 1));
	REFUSES("child: inc_comp_cntr", ENODEV, line, ibv_inc_comp_cntr(counter, 1));
	REFUSES("child: inc_err_comp_cntr", ENODEV, line, ibv_inc_err_comp_cntr(counter, 1));
	/* A context of another process, whose descriptor has been handed over. */
	REFUSES_POINTER("import_device: of another process", EOPNOTSUPP,
			"ibv_import_device: the descriptor is of a context of another process",
			ibv_import_device(context->cmd_fd));
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	open_log();
	page = sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(pages != MAP_FAILED);
	context = open_device();
	gid_of(context, &own_gid);
	pd = ibv_alloc_pd(context);
	other_pd = ibv_alloc_pd(context);
	NEED(pd && other_pd);
	if (!strcmp(mode, "confidential")) {
		REFUSES_POINTER("reg_mr: in a confidential guest", EOPNOTSUPP,
				"registration: the device reaches dma-bufs alone; see "
				"ibv_alloc_buf(3)",
				ibv_reg_mr(pd, pages, page, 0));
		return 0;
	}
	cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, pages, page, ALL_ACCESS);
	other_mr = ibv_reg_mr(other_pd, pages, page, ALL_ACCESS);
	NEED(cq && mr && other_mr);
	if (!strcmp(mode, "infiniband")) {
		modifying(true);
		addresses_of_infiniband();
		return 0;
	}
	device();
	domains();
	regions();
	dmabufs();
	handles();
	device_memory();
	windows();
	completion_queues();
	shared_queues();
	xrc();
	counters();
	creating_pairs();
	modifying(false);
	addresses();
	posting();
	series();
	multicast();
	waiting();
	child();
	NEED(!ibv_dereg_mr(mr) && !ibv_dereg_mr(other_mr) && !ibv_destroy_cq(cq));
	NEED(!ibv_dealloc_pd(pd) && !ibv_dealloc_pd(other_pd) && !ibv_close_device(context));
	return 0;
}
