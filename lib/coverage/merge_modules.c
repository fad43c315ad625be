/* SPDX-License-Identifier: MIT */
/*
 * Merges drcov traces: the result has each block once, with the sum of its hit counts if any trace
 * has them.
 *
 *	module -> a key without its load address -> the merged table
 *	block -> its module and start -> sorted and counted (compact) -> records
 *
 * A block is identified within its module, so it does not matter where a program was loaded.
 * Modules are the same if their path, size and offset within the containing module are, and their
 * checksum, timestamp and file offset, if the table has these.
 *
 * The head and the form of the blocks (text or binary) are those of the first trace; so is the
 * base of a module that it has. Blocks are sorted by module and address. Memory grows with the
 * distinct modules and blocks, 24 bytes for each block.
 */

#include "coverage/merge_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "coverage/block.h"
#include "coverage/module_table.h"
#include "record/ask.h"

enum {
	NO_MODULE = 65535,	   /* the id of blocks that are in none */
	FIRST_COMPACTION = 1 << 16 /* blocks, before they are sorted and counted */
};

struct module {
	uint64_t base;
	struct tr_text line; /* columns of its record from the name on */
	uint64_t trace;	     /* the last trace with such modules; only set in the first of them */
	uint64_t alike;	     /* how many of them that trace has had so far; likewise */
};

/* A block of the merged trace. There may be very many of them: 24 bytes each. */
struct block {
	uint64_t start; /* from the base of its module */
	uint64_t hits;
	uint32_t size, module;
};

struct merge {
	struct tr_arena arena;
	struct tr_map by_key; /* to the number of a module, from 1 */
	struct module *modules;
	size_t module_count, module_cap;

	struct block *blocks;
	size_t block_count, block_cap;

	/* the trace that is being read */
	uint64_t traces;
	struct tr_module_list list;
	uint32_t *numbers; /* of its modules, from 1, by id; 0: there is none */
	bool left_out;

	struct tr_buffer header;	  /* of the first trace */
	struct tr_module_columns columns; /* of the first trace */
	unsigned digits;
	bool has_form, text, counted;
	struct tr_buffer scratch;
};

/* Frees what the merge holds; keys and lines are in the arena. */
static void discard(void *self)
{
	struct merge *merge = self;

	tr_map_free(&merge->by_key);
	tr_arena_free(&merge->arena);
	tr_module_list_free(&merge->list);
	tr_buffer_free(&merge->header);
	tr_buffer_free(&merge->scratch);
	free(merge->modules);
	free(merge->blocks);
	free(merge->numbers);
}

/* Begins a trace, with a table of its own. The first one decides how wide addresses are. */
static enum tr_status begin(void *self, struct tr_record *header, struct tr_error *err)
{
	struct merge *merge = self;

	free(merge->numbers);
	merge->numbers = calloc(NO_MODULE, sizeof *merge->numbers);
	/* what a table cannot hold is reported by the writer of one */
	if (!merge->numbers || tr_module_list_begin(&merge->list, header, err) == TR_FATAL)
		return tr_error_memory(err);
	merge->left_out = merge->traces && merge->list.digits != merge->digits;
	if (merge->traces++) {
		return merge->left_out ? tr_merge_left_out(err, "its addresses are not as wide as "
								"those of the first trace")
				       : TR_OK;
	}
	merge->digits = merge->list.digits;
	merge->columns = merge->list.source;
	enum tr_status status = tr_merge_header(header, "drcov", &merge->header, err);
	if (!header) /* what tr_module_list_begin supplies */
		tr_buffer_put_literal(&merge->header,
				      "\tversion=2\ttable=2\tcolumns=[\"id\",\"base\",\"end\","
				      "\"entry\",\"path\"]\tbits=64");
	return merge->header.failed ? tr_error_memory(err) : status;
}

/* Adds a number to the key or line in scratch. */
static void put_number(struct merge *merge, uint64_t number)
{
	tr_buffer_put_byte(&merge->scratch, '\t');
	tr_buffer_put_decimal(&merge->scratch, number);
}

