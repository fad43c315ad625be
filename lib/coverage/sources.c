/* SPDX-License-Identifier: MIT */
/*
 * Lists of items that add up. Items are appended; when a list is full, it is sorted, and items with
 * the same key are merged, so that memory grows with the distinct ones.
 */
#include "coverage/sources.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "record/ask.h"

enum { FIRST_ROOM = 64 }; /* items */

/* Adds without an overflow. */
static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t total;
	return __builtin_add_overflow(a, b, &total) ? UINT64_MAX : total;
}

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_line(const void *a, const void *b)
{
	const struct tr_source_line *x = a, *y = b;
	return by_number(x->line, y->line);
}

static int by_function(const void *a, const void *b)
{
	const struct tr_source_function *x = a, *y = b;
	int order = by_number(x->line, y->line);
	return order ? order : tr_text_compare(x->name, y->name);
}

/* Shorter texts come first, so that numbers are sorted by value: 9 before 10. */
static int by_branch(const void *a, const void *b)
{
	const struct tr_source_branch *x = a, *y = b;
	int order = by_number(x->line, y->line);
	order = order ? order : by_number(x->block, y->block);
	order = order ? order : by_number(x->branch.len, y->branch.len);
	return order ? order : tr_text_compare(x->branch, y->branch);
}

static int by_path(const void *a, const void *b)
{
	const struct tr_source_file *const *x = a, *const *y = b;
	int order = tr_text_compare((*x)->path, (*y)->path);
	return order ? order : tr_text_compare((*x)->test, (*y)->test);
}

/* Sorts the lines and merges equal ones. */
static void compact_lines(struct tr_source_lines *lines)
{
	size_t kept = 0;
	if (lines->count)
		qsort(lines->list, lines->count, sizeof *lines->list, by_line);
	for (size_t i = 0; i < lines->count; i++) {
		const struct tr_source_line *here = &lines->list[i];
		struct tr_source_line *last = kept ? &lines->list[kept - 1] : NULL;
		if (!last || by_line(last, here) != 0) {
			lines->list[kept++] = *here;
			continue;
		}
		last->count = sum(last->count, here->count);
		last->checksum = last->checksum.len ? last->checksum : here->checksum;
	}
	lines->count = kept;
}

/* Sorts the functions and merges equal ones. */
static void compact_functions(struct tr_source_functions *functions)
{
	size_t kept = 0;
	if (functions->count)
		qsort(functions->list, functions->count, sizeof *functions->list, by_function);
	for (size_t i = 0; i < functions->count; i++) {
		const struct tr_source_function *here = &functions->list[i];
		struct tr_source_function *last = kept ? &functions->list[kept - 1] : NULL;
		if (!last || by_function(last, here) != 0) {
			functions->list[kept++] = *here;
			continue;
		}
		last->count = sum(last->count, here->count);
		last->last_line = last->last_line ? last->last_line : here->last_line;
	}
	functions->count = kept;
}

/* Sorts the branches and merges equal outcomes. */
static void compact_branches(struct tr_source_branches *branches)
{
	size_t kept = 0;
	if (branches->count)
		qsort(branches->list, branches->count, sizeof *branches->list, by_branch);
	for (size_t i = 0; i < branches->count; i++) {
		const struct tr_source_branch *here = &branches->list[i];
		struct tr_source_branch *last = kept ? &branches->list[kept - 1] : NULL;
		if (!last || by_branch(last, here) != 0) {
			branches->list[kept++] = *here;
			continue;
		}
		last->count = sum(last->count, here->count);
		last->reached |= here->reached;
		last->exception |= here->exception;
	}
	branches->count = kept;
}

/*
 * Makes room for one more item, after merging items with the same key. There is room for twice as
 * many as the distinct ones, so that each is sorted only a few times. False: memory is exhausted.
 */
#define make_room(items, compact) \
	((items)->count < (items)->cap || \
	 ((compact)(items), \
	  tr_array_grow(&(items)->list, &(items)->cap, (items)->count * 2 + FIRST_ROOM, \
			sizeof *(items)->list)))

