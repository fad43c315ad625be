/* Lists and maps of strings without escapes: most bytes of a build trace are in them. */
#ifndef TR_RECORD_LITERAL_PLAIN_H
#define TR_RECORD_LITERAL_PLAIN_H

#include <stdbool.h>

#if defined __SSE2__ && !defined TR_PORTABLE
enum { TR_PLAIN_BLOCKS = true };
#else
enum { TR_PLAIN_BLOCKS = false }; /* nothing is found plain here */
#endif

enum { TR_PLAIN_LEAST = 64 + 2 }; /* a block and the brackets */

/*
 * True when [p, end), at least TR_PLAIN_LEAST bytes, is in the one spelling a
 * list of strings or a map of strings, all of them printable ASCII without a
 * backslash. False says nothing.
 */
bool tr_literal_is_plain(const char *p, const char *end);

#endif
