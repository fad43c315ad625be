/* `name=number,...`, what follows a tag that begins an event. */
#include "format/etrace/event.h"
#include "record/literal.h"

/* Takes one `name=number` off the text. NULL: fine, else why not. */
static const char *take_parameter(struct tr_text *text, struct tr_text *name, int64_t *number)
{
	const char *p = text->data, *end = p + text->len;
	const char *comma = memchr(p, ',', text->len);
	struct tr_text one = tr_text_span(p, comma ? comma : end);
	const char *equals = memchr(p, '=', one.len);
	uint64_t magnitude;
	bool padded;

	*text = tr_text_span(comma ? comma + 1 : end, end);
	if (!equals || equals == p || (comma && comma + 1 == end))
		return "no list of parameters";
	*name = tr_text_span(p, equals);
	struct tr_text digits = tr_text_span(equals + 1, p + one.len);
	bool negative = digits.len && *digits.data == '-';
	if (negative)
		digits = tr_text_span(digits.data + 1, digits.data + digits.len);
	if (!tr_etrace_number(digits, &magnitude, &padded) || magnitude > INT64_MAX)
		return "a parameter is no number of 64 bits";
	*number = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return NULL;
}

/* What nobody knows is kept beside the fields. */
static void put_extra(struct tr_buffer *extra, struct tr_text name, int64_t number)
{
	if (extra->len)
		tr_buffer_put_byte(extra, ',');
	tr_buffer_put_byte(extra, '"');
	tr_string_escape(name, extra);
	tr_buffer_put_literal(extra, "\":");
	tr_etrace_put_number(number, extra);
}

static const struct tr_etrace_parameter *find_parameter(const struct tr_etrace_tag *tag,
							struct tr_text name)
{
	for (size_t i = 0; i < tag->parameter_count; i++)
		if (tr_text_equal(tag->parameters[i].name, name))
			return &tag->parameters[i];
	return NULL;
}

const char *tr_etrace_event_parameters(struct tr_etrace_event *event,
				       const struct tr_etrace_tag *tag, struct tr_text text)
{
	while (text.len) {
		struct tr_text name;
		int64_t number;
		const char *reason = take_parameter(&text, &name, &number);
		if (reason)
			return reason;
		const struct tr_etrace_parameter *known = find_parameter(tag, name);
		if (!known) {
			put_extra(&event->extra, name, number);
			continue;
		}
		struct tr_etrace_string *string = &event->strings[known->slot];
		if (known->size ? string->expected : event->given >> known->slot & 1)
			return "a parameter twice";
		if (!known->size) {
			event->given |= (uint8_t)(1u << known->slot);
			event->numbers[known->slot] = number;
			continue;
		}
		if (number < 0)
			return "a size below 0";
		string->expected = true;
		string->size = (uint64_t)number;
	}
	return NULL;
}
