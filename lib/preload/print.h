/* SPDX-License-Identifier: MIT */
/* File calls as strace -y prints them. For lib/preload and its tests. */
#ifndef TR_PRELOAD_PRINT_H
#define TR_PRELOAD_PRINT_H

#include "core/buffer.h"
#include "preload/lanes.h"

/*
 * Appends the call as one or more lines, each of which begins with prefix. cwd: the directory of the
 * process, "" if unknown; real: the path of the opened file without symbolic links, or NULL.
 */
void tr_call_print(const struct tr_call_record *call, struct tr_text prefix, const char *cwd,
		   const char *real, struct tr_buffer *out);

/* Appends the content of a string with the escapes of strace. */
void tr_print_escaped(struct tr_buffer *out, const char *string);
/* Appends the result of a call, which is 0 or an errno, and the end of the line. */
void tr_print_result(struct tr_buffer *out, int error);

#endif
