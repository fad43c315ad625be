/* SPDX-License-Identifier: MIT */
/*
 * Reads the file .ninja_log of ninja, versions 5 to 7, which differ in how commands are hashed. The
 * facts come from ninja 1.11's manual and the logs that it writes:
 *
 *	# ninja log v5
 *	START	END	MTIME	OUTPUT	HASH
 *
 * START and END are milliseconds since that ninja began, MTIME is a time of the output or of its
 * inputs, and HASH that of the command, which is not in the log. A command with several outputs
 * has a line for each, one after the other, with the same START, END and HASH; only ninja -t restat
 * gives them different MTIMEs. Several builds are in one log, one after the other, until ninja sorts
 * it. Chromium's builds append "# end of ninja log" and data of their own.
 *
 * Path of the data: line -> fields (read_line) -> the record of the command, which is pending until
 * a line of another command comes (put_pending).
 */
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "format/reader_base.h"
#include "process/instant.h"
#include "record/literal.h"

static const struct tr_text magic = { "# ninja log v", 13 };

enum { START, END, MTIME, OUTPUT, HASH, FIELDS };

struct reader {
	struct tr_reader base;
	struct tr_buffer pending; /* the record of a command without its extra, from its time on */
	struct tr_buffer extra;	  /* more of its outputs, as JSON strings */
	struct tr_buffer mtime;	  /* that of its first output */
	struct tr_buffer mtimes;  /* those of the others, as JSON strings */
	bool mtimes_differ;
	struct tr_buffer key; /* its start, end and hash */
	struct tr_buffer next_key;
	bool over; /* what follows is data of Chromium's */
};

static int bid(struct tr_input *in)
{
	enum { BITS = 60 };

	if (!tr_input_more(in, 1) || *in->pos != '#')
		return 0;
	tr_input_more(in, magic.len + 1);
	return tr_text_starts(tr_text_span(in->pos, in->end), magic) ? BITS : 0;
}

enum { MILLISECOND = 1000 * 1000 }; /* in nanoseconds */

/* Splits a line. times: start and end. False: it is not a line of the log. */
static bool split(struct tr_text line, struct tr_text fields[FIELDS], uint64_t times[2])
{
	const uint64_t most = TR_INSTANT_MAX / MILLISECOND;
	const char *p = line.data, *end = p + line.len;

	for (int i = 0; i < FIELDS; i++) {
		const char *tab = i < HASH ? memchr(p, '\t', (size_t)(end - p)) : end;
		if (!tab)
			return false;
		fields[i] = tr_text_span(p, tab);
		p = tab + 1;
	}
	for (size_t i = 0; i < fields[HASH].len; i++)
		if (tr_hex_digit(fields[HASH].data[i]) < 0)
			return false;
	return tr_decimal_read(fields[START], most, &times[0]) &&
	       tr_decimal_read(fields[END], most, &times[1]) && times[0] <= times[1] &&
	       fields[OUTPUT].len && fields[HASH].len;
}

/* Makes the command of a line the pending one. */
static void begin_command(struct reader *reader, const struct tr_text fields[FIELDS],
			  const uint64_t times[2])
{
	struct tr_buffer *to = &reader->pending;

	tr_buffer_reset(to);
	tr_buffer_reset(&reader->extra);
	tr_buffer_reset(&reader->mtimes);
	tr_buffer_reset(&reader->mtime);
	tr_buffer_put_text(&reader->mtime, fields[MTIME]);
	reader->mtimes_differ = false;
	tr_instant_write((int64_t)times[0] * MILLISECOND, 3, to);
	tr_buffer_put_byte(to, '\t');
	/* a task for each command, as each is a process of its own */
	tr_buffer_put_decimal(to, reader->base.seq);
	tr_buffer_put_byte(to, '\t');
	tr_cell_escape(fields[OUTPUT], false, to);
	tr_buffer_put_literal(to, "\toutput=");
	tr_string_quote(fields[OUTPUT], to);
	tr_buffer_put_literal(to, "\tend=");
	/* a value is a real number, which has no zeros at its end */
	tr_instant_write((int64_t)times[1] * MILLISECOND,
			 times[1] % 10	  ? 3
			 : times[1] % 100 ? 2
					  : 1,
			 to);
	tr_buffer_put_literal(to, "\textra={\"mtime\":");
	tr_string_quote(fields[MTIME], to);
	tr_buffer_put_literal(to, ",\"hash\":");
	tr_string_quote(fields[HASH], to);
	reader->base.source_line = reader->base.lines;
}

/* Appends a further output to the pending command. */
static void add_output(struct reader *reader, const struct tr_text fields[FIELDS])
{
	if (reader->extra.len) {
		tr_buffer_put_byte(&reader->extra, ',');
		tr_buffer_put_byte(&reader->mtimes, ',');
	}
	tr_string_quote(fields[OUTPUT], &reader->extra);
	tr_string_quote(fields[MTIME], &reader->mtimes);
	reader->mtimes_differ |= !tr_text_equal(fields[MTIME], tr_buffer_text(&reader->mtime));
}

