/* SPDX-License-Identifier: MIT */
/*
 * Finds the field of a test in a record, and walks its value.
 *
 * A field is searched in the text of the line, from its end, without splitting the line: most
 * records are rejected by one test, and splitting costs more than that. A record without a line
 * (of a binary format) has its fields already.
 */

#include <string.h>

#include "core/buffer.h"
#include "core/utf8.h"
#include "expr/match.h"
#include "record/literal.h"

bool tr_test_is_simple(const struct tr_test *test)
{
	const struct tr_step *step = test->path.steps;
	return test->strings && test->op == TR_OP_EQ &&
	       (!step || (step->type == TR_STEP_BASENAME && !step->next));
}

const struct tr_text *tr_test_string(const struct tr_test *test)
{
	bool is_one = tr_test_is_simple(test) && !test->path.steps && !test->literals->next;
	return is_one ? &test->literals->text : NULL;
}

bool tr_test_cell(struct tr_compare *compare, const struct tr_test *test, struct tr_text bytes)
{
	if (tr_test_is_simple(test))
		return tr_test_equals(test, bytes);
	struct tr_leaf leaf;
	leaf.type = TR_LEAF_TEXT;
	leaf.is_value = false;
	leaf.bytes = bytes;
	leaf.has_number = !test->strings && test->path.subject != TR_SUBJECT_KIND &&
			  tr_number_from_cell(bytes, &leaf.number);
	return tr_walk_leaf(compare, test, &leaf, test->path.steps);
}

/* Bits of the bytes of a block that have a meaning in lists of strings. */
struct marks {
	uint64_t quotes, commas, escapes;
};

#if defined __SSE2__ && !defined TR_PORTABLE
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Whether this string is between quotes at p, of which the first one is known to be there. */
ALWAYS_INLINE bool is_string_at(const char *p, const char *end, struct tr_text string)
{
	return (size_t)(end - p) >= string.len + 2 && p[string.len + 1] == '"' &&
	       tr_text_equal((struct tr_text){ p + 1, string.len }, string) &&
	       !memchr(p + 1, '"', string.len);
}

/*
 * The loop of tr_strings_have, for each way to mark the bytes of a block. The quotes open and close
 * strings by turns. Between a string and the next one there must be a comma, and nothing else. A
 * string is compared if its quotes have the right distance, or may have it, because the closing one
 * is in the next block.
 */
ALWAYS_INLINE enum tr_answer search_strings(struct tr_text text, struct tr_text string,
					    struct marks (*mark)(const char *block),
					    uint64_t (*parity)(uint64_t bits))
{
	const char *p = text.data, *end = p + text.len;
	size_t distance = string.len + 1, len;
	uint64_t far = distance < 64 ? ~(UINT64_MAX >> distance) : UINT64_MAX;
	uint64_t in_string = 0, closed = 0; /* after the last byte: all bits; bit 0 */
	bool list = text.len >= 2 && *p == '[' && end[-1] == ']', found = false;
	char copy[TR_UTF8_BLOCK];

	p += list;
	end -= list;
	if (list && p == end)
		return TR_NO;
	for (; p < end; p += len) {
		const char *block = p;
		len = end - p < TR_UTF8_BLOCK ? (size_t)(end - p) : TR_UTF8_BLOCK;
		if (len < TR_UTF8_BLOCK) /* bytes after the end may not be read */
			block = memcpy(copy, p, len);
		struct marks marks = mark(block);
		uint64_t valid = UINT64_MAX >> (TR_UTF8_BLOCK - len);
		uint64_t quotes = marks.quotes & valid;
		uint64_t inside = parity(quotes) ^ in_string;
		uint64_t open = quotes & inside, close = quotes & ~inside;
		uint64_t between = ~(inside | quotes) & valid;
		if (between != ((close << 1 | closed) & valid) ||
		    (between & ~(list ? marks.commas : 0)) || (marks.escapes & valid))
			return TR_UNKNOWN;
		uint64_t likely = open & (far | (distance < 64 ? close >> distance : 0));
		for (; likely && !found; likely &= likely - 1)
			found = is_string_at(p + __builtin_ctzll(likely), end, string);
		in_string = 0 - (inside >> 63);
		closed = close >> (len - 1);
	}
	return !closed ? TR_UNKNOWN : found ? TR_YES : TR_NO;
}

ALWAYS_INLINE struct marks mark(const char *p)
{
	struct tr_block64 block = tr_block64_load(p);

	return (struct marks){ tr_block64_equal(block, '"'), tr_block64_equal(block, ','),
			       tr_block64_equal(block, '\\') };
}

#ifdef TR_WIDE
TR_WIDE static inline struct marks mark_wide(const char *p)
{
	struct tr_block64_wide block = tr_block64_wide_load(p);

	return (struct marks){ tr_block64_wide_equal(block, '"'), tr_block64_wide_equal(block, ','),
			       tr_block64_wide_equal(block, '\\') };
}

