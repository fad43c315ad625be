/* SPDX-License-Identifier: MIT */
/*
 * The lcov format: reads and writes tracefiles, which have a section for each source file and test.
 *
 * The reader makes records of lines and branches at once. A function is described by several lines
 * (FN and FNDA; FNL and FNA), so functions are pending until a line of another kind. A function
 * that is counted again after that has one more record.
 *
 * Functions of one name at several lines are several functions. FNDA does not have the line, so the
 * counts belong to them in their order, as istanbul writes them.
 *
 *	line -> its key -> the function of the table -> record, or a pending function
 *
 * The writer gets all source files at the end (writer.c) and writes one after another.
 */
#include "format/lcov/lcov.h"

#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "format/reader_base.h"
#include "record/literal.h"

/* The reader. */

/* A function of this section. */
struct function {
	struct function *next; /* pending */
	struct tr_text name;
	uint64_t hits;
	uint32_t line, last_line; /* 0: unknown */
	bool pending, counted;
	struct function *alike;		     /* the next one of this name */
	struct function *latest, *countable; /* of this name; only set in the first of them */
};

struct reader {
	struct tr_reader base;
	struct tr_buffer path, test; /* of this section */
	bool open;		     /* the section has begun */
	bool delivered;		     /* its record `source` was delivered */
	struct tr_buffer version;
	struct function *first, **last; /* pending, in their order */
	struct tr_map by_name;
	struct tr_id_map by_index; /* of FNL */
	struct tr_arena names;
	bool has_line; /* kept is the line that ended the functions, or the wait for a version */
	struct tr_buffer kept;
};

/* Each record of a section has its path, so a long one would make the output far too large. */
enum { LONGEST_TEST = 1 << 16, LONGEST_PATH = 4096 };

/*
 * Takes the number before the next comma, and the comma, if there is one. False: it is not a
 * number.
 */
static bool take_number(struct tr_text *text, uint64_t most, uint64_t *number)
{
	const char *comma = text->len ? memchr(text->data, ',', text->len) : NULL;
	size_t len = comma ? (size_t)(comma - text->data) : text->len;
	if (!tr_decimal_read((struct tr_text){ text->data, len }, most, number))
		return false;
	len += comma != NULL;
	*text = (struct tr_text){ text->data + len, text->len - len };
	return true;
}

/* Begins a record about this source file. */
static struct tr_buffer *begin(struct reader *reader, const char *kind)
{
	struct tr_buffer *to = &reader->base.line;
	reader->base.source_line = reader->base.lines;
	tr_reader_begin(&reader->base, kind);
	tr_buffer_put_literal(to, "-\t-\t");
	tr_cell_escape(tr_buffer_text(&reader->path), false, to);
	return to;
}

/* Delivers the record of the section. */
static enum tr_status put_source(struct reader *reader, struct tr_record **record,
				 struct tr_error *err)
{
	struct tr_buffer *to = begin(reader, "source");
	reader->delivered = true;
	if (reader->test.len) {
		tr_buffer_put_literal(to, "\ttest=");
		tr_string_quote(tr_buffer_text(&reader->test), to);
	}
	if (reader->version.len) {
		tr_buffer_put_literal(to, "\tversion=");
		tr_string_quote(tr_buffer_text(&reader->version), to);
	}
	to->failed |= reader->path.failed || reader->test.failed || reader->version.failed;
	return tr_reader_deliver(&reader->base, record, err);
}

/* Delivers the first pending function. */
static enum tr_status put_function(struct reader *reader, struct tr_record **record,
				   struct tr_error *err)
{
	struct function *function = reader->first;
	struct tr_buffer *to = begin(reader, "srcfunction");
	tr_buffer_put_literal(to, "\tfunction=");
	tr_string_quote(function->name, to);
	if (function->line)
		tr_field_put_number("line", function->line, to);
	if (function->last_line)
		tr_field_put_number("last_line", function->last_line, to);
	tr_field_put_number("hits", function->hits, to);
	function->pending = false;
	function->hits = 0;
	reader->first = function->next;
	if (!reader->first)
		reader->last = &reader->first;
	return tr_reader_deliver(&reader->base, record, err);
}

