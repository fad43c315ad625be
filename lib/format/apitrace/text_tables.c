/* SPDX-License-Identifier: MIT */
/*
 * The style apitrace of tr-totext: the definitions of a segment. The text that every call of a
 * function repeats (its name, the names of its arguments, with colours) is made once, when the
 * function is defined.
 */
#include "format/apitrace/apitrace.h"
#include "format/apitrace/signature.h"
#include "format/apitrace/text.h"

enum { FEW = 8 }; /* arguments that are as quickly found without a map */

void tr_apitrace_tables_reset(struct tr_apitrace_tables *tables)
{
	struct tr_apitrace_function *function;
	size_t position = 0;

	while ((function = tr_map_next(&tables->others, &position)))
		tr_map_free(&function->by_key);
	tr_map_clear(&tables->functions);
	tr_map_clear(&tables->others);
	tr_map_clear(&tables->frames);
	tr_map_clear(&tables->guids);
	tr_arena_reset(&tables->arena);
}

void tr_apitrace_tables_free(struct tr_apitrace_tables *tables)
{
	tr_apitrace_tables_reset(tables);
	tr_map_free(&tables->functions);
	tr_map_free(&tables->others);
	tr_map_free(&tables->frames);
	tr_map_free(&tables->guids);
	tr_arena_free(&tables->arena);
	tr_buffer_free(&tables->scratch);
}

/* apitrace keeps names as C strings. */
static struct tr_text as_c_string(struct tr_text bytes)
{
	const char *nul = bytes.len ? memchr(bytes.data, '\0', bytes.len) : NULL;

	return nul ? tr_text_span(bytes.data, nul) : bytes;
}

/*
 * The bytes of a cell or key; one with bad escapes is taken literally. data NULL: memory
 * is exhausted.
 */
static struct tr_text cell_name(struct tr_text cell, struct tr_arena *arena)
{
	struct tr_text bytes;
	struct tr_error err;

	if (tr_cell_bytes(cell, arena, &bytes, &err))
		return as_c_string(bytes);
	return err.cause == TR_CAUSE_MEMORY ? (struct tr_text){ NULL, 0 } : cell;
}

/*
 * Keeps a copy of scratch, with readable bytes after it, and empties scratch. False: memory is
 * exhausted.
 */
static bool keep_scratch(struct tr_apitrace_tables *tables, struct tr_arena *arena,
			 struct tr_text *to)
{
	size_t len = tables->scratch.len;

	tr_buffer_put(&tables->scratch, "0123456789abcdef", TR_APITRACE_SLACK);
	*to = tables->scratch.failed ? (struct tr_text){ NULL, 0 }
				     : tr_arena_copy(arena, tr_buffer_text(&tables->scratch));
	to->len = len;
	tr_buffer_reset(&tables->scratch);
	return to->data != NULL;
}

/*
 * Makes the text before the arguments. Names of functions without side effects are not bold, as in
 * apitrace. False: memory is exhausted.
 */
static bool render_function(struct tr_apitrace_text *text, struct tr_apitrace_function *function,
			    struct tr_arena *arena)
{
	struct tr_buffer *scratch = &text->tables.scratch;
	bool plain = text->colors.bold.len && tr_apitrace_call_is_plain(function->name);

	function->kinds = tr_apitrace_call_kinds(function->name);
	tr_buffer_put_text(scratch, plain ? text->colors.normal : text->colors.bold);
	tr_buffer_put_text(scratch, function->name);
	tr_buffer_put_text(scratch, text->colors.normal);
	tr_buffer_put_byte(scratch, '(');
	return keep_scratch(&text->tables, arena, &function->head);
}

/* Makes the text before an argument's value. False: memory is exhausted. */
static bool render_argument(struct tr_apitrace_text *text,
			    const struct tr_apitrace_function *function, size_t index,
			    struct tr_arena *arena)
{
	struct tr_buffer *scratch = &text->tables.scratch;

	if (index)
		tr_buffer_put_literal(scratch, ", ");
	if (text->arg_names) {
		tr_buffer_put_text(scratch, function->arguments[index].name);
		tr_buffer_put_text(scratch, text->colors.normal);
		tr_buffer_put_literal(scratch, " = ");
	}
	return keep_scratch(&text->tables, arena, &function->leads[index]);
}

