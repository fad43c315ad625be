/* SPDX-License-Identifier: MIT */
/*
 * Statistics of execution traces: executed blocks, distinct blocks, and the bytes that they cover;
 * coverage by source line, with the sums, then files and functions, worst ones first.
 */
#include "view/stat_private.h"

#include <stdlib.h>

#include "core/text.h"
#include "coverage/block.h"
#include "coverage/coverage.h"
#include "coverage/module_table.h"

enum {
	DISTINCT_MAX = 1 << 22,
	ADDRESS_BITS = 48, /* of an address whose key contains its module */
};

/* A module of the current trace. */
struct tr_stat_module {
	uint64_t number; /* of its path: traces give the same module other ids and addresses */
	uint64_t base;
};

struct tr_stat_block {
	uint64_t module;	/* number of its path; TR_RUN_NONE: it has none */
	uint64_t offset, count; /* offset: from the base of the module */
	uint64_t id, address;	/* as the first trace has them */
	uint32_t size;
	uint8_t digits;
};

/* The map and the key of a block. NULL: its numbers are too large for a key. */
static struct tr_id_map *place_of(struct tr_stat_blocks *blocks, const struct tr_stat_block *block,
				  uint64_t *key)
{
	*key = block->offset;
	if (block->module == TR_RUN_NONE)
		return &blocks->plain;
	if (block->module >> (64 - ADDRESS_BITS) || block->offset >> ADDRESS_BITS)
		return NULL;
	*key |= block->module << ADDRESS_BITS;
	return &blocks->placed;
}

/* Adds a module to this segment. NULL: memory is exhausted. */
static struct tr_stat_module *add_module(struct tr_stat_blocks *blocks, uint64_t id, uint64_t base,
					 struct tr_text path)
{
	struct tr_stat_module *module = tr_arena_alloc(&blocks->segment, sizeof *module);
	uint64_t *number = tr_map_get(&blocks->paths, path);

	if (!number) {
		struct tr_text copy = tr_arena_copy(&blocks->arena, path);
		number = tr_arena_alloc(&blocks->arena, sizeof *number);
		if (!number || !copy.data || !tr_map_put(&blocks->paths, copy, number))
			return NULL;
		*number = blocks->paths.count - 1;
	}
	if (!module || !tr_id_map_put(&blocks->modules, id, module))
		return NULL;
	*module = (struct tr_stat_module){ *number, base };
	return module;
}

bool tr_stat_blocks_module(struct tr_stat_blocks *blocks, struct tr_record *record)
{
	struct tr_module_fact fact;
	struct tr_error err;

	if (tr_module_ask(record, &fact, &err) == TR_FATAL)
		return false;
	if (fact.id == TR_MODULE_NO_ID)
		return true;
	/* a segment has the base of the module that contains it */
	const struct tr_stat_module *whole =
		fact.containing != fact.id ? tr_id_map_get(&blocks->modules, fact.containing)
					   : NULL;
	struct tr_stat_module *module = add_module(blocks, fact.id, fact.base, fact.path);
	if (module && whole && whole->number == module->number)
		module->base = whole->base;
	return module;
}

void tr_stat_blocks_end(struct tr_stat_blocks *blocks)
{
	tr_id_map_free(&blocks->modules);
	blocks->modules = (struct tr_id_map)TR_ID_MAP_INIT;
	tr_arena_reset(&blocks->segment);
}

/* The module of a block; only lines have one. */
static uint64_t module_of(struct tr_record *record)
{
	const struct tr_field *field = record->line.data ? tr_record_field(record, "module") : NULL;
	uint64_t module;

	if (!field || !field->text.data)
		return TR_RUN_NONE;
	struct tr_cell cell = { .type = TR_CELL_TEXT, .text = field->text };
	return tr_cell_number(&cell, &module) ? module : TR_RUN_NONE;
}

