/* SPDX-License-Identifier: MIT */
/*
 * Format json: the stream as typed JSON (typed.h), one array a line.
 *
 *	bid		evidence in the first bytes
 *	next		line of the window -> array -> trec line (typed_read.c) -> record
 *	put		record -> array (typed_write.c) -> bytes
 *
 * The reader takes arrays as they come: one a line as a rule, which is read in the window;
 * several on a line; or one over several lines (`jq .`), which is collected first. After damage
 * it continues with the next line that begins an array.
 */
#include <string.h>

#include "format/json/typed.h"
#include "format/reader_base.h"
#include "format/writer_base.h"

enum {
	LOOK = 4096, /* bytes of the first array */
	UNDECIDED = -1,
	HEADER_BITS = 64,
	COMMENT_BITS = 40,
	RECORD_BITS = 32,
};

/* A position in the window, after whose end all bytes are '\0'. */
struct look {
	const char *p, *end;
};

/* Skips blanks and returns the next byte. */
static char next_byte(struct look *look)
{
	while (look->p < look->end && tr_is_blank(*look->p))
		look->p++;
	return look->p < look->end ? *look->p++ : '\0';
}

/* Whether the byte may be in a kind. */
static bool is_kind_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/* Skips and returns a kind, "%word", "!end" or "#", without its closing quote. */
static struct tr_text first_word(struct look *look)
{
	const char *word = look->p;
	if (look->p < look->end && (*word == '%' || *word == '!' || *word == '#'))
		look->p++;
	while (look->p < look->end && is_kind_byte(*look->p))
		look->p++;
	return tr_text_span(word, look->p);
}

/*
 * Returns the bits of evidence in an array's first word and the first byte of its second element.
 */
static int word_bits(struct tr_text word, char second)
{
	bool number = second >= '0' && second <= '9';
	if (tr_text_is(word, "#"))
		return second == '"' ? COMMENT_BITS : 0;
	if (*word.data == '%' || *word.data == '!')
		return word.len > 1 && (second == '"' || number) ? HEADER_BITS : 0;
	if (*word.data < 'a' || *word.data > 'z')
		return 0;
	return second == '"' || second == 'n' || number ? RECORD_BITS : 0;
}

/* Returns the bits of evidence for an array of the stream. UNDECIDED: the window ends too early. */
static int evidence(struct look look)
{
	static const char opening[] = "[\"", closing[] = "\",";
	for (const char *want = opening; *want; want++) {
		char c = next_byte(&look);
		if (c != *want)
			return c ? 0 : UNDECIDED;
	}
	struct tr_text word = first_word(&look);
	for (const char *want = closing; *want; want++) {
		char c = next_byte(&look);
		if (c != *want || word.len == 0)
			return c ? 0 : UNDECIDED;
	}
	char second = next_byte(&look);
	return second ? word_bits(word, second) : UNDECIDED;
}

/* Reads no more of the input than the answer needs. */
static int bid(struct tr_input *in)
{
	for (;;) {
		int bits = evidence((struct look){ in->pos, in->end });
		if (bits != UNDECIDED)
			return bits;
		size_t available = tr_input_available(in);
		if (available >= LOOK || !tr_input_more(in, available + 1))
			return 0;
	}
}

/* base.lines counts the lines before the window's start. */
struct reader {
	struct tr_reader base;
	bool resync; /* skipping the rest of a damaged array */
	struct tr_typed_reader typed;
	struct tr_buffer array; /* an array that is not on one line */
};

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	tr_buffer_free(&reader->typed.scratch);
	tr_buffer_free(&reader->array);
}

/* Returns the first byte that is no blank. */
static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && tr_is_blank(*p))
		p++;
	return p;
}

/* The number of the line at the window's start. */
static uint64_t here(const struct reader *reader)
{
	return reader->base.lines + 1;
}

/* Skips the window up to p, and counts the line if p is after its LF. */
static void consume(struct reader *reader, struct tr_text line, const char *p)
{
	tr_input_skip(reader->base.in, (size_t)(p - line.data));
	if (p > line.data && p[-1] == '\n')
		reader->base.lines++;
}

/* Returns the place after the closing quote of the string that p is in. NULL: there is none. */
static const char *string_end(const char *p, const char *end)
{
	for (; p < end; p++) {
		if (*p == '"')
			return p + 1;
		if (*p == '\\')
			p++;
	}
	return NULL;
}

/*
 * Follows the brackets from p to after the one that closes the last of *depth, or to end. NULL: a
 * string does not end on its line.
 */
