/*
 * Lines out of the window. Their bytes are checked many lines at a time, and on
 * the way it is noted where the lines end; a line then costs no more than the
 * look at its columns. Nothing is copied, no value is looked at.
 */
#include "config.h"

#include "format/trec/trec.h"

#include <stdlib.h>

#include "core/arena.h"
#include "record/line.h"

/* Few enough that what was checked is still in the nearest cache when it is read. */
enum { CHUNK_BLOCKS = 256 };

/* The line ends of the chunk that is being read. */
struct line_ends {
	const char *base; /* NULL: there is none */
	uint64_t left;	  /* of the current block */
	size_t block;
	uint64_t blocks[CHUNK_BLOCKS];
};

struct tr_reader {
	struct tr_input *in;
	struct tr_record record;
	struct tr_arena arena;
	size_t held; /* bytes of the line that the caller still looks at */
	uint64_t max_record;
	uint64_t line;	   /* number of the last line */
	uint64_t clean_to; /* stream offset: everything before is fit for lines */
	uint64_t whole_to; /* stream offset behind the last line end that was looked for */
	bool crlf_reported;
	struct line_ends ends; /* of the lines before clean_to */
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

/* There is one: the caller knows. */
static const char *next_end(struct line_ends *ends)
{
	while (!ends->left)
		ends->left = ends->blocks[++ends->block];
	unsigned bit = (unsigned)__builtin_ctzll(ends->left);
	ends->left &= ends->left - 1;
	return ends->base + ends->block * TR_LINE_BLOCK + bit;
}

/* Checks the next chunk; false when this line is not whole in it, or it needs a closer look. */
static bool check_chunk(struct tr_reader *r, struct tr_text line)
{
	struct tr_input *in = r->in;
	struct line_ends *ends = &r->ends;
	size_t blocks = tr_input_available(in) / TR_LINE_BLOCK;

	ends->base = NULL;
	if (blocks > CHUNK_BLOCKS)
		blocks = CHUNK_BLOCKS;
	if (line.len > blocks * TR_LINE_BLOCK || !tr_line_ends(in->pos, blocks, ends->blocks))
		return false;
	while (!ends->blocks[blocks - 1])
		blocks--;
	unsigned last = 63 - (unsigned)__builtin_clzll(ends->blocks[blocks - 1]);
	r->clean_to = in->offset + (blocks - 1) * TR_LINE_BLOCK + last + 1;
	ends->base = in->pos;
	ends->block = 0;
	ends->left = ends->blocks[0];
	next_end(ends); /* this line's */
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

/* The next line with its LF, its bytes checked; TR_WARN: to be left out. */
static enum tr_status next_line(struct tr_reader *r, struct tr_text *line, struct tr_error *err)
{
	struct tr_input *in = r->in;

	r->line++;
	if (in->offset < r->clean_to) {
		size_t clean = (size_t)(r->clean_to - in->offset);
		const char *lf = r->ends.base ? next_end(&r->ends) : memchr(in->pos, '\n', clean);
		if (lf && (uint64_t)(lf - in->pos) < r->max_record) {
			*line = tr_text_span(in->pos, lf + 1);
			r->held = line->len;
			return TR_OK;
		}
	}
	r->ends.base = NULL;
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

enum tr_status tr_trec_next(struct tr_reader *r, struct tr_record **record, struct tr_error *err)
{
	struct tr_text line;

	tr_input_skip(r->in, r->held);
	r->held = 0;
	enum tr_status status = next_line(r, &line, err);
	if (status != TR_OK)
		return status;
	tr_arena_reset(&r->arena);
	if (!tr_record_from_line(&r->record, line, err))
		return bad_line(r, line, err);
	r->record.source_line = r->line;
	*record = &r->record;
	return TR_OK;
}
