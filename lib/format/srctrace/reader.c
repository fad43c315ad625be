/* SPDX-License-Identifier: MIT */
/*
 * The reader of source traces. A feed returns the bytes of one trace after the other, from the
 * input itself or from the Base64 lines of a console log. The steps of the reader make a header
 * record, and a record of each information entry and unit.
 *
 *	feed_begin, feed_more	the bytes of a trace, as a window
 *	read_begin		goes to the next trace
 *	read_header		%trec with alignment and byte order
 *	read_info, read_unit	records; look_at_gaps decides whether .raw is needed
 *
 * A trace has no end of its own: a binary one ends at the end of the file or at the next magic, one
 * in a log at its end marker. After an impossible length, only the next trace can be read.
 */
#include "format/srctrace/srctrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coverage/unit.h"
#include "format/reader_base.h"
#include "record/base64.h"
#include "record/literal.h"

/*
 * The feed returns traces one after the other; within one, it is a window like tr_input. The lines
 * of several traces may be mixed in a log, each trace with its own prefix. Then the bytes of the
 * traces that are read later are decoded and kept.
 */

/* A trace in a log. */
struct channel {
	bool open;		 /* its end marker has not been read yet */
	struct tr_buffer prefix; /* the text before the marker, which all its lines have */
	struct tr_buffer bytes;	 /* decoded bytes; those before at were used */
	size_t at, kept;	 /* bytes before kept were decoded while another trace was read */
	uint64_t begin;		 /* the line of its first marker */
	struct tr_error trouble; /* why the trace ended early; no cause: it did not */
};

enum { CHANNELS = 64 }; /* the number of traces whose lines may be mixed */

struct feed {
	struct tr_input *in;
	bool console; /* the input is a log */

	/* the traces of a log in the order in which they began; the first one is read */
	struct channel *channels[CHANNELS];
	size_t count;
	uint64_t line;	   /* number of the next line of the log, from 1 */
	uint64_t most;	   /* the limit for the bytes that are kept of later traces */
	uint64_t too_many; /* traces that were skipped and are not reported yet */
};

/* most: the limit for the bytes that are kept of later traces. */
static void feed_init(struct feed *feed, struct tr_input *in, uint64_t most)
{
	*feed = (struct feed){ .in = in, .line = 1, .most = most };
	tr_input_more(in, TR_SRCTRACE_MAGIC_SIZE);
	/* with -f srctrace, input that does not begin with the magic is a log */
	feed->console = !tr_srctrace_magic_bits(in->pos, tr_input_available(in));
}

/* Frees the trace that is read: the next one becomes the first. */
static void drop_first(struct feed *feed)
{
	struct channel *first = feed->count ? feed->channels[0] : NULL;

	if (!first)
		return;
	tr_buffer_free(&first->prefix);
	tr_buffer_free(&first->bytes);
	free(first);
	feed->count--;
	memmove(feed->channels, feed->channels + 1, feed->count * sizeof feed->channels[0]);
}

/* Frees the traces that were kept. */
static void feed_free(struct feed *feed)
{
	while (feed->count)
		drop_first(feed);
}

/* The text before the marker that ends the line; data is NULL if the line has another end. */
static struct tr_text before_marker(struct tr_text line, const char *marker)
{
	struct tr_text end = tr_text_from(marker);
	if (line.len < end.len || memcmp(line.data + line.len - end.len, end.data, end.len) != 0)
		return (struct tr_text){ NULL, 0 };
	line.len -= end.len;
	return line;
}

/* The next line of the log, which stays in the window. Skips lines longer than --max-record. */
static enum tr_status next_line(struct feed *feed, struct tr_text *line, struct tr_error *err)
{
	enum tr_status status;
	while ((status = tr_input_line(feed->in, line, err)) == TR_WARN)
		feed->line++;
	return status;
}

/* Skips input up to the next magic, because a file may hold several traces. */
static enum tr_status find_magic(struct tr_input *in)
{
	while (tr_input_more(in, TR_SRCTRACE_MAGIC_SIZE)) {
		const char *magic = memmem(in->pos, tr_input_available(in), TR_SRCTRACE_MAGIC,
					   TR_SRCTRACE_MAGIC_SIZE);
		tr_input_skip(in, magic ? (size_t)(magic - in->pos)
					: tr_input_available(in) - TR_SRCTRACE_MAGIC_SIZE + 1);
		if (magic)
			return TR_OK;
	}
	tr_input_skip(in, tr_input_available(in));
	return TR_END;
}

