/* SPDX-License-Identifier: MIT */

#include "coverage/module_list.h"

#include <stdlib.h>

#include "record/ask.h"

enum { IDS = 65535 }; /* the last id that 16 bits hold says: in no module */

void tr_module_list_free(struct tr_module_list *list)
{
	tr_buffer_free(&list->flavor);
	tr_buffer_free(&list->spelled);
	tr_buffer_free(&list->rows);
	free(list->places);
	free(list->by_id);
	free(list->sorted);
	list->places = NULL;
	list->by_id = list->sorted = NULL;
	list->count = list->cap = 0;
}

/* Appends a string field's bytes. False: there is none. */
static bool header_text(struct tr_record *header, const char *key, struct tr_buffer *to,
			struct tr_error *err)
{
	struct tr_text bytes = tr_ask_string(header, key, err);
	if (bytes.data)
		tr_buffer_put_text(to, bytes);
	return bytes.data != NULL;
}

/* False: there are none, or none that make a table. */
static bool header_columns(struct tr_record *header, struct tr_module_columns *columns,
			   struct tr_error *err)
{
	const struct tr_value *list = tr_ask(header, "columns", TR_LIST, err);
	*columns = (struct tr_module_columns){ .count = 0 };
	for (size_t i = 0; list && i < list->count; i++) {
		if (list->as.items[i].type != TR_STRING)
			return false;
		struct tr_text name = tr_string_bytes(list->as.items[i].text, header->arena);
		if (!name.data)
			tr_error_memory(err);
		if (!name.data || !tr_module_columns_add(columns, name))
			return false;
	}
	return columns->count > 0;
}

static void begin_usual(struct tr_module_list *list)
{
	tr_buffer_reset(&list->flavor);
	tr_buffer_reset(&list->spelled);
	tr_buffer_reset(&list->rows);
	list->count = 0;
	free(list->by_id);
	free(list->sorted);
	list->by_id = list->sorted = NULL;
	list->digits = 16;
	list->head = (struct tr_drcov_head){ .version = 2,
					     .table = 2,
					     .has_version = true,
					     .has_table = true,
					     .has_columns = true };
	tr_module_columns_of(&list->head.columns, 2, false);
	list->source = list->head.columns;
}

bool tr_module_list_begin(struct tr_module_list *list, struct tr_record *header)
{
	struct tr_module_columns columns;
	struct tr_error err;
	tr_error_clear(&err);
	begin_usual(list);
	if (!header || !header_columns(header, &columns, &err))
		return err.cause != TR_CAUSE_MEMORY;
	list->head.columns = list->source = columns;
	list->head.version = tr_ask_number(header, "version", 2, &err);
	list->head.table = tr_ask_number(header, "table", 2, &err);
	if (tr_ask_number(header, "bits", 64, &err) == 32)
		list->digits = 8;
	if (header_text(header, "flavor", &list->flavor, &err))
		list->head.flavor = tr_buffer_text(&list->flavor);
	header_text(header, ".head", &list->spelled, &err);
	return err.cause != TR_CAUSE_MEMORY && !list->flavor.failed && !list->spelled.failed;
}

void tr_module_list_choose(struct tr_module_list *list, unsigned version, unsigned table)
{
	if (version)
		list->head.version = version;
	if (!table)
		return;
	bool windows = tr_module_columns_have(&list->source, TR_MODULE_CHECKSUM);
	list->head.table = table;
	tr_module_columns_of(&list->head.columns, table, windows);
}

/* Remembers where the module lies; of which row its starts count from is said by the version. */
static bool place(struct tr_module_list *list, const struct tr_module_columns *columns,
		  const struct tr_module *module)
{
	if (list->count == UINT32_MAX)
		return false;
	if (list->count == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 64;
		struct tr_module_place *places = realloc(list->places, cap * sizeof *places);
		if (!places)
			return false;
		list->places = places;
		list->cap = cap;
	}
	struct tr_module_place here = {
		.base = tr_module_number(columns, module, TR_MODULE_BASE, 0),
		.id = tr_module_number(columns, module, TR_MODULE_ID, list->count),
	};
	here.end = tr_module_number(columns, module, TR_MODULE_END, here.base);
	here.origin = here.base;
	uint64_t whole = tr_module_number(columns, module, TR_MODULE_CONTAINING_ID, here.id);
	const struct tr_module_place *containing = tr_module_list_id(list, whole);
	if (list->head.version == 2 && whole != here.id && containing &&
	    tr_module_columns_have(&list->head.columns, TR_MODULE_CONTAINING_ID))
		here.origin = containing->origin;
	if (!list->by_id)
		list->by_id = calloc(IDS, sizeof *list->by_id);
	if (!list->by_id)
		return false;
	list->places[list->count++] = here;
	if (here.id < IDS)
		list->by_id[here.id] = (uint32_t)list->count;
	return true;
}

