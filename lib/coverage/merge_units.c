/* SPDX-License-Identifier: MIT */
/*
 * Merges source traces: the result has each unit once, with the bits that are set in any trace.
 *
 *	info -> the first trace's
 *	unit -> read_unit, read_list -> find_unit -> add_numbers -> records
 *
 * A unit is identified by its file name and the fingerprint of its source coverage obligations
 * (scos), as in gnatcov, so one trace may have several units with the same name. A unit of a later
 * trace whose name is known, but whose fingerprints or numbers of bits differ, belongs to another
 * version of the source: it is left out with a message.
 *
 * Header and information are those of the first trace; units are in the order in which they
 * appear first. Memory grows with the distinct units and the bits that are set in them.
 */
#include "coverage/merge_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/map.h"
#include "coverage/unit.h"
#include "record/ask.h"
#include "record/literal.h"

/* The bits of one kind (statements, decisions, MC/DC) of a unit. */
struct set {
	uint64_t bits;	/* how many there are */
	uint32_t *list; /* numbers of those that are set, ascending; owned */
	size_t count;
};

struct unit {
	struct tr_text name; /* bytes */
	struct tr_text hashes[TR_UNIT_SETS];
	struct tr_text rest; /* other fields, spelled, with the TABs before them */
	struct set sets[TR_UNIT_SETS];
	uint64_t trace;	   /* the number of the trace in which it appeared first */
	struct unit *next; /* in the order of the output */
};

struct merge {
	struct tr_arena arena;
	struct tr_map by_name; /* to the first unit of a name */
	struct tr_map by_key;  /* by name and obligations */
	struct unit *first, **last;
	uint64_t traces;
	uint64_t version;		/* of the first trace, and of all that are merged */
	bool left_out;			/* this trace is of another version */
	struct tr_buffer header, infos; /* of the first trace; infos for tr_merge_infos */
	struct tr_buffer text;		/* scratch */
	uint32_t *numbers;		/* of the list that is being read */
	size_t cap;
};

/* Frees what the merge holds; texts are in the arena. */
static void discard(void *self)
{
	struct merge *units = self;

	for (struct unit *unit = units->first; unit; unit = unit->next)
		for (int i = 0; i < TR_UNIT_SETS; i++)
			free(unit->sets[i].list);
	tr_map_free(&units->by_name);
	tr_map_free(&units->by_key);
	tr_arena_free(&units->arena);
	tr_buffer_free(&units->header);
	tr_buffer_free(&units->infos);
	tr_buffer_free(&units->text);
	free(units->numbers);
}

/* Begins a trace. The first one gives the header and the version, which determines the fields. */
static enum tr_status begin(void *self, struct tr_record *header, struct tr_error *err)
{
	enum { USUAL_VERSION = 4 }; /* of a trace without a header */
	struct merge *units = self;
	struct tr_error why;

	tr_error_clear(&why);
	uint64_t version =
		header ? tr_ask_number(header, "version", USUAL_VERSION, &why) : USUAL_VERSION;
	if (tr_error_is_memory(&why))
		return tr_error_memory(err);
	units->left_out = units->traces && version != units->version;
	if (units->left_out) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "left out: a source trace of version %" PRIu64
			     ", the first one is of version %" PRIu64,
			     version, units->version);
		return TR_WARN;
	}
	if (units->traces++)
		return TR_OK;
	units->version = version;
	units->last = &units->first;
	return tr_merge_header(header, "srctrace", &units->header, err);
}

/* Keeps an information entry of the first trace. */
static enum tr_status put_info(struct merge *units, struct tr_record *record, struct tr_error *err)
{
	struct tr_text columns;

	if (units->traces > 1)
		return TR_OK;
	enum tr_status status = tr_merge_columns(record, 2, &units->text, &columns, err);
	if (status == TR_OK)
		tr_buffer_put_text(&units->infos, columns);
	return units->infos.failed ? tr_error_memory(err) : status;
}

/* Fills err: a unit is left out because of this field. */
static enum tr_status wrong(struct tr_error *err, const char *key, const char *what)
{
	tr_error_set(err, TR_CAUSE_INPUT, "left out: %s: %s", key, what);
	return TR_WARN;
}

/* Sorts numbers of bits. */
static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Puts the record's list of bits at units->numbers + from, ascending and each once. */
static enum tr_status read_list(struct merge *units, struct tr_record *record, const char *key,
				uint64_t bits, size_t from, size_t *count, struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, key);
	struct tr_numbers numbers;
	uint64_t bit;
	bool sorted = true;
	size_t n = from, kept = from;

	if (!field)
		return wrong(err, key, "the field is missing");
	struct tr_error why;
	enum tr_status status = tr_numbers_begin(&numbers, record, field, &why);
	if (status != TR_OK)
		return status == TR_FATAL ? tr_error_memory(err) : wrong(err, key, why.text);
	while ((status = tr_numbers_next(&numbers, &bit)) == TR_OK && bit < bits) {
		if (!tr_array_room(units->numbers, n, units->cap))
			return tr_error_memory(err);
		sorted &= n == from || units->numbers[n - 1] < bit;
		units->numbers[n++] = (uint32_t)bit;
	}
	if (status != TR_END)
		return wrong(err, key, "an element is not a bit of the buffer");
	if (!sorted)
		qsort(units->numbers + from, n - from, sizeof *units->numbers, ascending);
	for (size_t i = from; i < n; i++)
		if (kept == from || units->numbers[kept - 1] != units->numbers[i])
			units->numbers[kept++] = units->numbers[i];
	*count = kept - from;
	return TR_OK;
}

