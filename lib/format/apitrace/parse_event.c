#include "format/apitrace/apitrace.h"
#include "format/apitrace/parse.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	FIRST_FIELDS = 8,
	MORE_FIELDS = 3, /* than arguments: what comes back, flags, a backtrace */
};

/* A power of two: tr_record_add relies on that. */
static bool reserve_fields(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event,
			   size_t count)
{
	struct tr_record *record = &event->record;
	size_t cap = FIRST_FIELDS;
	while (cap < count && cap <= SIZE_MAX / 2)
		cap *= 2;
	struct tr_field *fields = tr_apitrace_alloc(parse, cap, sizeof *fields);
	if (!fields)
		return false;
	if (record->count)
		memcpy(fields, record->fields, record->count * sizeof *fields);
	record->fields = fields;
	event->fields_cap = cap;
	return true;
}

/* A field whose value is still to be filled in. NULL: the parse has ended. */
static struct tr_value *add_field(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event,
				  struct tr_text key)
{
	struct tr_record *record = &event->record;
	if (record->count == event->fields_cap && !reserve_fields(parse, event, record->count + 1))
		return NULL;
	struct tr_value *value = tr_apitrace_alloc(parse, 1, sizeof *value);
	if (value)
		record->fields[record->count++] = (struct tr_field){ .key = key, .value = value };
	return value;
}

/* #N, for an argument that the signature does not have. */
static bool number_key(struct tr_apitrace_parse *parse, uint64_t number, struct tr_text *key)
{
	enum { KEY_MAX = 1 + 20 + 1 };
	char *text = tr_apitrace_alloc(parse, 1, KEY_MAX);
	if (!text)
		return false;
	int len = snprintf(text, KEY_MAX, "#%" PRIu64, number);
	*key = (struct tr_text){ text, (size_t)len };
	return true;
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
	struct tr_text key;
	if (!tr_apitrace_uint(parse, &number))
		return false;
	if (event->function && number < event->function->count) {
		key = event->function->labels[number].key;
	} else {
		if (!number_key(parse, number, &key))
			return false;
		if (event->function)
			out_of_range(parse, event, number, where);
	}
	struct tr_value *value = add_field(parse, event, key);
	return value && tr_apitrace_parse_value(parse, value);
}

static bool parse_backtrace(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	struct tr_value *value = add_field(parse, event, TR_TEXT(".bt"));
	size_t count;
	if (!value || !tr_apitrace_count(parse, 1, &count))
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
	*value = (struct tr_value){ .type = TR_LIST, .as.items = frames, .count = count };
	return true;
}

static bool parse_flags(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	struct tr_value *value = add_field(parse, event, TR_TEXT(".flags"));
	if (!value)
		return false;
	*value = (struct tr_value){ .type = TR_UINT };
	return tr_apitrace_uint(parse, &value->as.number);
}

static bool parse_return(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	struct tr_value *value = add_field(parse, event, TR_TEXT("return"));
	return value && tr_apitrace_parse_value(parse, value);
}

static bool parse_details(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
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
			going = parse_return(parse, event);
			break;
		case TR_APITRACE_BACKTRACE:
			going = parse_backtrace(parse, event);
			break;
		case TR_APITRACE_FLAGS:
			going = parse_flags(parse, event);
			break;
		default:
			tr_apitrace_bad(parse, parse->p - 1, "no part of a call", detail);
		}
		if (!going)
			return false;
	}
}

/* Which of the functions of that name, where the name does not say it. */
static bool add_signature(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	if (!event->function || !event->function->again)
		return true;
	struct tr_value *value = add_field(parse, event, TR_TEXT(".sig"));
	return value && tr_apitrace_set_id(parse, event->function, value);
}

bool tr_apitrace_parse_enter(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	event->enter = true;
	event->thread = 0;
	if (parse->version >= TR_APITRACE_HAS_THREADS && !tr_apitrace_uint(parse, &event->thread))
		return false;
	return tr_apitrace_parse_signature(parse, TR_APITRACE_FUNCTIONS, &event->function) &&
	       reserve_fields(parse, event, event->function->count + MORE_FIELDS) &&
	       add_signature(parse, event) && parse_details(parse, event);
}

bool tr_apitrace_parse_leave(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	event->leave = true;
	if (!event->enter && !add_signature(parse, event))
		return false;
	event->record.arrow = event->record.count;
	return parse_details(parse, event);
}
