/* SPDX-License-Identifier: MIT */
/*
 * The text of values: reading, checking, writing. The grammar is trec(5);
 * tests/data/trec has its vectors. Writers give the one canonical spelling.
 * Thread safe; no state.
 */
#ifndef TR_RECORD_LITERAL_H
#define TR_RECORD_LITERAL_H

#include "core/arena.h"
#include "core/buffer.h"
#include "core/error.h"
#include "core/limits.h"
#include "record/value.h"

enum tr_spelling {
	TR_CANONICAL,	 /* the one spelling */
	TR_NONCANONICAL, /* can be understood; written anew it looks different */
	TR_MALFORMED,	 /* no value in any reading: err says why and where */
};

/*
 * Checks a whole text without building anything; fast on strings, lists and
 * maps of strings, and integers. `json` (may be NULL) is set when the text is,
 * to the letter, compact JSON with the same meaning: no `\x`, no lone
 * surrogate, no type that JSON lacks, no integer beyond 2^53-1, no "-0", no cut.
 * A text that is malformed or noncanonical has it false.
 * Errors are "column N: why" with N the byte column from 1.
 */
enum tr_spelling tr_literal_check(struct tr_text text, bool *json, struct tr_error *err);

enum tr_literal_trait {
	TR_TRAIT_REAL = 1,    /* a 64-bit real number that JSON can spell */
	TR_TRAIT_MAP = 2,     /* {"key":value} */
	TR_TRAIT_NO_JSON = 4, /* what no compact JSON text says to the letter */
};

/*
 * The same, and for those who need it finer what there is in the text; traits
 * are set unless it is malformed. `json` above is: no TR_TRAIT_NO_JSON.
 */
enum tr_spelling tr_literal_examine(struct tr_text text, unsigned *traits, struct tr_error *err);

enum { TR_LITERAL_DEPTH = 60 }; /* open brackets a value may have */

/*
 * Parses a whole text into a tree in the arena; strings point into text (or
 * into the arena where the spelling was not canonical: the tree is always
 * canonical). NULL: err is filled (TR_CAUSE_INPUT, TR_CAUSE_LIMIT or
 * TR_CAUSE_MEMORY). text has to outlive the tree. At most 60 open brackets.
 */
struct tr_value *tr_literal_parse(struct tr_text text, struct tr_arena *arena,
				  struct tr_error *err);

/* Appends the canonical spelling. */
void tr_literal_write(const struct tr_value *value, struct tr_buffer *to);

/*
 * Appends the canonical string spelling of any bytes, without the quotes:
 * JSON's shortest escapes, \u007f, `\xhh` for what is no UTF-8. Returns true
 * when nothing had to be escaped.
 */
bool tr_string_escape(struct tr_text bytes, struct tr_buffer *to);

/*
 * The same with the quotes, scanned and copied at a time: TR_STRING_PAD bytes
 * behind those can be read, whatever they are.
 */
enum { TR_STRING_PAD = 16 };
void tr_string_quote(struct tr_text bytes, struct tr_buffer *to);

/* Appends one unit of a wide string in its canonical spelling. */
void tr_wstring_unit(uint64_t unit, struct tr_buffer *to);

enum { TR_REAL_MAX = 32 }; /* bytes a real number's canonical spelling takes at most */

/* Canonical spelling of the real number with these bits, a 32-bit one with its f. */
size_t tr_real64_write(uint64_t bits, char *to);
size_t tr_real32_write(uint32_t bits, char *to);

/*
 * The number nearest to `[-]digits[.digits][e[+|-]digits]` in its own width,
 * of two equally near the even one. The text is known to be of that form.
 * False: it overflows, or rounds to zero though a digit is none.
 */
bool tr_real64_read(struct tr_text decimal, uint64_t *bits);
bool tr_real32_read(struct tr_text decimal, uint32_t *bits);

#endif
