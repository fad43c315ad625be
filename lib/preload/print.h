/* SPDX-License-Identifier: MIT */
/* File calls in the words of strace with -y. For lib/preload and its tests. */
#ifndef TR_PRELOAD_PRINT_H
#define TR_PRELOAD_PRINT_H

#include "core/buffer.h"
#include "preload/lanes.h"

/*
 * Appends the call as lines, each after prefix, which ends with a blank. cwd: the directory of the
 * process, "" if it is unknown; real: the path of what was opened, or NULL.
 */
void tr_call_print(const struct tr_call_record *call, struct tr_text prefix, const char *cwd,
		   const char *real, struct tr_buffer *out);

/* Appends a string; what the syntax of strace or a line does not allow is escaped. */
void tr_print_escaped(struct tr_buffer *out, const char *string);
/* Appends what a call returned, and the end of the line. */
void tr_print_result(struct tr_buffer *out, int error);

#endif
