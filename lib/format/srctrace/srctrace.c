/* SPDX-License-Identifier: MIT */
/*
 * The description of the format, its bid (on the magic, or on a marker in a console log), and the
 * offsets of the parts of an entry, which reader and writer share.
 */
#include "format/srctrace/srctrace.h"

#include <string.h>

static const char *const extensions[] = { ".srctrace", NULL };

static const struct tr_format_option options[] = {
	{ "base64", "yes|no", false, true,
	  "write the form of console logs: lines of Base64 between markers" },
	{ "align", "1|2|4|8|16", false, true, "pad to multiples of N bytes" },
	{ "endian", "little|big", false, true, "byte order to write" },
	{ NULL, NULL, false, false, NULL },
};

enum {
	LEAST = 8,	  /* bytes of a truncated magic that distinguish it from other input */
	SEARCH = 4 << 20, /* bytes of a log in which the first trace must begin */
	BITS_MARKER = 8 * (sizeof TR_SRCTRACE_BEGIN - 1),
};

int tr_srctrace_magic_bits(const char *p, size_t available)
{
	size_t n = available < TR_SRCTRACE_MAGIC_SIZE ? available : TR_SRCTRACE_MAGIC_SIZE;
	return n >= LEAST && memcmp(p, TR_SRCTRACE_MAGIC, n) == 0 ? (int)n * 8 : 0;
}

/* Recognises the magic of a binary trace, of which a truncated file may have only a part. */
static int bid(struct tr_input *in)
{
	tr_input_more(in, TR_SRCTRACE_MAGIC_SIZE);
	return tr_srctrace_magic_bits(in->pos, tr_input_available(in));
}

/*
 * Searches for the marker of a trace in a console log, after any other output. A log is text, so
 * the search ends at a NUL, and after SEARCH bytes.
 */
static int search(struct tr_input *in, const struct tr_settings *settings)
{
	(void)settings;
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

/* Whether the trace is in a console log: by its content when reading, by -O base64 when writing. */
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

static const char *const languages[] = { "unit", "file" };
static const char *const parts[] = { "none", "body", "spec", "separate" };

const char *tr_srctrace_language(unsigned number)
{
	return number < sizeof languages / sizeof *languages ? languages[number] : NULL;
}

const char *tr_srctrace_part(unsigned number)
{
	return number < sizeof parts / sizeof *parts ? parts[number] : NULL;
}

/*
 * Offsets in the header of a unit. After the counts there are language, part (both only in version
 * 2) and encoding, each a byte, then padding in version 4, then the fingerprints, then padding in
 * version 2.
 */
enum {
	COUNTS = 4,
	PROJECT = 4,
	OLD_PROJECT_COUNTS = 8,
	AFTER_COUNTS = 4 * TR_SRCTRACE_BUFFERS,
	HEADER_PAD = 17,
	HEADER_PAD_SIZE = 3,
	OLD_BYTES = 3, /* language, part, encoding */
};

/* Returns the offset of the counts of bits. */
static size_t counts_at(const struct tr_srctrace_layout *layout)
{
	return layout->projects ? OLD_PROJECT_COUNTS : COUNTS;
}

/* Returns the offset of the padding at the end of a header of version 2. */
static size_t old_padding_at(const struct tr_srctrace_layout *layout)
{
	return counts_at(layout) + AFTER_COUNTS + OLD_BYTES +
	       (size_t)tr_srctrace_hashes(layout) * TR_SRCTRACE_HASH;
}

/*
 * Whether a header can have that layout: language, part and encoding are known values, and the
 * padding is zero. In the other layout fingerprints are in its place.
 */
static bool is_old_layout(const char *p, const struct tr_srctrace_layout *layout)
{
	static const char zeros[TR_SRCTRACE_OLD_UNIT];
	const char *bytes = p + counts_at(layout) + AFTER_COUNTS;
	size_t at = old_padding_at(layout);

	return tr_srctrace_language((unsigned char)bytes[0]) &&
	       tr_srctrace_part((unsigned char)bytes[1]) && !bytes[2] &&
	       memcmp(p + at, zeros, TR_SRCTRACE_OLD_UNIT - at) == 0;
}

bool tr_srctrace_find_form(const char *p, struct tr_srctrace_layout *layout)
{
	layout->projects = false;
	if (is_old_layout(p, layout))
		return true;
	layout->projects = true;
	return is_old_layout(p, layout);
}

void tr_srctrace_unit_measure(const char *p, const struct tr_srctrace_layout *layout,
			      struct tr_srctrace_unit *unit)
{
	size_t at = counts_at(layout) + AFTER_COUNTS;

	*unit = (struct tr_srctrace_unit){ .name_size = tr_wire_u32(p, layout->big) };
	if (layout->projects)
		unit->project_size = tr_wire_u32(p + PROJECT, layout->big);
	if (layout->old) {
		unit->language = (unsigned char)p[at++];
		unit->part = (unsigned char)p[at++];
	}
	unit->encoding = (unsigned char)p[at++];
	unit->hashes = layout->old ? at : HEADER_PAD + HEADER_PAD_SIZE;
	unit->name = tr_srctrace_unit_header(layout);
	unit->project = unit->name + tr_srctrace_padded(unit->name_size, layout->align);
	unit->size = unit->project + tr_srctrace_padded(unit->project_size, layout->align);
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++) {
		unit->bits[i] = tr_wire_u32(p + counts_at(layout) + 4 * i, layout->big);
		unit->buffers[i] = unit->size;
		unit->size += tr_srctrace_padded(tr_srctrace_bytes(unit->bits[i]), layout->align);
	}
}

/* Returns the padding after `size` bytes that begin at that offset. gnatcov does not check it. */
static struct tr_srctrace_gap padding(uint64_t begin, uint64_t size, unsigned align)
{
	return (struct tr_srctrace_gap){ begin + size, tr_srctrace_padded(size, align) - size, 0xff,
					 false };
}

size_t tr_srctrace_gaps(const char *entry, bool unit, const struct tr_srctrace_layout *layout,
			struct tr_srctrace_gap gaps[TR_SRCTRACE_GAPS])
{
	struct tr_srctrace_unit unit_parts;
	size_t n = 0, at = old_padding_at(layout);

	if (!unit) {
		gaps[n++] = padding(TR_SRCTRACE_INFO, tr_wire_u32(entry + 4, layout->big),
				    layout->align);
		return n;
	}
	tr_srctrace_unit_measure(entry, layout, &unit_parts);
	gaps[n++] = layout->old
			    ? (struct tr_srctrace_gap){ at, TR_SRCTRACE_OLD_UNIT - at, 0xff, true }
			    : (struct tr_srctrace_gap){ HEADER_PAD, HEADER_PAD_SIZE, 0xff, true };
	gaps[n++] = padding(unit_parts.name, unit_parts.name_size, layout->align);
	if (layout->projects)
		gaps[n++] = padding(unit_parts.project, unit_parts.project_size, layout->align);
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++) {
		uint64_t bytes = tr_srctrace_bytes(unit_parts.bits[i]);
		unsigned used = unit_parts.bits[i] % 8;
		if (used)
			gaps[n++] = (struct tr_srctrace_gap){ unit_parts.buffers[i] + bytes - 1, 1,
							      (unsigned char)(0xff << used), true };
		gaps[n++] = padding(unit_parts.buffers[i], bytes, layout->align);
	}
	return n;
}