/* What a table of another version asks for and the record does not say. */
static void supply(const struct tr_module_list *list, const struct tr_module *from,
		   enum tr_module_column kind, struct tr_module_cell *cell)
{
	const struct tr_module_columns *source = &list->source;
	cell->type = TR_MODULE_NUMBER;
	switch (kind) {
	case TR_MODULE_CONTAINING_ID:
		cell->number = tr_module_number(source, from, TR_MODULE_ID, list->count);
		break;
	case TR_MODULE_PREFERRED_BASE:
		cell->number = tr_module_number(source, from, TR_MODULE_BASE, 0);
		break;
	case TR_MODULE_END: /* of tables that know sizes alone */
		cell->number = tr_module_number(source, from, TR_MODULE_SIZE, 0);
		break;
	case TR_MODULE_ID:
		cell->number = list->count;
		break;
	default:
		cell->number = 0;
		break;
	}
}

/* The row in the columns that are written. */
static void convert(const struct tr_module_list *list, const struct tr_module *from,
		    struct tr_module *to)
{
	const struct tr_module_columns *columns = &list->head.columns;
	for (size_t i = 0; i < columns->count; i++) {
		to->cells[i] = (struct tr_module_cell){ .type = TR_MODULE_NONE };
		for (size_t k = 0; k < list->source.count; k++)
			if (columns->kinds[i] == TR_MODULE_OTHER
				    ? tr_text_equal(tr_module_column_name(columns, i),
						    tr_module_column_name(&list->source, k))
				    : columns->kinds[i] == list->source.kinds[k])
				to->cells[i] = from->cells[k];
		if (to->cells[i].type == TR_MODULE_NONE)
			supply(list, from, columns->kinds[i], &to->cells[i]);
	}
}

/* The row as its source spells it, if it says the same as the record. data NULL: it does not. */
static struct tr_text spelled_row(const struct tr_module_list *list, struct tr_record *record,
				  const struct tr_module *module, struct tr_error *err)
{
	struct tr_text none = { NULL, 0 };
	struct tr_module parsed;
	struct tr_text row = tr_ask_string(record, ".row", err);
	if (!row.data || !row.len || row.data[row.len - 1] != '\n' ||
	    memchr(row.data, '\n', row.len - 1) ||
	    !tr_module_columns_equal(&list->source, &list->head.columns))
		return none;
	(void)tr_module_parse(&list->source, (struct tr_text){ row.data, row.len - 1 }, &parsed);
	return tr_module_equal(&list->source, &parsed, module) ? row : none;
}

enum tr_status tr_module_list_add(struct tr_module_list *list, struct tr_record *record,
				  struct tr_error *err)
{
	struct tr_module module, row;
	enum tr_status status = tr_module_read(&list->source, record, &module, err);
	if (status != TR_OK)
		return status;
	tr_error_clear(err);
	struct tr_text spelled = spelled_row(list, record, &module, err);
	convert(list, &module, &row);
	bool good = place(list, &list->source, &module) && err->cause != TR_CAUSE_MEMORY;
	if (spelled.data)
		tr_buffer_put_text(&list->rows, spelled);
	else
		tr_module_write(&list->head.columns, &row, list->digits, &list->rows);
	if (good && !list->rows.failed)
		return TR_OK;
	return tr_error_memory(err);
}

bool tr_module_list_put(struct tr_module_list *list, uint64_t base, uint64_t end,
			struct tr_text path)
{
	const struct tr_module_columns *columns = &list->source;
	struct tr_module module, row;
	for (size_t i = 0; i < columns->count; i++) {
		enum tr_module_column kind = columns->kinds[i];
		struct tr_module_cell *cell = &module.cells[i];
		*cell = (struct tr_module_cell){ .type = TR_MODULE_NUMBER };
		if (kind == TR_MODULE_PATH)
			*cell = (struct tr_module_cell){ .type = TR_MODULE_TEXT, .text = path };
		else if (kind == TR_MODULE_ID || kind == TR_MODULE_CONTAINING_ID)
			cell->number = list->count;
		else if (kind == TR_MODULE_BASE || kind == TR_MODULE_PREFERRED_BASE)
			cell->number = base;
		else if (kind == TR_MODULE_END)
			cell->number = end;
		else if (kind == TR_MODULE_SIZE)
			cell->number = end - base;
	}
	convert(list, &module, &row);
	tr_module_write(&list->head.columns, &row, list->digits, &list->rows);
	return place(list, columns, &module) && !list->rows.failed;
}

