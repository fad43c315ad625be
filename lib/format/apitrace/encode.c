#include "format/apitrace/encode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/apitrace/apitrace.h"

struct tr_live_call {
	uint64_t number; /* in the trace */
	struct tr_apitrace_signature *function;
	struct tr_live_call *next; /* of the spare ones */
};

/* The event that is being put together. */
struct event {
	struct tr_encoder *encoder;
	struct tr_record *record;
	struct tr_apitrace_signature *function;
	uint64_t id; /* of its function, where .sig says it */
	bool has_id;
	bool lenient; /* what cannot be written is left out; else all of the record is */
	bool less;    /* something was left out */
	size_t next;  /* the argument that comes next, as a rule */
	bool thread_in_place; /* the enter has its thread as a field, at the place of the detail */
};

void tr_encoder_free(struct tr_encoder *encoder)
{
	size_t position = 0;
	for (struct tr_live_call *call; (call = tr_id_map_next(&encoder->live, &position)) != NULL;)
		free(call);
	while (encoder->spare) {
		struct tr_live_call *call = encoder->spare;
		encoder->spare = call->next;
		free(call);
	}
	tr_id_map_free(&encoder->live);
	tr_written_signatures_free(&encoder->signatures);
	tr_buffer_free(&encoder->bytes);
	free(encoder->fresh);
	free(encoder->marks);
}

void tr_encoder_restart(struct tr_encoder *encoder)
{
	tr_encoder_free(encoder);
	*encoder = (struct tr_encoder){ 0 };
}

/* Live calls. */

static bool remember(struct tr_encoder *encoder, uint64_t seq,
		     struct tr_apitrace_signature *function)
{
	/* two enters of one number: the leave is taken for the later one's */
	struct tr_live_call *call = tr_id_map_get(&encoder->live, seq);
	if (!call && encoder->spare) {
		call = encoder->spare;
		encoder->spare = call->next;
	} else if (!call) {
		call = malloc(sizeof *call);
	}
	if (!call)
		return false;
	*call = (struct tr_live_call){ .number = encoder->calls, .function = function };
	if (tr_id_map_put(&encoder->live, seq, call))
		return true;
	free(call);
	return false;
}

static void forget(struct tr_encoder *encoder, uint64_t seq)
{
	struct tr_live_call *call = tr_id_map_take(&encoder->live, seq);
	call->next = encoder->spare;
	encoder->spare = call;
}

/* Fields. */

static bool value_of(struct event *event, struct tr_field *field)
{
	struct tr_encoder *encoder = event->encoder;
	if (!field->value && field->text.data && !encoder->marking &&
	    tr_encode_plain(encoder, field->text))
		return true;
	struct tr_value *value = tr_field_value(event->record, field, encoder->err);
	return value && tr_encode_value(encoder, value);
}

static bool unfit(struct event *event, struct tr_text key, const char *what)
{
	tr_error_set(event->encoder->err, TR_CAUSE_INPUT, "'%.*s' %s",
		     (int)(key.len < 80 ? key.len : 80), key.data, what);
	return false;
}

/* The word K3 of a list of frames, F17 of .sig. */
static bool id_word(const struct tr_value *value, char letter, uint64_t *id)
{
	if (value->type != TR_SYMBOL || value->as.symbol->numbered != TR_SYMBOL_WORDS ||
	    value->as.symbol->count != 1)
		return false;
	struct tr_text word = value->as.symbol->names[0].text;
	struct tr_cell digits = { .type = TR_CELL_TEXT, .text = { word.data + 1, word.len - 1 } };
	return word.len > 1 && *word.data == letter && tr_cell_number(&digits, id);
}

static bool put_backtrace(struct event *event, struct tr_field *field)
{
	struct tr_encoder *encoder = event->encoder;
	struct tr_value *list = tr_field_value(event->record, field, encoder->err);
	uint64_t id;
	if (!list)
		return false;
	if (list->type != TR_LIST || list->flags & TR_CUT)
		return unfit(event, field->key, "is no list of stack frames");
	tr_encode_byte(encoder, TR_APITRACE_BACKTRACE);
	tr_encode_uint(encoder, list->count);
	for (size_t i = 0; i < list->count; i++) {
		if (!id_word(&list->as.items[i], 'K', &id))
			return unfit(event, field->key, "is no list of stack frames");
		tr_encode_signature(encoder, tr_written_frame(&encoder->signatures, id));
	}
	return true;
}

