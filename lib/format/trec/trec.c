/* SPDX-License-Identifier: MIT */
/*
 * The record stream as a format like any other.
 *
 *	bid	evidence in the first lines
 *	reader	window -> whole lines -> sieve -> record
 *	writer	record -> its canonical line
 *
 * The reader checks the bytes of many lines at a time, which also finds where they end; a line then
 * costs only the search for its columns. Nothing is copied, and no value is parsed. A line comes
 * from the first of these that has one:
 *
 *	checked_line	the lines before a byte that no line may have
 *	pick_line	the next one of the checked chunk that the sieve does not leave out
 *	unchecked_line	anything else: it is checked by itself
 *
 * Before unchecked_line, pass_lines skips the lines that the sieve leaves out in a mapping of the
 * file, if there is one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "coverage/block.h"
#include "format/format.h"
#include "format/reader_base.h"
#include "format/writer_base.h"
#include "record/line.h"

/* Evidence. */

enum {
	BID_BYTES = 64 << 10, /* of comments, or of a first line without an end */
	BID_LINES = 16,	      /* without comments */
	HEADER_BITS = 48,
	LINE_BITS = 32,	  /* five columns, the first of which is a word */
	COMMENT_BITS = 1, /* nothing but comments */
};

/* Kinds and words of definitions begin with such a letter. */
static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Returns the place after a kind or definition word and its TAB. NULL: there is none. */
static const char *after_word(const char *p, const char *end)
{
	if (p == end || !is_lower(*p))
		return NULL;
	while (p < end && (is_lower(*p) || tr_is_digit(*p) || *p == '-'))
		p++;
	return p < end && *p == '\t' ? p + 1 : NULL;
}

/* Returns the bits of evidence at the beginning of a line, which `end` may cut. */
static int line_bits(const char *p, const char *end)
{
	size_t columns = 4;

	if ((end - p >= 5 && memcmp(p, "!end\t", 5) == 0) ||
	    (end - p >= 6 && memcmp(p, "%trec\t", 6) == 0))
		return HEADER_BITS;
	if (p < end && *p == '%') {
		p++;
		columns = 2;
	}
	p = after_word(p, end);
	for (; p && columns > 1; columns--) {
		const char *tab = memchr(p, '\t', (size_t)(end - p));
		if (!tab || tab == p || memchr(p, '\n', (size_t)(tab - p)))
			return 0;
		p = tab + 1;
	}
	return p && p < end && *p != '\t' && *p != '\n' ? LINE_BITS : 0;
}

/*
 * Returns the end of the line at `at`, after its LF; with `wait`, reads more to find it. 0: none.
 */
static size_t line_end(struct tr_input *in, size_t at, bool wait)
{
	size_t seen = at;

	for (;;) {
		const char *lf = memchr(in->pos + seen, '\n', tr_input_available(in) - seen);
		if (lf)
			return (size_t)(lf - in->pos) + 1;
		seen = tr_input_available(in);
		if (!wait || seen >= BID_BYTES || !tr_input_more(in, seen + 1))
			return 0;
	}
}

/* Whether a line of the stream may begin with this byte. */
static bool begins_line(char c)
{
	return is_lower(c) || c == '%' || c == '!' || c == '#';
}

/* Reads no more of the input than the first line that is not a comment. */
static int bid(struct tr_input *in)
{
	if (!tr_input_more(in, 1))
		return 0;
	int bits = 0;
	size_t at = 0;
	bool comments = false;
	/* the rest of a line that tail -c or split has cut is no evidence */
	if (!begins_line(*in->pos)) {
		at = line_end(in, 0, false);
		if (!at)
			return 0;
		bits--;
	}
	for (int lines = 0; lines < BID_LINES;) {
		size_t end = line_end(in, at, bits == 0);
		if (!end && bits)
			break; /* a line that the window cuts is no evidence against the format */
		size_t stop = end ? end : tr_input_available(in);
		if (stop == at)
			break;
		if (in->pos[at] == '#') {
			comments = true;
		} else {
			int line = line_bits(in->pos + at, in->pos + stop);
			if (line == HEADER_BITS)
				return HEADER_BITS;
			bits += line ? line : -LINE_BITS;
			lines++;
		}
		at = stop;
	}
	return bits > 0 ? bits : bits == 0 && comments ? COMMENT_BITS : 0;
}

/* Lines of a mapped file. */