/* Forgets the functions, after all were delivered. */
static void forget_functions(struct reader *reader)
{
	reader->first = NULL;
	reader->last = &reader->first;
	tr_map_clear(&reader->by_name);
	tr_id_map_free(&reader->by_index);
	reader->by_index = (struct tr_id_map)TR_ID_MAP_INIT;
	tr_arena_reset(&reader->names);
}

/* Makes the function pending, if it is not. */
static void make_pending(struct reader *reader, struct function *function)
{
	if (function->pending)
		return;
	function->pending = true;
	function->next = NULL;
	*reader->last = function;
	reader->last = &function->next;
}

/* Adds a pending function after others of that name; first NULL: there are none. NULL: memory. */
static struct function *add_function(struct reader *reader, struct function *first,
				     struct tr_text name)
{
	struct function *function = tr_arena_alloc(&reader->names, sizeof *function);
	if (!function)
		return NULL;
	*function = (struct function){ .name = first ? first->name
						     : tr_arena_copy(&reader->names, name) };
	if (first) {
		first->latest->alike = function;
		first->latest = function;
	} else {
		function->latest = function->countable = function;
		if (!function->name.data || !tr_map_put(&reader->by_name, function->name, function))
			return NULL;
	}
	make_pending(reader, function);
	return function;
}

/*
 * Returns the latest function of that name if it is at that line, or at none so far; otherwise a new
 * one. NULL: memory.
 */
static struct function *find_function(struct reader *reader, struct tr_text name, uint64_t line,
				      uint64_t last_line)
{
	struct function *first = tr_map_get(&reader->by_name, name);
	struct function *function = first ? first->latest : NULL;
	if (!function || (function->line && function->line != line))
		function = add_function(reader, first, name);
	if (!function)
		return NULL;
	make_pending(reader, function);
	function->line = (uint32_t)line;
	function->last_line = (uint32_t)last_line;
	return function;
}

/* Adds to the count of a function. */
static void count(struct reader *reader, struct function *function, uint64_t hits)
{
	make_pending(reader, function);
	function->counted = true;
	if (__builtin_add_overflow(function->hits, hits, &function->hits))
		function->hits = UINT64_MAX;
}

/*
 * Handlers for the lines of a section; value is the text after the colon. TR_OK: *record is set;
 * TR_END: there is no record; TR_WARN, with err not filled: the line is malformed.
 */

/* FN:LINE[,LAST],NAME */
static enum tr_status read_fn(struct reader *reader, struct tr_text value,
			      struct tr_record **record, struct tr_error *err)
{
	uint64_t line, last = 0;
	(void)record;
	if (!take_number(&value, UINT32_MAX, &line))
		return TR_WARN;
	/* only names that are not C begin with a digit */
	if (value.len && memchr(value.data, ',', value.len) &&
	    !take_number(&value, UINT32_MAX, &last))
		last = 0;
	if (!value.len)
		return TR_WARN;
	return find_function(reader, value, line, last) ? TR_END : tr_error_memory(err);
}

/* FNDA:HITS,NAME: the next function of that name without a count, or else the last one */
static enum tr_status read_fnda(struct reader *reader, struct tr_text value,
				struct tr_record **record, struct tr_error *err)
{
	uint64_t hits;
	(void)record;
	if (!take_number(&value, UINT64_MAX, &hits) || !value.len)
		return TR_WARN;
	struct function *first = tr_map_get(&reader->by_name, value);
	if (!first && !(first = add_function(reader, NULL, value)))
		return tr_error_memory(err);
	if (first->countable->counted && first->countable->alike)
		first->countable = first->countable->alike;
	count(reader, first->countable, hits);
	return TR_END;
}

