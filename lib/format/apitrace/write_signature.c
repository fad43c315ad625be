/* SPDX-License-Identifier: MIT */
/*
 * The signatures that are written. encode.c asks for the signature of each function, structure,
 * enum, mask and frame that a record uses. It gets, in this order:
 *
 *	defined		the one that the stream defines for the id
 *	shown		the one that was rebuilt before from the same names
 *	make_rebuilt	a new one, from what the record shows
 *
 * Definitions are missing where a person wrote the stream, where a filter dropped them, or where
 * the trace is converted from another format. apitrace cannot read a call without the definition of
 * its function, so it is rebuilt from the names and keys in the record.
 *
 * The file also compares names of constants with their numbers, and finds the numbers of names that
 * come without one.
 */
#include "format/apitrace/apitrace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/apitrace/encode.h"

void tr_written_signatures_free(struct tr_written_signatures *signatures)
{
	tr_apitrace_signatures_free(&signatures->defined);
	tr_apitrace_signatures_free(&signatures->rebuilt);
	for (unsigned i = 0; i < TR_APITRACE_TABLES; i++)
		tr_id_map_free(&signatures->taken[i]);
	tr_map_free(&signatures->shown);
	tr_map_free(&signatures->constants);
	tr_buffer_free(&signatures->scratch);
	*signatures = (struct tr_written_signatures){ 0 };
}

/* Whether neither a definition of the stream nor a rebuilt signature has this id in the trace. */
static bool id_is_free(const struct tr_written_signatures *signatures, enum tr_apitrace_table table,
		       uint64_t id)
{
	return !tr_id_map_get(&signatures->taken[table], id) &&
	       !tr_apitrace_signature(&signatures->defined, table, id);
}

/*
 * Returns the lowest id of the trace that is not in use. The search continues where the last one
 * ended, so all searches together take one pass over the ids.
 */
static uint64_t free_id(struct tr_written_signatures *signatures, enum tr_apitrace_table table)
{
	while (!id_is_free(signatures, table, signatures->free[table]))
		signatures->free[table]++;
	return signatures->free[table]++;
}

/*
 * Sets the id in the trace of a defined signature: its own, unless a rebuilt one has taken that,
 * which is already written. False: memory is exhausted.
 */
static bool settle(struct tr_written_signatures *signatures,
		   struct tr_apitrace_signature *signature)
{
	struct tr_id_map *taken = &signatures->taken[signature->table];
	signature->wire = signature->id;
	if (!tr_id_map_get(taken, signature->id))
		return true;
	signature->wire = free_id(signatures, signature->table);
	return tr_id_map_put(taken, signature->wire, signature);
}

/*
 * A repeated definition that is equal is ignored: concatenated streams have many. One that differs
 * is an error, as the format defines an id once.
 */
enum tr_status tr_written_define(struct tr_written_signatures *signatures, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_apitrace_signature draft;
	enum tr_status status = tr_apitrace_draft(record, &draft, err);
	if (status != TR_OK)
		return status == TR_END ? TR_OK : status;
	struct tr_apitrace_signature *there =
		tr_apitrace_signature(&signatures->defined, draft.table, draft.id);
	if (there && tr_apitrace_signature_equal(there, &draft))
		return TR_OK;
	if (there) {
		tr_error_set(err, TR_CAUSE_INPUT, "another definition has the id %.*s",
			     TR_SHOWN(record->task.text, 40));
		return TR_WARN;
	}
	there = tr_apitrace_define(&signatures->defined, &draft);
	if (!there || !settle(signatures, there))
		return tr_error_memory(err);
	if (draft.table == TR_APITRACE_ENUMS || draft.table == TR_APITRACE_MASKS) {
		there->next = signatures->unlisted;
		signatures->unlisted = there;
	}
	return TR_OK;
}

static int compare_keys(const void *a, const void *b)
{
	return tr_text_compare((*(const struct tr_apitrace_label *const *)a)->key,
			       (*(const struct tr_apitrace_label *const *)b)->key);
}

/*
 * Returns the arguments sorted by key, for functions with many of them. NULL: memory is exhausted,
 * and the search looks at all of them.
 */
static const struct tr_apitrace_label **sort_keys(struct tr_written_signatures *signatures,
						  const struct tr_apitrace_signature *function)
{
	const struct tr_apitrace_label **sorted =
		tr_arena_alloc(&signatures->rebuilt.arena, function->count * sizeof *sorted);
	if (!sorted)
		return NULL;
	for (size_t i = 0; i < function->count; i++)
		sorted[i] = &function->labels[i];
	qsort(sorted, function->count, sizeof *sorted, compare_keys);
	return sorted;
}