/* Marks the end of a trace in a log; line: where it was found. */
static void end_channel(struct channel *channel, uint64_t line)
{
	channel->trouble.line = line;
	channel->open = false;
}

/* The open trace that a line belongs to: the one with the longest prefix. NULL: none. */
static struct channel *find_channel(struct feed *feed, struct tr_text text)
{
	struct channel *found = NULL;

	for (size_t i = 0; i < feed->count; i++) {
		struct channel *here = feed->channels[i];
		if (here->open && tr_text_starts(text, tr_buffer_text(&here->prefix)) &&
		    (!found || here->prefix.len > found->prefix.len))
			found = here;
	}
	return found;
}

/* Adds the trace that begins in this line. False: memory is exhausted. */
static bool open_channel(struct feed *feed, struct tr_text prefix)
{
	struct channel *before = find_channel(feed, prefix);

	if (before && before->prefix.len == prefix.len) {
		tr_error_set(&before->trouble, TR_CAUSE_CUT,
			     "incomplete Base64 trace: another one begins before \"%s\"",
			     TR_SRCTRACE_END);
		end_channel(before, feed->line);
	}
	if (feed->count == CHANNELS) {
		feed->too_many++;
		return true;
	}
	struct channel *channel = calloc(1, sizeof *channel);
	if (!channel)
		return false;
	feed->channels[feed->count++] = channel;
	channel->open = true;
	channel->begin = feed->line;
	tr_error_clear(&channel->trouble);
	tr_buffer_put_text(&channel->prefix, prefix);
	return !channel->prefix.failed;
}

/* True if more bytes of a trace other than the first may be kept. */
static bool may_keep(const struct feed *feed, size_t more)
{
	uint64_t kept = more;

	for (size_t i = 1; i < feed->count; i++)
		kept += feed->channels[i]->bytes.len;
	return kept <= feed->most;
}

/* Appends the bytes of a line of Base64, without prefix and blanks. */
static void decode(struct feed *feed, struct channel *channel, struct tr_text text)
{
	struct tr_error *trouble = &channel->trouble;
	size_t size = tr_base64_size(text.len);
	const char *wrong = NULL;
	char *to = NULL;

	if (!text.len)
		return;
	if (text.len % 4)
		tr_error_set(trouble, TR_CAUSE_CUT,
			     "Base64 of a source trace: incomplete group of 4 characters");
	else if (channel != feed->channels[0] && !may_keep(feed, size))
		tr_error_set(trouble, TR_CAUSE_LIMIT,
			     "traces with mixed lines are too long to be kept (--max-record)");
	else if (!(to = tr_buffer_room(&channel->bytes, size)))
		tr_error_memory(trouble);
	else if ((wrong = tr_base64_read(text, to, &size)) != NULL)
		tr_error_set(trouble, TR_CAUSE_CUT, "Base64 of a source trace: %s", wrong);
	if (trouble->cause != TR_CAUSE_NONE)
		end_channel(channel, feed->line);
	else
		tr_buffer_used(&channel->bytes, size);
}

/* Adds one line of the log to its trace. TR_OK; TR_END; TR_FATAL: err is filled. */
static enum tr_status take_line(struct feed *feed, struct tr_error *err)
{
	struct tr_text line;
	enum tr_status status = next_line(feed, &line, err);

	if (status != TR_OK)
		return status;
	struct tr_text text = tr_text_trimmed(line), begin = before_marker(text, TR_SRCTRACE_BEGIN);
	struct channel *channel = begin.data ? NULL : find_channel(feed, text);
	if (begin.data && !open_channel(feed, begin))
		return tr_error_memory(err);
	if (channel) {
		text.data += channel->prefix.len;
		text.len -= channel->prefix.len;
		text = tr_text_trimmed(text);
		if (tr_text_is(text, TR_SRCTRACE_END))
			channel->open = false;
		else
			decode(feed, channel, text);
	}
	tr_input_skip(feed->in, line.len);
	feed->line++;
	return TR_OK;
}

/*
 * Skips the rest of the trace and goes to the next one; the first one of input that is no log
 * begins where the window is. TR_OK; TR_END: there is none; TR_FATAL.
 */