bool tr_stat_blocks_put(struct tr_stat_blocks *blocks, struct tr_record *record)
{
	const struct tr_block *built = tr_block_built(record);
	struct tr_stat_block *known;
	struct tr_block block;
	struct tr_error err;
	uint64_t key;

	if (!built) {
		enum tr_status status = tr_block_read(record, &block, &err);
		blocks->beyond += status == TR_WARN;
		if (status != TR_OK)
			return status != TR_FATAL;
		built = &block;
	}
	blocks->blocks++;
	blocks->ops[built->op]++;
	if (record->line.data && tr_record_split(record, NULL) == TR_FATAL)
		return false;
	struct tr_stat_block added = { TR_RUN_NONE,	  built->address, 1,
				       module_of(record), built->address, built->size,
				       built->digits };
	if (added.id != TR_RUN_NONE) {
		const struct tr_stat_module *module = tr_id_map_get(&blocks->modules, added.id);
		if (!module)
			module = add_module(blocks, added.id, 0, TR_TEXT(""));
		if (!module)
			return false;
		added.module = module->number;
		added.offset -= module->base;
	}
	struct tr_id_map *map = place_of(blocks, &added, &key);
	known = map ? tr_id_map_get(map, key) : NULL;
	if (known) {
		known->count++;
		known->size = built->size > known->size ? built->size : known->size;
		return true;
	}
	if (!map || blocks->plain.count + blocks->placed.count >= DISTINCT_MAX) {
		blocks->beyond++;
		return true;
	}
	known = tr_arena_alloc(&blocks->arena, sizeof *known);
	if (!known)
		return false;
	*known = added;
	return tr_id_map_put(map, key, known);
}

static int by_place(const void *a, const void *b)
{
	const struct tr_stat_block *x = *(struct tr_stat_block *const *)a;
	const struct tr_stat_block *y = *(struct tr_stat_block *const *)b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_count(const void *a, const void *b)
{
	const struct tr_stat_block *x = *(struct tr_stat_block *const *)a;
	const struct tr_stat_block *y = *(struct tr_stat_block *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return by_place(a, b);
}

/* The number of bytes that the blocks cover; they are sorted by place. */
static uint64_t covered(struct tr_stat_block *const *list, size_t count)
{
	uint64_t bytes = 0, end = 0, module = TR_RUN_NONE;

	for (size_t i = 0; i < count; i++) {
		uint64_t first = list[i]->offset, size = list[i]->size;
		if (i == 0 || list[i]->module != module)
			end = 0;
		module = list[i]->module;
		if (size > UINT64_MAX - first)
			size = UINT64_MAX - first;
		if (first + size <= end)
			continue;
		bytes += first + size - (first > end ? first : end);
		end = first + size;
	}
	return bytes;
}

static void report_ops(const struct tr_stat_blocks *blocks, struct tr_report *report)
{
	static const char *const columns[] = { "count", "share", "op", NULL };
	char spelling[TR_OP_SPELLED];

	tr_report_table(report, "ops", columns);
	for (size_t op = 0; op < 256; op++) {
		if (!blocks->ops[op])
			continue;
		tr_report_cell_number(report, blocks->ops[op]);
		tr_report_cell_share(report, blocks->ops[op], blocks->blocks);
		size_t len = tr_op_spell((uint8_t)op, spelling);
		tr_report_cell_text(report, (struct tr_text){ spelling, len });
	}
	tr_report_table_end(report);
}

static void report_busiest(const struct tr_stat_blocks *blocks, struct tr_stat_block *const *list,
			   size_t count, struct tr_report *report)
{
	static const char *const columns[] = { "count", "share", "size", "block", NULL };
	struct tr_buffer name = TR_BUFFER_INIT;

	tr_report_table(report, "busiest", columns);
	for (size_t i = 0; i < count; i++) {
		tr_report_cell_number(report, list[i]->count);
		tr_report_cell_share(report, list[i]->count, blocks->blocks);
		tr_report_cell_number(report, list[i]->size);
		name.len = 0;
		if (list[i]->id != TR_RUN_NONE) {
			tr_buffer_put_decimal(&name, list[i]->id);
			tr_buffer_put_byte(&name, ':');
		}
		tr_buffer_put_literal(&name, "0x");
		tr_buffer_put_hex(&name, list[i]->address, list[i]->digits);
		tr_report_cell_text(report, tr_buffer_text(&name));
	}
	tr_report_table_end(report);
	report->text.failed |= name.failed;
	tr_buffer_free(&name);
}

bool tr_stat_blocks_report(const struct tr_stat_blocks *blocks, struct tr_report *report,
			   size_t top)
{
	size_t count = 0, distinct = blocks->plain.count + blocks->placed.count;
	struct tr_stat_block **list = malloc((distinct + 1) * sizeof *list), *block;

	if (!list)
		return false;
	for (size_t at = 0; (block = tr_id_map_next(&blocks->plain, &at));)
		list[count++] = block;
	for (size_t at = 0; (block = tr_id_map_next(&blocks->placed, &at));)
		list[count++] = block;
	qsort(list, count, sizeof *list, by_place);
	tr_report_group(report, "blocks");
	tr_report_number(report, "executed", blocks->blocks);
	tr_report_number(report, "distinct", distinct);
	tr_report_number(report, "bytes", covered(list, count));
	if (blocks->beyond)
		tr_report_number(report, "uncounted", blocks->beyond);
	report_ops(blocks, report);
	qsort(list, count, sizeof *list, by_count);
	report_busiest(blocks, list, top && top < count ? top : count, report);
	tr_report_group_end(report);
	free(list);
	return true;
}

void tr_stat_blocks_free(struct tr_stat_blocks *blocks)
{
	tr_id_map_free(&blocks->plain);
	tr_id_map_free(&blocks->placed);
	tr_map_free(&blocks->paths);
	tr_id_map_free(&blocks->modules);
	tr_arena_free(&blocks->segment);
	tr_arena_free(&blocks->arena);
}

/* Source lines. */

/* A row: lines of a file, or of a function in it. */
struct row {
	const struct tr_source_file *file;
	const struct tr_source_function *function; /* NULL: the whole file */
	struct tr_source_share lines;
};

/* Sorts by the number of lines that were not executed, then by name. */
static int by_missing(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	uint64_t missing = x->lines.all - x->lines.hit, other = y->lines.all - y->lines.hit;

	if (missing != other)
		return missing < other ? 1 : -1;
	int order = tr_text_compare(x->file->path, y->file->path);
	if (order || !x->function)
		return order;
	return tr_text_compare(x->function->name, y->function->name);
}

/* Appends the figures of all files. */
static void report_sums(const struct tr_source_shares *all, struct tr_report *report)
{
	static const char *const columns[] = { "executed", "share", "all", "of", NULL };
	const struct {
		const struct tr_source_share *share;
		const char *name;
	} rows[] = {
		{ &all->lines, "lines" },
		{ &all->functions, "functions" },
		{ &all->branches, "branches" },
	};

	tr_report_table(report, "parts", columns);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!rows[i].share->all)
			continue;
		tr_report_cell_number(report, rows[i].share->hit);
		tr_report_cell_share(report, rows[i].share->hit, rows[i].share->all);
		tr_report_cell_number(report, rows[i].share->all);
		tr_report_cell_text(report, tr_text_from(rows[i].name));
	}
	tr_report_table_end(report);
}

