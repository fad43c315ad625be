/* SPDX-License-Identifier: MIT */
/*
 * The lines of a trace: headers, records and trailers of each place. The states of a place are
 * those of enum tr_trace_state, in this order.
 */
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/codec.h"
#include "deps/file_call.h"
#include "format/trace_private.h"
#include "record/literal.h"

/*
 * Marks a function that is not called for every record. It is kept out of the loop over the
 * records, whose functions would have to save more registers for it.
 */
#define RARE __attribute__((noinline))

/* An enter and its leave are one record; a leave without an enter has no name. */
static inline bool counts(const struct tr_record *record)
{
	return !(record->kind.len == 5 && *record->kind.data == 'l' &&
		 memcmp(record->kind.data, "leave", 5) == 0 && record->name.type != TR_CELL_ABSENT);
}

/* Adds the segment, which ends, to the counts of the place. */
static void add_up(struct tr_trace *trace)
{
	trace->seen.records += trace->segment.count;
}

/*
 * --max-depth, if it is smaller than the limit of the grammar. Values are parsed late, by code that
 * does not know the limits, so the brackets of a line are counted here.
 */

/* The end of the string that begins at p. */
static const char *after_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : end;
}

/* Whether the text of a value opens more than max brackets. */
static bool value_is_deeper(const char *p, const char *end, unsigned max)
{
	unsigned depth = 0;

	while (p < end) {
		switch (*p) {
		case '"':
			p = after_string(p, end);
			continue;
		case '[':
		case '{':
		case '<':
			if (++depth > max)
				return true;
			break;
		case ']':
		case '}':
		case '>':
			depth -= depth > 0;
			break;
		}
		p++;
	}
	return false;
}

/* Whether a value of the line does. Records that are trees were limited by their reader. */
static bool line_is_deeper(const struct tr_record *record, unsigned max)
{
	const char *p = record->rest.data, *end = p + record->rest.len;

	if (!record->line.data)
		return false;
	while (p < end) {
		const char *column = p + 1; /* p is at a TAB */
		const char *tab = memchr(column, '\t', (size_t)(end - column));
		p = tab ? tab : end;
		const char *equals = memchr(column, '=', (size_t)(p - column));
		if (equals && value_is_deeper(equals + 1, p, max))
			return true;
	}
	return false;
}

/* Headers and trailers of segments. */

/* Makes a record of made_line. */
static bool made(struct tr_trace *trace, struct tr_record **record, struct tr_error *err)
{
	struct tr_buffer *line = &trace->made_line;

	tr_buffer_put_byte(line, '\n');
	/* functions that scan lines read beyond their end */
	char *pad = tr_buffer_room(line, TR_INPUT_PAD);
	if (!pad || line->failed) {
		tr_error_memory(err);
		return false;
	}
	memset(pad, 0, TR_INPUT_PAD);
	tr_arena_reset(&trace->made_arena);
	tr_record_init(&trace->made, &trace->made_arena);
	if (!tr_record_from_line(&trace->made, tr_buffer_text(line), err))
		return false;
	trace->made.canonical = true;
	*record = &trace->made;
	return true;
}

/* Appends a field to the line of a header or trailer. */
static void put_field(const struct tr_field *field, struct tr_buffer *line)
{
	tr_field_begin(field->key, line);
	if (field->text.data)
		tr_buffer_put_text(line, field->text);
	else
		tr_literal_write(field->value, line);
}

/*
 * Makes the header of a segment: the format, the container, the member of an archive, and the
 * fields of the reader's own header (own; NULL: it has none).
 */
static bool make_header(struct tr_trace *trace, struct tr_record *own, struct tr_record **record,
			struct tr_error *err)
{
	struct tr_buffer *line = &trace->made_line;
	const struct tr_trace_place *place = &trace->place;