static enum tr_status feed_begin(struct feed *feed, struct tr_error *err)
{
	enum tr_status status = TR_OK;

	if (!feed->console)
		return find_magic(feed->in);
	drop_first(feed);
	while (!feed->count && status == TR_OK)
		status = take_line(feed, err);
	if (feed->count)
		feed->channels[0]->kept = feed->channels[0]->bytes.len;
	return status;
}

/* Drops bytes that were used, so that a trace of any length takes the memory of its largest entry.
 */
static void slide(struct channel *channel)
{
	size_t left = channel->bytes.len - channel->at;

	if (!channel->at)
		return;
	memmove(channel->bytes.data, channel->bytes.data + channel->at, left);
	channel->bytes.len = left;
	channel->kept -= channel->kept < channel->at ? channel->kept : channel->at;
	channel->at = 0;
}

/* Ends the trace that is read, at the end of the log. */
static void end_of_log(struct feed *feed, enum tr_status status)
{
	struct channel *channel = feed->channels[0];

	if (status == TR_END)
		tr_error_set(&channel->trouble, TR_CAUSE_CUT,
			     "incomplete Base64 trace: the log ends before \"%s\"",
			     TR_SRCTRACE_END);
	end_channel(channel, feed->line);
}

/* Reads ahead until `want` bytes of the trace are there. False: it ends, or memory is exhausted. */
static bool feed_more(struct feed *feed, size_t want)
{
	if (!feed->console)
		return tr_input_more(feed->in, want);
	struct channel *channel = feed->channels[0];
	if (channel->bytes.len - channel->at < want)
		slide(channel);
	while (channel->bytes.len - channel->at < want && channel->open) {
		enum tr_status status = take_line(feed, &channel->trouble);
		if (status != TR_OK)
			end_of_log(feed, status);
	}
	return channel->bytes.len - channel->at >= want;
}

/* The bytes that are there; valid until the next call of feed_more. */
static struct tr_text feed_window(const struct feed *feed)
{
	if (!feed->console)
		return tr_text_span(feed->in->pos, feed->in->end);
	const struct channel *channel = feed->channels[0];
	struct tr_text all = tr_buffer_text(&channel->bytes);
	return (struct tr_text){ all.data + channel->at, all.len - channel->at };
}

/* Skips n bytes, which are in the window. */
static void feed_skip(struct feed *feed, size_t n)
{
	if (feed->console)
		feed->channels[0]->at += n;
	else
		tr_input_skip(feed->in, n);
}

/* The reason why the trace ended early. False: it did not, or the reason was returned before. */
static bool feed_trouble(struct feed *feed, struct tr_error *err)
{
	struct channel *channel = feed->count ? feed->channels[0] : NULL;

	if (!channel || channel->trouble.cause == TR_CAUSE_NONE)
		return false;
	*err = channel->trouble;
	tr_error_clear(&channel->trouble);
	return true;
}

/* The line of the log in which the window begins, for the position of a record. */
static uint64_t feed_line(const struct feed *feed)
{
	const struct channel *channel = feed->count ? feed->channels[0] : NULL;

	/* lines of bytes that were kept are unknown */
	return channel && channel->at < channel->kept ? channel->begin
	       : feed->line			      ? feed->line - 1
						      : 0;
}

/* Entries as lines of the stream, without their line feed. */

enum { DATE_SIZE = 8 };

#define DATE_MAX 253402300799 /* the end of the year 9999 */

/* padding: the two bytes of the header, which should be 0. */
static void put_header(const struct tr_srctrace_layout *layout, unsigned padding,
		       struct tr_buffer *line)
{
	tr_buffer_put_literal(line, "%trec\t1\tversion=");
	tr_buffer_put_decimal(line, layout->old ? TR_SRCTRACE_OLD : TR_SRCTRACE_VERSION);
	tr_field_begin(tr_text_from("align"), line);
	tr_buffer_put_decimal(line, layout->align);
	tr_field_begin(tr_text_from("endian"), line);
	tr_buffer_put_text(line, tr_text_from(layout->big ? "big" : "little"));
	if (padding) {
		tr_field_begin(tr_text_from(".pad"), line);
		tr_buffer_put_decimal(line, padding);
	}
}