/* Appends a table of files or functions, at most `top` rows of it (0: all). */
static void report_rows(struct row *rows, size_t count, bool functions, size_t top,
			struct tr_report *report)
{
	static const char *const of_files[] = { "executed", "share", "lines", "file", NULL };
	static const char *const of_functions[] = { "entered",	"executed", "share", "lines",
						    "function", "file",	    NULL };

	if (count)
		qsort(rows, count, sizeof *rows, by_missing);
	tr_report_table(report, functions ? "functions" : "sources",
			functions ? of_functions : of_files);
	for (size_t i = 0; i < count && (!top || i < top); i++) {
		if (functions)
			tr_report_cell_number(report, rows[i].function->count);
		tr_report_cell_number(report, rows[i].lines.hit);
		tr_report_cell_share(report, rows[i].lines.hit, rows[i].lines.all);
		tr_report_cell_number(report, rows[i].lines.all);
		if (functions)
			tr_report_cell_text(report, rows[i].function->name);
		tr_report_cell_text(report, rows[i].file->path);
	}
	tr_report_table_end(report);
}

bool tr_stat_lines_report(const struct tr_sources *sources, struct tr_report *report, size_t top)
{
	struct tr_source_shares all = { .lines = { 0, 0 } };
	size_t functions = 0, count = 0;

	for (size_t i = 0; i < sources->count; i++) {
		tr_source_file_count(sources->list[i], &all);
		functions += sources->list[i]->functions.count;
	}
	struct row *rows = malloc((sources->count + functions + 1) * sizeof *rows);
	if (!rows)
		return false;
	tr_report_group(report, "coverage");
	report_sums(&all, report);
	for (size_t i = 0; i < sources->count; i++) {
		struct tr_source_shares shares = { .lines = { 0, 0 } };
		tr_source_file_count(sources->list[i], &shares);
		if (shares.lines.all)
			rows[count++] = (struct row){ sources->list[i], NULL, shares.lines };
	}
	report_rows(rows, count, false, top, report);
	count = 0;
	for (size_t i = 0; i < sources->count; i++) {
		const struct tr_source_file *file = sources->list[i];
		for (size_t k = 0; k < file->functions.count; k++)
			rows[count++] = (struct row){ file, &file->functions.list[k],
						      tr_source_function_share(file, k).lines };
	}
	report_rows(rows, count, true, top, report);
	tr_report_group_end(report);
	free(rows);
	return true;
}
