#include "record/numbers.h"

/* Digits that are certainly within 64 bits. */
enum { DIGITS_MAX = 19 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* True for "[0,3,36]" and "[]": between the brackets nothing but what next understands. */
static bool is_plain(struct tr_text text)
{
	const char *p = text.data + 1, *end = text.data + text.len - 1;

	if (text.len < 2 || *text.data != '[' || *end != ']')
		return false;
	while (p < end) {
		const char *begin = p;
		while (p < end && is_digit(*p))
			p++;
		if (p == begin || p - begin > DIGITS_MAX || (*begin == '0' && p - begin > 1))
			return false;
		if (p < end && (*p++ != ',' || p == end))
			return false;
	}
	return true;
}

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
	while (numbers->pos < numbers->end && is_digit(*numbers->pos))
		*number = *number * 10 + (unsigned)(*numbers->pos++ - '0');
	numbers->pos += numbers->pos < numbers->end; /* the comma */
	return TR_OK;
}
