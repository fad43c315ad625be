/* SPDX-License-Identifier: MIT */
/*
 * The writer of drcov files: collects the module list and the tables of blocks and hits of a dump,
 * because their counts come first in the file. A dump that was a drcov file keeps its modules.
 * Other execution traces (foreign ones) have absolute addresses in the order of execution: their
 * blocks become a set, each with its module and its number of executions.
 *
 *	begin_dump	a segment begins
 *	put_own		records of a drcov file: module, block, meta bbs
 *	foreign_put	records of another execution trace: block, info, load, unload, ...
 *	put_dump	the segment ends: list of modules, table of blocks, hit counts
 *
 * A start has 32 bits and counts from a module, so a foreign trace needs modules: its shared
 * objects, those of -O module, and the program for all the rest. Memory grows with the distinct
 * blocks of a dump.
 */
#include "format/drcov/drcov.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/output.h"
#include "core/wire.h"
#include "coverage/layout.h"
#include "coverage/module_table.h"
#include "format/writer_base.h"
#include "record/ask.h"

/* The tables of a dump; they are written after their counts. */
struct blocks {
	bool text, counted; /* as text; with hit counts */
	bool absolute;	    /* starts are addresses, as in the source */
	unsigned digits;    /* of an address */
	uint64_t count;
	uint64_t saturated;	/* hit counts that do not fit */
	struct tr_buffer table; /* entries or rows */
	struct tr_buffer hits;
	struct tr_buffer lines, hits_line; /* the lines of the source; empty: as usual */
};

/* Empties the tables for a dump. */
static void begin_blocks(struct blocks *blocks, unsigned digits)
{
	tr_buffer_reset(&blocks->table);
	tr_buffer_reset(&blocks->hits);
	tr_buffer_reset(&blocks->lines);
	tr_buffer_reset(&blocks->hits_line);
	blocks->text = blocks->counted = blocks->absolute = false;
	blocks->digits = digits;
	blocks->count = blocks->saturated = 0;
}

/* Frees the tables. */
static void free_blocks(struct blocks *blocks)
{
	tr_buffer_free(&blocks->table);
	tr_buffer_free(&blocks->hits);
	tr_buffer_free(&blocks->lines);
	tr_buffer_free(&blocks->hits_line);
}

/*
 * Adds a block. spelled: the row of a text table in its source, or data NULL. False: memory is
 * exhausted.
 */
static bool blocks_add(struct blocks *blocks, const struct tr_drcov_row *row, uint64_t hits,
		       struct tr_text spelled)
{
	struct tr_drcov_row same;
	char entry[TR_DRCOV_BLOCK], hit[TR_DRCOV_HIT];
	/* a row may have a start that is wider than the addresses */
	uint64_t start_bits = blocks->absolute || blocks->digits == 8 ? UINT32_MAX : UINT64_MAX;
	blocks->saturated += hits > UINT32_MAX;
	tr_wire_put_u32(hit, false, hits > UINT32_MAX ? UINT32_MAX : (uint32_t)hits);
	tr_buffer_put(&blocks->hits, hit, sizeof hit);
	blocks->count++;
	if (!blocks->text) {
		tr_wire_put_u32(entry, false, (uint32_t)row->start);
		tr_wire_put_u32(entry + 4, false, (row->size & 0xffff) | row->module << 16);
		tr_buffer_put(&blocks->table, entry, sizeof entry);
	} else if (spelled.len &&
		   memchr(spelled.data, '\n', spelled.len) == spelled.data + spelled.len - 1 &&
		   tr_drcov_row_parse(spelled, &same) && (same.start & start_bits) == row->start &&
		   same.size == row->size && same.module == row->module) {
		tr_buffer_put_text(&blocks->table, spelled);
	} else {
		tr_drcov_row_write(row, blocks->digits, &blocks->table);
	}
	return !blocks->table.failed && !blocks->hits.failed;
}

/*
 * Whether the lines of the source describe this table, so that they can be kept: a filter or an
 * option may have changed the number of blocks or the form.
 */