	trace->segment.open = true;
	tr_buffer_reset(line);
	tr_buffer_put_literal(line, "%trec\t1\tformat=");
	tr_buffer_put_text(line, tr_text_from(place->format->name));
	if (place->codec) {
		tr_buffer_put_literal(line, "\tcontainer=");
		tr_buffer_put_text(line, tr_text_from(place->codec->name));
	}
	if (place->member) {
		tr_buffer_put_literal(line, "\tmember=");
		tr_string_quote(tr_text_from(place->member), line);
	}
	if (place->bom && trace->config.read.exact)
		tr_buffer_put_literal(line, "\t.bom=true");
	for (size_t i = 0; own && i < own->count; i++)
		put_field(&own->fields[i], line);
	return made(trace, record, err);
}

/* Whether the field is one that make_trailer writes itself. */
static bool is_damage_field(const struct tr_field *field)
{
	return tr_text_is(field->key, "errors") || tr_text_is(field->key, "truncated");
}

/*
 * Makes the trailer. own: the trailer of the stream, or NULL. It is passed on unchanged if there is
 * nothing to add, so that a wrong count is seen by the writer.
 */
static bool make_trailer(struct tr_trace *trace, struct tr_record *own, struct tr_record **record,
			 struct tr_error *err)
{
	struct tr_segment *segment = &trace->segment;
	struct tr_buffer *line = &trace->made_line;
	uint64_t count = segment->count;

	if (own && !segment->open)
		count = own->seq.number; /* of an anonymous segment, which cannot be checked */
	if (own && !segment->errors && !segment->truncated) {
		*record = own;
		add_up(trace);
		*segment = (struct tr_segment){ 0 };
		return true;
	}
	tr_buffer_reset(line);
	tr_trailer_put(count, segment->errors + trace->upstream_errors,
		       segment->truncated || trace->upstream_truncated, line);
	for (size_t i = 0; own && i < own->count; i++) {
		const struct tr_field *field = &own->fields[i];
		if (!field->bad && !is_damage_field(field) && field->text.data)
			put_field(field, line);
	}
	add_up(trace);
	*segment = (struct tr_segment){ 0 };
	return made(trace, record, err);
}

/* Reads the errors that upstream reports in a trailer. */
static RARE void look_at_trailer(struct tr_trace *trace, struct tr_record *record)
{
	struct tr_field *errors = tr_record_field(record, "errors");
	struct tr_field *truncated = tr_record_field(record, "truncated");

	trace->upstream_errors = 0;
	if (errors) {
		struct tr_value *value = tr_field_value(record, errors, NULL);
		/* a malformed value still reports an error */
		trace->upstream_errors = value && value->type == TR_UINT ? value->as.number : 1;
	}
	struct tr_value *cut = truncated ? tr_field_value(record, truncated, NULL) : NULL;
	trace->upstream_truncated = truncated && !(cut && cut->type == TR_FALSE);
	trace->say_upstream = trace->upstream_errors || trace->upstream_truncated;
}

/* Bytes of all operands; 0: one of them is not a regular file. */
static uint64_t total_size(const char *const *operands, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++) {
		struct stat st;
		bool stdin_operand = strcmp(operands[i], "-") == 0;
		if ((stdin_operand ? fstat(0, &st) : stat(operands[i], &st)) != 0)
			continue; /* reported when it is opened */
		if (!S_ISREG(st.st_mode))
			return 0;
		total += (uint64_t)st.st_size;
	}
	return total;
}

struct tr_trace *tr_trace_open(const char *const *operands, size_t count,
			       const struct tr_trace_config *config)
{
	struct tr_trace *trace = calloc(1, sizeof *trace);

	if (!trace)
		return NULL;
	trace->config = *config;
	trace->operands = operands;
	trace->operand_count = count;
	trace->total = total_size(operands, count);
	trace->check_depth = config->read.limits.max_depth < TR_LITERAL_DEPTH;
	if (trace->check_depth) { /* every line is checked */
		trace->config.read.sieve = NULL;
		trace->config.read.text_out = NULL;
	}
	return trace;
}

void tr_trace_free(struct tr_trace *trace)
{
	if (!trace)
		return;
	tr_trace_close_all(trace);
	tr_buffer_free(&trace->name);
	tr_buffer_free(&trace->member);
	tr_buffer_free(&trace->made_line);
	tr_arena_free(&trace->made_arena);
	free(trace);
}