TR_WIDE static enum tr_answer search_strings_wide(struct tr_text text, struct tr_text string)
{
	return search_strings(text, string, mark_wide, tr_block64_wide_parity);
}
#endif

enum tr_answer tr_strings_have(struct tr_text text, struct tr_text string)
{
#ifdef TR_WIDE
	if (tr_wide_runs())
		return search_strings_wide(text, string);
#endif
	return search_strings(text, string, mark, tr_block64_parity);
}

#else

enum tr_answer tr_strings_have(struct tr_text text, struct tr_text string)
{
	(void)text, (void)string;
	return TR_UNKNOWN;
}

#endif

/* Compares a key that a record spells with escapes. If memory is exhausted, the keys differ. */
static bool is_key_respelled(struct tr_text spelling, struct tr_text key, struct tr_arena *arena)
{
	struct tr_buffer canonical = TR_BUFFER_INIT;
	struct tr_text bytes;
	if (!tr_cell_bytes(spelling, arena, &bytes, NULL))
		return false;
	tr_cell_escape(bytes, true, &canonical);
	struct tr_text text = tr_buffer_text(&canonical);
	/*
	 * a first . or # without an escape is one byte, which tr_cell_escape spells as \x2e or \x23
	 */
	bool same = false;
	if (!canonical.failed && (*spelling.data == '.' || *spelling.data == '#'))
		same = text.len == key.len + 3 && key.data[0] == spelling.data[0] &&
		       memcmp(text.data + 4, key.data + 1, key.len - 1) == 0;
	else if (!canonical.failed)
		same = tr_text_equal(text, key);
	tr_buffer_free(&canonical);
	return same;
}

/*
 * Returns the beginning of the value if the column is key=value, or NULL. Without an arena a key
 * with escapes is not compared, but makes *unknown true.
 */
static const char *value_of(struct tr_text column, struct tr_text key, struct tr_arena *arena,
			    bool *unknown)
{
	size_t i = 0;
	while (i < key.len && i < column.len && column.data[i] == key.data[i])
		i++;
	if (i == column.len)
		return NULL;
	if (i == key.len && column.data[i] == '=')
		return column.data + i + 1;
	/* only an escape can make two spellings of one key differ */
	if (column.data[i] != '\\' && !memchr(column.data, '\\', i))
		return NULL;
	if (!arena) {
		*unknown = true;
		return NULL;
	}
	const char *equals = memchr(column.data, '=', column.len);
	if (!equals || !is_key_respelled(tr_text_span(column.data, equals), key, arena))
		return NULL;
	return equals + 1;
}

/* Whether a column is the arrow between inputs and outputs. */
static bool is_arrow(struct tr_text column)
{
	return column.len == 2 && column.data[0] == '-' && column.data[1] == '>';
}

/* Searches from the last column to the first, because the last of a repeated key counts. */
static bool locate_in_text(const struct tr_path *path, struct tr_text key, struct tr_record *record,
			   struct tr_text *value)
{
	const char *begin = record->rest.data, *end = begin + record->rest.len;
	const char *found = NULL;
	while (end > begin) {
		const char *tab = memrchr(begin, '\t', (size_t)(end - begin));
		struct tr_text column = tr_text_span(tab ? tab + 1 : begin, end);
		if (!found) {
			found = value_of(column, key, record->arena, NULL);
			if (found)
				*value = tr_text_span(found, end);
			if (found && !path->after_arrow)
				return true;
		} else if (is_arrow(column)) {
			return true;
		}
		end = tab ? tab : begin;
	}
	return false;
}

enum tr_answer tr_locate_in_line(struct tr_text columns, struct tr_text key, struct tr_text *value)
{
	const char *begin = columns.data, *end = begin + columns.len;
	bool unknown = false;
	while (end > begin) {
		const char *tab = memrchr(begin, '\t', (size_t)(end - begin));
		const char *column = tab ? tab + 1 : begin;
		const char *found = value_of(tr_text_span(column, end), key, NULL, &unknown);
		if (unknown)
			return TR_UNKNOWN;
		*value = tr_text_span(found ? found : end, end);
		if (found)
			return TR_YES;
		end = tab ? tab : begin;
	}
	return TR_NO;
}

/* Searches the fields of a record that was built, the last one first. */
static struct tr_field *locate_in_fields(const struct tr_path *path, struct tr_text key,
					 struct tr_record *record)
{
	size_t from = path->after_arrow ? record->arrow : 0;
	for (size_t i = record->count; i > from; i--) {
		struct tr_field *field = &record->fields[i - 1];
		if (tr_text_equal(field->key, key))
			return field;
	}
	return NULL;
}

