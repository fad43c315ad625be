/* SPDX-License-Identifier: MIT */
/* Format trec: the record stream itself, its evidence, and its writer. */
#include "format/trec/trec.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "coverage/block.h"
#include "format/writer_base.h"

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

/* The end of a kind or definition word and its TAB; NULL: there is none. */
static const char *after_word(const char *p, const char *end)
{
	if (p == end || !is_lower(*p))
		return NULL;
	while (p < end && (is_lower(*p) || (*p >= '0' && *p <= '9') || *p == '-'))
		p++;
	return p < end && *p == '\t' ? p + 1 : NULL;
}

/* Bits of evidence at the beginning of a line; `end` may cut it. */
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

/* The end of the line at `at` after its LF, which is waited for with `wait`. 0: none. */
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

/* Waits for no more than the first line that is not a comment. */
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
			break; /* a line that the window cuts is no evidence against it */
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

/* Writes the stream in its one spelling. A malformed line is written as it is, and reported. */

struct writer {
	struct tr_writer base;
	struct tr_buffer line;
	struct tr_op_values *ops; /* NULL: no block has come without a record */
	struct tr_block_speller speller;
};

/* Writes the one spelling. A line that cannot be parsed is written as it is, and reported. */
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
	.open = tr_trec_open,
	.create = create,
};
