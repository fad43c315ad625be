#include <string.h>

#include "core/utf8.h"
#include "record/literal.h"
#include "record/string_scan.h"
#include "record/value.h"

/* Appends the escape for the byte at p, which is no part of a valid sequence or needs one. */
static void put_escape(unsigned char c, struct tr_buffer *to)
{
	struct tr_escape escape = { .type = c < 0x80 ? TR_ESCAPE_CHAR : TR_ESCAPE_BYTE, .code = c };
	char spelled[TR_ESCAPE_MAX];
	tr_buffer_put(to, spelled, tr_escape_write(&escape, false, spelled));
}

bool tr_string_escape(struct tr_text bytes, struct tr_buffer *to)
{
	if (bytes.len == 0)
		return true;
	const char *p = bytes.data, *end = p + bytes.len, *copied = p;
	bool plain = true;
	while ((p = tr_string_special(p, end)) < end) {
		unsigned length = (unsigned char)*p < 0x80 ? 0 : tr_utf8_length(p, end);
		if (length == 0) {
			plain = false;
			tr_buffer_put(to, copied, (size_t)(p - copied));
			put_escape((unsigned char)*p, to);
			copied = p + 1;
		}
		p += length ? length : 1;
	}
	tr_buffer_put(to, copied, (size_t)(end - copied));
	return plain;
}

/* Copies bytes of which none is special; false: one is. */
static inline bool copy_plain(struct tr_text bytes, char *to)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	for (size_t i = 0; i < bytes.len; i += TR_STRING_PAD) {
		size_t left = bytes.len - i;
		unsigned ours = left < TR_STRING_PAD ? (1u << left) - 1 : 0xffff;
		__m128i block = _mm_loadu_si128((const __m128i *)(const void *)(bytes.data + i));
		_mm_storeu_si128((__m128i *)(void *)(to + i), block);
		if (tr_string_special_mask(block) & ours)
			return false;
	}
	return true;
#else
	const char *end = bytes.data + bytes.len;
	if (tr_string_special(bytes.data, end) < end)
		return false;
	memcpy(to, bytes.data, bytes.len);
	return true;
#endif
}

void tr_string_quote(struct tr_text bytes, struct tr_buffer *to)
{
	char *room = tr_buffer_room(to, bytes.len + TR_STRING_PAD + 2);

	if (!room)
		return;
	*room = '"';
	if (copy_plain(bytes, room + 1)) {
		room[1 + bytes.len] = '"';
		tr_buffer_used(to, bytes.len + 2);
		return;
	}
	tr_buffer_used(to, 1);
	tr_string_escape(bytes, to);
	tr_buffer_put_byte(to, '"');
}

void tr_wstring_unit(uint64_t unit, struct tr_buffer *to)
{
	struct tr_escape escape = { .type = TR_ESCAPE_CHAR, .code = unit };
	char *room = tr_buffer_room(to, TR_ESCAPE_MAX);
	if (room)
		tr_buffer_used(to, tr_escape_write(&escape, true, room));
}

/* The bytes of one escape: a lone surrogate and what no UTF-8 can hold included. */
static size_t escape_bytes(const struct tr_escape *escape, char *to)
{
	uint64_t code = escape->code;
	if (escape->type == TR_ESCAPE_BYTE) {
		*to = (char)code;
		return 1;
	}
	if (code >= 0xd800 && code < 0xe000) {
		to[0] = (char)0xed;
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	if (code > 0x10ffff)
		return tr_escape_write(escape, true, to);
	return tr_utf8_encode((uint32_t)code, to);
}

size_t tr_string_unit(const char *p, const char *end, char *to, size_t *length)
{
	struct tr_escape escape;

	if (*p != '\\' || !tr_escape_read(p, end, false, &escape)) {
		*to = *p;
		*length = 1;
		return 1;
	}
	*length = escape_bytes(&escape, to);
	return escape.len;
}

struct tr_text tr_string_bytes(struct tr_text spelling, struct tr_arena *arena)
{
	const char *p = spelling.data, *end = p + spelling.len;
	if (spelling.len == 0)
		return TR_TEXT("");
	const char *backslash = memchr(p, '\\', spelling.len);
	if (!backslash)
		return spelling;
	/* no escape stands for more bytes than it takes, TR_ESCAPE_MAX is slack for writing one */
	char *bytes = tr_arena_alloc(arena, spelling.len + TR_ESCAPE_MAX);
	if (!bytes)
		return (struct tr_text){ NULL, 0 };
	char *to = bytes;
	while (backslash) {
		memcpy(to, p, (size_t)(backslash - p));
		to += backslash - p;
		/* `\u{…}` is an escape of wide strings only, and narrow ones have none like it */
		bool wide = end - backslash > 2 && backslash[2] == '{';
		struct tr_escape escape;
		p = backslash;
		if (!tr_escape_read(backslash, end, wide, &escape))
			break;
		to += escape_bytes(&escape, to);
		p += escape.len;
		backslash = p < end ? memchr(p, '\\', (size_t)(end - p)) : NULL;
	}
	memcpy(to, p, (size_t)(end - p));
	to += end - p;
	return tr_text_span(bytes, to);
}

bool tr_wstring_next(struct tr_text *spelling, uint64_t *unit)
{
	const char *p = spelling->data, *end = p + spelling->len;
	size_t length;
	if (spelling->len == 0)
		return false;
	if (*p == '\\') {
		struct tr_escape escape;
		if (!tr_escape_read(p, end, true, &escape))
			return false;
		*unit = escape.code;
		length = escape.len;
	} else {
		length = tr_utf8_length(p, end);
		if (length == 0)
			return false;
		*unit = tr_utf8_decode(p, (unsigned)length);
	}
	*spelling = tr_text_span(p + length, end);
	return true;
}