/* Searches in `sorted`. False: the function has no argument with this key. */
static bool search(const struct tr_apitrace_signature *function, struct tr_text key,
		   uint64_t *number)
{
	size_t from = 0, to = function->count;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = tr_text_compare(key, function->sorted[middle]->key);
		if (order == 0) {
			*number = (uint64_t)(function->sorted[middle] - function->labels);
			return true;
		}
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return false;
}

/*
 * Whether the function was rebuilt. A trace that was read may have numbers beyond the arguments of
 * its function, and they are written again. A function that is rebuilt gets an argument for each,
 * because apitrace crashes on numbers that have none.
 */
static bool is_rebuilt(const struct tr_written_signatures *signatures,
		       const struct tr_apitrace_signature *function)
{
	return tr_apitrace_signature(&signatures->rebuilt, TR_APITRACE_FUNCTIONS, function->id) ==
	       function;
}

bool tr_written_argument(struct tr_written_signatures *signatures,
			 struct tr_apitrace_signature *function, struct tr_text key, size_t guess,
			 uint64_t *number)
{
	enum { FEW = 8 };
	if (guess < function->count && tr_text_equal(function->labels[guess].key, key)) {
		*number = guess;
		return true;
	}
	/* the number of an argument, whatever its name */
	if (key.len > 1 && *key.data == '#')
		return tr_apitrace_read_id(key, '#', number) &&
		       (*number < function->count || !is_rebuilt(signatures, function));
	/* a hostile function has so many arguments that a search through all of them is slow */
	if (function->count > FEW && !function->sorted)
		function->sorted = sort_keys(signatures, function);
	if (function->sorted)
		return search(function, key, number);
	for (size_t i = 0; i < function->count; i++) {
		if (!tr_text_equal(function->labels[i].key, key))
			continue;
		*number = i;
		return true;
	}
	return false;
}

/*
 * Constants have a name and a number, `GL_LINES(1@E2)`. The number is written. A name that has
 * another number in the table is reported, because an edit may have changed only the name. A
 * name without a number takes its number from the tables.
 *
 * `values` of an enum maps a number to its first constant. `values` of a mask maps a number to
 * names that are known to have it, spelled as in the stream.
 */

enum {
	MASKS_KNOWN = 1024, /* combinations of a table that are remembered */
	NAMES_KNOWN = 4096, /* bytes of such a combination */
};

/* The number that the tables give a name. */
struct constant {
	struct tr_apitrace_signature *table; /* of those that have it, the one with the lowest id */
	const struct tr_apitrace_label *label;
	bool ambiguous; /* another table has another number for it */
};

/*
 * Finds the constant of this name in the table: *label, or NULL. Of equal names the first one
 * counts, so the map is filled from the end. False: memory is exhausted.
 */
static bool find_label(struct tr_apitrace_signature *table, struct tr_text name,
		       const struct tr_apitrace_label **label)
{
	for (size_t i = table->names.count ? 0 : table->count; i-- > 0;)
		if (!tr_map_put(&table->names, table->labels[i].key, &table->labels[i]))
			return false;
	*label = tr_map_get(&table->names, name);
	return true;
}

/* Returns the number of a constant as 64 bits, whatever its tag. */
static uint64_t key_of(const struct tr_apitrace_label *label)
{
	return tr_apitrace_enum_key(label->tag == TR_APITRACE_SINT, label->number);
}

/* Reports a name that its table does not have. */
static enum tr_status unknown_name(struct tr_text name, struct tr_error *err)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, "unknown name of a constant",
			"the trace's table has no constant %.*s: its number is written",
			TR_SHOWN(name, 80));
	return TR_WARN;
}

/*
 * Compares a name with the number of a constant. TR_WARN: the table gives the name another number,
 * or does not have it. The message says both numbers, because one of them was meant.
 */
