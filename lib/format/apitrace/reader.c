/* Units of the stream to records, and what is to be said of them. */
#include <inttypes.h>
#include <stdlib.h>

#include "format/apitrace/apitrace.h"
#include "format/apitrace/reader.h"
#include "record/literal.h"

struct tr_reader *tr_apitrace_open(const struct tr_read_config *config, struct tr_input *in,
				   struct tr_error *err)
{
	struct tr_apitrace_reader *reader = calloc(1, sizeof *reader);
	if (!reader) {
		tr_error_memory(err);
		return NULL;
	}
	reader->in = in;
	reader->max_record = config->limits.max_record;
	tr_arena_limit(&reader->parse.arena, config->limits.max_record);
	reader->parse.max_depth = config->limits.max_depth < TR_LITERAL_DEPTH
					  ? config->limits.max_depth
					  : TR_LITERAL_DEPTH;
	if (config->as_text && !config->exact)
		reader->event.line = &reader->line;
	if (!config->as_text && !config->exact)
		reader->taker = config->taker;
	if (config->exact && !(reader->exact = tr_apitrace_exact_new())) {
		tr_error_memory(err);
		free(reader);
		return NULL;
	}
	return (struct tr_reader *)reader;
}

void tr_apitrace_close(struct tr_reader *base)
{
	struct tr_apitrace_reader *reader = (struct tr_apitrace_reader *)base;
	tr_apitrace_exact_free(reader->exact);
	tr_apitrace_parse_free(&reader->parse);
	tr_buffer_free(&reader->line);
	tr_id_map_free(&reader->live);
	tr_arena_free(&reader->live_arena);
	tr_arena_free(&reader->definition_arena);
	free(reader);
}

/* Live calls. */

static bool keep_call(struct tr_apitrace_reader *reader, const struct tr_apitrace_event *event)
{
	struct tr_apitrace_live *live = reader->free;
	if (live)
		reader->free = live->next;
	else
		live = tr_arena_alloc(&reader->live_arena, sizeof *live);
	if (!live)
		return false;
	*live = (struct tr_apitrace_live){ event->function, event->has_thread, event->thread,
					   NULL };
	return tr_id_map_put(&reader->live, event->call, live);
}

static void drop_call(struct tr_apitrace_reader *reader, uint64_t call)
{
	struct tr_apitrace_live *live = tr_id_map_take(&reader->live, call);
	if (!live)
		return;
	live->next = reader->free;
	reader->free = live;
}

/* What is wrong. */

static void say_call(const struct tr_apitrace_reader *reader, struct tr_error *err,
		     const char *behind)
{
	struct tr_error why = *err;
	if (reader->begun)
		tr_error_say_in(err, why.cause, why.pattern, "at call %" PRIu64 ": %s%s",
				reader->event.call, why.text, behind);
	else
		tr_error_say_in(err, why.cause, why.pattern, "at the head of the trace: %s%s",
				why.text, behind);
	err->offset = why.offset;
}

/* Something is to be said of a record that is passed on all the same. */
static void flaw(struct tr_apitrace_reader *reader, enum tr_cause cause, enum tr_severity severity,
		 const char *what)
{
	struct tr_error *err = &reader->parse.flaw;
	reader->parse.flawed = true;
	tr_error_say(err, cause, what);
	err->offset = reader->event.record.source_offset;
	say_call(reader, err, "");
	err->severity = severity;
}

/* What could not become a call: its bytes, and why. */

static struct tr_value *add_raw_field(struct tr_apitrace_reader *reader, struct tr_text key,
				      struct tr_value made)
{
	struct tr_value *value = tr_apitrace_alloc(&reader->parse, 1, sizeof *value);
	if (!value || !tr_record_add(&reader->event.record, key, value))
		return NULL;
	*value = made;
	return value;
}

static bool make_raw(struct tr_apitrace_reader *reader, struct tr_text bytes, struct tr_text reason)
{
	struct tr_record *record = &reader->event.record;
	record->count = 0;
	record->arrow = TR_NO_ARROW;
	record->kind = TR_TEXT("raw");
	return add_raw_field(reader, TR_TEXT("text"),
			     (struct tr_value){ .type = TR_BLOB, .text = bytes }) &&
	       add_raw_field(
		       reader, TR_TEXT("reason"),
		       (struct tr_value){ .type = TR_STRING, .flags = TR_PLAIN, .text = reason });
}

/* The stream has no place for so many brackets. */
static bool make_deep(struct tr_apitrace_reader *reader)
{
	const struct tr_apitrace_parse *parse = &reader->parse;
	flaw(reader, TR_CAUSE_LIMIT, TR_DAMAGE,
	     "more brackets than a value can have: kept as a raw record");
	return make_raw(reader, tr_text_span(parse->start, parse->p),
			TR_TEXT("more brackets than a value can have"));
}

/*
 * The end of a trace whose program was killed, `size` bytes. The writer puts it back where
 * everything before is what it was: `.offset` is how much that is.
 */
