/* SPDX-License-Identifier: MIT */
/* Values of fields: see the header for the two conventions. */

#include "record/ask.h"

#include <inttypes.h>

#include "core/buffer.h"

/* The field of that key; NULL: there is none, or err is filled because memory is exhausted. */
static struct tr_field *find(struct tr_record *record, const char *key, struct tr_error *err)
{
	struct tr_error why;

	tr_error_clear(&why);
	if (tr_record_split(record, &why) != TR_FATAL)
		return tr_record_field(record, key);
	*err = why;
	return NULL;
}

/*
 * Malformed values count as absent. If a value is absent because the arena has reached its limit,
 * the arena keeps the error, and the reader reports it later.
 */
const struct tr_value *tr_ask_field(struct tr_record *record, struct tr_field *field,
				    struct tr_error *err)
{
	struct tr_error why;

	tr_error_clear(&why);
	struct tr_value *value = tr_field_value(record, field, &why);
	if (!value && why.cause == TR_CAUSE_MEMORY)
		*err = why;
	else if (!value)
		tr_arena_defer(record->arena, &why);
	return value;
}

const struct tr_value *tr_ask_any(struct tr_record *record, const char *key, struct tr_error *err)
{
	struct tr_field *field = find(record, key, err);

	return field ? tr_ask_field(record, field, err) : NULL;
}

bool tr_ask_has(struct tr_record *record, const char *key, struct tr_error *err)
{
	return find(record, key, err) != NULL;
}

const struct tr_value *tr_ask(struct tr_record *record, const char *key, enum tr_type type,
			      struct tr_error *err)
{
	const struct tr_value *value = tr_ask_any(record, key, err);

	return value && value->type == type ? value : NULL;
}

struct tr_text tr_ask_cell(const struct tr_cell *cell, struct tr_arena *arena, struct tr_error *err)
{
	char memory[64];
	struct tr_buffer text = tr_buffer_over(memory, sizeof memory);
	struct tr_text bytes = cell->text;
	struct tr_error why;

	tr_error_clear(&why);
	if (cell->type == TR_CELL_TEXT) {
		if (tr_cell_bytes(cell->text, arena, &bytes, &why))
			return bytes;
		bytes = why.cause == TR_CAUSE_MEMORY ? (struct tr_text){ NULL, 0 } : cell->text;
	} else {
		tr_cell_write(cell, &text);
		bytes = text.failed ? (struct tr_text){ NULL, 0 }
				    : tr_arena_copy(arena, tr_buffer_text(&text));
		tr_buffer_free(&text);
	}
	if (!bytes.data)
		tr_error_memory(err);
	return bytes;
}

struct tr_text tr_ask_string(struct tr_record *record, const char *key, struct tr_error *err)
{
	const struct tr_value *value = tr_ask(record, key, TR_STRING, err);
	struct tr_text bytes = { NULL, 0 };

	if (!value)
		return bytes;
	bytes = tr_value_bytes(value, record->arena);
	if (!bytes.data)
		tr_error_memory(err);
	return bytes;
}

uint64_t tr_ask_number(struct tr_record *record, const char *key, uint64_t otherwise,
		       struct tr_error *err)
{
	const struct tr_value *value = tr_ask(record, key, TR_UINT, err);

	return value ? value->as.number : otherwise;
}

/* A symbol with a number never matches, because its number counts and not its name. */
bool tr_ask_is(struct tr_record *record, const char *key, const char *word, struct tr_error *err)
{
	const struct tr_value *value = tr_ask(record, key, TR_SYMBOL, err);

	return value && value->as.symbol->numbered == TR_SYMBOL_WORDS &&
	       value->as.symbol->count == 1 && tr_text_is(value->as.symbol->names[0].text, word);
}

enum tr_status tr_field_need(struct tr_record *record, const char *key, enum tr_type type,
			     const struct tr_value **value, struct tr_error *err)
{
	struct tr_error why;

	*value = NULL;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	struct tr_field *field = tr_record_field(record, key);
	if (!field) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s: the field is missing", key);
		return TR_WARN;
	}
	tr_error_clear(&why);
	const struct tr_value *found = tr_field_value(record, field, &why);
	if (tr_error_is_memory(&why))
		return tr_error_memory(err);
	if (!found)
		tr_error_set(err, why.cause, "%s: %s", key, why.text);
	else if (found->type != type)
		tr_error_set(err, TR_CAUSE_INPUT, "%s: the value has another type", key);
	else if (found->flags & TR_CUT)
		tr_error_set(err, TR_CAUSE_INPUT, "%s: the value is cut", key);
	else
		*value = found;
	return *value ? TR_OK : TR_WARN;
}

