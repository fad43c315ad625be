/*
 * The short way to the commonest question, whether a string or an element of
 * a list of strings matches: steps through the text of "…" or ["…","…"]
 * without a tree.
 */
#ifndef TR_EXPR_STRINGS_H
#define TR_EXPR_STRINGS_H

#include <stdbool.h>

#include "core/text.h"

struct tr_strings {
	const char *pos, *end; /* end is before the list's bracket */
	bool list;
	bool escapes; /* a backslash stands somewhere in the text */
};

enum tr_strings_step {
	TR_STRINGS_NEXT,  /* spelling is the next string's, without the quotes */
	TR_STRINGS_END,	  /* that was all, and the text is a value */
	TR_STRINGS_OTHER, /* the text is something else, or needs a closer look: parse it */
};

/* False: the text is neither shape. */
bool tr_strings_begin(struct tr_strings *strings, struct tr_text text);

enum tr_strings_step tr_strings_next(struct tr_strings *strings, struct tr_text *spelling);

#endif
