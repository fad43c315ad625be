#include "format/drcov/foreign.h"

#include <stdlib.h>

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
	tr_arena_reset(&foreign->objects);
	tr_arena_reset(&foreign->memory);
	tr_buffer_reset(&foreign->program);
	tr_buffer_reset(&foreign->list);
	tr_map_clear(&foreign->seen);
	foreign->first_object = NULL;
	foreign->last_object = &foreign->first_object;
	foreign->first = NULL;
	foreign->last = &foreign->first;
	foreign->object_count = 0;
	foreign->history = false;
	foreign->digits = 0;
	foreign->load = foreign->empty = foreign->too_far = 0;
}

void tr_drcov_foreign_free(struct tr_drcov_foreign *foreign)
{
	tr_layout_free(&foreign->layout);
	tr_arena_free(&foreign->objects);
	tr_arena_free(&foreign->memory);
	tr_buffer_free(&foreign->program);
	tr_buffer_free(&foreign->list);
	tr_map_free(&foreign->seen);
}

static enum tr_status out_of_memory(struct tr_error *err)
{
	tr_error_memory(err);
	return TR_FATAL;
}

static bool name_is(const struct tr_record *record, const char *name)
{
	return record->name.type == TR_CELL_TEXT && tr_text_is(record->name.text, name);
}

static enum tr_status put_info(struct tr_drcov_foreign *foreign, struct tr_record *record,
			       struct tr_error *err)
{
	bool program = name_is(record, "EXEC_FILE_NAME") || name_is(record, "KERNEL_FILE_NAME");
	bool tag = name_is(record, "USER_DATA");
	struct tr_buffer *to = program ? &foreign->program : &foreign->list;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if ((program || tag) && !to->len) {
		struct tr_field *field = tr_record_field(record, "data");
		struct tr_value *value = field ? tr_field_value(record, field, NULL) : NULL;
		struct tr_text data = { NULL, 0 };
		if (value && value->type == TR_STRING)
			data = tr_string_bytes(value->text, record->arena);
		if (data.data && (program || tr_text_starts(data, TR_TEXT(TR_DRCOV_VERSION))))
			tr_buffer_put_text(to, data);
		if (to->failed)
			return out_of_memory(err);
	}
	return tr_layout_info(&foreign->layout, record, err);
}

static enum tr_status put_load(struct tr_drcov_foreign *foreign, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_loaded_object loaded;
	enum tr_status status = tr_layout_load(&foreign->layout, record, foreign->object_count,
					       &loaded, err);
	if (status != TR_OK)
		return status;
	struct tr_drcov_object *object = tr_arena_alloc(&foreign->objects, sizeof *object);
	if (!object)
		return out_of_memory(err);
	*object = (struct tr_drcov_object){ NULL, loaded.first, loaded.last + 1,
					    tr_arena_copy(&foreign->objects, loaded.path) };
	*foreign->last_object = object;
	foreign->last_object = &object->next;
	foreign->object_count++;
	return object->path.data ? TR_OK : out_of_memory(err);
}

static enum tr_status put_block(struct tr_drcov_foreign *foreign, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_block block;
	enum tr_status status = tr_block_read(record, &block, err);
	if (status != TR_OK)
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
	struct tr_drcov_foreign_block *found = tr_map_get(&foreign->seen, bytes);
	if (found) {
		found->hits++;
		return TR_OK;
	}
	found = tr_arena_alloc(&foreign->memory, sizeof *found);
	if (!found)
		return out_of_memory(err);
	*found = key;
	bytes.data = (const char *)found;
	*foreign->last = found;
	foreign->last = &found->next;
	return tr_map_put(&foreign->seen, bytes, found) ? TR_OK : out_of_memory(err);
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

/* -O module=PATH@BASE, each up to the next. False: memory is out. */
static bool put_settings(const struct tr_settings *settings, struct tr_module_list *list)
{
	for (size_t i = 0; i < settings->count; i++) {
		struct tr_text value = settings->list[i].value, path;
		uint64_t base, end = UINT64_MAX;
		if (!tr_text_is(settings->list[i].key, "module") ||
		    !tr_drcov_setting(value, &path, &base))
			continue;
		for (size_t k = 0; k < settings->count; k++) {
			struct tr_text other;
			uint64_t next;
			if (tr_text_is(settings->list[k].key, "module") &&
			    tr_drcov_setting(settings->list[k].value, &other, &next) &&
			    next > base && next < end)
				end = next;
		}
		if (list->digits == 8 && end > UINT32_MAX)
			end = UINT32_MAX;
		if (!tr_module_list_put(list, base, end, path))
			return false;
	}
	return true;
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
	return count || put_part(foreign, list, load, load);
}

static bool put_program(const struct tr_drcov_foreign *foreign, struct tr_module_list *list)
{
	size_t count = 0;
	struct tr_drcov_foreign_block **blocks =
		malloc((foreign->seen.count + 1) * sizeof(struct tr_drcov_foreign_block *));
	if (!blocks)
		return false;
	for (struct tr_drcov_foreign_block *b = foreign->first; b; b = b->next)
		if (b->object == NO_OBJECT)
			blocks[count++] = b;
	qsort(blocks, count, sizeof *blocks, by_address);
	bool good = put_parts(foreign, list, blocks, count);
	free(blocks);
	return good;
}

bool tr_drcov_foreign_list(struct tr_drcov_foreign *foreign, const struct tr_settings *settings,
			   struct tr_module_list *list, unsigned version, unsigned table)
{
	bool own = foreign->list.len && tr_module_list_parse(list, tr_buffer_text(&foreign->list),
							     version, table);
	if (!own && !tr_module_list_begin(list, NULL))
		return false;
	if (foreign->digits == 8)
		list->digits = 8;
	if (!own) {
		tr_module_list_choose(list, version, table);
		if (!put_settings(settings, list) ||
		    (!list->count && !put_program(foreign, list)))
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
	const struct tr_module_place *place =
		block->object == NO_OBJECT
			? tr_module_list_find(list, block->address, failed)
			: &list->places[foreign->first_row + (size_t)block->object];
	uint64_t start = block->address - (place ? place->origin : 0);
	if (foreign->digits == 8)
		start = (uint32_t)start;
	*row = (struct tr_drcov_row){ start, block->size, TR_DRCOV_NO_MODULE };
	if (place && place->id < TR_DRCOV_NO_MODULE && start <= UINT32_MAX)
		row->module = (uint32_t)place->id;
	else
		row->start = block->address;
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
