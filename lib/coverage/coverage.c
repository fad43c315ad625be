/* SPDX-License-Identifier: MIT */
/*
 * Coverage by source line.
 *
 *	modules and shared objects -> tr_programs_put
 *	block and its program -> count_block -> counts per statement
 *	source, srcline, srcfunction, srcbranch -> tr_sources_put
 *	finish: counts per statement -> make_lines -> added to the lines of records
 *
 * A block adds its count to the first statement in it and subtracts it after the last one, so a
 * block of any size costs the same, and the sum up to a statement is its count. A line was executed
 * as often as the statement of it that was executed most often, in each function: the instances of
 * a template or an inline function add up.
 */
#include "coverage/coverage.h"

#include <stdlib.h>

#include "record/ask.h"
#include "symbol/jump.h"

/* A block that was executed recently, which is counted without a search. */
struct recent {
	uint64_t address;
	uint64_t times, taken, fallen;
	uint32_t low, high; /* the statements in it */
	uint16_t size;
};

/* A place where blocks end with a branch. */
struct jump {
	uint64_t first; /* address of one of these blocks */
	uint64_t taken, fallen;
	uint16_t size;
};

/* The number of recent blocks is a power of two that grows with the program. */
enum { RECENT_LEAST = 12, RECENT_MOST = 20 }; /* bits */

struct tr_line_counts {
	uint64_t *changes; /* at each statement: its count minus that of the statement before */
	/* the first statement of each part of the code, so that a search looks at one part only */
	uint64_t first;
	uint32_t *places;
	size_t place_count;
	unsigned shift;
	struct tr_id_map jumps; /* by the end of their blocks */
	struct tr_arena memory;
	struct recent *recent;
	unsigned recent_bits;
};

/* Returns the index of the first statement at or after the address. */
static uint32_t lower_bound(const struct tr_line_counts *counts, const struct tr_elf *program,
			    uint64_t address)
{
	uint64_t place = (address - counts->first) >> counts->shift;
	if (address < counts->first || !program->head.statements)
		return 0;
	if (place >= counts->place_count)
		return (uint32_t)program->head.statements;
	return (uint32_t)tr_array_search(i, counts->places[place], counts->places[place + 1],
					 program->statements[i].address < address);
}

/* Adds what was counted for a block. False: memory is exhausted. */
static bool flush(struct tr_line_counts *counts, struct recent *recent)
{
	if (recent->low < recent->high) {
		counts->changes[recent->low] += recent->times;
		counts->changes[recent->high] -= recent->times;
	}
	if (recent->taken || recent->fallen) {
		uint64_t end = recent->address + recent->size;
		struct jump *jump = tr_id_map_get(&counts->jumps, end);
		if (!jump) {
			jump = tr_arena_alloc(&counts->memory, sizeof *jump);
			if (!jump || !tr_id_map_put(&counts->jumps, end, jump))
				return false;
			*jump = (struct jump){ recent->address, 0, 0, recent->size };
		}
		jump->taken += recent->taken;
		jump->fallen += recent->fallen;
	}
	recent->times = recent->taken = recent->fallen = 0;
	return true;
}

/* Frees the counts of a program. */
static void free_counts(struct tr_line_counts *counts)
{
	free(counts->changes);
	free(counts->places);
	free(counts->recent);
	tr_id_map_free(&counts->jumps);
	tr_arena_free(&counts->memory);
	free(counts);
}

/* Divides the code into parts: between half as many as there are statements, and as many. */
static bool make_places(struct tr_line_counts *counts, const struct tr_elf *program)
{
	size_t n = program->head.statements;
	uint64_t first = n ? program->statements[0].address : 0;
	uint64_t range = n ? program->statements[n - 1].address - first : 0;
	while (range >> counts->shift > n)
		counts->shift++;
	counts->first = first;
	counts->place_count = (size_t)(range >> counts->shift) + 1;
	counts->places = malloc((counts->place_count + 1) * sizeof *counts->places);
	if (!counts->places)
		return false;
	for (size_t place = 0, i = 0; place <= counts->place_count; place++) {
		while (i < n && (program->statements[i].address - first) >> counts->shift < place)
			i++;
		counts->places[place] = (uint32_t)i;
	}
	return true;
}

