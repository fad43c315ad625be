/*
 * Signatures on their way out: those that the stream defines, and those that
 * have to be rebuilt of what the records show because their definitions were
 * lost. Each is written into the trace where its id is used first.
 *
 * A defined one keeps its id in the trace, a rebuilt one takes one that is
 * free. Where the definition of that very id comes later, it is the defined
 * one that has to move: `wire` is the id in the trace.
 */
#ifndef TR_FORMAT_APITRACE_WRITE_SIGNATURE_H
#define TR_FORMAT_APITRACE_WRITE_SIGNATURE_H

#include <string.h>

#include "core/buffer.h"
#include "core/id_map.h"
#include "format/apitrace/signature.h"

enum { TR_WRITTEN_RECENT = 256 };

struct tr_written_signatures {
	struct tr_apitrace_signatures defined, rebuilt; /* rebuilt: by their ids in the trace */
	struct tr_id_map taken[TR_APITRACE_TABLES]; /* ids in the trace that are not as defined */
	uint64_t free[TR_APITRACE_TABLES];	    /* where the search for one begins */
	struct tr_map shown; /* what records show, to what was rebuilt of it */
	struct tr_buffer scratch;
	struct tr_arena *scratch_arena; /* of the record that is being written */
	bool any_rebuilt;
	/* functions of the stream by a few bytes of their names: the same come again and again */
	struct tr_apitrace_signature *recent[TR_WRITTEN_RECENT];
	size_t spared; /* see write_rebuild_function.c */

	/* write_symbol.c: tables by the names in them, filled only when a name comes alone */
	struct tr_apitrace_signature *unlisted; /* tables defined since, the last one first */
	struct tr_map constants;
};

/* Zeroed is empty. */
void tr_written_signatures_free(struct tr_written_signatures *signatures);

/* A definition of the stream. TR_WARN: it is bad, or another one has its id. */
enum tr_status tr_written_define(struct tr_written_signatures *signatures, struct tr_record *record,
				 struct tr_error *err);

/*
 * The function a record means: by the id of its .sig, or NULL: by its name.
 * rebuilt: made of the record's keys where nothing else is there, or where
 * what was rebuilt before lacks one of them. TR_WARN: there is none.
 */
enum tr_status tr_written_function(struct tr_written_signatures *signatures,
				   struct tr_record *record, const uint64_t *id,
				   struct tr_apitrace_signature **function, struct tr_error *err);

/* True when the record's name is that of a function of the stream, as was found not long ago. */
bool tr_written_is_recent(struct tr_written_signatures *signatures, struct tr_record *record);

/* What a value's @S, @E, @M, or a word K3, stand for; rebuilt where it has to be. NULL: memory. */
struct tr_apitrace_signature *tr_written_struct(struct tr_written_signatures *signatures,
						const struct tr_value *value);
struct tr_apitrace_signature *tr_written_mask(struct tr_written_signatures *signatures,
					      const struct tr_symbol *symbol, bool has_id);
struct tr_apitrace_signature *tr_written_frame(struct tr_written_signatures *signatures,
					       uint64_t id);

/* single: below version 3, where an enum has one constant, and its value is that. */
struct tr_apitrace_signature *tr_written_enum(struct tr_written_signatures *signatures,
					      const struct tr_symbol *symbol, bool has_id,
					      bool negative, bool single);

/*
 * write_symbol.c: A table of the stream that a symbol with a number refers to, whose names should
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
 * write_rebuild.c, for itself and write_rebuild_function.c: what records show is
 * looked up under a key that is put together in scratch. shown: what was rebuilt
 * before of what scratch says, or NULL. make: a signature of the draft, which is
 * remembered under scratch; preferred: the id that the records give it, which it
 * takes where it is free. NULL: memory is out.
 */
void tr_rebuilt_begin_key(struct tr_written_signatures *signatures, char what, uint64_t number);
struct tr_apitrace_signature *tr_rebuilt_shown(const struct tr_written_signatures *signatures);
struct tr_apitrace_signature *tr_rebuilt_make(struct tr_written_signatures *signatures,
					      struct tr_apitrace_signature *draft,
					      const uint64_t *preferred);

/* Ids in the trace that nobody has yet. */
bool tr_written_id_is_free(const struct tr_written_signatures *signatures,
			   enum tr_apitrace_table table, uint64_t id);
uint64_t tr_written_free_id(struct tr_written_signatures *signatures, enum tr_apitrace_table table);

/*
 * The number of the argument with this key: a name, or "#3". *guess is looked
 * at first. False: the function has no such argument.
 */
bool tr_written_argument(struct tr_written_signatures *signatures,
			 struct tr_apitrace_signature *function, struct tr_text key, size_t guess,
			 uint64_t *number);

#endif
