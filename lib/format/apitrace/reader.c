/* SPDX-License-Identifier: MIT */
/*
 * The reader: finds units (a head, an event, an enter with its leave) in the window, has them
 * parsed, and makes records of them: first the definitions of a unit, then the remark on it,
 * then its record. Plain calls can go directly to the text style instead.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/input.h"
#include "core/output.h"
#include "format/apitrace/apitrace.h"
#include "format/apitrace/encode.h"
#include "format/apitrace/parse.h"
#include "format/apitrace/text.h"
#include "format/reader_base.h"
#include "record/calls.h"
#include "record/literal.h"

/* A call that was entered. */
struct live_call {
	struct tr_apitrace_signature *function;
	bool has_thread;
	uint64_t thread;
	struct live_call *next; /* in the list of free ones */
};

struct reader {
	struct tr_reader base; /* its line is the one of the unit, if lines are wanted */
	struct tr_apitrace_parse parse;
	struct tr_apitrace_event event;
	uint64_t calls;	  /* entered so far */
	uint64_t streams; /* that ended before this one */
	struct tr_id_map live;
	struct live_call *free;
	struct tr_arena live_arena;

	/* What is still to be returned of the unit: definitions, a remark, its record. */
	struct tr_apitrace_signature *definition; /* the next one */
	struct tr_record definition_record;
	struct tr_arena definition_arena;
	bool record_due;

	struct tr_call_taker *const *taker; /* NULL: no call is taken */
	struct tr_buffer lines;		    /* plain calls that go to base.text_out */

	struct tr_encoder *exact; /* what the writer would write; NULL: without --exact */
	bool begun;		  /* the head was read */
	bool ended;
};

/* Exactness. */

/*
 * --exact: what the writer would write is compared with the bytes that a record was made
 * of; where they differ, the record gets them as .raw. That is rare: tracers write numbers
 * in as few bytes as possible, and so does the writer.
 */
static enum tr_status add_raw(struct tr_record *record, struct tr_text source, struct tr_error *err)
{
	struct tr_value *raw = tr_arena_alloc(record->arena, sizeof *raw);
	struct tr_text bytes = tr_arena_copy(record->arena, source);
	if (raw && bytes.data) {
		*raw = (struct tr_value){ .type = TR_BLOB, .text = bytes };
		if (tr_record_add(record, TR_TEXT(".raw"), raw))
			return TR_OK;
	}
	return tr_error_memory(err);
}

/*
 * Takes every record in turn, as the reader made it: the header, definitions, calls. source:
 * the bytes that the record was made of, of both events for a call, with the definitions in
 * them; ignored for definitions. TR_OK, or TR_FATAL: memory.
 */
static enum tr_status compare_exact(struct tr_encoder *encoder, struct tr_record *record,
				    struct tr_text source, struct tr_error *err)
{
	struct tr_error why;
	enum tr_status status;
	tr_error_clear(&why);
	if (record->type == TR_DEFINITION) {
		status = tr_written_define(&encoder->signatures, record, &why);
	} else if (record->type == TR_HEADER) {
		tr_encoder_restart(encoder);
		status = tr_encode_head(encoder, record, -1, &why);
	} else {
		status = tr_encode_record(encoder, record, &why);
	}
	if (status == TR_FATAL) {
		*err = why;
		return status;
	}
	/* what the writer would leave out has no bytes to be compared with */
	if (status != TR_OK || record->type == TR_DEFINITION ||
	    tr_text_equal(tr_buffer_text(&encoder->bytes), source))
		return TR_OK;
	return add_raw(record, source, err);
}

/* Further streams: files of programs that fork hold several (see apitrace.h). */

/*
 * True if another stream of the same file begins at the input's position, where an event is
 * expected. May ask for more of the input.
 */
static bool at_stream(struct reader *reader)
{
	struct tr_input *in = reader->base.in;
	if (!reader->begun || !tr_input_more(in, 1))
		return false;
	uint64_t version = (unsigned char)*in->pos;
	/* 0 and 1 are events, too; the streams of one file are of one version */
	if (version <= TR_APITRACE_LEAVE && version != reader->parse.version)
		return false;
	tr_input_more(in, TR_APITRACE_LOOK);
	return tr_apitrace_begins(in->pos, in->end, in->at_end, false);
}