/* Makes the counts of a program. NULL: memory is exhausted. */
static struct tr_line_counts *new_counts(const struct tr_elf *program)
{
	struct tr_line_counts *counts = calloc(1, sizeof *counts);
	if (!counts)
		return NULL;
	counts->changes = calloc(program->head.statements + 1, sizeof *counts->changes);
	counts->recent_bits = RECENT_LEAST;
	while (counts->recent_bits < RECENT_MOST &&
	       (uint64_t)1 << counts->recent_bits < 2 * program->head.statements)
		counts->recent_bits++;
	counts->recent = calloc((size_t)1 << counts->recent_bits, sizeof *counts->recent);
	if (counts->changes && counts->recent && make_places(counts, program))
		return counts;
	free_counts(counts);
	return NULL;
}

/* True if the slot is that of the block. */
static inline bool is_same(const struct recent *recent, const struct tr_block *block)
{
	return recent->address == block->address && recent->size == block->size;
}

/*
 * Counts a block in a program, which is at its address in the file, `times` times. False: memory is
 * exhausted.
 */
static bool count_block(struct tr_loaded_program *loaded, const struct tr_block *block,
			uint64_t times)
{
	struct tr_line_counts *counts = loaded->counts;
	if (!counts) {
		counts = loaded->counts = new_counts(loaded->program);
		if (!counts)
			return false;
	}
	uint64_t hash = (block->address ^ (uint64_t)block->size << 32) * 0x9e3779b97f4a7c15;
	struct recent *recent = &counts->recent[hash >> (64 - counts->recent_bits)];
	if (!is_same(recent, block) && recent->size) /* the neighbour is the second choice */
		recent = &counts->recent[(size_t)(recent - counts->recent) ^ 1];
	if (!is_same(recent, block)) {
		if (!flush(counts, recent))
			return false;
		uint64_t end = block->address + block->size;
		recent->address = block->address;
		recent->size = block->size;
		recent->low = lower_bound(counts, loaded->program, block->address);
		recent->high = end < block->address ? recent->low
						    : lower_bound(counts, loaded->program, end);
	}
	recent->times += times;
	recent->taken += block->op & TR_EXEC_BR0 ? times : 0;
	recent->fallen += block->op & TR_EXEC_BR1 ? times : 0;
	return true;
}

/* A statement with its count. */
struct item {
	uint32_t file; /* in the list of all programs */
	uint32_t line;
	uint64_t function; /* unique across all programs */
	uint64_t count;
};

struct function_item {
	uint32_t file, line;
	struct tr_text name;
	uint64_t count;
};

/* A conditional jump that was executed. */
struct branch_item {
	uint32_t file, line;
	uint64_t number; /* its offset in its function, which is the same in each run */
	uint64_t taken, fallen;
};

/* The state while lines are made. */
struct maker {
	struct tr_sources *sources;
	struct tr_source_file **files;
	size_t file_count, file_cap;
	bool counted;
	struct tr_map by_path; /* number of the file + 1 */
	struct item *items;
	size_t item_count, item_cap;
	struct function_item *functions;
	size_t function_count, function_cap;
	struct branch_item *branches;
	size_t branch_count, branch_cap;
	uint64_t first_function; /* of this program, among those of all */
};

/* Adds the build id of the program as the version of a file. False: memory is exhausted. */
static bool put_version(struct maker *maker, struct tr_source_file *file,
			const struct tr_elf_head *head)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	tr_buffer_put_literal(&text, "build-id ");
	for (size_t i = 0; i < head->build_id_size; i++)
		tr_buffer_put_hex(&text, head->build_id[i], 2);
	bool good =
		!text.failed &&
		tr_sources_add_version(maker->sources, file,
				       head->build_id_size ? tr_buffer_text(&text) : TR_TEXT(""));
	tr_buffer_free(&text);
	return good;
}

/* Returns the number of a file; UINT32_MAX: memory is exhausted. */
static uint32_t file_number(struct maker *maker, const struct tr_elf *program, uint32_t number)
{
	struct tr_text path = tr_text_from(tr_elf_file(program, number));
	char *known = tr_map_get(&maker->by_path, path);
	if (known)
		return (uint32_t)((uintptr_t)known - 1);
	struct tr_source_file *file = tr_sources_file(maker->sources, path, TR_TEXT(""));
	if (!file || !put_version(maker, file, &program->head) ||
	    !tr_array_room(maker->files, maker->file_count, maker->file_cap) ||
	    !tr_map_put(&maker->by_path, path, (void *)(uintptr_t)(maker->file_count + 1)))
		return UINT32_MAX;
	maker->files[maker->file_count] = file;
	return (uint32_t)maker->file_count++;
}

