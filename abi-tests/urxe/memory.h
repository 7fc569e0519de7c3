/* Memory of every kind that the device can reach, with one way to fill it and to look at it. */
#ifndef ABI_TESTS_URXE_MEMORY_H
#define ABI_TESTS_URXE_MEMORY_H

#include "../common.h"
#include "bytes.h"
#include <sys/mman.h>

enum kind {
	ORDINARY,
	IOVA,           /* known by addresses that are not its own */
	ZERO_BASED,
	ON_DEMAND,
	IMPLICIT,       /* the region of all memory */
	BUFFER,         /* ibv_alloc_buf(3) */
	DEVICE,         /* ibv_alloc_dm(3) */
	WINDOW_1,       /* a window of type 1 on ordinary memory; remote only */
	WINDOW_2,       /* of type 2 */
	WINDOW_ZERO,    /* of type 2, zero-based */
	WINDOW_BUFFER,  /* of type 2, on a buffer */
	KINDS,
};

static const char *const kind_name[] = {
	"ordinary", "iova", "zero-based", "on-demand", "implicit", "buffer", "device memory",
	"window 1", "window 2", "zero-based window", "window on a buffer",
};

enum {
	/* Bytes of the largest areas, for the longest messages, and of most others. */
	LARGE_AREA = (64 << 20) + (64 << 10),
	SMALL_AREA = 256 << 10,
	REGION_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_FLUSH_GLOBAL |
			IBV_ACCESS_FLUSH_PERSISTENT,
};

struct memory {
	enum kind kind;
	size_t size;
	/* NULL for device memory. */
	uint8_t *bytes;
	/* How the device calls the first byte. */
	uint64_t base;
	struct ibv_mr *mr;
	struct ibv_buf *buf;
	struct ibv_dm *dm;
};

static inline bool is_window(enum kind kind)
{
	return kind >= WINDOW_1;
}

/* The kind of the region below a window. */
static inline enum kind region_of(enum kind kind)
{
	return !is_window(kind) ? kind : kind == WINDOW_BUFFER ? BUFFER : ORDINARY;
}

static inline void make_memory(struct memory *memory, struct ibv_context *context, struct ibv_pd *pd,
			       enum kind kind, size_t size)
{
	*memory = (struct memory){ .kind = kind, .size = size };
	if (kind == DEVICE) {
		struct ibv_alloc_dm_attr attr = { .length = size };

		memory->dm = NEED(ibv_alloc_dm(context, &attr));
		memory->mr = NEED(ibv_reg_dm_mr(pd, memory->dm, 0, size,
						(REGION_ACCESS & ~IBV_ACCESS_MW_BIND) |
							IBV_ACCESS_ZERO_BASED));
		return;
	}
	if (kind == BUFFER) {
		memory->bytes = NEED(ibv_alloc_buf(pd, size, &memory->buf));
		memory->mr = NEED(ibv_reg_buf_mr(pd, memory->buf, memory->bytes, size, REGION_ACCESS));
		memory->base = (uintptr_t)memory->bytes;
		return;
	}
	memory->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(memory->bytes != MAP_FAILED);
	memory->base = (uintptr_t)memory->bytes;
	switch (kind) {
	case IOVA:
		memory->base = 0x123456780000ULL;
		memory->mr = NEED(ibv_reg_mr_iova(pd, memory->bytes, size, memory->base,
						  REGION_ACCESS));
		break;
	case ZERO_BASED:
		memory->base = 0;
		memory->mr = NEED(ibv_reg_mr(pd, memory->bytes, size,
					     REGION_ACCESS | IBV_ACCESS_ZERO_BASED));
		break;
	case ON_DEMAND:
		memory->mr = NEED(ibv_reg_mr(pd, memory->bytes, size,
					     REGION_ACCESS | IBV_ACCESS_ON_DEMAND));
		break;
	case IMPLICIT:
		memory->mr = NEED(ibv_reg_mr(pd, NULL, SIZE_MAX,
					     (REGION_ACCESS & ~IBV_ACCESS_MW_BIND) |
						     IBV_ACCESS_ON_DEMAND));
		break;
	default:
		memory->mr = NEED(ibv_reg_mr(pd, memory->bytes, size, REGION_ACCESS));
	}
}

static inline void drop_memory(struct memory *memory)
{
	if (!memory->mr)
		return;
	CHECK(!ibv_dereg_mr(memory->mr));
	if (memory->dm)
		CHECK(!ibv_free_dm(memory->dm));
	else if (memory->buf)
		ibv_free_buf(memory->buf);
	else
		munmap(memory->bytes, memory->size);
	memory->mr = NULL;
}

/* For images. */
static uint8_t *scratch(void)
{
	static uint8_t *bytes;

	if (!bytes)
		bytes = NEED(malloc(LARGE_AREA));
	return bytes;
}

/* Fills the area; see put_image(). */
static inline void set_image(struct memory *memory, const struct layout *layout, uint32_t background,
			     uint32_t seed, size_t length)
{
	uint8_t *area = memory->bytes ? memory->bytes : scratch();

	NEED(layout->used <= memory->size);
	put_image(area, layout, background, seed, 0, length);
	if (!memory->bytes)
		CHECK(!ibv_memcpy_to_dm(memory->dm, 0, area, layout->used));
}

/* Where the first byte is that is not as the image in scratch(); -1 if there is none. */
static inline int64_t differs(struct memory *memory, const struct layout *layout)
{
	static uint8_t *copy;
	const uint8_t *area = memory->bytes, *image = scratch();

	if (!area) {
		if (!copy)
			copy = NEED(malloc(SMALL_AREA));
		CHECK(!ibv_memcpy_from_dm(copy, memory->dm, 0, layout->used));
		area = copy;
	}
	if (!memcmp(area, image, layout->used))
		return -1;
	for (size_t i = 0; i < layout->used; i++)
		if (area[i] != image[i])
			return i;
	return -1;
}

#endif
