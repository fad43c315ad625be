/* `name=number,...`, what follows a tag that begins an event. */
#include "format/etrace/event.h"
#include "record/literal.h"

/* A number up to a comma or the end, nearly always a short one. NULL: it is none of 64 bits. */
static inline const char *read_number(const char *p, const char *end, int64_t *number)
{
	enum { SAFE = 18 }; /* digits that 63 bits have room for */
	bool negative = *p == '-';
	const char *begin = p + negative;
	uint64_t magnitude = 0;

	for (p = begin; (unsigned char)(*p - '0') <= 9 && p < end; p++)
		magnitude = magnitude * 10 + (unsigned char)(*p - '0');
	if (p - begin > SAFE && !tr_etrace_digits(begin, end, &magnitude))
		return NULL;
	if (p <= begin || (p < end && *p != ',') || magnitude > INT64_MAX)
		return NULL;
	*number = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return p;
}

/* The name before the equals sign; data NULL: there is none. likely: the one it probably is. */
static inline struct tr_text read_name(const char *p, const char *end,
				       const struct tr_etrace_parameter *likely)
{
	size_t left = (size_t)(end - p);

	if (likely && left > likely->name.len && p[likely->name.len] == '=' &&
	    tr_etrace_tag_begins(p, likely->bytes, likely->name.len))
		return likely->name;
	const char *equals = memchr(p, '=', left);
	const char *comma = memchr(p, ',', left);
	bool none = !equals || equals == p || (comma && comma < equals);
	return none ? (struct tr_text){ NULL, 0 } : tr_text_span(p, equals);
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

/*
 * Of a mount the size of the source always comes first, as the source itself does, but the
 * tracer of 2024 and before called it the target's, and the other one the source's.
 */
static void right_mount(struct tr_etrace_event *event)
{
	struct tr_etrace_string *source = &event->strings[0], *target = &event->strings[1];
	uint64_t size = source->size;

	if (event->type != TR_ETRACE_MOUNT || !target->expected)
		return;
	source->size = target->size;
	target->size = size;
}

/* NULL: fine, else why not. */
static const char *take(struct tr_etrace_event *event, const struct tr_etrace_parameter *known,
			int64_t number)
{
	struct tr_etrace_string *string = &event->strings[known->slot];

	if (known->size ? string->expected : event->given >> known->slot & 1)
		return "a parameter twice";
	if (!known->size) {
		event->given |= (uint8_t)(1u << known->slot);
		event->numbers[known->slot] = number;
		return NULL;
	}
	string->expected = true;
	event->awaited++;
	event->used |= (uint8_t)(1u << known->slot);
	string->size = (uint64_t)number;
	if (known->slot == 0)
		right_mount(event);
	return number < 0 ? "a size below 0" : NULL;
}

static const char *read_parameters(struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
				   struct tr_text text)
{
	const char *p = text.data, *end = p + text.len, *reason = NULL;

	for (size_t i = 0; p < end && !reason; i++) {
		const struct tr_etrace_parameter *known =
			i < tag->parameter_count ? &tag->parameters[i] : NULL;
		struct tr_text name = read_name(p, end, known);
		int64_t number;
		if (!name.data)
			return "no list of parameters";
		p = read_number(p + name.len + 1, end, &number);
		if (!p)
			return "a parameter is no number of 64 bits";
		if (p < end && ++p == end)
			return "no list of parameters";
		if (!known || name.data != known->name.data)
			known = find_parameter(tag, name);
		if (known)
			reason = take(event, known, number);
		else
			put_extra(&event->extra, name, number);
	}
	return reason;
}

const char *tr_etrace_event_parameters(struct tr_etrace_event *event,
				       const struct tr_etrace_tag *tag, struct tr_text text)
{
	const char *reason = read_parameters(event, tag, text);

	/* every such line of a log that went over a system with other line ends has one */
	return reason && text.data[text.len - 1] == '\r' ? "a CR at the end of the line" : reason;
}