static bool lines_hold(const struct blocks *blocks)
{
	struct tr_text text = tr_buffer_text(&blocks->lines), line = { "", 0 };
	uint64_t count = 0;
	bool found = false;
	while (text.len && !found) {
		line = tr_drcov_next_line(&text);
		found = tr_drcov_blocks_line(line, &count);
		if (!found && tr_text_trimmed(line).len)
			return false;
	}
	bool marked = tr_text_starts(text, TR_TEXT(TR_DRCOV_TEXT_MARK)) &&
		      text.data[text.len - 1] == '\n';
	tr_drcov_next_line(&text);
	return found && count == blocks->count && text.len == 0 && marked == blocks->text &&
	       line.data[line.len - 1] == '\n';
}

/* Whether the line before the hit counts has the right count. */
static bool hits_line_holds(const struct blocks *blocks)
{
	struct tr_text text = tr_buffer_text(&blocks->hits_line);
	struct tr_text line = tr_drcov_next_line(&text);
	uint64_t count;
	return line.len && !text.len && line.data[line.len - 1] == '\n' &&
	       tr_drcov_hits_line(line, &count) && count == blocks->count;
}

/* Writes the lines before the table, the table, and the hit counts. */
static void write_blocks(const struct blocks *blocks, struct tr_output *out)
{
	char small[128];
	struct tr_buffer usual = tr_buffer_over(small, sizeof small);
	tr_drcov_blocks_write(blocks->count, blocks->text, &usual);
	tr_output_put_text(out, tr_buffer_text(lines_hold(blocks) ? &blocks->lines : &usual));
	tr_output_put_text(out, tr_buffer_text(&blocks->table));
	if (!blocks->counted)
		return;
	usual.len = 0;
	tr_drcov_hits_write(blocks->count, &usual);
	tr_output_put_text(out,
			   tr_buffer_text(hits_line_holds(blocks) ? &blocks->hits_line : &usual));
	tr_output_put_text(out, tr_buffer_text(&blocks->hits));
}

/* A module of -O module=PATH@BASE. */
struct named {
	struct tr_text path;
	uint64_t base;
};

struct foreign_block {
	/* the key, which has no padding */
	uint64_t address;
	uint32_t size;
	int32_t object;

	uint64_t hits;
	struct foreign_block *next;
};

enum {
	KEY = 16,	  /* bytes */
	LATELY = 1 << 13, /* recent blocks that are found without the map */
};

/*
 * The blocks of a trace that was not a drcov file. A block belongs to the shared object that
 * contains it, else to a module of -O module, else to a module that is made for all the rest.
 */
struct foreign {
	struct tr_layout layout; /* what is loaded where at this point of the trace */
	struct tr_map by_range;	 /* all objects that were loaded so far */
	struct tr_buffer key;	 /* scratch for its keys */
	struct object {
		struct object *next;
		size_t id;
		uint64_t base, end;
		struct tr_text path;
	} * first_object, **last_object;
	size_t object_count;
	size_t first_row;	  /* of the objects, in the list of modules */
	struct tr_buffer program; /* its path */
	struct tr_buffer list;	  /* the trace's own list of modules */
	uint64_t load;		  /* address of the kernel; 0: unknown */
	bool history;		  /* entries count executions */
	bool map;		  /* this section is a decision map */
	uint8_t digits;		  /* of an address; 0: none was seen */

	struct tr_map seen;
	struct tr_arena memory;
	struct foreign_block *first, **last;
	size_t count;
	struct foreign_block *lately[LATELY]; /* found or added, by address */
	uint64_t empty;			      /* blocks without a size */
	uint64_t too_far;		      /* blocks far from every module */
};

enum { NO_OBJECT = -1, PAGE = 4096 };

