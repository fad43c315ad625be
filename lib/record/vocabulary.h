/* SPDX-License-Identifier: MIT */
/*
 * The vocabulary of trec(5): known kinds and fields, the kinds that only give context, and the
 * count of records that a target cannot hold. Thread safe for separate structs.
 */
#ifndef TR_RECORD_VOCABULARY_H
#define TR_RECORD_VOCABULARY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/text.h"

bool tr_is_known_kind(struct tr_text kind);
bool tr_is_known_field(struct tr_text key);

/* Offer all kinds, or all fields, to a search for similar words (core/text.h). */
void tr_offer_kinds(struct tr_similar *similar);
void tr_offer_fields(struct tr_similar *similar);

enum { TR_CONTEXT_KINDS = 10 };

/* The kinds that describe their segment and are not events in it. */
extern const char *const tr_context_kinds[TR_CONTEXT_KINDS];

/* Returns the index of the kind in this list, or -1. */
int tr_context_kind(struct tr_text kind);

/* True for an API call or one of its halves. */
static inline bool tr_kind_is_call(struct tr_text kind)
{
	return tr_text_equal(kind, TR_TEXT("call")) || tr_text_equal(kind, TR_TEXT("enter")) ||
	       tr_text_equal(kind, TR_TEXT("leave"));
}

/*
 * Counts, by kind, the records that a target (a format, a style, a page) cannot hold. Losing some
 * is normal, and is reported as a detail (--verbose). A target that can hold nothing of the input
 * is probably not what the user meant, which is an error. Records of context kinds are never lost,
 * and do not count as something that the target holds. Begins as all zero.
 */

enum {
	TR_UNSUPPORTED_KINDS = 32, /* further kinds are counted with the last */
	TR_UNSUPPORTED_NAME = 24,  /* bytes of a name with its NUL; longer ones are cut */
};

struct tr_unsupported_kinds {
	struct {
		char kind[TR_UNSUPPORTED_NAME]; /* of a system call with its name: "sys read" */
		const char *field;		/* only this field is lost; NULL: the record is */
		const char *reason;		/* NULL: none was given */
		uint64_t count;
	} kinds[TR_UNSUPPORTED_KINDS];
	size_t count, reported; /* of kinds; the first ones were reported */
	uint64_t context;	/* records of context kinds */
	bool supported;		/* a record came that is supported and not context */
	bool noted;		/* it was reported that there are only context records */
};

/* Counts a record that the target cannot hold. */
void tr_unsupported_add(struct tr_unsupported_kinds *kinds, struct tr_text kind);

/*
 * As tr_unsupported_add, with a reason, a constant text. call: the name of a system call, or empty.
 * field: only that field is lost; NULL: the whole record is.
 */
void tr_unsupported_add_part(struct tr_unsupported_kinds *kinds, struct tr_text kind,
			     struct tr_text call, const char *field, const char *reason);

/*
 * For views: true if the list, which ends with NULL, has the kind; otherwise the record is counted.
 */
bool tr_unsupported_look(struct tr_unsupported_kinds *kinds, const char *const *list,
			 struct tr_text kind);

/* True if the target can hold none of the events, of which there were some. */
static inline bool tr_unsupported_all(const struct tr_unsupported_kinds *kinds)
{
	return kinds->count && !kinds->supported;
}

/* Writes "176 exec, 2 fork" to text, truncated to fit. */
void tr_unsupported_list(const struct tr_unsupported_kinds *kinds, char *text, size_t size);

/*
 * Reports the counts, one at each call. TR_WARN: err has the next kind, as a detail, or as a note
 * if there were only context kinds. TR_FATAL: the target can hold none of the events. TR_OK: there
 * is nothing more to report.
 */
enum tr_status tr_unsupported_report(struct tr_unsupported_kinds *kinds, const char *format,
				     struct tr_error *err);

#endif
