/* SPDX-License-Identifier: MIT */
/* Values and cells as the JSON that scripts expect: json_records.h says which. */
#ifndef TR_VIEW_JSON_VALUE_H
#define TR_VIEW_JSON_VALUE_H

#include "core/arena.h"
#include "core/buffer.h"
#include "record/value.h"

/* Appends the value; decodes into arena. False: memory is exhausted. */
bool tr_json_view_value(const struct tr_value *value, struct tr_arena *arena, struct tr_buffer *to);

/* Appends bytes as a string, or as {"$bytes":"BASE64"} where they are not UTF-8. */
void tr_json_view_bytes(struct tr_text bytes, struct tr_buffer *to);

/* Appends bytes as a string in any case: with trec's escapes where they are not UTF-8. */
void tr_json_view_name(struct tr_text bytes, struct tr_buffer *to);

/* Appends {"TAG":"text"}. */
void tr_json_view_tagged(const char *tag, struct tr_text text, struct tr_buffer *to);

#endif
