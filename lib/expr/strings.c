#include "expr/strings.h"

bool tr_strings_begin(struct tr_strings *strings, struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;
	if (text.len < 2)
		return false;
	strings->list = *p == '[' && end[-1] == ']';
	if (!strings->list && *p != '"')
		return false;
	strings->text = p;
	strings->pos = strings->block = strings->next = p + strings->list;
	strings->end = end - strings->list;
	strings->quotes = 0;
	strings->escapes = memchr(p, '\\', text.len) != NULL;
	return true;
}

uint64_t tr_strings_last_quotes(const char *text, const char *p, const char *end)
{
	uint64_t quotes = 0;
	unsigned len = end - p < 64 ? (unsigned)(end - p) : 64;
#if defined __SSE2__ && !defined TR_PORTABLE
	/* what is behind the end may not be read, but what is in front of p may */
	if (len && end - text >= TR_UTF8_BLOCK)
		return tr_block_equal(tr_block_load(end - TR_UTF8_BLOCK), '"') >> (64 - len);
	char block[TR_UTF8_BLOCK] = { 0 };
	memcpy(block, p, len);
	quotes = tr_block_equal(tr_block_load(block), '"');
#else
	for (unsigned i = 0; i < len; i++)
		quotes |= (uint64_t)(p[i] == '"') << i;
#endif
	return quotes;
}

/*
 * Only escapes of two bytes are stepped over: for the others the parser knows
 * what is right.
 */
const char *tr_strings_escaped_end(const char *p, const char *end)
{
	for (; p < end && *p != '"'; p++) {
		if (*p == '\\' && (++p == end || !memchr("\"\\/bfnrt", *p, 8)))
			return NULL;
	}
	return p;
}