/*
 * True if the input ends soon after the beginning of what may be another stream, too early to tell.
 * Call it after at_stream, which asks for more of the input.
 */
static bool at_cut_stream(const struct reader *reader)
{
	const struct tr_input *in = reader->base.in;
	return reader->begun && in->at_end && tr_input_available(in) <= TR_APITRACE_LOOK &&
	       (unsigned char)*in->pos == reader->parse.version &&
	       tr_apitrace_begins_cut(in->pos, in->end);
}

/* Forgets the stream that ended: another one begins at the input's position. */
static void begin_stream(struct reader *reader)
{
	struct tr_apitrace_parse *parse = &reader->parse;
	tr_apitrace_parse_restart(parse);
	tr_id_map_free(&reader->live);
	tr_arena_free(&reader->live_arena);
	reader->free = NULL;
	reader->calls = 0;
	reader->streams++;
	reader->begun = reader->ended = false;
}

/*
 * Returns the first place from p on, before `last`, where a stream begins; or last. valid: see
 * tr_apitrace_begins.
 */
static const char *find(const struct reader *reader, const char *p, const char *last, bool valid)
{
	while (p < last && (p = memchr(p, (int)reader->parse.version, (size_t)(last - p)))) {
		if (tr_apitrace_begins(p, reader->base.in->end, reader->base.in->at_end, valid))
			return p;
		p++;
	}
	return last;
}

/*
 * Sets *size to the bytes of a truncated event: those in the window up to the next stream of this
 * version. A beginning with an invalid event is data of the truncated event, which is kept whole.
 * *size is unchanged if it returns false: there is no such stream.
 */
static bool find_stream(const struct reader *reader, size_t *size)
{
	const struct tr_input *in = reader->base.in;
	const char *found = in->pos < in->end ? find(reader, in->pos + 1, in->end, true) : in->end;
	if (found == in->end)
		return false;
	*size = (size_t)(found - in->pos);
	return true;
}

/* Skips the input up to the next stream of this version, or to its end: then it returns false. */
static bool skip_to_stream(struct reader *reader)
{
	struct tr_input *in = reader->base.in;
	if (tr_input_more(in, 1))
		tr_input_skip(in, 1); /* no stream begins where the damage was found */
	for (;;) {
		/* a head is examined when as much of it as possible is in the window */
		bool more = tr_input_more(in, TR_APITRACE_LOOK);
		size_t size = tr_input_available(in);
		const char *last = in->end - (more ? TR_APITRACE_LOOK - 1 : 0);
		const char *found = find(reader, in->pos, last, false);
		tr_input_skip(in, (size_t)(found - in->pos));
		if (found < last)
			return true;
		if (!size || (!more && !tr_input_more(in, 1)))
			return false;
	}
}

/*
 * Units: the head, an event, or an enter with its leave. An enter and the leave directly
 * after it are one unit, so that a call becomes one record however the input arrives: an
 * enter is kept back until the next event has begun, or the input has ended.
 */

enum {
	/*
	 * A larger unit is parsed again only after it has grown by a part of its size, or if
	 * nothing has arrived for so many milliseconds. To parse it after every few bytes would
	 * take quadratic time.
	 */
	LARGE_UNIT = 64 << 10,
	LARGE_PART = 4,
	IDLE = 20,
};

/*
 * Parses the leave of the enter before, if it comes next. An enter alone is whole, too:
 * a leave that is bad or cut is reported after it.
 */
static bool parse_own_leave(struct reader *reader, bool at_end)
{
	struct tr_apitrace_parse *parse = &reader->parse;
	struct tr_apitrace_event *event = &reader->event;
	const char *enter_end = parse->p;
	unsigned tag;
	uint64_t call;
	if (at_end && parse->p == parse->end)
		return true;
	if (!tr_apitrace_byte(parse, &tag))
		return false;
	if (tag == TR_APITRACE_LEAVE) {
		if (!tr_apitrace_uint(parse, &call))
			return false;
		if (call == event->call)
			return tr_apitrace_parse_leave(parse, event);
	}
	parse->p = enter_end;
	return true;
}

