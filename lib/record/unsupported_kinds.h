/* SPDX-License-Identifier: MIT */
/*
 * The kinds of a stream's records that a target (a format, a style, a page) has
 * no place for, with how many records of each there were. A loss is normal: it
 * is a detail (--verbose). Where nothing of the input has a place, the target was
 * not what the user meant, and that is an error. Context kinds (record/context.h)
 * only describe the others: they are neither a loss nor a reason to go on.
 * All zero: nothing was seen.
 */
#ifndef TR_RECORD_UNSUPPORTED_KINDS_H
#define TR_RECORD_UNSUPPORTED_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/text.h"

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
