/*
 * The byte layer of the stream: one fast pass over a window that finds line
 * ends and whatever may not stand in a trec stream.
 */
#ifndef TR_RECORD_LINE_H
#define TR_RECORD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The first byte in [p, end) that no trec line may hold raw: 00-1f except TAB
 * and LF, 7f, or no valid UTF-8. end when there is none. A sequence that is
 * cut by end counts as invalid, so pass whole lines. Reads up to
 * TR_INPUT_PAD bytes behind end.
 */
const char *tr_line_scan(const char *p, const char *end);

enum { TR_LINE_BLOCK = 64 };

/*
 * Where the line ends are in `blocks` blocks at p: a word for each, its bit N
 * for byte N. True: tr_line_scan would find nothing there. False: it might,
 * though there may be no more than legal bytes beyond ASCII.
 */
bool tr_line_ends(const char *p, size_t blocks, uint64_t *ends);

#endif
