/*
 * The byte layer of the stream: one fast pass over a window that finds line
 * ends and whatever may not stand in a trec stream.
 */
#ifndef TR_RECORD_LINE_H
#define TR_RECORD_LINE_H

#include <stddef.h>

/*
 * The first byte in [p, end) that no trec line may hold raw: 00-1f except TAB
 * and LF, 7f, or no valid UTF-8. end when there is none. A sequence that is
 * cut by end counts as invalid, so pass whole lines. Reads up to
 * TR_INPUT_PAD bytes behind end.
 */
const char *tr_line_scan(const char *p, const char *end);

#endif
