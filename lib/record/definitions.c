/* SPDX-License-Identifier: MIT */
/* Keeps definitions, and finds those that a line uses. */

#include "record/definitions.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "record/vocabulary.h"

bool tr_definition_is_known(const struct tr_record *record)
{
	static const char *const words[] = { "fn", "enum", "mask", "struct", "frame" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (tr_text_is(record->kind, words[i]))
			return record->task.type == TR_CELL_TEXT;
	}
	return false;
}

/* Translates a text in a line to the copy of the line. */
static struct tr_text moved(struct tr_text text, struct tr_text from, const char *to)
{
	return (struct tr_text){ to + (text.data - from.data), text.len };
}

/*
 * The text and the id of a definition are in one allocation with it. A repeated definition is
 * dropped, and a different one of the same id takes its place for the records that follow.
 */
bool tr_definitions_add(struct tr_definitions *defs, struct tr_text line)
{
	struct tr_record record = { .arena = NULL };

	if (!tr_record_from_line(&record, line, NULL))
		return true;
	const struct tr_definition *known = tr_map_get(&defs->by_id, record.task.text);

	if (known && tr_text_equal(known->line, line))
		return true;
	struct tr_definition *def = malloc(sizeof *def + line.len);
	if (!def)
		return false;
	memcpy(def->data, line.data, line.len);
	*def = (struct tr_definition){ .next = defs->list, .place = defs->count++ };
	def->line = (struct tr_text){ def->data, line.len };
	def->id = moved(record.task.text, line, def->data);
	defs->list = def;
	defs->waiting++;
	/* the name of the last call may have a definition now */
	defs->settled_len = 0;
	if (!tr_map_put(&defs->by_id, def->id, def))
		return false;
	struct tr_text name = moved(record.name.text, line, def->data);
	return !tr_text_is(record.kind, "fn") || tr_map_get(&defs->by_name, name) ||
	       tr_map_put(&defs->by_name, name, def);
}

static bool is_written(const struct tr_definitions *defs, const struct tr_definition *def)
{
	return def->written == defs->round + 1;
}

static void set_written(struct tr_definitions *defs, struct tr_definition *def)
{
	defs->waiting -= !is_written(defs, def);
	def->written = defs->round + 1;
}

void tr_definitions_passed(struct tr_definitions *defs, struct tr_text id)
{
	struct tr_definition *def = tr_map_get(&defs->by_id, id);

	if (def)
		set_written(defs, def);
}

void tr_definitions_begin_round(struct tr_definitions *defs)
{
	defs->round++;
	defs->waiting = defs->count;
	defs->settled_len = 0;
}

/*
 * Adds a definition to those that are written before the record. NULL or a written one is no
 * error. False: memory is exhausted.
 */
static bool want(struct tr_definitions *defs, struct tr_definition *def)
{
	if (!def || is_written(defs, def) || def->wanted)
		return true;
	if (!tr_array_room(defs->wanted, defs->wanted_count, defs->wanted_cap))
		return false;
	def->wanted = true;
	defs->wanted[defs->wanted_count++] = def;
	return true;
}

/* The end of a string that begins at p. What looks like an id in a string is text. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\' && p + 1 < end;
	return p < end ? p + 1 : end;
}

/* The end of an id like F17 at p; p where there is none. */
static const char *id_end(const char *p, const char *end)
{
	const char *digits = p + 1;

	if (p == end || *p < 'A' || *p > 'Z')
		return p;
	while (digits < end && *digits >= '0' && *digits <= '9')
		digits++;
	return digits > p + 1 ? digits : p;
}

/* Wants the definition of an id; p == end is no id. */
static bool want_id(struct tr_definitions *defs, const char *p, const char *end)
{
	return p == end || want(defs, tr_map_get(&defs->by_id, tr_text_span(p, end)));
}

/* Wants the ids after "@" in a column, outside strings. */
static bool want_marked_ids(struct tr_definitions *defs, const char *p, const char *end)
{
	const char *at = memchr(p, '@', (size_t)(end - p));

	while (at) {
		const char *quote = memchr(p, '"', (size_t)(at - p));
		p = quote ? skip_string(quote, end) : id_end(at + 1, end);
		if (!quote && !want_id(defs, at + 1, p))
			return false;
		/* memchr runs again only past the last "@" found, so the time stays linear */
		if (p > at)
			at = memchr(p, '@', (size_t)(end - p));
	}
	return true;
}