/* Steps to a last place that is only a trailer, with errors that no other trailer reports. */
static enum tr_status step_to_lost(struct tr_trace *trace)
{
	if (!trace->config.reports_lost || !trace->lost)
		return TR_END;
	trace->place = (struct tr_trace_place){ .name = trace->place.name,
						.size = -1,
						.format = &tr_format_trec };
	trace->segment = (struct tr_segment){ .errors = trace->lost, .truncated = true };
	trace->lost = 0;
	trace->state = TR_TRACE_TRAILER;
	return TR_OK;
}

void tr_trace_forget_place(struct tr_trace *trace)
{
	trace->state = TR_TRACE_START;
	trace->segment = (struct tr_segment){ 0 };
	trace->seen = (struct tr_trace_seen){ 0 };
	trace->held = NULL;
	trace->trailer_due = false;
}

enum tr_status tr_trace_step(struct tr_trace *trace, struct tr_trace_place **place,
			     struct tr_error *err)
{
	enum tr_status status = TR_END;

	tr_trace_close_place(trace);
	trace->stepped = true;
	tr_trace_forget_place(trace);
	while (status == TR_END) {
		if (trace->archives.count || trace->member_ahead.there ||
		    trace->next_operand < trace->operand_count)
			status = tr_trace_open_next(trace, err);
		else if ((status = step_to_lost(trace)) == TR_END)
			return TR_END;
	}
	trace->lost += status != TR_OK && err->severity < TR_NOTE;
	*place = &trace->place;
	return status;
}

const struct tr_trace_place *tr_trace_here(const struct tr_trace *trace)
{
	return trace->stepped ? &trace->place : NULL;
}

bool tr_trace_met_archive(const struct tr_trace *trace)
{
	return trace->met_archive;
}

void tr_trace_lost(struct tr_trace *trace, const struct tr_record *record)
{
	struct tr_segment *segment = &trace->segment;

	segment->errors++;
	if (segment->count && record->type == TR_RECORD && counts(record))
		segment->count--;
}

void tr_trace_damage(const struct tr_trace *trace, uint64_t *errors, bool *truncated)
{
	*errors = trace->segment.errors;
	*truncated = trace->segment.truncated;
}

bool tr_trace_is_open(const struct tr_trace *trace)
{
	return trace->reader;
}

/* Counts the records of the segment that the sieve left out or a taker took. */
static void count_left_out(struct tr_trace *trace)
{
	const struct tr_sieve *sieve = trace->config.read.sieve;
	struct tr_call_taker *const *taker = trace->config.read.taker;
	uint64_t left_out = trace->left_out;

	if (sieve)
		left_out = sieve->left_out;
	else if (taker && *taker)
		left_out = (*taker)->taken;
	else if (trace->config.read.files)
		left_out = trace->config.read.files->taken;
	trace->segment.count += left_out - trace->left_out + trace->reader->handed_over;
	trace->left_out = left_out;
	trace->reader->handed_over = 0;
}

struct tr_trace_seen tr_trace_seen(struct tr_trace *trace)
{
	struct tr_trace_seen seen = trace->seen;

	if (trace->reader)
		count_left_out(trace);
	seen.records += trace->segment.count;
	seen.parsed = trace->state != TR_TRACE_START;
	seen.complete = trace->state == TR_TRACE_DONE;
	return seen;
}

void tr_trace_progress(const struct tr_trace *trace, uint64_t *done, uint64_t *total)
{
	*done = trace->done_before;
	/* a window that is read ahead has its own count, which needs no other thread */
	if (trace->archives.count && !(trace->in && trace->in->ahead))
		*done += tr_input_raw_offset(trace->archives.list[0].in);
	else if (trace->in)
		*done += tr_input_raw_offset(trace->in);
	*total = trace->total;
}

/* Whether the format has its own headers and trailers. */
static bool is_stream(const struct tr_trace *trace)
{
	return trace->place.format->flags & TR_FORMAT_STREAM;
}

/* Whether the first record of the reader is its part of a header. */
static bool heads(const struct tr_trace *trace)
{
	return trace->place.format->flags & TR_FORMAT_HEADS;
}