/* Returns the one copy of a text. data NULL: memory is exhausted. */
static struct tr_text keep(struct tr_sources *sources, struct tr_text text)
{
	if (!text.len)
		return TR_TEXT("");
	struct tr_text *known = tr_map_get(&sources->texts, text);
	if (known)
		return *known;
	known = tr_arena_alloc(&sources->memory, sizeof *known);
	if (!known)
		return (struct tr_text){ NULL, 0 };
	*known = tr_arena_copy(&sources->memory, text);
	if (!known->data || !tr_map_put(&sources->texts, *known, known))
		return (struct tr_text){ NULL, 0 };
	return *known;
}

struct tr_source_file *tr_sources_file(struct tr_sources *sources, struct tr_text path,
				       struct tr_text test)
{
	struct tr_buffer key = TR_BUFFER_INIT;
	test = sources->one_test ? TR_TEXT("") : test;
	tr_buffer_put_text(&key, path);
	tr_buffer_put_byte(&key, 0);
	tr_buffer_put_text(&key, test);
	struct tr_source_file *file = tr_map_get(&sources->by_key, tr_buffer_text(&key));
	if (!file && !key.failed && tr_array_room(sources->list, sources->count, sources->cap) &&
	    (file = tr_arena_alloc(&sources->memory, sizeof *file))) {
		*file = (struct tr_source_file){ .path = keep(sources, path),
						 .test = keep(sources, test) };
		file->key = tr_arena_copy(&sources->memory, tr_buffer_text(&key));
		if (file->path.data && file->test.data && file->key.data &&
		    tr_map_put(&sources->by_key, file->key, file))
			sources->list[sources->count++] = file;
		else
			file = NULL;
	}
	tr_buffer_free(&key);
	return file;
}

bool tr_sources_add_version(struct tr_sources *sources, struct tr_source_file *file,
			    struct tr_text version)
{
	if (!file->version.len)
		file->version = keep(sources, version);
	return file->version.data;
}

bool tr_sources_add_line(struct tr_sources *sources, struct tr_source_file *file,
			 const struct tr_source_line *line)
{
	struct tr_text checksum = keep(sources, line->checksum);
	if (!checksum.data || !make_room(&file->lines, compact_lines))
		return false;
	struct tr_source_line *item = &file->lines.list[file->lines.count++];
	*item = *line;
	item->checksum = checksum;
	return true;
}

bool tr_sources_add_function(struct tr_sources *sources, struct tr_source_file *file,
			     const struct tr_source_function *function)
{
	struct tr_text name = keep(sources, function->name);
	if (!name.data || !make_room(&file->functions, compact_functions))
		return false;
	struct tr_source_function *item = &file->functions.list[file->functions.count++];
	*item = *function;
	item->name = name;
	return true;
}

bool tr_sources_add_branch(struct tr_sources *sources, struct tr_source_file *file,
			   const struct tr_source_branch *branch)
{
	struct tr_text outcome = keep(sources, branch->branch);
	if (!outcome.data || !make_room(&file->branches, compact_branches))
		return false;
	struct tr_source_branch *item = &file->branches.list[file->branches.count++];
	*item = *branch;
	item->branch = outcome;
	return true;
}

/*
 * Finds the file that a record names, in the test of the last record `source` if that names it,
 * too.
 */
static struct tr_source_file *find_file(struct tr_sources *sources, struct tr_record *record,
					struct tr_error *err)
{
	struct tr_source_file *last = sources->last;
	struct tr_text path = tr_ask_cell(&record->name, record->arena, err);
	if (!path.data)
		return NULL;
	if (last && tr_text_equal(last->path, path))
		return last;
	sources->last = tr_sources_file(sources, path, TR_TEXT(""));
	if (!sources->last)
		tr_error_memory(err);
	return sources->last;
}

/* Begins a file. */
static enum tr_status put_source(struct tr_sources *sources, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_text path = tr_ask_cell(&record->name, record->arena, err), test, version;
	if (tr_error_is_memory(err))
		return TR_FATAL;
	enum tr_status status = tr_field_string(record, "test", &test, err);
	if (status == TR_OK)
		status = tr_field_string(record, "version", &version, err);
	if (status != TR_OK)
		return status;
	sources->last = tr_sources_file(sources, path, test.data ? test : TR_TEXT(""));
	if (!sources->last ||
	    !tr_sources_add_version(sources, sources->last, version.data ? version : TR_TEXT("")))
		return tr_error_memory(err);
	return TR_OK;
}

