/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "core/text.h"
#include "format/apitrace/apitrace.h"
#include "format/apitrace/parse.h"
#include "record/literal.h"

/* The head and the events of a stream; the ways in which parsing ends. */

void tr_apitrace_parse_free(struct tr_apitrace_parse *parse)
{
	tr_apitrace_signatures_free(&parse->signatures);
	tr_arena_free(&parse->arena);
	tr_buffer_free(&parse->scratch);
}

void tr_apitrace_end_short(struct tr_apitrace_parse *parse, uint64_t more)
{
	size_t here = (size_t)(parse->p - parse->start);
	parse->outcome = TR_APITRACE_SHORT;
	parse->need = more < SIZE_MAX - here ? here + (size_t)more : SIZE_MAX;
}

void tr_apitrace_end_bad(struct tr_apitrace_parse *parse, const char *where, const char *what,
			 uint64_t number)
{
	parse->outcome = TR_APITRACE_BAD;
	tr_error_say_in(&parse->error, TR_CAUSE_INPUT, what, "%" PRIu64 " is %s", number, what);
	tr_error_at_offset(&parse->error, tr_apitrace_offset(parse, where));
}

void tr_apitrace_end_no_memory(struct tr_apitrace_parse *parse)
{
	parse->outcome = parse->arena.limited ? TR_APITRACE_BAD : TR_APITRACE_NO_MEMORY;
	(void)tr_arena_error(&parse->arena, &parse->error);
	tr_error_at_offset(&parse->error, parse->offset);
}

bool tr_apitrace_end_named(struct tr_apitrace_parse *parse)
{
	parse->outcome = TR_APITRACE_BAD;
	tr_error_set(&parse->error, TR_CAUSE_LIMIT,
		     "the names in it take more than %zu bytes of text", parse->named);
	tr_error_at_offset(&parse->error, parse->offset);
	return false;
}

void tr_apitrace_end_bad_uint(struct tr_apitrace_parse *parse)
{
	size_t left = (size_t)(parse->end - parse->p), size = 0;
	while (size < left && size < TR_WIRE_UINT_MAX && parse->p[size] & 0x80)
		size++;
	if (size == left) {
		tr_apitrace_end_short(parse, left + 1);
		return;
	}
	parse->outcome = TR_APITRACE_BAD;
	tr_error_set(&parse->error, TR_CAUSE_INPUT, "a number has more than 64 bits");
	tr_error_at_offset(&parse->error, tr_apitrace_offset(parse, parse->p));
}

bool tr_apitrace_count(struct tr_apitrace_parse *parse, size_t least, size_t *count)
{
	uint64_t n = 0;
	if (!tr_apitrace_uint(parse, &n))
		return false;
	uint64_t left = (uint64_t)(parse->end - parse->p);
	if (left < parse->owed || n > (left - parse->owed) / least) {
		bool huge = n > (SIZE_MAX - parse->owed) / least;
		return tr_apitrace_short(parse, huge ? SIZE_MAX : n * least + parse->owed);
	}
	*count = (size_t)n;
	return true;
}

static struct tr_value *add(struct tr_apitrace_parse *parse, struct tr_record *record,
			    struct tr_text key)
{
	struct tr_value *value = tr_apitrace_alloc(parse, 1, sizeof *value);
	if (!value)
		return NULL;
	*value = (struct tr_value){ .type = TR_NULL };
	if (!tr_record_add(record, key, value)) {
		tr_apitrace_no_memory(parse);
		return NULL;
	}
	return value;
}

bool tr_apitrace_add_number(struct tr_apitrace_parse *parse, struct tr_record *record,
			    struct tr_text key, uint64_t number)
{
	struct tr_value *value = add(parse, record, key);
	if (!value)
		return false;
	*value = (struct tr_value){ .type = TR_UINT, .as.number = number };
	return true;
}

/* [NAME,VALUE] */
static bool set_pair(struct tr_apitrace_parse *parse, struct tr_text name, struct tr_text text,
		     struct tr_value *pair)
{
	enum { PAIR = 2 };
	*pair = (struct tr_value){ .type = TR_LIST, .count = PAIR };
	pair->as.items = tr_apitrace_alloc(parse, PAIR, sizeof *pair->as.items);
	return pair->as.items && tr_apitrace_set_string(parse, name, &pair->as.items[0]) &&
	       tr_apitrace_set_string(parse, text, &pair->as.items[1]);
}

