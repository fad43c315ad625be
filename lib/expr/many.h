/*
 * The literals of an "in" that has many of them, sorted: a list of ten thousand
 * names costs each record a few looks, not ten thousand. Built once, read-only then.
 */
#ifndef TR_EXPR_MANY_H
#define TR_EXPR_MANY_H

#include <stdbool.h>

#include "expr/program.h"

/*
 * Sets test->many where its literals are many, and none of them but strings,
 * numbers and ranges. False: memory is out.
 */
bool tr_many_build(struct tr_test *test, struct tr_arena *arena);

bool tr_many_has_text(const struct tr_many *many, struct tr_text bytes);

/* Whether it can be looked up: a REAL rounds some literals, which changes their order. */
static inline bool tr_many_takes(const struct tr_number *number)
{
	return number->type == TR_NUMBER_INTEGER || number->type == TR_NUMBER_DECIMAL;
}

bool tr_many_has_number(const struct tr_many *many, const struct tr_number *number);

#endif
