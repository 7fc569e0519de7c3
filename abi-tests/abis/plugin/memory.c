/* Protection domains, memory regions and windows, device memory. */
#include "plugin.h"

struct ibv_pd *op_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = guarded(sizeof(*pd), "pd");
	REQUEST(ibv_alloc_pd);
	RESPONSE(ib_uverbs_alloc_pd_resp);

	called("alloc_pd(%s)", name_of(context));
	pd = created(pd, context, ibv_cmd_alloc_pd(context, pd, CMD, RESP));
	ANSWERED;
	return pd;
}

int op_dealloc_pd(struct ibv_pd *pd)
{
	called("dealloc_pd(%s)", name_of(pd));
	return DESTROYED(pd, ibv_cmd_dealloc_pd(pd));
}

struct ibv_pd *op_import_pd(struct ibv_context *context, uint32_t handle)
{
	struct ibv_pd *pd;

	called("import_pd(%s, %u)", name_of(context), handle);
	pd = guarded(sizeof(*pd), "imported_pd");
	pd->context = context;
	pd->handle = handle;
	return pd;
}

void op_unimport_pd(struct ibv_pd *pd)
{
	called("unimport_pd(%s)", name_of(pd));
	release(pd);
}

struct ibv_td *op_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct ibv_td *td;

	called("alloc_td(%s, mask %#x)", name_of(context), attr->comp_mask);
	td = guarded(sizeof(*td), "td");
	td->context = context;
	return td;
}

int op_dealloc_td(struct ibv_td *td)
{
	called("dealloc_td(%s)", name_of(td));
	release(td);
	return 0;
}

struct ibv_pd *op_alloc_parent_domain(struct ibv_context *context,
				      struct ibv_parent_domain_init_attr *attr)
{
	struct ibv_pd *pd;

	called("alloc_parent_domain(%s, %s, %s, mask %#x)", name_of(context), name_of(attr->pd),
	       name_of(attr->td), attr->comp_mask);
	pd = guarded(sizeof(*pd), "parent_domain");
	pd->context = context;
	pd->handle = attr->pd->handle;
	return pd;
}

struct ibv_mr *op_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	struct verbs_mr *mr = guarded(sizeof(*mr), "mr");
	REQUEST(ibv_reg_mr);
	RESPONSE(ib_uverbs_reg_mr_resp);

	if (iova == (uintptr_t)addr)
		called("reg_mr(%s, %s, %zu, same, %#x)", name_of(pd), name_of(addr), length, access);
	else
		called("reg_mr(%s, %s, %zu, %#llx, %#x)", name_of(pd), name_of(addr), length,
		       (unsigned long long)iova, access);
	mr = created(mr, pd->context,
		     ibv_cmd_reg_mr(pd, addr, length, iova, access, mr, CMD, RESP));
	ANSWERED;
	return mr ? &mr->ibv_mr : NULL;
}

int op_rereg_mr(struct verbs_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		int access)
{
	REQUEST(ibv_rereg_mr);
	RESPONSE(ib_uverbs_rereg_mr_resp);
	int ret;

	called("rereg_mr(%s, %d, %s, %s, %zu, %#x)", name_of(mr), flags, name_of(pd),
	       name_of(addr), length, access);
	ret = kernel(ibv_cmd_rereg_mr(mr, flags, addr, length, (uintptr_t)addr, access, pd, CMD,
				      RESP));
	ANSWERED;
	return ret;
}

int op_dereg_mr(struct verbs_mr *mr)
{
	called("dereg_mr(%s, type %d)", name_of(mr), (int)mr->mr_type);
	return DESTROYED(mr, ibv_cmd_dereg_mr(mr));
}

struct ibv_mr *op_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				int fd, int access)
{
	struct verbs_mr *mr = guarded(sizeof(*mr), "dmabuf_mr");
	int ret;

	called("reg_dmabuf_mr(%s, %#llx, %zu, %#llx, %d, %#x)", name_of(pd),
	       (unsigned long long)offset, length, (unsigned long long)iova, fd, access);
#if RELEASE >= 54
	{
		struct link link;

		ret = ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, mr,
					    access & IBV_ACCESS_REMOTE_READ ?
					    linked(&link, UVERBS_OBJECT_MR, 4, 0xd0d0) : NULL);
	}