/* Resets everything for a dump. */
static void foreign_begin(struct foreign *foreign)
{
	tr_layout_section(&foreign->layout, true);
	tr_arena_reset(&foreign->memory);
	tr_buffer_reset(&foreign->program);
	tr_buffer_reset(&foreign->list);
	tr_map_clear(&foreign->seen);
	tr_map_clear(&foreign->by_range);
	memset(foreign->lately, 0, sizeof foreign->lately);
	foreign->first_object = NULL;
	foreign->last_object = &foreign->first_object;
	foreign->first = NULL;
	foreign->last = &foreign->first;
	foreign->object_count = foreign->count = 0;
	foreign->history = foreign->map = false;
	foreign->digits = 0;
	foreign->load = foreign->empty = foreign->too_far = 0;
}

/* Frees everything. */
static void foreign_free(struct foreign *foreign)
{
	tr_layout_free(&foreign->layout);
	tr_arena_free(&foreign->memory);
	tr_buffer_free(&foreign->program);
	tr_buffer_free(&foreign->list);
	tr_map_free(&foreign->seen);
	tr_map_free(&foreign->by_range);
	tr_buffer_free(&foreign->key);
}

/* Whether the name column of the record is this word. */
static bool name_is(const struct tr_record *record, const char *name)
{
	return record->name.type == TR_CELL_TEXT && tr_text_is(record->name.text, name);
}

/* Returns a list of modules that tr_module_list_write made; data NULL: the record has none. */
static struct tr_text list_of(struct tr_record *record, struct tr_error *err)
{
	struct tr_text none = { NULL, 0 }, data = none;
	if (tr_text_is(record->kind, "info") && name_is(record, "USER_DATA"))
		data = tr_ask_string(record, "data", err);
	return data.data && tr_drcov_head_begins(data) ? data : none;
}

/*
 * Takes the path of the program, or the list of modules that a drcov file left in the trace. The
 * first of each counts.
 */
static enum tr_status put_info(struct foreign *foreign, struct tr_record *record,
			       struct tr_error *err)
{
	bool program = name_is(record, "EXEC_FILE_NAME") || name_is(record, "KERNEL_FILE_NAME");
	struct tr_buffer *to = program ? &foreign->program : &foreign->list;
	struct tr_text data = { NULL, 0 };
	if (!to->len)
		data = program ? tr_ask_string(record, "data", err) : list_of(record, err);
	if (data.data)
		tr_buffer_put_text(to, data);
	if (to->failed || tr_error_is_memory(err))
		return tr_error_memory(err);
	return tr_layout_info(&foreign->layout, record, err);
}

/*
 * Returns the object of that range and path, which may be loaded again. NULL: memory is exhausted.
 */
static struct object *object_of(struct foreign *foreign, const struct tr_loaded_object *loaded)
{
	struct tr_buffer *key = &foreign->key;
	tr_buffer_reset(key);
	tr_buffer_put(key, (const char *)&loaded->first, sizeof loaded->first);
	tr_buffer_put(key, (const char *)&loaded->last, sizeof loaded->last);
	tr_buffer_put_text(key, loaded->path);
	struct object *object = tr_map_get(&foreign->by_range, tr_buffer_text(key));
	if (object)
		return object;
	struct tr_text kept = tr_arena_copy(&foreign->memory, tr_buffer_text(key));
	object = tr_arena_alloc(&foreign->memory, sizeof *object);
	if (key->failed || !kept.data || !object || !tr_map_put(&foreign->by_range, kept, object))
		return NULL;
	size_t path = sizeof loaded->first + sizeof loaded->last;
	*object = (struct object){ .id = foreign->object_count++,
				   .base = loaded->first,
				   .end = loaded->last + 1,
				   .path = { kept.data + path, kept.len - path } };
	*foreign->last_object = object;
	foreign->last_object = &object->next;
	return object;
}

/* Handles a shared object that is loaded: it becomes a module. */
static enum tr_status put_load(struct foreign *foreign, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_loaded_object loaded;
	enum tr_status status = tr_layout_load(&foreign->layout, record, &loaded, err);
	if (status != TR_OK)
		return status;
	struct object *object = object_of(foreign, &loaded);
	if (!object)
		return tr_error_memory(err);
	tr_layout_find(&foreign->layout, loaded.first)->id = object->id;
	return TR_OK;
}

