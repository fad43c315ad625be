/* Values from their trees. */
#include <string.h>

#include "format/apitrace/apitrace.h"
#include "format/apitrace/encode.h"
#include "format/apitrace/wire.h"

static bool no_place(struct tr_encoder *encoder, const char *what)
{
	tr_error_set(encoder->err, TR_CAUSE_INPUT, "an apitrace cannot hold %s", what);
	return false;
}

static bool put_string(struct tr_encoder *encoder, const struct tr_value *value)
{
	struct tr_text bytes = value->text;
	if (value->flags & TR_CUT)
		return no_place(encoder, "a string that was cut");
	if (!(value->flags & TR_PLAIN))
		bytes = tr_string_bytes(value->text, encoder->signatures.scratch_arena);
	if (!bytes.data && value->text.len) {
		encoder->failed = true;
		return false;
	}
	tr_encode_byte(encoder, TR_APITRACE_STRING);
	tr_encode_string(encoder, bytes);
	return true;
}

static bool put_wide(struct tr_encoder *encoder, const struct tr_value *value)
{
	struct tr_text left = value->text;
	uint64_t unit, count = 0;
	while (tr_wstring_next(&left, &unit))
		count++;
	tr_encode_byte(encoder, TR_APITRACE_WSTRING);
	tr_encode_uint(encoder, count);
	for (left = value->text; tr_wstring_next(&left, &unit);)
		tr_encode_uint(encoder, unit);
	return true;
}

/* False: memory is out. Names that mean another number than that of the symbol are reported. */
static bool check_names(struct tr_encoder *encoder, enum tr_apitrace_table id_table,
			const struct tr_value *value)
{
	struct tr_written_signatures *signatures = &encoder->signatures;
	const struct tr_symbol *symbol = value->as.symbol;
	struct tr_apitrace_signature *table =
		value->flags & TR_HAS_ID
			? tr_apitrace_signature(&signatures->defined, id_table, symbol->id)
			: NULL;
	struct tr_error flaw;
	if (!table)
		return true;
	enum tr_status status = tr_written_check_names(signatures, table, symbol,
						       value->flags & TR_NEGATIVE, &flaw);
	encoder->failed |= status == TR_FATAL;
	if (status == TR_WARN && !encoder->flawed) {
		encoder->flawed = true;
		encoder->flaw = flaw;
	}
	return status != TR_FATAL;
}

static bool put_enum(struct tr_encoder *encoder, const struct tr_value *value)
{
	const struct tr_symbol *symbol = value->as.symbol;
	bool negative = value->flags & TR_NEGATIVE;
	bool single = encoder->version < TR_APITRACE_HAS_ENUM_TABLES;
	if (!check_names(encoder, TR_APITRACE_ENUMS, value))
		return false;
	tr_encode_byte(encoder, TR_APITRACE_ENUM);
	tr_encode_signature(encoder, tr_written_enum(&encoder->signatures, symbol,
						     value->flags & TR_HAS_ID, negative, single));
	if (single)
		return true; /* it is the constant's */
	tr_encode_byte(encoder, negative ? TR_APITRACE_SINT : TR_APITRACE_UINT);
	tr_encode_uint(encoder, symbol->number);
	return true;
}

static bool put_mask(struct tr_encoder *encoder, const struct tr_value *value)
{
	const struct tr_symbol *symbol = value->as.symbol;
	if (!check_names(encoder, TR_APITRACE_MASKS, value))
		return false;
	tr_encode_byte(encoder, TR_APITRACE_MASK);
	tr_encode_signature(encoder, tr_written_mask(&encoder->signatures, symbol,
						     value->flags & TR_HAS_ID));
	tr_encode_uint(encoder, symbol->number);
	return true;
}

/* Names alone have the numbers that the tables of the trace give them. */
static bool put_names(struct tr_encoder *encoder, const struct tr_value *value)
{
	struct tr_symbol symbol = *value->as.symbol;
	struct tr_value numbered = { .type = TR_SYMBOL, .flags = TR_HAS_ID, .as.symbol = &symbol };
	bool negative;
	enum tr_status status = tr_written_number_names(&encoder->signatures, &symbol, &negative,
							encoder->err);
	encoder->failed |= status == TR_FATAL;
	if (status != TR_OK)
		return false;
	numbered.flags |= negative ? TR_NEGATIVE : 0;
	return symbol.numbered == TR_SYMBOL_ENUM ? put_enum(encoder, &numbered)
						 : put_mask(encoder, &numbered);
}

