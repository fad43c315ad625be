/* SPDX-License-Identifier: MIT */
/* SHA-256 of bytes that are in memory. */
#ifndef TR_CORE_SHA256_H
#define TR_CORE_SHA256_H

#include "core/text.h"

enum { TR_SHA256_HEX = 64 };

/* Writes TR_SHA256_HEX lower-case digits to `to`. */
void tr_sha256_hex(struct tr_text bytes, char *to);

/* "nettle 3.8" */
const char *tr_sha256_version(void);

#endif