/* Reads a line number; 0 if there is none. */
static enum tr_status read_line(struct tr_record *record, const char *key, uint32_t *line,
				struct tr_error *err)
{
	uint64_t number = 0;
	enum tr_status status = tr_field_number(record, key, UINT32_MAX, &number, err);
	*line = (uint32_t)number;
	return status;
}

/* Reads the line and, unless count is NULL, the count of a record, which must have both. */
static enum tr_status need_line(struct tr_record *record, uint32_t *line, uint64_t *count,
				struct tr_error *err)
{
	const struct tr_value *value;
	enum tr_status status = tr_field_need(record, "line", TR_UINT, &value, err);
	if (status == TR_OK)
		status = read_line(record, "line", line, err);
	if (status != TR_OK || !count)
		return status;
	status = tr_field_need(record, "hits", TR_UINT, &value, err);
	if (status == TR_OK)
		*count = value->as.number;
	return status;
}

/* Adds a line. */
static enum tr_status put_line(struct tr_sources *sources, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_source_line line = { .count = 0 };
	enum tr_status status = need_line(record, &line.line, &line.count, err);
	if (status == TR_OK)
		status = tr_field_string(record, "checksum", &line.checksum, err);
	if (status != TR_OK)
		return status;
	struct tr_source_file *file = find_file(sources, record, err);
	if (!file || tr_error_is_memory(err) || !tr_sources_add_line(sources, file, &line))
		return tr_error_memory(err);
	return TR_OK;
}

/* Adds a function. */
static enum tr_status put_function(struct tr_sources *sources, struct tr_record *record,
				   struct tr_error *err)
{
	struct tr_source_function function = { .count = 0 };
	const struct tr_value *value;
	enum tr_status status = tr_field_need(record, "function", TR_STRING, &value, err);
	if (status == TR_OK)
		status = read_line(record, "line", &function.line, err);
	if (status == TR_OK)
		status = read_line(record, "last_line", &function.last_line, err);
	if (status == TR_OK)
		status = tr_field_number(record, "hits", UINT64_MAX, &function.count, err);
	if (status != TR_OK)
		return status;
	function.name = tr_ask_string(record, "function", err);
	struct tr_source_file *file = find_file(sources, record, err);
	if (!file || tr_error_is_memory(err) || !tr_sources_add_function(sources, file, &function))
		return tr_error_memory(err);
	return TR_OK;
}

/* Adds an outcome of a branch. */
static enum tr_status put_branch(struct tr_sources *sources, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_source_branch branch = { .reached = true };
	char digits[24];
	branch.reached = !tr_ask(record, "hits", TR_NULL, err);
	enum tr_status status =
		need_line(record, &branch.line, branch.reached ? &branch.count : NULL, err);
	if (status == TR_OK)
		status = tr_field_number(record, "block", UINT64_MAX, &branch.block, err);
	const struct tr_value *number = tr_ask(record, "branch", TR_UINT, err);
	if (number)
		branch.branch =
			(struct tr_text){ digits, tr_decimal_write(number->as.number, digits) };
	else if (status == TR_OK)
		status = tr_field_string(record, "branch", &branch.branch, err);
	if (status != TR_OK)
		return status;
	if (!branch.branch.data)
		branch.branch = TR_TEXT("0");
	branch.exception = tr_ask(record, "exception", TR_TRUE, err) != NULL;
	struct tr_source_file *file = find_file(sources, record, err);
	if (!file || tr_error_is_memory(err) || !tr_sources_add_branch(sources, file, &branch))
		return tr_error_memory(err);
	return TR_OK;
}

enum tr_status tr_sources_put(struct tr_sources *sources, struct tr_record *record,
			      struct tr_error *err)
{
	static const struct {
		const char *kind;
		enum tr_status (*put)(struct tr_sources *sources, struct tr_record *record,
				      struct tr_error *err);
	} kinds[] = {
		{ "srcline", put_line },
		{ "srcfunction", put_function },
		{ "srcbranch", put_branch },
		{ "source", put_source },
	};
	tr_error_clear(err);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (tr_text_is(record->kind, kinds[i].kind))
			return kinds[i].put(sources, record, err);
	return TR_END;
}