/* A row of text, as it is or in the columns that were chosen. */
static bool put_row(struct tr_module_list *list, struct tr_text line)
{
	struct tr_module module, row;
	struct tr_text text = { line.data, line.len - (line.data[line.len - 1] == '\n') };
	(void)tr_module_parse(&list->source, text, &module);
	convert(list, &module, &row);
	if (tr_module_columns_equal(&list->source, &list->head.columns))
		tr_buffer_put_text(&list->rows, line);
	else
		tr_module_write(&list->head.columns, &row, list->digits, &list->rows);
	return place(list, &list->source, &module);
}

enum tr_status tr_module_list_parse(struct tr_module_list *list, struct tr_text text,
				    unsigned version, unsigned table)
{
	struct tr_drcov_head head = { .has_version = false };
	const char *begin = text.data;
	begin_usual(list);
	while (text.len && !tr_drcov_head_whole(&head))
		if (!tr_drcov_head_line(&head, tr_drcov_next_line(&text)))
			return TR_END;
	if (!tr_drcov_head_whole(&head))
		return TR_END;
	tr_buffer_put_text(&list->spelled, tr_text_span(begin, text.data));
	tr_drcov_head_supply(&head);
	list->source = head.columns;
	tr_buffer_put_text(&list->flavor, head.flavor);
	list->head = head;
	if (head.flavor.data)
		list->head.flavor = tr_buffer_text(&list->flavor);
	tr_module_list_choose(list, version, table);
	while (text.len)
		if (!put_row(list, tr_drcov_next_line(&text)))
			return TR_FATAL;
	return list->flavor.failed || list->spelled.failed || list->rows.failed ? TR_FATAL : TR_OK;
}

void tr_module_list_write(const struct tr_module_list *list, struct tr_buffer *to)
{
	struct tr_drcov_head head = list->head, spelled;
	head.count = list->count;
	tr_drcov_head_parse(&spelled, tr_buffer_text(&list->spelled));
	if (list->spelled.len && tr_drcov_head_equal(&head, &spelled))
		tr_buffer_put_text(to, tr_buffer_text(&list->spelled));
	else
		tr_drcov_head_write(&head, to);
	tr_buffer_put_text(to, tr_buffer_text(&list->rows));
}

const struct tr_module_place *tr_module_list_id(const struct tr_module_list *list, uint64_t id)
{
	uint32_t row = list->by_id && id < IDS ? list->by_id[id] : 0;
	return row ? &list->places[row - 1] : NULL;
}

static int by_base(const void *a, const void *b, void *places)
{
	const struct tr_module_place *x = (struct tr_module_place *)places + *(const uint32_t *)a;
	const struct tr_module_place *y = (struct tr_module_place *)places + *(const uint32_t *)b;
	return (x->base > y->base) - (x->base < y->base);
}

static bool sort(struct tr_module_list *list)
{
	list->sorted = malloc(list->count * sizeof *list->sorted);
	if (!list->sorted)
		return false;
	for (size_t i = 0; i < list->count; i++)
		list->sorted[i] = (uint32_t)i;
	qsort_r(list->sorted, list->count, sizeof *list->sorted, by_base, list->places);
	return true;
}

/*
 * The module that has the address; where none has it, the nearest below, from
 * which it can be counted all the same. NULL: there is none. The list is not
 * added to any more. *failed: memory is out.
 */
static const struct tr_module_place *find(struct tr_module_list *list, uint64_t address,
					  bool *failed)
{
	enum { OVERLAPS = 8 }; /* modules that lie over each other are rare, and few */
	const struct tr_module_place *nearest = NULL;
	size_t low = 0, high = list->count;
	if (list->count == 0 || (!list->sorted && !sort(list))) {
		*failed |= list->count > 0;
		return NULL;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list->places[list->sorted[middle]].base <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < OVERLAPS && i < low; i++) {
		const struct tr_module_place *here = &list->places[list->sorted[low - 1 - i]];
		if (address < here->end)
			return here;
		if (!nearest)
			nearest = here;
	}
	return nearest;
}

static bool has_bases(const struct tr_module_list *list)
{
	return tr_module_columns_have(&list->source, TR_MODULE_BASE);
}

unsigned tr_module_list_digits(const struct tr_module_list *list)
{
	return has_bases(list) ? list->digits : 16;
}

void tr_module_list_absolute(const struct tr_module_list *list, uint64_t id, uint64_t *address)
{
	if (!has_bases(list))
		*address += id << 32;
}

void tr_module_list_relative(struct tr_module_list *list, uint64_t address, uint64_t *id,
			     uint64_t *start, bool *failed)
{
	if (!has_bases(list)) {
		*id = address >> 32;
		*start = (uint32_t)address;
		return;
	}
	const struct tr_module_place *place = find(list, address, failed);
	/* a module whose end is no end has all behind its base */
	if (place && (address > UINT32_MAX || address < place->end || place->end <= place->base)) {
		*id = place->id;
		*start = address - place->origin;
		if (list->digits == 8)
			*start = (uint32_t)*start;
	} else {
		*id = IDS;
		*start = address;
	}
}
