/*
 * A block is its size as a varint, then elements. The low two bits of an
 * element's first byte say what it is: 0 a literal, else a copy of what was
 * made before, whose offset takes 1, 2 or 4 bytes.
 *
 * Far from both ends nothing is checked but offsets and long lengths: STRIDE
 * bytes are moved where fewer are meant, and what is too much is overwritten.
 * Near an end every byte is looked at.
 */
#include "core/snappy_block.h"

enum {
	LITERAL = 0,
	COPY_1 = 1,
	COPY_2 = 2,
	COPY_4 = 3,
	LONGEST_INLINE = 60, /* of a literal, whose length takes bytes of its own above */
	LONGEST_COPY = 64,
	STRIDE = 16,
	/* so far from an end: one element, and what is moved beyond it */
	IN_MARGIN = 1 + LONGEST_INLINE + STRIDE,
	OUT_MARGIN = LONGEST_COPY + 2 * STRIDE,
};

struct decoder {
	const unsigned char *in, *in_end;
	unsigned char *begin, *out, *out_end;
};

struct element {
	size_t length;
	size_t offset; /* of a copy, backwards; 0: a literal */
};

bool tr_snappy_size(struct tr_text packed, uint32_t *size)
{
	enum { LONGEST = 5, LAST_MAX = 15 }; /* 32 bits by sevens, and the four that are left */
	const unsigned char *p = (const unsigned char *)packed.data;
	*size = 0;
	for (size_t i = 0; i < LONGEST && i < packed.len; i++) {
		*size |= (uint32_t)(p[i] & 0x7f) << 7 * i;
		if (p[i] < 0x80)
			return i < LONGEST - 1 || p[i] <= LAST_MAX;
	}
	return false;
}

/* n bytes, the lowest first. */
static bool read_number(struct decoder *d, unsigned n, size_t *value)
{
	if ((size_t)(d->in_end - d->in) < n)
		return false;
	*value = 0;
	for (unsigned i = 0; i < n; i++)
		*value |= (size_t)*d->in++ << 8 * i;
	return true;
}

static bool read_element(struct decoder *d, struct element *e)
{
	size_t tag;
	if (!read_number(d, 1, &tag))
		return false;
	size_t upper = tag >> 2;
	*e = (struct element){ .length = upper + 1 };
	switch (tag & 3) {
	case LITERAL:
		if (upper < LONGEST_INLINE)
			return true;
		if (!read_number(d, (unsigned)(upper - LONGEST_INLINE) + 1, &e->length))
			return false;
		e->length++;
		return true;
	case COPY_1:
		if (!read_number(d, 1, &e->offset))
			return false;
		e->length = (upper & 7) + 4;
		e->offset |= tag >> 5 << 8;
		break;
	default:
		if (!read_number(d, (tag & 3) == COPY_4 ? 4 : 2, &e->offset))
			return false;
		break;
	}
	return e->offset != 0;
}

/* The next element, as much of it as there is. False: it is not whole, or makes no sense. */
static bool decode_one(struct decoder *d)
{
	struct element e;
	if (!read_element(d, &e) || e.offset > (size_t)(d->out - d->begin))
		return false;
	size_t room = (size_t)(d->out_end - d->out), left = (size_t)(d->in_end - d->in);
	size_t n = e.length < room ? e.length : room;
	if (e.offset) {
		/* byte by byte: a copy may overlap what it makes */
		for (const unsigned char *stop = d->out + n; d->out < stop; d->out++)
			*d->out = d->out[-(ptrdiff_t)e.offset];
		return n == e.length;
	}
	if (n > left)
		n = left;
	memcpy(d->out, d->in, n);
	d->in += n;
	d->out += n;
	return n == e.length;
}

/* Up to STRIDE - 1 bytes more than up to stop. They may overlap, at least so far apart. */
static inline void move_strides(unsigned char *to, const unsigned char *from,
				const unsigned char *stop)
{
	do {
		memcpy(to, from, STRIDE);
		to += STRIDE;
		from += STRIDE;
	} while (to < stop);
}

/*
 * The same where the source is nearer: what repeats itself at that distance does
 * so at any multiple of it, and twice what there is can be had by copying it.
 */
static void repeat(unsigned char *to, size_t distance, const unsigned char *stop)
{
	const unsigned char *pattern = to - distance;
	for (; distance < STRIDE && to < stop; distance *= 2) {
		for (size_t i = 0; i < distance; i++)
			to[i] = pattern[i];
		to += distance;
	}
	if (to < stop)
		move_strides(to, pattern, stop);
}

static inline uint32_t load_u32(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/*
 * A match of more than LONGEST_COPY bytes is told in pieces, by the same three
 * bytes again and again: how long they are together, as far as the margins let.
 */
static size_t join_copies(struct decoder *d, uint32_t copy)
{
	size_t length = LONGEST_COPY, room = (size_t)(d->out_end - d->out) - OUT_MARGIN;
	while (d->in_end - d->in >= IN_MARGIN && ((load_u32(d->in) ^ copy) & 0xffffff) == 0 &&
	       length < room) {
		length += LONGEST_COPY;
		d->in += 3;
	}
	return length;
}

/* A literal far from the ends. False: it is too long for that, and still to be read. */
static inline bool put_literal(struct decoder *d)
{
	size_t length = (*d->in >> 2) + 1u;
	if (length > LONGEST_INLINE)
		return false;
	move_strides(d->out, d->in + 1, d->out + length);
	d->in += 1 + length;
	d->out += length;
	return true;
}

/* A copy far from the ends. False: its offset makes no sense. */
static inline bool put_copy(struct decoder *d)
{
	unsigned tag = *d->in;
	uint32_t word = load_u32(d->in);
	struct element e = { .length = (tag >> 2) + 1 };
	switch (tag & 3) {
	case COPY_1:
		e = (struct element){ (tag >> 2 & 7) + 4, tag >> 5 << 8 | (word >> 8 & 0xff) };
		d->in += 2;
		break;
	case COPY_2:
		e.offset = word >> 8 & 0xffff;
		d->in += 3;
		if (e.length == LONGEST_COPY)
			e.length = join_copies(d, word);
		break;
	default:
		e.offset = load_u32(d->in + 1);
		d->in += 5;
		break;
	}
	if (e.offset == 0 || e.offset > (size_t)(d->out - d->begin))
		return false;
	if (e.offset < STRIDE)
		repeat(d->out, e.offset, d->out + e.length);
	else
		move_strides(d->out, d->out - e.offset, d->out + e.length);
	d->out += e.length;
	return true;
}

static inline bool is_far_from_ends(const struct decoder *d)
{
	return d->in_end - d->in >= IN_MARGIN && d->out_end - d->out >= OUT_MARGIN;
}

size_t tr_snappy_decode(struct tr_text packed, char *plain, size_t size, bool *whole)
{
	struct decoder d = {
		.in = (const unsigned char *)packed.data,
		.in_end = (const unsigned char *)packed.data + packed.len,
		.begin = (unsigned char *)plain,
		.out = (unsigned char *)plain,
		.out_end = (unsigned char *)plain + size,
	};
	bool fine = true;
	while (d.in < d.in_end && *d.in++ & 0x80)
		; /* the size is known */
	while (fine && d.in < d.in_end) {
		if (!is_far_from_ends(&d))
			fine = decode_one(&d);
		else if ((*d.in & 3) != LITERAL)
			fine = put_copy(&d);
		else if (!put_literal(&d))
			fine = decode_one(&d);
	}
	*whole = fine && d.out == d.out_end;
	return (size_t)(d.out - d.begin);
}