/* Puts the key of a module into scratch, without anything that depends on its load address. */
static void spell_key(struct merge *merge, struct tr_record *record,
		      const struct tr_module_place *place, struct tr_error *err)
{
	static const char *const keys[] = { "size", "offset", "checksum", "timestamp" };
	uint64_t whole = tr_ask_number(record, "containing_id", place->id, err);
	const struct tr_module_place *containing = tr_module_list_id(&merge->list, whole);

	tr_buffer_reset(&merge->scratch);
	tr_cell_write(&record->name, &merge->scratch);
	put_number(merge, place->end - place->base);
	put_number(merge, containing ? place->base - containing->base : 0);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const struct tr_value *value = tr_ask_any(record, keys[i], err);
		bool number = value && (value->type == TR_UINT || value->type == TR_POINTER);
		put_number(merge, number ? value->as.number : 0);
	}
}

/*
 * Finds the module with the key in scratch, and returns its number; 0: no trace had it before. A
 * trace may have several modules with the same key. The nth of them corresponds to the nth in every
 * trace: n - 1 is added to the key in scratch.
 */
static size_t find_module(struct merge *merge)
{
	size_t first = (size_t)tr_map_get(&merge->by_key, tr_buffer_text(&merge->scratch));

	if (!first)
		return 0;
	struct module *head = &merge->modules[first - 1];
	if (head->trace != merge->traces) {
		head->trace = merge->traces;
		head->alike = 1;
		return first;
	}
	put_number(merge, head->alike++);
	return (size_t)tr_map_get(&merge->by_key, tr_buffer_text(&merge->scratch));
}

/*
 * Adds a module that no trace had before; its key is in scratch. It goes into the table of the
 * first trace, so it must be a row there, too.
 */
static enum tr_status add_module(struct merge *merge, struct tr_record *record,
				 const struct tr_module_place *place, struct tr_error *err)
{
	size_t number = merge->module_count + 1;
	struct tr_module row;

	enum tr_status status = tr_module_read(&merge->columns, record, &row, err);
	if (status != TR_OK)
		return status;
	if (number == NO_MODULE)
		return tr_merge_left_out(
			err, "a module after 65534 others, the most that drcov can hold");
	if (!tr_array_room(merge->modules, merge->module_count, merge->module_cap))
		return tr_error_memory(err);
	struct tr_text key = tr_arena_copy(&merge->arena, tr_buffer_text(&merge->scratch));
	uint64_t whole = tr_ask_number(record, "containing_id", UINT64_MAX, err);
	size_t containing = whole == place->id || whole >= NO_MODULE ? 0 : merge->numbers[whole];
	bool unknown = !containing && whole != UINT64_MAX && whole != place->id;
	/* a module that is in no other refers to itself */
	if (!containing && whole != UINT64_MAX)
		containing = number;
	tr_buffer_reset(&merge->scratch);
	tr_cell_write(&record->name, &merge->scratch);
	tr_buffer_put_literal(&merge->scratch, "\tid=");
	tr_buffer_put_decimal(&merge->scratch, number - 1);
	if (containing) {
		tr_buffer_put_literal(&merge->scratch, "\tcontaining_id=");
		tr_buffer_put_decimal(&merge->scratch, containing - 1);
	}
	const char *const skip[] = { "id", ".row", containing ? "containing_id" : NULL, NULL };
	status = tr_merge_fields(record, skip, &merge->scratch, err);
	if (status != TR_OK)
		return status;
	struct tr_text line = tr_arena_copy(&merge->arena, tr_buffer_text(&merge->scratch));
	if (!key.data || !line.data || !tr_map_put(&merge->by_key, key, (void *)number))
		return tr_error_memory(err);
	/* as readers of the merged table see it: without bases, starts count from the module */
	uint64_t base = tr_module_number(&merge->columns, &row, TR_MODULE_BASE, 0);
	merge->modules[merge->module_count++] =
		(struct module){ .base = base, .line = line, .trace = merge->traces, .alike = 1 };
	if (place->id < NO_MODULE)
		merge->numbers[place->id] = (uint32_t)number;
	if (!unknown)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "containing_id=%" PRIu64
		     ": no earlier module has this id; the module is merged "
		     "as one that no other contains",
		     whole);
	return TR_WARN;
}

