/* SPDX-License-Identifier: MIT */
/*
 * The encoder turns records into the bytes of events. The bytes of a record are collected before
 * any of them is written, so that a record which cannot be encoded leaves neither bytes nor
 * signatures that count as written.
 *
 *	tr_encode_head, tr_encode_record -> encoder->bytes -> write.c
 *	tr_written_define, tr_written_function ... -> a signature and its id in the trace
 *
 * An encoder owns its bytes and signatures, and borrows records only during a call. Not thread
 * safe.
 */
#ifndef TR_FORMAT_APITRACE_ENCODE_H
#define TR_FORMAT_APITRACE_ENCODE_H

#include <string.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/map.h"
#include "format/apitrace/signature.h"
#include "record/record.h"

/*
 * Signatures that are written: those that the stream defines, and those that are rebuilt
 * from the records because their definitions are missing. Each definition is written at
 * the first use of its id.
 *
 * A defined signature keeps its id in the trace, a rebuilt one takes a free id. If the
 * stream defines that id later, the defined signature gets another one: `wire` is the id
 * in the trace.
 */
enum { TR_WRITTEN_RECENT = 256, TR_WRITTEN_STRUCTS = 16 };

struct tr_written_signatures {
	struct tr_apitrace_signatures defined, rebuilt; /* rebuilt: by their ids in the trace */
	struct tr_id_map
		taken[TR_APITRACE_TABLES]; /* ids in the trace that differ from the stream's */
	uint64_t free[TR_APITRACE_TABLES]; /* where the search for one begins */
	struct tr_map shown; /* a key of what records show, to what was rebuilt from it */
	struct tr_buffer scratch;
	struct tr_arena *scratch_arena; /* of the record that is being written */
	bool any_rebuilt;
	/* recently used functions of the stream, by a hash of their names */
	struct tr_apitrace_signature *recent[TR_WRITTEN_RECENT];
	/* recently used structures of the stream, by a hash of their first member's name */
	struct tr_apitrace_signature *structs[TR_WRITTEN_STRUCTS];
	size_t last_values; /* that encode.c keeps */
	size_t spared;	    /* bytes of rebuilt arguments; see MOST_SPARE in write_signature.c */

	/* Tables by the names in them, filled only when a name comes alone */
	struct tr_apitrace_signature *unlisted; /* tables defined since, the last one first */
	struct tr_map constants;
};

void tr_written_signatures_free(struct tr_written_signatures *signatures);

/* Adds a definition of the stream. TR_WARN: it is not valid, or its id is defined already. */
enum tr_status tr_written_define(struct tr_written_signatures *signatures, struct tr_record *record,
				 struct tr_error *err);

/*
 * Finds the function of a record by the id of its .sig, or by its name if id is NULL. If it is
 * not defined, or was rebuilt without one of the record's keys, it is rebuilt from the record.
 * TR_WARN: there is none.
 */
enum tr_status tr_written_function(struct tr_written_signatures *signatures,
				   struct tr_record *record, const uint64_t *id,
				   struct tr_apitrace_signature **function, struct tr_error *err);

/* Returns the recently used function of the record's name. NULL: there is none. */
struct tr_apitrace_signature *tr_written_recent(struct tr_written_signatures *signatures,
						const struct tr_record *record);

/*
 * Return the signature for the @S, @E or @M of a value, or for a word K3, rebuilt if its definition
 * is missing. NULL: memory is exhausted.
 */
struct tr_apitrace_signature *tr_written_struct(struct tr_written_signatures *signatures,
						const struct tr_value *value);
struct tr_apitrace_signature *tr_written_mask(struct tr_written_signatures *signatures,
					      const struct tr_symbol *symbol, bool has_id);
struct tr_apitrace_signature *tr_written_frame(struct tr_written_signatures *signatures,
					       uint64_t id);

/* single: below version 3, where an enum has one constant, which is its value. */
struct tr_apitrace_signature *tr_written_enum(struct tr_written_signatures *signatures,
					      const struct tr_symbol *symbol, bool has_id,
					      bool negative, bool single);

/*
 * A table of the stream that a symbol with a number refers to, whose names should
 * mean that number. TR_OK; TR_WARN: they do not, err says what they mean; TR_FATAL: memory.
 */
enum tr_status tr_written_check_names(struct tr_written_signatures *signatures,
				      struct tr_apitrace_signature *table,
				      const struct tr_symbol *symbol, bool negative,
				      struct tr_error *err);

/* True if these names, spelled like that, were found to mean the number before. */
static inline bool tr_written_is_enum_name(const struct tr_apitrace_signature *table,
					   struct tr_text name, uint64_t number, bool negative)
{
	const struct tr_apitrace_label *label =
		tr_id_map_get(&table->values, negative ? 0 - number : number);
	return label && label->key.len == name.len &&
	       memcmp(label->key.data, name.data, name.len) == 0;
}

static inline bool tr_written_are_mask_names(const struct tr_apitrace_signature *table,
					     struct tr_text names, uint64_t number)
{
	const struct tr_text *known = tr_id_map_get(&table->values, number);
	return known && known->len == names.len && memcmp(known->data, names.data, names.len) == 0;
}

/*
 * Fills a symbol that has only names from the tables of the stream. TR_OK; TR_WARN: no table has
 * them, or tables differ in what they mean; TR_FATAL: memory.
 */
enum tr_status tr_written_number_names(struct tr_written_signatures *signatures,
				       struct tr_symbol *symbol, bool *negative,
				       struct tr_error *err);

/*
 * The number of the argument with this key: a name, or "#3". The search begins at guess.
 * False: the function has no such argument.
 */
bool tr_written_argument(struct tr_written_signatures *signatures,
			 struct tr_apitrace_signature *function, struct tr_text key, size_t guess,
			 uint64_t *number);

struct tr_encoder {
	uint64_t version;    /* of the stream that is written */
	bool thread_details; /* it has threads as details: apitrace does not read that */
	struct tr_written_signatures signatures;
	struct tr_id_map entered; /* calls that have not returned, by seq of the stream */
	uint64_t calls;		  /* entered so far: the number of the next one */

	/* the record's */
	struct tr_buffer bytes;
	struct tr_apitrace_signature **fresh; /* signatures whose definitions are in bytes */
	size_t fresh_count, fresh_cap;
	/* where numbers begin in bytes; only for records with .raw, where they may be longer */
	bool marking;
	size_t *marks;
	size_t mark_count, mark_cap;
	bool failed; /* memory is exhausted */
	bool flawed; /* it is written, but wrong: flaw */
	struct tr_error flaw;
	struct tr_error *err;
};

/* A zeroed encoder is ready for tr_encode_head. */
void tr_encoder_free(struct tr_encoder *encoder);

/* Forgets the stream that was written: tr_encode_head begins another one. */
void tr_encoder_restart(struct tr_encoder *encoder);

/*
 * Encodes a call, an enter or a leave. TR_WARN: it is left out (err says why), or, with
 * TR_FLAW, encoded without the part that err names.
 */
enum tr_status tr_encode_record(struct tr_encoder *encoder, struct tr_record *record,
				struct tr_error *err);

/*
 * Encodes the head of the stream, from a header record, or from nothing if that is NULL.
 * version: the one that is asked for, or -1. TR_WARN: encoded, but without everything that the
 * header contains.
 */
enum tr_status tr_encode_head(struct tr_encoder *encoder, struct tr_record *header, int version,
			      struct tr_error *err);

static inline void tr_encode_byte(struct tr_encoder *encoder, uint8_t byte)
{
	tr_buffer_put_byte(&encoder->bytes, (char)byte);
}

#endif