static bool make_cut(struct tr_apitrace_reader *reader, size_t size)
{
	struct tr_input *in = reader->in;
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
	return make_raw(reader, bytes, TR_TEXT("cut")) &&
	       add_raw_field(reader, TR_TEXT(".offset"),
			     (struct tr_value){ .type = TR_UINT, .as.number = offset });
}

/* After the error, reading goes on with the next stream of the file, if there is one. */
static enum tr_status go_on(struct tr_apitrace_reader *reader, struct tr_error *err)
{
	if (!reader->begun || !tr_apitrace_skip_to_stream(reader)) {
		say_call(reader, err, "; nothing after it can be read");
		return TR_FATAL;
	}
	say_call(reader, err, "; reading goes on at the next stream of the file");
	tr_apitrace_begin_stream(reader);
	/* the stream ends here, whatever the cause */
	err->cause = TR_CAUSE_CUT;
	return TR_WARN;
}

/* The input, or the stream before another one, ends within an event. */
static enum tr_status say_cut(struct tr_apitrace_reader *reader, struct tr_error *err)
{
	struct tr_input *in = reader->in;
	size_t size = tr_input_available(in);
	reader->ended = !reader->begun || !tr_apitrace_find_stream(reader, &size);
	tr_error_set(err, TR_CAUSE_CUT,
		     "truncated: at least %zu bytes needed, %zu left",
		     reader->parse.need, size);
	tr_error_at_offset(err, in->offset);
	say_call(reader, err, "");
	if (!reader->begun || make_cut(reader, size))
		return TR_WARN;
	return tr_error_memory(err);
}

static enum tr_status say_short(struct tr_apitrace_reader *reader, struct tr_error *err)
{
	struct tr_input *in = reader->in;
	size_t need = reader->parse.need;
	if (need > reader->max_record) {
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "the next event needs at least %zu bytes, the limit is %" PRIu64
			     " (--max-record raises it)",
			     need, reader->max_record);
		tr_error_at_offset(err, in->offset);
		return go_on(reader, err);
	}
	if (in->at_end)
		return say_cut(reader, err);
	tr_input_error(in, err);
	return TR_FATAL;
}

static enum tr_status say_why(struct tr_apitrace_reader *reader, struct tr_error *err)
{
	switch (reader->parse.outcome) {
	case TR_APITRACE_SHORT:
		return say_short(reader, err);
	case TR_APITRACE_BAD:
		*err = reader->parse.error;
		return go_on(reader, err);
	default:
		return tr_error_memory(err);
	}
}

/* Records. */

/* The record is the line that was put together. False: memory is out. */
static bool make_line(struct tr_apitrace_reader *reader)
{
	const struct tr_apitrace_event *event = &reader->event;
	struct tr_record *record = &reader->event.record;
	struct tr_buffer *line = &reader->line;
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

static bool finish_record(struct tr_apitrace_reader *reader)
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
	return !event->line || make_line(reader);
}

/* The unit is whole: what it means for those that follow, and what is to be said of it. */
static bool take_unit(struct tr_apitrace_reader *reader)
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

static enum tr_status hand_out_definition(struct tr_apitrace_reader *reader,
					  struct tr_record **record, struct tr_error *err)
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
	return reader->exact ? tr_apitrace_exact_add(reader->exact, definition, none, err) : TR_OK;
}

static enum tr_status hand_out_record(struct tr_apitrace_reader *reader, struct tr_record **record,
				      struct tr_error *err)
{
	const struct tr_apitrace_parse *parse = &reader->parse;
	reader->record_due = false;
	*record = &reader->event.record;
	/* a raw record has its bytes already */
	if (!reader->exact || tr_text_is((*record)->kind, "raw"))
		return TR_OK;
	return tr_apitrace_exact_add(reader->exact, *record, tr_text_span(parse->start, parse->p),
				     err);
}

static inline bool is_due(const struct tr_apitrace_reader *reader)
{
	return reader->record_due || reader->definition || reader->parse.flawed;
}

/* What is due of the unit that was taken. TR_END: nothing. */
static enum tr_status hand_out(struct tr_apitrace_reader *reader, struct tr_record **record,
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
	struct tr_apitrace_reader *reader = (struct tr_apitrace_reader *)base;
	enum tr_status status = is_due(reader) ? hand_out(reader, record, err) : TR_END;
	if (status != TR_END)
		return status;
	struct tr_call_taker *taker = reader->taker && reader->begun ? *reader->taker : NULL;
	while (taker && tr_apitrace_take_call(reader, taker))
		;
	if (reader->ended ||
	    (!tr_input_available(reader->in) && !tr_input_more(reader->in, 1) && reader->begun))
		return TR_END;
	bool whole = tr_apitrace_read_unit(reader);
	if (!whole && reader->parse.outcome == TR_APITRACE_BAD && tr_apitrace_at_stream(reader)) {
		tr_apitrace_begin_stream(reader);
		whole = tr_apitrace_read_unit(reader);
	}
	if (!whole)
		return say_why(reader, err);
	if (!take_unit(reader))
		return tr_error_memory(err);
	if (reader->definition || reader->parse.flawed || reader->exact)
		return hand_out(reader, record, err);
	reader->record_due = false;
	*record = &reader->event.record;
	return TR_OK;
}
