/* One call, or an enter that did not return, as apitrace shows it. */
#include "call/call_kind.h"
#include "view/apitrace_text_private.h"

#include <stdlib.h>

/* What a record has beside its arguments. */
struct extras {
	struct tr_field *result, *backtrace;
	bool fake;
};

static bool out_of_memory(struct tr_error *err)
{
	tr_error_memory(err);
	return false;
}

/* The value of a field that is looked at, not shown; NULL: it has none. */
static const struct tr_value *value_of(struct tr_apitrace_text *text, struct tr_record *record,
				       struct tr_field *field)
{
	struct tr_error err = { .cause = TR_CAUSE_NONE };
	const struct tr_value *value = tr_field_value(record, field, &err);

	text->line.failed |= err.cause == TR_CAUSE_MEMORY;
	return value;
}

/* A value that is a word, however it came: an id. data NULL: it is none. */
static struct tr_text word_of(struct tr_apitrace_text *text, struct tr_record *record,
			      struct tr_field *field)
{
	const struct tr_value *value = value_of(text, record, field);

	if (!value || value->type != TR_SYMBOL || value->as.symbol->count != 1)
		return (struct tr_text){ NULL, 0 };
	return value->as.symbol->names[0].text;
}

static bool reserve(struct tr_apitrace_text *text, size_t count)
{
	if (count <= text->shown_capacity)
		return true;
	struct tr_field **shown = realloc(text->shown, count * sizeof *shown);
	if (!shown)
		return false;
	text->shown = shown;
	text->shown_capacity = count;
	return true;
}

/* Takes what is no argument. False: it is one. */
static bool take_extra(struct tr_apitrace_text *text, struct tr_record *record,
		       struct tr_field *field, struct extras *extras)
{
	struct tr_text key = field->key;

	if (key.len == 0 || (*key.data != '.' && *key.data != 'r'))
		return false;
	if (*key.data == 'r') {
		if (!tr_text_is(key, "return"))
			return false;
		extras->result = field;
	} else if (tr_text_is(key, ".flags")) {
		const struct tr_value *flags = value_of(text, record, field);
		if (flags && flags->type == TR_UINT)
			extras->fake |= flags->as.number & 1;
	} else if (tr_text_is(key, ".bt")) {
		extras->backtrace = field;
	}
	return true;
}

/*
 * Finds the field that is shown for each argument, the last of its kind, and
 * counts those behind them that are none. Several flags add up.
 */
static size_t arrange(struct tr_apitrace_text *text, struct tr_record *record,
		      const struct tr_apitrace_function *function, struct extras *extras)
{
	size_t expected = 0, strangers = 0;

	if (function->count)
		memset(text->shown, 0, function->count * sizeof *text->shown);
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
		if (!field->key.data || take_extra(text, record, field, extras))
			continue;
		size_t argument = tr_apitrace_function_argument(function, field->key, expected);
		if (argument < function->count) {
			text->shown[argument] = field;
			expected = argument + 1;
		} else {
			text->shown[function->count + strangers++] = field;
		}
	}
	return strangers;
}

/* Without a definition the arguments are those that the record has, each once. */
static bool guess_function(struct tr_apitrace_text *text, struct tr_record *record)
{
	struct tr_apitrace_function *guess = &text->guess;
	struct extras ignored = { 0 };

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
	return tr_apitrace_function_name(guess, &text->arena);
}

/* NULL: memory is out. */
static const struct tr_apitrace_function *function_of(struct tr_apitrace_text *text,
						      struct tr_record *record)
{
	struct tr_field *field = NULL;
	struct tr_text sig = { NULL, 0 };

	/* it is rare: looking for it field by field costs more than the call itself */
	for (size_t i = 0; i < record->count && !field; i++) {
		if (record->fields[i].key.len == 4 && tr_text_is(record->fields[i].key, ".sig"))
			field = &record->fields[i];
	}
	if (field)
		sig = word_of(text, record, field);
	struct tr_apitrace_function *function =
		tr_apitrace_tables_function(&text->tables, sig, record->name.text);
	if (function && record->name.type == TR_CELL_TEXT &&
	    tr_text_equal(function->cell, record->name.text))
		return function;
	return guess_function(text, record) ? &text->guess : NULL;
}

/* apitrace's numbers of threads are those of the trace, in hex; others stand as they are. */
static void put_thread(struct tr_apitrace_text *text, const struct tr_cell *task)
{
	uint64_t number = 0;

	tr_buffer_put_byte(&text->line, '@');
	if (task->type == TR_CELL_ABSENT || tr_cell_number(task, &number))
		tr_buffer_put_hex(&text->line, number, 1);
	else
		tr_cell_write(task, &text->line);
	tr_buffer_put_byte(&text->line, ' ');
}

static void put_name(struct tr_apitrace_text *text, const struct tr_apitrace_function *function)
{
	tr_buffer_put_text(&text->line, text->colors.bold);
	tr_buffer_put_text(&text->line, function->name);
	tr_buffer_put_text(&text->line, text->colors.normal);
	tr_buffer_put_byte(&text->line, '(');
}