/* Parses a leave of its own; its function and thread are those of its enter, if that was seen. */
static bool parse_leave(struct reader *reader)
{
	struct tr_apitrace_event *event = &reader->event;
	uint64_t call;
	if (!tr_apitrace_uint(&reader->parse, &call))
		return false;
	event->call = call;
	const struct live_call *live = tr_id_map_get(&reader->live, event->call);
	event->function = live ? live->function : NULL;
	event->has_thread = live && live->has_thread;
	event->thread = live ? live->thread : 0;
	return tr_apitrace_parse_leave(&reader->parse, event);
}

/* The versions 0 and 1 may begin another stream or be an event, of call or function 0. */
static inline bool begins_like_event(const struct reader *reader)
{
	const struct tr_input *in = reader->base.in;
	return reader->parse.version <= TR_APITRACE_LEAVE && tr_input_available(in) > 1 &&
	       (unsigned char)in->pos[0] == reader->parse.version &&
	       in->pos[1] == TR_APITRACE_ENTER;
}

/* alone: an enter is parsed without the leave that may follow. */
static bool parse_unit(struct reader *reader, bool alone)
{
	struct tr_apitrace_parse *parse = &reader->parse;
	struct tr_apitrace_event *event = &reader->event;
	struct tr_input *in = reader->base.in;
	unsigned tag;
	bool other = begins_like_event(reader) && at_stream(reader);
	tr_apitrace_parse_begin(parse, in->pos, in->end, in->offset);
	if (other)
		return tr_apitrace_bad(parse, in->pos, "not an event", parse->version);
	tr_record_init(&event->record, &parse->arena);
	event->enter = event->leave = false;
	event->fields_cap = 0;
	event->call = reader->calls;
	if (!tr_apitrace_byte(parse, &tag))
		return false;
	switch (tag) {
	case TR_APITRACE_ENTER:
		return tr_apitrace_parse_enter(parse, event) &&
		       (alone || parse_own_leave(reader, in->at_end));
	case TR_APITRACE_LEAVE:
		return parse_leave(reader);
	default:
		return tr_apitrace_bad(parse, parse->p - 1, "not an event", tag);
	}
}

static bool parse_head(struct reader *reader)
{
	struct tr_apitrace_parse *parse = &reader->parse;
	struct tr_record *header = &reader->event.record;
	struct tr_input *in = reader->base.in;
	tr_apitrace_parse_begin(parse, in->pos, in->end, in->offset);
	tr_record_init(header, &parse->arena);
	header->type = TR_HEADER;
	return (!reader->streams || tr_apitrace_add(parse, header, TR_TEXT("stream"),
						    tr_apitrace_number(reader->streams + 1))) &&
	       tr_apitrace_parse_head(parse, header);
}

/* Gets more of the unit, enough to be worth another parse. False: there is no more. */
static bool get_more(struct reader *reader)
{
	struct tr_input *in = reader->base.in;
	size_t before = tr_input_available(in);
	uint64_t need = reader->parse.need;
	if (need > reader->base.max_record || need > SIZE_MAX || !tr_input_more(in, (size_t)need))
		return false;
	if (need < LARGE_UNIT)
		return true;
	while (tr_input_available(in) - before < before / LARGE_PART &&
	       tr_input_available(in) < reader->base.max_record && !tr_input_idle(in, IDLE))
		if (!tr_input_more(in, tr_input_available(in) + 1))
			break;
	return true;
}

/*
 * Parses the unit at the input's position, again with more input until it is whole. False:
 * parse.outcome says why it is not. The input's position does not change.
 */
static bool read_unit(struct reader *reader)
{
	for (;;) {
		if (reader->begun ? parse_unit(reader, false) : parse_head(reader))
			return true;
		if (reader->parse.outcome != TR_APITRACE_SHORT || !get_more(reader))
			break;
	}
	/* the enter may be whole even if its leave is not */
	return reader->parse.outcome != TR_APITRACE_NO_MEMORY && reader->begun &&
	       reader->event.enter && parse_unit(reader, true);
}

