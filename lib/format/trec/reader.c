/*
 * Lines out of the window. Their bytes are checked many lines at a time, and on
 * the way it is noted where the lines end; a line then costs no more than the
 * look at its columns. Nothing is copied, no value is looked at.
 */
#include "config.h"

#include "format/trec/trec.h"

#include <stdlib.h>

#include "core/arena.h"
#include "format/trec/pass_by.h"
#include "record/columns.h"
#include "record/sieve.h"

struct tr_reader {
	struct tr_input *in;
	struct tr_sieve *sieve; /* NULL: every line is given */
	struct tr_record record;
	struct tr_arena arena;
	size_t held; /* bytes of the line that the caller still looks at */
	uint64_t max_record;
	uint64_t line;	   /* number of the last line */
	uint64_t clean_to; /* stream offset of what is not fit for lines, where it was met */
	bool crlf_reported;
	struct tr_line_ends ends; /* of the lines that were checked as a chunk */
	bool in_chunk;		  /* some of them are to come */
};

struct tr_reader *tr_trec_open(const struct tr_read_config *config, struct tr_input *in,
			       struct tr_error *err)
{
	struct tr_reader *r = calloc(1, sizeof *r);

	if (!r) {
		tr_error_memory(err);
		return NULL;
	}
	r->in = in;
	r->sieve = config->sieve;
	r->record.arena = &r->arena;
	r->max_record = config->limits.max_record;
	tr_arena_limit(&r->arena, r->max_record);
	return r;
}

void tr_trec_close(struct tr_reader *r)
{
	if (!r)
		return;
	tr_arena_free(&r->arena);
	free(r);
}

/*
 * Checks what follows in the window as far as it is whole lines, a chunk of it at
 * a time. False: there are none, or not all are fit, which clean_to tells then.
 */
static bool check_chunk(struct tr_reader *r)
{
	struct tr_input *in = r->in;
	size_t blocks = tr_input_available(in) / TR_LINE_BLOCK;

	if (blocks > TR_LINE_BLOCKS)
		blocks = TR_LINE_BLOCKS;
	if (blocks * TR_LINE_BLOCK > r->max_record)
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

static enum tr_status bad_bytes(struct tr_reader *r, struct tr_text line, size_t at,
				struct tr_error *err)
{
	unsigned char c = (unsigned char)line.data[at];

	if (c == '\r' && at + 2 == line.len) {
		/* an editor's doing, and then it is all lines: said once */
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
	tr_error_at_line(err, r->line);
	return TR_WARN;
}

static bool is_header_of_other_version(struct tr_text line)
{
	return tr_text_starts(line, TR_TEXT("%trec\t")) &&
	       !tr_text_starts(line, TR_TEXT("%trec\t1\t")) &&
	       !tr_text_starts(line, TR_TEXT("%trec\t1\n"));
}

static enum tr_status bad_line(struct tr_reader *r, struct tr_text line, struct tr_error *err)
{
	tr_error_at_line(err, r->line);
	if (!is_header_of_other_version(line))
		return TR_WARN;
	size_t len = strcspn(line.data + 6, "\t\n");
	tr_error_set(err, TR_CAUSE_INPUT, "trec version '%.*s' is unknown: only version 1 is",
		     (int)(len < 20 ? len : 20), line.data + 6);
	tr_error_at_line(err, r->line);
	return TR_FATAL;
}

/*
 * The next line of this chunk or those behind it that the sieve does not leave
 * out. False: what comes next has to be looked at in another way.
 */
static bool pick_line(struct tr_reader *r, struct tr_pick *pick)
{
	struct tr_input *in = r->in;
	bool found = false;

	while (!found && (r->in_chunk || check_chunk(r))) {
		found = tr_sieve_pick(r->sieve, &r->ends, in->pos, pick);
		const char *begin = found ? pick->line.data : r->ends.last + 1;
		tr_input_skip(in, (size_t)(begin - in->pos));
		r->in_chunk = found && begin + pick->line.len <= r->ends.last;
		r->line += pick->left_out;
		if (pick->left_out)
			r->sieve->left_out += pick->left_out;
	}
	return found;
}

/*
 * The window has no more whole lines, or none that are plain: those that come next
 * need not come into it if nobody wants them.
 */
static enum tr_status pass_by(struct tr_reader *r, struct tr_error *err)
{
	if (r->in->offset < r->clean_to || r->max_record < TR_LINE_BLOCKS * TR_LINE_BLOCK)
		return TR_OK;
	enum tr_status status = tr_trec_pass_by(r->in, r->sieve, &r->ends, &r->line, err);
	if (status != TR_OK)
		tr_error_at_line(err, r->line);
	return status;
}

/* The next line, of those in front of something that is not fit. False: there is none. */
static bool checked_line(struct tr_reader *r, struct tr_text *line)
{
	struct tr_input *in = r->in;

	if (in->offset >= r->clean_to)
		return false;
	const char *lf = memchr(in->pos, '\n', (size_t)(r->clean_to - in->offset));
	if (!lf || (uint64_t)(lf - in->pos) >= r->max_record)
		return false;
	*line = tr_text_span(in->pos, lf + 1);
	return true;
}

/* The next line, whatever it is. */
static enum tr_status unchecked_line(struct tr_reader *r, struct tr_text *line,
				     struct tr_error *err)
{
	struct tr_input *in = r->in;

	enum tr_status status = tr_input_line(in, line, err);
	if (status != TR_OK) {
		if (status != TR_END)
			tr_error_at_line(err, r->line);
		return status;
	}
	r->held = line->len;
	if (line->data[line->len - 1] != '\n') {
		if (in->damaged)
			return TR_END; /* the cut is reported with its cause */
		tr_error_set(err, TR_CAUSE_CUT, "the last line has no end: it may be cut");
		tr_error_at_line(err, r->line);
		return TR_WARN;
	}
	const char *end = line->data + line->len, *bad = tr_line_scan(line->data, end);
	return bad < end ? bad_bytes(r, *line, (size_t)(bad - line->data), err) : TR_OK;
}

static bool find_columns(struct tr_text line, struct tr_columns *columns)
{
	return tr_columns_find(line.data, line.data + line.len - 1, columns);
}

/*
 * What is cut by the window does not go through the sieve: so at every read a line
 * is given come what may, and the caller can look up from it.
 */
enum tr_status tr_trec_next(struct tr_reader *r, struct tr_record **record, struct tr_error *err)
{
	struct tr_pick pick;

	tr_input_skip(r->in, r->held);
	r->held = 0;
	bool checked = !r->in_chunk && checked_line(r, &pick.line);
	bool picked = !checked && pick_line(r, &pick);
	if (!checked && !picked) {
		enum tr_status status = pass_by(r, err);
		if (status != TR_OK)
			return status;
	}
	r->line++;
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
	tr_arena_reset(&r->arena);
	if (pick.has_columns)
		tr_record_from_columns(&r->record, pick.line, &pick.columns);
	else if (!tr_record_from_line(&r->record, pick.line, err))
		return bad_line(r, pick.line, err);
	r->record.source_line = r->line;
	r->record.chosen = pick.answer == TR_SIFT_IN;
	*record = &r->record;
	return TR_OK;
}
