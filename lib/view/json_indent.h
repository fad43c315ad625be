/* SPDX-License-Identifier: MIT */
/* JSON for people's eyes: indented by two blanks, as jq does. */
#ifndef TR_VIEW_JSON_INDENT_H
#define TR_VIEW_JSON_INDENT_H

#include "core/buffer.h"
#include "core/text.h"

/*
 * Appends one compact JSON value spread over lines. depth is how deep it
 * stands in what is around it; the first line is not indented, the last has no
 * LF. The value is trusted to be JSON without blanks between its tokens.
 */
void tr_json_indent(struct tr_text compact, size_t depth, struct tr_buffer *to);

#endif