static enum tr_status check_enum(struct tr_apitrace_signature *table,
				 const struct tr_symbol *symbol, bool negative,
				 struct tr_error *err)
{
	const struct tr_apitrace_label *label;
	struct tr_text name = symbol->names[0].text;
	if (!table->values.count && table->count && !tr_apitrace_index_enum(table))
		return tr_error_memory(err);
	if (tr_written_is_enum_name(table, name, symbol->number, negative))
		return TR_OK;
	if (!find_label(table, name, &label))
		return tr_error_memory(err);
	if (!label)
		return unknown_name(name, err);
	if (key_of(label) == tr_apitrace_enum_key(negative, symbol->number))
		return TR_OK;
	tr_error_say_in(err, TR_CAUSE_INPUT, "name and number of a constant differ",
			"%.*s is %" PRId64 " in the trace's table, not %s%" PRIu64 ": %s%" PRIu64
			" is written (a name without a number gets its own)",
			TR_SHOWN(name, 80), (int64_t)key_of(label), negative ? "-" : "",
			symbol->number, negative ? "-" : "", symbol->number);
	return TR_WARN;
}

/*
 * Remembers the names, spelled as the stream spells them, so that the next equal line needs no tree
 * (tr_written_are_mask_names). The numbers and bytes that a table remembers are bounded, as a
 * hostile stream could use a new number each time. False: memory is exhausted.
 */
static bool know_mask(struct tr_written_signatures *signatures, struct tr_apitrace_signature *table,
		      const struct tr_symbol *symbol)
{
	struct tr_buffer *joined = &signatures->scratch;
	if (table->values.count >= MASKS_KNOWN)
		return true;
	tr_buffer_reset(joined);
	for (size_t i = 0; i < symbol->count; i++) {
		if (i)
			tr_buffer_put_byte(joined, '|');
		tr_buffer_put_text(joined, symbol->names[i].text);
	}
	if (symbol->unknown_bits) {
		tr_buffer_put_literal(joined, "|0x");
		tr_buffer_put_hex(joined, symbol->unknown_bits, 1);
	}
	if (joined->len > NAMES_KNOWN)
		return true;
	struct tr_arena *arena = &signatures->defined.arena;
	struct tr_text *known = tr_arena_alloc(arena, sizeof *known);
	if (!known || joined->failed)
		return false;
	*known = tr_arena_copy(arena, tr_buffer_text(joined));
	return known->data && tr_id_map_put(&table->values, symbol->number, known);
}

/*
 * Whether the names are those that apitrace shows for the number, which is the usual case. Other
 * names may mean the same number all the same, if flags overlap.
 */
static bool are_shown_names(const struct tr_apitrace_signature *table,
			    const struct tr_symbol *symbol)
{
	struct tr_name names[TR_APITRACE_MASK_NAMES];
	uint64_t rest;
	size_t count = tr_apitrace_mask_names(table, symbol->number, names, &rest);
	bool same = count == symbol->count && rest == symbol->unknown_bits;
	for (size_t i = 0; same && i < count; i++)
		same = tr_text_equal(names[i].text, symbol->names[i].text);
	return same;
}

/*
 * Compares the names of a mask with its number. TR_WARN: they mean another number, or the table
 * lacks one of them.
 */
static enum tr_status check_mask(struct tr_written_signatures *signatures,
				 struct tr_apitrace_signature *table,
				 const struct tr_symbol *symbol, struct tr_error *err)
{
	uint64_t named = symbol->unknown_bits;
	bool same = are_shown_names(table, symbol);
	for (size_t i = 0; !same && i < symbol->count; i++) {
		const struct tr_apitrace_label *label;
		if (!find_label(table, symbol->names[i].text, &label))
			return tr_error_memory(err);
		if (!label)
			return unknown_name(symbol->names[i].text, err);
		named |= label->number;
	}
	if (same || named == symbol->number)
		return know_mask(signatures, table, symbol) ? TR_OK : tr_error_memory(err);
	struct tr_text name = symbol->names[0].text;
	tr_error_say_in(err, TR_CAUSE_INPUT, "names and number of a mask differ",
			"%.*s%s is 0x%" PRIx64 " in the trace's table, not 0x%" PRIx64
			": 0x%" PRIx64 " is written (names without a number get their own)",
			TR_SHOWN(name, 80), symbol->count > 1 || symbol->unknown_bits ? "|..." : "",
			named, symbol->number, symbol->number);
	return TR_WARN;
}

enum tr_status tr_written_check_names(struct tr_written_signatures *signatures,
				      struct tr_apitrace_signature *table,
				      const struct tr_symbol *symbol, bool negative,
				      struct tr_error *err)
{
	if (!symbol->count)
		return TR_OK;
	if (table->table == TR_APITRACE_ENUMS)
		return check_enum(table, symbol, negative, err);
	return check_mask(signatures, table, symbol, err);
}