/* The list grows with each property, for their number is unknown. */
static bool add_pair(struct tr_apitrace_parse *parse, struct tr_value *list, size_t *cap,
		     struct tr_text name, struct tr_text text)
{
	if (list->count == *cap) {
		size_t more = *cap ? *cap * 2 : 8;
		struct tr_value *items = tr_apitrace_alloc(parse, more, sizeof *items);
		if (!items)
			return false;
		if (list->count)
			memcpy(items, list->as.items, list->count * sizeof *items);
		list->as.items = items;
		*cap = more;
	}
	return set_pair(parse, name, text, &list->as.items[list->count++]);
}

static bool parse_properties(struct tr_apitrace_parse *parse, struct tr_record *record)
{
	struct tr_value *list = add(parse, record, TR_TEXT("properties"));
	size_t cap = 0;
	if (!list)
		return false;
	*list = (struct tr_value){ .type = TR_LIST };
	for (;;) {
		struct tr_text name, text;
		if (!tr_apitrace_string(parse, &name))
			return false;
		if (name.len == 0)
			return true;
		if (!tr_apitrace_string(parse, &text) || !add_pair(parse, list, &cap, name, text))
			return false;
	}
}

static bool newer(struct tr_apitrace_parse *parse)
{
	parse->outcome = TR_APITRACE_BAD;
	tr_error_set(&parse->error, TR_CAUSE_INPUT,
		     "version %" PRIu64 " of the format is not known: the newest known is %d",
		     parse->version, TR_APITRACE_VERSION);
	return false;
}

bool tr_apitrace_parse_head(struct tr_apitrace_parse *parse, struct tr_record *record)
{
	uint64_t semantic;
	if (!tr_apitrace_uint(parse, &parse->version))
		return false;
	if (parse->version > TR_APITRACE_VERSION &&
	    (!parse->any_version || parse->version > TR_APITRACE_ANY_VERSION))
		return newer(parse);
	if (!tr_apitrace_add_number(parse, record, TR_TEXT("version"), parse->version))
		return false;
	if (parse->version < TR_APITRACE_HAS_PROPERTIES)
		return true;
	const char *where = parse->p;
	if (!tr_apitrace_uint(parse, &semantic) ||
	    !tr_apitrace_add_number(parse, record, TR_TEXT("semantic"), semantic))
		return false;
	if (semantic > parse->version) {
		parse->flawed = true;
		tr_error_set(&parse->flaw, TR_CAUSE_INPUT,
			     "semantic version %" PRIu64 " in a trace of version %" PRIu64,
			     semantic, parse->version);
		parse->flaw.severity = TR_FLAW;
		tr_error_at_offset(&parse->flaw, tr_apitrace_offset(parse, where));
	}
	return parse_properties(parse, record);
}

enum {
	FIRST_FIELDS = 8,
	MORE_FIELDS = 3,   /* than arguments: the returned value, flags, a backtrace */
	MOST_FIELDS = 256, /* that are believed before they come */
};

/* Room for so many fields and their values: a power of two, for tr_record_add relies on that. */
static bool reserve_fields(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event,
			   size_t count)
{
	struct tr_record *record = &event->record;
	size_t cap = FIRST_FIELDS;
	while (cap < count && cap <= SIZE_MAX / 2)
		cap *= 2;
	struct tr_field *fields = tr_apitrace_alloc(parse, cap, sizeof *fields);
	struct tr_value *values =
		fields ? tr_apitrace_alloc(parse, cap - record->count, sizeof *values) : NULL;
	if (!values)
		return false;
	if (record->count)
		memcpy(fields, record->fields, record->count * sizeof *fields);
	record->fields = fields;
	event->fields_cap = cap;
	event->room = values;
	return true;
}

/* Adds a field; its value is filled in by the caller. NULL: parsing has ended. */
static inline struct tr_value *add_field(struct tr_apitrace_parse *parse,
					 struct tr_apitrace_event *event, struct tr_text key)
{
	struct tr_record *record = &event->record;
	if (record->count == event->fields_cap && !reserve_fields(parse, event, record->count + 1))
		return NULL;
	struct tr_value *value = event->room++;
	record->fields[record->count++] = (struct tr_field){ .key = key, .value = value };
	return value;
}

