#include "format/apitrace/write_signature.h"

#include <stdlib.h>
#include <string.h>

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
