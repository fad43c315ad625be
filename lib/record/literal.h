/* SPDX-License-Identifier: MIT */
/*
 * The text of values: checked, parsed and written. trec(5) has the grammar, tests/data/trec
 * examples. Of each value there is one canonical spelling, which is what is written; others are
 * accepted.
 *
 *	text -> tr_literal_parse -> tree of struct tr_value -> tr_literal_write -> canonical text
 *	text -> tr_literal_check -> canonical, valid but not canonical, or malformed
 *
 * For example, `[1, 2]` is valid, and its canonical spelling is `[1,2]`.
 *
 * Errors have the form "column N: reason", with N the byte of the text from 1. Texts are borrowed;
 * trees are in the arena that the caller passes. Thread safe; no state.
 */
#ifndef TR_RECORD_LITERAL_H
#define TR_RECORD_LITERAL_H

#include "core/arena.h"
#include "core/buffer.h"
#include "core/error.h"
#include "record/value.h"

enum tr_spelling {
	TR_CANONICAL,	 /* the canonical spelling */
	TR_NONCANONICAL, /* valid, but written differently */
	TR_MALFORMED,	 /* invalid: err has the reason and the place */
};

/*
 * Checks a complete text without building a tree. This is fast for strings, integers, and lists and
 * maps of strings. Sets `json`, which may be NULL, to true if the text is canonical and also
 * compact JSON of the same meaning: it has no `\x`, no lone surrogate, no type that JSON lacks, no
 * integer beyond 2^53-1, no "-0", and nothing that was cut.
 */
enum tr_spelling tr_literal_check(struct tr_text text, bool *json, struct tr_error *err);

/*
 * True if the text is the canonical spelling of a string, or of a list of strings, and compact JSON
 * has the same text. False: it is something else, or tr_literal_examine has to decide.
 */
bool tr_literal_is_json_strings(struct tr_text text);

enum tr_literal_trait {
	TR_TRAIT_REAL = 1,    /* a 64-bit real number that JSON can spell */
	TR_TRAIT_MAP = 2,     /* {"key":value} */
	TR_TRAIT_NO_JSON = 4, /* compact JSON cannot have the same text */
};

/* As tr_literal_check, but sets all traits, unless the text is malformed. */
enum tr_spelling tr_literal_examine(struct tr_text text, unsigned *traits, struct tr_error *err);

enum { TR_LITERAL_DEPTH = 60 }; /* maximum number of open brackets */

/*
 * Parses a complete text to a tree in the arena. Its strings point into the text, which has to
 * outlive the tree, or into the arena where their spelling was not canonical: those of a tree
 * always are. NULL: err has the reason (TR_CAUSE_INPUT, TR_CAUSE_LIMIT or TR_CAUSE_MEMORY).
 */
struct tr_value *tr_literal_parse(struct tr_text text, struct tr_arena *arena,
				  struct tr_error *err);

/* Begins a field of a line: a TAB, the key, spelled as a cell, and an equals sign. */
static inline void tr_field_begin(struct tr_text key, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '\t');
	tr_buffer_put_text(to, key);
	tr_buffer_put_byte(to, '=');
}

/* Appends a field with a number. */
static inline void tr_field_put_number(const char *key, uint64_t number, struct tr_buffer *to)
{
	tr_field_begin(tr_text_from(key), to);
	tr_buffer_put_decimal(to, number);
}

/* Appends the canonical spelling. Exhausted memory is kept in the buffer. */
void tr_literal_write(const struct tr_value *value, struct tr_buffer *to);

/*
 * Appends any bytes as the inside of a string, canonically: with JSON's shortest escapes, \u007f,
 * and `\xhh` where they are not UTF-8. True: no escape was needed, and what was appended are the
 * bytes.
 */
bool tr_string_escape(struct tr_text bytes, struct tr_buffer *to);

/* Appends any bytes as a string of the stream: as tr_string_escape does, between quotes. */
static inline void tr_string_quote(struct tr_text bytes, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '"');
	tr_string_escape(bytes, to);
	tr_buffer_put_byte(to, '"');
}

/* As tr_string_quote, in one pass: TR_STRING_PAD bytes after the text must be readable. */
enum { TR_STRING_PAD = 16 };
void tr_string_quote_padded(struct tr_text bytes, struct tr_buffer *to);

/* Appends one unit of a wide string in its canonical spelling. */
void tr_wstring_unit(uint64_t unit, struct tr_buffer *to);

enum { TR_REAL_MAX = 32 }; /* maximum length of a real number */

/*
 * Writes the canonical spelling of the real number with these bits and returns its length; a 32-bit
 * number ends with f.
 */
size_t tr_real64_write(uint64_t bits, char *to);
size_t tr_real32_write(uint32_t bits, char *to);

/*
 * Finds the number of its width that is nearest to a text of the form
 * `[-]digits[.digits][e[+|-]digits]`; of two that are equally near, the even one. False: it
 * overflows, or it rounds to zero although a digit is not 0.
 */
bool tr_real64_read(struct tr_text decimal, uint64_t *bits);
bool tr_real32_read(struct tr_text decimal, uint32_t *bits);

#endif
