/* SPDX-License-Identifier: MIT */

#include "format/srctrace/srctrace.h"

#include <string.h>

static const char *const extensions[] = { ".srctrace", NULL };

static const struct tr_format_option options[] = {
	{ "base64", "yes|no", false, true,
	  "write the form that consoles carry: lines of Base64 between markers" },
	{ "align", "1|2|4|8|16", false, true, "pad to multiples of N bytes" },
	{ "endian", "little|big", false, true, "byte order to write" },
	{ NULL, NULL, false, false, NULL },
};

enum {
	LEAST = 8,	  /* bytes of a cut magic that tell it from other things */
	SEARCH = 4 << 20, /* so much of a log may stand before the first trace */
	BITS_MARKER = 8 * (sizeof TR_SRCTRACE_BEGIN - 1),
};

int tr_srctrace_magic_bits(const char *p, size_t available)
{
	size_t n = available < TR_SRCTRACE_MAGIC_SIZE ? available : TR_SRCTRACE_MAGIC_SIZE;
	return n >= LEAST && memcmp(p, TR_SRCTRACE_MAGIC, n) == 0 ? (int)n * 8 : 0;
}

static int bid(struct tr_input *in)
{
	tr_input_more(in, TR_SRCTRACE_MAGIC_SIZE);
	return tr_srctrace_magic_bits(in->pos, tr_input_available(in));
}

/* A console log is text: what holds a NUL is not looked through to the end. */
static int search(struct tr_input *in)
{
	size_t marker = sizeof TR_SRCTRACE_BEGIN - 1, seen = 0;
	for (;;) {
		size_t available = tr_input_available(in);
		size_t limit = available < SEARCH ? available : SEARCH;
		size_t from = seen < marker ? 0 : seen - marker;
		if (memmem(in->pos + from, limit - from, TR_SRCTRACE_BEGIN, marker))
			return BITS_MARKER;
		if (limit == SEARCH || (limit > seen && memchr(in->pos + seen, 0, limit - seen)))
			return 0;
		seen = limit;
		if (!tr_input_more(in, available + 1))
			return 0;
	}
}

static bool is_log(struct tr_input *in, const struct tr_settings *settings)
{
	if (in)
		return !bid(in);
	return tr_text_is(tr_setting_get(settings, "base64", "no"), "yes");
}

const struct tr_format tr_format_srctrace = {
	.name = "srctrace",
	.summary = "GNATcoverage source trace, binary or Base64 in a console log",
	.exact = "EXACT",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_BINARY | TR_FORMAT_HEADS |
		 TR_FORMAT_ONE,
	.extensions = extensions,
	.options = options,
	.bid = bid,
	.search = search,
	.is_log = is_log,
	.open = tr_srctrace_open,
	.create = tr_srctrace_create,
	.styles = tr_srctrace_styles,
};

static const char *const names[TR_SRCTRACE_INFO_KINDS] = {
	[TR_SRCTRACE_PROGRAM_NAME] = "PROGRAM_NAME",
	[TR_SRCTRACE_EXEC_DATE] = "EXEC_DATE",
	[TR_SRCTRACE_USER_DATA] = "USER_DATA",
};

const char *tr_srctrace_info_name(uint32_t kind)
{
	return kind < TR_SRCTRACE_INFO_KINDS ? names[kind] : NULL;
}

bool tr_srctrace_info_kind(struct tr_text name, uint32_t *kind)
{
	for (*kind = 1; *kind < TR_SRCTRACE_INFO_KINDS; ++*kind)
		if (tr_text_is(name, names[*kind]))
			return true;
	uint64_t n = 0;
	for (size_t i = 0; i < name.len; i++) {
		unsigned digit = (unsigned char)name.data[i] - (unsigned)'0';
		n = n * 10 + digit;
		if (digit > 9 || n > UINT32_MAX)
			return false;
	}
	*kind = (uint32_t)n;
	return n != TR_SRCTRACE_INFO_END;
}

void tr_srctrace_put_u32(uint32_t n, bool big, struct tr_buffer *to)
{
	char bytes[sizeof n];
	tr_wire_put_u32(bytes, big, n);
	tr_buffer_put(to, bytes, sizeof bytes);
}

void tr_srctrace_pad(size_t start, unsigned align, struct tr_buffer *to)
{
	while ((to->len - start) % align && !to->failed)
		tr_buffer_put_byte(to, 0);
}

enum { ENCODING = 16, HEADER_PAD = 17, HEADER_PAD_SIZE = 3 }; /* offsets in the header */

void tr_srctrace_unit_measure(const char *p, const struct tr_srctrace_layout *layout,
			      struct tr_srctrace_unit *unit)
{
	unit->name_size = tr_wire_u32(p, layout->big);
	unit->encoding = (unsigned char)p[ENCODING];
	unit->name = TR_SRCTRACE_UNIT;
	unit->size = unit->name + tr_srctrace_padded(unit->name_size, layout->align);
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++) {
		unit->bits[i] = tr_wire_u32(p + 4 + 4 * i, layout->big);
		unit->buffers[i] = unit->size;
		unit->size += tr_srctrace_padded(tr_srctrace_bytes(unit->bits[i]), layout->align);
	}
}

/* The padding after `size` bytes that begin there. */
static struct tr_srctrace_gap padding(uint64_t begin, uint64_t size, unsigned align)
{
	return (struct tr_srctrace_gap){ begin + size, tr_srctrace_padded(size, align) - size, 0xff,
					 false };
}

size_t tr_srctrace_unit_gaps(const struct tr_srctrace_unit *unit, unsigned align,
			     struct tr_srctrace_gap gaps[TR_SRCTRACE_GAPS])
{
	size_t n = 0;
	gaps[n++] = (struct tr_srctrace_gap){ HEADER_PAD, HEADER_PAD_SIZE, 0xff, true };
	gaps[n++] = padding(unit->name, unit->name_size, align);
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++) {
		uint64_t bytes = tr_srctrace_bytes(unit->bits[i]);
		unsigned used = unit->bits[i] % 8;
		if (used)
			gaps[n++] = (struct tr_srctrace_gap){ unit->buffers[i] + bytes - 1, 1,
							      (unsigned char)(0xff << used), true };
		gaps[n++] = padding(unit->buffers[i], bytes, align);
	}
	return n;
}

struct tr_srctrace_gap tr_srctrace_info_gap(uint32_t size, unsigned align)
{
	return padding(TR_SRCTRACE_INFO, size, align);
}

enum tr_srctrace_zeros tr_srctrace_gaps_look(const char *entry, const struct tr_srctrace_gap *gaps,
					     size_t count)
{
	enum tr_srctrace_zeros found = TR_SRCTRACE_ZERO;
	for (size_t i = 0; i < count; i++)
		for (uint64_t k = 0; k < gaps[i].size; k++)
			if (((unsigned char)entry[gaps[i].offset + k] & gaps[i].mask) &&
			    found != TR_SRCTRACE_REFUSED)
				found = gaps[i].checked ? TR_SRCTRACE_REFUSED
							: TR_SRCTRACE_NOT_ZERO;
	return found;
}

void tr_srctrace_gaps_clear(char *entry, const struct tr_srctrace_gap *gaps, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (uint64_t k = 0; k < gaps[i].size; k++)
			entry[gaps[i].offset + k] &= (char)~gaps[i].mask;
}
