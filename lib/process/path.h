/* SPDX-License-Identifier: MIT */
/*
 * Operations on the text of paths, for paths in traces that need not exist on this machine. Both
 * /usr/bin and C:\bin are understood. Results are borrowed from the argument, unless they are
 * appended to a buffer.
 */
#ifndef TR_PROCESS_PATH_H
#define TR_PROCESS_PATH_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/text.h"

/* True if the path begins with a drive, "C:". Then both slashes and backslashes separate. */
static inline bool tr_path_has_drive(struct tr_text path)
{
	return path.len >= 2 && path.data[1] == ':' && (path.data[0] | 0x20) >= 'a' &&
	       (path.data[0] | 0x20) <= 'z';
}

/* True for /a, C:\a and \\host\a. */
bool tr_path_is_absolute(struct tr_text path);

/* The part after the last separator, which may be empty. */
struct tr_text tr_path_base(struct tr_text path);

/* The extension of the base, with its dot; empty if there is none (".c" has none). */
struct tr_text tr_path_extension(struct tr_text path);

/* True for the source of an assembler, by its extension. */
bool tr_path_is_assembly(struct tr_text path);

/*
 * Appends path relative to directory. The result is absolute if one of them is, and then has no
 * ".", ".." and repeated slashes; paths with a drive are appended as they are. Symbolic links are
 * not known here, so the result differs from that of the kernel if ".." follows one.
 */
void tr_path_join(struct tr_text directory, struct tr_text path, struct tr_buffer *to);

/*
 * Appends path as seen from base; both are paths of a kernel, which only slashes separate. "." and
 * ".." are removed, except for those that lead out of a relative base.
 */
void tr_directory_join(struct tr_text base, struct tr_text path, struct tr_buffer *to);

#endif