/* True if each block is kept: a trace that was converted from drcov is a list without order. */
static bool keeps_all(const struct foreign *foreign)
{
	return foreign->list.len && !foreign->history;
}

/*
 * Counts a block, or adds it. It is the same block only in the same object, because another object
 * may be loaded at the same addresses later. False: memory is exhausted.
 */
static bool add_block(struct foreign *foreign, const struct tr_block *block)
{
	const struct tr_object *object = tr_layout_find(&foreign->layout, block->address);
	struct foreign_block key = { block->address, block->size,
				     object ? (int32_t)object->id : NO_OBJECT, 1, NULL };
	struct tr_text bytes = { (const char *)&key, KEY };
	struct foreign_block *found = keeps_all(foreign) ? NULL : tr_map_get(&foreign->seen, bytes);

	if (found) {
		found->hits++;
	} else {
		found = tr_arena_alloc(&foreign->memory, sizeof *found);
		if (!found)
			return false;
		*found = key;
		bytes.data = (const char *)found;
		if (!keeps_all(foreign) && !tr_map_put(&foreign->seen, bytes, found))
			return false;
		*foreign->last = found;
		foreign->last = &found->next;
		foreign->count++;
	}
	foreign->lately[block->address / 4 % LATELY] = found;
	return true;
}

/* Takes a block. False: memory is exhausted. */
static inline bool take_block(struct foreign *foreign, const struct tr_block *block)
{
	struct foreign_block *lately = foreign->lately[block->address / 4 % LATELY];

	if (foreign->map || block->op == TR_EXEC_SPECIAL)
		return true;
	if (!block->size) {
		foreign->empty++;
		return true;
	}
	if (!foreign->digits)
		foreign->digits = block->digits;
	/* without objects, blocks differ in nothing but address and size */
	if (!lately || lately->address != block->address || lately->size != block->size ||
	    foreign->object_count || keeps_all(foreign))
		return add_block(foreign, block);
	lately->hits++;
	return true;
}

/* Takes the block of a record. */
static enum tr_status put_block(struct foreign *foreign, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_block block;
	enum tr_status status = tr_block_read(record, &block, err);

	if (status != TR_OK)
		return status;
	return take_block(foreign, &block) ? TR_OK : tr_error_memory(err);
}

/* Adds a record. TR_END: no execution trace has records of its kind. err is clear. */
static enum tr_status foreign_put(struct foreign *foreign, struct tr_record *record,
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
		if (foreign->map) {
			tr_error_set(err, TR_CAUSE_INPUT,
				     "left out: a decision map is not an execution trace");
			return TR_WARN;
		}
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
	const struct foreign_block *x = *(struct foreign_block *const *)a;
	const struct foreign_block *y = *(struct foreign_block *const *)b;
	return (x->address > y->address) - (x->address < y->address);
}

/* Returns the address after a block; the top of memory if it wraps. */
static uint64_t end_of(const struct foreign_block *block, unsigned digits)
{
	uint64_t top = digits == 8 ? UINT32_MAX : UINT64_MAX;
	return block->size > top - block->address ? top : block->address + block->size;
}

/* Adds the program as a module of that range. */
static bool put_part(const struct foreign *foreign, struct tr_module_list *list, uint64_t base,
		     uint64_t end)
{
	struct tr_text path = tr_buffer_text(&foreign->program);
	return tr_module_list_put(list, base, end, path.len ? path : TR_TEXT("unknown"));
}

/*
 * Adds the program, which contains the blocks outside all shared objects: one module from its load
 * address, or from the page of the lowest block. Blocks below that, or more than 32 bits above,
 * get a further row of the same name.
 */
static bool put_parts(const struct foreign *foreign, struct tr_module_list *list,
		      struct foreign_block *const *blocks, size_t count)
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
static size_t lower_bound(struct foreign_block *const *blocks, size_t count, uint64_t address)
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

