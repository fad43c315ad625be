/* SPDX-License-Identifier: MIT */
/* The kinds and fields that trec(5) lists. */
#ifndef TR_RECORD_VOCABULARY_H
#define TR_RECORD_VOCABULARY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/text.h"

bool tr_is_known_kind(struct tr_text kind);
bool tr_is_known_field(struct tr_text key);

/* Offer all kinds, or all fields, to a search for a similar word. */
void tr_offer_kinds(struct tr_similar *similar);
void tr_offer_fields(struct tr_similar *similar);

/* What sort of record a kind is of: trec(5). */

enum { TR_CONTEXT_KINDS = 9 };

/* Kinds that describe their segment, and are no events of it. */
extern const char *const tr_context_kinds[TR_CONTEXT_KINDS];

/* Which of them it is; -1: none. */
int tr_context_kind(struct tr_text kind);

/* An API call, or one of its halves. */
static inline bool tr_kind_is_call(struct tr_text kind)
{
	return tr_text_equal(kind, TR_TEXT("call")) || tr_text_equal(kind, TR_TEXT("enter")) ||
	       tr_text_equal(kind, TR_TEXT("leave"));
}

/*
 * The kinds of a stream's records that a target (a format, a style, a page) has
 * no place for, with how many records of each there were. A loss is normal: it
 * is a detail (--verbose). Where nothing of the input has a place, the target was
 * not what the user meant, and that is an error. Context kinds (record/context.h)
 * only describe the others: they are neither a loss nor a reason to go on.
 * All zero: nothing was seen.
 */

enum { TR_UNSUPPORTED_KINDS = 32 }; /* further ones are counted with the last */

struct tr_unsupported_kinds {
	struct {
		char kind[24];	    /* of a system call with its name: "sys read" */
		const char *field;  /* only this field is lost; NULL: the record is */
		const char *reason; /* NULL: none was given */
		uint64_t count;
	} kinds[TR_UNSUPPORTED_KINDS];
	size_t count, reported;
	uint64_t context;
	bool supported; /* a record of another kind came, which is no context */
	bool noted;
};

/* Counts a record that has no place. */
void tr_unsupported_add(struct tr_unsupported_kinds *kinds, struct tr_text kind);

/*
 * The same with a reason, a constant text. call: the name of a system call, or empty. field: the
 * record is written, but without this field; NULL: nothing is written.
 */
void tr_unsupported_add_part(struct tr_unsupported_kinds *kinds, struct tr_text kind,
			     struct tr_text call, const char *field, const char *reason);

/* For views: whether a record's kind is one of list (NULL-terminated); if not, it is counted. */
bool tr_unsupported_look(struct tr_unsupported_kinds *kinds, const char *const *list,
			 struct tr_text kind);

/* Records came that count, and none of them has a place. */
static inline bool tr_unsupported_all(const struct tr_unsupported_kinds *kinds)
{
	return kinds->count && !kinds->supported;
}

/* "176 exec, 2 fork": into text, cut to fit. */
void tr_unsupported_list(const struct tr_unsupported_kinds *kinds, char *text, size_t size);

/*
 * TR_FATAL where nothing had a place; else TR_WARN for the next of the kinds, a
 * detail, or a note where only context came. TR_OK: that was all.
 */
enum tr_status tr_unsupported_report(struct tr_unsupported_kinds *kinds, const char *format,
				     struct tr_error *err);

#endif
