/* SPDX-License-Identifier: MIT */
/* Real numbers as printf writes them in the C locale, and much faster. */
#ifndef TR_FORMAT_APITRACE_TEXT_REAL_H
#define TR_FORMAT_APITRACE_TEXT_REAL_H

#include <stddef.h>
#include <stdint.h>

enum { TR_TEXT_REAL_MAX = 32 };

/* The 32-bit number with these bits as %.7g; there has to be room for TR_TEXT_REAL_MAX bytes; no
 * NUL. */
size_t tr_text_real32(uint32_t bits, char *to);

/* The 64-bit number with these bits as %.16g. */
size_t tr_text_real64(uint64_t bits, char *to);

#endif
