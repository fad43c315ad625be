/* SPDX-License-Identifier: MIT */
#include "format/srctrace/srctrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coverage/unit.h"
#include "format/srctrace/feed.h"
#include "record/base64.h"
#include "record/literal.h"
#include "record/record.h"

/* Entries as lines of the stream, without their line feed. */

enum { HASHES = 20, DATE_SIZE = 8 };

#define DATE_MAX 253402300799 /* the end of the year 9999 */

static void put_key(const char *key, struct tr_buffer *line)
{
	tr_buffer_put_byte(line, '\t');
	tr_buffer_put_text(line, tr_text_from(key));
	tr_buffer_put_byte(line, '=');
}

/* padding: of the header, 0 where it is as it should be. */
static void put_header(const struct tr_srctrace_layout *layout, unsigned padding,
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

/* Boards without a clock write anything: what is no date of ours stays a
 * number. */
static void put_date(struct tr_text data, struct tr_buffer *line)
{
	uint64_t seconds =
		(uint64_t)tr_wire_u32(data.data + 4, false) << 32 | tr_wire_u32(data.data, false);
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

static void put_info(uint64_t seq, uint32_t kind, struct tr_text data, struct tr_buffer *line)
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

/* entry: the whole of it. */
static void put_unit(uint64_t seq, const char *entry, const struct tr_srctrace_unit *unit,
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

/* The entry as it is, for what no field says. */
static void put_raw(struct tr_text entry, struct tr_buffer *line)
{
	put_key(".raw", line);
	tr_buffer_put_literal(line, "b64:");
	tr_base64_write(entry, line);
}

/* Bytes that the lists of its set bits take as text, or some more. entry: the
 * whole of it. */
static uint64_t weight_of(const char *entry, const struct tr_srctrace_unit *unit)
{
	uint64_t set = 0, digits = sizeof "4294967295," - 1;
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++)
		for (uint64_t k = 0; k < tr_srctrace_bytes(unit->bits[i]); k++)
			set += (unsigned)__builtin_popcount(
				(unsigned char)entry[unit->buffers[i] + k]);
	return set * digits;
}

enum state { BEGIN, HEADER, INFO, UNIT, OVER };

struct reader {
	struct tr_srctrace_feed feed;
	uint64_t max_record;
	enum state state;
	struct tr_srctrace_layout layout;
	uint64_t seq, traces;
	struct tr_arena arena;
	struct tr_record record;
	struct tr_buffer line;
	bool ready;	 /* line is whole, a remark on it was made before */
	uint64_t offset; /* of what is in line */
};

struct tr_reader *tr_srctrace_open(const struct tr_read_config *config, struct tr_input *in,
				   struct tr_error *err)
{
	struct reader *reader = calloc(1, sizeof *reader);
	if (!reader) {
		tr_error_memory(err);
		return NULL;
	}
	reader->max_record = config->limits.max_record;
	tr_arena_limit(&reader->arena, config->limits.max_record);
	tr_srctrace_feed_init(&reader->feed, in, reader->max_record);
	return (struct tr_reader *)reader;
}

void tr_srctrace_close(struct tr_reader *base)
{
	struct reader *reader = (struct reader *)base;
	tr_srctrace_feed_free(&reader->feed);
	tr_arena_free(&reader->arena);
	tr_buffer_free(&reader->line);
	free(reader);
}

static const char *window(const struct reader *reader)
{
	return tr_srctrace_feed_window(&reader->feed).data;
}

/* Puts the place and the number of the record to what err says. */
static enum tr_status about(const struct reader *reader, enum tr_status status,
			    struct tr_error *err)
{
	tr_srctrace_feed_place(&reader->feed, err);
	err->record = reader->seq;
	return status;
}

/* The trace gives no more; the next one of a log is looked for. */
static enum tr_status give_up(struct reader *reader, struct tr_error *err)
{
	reader->state = BEGIN;
	return about(reader, TR_WARN, err);
}

/* There are fewer bytes than `what` needs. */
static enum tr_status cut(struct reader *reader, const char *what, struct tr_error *err)
{
	reader->state = reader->feed.console ? BEGIN : OVER;
	if (tr_srctrace_feed_trouble(&reader->feed, err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	tr_error_set(err, TR_CAUSE_CUT, "the trace ends in %s", what);
	return about(reader, TR_WARN, err);
}

/* Hands out reader->line, or the remark that is due before it. */
static enum tr_status deliver(struct reader *reader, struct tr_record **record,
			      struct tr_error *err)
{
	reader->ready = false;
	tr_buffer_put_byte(&reader->line, '\n');
	if (tr_record_from_buffer(&reader->record, &reader->arena, &reader->line, err) != TR_OK)
		return TR_FATAL;
	if (reader->feed.console)
		reader->record.source_line = reader->offset;
	else
		reader->record.source_offset = reader->offset;
	*record = &reader->record;
	return reader->record.type == TR_HEADER ? tr_record_split(*record, err) : TR_OK;
}

/* Steps behind the entry that became reader->line. */
static void consume(struct reader *reader, size_t size)
{
	reader->offset = reader->feed.console ? tr_srctrace_feed_line(&reader->feed)
					      : reader->feed.in->offset;
	tr_srctrace_feed_skip(&reader->feed, size);
}

/* Says what is odd about an entry that is handed out all the same, with the
 * next call. */
static enum tr_status remark(struct reader *reader, const char *what, struct tr_error *err)
{
	reader->ready = true;
	tr_error_say(err, TR_CAUSE_INPUT, what);
	err->severity = TR_FLAW;
	return about(reader, TR_WARN, err);
}

/* The next trace; TR_END: go on from the state that is set. */
static enum tr_status begin(struct reader *reader, struct tr_error *err)
{
	struct tr_srctrace_feed *feed = &reader->feed;
	if (feed->too_many) {
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "%" PRIu64 " source traces are left out: they begin within %d others "
			     "that have not ended",
			     feed->too_many, TR_SRCTRACE_CHANNELS);
		feed->too_many = 0;
		return about(reader, TR_WARN, err);
	}
	if (!feed->console && !reader->traces++) {
		reader->state = HEADER;
		return TR_END;
	}
	enum tr_status status = tr_srctrace_feed_begin(feed, err);
	reader->state = status == TR_OK ? HEADER : OVER;
	if (status == TR_END && !reader->traces) {
		tr_error_set(err, TR_CAUSE_INPUT, "no source trace, and no Base64 of one");
		return TR_FATAL;
	}
	reader->traces++;
	return status == TR_OK ? TR_END : status;
}

static const char *version_name(uint32_t version)
{
	static const char *const names[] = { "the first one", "with C files",
					     "with fingerprints of bit maps",
					     "without project names" };
	return version < sizeof names / sizeof *names ? names[version] : "not known";
}

/* True when the header is one that can be read; else err says why not. */
static bool accept(struct reader *reader, const char *p, struct tr_error *err)
{
	uint32_t version = tr_wire_u32(p + 32, (unsigned char)p[37] == 1);
	unsigned align = (unsigned char)p[36], endian = (unsigned char)p[37];
	if (memcmp(p, TR_SRCTRACE_MAGIC, TR_SRCTRACE_MAGIC_SIZE) != 0)
		tr_error_set(err, TR_CAUSE_INPUT, "no source trace: bad magic");
	else if (endian > 1)
		tr_error_set(err, TR_CAUSE_INPUT, "bad endianness %u", endian);
	else if (version != TR_SRCTRACE_VERSION)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "source trace of version %" PRIu32 " (%s): only version %d is read",
			     version, version_name(version), TR_SRCTRACE_VERSION);
	else if (align == 0 || align > 16 || (align & (align - 1)))
		tr_error_set(err, TR_CAUSE_INPUT, "bad alignment %u", align);
	else {
		reader->layout = (struct tr_srctrace_layout){ align, endian == 1 };
		return true;
	}
	return false;
}

static enum tr_status read_header(struct reader *reader, struct tr_record **record,
				  struct tr_error *err)
{
	reader->seq = 0;
	if (!tr_srctrace_feed_more(&reader->feed, TR_SRCTRACE_HEADER))
		return cut(reader, "its header", err);
	const char *p = window(reader);
	if (!accept(reader, p, err)) {
		enum tr_status status = give_up(reader, err);
		tr_srctrace_feed_skip(&reader->feed, TR_SRCTRACE_HEADER);
		return status;
	}
	unsigned padding = (unsigned char)p[38], second = (unsigned char)p[39];
	padding = reader->layout.big ? padding << 8 | second : second << 8 | padding;
	put_header(&reader->layout, padding, &reader->line);
	reader->state = INFO;
	enum tr_status status = TR_OK;
	if (padding)
		status = remark(reader, "the padding of the header is not zero", err);
	consume(reader, TR_SRCTRACE_HEADER);
	return status == TR_OK ? deliver(reader, record, err) : status;
}

/* An entry that is too long to be taken at once: over it, piece by piece. */
static enum tr_status pass_over(struct reader *reader, uint64_t size, struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_LIMIT,
		     "an entry of %" PRIu64 " bytes is left out (--max-record)", size);
	about(reader, TR_WARN, err);
	while (size) {
		if (!tr_srctrace_feed_more(&reader->feed, 1))
			return cut(reader, "an entry is longer than the rest of the file", err);
		uint64_t piece = tr_srctrace_feed_window(&reader->feed).len;
		if (piece > size)
			piece = size;
		tr_srctrace_feed_skip(&reader->feed, (size_t)piece);
		size -= piece;
	}
	return TR_WARN;
}

/* The end of the list. TR_END: nothing to hand out. */
static enum tr_status end_infos(struct reader *reader, uint32_t length, struct tr_error *err)
{
	if (length) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the end of the information entries has a length: %" PRIu32, length);
		return give_up(reader, err);
	}
	tr_srctrace_feed_skip(&reader->feed, TR_SRCTRACE_INFO);
	reader->state = UNIT;
	return TR_END;
}

