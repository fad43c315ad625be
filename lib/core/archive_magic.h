/* What archives look like from outside. */
#ifndef TR_CORE_ARCHIVE_MAGIC_H
#define TR_CORE_ARCHIVE_MAGIC_H

#include "core/input.h"

/* Skips to the next thing that looks like a zip member's header, one byte on at least. */
bool tr_zip_find_member(struct tr_input *in);

#endif