/*
 * Adds the program, for the blocks below all modules of -O module, and then these modules, each of
 * which ends at the last block before the next one. False: memory is exhausted.
 */
static bool put_modules(const struct foreign *foreign, const struct named *named,
			size_t named_count, struct tr_module_list *list)
{
	size_t count = 0;
	uint64_t lowest = UINT64_MAX;
	struct foreign_block **blocks =
		malloc((foreign->count + 1) * sizeof(struct foreign_block *));
	if (!blocks)
		return false;
	for (struct foreign_block *b = foreign->first; b; b = b->next)
		if (b->object == NO_OBJECT)
			blocks[count++] = b;
	qsort(blocks, count, sizeof *blocks, by_address);
	for (size_t i = 0; i < named_count; i++)
		lowest = named[i].base < lowest ? named[i].base : lowest;
	size_t below = named_count ? lower_bound(blocks, count, lowest) : count;
	bool good = put_parts(foreign, list, blocks, below);
	if (!named_count && !count) /* the program is listed even if none of it was executed */
		good = put_part(foreign, list, foreign->load, foreign->load);
	for (size_t i = 0; good && i < named_count; i++) {
		uint64_t base = named[i].base, next = UINT64_MAX, end = base;
		for (size_t k = 0; k < named_count; k++)
			if (named[k].base > base && named[k].base < next)
				next = named[k].base;
		for (size_t k = lower_bound(blocks, count, base);
		     k < count && blocks[k]->address < next; k++) {
			uint64_t here = end_of(blocks[k], list->digits);
			end = here > end ? here : end;
		}
		good = tr_module_list_put(list, base, end, named[i].path);
	}
	free(blocks);
	return good;
}

/* Makes the list of modules. version, table: -O, or 0. False: memory is exhausted. */
static bool foreign_list(struct foreign *foreign, const struct named *named, size_t named_count,
			 struct tr_module_list *list, unsigned version, unsigned table)
{
	enum tr_status own = TR_END;
	struct tr_error err;
	if (foreign->list.len)
		own = tr_module_list_parse(list, tr_buffer_text(&foreign->list), version, table);
	if (own == TR_FATAL || (own == TR_END && tr_module_list_begin(list, NULL, &err) != TR_OK))
		return false;
	if (foreign->digits == 8)
		list->digits = 8;
	if (own == TR_END) {
		tr_module_list_choose(list, version, table);
		if (!put_modules(foreign, named, named_count, list))
			return false;
	}
	foreign->first_row = list->count;
	for (const struct object *o = foreign->first_object; o; o = o->next)
		if (!tr_module_list_put(list, o->base, o->end, o->path))
			return false;
	return true;
}

/* Finds the module of a block, and its start. False: the table cannot hold it. */
static bool place_block(const struct foreign *foreign, struct tr_module_list *list,
			const struct foreign_block *block, struct tr_drcov_row *row, bool *failed)
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
	/* a block that is too far from its module can still be in no module, with its address */
	if (id > TR_DRCOV_NO_MODULE || start > UINT32_MAX) {
		row->module = TR_DRCOV_NO_MODULE;
		row->start = block->address;
	}
	return row->start <= UINT32_MAX;
}

/* Makes the tables of blocks, after the list. False: memory is exhausted. */
static bool foreign_blocks(struct foreign *foreign, struct tr_module_list *list,
			   struct blocks *blocks)
{
	struct tr_text none = { NULL, 0 };
	bool failed = false;
	blocks->digits = list->digits;
	blocks->counted = foreign->history;
	for (const struct foreign_block *b = foreign->first; b && !failed; b = b->next) {
		struct tr_drcov_row row;
		if (!place_block(foreign, list, b, &row, &failed))
			foreign->too_far++;
		else if (!blocks_add(blocks, &row, b->hits, none))
			failed = true;
	}
	return !failed;
}

