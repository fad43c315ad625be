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
	size_t column; /* of the first byte of the token where the error shows, from 1 */
	char text[200];
};

/*
 * Compiles an expression, which the caller frees; the text is not needed any more. NULL: error is
 * filled; column 0: memory is exhausted.
 */
struct tr_expr *tr_expr_compile(struct tr_text text, struct tr_expr_error *error);
void tr_expr_free(struct tr_expr *expr);

/* True if the whole expression is one kind, which is then in *kind. */
bool tr_expr_lone_kind(const struct tr_expr *expr, struct tr_text *kind);

/*
 * True if the expression names the kind anywhere, as a word or as a string that the column is
 * compared with. A context kind that is named is selected and counted like others.
 */
bool tr_expr_names_kind(const struct tr_expr *expr, struct tr_text kind);

/*
 * True if the expression compares the time with a moment that depends on the first record: "12:00"
 * or "+5s". The time cell of the first record that has one must be set before that record is
 * judged.
 */
bool tr_expr_needs_start(const struct tr_expr *expr);

/* False: the cell is not a time, or memory is exhausted. */
bool tr_expr_set_start(struct tr_expr *expr, struct tr_text cell);

/* Creates a state, which borrows the expression. NULL: memory is exhausted. */
struct tr_expr_state;
struct tr_expr_state *tr_expr_state_new(struct tr_expr *expr);
void tr_expr_state_free(struct tr_expr_state *state);

enum tr_match {
	TR_MATCH_NO,
	TR_MATCH_YES,
	TR_MATCH_OPEN, /* depends on fields of the leave, which has not come yet */
};

/*
 * Judges one record. leave: for an enter, its leave if that is known, otherwise NULL; the fields of
 * both count, and the columns are those of the enter. open: the leave may still come, and the
 * result may be TR_MATCH_OPEN. err->cause is set if a value that was tested is malformed, or a WORD
 * was compared with a string, otherwise it is TR_CAUSE_NONE; the result is valid in either case.
 */
enum tr_match tr_expr_match(struct tr_expr_state *state, struct tr_record *record,
			    struct tr_record *leave, bool open, struct tr_error *err);

/*
 * True after regular expressions took too much time on all values together: later results are not
 * reliable. tr_expr_match returned this as an error for the record where it happened.
 */
bool tr_expr_gave_up(const struct tr_expr_state *state);

/* True if any test uses that field, before or after the arrow. */
bool tr_expr_uses(const struct tr_expr *expr, const char *key);

/* True if any test uses the seq column, in which all records of a trace differ. */
bool tr_expr_uses_seq(const struct tr_expr *expr);

/* Sets the source of fields that records do not store. Borrows it. */
void tr_expr_state_set_computed(struct tr_expr_state *state, struct tr_computed_fields *computed);

/*
 * For an expression that is a single comparison: true if records had the field, but none of them
 * matched.
 */
bool tr_expr_never_matched(const struct tr_expr_state *state);

/* A field that no record had, or a kind that no record was of. */
struct tr_unseen {
	struct tr_text name; /* the key, or the kind */
	bool after_arrow;
	bool tested;		   /* false: other tests decided before that of the field */
	struct tr_text suggestion; /* the most similar name that is known; data NULL: none */
};

/*
 * Returns the next field of the expression, from *position (0 at first) on, that no tested record
 * had. Not among them are fields of has() that trec(5) defines, and fields that were never tested
 * and are similar to no other field. False: there are no more.
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
 * Kinds that the expression names and trec(5) does not define. tr_expr_saw_kind must be called for
 * every record, except those that the sieve left out.
 */
bool tr_expr_names_unknown_kind(const struct tr_expr_state *state);
void tr_expr_saw_kind(struct tr_expr_state *state, struct tr_text kind);
bool tr_expr_next_unseen_kind(const struct tr_expr_state *state, size_t *position,
			      struct tr_unseen *unseen);

/*
 * Returns a sieve that leaves out lines for which tr_expr_match would return NO for one of the
 * states without a message, and selects (IN) those for which it would return YES for all of them.
 * Kinds in `always` pass unjudged; "enter" and "leave" must be among them, because they are judged
 * together. Borrows its arguments. NULL: the columns decide nothing, or memory is exhausted; the
 * sieve is only an optimisation.
 */
struct tr_sieve *tr_expr_sieve_new(struct tr_expr_state *const *states, size_t count,
				   const struct tr_text *always, size_t always_count);
void tr_expr_sieve_free(struct tr_sieve *sieve);

/*
 * A list of field references (tr-filter --fields), separated by commas: kind, seq, time, task,
 * name, KEY, `KEY`, ->KEY, #N, each of them with [N] ["NAME"] .member, basename() and len(). The
 * functions are like those of expressions. Belongs to one thread.
 */
struct tr_field_list;
struct tr_field_list *tr_field_list_compile(struct tr_text text, struct tr_expr_error *error);
void tr_field_list_free(struct tr_field_list *list);
size_t tr_field_list_count(const struct tr_field_list *list);

/* Returns one reference as it was written; valid as long as the list. */
struct tr_text tr_field_list_text(const struct tr_field_list *list, size_t index);

/* True if it has a field that is not a column: then a leave adds to what its enter shows. */
bool tr_field_list_needs_leave(const struct tr_field_list *list);

/* The side of values <human;machine>, at any depth, that is written. */
enum tr_field_side {
	TR_SIDE_HUMAN,
	TR_SIDE_MACHINE,
	TR_SIDE_BOTH,
};
void tr_field_list_set_side(struct tr_field_list *list, enum tr_field_side side);

/*
 * Appends the cell or value of a reference: raw: the bytes of strings and cells; otherwise their
 * trec spelling (cells as cells, values as values). leave as in tr_expr_match. False: there is
 * none; err is filled if it is malformed, otherwise err->cause is TR_CAUSE_NONE.
 */
struct tr_buffer;
bool tr_field_list_write(struct tr_field_list *list, size_t index, struct tr_record *record,
			 struct tr_record *leave, bool raw, struct tr_buffer *to,
			 struct tr_error *err);

/* Like tr_expr_uses and tr_expr_state_set_computed. */
bool tr_field_list_uses(const struct tr_field_list *list, const char *key);
void tr_field_list_set_computed(struct tr_field_list *list, struct tr_computed_fields *computed);

/* Like tr_expr_next_unseen: fields that no record had. */
bool tr_field_list_next_unseen(const struct tr_field_list *list, size_t *position,
			       struct tr_unseen *unseen);

/* Returns the library for regular expressions and its version, such as "PCRE2 10.42". */
const char *tr_expr_regex_version(void);

#endif
