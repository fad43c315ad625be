/* SPDX-License-Identifier: MIT */
/*
 * The filter language of tr-filter (see its man page for the grammar).
 * A compiled expression is read-only once tr_expr_set_start was called, and may serve several
 * states; a state belongs to one thread.
 */
#ifndef TR_EXPR_EXPR_H
#define TR_EXPR_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "core/text.h"
#include "record/record.h"
#include "record/line.h"

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

/*
 * Whether it compares the time with what depends on the first record: "12:00" or "+5s". The time
 * cell of the first record that has one has to be set before that record is judged.
 */
bool tr_expr_needs_start(const struct tr_expr *expr);

/* False: the cell is no time, or memory is exhausted. */
bool tr_expr_set_start(struct tr_expr *expr, struct tr_text cell);

struct tr_expr_state;
struct tr_expr_state *tr_expr_state_new(struct tr_expr *expr);
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
 * True after regular expressions lost too much time on all values together: what is judged from
 * then on is not right. tr_expr_match returned this as an error for the record where it happened.
 */
bool tr_expr_gave_up(const struct tr_expr_state *state);

/* Whether it asks for that field, in any test, on either side of the arrow. */
bool tr_expr_uses(const struct tr_expr *expr, const char *key);

/* Where fields come from that a record does not have itself. Borrows it. */
void tr_expr_state_set_computed(struct tr_expr_state *state, struct tr_computed_fields *computed);

/*
 * Of an expression that is a single comparison: records had the field that it compares, but none
 * of them matched.
 */
bool tr_expr_never_matched(const struct tr_expr_state *state);

/* A field that no record had, or a kind that no record was of. */
struct tr_unseen {
	struct tr_text name; /* the key, or the kind */
	bool after_arrow;
	bool tested;		   /* false: no record came as far as the test of the field */
	struct tr_text suggestion; /* the nearest name that is known; data NULL: none is near */
};

/*
 * The next field of the expression, from *position (0 at first) on, that no record had which it
 * was tested on. What has() asks for is not among them if trec(5) knows it, nor is what was not
 * tested at all and resembles no field. False: no more.
 */
bool tr_expr_next_unseen(const struct tr_expr_state *state, size_t *position,
			 struct tr_unseen *unseen);

/*
 * Fills a note: "no RECORD has the field …"; record is what was looked at, in words. owners: the
 * records that have a field of this name where it is computed, or NULL.
 */
void tr_unseen_note(const struct tr_unseen *unseen, const char *record, const char *owners,
		    struct tr_error *note);

/*
 * The kinds that the expression names and trec(5) does not know. tr_expr_saw_kind has to be
 * called for every record, but for those that the sieve left out.
 */
bool tr_expr_names_unknown_kind(const struct tr_expr_state *state);
void tr_expr_saw_kind(struct tr_expr_state *state, struct tr_text kind);
bool tr_expr_next_unseen_kind(const struct tr_expr_state *state, size_t *position,
			      struct tr_unseen *unseen);

/*
 * A sieve that leaves out what tr_expr_match would say NO of for one of states,
 * and says IN of what all of them would say YES of; neither with a message. It
 * lets through what is of a kind in `always`: "enter" and "leave" have to be
 * among them, because they are judged together. Borrows all it is given. NULL:
 * there is nothing to tell from the columns, or memory is exhausted; then do without.
 */
struct tr_sieve *tr_expr_sieve_new(struct tr_expr_state *const *states, size_t count,
				   const struct tr_text *always, size_t always_count);
void tr_expr_sieve_free(struct tr_sieve *sieve);

/*
 * A list of field references (tr-filter --fields), separated by commas: kind
 * seq time task name, KEY, `KEY`, ->KEY, #N, with [N] ["NAME"] .member;
 * basename(), len(). Belongs to one thread.
 */
struct tr_field_list;
struct tr_field_list *tr_field_list_compile(struct tr_text text, struct tr_expr_error *error);
void tr_field_list_free(struct tr_field_list *list);
size_t tr_field_list_count(const struct tr_field_list *list);

/* One of them as it was written; lives as long as the list. */
struct tr_text tr_field_list_text(const struct tr_field_list *list, size_t index);

/* True when some of it is no column: then a leave adds to what its enter shows. */
bool tr_field_list_needs_leave(const struct tr_field_list *list);

/* Of a value <human;machine>, at any depth, only this side is written. */
enum tr_field_side {
	TR_SIDE_HUMAN,
	TR_SIDE_MACHINE,
	TR_SIDE_BOTH,
};
void tr_field_list_set_side(struct tr_field_list *list, enum tr_field_side side);

/*
 * Appends the cell or value that is referred to: raw bytes of strings and cells
 * where `raw`, else their trec spelling (cells as cells, values as values).
 * leave as in tr_expr_match. False: absent; when it is absent because it is
 * bad, err is filled, else err->cause is TR_CAUSE_NONE.
 */
struct tr_buffer;
bool tr_field_list_write(struct tr_field_list *list, size_t index, struct tr_record *record,
			 struct tr_record *leave, bool raw, struct tr_buffer *to,
			 struct tr_error *err);

/* As those of expressions. */
bool tr_field_list_uses(const struct tr_field_list *list, const char *key);
void tr_field_list_set_computed(struct tr_field_list *list, struct tr_computed_fields *computed);

/* As tr_expr_next_unseen: fields that were absent from every record that was written. */
bool tr_field_list_next_unseen(const struct tr_field_list *list, size_t *position,
			       struct tr_unseen *unseen);

/* "PCRE2 10.42" */
const char *tr_expr_regex_version(void);

#endif
