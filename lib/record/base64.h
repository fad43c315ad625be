/* SPDX-License-Identifier: MIT */
/*
 * Base64 according to RFC 4648, section 4: padded, without line ends, unused bits are 0. Thread
 * safe.
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
 * Decodes a complete text and sets *size. to has room for tr_base64_size(text.len) bytes; if it is
 * NULL, the text is only checked. Returns NULL, or a constant message about what is wrong.
 */
const char *tr_base64_read(struct tr_text text, char *to, size_t *size);

#endif
