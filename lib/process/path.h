/* SPDX-License-Identifier: MIT */
/*
 * Paths by their text alone: what a trace names need not be on this machine.
 * Both kinds are understood, /usr/bin and C:\bin.
 */
#ifndef TR_PROCESS_PATH_H
#define TR_PROCESS_PATH_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/text.h"

/* "C:" begins it: its separators are of both kinds. */
bool tr_path_has_drive(struct tr_text path);

bool tr_path_is_absolute(struct tr_text path);

/* What stands behind the last separator. */
struct tr_text tr_path_base(struct tr_text path);

/* The name's extension with its dot; empty where it has none (".c" has none). */
struct tr_text tr_path_extension(struct tr_text path);

/*
 * Appends path as seen from directory, absolute where that is, without `.`, `..` and doubled
 * slashes. (Where a directory in front of a `..` is a symbolic link this is another path; only
 * who is on the machine could know.)
 */
void tr_path_join(struct tr_text directory, struct tr_text path, struct tr_buffer *to);

#endif