struct writer {
	struct tr_writer base;
	struct named *named; /* -O module */
	size_t named_count, named_cap;
	unsigned version, table; /* -O; 0: as in the source */
	struct tr_text text;	 /* -O; data NULL: as in the source */

	/* the dump */
	bool headed; /* it has begun, with or without a header */
	bool own;    /* it was a drcov file */
	bool begun;  /* it has a record */
	struct tr_module_list list;
	struct blocks blocks;
	struct foreign foreign;

	/* the whole file: reported at its end */
	uint64_t dumps, too_far, empty, saturated;
	bool supplied; /* a header */
};

/* Writes the dump, which is complete. False: memory is exhausted. */
static bool put_dump(struct writer *writer)
{
	struct tr_module_list *list = &writer->list;
	struct tr_buffer head = TR_BUFFER_INIT;
	bool good = true;
	if (!writer->own) {
		good = foreign_list(&writer->foreign, writer->named, writer->named_count, list,
				    writer->version, writer->table) &&
		       foreign_blocks(&writer->foreign, list, &writer->blocks);
		/* the flavor must not announce counts that are lost */
		static const char hits[] = { '-', 'h', 'i', 't', 's' };
		struct tr_text *flavor = &list->head.flavor;
		if (!writer->blocks.counted && flavor->len >= sizeof hits &&
		    memcmp(flavor->data + flavor->len - sizeof hits, hits, sizeof hits) == 0)
			flavor->len -= sizeof hits;
		if (!list->head.flavor.data)
			list->head.flavor = writer->blocks.counted ? TR_TEXT("drcov-hits")
					    : list->digits == 8	   ? TR_TEXT("drcov-32")
								   : TR_TEXT("drcov-64");
	}
	tr_module_list_write(list, &head);
	good &= !head.failed;
	if (good) {
		tr_output_put_text(writer->base.out, tr_buffer_text(&head));
		write_blocks(&writer->blocks, writer->base.out);
	}
	tr_buffer_free(&head);
	writer->dumps++;
	writer->too_far += writer->foreign.too_far;
	writer->empty += writer->foreign.empty;
	if (writer->blocks.counted)
		writer->saturated += writer->blocks.saturated;
	return good;
}

/* Writes the dump at the end of its segment, unless that is foreign and has no records. */
static enum tr_status end_dump(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	if ((writer->begun || (writer->headed && writer->own)) && !put_dump(writer))
		return tr_error_memory(err);
	writer->headed = writer->own = writer->begun = false;
	return TR_OK;
}

/* Begins a dump; header NULL: the stream has none. TR_WARN: a part of it is left out. */
static enum tr_status begin_dump(struct writer *writer, struct tr_record *header,
				 struct tr_error *err)
{
	struct tr_module_list *list = &writer->list;
	enum tr_status status = tr_module_list_begin(list, header, err);
	writer->headed = true;
	writer->own = header && tr_record_field(header, "columns");
	if (writer->own)
		tr_module_list_choose(list, writer->version, writer->table);
	begin_blocks(&writer->blocks, list->digits);
	writer->blocks.text = writer->text.data && tr_text_is(writer->text, "yes");
	foreign_begin(&writer->foreign);
	return status;
}

/* Begins a dump for each segment, as a drcov file may have several. */
static enum tr_status begin_segment(struct tr_writer *base, struct tr_record *header,
				    struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	return begin_dump(writer, header, err);
}

/* Takes the description of the source's tables of blocks. */
static enum tr_status put_meta(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct blocks *blocks = &writer->blocks;
	struct tr_text form = tr_ask_string(record, "value", err);
	struct tr_text lines = tr_ask_string(record, ".lines", err);
	struct tr_text hits = tr_ask_string(record, ".hits", err);
	if (!writer->text.data)
		blocks->text = form.data && tr_text_is(form, "text");
	blocks->counted = tr_record_field(record, "hits") != NULL;
	blocks->absolute = tr_ask_is(record, "starts", "absolute", err);
	if (lines.data)
		tr_buffer_put_text(&blocks->lines, lines);
	if (hits.data)
		tr_buffer_put_text(&blocks->hits_line, hits);
	if (blocks->lines.failed || blocks->hits_line.failed || tr_error_is_memory(err))
		return tr_error_memory(err);
	return TR_OK;
}

