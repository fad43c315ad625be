/* SPDX-License-Identifier: MIT */
/*
 * Lists of fields. A reference is parsed by the parser of expressions and located like the field
 * of a test; instead of being compared, the value is written.
 */

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "expr/parse.h"
#include "expr/match.h"
#include "record/literal.h"

struct tr_field_list {
	struct tr_arena arena; /* of the texts and steps of the paths */
	struct tr_path *paths;
	size_t count, cap;
	struct tr_seen seen;		     /* of the paths */
	struct tr_computed_fields *computed; /* NULL: none */
	enum tr_field_side side;
};

/* Parses PATH { , PATH }, all of the text. */
static bool parse_paths(struct tr_parser *parser, struct tr_field_list *list)
{
	for (;;) {
		if (!tr_array_room(list->paths, list->count, list->cap))
			return tr_expr_fail(parser->lexer.error, 0, "out of memory");
		struct tr_path *path = &list->paths[list->count++];
		*path = (struct tr_path){ .steps = NULL };
		if (!tr_parse_field(parser, path, NULL))
			return false;
		if (parser->token.type == TR_TOKEN_END)
			return true;
		if (!tr_parse_expect(parser, TR_TOKEN_COMMA, "','"))
			return false;
	}
}

struct tr_field_list *tr_field_list_compile(struct tr_text text, struct tr_expr_error *error)
{
	struct tr_field_list *list = calloc(1, sizeof *list);
	struct tr_parser parser;
	if (!list) {
		tr_expr_fail(error, 0, "out of memory");
		return NULL;
	}
	list->side = TR_SIDE_BOTH;
	bool good =
		tr_parse_begin(&parser, text, &list->arena, error) && parse_paths(&parser, list);
	if (good && !(good = tr_seen_begin(&list->seen, list->count)))
		tr_expr_fail(error, 0, "out of memory");
	if (!good) {
		tr_field_list_free(list);
		return NULL;
	}
	for (size_t i = 0; i < list->count; i++)
		list->seen.uses[i].path = &list->paths[i];
	return list;
}

void tr_field_list_free(struct tr_field_list *list)
{
	if (!list)
		return;
	tr_seen_free(&list->seen);
	free(list->paths);
	tr_arena_free(&list->arena);
	free(list);
}

size_t tr_field_list_count(const struct tr_field_list *list)
{
	return list->count;
}

struct tr_text tr_field_list_text(const struct tr_field_list *list, size_t index)
{
	return list->paths[index].text;
}

bool tr_field_list_needs_leave(const struct tr_field_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->paths[i].subject == TR_SUBJECT_KEY)
			return true;
	}
	return false;
}

bool tr_field_list_uses(const struct tr_field_list *list, const char *key)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->paths[i].subject == TR_SUBJECT_KEY && tr_text_is(list->paths[i].key, key))
			return true;
	}
	return false;
}

void tr_field_list_set_computed(struct tr_field_list *list, struct tr_computed_fields *computed)
{
	list->computed = computed;
}

/*
 * Follows indexes and members, up to basename() or len(), or to a list whose elements have the
 * member; *steps is what is left. Of <human;machine> the human form is shown, or the machine form
 * if only that has the member. NULL: there is none.
 */
static const struct tr_value *follow(const struct tr_value *value, const struct tr_step **steps,
				     struct tr_arena *arena)
{
	const struct tr_step *step = *steps;
	const struct tr_value *found;
	if (value->type == TR_REPR && step) {
		found = follow(&value->as.items[0], steps, arena);
		return found ? found : follow(&value->as.items[1], steps, arena);
	}
	if (!step || step->type == TR_STEP_BASENAME || step->type == TR_STEP_LEN)
		return value;
	if (step->type == TR_STEP_MEMBER && value->type == TR_LIST) {
		for (size_t i = 0; i < value->count; i++) {
			const struct tr_step *rest = step;
			if (follow(&value->as.items[i], &rest, arena))
				return value;
		}
		return NULL;
	}
	found = tr_walk_step(value, step, arena);
	if (!found)
		return NULL;
	const struct tr_step *rest = step->next;
	found = follow(found, &rest, arena);
	/* *steps changes only on success, because the machine form may be tried next */
	if (found)
		*steps = rest;
	return found;
}

/* The spelling of bytes: none, that of a cell, or that of a string. */
enum style { RAW, CELL, STRING };

/* Appends bytes in a style. */
static void put_bytes(struct tr_text bytes, enum style style, struct tr_buffer *to)
{
	if (style == RAW)
		tr_buffer_put_text(to, bytes);
	else if (style == CELL)
		tr_cell_escape(bytes, false, to);
	else
		tr_string_quote(bytes, to);
}

/* Applies basename() and len() to bytes. False: another step is left. */
static bool write_bytes(struct tr_text bytes, const struct tr_step *steps, enum style style,
			struct tr_buffer *to)
{
	for (; steps && steps->type == TR_STEP_BASENAME; steps = steps->next)
		bytes = tr_walk_basename(bytes);
	if (!steps)
		put_bytes(bytes, style, to);
	else if (steps->type == TR_STEP_LEN && !steps->next)
		tr_buffer_put_decimal(to, bytes.len);
	else
		return false;
	return true;
}

/* Writes a column. False: it is absent or malformed. */
static bool write_column(struct tr_field_list *list, size_t index, const struct tr_record *record,
			 bool raw, struct tr_buffer *to, struct tr_error *err)
{
	const struct tr_path *path = &list->paths[index];
	struct tr_cell kind;
	const struct tr_cell *cell = tr_locate_column(path->subject, record, &kind);
	struct tr_text bytes;
	enum tr_status status = tr_cell_decode(cell, record->arena, &bytes, err);
	if (status == TR_END)
		tr_seen_miss(&list->seen, index, NULL, NULL);
	else
		tr_seen_hit(&list->seen, index);
	return status == TR_OK && write_bytes(bytes, path->steps, raw ? RAW : CELL, to);
}

