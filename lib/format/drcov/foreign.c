/* SPDX-License-Identifier: MIT */
#include "format/drcov/writer.h"

#include <stdlib.h>
#include <string.h>

#include "record/ask.h"

enum { NO_OBJECT = -1, PAGE = 4096 };

struct tr_drcov_foreign_block {
	/* the key: no byte between these */
	uint64_t address;
	uint32_t size;
	int32_t object;

	uint64_t hits;
	struct tr_drcov_foreign_block *next;
};

enum { KEY = 16 };

void tr_drcov_foreign_begin(struct tr_drcov_foreign *foreign)
{
	tr_layout_section(&foreign->layout, true);
	tr_arena_reset(&foreign->memory);
	tr_buffer_reset(&foreign->program);
	tr_buffer_reset(&foreign->list);
	tr_map_clear(&foreign->seen);
	tr_map_clear(&foreign->by_range);
	foreign->first_object = NULL;
	foreign->last_object = &foreign->first_object;
	foreign->first = NULL;
	foreign->last = &foreign->first;
	foreign->object_count = foreign->count = 0;
	foreign->history = foreign->map = false;
	foreign->digits = 0;
	foreign->load = foreign->empty = foreign->too_far = 0;
}

void tr_drcov_foreign_free(struct tr_drcov_foreign *foreign)
{
	tr_layout_free(&foreign->layout);
	tr_arena_free(&foreign->memory);
	tr_buffer_free(&foreign->program);
	tr_buffer_free(&foreign->list);
	tr_map_free(&foreign->seen);
	tr_map_free(&foreign->by_range);
}

static bool name_is(const struct tr_record *record, const char *name)
{
	return record->name.type == TR_CELL_TEXT && tr_text_is(record->name.text, name);
}

/* A list of modules that tr_module_list_write made; data NULL: the record has none. */
static struct tr_text list_of(struct tr_record *record, struct tr_error *err)
{
	struct tr_text none = { NULL, 0 }, data = none;
	if (tr_text_is(record->kind, "info") && name_is(record, "USER_DATA"))
		data = tr_ask_string(record, "data", err);
	return data.data && tr_text_starts(data, TR_TEXT(TR_DRCOV_VERSION)) ? data : none;
}

bool tr_drcov_foreign_is_next(const struct tr_drcov_foreign *foreign, struct tr_record *record,
			      struct tr_error *err)
{
	return foreign->list.len && list_of(record, err).data;
}

static enum tr_status put_info(struct tr_drcov_foreign *foreign, struct tr_record *record,
			       struct tr_error *err)
{
	bool program = name_is(record, "EXEC_FILE_NAME") || name_is(record, "KERNEL_FILE_NAME");
	struct tr_buffer *to = program ? &foreign->program : &foreign->list;
	struct tr_text data = { NULL, 0 };
	if (!to->len)
		data = program ? tr_ask_string(record, "data", err) : list_of(record, err);
	if (data.data)
		tr_buffer_put_text(to, data);
	if (to->failed || err->cause == TR_CAUSE_MEMORY)
		return tr_error_memory(err);
	return tr_layout_info(&foreign->layout, record, err);
}

/* The object of that range and path: one that is loaded again is the same module. NULL: memory. */
static struct tr_drcov_object *object_of(struct tr_drcov_foreign *foreign,
					 const struct tr_loaded_object *loaded)
{
	char *key = tr_arena_alloc(&foreign->memory, 2 * sizeof loaded->first + loaded->path.len);
	if (!key)
		return NULL;
	memcpy(key, &loaded->first, sizeof loaded->first);
	memcpy(key + sizeof loaded->first, &loaded->last, sizeof loaded->last);
	struct tr_text path = { key + 2 * sizeof loaded->first, loaded->path.len };
	memcpy(key + 2 * sizeof loaded->first, loaded->path.data, path.len);
	struct tr_text all = { key, 2 * sizeof loaded->first + path.len };
	struct tr_drcov_object *object = tr_map_get(&foreign->by_range, all);
	if (object)
		return object;
	object = tr_arena_alloc(&foreign->memory, sizeof *object);
	if (!object || !tr_map_put(&foreign->by_range, all, object))
		return NULL;
	*object = (struct tr_drcov_object){ NULL, foreign->object_count++, loaded->first,
					    loaded->last + 1, path };
	*foreign->last_object = object;
	foreign->last_object = &object->next;
	return object;
}

static enum tr_status put_load(struct tr_drcov_foreign *foreign, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_loaded_object loaded;
	enum tr_status status =
		tr_layout_load(&foreign->layout, record, foreign->object_count, &loaded, err);
	if (status != TR_OK)
		return status;
	struct tr_drcov_object *object = object_of(foreign, &loaded);
	if (!object)
		return tr_error_memory(err);
	tr_objects_rename(&foreign->layout.objects, loaded.first, object->id);
	return TR_OK;
}

