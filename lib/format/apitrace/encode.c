/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/apitrace/apitrace.h"
#include "format/apitrace/encode.h"
#include "format/apitrace/wire.h"

static void mark(struct tr_encoder *encoder)
{
	enum { FIRST = 64 };
	if (encoder->mark_count == encoder->mark_cap) {
		size_t cap = encoder->mark_cap ? 2 * encoder->mark_cap : FIRST;
		size_t *marks = realloc(encoder->marks, cap * sizeof *marks);
		if (!marks) {
			encoder->failed = true;
			return;
		}
		encoder->marks = marks;
		encoder->mark_cap = cap;
	}
	encoder->marks[encoder->mark_count++] = encoder->bytes.len;
}

void tr_encode_uint(struct tr_encoder *encoder, uint64_t number)
{
	if (encoder->marking)
		mark(encoder);
	tr_wire_append_uint(&encoder->bytes, number);
}

void tr_encode_string(struct tr_encoder *encoder, struct tr_text bytes)
{
	tr_encode_uint(encoder, bytes.len);
	tr_buffer_put_text(&encoder->bytes, bytes);
}

static void put_names(struct tr_encoder *encoder, const struct tr_apitrace_signature *signature)
{
	tr_encode_string(encoder, signature->name);
	tr_encode_uint(encoder, signature->count);
	for (size_t i = 0; i < signature->count; i++)
		tr_encode_string(encoder, signature->labels[i].name);
}

static void put_constants(struct tr_encoder *encoder, const struct tr_apitrace_signature *signature)
{
	bool is_enum = signature->table == TR_APITRACE_ENUMS;
	if (!is_enum || encoder->version >= TR_APITRACE_HAS_ENUM_TABLES)
		tr_encode_uint(encoder, signature->count);
	for (size_t i = 0; i < signature->count; i++) {
		const struct tr_apitrace_label *label = &signature->labels[i];
		tr_encode_string(encoder, label->name);
		if (is_enum)
			tr_encode_byte(encoder, label->tag);
		tr_encode_uint(encoder, label->number);
	}
}

static void put_frame(struct tr_encoder *encoder, const struct tr_apitrace_signature *signature)
{
	for (size_t i = 0; i < signature->count; i++) {
		const struct tr_apitrace_label *part = &signature->labels[i];
		tr_encode_byte(encoder, part->tag);
		if (part->tag <= TR_APITRACE_FRAME_FILE)
			tr_encode_string(encoder, part->name);
		else
			tr_encode_uint(encoder, part->number);
	}
	tr_encode_byte(encoder, TR_APITRACE_FRAME_END);
}

/* Notes that the definition is in bytes, in case these are taken back. */
static bool note_fresh(struct tr_encoder *encoder, struct tr_apitrace_signature *signature)
{
	enum { FIRST = 16 };
	if (encoder->fresh_count == encoder->fresh_cap) {
		size_t cap = encoder->fresh_cap ? 2 * encoder->fresh_cap : FIRST;
		void *fresh = realloc(encoder->fresh, cap * sizeof *encoder->fresh);
		if (!fresh)
			return false;
		encoder->fresh = fresh;
		encoder->fresh_cap = cap;
	}
	encoder->fresh[encoder->fresh_count++] = signature;
	return true;
}

static void define(struct tr_encoder *encoder, struct tr_apitrace_signature *signature)
{
	if (!note_fresh(encoder, signature)) {
		encoder->failed = true;
		return;
	}
	signature->written = true;
	switch (signature->table) {
	case TR_APITRACE_ENUMS:
	case TR_APITRACE_MASKS:
		put_constants(encoder, signature);
		return;
	case TR_APITRACE_FRAMES:
		put_frame(encoder, signature);
		return;
	default:
		put_names(encoder, signature);
		return;
	}
}

