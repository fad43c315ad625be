/* All the ways in which a parse ends. */
#include "format/apitrace/parse.h"

#include <inttypes.h>

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