static enum tr_status put_block(struct tr_drcov_foreign *foreign, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_block block;
	enum tr_status status = tr_block_read(record, &block, err);
	if (status != TR_OK || foreign->map || block.op == TR_EXEC_SPECIAL)
		return status;
	if (!block.size) {
		foreign->empty++;
		return TR_OK;
	}
	if (!foreign->digits)
		foreign->digits = block.digits;
	const struct tr_object *object = tr_objects_find(&foreign->layout.objects, block.address);
	struct tr_drcov_foreign_block key = { block.address, block.size,
					      object ? (int32_t)object->id : NO_OBJECT, 1, NULL };
	struct tr_text bytes = { (const char *)&key, KEY };
	/* what was a drcov file is a list, not a run: all of it comes back */
	bool list = foreign->list.len && !foreign->history;
	struct tr_drcov_foreign_block *found = list ? NULL : tr_map_get(&foreign->seen, bytes);
	if (found) {
		found->hits++;
		return TR_OK;
	}
	found = tr_arena_alloc(&foreign->memory, sizeof *found);
	if (!found)
		return tr_error_memory(err);
	*found = key;
	bytes.data = (const char *)found;
	*foreign->last = found;
	foreign->last = &found->next;
	foreign->count++;
	return list || tr_map_put(&foreign->seen, bytes, found) ? TR_OK : tr_error_memory(err);
}

static enum tr_status no_coverage(struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_INPUT, "left out: a decision map is no execution trace");
	return TR_WARN;
}

enum tr_status tr_drcov_foreign_put(struct tr_drcov_foreign *foreign, struct tr_record *record,
				    struct tr_error *err)
{
	uint64_t address;
	uint8_t digits;
	if (tr_text_is(record->kind, "block"))
		return put_block(foreign, record, err);
	if (tr_text_is(record->kind, "info"))
		return put_info(foreign, record, err);
	if (tr_text_is(record->kind, "load"))
		return put_load(foreign, record, err);
	if (tr_text_is(record->kind, "section")) {
		tr_layout_section(&foreign->layout, name_is(record, "INFO"));
		foreign->history |= name_is(record, "HISTORY");
		foreign->map = name_is(record, "DECISION_MAP");
		if (foreign->map)
			return no_coverage(err);
	} else if (tr_text_is(record->kind, "unload")) {
		if (tr_address_read(&record->name, &address, &digits))
			tr_layout_unload(&foreign->layout, address);
	} else if (tr_text_is(record->kind, "loadaddr")) {
		if (tr_address_read(&record->name, &address, &digits) &&
		    tr_layout_loadaddr(&foreign->layout, address))
			foreign->load = address;
	} else {
		return TR_END;
	}
	return TR_OK;
}

static int by_address(const void *a, const void *b)
{
	const struct tr_drcov_foreign_block *x = *(struct tr_drcov_foreign_block *const *)a;
	const struct tr_drcov_foreign_block *y = *(struct tr_drcov_foreign_block *const *)b;
	return (x->address > y->address) - (x->address < y->address);
}

static uint64_t end_of(const struct tr_drcov_foreign_block *block, unsigned digits)
{
	uint64_t top = digits == 8 ? UINT32_MAX : UINT64_MAX;
	return block->size > top - block->address ? top : block->address + block->size;
}

static bool put_part(const struct tr_drcov_foreign *foreign, struct tr_module_list *list,
		     uint64_t base, uint64_t end)
{
	struct tr_text path = tr_buffer_text(&foreign->program);
	return tr_module_list_put(list, base, end, path.len ? path : TR_TEXT("unknown"));
}

/*
 * What lies in no shared object is the program: one module from where it was
 * loaded, or from the page of the lowest block. What is below that, or too far
 * from it to be counted in 32 bits, gets a further row of the same name.
 */
static bool put_parts(const struct tr_drcov_foreign *foreign, struct tr_module_list *list,
		      struct tr_drcov_foreign_block *const *blocks, size_t count)
{
	uint64_t load = foreign->load;
	for (size_t i = 0, next; i < count; i = next) {
		uint64_t first = blocks[i]->address, base = first & ~(uint64_t)(PAGE - 1), end = 0;
		if (load && first >= load && (i == 0 || blocks[i - 1]->address < load) &&
		    first - load <= UINT32_MAX)
			base = load;
		for (next = i; next < count && blocks[next]->address - base <= UINT32_MAX; next++) {
			if (first < load && blocks[next]->address >= load)
				break;
			uint64_t here = end_of(blocks[next], list->digits);
			end = here > end ? here : end;
		}
		if (!put_part(foreign, list, base, end))
			return false;
	}
	return true;
}

