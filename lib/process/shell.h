/* SPDX-License-Identifier: MIT */
/* Words and commands as a shell reads them. */
#ifndef TR_PROCESS_SHELL_H
#define TR_PROCESS_SHELL_H

#include "core/buffer.h"
#include "core/error.h"
#include "record/record.h"

/* Appends bytes (no NUL among them) as one word of a POSIX shell. */
void tr_shell_word(struct tr_text bytes, struct tr_buffer *to);

/*
 * The same for people to read: one line whatever is in it, and valid UTF-8.
 * Words with other bytes are $'\n…', as bash has it.
 */
void tr_shell_shown(struct tr_text bytes, struct tr_buffer *to);

/*
 * Appends what an exec record ran, for people: its argv, or its executable
 * where it has none. Stops with "…" where that would be more than limit bytes
 * (0: none), never amid a character. False: memory is out.
 */
bool tr_shell_command(struct tr_record *record, size_t limit, struct tr_buffer *to);

#endif
