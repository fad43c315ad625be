/*
 * Plain calls straight to who takes them. Where something is not plain, what was
 * parsed of the call is forgotten, and it is parsed again to become a record.
 */
#include "format/apitrace/apitrace.h"
#include "format/apitrace/reader.h"

static bool is_detail(struct tr_apitrace_parse *parse, unsigned wanted)
{
	unsigned detail = 0;
	return tr_apitrace_byte(parse, &detail) && detail == wanted;
}

/* The values of all arguments, each once and in order. */
static bool take_arguments(struct tr_apitrace_parse *parse, struct tr_call_taker *taker,
			   const struct tr_apitrace_signature *function)
{
	for (size_t i = 0; i < function->count; i++) {
		struct tr_value value;
		uint64_t number;
		if (!is_detail(parse, TR_APITRACE_ARGUMENT) || !tr_apitrace_uint(parse, &number) ||
		    number != i || !tr_apitrace_name(parse, function->labels[i].lead.len) ||
		    !tr_apitrace_parse_value(parse, &value, 0))
			return false;
		taker->argument(taker, &value);
	}
	return is_detail(parse, TR_APITRACE_END);
}

/* The leave of that call, with what came back, or nothing. */
static bool take_leave(struct tr_apitrace_parse *parse, struct tr_call_taker *taker, uint64_t call)
{
	struct tr_value value;
	uint64_t number;
	unsigned detail;
	if (!is_detail(parse, TR_APITRACE_LEAVE) || !tr_apitrace_uint(parse, &number) ||
	    number != call || !tr_apitrace_byte(parse, &detail))
		return false;
	if (detail == TR_APITRACE_END)
		return true;
	if (detail != TR_APITRACE_RETURN || !tr_apitrace_parse_value(parse, &value, 0))
		return false;
	taker->result(taker, &value);
	return is_detail(parse, TR_APITRACE_END);
}

/* What was parsed so far is all there is to say: nothing new was defined on the way. */
static bool is_plain(const struct tr_apitrace_parse *parse)
{
	return !parse->defined && !parse->deep && !parse->flawed;
}

bool tr_apitrace_take_call(struct tr_apitrace_reader *reader, struct tr_call_taker *taker)
{
	struct tr_apitrace_parse *parse = &reader->parse;
	struct tr_apitrace_signature *function;
	struct tr_input *in = reader->in;
	uint64_t thread = 0;
	tr_apitrace_parse_begin(parse, in->pos, in->end, in->offset);
	if (!is_detail(parse, TR_APITRACE_ENTER) ||
	    (parse->version >= TR_APITRACE_HAS_THREADS && !tr_apitrace_uint(parse, &thread)) ||
	    !tr_apitrace_parse_signature(parse, TR_APITRACE_FUNCTIONS, &function) ||
	    !is_plain(parse) || function->again ||
	    !taker->begin(taker, reader->calls, thread, function->cell, function->count))
		return false;
	bool whole = take_arguments(parse, taker, function) &&
		     take_leave(parse, taker, reader->calls) && is_plain(parse);
	if (!taker->end(taker, whole) || !whole)
		return false;
	tr_input_skip(in, (size_t)(parse->p - in->pos));
	reader->calls++;
	taker->taken++;
	return true;
}
