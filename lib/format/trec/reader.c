/* SPDX-License-Identifier: MIT */
/*
 * Reads lines of the window. The bytes of many lines are checked at a time, which also finds the
 * ends of the lines; a line then costs only the search for its columns. Nothing is copied, and no
 * value is parsed. Lines that the sieve leaves out are passed by in the file where possible.
 *
 * A line comes from the first of these that has one:
 *
 *	checked_line	in front of bytes that were found unfit for lines
 *	pick_line	the next one of the checked chunk that the sieve does not leave out
 *	unchecked_line	anything else: it is checked by itself
 */

#include <errno.h>

#include "core/arena.h"
#include "format/reader_base.h"
#include "format/trec/trec.h"
#include "record/line.h"

/* The caller gets control after so many bytes, for a progress line. */
enum { AT_ONCE = 64 << 20 /* bytes */ };

enum { CHUNK = TR_LINE_BLOCKS * TR_LINE_BLOCK };
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
		     "the file was cut, or cannot be read, while it was read: "
		     "some lines before this place may be wrong");
	tr_error_at_offset(err, in->offset);
	return TR_WARN;
}

/*
 * Passes by the lines from in's position on that the sieve leaves out, up to one that it does not,
 * to one that has to be read in another way (not plain ASCII, very long, the last one), or AT_ONCE.
 * Adds their number to *lines; ends is working space. Without a guard it does nothing. TR_OK;
 * TR_WARN: the file was cut meanwhile; TR_FATAL: it cannot seek.
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

/*
 * Lines out of the window. Their bytes are checked many lines at a time, and on
 * the way it is noted where the lines end; a line then costs no more than the
 * look at its columns. Nothing is copied, no value is looked at.
 */

/* base.lines is the number of the last line. */
struct reader {
	struct tr_reader base;
	struct tr_sieve *sieve; /* NULL: every line is returned */
	size_t held;		/* bytes of the line that the caller still uses */
	uint64_t clean_to;	/* stream offset of bytes that are unfit for lines */
	bool crlf_reported;
	struct tr_line_ends ends; /* of the lines that were checked as a chunk */
	bool in_chunk;		  /* some of them are still to be read */
};

/*
 * Checks the whole lines at the window's start, a chunk at a time. False: there are none, or not
 * all are fit, and clean_to is set.
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
 * Reports a byte that no line of the stream may have. CR LF is reported once, because then every
 * line has it; err without a cause stands for the later ones.
 */
static enum tr_status bad_bytes(struct reader *r, struct tr_text line, size_t at,
				struct tr_error *err)
{
	unsigned char c = (unsigned char)line.data[at];

	if (c == '\r' && at + 2 == line.len) {
		/* an editor has converted all lines: reported once */
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
 * Places the error of a line that is no record. TR_FATAL: a header of another version, after which
 * nothing can be read.
 */
static enum tr_status bad_line(struct reader *r, struct tr_text line, struct tr_error *err)
{
	tr_error_at_line(err, r->base.lines);
	if (!is_header_of_other_version(line))
		return TR_WARN;
	size_t len = strcspn(line.data + 6, "\t\n");
	tr_error_set(err, TR_CAUSE_INPUT, "trec version '%.*s' is unknown: only version 1 is",
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

/* The window has no more whole plain lines: those that the sieve leaves out are not read at all. */
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
		tr_error_set(err, TR_CAUSE_CUT, "the last line has no end: it may be cut");
		tr_error_at_line(err, r->base.lines);
		return TR_WARN;
	}
	const char *end = line->data + line->len, *bad = tr_line_scan(line->data, end);
	return bad < end ? bad_bytes(r, *line, (size_t)(bad - line->data), err) : TR_OK;
}

/* Finds the columns of a line with its LF. False: it has another form, such as a comment. */
static bool find_columns(struct tr_text line, struct tr_columns *columns)
{
	return tr_columns_find(line.data, line.data + line.len - 1, columns);
}

/*
 * A line that the window cuts does not go through the sieve, so every read of input returns a line,
 * and the caller gets control.
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
		pick.has_columns = find_columns(pick.line, &pick.columns);
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

struct tr_reader *tr_trec_open(const struct tr_read_config *config, struct tr_input *in,
			       struct tr_error *err)
{
	struct reader *r = tr_reader_new(sizeof *r, next, NULL, config, in, err);

	if (!r)
		return NULL;
	r->sieve = config->sieve;
	return &r->base;
}