static const char *follow(const char *p, const char *end, size_t *depth)
{
	while (p < end) {
		char c = *p++;
		if (c == '"') {
			p = string_end(p, end);
			if (!p)
				return NULL;
		} else if (c == '[' || c == '{') {
			++*depth;
		} else if ((c == ']' || c == '}') && --*depth == 0) {
			return p;
		}
	}
	return end;
}

/*
 * Inside an array: the line begins a new one, so the last one was cut. jq and other printers indent
 * elements; those that do not indent have no element after a bracket on its line, and every array
 * of the stream begins with a string.
 */
static bool begins_array(struct tr_text line, bool indented)
{
	if (line.data[0] != '[')
		return false;
	const char *end = line.data + line.len, *p = skip_blanks(line.data + 1, end);
	return indented || (p < end && *p == '"');
}

/* Reports an array without an end. */
static enum tr_status cut_array(struct tr_error *err, enum tr_cause cause, uint64_t line)
{
	tr_error_set(err, cause, "the array that begins here has no end");
	tr_error_at_line(err, line);
	return TR_WARN;
}

/* Moves a piece of the line from the window to the array. */
static enum tr_status take(struct reader *reader, struct tr_text line, const char *end,
			   uint64_t start, struct tr_error *err)
{
	size_t len = (size_t)(end - line.data);
	bool fits = reader->array.len + len <= reader->base.max_record;
	if (fits)
		tr_buffer_put(&reader->array, line.data, len);
	consume(reader, line, end);
	if (reader->array.failed)
		return tr_error_memory(err);
	if (fits)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_LIMIT,
		     "an array is larger than the limit (--max-record raises it)");
	tr_error_at_line(err, start);
	reader->resync = true;
	return TR_WARN;
}

/* Collects the array that begins in this line and continues in the next ones. */
static enum tr_status collect(struct reader *reader, struct tr_text line, struct tr_error *err)
{
	uint64_t start = here(reader);
	size_t depth = 0;
	bool indented = false;
	tr_buffer_reset(&reader->array);
	for (bool first = true;; first = false) {
		const char *line_end = line.data + line.len;
		if (!first && here(reader) == start + 1)
			indented = tr_is_blank(line.data[0]);
		if (!first && begins_array(line, indented))
			return cut_array(err, TR_CAUSE_INPUT, start);
		const char *end = follow(line.data, line_end, &depth);
		if (!end) {
			tr_error_set(err, line_end[-1] == '\n' ? TR_CAUSE_INPUT : TR_CAUSE_CUT,
				     "a string does not end on its line");
			tr_error_at_line(err, here(reader));
			consume(reader, line, line_end);
			reader->resync = true;
			return TR_WARN;
		}
		enum tr_status status = take(reader, line, end, start, err);
		if (status != TR_OK || depth == 0)
			return status;
		status = tr_input_line(reader->base.in, &line, err);
		if (status == TR_END)
			return reader->base.in->damaged ? TR_END
							: cut_array(err, TR_CAUSE_CUT, start);
		if (status != TR_OK) {
			tr_error_at_line(err, ++reader->base.lines);
			reader->resync = true;
			return status;
		}
	}
}

/* Makes the record of the trec line. */
static enum tr_status make_record(struct reader *reader, uint64_t line, struct tr_error *err)
{
	if (!tr_buffer_room(&reader->base.line, TR_INPUT_PAD))
		return tr_error_memory(err);
	tr_record_init(&reader->base.record, &reader->base.arena);
	if (!tr_record_from_line(&reader->base.record, tr_buffer_text(&reader->base.line), err)) {
		tr_error_at_line(err, line);
		bool header =
			tr_text_starts(tr_buffer_text(&reader->base.line), TR_TEXT("%trec\t"));
		return header ? TR_FATAL : TR_WARN;
	}
	reader->base.record.canonical = !reader->typed.raw && reader->base.record.type == TR_RECORD;
	reader->base.record.source_line = line;
	return TR_OK;
}

/* Converts the array to a trec line in base.line. */
static enum tr_status convert(struct reader *reader, const char *p, const char *end,
			      struct tr_error *err)
{
	tr_buffer_reset(&reader->base.line);
	tr_arena_reset(&reader->base.arena);
	reader->typed.json = (struct tr_json){ p, end };
	reader->typed.err = err;
	return tr_typed_read_record(&reader->typed);
}

/* Counts LFs, for the position of an error. */
static uint64_t count_lines(const char *p, const char *end)
{
	uint64_t lines = 0;
	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		lines++;
		p++;
	}
	return lines;
}