enum {
	CHUNK = TR_LINE_BLOCKS * TR_LINE_BLOCK,
	AT_ONCE = 64 << 20, /* bytes, after which the caller gets control, for a progress line */
};
_Static_assert((int)CHUNK <= (int)TR_FILE_VIEW_LEAST, "a view has a chunk");

enum outcome { GO_ON, STOP, TORN };

/*
 * Sifts the whole lines of the chunk at *p, and moves *p after those that are done. All results
 * depend on the line ends that were found first, so a write to the file meanwhile cannot lead
 * outside the chunk.
 */
static enum outcome sift_chunk(struct tr_sieve *sieve, struct tr_line_ends *ends, const char **p,
			       uint64_t *lines)
{
	struct tr_pick pick;

	sieve->guard->enter(*p, CHUNK);
	tr_line_ends(*p, TR_LINE_BLOCKS, ends);
	if (!sieve->guard->leave() || !ends->clean || !ends->last)
		return STOP; /* nothing is lost: the window will find the same */
	sieve->guard->enter(*p, CHUNK + TR_INPUT_PAD);
	bool picked = tr_sieve_pick(sieve, ends, *p, &pick);
	bool whole = sieve->guard->leave();
	*p = picked ? pick.line.data : ends->last + 1;
	*lines += pick.left_out;
	sieve->left_out += pick.left_out;
	if (!whole)
		return TORN;
	return picked ? STOP : GO_ON;
}

/* Reports a file that was truncated or became unreadable while it was mapped. */
static enum tr_status torn(const struct tr_input *in, struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_INPUT,
		     "the file was truncated, or became unreadable, while it was being read: "
		     "some lines before this place may be wrong");
	tr_error_at_offset(err, in->offset);
	return TR_WARN;
}

/*
 * Skips the lines from in's position on that the sieve leaves out, up to one that it keeps or one
 * that has to be read in another way (not plain ASCII, very long, the last one), or AT_ONCE. Adds
 * their number to *lines; ends is working space. Without a guard it does nothing. TR_WARN: the file
 * was truncated meanwhile. TR_FATAL: it cannot seek.
 */
static enum tr_status pass_lines(struct tr_input *in, struct tr_sieve *sieve,
				 struct tr_line_ends *ends, uint64_t *lines, struct tr_error *err)
{
	enum outcome outcome = sieve && sieve->guard ? GO_ON : STOP;

	for (uint64_t begin = in->offset; outcome == GO_ON && in->offset - begin < AT_ONCE;) {
		struct tr_text bytes = tr_input_look(in);
		if (bytes.len < CHUNK)
			break; /* there may be no view at all */
		const char *p = bytes.data, *end = bytes.data + bytes.len;
		while (outcome == GO_ON && end - p >= CHUNK)
			outcome = sift_chunk(sieve, ends, &p, lines);
		if (!tr_input_pass(in, (size_t)(p - bytes.data))) {
			tr_error_system(err, errno, "cannot seek");
			return TR_FATAL;
		}
	}
	return outcome == TORN ? torn(in, err) : TR_OK;
}

/* Lines of the window. */

/* base.lines is the number of the last line. */
struct reader {
	struct tr_reader base;
	struct tr_sieve *sieve; /* NULL: every line is returned */
	size_t held;		/* bytes of the line that the caller still uses */
	uint64_t clean_to; /* stream offset of a byte that no line may have; 0: none is known */
	bool crlf_reported;
	struct tr_line_ends ends; /* of the lines that were checked as a chunk */
	bool in_chunk;		  /* some of them are still to be read */
};

/*
 * Checks the whole lines at the window's start, as one chunk. False: there are none, or a byte is
 * not allowed, and clean_to is set.
 */
static bool check_chunk(struct reader *r)
{
	struct tr_input *in = r->base.in;
	size_t blocks = tr_input_available(in) / TR_LINE_BLOCK;

	if (blocks > TR_LINE_BLOCKS)
		blocks = TR_LINE_BLOCKS;
	if (blocks * TR_LINE_BLOCK > r->base.max_record)
		return false;
	tr_line_ends(in->pos, blocks, &r->ends);
	if (!r->ends.last)
		return false;
	const char *bad = r->ends.clean ? r->ends.last : tr_line_scan(in->pos, r->ends.last);
	r->in_chunk = bad == r->ends.last;
	if (!r->in_chunk)
		r->clean_to = in->offset + (size_t)(bad - in->pos);
	return r->in_chunk;
}

