/* What ids are compared by: the same value is the same id, however a trace spells it. */
#ifndef TR_FORMAT_KLOCWORK_ID_H
#define TR_FORMAT_KLOCWORK_ID_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "core/text.h"

/* Is it an integer without a zero in front? These are their own key, as most ids are. */
bool tr_klocwork_id_is_plain(struct tr_text text);

/*
 * Appends the key of an id that is a JSON number. Those with a point or an
 * exponent count by their value, others as they are written, so that none beyond
 * 64 bits is taken for another.
 */
void tr_klocwork_number_key(struct tr_text number, struct tr_buffer *to);

/*
 * The key of any JSON text, in the arena where it is not the text itself; data
 * NULL: a value that trec cannot hold, which nothing is equal to. False: memory is out.
 */
bool tr_klocwork_id_key(struct tr_text json, struct tr_arena *arena, struct tr_text *key);

/* Does the key of a parent_id (data NULL: absent) stand for nobody? */
bool tr_klocwork_names_nobody(struct tr_text parent_id);

#endif