/*
 * Plain calls (parse.h) need no records if the tool has given the reader a way past them, and only
 * a line in those that are to be text. The next call that is not plain is parsed again, as a unit.
 */

/* Gives the plain calls of the window to the taker. */
static void hand_over_calls(struct reader *reader, struct tr_call_taker *taker)
{
	struct tr_input *in = reader->base.in;
	struct tr_apitrace_parse *parse = &reader->parse;
	tr_apitrace_parse_begin(parse, in->pos, in->end, in->offset);
	for (; tr_apitrace_text_take(taker, parse, reader->calls); reader->calls++)
		tr_apitrace_parse_next(parse);
	tr_input_skip(in, (size_t)(parse->start - in->pos));
}

/*
 * Appends the line of the plain call at parse->p, and makes room for its LF. kind: see
 * tr_apitrace_put_columns. False: it is not plain, or memory is exhausted.
 */
static inline __attribute__((always_inline)) bool
put_call_line(struct reader *reader, const char *kind, struct tr_buffer *lines)
{
	struct tr_apitrace_parse *parse = &reader->parse;
	struct tr_apitrace_event *event = &reader->event;
	const struct tr_apitrace_speller speller = { parse, &tr_apitrace_stream, lines };
	size_t start = lines->len;
	if (!tr_apitrace_take_plain(parse, &event->has_thread, &event->thread, &event->function))
		return false;
	event->call = reader->calls;
	if (tr_apitrace_put_columns(event, kind, lines) &&
	    tr_apitrace_spell_plain(&speller, event->function->leads, event->function->count,
				    event->call) &&
	    tr_buffer_room(lines, 1))
		return true;
	lines->len = start;
	return false;
}

/* Writes the plain calls of the window as lines, a block at a time. */
static void write_calls(struct reader *reader, struct tr_output *out)
{
	enum { BLOCK = 64 << 10 };
	struct tr_input *in = reader->base.in;
	struct tr_buffer *lines = &reader->lines;
	bool plain = true;
	tr_apitrace_parse_begin(&reader->parse, in->pos, in->end, in->offset);
	while (plain && !out->failed) {
		tr_output_lend(out, lines);
		while (lines->len < BLOCK && (plain = put_call_line(reader, "call\t", lines))) {
			tr_buffer_put_byte(lines, '\n');
			tr_apitrace_parse_next(&reader->parse);
			reader->calls++;
			reader->base.handed_over++;
		}
		tr_output_put_text(out, tr_buffer_text(lines));
		tr_output_record_end(out);
	}
	tr_input_skip(in, (size_t)(reader->parse.start - in->pos));
}

/* The unit becomes the line of a plain call. False: it has to be parsed. */
static bool spell_unit(struct reader *reader)
{
	struct tr_apitrace_event *event = &reader->event;
	struct tr_buffer *line = event->speller.line;
	struct tr_input *in = reader->base.in;
	if (!line || !reader->begun)
		return false;
	tr_apitrace_parse_begin(&reader->parse, in->pos, in->end, in->offset);
	tr_record_init(&event->record, &reader->parse.arena);
	event->enter = event->leave = true;
	tr_buffer_reset(line);
	return put_call_line(reader, " call\t", line); /* see make_line */
}

/* Live calls. */

static bool keep_call(struct reader *reader, const struct tr_apitrace_event *event)
{
	struct live_call *live = reader->free;
	if (live)
		reader->free = live->next;
	else
		live = tr_arena_alloc(&reader->live_arena, sizeof *live);
	if (!live)
		return false;
	*live = (struct live_call){ event->function, event->has_thread, event->thread, NULL };
	return tr_id_map_put(&reader->live, event->call, live);
}

static void drop_call(struct reader *reader, uint64_t call)
{
	struct live_call *live = tr_id_map_take(&reader->live, call);
	if (!live)
		return;
	live->next = reader->free;
	reader->free = live;
}

/* Errors. */