static bool put_flags(struct event *event, struct tr_field *field)
{
	struct tr_encoder *encoder = event->encoder;
	struct tr_value *flags = tr_field_value(event->record, field, encoder->err);
	if (!flags)
		return false;
	if (flags->type != TR_UINT)
		return unfit(event, field->key, "is no number");
	tr_encode_byte(encoder, TR_APITRACE_FLAGS);
	tr_encode_uint(encoder, flags->as.number);
	return true;
}

static bool put_thread(struct event *event, struct tr_field *field)
{
	struct tr_encoder *encoder = event->encoder;
	struct tr_value *thread = tr_field_value(event->record, field, encoder->err);
	if (!thread)
		return false;
	if (thread->type != TR_UINT)
		return unfit(event, field->key, "is no number");
	if (encoder->version >= TR_APITRACE_HAS_THREADS)
		return true; /* every enter has it */
	tr_encode_byte(encoder, TR_APITRACE_THREAD);
	tr_encode_uint(encoder, thread->as.number);
	return true;
}

static bool put_argument(struct event *event, struct tr_field *field)
{
	uint64_t number;
	if (!tr_written_argument(&event->encoder->signatures, event->function, field->key,
				 event->next, &number))
		return unfit(event, field->key, "is no argument of its function");
	event->next = (size_t)number + 1;
	tr_encode_byte(event->encoder, TR_APITRACE_ARGUMENT);
	tr_encode_uint(event->encoder, number);
	return value_of(event, field);
}

static bool put_field(struct event *event, struct tr_field *field)
{
	if (*field->key.data == '.') {
		if (tr_text_is(field->key, ".flags"))
			return put_flags(event, field);
		if (tr_text_is(field->key, ".bt"))
			return put_backtrace(event, field);
		if (tr_text_is(field->key, ".thread"))
			return put_thread(event, field);
		return true; /* .sig and .raw were looked at; others are somebody else's */
	}
	if (!tr_text_is(field->key, "return"))
		return put_argument(event, field);
	tr_encode_byte(event->encoder, TR_APITRACE_RETURN);
	return value_of(event, field);
}

/* Without it the leave is still one; its call would not seem to return. */
static bool skip_field(struct event *event, size_t bytes, size_t fresh, size_t marks)
{
	struct tr_encoder *encoder = event->encoder;
	if (!event->lenient || encoder->failed || encoder->err->cause == TR_CAUSE_MEMORY)
		return false;
	while (encoder->fresh_count > fresh)
		encoder->fresh[--encoder->fresh_count]->written = false;
	encoder->bytes.len = bytes;
	encoder->mark_count = marks;
	event->less = true;
	return true;
}

static bool put_fields(struct event *event, size_t from, size_t to)
{
	struct tr_encoder *encoder = event->encoder;
	for (size_t i = from; i < to; i++) {
		struct tr_field *field = &event->record->fields[i];
		size_t bytes = encoder->bytes.len, fresh = encoder->fresh_count;
		size_t marks = encoder->mark_count;
		if (field->key.data && !put_field(event, field) &&
		    !skip_field(event, bytes, fresh, marks))
			return false;
	}
	tr_encode_byte(encoder, TR_APITRACE_END);
	return true;
}

/* Events. */

/* Up to the fields. */
static bool begin_enter(struct event *event)
{
	struct tr_encoder *encoder = event->encoder;
	uint64_t thread = 0;
	if (event->record->task.type != TR_CELL_ABSENT &&
	    !tr_cell_number(&event->record->task, &thread)) {
		tr_error_set(encoder->err, TR_CAUSE_INPUT, "the task is no number of a thread");
		return false;
	}
	if (tr_written_function(&encoder->signatures, event->record,
				event->has_id ? &event->id : NULL, &event->function,
				encoder->err) != TR_OK)
		return false;
	tr_encode_byte(encoder, TR_APITRACE_ENTER);
	if (encoder->version >= TR_APITRACE_HAS_THREADS)
		tr_encode_uint(encoder, thread);
	tr_encode_signature(encoder, event->function);
	if (encoder->thread_details && !event->thread_in_place &&
	    event->record->task.type != TR_CELL_ABSENT) {
		tr_encode_byte(encoder, TR_APITRACE_THREAD);
		tr_encode_uint(encoder, thread);
	}
	return true;
}

static bool put_enter(struct event *event, size_t fields)
{
	return begin_enter(event) && put_fields(event, 0, fields);
}

static bool put_leave(struct event *event, uint64_t number, size_t from)
{
	event->next = 0;
	tr_encode_byte(event->encoder, TR_APITRACE_LEAVE);
	tr_encode_uint(event->encoder, number);
	return put_fields(event, from, event->record->count);
}