void tr_sources_sort(struct tr_sources *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		compact_lines(&sources->list[i]->lines);
		compact_functions(&sources->list[i]->functions);
		compact_branches(&sources->list[i]->branches);
	}
	if (sources->count)
		qsort(sources->list, sources->count, sizeof(void *), by_path);
}

/* True if an item of that order in a sorted list was executed. */
#define was_executed(items, order, other) \
	({ \
		size_t at_ = tr_array_search(i, 0, (items)->count, \
					     order(&(items)->list[i], other) < 0); \
		at_ < (items)->count &&order(&(items)->list[at_], other) == 0 && \
			(items)->list[at_].count; \
	})

bool tr_source_file_has(const struct tr_source_file *file, const struct tr_source_file *other)
{
	for (size_t k = 0; k < other->lines.count; k++)
		if (other->lines.list[k].count &&
		    !was_executed(&file->lines, by_line, &other->lines.list[k]))
			return false;
	for (size_t k = 0; k < other->functions.count; k++)
		if (other->functions.list[k].count &&
		    !was_executed(&file->functions, by_function, &other->functions.list[k]))
			return false;
	for (size_t k = 0; k < other->branches.count; k++)
		if (other->branches.list[k].count &&
		    !was_executed(&file->branches, by_branch, &other->branches.list[k]))
			return false;
	return true;
}

void tr_sources_free(struct tr_sources *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		free(sources->list[i]->lines.list);
		free(sources->list[i]->functions.list);
		free(sources->list[i]->branches.list);
	}
	free(sources->list);
	tr_map_free(&sources->by_key);
	tr_map_free(&sources->texts);
	tr_arena_free(&sources->memory);
	*sources = (struct tr_sources){ .count = 0 };
}

uint64_t tr_sources_lone_branches(const struct tr_sources *sources)
{
	uint64_t lone = 0;
	for (size_t i = 0; i < sources->count; i++) {
		const struct tr_source_lines *lines = &sources->list[i]->lines;
		const struct tr_source_branches *branches = &sources->list[i]->branches;
		size_t at = 0;
		for (size_t j = 0; j < branches->count; j++) {
			while (at < lines->count && lines->list[at].line < branches->list[j].line)
				at++;
			lone += at == lines->count ||
				lines->list[at].line != branches->list[j].line;
		}
	}
	return lone;
}

void tr_source_file_count(const struct tr_source_file *file, struct tr_source_shares *shares)
{
	shares->lines.all += file->lines.count;
	shares->functions.all += file->functions.count;
	shares->branches.all += file->branches.count;
	for (size_t i = 0; i < file->lines.count; i++)
		shares->lines.hit += file->lines.list[i].count != 0;
	for (size_t i = 0; i < file->functions.count; i++)
		shares->functions.hit += file->functions.list[i].count != 0;
	for (size_t i = 0; i < file->branches.count; i++)
		shares->branches.hit += file->branches.list[i].count != 0;
}

uint64_t tr_source_function_end(const struct tr_source_file *file, size_t number)
{
	const struct tr_source_functions *functions = &file->functions;
	const struct tr_source_function *function = &functions->list[number];
	size_t next = tr_array_search(i, number + 1, functions->count,
				      functions->list[i].line <= function->line);
	/* the last of several functions in one line (instances of a template) has the lines */
	if (number + 1 < next)
		return function->line;
	uint64_t end = next < functions->count ? functions->list[next].line : UINT64_MAX;
	return function->last_line && function->last_line < end ? (uint64_t)function->last_line + 1
								: end;
}

struct tr_source_shares tr_source_function_share(const struct tr_source_file *file, size_t number)
{
	struct tr_source_shares shares = { .lines = { 0, 0 } };
	const struct tr_source_line *lines = file->lines.list;
	const struct tr_source_branch *branches = file->branches.list;
	uint64_t from = file->functions.list[number].line;
	uint64_t until = tr_source_function_end(file, number);
	for (size_t k = tr_array_search(i, 0, file->lines.count, lines[i].line < from);
	     k < file->lines.count && lines[k].line < until; k++) {
		shares.lines.all++;
		shares.lines.hit += lines[k].count != 0;
	}
	for (size_t k = tr_array_search(i, 0, file->branches.count, branches[i].line < from);
	     k < file->branches.count && branches[k].line < until; k++) {
		shares.branches.all++;
		shares.branches.hit += branches[k].count != 0;
	}
	return shares;
}