/* Names without numbers. */

/*
 * Adds a constant to those that are found by name. A name that tables give different numbers is
 * ambiguous. If the tables agree, the one with the lowest id is used, so that the result does not
 * depend on the order of definitions.
 */
static bool add_constant(struct tr_written_signatures *signatures,
			 struct tr_apitrace_signature *table, const struct tr_apitrace_label *label)
{
	struct constant *known = tr_map_get(&signatures->constants, label->key);
	if (known) {
		if (known->table->table != table->table || key_of(known->label) != key_of(label))
			known->ambiguous = true;
		else if (table->id < known->table->id)
			*known = (struct constant){ table, label, known->ambiguous };
		return true;
	}
	known = tr_arena_alloc(&signatures->defined.arena, sizeof *known);
	if (!known)
		return false;
	*known = (struct constant){ table, label, false };
	return tr_map_put(&signatures->constants, label->key, known);
}

/*
 * Adds the tables that were defined since the last time. This is done only when a name comes
 * without a number, so traces that were not edited do not pay for it.
 */
static bool list_constants(struct tr_written_signatures *signatures)
{
	for (; signatures->unlisted; signatures->unlisted = signatures->unlisted->next)
		for (size_t i = 0; i < signatures->unlisted->count; i++)
			if (!add_constant(signatures, signatures->unlisted,
					  &signatures->unlisted->labels[i]))
				return false;
	return true;
}

/* Reports a name whose number is unknown. */
static enum tr_status no_number(struct tr_text name, const char *why, struct tr_error *err)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, why, "%.*s has no number, and %s", TR_SHOWN(name, 80),
			why);
	return TR_WARN;
}

enum tr_status tr_written_number_names(struct tr_written_signatures *signatures,
				       struct tr_symbol *symbol, bool *negative,
				       struct tr_error *err)
{
	struct tr_apitrace_signature *table = NULL;
	uint64_t bits = 0;
	*negative = false;
	if (!list_constants(signatures))
		return tr_error_memory(err);
	for (size_t i = 0; i < symbol->count; i++) {
		struct tr_text name = symbol->names[i].text;
		const struct constant *constant = tr_map_get(&signatures->constants, name);
		if (!constant)
			return no_number(name, "no table of the trace before it has this name",
					 err);
		if (constant->ambiguous)
			return no_number(name, "it means different things in the trace's tables",
					 err);
		if (symbol->count > 1 && constant->table->table != TR_APITRACE_MASKS)
			return no_number(name, "is not a flag of a mask", err);
		if (constant->table->table == TR_APITRACE_ENUMS)
			*negative = constant->label->tag == TR_APITRACE_SINT;
		table = table ? table : constant->table;
		bits |= constant->label->number;
	}
	symbol->numbered = table->table == TR_APITRACE_ENUMS ? TR_SYMBOL_ENUM : TR_SYMBOL_MASK;
	symbol->number = bits | symbol->unknown_bits;
	symbol->id = table->id;
	return TR_OK;
}

/* Rebuilds signatures whose definitions are missing, from what the records show. */

/* Returns what was rebuilt for the key in scratch, or NULL. */
static struct tr_apitrace_signature *find_rebuilt(const struct tr_written_signatures *signatures)
{
	return tr_map_get(&signatures->shown, tr_buffer_text(&signatures->scratch));
}

/*
 * Begins a key in scratch: what is rebuilt, and a number of it. The texts that follow are separated
 * by NULs, so two different lists of names never give the same key.
 */
static void begin_key(struct tr_written_signatures *signatures, char what, uint64_t number)
{
	tr_buffer_reset(&signatures->scratch);
	tr_buffer_put_byte(&signatures->scratch, what);
	tr_buffer_put_hex(&signatures->scratch, number, 1);
	tr_buffer_put_byte(&signatures->scratch, '\0');
}

/*
 * Defines a draft under the preferred id if that is free, or else under any, and remembers it by
 * the key in scratch. NULL: memory is exhausted.
 */