/* Wants every id of a column, with or without "@" before it. */
static bool want_all_ids(struct tr_definitions *defs, const char *p, const char *end)
{
	while (p < end) {
		const char *after = *p == '"' ? skip_string(p, end) : id_end(p, end);
		if (*p != '"' && !want_id(defs, p, after))
			return false;
		p = after > p ? after : p + 1;
	}
	return true;
}

/* Wants the ids in all columns after the name. */
static bool want_fields(struct tr_definitions *defs, struct tr_text rest)
{
	const char *p = rest.data, *end = p + rest.len;

	while (p < end) {
		const char *tab = memchr(p + 1, '\t', (size_t)(end - p - 1));
		struct tr_text column = tr_text_span(p + 1, tab ? tab : end);
		bool all = tr_text_starts(column, TR_TEXT(".sig=")) ||
			   tr_text_starts(column, TR_TEXT(".bt="));
		const char *value = memchr(column.data, '=', column.len);
		const char *after = column.data + column.len;
		if (value && !(all ? want_all_ids : want_marked_ids)(defs, value + 1, after))
			return false;
		p = tab ? tab : end;
	}
	return true;
}

bool tr_definitions_are_settled(struct tr_definitions *defs, struct tr_text line,
				const struct tr_columns *columns)
{
	struct tr_text name = tr_columns_text(columns, TR_COLUMN_NAME);

	if (columns->escapes || tr_line_may_refer(line.data, line.data + line.len))
		return false;
	if (!tr_kind_is_call(tr_columns_text(columns, TR_COLUMN_KIND)) ||
	    tr_text_equal(name, (struct tr_text){ defs->settled, defs->settled_len }))
		return true;
	const struct tr_definition *function = tr_map_get(&defs->by_name, name);
	if (function && !is_written(defs, function))
		return false;
	defs->settled_len = name.len <= sizeof defs->settled ? name.len : 0;
	memcpy(defs->settled, name.data, defs->settled_len);
	return true;
}

/* Definitions are written in the order of the source, which writers of trace files restore. */
static int by_place(const void *a, const void *b)
{
	const struct tr_definition *const *x = a, *const *y = b;

	return ((*x)->place > (*y)->place) - ((*x)->place < (*y)->place);
}

/* The first function of a name; NULL: there is none, or another one has its id by now. */
static struct tr_definition *first_of(const struct tr_definitions *defs, struct tr_text name)
{
	struct tr_definition *first = tr_map_get(&defs->by_name, name);

	return first && tr_map_get(&defs->by_id, first->id) == first ? first : NULL;
}

/*
 * Finds the ids in the text of the line, because most lines have none, and splitting them would
 * cost more.
 */
bool tr_definitions_use(struct tr_definitions *defs, struct tr_text line)
{
	struct tr_record record = { .arena = NULL };

	defs->wanted_count = 0;
	if (!tr_record_from_line(&record, line, NULL) || record.type != TR_RECORD)
		return true;
	if (!want_fields(defs, record.rest))
		return false;
	/* also of a call with .sig: a later call without it must not get that function */
	if (tr_kind_is_call(record.kind) && !want(defs, first_of(defs, record.name.text)))
		return false;
	if (defs->wanted_count > 1)
		qsort(defs->wanted, defs->wanted_count, sizeof *defs->wanted, by_place);
	for (size_t i = 0; i < defs->wanted_count; i++) {
		defs->wanted[i]->wanted = false;
		set_written(defs, defs->wanted[i]);
	}
	return true;
}

void tr_definitions_free(struct tr_definitions *defs)
{
	for (struct tr_definition *def = defs->list, *next; def; def = next) {
		next = def->next;
		free(def);
	}
	tr_map_free(&defs->by_id);
	tr_map_free(&defs->by_name);
	free(defs->wanted);
	*defs = (struct tr_definitions){ 0 };
}