/* The first block at or above the address. */
static size_t lower_bound(struct tr_drcov_foreign_block *const *blocks, size_t count,
			  uint64_t address)
{
	size_t low = 0;
	while (low < count) {
		size_t middle = low + (count - low) / 2;
		if (blocks[middle]->address < address)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

/* The next -O module from `i` on, with its base; i == settings->count: there is none. */
static size_t next_setting(const struct tr_settings *settings, size_t i, struct tr_text *path,
			   uint64_t *base)
{
	while (i < settings->count && (!tr_text_is(settings->list[i].key, "module") ||
				       !tr_drcov_setting(settings->list[i].value, path, base)))
		i++;
	return i;
}

/* -O module=PATH@BASE: from there up to the next, as far as there are blocks. */
static bool put_setting(const struct tr_settings *settings, struct tr_text path, uint64_t base,
			struct tr_module_list *list, struct tr_drcov_foreign_block *const *blocks,
			size_t count)
{
	uint64_t other, next = UINT64_MAX, end = base;
	struct tr_text ignored;
	for (size_t i = 0; (i = next_setting(settings, i, &ignored, &other)) < settings->count; i++)
		if (other > base && other < next)
			next = other;
	for (size_t i = lower_bound(blocks, count, base); i < count && blocks[i]->address < next;
	     i++) {
		uint64_t here = end_of(blocks[i], list->digits);
		end = here > end ? here : end;
	}
	return tr_module_list_put(list, base, end, path);
}

/* The program below all that -O module names, then what it names. False: memory is out. */
static bool put_modules(const struct tr_drcov_foreign *foreign, const struct tr_settings *settings,
			struct tr_module_list *list)
{
	size_t count = 0, named = 0;
	uint64_t lowest = UINT64_MAX, base;
	struct tr_text path;
	struct tr_drcov_foreign_block **blocks =
		malloc((foreign->count + 1) * sizeof(struct tr_drcov_foreign_block *));
	if (!blocks)
		return false;
	for (struct tr_drcov_foreign_block *b = foreign->first; b; b = b->next)
		if (b->object == NO_OBJECT)
			blocks[count++] = b;
	qsort(blocks, count, sizeof *blocks, by_address);
	for (size_t i = 0; (i = next_setting(settings, i, &path, &base)) < settings->count; i++) {
		lowest = base < lowest ? base : lowest;
		named++;
	}
	size_t below = named ? lower_bound(blocks, count, lowest) : count;
	bool good = put_parts(foreign, list, blocks, below);
	if (!named && !count) /* nothing of it was executed: it is named all the same */
		good = put_part(foreign, list, foreign->load, foreign->load);
	for (size_t i = 0; good && (i = next_setting(settings, i, &path, &base)) < settings->count;
	     i++)
		good = put_setting(settings, path, base, list, blocks, count);
	free(blocks);
	return good;
}

bool tr_drcov_foreign_list(struct tr_drcov_foreign *foreign, const struct tr_settings *settings,
			   struct tr_module_list *list, unsigned version, unsigned table)
{
	enum tr_status own = TR_END;
	if (foreign->list.len)
		own = tr_module_list_parse(list, tr_buffer_text(&foreign->list), version, table);
	if (own == TR_FATAL || (own == TR_END && !tr_module_list_begin(list, NULL)))
		return false;
	if (foreign->digits == 8)
		list->digits = 8;
	if (own == TR_END) {
		tr_module_list_choose(list, version, table);
		if (!put_modules(foreign, settings, list))
			return false;
	}
	foreign->first_row = list->count;
	for (const struct tr_drcov_object *o = foreign->first_object; o; o = o->next)
		if (!tr_module_list_put(list, o->base, o->end, o->path))
			return false;
	return true;
}

/* Where the block is; false: it cannot be said in a table. */
static bool place_block(const struct tr_drcov_foreign *foreign, struct tr_module_list *list,
			const struct tr_drcov_foreign_block *block, struct tr_drcov_row *row,
			bool *failed)
{
	uint64_t id, start;
	if (block->object == NO_OBJECT) {
		tr_module_list_relative(list, block->address, &id, &start, failed);
	} else {
		const struct tr_module_place *place =
			&list->places[foreign->first_row + (size_t)block->object];
		id = place->id;
		start = block->address - place->origin;
	}
	*row = (struct tr_drcov_row){ start, block->size, (uint32_t)id };
	if (id > TR_DRCOV_NO_MODULE || start > UINT32_MAX) { /* but by its address */
		row->module = TR_DRCOV_NO_MODULE;
		row->start = block->address;
	}
	return row->start <= UINT32_MAX;
}

bool tr_drcov_foreign_blocks(struct tr_drcov_foreign *foreign, struct tr_module_list *list,
			     struct tr_drcov_blocks *blocks)
{
	struct tr_text none = { NULL, 0 };
	bool failed = false;
	blocks->digits = list->digits;
	blocks->counted = foreign->history;
	for (const struct tr_drcov_foreign_block *b = foreign->first; b && !failed; b = b->next) {
		struct tr_drcov_row row;
		if (!place_block(foreign, list, b, &row, &failed))
			foreign->too_far++;
		else if (!tr_drcov_blocks_add(blocks, &row, b->hits, none))
			failed = true;
	}
	return !failed;
}
