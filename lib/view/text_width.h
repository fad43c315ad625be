/* SPDX-License-Identifier: MIT */
/* How much room text takes on a terminal. */
#ifndef TR_VIEW_TEXT_WIDTH_H
#define TR_VIEW_TEXT_WIDTH_H

#include <stddef.h>

#include "core/text.h"

/*
 * In columns, of valid UTF-8: two for what East Asia writes and for pictures,
 * none for what stands above other characters. Whatever the locale is.
 */
size_t tr_text_width(struct tr_text text);

#endif
