/* SPDX-License-Identifier: MIT */
/*
 * Names of temporary files: which part of one is random. A name is recognised by the program that
 * makes it (gcc's ccXXXXXX.s), and where that could be a word as well, by its directory and its
 * letters. tests/data/diff/temporary.names has the cases.
 *
 * Thread safe; no state.
 */
#ifndef TR_DIFF_TEMPORARY_H
#define TR_DIFF_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/text.h"

static inline bool tr_is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (tr_lower(c) >= 'a' && tr_lower(c) <= 'z');
}

/* True for a byte that continues the name of a file. */
static inline bool tr_in_file_name(char c)
{
	return tr_is_alphanumeric(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '~' ||
	       c == '%' || (unsigned char)c >= 0x80;
}

/* False: tr_temporary_begin finds nothing in a name that begins so. */
static inline bool tr_begins_temporary(const char *p, const char *end)
{
	char second = end - p > 1 ? p[1] : 0;

	switch (*p) {
	case 'c':
		return second == 'c' || second == 'o' || second == 'm';
	case 's':
		return second == 't' || second == 'e' || second == 'o';
	case 'p':
		return second == 'i' || second == 'r';
	case 'r':
		return second == 'u' || second == 'm';
	case 't':
		return second == 'm';
	case '.':
		return second == 't';
	case 'T':
		return second == 'r';
	case 'U':
		return second == 'N';
	case 'N':
		return second == 'E';
	case 'G':
		return second == 'M';
	}
	return false;
}

/* False: tr_temporary_end finds nothing in a name that ends there. */
static inline bool tr_ends_temporary(const char *begin, const char *name, const char *end)
{
	return end - name > 8 &&
	       (end[-1] == 'p' || end[-8] == 'p' ||
		(begin[1] == 't' && memcmp(begin, "/tmp/", 5) == 0) ||
		(name - begin >= 5 && name[-2] == 'p' && memcmp(name - 5, "/tmp/", 5) == 0));
}

/*
 * The length of the random part of a file's name, or 0; *before is that of the part before it. begin:
 * of the path. tr_temporary_begin: of a name that begins as a certain program makes it; end is not
 * that of the name. tr_temporary_end: of one that ends so.
 */
size_t tr_temporary_begin(const char *begin, const char *name, const char *end, size_t *before);
size_t tr_temporary_end(const char *begin, const char *name, const char *end, size_t *before);

#endif
