/* SPDX-License-Identifier: MIT */
/* Values and cells as JSON for scripts, in the forms that json_records.h lists. */
#ifndef TR_VIEW_JSON_VALUE_H
#define TR_VIEW_JSON_VALUE_H

#include "core/arena.h"
#include "core/buffer.h"
#include "record/value.h"

/* Appends the value. The arena holds decoded text. False: memory is exhausted. */
bool tr_json_view_value(const struct tr_value *value, struct tr_arena *arena, struct tr_buffer *to);

/* Appends bytes as a string, or as {"$bytes":"BASE64"} if they are not UTF-8. */
void tr_json_view_bytes(struct tr_text bytes, struct tr_buffer *to);

/* Appends bytes as a string, with trec's escapes if they are not UTF-8. */
void tr_json_view_name(struct tr_text bytes, struct tr_buffer *to);

/* True for a literal that is a string without escapes, which JSON spells in the same way. */
bool tr_json_view_same(struct tr_text literal);

/* Appends {"TAG":"text"}. */
void tr_json_view_tagged(const char *tag, struct tr_text text, struct tr_buffer *to);

#endif