/* Adds the date. An impossible one stays a number: boards without a clock write any bytes.
 */
static void put_date(struct tr_text data, struct tr_buffer *line)
{
	uint64_t seconds =
		(uint64_t)tr_wire_u32(data.data + 4, false) << 32 | tr_wire_u32(data.data, false);
	time_t time = (time_t)seconds;
	struct tm tm;
	char text[64];
	tr_field_begin(tr_text_from("value"), line);
	if (seconds > DATE_MAX || !gmtime_r(&time, &tm)) {
		tr_buffer_put_decimal(line, seconds);
		return;
	}
	snprintf(text, sizeof text, "\"%04d-%02d-%02dT%02d:%02d:%02dZ\"", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	tr_buffer_put_text(line, tr_text_from(text));
}

/* Makes the line of an information entry. A date also has its meaning. */
static void put_info(struct tr_reader *base, uint32_t kind, struct tr_text data)
{
	const char *name = tr_srctrace_info_name(kind);
	struct tr_buffer *line = &base->line;

	tr_reader_begin(base, "info");
	tr_buffer_put_literal(line, "-\t-\t");
	if (name)
		tr_buffer_put_text(line, tr_text_from(name));
	else
		tr_buffer_put_decimal(line, kind);
	tr_field_begin(tr_text_from("data"), line);
	tr_string_quote(data, line);
	if (kind == TR_SRCTRACE_EXEC_DATE && data.len == DATE_SIZE)
		put_date(data, line);
}

/* Adds the list of the numbers of the bits that are set. */
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

/* Adds a fingerprint as hex digits. */
static void put_hash(const char *hash, struct tr_buffer *line)
{
	tr_buffer_put_byte(line, '"');
	for (int i = 0; i < TR_SRCTRACE_HASH; i++)
		tr_buffer_put_hex(line, (unsigned char)hash[i], 2);
	tr_buffer_put_byte(line, '"');
}

/* Adds a byte as its word, or as a number if it has none. */
static void put_word(const char *key, const char *word, unsigned number, struct tr_buffer *line)
{
	tr_field_begin(tr_text_from(key), line);
	if (word)
		tr_buffer_put_text(line, tr_text_from(word));
	else
		tr_buffer_put_decimal(line, number);
}

/* Adds the fields that only units of version 2 have. */
static void put_old(const char *entry, const struct tr_srctrace_layout *layout,
		    const struct tr_srctrace_unit *unit, struct tr_buffer *line)
{
	put_word("language", tr_srctrace_language(unit->language), unit->language, line);
	put_word("part", tr_srctrace_part(unit->part), unit->part, line);
	if (!layout->projects)
		return;
	tr_field_begin(tr_text_from("project"), line);
	tr_string_quote((struct tr_text){ entry + unit->project, unit->project_size }, line);
}

/*
 * Makes the line of a unit: for each buffer its number of bits and those that are set, then the
 * fingerprints. entry: all bytes of it.
 */
static void put_unit(struct tr_reader *base, const char *entry,
		     const struct tr_srctrace_layout *layout, const struct tr_srctrace_unit *unit)
{
	struct tr_buffer *line = &base->line;

	tr_reader_begin(base, "unit");
	tr_buffer_put_literal(line, "-\t-\t");
	tr_cell_escape((struct tr_text){ entry + unit->name, unit->name_size }, false, line);
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++) {
		tr_field_begin(tr_text_from(tr_unit_bits_keys[i]), line);
		tr_buffer_put_decimal(line, unit->bits[i]);
		tr_field_begin(tr_text_from(tr_unit_list_keys[i]), line);
		put_list(entry + unit->buffers[i], unit->bits[i], line);
	}
	for (int i = 0; i < tr_srctrace_hashes(layout); i++) {
		tr_field_begin(tr_text_from(tr_unit_hash_keys[i]), line);
		put_hash(entry + unit->hashes + TR_SRCTRACE_HASH * i, line);
	}
	if (layout->old)
		put_old(entry, layout, unit, line);
}

/* Adds .raw: the bytes of an entry that cannot be made of its fields. */
static void put_raw(struct tr_text entry, struct tr_buffer *line)
{
	tr_field_begin(tr_text_from(".raw"), line);
	tr_buffer_put_literal(line, "b64:");
	tr_base64_write(entry, line);
}

