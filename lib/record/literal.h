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
	TR_CANONICAL,    /* the one spelling */
	TR_NONCANONICAL, /* can be understood; written anew it looks different */
	TR_MALFORMED,    /* no value in any reading: err says why and where */
};

/*
 * Checks a whole text without building anything; fast on strings, lists and
 * maps of strings, and integers. `json` (may be NULL) is set when the text is,
 * to the letter, compact JSON with the same meaning: no `\x`, no type that
 * JSON lacks, no integer beyond 2^53-1, no "-0", no cut.
 * Errors are "malformed at N: why" with N the byte column from 1.
 */
enum tr_spelling tr_literal_check(struct tr_text text, bool *json, struct tr_error *err);

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

/* Canonical spelling of the real number with these bits (trec(5), REAL). At most 32 bytes. */
size_t tr_real64_write(uint64_t bits, char *to);
size_t tr_real32_write(uint32_t bits, char *to);

#endif