/* Finds the module of the merged trace that equals a module of this trace, or adds it. */
static enum tr_status put_module(struct merge *merge, struct tr_record *record,
				 struct tr_error *err)
{
	enum tr_status status = tr_module_list_add(&merge->list, record, err);

	if (status != TR_OK)
		return status;
	const struct tr_module_place *place = &merge->list.places[merge->list.count - 1];
	tr_error_clear(err);
	spell_key(merge, record, place, err);
	size_t number = find_module(merge);
	if (merge->scratch.failed || tr_error_is_memory(err))
		return tr_error_memory(err);
	if (!number)
		return add_module(merge, record, place, err);
	if (place->id < NO_MODULE)
		merge->numbers[place->id] = (uint32_t)number;
	return TR_OK;
}

/* Orders blocks by module, start and size; equal ones are the same block. */
static int compare(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->size > y->size) - (x->size < y->size);
}

/* Sorts the blocks, and merges those that are alike. */
static void compact(struct merge *merge)
{
	size_t kept = 0;

	if (merge->block_count)
		qsort(merge->blocks, merge->block_count, sizeof *merge->blocks, compare);
	for (size_t i = 0; i < merge->block_count; i++) {
		struct block *here = &merge->blocks[i];
		struct block *last = kept ? &merge->blocks[kept - 1] : NULL;
		if (!last || compare(last, here) != 0)
			merge->blocks[kept++] = *here;
		else if (__builtin_add_overflow(last->hits, here->hits, &last->hits))
			last->hits = UINT64_MAX;
	}
	merge->block_count = kept;
}

/*
 * Adds a block. When the array is full, equal blocks are merged first, so memory grows with the
 * distinct ones. False: memory is exhausted.
 */
static bool add_block(struct merge *merge, const struct block *block)
{
	if (merge->block_count == merge->block_cap) {
		if (merge->block_count >= FIRST_COMPACTION)
			compact(merge);
		/* twice the room of the distinct ones, so that each is sorted only a few times */
		size_t cap = merge->block_count * 2 < 1024 ? 1024 : merge->block_count * 2;
		if (!tr_array_grow(&merge->blocks, &merge->block_cap, cap, sizeof *merge->blocks))
			return false;
	}
	merge->blocks[merge->block_count++] = *block;
	return true;
}

/* Adds a block, at its place within its module. A block without hits was executed once. */
static enum tr_status put_block(struct merge *merge, struct tr_record *record, struct tr_error *err)
{
	uint64_t address, base = 0;
	uint8_t digits;

	tr_error_clear(err);
	uint64_t size = tr_ask_number(record, "size", UINT64_MAX, err);
	uint64_t id = tr_ask_number(record, "module", UINT64_MAX, err);
	const struct tr_value *hits = tr_ask(record, "hits", TR_UINT, err);
	if (err->cause == TR_CAUSE_MEMORY)
		return TR_FATAL;
	if (!tr_address_read(&record->name, &address, &digits))
		return tr_merge_left_out(err, "a block whose name is not an address");
	if (id > NO_MODULE || size > UINT32_MAX)
		return tr_merge_left_out(err, "a block without a size or a module");
	uint32_t number = id == NO_MODULE ? NO_MODULE : merge->numbers[id];
	if (!number)
		return tr_merge_left_out(err, "a block of a module that is not in the table");
	const struct tr_module_place *place = tr_module_list_id(&merge->list, id);
	if (place)
		base = place->base;
	struct block block = { .start = address - base,
			       .hits = hits ? hits->as.number : 1,
			       .size = (uint32_t)size,
			       .module = number == NO_MODULE ? number : number - 1 };
	/* addresses of 32 bits wrap */
	if (merge->digits == 8)
		block.start = (uint32_t)block.start;
	merge->counted |= hits != NULL;
	return add_block(merge, &block) ? TR_OK : tr_error_memory(err);
}

