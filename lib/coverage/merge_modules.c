/* SPDX-License-Identifier: MIT */
/*
 * Merges drcov traces: the blocks of all of them, each once, with the sum of its hit counts if
 * any trace has them.
 *
 *	module -> the key of what does not depend on its load address -> the merged table
 *	block -> its module and start -> sorted and counted (compact) -> records
 *
 * A block is identified within its module, so a program that was loaded at another address is
 * the same program: modules are the same if path, size, and the place within the containing
 * module are, and checksum, timestamp and file offset if the table has them.
 *
 * The head and the form of the blocks (text or binary) are those of the first trace; so is the
 * base of a module that it has. Blocks are sorted by module and address. Memory grows with the
 * distinct modules and blocks, 24 bytes for each block.
 */

#include "coverage/merge_private.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
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
	struct tr_text line; /* of the record, from the name on, with LF */

	/* a trace may have several that are alike: the nth is the nth in every trace */
	size_t next; /* number of the one after this; 0: none */

	/* of the first of those */
	size_t last;
	uint64_t trace; /* the trace that had one of them last */
	size_t turn;	/* number of the one that comes next in that trace; 0: a new one */
};

struct block {
	uint64_t start; /* from the base of its module */
	uint64_t hits;
	uint32_t size, module;
};

struct merge {
	struct tr_arena arena;
	struct tr_map by_key; /* to the number of a module + 1 */
	struct module *modules;
	size_t module_count, module_cap;

	struct block *blocks;
	size_t block_count, block_cap;

	/* the trace that is being read */
	uint64_t traces;
	struct tr_module_list list;
	uint32_t *numbers; /* of its modules, + 1, by id */
	bool left_out, told_unknown;

	struct tr_buffer header; /* of the first trace */
	unsigned digits;
	bool has_form, text, counted;
	struct tr_buffer scratch;
};

static void *create(void)
{
	struct merge *merge = calloc(1, sizeof *merge);

	if (!merge)
		return NULL;
	merge->numbers = calloc(NO_MODULE, sizeof *merge->numbers);
	if (merge->numbers)
		return merge;
	free(merge);
	return NULL;
}

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
	free(merge);
}

static enum tr_status left_out(struct tr_error *err, const char *what)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, what, "left out: %s", what);
	return TR_WARN;
}

static enum tr_status begin(void *self, struct tr_record *header, struct tr_error *err)
{
	struct merge *merge = self;

	if (!tr_module_list_begin(&merge->list, header))
		return tr_error_memory(err);
	memset(merge->numbers, 0, NO_MODULE * sizeof *merge->numbers);
	merge->told_unknown = merge->left_out = false;
	if (merge->traces++) {
		merge->left_out = merge->list.digits != merge->digits;
		return merge->left_out ? left_out(err, "a trace of another width than the first")
				       : TR_OK;
	}
	merge->digits = merge->list.digits;
	enum tr_status status = tr_merge_header(header, "drcov", &merge->header, err);
	if (!header) /* what tr_module_list_begin supplies */
		tr_buffer_put_literal(&merge->header,
				      "\tversion=2\ttable=2\tcolumns=[\"id\",\"base\",\"end\","
				      "\"entry\",\"path\"]\tbits=64");
	return merge->header.failed ? tr_error_memory(err) : status;
}

static void put_number(struct merge *merge, uint64_t number)
{
	tr_buffer_put_byte(&merge->scratch, '\t');
	tr_buffer_put_decimal(&merge->scratch, number);
}

/* Puts the identity of a module into scratch: nothing that depends on its load address. */
static enum tr_status spell_key(struct merge *merge, struct tr_record *record,
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
		uint64_t number = value && (value->type == TR_UINT || value->type == TR_POINTER)
					  ? value->as.number
					  : 0;
		put_number(merge, number);
	}
	if (merge->scratch.failed || err->cause == TR_CAUSE_MEMORY)
		return tr_error_memory(err);
	return TR_OK;
}

/*
 * The number of the module with the key in scratch that comes next in this trace; 0: there is
 * none yet. *first: the number of the first with this key, or 0.
 */