static enum tr_status read_info(struct reader *reader, struct tr_record **record,
				struct tr_error *err)
{
	static const char what[] = "its information entries";
	if (!tr_srctrace_feed_more(&reader->feed, TR_SRCTRACE_INFO))
		return cut(reader, what, err);
	uint32_t kind = tr_wire_u32(window(reader), reader->layout.big);
	uint32_t length = tr_wire_u32(window(reader) + 4, reader->layout.big);
	if (kind == TR_SRCTRACE_INFO_END)
		return end_infos(reader, length, err);
	uint64_t size = TR_SRCTRACE_INFO + tr_srctrace_padded(length, reader->layout.align);
	if (size > reader->max_record)
		return pass_over(reader, size, err);
	if (!tr_srctrace_feed_more(&reader->feed, (size_t)size))
		return cut(reader, what, err);
	const char *p = window(reader);
	struct tr_srctrace_gap gap = tr_srctrace_info_gap(length, reader->layout.align);
	put_info(reader->seq, kind, (struct tr_text){ p + TR_SRCTRACE_INFO, length },
		 &reader->line);
	if (tr_srctrace_gaps_look(p, &gap, 1) != TR_SRCTRACE_ZERO)
		put_raw((struct tr_text){ p, (size_t)size }, &reader->line);
	enum tr_status status = TR_OK;
	if (!tr_srctrace_info_name(kind))
		status =
			remark(reader, "unknown kind of information: passed on by its number", err);
	consume(reader, (size_t)size);
	reader->seq++;
	return status == TR_OK ? deliver(reader, record, err) : status;
}