/* Adds `count` numbers to the set. False: memory is exhausted. */
static bool add_numbers(struct set *set, const uint32_t *numbers, size_t count)
{
	size_t at = 0, added = 0;

	for (size_t i = 0; i < count; i++) {
		while (at < set->count && set->list[at] < numbers[i])
			at++;
		added += at == set->count || set->list[at] != numbers[i];
	}
	if (!added)
		return true;
	uint32_t *list = realloc(set->list, (set->count + added) * sizeof *list);
	if (!list)
		return false;
	/* merges the two from their ends, so that no number is overwritten before it is moved */
	at = set->count;
	for (size_t to = at + added; count;) {
		if (at && list[at - 1] > numbers[count - 1]) {
			list[--to] = list[--at];
			continue;
		}
		at -= at && list[at - 1] == numbers[count - 1];
		list[--to] = numbers[--count];
	}
	set->list = list;
	set->count += added;
	return true;
}

/* Reads a unit without its lists; the texts are borrowed from the record. */
static enum tr_status read_unit(struct tr_record *record, struct unit *unit, struct tr_error *err)
{
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (record->name.type != TR_CELL_TEXT)
		return wrong(err, "name", "a unit without a file name");
	if (!tr_cell_bytes(record->name.text, record->arena, &unit->name, err))
		return tr_error_status(err);
	tr_error_clear(err);
	for (int i = 0; i < TR_UNIT_SETS; i++) {
		unit->hashes[i] = tr_ask_string(record, tr_unit_hash_keys[i], err);
		unit->sets[i].bits = tr_ask_number(record, tr_unit_bits_keys[i], UINT64_MAX, err);
		if (err->cause == TR_CAUSE_MEMORY)
			return TR_FATAL;
		/* version 2 of srctrace has no fingerprint of annotations */
		if (i == TR_UNIT_SETS - 1 && !tr_record_field(record, tr_unit_hash_keys[i])) {
			unit->hashes[i] = TR_TEXT("");
			tr_error_clear(err);
		} else if (!unit->hashes[i].len) {
			return wrong(err, tr_unit_hash_keys[i], "the fingerprint is missing");
		}
		if (unit->sets[i].bits > UINT32_MAX)
			return wrong(err, tr_unit_bits_keys[i], "the number of bits is missing");
	}
	return TR_OK;
}

/* Fills err: a unit is left out because it was made of another version of the source. */
static enum tr_status differs(const char *key, struct tr_text here, struct tr_text there,
			      struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_INPUT,
		     "left out: a unit of another version of the source: %s is %.*s, in a trace "
		     "before %.*s",
		     key, TR_SHOWN(here, 60), TR_SHOWN(there, 60));
	return TR_WARN;
}

/* Compares units of the same name and obligations: the rest of the source may have changed. */
static enum tr_status compare(const struct unit *here, const struct unit *there,
			      struct tr_error *err)
{
	for (int i = 0; i < TR_UNIT_SETS; i++) {
		if (!tr_text_equal(here->hashes[i], there->hashes[i]))
			return differs(tr_unit_hash_keys[i], here->hashes[i], there->hashes[i],
				       err);
		if (here->sets[i].bits == there->sets[i].bits)
			continue;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "left out: a unit with the fingerprints of one before, but %s is "
			     "%llu, there %llu",
			     tr_unit_bits_keys[i], (unsigned long long)here->sets[i].bits,
			     (unsigned long long)there->sets[i].bits);
		return TR_WARN;
	}
	return TR_OK;
}

/* Adds a copy of the unit at the end of the list; key is in the arena. */
static enum tr_status add_unit(struct merge *units, const struct unit *like, struct tr_text key,
			       struct tr_record *record, struct unit **added, struct tr_error *err)
{
	static const char *const skip[] = {
		"statement_bits", "decision_bits", "mcdc_bits",	  "statements", "decisions", "mcdc",
		"scos",		  "bit_maps",	   "annotations", ".raw",	NULL
	};
	struct unit *unit = tr_arena_alloc(&units->arena, sizeof *unit);