/* FNL:INDEX,LINE[,LAST]: the place of the functions FNA with that index */
static enum tr_status read_fnl(struct reader *reader, struct tr_text value,
			       struct tr_record **record, struct tr_error *err)
{
	uint64_t index, line, last = 0;
	(void)record;
	if (!take_number(&value, UINT64_MAX, &index) || !take_number(&value, UINT32_MAX, &line) ||
	    (value.len && !take_number(&value, UINT32_MAX, &last)) || value.len)
		return TR_WARN;
	struct function *place = tr_arena_alloc(&reader->names, sizeof *place);
	if (!place)
		return tr_error_memory(err);
	*place = (struct function){ .line = (uint32_t)line, .last_line = (uint32_t)last };
	return tr_id_map_put(&reader->by_index, index, place) ? TR_END : tr_error_memory(err);
}

/* FNA:INDEX,HITS,NAME */
static enum tr_status read_fna(struct reader *reader, struct tr_text value,
			       struct tr_record **record, struct tr_error *err)
{
	uint64_t index, hits;
	(void)record;
	if (!take_number(&value, UINT64_MAX, &index) || !take_number(&value, UINT64_MAX, &hits) ||
	    !value.len)
		return TR_WARN;
	const struct function *place = tr_id_map_get(&reader->by_index, index);
	struct function *function =
		find_function(reader, value, place ? place->line : 0, place ? place->last_line : 0);
	if (!function)
		return tr_error_memory(err);
	count(reader, function, hits);
	return TR_END;
}

/* DA:LINE,HITS[,CHECKSUM] */
static enum tr_status read_da(struct reader *reader, struct tr_text value,
			      struct tr_record **record, struct tr_error *err)
{
	uint64_t line, hits;
	if (!take_number(&value, UINT32_MAX, &line) || !take_number(&value, UINT64_MAX, &hits))
		return TR_WARN;
	struct tr_buffer *to = begin(reader, "srcline");
	tr_field_put_number("line", line, to);
	tr_field_put_number("hits", hits, to);
	if (value.len) {
		tr_buffer_put_literal(to, "\tchecksum=");
		tr_string_quote(value, to);
	}
	return tr_reader_deliver(&reader->base, record, err);
}

/* BRDA:LINE,[e]BLOCK,BRANCH,HITS|- */
static enum tr_status read_brda(struct reader *reader, struct tr_text value,
				struct tr_record **record, struct tr_error *err)
{
	uint64_t line, block, branch, hits = 0;
	if (!take_number(&value, UINT32_MAX, &line))
		return TR_WARN;
	bool exception = tr_text_skip(&value, TR_TEXT("e"));
	if (!take_number(&value, UINT64_MAX, &block) || !value.len)
		return TR_WARN;
	/* the branch may be an expression that contains commas */
	const char *comma = memrchr(value.data, ',', value.len);
	if (!comma)
		return TR_WARN;
	struct tr_text outcome = tr_text_span(value.data, comma);
	struct tr_text count = tr_text_span(comma + 1, value.data + value.len);
	bool reached = !tr_text_is(count, "-");
	if (!outcome.len || (reached && !tr_decimal_read(count, UINT64_MAX, &hits)))
		return TR_WARN;
	struct tr_buffer *to = begin(reader, "srcbranch");
	tr_field_put_number("line", line, to);
	tr_field_put_number("block", block, to);
	if (tr_decimal_read(outcome, UINT64_MAX, &branch) &&
	    tr_decimal_length(branch) == outcome.len) {
		tr_field_put_number("branch", branch, to);
	} else {
		tr_buffer_put_literal(to, "\tbranch=");
		tr_string_quote(outcome, to);
	}
	if (reached)
		tr_field_put_number("hits", hits, to);
	else
		tr_buffer_put_literal(to, "\thits=null");
	if (exception)
		tr_buffer_put_literal(to, "\texception=true");
	return tr_reader_deliver(&reader->base, record, err);
}

/* Sums of a section, which follow from its records. */
static enum tr_status read_sum(struct reader *reader, struct tr_text value,
			       struct tr_record **record, struct tr_error *err)
{
	uint64_t number;
	(void)reader;
	(void)record;
	(void)err;
	return tr_decimal_read(value, UINT64_MAX, &number) ? TR_END : TR_WARN;
}