/* [1/20] and [ 50%], as ninja and CMake print them, also in a log whose compilers are unknown. */
static bool is_step_of_build(struct tr_text text)
{
	size_t i = 1;

	if (!text.len || *text.data != '[')
		return false;
	while (i < text.len && (text.data[i] == ' ' || tr_is_digit(text.data[i])))
		i++;
	return i > 1 && i < text.len && (text.data[i] == '/' || text.data[i] == '%');
}

/* True if a line has -c and -o, as an unknown compiler or one after cd has them. */
static bool has_compile(struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;

	for (const char *lf; p < end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		lf = lf ? lf : end;
		size_t len = (size_t)(lf - p);
		if (memmem(p, len, " -c ", 4) && memmem(p, len, " -o ", 4))
			return true;
	}
	return false;
}

/* Names the kind of file that unknown bytes look like, in case of a wrong file; "" if unknown. */
static const char *looks_like(struct tr_input *in)
{
	enum { LOOK = 512 };
	const char *p = in->pos, *end = in->end - p > LOOK ? p + LOOK : in->end;
	struct tr_text all = { p, (size_t)(end - p) };

	if (tr_text_starts(all, TR_TEXT("\x7f"
					"ELF")))
		return " (it looks like an ELF file)";
	if (tr_text_starts(all, TR_TEXT("\xff\xfe")) || tr_text_starts(all, TR_TEXT("\xfe\xff")))
		return " (it is text in UTF-16, which iconv -f UTF-16 -t UTF-8 converts)";
	while (p < end && tr_is_blank(*p))
		p++;
	struct tr_text text = tr_text_span(p, end);
	for (const char *q = p; q < end; q++)
		if ((unsigned char)*q < ' ' && *q != '\t' && *q != '\n' && *q != '\r')
			return "";
	if (is_step_of_build(text) || has_compile(text))
		return " (it looks like the output of a build: use -f makelog, and also "
		       "-O compiler=NAME=gcc if NAME is an unknown compiler with GCC's options)";
	if (text.len && *p == '{' && memmem(p, text.len, "\"traceEvents\"", 13))
		return " (it looks like trace events: tr-tohtml --phases=FILE shows those of "
		       "-ftime-trace)";
	if (text.len && (*p == '{' || *p == '['))
		return " (it looks like JSON)";
	if (text.len > 5 && (strncasecmp(p, "<!doc", 5) == 0 || strncasecmp(p, "<html", 5) == 0))
		return " (it looks like HTML)";
	if (text.len && *p == '<')
		return " (it looks like XML)";
	return text.len ? " (it looks like text)" : "";
}

/*
 * Begins a place: opens its reader and makes the header. TR_END: the header comes from the reader.
 * TR_FATAL: nothing of the place can be read.
 */
static enum tr_status start(struct tr_trace *trace, struct tr_record **record, struct tr_error *err)
{
	const struct tr_format *format = trace->place.format;

	trace->state = TR_TRACE_DONE;
	if (!format) {
		trace->lost++;
		if (trace->in && trace->in->damaged)
			tr_input_error(trace->in, err);
		else
			tr_error_set(err, TR_CAUSE_INPUT,
				     "not a known trace format%s: see -f and --list-formats",
				     trace->in ? looks_like(trace->in) : "");
		return TR_FATAL;
	}
	if (trace->config.read.lines && !(format->flags & TR_FORMAT_LINES)) {
		tr_error_set(err, TR_CAUSE_USAGE, "%s cannot be read line by line (--lines)",
			     format->name);
		return TR_FATAL;
	}
	if (!tr_settings_check(&trace->config.read.settings, format, false, err))
		return TR_FATAL;
	trace->config.read.name = tr_trace_file_name(trace);
	trace->reader = format->open(&trace->config.read, trace->in, err);
	if (!trace->reader)
		return TR_FATAL;
	trace->state = TR_TRACE_BODY;
	if (is_stream(trace) || heads(trace))
		return TR_END; /* it has its own header */
	return make_header(trace, NULL, record, err) ? TR_OK : TR_FATAL;
}

