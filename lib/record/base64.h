/* SPDX-License-Identifier: MIT */
/*
 * Base64 as in section 4 of RFC 4648: padded, without line ends, and with unused bits that are 0.
 * Only that spelling is accepted. Thread safe; no state.
 */
#ifndef TR_RECORD_BASE64_H
#define TR_RECORD_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buffer.h"
#include "core/text.h"

/* Appends the base64 text of bytes. */
void tr_base64_write(struct tr_text bytes, struct tr_buffer *to);

/* The maximum number of bytes that len characters decode to. */
static inline size_t tr_base64_size(size_t len)
{
	return len / 4 * 3;
}

/*
 * Decodes a complete text to `to`, which has room for tr_base64_size(text.len) bytes, and sets
 * *size. If `to` is NULL, the text is only checked. Returns NULL, or a constant message if it is
 * malformed.
 */
const char *tr_base64_read(struct tr_text text, char *to, size_t *size);

#endif