/* Conditions of MC/DC, which have no kind of record: the line is kept in a raw record. */
static enum tr_status read_mcdc(struct reader *reader, struct tr_text value,
				struct tr_record **record, struct tr_error *err)
{
	struct tr_text line = { value.data - strlen("MCDC:"), value.len + strlen("MCDC:") };
	reader->base.source_line = reader->base.lines;
	tr_reader_put_raw(&reader->base, line, "mcdc");
	return tr_reader_deliver(&reader->base, record, err);
}

static const struct {
	struct tr_text key;
	bool of_functions; /* the line belongs to the list of functions */
	enum tr_status (*read)(struct reader *reader, struct tr_text value,
			       struct tr_record **record, struct tr_error *err);
} keys[] = {
	{ { "DA:", 3 }, false, read_da },     { { "BRDA:", 5 }, false, read_brda },
	{ { "FNDA:", 5 }, true, read_fnda },  { { "FN:", 3 }, true, read_fn },
	{ { "FNA:", 4 }, true, read_fna },    { { "FNL:", 4 }, true, read_fnl },
	{ { "FNF:", 4 }, true, read_sum },    { { "FNH:", 4 }, true, read_sum },
	{ { "LF:", 3 }, false, read_sum },    { { "LH:", 3 }, false, read_sum },
	{ { "BRF:", 4 }, false, read_sum },   { { "BRH:", 4 }, false, read_sum },
	{ { "MCF:", 4 }, false, read_sum },   { { "MCH:", 4 }, false, read_sum },
	{ { "MCDC:", 5 }, false, read_mcdc },
};

enum { KEYS = sizeof keys / sizeof *keys };

/* Fills err: the line cannot be read. */
static enum tr_status wrong(const struct reader *reader, const char *why, struct tr_error *err)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, why, "left out: %s", why);
	tr_error_at_line(err, reader->base.lines);
	return TR_WARN;
}

/* Takes a line of a section. */
static enum tr_status read_entry(struct reader *reader, struct tr_text line,
				 struct tr_record **record, struct tr_error *err)
{
	for (size_t i = 0; i < KEYS; i++) {
		struct tr_text value = line;
		if (!tr_text_skip(&value, keys[i].key))
			continue;
		tr_error_clear(err);
		enum tr_status status = keys[i].read(reader, value, record, err);
		return status == TR_WARN && err->cause == TR_CAUSE_NONE
			       ? wrong(reader, "a line in another form than its key requires", err)
			       : status;
	}
	return wrong(reader, "a line with an unknown key", err);
}

/* Replaces the content of a buffer. */
static void set(struct tr_buffer *buffer, struct tr_text text)
{
	tr_buffer_reset(buffer);
	tr_buffer_put_text(buffer, text);
}

/* True if the line belongs to the list of functions. */
static bool is_of_functions(struct tr_text line)
{
	for (size_t i = 0; i < KEYS; i++)
		if (tr_text_starts(line, keys[i].key))
			return keys[i].of_functions;
	return false;
}

/*
 * Handles a line. TR_END: there is no record. *kept is set if a record has to come first; then the
 * line must be passed again.
 */
static enum tr_status take_line(struct reader *reader, struct tr_text line, bool *kept,
				struct tr_record **record, struct tr_error *err)
{
	struct tr_text value = line;
	bool is_version = tr_text_skip(&value, TR_TEXT("VER:"));
	*kept = true;
	if (reader->open && !reader->delivered && !is_version)
		return put_source(reader, record, err);
	if (reader->first && !is_of_functions(line))
		return put_function(reader, record, err);
	*kept = false;
	if (!line.len || *line.data == '#')
		return TR_END;
	if (tr_text_skip(&value, TR_TEXT("TN:"))) {
		if (value.len > LONGEST_TEST)
			return wrong(reader, "the name of a test is too long", err);
		set(&reader->test, value);
		if (!reader->open)
			return TR_END;
		tr_error_say(err, TR_CAUSE_INPUT,
			     "a test name (TN:) inside a section: it applies to the sections "
			     "after it");
		tr_error_at_line(err, reader->base.lines);
		return TR_WARN;
	}
	if (tr_text_skip(&value, TR_TEXT("SF:")) || tr_text_is(line, "end_of_record")) {
		bool was_open = reader->open;
		reader->open = *line.data == 'S';
		reader->delivered = false;
		forget_functions(reader);
		tr_buffer_reset(&reader->version);
		if (reader->open && value.len > LONGEST_PATH) {
			reader->open = false;
			return wrong(reader, "a source file whose path is too long, with its lines",
				     err);
		}
		if (reader->open)
			set(&reader->path, value);
		if (reader->open && was_open)
			return wrong(reader, "the section before has no end_of_record", err);
		return TR_END;
	}
	if (!reader->open)
		return wrong(reader, "a line outside of a section (SF: begins one)", err);
	if (is_version && reader->delivered)
		return wrong(reader, "a version (VER:) after the first entry of its section", err);
	if (is_version) {
		set(&reader->version, value);
		return TR_END;
	}
	return read_entry(reader, line, record, err);
}