/* Reports what the trailer of the stream says about errors before it. */
static void upstream_error(const struct tr_trace *trace, const struct tr_record *trailer,
			   struct tr_error *err)
{
	if (trace->upstream_errors)
		tr_error_set(err, TR_CAUSE_UPSTREAM, "upstream reported %llu error%s%s",
			     (unsigned long long)trace->upstream_errors,
			     trace->upstream_errors == 1 ? "" : "s",
			     trace->upstream_truncated ? " and truncated input" : "");
	else
		tr_error_set(err, TR_CAUSE_UPSTREAM, "upstream reported truncated input");
	tr_error_at_line(err, trailer->source_line);
}

/*
 * Returns what comes before a held header or trailer (a message, the trailer of a segment that has
 * none of its own), and then that. TR_END: nothing is held.
 */
static enum tr_status release(struct tr_trace *trace, struct tr_record **record,
			      struct tr_error *err)
{
	struct tr_record *held = trace->held;

	if (!held)
		return TR_END;
	if (trace->say_upstream) {
		trace->say_upstream = false;
		upstream_error(trace, held, err);
		return TR_WARN;
	}
	if (trace->trailer_due) {
		trace->trailer_due = false;
		return make_trailer(trace, NULL, record, err) ? TR_OK : TR_FATAL;
	}
	trace->held = NULL;
	if (held->type == TR_TRAILER)
		return make_trailer(trace, held, record, err) ? TR_OK : TR_FATAL;
	if (!is_stream(trace))
		return make_header(trace, held, record, err) ? TR_OK : TR_FATAL;
	add_up(trace);
	trace->segment = (struct tr_segment){ .open = true };
	*record = held;
	return TR_OK;
}

/* The tools know all features that the header requires. */
static RARE bool knows_features(struct tr_record *header, struct tr_error *err)
{
	struct tr_field *feature = tr_record_field(header, "feature");

	if (!feature)
		return true;
	tr_error_set(err, TR_CAUSE_INPUT, "the header requires feature %.*s, which is unknown",
		     TR_SHOWN(feature->text, 80));
	tr_error_at_line(err, header->source_line);
	return false;
}

/* A line of a format that has its own headers and trailers. TR_END: it is held. */
static enum tr_status stream_line(struct tr_trace *trace, struct tr_record **record,
				  struct tr_error *err)
{
	struct tr_segment *segment = &trace->segment;

	switch ((*record)->type) {
	case TR_HEADER:
		if (tr_record_split(*record, err) == TR_FATAL || !knows_features(*record, err))
			return TR_FATAL;
		trace->upstream_errors = 0;
		trace->upstream_truncated = false;
		trace->trailer_due = segment->errors || segment->truncated;
		trace->held = *record;
		return TR_END;
	case TR_TRAILER:
		if (tr_record_split(*record, err) == TR_FATAL)
			return TR_FATAL;
		look_at_trailer(trace, *record);
		trace->held = *record;
		return TR_END;
	case TR_RECORD:
		segment->count += counts(*record);
		return TR_OK;
	default:
		return TR_OK;
	}
}

/* A reader's part of a header: closes the segment that is open. TR_END: it is held. */
static enum tr_status head(struct tr_trace *trace, struct tr_record **record)
{
	trace->trailer_due = trace->segment.open;
	trace->held = *record;
	return TR_END;
}

static RARE enum tr_status check_depth(const struct tr_trace *trace, const struct tr_record *record,
				       struct tr_error *err)
{
	unsigned max = trace->config.read.limits.max_depth;

	if (!line_is_deeper(record, max))
		return TR_OK;
	tr_error_set(err, TR_CAUSE_LIMIT, "more than %u open brackets (--max-depth)", max);
	tr_error_at_line(err, record->source_line);
	return TR_WARN;
}

/* A reader cannot tell the place where its window is damaged from an early end of the input. */
static void look_for_damage(const struct tr_trace *trace, struct tr_error *err)
{
	struct tr_error damage;

	if (err->cause != TR_CAUSE_CUT || !trace->in->damaged)
		return;
	tr_input_error(trace->in, &damage);
	if (damage.cause != TR_CAUSE_CUT)
		err->cause = TR_CAUSE_INPUT;
}