/* An upper bound of the bytes that the lists of its set bits take as text. entry: all bytes of it.
 */
static uint64_t weight_of(const char *entry, const struct tr_srctrace_unit *unit)
{
	uint64_t set = 0, digits = sizeof "4294967295," - 1;
	for (int i = 0; i < TR_SRCTRACE_BUFFERS; i++)
		for (uint64_t k = 0; k < tr_srctrace_bytes(unit->bits[i]); k++)
			set += (unsigned)__builtin_popcount(
				(unsigned char)entry[unit->buffers[i] + k]);
	return set * digits;
}

enum zeros {
	ZERO,	  /* all gaps are zero */
	NOT_ZERO, /* some are not, which gnatcov ignores */
	REFUSED,  /* some are not, and gnatcov refuses the trace */
};

/*
 * Examines the bytes of an entry that have no meaning. If one is not zero, the fields alone do not
 * determine the bytes.
 */
static enum zeros look_at_gaps(const char *entry, bool unit,
			       const struct tr_srctrace_layout *layout)
{
	struct tr_srctrace_gap gaps[TR_SRCTRACE_GAPS];
	size_t count = tr_srctrace_gaps(entry, unit, layout, gaps);
	enum zeros found = ZERO;

	for (size_t i = 0; i < count; i++)
		for (uint64_t k = 0; k < gaps[i].size; k++)
			if (((unsigned char)entry[gaps[i].offset + k] & gaps[i].mask) &&
			    found != REFUSED)
				found = gaps[i].checked ? REFUSED : NOT_ZERO;
	return found;
}

struct reader {
	struct tr_reader base; /* its step is one of the functions read_... below */
	struct feed feed;
	struct tr_srctrace_layout layout;
	bool has_units; /* of the trace, so that layout.projects is known */
	uint64_t traces;
};

static tr_reader_step read_begin, read_header, read_info, read_unit;

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	feed_free(&reader->feed);
}

/* Returns the bytes of the trace that are there. */
static const char *window(const struct reader *reader)
{
	return feed_window(&reader->feed).data;
}

/*
 * Sets the position of err to the beginning of the window, and the number of the record. TR_WARN.
 */
static enum tr_status about(const struct reader *reader, struct tr_error *err)
{
	if (reader->feed.console)
		tr_error_at_line(err, feed_line(&reader->feed));
	else
		tr_error_at_offset(err, reader->feed.in->offset);
	err->record = reader->base.seq;
	return TR_WARN;
}

/* Skips the rest of the trace: reading goes on with the next one. */
static enum tr_status give_up(struct reader *reader, struct tr_error *err)
{
	reader->base.step = read_begin;
	return about(reader, err);
}

/* Reports that the trace ends within `what`. */
static enum tr_status cut(struct reader *reader, const char *what, struct tr_error *err)
{
	reader->base.step = reader->feed.console ? read_begin : NULL;
	if (feed_trouble(&reader->feed, err))
		return tr_error_status(err);
	tr_error_set(err, TR_CAUSE_CUT, "the trace ends in %s", what);
	return about(reader, err);
}

/*
 * Returns the record in line and skips the bytes that became it. flaw: what is wrong with them; it
 * is returned first, and the record by the next call. NULL: nothing is wrong.
 */
static enum tr_status hand_out(struct reader *reader, size_t size, const char *flaw,
			       struct tr_record **record, struct tr_error *err)
{
	struct tr_reader *base = &reader->base;

	if (flaw) {
		tr_error_say(err, TR_CAUSE_INPUT, flaw);
		about(reader, err);
		err->record -= base->seq > 0; /* of this record, not of the next one */
	}
	if (reader->feed.console)
		base->source_line = feed_line(&reader->feed);
	else
		base->source_offset = reader->feed.in->offset;
	feed_skip(&reader->feed, size);
	return flaw ? tr_reader_hold(base, TR_FLAW, err) : tr_reader_deliver(base, record, err);
}

