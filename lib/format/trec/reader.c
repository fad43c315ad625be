/*
 * Lines out of the window. Their bytes are checked many lines at a time, and on
 * the way it is noted where the lines end; a line then costs no more than the
 * look at its columns. Nothing is copied, no value is looked at.
 */
#include "config.h"

#include "format/trec/trec.h"

#include <stdlib.h>

#include "core/arena.h"
#include "record/columns.h"
#include "record/line.h"
#include "record/sieve.h"

struct tr_reader {
	struct tr_input *in;
	struct tr_sieve *sieve; /* NULL: every line is given */
	struct tr_record record;
	struct tr_arena arena;
	size_t held; /* bytes of the line that the caller still looks at */
	uint64_t max_record;
	uint64_t line;	   /* number of the last line */
	uint64_t clean_to; /* stream offset: everything before is fit for lines */
	uint64_t whole_to; /* stream offset behind the last line end that was looked for */
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
 * Checks the next chunk, which begins with this line. False when the line is
 * not whole in it, or something stands in it that has to be looked at closer.
 */
static bool check_chunk(struct tr_reader *r, struct tr_text line)
{
	struct tr_input *in = r->in;
	size_t blocks = tr_input_available(in) / TR_LINE_BLOCK;

	if (blocks > TR_LINE_BLOCKS)
		blocks = TR_LINE_BLOCKS;
	if (line.len > blocks * TR_LINE_BLOCK || blocks * TR_LINE_BLOCK > r->max_record)
		return false;
	tr_line_ends(in->pos, blocks, &r->ends);
	const char *end = r->ends.last + 1;
	if (!r->ends.clean && tr_line_scan(in->pos, end) < end)
		return false;
	r->clean_to = in->offset + (size_t)(end - in->pos);
	tr_line_ends_next(&r->ends); /* the end of this line */
	r->in_chunk = end > in->pos + line.len;
	return true;
}

/* Checks what the window holds of whole lines, beginning with this one. */
static void check_bytes(struct tr_reader *r, struct tr_text line)
{
	struct tr_input *in = r->in;

	if (check_chunk(r, line))
		return;
	if (r->whole_to < in->offset + line.len) {
		const char *lf = memrchr(in->pos, '\n', tr_input_available(in));
		r->whole_to = in->offset + (size_t)(lf - in->pos) + 1;
	}
	const char *end = in->pos + (r->whole_to - in->offset);
	r->clean_to = in->offset + (size_t)(tr_line_scan(in->pos, end) - in->pos);
}

static enum tr_status bad_bytes(struct tr_reader *r, struct tr_text line, struct tr_error *err)
{
	size_t at = (size_t)(r->clean_to - r->in->offset);
	unsigned char c = (unsigned char)line.data[at];

	if (c == '\r' && at + 2 == line.len) {
		/* an editor's doing, and then it is all lines: said once */
		tr_error_set(err, TR_CAUSE_INPUT, "line ends in CR LF (said once)");
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

/* A line that may be given, and what is known of it. */
struct pick {
	struct tr_text line;
	struct tr_columns columns;
	bool has_columns;
	enum tr_sift answer;
};

static void look_at(const struct tr_reader *r, struct pick *pick, const char *p, const char *lf)
{
	pick->line = tr_text_span(p, lf + 1);
	pick->has_columns = tr_columns_find(p, lf, &pick->columns);
	pick->answer = r->sieve && pick->has_columns && !pick->columns.escapes
			       ? r->sieve->sift(r->sieve, &pick->columns)
			       : TR_SIFT_OPEN;
}

/* The next line of the chunk that the sieve does not leave out. False: there is none. */
static bool pick_from_chunk(struct tr_reader *r, struct pick *pick)
{
	const char *begin = r->in->pos, *p = begin;
	uint64_t left_out = 0;

	pick->answer = TR_SIFT_OUT;
	while (r->in_chunk) {
		const char *lf = tr_line_ends_next(&r->ends);
		r->in_chunk = lf < r->ends.last;
		look_at(r, pick, p, lf);
		if (pick->answer != TR_SIFT_OUT)
			break;
		p = lf + 1;
		left_out++;
	}
	if (left_out) {
		tr_input_skip(r->in, (size_t)(p - begin));
		r->line += left_out;
		r->sieve->left_out += left_out;
	}
	return pick->answer != TR_SIFT_OUT;
}

/* The next line, of those whose bytes were checked though not their ends. False: there is none. */
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

/* The next line from the window, its bytes checked, and those of others with them. */
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
	check_bytes(r, *line);
	return r->clean_to < in->offset + line->len ? bad_bytes(r, *line, err) : TR_OK;
}

/*
 * The first line of a chunk does not go through the sieve: so every few lines
 * one is given come what may, and the caller can look up from it.
 */
enum tr_status tr_trec_next(struct tr_reader *r, struct tr_record **record, struct tr_error *err)
{
	struct pick pick;

	tr_input_skip(r->in, r->held);
	r->held = 0;
	bool picked = pick_from_chunk(r, &pick);
	r->line++;
	if (!picked) {
		enum tr_status status = TR_OK;
		if (!checked_line(r, &pick.line))
			status = unchecked_line(r, &pick.line, err);
		if (status != TR_OK)
			return status;
		pick.has_columns = false;
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