static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	enum tr_status status = TR_END;
	struct tr_text line;
	bool ended = true, kept;

	tr_arena_reset(&base->arena);
	while (status == TR_END) {
		if (reader->has_line) {
			line = tr_buffer_text(&reader->kept);
		} else {
			status = tr_reader_line(base, &line, &ended, err);
			if (status == TR_END && reader->open) {
				/* a truncated file: deliver what was read first */
				ended = true;
				line = TR_TEXT("end_of_record");
				status = take_line(reader, line, &kept, record, err);
				if (status != TR_END)
					return status;
				tr_error_say(err, TR_CAUSE_CUT,
					     "the last section has no end_of_record");
				tr_error_at_line(err, base->lines);
				return TR_WARN;
			}
			if (status != TR_OK)
				return status;
			if (!ended && !tr_text_is(line, "end_of_record")) {
				tr_error_say(err, TR_CAUSE_CUT, "left out: a truncated line");
				tr_error_at_line(err, base->lines);
				return TR_WARN;
			}
			line.len -= line.len && line.data[line.len - 1] == '\r';
		}
		status = take_line(reader, line, &kept, record, err);
		if (kept && !reader->has_line)
			set(&reader->kept, line);
		reader->has_line = kept;
		if (reader->kept.failed)
			return tr_error_memory(err);
	}
	return status;
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);
	tr_buffer_free(&reader->path);
	tr_buffer_free(&reader->test);
	tr_buffer_free(&reader->version);
	tr_buffer_free(&reader->kept);
	tr_map_free(&reader->by_name);
	tr_id_map_free(&reader->by_index);
	tr_arena_free(&reader->names);
}

static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);
	if (!reader)
		return NULL;
	reader->last = &reader->first;
	return &reader->base;
}