/* Finds a field in one record, by its text or among its fields. */
static bool locate_key(const struct tr_path *path, struct tr_text key, struct tr_record *record,
		       struct tr_place *place)
{
	*place = (struct tr_place){ .record = record };
	if (record->line.data)
		return locate_in_text(path, key, record, &place->text);
	place->field = locate_in_fields(path, key, record);
	return place->field != NULL;
}

/* Finds the field of a path. An environment may be written in one of three forms. */
static bool locate_in(const struct tr_path *path, struct tr_record *record, struct tr_place *place)
{
	if (locate_key(path, path->key, record, place))
		return true;
	return path->environment && (locate_key(path, TR_TEXT("envtop"), record, place) ||
				     locate_key(path, TR_TEXT("envdiff"), record, place));
}

bool tr_locate(const struct tr_path *path, struct tr_record *record, struct tr_record *leave,
	       struct tr_place *place)
{
	return (leave && locate_in(path, leave, place)) || locate_in(path, record, place);
}

struct tr_value *tr_locate_computed(const struct tr_path *path, struct tr_computed_fields *computed,
				    struct tr_record *record, struct tr_record *leave,
				    struct tr_error *err)
{
	tr_error_clear(err);
	if (!computed || path->after_arrow)
		return NULL;
	return computed->get(computed, path->key, record, leave, err);
}

struct tr_value *tr_place_value(const struct tr_place *place, struct tr_error *err)
{
	if (place->text.data)
		return tr_literal_parse(place->text, place->record->arena, err);
	return tr_field_value(place->record, place->field, err);
}

const struct tr_cell *tr_locate_column(enum tr_subject subject, const struct tr_record *record,
				       struct tr_cell *kind)
{
	switch (subject) {
	case TR_SUBJECT_SEQ:
		return &record->seq;
	case TR_SUBJECT_TIME:
		return &record->time;
	case TR_SUBJECT_TASK:
		return &record->task;
	case TR_SUBJECT_NAME:
		return &record->name;
	default:
		*kind = (struct tr_cell){ .type = TR_CELL_TEXT, .text = record->kind };
		return kind;
	}
}

/* A cell without a backslash is used in place, which is the usual case. */
enum tr_status tr_cell_decode(const struct tr_cell *cell, struct tr_arena *arena,
			      struct tr_text *bytes, struct tr_error *err)
{
	if (cell->type == TR_CELL_ABSENT)
		return TR_END;
	if (cell->type == TR_CELL_TEXT) {
		if (!memchr(cell->text.data, '\\', cell->text.len)) {
			*bytes = cell->text;
			return TR_OK;
		}
		if (tr_cell_bytes(cell->text, arena, bytes, err))
			return TR_OK;
		return tr_error_status(err);
	}
	struct tr_buffer text = TR_BUFFER_INIT;
	tr_cell_write(cell, &text);
	*bytes = tr_arena_copy(arena, tr_buffer_text(&text));
	bool fine = !text.failed && bytes->data;
	tr_buffer_free(&text);
	if (!fine)
		tr_error_memory(err);
	return fine ? TR_OK : TR_FATAL;
}

struct tr_text tr_walk_basename(struct tr_text path)
{
	const char *slash = path.len ? memrchr(path.data, '/', path.len) : NULL;
	return slash ? tr_text_span(slash + 1, path.data + path.len) : path;
}

/* Whether a member's key, which may have escapes, has these bytes. */
static bool is_key(struct tr_text spelling, struct tr_text name, struct tr_arena *arena)
{
	if (tr_text_equal(spelling, name))
		return !memchr(name.data ? name.data : "", '\\', name.len);
	if (!spelling.len || !memchr(spelling.data, '\\', spelling.len))
		return false;
	struct tr_text bytes = tr_string_bytes(spelling, arena);
	return bytes.data && tr_text_equal(bytes, name);
}

const struct tr_value *tr_walk_step(const struct tr_value *value, const struct tr_step *step,
				    struct tr_arena *arena)
{
	if (step->type == TR_STEP_INDEX)
		return value->type == TR_LIST && step->index < value->count
			       ? &value->as.items[step->index]
			       : NULL;
	if (step->type != TR_STEP_MEMBER || (value->type != TR_MAP && value->type != TR_STRUCT))
		return NULL;
	/* from the end, because the last of repeated members counts */
	for (size_t i = value->count; i > 0; i--) {
		const struct tr_member *member = &value->as.members[i - 1];
		if (is_key(member->key, step->name, arena))
			return member->value;
	}
	return NULL;
}

bool tr_walk_count(const struct tr_value *value, uint64_t *count)
{
	switch (value->type) {
	case TR_LIST:
	case TR_MAP:
	case TR_STRUCT:
		*count = value->count;
		return true;
	case TR_BLOB_LEFT:
	case TR_BLOB_FILE:
		*count = value->as.number;
		return true;
	default:
		return false;
	}
}

