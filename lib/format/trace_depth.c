/*
 * --max-depth below what the grammar allows. Values are parsed late, by people
 * who know nothing of limits, so the brackets of a line are counted here, and
 * only when a smaller limit was asked for.
 */
#include "format/trace_private.h"

/* Behind the string that begins at p; end when it does not end. */
static const char *after_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : end;
}

static bool value_is_deeper(const char *p, const char *end, unsigned max)
{
	unsigned depth = 0;

	while (p < end) {
		switch (*p) {
		case '"':
			p = after_string(p, end);
			continue;
		case '[':
		case '{':
		case '<':
			if (++depth > max)
				return true;
			break;
		case ']':
		case '}':
		case '>':
			depth -= depth > 0;
			break;
		}
		p++;
	}
	return false;
}

bool tr_line_is_deeper(const struct tr_record *record, unsigned max)
{
	const char *p = record->rest.data, *end = p + record->rest.len;

	if (!record->line.data)
		return false;
	while (p < end) {
		const char *column = p + 1; /* p stands on a TAB */
		const char *tab = memchr(column, '\t', (size_t)(end - column));
		p = tab ? tab : end;
		const char *equals = memchr(column, '=', (size_t)(p - column));
		if (equals && value_is_deeper(equals + 1, p, max))
			return true;
	}
	return false;
}