static size_t find_module(struct merge *merge, size_t *first)
{
	*first = (size_t)tr_map_get(&merge->by_key, tr_buffer_text(&merge->scratch));
	if (!*first)
		return 0;
	struct module *head = &merge->modules[*first - 1];
	if (head->trace != merge->traces) {
		head->trace = merge->traces;
		head->turn = *first;
	}
	size_t number = head->turn;
	if (number)
		head->turn = merge->modules[number - 1].next;
	return number;
}

/* A module that no trace before had; its key is in scratch. first: as of find_module. */
static enum tr_status add_module(struct merge *merge, struct tr_record *record,
				 const struct tr_module_place *place, size_t first,
				 struct tr_error *err)
{
	size_t number = merge->module_count + 1;

	if (number == NO_MODULE)
		return left_out(err, "a module after 65534 others, the most that drcov can hold");
	if (!tr_array_room(merge->modules, merge->module_count, merge->module_cap))
		return tr_error_memory(err);
	struct tr_text key = tr_arena_copy(&merge->arena, tr_buffer_text(&merge->scratch));
	uint64_t whole = tr_ask_number(record, "containing_id", UINT64_MAX, err);
	size_t containing = whole == UINT64_MAX	 ? 0
			    : place->id == whole ? number
			    : whole < NO_MODULE	 ? merge->numbers[whole]
						 : 0;
	tr_buffer_reset(&merge->scratch);
	tr_cell_write(&record->name, &merge->scratch);
	tr_buffer_put_literal(&merge->scratch, "\tid=");
	tr_buffer_put_decimal(&merge->scratch, number - 1);
	if (containing) {
		tr_buffer_put_literal(&merge->scratch, "\tcontaining_id=");
		tr_buffer_put_decimal(&merge->scratch, containing - 1);
	}
	const char *const skip[] = { "id", ".row", containing ? "containing_id" : NULL, NULL };
	enum tr_status status = tr_merge_fields(record, skip, &merge->scratch, err);
	if (status != TR_OK)
		return status;
	tr_buffer_put_byte(&merge->scratch, '\n');
	struct tr_text line = tr_arena_copy(&merge->arena, tr_buffer_text(&merge->scratch));
	if (!key.data || !line.data || (!first && !tr_map_put(&merge->by_key, key, (void *)number)))
		return tr_error_memory(err);
	merge->modules[merge->module_count++] = (struct module){
		.base = place->base, .line = line, .last = number, .trace = merge->traces
	};
	if (first) {
		struct module *head = &merge->modules[first - 1];
		merge->modules[head->last - 1].next = number;
		head->last = number;
	}
	return TR_OK;
}

static enum tr_status put_module(struct merge *merge, struct tr_record *record,
				 struct tr_error *err)
{
	enum tr_status status = tr_module_list_add(&merge->list, record, err);

	if (status != TR_OK)
		return status;
	const struct tr_module_place place = merge->list.places[merge->list.count - 1];
	tr_error_clear(err);
	status = spell_key(merge, record, &place, err);
	if (status != TR_OK)
		return status;
	size_t first, number = find_module(merge, &first);
	if (!number) {
		status = add_module(merge, record, &place, first, err);
		if (status != TR_OK)
			return status;
		number = merge->module_count;
	}
	if (place.id < NO_MODULE)
		merge->numbers[place.id] = (uint32_t)number;
	return TR_OK;
}

static int compare(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->size > y->size) - (x->size < y->size);
}

/* Sorts the blocks and makes one of those that are alike. */
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

