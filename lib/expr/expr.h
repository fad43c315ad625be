/*
 * The filter language of tr-filter (see its man page for the grammar).
 * A compiled expression is read-only and may serve several states; a state
 * belongs to one thread.
 */
#ifndef TR_EXPR_EXPR_H
#define TR_EXPR_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "core/text.h"
#include "record/record.h"
#include "record/sieve.h"

struct tr_expr;

struct tr_expr_error {
	size_t column; /* byte column from 1 of the token where the error shows */
	char text[200];
};

/* NULL: error is filled (column 0: out of memory). Borrows nothing. */
struct tr_expr *tr_expr_compile(struct tr_text text, struct tr_expr_error *error);
void tr_expr_free(struct tr_expr *expr);

/* True when the whole expression is one bare kind (a lone word), which is then in *kind. */
bool tr_expr_lone_kind(const struct tr_expr *expr, struct tr_text *kind);

/*
 * True when the expression names kind anywhere, bare or as a string that the
 * column is compared with (a context kind is selected and counts then).
 */
bool tr_expr_names_kind(const struct tr_expr *expr, struct tr_text kind);

struct tr_expr_state;
struct tr_expr_state *tr_expr_state_new(const struct tr_expr *expr);
void tr_expr_state_free(struct tr_expr_state *state);

enum tr_match {
	TR_MATCH_NO,
	TR_MATCH_YES,
	TR_MATCH_OPEN, /* depends on fields of the leave, which has not come yet */
};

/*
 * Judges one record. leave: for an enter, its leave where it is known (then
 * fields of both count and the columns are the enter's), else NULL. open: the
 * leave may still come; the answer may be TR_MATCH_OPEN.
 * err->cause is set when a value it had to look at is bad or a WORD met a
 * string (the answer stands all the same); else it is TR_CAUSE_NONE.
 */
enum tr_match tr_expr_match(struct tr_expr_state *state, struct tr_record *record,
			    struct tr_record *leave, bool open, struct tr_error *err);

/*
 * A sieve that leaves out what tr_expr_match would say NO of for one of exprs,
 * and says IN of what all of them would say YES of; neither with a message. It
 * lets through what is of a kind in `always`: "enter" and "leave" have to be
 * among them, because they are judged together. Borrows all it is given. NULL:
 * there is nothing to tell from the columns, or memory is out; then do without.
 */
struct tr_sieve *tr_expr_sieve_new(struct tr_expr *const *exprs, size_t count,
				   const struct tr_text *always, size_t always_count);
void tr_expr_sieve_free(struct tr_sieve *sieve);

/*
 * A list of field references (tr-filter --fields), separated by commas: kind
 * seq time task name, KEY, `KEY`, ->KEY, #N, with [N] ["NAME"] .member;
 * basename(), len(). Read-only once compiled.
 */
struct tr_field_list;
struct tr_field_list *tr_field_list_compile(struct tr_text text, struct tr_expr_error *error);
void tr_field_list_free(struct tr_field_list *list);
size_t tr_field_list_count(const struct tr_field_list *list);

/* One of them as it was written; lives as long as the list. */
struct tr_text tr_field_list_text(const struct tr_field_list *list, size_t index);

/* True when some of it is no column: then a leave adds to what its enter shows. */
bool tr_field_list_needs_leave(const struct tr_field_list *list);

/*
 * Appends the cell or value that is referred to: raw bytes of strings and cells
 * where `raw`, else their trec spelling (cells as cells, values as values).
 * leave as in tr_expr_match. False: absent; when it is absent because it is
 * bad, err is filled, else err->cause is TR_CAUSE_NONE.
 */
struct tr_buffer;
bool tr_field_list_write(const struct tr_field_list *list, size_t index, struct tr_record *record,
			 struct tr_record *leave, bool raw, struct tr_buffer *to,
			 struct tr_error *err);

/* "PCRE2 10.42" */
const char *tr_expr_regex_version(void);

#endif