/* Adds the conditional jumps of a program. False: memory is exhausted. */
static bool put_branches(struct maker *maker, const struct tr_loaded_program *loaded,
			 const uint32_t *numbers)
{
	const struct tr_elf *program = loaded->program;
	uint8_t *bytes = malloc(UINT16_MAX);
	size_t position = 0;
	struct jump *jump;
	bool good = bytes;
	while (good && (jump = tr_id_map_next(&loaded->counts->jumps, &position)) != NULL) {
		size_t size = tr_elf_code(program, jump->first, bytes, jump->size);
		const struct tr_code_function *f = tr_elf_function(program, jump->first);
		struct tr_code code = { program->head.machine, program->head.big_endian,
					f && f->flags & TR_FUNCTION_THUMB, bytes, size };
		size_t at = size == jump->size ? tr_jump_find(&code) : SIZE_MAX;
		if (at == SIZE_MAX || (f && f->flags & TR_FUNCTION_HIDDEN))
			continue;
		const struct tr_code_row *row = tr_elf_row(program, jump->first + at);
		if (!row || !row->file)
			continue;
		good = tr_array_room(maker->branches, maker->branch_count, maker->branch_cap);
		if (good)
			maker->branches[maker->branch_count++] =
				(struct branch_item){ numbers[row->file], row->line,
						      jump->first + at - (f ? f->first : 0),
						      jump->taken, jump->fallen };
	}
	free(bytes);
	return good;
}

/* Adds a function that is entered at a statement. False: memory is exhausted. */
static bool put_function(struct maker *maker, const struct tr_elf *program, uint32_t file,
			 uint32_t line, uint32_t name, uint64_t count)
{
	if (!tr_array_room(maker->functions, maker->function_count, maker->function_cap))
		return false;
	maker->functions[maker->function_count++] =
		(struct function_item){ file, line, tr_text_from(tr_elf_string(program, name)),
					count };
	return true;
}

/* Adds the statements and functions of a program. False: memory is exhausted. */
static bool put_program(struct maker *maker, struct tr_loaded_program *loaded)
{
	const struct tr_elf *program = loaded->program;
	uint32_t *numbers = malloc(program->head.files * sizeof *numbers);
	uint64_t count = 0;
	uint32_t last = TR_CODE_NONE;
	const struct tr_code_inline *call = program->inlines;
	const struct tr_code_inline *last_call = call + program->head.inlines;
	bool good = numbers;
	for (size_t i = 0; good && loaded->counts && i < (size_t)1 << loaded->counts->recent_bits;
	     i++)
		good = flush(loaded->counts, &loaded->counts->recent[i]);
	for (uint32_t i = 0; good && i < program->head.files; i++) {
		numbers[i] = i ? file_number(maker, program, i) : 0;
		good = numbers[i] != UINT32_MAX;
	}
	for (size_t i = 0; good && i < program->head.statements; i++) {
		const struct tr_code_statement *s = &program->statements[i];
		if (loaded->counts)
			count += loaded->counts->changes[i];
		uint64_t shown = maker->counted ? count : count != 0;
		if (!s->file)
			continue;
		good = tr_array_room(maker->items, maker->item_count, maker->item_cap);
		if (good)
			maker->items[maker->item_count++] =
				(struct item){ numbers[s->file], s->line,
					       maker->first_function + s->function, shown };
		/* functions inlined here; the row of their call has the same address */
		for (; good && call < last_call && call->first <= s->address; call++)
			if (call->first == s->address && call->declared_in && call->declared_at)
				good = put_function(maker, program, numbers[call->declared_in],
						    call->declared_at, call->linkage, shown);
		const struct tr_code_function *f =
			s->function == TR_CODE_NONE ? NULL : &program->functions[s->function];
		if (!good || !f || s->function == last)
			continue;
		last = s->function;
		/* at its declaration, because another call may be inlined at the entry */
		bool declared = f->file && f->line;
		if (!(f->flags & (TR_FUNCTION_PART | TR_FUNCTION_SYMBOL)) && f->linkage)
			good = put_function(maker, program, numbers[declared ? f->file : s->file],
					    declared ? f->line : s->line, f->linkage, shown);
	}
	if (good && loaded->counts)
		good = put_branches(maker, loaded, numbers);
	maker->first_function += (uint64_t)TR_CODE_NONE + 1;
	free(numbers);
	return good;
}