static bool add_block(struct merge *merge, const struct block *block)
{
	if (merge->block_count == merge->block_cap) {
		if (merge->block_count >= FIRST_COMPACTION)
			compact(merge);
		/* room for as many as there are different ones: each is sorted in a few times */
		size_t cap = merge->block_count * 2;
		cap = cap < 1024 ? 1024 : cap;
		if (cap > merge->block_cap) {
			struct block *blocks = realloc(merge->blocks, cap * sizeof *blocks);
			if (!blocks)
				return false;
			merge->blocks = blocks;
			merge->block_cap = cap;
		}
	}
	merge->blocks[merge->block_count++] = *block;
	return true;
}

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
		return left_out(err, "a block whose name is not an address");
	if (id > NO_MODULE || size > UINT32_MAX)
		return left_out(err, "a block without a size or a module");
	uint32_t number = id == NO_MODULE ? NO_MODULE : merge->numbers[id];
	if (!number)
		return left_out(err, "a block of a module that is not in the table");
	const struct tr_module_place *place = tr_module_list_id(&merge->list, id);
	if (place)
		base = place->base;
	struct block block = { .start = address - base,
			       .hits = hits ? hits->as.number : 1,
			       .size = (uint32_t)size,
			       .module = number == NO_MODULE ? number : number - 1 };
	if (merge->digits == 8)
		block.start = (uint32_t)block.start;
	merge->counted |= hits != NULL;
	return add_block(merge, &block) ? TR_OK : tr_error_memory(err);
}

/* Whether the blocks were text, and have counts. */
static void put_form(struct merge *merge, struct tr_record *record, struct tr_error *err)
{
	struct tr_text form = tr_ask_string(record, "value", err);

	if (!merge->has_form)
		merge->text = form.data && tr_text_is(form, "text");
	merge->has_form = true;
	merge->counted |= tr_record_field(record, "hits") != NULL;
}

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
	put_form(merge, record, err);
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_OK;
}

static void flush(struct merge *merge, struct tr_output *out)
{
	tr_output_put_text(out, tr_buffer_text(&merge->scratch));
	tr_output_record_end(out);
	merge->scratch.len = 0;
}

/* The flavor has to promise hit counts where there are some. */
static void write_header(struct merge *merge)
{
	struct tr_text header = tr_buffer_text(&merge->header);
	const char *end = header.data + header.len;
	const char *flavor = memmem(header.data, header.len, "\tflavor=\"", 9);
	const char *quote = flavor ? memchr(flavor + 1, '\t', (size_t)(end - flavor - 1)) : end;

	quote = (quote ? quote : end) - 1;
	bool promises = flavor && memmem(flavor, (size_t)(quote - flavor), "hits", 4);
	tr_buffer_put_text(&merge->scratch, tr_text_span(header.data, flavor ? quote : end));
	if (flavor && merge->counted && !promises)
		tr_buffer_put_literal(&merge->scratch, "-hits");
	if (flavor)
		tr_buffer_put_text(&merge->scratch, tr_text_span(quote, end));
	tr_buffer_put_byte(&merge->scratch, '\n');
}

static void write_head(struct merge *merge, uint64_t *seq, struct tr_output *out)
{
	write_header(merge);
	for (size_t i = 0; i < merge->module_count; i++) {
		tr_merge_begin("module", (*seq)++, &merge->scratch);
		tr_buffer_put_text(&merge->scratch, merge->modules[i].line);
		flush(merge, out);
	}
	tr_merge_begin("meta", (*seq)++, &merge->scratch);
	tr_buffer_put_literal(&merge->scratch, "bbs\tvalue=\"");
	tr_buffer_put_text(&merge->scratch, tr_text_from(merge->text ? "text\"" : "binary\""));
	if (merge->counted)
		tr_buffer_put_literal(&merge->scratch, "\thits=true");
	tr_buffer_put_byte(&merge->scratch, '\n');
	flush(merge, out);
}

static bool write(void *self, uint64_t *seq, struct tr_output *out)
{
	struct merge *merge = self;
	struct tr_buffer *line = &merge->scratch;

	tr_buffer_reset(line);
	write_head(merge, seq, out);
	compact(merge);
	for (size_t i = 0; i < merge->block_count; i++) {
		const struct block *block = &merge->blocks[i];
		bool none = block->module == NO_MODULE;
		uint64_t address = block->start + (none ? 0 : merge->modules[block->module].base);
		tr_merge_begin("block", (*seq)++, line);
		tr_buffer_put_literal(line, "0x");
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
		tr_buffer_put_byte(line, '\n');
		if (line->failed)
			return false;
		flush(merge, out);
	}
	return !line->failed;
}

const struct tr_merge_form tr_merge_modules = {
	.format = "drcov",
	.name = "a drcov trace",
	.create = create,
	.discard = discard,
	.begin = begin,
	.put = put,
	.write = write,
};