/* Handles a result of the reader. TR_END: there is nothing to return, read on. */
static __attribute__((noinline)) enum tr_status answer(struct tr_trace *trace,
						       enum tr_status status,
						       struct tr_record **record,
						       struct tr_error *err)
{
	struct tr_segment *segment = &trace->segment;

	count_left_out(trace);
	if (status == TR_OK && trace->check_depth)
		status = check_depth(trace, *record, err);
	if (status == TR_WARN)
		look_for_damage(trace, err);

	if (status == TR_OK && is_stream(trace)) {
		status = stream_line(trace, record, err);
		if (status != TR_FATAL)
			return status;
	}
	if (status == TR_OK && (*record)->type == TR_HEADER)
		return head(trace, record);
	switch (status) {
	case TR_OK:
		segment->count += (*record)->type == TR_RECORD && counts(*record);
		return TR_OK;
	case TR_END:
		trace->state = TR_TRACE_DAMAGE;
		return TR_END;
	case TR_FATAL:
		if (tr_error_is_memory(err))
			return TR_FATAL;
		/* reported as the last warning, so that the trailer still counts it */
		trace->state = TR_TRACE_DAMAGE;
		segment->truncated = true;
		break;
	case TR_WARN:
		if (err->severity >= TR_NOTE)
			return TR_WARN;
		segment->truncated = segment->truncated || err->cause == TR_CAUSE_CUT;
		break;
	}
	segment->errors++;
	return err->cause == TR_CAUSE_NONE ? TR_END : TR_WARN;
}

static enum tr_status damage(struct tr_trace *trace, struct tr_error *err)
{
	trace->state = TR_TRACE_TRAILER;
	if (!trace->in->damaged)
		return TR_END;
	tr_input_error(trace->in, err);
	if (err->severity < TR_NOTE) {
		trace->segment.errors++;
		trace->segment.truncated = true;
	}
	return TR_WARN;
}

static enum tr_status trailer(struct tr_trace *trace, struct tr_record **record,
			      struct tr_error *err)
{
	const struct tr_segment *segment = &trace->segment;
	bool due = segment->errors || segment->truncated || (segment->open && !is_stream(trace));

	/* no segment yet: the input ended before the reader's header */
	if (!segment->open && heads(trace))
		return make_header(trace, NULL, record, err) ? TR_OK : TR_FATAL;
	trace->state = TR_TRACE_DONE;
	trace->upstream_errors = 0;
	trace->upstream_truncated = false;
	if (!due)
		return TR_END;
	return make_trailer(trace, NULL, record, err) ? TR_OK : TR_FATAL;
}

static __attribute__((noinline)) enum tr_status
next_of_any_kind(struct tr_trace *trace, struct tr_record **record, struct tr_error *err)
{
	for (;;) {
		enum tr_status status = release(trace, record, err);
		if (status != TR_END)
			return status;
		switch (trace->state) {
		case TR_TRACE_START:
			status = start(trace, record, err);
			break;
		case TR_TRACE_BODY:
			status = trace->reader->next(trace->reader, record, err);
			status = answer(trace, status, record, err);
			break;
		case TR_TRACE_DAMAGE:
			status = damage(trace, err);
			break;
		case TR_TRACE_TRAILER:
			status = trailer(trace, record, err);
			break;
		case TR_TRACE_DONE:
			return TR_END;
		}
		if (status != TR_END)
			return status;
	}
}

enum tr_status tr_trace_next(struct tr_trace *trace, struct tr_record **record,
			     struct tr_error *err)
{
	if (trace->state != TR_TRACE_BODY || trace->check_depth || trace->held)
		return next_of_any_kind(trace, record, err);
	/* the fast path, for nearly all records; those left out before them are counted later */
	enum tr_status status = trace->reader->next(trace->reader, record, err);
	if (status == TR_OK && (*record)->type == TR_RECORD) {
		trace->segment.count += counts(*record);
		return TR_OK;
	}
	status = answer(trace, status, record, err);
	return status == TR_END ? next_of_any_kind(trace, record, err) : status;
}