/* Searches for SF:, after lines that may come before it. */
static int weigh(const char *begin, const char *end, void *context)
{
	enum { BITS = 40 };
	(void)context;
	for (const char *p = begin, *lf; (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1) {
		struct tr_text line = tr_text_span(p, lf);
		if (tr_text_starts(line, TR_TEXT("SF:")) && line.len > 3)
			return BITS;
		if (line.len && *line.data != '#' && *line.data != '\r' &&
		    !tr_text_starts(line, TR_TEXT("TN:")))
			return 0;
	}
	return 0;
}

static int bid(struct tr_input *in)
{
	enum { PROBE = 4 << 10 };
	if (!tr_input_more(in, 1) || !strchr("TS#\r\n", *in->pos))
		return 0;
	return tr_bid_by_lines(in, PROBE, weigh, NULL);
}

/* The writer. */

/* Appends KEY:NUMBER and the byte after it. */
static void put_number(struct tr_buffer *to, const char *key, uint64_t number, char after)
{
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_decimal(to, number);
	tr_buffer_put_byte(to, after);
}

/* Appends a text. The format has no escapes, so line feeds in it become blanks. */
static void put_text(struct tr_buffer *to, struct tr_text text)
{
	for (size_t i = 0; i < text.len; i++)
		tr_buffer_put_byte(to, text.data[i] == '\n' ? ' ' : text.data[i]);
}

/* Appends a text and a line feed. */
static void put_line(struct tr_buffer *to, struct tr_text text)
{
	put_text(to, text);
	tr_buffer_put_byte(to, '\n');
}

/* Appends the functions of a file. */
static void put_functions(const struct tr_source_functions *functions,
			  const struct tr_source_share *share, struct tr_buffer *to)
{
	for (size_t i = 0; i < functions->count; i++) {
		const struct tr_source_function *function = &functions->list[i];
		put_number(to, "FN:", function->line, ',');
		if (function->last_line)
			put_number(to, "", function->last_line, ',');
		put_line(to, function->name);
	}
	for (size_t i = 0; i < functions->count; i++) {
		put_number(to, "FNDA:", functions->list[i].count, ',');
		put_line(to, functions->list[i].name);
	}
	put_number(to, "FNF:", share->all, '\n');
	put_number(to, "FNH:", share->hit, '\n');
}

/* Appends the branches of a file. */
static void put_branches(const struct tr_source_branches *branches,
			 const struct tr_source_share *share, struct tr_buffer *to)
{
	for (size_t i = 0; i < branches->count; i++) {
		const struct tr_source_branch *branch = &branches->list[i];
		put_number(to, "BRDA:", branch->line, ',');
		put_number(to, branch->exception ? "e" : "", branch->block, ',');
		put_text(to, branch->branch);
		tr_buffer_put_byte(to, ',');
		if (branch->reached)
			put_number(to, "", branch->count, '\n');
		else
			tr_buffer_put_literal(to, "-\n");
	}
	if (!branches->count)
		return;
	put_number(to, "BRF:", share->all, '\n');
	put_number(to, "BRH:", share->hit, '\n');
}

/* Appends the lines of a file. */
static void put_lines(const struct tr_source_lines *lines, const struct tr_source_share *share,
		      struct tr_buffer *to)
{
	for (size_t i = 0; i < lines->count; i++) {
		const struct tr_source_line *line = &lines->list[i];
		put_number(to, "DA:", line->line, ',');
		put_number(to, "", line->count, line->checksum.len ? ',' : '\n');
		if (line->checksum.len)
			put_line(to, line->checksum);
	}
	put_number(to, "LF:", share->all, '\n');
	put_number(to, "LH:", share->hit, '\n');
}

/* Writes the section of a source file. False: memory is exhausted. */
static bool put_file(const struct tr_source_file *file, struct tr_buffer *to, struct tr_output *out)
{
	struct tr_source_shares shares = { .lines = { 0, 0 } };
	tr_source_file_count(file, &shares);
	tr_buffer_reset(to);
	tr_buffer_put_literal(to, "TN:");
	put_line(to, file->test);
	tr_buffer_put_literal(to, "SF:");
	put_line(to, file->path);
	if (file->version.len) {
		tr_buffer_put_literal(to, "VER:");
		put_line(to, file->version);
	}
	put_functions(&file->functions, &shares.functions, to);
	put_branches(&file->branches, &shares.branches, to);
	put_lines(&file->lines, &shares.lines, to);
	tr_buffer_put_literal(to, "end_of_record\n");
	if (to->failed)
		return false;
	tr_output_put_text(out, tr_buffer_text(to));
	return true;
}

/* Writes all files that have anything. False: memory is exhausted. */
static bool write_files(const struct tr_sources *sources, const struct tr_settings *settings,
			struct tr_output *out)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	bool good = true;
	(void)settings;
	for (size_t i = 0; i < sources->count && good; i++)
		if (tr_source_file_any(sources->list[i]))
			good = put_file(sources->list[i], &text, out);
	tr_buffer_free(&text);
	return good;
}

static const struct tr_lcov_form form = {
	.format = "lcov",
	.write = write_files,
};

static struct tr_writer *create(const struct tr_write_config *config, struct tr_output *out,
				struct tr_error *err)
{
	return tr_lcov_writer(&form, config, out, err);
}

static const char *const extensions[] = { ".info", NULL };

static const struct tr_format_option options[] = {
	TR_LCOV_OPTIONS,
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_lcov = {
	.name = "lcov",
	.summary = "lcov tracefile: coverage by source line",
	.exact = "-",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_MERGES,
	.extensions = extensions,
	.options = options,
	.bid = bid,
	.open = open_reader,
	.create = create,
	.default_style = "source",
};
