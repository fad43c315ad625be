/*
 * Text for terminals. Traces contain bytes that a terminal takes for commands, and marks that
 * change the order of what is shown; these are spelled \xHH.
 */
#ifndef TR_CORE_TERMINAL_H
#define TR_CORE_TERMINAL_H

#include "core/buffer.h"
#include "core/source.h"

/*
 * The length of the character at p, which is not end, and whether a terminal shows it as a
 * character: no control byte or C1 control, no bidirectional mark, no byte that is not UTF-8.
 */
unsigned tr_terminal_character(const char *p, const char *end, bool *shown);

void tr_terminal_escape(const char *p, unsigned len, struct tr_buffer *to);

/*
 * Escapes what is written to inner, which it owns, but TAB, LF and the sequences that set colours.
 * NULL when memory is out; inner is closed then.
 */
struct tr_sink *tr_sink_terminal(struct tr_sink *inner);

#endif