enum tr_status tr_field_find(struct tr_record *record, const char *key,
			     const struct tr_value **value, struct tr_error *err)
{
	*value = NULL;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	struct tr_field *field = tr_record_field(record, key);
	if (field)
		*value = tr_field_value(record, field, err);
	return field && !*value ? tr_error_status(err) : TR_OK;
}

/* As tr_field_need, for a field that may be missing: *value is then NULL. */
static enum tr_status find_of_type(struct tr_record *record, const char *key, enum tr_type type,
				   const struct tr_value **value, struct tr_error *err)
{
	*value = NULL;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	return tr_record_field(record, key) ? tr_field_need(record, key, type, value, err) : TR_OK;
}

enum tr_status tr_field_string(struct tr_record *record, const char *key, struct tr_text *bytes,
			       struct tr_error *err)
{
	const struct tr_value *value;
	enum tr_status status = find_of_type(record, key, TR_STRING, &value, err);

	*bytes = (struct tr_text){ NULL, 0 };
	if (!value)
		return status;
	*bytes = tr_value_bytes(value, record->arena);
	return bytes->data ? TR_OK : tr_error_memory(err);
}

enum tr_status tr_field_number(struct tr_record *record, const char *key, uint64_t most,
			       uint64_t *number, struct tr_error *err)
{
	const struct tr_value *value;
	enum tr_status status = find_of_type(record, key, TR_UINT, &value, err);

	if (!value)
		return status;
	if (value->as.number > most) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s: at most %" PRIu64, key, most);
		return TR_WARN;
	}
	*number = value->as.number;
	return TR_OK;
}

enum { DIGITS_MAX = 19 }; /* so many digits never exceed 64 bits */

/*
 * True for "[0,3,36]" and "[]": canonical lists of numbers, which tr_numbers_next reads unchecked.
 */
static bool is_plain(struct tr_text text)
{
	const char *p = text.data + 1, *end = text.data + text.len - 1;

	if (text.len < 2 || *text.data != '[' || *end != ']')
		return false;
	while (p < end) {
		const char *begin = p;
		p = tr_skip_digits(p, end);
		if (p == begin || p - begin > DIGITS_MAX || (*begin == '0' && p - begin > 1))
			return false;
		if (p < end && (*p++ != ',' || p == end))
			return false;
	}
	return true;
}

/* Chooses the text of the list if all of it is canonical, otherwise its values. */
enum tr_status tr_numbers_begin(struct tr_numbers *numbers, struct tr_record *record,
				struct tr_field *field, struct tr_error *err)
{
	*numbers = (struct tr_numbers){ .pos = NULL };
	if (!field->value && field->text.data && is_plain(field->text)) {
		numbers->pos = field->text.data + 1;
		numbers->end = field->text.data + field->text.len - 1;
		return TR_OK;
	}
	const struct tr_value *value = tr_field_value(record, field, err);
	if (!value)
		return tr_error_status(err);
	if (value->type != TR_LIST || value->flags & TR_CUT) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     value->type == TR_LIST ? "the list is cut"
						    : "the value has another type");
		return TR_WARN;
	}
	numbers->values = value->as.items;
	numbers->left = value->count;
	return TR_OK;
}

enum tr_status tr_numbers_next(struct tr_numbers *numbers, uint64_t *number)
{
	if (!numbers->pos) {
		if (!numbers->left)
			return TR_END;
		const struct tr_value *value = numbers->values++;
		numbers->left--;
		*number = value->as.number;
		return value->type == TR_UINT ? TR_OK : TR_WARN;
	}
	if (numbers->pos == numbers->end)
		return TR_END;
	*number = 0;
	/* is_plain has checked the whole list */
	while (numbers->pos < numbers->end && tr_is_digit(*numbers->pos))
		*number = *number * 10 + (unsigned)(*numbers->pos++ - '0');
	numbers->pos += numbers->pos < numbers->end; /* the comma */
	return TR_OK;
}
