/*
 * What strace prints, in the stream's words. A value that has no words there
 * (shifts, makedev(), sets in ~[ ]) becomes a string of what stands there.
 */
#ifndef TR_FORMAT_STRACE_VALUE_H
#define TR_FORMAT_STRACE_VALUE_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/text.h"

/*
 * Appends the spelling of the string that begins at p, behind its quote, up to
 * the closing one, and returns where that is; end where there is none before.
 */
const char *tr_strace_spell(const char *p, const char *end, struct tr_buffer *to);

/* Appends the bytes that the string stands for. */
void tr_strace_bytes(struct tr_text body, struct tr_buffer *to);

/* The string that `text` is as a whole; cut: "..." follows. False: it is none. */
bool tr_strace_is_string(struct tr_text text, struct tr_text *body, bool *cut);

/* Appends the value's literal. cut is set where strace left something out of it. */
void tr_strace_value(struct tr_text text, struct tr_buffer *to, bool *cut);

/* What stands behind a descriptor, between its angles: 3</path>. False: nothing does. */
bool tr_strace_note(struct tr_text text, struct tr_text *note);

/* A number in decimal, octal or hex at the beginning of text. */
bool tr_strace_number(struct tr_text text, unsigned long long *number);

#endif
