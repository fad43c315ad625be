/*
 * Where things end in what strace prints: strings with their escapes, what -y
 * puts behind a descriptor, arguments with all brackets in them. Nothing is
 * believed to be whole: NULL says that the text ends before the thing does.
 */
#ifndef TR_FORMAT_STRACE_SCAN_H
#define TR_FORMAT_STRACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/text.h"

/* From behind an opening quote to behind the closing one. */
const char *tr_strace_string_end(const char *p, const char *end);

/* From a '<' to behind the '>' that closes it: <path>, <TCP:[a->b]>, </dev/null<char 1:3>>. */
const char *tr_strace_note_end(const char *p, const char *end);

/* From the first byte of an argument, item or member to the ',' or closing bracket behind it. */
const char *tr_strace_item_end(const char *p, const char *end);

/*
 * From behind the '(' of a call to the ')' that closes it. NULL: there is none
 * before the end.
 */
const char *tr_strace_arguments_end(const char *p, const char *end);

/* The n-th argument, from 0; empty where there are fewer. */
struct tr_text tr_strace_argument(struct tr_text arguments, unsigned n);

/* Of names of calls, flags, signals. */
static inline bool tr_strace_is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Over blanks. */
static inline const char *tr_strace_skip(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	return p;
}

/* True and *p behind it, where the text at *p begins with word. */
static inline bool tr_strace_take(const char **p, const char *end, struct tr_text word)
{
	if ((size_t)(end - *p) < word.len || memcmp(*p, word.data, word.len) != 0)
		return false;
	*p += word.len;
	return true;
}

/* True and the text shorter, where it ends with word. */
static inline bool tr_strace_chop(struct tr_text *text, struct tr_text word)
{
	if (text->len < word.len ||
	    memcmp(text->data + text->len - word.len, word.data, word.len) != 0)
		return false;
	text->len -= word.len;
	return true;
}

/* Decimal digits at *p, which moves behind them. False: none, or beyond 64 bits. */
bool tr_strace_digits(const char **p, const char *end, unsigned long long *number);

#endif
