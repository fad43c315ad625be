/*
 * Units of the stream to records. An enter and the leave right behind it are
 * one unit, so whether a call is one record does not depend on how the input
 * comes: an enter is kept back until what follows it has begun, or the end.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/input.h"
#include "format/apitrace/apitrace.h"
#include "format/apitrace/exact.h"
#include "format/apitrace/parse.h"
#include "record/literal.h"

enum {
	/*
	 * A unit that grows beyond this is parsed again only when it has grown by a
	 * part of it, or nothing comes for so many milliseconds: once for each few
	 * bytes that trickle in would take forever.
	 */
	LARGE_UNIT = 64 << 10,
	LARGE_PART = 4,
	IDLE = 20,
};

/* A call that was entered. */
struct live {
	struct tr_apitrace_signature *function;
	uint64_t thread;
	struct live *next; /* in the list of free ones */
};

struct reader {
	struct tr_input *in;
	uint64_t max_record;
	struct tr_apitrace_parse parse;
	struct tr_apitrace_event event;
	uint64_t calls; /* entered so far */
	struct tr_id_map live;
	struct live *free;
	struct tr_arena live_arena;

	/* What is due of the unit: its definitions, its flaw, its record. */
	struct tr_apitrace_signature *definition; /* the next one */
	struct tr_record definition_record;
	struct tr_arena definition_arena;
	bool record_due;

	struct tr_apitrace_exact *exact; /* NULL: nobody asked for it */
	bool begun;			 /* the head is behind us */
	bool ended;
};

struct tr_reader *tr_apitrace_open(const struct tr_read_config *config, struct tr_input *in,
				   struct tr_error *err)
{
	struct reader *reader = calloc(1, sizeof *reader);
	if (!reader) {
		tr_error_memory(err);
		return NULL;
	}
	reader->in = in;
	reader->max_record = config->limits.max_record;
	reader->parse.max_depth = config->limits.max_depth < TR_LITERAL_DEPTH
					  ? config->limits.max_depth
					  : TR_LITERAL_DEPTH;
	if (config->exact && !(reader->exact = tr_apitrace_exact_new())) {
		tr_error_memory(err);
		free(reader);
		return NULL;
	}
	return (struct tr_reader *)reader;
}

void tr_apitrace_close(struct tr_reader *base)
{
	struct reader *reader = (struct reader *)base;
	tr_apitrace_exact_free(reader->exact);
	tr_apitrace_parse_free(&reader->parse);
	tr_id_map_free(&reader->live);
	tr_arena_free(&reader->live_arena);
	tr_arena_free(&reader->definition_arena);
	free(reader);
}

/* Live calls. */

static bool keep_call(struct reader *reader, const struct tr_apitrace_event *event)
{
	struct live *live = reader->free;
	if (live)
		reader->free = live->next;
	else
		live = tr_arena_alloc(&reader->live_arena, sizeof *live);
	if (!live)
		return false;
	*live = (struct live){ event->function, event->thread, NULL };
	return tr_id_map_put(&reader->live, event->call, live);
}

static void drop_call(struct reader *reader, uint64_t call)
{
	struct live *live = tr_id_map_take(&reader->live, call);
	if (!live)
		return;
	live->next = reader->free;
	reader->free = live;
}

/* Parsing: true when the parse is whole. */

/*
 * The leave of the enter before, if it stands there. An enter alone is whole,
 * too: when the leave turns out to be bad or cut, that is told after it.
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

static bool parse_leave(struct reader *reader)
{
	struct tr_apitrace_event *event = &reader->event;
	uint64_t call;
	if (!tr_apitrace_uint(&reader->parse, &call))
		return false;
	event->call = call;
	const struct live *live = tr_id_map_get(&reader->live, event->call);
	event->function = live ? live->function : NULL;
	event->thread = live ? live->thread : 0;
	return tr_apitrace_parse_leave(&reader->parse, event);
}

/* alone: without the leave that may follow an enter. */
static bool parse_unit(struct reader *reader, bool alone)
{
	struct tr_apitrace_parse *parse = &reader->parse;
	struct tr_apitrace_event *event = &reader->event;
	struct tr_input *in = reader->in;
	unsigned tag;
	tr_apitrace_parse_begin(parse, in->pos, in->end, in->offset);
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
		return tr_apitrace_bad(parse, parse->p - 1, "no event", tag);
	}
}