/* Delivers the pending command. */
static enum tr_status put_pending(struct reader *reader, struct tr_record **record,
				  struct tr_error *err)
{
	struct tr_buffer *to = &reader->base.line;

	tr_reader_begin(&reader->base, "exec");
	tr_buffer_put_text(to, tr_buffer_text(&reader->pending));
	if (reader->extra.len) {
		tr_buffer_put_literal(to, ",\"outputs\":[");
		tr_buffer_put_text(to, tr_buffer_text(&reader->extra));
		tr_buffer_put_byte(to, ']');
	}
	if (reader->mtimes_differ) {
		tr_buffer_put_literal(to, ",\"mtimes\":[");
		tr_buffer_put_text(to, tr_buffer_text(&reader->mtimes));
		tr_buffer_put_byte(to, ']');
	}
	tr_buffer_put_byte(to, '}');
	to->failed |= reader->pending.failed || reader->extra.failed || reader->key.failed ||
		      reader->mtime.failed || (reader->mtimes_differ && reader->mtimes.failed);
	tr_buffer_reset(&reader->pending);
	return tr_reader_deliver(&reader->base, record, err);
}

/* Makes the key of a line's command. */
static void make_key(struct tr_buffer *key, const struct tr_text fields[FIELDS])
{
	tr_buffer_reset(key);
	tr_buffer_put_text(key, fields[START]);
	tr_buffer_put_byte(key, '\t');
	tr_buffer_put_text(key, fields[END]);
	tr_buffer_put_byte(key, '\t');
	tr_buffer_put_text(key, fields[HASH]);
}

/*
 * Takes a line. TR_OK: its command is another one than the pending one, which *record now has, and
 * becomes the pending one. TR_END: no record is complete.
 */
static enum tr_status take_line(struct reader *reader, struct tr_text line,
				struct tr_record **record, struct tr_error *err)
{
	struct tr_text fields[FIELDS];
	enum tr_status status = TR_END;
	uint64_t times[2] = { 0, 0 };

	if (tr_text_starts(line, TR_TEXT("# end of ninja log")))
		reader->over = true;
	if (reader->over || !line.len || *line.data == '#')
		return TR_END;
	if (!split(line, fields, times)) {
		tr_error_say(err, TR_CAUSE_INPUT, "not a line of a ninja log: left out");
		tr_error_at_line(err, reader->base.lines);
		return TR_WARN;
	}
	make_key(&reader->next_key, fields);
	if (reader->pending.len &&
	    tr_text_equal(tr_buffer_text(&reader->key), tr_buffer_text(&reader->next_key))) {
		add_output(reader, fields);
		return TR_END;
	}
	if (reader->pending.len)
		status = put_pending(reader, record, err);
	struct tr_buffer swapped = reader->key;
	reader->key = reader->next_key;
	reader->next_key = swapped;
	begin_command(reader, fields, times);
	return status;
}

static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	enum tr_status status = TR_END;
	struct tr_text line;
	bool ended;

	tr_arena_reset(&base->arena);
	while (status == TR_END) {
		status = tr_reader_line(base, &line, &ended, err);
		if (status == TR_END)
			return reader->pending.len ? put_pending(reader, record, err) : TR_END;
		if (status != TR_OK)
			return status;
		if (!ended && !reader->over && line.len) {
			tr_error_say(err, TR_CAUSE_CUT, "the last line is truncated: left out");
			tr_error_at_line(err, base->lines);
			return TR_WARN;
		}
		line.len -= line.len && line.data[line.len - 1] == '\r';
		status = take_line(reader, line, record, err);
	}
	return status;
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	tr_buffer_free(&reader->pending);
	tr_buffer_free(&reader->extra);
	tr_buffer_free(&reader->mtime);
	tr_buffer_free(&reader->mtimes);
	tr_buffer_free(&reader->key);
	tr_buffer_free(&reader->next_key);
}

/* Refuses other versions, because their lines are different. */
static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	enum { OLDEST = '5', NEWEST = '7' };
	bool whole = tr_input_more(in, magic.len + 2);
	char version = whole ? in->pos[magic.len] : 0, after = whole ? in->pos[magic.len + 1] : 0;

	if (whole && tr_text_starts(tr_text_span(in->pos, in->end), magic) &&
	    (version < OLDEST || version > NEWEST || (after != '\n' && after != '\r'))) {
		tr_error_say(err, TR_CAUSE_INPUT,
			     "a log of another version of ninja: versions 5 to 7 are read");
		return NULL;
	}
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);
	if (!reader)
		return NULL;
	tr_buffer_limit(&reader->base.line, reader->base.max_record);
	tr_buffer_limit(&reader->extra, reader->base.max_record);
	tr_buffer_limit(&reader->mtimes, reader->base.max_record);
	return &reader->base;
}

static const char *const extensions[] = { ".ninja_log", NULL };

const struct tr_format tr_format_ninjalog = {
	.name = "ninjalog",
	.summary = "the log of ninja with its times, .ninja_log",
	.exact = "-",
	.flags = TR_FORMAT_READS,
	.extensions = extensions,
	.bid = bid,
	.open = open_reader,
	.default_style = "tree",
};