static bool put_symbol(struct tr_encoder *encoder, const struct tr_value *value)
{
	switch (value->as.symbol->numbered) {
	case TR_SYMBOL_ENUM:
		return put_enum(encoder, value);
	case TR_SYMBOL_MASK:
		return put_mask(encoder, value);
	default:
		return put_names(encoder, value);
	}
}

static bool put_list(struct tr_encoder *encoder, const struct tr_value *value)
{
	if (value->flags & TR_CUT)
		return no_place(encoder, "a list that was cut");
	tr_encode_byte(encoder, TR_APITRACE_ARRAY);
	tr_encode_uint(encoder, value->count);
	for (size_t i = 0; i < value->count; i++)
		if (!tr_encode_value(encoder, &value->as.items[i]))
			return false;
	return true;
}

static bool put_struct(struct tr_encoder *encoder, const struct tr_value *value)
{
	tr_encode_byte(encoder, TR_APITRACE_STRUCT);
	tr_encode_signature(encoder, tr_written_struct(&encoder->signatures, value));
	for (size_t i = 0; i < value->count; i++)
		if (!tr_encode_value(encoder, value->as.members[i].value))
			return false;
	return true;
}

static bool put_number(struct tr_encoder *encoder, uint8_t tag, uint64_t number)
{
	tr_encode_byte(encoder, tag);
	tr_encode_uint(encoder, number);
	return true;
}

static bool put_fixed(struct tr_encoder *encoder, uint8_t tag, uint64_t bits, unsigned size)
{
	tr_encode_byte(encoder, tag);
	tr_wire_append_fixed(&encoder->bytes, bits, size);
	return true;
}

bool tr_encode_value(struct tr_encoder *encoder, const struct tr_value *value)
{
	switch ((enum tr_type)value->type) {
	case TR_NULL:
		tr_encode_byte(encoder, TR_APITRACE_NULL);
		return true;
	case TR_FALSE:
		tr_encode_byte(encoder, TR_APITRACE_FALSE);
		return true;
	case TR_TRUE:
		tr_encode_byte(encoder, TR_APITRACE_TRUE);
		return true;
	case TR_UINT:
		return put_number(encoder, TR_APITRACE_UINT, value->as.number);
	case TR_INT: /* "+5" is a tag that the format does not have */
		return put_number(encoder,
				  value->flags & TR_NEGATIVE ? TR_APITRACE_SINT : TR_APITRACE_UINT,
				  value->as.number);
	case TR_POINTER:
		return put_number(encoder, TR_APITRACE_POINTER, value->as.number);
	case TR_REAL64:
		return put_fixed(encoder, TR_APITRACE_DOUBLE, value->as.number, 8);
	case TR_REAL32:
		return put_fixed(encoder, TR_APITRACE_FLOAT, value->as.number, 4);
	case TR_STRING:
		return put_string(encoder, value);
	case TR_WSTRING:
		return put_wide(encoder, value);
	case TR_BLOB:
		tr_encode_byte(encoder, TR_APITRACE_BLOB);
		tr_encode_string(encoder, value->text);
		return true;
	case TR_BLOB_LEFT:
		return no_place(encoder, "a blob that was left out");
	case TR_BLOB_FILE:
		return no_place(encoder, "a blob in a file (--blob-dir would fetch it)");
	case TR_SYMBOL:
		return put_symbol(encoder, value);
	case TR_LIST:
		return put_list(encoder, value);
	case TR_MAP:
		return no_place(encoder, "a map");
	case TR_STRUCT:
		return put_struct(encoder, value);
	case TR_REPR:
		tr_encode_byte(encoder, TR_APITRACE_REPR);
		return tr_encode_value(encoder, &value->as.items[0]) &&
		       tr_encode_value(encoder, &value->as.items[1]);
	}
	return no_place(encoder, "a value of that type");
}
