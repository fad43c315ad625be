/*
 * The raw snappy block as its format description has it: the size as a varint,
 * then elements. The low two bits of an element's first byte say what it is:
 * 0 a literal, else a copy whose offset takes 1, 2 or 4 bytes.
 */
#include "core/snappy_salvage.h"

#include <stdint.h>

enum { LITERAL, LONGEST_INLINE = 60, COPY_4 = 3 };

struct reader {
	const unsigned char *pos, *end;
};

struct element {
	size_t length;
	size_t offset; /* of a copy, backwards; 0: a literal */
};

/* n bytes, the lowest first. */
static bool read_number(struct reader *r, unsigned n, size_t *value)
{
	if ((size_t)(r->end - r->pos) < n)
		return false;
	*value = 0;
	for (unsigned i = 0; i < n; i++)
		*value |= (size_t)*r->pos++ << 8 * i;
	return true;
}

static bool read_element(struct reader *r, struct element *e)
{
	size_t tag;
	if (!read_number(r, 1, &tag))
		return false;
	size_t upper = tag >> 2;
	*e = (struct element){ .length = upper + 1 };
	switch (tag & 3) {
	case LITERAL:
		if (upper < LONGEST_INLINE)
			return true;
		if (!read_number(r, (unsigned)(upper - LONGEST_INLINE) + 1, &e->length))
			return false;
		e->length++;
		return true;
	case 1:
		if (!read_number(r, 1, &e->offset))
			return false;
		e->length = (upper & 7) + 4;
		e->offset |= tag >> 5 << 8;
		break;
	default:
		if (!read_number(r, (tag & 3) == COPY_4 ? 4 : 2, &e->offset))
			return false;
		break;
	}
	return e->offset != 0;
}

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

size_t tr_snappy_salvage(struct tr_text packed, char *plain, size_t size)
{
	struct reader r = { (const unsigned char *)packed.data,
			    (const unsigned char *)packed.data + packed.len };
	struct element e;
	size_t made = 0;
	while (r.pos < r.end && *r.pos++ & 0x80)
		; /* the size is known */
	while (made < size && read_element(&r, &e)) {
		size_t n = e.length < size - made ? e.length : size - made;
		if (e.offset > made)
			break;
		if (e.offset) {
			/* byte by byte: a copy may overlap what it makes */
			for (size_t i = 0; i < n; i++, made++)
				plain[made] = plain[made - e.offset];
			continue;
		}
		size_t left = (size_t)(r.end - r.pos);
		if (n > left)
			n = left;
		memcpy(plain + made, r.pos, n);
		r.pos += n;
		made += n;
	}
	return made;
}
