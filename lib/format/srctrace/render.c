#include "format/srctrace/render.h"

#include <stdio.h>
#include <time.h>

#include "coverage/unit.h"
#include "format/srctrace/srctrace.h"
#include "record/base64.h"
#include "record/literal.h"
#include "record/record.h"

enum { HASHES = 20, DATE_SIZE = 8 };

#define DATE_MAX 253402300799 /* the end of the year 9999 */


static void put_key(const char *key, struct tr_buffer *line)
{
	tr_buffer_put_byte(line, '\t');
	tr_buffer_put_text(line, tr_text_from(key));
	tr_buffer_put_byte(line, '=');
}

void tr_srctrace_header_line(const struct tr_srctrace_layout *layout, unsigned padding,
			     struct tr_buffer *line)
{
	tr_buffer_put_literal(line, "%trec\t1\tversion=");
	tr_buffer_put_decimal(line, TR_SRCTRACE_VERSION);
	put_key("align", line);
	tr_buffer_put_decimal(line, layout->align);
	put_key("endian", line);
	tr_buffer_put_text(line, tr_text_from(layout->big ? "big" : "little"));
	if (padding) {
		put_key(".pad", line);
		tr_buffer_put_decimal(line, padding);
	}
}

static void begin_line(const char *kind, uint64_t seq, struct tr_buffer *line)
{
	tr_buffer_put_text(line, tr_text_from(kind));
	tr_buffer_put_byte(line, '\t');
	tr_buffer_put_decimal(line, seq);
	tr_buffer_put_literal(line, "\t-\t-\t");
}

/* Boards without a clock write anything: what is no date of ours stays a number. */
static void put_date(struct tr_text data, struct tr_buffer *line)
{
	uint64_t seconds = (uint64_t)tr_wire_u32(data.data + 4, false) << 32 |
			   tr_wire_u32(data.data, false);
	time_t time = (time_t)seconds;
	struct tm tm;
	char text[64];
	put_key("value", line);
	if (seconds > DATE_MAX || !gmtime_r(&time, &tm)) {
		tr_buffer_put_decimal(line, seconds);
		return;
	}
	snprintf(text, sizeof text, "\"%04d-%02d-%02dT%02d:%02d:%02dZ\"", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	tr_buffer_put_text(line, tr_text_from(text));
}

void tr_srctrace_info_line(uint64_t seq, uint32_t kind, struct tr_text data, struct tr_buffer *line)
{
	const char *name = tr_srctrace_info_name(kind);
	begin_line("info", seq, line);
	if (name)
		tr_buffer_put_text(line, tr_text_from(name));
	else
		tr_buffer_put_decimal(line, kind);
	put_key("data", line);
	tr_buffer_put_byte(line, '"');
	tr_string_escape(data, line);
	tr_buffer_put_byte(line, '"');
	if (kind == TR_SRCTRACE_EXEC_DATE && data.len == DATE_SIZE)
		put_date(data, line);
}

/* The numbers of the bits that are set. */
static void put_list(const char *buffer, uint32_t bits, struct tr_buffer *line)
{
	bool first = true;
	tr_buffer_put_byte(line, '[');
	for (uint64_t i = 0; i < tr_srctrace_bytes(bits) && !line->failed; i++) {
		unsigned byte = (unsigned char)buffer[i];
		uint64_t left = bits - i * 8;
		if (left < 8)
			byte &= 0xffu >> (8 - left);
		for (; byte; byte &= byte - 1) {
			if (!first)
				tr_buffer_put_byte(line, ',');
			tr_buffer_put_decimal(line, i * 8 + (unsigned)__builtin_ctz(byte));
			first = false;
		}
	}
	tr_buffer_put_byte(line, ']');
}

static void put_hash(const char *hash, struct tr_buffer *line)
{
	tr_buffer_put_byte(line, '"');
	for (int i = 0; i < TR_SRCTRACE_HASH; i++)
		tr_buffer_put_hex(line, (unsigned char)hash[i], 2);
	tr_buffer_put_byte(line, '"');
}

void tr_srctrace_unit_line(uint64_t seq, const char *entry, const struct tr_srctrace_unit *unit,
			   struct tr_buffer *line)
{
	begin_line("unit", seq, line);
	tr_cell_escape((struct tr_text){ entry + unit->name, unit->name_size }, false, line);
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++) {
		put_key(tr_unit_bits_keys[i], line);
		tr_buffer_put_decimal(line, unit->bits[i]);
		put_key(tr_unit_list_keys[i], line);
		put_list(entry + unit->buffers[i], unit->bits[i], line);
	}
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++) {
		put_key(tr_unit_hash_keys[i], line);
		put_hash(entry + HASHES + TR_SRCTRACE_HASH * i, line);
	}
}

void tr_srctrace_raw_field(struct tr_text entry, struct tr_buffer *line)
{
	put_key(".raw", line);
	tr_buffer_put_literal(line, "b64:");
	tr_base64_write(entry, line);
}