static bool put_call(struct event *event)
{
	size_t arrow = event->record->arrow;
	if (arrow == TR_NO_ARROW)
		arrow = event->record->count;
	return put_enter(event, arrow) && put_leave(event, event->encoder->calls, arrow);
}

/* A leave of its own: of the call that has its number in the stream. */
static bool put_other_leave(struct event *event, uint64_t seq, bool has_seq)
{
	struct tr_encoder *encoder = event->encoder;
	struct tr_live_call *call = has_seq ? tr_id_map_get(&encoder->live, seq) : NULL;
	if (!call) {
		tr_error_set(encoder->err, TR_CAUSE_INPUT,
			     "a leave without an enter before it in the stream");
		return false;
	}
	event->function = call->function;
	event->lenient = true;
	return put_leave(event, call->number, 0);
}

static bool put_event(struct event *event)
{
	struct tr_encoder *encoder = event->encoder;
	struct tr_record *record = event->record;
	uint64_t seq;
	bool has_seq = tr_cell_number(&record->seq, &seq);
	if (tr_text_is(record->kind, "leave")) {
		if (!put_other_leave(event, seq, has_seq))
			return false;
		if (!encoder->bytes.failed && !encoder->failed)
			forget(encoder, seq);
		return true;
	}
	bool whole = tr_text_is(record->kind, "call");
	if (!(whole ? put_call(event) : put_enter(event, record->count)))
		return false;
	if (!whole && has_seq && !remember(encoder, seq, event->function)) {
		encoder->failed = true;
		return false;
	}
	encoder->calls++;
	return true;
}

/* The field of an enter says the same thread as the task column. */
static bool is_task(struct event *event, size_t field)
{
	struct tr_record *record = event->record;
	struct tr_value *value = tr_field_value(record, &record->fields[field], NULL);
	uint64_t thread;
	return field < record->arrow && value && value->type == TR_UINT &&
	       tr_cell_number(&record->task, &thread) && thread == value->as.number;
}

/* .sig, .thread and .raw: what has to be known before the rest. False: .sig is none. */
static bool look_ahead(struct event *event, struct tr_field **raw)
{
	struct tr_record *record = event->record;
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
		if (!field->key.data || *field->key.data != '.')
			continue;
		if (tr_text_is(field->key, ".raw")) {
			*raw = field;
		} else if (tr_text_is(field->key, ".thread")) {
			event->thread_in_place |= is_task(event, i);
		} else if (tr_text_is(field->key, ".sig")) {
			struct tr_value *value = tr_field_value(record, field, event->encoder->err);
			if (!value)
				return false;
			event->has_id = id_word(value, 'F', &event->id);
			if (!event->has_id)
				return unfit(event, field->key, "names no function");
		}
	}
	return true;
}

/* The whole call from its line. False: it takes the long way, as if nothing had been tried. */
static bool put_line(struct event *event)
{
	struct tr_encoder *encoder = event->encoder;
	struct tr_record *record = event->record;
	if (!record->line.data || record->split || !tr_text_is(record->kind, "call") ||
	    !tr_written_is_recent(&encoder->signatures, record))
		return false;
	encoder->marking = false;
	if (begin_enter(event) &&
	    tr_encode_fields(encoder, event->function, encoder->calls, record->rest) &&
	    !encoder->failed && !encoder->bytes.failed) {
		encoder->calls++;
		return true;
	}
	tr_encode_undo(encoder);
	tr_encode_begin(encoder, record->arena, encoder->err);
	return false;
}

enum tr_status tr_encode_record(struct tr_encoder *encoder, struct tr_record *record,
				struct tr_error *err)
{
	struct event event = { .encoder = encoder, .record = record };
	struct tr_field *raw = NULL;
	tr_encode_begin(encoder, record->arena, err);
	if (put_line(&event))
		return TR_OK;
	enum tr_status status = tr_record_split(record, err);
	if (status != TR_OK)
		return status;
	bool done = look_ahead(&event, &raw);
	encoder->marking = raw != NULL;
	done = done && put_event(&event);
	if (done && raw)
		tr_encode_raw(encoder, record, raw);
	if (encoder->failed || encoder->bytes.failed || (!done && err->cause == TR_CAUSE_MEMORY)) {
		tr_encode_undo(encoder);
		return tr_error_memory(err);
	}
	if (!done) {
		tr_encode_undo(encoder);
		return TR_WARN;
	}
	if (!event.less && !encoder->flawed)
		return TR_OK;
	if (!event.less)
		*err = encoder->flaw;
	err->severity = TR_FLAW;
	return TR_WARN;
}
