/*
 * The short way to the commonest question, whether a string or an element of
 * a list of strings matches: steps through the text of "…" or ["…","…"]
 * without a tree.
 */
#ifndef TR_EXPR_STRINGS_H
#define TR_EXPR_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/text.h"
#include "core/utf8_block.h"

struct tr_strings {
	const char *text, *pos, *end; /* end is before the list's bracket */
	bool list;
	bool escapes;	   /* a backslash stands somewhere in the text */
	const char *begin; /* the current string's spelling, without the quotes */
	size_t len;
	const char *block, *next; /* quotes: of which bytes; where the next block begins */
	uint64_t quotes;	  /* those of the block that were not passed yet */
};

enum tr_strings_step {
	TR_STRINGS_NEXT,  /* begin and len are the next string's */
	TR_STRINGS_END,	  /* that was all, and the text is a value */
	TR_STRINGS_OTHER, /* the text is something else, or needs a closer look: parse it */
};

/* False: the text is neither shape. */
bool tr_strings_begin(struct tr_strings *strings, struct tr_text text);

/* The quotes from p to the end, at most a block; text is where bytes may be read from. */
uint64_t tr_strings_last_quotes(const char *text, const char *p, const char *end);

static inline uint64_t tr_strings_quotes(const struct tr_strings *strings)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	if (strings->end - strings->block >= TR_UTF8_BLOCK)
		return tr_block_equal(tr_block_load(strings->block), '"');
#endif
	return tr_strings_last_quotes(strings->text, strings->block, strings->end);
}

/* The next quote; end where there is none. */
static inline const char *tr_strings_quote(struct tr_strings *strings)
{
	while (!strings->quotes) {
		if (strings->next >= strings->end)
			return strings->end;
		strings->block = strings->next;
		strings->quotes = tr_strings_quotes(strings);
		strings->next += 64;
	}
	const char *quote = strings->block + __builtin_ctzll(strings->quotes);
	strings->quotes &= strings->quotes - 1;
	return quote;
}

/* The closing quote of what begins at p, where escapes are; NULL: see for yourself. */
const char *tr_strings_escaped_end(const char *p, const char *end);

static inline enum tr_strings_step tr_strings_next(struct tr_strings *strings)
{
	const char *p = strings->pos, *end = strings->end, *quote;
	if (p == end)
		return TR_STRINGS_END;
	if (*p != '"')
		return TR_STRINGS_OTHER;
	p++;
	if (strings->escapes) {
		quote = tr_strings_escaped_end(p, end);
	} else {
		tr_strings_quote(strings);
		quote = tr_strings_quote(strings);
	}
	if (!quote || quote == end)
		return TR_STRINGS_OTHER;
	strings->begin = p;
	strings->len = (size_t)(quote - p);
	strings->pos = ++quote;
	if (quote == end)
		return TR_STRINGS_NEXT;
	/* another one has to follow the comma; blanks and cuts are for the parser */
	if (!strings->list || *quote != ',' || quote + 1 == end)
		return TR_STRINGS_OTHER;
	strings->pos++;
	return TR_STRINGS_NEXT;
}

#endif
