#include "record/json.h"
#include "record/literal.h"
#include "record/record.h"

/* The names of types that JSON lacks, for messages. */
static const char *foreign_type(const struct tr_value *value)
{
	switch (value->type) {
	case TR_INT:
		return value->flags & TR_NEGATIVE ? NULL : "a number with a plus sign";
	case TR_POINTER:
		return "an address";
	case TR_REAL32:
		return "a 32-bit number";
	case TR_STRING:
		return value->flags & TR_CUT ? "a string that was cut" : NULL;
	case TR_WSTRING:
		return "a wide string";
	case TR_BLOB:
	case TR_BLOB_LEFT:
	case TR_BLOB_FILE:
		return "a blob";
	case TR_SYMBOL:
		return "a symbol";
	case TR_LIST:
		return value->flags & TR_CUT ? "a list that was cut" : NULL;
	case TR_STRUCT:
		return "a structure";
	case TR_REPR:
		return "a value in two forms";
	default:
		return NULL;
	}
}

static void put_string(struct tr_text spelling, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '"');
	tr_json_string_from_spelling(spelling, to);
	tr_buffer_put_byte(to, '"');
}

static bool put_real(uint64_t bits, struct tr_buffer *to)
{
	enum { EXPONENT_BITS = 0x7ff };
	if ((bits >> 52 & EXPONENT_BITS) == EXPONENT_BITS)
		return false;
	char text[32];
	tr_buffer_put(to, text, tr_real64_write(bits, text));
	return true;
}

/* Recursion is bounded: tr_literal_parse gives no more than 60 levels. */
static const char *put_value(const struct tr_value *value, struct tr_buffer *to)
{
	const char *foreign = foreign_type(value);
	if (foreign)
		return foreign;
	switch (value->type) {
	case TR_STRING:
		put_string(value->text, to);
		break;
	case TR_REAL64:
		if (!put_real(value->as.number, to))
			return "a number that is not finite";
		break;
	case TR_LIST:
		tr_buffer_put_byte(to, '[');
		for (size_t i = 0; i < value->count && !foreign; i++) {
			if (i)
				tr_buffer_put_byte(to, ',');
			foreign = put_value(&value->as.items[i], to);
		}
		tr_buffer_put_byte(to, ']');
		break;
	case TR_MAP:
		tr_buffer_put_byte(to, '{');
		for (size_t i = 0; i < value->count && !foreign; i++) {
			if (i)
				tr_buffer_put_byte(to, ',');
			put_string(value->as.members[i].key, to);
			tr_buffer_put_byte(to, ':');
			foreign = put_value(value->as.members[i].value, to);
		}
		tr_buffer_put_byte(to, '}');
		break;
	default: /* null, true, false and integers look the same in both */
		tr_literal_write(value, to);
		break;
	}
	return foreign;
}

static bool from_value(const struct tr_value *value, struct tr_buffer *to, struct tr_error *err)
{
	const char *foreign = put_value(value, to);
	if (foreign)
		tr_error_set(err, TR_CAUSE_INPUT, "JSON cannot hold %s", foreign);
	return !foreign;
}

bool tr_json_from_literal(struct tr_text literal, struct tr_arena *arena, struct tr_buffer *to,
			  struct tr_error *err)
{
	bool json = false;
	if (tr_literal_check(literal, &json, err) == TR_MALFORMED)
		return false;
	if (json) {
		tr_buffer_put_text(to, literal);
		return true;
	}
	const struct tr_value *value = tr_literal_parse(literal, arena, err);
	return value && from_value(value, to, err);
}

bool tr_json_from_field(struct tr_record *record, struct tr_field *field, struct tr_buffer *to,
			struct tr_error *err)
{
	bool done;
	if (field->text.data) {
		done = tr_json_from_literal(field->text, record->arena, to, err);
	} else {
		const struct tr_value *value = tr_field_value(record, field, err);
		done = value && from_value(value, to, err);
	}
	if (!done)
		tr_error_name(err, field->key);
	return done;
}

bool tr_json_members_from_field(struct tr_record *record, struct tr_field *field,
				struct tr_buffer *to, struct tr_error *err)
{
	size_t begin = to->len;
	if (!tr_json_from_field(record, field, to, err))
		return false;
	if (to->failed) {
		tr_error_memory(err);
		return false;
	}
	if (to->data[begin] != '{') {
		tr_error_set(err, TR_CAUSE_INPUT, "no map");
		tr_error_name(err, field->key);
		return false;
	}
	size_t members = to->len - begin - 2;
	memmove(to->data + begin, to->data + begin + 1, members);
	to->len = begin + members;
	return true;
}