/*
 * Reports a byte that no line may have. Where one line ends in CR LF, all of them do: only the
 * first is reported, and for the others err has no cause.
 */
static enum tr_status bad_bytes(struct reader *r, struct tr_text line, size_t at,
				struct tr_error *err)
{
	unsigned char c = (unsigned char)line.data[at];

	if (c == '\r' && at + 2 == line.len) {
		tr_error_set(err, TR_CAUSE_INPUT, "line ends in CR LF (reported once)");
		if (r->crlf_reported)
			err->cause = TR_CAUSE_NONE;
		r->crlf_reported = true;
	} else if (c < 0x80) {
		tr_error_set(err, TR_CAUSE_INPUT, "raw control byte \\x%02x in column %zu", c,
			     at + 1);
	} else {
		tr_error_set(err, TR_CAUSE_INPUT, "not UTF-8: byte \\x%02x in column %zu", c,
			     at + 1);
	}
	tr_error_at_line(err, r->base.lines);
	return TR_WARN;
}

/* Whether the line is a header whose version is not 1. */
static bool is_header_of_other_version(struct tr_text line)
{
	return tr_text_starts(line, TR_TEXT("%trec\t")) &&
	       !tr_text_starts(line, TR_TEXT("%trec\t1\t")) &&
	       !tr_text_starts(line, TR_TEXT("%trec\t1\n"));
}

/*
 * Adds the line number to the error of a damaged line. TR_FATAL: the line is a header of another
 * version, after which nothing can be read.
 */
static enum tr_status bad_line(struct reader *r, struct tr_text line, struct tr_error *err)
{
	tr_error_at_line(err, r->base.lines);
	if (!is_header_of_other_version(line))
		return TR_WARN;
	size_t len = strcspn(line.data + 6, "\t\n");
	tr_error_set(err, TR_CAUSE_INPUT,
		     "trec version '%.*s' is unknown: only version 1 is "
		     "supported",
		     (int)(len < 20 ? len : 20), line.data + 6);
	tr_error_at_line(err, r->base.lines);
	return TR_FATAL;
}

/*
 * The next line of this chunk or the following ones that the sieve does not leave out. False: the
 * next line has to be read in another way.
 */
static bool pick_line(struct reader *r, struct tr_pick *pick)
{
	struct tr_input *in = r->base.in;
	bool found = false;

	while (!found && (r->in_chunk || check_chunk(r))) {
		found = tr_sieve_pick(r->sieve, &r->ends, in->pos, pick);
		const char *begin = found ? pick->line.data : r->ends.last + 1;
		tr_input_skip(in, (size_t)(begin - in->pos));
		r->in_chunk = found && begin + pick->line.len <= r->ends.last;
		r->base.lines += pick->left_out;
		if (pick->left_out)
			r->sieve->left_out += pick->left_out;
	}
	return found;
}

/* Skips lines in the file that the window does not have yet. */
static enum tr_status pass_by(struct reader *r, struct tr_error *err)
{
	if (r->base.in->offset < r->clean_to || r->base.max_record < TR_LINE_BLOCKS * TR_LINE_BLOCK)
		return TR_OK;
	enum tr_status status = pass_lines(r->base.in, r->sieve, &r->ends, &r->base.lines, err);
	if (status != TR_OK)
		tr_error_at_line(err, r->base.lines);
	return status;
}

/* The next line before clean_to. False: there is none. */
static bool checked_line(struct reader *r, struct tr_text *line)
{
	struct tr_input *in = r->base.in;

	if (in->offset >= r->clean_to)
		return false;
	const char *lf = memchr(in->pos, '\n', (size_t)(r->clean_to - in->offset));
	if (!lf || (uint64_t)(lf - in->pos) >= r->base.max_record)
		return false;
	*line = tr_text_span(in->pos, lf + 1);
	return true;
}

/* The next line of any content, checked by itself. */
static enum tr_status unchecked_line(struct reader *r, struct tr_text *line, struct tr_error *err)
{
	struct tr_input *in = r->base.in;