static bool parse_head(struct reader *reader)
{
	struct tr_apitrace_parse *parse = &reader->parse;
	struct tr_input *in = reader->in;
	tr_apitrace_parse_begin(parse, in->pos, in->end, in->offset);
	tr_record_init(&reader->event.record, &parse->arena);
	reader->event.record.type = TR_HEADER;
	return tr_apitrace_parse_head(parse, &reader->event.record);
}

/* True when there is more of the unit, as much as is worth another parse. */
static bool get_more(struct reader *reader)
{
	struct tr_input *in = reader->in;
	size_t before = tr_input_available(in), need = reader->parse.need;
	if (need > reader->max_record || !tr_input_more(in, need))
		return false;
	if (need < LARGE_UNIT)
		return true;
	while (tr_input_available(in) - before < before / LARGE_PART &&
	       tr_input_available(in) < reader->max_record && !tr_input_idle(in, IDLE))
		if (!tr_input_more(in, tr_input_available(in) + 1))
			break;
	return true;
}

/* Parses, and parses again with more, until the unit is whole or there is no more. */
static bool parse_whole(struct reader *reader)
{
	for (;;) {
		if (reader->begun ? parse_unit(reader, false) : parse_head(reader))
			return true;
		if (reader->parse.outcome != TR_APITRACE_SHORT || !get_more(reader))
			break;
	}
	/* the enter may be whole where its leave is not */
	return reader->parse.outcome != TR_APITRACE_NO_MEMORY && reader->begun &&
	       reader->event.enter && parse_unit(reader, true);
}

/* What is wrong. */

static void say_call(const struct reader *reader, struct tr_error *err, const char *behind)
{
	struct tr_error why = *err;
	if (reader->begun)
		tr_error_set(err, why.cause, "at call %" PRIu64 ": %s%s", reader->event.call,
			     why.text, behind);
	else
		tr_error_set(err, why.cause, "at the head of the trace: %s%s", why.text, behind);
	err->offset = why.offset;
}

static enum tr_status say_short(struct reader *reader, struct tr_error *err)
{
	struct tr_input *in = reader->in;
	size_t need = reader->parse.need;
	if (need > reader->max_record) {
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "what begins here takes %zu bytes at least, the limit is %" PRIu64
			     " (--max-record)",
			     need, reader->max_record);
		tr_error_at_offset(err, in->offset);
		say_call(reader, err, "; nothing behind it can be read");
		return TR_FATAL;
	}
	if (!in->at_end) {
		tr_input_error(in, err);
		return TR_FATAL;
	}
	reader->ended = true;
	tr_error_set(err, TR_CAUSE_CUT,
		     "the trace is cut: what begins here takes %zu bytes at "
		     "least, and there are %zu",
		     need, tr_input_available(in));
	tr_error_at_offset(err, in->offset);
	say_call(reader, err, "");
	return TR_WARN;
}

static enum tr_status say_why(struct reader *reader, struct tr_error *err)
{
	switch (reader->parse.outcome) {
	case TR_APITRACE_SHORT:
		return say_short(reader, err);
	case TR_APITRACE_BAD:
		*err = reader->parse.error;
		say_call(reader, err, "; nothing behind it can be read");
		return TR_FATAL;
	default:
		tr_error_memory(err);
		return TR_FATAL;
	}
}