/* The unit in the window, of which all is there. */
static enum tr_status take_unit(struct reader *reader, const struct tr_srctrace_unit *unit,
				struct tr_record **record, struct tr_error *err)
{
	const char *p = window(reader);
	struct tr_srctrace_gap gaps[TR_SRCTRACE_GAPS];
	size_t count = tr_srctrace_unit_gaps(unit, reader->layout.align, gaps);
	enum tr_srctrace_zeros zeros = tr_srctrace_gaps_look(p, gaps, count);
	put_unit(reader->seq, p, unit, &reader->line);
	if (zeros != TR_SRCTRACE_ZERO)
		put_raw((struct tr_text){ p, (size_t)unit->size }, &reader->line);
	enum tr_status status = TR_OK;
	if (zeros == TR_SRCTRACE_REFUSED)
		status = remark(reader, "padding of a unit's header or bits is not zero", err);
	consume(reader, (size_t)unit->size);
	reader->seq++;
	return status == TR_OK ? deliver(reader, record, err) : status;
}

static enum tr_status end_of_trace(struct reader *reader, struct tr_error *err)
{
	reader->state = BEGIN;
	if (!tr_srctrace_feed_trouble(&reader->feed, err))
		return TR_END;
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
}

static enum tr_status read_unit(struct reader *reader, struct tr_record **record,
				struct tr_error *err)
{
	struct tr_srctrace_feed *feed = &reader->feed;
	struct tr_srctrace_unit unit;
	if (!tr_srctrace_feed_more(feed, 1))
		return end_of_trace(reader, err);
	bool whole = tr_srctrace_feed_more(feed, TR_SRCTRACE_UNIT);
	struct tr_text there = tr_srctrace_feed_window(feed);
	/* as a length, the magic would be beyond a gigabyte */
	if (there.len >= TR_SRCTRACE_MAGIC_SIZE &&
	    memcmp(there.data, TR_SRCTRACE_MAGIC, TR_SRCTRACE_MAGIC_SIZE) == 0) {
		reader->state = HEADER;
		return TR_END;
	}
	if (!whole)
		return cut(reader, "the header of a unit", err);
	tr_srctrace_unit_measure(there.data, &reader->layout, &unit);
	if (unit.encoding) {
		tr_error_set(err, TR_CAUSE_INPUT, "unknown encoding of bits: %u", unit.encoding);
		return give_up(reader, err);
	}
	if (unit.size > reader->max_record)
		return pass_over(reader, unit.size, err);
	if (!tr_srctrace_feed_more(feed, (size_t)unit.size))
		return cut(reader, "a unit", err);
	/* the list of the bits that are set is longer than the bits */
	if (weight_of(window(reader), &unit) > reader->max_record)
		return pass_over(reader, unit.size, err);
	return take_unit(reader, &unit, record, err);
}

enum tr_status tr_srctrace_next(struct tr_reader *base, struct tr_record **record,
				struct tr_error *err)
{
	struct reader *reader = (struct reader *)base;
	tr_arena_reset(&reader->arena);
	if (reader->ready)
		return deliver(reader, record, err);
	for (;;) {
		enum tr_status status = TR_END;
		tr_buffer_reset(&reader->line);
		switch (reader->state) {
		case BEGIN:
			status = begin(reader, err);
			break;
		case HEADER:
			status = read_header(reader, record, err);
			break;
		case INFO:
			status = read_info(reader, record, err);
			break;
		case UNIT:
			status = read_unit(reader, record, err);
			break;
		case OVER:
			return TR_END;
		}
		if (status != TR_END)
			return status;
	}
}