bool tr_walk_bytes(const struct tr_value *value, struct tr_arena *arena, struct tr_text *bytes)
{
	*bytes = value->text;
	if (value->type == TR_BLOB)
		return true;
	if (value->type != TR_STRING && value->type != TR_WSTRING) {
		*bytes = TR_TEXT("");
		return false;
	}
	if (!(value->flags & TR_PLAIN))
		*bytes = tr_string_bytes(value->text, arena);
	return bytes->data != NULL;
}

/* Compares a length. */
static bool walk_count(struct tr_compare *compare, const struct tr_test *test, uint64_t count,
		       const struct tr_step *steps)
{
	struct tr_leaf leaf = { .type = TR_LEAF_NUMBER, .has_number = true };
	leaf.number = tr_number_from_count(count);
	return !steps && tr_compare_leaf(compare, test, &leaf);
}

/* Applies what is left of the steps: basename() any number of times, then len() once. */
bool tr_walk_leaf(struct tr_compare *compare, const struct tr_test *test,
		  const struct tr_leaf *leaf, const struct tr_step *steps)
{
	if (!steps)
		return tr_compare_leaf(compare, test, leaf);
	if (leaf->type != TR_LEAF_TEXT)
		return false;
	if (steps->type == TR_STEP_LEN)
		return walk_count(compare, test, leaf->bytes.len, steps->next);
	struct tr_leaf base;
	base.type = TR_LEAF_TEXT;
	base.is_value = leaf->is_value;
	base.has_number = false;
	base.bytes = leaf->bytes;
	for (; steps && steps->type == TR_STEP_BASENAME; steps = steps->next)
		base.bytes = tr_walk_basename(base.bytes);
	if (!steps)
		return tr_compare_leaf(compare, test, &base);
	return steps->type == TR_STEP_LEN && walk_count(compare, test, base.bytes.len, steps->next);
}

/* Makes the leaf of a value that is not walked further. False: memory is exhausted. */
static bool make_leaf(struct tr_compare *compare, const struct tr_value *value,
		      struct tr_leaf *leaf)
{
	*leaf = (struct tr_leaf){ .type = TR_LEAF_OTHER, .is_value = true, .value = value };
	switch (value->type) {
	case TR_NULL:
	case TR_FALSE:
	case TR_TRUE:
		leaf->type = TR_LEAF_CONSTANT;
		leaf->constant = value->type;
		return true;
	case TR_STRING:
	case TR_WSTRING:
	case TR_BLOB:
		leaf->type = TR_LEAF_TEXT;
		if (tr_walk_bytes(value, compare->arena, &leaf->bytes))
			return true;
		compare->trouble |= TR_TROUBLE_MEMORY;
		return false;
	case TR_MAP:
	case TR_STRUCT:
	case TR_BLOB_LEFT:
	case TR_BLOB_FILE:
		return true;
	default:
		leaf->type = value->type == TR_SYMBOL ? TR_LEAF_SYMBOL : TR_LEAF_NUMBER;
		leaf->has_number = tr_number_from_value(value, &leaf->number);
		return true;
	}
}

/* Whether any element matches, from the first on. */
static bool walk_items(struct tr_compare *compare, const struct tr_test *test,
		       const struct tr_value *value, const struct tr_step *steps)
{
	for (size_t i = 0; i < value->count; i++) {
		if (tr_walk_value(compare, test, &value->as.items[i], steps))
			return true;
	}
	return false;
}

bool tr_walk_value(struct tr_compare *compare, const struct tr_test *test,
		   const struct tr_value *value, const struct tr_step *steps)
{
	uint64_t count;
	struct tr_leaf leaf;
	if (!steps && test->op == TR_OP_EXISTS)
		return true;
	if (value->type == TR_REPR)
		return walk_items(compare, test, value, steps);
	/* a pointer to a structure is a list of it: a member is looked for in every element */
	if (steps && steps->type == TR_STEP_MEMBER && value->type == TR_LIST)
		return walk_items(compare, test, value, steps);
	if (steps && (steps->type == TR_STEP_INDEX || steps->type == TR_STEP_MEMBER)) {
		const struct tr_value *next = tr_walk_step(value, steps, compare->arena);
		return next && tr_walk_value(compare, test, next, steps->next);
	}
	if (steps && steps->type == TR_STEP_LEN && tr_walk_count(value, &count))
		return walk_count(compare, test, count, steps->next);
	if (value->type == TR_LIST)
		return walk_items(compare, test, value, steps);
	return make_leaf(compare, value, &leaf) && tr_walk_leaf(compare, test, &leaf, steps);
}