/* Goes to the next trace. */
static enum tr_status read_begin(struct tr_reader *base, struct tr_record **record,
				 struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	struct feed *feed = &reader->feed;

	(void)record;
	if (feed->too_many) {
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "%" PRIu64 " source traces are left out: they begin within %d others "
			     "that have not ended",
			     feed->too_many, CHANNELS);
		feed->too_many = 0;
		return about(reader, err);
	}
	if (!feed->console && !reader->traces++) {
		reader->base.step = read_header;
		return TR_END;
	}
	enum tr_status status = feed_begin(feed, err);
	base->step = status == TR_OK ? read_header : NULL;
	if (status == TR_END && !reader->traces) {
		tr_error_set(err, TR_CAUSE_INPUT, "not a source trace, and not the Base64 of one");
		return TR_FATAL;
	}
	reader->traces++;
	return status == TR_OK ? TR_END : status;
}

/* Returns a description of a version, for a message. */
static const char *version_name(uint32_t version)
{
	static const char *const names[] = { "the first one", "with C files",
					     "with fingerprints of bit maps",
					     "without project names" };
	return version < sizeof names / sizeof *names ? names[version] : "not known";
}

/* Checks the header. False: it cannot be read, and err is filled. */
static bool accept(struct reader *reader, const char *p, struct tr_error *err)
{
	uint32_t version = tr_wire_u32(p + 32, (unsigned char)p[37] == 1);
	unsigned align = (unsigned char)p[36], endian = (unsigned char)p[37];
	if (memcmp(p, TR_SRCTRACE_MAGIC, TR_SRCTRACE_MAGIC_SIZE) != 0)
		tr_error_set(err, TR_CAUSE_INPUT, "not a source trace: bad magic");
	else if (endian > 1)
		tr_error_set(err, TR_CAUSE_INPUT, "bad endianness %u", endian);
	else if (version != TR_SRCTRACE_VERSION && version != TR_SRCTRACE_OLD)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "source trace of version %" PRIu32
			     " (%s): only versions %d and %d are read",
			     version, version_name(version), TR_SRCTRACE_OLD, TR_SRCTRACE_VERSION);
	else if (align == 0 || align > 16 || (align & (align - 1)))
		tr_error_set(err, TR_CAUSE_INPUT, "bad alignment %u", align);
	else {
		reader->layout = (struct tr_srctrace_layout){ align, endian == 1,
							      version == TR_SRCTRACE_OLD, false };
		reader->has_units = false;
		return true;
	}
	return false;
}

/* Makes the header record of a trace, and resets the counts. */
static enum tr_status read_header(struct tr_reader *base, struct tr_record **record,
				  struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	base->seq = 0;
	if (!feed_more(&reader->feed, TR_SRCTRACE_HEADER))
		return cut(reader, "its header", err);
	const char *p = window(reader);
	if (!accept(reader, p, err)) {
		enum tr_status status = give_up(reader, err);
		feed_skip(&reader->feed, TR_SRCTRACE_HEADER);
		return status;
	}
	unsigned padding = (unsigned char)p[38], second = (unsigned char)p[39];
	padding = reader->layout.big ? padding << 8 | second : second << 8 | padding;
	put_header(&reader->layout, padding, &base->line);
	base->step = read_info;
	const char *flaw = padding ? "the padding of the header is not zero" : NULL;
	return hand_out(reader, TR_SRCTRACE_HEADER, flaw, record, err);
}

/* Skips an entry that is too long for the window, piece by piece. */
static enum tr_status pass_over(struct reader *reader, uint64_t size, struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_LIMIT,
		     "an entry of %" PRIu64 " bytes is left out (--max-record)", size);
	about(reader, err);
	while (size) {
		if (!feed_more(&reader->feed, 1))
			return cut(reader, "an entry", err);
		uint64_t piece = feed_window(&reader->feed).len;
		if (piece > size)
			piece = size;
		feed_skip(&reader->feed, (size_t)piece);
		size -= piece;
	}
	return TR_WARN;
}

/* Handles the end of the list of information entries. */
static enum tr_status end_infos(struct reader *reader, uint32_t length, struct tr_error *err)
{
	if (length) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the end of the information entries has a length: %" PRIu32, length);
		return give_up(reader, err);
	}
	feed_skip(&reader->feed, TR_SRCTRACE_INFO);
	reader->base.step = read_unit;
	return TR_END;
}