/*
 * The value of a field; what is no value stands as it is, and err tells of the
 * first.
 */
static bool put_field(struct tr_apitrace_text *text, struct tr_record *record,
		      struct tr_field *field, enum tr_status *status, struct tr_error *err)
{
	struct tr_error trouble;
	const struct tr_value *value = tr_field_value(record, field, &trouble);

	if (value)
		return tr_apitrace_text_value(text, value);
	if (trouble.cause == TR_CAUSE_MEMORY)
		return false;
	tr_buffer_put_text(&text->line, field->text);
	if (*status == TR_OK) {
		*err = trouble;
		err->severity = TR_FLAW;
		*status = TR_WARN;
	}
	return true;
}

static bool put_arguments(struct tr_apitrace_text *text, struct tr_record *record,
			  const struct tr_apitrace_function *function, size_t count,
			  enum tr_status *status, struct tr_error *err)
{
	struct tr_buffer *to = &text->line;

	for (size_t i = 0; i < count; i++) {
		struct tr_field *field = text->shown[i];
		if (i)
			tr_buffer_put_literal(to, ", ");
		if (text->config.arg_names) {
			tr_buffer_put_text(to, i < function->count ? function->arguments[i].name
								   : field->key);
			tr_buffer_put_text(to, text->colors.normal);
			tr_buffer_put_literal(to, " = ");
		}
		if (!field)
			tr_buffer_put_byte(to, '?');
		else if (!put_field(text, record, field, status, err))
			return false;
	}
	tr_buffer_put_byte(to, ')');
	return true;
}

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

/* What is remarkable about the call, and what follows its line. */
static void put_end(struct tr_apitrace_text *text, struct tr_record *record,
		    const struct tr_apitrace_function *function, const struct extras *extras)
{
	struct tr_buffer *to = &text->line;
	bool incomplete = tr_join_is_kind(record, "enter");

	if (extras->fake || incomplete)
		tr_buffer_put_literal(to, " //");
	if (extras->fake)
		tr_buffer_put_literal(to, " fake");
	if (incomplete) {
		tr_buffer_put_byte(to, ' ');
		tr_buffer_put_text(to, text->colors.red);
		tr_buffer_put_literal(to, "incomplete");
		tr_buffer_put_text(to, text->colors.normal);
	}
	tr_buffer_put_byte(to, '\n');
	if (!text->config.multiline)
		return;
	if (extras->backtrace)
		put_backtrace(text, record, extras->backtrace);
	if (function->kinds & TR_CALL_END_FRAME)
		tr_buffer_put_byte(to, '\n');
}

static bool is_zero(const struct tr_value *value)
{
	switch ((enum tr_type)value->type) {
	case TR_UINT:
	case TR_INT:
		return value->as.number == 0;
	case TR_SYMBOL:
		return value->as.symbol->number == 0;
	default:
		return false;
	}
}

/* Calls that ask for something which seldom matters; an error that there was not is one. */
static bool is_verbose(struct tr_apitrace_text *text, struct tr_record *record,
		       const struct tr_apitrace_function *function, const struct extras *extras)
{
	if (function->kinds & TR_CALL_VERBOSE)
		return true;
	if (!tr_text_is(function->name, "glGetError") || !extras->result)
		return false;
	const struct tr_value *value = value_of(text, record, extras->result);
	return value && is_zero(value);
}

/* Keeps the number for names of blobs. */
static void put_number(struct tr_apitrace_text *text, const struct tr_record *record)
{
	size_t start = text->line.len;

	tr_cell_write(&record->seq, &text->line);
	text->blobs = 0;
	if (text->config.keep_blob)
		text->call =
			tr_arena_copy(&text->arena, tr_text_span(text->line.data + start,
								 text->line.data + text->line.len));
	if (text->config.call_numbers)
		tr_buffer_put_byte(&text->line, ' ');
	else
		text->line.len = start;
}

enum tr_status tr_apitrace_text_call(struct tr_apitrace_text *text, struct tr_record *record,
				     struct tr_error *err)
{
	const struct tr_apitrace_text_config *config = &text->config;
	struct extras extras = { 0 };
	enum tr_status status = tr_record_split(record, err);
	const struct tr_apitrace_function *function;

	if (status == TR_FATAL || !(function = function_of(text, record)) ||
	    !reserve(text, function->count + record->count))
		return out_of_memory(err), TR_FATAL;
	if (status == TR_WARN)
		err->severity = TR_FLAW;
	size_t strangers = arrange(text, record, function, &extras);
	if ((config->wanted && !config->wanted(config->context, function->name)) ||
	    (!config->verbose && is_verbose(text, record, function, &extras)))
		return TR_OK;
	put_number(text, record);
	if (config->thread_ids)
		put_thread(text, &record->task);
	put_name(text, function);
	bool good =
		put_arguments(text, record, function, function->count + strangers, &status, err);
	if (good && extras.result) {
		tr_buffer_put_literal(&text->line, " = ");
		good = put_field(text, record, extras.result, &status, err);
	}
	put_end(text, record, function, &extras);
	return good ? status : (out_of_memory(err), TR_FATAL);
}