void tr_encode_signature(struct tr_encoder *encoder, struct tr_apitrace_signature *signature)
{
	if (!signature) {
		encoder->failed = true;
		return;
	}
	tr_encode_uint(encoder, signature->wire);
	if (!signature->written)
		define(encoder, signature);
}

static void begin_bytes(struct tr_encoder *encoder, struct tr_arena *arena, struct tr_error *err)
{
	tr_buffer_reset(&encoder->bytes);
	encoder->fresh_count = 0;
	encoder->mark_count = 0;
	encoder->failed = encoder->flawed = false;
	encoder->err = err;
	encoder->signatures.scratch_arena = arena;
}

static void undo_bytes(struct tr_encoder *encoder)
{
	while (encoder->fresh_count)
		encoder->fresh[--encoder->fresh_count]->written = false;
	encoder->bytes.len = 0;
}

/* The bytes that the number at p takes, whatever it is; 0: it is cut or too long. */
static size_t uint_length(const char *p, const char *end)
{
	size_t length = 0;
	while (p + length < end && length < TR_WIRE_UINT_MAX && p[length] & 0x80)
		length++;
	return p + length < end && length < TR_WIRE_UINT_MAX ? length + 1 : 0;
}

/* The bytes of the number at p without the zeros at its top. */
static size_t short_length(const char *p, size_t length)
{
	while (length > 1 && (p[length - 1] & 0x7f) == 0)
		length--;
	return length;
}

static bool is_same(const struct tr_encoder *encoder, struct tr_text source)
{
	const char *a = encoder->bytes.data, *p = source.data, *end = p + source.len;
	size_t at = 0;
	for (size_t i = 0; i <= encoder->mark_count; i++) {
		size_t stop = i < encoder->mark_count ? encoder->marks[i] : encoder->bytes.len;
		size_t len = stop - at;
		if ((size_t)(end - p) < len || (len && memcmp(a + at, p, len) != 0))
			return false;
		p += len;
		at = stop;
		if (i == encoder->mark_count)
			break;
		size_t ours = uint_length(a + at, a + encoder->bytes.len);
		size_t theirs = uint_length(p, end);
		if (!theirs || short_length(p, theirs) != ours)
			return false;
		for (size_t k = 0; k < ours; k++)
			if ((a[at + k] & 0x7f) != (p[k] & 0x7f))
				return false;
		p += theirs;
		at += ours;
	}
	return p == end;
}

static void take_raw(struct tr_encoder *encoder, struct tr_record *record, struct tr_field *raw)
{
	struct tr_error ignored;
	struct tr_value *value = tr_field_value(record, raw, &ignored);
	if (!value || value->type != TR_BLOB || !is_same(encoder, value->text))
		return;
	encoder->bytes.len = 0;
	tr_buffer_put_text(&encoder->bytes, value->text);
}

/* The head of the stream. */

/* NULL: the header does not have it, or err is filled. */
static struct tr_value *header_value(struct tr_record *header, const char *key,
				     struct tr_error *err)
{
	struct tr_field *field = tr_record_field(header, key);
	return field ? tr_field_value(header, field, err) : NULL;
}

static bool header_number(struct tr_record *header, const char *key, uint64_t *number,
			  struct tr_error *err)
{
	struct tr_value *value = header_value(header, key, err);
	if (value && value->type == TR_UINT)
		*number = value->as.number;
	return value && value->type == TR_UINT;
}

/* Other formats have versions, too. */
static bool is_ours(struct tr_record *header)
{
	struct tr_field *format = tr_record_field(header, "format");
	return !format || tr_text_is(format->text, "apitrace");
}