static int by_line(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static int by_function(const void *a, const void *b)
{
	const struct function_item *x = a, *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return tr_text_compare(x->name, y->name);
}

static int by_branch(const void *a, const void *b)
{
	const struct branch_item *x = a, *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/*
 * Adds the lines of sorted items: the highest count of each function, and the sum of these. False:
 * memory is exhausted.
 */
static bool add_lines(struct maker *maker)
{
	const struct item *items = maker->items;
	for (size_t i = 0; i < maker->item_count;) {
		const struct item *first = &items[i];
		struct tr_source_line line = { .line = first->line };
		while (i < maker->item_count && items[i].file == first->file &&
		       items[i].line == first->line) {
			uint64_t function = items[i].function, most = 0;
			for (; i < maker->item_count && items[i].file == first->file &&
			       items[i].line == first->line && items[i].function == function;
			     i++)
				most = items[i].count > most ? items[i].count : most;
			line.count = maker->counted ? line.count + most : line.count | most;
		}
		if (!tr_sources_add_line(maker->sources, maker->files[first->file], &line))
			return false;
	}
	return true;
}

/* Adds the functions; those with the same name and line become one. */
static bool add_functions(struct maker *maker)
{
	const struct function_item *items = maker->functions;
	for (size_t i = 0; i < maker->function_count;) {
		const struct function_item *first = &items[i];
		struct tr_source_function function = { .name = first->name, .line = first->line };
		for (; i < maker->function_count && by_function(&items[i], first) == 0; i++)
			function.count = maker->counted ? function.count + items[i].count
							: function.count | items[i].count;
		if (!tr_sources_add_function(maker->sources, maker->files[first->file], &function))
			return false;
	}
	return true;
}

/*
 * Adds the branches: outcome 0 is taken, 1 is not taken. Jumps with the same number and line belong
 * to copies of an inline function or a template, and add up. Jumps in lines without a statement
 * were added by the compiler, such as the check of the stack at the closing brace.
 */
static bool add_branches(struct maker *maker)
{
	if (!maker->item_count)
		return true; /* and items may be NULL */
	const struct item *line = maker->items, *end = line + maker->item_count;
	for (size_t i = 0; i < maker->branch_count;) {
		const struct branch_item *item = &maker->branches[i];
		uint64_t counts[] = { 0, 0 };
		while (line < end && (line->file < item->file ||
				      (line->file == item->file && line->line < item->line)))
			line++;
		bool known = line < end && line->file == item->file && line->line == item->line;
		for (; i < maker->branch_count && by_branch(item, &maker->branches[i]) == 0; i++) {
			counts[0] += maker->branches[i].taken;
			counts[1] += maker->branches[i].fallen;
		}
		for (int outcome = 0; known && outcome < 2; outcome++) {
			struct tr_source_branch branch = {
				.count = maker->counted ? counts[outcome] : counts[outcome] != 0,
				.block = item->number,
				.branch = outcome ? TR_TEXT("1") : TR_TEXT("0"),
				.line = item->line,
				.reached = true,
			};
			if (!tr_sources_add_branch(maker->sources, maker->files[item->file],
						   &branch))
				return false;
		}
	}
	return true;
}

/*
 * Adds the lines, functions and branches of the programs. counted: the numbers are those of
 * executions; otherwise they say whether something was executed, and are 0 or 1. False: memory is
 * exhausted.
 */
static bool make_lines(const struct tr_programs *programs, bool counted, struct tr_sources *sources)
{
	struct maker maker = { .sources = sources, .counted = counted, .by_path = TR_MAP_INIT };
	bool good = true;
	for (size_t i = 0; i < programs->count && good; i++)
		good = put_program(&maker, programs->list[i]);
	if (maker.item_count)
		qsort(maker.items, maker.item_count, sizeof *maker.items, by_line);
	if (maker.function_count)
		qsort(maker.functions, maker.function_count, sizeof *maker.functions, by_function);
	if (maker.branch_count)
		qsort(maker.branches, maker.branch_count, sizeof *maker.branches, by_branch);
	good = good && add_lines(&maker) && add_functions(&maker) && add_branches(&maker);
	tr_map_free(&maker.by_path);
	free(maker.files);
	free(maker.items);
	free(maker.functions);
	free(maker.branches);
	return good;
}

void tr_coverage_free_counts(struct tr_programs *programs)
{
	for (size_t i = 0; i < programs->count; i++) {
		struct tr_line_counts *counts = programs->list[i]->counts;
		if (!counts)
			continue;
		free_counts(counts);
		programs->list[i]->counts = NULL;
	}
}

void tr_coverage_begin(struct tr_coverage *coverage)
{
	tr_programs_begin(&coverage->programs);
	coverage->history = coverage->map = false;
	coverage->sources.last = NULL;
}

enum { BITS = TR_EXEC_BR0 | TR_EXEC_BR1 | TR_EXEC_BLOCK | TR_EXEC_FAULT };

/* True if a block says that something was executed here. */
static bool is_counted(const struct tr_coverage *coverage, const struct tr_block *block)
{
	return !coverage->map && block->op != TR_EXEC_SPECIAL && block->op & BITS;
}

size_t tr_coverage_put_blocks(struct tr_coverage *coverage, const struct tr_block *blocks,
			      size_t count)
{
	struct tr_error err;
	size_t taken = 0;

	if (!coverage->programs.count || coverage->programs.modules.count)
		return 0;
	tr_error_clear(&err);
	for (; taken < count; taken++) {
		struct tr_block block = blocks[taken];
		if (!is_counted(coverage, &block))
			continue;
		coverage->entries = true;
		struct tr_loaded_program *loaded =
			tr_programs_place(&coverage->programs, NULL, &block, &err);
		if (loaded && !count_block(loaded, &block, 1))
			break;
	}
	return taken;
}

/* Counts a block. */
static enum tr_status put_block(struct tr_coverage *coverage, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_block block;
	uint64_t times = 1;
	if (!coverage->programs.count && !coverage->programs.path_count) {
		tr_error_say(
			err, TR_CAUSE_USAGE,
			"the source lines of blocks need the program that was run: -O exe=PROG "
			"(or -O path=DIR for the modules of a drcov trace)");
		return TR_FATAL;
	}
	enum tr_status status = tr_block_read(record, &block, err);
	if (status != TR_OK || !is_counted(coverage, &block))
		return status;
	if (!tr_block_built(record)) {
		times = tr_ask_number(record, "hits", UINT64_MAX, err);
		coverage->counted |= times != UINT64_MAX;
		times = times == UINT64_MAX ? 1 : times;
	}
	coverage->entries = true;
	struct tr_loaded_program *loaded = NULL;
	if (!tr_error_is_memory(err))
		loaded = tr_programs_place(&coverage->programs, record, &block, err);
	if (tr_error_is_memory(err) || (loaded && !count_block(loaded, &block, times)))
		return tr_error_memory(err);
	return TR_OK;
}

enum tr_status tr_coverage_put(struct tr_coverage *coverage, struct tr_record *record,
			       struct tr_error *err)
{
	tr_error_clear(err);
	if (tr_text_is(record->kind, "block"))
		return put_block(coverage, record, err);
	enum tr_status status = tr_sources_put(&coverage->sources, record, err);
	if (status != TR_END) {
		coverage->entries |= status == TR_OK;
		coverage->counted |= status == TR_OK;
		return status;
	}
	if (tr_text_is(record->kind, "section")) {
		bool text = record->name.type == TR_CELL_TEXT;
		coverage->history = text && tr_text_is(record->name.text, "HISTORY");
		coverage->map = text && tr_text_is(record->name.text, "DECISION_MAP");
		coverage->counted |= coverage->history;
	}
	return tr_programs_put(&coverage->programs, record, err);
}

bool tr_coverage_finish(struct tr_coverage *coverage)
{
	bool good = make_lines(&coverage->programs, coverage->counted, &coverage->sources);
	tr_sources_sort(&coverage->sources);
	return good;
}

bool tr_coverage_remark(struct tr_coverage *coverage, struct tr_error *err)
{
	for (size_t i = 0; i < coverage->programs.count && !coverage->bare; i++) {
		const struct tr_elf *program = coverage->programs.list[i]->program;
		if (program->head.has_lines)
			continue;
		coverage->bare = true;
		tr_error_set(
			err, TR_CAUSE_INPUT,
			"%s has no debug information, so it has no lines: compile it with -g, or "
			"install its debug file",
			program->path);
		tr_error_is_note(err);
		return true;
	}
	if (coverage->remarked)
		return false;
	coverage->remarked = true;
	return tr_programs_remark(&coverage->programs, err);
}

void tr_coverage_free(struct tr_coverage *coverage)
{
	tr_sources_free(&coverage->sources);
	tr_coverage_free_counts(&coverage->programs);
	tr_programs_free(&coverage->programs);
}
