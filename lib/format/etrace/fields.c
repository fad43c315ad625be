/* SPDX-License-Identifier: MIT */
#include "format/etrace/fields.h"

#include "format/etrace/line.h"

static bool wrong_type(struct tr_error *err, const char *key, const char *type)
{
	tr_error_set(err, TR_CAUSE_INPUT, "%s: no %s", key, type);
	return false;
}

bool tr_etrace_field_value(struct tr_record *record, const char *key, const struct tr_value **value,
			   struct tr_error *err)
{
	struct tr_field *field = key ? tr_record_field(record, key) : NULL;

	*value = field ? tr_field_value(record, field, err) : NULL;
	return !field || *value;
}

bool tr_etrace_field_string(struct tr_record *record, const char *key, bool *there,
			    struct tr_text *bytes, struct tr_error *err)
{
	const struct tr_value *value;

	*there = false;
	*bytes = TR_TEXT("");
	if (!tr_etrace_field_value(record, key, &value, err))
		return false;
	if (!value)
		return true;
	if (value->type != TR_STRING || value->flags & TR_CUT)
		return wrong_type(err, key, "string that is whole");
	*bytes = tr_string_bytes(value->text, record->arena);
	if (!bytes->data) {
		tr_error_memory(err);
		return false;
	}
	*there = true;
	return true;
}

const struct tr_value *tr_etrace_machine_form(const struct tr_value *value)
{
	return value->type == TR_REPR ? &value->as.items[1] : value;
}

/* Reads a text that consists of a few digits, as most numbers do. */
static bool few_digits(struct tr_text text, int64_t *number)
{
	enum { SAFE = 18 };
	int64_t n = 0;

	if (!text.len || text.len > SAFE || (*text.data == '0' && text.len > 1))
		return false;
	for (size_t i = 0; i < text.len; i++) {
		unsigned digit = (unsigned char)(text.data[i] - '0');
		if (digit > 9)
			return false;
		n = n * 10 + digit;
	}
	*number = n;
	return true;
}

bool tr_etrace_field_number(struct tr_record *record, const char *key, bool *there, int64_t *number,
			    struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, key);

	*there = field && few_digits(field->text, number);
	if (*there)
		return true;
	*number = 0;
	const struct tr_value *found = field ? tr_field_value(record, field, err) : NULL;
	if (!found)
		return !field;
	const struct tr_value *value = tr_etrace_machine_form(found);
	if ((value->type != TR_UINT && value->type != TR_INT) || value->as.number > INT64_MAX)
		return wrong_type(err, key, "number of 64 bits");
	*number = (int64_t)value->as.number;
	if (value->flags & TR_NEGATIVE)
		*number = -*number;
	*there = true;
	return true;
}

bool tr_etrace_field_uint(struct tr_record *record, const char *key, uint64_t *number)
{
	const struct tr_value *found;
	struct tr_error ignored;

	if (!tr_etrace_field_value(record, key, &found, &ignored) || !found)
		return false;
	const struct tr_value *value = tr_etrace_machine_form(found);
	*number = value->as.number;
	return value->type == TR_UINT || value->type == TR_POINTER;
}

bool tr_etrace_field_has(struct tr_record *record, const char *key, const char *word, uint64_t bit)
{
	const struct tr_value *value;
	struct tr_error ignored;
	uint64_t number;

	if (tr_etrace_field_uint(record, key, &number))
		return number & bit;
	if (!tr_etrace_field_value(record, key, &value, &ignored) || !value ||
	    value->type != TR_SYMBOL)
		return false;
	for (size_t i = 0; i < value->as.symbol->count; i++)
		if (tr_text_is(value->as.symbol->names[i].text, word))
			return true;
	return false;
}

bool tr_etrace_field_true(struct tr_record *record, const char *key, bool *truth,
			  struct tr_error *err)
{
	const struct tr_value *value;

	*truth = false;
	if (!tr_etrace_field_value(record, key, &value, err))
		return false;
	*truth = value && value->type == TR_TRUE;
	return true;
}

bool tr_etrace_field_time(const struct tr_record *record, struct tr_etrace_moment *moment,
			  struct tr_error *err)
{
	enum { DIGITS = 9 };
	const struct tr_cell *time = &record->time;
	bool padded;

	*moment = (struct tr_etrace_moment){ 0, 0 };
	if (time->type == TR_CELL_ABSENT)
		return true;
	if (time->type == TR_CELL_NUMBER) {
		moment->sec = time->number;
		return true;
	}
	if (time->type != TR_CELL_TEXT)
		return wrong_type(err, "time", "decimal number");
	const char *end = time->text.data + time->text.len;
	const char *point = memchr(time->text.data, '.', time->text.len);
	struct tr_text fraction = tr_text_span(point ? point + 1 : end, end);
	if (!tr_etrace_number(tr_text_span(time->text.data, point ? point : end), &moment->sec,
			      &padded))
		return wrong_type(err, "time", "decimal number");
	/* the log cannot hold more digits */
	if (fraction.len > DIGITS)
		fraction.len = DIGITS;
	if (point && !tr_etrace_number(fraction, &moment->nsec, &padded))
		return wrong_type(err, "time", "decimal number");
	for (size_t i = fraction.len; i < DIGITS; i++)
		moment->nsec *= 10;
	return true;
}

bool tr_etrace_field_task(const struct tr_record *record, uint64_t *task, struct tr_error *err)
{
	return tr_cell_number(&record->task, task) || wrong_type(err, "task", "number");
}