	enum tr_status status = tr_input_line(in, line, err);
	if (status != TR_OK) {
		if (status != TR_END)
			tr_error_at_line(err, r->base.lines);
		return status;
	}
	r->held = line->len;
	if (line->data[line->len - 1] != '\n') {
		if (in->damaged)
			return TR_END; /* the cut is reported with its cause */
		tr_error_set(err, TR_CAUSE_CUT,
			     "the last line has no newline: it may be truncated");
		tr_error_at_line(err, r->base.lines);
		return TR_WARN;
	}
	const char *end = line->data + line->len, *bad = tr_line_scan(line->data, end);
	return bad < end ? bad_bytes(r, *line, (size_t)(bad - line->data), err) : TR_OK;
}

/*
 * A line that the window cuts does not go through the sieve, so that every read of the input
 * returns a line, and the caller gets control.
 */
static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *r = tr_container(base, struct reader, base);
	struct tr_pick pick;

	tr_input_skip(r->base.in, r->held);
	r->held = 0;
	bool checked = !r->in_chunk && checked_line(r, &pick.line);
	bool picked = !checked && pick_line(r, &pick);
	if (!checked && !picked) {
		enum tr_status status = pass_by(r, err);
		if (status != TR_OK)
			return status;
	}
	r->base.lines++;
	if (!checked && !picked) {
		enum tr_status status = unchecked_line(r, &pick.line, err);
		if (status != TR_OK)
			return status;
	}
	if (!picked) {
		pick.has_columns = tr_columns_find(
			pick.line.data, pick.line.data + pick.line.len - 1, &pick.columns);
		pick.answer = TR_SIFT_OPEN;
	}
	r->held = pick.line.len;
	tr_arena_reset(&r->base.arena);
	if (pick.has_columns)
		tr_record_from_columns(&r->base.record, pick.line, &pick.columns);
	else if (!tr_record_from_line(&r->base.record, pick.line, err))
		return bad_line(r, pick.line, err);
	r->base.record.source_line = r->base.lines;
	r->base.record.chosen = pick.answer == TR_SIFT_IN;
	*record = &r->base.record;
	return TR_OK;
}

static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	struct reader *r = tr_reader_new(sizeof *r, next, NULL, config, in, err);

	if (!r)
		return NULL;
	r->sieve = config->sieve;
	return &r->base;
}

/* The writer. */

struct writer {
	struct tr_writer base;
	struct tr_buffer line;
	struct tr_op_values *ops; /* NULL: no block has come without a record */
	struct tr_block_speller speller;
};

/* Writes the canonical line. A line that cannot be parsed is written unchanged, and reported. */
static enum tr_status put(struct tr_writer *base, struct tr_record *record, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	struct tr_output *out = base->out;
	enum tr_status status = TR_OK;

	if (record->spell && !record->line.data) {
		char *line = tr_output_room(out, TR_SPELL_MAX);
		tr_output_used(out, record->spell(record, line));
	} else if (record->line.data && record->canonical) {
		tr_output_put_text(out, record->line);
	} else {
		tr_buffer_reset(&writer->line);
		status = tr_record_write(record, &writer->line, err);
		if (status == TR_OK) {
			tr_output_put_text(out, tr_buffer_text(&writer->line));
		} else if (status == TR_WARN && record->line.data) {
			tr_output_put_text(out, record->line);
			err->severity = TR_FLAW;
		}
	}
	tr_output_record_end(out);
	return status;
}

/* Writes the lines of blocks that have no records. */
static size_t put_blocks(struct tr_writer *base, const struct tr_block *blocks, size_t count,
			 uint64_t seq)
{
	struct writer *writer = tr_container(base, struct writer, base);

	if (!writer->ops)
		writer->speller.ops = writer->ops = tr_op_values_new();
	for (size_t i = 0; writer->ops && i < count; i++) {
		char *line = tr_output_room(base->out, TR_SPELL_MAX);
		tr_output_used(base->out,
			       tr_block_line(&writer->speller, &blocks[i], seq + i, line));
	}
	return writer->ops ? count : 0;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);

	free(writer->ops);
	tr_buffer_free(&writer->line);
}

static const struct tr_writer_steps steps = { .line = put,
					      .blocks = put_blocks,
					      .discard = discard };

static struct tr_writer *create(const struct tr_write_config *config, struct tr_output *out,
				struct tr_error *err)
{
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);

	(void)config;
	return writer ? &writer->base : NULL;
}

static const char *const extensions[] = { ".trec", NULL };

const struct tr_format tr_format_trec = {
	.name = "trec",
	.summary = "the record stream: one record a line",
	.exact = "EXACT",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_STREAM,
	.extensions = extensions,
	.bid = bid,
	.open = open_reader,
	.create = create,
};
