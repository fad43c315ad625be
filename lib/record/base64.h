/* SPDX-License-Identifier: MIT */
/* Base64 as RFC 4648 section 4 has it: padded, no line ends, unused bits 0. */
#ifndef TR_RECORD_BASE64_H
#define TR_RECORD_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buffer.h"
#include "core/text.h"

/* Appends the base64 text of bytes. */
void tr_base64_write(struct tr_text bytes, struct tr_buffer *to);

/* Bytes that a text of len characters decodes to, at most. */
static inline size_t tr_base64_size(size_t len)
{
	return len / 4 * 3;
}

/*
 * Decodes a whole text; to has room for tr_base64_size(text.len), or is NULL:
 * then it is only checked. Sets *size. Returns NULL when all is well, else
 * what is wrong.
 */
const char *tr_base64_read(struct tr_text text, char *to, size_t *size);

#endif