/* Makes the record of an array over several lines. */
static enum tr_status read_collected(struct reader *reader, uint64_t start, struct tr_error *err)
{
	if (!tr_buffer_room(&reader->array, TR_INPUT_PAD))
		return tr_error_memory(err);
	memset(reader->array.data + reader->array.len, 0, TR_INPUT_PAD);
	const char *p = reader->array.data, *end = p + reader->array.len;
	enum tr_status status = convert(reader, p, end, err);
	if (status == TR_OK)
		return make_record(reader, start, err);
	if (status == TR_END) {
		tr_error_set(err, TR_CAUSE_INPUT, "brackets do not match");
		status = TR_WARN;
	}
	tr_error_at_line(err, start + count_lines(p, reader->typed.json.pos));
	return status;
}

/* Skips a line that is not an array; what it leaves open is skipped later. */
static enum tr_status bad_line(struct reader *reader, struct tr_text line, const char *from,
			       struct tr_error *err)
{
	const char *end = line.data + line.len;
	size_t depth = 0;
	for (const char *p = from; p && p < end; p = skip_blanks(p, end)) {
		depth = 0;
		if (*p == '[' || *p == '{')
			p = follow(p, end, &depth);
		else
			p++;
		if (!p)
			break;
	}
	reader->resync = depth > 0;
	tr_error_at_line(err, here(reader));
	consume(reader, line, end);
	return TR_WARN;
}

/* Reads the array at p, which is not a blank. */
static enum tr_status read_array(struct reader *reader, struct tr_text line, const char *p,
				 struct tr_error *err)
{
	const char *end = line.data + line.len;
	uint64_t start = here(reader);
	if (*p != '[') {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "expected an array, as tr-tojson --typed writes them");
		return bad_line(reader, line, p, err);
	}
	enum tr_status status = convert(reader, p, end, err);
	if (status == TR_END) {
		status = collect(reader, tr_text_span(p, end), err);
		return status == TR_OK ? read_collected(reader, start, err) : status;
	}
	if (status == TR_WARN)
		return bad_line(reader, line, p, err);
	if (status == TR_FATAL)
		return status;
	status = make_record(reader, start, err);
	consume(reader, line, skip_blanks(reader->typed.json.pos, end));
	return status;
}

/* Makes a record of the next array. */
static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);

	for (;;) {
		struct tr_text line;
		enum tr_status status = tr_input_line(base->in, &line, err);
		if (status == TR_WARN)
			tr_error_at_line(err, ++base->lines);
		if (status != TR_OK)
			return status;
		const char *end = line.data + line.len, *p = skip_blanks(line.data, end);
		if (p == end || (reader->resync && line.data[0] != '[')) {
			consume(reader, line, end);
			continue;
		}
		reader->resync = false;
		tr_input_skip(base->in, (size_t)(p - line.data));
		status = read_array(reader, tr_text_span(p, end), p, err);
		*record = &base->record;
		return status;
	}
}

static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	enum { HARD_LIMIT = 60 };
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	reader->typed.max_depth =
		config->limits.max_depth < HARD_LIMIT ? config->limits.max_depth : HARD_LIMIT;
	reader->typed.arena = &reader->base.arena;
	reader->typed.to = &reader->base.line;
	return &reader->base;
}

struct writer {
	struct tr_writer base;
	struct tr_buffer text;
};

/* Writes a record as a line. Malformed trec in it is kept, and reported as a flaw. */
static enum tr_status put(struct tr_writer *base, struct tr_record *record, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	tr_output_lend(base->out, &writer->text);
	enum tr_status status = tr_typed_put_record(record, &writer->text, err);
	if (status == TR_FATAL)
		return status;
	tr_output_put_text(base->out, tr_buffer_text(&writer->text));
	tr_output_put_byte(base->out, '\n');
	tr_output_record_end(base->out);
	return status;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);

	tr_buffer_free(&writer->text);
}

static const struct tr_writer_steps steps = { .line = put, .discard = discard };

static struct tr_writer *create(const struct tr_write_config *config, struct tr_output *out,
				struct tr_error *err)
{
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);

	(void)config;
	return writer ? &writer->base : NULL;
}

static const char *const extensions[] = { ".json", ".jsonl", NULL };

const struct tr_format tr_format_json = {
	.name = "json",
	.summary = "the record stream as typed JSON, one array a line",
	.exact = "EXACT",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_STREAM,
	.extensions = extensions,
	.bid = bid,
	.open = open_reader,
	.create = create,
};