/* Makes a record of an information entry. One that is longer than --max-record is skipped. */
static enum tr_status read_info(struct tr_reader *base, struct tr_record **record,
				struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	static const char what[] = "its information entries";
	if (!feed_more(&reader->feed, TR_SRCTRACE_INFO))
		return cut(reader, what, err);
	uint32_t kind = tr_wire_u32(window(reader), reader->layout.big);
	uint32_t length = tr_wire_u32(window(reader) + 4, reader->layout.big);
	if (kind == TR_SRCTRACE_INFO_END)
		return end_infos(reader, length, err);
	uint64_t size = TR_SRCTRACE_INFO + tr_srctrace_padded(length, reader->layout.align);
	if (size > base->max_record)
		return pass_over(reader, size, err);
	if (!feed_more(&reader->feed, (size_t)size))
		return cut(reader, what, err);
	const char *p = window(reader);
	put_info(base, kind, (struct tr_text){ p + TR_SRCTRACE_INFO, length });
	if (look_at_gaps(p, false, &reader->layout) != ZERO)
		put_raw((struct tr_text){ p, (size_t)size }, &base->line);
	const char *flaw = tr_srctrace_info_name(kind)
				   ? NULL
				   : "unknown kind of information: passed on by its number";
	return hand_out(reader, (size_t)size, flaw, record, err);
}

/* Makes a record of the unit in the window, which is complete. */
static enum tr_status take_unit(struct reader *reader, const struct tr_srctrace_unit *unit,
				struct tr_record **record, struct tr_error *err)
{
	struct tr_reader *base = &reader->base;
	const char *p = window(reader);
	enum zeros zeros = look_at_gaps(p, true, &reader->layout);
	put_unit(base, p, &reader->layout, unit);
	if (zeros != ZERO)
		put_raw((struct tr_text){ p, (size_t)unit->size }, &base->line);
	const char *flaw =
		zeros == REFUSED ? "padding of a unit's header or bits is not zero" : NULL;
	return hand_out(reader, (size_t)unit->size, flaw, record, err);
}

/* Continues with the next trace. TR_WARN: this one ended early; err states why. */
static enum tr_status end_of_trace(struct reader *reader, struct tr_error *err)
{
	reader->base.step = read_begin;
	if (!feed_trouble(&reader->feed, err))
		return TR_END;
	return tr_error_status(err);
}

/*
 * Makes a record of the next unit. Its length comes from four counts of the input: an entry beyond
 * --max-record is skipped, also if only its text would be longer.
 */
static enum tr_status read_unit(struct tr_reader *base, struct tr_record **record,
				struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	struct feed *feed = &reader->feed;
	struct tr_srctrace_unit unit;
	if (!feed_more(feed, 1))
		return end_of_trace(reader, err);
	bool whole = feed_more(feed, tr_srctrace_unit_header(&reader->layout));
	struct tr_text there = feed_window(feed);
	/* not a unit: its length would be more than a gigabyte */
	if (there.len >= TR_SRCTRACE_MAGIC_SIZE &&
	    memcmp(there.data, TR_SRCTRACE_MAGIC, TR_SRCTRACE_MAGIC_SIZE) == 0) {
		reader->base.step = read_header;
		return TR_END;
	}
	if (!whole)
		return cut(reader, "the header of a unit", err);
	if (reader->layout.old && !reader->has_units &&
	    !tr_srctrace_find_form(there.data, &reader->layout)) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the units of this trace of version %d have an unknown form",
			     TR_SRCTRACE_OLD);
		return give_up(reader, err);
	}
	reader->has_units = true;
	tr_srctrace_unit_measure(there.data, &reader->layout, &unit);
	if (unit.encoding) {
		tr_error_set(err, TR_CAUSE_INPUT, "unknown encoding of bits: %u", unit.encoding);
		return give_up(reader, err);
	}
	if (unit.size > base->max_record)
		return pass_over(reader, unit.size, err);
	if (!feed_more(feed, (size_t)unit.size))
		return cut(reader, "a unit", err);
	/* the lists of the bits that are set are longer than the bits */
	if (weight_of(window(reader), &unit) > base->max_record)
		return pass_over(reader, unit.size, err);
	return take_unit(reader, &unit, record, err);
}

struct tr_reader *tr_srctrace_open(const struct tr_read_config *config, struct tr_input *in,
				   struct tr_error *err)
{
	struct reader *reader =
		tr_reader_new(sizeof *reader, tr_reader_next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	reader->base.step = read_begin;
	feed_init(&reader->feed, in, config->limits.max_record);
	return &reader->base;
}
