/* Which field of a record is which argument of its function. */
#include "format/apitrace/text_private.h"

#include <stdlib.h>

const struct tr_value *tr_apitrace_text_look(struct tr_apitrace_text *text,
					     struct tr_record *record, struct tr_field *field)
{
	struct tr_error err = { .cause = TR_CAUSE_NONE };
	const struct tr_value *value = tr_field_value(record, field, &err);

	text->line.failed |= err.cause == TR_CAUSE_MEMORY;
	return value;
}

static inline uint64_t load(const char *p, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, p, size);
	return word;
}

/* Keys are short, and nearly always the same. */
static inline bool same(struct tr_text a, struct tr_text b)
{
	size_t len = a.len, i = 0;

	if (len != b.len)
		return false;
	if (len < 4) /* its first, its middle, its last byte: that is all of them */
		return len == 0 || (a.data[0] == b.data[0] && a.data[len / 2] == b.data[len / 2] &&
				    a.data[len - 1] == b.data[len - 1]);
	if (len < 8)
		return load(a.data, 4) == load(b.data, 4) &&
		       load(a.data + len - 4, 4) == load(b.data + len - 4, 4);
	while (i + 8 < len && load(a.data + i, 8) == load(b.data + i, 8))
		i += 8;
	return i + 8 >= len && load(a.data + len - 8, 8) == load(b.data + len - 8, 8);
}

static bool is_key(struct tr_text key, const char *word, size_t len)
{
	return key.len == len && memcmp(key.data, word, len) == 0;
}

/* Takes what is no argument. False: it is one. Several flags add up. */
static bool take_extra(struct tr_apitrace_text *text, struct tr_record *record,
		       struct tr_field *field, struct tr_apitrace_shape *shape)
{
	if (is_key(field->key, "return", 6)) {
		shape->result = field;
		return true;
	}
	if (field->key.len == 0 || *field->key.data != '.')
		return false;
	if (is_key(field->key, ".flags", 6)) {
		const struct tr_value *flags = tr_apitrace_text_look(text, record, field);
		if (flags && flags->type == TR_UINT)
			shape->fake |= flags->as.number & 1;
	} else if (is_key(field->key, ".bt", 3)) {
		shape->backtrace = field;
	}
	return true;
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

/*
 * Finds the field that is shown for each argument, the last of its kind; behind
 * them those that belong to none. True: a .sig says that the function is another.
 */
static bool arrange(struct tr_apitrace_text *text, struct tr_record *record,
		    struct tr_apitrace_shape *shape, struct tr_field **sig)
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
			argument = tr_apitrace_function_argument(function, field->key);
		}
		if (argument < function->count)
			expected = argument + 1;
		else
			argument = shape->count++;
		shown[argument] = field;
	}
	return *sig != NULL;
}

/* Without a definition the arguments are those that the record has, each once. */
static bool guess_function(struct tr_apitrace_text *text, struct tr_record *record)
{
	struct tr_apitrace_function *guess = &text->guess;
	struct tr_apitrace_shape ignored = { 0 };

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
	return tr_apitrace_function_guess(&text->tables, guess, &text->arena);
}

/* Binary readers have a name at one place, but elsewhere another may come to that place. */
struct tr_apitrace_function *tr_apitrace_text_function(struct tr_apitrace_text *text,
						       struct tr_text cell)
{
	size_t slot = ((uintptr_t)cell.data >> 3 ^ (uintptr_t)cell.data >> 9) % TR_APITRACE_NAMES;
	struct tr_apitrace_known *known = &text->known[slot];

	if (known->cell.data == cell.data && known->function && same(known->function->cell, cell))
		return known->function;
	struct tr_apitrace_function *function =
		tr_apitrace_tables_function(&text->tables, (struct tr_text){ NULL, 0 }, cell);
	*known = (struct tr_apitrace_known){ cell, function };
	return function;
}

/* The function of that id, where it has the name that the record has. */
static struct tr_apitrace_function *function_of_sig(struct tr_apitrace_text *text,
						    struct tr_record *record, struct tr_field *sig)
{
	const struct tr_value *value = tr_apitrace_text_look(text, record, sig);

	if (!value || value->type != TR_SYMBOL || value->as.symbol->count != 1)
		return NULL;
	struct tr_apitrace_function *function = tr_apitrace_tables_function(
		&text->tables, value->as.symbol->names[0].text, record->name.text);
	bool named = function && record->name.type == TR_CELL_TEXT &&
		     tr_text_equal(function->cell, record->name.text);
	return named ? function : NULL;
}

bool tr_apitrace_text_shape(struct tr_apitrace_text *text, struct tr_record *record,
			    struct tr_apitrace_shape *shape)
{
	struct tr_field *sig = NULL, *seen;
	struct tr_apitrace_function *function = NULL;

	*shape = (struct tr_apitrace_shape){ 0 };
	if (record->name.type == TR_CELL_TEXT)
		function = tr_apitrace_text_function(text, record->name.text);
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
		*shape = (struct tr_apitrace_shape){ 0 };
	}
}
