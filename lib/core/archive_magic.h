/* What archives look like from outside. */
#ifndef TR_CORE_ARCHIVE_MAGIC_H
#define TR_CORE_ARCHIVE_MAGIC_H

#include "core/input.h"

/* Skips to the next thing that looks like a zip member's header, one byte on at least. */
bool tr_zip_find_member(struct tr_input *in);

/*
 * Skips the directory at the end of a zip. Returns the number of members that it lists, 65535 for
 * more; -1: the window does not begin with one, or it is cut.
 */
int tr_zip_skip_directory(struct tr_input *in);

#endif
