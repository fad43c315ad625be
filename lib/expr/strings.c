#include "expr/strings.h"

#include <string.h>

bool tr_strings_begin(struct tr_strings *strings, struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;
	if (text.len < 2)
		return false;
	strings->list = *p == '[' && end[-1] == ']';
	if (!strings->list && *p != '"')
		return false;
	strings->pos = p + strings->list;
	strings->end = end - strings->list;
	strings->escapes = memchr(p, '\\', text.len) != NULL;
	return true;
}

/*
 * The closing quote. Only escapes of two bytes are stepped over: NULL for the
 * others, for which the parser knows what is right.
 */
static const char *closing_quote(const char *p, const char *end)
{
	for (; p < end && *p != '"'; p++) {
		if (*p == '\\' && (++p == end || !memchr("\"\\/bfnrt", *p, 8)))
			return NULL;
	}
	return p < end ? p : NULL;
}

enum tr_strings_step tr_strings_next(struct tr_strings *strings, struct tr_text *spelling)
{
	const char *p = strings->pos, *end = strings->end;
	if (p == end)
		return TR_STRINGS_END;
	if (*p != '"')
		return TR_STRINGS_OTHER;
	p++;
	const char *quote =
		strings->escapes ? closing_quote(p, end) : memchr(p, '"', (size_t)(end - p));
	if (!quote)
		return TR_STRINGS_OTHER;
	*spelling = tr_text_span(p, quote);
	strings->pos = ++quote;
	if (quote == end)
		return TR_STRINGS_NEXT;
	/* another one has to follow the comma; blanks and cuts are for the parser */
	if (!strings->list || *quote != ',' || quote + 1 == end)
		return TR_STRINGS_OTHER;
	strings->pos++;
	return TR_STRINGS_NEXT;
}
