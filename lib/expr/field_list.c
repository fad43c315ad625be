#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "expr/locate.h"
#include "expr/parse.h"
#include "expr/walk.h"
#include "record/literal.h"

/* The paths of a list that is being parsed. */
struct path_link {
	struct tr_path path;
	struct path_link *next;
};

/* PATH { , PATH }, all of the text. */
static bool parse_paths(struct tr_parser *parser, struct path_link **first, size_t *count)
{
	struct path_link **last = first;
	for (*count = 0;; ++*count) {
		struct path_link *link = tr_parse_alloc(parser, sizeof *link);
		if (!link || !tr_parse_field(parser, &link->path, NULL))
			return false;
		*last = link;
		last = &link->next;
		if (parser->token.type == TR_TOKEN_END) {
			++*count;
			return true;
		}
		if (!tr_parse_expect(parser, TR_TOKEN_COMMA, ","))
			return false;
	}
}

struct tr_field_list *tr_field_list_compile(struct tr_text text, struct tr_expr_error *error)
{
	struct tr_field_list *list = calloc(1, sizeof *list);
	struct tr_parser parser;
	struct path_link *link = NULL;
	if (!list) {
		tr_expr_fail(error, 0, "out of memory");
		return NULL;
	}
	if (!tr_parse_begin(&parser, text, &list->arena, error) ||
	    !parse_paths(&parser, &link, &list->count) ||
	    !(list->paths = tr_parse_alloc(&parser, list->count * sizeof *list->paths))) {
		tr_field_list_free(list);
		return NULL;
	}
	for (size_t i = 0; link; link = link->next)
		list->paths[i++] = link->path;
	return list;
}

void tr_field_list_free(struct tr_field_list *list)
{
	if (!list)
		return;
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

/* Of a value of two forms the human one is shown, the machine's where only that has the step. */
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
	found = tr_walk_step(value, step, arena);
	if (!found)
		return NULL;
	const struct tr_step *rest = step->next;
	found = follow(found, &rest, arena);
	if (found)
		*steps = rest;
	return found;
}

/* How bytes are shown: as they are, as a cell, or as a string. */
enum style { RAW, CELL, STRING };

static void put_bytes(struct tr_text bytes, enum style style, struct tr_buffer *to)
{
	if (style == RAW) {
		tr_buffer_put_text(to, bytes);
	} else if (style == CELL) {
		tr_cell_escape(bytes, false, to);
	} else {
		tr_buffer_put_byte(to, '"');
		tr_string_escape(bytes, to);
		tr_buffer_put_byte(to, '"');
	}
}

/* basename() and len() of bytes. */
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

static bool write_column(const struct tr_path *path, const struct tr_record *record, bool raw,
			 struct tr_buffer *to, struct tr_error *err)
{
	struct tr_cell kind;
	const struct tr_cell *cell = tr_locate_column(path->subject, record, &kind);
	struct tr_text bytes;
	if (tr_cell_decode(cell, record->arena, &bytes, err) != TR_OK)
		return false;
	return write_bytes(bytes, path->steps, raw ? RAW : CELL, to);
}

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

bool tr_field_list_write(const struct tr_field_list *list, size_t index, struct tr_record *record,
			 struct tr_record *leave, bool raw, struct tr_buffer *to,
			 struct tr_error *err)
{
	const struct tr_path *path = &list->paths[index];
	struct tr_place place;
	tr_error_clear(err);
	if (path->subject != TR_SUBJECT_KEY)
		return write_column(path, record, raw, to, err);
	if (!tr_locate(path, record, leave, &place))
		return false;
	/* shown as it stands, when it is a value */
	if (place.text.data && !path->steps && !raw) {
		if (tr_literal_check(place.text, NULL, err) == TR_MALFORMED)
			return false;
		tr_buffer_put_text(to, place.text);
		return true;
	}
	struct tr_value *value = tr_place_value(&place, err);
	return value && write_value(value, path->steps, raw, place.record->arena, to, err);
}