/* Puts the number of the call before the text of the error, and a suffix after it. */
static void name_call(const struct reader *reader, struct tr_error *err, const char *suffix)
{
	struct tr_error why = *err;
	if (reader->begun)
		tr_error_say_in(err, why.cause, why.pattern, "at call %" PRIu64 ": %s%s",
				reader->event.call, why.text, suffix);
	else
		tr_error_say_in(err, why.cause, why.pattern, "at the head of the trace: %s%s",
				why.text, suffix);
	err->offset = why.offset;
}

/* Sets the remark on a record that is returned all the same. */
static void flaw(struct reader *reader, enum tr_cause cause, enum tr_severity severity,
		 const char *what)
{
	struct tr_error *err = &reader->parse.flaw;
	reader->parse.flawed = true;
	tr_error_say(err, cause, what);
	err->offset = reader->event.record.source_offset;
	name_call(reader, err, "");
	err->severity = severity;
}

/* Raw records hold bytes that could not become a call, and the reason. */

static bool make_raw(struct reader *reader, struct tr_text bytes, struct tr_text reason)
{
	struct tr_record *record = &reader->event.record;
	struct tr_value text = { .type = TR_BLOB, .text = bytes };
	struct tr_value why = { .type = TR_STRING, .flags = TR_PLAIN, .text = reason };
	record->count = 0;
	record->arrow = TR_NO_ARROW;
	record->kind = TR_TEXT("raw");
	return tr_apitrace_add(&reader->parse, record, TR_TEXT("text"), text) &&
	       tr_apitrace_add(&reader->parse, record, TR_TEXT("reason"), why);
}

/* The unit has more brackets than a value of the stream of records can have. */
static bool make_deep(struct reader *reader)
{
	const struct tr_apitrace_parse *parse = &reader->parse;
	flaw(reader, TR_CAUSE_LIMIT, TR_DAMAGE,
	     "brackets are nested too deeply: kept as a raw record");
	return make_raw(reader, tr_text_span(parse->start, parse->p),
			TR_TEXT("brackets are nested too deeply"));
}

/*
 * The cut end, of `size` bytes, of a trace whose program was killed. The writer writes it back if
 * it has written as many bytes before it as the source had: `.offset`.
 */
static bool make_cut(struct reader *reader, size_t size)
{
	struct tr_input *in = reader->base.in;
	struct tr_record *record = &reader->event.record;
	uint64_t offset = in->offset;
	struct tr_text bytes = { in->pos, size };
	tr_apitrace_parse_begin(&reader->parse, in->pos, in->end, offset);
	tr_record_init(record, &reader->parse.arena);
	record->canonical = record->split = true;
	record->source_offset = offset;
	record->seq = (struct tr_cell){ .type = TR_CELL_NUMBER, .number = reader->event.call };
	tr_input_skip(in, bytes.len);
	reader->record_due = true;
	return make_raw(reader, bytes, TR_TEXT("truncated")) &&
	       tr_apitrace_add(&reader->parse, record, TR_TEXT(".offset"),
			       tr_apitrace_number(offset));
}

/* Skips to the next stream of the file. TR_FATAL: there is none, and nothing more can be read. */
static enum tr_status resume(struct reader *reader, struct tr_error *err)
{
	if (!reader->begun || !skip_to_stream(reader)) {
		name_call(reader, err, "; nothing after it can be read");
		return TR_FATAL;
	}
	name_call(reader, err, "; reading continues with the next stream of the file");
	begin_stream(reader);
	/* the stream ends here, whatever the cause */
	err->cause = TR_CAUSE_CUT;
	return TR_WARN;
}

/* The input, or the stream before another one, ends within an event. */
static enum tr_status report_cut(struct reader *reader, struct tr_error *err)
{
	struct tr_input *in = reader->base.in;
	size_t size = tr_input_available(in);
	reader->ended = !reader->begun || !find_stream(reader, &size);
	tr_error_set(err, TR_CAUSE_CUT, "truncated: at least %" PRIu64 " bytes needed, %zu left",
		     reader->parse.need, size);
	tr_error_at_offset(err, in->offset);
	name_call(reader, err, "");
	if (!reader->begun || make_cut(reader, size))
		return TR_WARN;
	return tr_error_memory(err);
}

