/* SPDX-License-Identifier: MIT */
/*
 * The scanner of the grammar of values, for lib/record only. It serves both tr_literal_parse, which
 * builds a tree, and tr_literal_check, which has no arena and builds nothing, so that the two
 * agree.
 *
 * Every tr_scan_ function begins at `pos`, where its token must begin, and moves pos after it.
 * False: the scan has failed, and err is filled.
 */
#ifndef TR_RECORD_LITERAL_SCAN_H
#define TR_RECORD_LITERAL_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/error.h"
#include "record/literal.h"
#include "record/value.h"

/* A member, or with an empty key an item, of a container that is not closed yet. */
struct tr_scan_pending {
	struct tr_text key;
	struct tr_value value;
};

struct tr_scan {
	const char *begin, *pos, *end;
	struct tr_arena *arena; /* NULL: only check */
	struct tr_error *err;
	unsigned depth;
	bool canonical;
	unsigned traits; /* enum tr_literal_trait */
	/* the members of the open containers, innermost last */
	struct tr_scan_pending *pending;
	size_t pending_count, pending_cap;
};

/* "column N: why" with N the column of at; format is the error's pattern. Always false. */
bool tr_scan_fail(struct tr_scan *scan, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "found 'x', expected Y" at pos, or at the end "Y missing"; Y has quotes. Always false. */
bool tr_scan_fail_expected(struct tr_scan *scan, const char *expected);

/* "no value begins with 'x'" at pos. Always false. */
bool tr_scan_fail_value(struct tr_scan *scan);

bool tr_scan_fail_memory(struct tr_scan *scan);

/* Scans `@` letter digits, if there is an @. */
bool tr_scan_id(struct tr_scan *scan, char letter, bool *there, uint64_t *id);

/* Scans an integer, an address or a real number. */
bool tr_scan_number(struct tr_scan *scan, struct tr_value *value);

/* Scans the bits after "nan:" or "nanf:". */
bool tr_scan_nan(struct tr_scan *scan, bool single, struct tr_value *value);

/* Scan the rest after "b64:", "blob:" and "file:". */
bool tr_scan_base64(struct tr_scan *scan, struct tr_value *value);
bool tr_scan_blob_left(struct tr_scan *scan, struct tr_value *value);
bool tr_scan_blob_file(struct tr_scan *scan, struct tr_value *value);

/* Scans a string from its opening quote: *spelling is the canonical spelling without the quotes. */
bool tr_scan_string(struct tr_scan *scan, bool wide, struct tr_text *spelling, bool *plain);

/* Scans a run of [A-Za-z0-9_], which does not begin with a digit. */
struct tr_text tr_scan_word(struct tr_scan *scan);

/*
 * Scans the rest of a symbol after its first name (data NULL: a "?"); quoted: the name is a string.
 */
bool tr_scan_symbol(struct tr_scan *scan, struct tr_text first, bool quoted,
		    struct tr_value *value);

/* Scans "..." if it is there. */
bool tr_scan_cut(struct tr_scan *scan);

static inline bool tr_scan_at(const struct tr_scan *scan, char c)
{
	return scan->pos < scan->end && *scan->pos == c;
}

static inline bool tr_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool tr_is_word_start(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

#endif
