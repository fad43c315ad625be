/*
 * Arrays out of a window: one a line as a rule, which is read where it stands;
 * several on a line, or one over several lines (`jq .`), as they come. After
 * damage the reader goes on with the next line that begins an array.
 */
#include "format/json/json.h"

#include <stdlib.h>
#include <string.h>

#include "format/json/typed.h"

struct tr_reader {
	struct tr_input *in;
	uint64_t max_record;
	uint64_t line; /* number of the line at the window's start */
	bool resync;   /* skipping what belongs to a damaged array */
	struct tr_typed_reader typed;
	struct tr_buffer array; /* an array that does not stand on one line */
	struct tr_buffer text;	/* the record's line */
	struct tr_arena arena;
	struct tr_record record;
};

struct tr_reader *tr_json_reader_open(const struct tr_read_config *config, struct tr_input *in,
				      struct tr_error *err)
{
	enum { HARD_LIMIT = 60 };
	struct tr_reader *reader = calloc(1, sizeof *reader);
	if (!reader) {
		tr_error_memory(err);
		return NULL;
	}
	reader->in = in;
	reader->max_record = config->limits.max_record;
	tr_arena_limit(&reader->arena, config->limits.max_record);
	reader->line = 1;
	reader->typed.max_depth =
		config->limits.max_depth < HARD_LIMIT ? config->limits.max_depth : HARD_LIMIT;
	reader->typed.arena = &reader->arena;
	reader->typed.to = &reader->text;
	return reader;
}

void tr_json_reader_close(struct tr_reader *reader)
{
	if (!reader)
		return;
	tr_buffer_free(&reader->typed.scratch);
	tr_buffer_free(&reader->array);
	tr_buffer_free(&reader->text);
	tr_arena_free(&reader->arena);
	free(reader);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* Consumes the window up to p; behind the line's LF that is one line more. */
static void consume(struct tr_reader *reader, struct tr_text line, const char *p)
{
	tr_input_skip(reader->in, (size_t)(p - line.data));
	if (p > line.data && p[-1] == '\n')
		reader->line++;
}

/* The text of a JSON string from behind its opening quote to behind the closing one; NULL: none. */
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
 * Follows the brackets from p: behind the one that closes the last of *depth,
 * or end. NULL: a string does not end on its line.
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
 * Inside an array, does this line begin a new one, because the last was cut?
 * jq and other printers indent what is inside; those that print without
 * indentation have no element behind a bracket on its line, and every array of
 * ours begins with a string.
 */
static bool begins_array(struct tr_text line, bool indented)
{
	if (line.data[0] != '[')
		return false;
	const char *end = line.data + line.len, *p = skip_blanks(line.data + 1, end);
	return indented || (p < end && *p == '"');
}

static enum tr_status cut_array(struct tr_error *err, enum tr_cause cause, uint64_t line)
{
	tr_error_set(err, cause, "the array that begins here has no end");
	tr_error_at_line(err, line);
	return TR_WARN;
}

/* Takes a piece of the line into the array and out of the window. */
static enum tr_status take(struct tr_reader *reader, struct tr_text line, const char *end,
			   uint64_t start, struct tr_error *err)
{
	size_t len = (size_t)(end - line.data);
	bool fits = reader->array.len + len <= reader->max_record;
	if (fits)
		tr_buffer_put(&reader->array, line.data, len);
	consume(reader, line, end);
	if (reader->array.failed)
		return tr_error_memory(err);
	if (fits)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_LIMIT, "an array is larger than the limit (--max-record raises it)");
	tr_error_at_line(err, start);
	reader->resync = true;
	return TR_WARN;
}

/* Collects the array that begins in this line and goes on in the next ones. */
static enum tr_status collect(struct tr_reader *reader, struct tr_text line, struct tr_error *err)
{
	uint64_t start = reader->line;
	size_t depth = 0;
	bool indented = false;
	tr_buffer_reset(&reader->array);
	for (bool first = true;; first = false) {
		const char *line_end = line.data + line.len;
		if (!first && reader->line == start + 1)
			indented = is_blank(line.data[0]);
		if (!first && begins_array(line, indented))
			return cut_array(err, TR_CAUSE_INPUT, start);
		const char *end = follow(line.data, line_end, &depth);
		if (!end) {
			tr_error_set(err, TR_CAUSE_INPUT, "a string does not end on its line");
			tr_error_at_line(err, reader->line);
			consume(reader, line, line_end);
			reader->resync = true;
			return TR_WARN;
		}
		enum tr_status status = take(reader, line, end, start, err);
		if (status != TR_OK || depth == 0)
			return status;
		status = tr_input_line(reader->in, &line, err);
		if (status == TR_END)
			return reader->in->damaged ? TR_END : cut_array(err, TR_CAUSE_CUT, start);
		if (status != TR_OK) {
			tr_error_at_line(err, reader->line++);
			reader->resync = true;
			return status;
		}
	}
}

/* The trec line that was put together, as a record. */
static enum tr_status make_record(struct tr_reader *reader, uint64_t line, struct tr_error *err)
{
	if (!tr_buffer_room(&reader->text, TR_INPUT_PAD))
		return tr_error_memory(err);
	tr_record_init(&reader->record, &reader->arena);
	if (!tr_record_from_line(&reader->record, tr_buffer_text(&reader->text), err)) {
		tr_error_at_line(err, line);
		bool header = tr_text_starts(tr_buffer_text(&reader->text), TR_TEXT("%trec\t"));
		return header ? TR_FATAL : TR_WARN;
	}
	reader->record.canonical = !reader->typed.raw && reader->record.type == TR_RECORD;
	reader->record.source_line = line;
	return TR_OK;
}

static enum tr_status convert(struct tr_reader *reader, const char *p, const char *end,
			      struct tr_error *err)
{
	tr_buffer_reset(&reader->text);
	tr_arena_reset(&reader->arena);
	reader->typed.json = (struct tr_json){ p, end };
	reader->typed.err = err;
	return tr_typed_read_record(&reader->typed);
}

static uint64_t count_lines(const char *p, const char *end)
{
	uint64_t lines = 0;
	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		lines++;
		p++;
	}
	return lines;
}

static enum tr_status read_collected(struct tr_reader *reader, uint64_t start, struct tr_error *err)
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

/* A line that is no array: reported, with whatever goes on from it. */
static enum tr_status bad_line(struct tr_reader *reader, struct tr_text line, const char *from,
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
	tr_error_at_line(err, reader->line);
	consume(reader, line, end);
	return TR_WARN;
}

/* The array at p, which is the first thing in the line that is no blank. */
static enum tr_status read_array(struct tr_reader *reader, struct tr_text line, const char *p,
				 struct tr_error *err)
{
	const char *end = line.data + line.len;
	uint64_t start = reader->line;
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

enum tr_status tr_json_reader_next(struct tr_reader *reader, struct tr_record **record,
				   struct tr_error *err)
{
	for (;;) {
		struct tr_text line;
		enum tr_status status = tr_input_line(reader->in, &line, err);
		if (status == TR_WARN)
			tr_error_at_line(err, reader->line++);
		if (status != TR_OK)
			return status;
		const char *end = line.data + line.len, *p = skip_blanks(line.data, end);
		if (p == end || (reader->resync && line.data[0] != '[')) {
			consume(reader, line, end);
			continue;
		}
		reader->resync = false;
		tr_input_skip(reader->in, (size_t)(p - line.data));
		status = read_array(reader, tr_text_span(p, end), p, err);
		*record = &reader->record;
		return status;
	}
}
