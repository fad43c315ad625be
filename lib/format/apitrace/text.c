/* SPDX-License-Identifier: MIT */
/*
 * The style apitrace of tr-totext: it takes the lines of the stream and the -O keys, and prints
 * calls as `apitrace dump` does.
 *
 *	put		joins enters with their leaves (record/join.h)
 *	show		a definition goes to the tables, a call is printed
 *	  add_definition	functions, frames and GUIDs, by their ids
 *	  find_shape	which field is which argument of the function
 *	  put_call	number, thread, name, arguments, result, comments, backtrace
 *	tr_apitrace_text_take	prints a plain call from the bytes of the trace (spell.c)
 *
 * apitrace prints a call when it leaves, and so does this: tr_join gives an enter that never left
 * at the end of its segment.
 */
#include "format/apitrace/apitrace.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/container.h"
#include "format/apitrace/text.h"
#include "record/calls.h"
#include "record/vocabulary.h"

/*
 * The definitions of a segment. The text that every call of a function repeats (its name, the names
 * of its arguments, with colours) is made once, when the function is defined.
 */

enum { FEW = 8 }; /* arguments that are as quickly found without a map */

/* Removes all definitions. */
static void reset_tables(struct tr_apitrace_tables *tables)
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

static void free_tables(struct tr_apitrace_tables *tables)
{
	reset_tables(tables);
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

/*
 * Makes text->guess a whole function, in text->arena; its cell and the keys of its arguments are
 * set. False: memory is exhausted. A cell with bad escapes is its own name.
 */
static bool complete_guess(struct tr_apitrace_text *text)
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

/* Returns the number of the argument with that key; count if there is none. */
static size_t find_argument(const struct tr_apitrace_function *function, struct tr_text key)
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
static const struct tr_value *value_of_type(struct tr_apitrace_tables *tables,
					    struct tr_record *record, const char *key,
					    enum tr_type type)
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
	const struct tr_value *names = value_of_type(tables, record, "args", TR_LIST);

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
	const struct tr_value *value = value_of_type(tables, record, key, TR_STRING);

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
	const struct tr_value *value = value_of_type(tables, record, key, TR_UINT);

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

/* Adds a definition; a repeated one is ignored. TR_WARN: it is not valid. */
static enum tr_status add_definition(struct tr_apitrace_text *text, struct tr_record *record,
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

/* Calls. */

/* The parts of a record that are shown. */
struct shape {
	const struct tr_apitrace_function *function;
	size_t count; /* of text->shown: the function's arguments, and fields that are none */
	struct tr_field *result, *backtrace; /* NULL: there is none */
	bool fake;
};

/* Which field of a record is which argument of its function. */

/*
 * Returns the value of a field; NULL: it is bad, or memory is exhausted, which makes the line fail.
 */
static const struct tr_value *value_of(struct tr_apitrace_text *text, struct tr_record *record,
				       struct tr_field *field)
{
	struct tr_error err = { .cause = TR_CAUSE_NONE };
	const struct tr_value *value = tr_field_value(record, field, &err);

	text->line.failed |= err.cause == TR_CAUSE_MEMORY;
	return value;
}

static inline bool same(struct tr_text a, struct tr_text b)
{
	return a.len == b.len && tr_apitrace_same(a.data, b.data, a.len);
}

/* Compares a key with a word whose length is known. */
static bool is_key(struct tr_text key, const char *word, size_t len)
{
	return key.len == len && memcmp(key.data, word, len) == 0;
}

/*
 * Takes a field that is not an argument. False: it is one. Several .flags are combined; their bit 0
 * means a call that apitrace added itself.
 */
static bool take_extra(struct tr_apitrace_text *text, struct tr_record *record,
		       struct tr_field *field, struct shape *shape)
{
	if (is_key(field->key, "return", 6)) {
		shape->result = field;
		return true;
	}
	if (field->key.len == 0 || *field->key.data != '.')
		return false;
	if (is_key(field->key, ".flags", 6)) {
		const struct tr_value *flags = value_of(text, record, field);
		if (flags && flags->type == TR_UINT)
			shape->fake |= flags->as.number & 1;
	} else if (is_key(field->key, ".bt", 3)) {
		shape->backtrace = field;
	}
	return true;
}

/* Makes room for the fields of a call. False: memory is exhausted. */
static bool reserve(struct tr_apitrace_text *text, size_t count)
{
	return tr_array_grow(&text->shown, &text->shown_capacity, count, sizeof *text->shown);
}

/*
 * Finds the field that is shown for each argument, and after them the fields that belong to none.
 * Of several fields with one key the last one is shown, as apitrace does for an argument that is in
 * both the enter and the leave. True: a .sig names another function, which is in *sig.
 */
static bool arrange(struct tr_apitrace_text *text, struct tr_record *record, struct shape *shape,
		    struct tr_field **sig)
{
	const struct tr_apitrace_function *function = shape->function;
	struct tr_field **shown = text->shown;
	size_t expected = 0;

	shape->count = function->count;
	for (size_t i = 0; i < function->count; i++)
		shown[i] = NULL;
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
		if (!field->key.data)
			continue;
		size_t argument = expected;
		if (expected >= function->count ||
		    !same(function->arguments[expected].key, field->key)) {
			if (take_extra(text, record, field, shape)) {
				if (is_key(field->key, ".sig", 4))
					*sig = field;
				continue;
			}
			argument = find_argument(function, field->key);
		}
		if (argument < function->count)
			expected = argument + 1;
		else
			argument = shape->count++;
		shown[argument] = field;
	}
	return *sig != NULL;
}

/*
 * Makes a function of a record that has no definition: its arguments are those that the record has,
 * each once. False: memory is exhausted.
 */
static bool guess_function(struct tr_apitrace_text *text, struct tr_record *record)
{
	struct tr_apitrace_function *guess = &text->guess;
	struct shape ignored = { 0 };

	guess->cell = record->name.type == TR_CELL_TEXT ? record->name.text : TR_TEXT("-");
	guess->count = 0;
	tr_map_clear(&guess->by_key);
	guess->arguments = tr_arena_alloc(&text->arena, record->count * sizeof *guess->arguments);
	if (!guess->arguments)
		return false;
	for (size_t i = 0; i < record->count; i++) {
		struct tr_text key = record->fields[i].key;
		if (!key.data || take_extra(text, record, &record->fields[i], &ignored) ||
		    tr_map_get(&guess->by_key, key))
			continue;
		struct tr_apitrace_argument *argument = &guess->arguments[guess->count++];
		argument->key = key;
		if (!tr_map_put(&guess->by_key, key, argument))
			return false;
	}
	return complete_guess(text);
}

/*
 * A binary reader gives the name of a function at the same address each time, so a small table by
 * address saves the search. The names are compared all the same: the lines of a text stream are
 * read to one buffer, where another name may be at that address next.
 */
static struct tr_apitrace_function *find_function(struct tr_apitrace_text *text,
						  struct tr_text cell)
{
	size_t slot = ((uintptr_t)cell.data >> 3 ^ (uintptr_t)cell.data >> 9) % TR_APITRACE_NAMES;
	struct tr_apitrace_known *known = &text->known[slot];

	if (known->cell.data == cell.data && known->function && same(known->function->cell, cell))
		return known->function;
	struct tr_apitrace_function *function = tr_map_get(&text->tables.functions, cell);
	*known = (struct tr_apitrace_known){ cell, function };
	return function;
}

/*
 * Returns the function of the id in .sig, if it has the name that the record has. NULL: it is
 * unknown, or the name was edited.
 */
static struct tr_apitrace_function *function_of_sig(struct tr_apitrace_text *text,
						    struct tr_record *record, struct tr_field *sig)
{
	const struct tr_value *value = value_of(text, record, sig);

	if (!value || value->type != TR_SYMBOL || value->as.symbol->count != 1)
		return NULL;
	struct tr_apitrace_function *function =
		tr_map_get(&text->tables.others, value->as.symbol->names[0].text);
	bool named = function && record->name.type == TR_CELL_TEXT &&
		     tr_text_equal(function->cell, record->name.text);
	return named ? function : NULL;
}

/*
 * Finds the function of a record and arranges its fields. The function is found by the name, but
 * names may be ambiguous: then the record has .sig, which is met while the fields are arranged, and
 * they are arranged again for the function of that id.
 */
static bool find_shape(struct tr_apitrace_text *text, struct tr_record *record, struct shape *shape)
{
	struct tr_field *sig = NULL, *seen;
	struct tr_apitrace_function *function = NULL;

	*shape = (struct shape){ 0 };
	if (record->name.type == TR_CELL_TEXT)
		function = find_function(text, record->name.text);
	for (;;) {
		if (!function && !guess_function(text, record))
			return false;
		shape->function = function ? function : &text->guess;
		if (!reserve(text, shape->function->count + record->count))
			return false;
		seen = sig;
		if (!arrange(text, record, shape, &sig) || seen)
			return true;
		function = function_of_sig(text, record, sig);
		*shape = (struct shape){ 0 };
	}
}

/* One call, or an enter that did not return, as apitrace shows it. */

/* Copies a short text in blocks: both sides have TR_APITRACE_SLACK bytes more. */
static inline char *copy_short(char *to, struct tr_text text)
{
	const char *from = text.data;

	for (size_t done = 0; done < text.len; done += TR_APITRACE_SLACK)
		memcpy(to + done, from + done, TR_APITRACE_SLACK);
	return to + text.len;
}

/* Appends a short text; see copy_short. */
static void put_short(struct tr_buffer *line, struct tr_text text)
{
	char *to = tr_buffer_room(line, text.len + TR_APITRACE_SLACK);

	if (to)
		line->len = (size_t)(copy_short(to, text) - line->data);
}

/* Writes the thread. apitrace keeps 32 bits of it and prints them in hex. */
static char *put_thread(uint32_t number, char *to)
{
	unsigned len = tr_hex_length(number);

	*to++ = '@';
	if (len == 1)
		*to = "0123456789abcdef"[number];
	else
		tr_hex_write(number, len, to);
	to[len] = ' ';
	return to + len + 1;
}

/* Appends the number and thread of a call, where both are numbers. */
static void put_numbers(struct tr_apitrace_text *text, uint64_t number, uint64_t thread)
{
	char *to = tr_buffer_room(&text->line, TR_APITRACE_NUMBER), *start = to;

	if (!to)
		return;
	if (text->call_numbers) {
		to += tr_counter_write(&text->number, number, to);
		*to++ = ' ';
	}
	if (text->thread_ids)
		to = put_thread((uint32_t)thread, to);
	tr_buffer_used(&text->line, (size_t)(to - start));
}

/*
 * Appends the number and thread where they may be any text, and keeps the number for the names of
 * files with blobs.
 */
static void put_cells(struct tr_apitrace_text *text, const struct tr_record *record)
{
	struct tr_buffer *line = &text->line;
	uint64_t number = 0;

	tr_cell_write(&record->seq, line);
	text->blobs = 0;
	if (text->folder.data) {
		text->call = tr_arena_copy(&text->arena, tr_buffer_text(line));
		line->failed |= !text->call.data;
	}
	tr_buffer_put_byte(line, ' ');
	if (!text->call_numbers)
		line->len = 0;
	if (!text->thread_ids)
		return;
	tr_buffer_put_byte(line, '@');
	if (record->task.type == TR_CELL_ABSENT || tr_cell_number(&record->task, &number))
		tr_buffer_put_hex(line, (uint32_t)number, 1);
	else
		tr_cell_write(&record->task, line);
	tr_buffer_put_byte(line, ' ');
}

/* Appends the number and thread of a record, in the fast way if that is possible. */
static void put_place(struct tr_apitrace_text *text, const struct tr_record *record)
{
	const struct tr_cell *seq = &record->seq, *task = &record->task;
	uint64_t thread = 0;

	if (seq->type == TR_CELL_NUMBER && !text->folder.data &&
	    (task->type == TR_CELL_ABSENT || tr_cell_number(task, &thread)))
		put_numbers(text, seq->number, thread);
	else
		put_cells(text, record);
}

/*
 * Shows a value that is not valid as it is spelled, because everything else of the call can be
 * shown. *status becomes TR_WARN, and err names the first such value. False: memory is exhausted.
 */
static bool put_text_as_is(struct tr_apitrace_text *text, const struct tr_field *field,
			   const struct tr_error *trouble, enum tr_status *status,
			   struct tr_error *err)
{
	if (trouble->cause == TR_CAUSE_MEMORY)
		return false;
	tr_buffer_put_text(&text->line, field->text);
	if (*status == TR_OK) {
		*err = *trouble;
		err->severity = TR_FLAW;
		*status = TR_WARN;
	}
	return true;
}

/* Appends the lead of a value, and the value. False: memory is exhausted. */
static bool put_value(struct tr_apitrace_text *text, struct tr_text lead,
		      const struct tr_value *value)
{
	struct tr_buffer *line = &text->line;
	char *to = tr_buffer_room(line, lead.len + TR_APITRACE_SLACK + TR_APITRACE_LEAF);

	if (!to)
		return false;
	to = copy_short(to, lead);
	char *end = tr_apitrace_text_leaf(text, value, to);
	line->len = (size_t)((end ? end : to) - line->data);
	return end || tr_apitrace_text_value(text, value);
}

/* Appends the value of a field after its lead. False: memory is exhausted. */
static bool put_field(struct tr_apitrace_text *text, struct tr_text lead, struct tr_record *record,
		      struct tr_field *field, enum tr_status *status, struct tr_error *err)
{
	struct tr_error trouble;
	const struct tr_value *value =
		field->value ? field->value : tr_field_value(record, field, &trouble);

	if (value)
		return put_value(text, lead, value);
	put_short(&text->line, lead);
	return put_text_as_is(text, field, &trouble, status, err);
}

/* Appends the key of a field that the function has no argument for: an edit may have added it. */
static void put_extra_key(struct tr_apitrace_text *text, const struct tr_field *field, bool first)
{
	if (!first)
		tr_buffer_put_literal(&text->line, ", ");
	if (!text->arg_names)
		return;
	tr_buffer_put_text(&text->line, field->key);
	tr_buffer_put_text(&text->line, text->colors.normal);
	tr_buffer_put_literal(&text->line, " = ");
}

/*
 * Appends the arguments in the order of the definition. One that was not recorded is "?", as in
 * apitrace. False: memory is exhausted.
 */
static bool put_arguments(struct tr_apitrace_text *text, struct tr_record *record,
			  const struct shape *shape, enum tr_status *status, struct tr_error *err)
{
	const struct tr_apitrace_function *function = shape->function;

	for (size_t i = 0; i < shape->count; i++) {
		struct tr_text lead = { "", 0 };
		if (i < function->count)
			lead = function->leads[i];
		else
			put_extra_key(text, text->shown[i], i == 0);
		if (text->shown[i]) {
			if (!put_field(text, lead, record, text->shown[i], status, err))
				return false;
		} else {
			tr_buffer_put_text(&text->line, lead);
			tr_buffer_put_byte(&text->line, '?');
		}
	}
	tr_buffer_put_byte(&text->line, ')');
	return true;
}

/* Appends a line of a backtrace. A frame that is not defined is shown by its id. */
static void put_frame(struct tr_apitrace_text *text, const struct tr_value *id)
{
	const struct tr_text *frame = NULL;
	struct tr_text word = TR_TEXT("?");

	if (id->type == TR_SYMBOL && id->as.symbol->count == 1) {
		word = id->as.symbol->names[0].text;
		frame = tr_map_get(&text->tables.frames, word);
	}
	tr_buffer_put_text(&text->line, frame ? *frame : word);
	tr_buffer_put_byte(&text->line, '\n');
}

static void put_backtrace(struct tr_apitrace_text *text, struct tr_record *record,
			  struct tr_field *field)
{
	const struct tr_value *frames = value_of(text, record, field);

	tr_buffer_put_text(&text->line, text->colors.bold);
	tr_buffer_put_text(&text->line, text->colors.red);
	tr_buffer_put_literal(&text->line, "Backtrace:\n");
	tr_buffer_put_text(&text->line, text->colors.normal);
	for (size_t i = 0; frames && frames->type == TR_LIST && i < frames->count; i++)
		put_frame(text, &frames->as.items[i]);
}

/*
 * Appends what follows the value: the comments `fake` and `incomplete`, then the backtrace, and an
 * empty line after a call that ends a frame.
 */
static void put_end(struct tr_apitrace_text *text, struct tr_record *record,
		    const struct shape *shape)
{
	struct tr_buffer *line = &text->line;
	bool incomplete = tr_join_is_kind(record, "enter");

	if (shape->fake || incomplete)
		tr_buffer_put_literal(line, " //");
	if (shape->fake)
		tr_buffer_put_literal(line, " fake");
	if (incomplete) {
		tr_buffer_put_byte(line, ' ');
		tr_buffer_put_text(line, text->colors.red);
		tr_buffer_put_literal(line, "incomplete");
		tr_buffer_put_text(line, text->colors.normal);
	}
	tr_buffer_put_byte(line, '\n');
	if (!text->multiline)
		return;
	if (shape->backtrace)
		put_backtrace(text, record, shape->backtrace);
	if (shape->function->kinds & TR_CALL_END_FRAME)
		tr_buffer_put_byte(line, '\n');
}

/*
 * Whether apitrace's conversion to an integer gives 0. A real number loses its fraction there, so
 * everything below 1 is 0: its exponent is below the bias.
 */
static bool is_zero(const struct tr_value *value)
{
	enum { DOUBLE_BIAS = 1023, DOUBLE_FRACTION = 52, FLOAT_BIAS = 127, FLOAT_FRACTION = 23 };

	switch ((enum tr_type)value->type) {
	case TR_NULL:
	case TR_FALSE:
		return true;
	case TR_REAL64:
		return (value->as.number << 1) >> (DOUBLE_FRACTION + 1) < DOUBLE_BIAS;
	case TR_REAL32:
		return ((uint32_t)value->as.number << 1) >> (FLOAT_FRACTION + 1) < FLOAT_BIAS;
	case TR_UINT:
	case TR_INT:
	case TR_POINTER:
		return value->as.number == 0;
	case TR_SYMBOL:
		return value->as.symbol->number == 0;
	default:
		return false;
	}
}

/*
 * Whether apitrace shows the call only with -v: it asks for something that seldom matters. A
 * glGetError that returned no error is one, too.
 */
static bool is_verbose(struct tr_apitrace_text *text, struct tr_record *record,
		       const struct shape *shape)
{
	if (shape->function->kinds & TR_CALL_VERBOSE)
		return true;
	/* one with arguments is not that of OpenGL */
	if (!tr_text_is(shape->function->name, "glGetError") || shape->function->count ||
	    !shape->result)
		return false;
	const struct tr_value *value = value_of(text, record, shape->result);
	return value && is_zero(value);
}

/* Whether the call is one of those that are to be shown. */
static bool is_wanted(struct tr_apitrace_text *text, struct tr_record *record,
		      const struct shape *shape)
{
	const struct tr_text_config *config = &text->config;

	if (config->is_wanted && !config->is_wanted(config->context, shape->function->name))
		return false;
	return text->verbose || !is_verbose(text, record, shape);
}

/*
 * Appends a call, or an enter that did not return, to text->line. TR_WARN: a value is bad; the call
 * is shown with its spelling. TR_FATAL: memory is exhausted.
 */
static enum tr_status put_call(struct tr_apitrace_text *text, struct tr_record *record,
			       struct tr_error *err)
{
	static const char equals[3 + TR_APITRACE_SLACK] = " = ";
	struct shape shape;
	enum tr_status status = record->line.data ? tr_record_split(record, err) : TR_OK;

	if (status == TR_FATAL || !find_shape(text, record, &shape))
		return tr_error_memory(err);
	if (status == TR_WARN)
		err->severity = TR_FLAW;
	if (!is_wanted(text, record, &shape))
		return TR_OK;
	put_place(text, record);
	put_short(&text->line, shape.function->head);
	bool good = put_arguments(text, record, &shape, &status, err);
	if (good && shape.result)
		good = put_field(text, (struct tr_text){ equals, 3 }, record, shape.result, &status,
				 err);
	if (good) {
		put_end(text, record, &shape);
		return status;
	}
	return tr_error_memory(err);
}

/* Plain calls, printed directly from the bytes of the trace. */

/* Appends a value that spell.c has no direct way for. */
static bool put_parsed(const struct tr_apitrace_notation *notation, const struct tr_value *value,
		       struct tr_buffer *line)
{
	struct tr_apitrace_text *text = (struct tr_apitrace_text *)tr_container(
		notation, const struct tr_apitrace_text, notation);

	return line == &text->line && tr_apitrace_text_value(text, value);
}

bool tr_apitrace_text_take(struct tr_call_taker *taker, struct tr_apitrace_parse *parse,
			   uint64_t call)
{
	struct tr_apitrace_text *text = tr_container(taker, struct tr_apitrace_text, taker);
	struct tr_buffer *line = &text->line;
	const struct tr_apitrace_speller speller = { parse, &text->notation, line };
	struct tr_apitrace_signature *signature;
	uint64_t thread;
	bool has_thread;

	if (!tr_apitrace_take_plain(parse, &has_thread, &thread, &signature))
		return false;
	const struct tr_apitrace_function *function = find_function(text, signature->cell);
	if (!function || function->count != signature->count)
		return false;
	tr_output_lend(text->out, line);
	put_numbers(text, call, thread);
	put_short(line, function->head);
	bool plain = tr_apitrace_spell_plain(&speller, function->leads, function->count, call);
	tr_buffer_put_byte(line, '\n');
	if (text->multiline && function->kinds & TR_CALL_END_FRAME)
		tr_buffer_put_byte(line, '\n');
	tr_arena_reset(&text->arena);
	if (!plain || line->failed)
		return false;
	tr_output_put(text->out, line->data, line->len);
	tr_output_record_end(text->out);
	text->has_calls = true;
	text->taker.taken++;
	return true;
}

/* The records of a stream. */

/* A pair of a header's properties, with its place among them. */
struct property {
	struct tr_text name;  /* bytes */
	struct tr_text value; /* spelling */
	size_t order;
};

/* Compares names of properties by bytes, as std::map of apitrace does. */
static int compare_names(const struct property *x, const struct property *y)
{
	return tr_text_compare(x->name, y->name);
}

/* Equal names keep their order, so that the last one can be chosen. */
static int by_name_and_order(const void *a, const void *b)
{
	const struct property *x = a, *y = b;
	int order = compare_names(x, y);

	return order ? order : x->order < y->order ? -1 : 1;
}

/* Reads a pair. False: it is no pair of strings. True with name.data NULL: memory is exhausted. */
static bool read_property(const struct tr_value *pair, struct tr_arena *arena,
			  struct property *property)
{
	if (pair->type != TR_LIST || pair->count != 2 || pair->as.items[0].type != TR_STRING ||
	    pair->as.items[1].type != TR_STRING)
		return false;
	property->name = tr_string_bytes(pair->as.items[0].text, arena);
	property->value = pair->as.items[1].text;
	return true;
}

/*
 * Appends the properties, sorted by name, as apitrace keeps them; of several with one name the
 * last.
 */
static bool put_properties(struct tr_apitrace_text *text, const struct tr_value *pairs)
{
	struct property *list = tr_arena_alloc(&text->arena, pairs->count * sizeof *list);
	size_t count = 0;

	if (!list)
		return false;
	for (size_t i = 0; i < pairs->count; i++) {
		list[count].order = i;
		if (!read_property(&pairs->as.items[i], &text->arena, &list[count]))
			continue;
		if (!list[count++].name.data)
			return false;
	}
	qsort(list, count, sizeof *list, by_name_and_order);
	for (size_t i = 0; i < count; i++) {
		if (i + 1 < count && compare_names(&list[i], &list[i + 1]) == 0)
			continue;
		tr_buffer_put_literal(&text->line, "// ");
		tr_buffer_put_text(&text->line, list[i].name);
		tr_buffer_put_literal(&text->line, " = ");
		tr_buffer_put_text(&text->line, text->colors.literal);
		tr_apitrace_text_string(text, list[i].value, false);
		tr_buffer_put_text(&text->line, text->colors.normal);
		tr_buffer_put_byte(&text->line, '\n');
	}
	return true;
}

/*
 * Forgets the definitions, which end with their segment. The table of known functions refers to
 * them and is emptied, too.
 */
static void end_segment(struct tr_apitrace_text *text)
{
	reset_tables(&text->tables);
	memset(text->known, 0, sizeof text->known);
	text->has_calls = false;
}

/*
 * Shows the properties of a header. apitrace omits them if only some calls are wanted (--grep). A
 * header after records begins another segment, even without a trailer before it.
 */
static enum tr_status put_header(struct tr_apitrace_text *text, struct tr_record *record,
				 struct tr_error *err)
{
	if (text->has_calls)
		end_segment(text);
	if (text->config.is_wanted) /* only some calls are wanted */
		return TR_OK;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	struct tr_field *field = tr_record_field(record, "properties");
	const struct tr_value *pairs = field ? tr_field_value(record, field, err) : NULL;
	if (field && !pairs)
		return tr_error_status(err);
	if (!pairs || pairs->type != TR_LIST || put_properties(text, pairs))
		return TR_OK;
	return tr_error_memory(err);
}

static bool is_call(const struct tr_record *record)
{
	return record->type == TR_RECORD && record->kind.len == 4 &&
	       memcmp(record->kind.data, "call", 4) == 0;
}

/* Reports a record that is not shown, as a detail; context is not reported. */
static enum tr_status leave_out(const struct tr_record *record, struct tr_error *err)
{
	if (tr_context_kind(record->kind) >= 0)
		return TR_OK;
	if (tr_join_is_kind(record, "leave"))
		tr_error_set(err, TR_CAUSE_INPUT, "a leave without its enter is not shown");
	else
		tr_error_set(err, TR_CAUSE_INPUT, "a record of kind %.*s is not shown",
			     (int)record->kind.len, record->kind.data);
	err->severity = TR_DETAIL;
	return TR_WARN;
}

/* Appends the text of one line of the stream to text->line. */
static enum tr_status show(struct tr_apitrace_text *text, struct tr_record *record,
			   struct tr_error *err)
{
	switch (record->type) {
	case TR_HEADER:
		return put_header(text, record, err);
	case TR_DEFINITION:
		return add_definition(text, record, err);
	case TR_TRAILER:
		end_segment(text);
		return TR_OK;
	case TR_RECORD:
		text->has_calls = true;
		if (is_call(record) || tr_join_is_kind(record, "enter"))
			return put_call(text, record, err);
		return leave_out(record, err);
	default:
		return TR_OK;
	}
}

/* Shows a record and writes the text. */
static enum tr_status show_and_write(struct tr_apitrace_text *text, struct tr_record *record,
				     struct tr_error *err)
{
	struct tr_buffer *line = &text->line;

	tr_output_lend(text->out, line);
	enum tr_status status = show(text, record, err);

	if (line->failed && status != TR_FATAL) {
		tr_error_memory(err);
		status = TR_FATAL;
	}
	if (line->len && status != TR_FATAL) {
		tr_output_put(text->out, line->data, line->len);
		tr_output_record_end(text->out);
	}
	tr_arena_reset(&text->arena);
	return status;
}

/*
 * Takes a record, or NULL at the end of the stream. Calls that are complete pass by the queue of
 * enters. The worst status of what was shown is returned, with its error.
 */
static enum tr_status put(void *view, struct tr_record *record, struct tr_error *err)
{
	struct tr_apitrace_text *text = view;
	enum tr_status worst = TR_OK, status;
	struct tr_record *ready;
	struct tr_error trouble;

	if (record && is_call(record)) /* nothing to be joined: most are */
		return show_and_write(text, record, err);
	tr_join_put(text->join, record);
	while ((status = tr_join_next(text->join, &ready, &trouble)) != TR_END) {
		if (status == TR_OK)
			status = show_and_write(text, ready, &trouble);
		if (status > worst) {
			worst = status;
			*err = trouble;
		}
		if (status == TR_FATAL)
			break;
	}
	return worst;
}

/* Gives the files of blobs their names. */
static void complete_files(struct tr_apitrace_text *text)
{
	struct tr_error err;

	while (tr_file_group_complete(&text->files, &err) != TR_END)
		text->config.report(text->config.context, &err);
}

/*
 * Writes a blob to a file. name: the end of path, below the folder, which is created if it is
 * missing. Files get their names in groups (tr_file_group), as syncing each of them takes long.
 */
static bool write_file(struct tr_apitrace_text *text, const char *path, const char *name,
		       struct tr_text bytes, struct tr_error *err)
{
	if (text->root < 0)
		text->root = tr_directory_open(text->folder.data, true, err);
	if (text->root < 0)
		return false;
	if (tr_file_group_is_full(&text->files))
		complete_files(text);
	struct tr_sink *sink = tr_sink_file_at(text->root, name, path, &text->files, err);
	struct tr_output *out = sink ? tr_output_new(sink) : NULL;

	if (!out) {
		if (sink)
			tr_error_memory(err);
		return false;
	}
	tr_output_put_text(out, bytes);
	return tr_output_finish(out, err);
}

/* The files are called blob_call7.bin, blob_call7_1.bin ..., as apitrace --blobs calls them. */
bool tr_apitrace_text_keep_blob(struct tr_apitrace_text *text, unsigned number,
				struct tr_text bytes)
{
	struct tr_buffer *path = &text->path;
	struct tr_error err;

	tr_buffer_reset(path);
	if (!tr_text_is(text->folder, ".")) {
		tr_buffer_put_text(path, text->folder);
		tr_buffer_put_byte(path, '/');
	}
	size_t name_at = path->len;
	tr_buffer_put_literal(path, "blob_call");
	tr_buffer_put_text(path, text->call);
	if (number) {
		tr_buffer_put_byte(path, '_');
		tr_buffer_put_decimal(path, number);
	}
	tr_buffer_put(path, ".bin", sizeof ".bin");
	if (path->failed) {
		text->line.failed = true;
		return false;
	}
	tr_buffer_put(&text->line, path->data, path->len - 1);
	if (write_file(text, path->data, path->data + name_at, bytes, &err))
		return true;
	text->config.report(text->config.context, &err);
	return false;
}

static void destroy(void *view)
{
	struct tr_apitrace_text *text = view;

	complete_files(text);
	if (text->root >= 0)
		close(text->root);
	tr_buffer_free(&text->path);
	tr_join_free(text->join);
	free_tables(&text->tables);
	tr_map_free(&text->guess.by_key);
	tr_buffer_free(&text->line);
	tr_arena_free(&text->arena);
	free(text->shown);
	free(text);
}

/* Whether a key of -O is "yes"; `otherwise` is its default. */
static bool is_yes(const struct tr_apitrace_text *text, const char *key, const char *otherwise)
{
	return tr_text_is(tr_setting_get(&text->config.settings, key, otherwise), "yes");
}

static void *create(const struct tr_text_config *config, struct tr_output *out,
		    struct tr_error *err)
{
	struct tr_apitrace_text *text = calloc(1, sizeof *text);

	tr_error_memory(err);
	if (!text)
		return NULL;
	text->config = *config;
	text->out = out;
	text->root = -1;
	text->folder = tr_setting_get(&config->settings, "blobs", NULL);
	text->arg_names = is_yes(text, "arg-names", "yes");
	text->call_numbers = is_yes(text, "call-nos", "yes");
	text->multiline = is_yes(text, "multiline", "yes");
	text->thread_ids = is_yes(text, "thread-ids", "yes");
	text->verbose = is_yes(text, "verbose", "yes");
	text->fixed_octal = tr_text_is(tr_setting_get(&config->settings, "octal", ""), "fixed");
	if (is_yes(text, "color", "no"))
		text->colors = (struct tr_apitrace_colors){
			.normal = TR_TEXT("\033[0m"),
			.bold = TR_TEXT("\033[1m"),
			.red = TR_TEXT("\033[31m"),
			.pointer = TR_TEXT("\033[32m"),
			.literal = TR_TEXT("\033[34m"),
		};
	text->notation = (struct tr_apitrace_notation){ .dump = true, .put = put_parsed };
	text->join = tr_join_new();
	if (text->join)
		return text;
	destroy(text);
	return NULL;
}

/*
 * Offers the fast way to the reader. It is not possible where calls are selected, because that may
 * depend on a value, where values have colours, or where blobs go to files.
 */
static struct tr_call_taker *taker(void *view)
{
	struct tr_apitrace_text *text = view;

	bool plain = text->verbose && !text->config.is_wanted && !text->colors.normal.len &&
		     !text->folder.data;

	return plain ? &text->taker : NULL;
}

/*
 * Whether a stream without a header begins with a record of an API trace, which selects this style.
 */
static bool begins(const struct tr_record *first)
{
	static const char *const kinds[] = { "call", "enter", "leave",	"fn",
					     "enum", "mask",  "struct", "frame" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (tr_text_is(first->kind, kinds[i]))
			return true;
	return false;
}

/* The kinds of records that this style shows. */
static const char *const kinds[] = { "call", "enter", "leave", NULL };

static const struct tr_format_option options[] = {
	{ "arg-names", "yes|no", false, true, "names of arguments (default yes)" },
	{ "blobs", "DIR", false, true,
	  "keep blobs in files of DIR, and show their names instead of their lengths" },
	{ "call-nos", "yes|no", false, true, "numbers of calls (default yes)" },
	{ "color", "yes|no", false, true, "apitrace's colors of a terminal (default no)" },
	{ "multiline", "yes|no", false, true,
	  "backtraces, empty lines after frames, and line feeds as they are (default yes)" },
	{ "octal", "apitrace|fixed", false, true,
	  "spell bytes as apitrace does, which loses some, or as they are (default apitrace)" },
	{ "thread-ids", "yes|no", false, true, "numbers of threads (default yes)" },
	{ "verbose", "yes|no", false, true,
	  "calls that apitrace shows with its -v only: glIsEnabled and such (default yes)" },
	{ 0 },
};

const struct tr_text_style tr_apitrace_styles[] = {
	{
		.name = "apitrace",
		.help = "the output of apitrace dump, with threads",
		.shows = "API calls",
		.kinds = kinds,
		.options = options,
		.begins = begins,
		.create = create,
		.put = put,
		.free = destroy,
		.taker = taker,
	},
	{ 0 },
};