static enum tr_status put_properties(struct tr_encoder *encoder, struct tr_value *list,
				     struct tr_error *err)
{
	enum tr_status status = TR_OK;
	struct tr_arena *arena = encoder->signatures.scratch_arena;
	for (size_t i = 0; list->type == TR_LIST && i < list->count; i++) {
		const struct tr_value *pair = &list->as.items[i];
		struct tr_text text[2] = { { "", 0 } };
		bool good = pair->type == TR_LIST && pair->count == 2;
		for (unsigned k = 0; good && k < 2; k++) {
			good = pair->as.items[k].type == TR_STRING;
			if (good)
				text[k] = tr_string_bytes(pair->as.items[k].text, arena);
			encoder->failed |= good && !text[k].data;
		}
		/* an empty name would be the end of them */
		if (!good || !text[0].len) {
			tr_error_set(err, TR_CAUSE_INPUT,
				     "a property is no pair of texts [\"name\",\"value\"]");
			status = TR_WARN;
			continue;
		}
		tr_encode_string(encoder, text[0]);
		tr_encode_string(encoder, text[1]);
	}
	return status;
}

enum tr_status tr_encode_head(struct tr_encoder *encoder, struct tr_record *header, int version,
			      struct tr_error *err)
{
	uint64_t own = TR_APITRACE_VERSION, semantic;
	bool ours = header && is_ours(header);
	struct tr_field *raw = ours ? tr_record_field(header, ".raw") : NULL;
	enum tr_status status = TR_OK;
	begin_bytes(encoder, header ? header->arena : NULL, err);
	if (ours)
		header_number(header, "version", &own, err);
	if (own > TR_APITRACE_VERSION) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "version %" PRIu64 " of apitrace's format is not known", own);
		return TR_FATAL;
	}
	semantic = own;
	if (ours)
		header_number(header, "semantic", &semantic, err);
	encoder->version = version < 0 ? own : (uint64_t)version;
	/* only if the source has them, too */
	encoder->thread_details =
		ours && own < TR_APITRACE_HAS_THREADS && encoder->version < TR_APITRACE_HAS_THREADS;
	encoder->marking = raw != NULL;
	tr_encode_uint(encoder, encoder->version);
	if (encoder->version >= TR_APITRACE_HAS_PROPERTIES) {
		struct tr_value *list = ours ? header_value(header, "properties", err) : NULL;
		tr_encode_uint(encoder, semantic);
		if (list)
			status = put_properties(encoder, list, err);
		tr_encode_byte(encoder, 0);
	}
	if (raw)
		take_raw(encoder, header, raw);
	if (!encoder->failed && !encoder->bytes.failed)
		return status;
	return tr_error_memory(err);
}

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
	uint64_t id; /* of its function, from .sig */
	bool has_id;
	/* a field that cannot be written is left out, instead of the record */
	bool lenient;
	bool less;	      /* something was left out */
	size_t next;	      /* the argument that is expected next */
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
		/* .sig and .raw were used before; other keys do not belong to the format */
		return true;
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

/* The field of an enter has the same thread as the task column. */
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

/* Encodes the whole call from its line. False: it has to be split; nothing is changed. */
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
	undo_bytes(encoder);
	begin_bytes(encoder, record->arena, encoder->err);
	return false;
}

enum tr_status tr_encode_record(struct tr_encoder *encoder, struct tr_record *record,
				struct tr_error *err)
{
	struct event event = { .encoder = encoder, .record = record };
	struct tr_field *raw = NULL;
	begin_bytes(encoder, record->arena, err);
	if (put_line(&event))
		return TR_OK;
	enum tr_status status = tr_record_split(record, err);
	if (status != TR_OK)
		return status;
	bool done = look_ahead(&event, &raw);
	encoder->marking = raw != NULL;
	done = done && put_event(&event);
	if (done && raw)
		take_raw(encoder, record, raw);
	if (encoder->failed || encoder->bytes.failed || (!done && err->cause == TR_CAUSE_MEMORY)) {
		undo_bytes(encoder);
		return tr_error_memory(err);
	}
	if (!done) {
		undo_bytes(encoder);
		return TR_WARN;
	}
	if (!event.less && !encoder->flawed)
		return TR_OK;
	if (!event.less)
		*err = encoder->flaw;
	err->severity = TR_FLAW;
	return TR_WARN;
}