#else
	{
		/* Where later releases have their eighth argument stands nothing in particular. */
		typedef int with_garbage(struct ibv_pd *, uint64_t, size_t, uint64_t, int, int,
					 struct verbs_mr *, uintptr_t);
		void *volatile function = ibv_cmd_reg_dmabuf_mr;

		ret = ((with_garbage *)function)(pd, offset, length, iova, fd, access, mr,
						 0xdeadbeefdeadbeef);
	}
#endif
	mr = created(mr, pd->context, ret);
	if (mr && ret)
		mr->mr_type = DMABUF_MR;
	return mr ? &mr->ibv_mr : NULL;
}

struct ibv_mr *op_alloc_null_mr(struct ibv_pd *pd)
{
	struct verbs_mr *mr;

	called("alloc_null_mr(%s)", name_of(pd));
	mr = guarded(sizeof(*mr), "null_mr");
	mr->ibv_mr = (struct ibv_mr){ .context = pd->context, .pd = pd, .lkey = 7 };
	mr->mr_type = NULL_MR;
	return &mr->ibv_mr;
}

struct ibv_mr *op_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct verbs_mr *mr = guarded(sizeof(*mr), "imported_mr");
	int ret;

	called("import_mr(%s, %u)", name_of(pd), handle);
	ret = ibv_cmd_query_mr(pd, mr, handle);
	mr = created(mr, pd->context, ret);
	if (mr && !may_refuse)
		say("    type %d lkey %#x rkey %#x length %#zx", (int)mr->mr_type, mr->ibv_mr.lkey,
		    mr->ibv_mr.rkey, mr->ibv_mr.length);
	return mr ? &mr->ibv_mr : NULL;
}

void op_unimport_mr(struct ibv_mr *mr)
{
	called("unimport_mr(%s)", name_of(mr));
	release(mr);
}

int op_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		 struct ibv_sge *list, uint32_t count)
{
	called("advise_mr(%s, %d, %#x, %s for %u, %u)", name_of(pd), (int)advice, flags,
	       name_of((void *)(uintptr_t)list->addr), list->length, count);
	return kernel(ibv_cmd_advise_mr(pd, advice, flags, list, count));
}

#if RELEASE >= 59
struct ibv_mr *op_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr)
{
	struct ibv_mr_init_attr *own = guarded(sizeof(*own), "mr_init_attr");
	struct verbs_mr *mr = guarded(sizeof(*mr), "mr");
	uint64_t mask = attr->comp_mask;
	int ret;

	called("reg_mr_ex(%s, length %zu, access %#x, mask %#llx, iova %#llx, addr %s, fd %d, "
	       "fd_offset %#llx, dmah %s)", name_of(pd), attr->length, attr->access,
	       (unsigned long long)mask, mask & IBV_REG_MR_MASK_IOVA ?
	       (unsigned long long)attr->iova : 0,
	       mask & IBV_REG_MR_MASK_ADDR ? name_of(attr->addr) : "-",
	       mask & IBV_REG_MR_MASK_FD ? attr->fd : -1, mask & IBV_REG_MR_MASK_FD_OFFSET ?
	       (unsigned long long)attr->fd_offset : 0,
	       mask & IBV_REG_MR_MASK_DMAH ? name_of(attr->dmah) : "-");
	*own = *attr;
	ret = ibv_cmd_reg_mr_ex(pd, mr, own);
	mr = created(mr, pd->context, ret);
	if (mr && ret)
		mr->mr_type = mask & IBV_REG_MR_MASK_FD ? DMABUF_MR : MR;
	release(own);
	return mr ? &mr->ibv_mr : NULL;
}

struct ibv_dmah *op_alloc_dmah(struct ibv_context *context, struct ibv_dmah_init_attr *attr)
{
	struct verbs_dmah *dmah = guarded(sizeof(*dmah), "dmah");
	int ret;

	called("alloc_dmah(%s, mask %#x, cpu %u, ph %u, type %u)", name_of(context),
	       attr->comp_mask, attr->cpu_id, attr->ph, attr->tph_mem_type);
	ret = ibv_cmd_alloc_dmah(context, dmah, attr);
	dmah = created(dmah, context, ret);
	return dmah ? &dmah->dmah : NULL;
}

