/* SPDX-License-Identifier: MIT */
/* UTF-8 as Unicode has it: no surrogates, no overlong forms, nothing beyond U+10FFFF. */
#ifndef TR_CORE_UTF8_H
#define TR_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not the first byte of a sequence: where bytes are cut, not before this one. */
static inline bool tr_utf8_is_inside(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/*
 * Length of the valid sequence at p (1 to 4), 0 where none begins there; p < end.
 * An invalid byte is one byte: step over it and try again from the next.
 */
unsigned tr_utf8_length(const char *p, const char *end);

/* First byte in [p, end) that belongs to no valid sequence; end when all is valid. Fast on ASCII.
 */
const char *tr_utf8_check(const char *p, const char *end);

/* The code point of a sequence that tr_utf8_length accepted. */
uint32_t tr_utf8_decode(const char *p, unsigned length);

/* 1 to 4 bytes into to; code is at most 0x10ffff and no surrogate. */
unsigned tr_utf8_encode(uint32_t code, char *to);

#endif
