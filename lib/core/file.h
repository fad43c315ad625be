/* Small files, read whole. */
#ifndef TR_CORE_FILE_H
#define TR_CORE_FILE_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"

/*
 * Appends the content of a regular file of at most max bytes. Nothing else is
 * opened for good: a pipe or a device that an input names would wait, or never end.
 * False: err is filled, nothing was appended.
 */
bool tr_file_read(struct tr_text path, size_t max, struct tr_buffer *to, struct tr_error *err);

#endif