	tr_buffer_reset(&units->text);
	enum tr_status status = tr_merge_fields(record, skip, &units->text, err);
	if (status != TR_OK)
		return status;
	if (!unit)
		return tr_error_memory(err);
	*unit = *like;
	unit->trace = units->traces;
	unit->name = tr_arena_copy(&units->arena, like->name);
	unit->rest = tr_arena_copy(&units->arena, tr_buffer_text(&units->text));
	bool good = unit->name.data && unit->rest.data;
	for (int i = 0; i < TR_UNIT_SETS; i++) {
		unit->hashes[i] = tr_arena_copy(&units->arena, like->hashes[i]);
		good &= unit->hashes[i].data != NULL;
	}
	bool first = !tr_map_get(&units->by_name, like->name);
	if (!good || (first && !tr_map_put(&units->by_name, unit->name, unit)) ||
	    !tr_map_put(&units->by_key, key, unit))
		return tr_error_memory(err);
	*units->last = unit;
	units->last = &unit->next;
	*added = unit;
	return TR_OK;
}

/* Finds the unit to which the record adds, or adds one. */
static enum tr_status find_unit(struct merge *units, const struct unit *here,
				struct tr_record *record, struct unit **found, struct tr_error *err)
{
	tr_buffer_reset(&units->text);
	tr_cell_escape(here->name, false, &units->text);
	tr_buffer_put_byte(&units->text, '\t');
	tr_buffer_put_text(&units->text, here->hashes[0]);
	if (units->text.failed)
		return tr_error_memory(err);
	*found = tr_map_get(&units->by_key, tr_buffer_text(&units->text));
	if (*found)
		return compare(here, *found, err);
	/*
	 * with the same name, units of one trace are different units; of two traces, two versions
	 */
	const struct unit *first = tr_map_get(&units->by_name, here->name);
	if (first && first->trace != units->traces)
		return differs(tr_unit_hash_keys[0], here->hashes[0], first->hashes[0], err);
	struct tr_text key = tr_arena_copy(&units->arena, tr_buffer_text(&units->text));
	return key.data ? add_unit(units, here, key, record, found, err) : tr_error_memory(err);
}

/*
 * Adds the bits of a unit. All lists are read before anything is added, so that a unit with an
 * error adds nothing.
 */
static enum tr_status put_unit(struct merge *units, struct tr_record *record, struct tr_error *err)
{
	struct unit here = { .trace = 0 }, *unit = NULL;
	size_t counts[TR_UNIT_SETS], at = 0;
	enum tr_status status = read_unit(record, &here, err);

	for (int i = 0; i < TR_UNIT_SETS && status == TR_OK; i++) {
		status = read_list(units, record, tr_unit_list_keys[i], here.sets[i].bits, at,
				   &counts[i], err);
		at += status == TR_OK ? counts[i] : 0;
	}
	/* the unit is added only after all lists could be read */
	if (status == TR_OK)
		status = find_unit(units, &here, record, &unit, err);
	at = 0;
	for (int i = 0; i < TR_UNIT_SETS && status == TR_OK; at += counts[i++])
		if (counts[i] && !add_numbers(&unit->sets[i], units->numbers + at, counts[i]))
			status = tr_error_memory(err);
	if (status == TR_WARN)
		tr_error_name(err, record->name.text);
	return status;
}

/* Adds a record (struct tr_merge_form). */
static enum tr_status put(void *self, struct tr_record *record, struct tr_error *err)
{
	const struct merge *units = self;

	if (units->left_out)
		return TR_OK;
	if (tr_text_is(record->kind, "unit"))
		return put_unit(self, record, err);
	return tr_text_is(record->kind, "info") ? put_info(self, record, err) : TR_OK;
}

/* Appends the columns of a unit after its number. */
static void spell_unit(const struct unit *unit, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "-\t-\t");
	tr_cell_escape(unit->name, false, to);
	for (int i = 0; i < TR_UNIT_SETS; i++) {
		const struct set *set = &unit->sets[i];
		tr_field_begin(tr_text_from(tr_unit_bits_keys[i]), to);
		tr_buffer_put_decimal(to, set->bits);
		tr_field_begin(tr_text_from(tr_unit_list_keys[i]), to);
		tr_buffer_put_byte(to, '[');
		for (size_t k = 0; k < set->count; k++) {
			if (k)
				tr_buffer_put_byte(to, ',');
			tr_buffer_put_decimal(to, set->list[k]);
		}
		tr_buffer_put_byte(to, ']');
	}
	for (int i = 0; i < TR_UNIT_SETS; i++) {
		if (!unit->hashes[i].len)
			continue;
		tr_field_begin(tr_text_from(tr_unit_hash_keys[i]), to);
		tr_string_quote(unit->hashes[i], to);
	}
	tr_buffer_put_text(to, unit->rest);
}

/* Writes the merged trace. */
static void write(void *self, struct tr_merge_lines *lines)
{
	struct merge *units = self;

	tr_output_put_text(lines->out, tr_buffer_text(&units->header));
	tr_output_put_byte(lines->out, '\n');
	tr_merge_infos(lines, tr_buffer_text(&units->infos));
	for (const struct unit *unit = units->first; unit; unit = unit->next) {
		tr_merge_begin(lines, "unit");
		spell_unit(unit, &lines->text);
		tr_merge_end(lines);
	}
}

const struct tr_merge_form tr_merge_units = {
	.format = "srctrace",
	.name = "a source trace (srctrace)",
	.size = sizeof(struct merge),
	.begin = begin,
	.put = put,
	.write = write,
	.discard = discard,
};
