/*
 * What writers and views ask a record: the value of a field, if it is of the
 * type that they want. A field of another type, or of none, is as good as no
 * field. Memory that is out is not: then err gets TR_CAUSE_MEMORY, which the
 * next question leaves as it is, so that one look after several is enough;
 * whoever asks clears err first.
 */
#ifndef TR_RECORD_ASK_H
#define TR_RECORD_ASK_H

#include "record/record.h"

/* NULL: there is no such value. */
const struct tr_value *tr_ask(struct tr_record *record, const char *key, enum tr_type type,
			      struct tr_error *err);

/* The bytes of a string; data NULL: there is none. */
struct tr_text tr_ask_string(struct tr_record *record, const char *key, struct tr_error *err);

/* An unsigned number. */
uint64_t tr_ask_number(struct tr_record *record, const char *key, uint64_t otherwise,
		       struct tr_error *err);

/* Whether it is that word alone. */
bool tr_ask_is(struct tr_record *record, const char *key, const char *word, struct tr_error *err);

#endif
