/*
 * One unit after the other: the head, an event, an enter with its leave. An
 * enter and the leave right behind it are one unit, so whether a call is one
 * record does not depend on how the input comes: an enter is kept back until
 * what follows it has begun, or the end.
 */
#include "format/apitrace/apitrace.h"
#include "format/apitrace/reader.h"

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

/*
 * The leave of the enter before, if it stands there. An enter alone is whole,
 * too: when the leave turns out to be bad or cut, that is told after it.
 */
static bool parse_own_leave(struct tr_apitrace_reader *reader, bool at_end)
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

static bool parse_leave(struct tr_apitrace_reader *reader)
{
	struct tr_apitrace_event *event = &reader->event;
	uint64_t call;
	if (!tr_apitrace_uint(&reader->parse, &call))
		return false;
	event->call = call;
	const struct tr_apitrace_live *live = tr_id_map_get(&reader->live, event->call);
	event->function = live ? live->function : NULL;
	event->has_thread = live && live->has_thread;
	event->thread = live ? live->thread : 0;
	return tr_apitrace_parse_leave(&reader->parse, event);
}

/* The versions 0 and 1 may begin another stream or be an event, of call or function 0. */
static inline bool begins_like_event(const struct tr_apitrace_reader *reader)
{
	const struct tr_input *in = reader->in;
	return reader->parse.version <= TR_APITRACE_LEAVE && tr_input_available(in) > 1 &&
	       (unsigned char)in->pos[0] == reader->parse.version &&
	       in->pos[1] == TR_APITRACE_ENTER;
}

/* alone: without the leave that may follow an enter. */
static bool parse_unit(struct tr_apitrace_reader *reader, bool alone)
{
	struct tr_apitrace_parse *parse = &reader->parse;
	struct tr_apitrace_event *event = &reader->event;
	struct tr_input *in = reader->in;
	unsigned tag;
	bool other = begins_like_event(reader) && tr_apitrace_at_stream(reader);
	tr_apitrace_parse_begin(parse, in->pos, in->end, in->offset);
	if (other)
		return tr_apitrace_bad(parse, in->pos, "no event", parse->version);
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

static bool parse_head(struct tr_apitrace_reader *reader)
{
	struct tr_apitrace_parse *parse = &reader->parse;
	struct tr_record *header = &reader->event.record;
	struct tr_input *in = reader->in;
	tr_apitrace_parse_begin(parse, in->pos, in->end, in->offset);
	tr_record_init(header, &parse->arena);
	header->type = TR_HEADER;
	return (!reader->streams || tr_apitrace_add_number(parse, header, TR_TEXT("stream"),
							   reader->streams + 1)) &&
	       tr_apitrace_parse_head(parse, header);
}

/* True when there is more of the unit, as much as is worth another parse. */
static bool get_more(struct tr_apitrace_reader *reader)
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
bool tr_apitrace_read_unit(struct tr_apitrace_reader *reader)
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