/* Something is to be said of a record that is passed on all the same. */
static void flaw(struct reader *reader, enum tr_cause cause, enum tr_severity severity,
		 const char *what)
{
	struct tr_error *err = &reader->parse.flaw;
	reader->parse.flawed = true;
	tr_error_set(err, cause, "%s", what);
	err->offset = reader->event.record.source_offset;
	say_call(reader, err, "");
	err->severity = severity;
}

/* Records. */

static bool add_string(struct reader *reader, struct tr_text key, struct tr_text bytes)
{
	struct tr_apitrace_parse *parse = &reader->parse;
	struct tr_value *value = tr_apitrace_alloc(parse, 1, sizeof *value);
	return value && tr_apitrace_set_string(parse, bytes, value) &&
	       tr_record_add(&reader->event.record, key, value);
}

/* The stream has no place for so many brackets: its bytes, for whoever can do with them. */
static bool make_raw(struct reader *reader)
{
	static const char reason[] = "more brackets than a value can have";
	struct tr_apitrace_parse *parse = &reader->parse;
	struct tr_record *record = &reader->event.record;
	record->count = 0;
	record->arrow = TR_NO_ARROW;
	record->kind = TR_TEXT("raw");
	flaw(reader, TR_CAUSE_LIMIT, TR_DAMAGE,
	     "more brackets than a value can have: kept as a raw record");
	return add_string(reader, TR_TEXT("text"), tr_text_span(parse->start, parse->p)) &&
	       add_string(reader, TR_TEXT("reason"), tr_text_from(reason));
}

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
		if (reader->parse.version >= TR_APITRACE_HAS_THREADS)
			record->task =
				(struct tr_cell){ .type = TR_CELL_NUMBER, .number = event->thread };
	} else {
		flaw(reader, TR_CAUSE_INPUT, TR_FLAW, "a leave of a call that was not entered");
	}
	return !reader->parse.deep || make_raw(reader);
}

/* The unit is whole: what it means for those that follow, and what is to be said of it. */
static bool take_unit(struct reader *reader)
{
	struct tr_apitrace_event *event = &reader->event;
	struct tr_input *in = reader->in;
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

static enum tr_status hand_out_definition(struct reader *reader, struct tr_record **record,
					  struct tr_error *err)
{
	struct tr_record *definition = &reader->definition_record;
	struct tr_text none = { NULL, 0 };
	tr_arena_reset(&reader->definition_arena);
	tr_record_init(definition, &reader->definition_arena);
	definition->source_offset = reader->definition->offset;
	if (!tr_apitrace_definition(reader->definition, definition)) {
		tr_error_memory(err);
		return TR_FATAL;
	}
	reader->definition = reader->definition->next;
	*record = definition;
	return reader->exact ? tr_apitrace_exact_add(reader->exact, definition, none, err) : TR_OK;
}

static enum tr_status hand_out_record(struct reader *reader, struct tr_record **record,
				      struct tr_error *err)
{
	const struct tr_apitrace_parse *parse = &reader->parse;
	reader->record_due = false;
	*record = &reader->event.record;
	/* a raw record has its bytes already */
	if (!reader->exact || parse->deep)
		return TR_OK;
	return tr_apitrace_exact_add(reader->exact, *record, tr_text_span(parse->start, parse->p),
				     err);
}

/* What is due of the unit that was taken. TR_END: nothing. */
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

enum tr_status tr_apitrace_next(struct tr_reader *base, struct tr_record **record,
				struct tr_error *err)
{
	struct reader *reader = (struct reader *)base;
	enum tr_status status = hand_out(reader, record, err);
	if (status != TR_END)
		return status;
	if (reader->ended || (!tr_input_more(reader->in, 1) && reader->begun))
		return TR_END;
	if (!parse_whole(reader))
		return say_why(reader, err);
	if (!take_unit(reader)) {
		tr_error_memory(err);
		return TR_FATAL;
	}
	return hand_out(reader, record, err);
}