/* "\t#N=", for an argument that the signature does not have. */
static bool number_lead(struct tr_apitrace_parse *parse, uint64_t number, struct tr_text *lead)
{
	enum { LEAD_MAX = 2 + 20 + 1 + TR_APITRACE_LEAD_SLACK };
	char *text = tr_apitrace_alloc(parse, 1, LEAD_MAX);
	if (!text)
		return false;
	int len = snprintf(text, LEAD_MAX, "\t#%" PRIu64 "=", number);
	*lead = (struct tr_text){ text, (size_t)len };
	return true;
}

/* The value at p, as a field or a piece of the line. lead: "\tkey=". */
static bool take_value(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event,
		       struct tr_text lead)
{
	if (event->line)
		return tr_apitrace_spell_field(parse, lead, event->line);
	struct tr_value *value =
		add_field(parse, event, (struct tr_text){ lead.data + 1, lead.len - 2 });
	return value && tr_apitrace_parse_value(parse, value, 0);
}

/* The same for a value that is ready. */
static bool take_made(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event,
		      struct tr_text lead, const struct tr_value *made)
{
	if (event->line) {
		tr_buffer_put_text(event->line, lead);
		tr_literal_write(made, event->line);
		return true;
	}
	struct tr_value *value =
		add_field(parse, event, (struct tr_text){ lead.data + 1, lead.len - 2 });
	if (value)
		*value = *made;
	return value;
}

static void out_of_range(struct tr_apitrace_parse *parse, const struct tr_apitrace_event *event,
			 uint64_t number, const char *where)
{
	if (parse->flawed)
		return;
	parse->flawed = true;
	tr_error_set(&parse->flaw, TR_CAUSE_INPUT,
		     "call %" PRIu64 ": argument %" PRIu64 " of a function that has %zu",
		     event->call, number, event->function->count);
	parse->flaw.severity = TR_FLAW;
	tr_error_at_offset(&parse->flaw, tr_apitrace_offset(parse, where));
}

static bool parse_argument(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	const char *where = parse->p;
	uint64_t number;
	struct tr_text lead;
	if (!tr_apitrace_uint(parse, &number))
		return false;
	if (event->function && number < event->function->count) {
		lead = event->function->labels[number].lead;
		return tr_apitrace_name(parse, lead.len) && take_value(parse, event, lead);
	}
	if (!number_lead(parse, number, &lead))
		return false;
	if (event->function)
		out_of_range(parse, event, number, where);
	return take_value(parse, event, lead);
}

static bool parse_backtrace(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	size_t count;
	if (!tr_apitrace_count(parse, 1, &count))
		return false;
	struct tr_value *frames = tr_apitrace_alloc(parse, count, sizeof *frames);
	if (!frames)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct tr_apitrace_signature *frame;
		if (!tr_apitrace_parse_signature(parse, TR_APITRACE_FRAMES, &frame) ||
		    !tr_apitrace_set_id(parse, frame, &frames[i]))
			return false;
	}
	struct tr_value list = { .type = TR_LIST, .as.items = frames, .count = count };
	return take_made(parse, event, TR_TEXT("\t.bt="), &list);
}

static bool parse_flags(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	struct tr_value flags = { .type = TR_UINT };
	return tr_apitrace_uint(parse, &flags.as.number) &&
	       take_made(parse, event, TR_TEXT("\t.flags="), &flags);
}

static bool no_detail(struct tr_apitrace_parse *parse, unsigned detail)
{
	return tr_apitrace_bad(parse, parse->p - 1, "no part of a call", detail);
}

/* Puts the thread into the column of the line that was begun without one. */
static bool set_task(struct tr_apitrace_event *event)
{
	char digits[TR_DECIMAL_MAX + 2];
	struct tr_buffer *line = event->line;
	size_t more = tr_decimal_write(event->thread, digits) - 1;
	char *room = tr_buffer_room(line, more);
	if (!room)
		return false;
	char *task = line->data + event->task;
	memmove(task + 1 + more, task + 1, line->len - event->task - 1);
	memcpy(task, digits, more + 1);
	tr_buffer_used(line, more);
	event->rest += more;
	return true;
}

/*
 * The first detail of an enter, if it is a thread, becomes only the task column. A thread at
 * any other place becomes a field as well, which keeps its place. The task is the first thread
 * that an enter has.
 */