bool tr_apitrace_text_guess(struct tr_apitrace_text *text)
{
	struct tr_apitrace_function *function = &text->guess;
	struct tr_arena *arena = &text->arena;

	function->name = cell_name(function->cell, arena);
	function->leads = tr_arena_alloc(arena, function->count * sizeof *function->leads);
	if (!function->name.data || !function->leads || !render_function(text, function, arena))
		return false;
	for (size_t i = 0; i < function->count; i++) {
		struct tr_apitrace_argument *argument = &function->arguments[i];
		argument->name = cell_name(argument->key, arena);
		if (!argument->name.data || !render_argument(text, function, i, arena))
			return false;
	}
	return true;
}

size_t tr_apitrace_function_argument(const struct tr_apitrace_function *function,
				     struct tr_text key)
{
	const struct tr_apitrace_argument *arguments = function->arguments;
	size_t count = function->count;
	uint64_t number;

	if (key.len && *key.data == '#') {
		bool is = tr_apitrace_read_id(key, '#', &number) && number < count;
		return is ? (size_t)number : count;
	}
	if (count > FEW) {
		struct tr_apitrace_argument *argument = tr_map_get(&function->by_key, key);
		return argument ? (size_t)(argument - arguments) : count;
	}
	for (size_t i = 0; i < count; i++)
		if (tr_text_equal(arguments[i].key, key))
			return i;
	return count;
}

/* The value of a field, if it is of that type; else NULL. */
static const struct tr_value *value_of(struct tr_apitrace_tables *tables, struct tr_record *record,
				       const char *key, enum tr_type type)
{
	struct tr_error err = { .cause = TR_CAUSE_NONE };
	const struct tr_value *value = tr_record_value(record, key, &err);

	tables->failed |= err.cause == TR_CAUSE_MEMORY;
	return value && value->type == type ? value : NULL;
}

/* Sets an argument by its name. Its key is that of signature.h: #N if the name cannot be a key. */
static bool set_argument(struct tr_apitrace_text *text, struct tr_apitrace_function *function,
			 struct tr_text spelling, size_t index)
{
	struct tr_apitrace_argument *argument = &function->arguments[index];
	struct tr_buffer *scratch = &text->tables.scratch;
	struct tr_arena *arena = &text->tables.arena;
	struct tr_text bytes = tr_string_bytes(spelling, arena);

	if (!bytes.data)
		return false;
	if (bytes.len == 0 || tr_text_is(bytes, "return")) {
		tr_buffer_put_byte(scratch, '#');
		tr_buffer_put_decimal(scratch, index);
	} else {
		tr_cell_escape(bytes, true, scratch);
	}
	if (!keep_scratch(&text->tables, arena, &argument->key))
		return false;
	argument->name = tr_arena_copy(arena, as_c_string(bytes));
	return argument->name.data && render_argument(text, function, index, arena);
}

/* Makes arguments findable by key, where there are many. False: memory is exhausted. */
static bool map_arguments(struct tr_apitrace_function *function)
{
	for (size_t i = 0; function->count > FEW && i < function->count; i++) {
		struct tr_apitrace_argument *argument = &function->arguments[i];
		if (!tr_map_get(&function->by_key, argument->key) &&
		    !tr_map_put(&function->by_key, argument->key, argument))
			return false;
	}
	return true;
}

/* Makes a function of its definition. NULL: memory is exhausted. */
static struct tr_apitrace_function *make_function(struct tr_apitrace_text *text,
						  const struct tr_record *record,
						  const struct tr_value *names)
{
	struct tr_arena *arena = &text->tables.arena;
	struct tr_apitrace_function *function = tr_arena_alloc(arena, sizeof *function);

	if (!function)
		return NULL;
	*function = (struct tr_apitrace_function){ .cell = TR_TEXT("-") };
	if (record->name.type == TR_CELL_TEXT)
		function->cell = tr_arena_copy(arena, record->name.text);
	if (!function->cell.data)
		return NULL;
	function->name = cell_name(function->cell, arena);
	if (!function->name.data || !render_function(text, function, arena))
		return NULL;
	function->arguments = tr_arena_alloc(arena, names->count * sizeof *function->arguments);
	function->leads = tr_arena_alloc(arena, names->count * sizeof *function->leads);
	if (!function->arguments || !function->leads)
		return NULL;
	for (size_t i = 0; i < names->count; i++, function->count++)
		if (!set_argument(text, function, names->as.items[i].text, i))
			return NULL;
	return function;
}

/* Adds a function. The first one of a name is found by it, all are found by their ids. */
static enum tr_status add_function(struct tr_apitrace_text *text, struct tr_text id,
				   struct tr_record *record, struct tr_error *err)
{
	struct tr_apitrace_tables *tables = &text->tables;
	const struct tr_value *names = value_of(tables, record, "args", TR_LIST);