static struct tr_apitrace_signature *make_rebuilt(struct tr_written_signatures *signatures,
						  struct tr_apitrace_signature *draft,
						  const uint64_t *preferred)
{
	draft->id = preferred && id_is_free(signatures, draft->table, *preferred)
			    ? *preferred
			    : free_id(signatures, draft->table);
	struct tr_text key =
		tr_arena_copy(&signatures->rebuilt.arena, tr_buffer_text(&signatures->scratch));
	struct tr_apitrace_signature *made = tr_apitrace_define(&signatures->rebuilt, draft);
	if (signatures->scratch.failed || !key.data || !made)
		return NULL;
	made->wire = made->id;
	if (!tr_id_map_put(&signatures->taken[draft->table], made->wire, made) ||
	    !tr_map_put(&signatures->shown, key, made))
		return NULL;
	return made;
}

/*
 * Returns the signature that the stream defines for a value. NULL: there is none, or the value has
 * no id.
 */
static struct tr_apitrace_signature *defined(const struct tr_written_signatures *signatures,
					     enum tr_apitrace_table table, bool has_id, uint64_t id)
{
	return has_id ? tr_apitrace_signature(&signatures->defined, table, id) : NULL;
}

/*
 * Whether a structure has the members of the value. If not, the record was edited, and its names
 * count.
 */
static bool same_members(const struct tr_apitrace_signature *signature,
			 const struct tr_value *value)
{
	if (signature->count != value->count)
		return false;
	for (size_t i = 0; i < value->count; i++)
		if (!tr_text_equal(signature->labels[i].key, value->as.members[i].key))
			return false;
	return true;
}

/* Makes labels that are all zero, in the arena of the record. NULL: memory is exhausted. */
static struct tr_apitrace_label *new_labels(struct tr_written_signatures *signatures, size_t count)
{
	struct tr_apitrace_label *labels =
		tr_arena_alloc(signatures->scratch_arena, count * sizeof *labels);
	if (labels)
		memset(labels, 0, count * sizeof *labels);
	return labels;
}

/*
 * The key contains the id of the value if it has one, because two structures with the same members
 * may be different types.
 */
struct tr_apitrace_signature *tr_written_struct(struct tr_written_signatures *signatures,
						const struct tr_value *value)
{
	bool has_id = value->flags & TR_HAS_ID;
	struct tr_apitrace_signature *known =
		defined(signatures, TR_APITRACE_STRUCTS, has_id, value->id);
	if (known && same_members(known, value))
		return known;
	begin_key(signatures, has_id ? 'S' : 's', has_id ? value->id : 0);
	for (size_t i = 0; i < value->count; i++) {
		tr_buffer_put_text(&signatures->scratch, value->as.members[i].key);
		tr_buffer_put_byte(&signatures->scratch, '\0');
	}
	struct tr_apitrace_signature *rebuilt = find_rebuilt(signatures);
	if (rebuilt)
		return rebuilt;
	struct tr_apitrace_signature draft = {
		.table = TR_APITRACE_STRUCTS,
		.name = known ? known->name : TR_TEXT(""),
		.count = value->count,
		.labels = new_labels(signatures, value->count),
	};
	for (size_t i = 0; draft.labels && i < value->count; i++) {
		draft.labels[i].name =
			tr_string_bytes(value->as.members[i].key, signatures->scratch_arena);
		if (!draft.labels[i].name.data)
			return NULL;
	}
	signatures->any_rebuilt |= !known;
	return draft.labels ? make_rebuilt(signatures, &draft, has_id ? &value->id : NULL) : NULL;
}

/* Makes a table of one constant, or of none if the value has no name (name.data NULL). */
static struct tr_apitrace_signature *make_single(struct tr_written_signatures *signatures,
						 enum tr_apitrace_table table, struct tr_text name,
						 uint64_t number, uint8_t tag)
{
	struct tr_apitrace_signature draft = {
		.table = table,
		.name = TR_TEXT(""),
		.count = name.data != NULL,
		.labels = new_labels(signatures, 1),
	};
	if (!draft.labels)
		return NULL;
	draft.labels[0] = (struct tr_apitrace_label){ .name = name, .number = number, .tag = tag };
	return make_rebuilt(signatures, &draft, NULL);
}

/* Appends a number in place of a name, as apitrace shows it: as signed. */
static void put_signed(struct tr_buffer *to, uint64_t bits)
{
	bool negative = bits > INT64_MAX;
	if (negative)
		tr_buffer_put_byte(to, '-');
	tr_buffer_put_decimal(to, negative ? 0 - bits : bits);
}

/*
 * Below version 3 the definition is the value, so each value needs a signature of its own (single),
 * and one without a name is called by its number.
 */