/*
 * Reports a unit that is not all there: it is beyond the limit, the input has ended, or it cannot
 * be read.
 */
static enum tr_status report_short(struct reader *reader, struct tr_error *err)
{
	struct tr_input *in = reader->base.in;
	uint64_t need = reader->parse.need;
	if (need > reader->base.max_record) {
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "the next event needs at least %" PRIu64
			     " bytes, the limit is %" PRIu64 " (--max-record raises it)",
			     need, reader->base.max_record);
		tr_error_at_offset(err, in->offset);
		return resume(reader, err);
	}
	if (in->at_end)
		return report_cut(reader, err);
	tr_input_error(in, err);
	return TR_FATAL;
}

/* Reports why the next unit could not be parsed. */
static enum tr_status report_outcome(struct reader *reader, struct tr_error *err)
{
	switch (reader->parse.outcome) {
	case TR_APITRACE_SHORT:
		return report_short(reader, err);
	case TR_APITRACE_BAD:
		*err = reader->parse.error;
		return resume(reader, err);
	default:
		return tr_error_memory(err);
	}
}

/* Records. */

/* The record becomes the line that the parser wrote. False: memory is exhausted. */
static bool make_line(struct reader *reader)
{
	const struct tr_apitrace_event *event = &reader->event;
	struct tr_record *record = &reader->event.record;
	struct tr_buffer *line = &reader->base.line;
	size_t end = line->len;
	tr_buffer_put_byte(line, '\n');
	if (line->failed)
		return false;
	char *start = line->data + TR_APITRACE_LINE_SLACK;
	if (event->enter && !event->leave) {
		start = line->data;
		memcpy(start, "enter", 5);
	}
	record->line = tr_text_span(start, line->data + line->len);
	record->rest = tr_text_span(line->data + event->rest, line->data + end);
	record->split = false;
	return true;
}

/* Completes the record of an event: kind, number, function, thread. False: memory is exhausted. */
static bool finish_record(struct reader *reader)
{
	const struct tr_apitrace_event *event = &reader->event;
	struct tr_record *record = &reader->event.record;
	record->type = TR_RECORD;
	record->canonical = record->split = true;
	record->source_offset = reader->parse.offset;
	if (event->enter)
		record->kind = event->leave ? TR_TEXT("call") : TR_TEXT("enter");
	else
		record->kind = TR_TEXT("leave");
	record->seq = (struct tr_cell){ .type = TR_CELL_NUMBER, .number = event->call };
	if (event->function) {
		record->name =
			(struct tr_cell){ .type = TR_CELL_TEXT, .text = event->function->cell };
		if (event->has_thread)
			record->task =
				(struct tr_cell){ .type = TR_CELL_NUMBER, .number = event->thread };
	} else {
		flaw(reader, TR_CAUSE_INPUT, TR_FLAW, "a leave of a call that was not entered");
	}
	if (reader->parse.deep)
		return make_deep(reader);
	return !event->speller.line || make_line(reader);
}

/* Takes a whole unit: skips its bytes, and updates the state for those that follow. */
static bool take_unit(struct reader *reader)
{
	struct tr_apitrace_event *event = &reader->event;
	struct tr_input *in = reader->base.in;
	if (!reader->begun) {
		reader->begun = true;
	} else {
		if (!finish_record(reader))
			return false;
		reader->calls += event->enter;
		if (event->enter && !event->leave && !keep_call(reader, event))
			return false;
		if (event->leave && !event->enter)
			drop_call(reader, event->call);
	}
	tr_input_skip(in, (size_t)(reader->parse.p - in->pos));
	reader->definition = reader->parse.defined;
	reader->record_due = true;
	return true;
}

/* Returns the next definition of the unit as a record. */
static enum tr_status hand_out_definition(struct reader *reader, struct tr_record **record,
					  struct tr_error *err)
{
	struct tr_record *definition = &reader->definition_record;
	struct tr_text none = { NULL, 0 };
	tr_arena_reset(&reader->definition_arena);
	tr_record_init(definition, &reader->definition_arena);
	definition->source_offset = reader->definition->offset;
	if (!tr_apitrace_definition(reader->definition, definition))
		return tr_error_memory(err);
	reader->definition = reader->definition->next;
	*record = definition;
	return reader->exact ? compare_exact(reader->exact, definition, none, err) : TR_OK;
}

