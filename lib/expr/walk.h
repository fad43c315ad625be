/* Applies a path's steps, and "any" of lists and reprs, until a test meets its leaves. */
#ifndef TR_EXPR_WALK_H
#define TR_EXPR_WALK_H

#include <stdbool.h>

#include "expr/compare.h"

/* Whether any leaf that the steps lead to from value matches. */
bool tr_walk_value(struct tr_compare *compare, const struct tr_test *test,
		   const struct tr_value *value, const struct tr_step *steps);

/* The same from a leaf: a cell, or a string. */
bool tr_walk_leaf(struct tr_compare *compare, const struct tr_test *test,
		  const struct tr_leaf *leaf, const struct tr_step *steps);

/* The element or member that one step leads to, NULL where there is none. The last of a name
 * counts. */
const struct tr_value *tr_walk_step(const struct tr_value *value, const struct tr_step *step,
				    struct tr_arena *arena);

/* len() of a value that is no leaf of text. False: it has none. */
bool tr_walk_count(const struct tr_value *value, uint64_t *count);

/*
 * The bytes of a string, wide string or blob. False: it has none here (data is
 * NULL: memory is out).
 */
bool tr_walk_bytes(const struct tr_value *value, struct tr_arena *arena, struct tr_text *bytes);

/* What stands behind the last slash. */
struct tr_text tr_walk_basename(struct tr_text path);

#endif