/* Adds a record (struct tr_merge_form). */
static enum tr_status put(void *self, struct tr_record *record, struct tr_error *err)
{
	struct merge *merge = self;

	if (merge->left_out)
		return TR_OK;
	if (tr_text_is(record->kind, "block"))
		return put_block(merge, record, err);
	if (tr_text_is(record->kind, "module"))
		return put_module(merge, record, err);
	if (!tr_text_is(record->kind, "meta") || record->name.type != TR_CELL_TEXT ||
	    !tr_text_is(record->name.text, "bbs"))
		return TR_OK;
	tr_error_clear(err);
	struct tr_text form = tr_ask_string(record, "value", err);
	if (!merge->has_form)
		merge->text = form.data && tr_text_is(form, "text");
	merge->has_form = true;
	merge->counted |= tr_record_field(record, "hits") != NULL;
	return tr_error_is_memory(err) ? TR_FATAL : TR_OK;
}

/* Writes the header. Its flavor must announce hit counts if there are any. */
static void write_header(const struct merge *merge, struct tr_merge_lines *lines)
{
	struct tr_text header = tr_buffer_text(&merge->header);
	const char *end = header.data + header.len, *quote = end;
	const char *flavor = memmem(header.data, header.len, "\tflavor=\"", 9);

	if (flavor && merge->counted) {
		/* the last quote: "..." may follow it if the string was cut */
		const char *tab = memchr(flavor + 1, '\t', (size_t)(end - flavor - 1));
		quote = memrchr(flavor, '"', (size_t)((tab ? tab : end) - flavor));
	}
	tr_buffer_put_text(&lines->text, tr_text_span(header.data, quote));
	if (quote < end && !memmem(flavor, (size_t)(quote - flavor), "hits", 4))
		tr_buffer_put_literal(&lines->text, "-hits");
	tr_buffer_put_text(&lines->text, tr_text_span(quote, end));
	tr_merge_end(lines);
}

/* Writes the merged trace. Each module is at its base in the first trace that has it. */
static void write(void *self, struct tr_merge_lines *lines)
{
	struct merge *merge = self;
	struct tr_buffer *line = &lines->text;

	write_header(merge, lines);
	for (size_t i = 0; i < merge->module_count; i++) {
		tr_merge_begin(lines, "module");
		tr_buffer_put_literal(line, "-\t-\t");
		tr_buffer_put_text(line, merge->modules[i].line);
		tr_merge_end(lines);
	}
	tr_merge_begin(lines, "meta");
	tr_buffer_put_literal(line, "-\t-\tbbs\tvalue=\"");
	tr_buffer_put_text(line, tr_text_from(merge->text ? "text\"" : "binary\""));
	if (merge->counted)
		tr_buffer_put_literal(line, "\thits=true");
	tr_merge_end(lines);
	compact(merge);
	for (size_t i = 0; i < merge->block_count; i++) {
		const struct block *block = &merge->blocks[i];
		bool none = block->module == NO_MODULE;
		uint64_t address = block->start + (none ? 0 : merge->modules[block->module].base);
		tr_merge_begin(lines, "block");
		tr_buffer_put_literal(line, "-\t-\t0x");
		tr_buffer_put_hex(line, merge->digits == 8 ? (uint32_t)address : address,
				  merge->digits);
		tr_buffer_put_literal(line, "\tsize=");
		tr_buffer_put_decimal(line, block->size);
		tr_buffer_put_literal(line, "\tmodule=");
		tr_buffer_put_decimal(line, block->module);
		if (merge->counted) {
			tr_buffer_put_literal(line, "\thits=");
			tr_buffer_put_decimal(line, block->hits);
		}
		tr_merge_end(lines);
	}
}

const struct tr_merge_form tr_merge_modules = {
	.format = "drcov",
	.name = "a drcov trace",
	.size = sizeof(struct merge),
	.begin = begin,
	.put = put,
	.write = write,
	.discard = discard,
};