static bool parse_thread(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	struct tr_value thread = { .type = TR_UINT };
	if (!tr_apitrace_uint(parse, &thread.as.number) ||
	    !take_made(parse, event, TR_TEXT("\t.thread="), &thread))
		return false;
	if (event->leave || event->has_thread)
		return true;
	event->has_thread = true;
	event->thread = thread.as.number;
	return !event->line || set_task(event) || tr_apitrace_no_memory(parse);
}

static bool parse_details(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	static const char lead[8 + TR_APITRACE_LEAD_SLACK] = "\treturn=";
	static const struct tr_text returned = { lead, 8 };
	for (;;) {
		unsigned detail;
		bool going = false;
		if (!tr_apitrace_byte(parse, &detail))
			return false;
		switch ((enum tr_apitrace_detail)detail) {
		case TR_APITRACE_END:
			return true;
		case TR_APITRACE_ARGUMENT:
			going = parse_argument(parse, event);
			break;
		case TR_APITRACE_RETURN:
			going = take_value(parse, event, returned);
			break;
		case TR_APITRACE_THREAD:
			going = parse->version < TR_APITRACE_HAS_THREADS
					? parse_thread(parse, event)
					: no_detail(parse, detail);
			break;
		case TR_APITRACE_BACKTRACE:
			going = parse_backtrace(parse, event);
			break;
		case TR_APITRACE_FLAGS:
			going = parse_flags(parse, event);
			break;
		default:
			going = no_detail(parse, detail);
		}
		if (!going)
			return false;
	}
}

/* Adds .sig, which distinguishes functions of the same name. */
static inline bool add_signature(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	struct tr_value id;
	if (!event->function || !event->function->again)
		return true;
	return tr_apitrace_set_id(parse, event->function, &id) &&
	       take_made(parse, event, TR_TEXT("\t.sig="), &id);
}

static char *put_block(char *to, const char *literal)
{
	size_t len = strlen(literal);
	memcpy(to, literal, len);
	return to + len;
}

/* The fixed columns of the line; an enter is taken for a call as long as nothing else is known. */
static bool begin_line(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	enum { NUMBERS = 16 + 2 * TR_DECIMAL_MAX, SLACK = TR_APITRACE_LEAD_SLACK };
	struct tr_text name = event->function ? event->function->cell : TR_TEXT("-");
	struct tr_buffer *line = event->line;
	tr_buffer_reset(line);
	char *to = tr_buffer_room(line, NUMBERS + name.len + SLACK);
	if (!to)
		return tr_apitrace_no_memory(parse);
	to = event->enter ? put_block(to, " call\t") : put_block(to, " leave\t");
	to += tr_counter_write(&event->counter, event->call, to);
	to = put_block(to, "\t-\t");
	event->task = (size_t)(to - line->data);
	if (!event->function || !event->has_thread)
		*to++ = '-';
	else if (event->thread < 10)
		*to++ = (char)('0' + event->thread);
	else
		to += tr_decimal_write(event->thread, to);
	*to++ = '\t';
	for (size_t done = 0; event->function && done < name.len; done += SLACK)
		memcpy(to + done, name.data + done, SLACK);
	if (!event->function)
		*to = '-';
	line->len = event->rest = (size_t)(to - line->data) + name.len;
	return true;
}

bool tr_apitrace_parse_enter(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	event->enter = true;
	event->thread = 0;
	event->has_thread = parse->version >= TR_APITRACE_HAS_THREADS;
	if (event->has_thread && !tr_apitrace_uint(parse, &event->thread))
		return false;
	if (!tr_apitrace_parse_signature(parse, TR_APITRACE_FUNCTIONS, &event->function))
		return false;
	if (!event->has_thread && parse->p < parse->end && *parse->p == TR_APITRACE_THREAD) {
		parse->p++;
		event->has_thread = true;
		if (!tr_apitrace_uint(parse, &event->thread))
			return false;
	}
	size_t count = event->function->count + MORE_FIELDS;
	bool begun = event->line ? begin_line(parse, event)
				 : reserve_fields(parse, event,
						  count < MOST_FIELDS ? count : MOST_FIELDS);
	return begun && add_signature(parse, event) && parse_details(parse, event);
}

bool tr_apitrace_parse_leave(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	event->leave = true;
	if (!event->enter &&
	    ((event->line && !begin_line(parse, event)) || !add_signature(parse, event)))
		return false;
	if (event->line)
		tr_buffer_put_literal(event->line, "\t->");
	event->record.arrow = event->record.count;
	return parse_details(parse, event);
}
