/* Verbs of memory: protection domains, memory regions and windows, device memory, buffers. */
#include "program.h"

static void domains(struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_td_init_attr td_attr = { .comp_mask = 0 };
	struct ibv_td *td = MADE(ibv_alloc_td(ctx, &td_attr));
	struct ibv_parent_domain_init_attr attr = { .pd = pd, .td = td };
	struct ibv_pd *parent = MADE(ibv_alloc_parent_domain(ctx, &attr));
	struct ibv_pd *imported = MADE(ibv_import_pd(ctx, 4242));

	CHECK(parent && parent->context == ctx);
	if (parent)
		DONE(ibv_dealloc_pd(parent));
	if (td)
		DONE(ibv_dealloc_td(td));
	if (imported)
		CALLED(ibv_unimport_pd(imported));
}

static void regions(struct ibv_pd *pd)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory + 64, .length = 128, .lkey = 5 };
	struct ibv_mr *mr, *other;

	mr = MADE(ibv_reg_mr(pd, memory + 4096, 8192, IBV_ACCESS_LOCAL_WRITE));
	CHECK(mr && mr->pd == pd && mr->addr == memory + 4096 && mr->length == 8192);
	other = MADE(ibv_reg_mr_iova(pd, memory, 4096, 0x10000, IBV_ACCESS_REMOTE_READ));
	if (other)
		DONE(ibv_dereg_mr(other));
	/* The function; what follows the macro's choice of it, for accesses that are optional. */
	other = MADE(ibv_reg_mr_iova2(pd, memory, 4096, 0x10000,
				      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING));
	if (other)
		DONE(ibv_dereg_mr(other));
	DONE(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			  memory + 16384, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	DONE(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge,
			   1));
	if (mr)
		DONE(ibv_dereg_mr(mr));

	mr = MADE(ibv_reg_dmabuf_mr(pd, 0x1000, 0x2000, 0x30000, 0, IBV_ACCESS_LOCAL_WRITE));
	CHECK(mr && mr->pd == pd && mr->length == 0x2000);
	if (mr)
		DONE(ibv_dereg_mr(mr));
	mr = MADE(ibv_reg_dmabuf_mr(pd, 0x1000, 0x2000, 0x30000, 0, IBV_ACCESS_REMOTE_READ));
	if (mr)
		DONE(ibv_dereg_mr(mr));

	mr = MADE(ibv_alloc_null_mr(pd));
	if (mr)
		DONE(ibv_dereg_mr(mr));
	mr = MADE(ibv_import_mr(pd, 4343));
	if (mr)
		CALLED(ibv_unimport_mr(mr));
}

/* What older plugins do not have, so that names and handles of the rest are the same with all. */
void newer_memory_verbs(struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_dmah_init_attr dmah_attr = {
		.comp_mask = IBV_DMAH_INIT_ATTR_MASK_CPU_ID | IBV_DMAH_INIT_ATTR_MASK_PH |
			     IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE,
		.cpu_id = 3, .ph = 2, .tph_mem_type = 1,
	};
	struct ibv_dmah *dmah = MADE(ibv_alloc_dmah(ctx, &dmah_attr));
	struct ibv_mr_init_attr attr = {
		.length = 4096, .access = IBV_ACCESS_LOCAL_WRITE,
		.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA, .addr = memory + 8192,
		.iova = 0x50000,
	};
	struct ibv_buf *buf = NULL;
	struct ibv_mr *mr;
	void *bytes;

	mr = MADE(ibv_reg_mr_ex(pd, &attr));
	if (mr)
		DONE(ibv_dereg_mr(mr));
	attr.comp_mask |= IBV_REG_MR_MASK_DMAH;
	attr.dmah = dmah;
	mr = MADE(ibv_reg_mr_ex(pd, &attr));
	if (mr)
		DONE(ibv_dereg_mr(mr));
	attr.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA;
	attr.fd = 0;
	attr.fd_offset = 0x60000;
	mr = MADE(ibv_reg_mr_ex(pd, &attr));
	if (mr)
		DONE(ibv_dereg_mr(mr));
	if (dmah)
		DONE(ibv_dealloc_dmah(dmah));

	/* Without a function of the plugin, the library has the memory itself. */
	say("ibv_alloc_buf(pd, 512, &buf)");
	bytes = ibv_alloc_buf(pd, 512, &buf);
	CHECK(bytes && buf);
	if (!buf)
		return;
	give_name(bytes, 512, "buffer");
	mr = MADE(ibv_reg_buf_mr(pd, buf, (char *)bytes + 256, 256, IBV_ACCESS_LOCAL_WRITE));
	if (mr)
		DONE(ibv_dereg_mr(mr));
	DONE(ibv_export_buf_dmabuf_fd(buf));
	CALLED(ibv_free_buf(buf));
	take_name(bytes);
}

static void device_memory(struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_alloc_dm_attr attr = { .length = 1024, .log_align_req = 3 };
	struct ibv_dm *dm = MADE(ibv_alloc_dm(ctx, &attr)), *imported;
	struct ibv_mr *mr;

	if (dm) {
		mr = MADE(ibv_reg_dm_mr(pd, dm, 64, 512,
					IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE));
		if (mr)
			DONE(ibv_dereg_mr(mr));
		DONE(ibv_dm_export_dmabuf_fd(dm));
		DONE(ibv_free_dm(dm));
	}
	imported = MADE(ibv_import_dm(ctx, 4444));
	if (imported)
		CALLED(ibv_unimport_dm(imported));
}

static void windows(struct ibv_pd *pd)
{
	struct ibv_mw *mw = MADE(ibv_alloc_mw(pd, IBV_MW_TYPE_2));

	CHECK(mw && mw->type == IBV_MW_TYPE_2);
	if (mw)
		DONE(ibv_dealloc_mw(mw));
}

void memory_verbs(struct ibv_context *ctx, struct ibv_pd *pd)
{
	domains(ctx, pd);
	regions(pd);
	device_memory(ctx, pd);
	windows(pd);
}
