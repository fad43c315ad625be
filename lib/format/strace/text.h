/* SPDX-License-Identifier: MIT */
/*
 * The pieces of what strace prints: where they end, the bytes they stand for, and their literal in
 * the stream. No piece is assumed to be complete.
 */
#ifndef TR_FORMAT_STRACE_TEXT_H
#define TR_FORMAT_STRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

/* Ends of pieces. NULL: the text ends first. */

/* From after an opening quote to after the closing one. */
const char *tr_strace_string_end(const char *p, const char *end);

/* From a '<' to after the '>' that closes it: <path>, <TCP:[a->b]>, </dev/null<char 1:3>>. */
const char *tr_strace_note_end(const char *p, const char *end);

/* From the first byte of an argument, item or member to the ',' or closing bracket after it. */
const char *tr_strace_item_end(const char *p, const char *end);

/* From after the '(' of a call to the ')' that closes it. */
const char *tr_strace_arguments_end(const char *p, const char *end);

/* The n-th argument, from 0; empty if there are fewer. */
struct tr_text tr_strace_argument(struct tr_text arguments, unsigned n);

/* Whether c may be part of the name of a call, flag or signal. */
static inline bool tr_strace_is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Skips blanks. */
static inline const char *tr_strace_skip(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	return p;
}

/* Moves *p over word. False: the text at *p begins otherwise. */
static inline bool tr_strace_take(const char **p, const char *end, struct tr_text word)
{
	if ((size_t)(end - *p) < word.len || memcmp(*p, word.data, word.len) != 0)
		return false;
	*p += word.len;
	return true;
}

/* Removes word from the end of text. False: the text ends otherwise. */
static inline bool tr_strace_chop(struct tr_text *text, struct tr_text word)
{
	if (text->len < word.len ||
	    memcmp(text->data + text->len - word.len, word.data, word.len) != 0)
		return false;
	text->len -= word.len;
	return true;
}

/* Reads decimal digits and moves *p over them. False: there are none, or too many for 64 bits. */
bool tr_strace_digits(const char **p, const char *end, unsigned long long *number);

/* Reads the decimal or hexadecimal number at the beginning of text. */
bool tr_strace_number(struct tr_text text, unsigned long long *number);

/*
 * Appends the stream's spelling of the string that begins at p, after its quote. Returns the
 * closing quote, or end if there is none.
 */
const char *tr_strace_spell(const char *p, const char *end, struct tr_buffer *to);

/* Appends the bytes that the body of a string stands for. */
void tr_strace_bytes(struct tr_text body, struct tr_buffer *to);

/* Whether text is one string, whose body is returned; cut: "..." follows it. */
bool tr_strace_is_string(struct tr_text text, struct tr_text *body, bool *cut);

/* The path or name that -y prints in angle brackets: 3</path>. False: there is none. */
bool tr_strace_note(struct tr_text text, struct tr_text *note);

/*
 * Appends the literal of a value, or a string of its text if the stream has no literal for it
 * (shifts, makedev(), sets in ~[ ]). *cut is set if strace left out a part of it.
 */
void tr_strace_value(struct tr_text text, struct tr_buffer *to, bool *cut);

/* The CLONE_ bits in the arguments of clone, clone3, vfork or unshare, in any style of -X. */
uint64_t tr_strace_clone_flags(struct tr_text name, struct tr_text arguments);

/* Appends "\tflags=" and the names of the bits; nothing if there are none. */
void tr_strace_put_clone_flags(uint64_t flags, struct tr_buffer *to);

#endif
