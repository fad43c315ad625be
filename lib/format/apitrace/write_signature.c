/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/apitrace/apitrace.h"
#include "format/apitrace/write_signature.h"

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

bool tr_written_id_is_free(const struct tr_written_signatures *signatures,
			   enum tr_apitrace_table table, uint64_t id)
{
	return !tr_id_map_get(&signatures->taken[table], id) &&
	       !tr_apitrace_signature(&signatures->defined, table, id);
}

uint64_t tr_written_free_id(struct tr_written_signatures *signatures, enum tr_apitrace_table table)
{
	while (!tr_written_id_is_free(signatures, table, signatures->free[table]))
		signatures->free[table]++;
	return signatures->free[table]++;
}

/* A rebuilt signature may have its id in the trace: then this one has to take another. */
static bool settle(struct tr_written_signatures *signatures,
		   struct tr_apitrace_signature *signature)
{
	struct tr_id_map *taken = &signatures->taken[signature->table];
	signature->wire = signature->id;
	if (!tr_id_map_get(taken, signature->id))
		return true;
	signature->wire = tr_written_free_id(signatures, signature->table);
	return tr_id_map_put(taken, signature->wire, signature);
}

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
			     (int)(record->task.text.len < 40 ? record->task.text.len : 40),
			     record->task.text.data);
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

/* "#12": an argument by its number, whatever its name. */
static bool read_number(struct tr_text key, uint64_t *number)
{
	struct tr_cell cell = { .type = TR_CELL_TEXT, .text = { key.data + 1, key.len - 1 } };
	return tr_cell_number(&cell, number);
}

static int compare_texts(struct tr_text a, struct tr_text b)
{
	int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_keys(const void *a, const void *b)
{
	return compare_texts((*(const struct tr_apitrace_label *const *)a)->key,
			     (*(const struct tr_apitrace_label *const *)b)->key);
}

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

static bool search(const struct tr_apitrace_signature *function, struct tr_text key,
		   uint64_t *number)
{
	size_t from = 0, to = function->count;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = compare_texts(key, function->sorted[middle]->key);
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
 * The trace that was read may have had numbers beyond its function's arguments,
 * and they come back; one that is made here has none, for apitrace crashes on them.
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
	if (key.len > 1 && *key.data == '#')
		return read_number(key, number) &&
		       (*number < function->count || !is_rebuilt(signatures, function));
	/* a function of so many arguments may be there to make us slow */
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
	NAME_SHOWN = 80,    /* bytes of a name in a message */
};

/* The number that the tables give a name. */
struct constant {
	struct tr_apitrace_signature *table; /* of those that have it, the one with the lowest id */
	const struct tr_apitrace_label *label;
	bool ambiguous; /* another table has another number for it */
};

/* The constant of this name in the table, in *label, or NULL. False: memory is out. */
static bool find_label(struct tr_apitrace_signature *table, struct tr_text name,
		       const struct tr_apitrace_label **label)
{
	for (size_t i = table->names.count ? 0 : table->count; i-- > 0;)
		if (!tr_map_put(&table->names, table->labels[i].key, &table->labels[i]))
			return false;
	*label = tr_map_get(&table->names, name);
	return true;
}

static uint64_t key_of(const struct tr_apitrace_label *label)
{
	return tr_apitrace_enum_key(label->tag == TR_APITRACE_SINT, label->number);
}

static int shown(struct tr_text name)
{
	return (int)(name.len < NAME_SHOWN ? name.len : NAME_SHOWN);
}

static enum tr_status unknown_name(struct tr_text name, struct tr_error *err)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, "unknown name of a constant",
			"the trace's table has no constant %.*s: its number is written",
			shown(name), name.data);
	return TR_WARN;
}

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
			shown(name), name.data, (int64_t)key_of(label), negative ? "-" : "",
			symbol->number, negative ? "-" : "", symbol->number);
	return TR_WARN;
}

/* Remembers the names, spelled as the stream spells them. False: memory is out. */
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

/* The names are those that apitrace shows for the number. */
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
			shown(name), name.data,
			symbol->count > 1 || symbol->unknown_bits ? "|..." : "", named,
			symbol->number, symbol->number);
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

/* Adds the tables that were defined since the last time. */
static bool list_constants(struct tr_written_signatures *signatures)
{
	for (; signatures->unlisted; signatures->unlisted = signatures->unlisted->next)
		for (size_t i = 0; i < signatures->unlisted->count; i++)
			if (!add_constant(signatures, signatures->unlisted,
					  &signatures->unlisted->labels[i]))
				return false;
	return true;
}

static enum tr_status no_number(struct tr_text name, const char *why, struct tr_error *err)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, why, "%.*s has no number, and %s", shown(name),
			name.data, why);
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
			return no_number(name, "is no flag of a mask", err);
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