	if (tables->failed)
		return tr_error_memory(err);
	for (size_t i = 0; names && i < names->count; i++)
		if (names->as.items[i].type != TR_STRING)
			names = NULL;
	if (!names) {
		tr_error_set(err, TR_CAUSE_INPUT, "%%fn %.*s without a list args", (int)id.len,
			     id.data);
		return TR_WARN;
	}
	struct tr_apitrace_function *function = make_function(text, record, names);
	if (!function || !tr_map_put(&tables->others, id, function) || !map_arguments(function))
		return tr_error_memory(err);
	if (!tr_map_get(&tables->functions, function->cell) &&
	    !tr_map_put(&tables->functions, function->cell, function))
		return tr_error_memory(err);
	return TR_OK;
}

/* A text member of a frame; data NULL: it has none. */
static struct tr_text frame_text(struct tr_apitrace_tables *tables, struct tr_record *record,
				 const char *key)
{
	const struct tr_value *value = value_of(tables, record, key, TR_STRING);

	if (!value)
		return (struct tr_text){ NULL, 0 };
	struct tr_text bytes = tr_string_bytes(value->text, &tables->arena);
	tables->failed |= !bytes.data;
	return as_c_string(bytes);
}

/* A number of a frame. False: it has none, or one that C takes for negative. */
static bool frame_number(struct tr_apitrace_tables *tables, struct tr_record *record,
			 const char *key, unsigned bits, uint64_t *number)
{
	const struct tr_value *value = value_of(tables, record, key, TR_UINT);

	if (!value)
		return false;
	*number = value->as.number & (UINT64_MAX >> (64 - bits));
	return !(*number >> (bits - 1));
}

/* A frame as a line of a backtrace. */
static void write_frame(struct tr_apitrace_tables *tables, struct tr_record *record,
			struct tr_buffer *to)
{
	struct tr_text module = frame_text(tables, record, "module");
	struct tr_text function = frame_text(tables, record, "function");
	struct tr_text file = frame_text(tables, record, "file");
	uint64_t number;

	tr_buffer_put_text(to, module.data ? module : TR_TEXT("?"));
	if (function.data) {
		tr_buffer_put_literal(to, ": ");
		tr_buffer_put_text(to, function);
	}
	if (frame_number(tables, record, "offset", 64, &number)) {
		tr_buffer_put_literal(to, "+0x");
		tr_buffer_put_hex(to, number, 1);
	}
	if (file.data) {
		tr_buffer_put_literal(to, ": ");
		tr_buffer_put_text(to, file);
		if (frame_number(tables, record, "line", 32, &number)) {
			tr_buffer_put_byte(to, ':');
			tr_buffer_put_decimal(to, number);
		}
	}
}

/* Adds the line of a stack frame. */
static enum tr_status add_frame(struct tr_apitrace_tables *tables, struct tr_text id,
				struct tr_record *record, struct tr_error *err)
{
	struct tr_buffer line = TR_BUFFER_INIT;
	struct tr_text *frame = tr_arena_alloc(&tables->arena, sizeof *frame);

	write_frame(tables, record, &line);
	bool good = frame && !line.failed && !tables->failed;
	if (good)
		*frame = tr_arena_copy(&tables->arena, tr_buffer_text(&line));
	tr_buffer_free(&line);
	good = good && frame->data && tr_map_put(&tables->frames, id, frame);
	return good ? TR_OK : tr_error_memory(err);
}

enum tr_status tr_apitrace_text_define(struct tr_apitrace_text *text, struct tr_record *record,
				       struct tr_error *err)
{
	struct tr_apitrace_tables *tables = &text->tables;
	struct tr_text id = record->task.text;
	bool function = tr_text_is(record->kind, "fn"), frame = tr_text_is(record->kind, "frame");

	if (record->task.type != TR_CELL_TEXT ||
	    (!function && !frame && !tr_text_is(record->kind, "struct")))
		return TR_OK;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (tr_map_get(function ? &tables->others : frame ? &tables->frames : &tables->guids, id))
		return TR_OK;
	id = tr_arena_copy(&tables->arena, id);
	if (!id.data)
		return tr_error_memory(err);
	if (function)
		return add_function(text, id, record, err);
	if (frame)
		return add_frame(tables, id, record, err);
	if (record->name.type != TR_CELL_TEXT || !tr_text_is(record->name.text, "GUID"))
		return TR_OK;
	/* the value only has to exist */
	return tr_map_put(&tables->guids, id, tables) ? TR_OK : tr_error_memory(err);
}
