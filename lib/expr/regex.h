/* SPDX-License-Identifier: MIT */
/* Regular expressions over bytes: the one place that knows PCRE2. */
#ifndef TR_EXPR_REGEX_H
#define TR_EXPR_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "core/text.h"

struct tr_regex;	 /* compiled; read-only, may be shared by threads */
struct tr_regex_scratch; /* what one thread needs to match any of them */

/* NULL: why (at least one byte) says what is wrong, or is empty when memory is out. */
struct tr_regex *tr_regex_compile(struct tr_text pattern, char *why, size_t why_size);
void tr_regex_free(struct tr_regex *regex);

struct tr_regex_scratch *tr_regex_scratch_new(void);
void tr_regex_scratch_free(struct tr_regex_scratch *scratch);

enum tr_regex_result {
	TR_REGEX_NO,
	TR_REGEX_YES,
	TR_REGEX_LIMIT,	 /* matching would take too long or too much memory: gave up */
	TR_REGEX_FAILED, /* memory is out */
};

/* True after so much time was lost that nothing is matched any more: TR_REGEX_LIMIT for all. */
bool tr_regex_is_exhausted(const struct tr_regex_scratch *scratch);

/* Unanchored; bytes, not characters. */
enum tr_regex_result tr_regex_match(const struct tr_regex *regex, struct tr_text subject,
				    struct tr_regex_scratch *scratch);

#endif