int op_dealloc_dmah(struct ibv_dmah *dmah)
{
	called("dealloc_dmah(%s)", name_of(dmah));
	return DESTROYED(dmah, ibv_cmd_free_dmah((struct verbs_dmah *)dmah));
}
#endif

struct ibv_mw *op_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = guarded(sizeof(*mw), "mw");
	REQUEST(ibv_alloc_mw);
	RESPONSE(ib_uverbs_alloc_mw_resp);
	int ret;

	called("alloc_mw(%s, %d)", name_of(pd), (int)type);
	ret = ibv_cmd_alloc_mw(pd, type, mw, CMD, RESP);
	mw = created(mw, pd->context, ret);
	ANSWERED;
	if (mw && ret)
		*mw = (struct ibv_mw){ .context = pd->context, .pd = pd, .type = type };
	return mw;
}

int op_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	called("bind_mw(%s, %s, wr_id %#llx, %s, %s, %llu)", name_of(qp), name_of(mw),
	       (unsigned long long)bind->wr_id, name_of(bind->bind_info.mr),
	       name_of((void *)(uintptr_t)bind->bind_info.addr),
	       (unsigned long long)bind->bind_info.length);
	return 0;
}

int op_dealloc_mw(struct ibv_mw *mw)
{
	called("dealloc_mw(%s)", name_of(mw));
	return DESTROYED(mw, ibv_cmd_dealloc_mw(mw));
}

struct ibv_dm *op_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	struct verbs_dm *dm = guarded(sizeof(*dm), "dm");
	struct link link;
	int ret;

	called("alloc_dm(%s, %zu, %u, mask %#x)", name_of(context), attr->length,
	       attr->log_align_req, attr->comp_mask);
	ret = ibv_cmd_alloc_dm(context, attr, dm, linked(&link, UVERBS_OBJECT_DM, 0, 0xd1d1));
	dm = created(dm, context, ret);
	return dm ? &dm->dm : NULL;
}

int op_free_dm(struct ibv_dm *dm)
{
	called("free_dm(%s)", name_of(dm));
	return DESTROYED(dm, ibv_cmd_free_dm((struct verbs_dm *)dm));
}

struct ibv_mr *op_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
			    unsigned int access)
{
	struct verbs_mr *mr = guarded(sizeof(*mr), "dm_mr");

	called("reg_dm_mr(%s, %s, %#llx, %zu, %#x)", name_of(pd), name_of(dm),
	       (unsigned long long)offset, length, access);
	mr = created(mr, pd->context, ibv_cmd_reg_dm_mr(pd, (struct verbs_dm *)dm, offset, length,
							access, mr, NULL));
	return mr ? &mr->ibv_mr : NULL;
}

struct ibv_dm *op_import_dm(struct ibv_context *context, uint32_t handle)
{
	struct verbs_dm *dm;

	called("import_dm(%s, %u)", name_of(context), handle);
	dm = guarded(sizeof(*dm), "imported_dm");
	dm->dm.context = context;
	dm->handle = handle;
	return &dm->dm;
}

void op_unimport_dm(struct ibv_dm *dm)
{
	called("unimport_dm(%s)", name_of(dm));
	release(dm);
}

#if RELEASE >= 62
int op_dm_export_dmabuf_fd(struct ibv_dm *dm)
{
	int fd;

	called("dm_export_dmabuf_fd(%s)", name_of(dm));
	fd = ibv_cmd_export_dmabuf_fd(dm->context, 0x3000);
	say("    exported as %s", fd < 0 ? error_text(errno) : "a file descriptor");
	return 1234;
}
#endif

#if RELEASE >= 64
void *op_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
	called("alloc_buf(%s, %zu, buf)", name_of(pd), size);
	*buf = guarded(sizeof(**buf), "buf");
	(*buf)->addr = guarded(size, "bytes");
	(*buf)->size = size;
	(*buf)->pd = pd;
	(*buf)->dmabuf_fd = -1;
	return (*buf)->addr;
}

void op_free_buf(struct ibv_buf *buf)
{
	called("free_buf(%s)", name_of(buf));
	release(buf->addr);
	release(buf);
}
#endif