struct tr_apitrace_signature *tr_written_enum(struct tr_written_signatures *signatures,
					      const struct tr_symbol *symbol, bool has_id,
					      bool negative, bool single)
{
	uint8_t tag = negative ? TR_APITRACE_SINT : TR_APITRACE_UINT;
	struct tr_apitrace_signature *known =
		defined(signatures, TR_APITRACE_ENUMS, has_id, symbol->id);
	if (known && (!single || (known->count == 1 && known->labels[0].tag == tag &&
				  known->labels[0].number == symbol->number)))
		return known;
	struct tr_text name = { NULL, 0 };
	char digits[24];
	struct tr_buffer nameless = tr_buffer_over(digits, sizeof digits);
	if (symbol->count) {
		name = tr_string_bytes(symbol->names[0].text, signatures->scratch_arena);
		if (!name.data)
			return NULL;
	} else if (single) {
		put_signed(&nameless, negative ? 0 - symbol->number : symbol->number);
		name = tr_buffer_text(&nameless);
	}
	begin_key(signatures, negative ? 'n' : 'e', name.data ? symbol->number : 0);
	tr_buffer_put_byte(&signatures->scratch, name.data ? '+' : '-');
	tr_buffer_put_text(&signatures->scratch, name);
	signatures->any_rebuilt |= !known;
	struct tr_apitrace_signature *rebuilt = find_rebuilt(signatures);
	return rebuilt ? rebuilt
		       : make_single(signatures, TR_APITRACE_ENUMS, name, symbol->number, tag);
}

/*
 * The stream does not say which of several names has which bits. Therefore the names are joined to
 * one name for all bits, spelled as apitrace shows them.
 */
struct tr_apitrace_signature *tr_written_mask(struct tr_written_signatures *signatures,
					      const struct tr_symbol *symbol, bool has_id)
{
	struct tr_apitrace_signature *known =
		defined(signatures, TR_APITRACE_MASKS, has_id, symbol->id);
	if (known)
		return known;
	uint64_t bits = symbol->count ? symbol->number & ~symbol->unknown_bits : 0;
	begin_key(signatures, 'm', bits);
	tr_buffer_put_byte(&signatures->scratch, symbol->count ? '+' : '-');
	size_t start = signatures->scratch.len;
	for (size_t i = 0; i < symbol->count; i++) {
		struct tr_text name =
			tr_string_bytes(symbol->names[i].text, signatures->scratch_arena);
		if (!name.data)
			return NULL;
		if (i)
			tr_buffer_put_literal(&signatures->scratch, " | ");
		tr_buffer_put_text(&signatures->scratch, name);
	}
	signatures->any_rebuilt = true;
	struct tr_apitrace_signature *rebuilt = find_rebuilt(signatures);
	if (rebuilt)
		return rebuilt;
	struct tr_text joined = { NULL, 0 };
	if (symbol->count)
		joined = tr_arena_copy(
			signatures->scratch_arena,
			tr_text_span(signatures->scratch.data + start,
				     signatures->scratch.data + signatures->scratch.len));
	return make_single(signatures, TR_APITRACE_MASKS, joined, bits, 0);
}

/* A frame that is rebuilt has no parts: nothing of it is known but its id. */
struct tr_apitrace_signature *tr_written_frame(struct tr_written_signatures *signatures,
					       uint64_t id)
{
	struct tr_apitrace_signature *frame =
		tr_apitrace_signature(&signatures->defined, TR_APITRACE_FRAMES, id);
	if (frame)
		return frame;
	begin_key(signatures, 'k', id);
	frame = find_rebuilt(signatures);
	struct tr_apitrace_signature draft = { .table = TR_APITRACE_FRAMES, .name = TR_TEXT("") };
	signatures->any_rebuilt |= !frame;
	return frame ? frame : make_rebuilt(signatures, &draft, &id);
}

/* Functions whose definitions are missing: the name, and the arguments that records show. */

enum {
	MOST_UNNAMED = 4096, /* arguments that are known only by a "#N" */
	/*
	 * Memory for arguments that are not in the record at hand: those of earlier records,
	 * and those below a "#N". Real traces need some kilobytes; a stream of ever new
	 * arguments would need quadratic memory.
	 */
	MOST_SPARE = 4 << 20,
};

/* Whether a field is an argument: keys that begin with a dot and `return` belong to the format. */
static bool is_argument(const struct tr_field *field)
{
	return field->key.data && !field->bad && *field->key.data != '.' &&
	       !tr_text_is(field->key, "return");
}