/* Reports a block that is left out. */
static enum tr_status misfit(const char *what, struct tr_error *err)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, what, "left out: %s", what);
	return TR_WARN;
}

/* Adds a block that has a module, in a dump with a table of modules. */
static enum tr_status put_own_block(struct writer *writer, struct tr_record *record,
				    struct tr_error *err)
{
	struct blocks *blocks = &writer->blocks;
	uint64_t address, size, id, hits = 1;
	uint8_t digits;
	size = tr_ask_number(record, "size", UINT64_MAX, err);
	id = tr_ask_number(record, "module", UINT64_MAX, err);
	if (tr_error_is_memory(err))
		return TR_FATAL;
	if (!tr_address_read(&record->name, &address, &digits))
		return misfit("a block whose name is not an address", err);
	if (id > UINT32_MAX || size > UINT32_MAX)
		return misfit("a block without a size or a module", err);
	enum tr_status status = tr_field_number(record, "hits", UINT64_MAX, &hits, err);
	if (status != TR_OK)
		return status;
	const struct tr_module_place *place = tr_module_list_id(&writer->list, id);
	uint64_t start = address - (place ? place->origin : 0);
	if (blocks->absolute)
		start = (uint32_t)address;
	if (writer->list.digits == 8)
		start = (uint32_t)start;
	if (!blocks->text && (start > UINT32_MAX || size > UINT16_MAX || id > UINT16_MAX))
		return misfit("a block that is too big, or too far from its module", err);
	struct tr_drcov_row row = { start, (uint32_t)size, (uint32_t)id };
	blocks->counted |= tr_record_field(record, "hits") != NULL;
	struct tr_text spelled = { NULL, 0 };
	if (blocks->text)
		spelled = tr_ask_string(record, ".row", err);
	if (tr_error_is_memory(err) || !blocks_add(blocks, &row, hits, spelled))
		return tr_error_memory(err);
	return TR_OK;
}

/* Adds a record of a drcov file. TR_END: it is of another kind. */
static enum tr_status put_own(struct writer *writer, struct tr_record *record, struct tr_error *err)
{
	if (tr_text_is(record->kind, "block"))
		return put_own_block(writer, record, err);
	if (tr_text_is(record->kind, "module"))
		return tr_module_list_add(&writer->list, record, err);
	if (tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT &&
	    tr_text_is(record->name.text, "bbs"))
		return put_meta(writer, record, err);
	return TR_END;
}

/* Adds one record to the dump. */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	if (!writer->headed) {
		/* a stream without a header: its first record shows whether it was a drcov file */
		if (begin_dump(writer, NULL, err) != TR_OK)
			return TR_FATAL;
		writer->own =
			tr_text_is(record->kind, "module") ||
			(tr_text_is(record->kind, "block") && tr_record_field(record, "module"));
		writer->supplied = true;
	}
	/* a second list of modules begins another dump that was converted to the same trace */
	bool next = !writer->own && writer->foreign.list.len && list_of(record, err).data;
	if (tr_error_is_memory(err) || (next && !put_dump(writer)))
		return tr_error_memory(err);
	if (next && begin_dump(writer, NULL, err) != TR_OK)
		return TR_FATAL;
	enum tr_status status = writer->own ? put_own(writer, record, err)
					    : foreign_put(&writer->foreign, record, err);
	writer->begun |= status != TR_END;
	return status;
}

/* Takes blocks that have no records. */
static size_t put_blocks(struct tr_writer *base, const struct tr_block *blocks, size_t count,
			 uint64_t seq)
{
	struct writer *writer = tr_container(base, struct writer, base);
	size_t taken = 0;

	(void)seq;
	/* the first record shows the format of the source if there was no header */
	while (taken < count && writer->begun && !writer->own &&
	       take_block(&writer->foreign, &blocks[taken]))
		taken++;
	return taken;
}