void tr_field_list_set_side(struct tr_field_list *list, enum tr_field_side side)
{
	list->side = side;
}

/* Copies the value with one side of each <human;machine> in it. False: memory is exhausted. */
static bool copy_side(const struct tr_value *from, enum tr_field_side side, struct tr_arena *arena,
		      struct tr_value *to)
{
	while (from->type == TR_REPR)
		from = &from->as.items[side];
	*to = *from;
	if (from->type == TR_LIST) {
		to->as.items = tr_arena_alloc(arena, from->count * sizeof *to->as.items);
		bool done = to->as.items || !from->count;
		for (size_t i = 0; done && i < from->count; i++)
			done = copy_side(&from->as.items[i], side, arena, &to->as.items[i]);
		return done;
	}
	if (from->type != TR_MAP && from->type != TR_STRUCT)
		return true;
	struct tr_value *values = tr_arena_alloc(arena, from->count * sizeof *values);
	to->as.members = tr_arena_alloc(arena, from->count * sizeof *to->as.members);
	bool done = (values && to->as.members) || !from->count;
	for (size_t i = 0; done && i < from->count; i++) {
		to->as.members[i] = (struct tr_member){ from->as.members[i].key, &values[i] };
		done = copy_side(from->as.members[i].value, side, arena, &values[i]);
	}
	return done;
}

static bool write_value(const struct tr_value *value, const struct tr_step *steps, bool raw,
			struct tr_arena *arena, struct tr_buffer *to, struct tr_error *err);

/* Writes the list of what the steps reach from the elements. False: it would be empty. */
static bool write_items(const struct tr_value *list, const struct tr_step *steps,
			struct tr_arena *arena, struct tr_buffer *to, struct tr_error *err)
{
	size_t begin = to->len;
	for (size_t i = 0; i < list->count; i++) {
		size_t before = to->len;
		tr_buffer_put_byte(to, before == begin ? '[' : ',');
		if (!write_value(&list->as.items[i], steps, false, arena, to, err))
			to->len = before;
	}
	if (to->len == begin || tr_error_is_memory(err))
		return false;
	tr_buffer_put_byte(to, ']');
	if (list->flags & TR_CUT)
		tr_buffer_put_literal(to, "...");
	return true;
}

/*
 * Writes what the steps reach from a value. raw is possible only for values that have bytes;
 * others are written as trec spells them. False: there is nothing, or err is filled.
 */
static bool write_value(const struct tr_value *value, const struct tr_step *steps, bool raw,
			struct tr_arena *arena, struct tr_buffer *to, struct tr_error *err)
{
	struct tr_text bytes;
	uint64_t count;
	value = follow(value, &steps, arena);
	if (!value)
		return false;
	if (steps && steps->type == TR_STEP_LEN && !steps->next && tr_walk_count(value, &count)) {
		tr_buffer_put_decimal(to, count);
		return true;
	}
	/* as in expressions, these apply to every element */
	if (value->type == TR_LIST && steps &&
	    (steps->type == TR_STEP_MEMBER || steps->type == TR_STEP_BASENAME))
		return write_items(value, steps, arena, to, err);
	/* a value is written as it is, with its type */
	if (!steps && !raw) {
		tr_literal_write(value, to);
		return true;
	}
	if (tr_walk_bytes(value, arena, &bytes))
		return write_bytes(bytes, steps, raw ? RAW : STRING, to);
	if (!bytes.data)
		tr_error_memory(err);
	else if (!steps)
		tr_literal_write(value, to);
	return bytes.data && !steps;
}

bool tr_field_list_write(struct tr_field_list *list, size_t index, struct tr_record *record,
			 struct tr_record *leave, bool raw, struct tr_buffer *to,
			 struct tr_error *err)
{
	const struct tr_path *path = &list->paths[index];
	struct tr_place place;
	tr_error_clear(err);
	if (path->subject != TR_SUBJECT_KEY)
		return write_column(list, index, record, raw, to, err);
	if (!tr_locate(path, record, leave, &place)) {
		struct tr_value *computed =
			tr_locate_computed(path, list->computed, record, leave, err);
		if (computed)
			tr_seen_hit(&list->seen, index);
		else
			tr_seen_miss(&list->seen, index, record, leave);
		return computed && write_value(computed, path->steps, raw, record->arena, to, err);
	}
	tr_seen_hit(&list->seen, index);
	/* the text of a whole field is copied, in any valid spelling */
	if (place.text.data && !path->steps && !raw && list->side == TR_SIDE_BOTH) {
		if (tr_literal_check(place.text, NULL, err) == TR_MALFORMED)
			return false;
		tr_buffer_put_text(to, place.text);
		return true;
	}
	struct tr_arena *arena = place.record->arena;
	const struct tr_value *value = tr_place_value(&place, err);
	struct tr_value one;
	if (value && list->side != TR_SIDE_BOTH) {
		if (!copy_side(value, list->side, arena, &one)) {
			tr_error_memory(err);
			return false;
		}
		value = &one;
	}
	return value && write_value(value, path->steps, raw, arena, to, err);
}

bool tr_field_list_next_unseen(const struct tr_field_list *list, size_t *position,
			       struct tr_unseen *unseen)
{
	return tr_seen_next(&list->seen, position, unseen);
}