/* Returns the record of the unit, with .raw if --exact needs it. */
static enum tr_status hand_out_record(struct reader *reader, struct tr_record **record,
				      struct tr_error *err)
{
	const struct tr_apitrace_parse *parse = &reader->parse;
	reader->record_due = false;
	*record = &reader->event.record;
	/* a raw record has its bytes already */
	if (!reader->exact || tr_text_is((*record)->kind, "raw"))
		return TR_OK;
	return compare_exact(reader->exact, *record, tr_text_span(parse->start, parse->p), err);
}

/* Whether the unit that was taken has more to return. */
static inline bool is_due(const struct reader *reader)
{
	return reader->record_due || reader->definition || reader->parse.flawed;
}

/* The next record or remark of the unit that was taken. TR_END: there is none. */
static enum tr_status hand_out(struct reader *reader, struct tr_record **record,
			       struct tr_error *err)
{
	if (reader->definition)
		return hand_out_definition(reader, record, err);
	if (reader->parse.flawed) {
		reader->parse.flawed = false;
		*err = reader->parse.flaw;
		return TR_WARN;
	}
	return reader->record_due ? hand_out_record(reader, record, err) : TR_END;
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);
	if (reader->exact)
		tr_encoder_free(reader->exact);
	free(reader->exact);
	tr_apitrace_parse_free(&reader->parse);
	tr_id_map_free(&reader->live);
	tr_arena_free(&reader->live_arena);
	tr_arena_free(&reader->definition_arena);
	tr_buffer_free(&reader->lines);
}

/* Returns what is due, then reads the next unit that has to come as a record. */
static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	enum tr_status status = is_due(reader) ? hand_out(reader, record, err) : TR_END;
	if (status != TR_END)
		return status;
	struct tr_call_taker *taker = reader->taker && reader->begun ? *reader->taker : NULL;
	if (taker)
		hand_over_calls(reader, taker);
	if (base->text_out && *base->text_out && reader->begun)
		write_calls(reader, *base->text_out);
	if (reader->ended || (!tr_input_available(reader->base.in) &&
			      !tr_input_more(reader->base.in, 1) && reader->begun))
		return TR_END;
	bool whole = spell_unit(reader) || read_unit(reader);
	/* bytes that are no event may begin another stream of the file */
	if (!whole && reader->parse.outcome == TR_APITRACE_BAD && at_stream(reader)) {
		begin_stream(reader);
		whole = read_unit(reader);
	}
	if (!whole && reader->parse.outcome == TR_APITRACE_BAD && at_cut_stream(reader)) {
		reader->parse.outcome = TR_APITRACE_SHORT;
		reader->parse.need = tr_input_available(reader->base.in) + 1;
	}
	if (!whole)
		return report_outcome(reader, err);
	if (!take_unit(reader))
		return tr_error_memory(err);
	if (reader->definition || reader->parse.flawed || reader->exact)
		return hand_out(reader, record, err);
	reader->record_due = false;
	*record = &reader->event.record;
	return TR_OK;
}

struct tr_reader *tr_apitrace_open(const struct tr_read_config *config, struct tr_input *in,
				   struct tr_error *err)
{
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	tr_arena_limit(&reader->parse.arena, config->limits.max_record);
	reader->parse.max_depth = config->limits.max_depth < TR_LITERAL_DEPTH
					  ? config->limits.max_depth
					  : TR_LITERAL_DEPTH;
	if (config->as_text && !config->exact)
		reader->event.speller =
			(struct tr_apitrace_speller){ &reader->parse, &tr_apitrace_stream,
						      &reader->base.line };
	if (!config->as_text && !config->exact)
		reader->taker = config->taker;
	if (config->as_text && !config->exact)
		reader->base.text_out = config->text_out;
	if (config->exact && !(reader->exact = calloc(1, sizeof *reader->exact))) {
		tr_error_memory(err);
		tr_reader_free(&reader->base);
		return NULL;
	}
	return &reader->base;
}