/* Makes a note on the file. */
static enum tr_status note(const char *what, struct tr_error *err)
{
	tr_error_say(err, TR_CAUSE_INPUT, what);
	tr_error_is_note(err);
	return TR_WARN;
}

/* Returns the next report on the file. TR_OK: there is no other. */
static enum tr_status report(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	uint64_t too_far = writer->too_far, empty = writer->empty, saturated = writer->saturated;
	if (too_far) {
		writer->too_far = 0;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "left out: %" PRIu64 " blocks farther than 4 GiB from every module "
			     "(give their module with -O module=PATH@BASE)",
			     too_far);
		return TR_WARN;
	}
	if (saturated) {
		writer->saturated = 0;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "hit counts above %" PRIu32 ", written as that number: %" PRIu64,
			     UINT32_MAX, saturated);
		tr_error_is_note(err);
		return TR_WARN;
	}
	if (empty) {
		writer->empty = 0;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "blocks without a size, which drcov cannot hold: %" PRIu64, empty);
		err->severity = TR_DETAIL;
		return TR_WARN;
	}
	if (writer->supplied) {
		writer->supplied = false;
		return note("the stream has no header: version 2 is supplied", err);
	}
	if (writer->dumps > 1) {
		writer->dumps = 0;
		return note("several dumps in one file: many readers see only the first", err);
	}
	return TR_OK;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);
	tr_module_list_free(&writer->list);
	free_blocks(&writer->blocks);
	foreign_free(&writer->foreign);
	free(writer->named);
}

static const struct tr_writer_steps steps = {
	.format = "drcov",
	.begin = begin_segment,
	.put = put_record,
	.blocks = put_blocks,
	.end = end_dump,
	.report = report,
	.discard = discard,
};

/* Parses PATH@0xBASE; a path may contain @ too. False: it is malformed. */
static bool parse_named(struct tr_text value, struct named *named)
{
	size_t at = value.len;
	while (at && value.data[at - 1] != '@')
		at--;
	if (at < 2 || value.len - at < 3 || value.data[at] != '0' || value.data[at + 1] != 'x' ||
	    value.len - at > 18)
		return false;
	named->base = 0;
	for (size_t i = at + 2; i < value.len; i++) {
		int digit = tr_hex_digit(value.data[i]);
		if (digit < 0)
			return false;
		named->base = named->base << 4 | (unsigned)digit;
	}
	named->path = (struct tr_text){ value.data, at - 1 };
	return true;
}

struct tr_writer *tr_drcov_create(const struct tr_write_config *config, struct tr_output *out,
				  struct tr_error *err)
{
	const struct tr_settings *settings = &config->settings;
	struct tr_text version = tr_setting_get(settings, "version", NULL);
	struct tr_text table = tr_setting_get(settings, "table", NULL);
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);
	if (!writer)
		return NULL;
	writer->version = version.len ? (unsigned)(*version.data - '0') : 0;
	writer->table = table.len ? (unsigned)(*table.data - '0') : 0;
	writer->text = tr_setting_get(settings, "text", NULL);
	for (size_t i = 0; i < settings->count; i++) {
		struct tr_text value = settings->list[i].value;
		if (!tr_text_is(settings->list[i].key, "module"))
			continue;
		bool room = tr_array_room(writer->named, writer->named_count, writer->named_cap);
		if (room && parse_named(value, &writer->named[writer->named_count])) {
			writer->named_count++;
			continue;
		}
		if (!room)
			tr_error_memory(err);
		else
			tr_error_set(err, TR_CAUSE_USAGE, "-O module takes PATH@0xBASE, not '%.*s'",
				     TR_SHOWN(value, 80));
		tr_writer_free(&writer->base);
		return NULL;
	}
	return &writer->base;
}
