/*
 * The block as lz4's format description has it: sequences of a token, literals
 * and a copy. The token's upper half counts the literals, its lower half the
 * copied bytes beyond four; 15 goes on in further bytes, to the first that is
 * not 255. The copy's offset takes two bytes. The last sequence has no copy.
 */
#include "core/lz4_salvage.h"

#include <stdint.h>
#include <stdlib.h>

enum { LONG = 15, LEAST_COPY = 4 };

struct reader {
	const unsigned char *pos, *end;
};

/* A length whose first four bits are given. */
static bool read_length(struct reader *r, unsigned nibble, size_t *length)
{
	*length = nibble;
	if (nibble < LONG)
		return true;
	while (r->pos < r->end) {
		*length += *r->pos;
		if (*r->pos++ != UINT8_MAX)
			return true;
	}
	return false;
}

/* n bytes from `offset` back: a copy may overlap what it makes. */
static void copy_back(char *to, size_t offset, size_t n)
{
	const char *from = to - offset;
	if (offset >= n)
		memcpy(to, from, n);
	else
		for (size_t i = 0; i < n; i++)
			to[i] = from[i];
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Into plain, which has room for *size bytes and follows `before` bytes of
 * history. *size is then how many came; true: packed is a block.
 */
static bool decode(struct tr_text packed, char *plain, size_t before, size_t *size)
{
	struct reader r = { (const unsigned char *)packed.data,
			    (const unsigned char *)packed.data + packed.len };
	size_t room = *size, made = 0, length;

	for (;;) {
		*size = made;
		if (r.pos == r.end)
			return false;
		unsigned token = *r.pos++;
		if (!read_length(&r, token >> 4, &length))
			return false;
		size_t left = (size_t)(r.end - r.pos);
		size_t n = least(length, least(left, room - made));
		memcpy(plain + made, r.pos, n);
		r.pos += n;
		*size = made += n;
		if (n < length)
			return false;
		if (n == left)
			return true;
		if (left - n < 2)
			return false;
		size_t offset = r.pos[0] | (size_t)r.pos[1] << 8;
		r.pos += 2;
		if (offset == 0 || offset > before + made ||
		    !read_length(&r, token & LONG, &length))
			return false;
		n = least(length + LEAST_COPY, room - made);
		copy_back(plain + made, offset, n);
		made += n;
	}
}

bool tr_lz4_salvage_begin(struct tr_lz4_salvage *s, bool linked)
{
	s->len = s->at = 0;
	s->linked = linked;
	if (linked && !s->history)
		s->history = malloc(TR_LZ4_HISTORY);
	return s->history || !linked;
}

void tr_lz4_salvage_remember(struct tr_lz4_salvage *s, const char *data, size_t len)
{
	if (!s->linked)
		return;
	if (len > TR_LZ4_HISTORY) {
		data += len - TR_LZ4_HISTORY;
		len = TR_LZ4_HISTORY;
	}
	size_t first = least(len, TR_LZ4_HISTORY - s->at);
	memcpy(s->history + s->at, data, first);
	memcpy(s->history, data + first, len - first);
	s->at = (s->at + len) % TR_LZ4_HISTORY;
	s->len = least(s->len + len, TR_LZ4_HISTORY);
}

bool tr_lz4_salvage_block(struct tr_lz4_salvage *s, struct tr_text packed, size_t size, bool *whole)
{
	s->made.len = 0;
	char *to = tr_buffer_room(&s->made, s->len + size);
	if (!to)
		return false;
	if (s->len) {
		size_t oldest = s->len < TR_LZ4_HISTORY ? 0 : s->at;
		memcpy(to, s->history + oldest, s->len - oldest);
		memcpy(to + s->len - oldest, s->history, oldest);
	}
	*whole = decode(packed, to + s->len, s->len, &size);
	tr_buffer_used(&s->made, s->len + size);
	s->given = s->len;
	return true;
}

bool tr_lz4_salvage_stored(struct tr_lz4_salvage *s, struct tr_text stored)
{
	s->made.len = s->given = 0;
	tr_buffer_put_text(&s->made, stored);
	return !s->made.failed;
}

size_t tr_lz4_salvage_give(struct tr_lz4_salvage *s, char *to, size_t cap)
{
	size_t n = least(s->made.len - s->given, cap);
	if (n)
		memcpy(to, s->made.data + s->given, n);
	s->given += n;
	return n;
}

void tr_lz4_salvage_free(struct tr_lz4_salvage *s)
{
	tr_buffer_free(&s->made);
	free(s->history);
	*s = (struct tr_lz4_salvage){ .made = TR_BUFFER_INIT };
}
