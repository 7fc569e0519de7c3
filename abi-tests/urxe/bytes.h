/*
 * Bytes that can be told apart, and lists of pieces of memory with a message in them: what a target
 * has to look like afterwards is computed as an image of it, gaps and surroundings included.
 */
#ifndef ABI_TESTS_URXE_BYTES_H
#define ABI_TESTS_URXE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A prime, so that bytes at distances that programs use differ. */
enum { PERIOD = 65521 };

static uint8_t period[PERIOD];

static inline uint64_t next_random(uint64_t *state)
{
	/* xorshift64*; never 0. */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

static inline void make_bytes(void)
{
	uint64_t state = 0x9e3779b97f4a7c15ULL;

	for (size_t i = 0; i < PERIOD; i++)
		period[i] = next_random(&state) >> 56;
}

static inline size_t phase(uint32_t seed, uint64_t position)
{
	return ((uint64_t)seed * 40503 + position) % PERIOD;
}

/* The bytes from `position` on of the stream that belongs to `seed`. */
static inline void put_bytes(uint8_t *to, size_t length, uint32_t seed, uint64_t position)
{
	size_t from = phase(seed, position);

	while (length) {
		size_t part = PERIOD - from < length ? PERIOD - from : length;

		memcpy(to, period + from, part);
		to += part;
		length -= part;
		from = 0;
	}
}

/* The first byte that is not as `put_bytes` would have written it, or `length`. */
static inline size_t check_bytes(const uint8_t *at, size_t length, uint32_t seed, uint64_t position)
{
	size_t from = phase(seed, position), done = 0;

	while (done < length) {
		size_t part = PERIOD - from < length - done ? PERIOD - from : length - done;

		if (memcmp(at + done, period + from, part)) {
			while (at[done] == period[from])
				done++, from++;
			return done;
		}
		done += part;
		from = 0;
	}
	return length;
}

/* How a message lies in memory. */
enum split {
	ONE,    /* one piece; none if it is empty */
	HALVES, /* two, with a gap between */
	MANY,   /* as many as the device takes, of odd lengths, the last one first in memory */
	EMPTY,  /* empty pieces at the begin, in the middle and at the end */
	ODD,    /* 1, 3, 7, 15, ... bytes, apart from each other */
	SPLITS,
};

static const char *const split_name[] = { "one", "halves", "many", "empty", "odd" };

enum { MAX_PIECES = 32, GUARD = 67, GAP = 13 };

struct piece {
	uint64_t at;
	uint32_t length;
};

struct layout {
	int count;
	struct piece piece[MAX_PIECES];
	/* Bytes from the begin of the area that are looked at: the last piece, and a guard. */
	size_t used;
};

static inline void add_piece(struct layout *layout, uint64_t *at, size_t length)
{
	layout->piece[layout->count++] = (struct piece){ *at, length };
	*at += length + GAP;
}

/* Places `length` bytes; the first is at GUARD, which is odd, or at `start`. */
static inline void place(struct layout *layout, enum split split, size_t length, uint64_t start)
{
	uint64_t at = start;
	size_t left = length;

	layout->count = 0;
	switch (split) {
	case HALVES:
		add_piece(layout, &at, length / 2);
		add_piece(layout, &at, length - length / 2);
		break;
	case MANY:
		for (int i = 0; i < MAX_PIECES; i++) {
			size_t part = i == MAX_PIECES - 1 ? left : length / MAX_PIECES | 1;

			if (part > left)
				part = left;
			add_piece(layout, &at, part);
			left -= part;
		}
		/* The message begins in the last of them. */
		for (int i = 0; i < MAX_PIECES / 2; i++) {
			struct piece swap = layout->piece[i];

			layout->piece[i] = layout->piece[MAX_PIECES - 1 - i];
			layout->piece[MAX_PIECES - 1 - i] = swap;
		}
		break;
	case EMPTY:
		add_piece(layout, &at, 0);
		add_piece(layout, &at, length / 3);
		add_piece(layout, &at, 0);
		add_piece(layout, &at, 0);
		add_piece(layout, &at, length - length / 3);
		add_piece(layout, &at, 0);
		break;
	case ODD:
		for (size_t part = 1; layout->count < MAX_PIECES - 1 && part < left; part = 2 * part + 1) {
			add_piece(layout, &at, part);
			left -= part;
		}
		add_piece(layout, &at, left);
		break;
	default:
		if (length)
			add_piece(layout, &at, length);
	}
	layout->used = (at + GUARD + 7) & ~7ULL;
}

/*
 * An area with the stream of `background` all over it, and in the pieces, from the byte `skip` of
 * them on, `length` bytes of the message `seed`.
 */
static inline void put_image(uint8_t *area, const struct layout *layout, uint32_t background,
			     uint32_t seed, size_t skip, size_t length)
{
	uint64_t done = 0;

	put_bytes(area, layout->used, background, 0);
	for (int i = 0; i < layout->count; i++) {
		const struct piece *piece = &layout->piece[i];
		size_t begin = skip < piece->length ? skip : piece->length;
		size_t part = piece->length - begin;

		skip -= begin;
		if (part > length - done)
			part = length - done;
		put_bytes(area + piece->at + begin, part, seed, done);
		done += part;
	}
}

/* Writes bytes of its own into the pieces, from their begin on: a header. */
static inline void put_header(uint8_t *area, const struct layout *layout, const uint8_t *header,
			      size_t length)
{
	for (int i = 0; i < layout->count && length; i++) {
		const struct piece *piece = &layout->piece[i];
		size_t part = piece->length < length ? piece->length : length;

		memcpy(area + piece->at, header, part);
		header += part;
		length -= part;
	}
}

#endif