/* The number of "#N", if a signature has room for so many. */
static bool is_unnamed(const struct tr_field *field, uint64_t *number)
{
	return is_argument(field) && tr_apitrace_read_id(field->key, '#', number) &&
	       *number < MOST_UNNAMED;
}

/* The arguments of a function that is rebuilt, while they are collected. */
struct arguments {
	struct tr_apitrace_label *labels;
	bool *taken; /* for each label: it is in use */
	size_t count,
		next; /* count: up to the last one in use; next: where to search for a free one */
	struct tr_map names; /* name to its label */
};

/* Puts an argument at its number. */
static void take(struct arguments *arguments, size_t at, struct tr_text name)
{
	arguments->labels[at] = (struct tr_apitrace_label){ .name = name };
	arguments->taken[at] = true;
	if (at >= arguments->count)
		arguments->count = at + 1;
}

/*
 * Puts a name at the first free number, unless the function has it already. False: memory is
 * exhausted.
 */
static bool add_name(struct arguments *arguments, struct tr_text name)
{
	if (tr_map_get(&arguments->names, name))
		return true;
	while (arguments->taken[arguments->next])
		arguments->next++;
	take(arguments, arguments->next, name);
	return tr_map_put(&arguments->names, name, &arguments->labels[arguments->next]);
}

/*
 * Collects the arguments of `before`, the function as rebuilt from earlier records, then those that
 * this record adds: first those with a number, then names at the numbers that are left. False:
 * memory is exhausted, or a key is bad (err).
 */
static bool collect(struct arguments *arguments, const struct tr_apitrace_signature *before,
		    struct tr_record *record, struct tr_error *err)
{
	uint64_t number;
	for (size_t i = 0; before && i < before->count; i++) {
		take(arguments, i, before->labels[i].name);
		if (arguments->labels[i].name.len &&
		    !tr_map_put(&arguments->names, before->labels[i].name, &arguments->labels[i]))
			return false;
	}
	for (size_t i = 0; i < record->count; i++)
		if (is_unnamed(&record->fields[i], &number) && !arguments->taken[number])
			take(arguments, (size_t)number, TR_TEXT(""));
	for (size_t i = 0; i < record->count; i++) {
		struct tr_text name;
		if (!is_argument(&record->fields[i]) || *record->fields[i].key.data == '#')
			continue;
		if (!tr_cell_bytes(record->fields[i].key, record->arena, &name, err) ||
		    !add_name(arguments, name))
			return false;
	}
	return true;
}

/*
 * Returns how many arguments the record may need: one for each field, and those below its highest
 * "#N".
 */
static size_t count_own(const struct tr_record *record)
{
	size_t own = 0;
	uint64_t number;
	for (size_t i = 0; i < record->count; i++)
		if (is_unnamed(&record->fields[i], &number) && number >= own)
			own = (size_t)number + 1;
	return own + record->count;
}

/* Counts bytes against MOST_SPARE. False: the limit is reached. */
static bool spare(struct tr_written_signatures *signatures, size_t bytes)
{
	if (bytes > MOST_SPARE - signatures->spared)
		return false;
	signatures->spared += bytes;
	return true;
}

/* Counts a signature that is copied to a larger one. */
static bool spare_signature(struct tr_written_signatures *signatures,
			    const struct tr_apitrace_signature *before)
{
	size_t bytes = before->count * sizeof *before->labels;
	for (size_t i = 0; i < before->count && bytes <= MOST_SPARE; i++)
		bytes += before->labels[i].name.len;
	return spare(signatures, bytes);
}

/* Makes labels without names, none of them in use. False: memory is exhausted. */
static bool make_room(struct arguments *arguments, struct tr_arena *arena, size_t room)
{
	arguments->labels = tr_arena_alloc(arena, room * sizeof *arguments->labels);
	arguments->taken = tr_arena_alloc(arena, room * sizeof *arguments->taken);
	if (!arguments->labels || !arguments->taken)
		return false;
	memset(arguments->taken, 0, room * sizeof *arguments->taken);
	for (size_t i = 0; i < room; i++)
		arguments->labels[i] = (struct tr_apitrace_label){ .name = TR_TEXT("") };
	return true;
}

/*
 * Rebuilds a function from a record, and from what `before` knows of it. It is a new signature with
 * a new id, since the old one is already written with fewer arguments. If the limit is reached,
 * `before` is ignored, and the function has only the arguments of this record. NULL: err is filled.
 */
static struct tr_apitrace_signature *rebuild_function(struct tr_written_signatures *signatures,
						      const struct tr_apitrace_signature *before,
						      struct tr_text name, const uint64_t *id,
						      struct tr_record *record,
						      struct tr_error *err)
{
	size_t own = count_own(record), holes = own - record->count;
	struct arguments arguments = { .count = 0 };
	struct tr_apitrace_signature *function = NULL;
	if (!spare(signatures, holes * sizeof *arguments.labels)) {
		tr_error_set(err, TR_CAUSE_LIMIT,
			     "too many arguments without a name, of functions without definition");
		return NULL;
	}
	if (before && !spare_signature(signatures, before))
		before = NULL;
	tr_error_memory(err);
	if (make_room(&arguments, record->arena, own + (before ? before->count : 0)) &&
	    collect(&arguments, before, record, err)) {
		struct tr_apitrace_signature draft = {
			.table = TR_APITRACE_FUNCTIONS,
			.name = name,
			.labels = arguments.labels,
			.count = arguments.count,
		};
		signatures->any_rebuilt = true;
		function = make_rebuilt(signatures, &draft, id);
	}
	tr_map_free(&arguments.names);
	return function;
}

/* Whether the rebuilt function has a place for every argument of the record. */
static bool suffices(struct tr_written_signatures *signatures,
		     struct tr_apitrace_signature *function, const struct tr_record *record)
{
	uint64_t number;
	for (size_t i = 0; i < record->count; i++)
		if (is_argument(&record->fields[i]) &&
		    !tr_written_argument(signatures, function, record->fields[i].key, i, &number))
			return false;
	return true;
}

/*
 * The slot of a small cache: it has the function of that cell, another one, or NULL. Names of one
 * API begin alike, so the hash takes bytes from their middle and end.
 */
static struct tr_apitrace_signature **recent_function(struct tr_written_signatures *signatures,
						      struct tr_text cell)
{
	size_t len = cell.len, hash = len;
	if (len) {
		hash += 5 * (unsigned char)cell.data[len - 1];
		hash += 31 * (unsigned char)cell.data[len / 2];
		hash += 127 * (unsigned char)cell.data[len - len / 4 - 1];
	}
	return &signatures->recent[hash % TR_WRITTEN_RECENT];
}

struct tr_apitrace_signature *tr_written_recent(struct tr_written_signatures *signatures,
						const struct tr_record *record)
{
	struct tr_text name = record->name.text;
	if (record->name.type != TR_CELL_TEXT)
		return NULL;
	struct tr_apitrace_signature *recent = *recent_function(signatures, name);
	bool same = recent && recent->cell.len == name.len &&
		    tr_apitrace_same(recent->cell.data, name.data, name.len);
	return same ? recent : NULL;
}

/*
 * An id counts only if its function has the name of the record: after an edit of the name, the .sig
 * that was left there refers to another function.
 */
enum tr_status tr_written_function(struct tr_written_signatures *signatures,
				   struct tr_record *record, const uint64_t *id,
				   struct tr_apitrace_signature **function, struct tr_error *err)
{
	struct tr_text name;
	if (record->name.type != TR_CELL_TEXT) {
		tr_error_set(err, TR_CAUSE_INPUT, "a call needs the name of its function");
		return TR_WARN;
	}
	struct tr_apitrace_signature **recent = recent_function(signatures, record->name.text);
	*function = id ? NULL : tr_written_recent(signatures, record);
	if (*function)
		return TR_OK;
	if (!tr_cell_bytes(record->name.text, record->arena, &name, err))
		return tr_error_status(err);
	*function = id ? tr_apitrace_signature(&signatures->defined, TR_APITRACE_FUNCTIONS, *id)
		       : tr_apitrace_function(&signatures->defined, name);
	if (*function && tr_text_equal((*function)->name, name)) {
		if (!id)
			*recent = *function;
		return TR_OK;
	}
	begin_key(signatures, id ? 'F' : 'f', id ? *id : 0);
	tr_buffer_put_text(&signatures->scratch, name);
	struct tr_apitrace_signature *before = find_rebuilt(signatures);
	*function = before;
	if (before && suffices(signatures, before, record))
		return TR_OK;
	*function = rebuild_function(signatures, before, name, id, record, err);
	if (*function)
		return TR_OK;
	return tr_error_status(err);
}
