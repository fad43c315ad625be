/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/text.h"
#include "format/apitrace/apitrace.h"
#include "format/apitrace/encode.h"
#include "format/apitrace/wire.h"
#include "record/base64.h"
#include "record/literal.h"

/* Values from their trees. */

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
	tr_encode_signature(
		encoder, tr_written_mask(&encoder->signatures, symbol, value->flags & TR_HAS_ID));
	tr_encode_uint(encoder, symbol->number);
	return true;
}

/* Names alone have the numbers that the tables of the trace give them. */
static bool put_names(struct tr_encoder *encoder, const struct tr_value *value)
{
	struct tr_symbol symbol = *value->as.symbol;
	struct tr_value numbered = { .type = TR_SYMBOL, .flags = TR_HAS_ID, .as.symbol = &symbol };
	bool negative;
	enum tr_status status =
		tr_written_number_names(&encoder->signatures, &symbol, &negative, encoder->err);
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

/*
 * Encodes values directly from their spellings, and whole calls from their lines: the usual
 * ones in their canonical spelling. All others are parsed by the code that knows the whole
 * grammar and reports errors.
 */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The value ends at p. */
static bool is_end(const char *p, const char *end)
{
	return p == end || *p == ',' || *p == ']' || *p == '\t';
}

static bool is_word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Decimal digits at p. NULL: none, zeros in front, or more than 19 of them. */
static const char *digits(const char *p, const char *end, uint64_t *number)
{
	enum { SURE = 19 }; /* digits that always fit */
	const char *start = p;
	uint64_t n = 0;
	while (p < end && is_digit(*p))
		n = n * 10 + (uint64_t)(*p++ - '0');
	*number = n;
	if (p == start || p - start > SURE || (*start == '0' && p - start > 1))
		return NULL;
	return p;
}

/* Takes lower-case hex digits after "0x". */
static const char *hex(const char *p, const char *end, uint64_t *number)
{
	const char *start = p;
	uint64_t n = 0;
	for (; p < end && (is_digit(*p) || (*p >= 'a' && *p <= 'f')); p++)
		n = n << 4 | (uint64_t)tr_hex_digit(*p);
	*number = n;
	if (p == start || p - start > 16 || (*start == '0' && p - start > 1))
		return NULL;
	return p;
}

static const char *real(struct tr_encoder *encoder, const char *start, const char *end)
{
	const char *p = start + (*start == '-'), *point;
	uint64_t bits64;
	uint32_t bits32;
	while (p < end && is_digit(*p))
		p++;
	point = p++;
	while (p < end && is_digit(*p))
		p++;
	if (point == end || *point != '.' || p == point + 1)
		return NULL;
	struct tr_text text = tr_text_span(start, p);
	if (p < end && *p == 'f') {
		if (!tr_real32_read(text, &bits32))
			return NULL;
		tr_encode_byte(encoder, TR_APITRACE_FLOAT);
		tr_wire_append_fixed(&encoder->bytes, bits32, 4);
		return p + 1;
	}
	if (!tr_real64_read(text, &bits64))
		return NULL;
	tr_encode_byte(encoder, TR_APITRACE_DOUBLE);
	tr_wire_append_fixed(&encoder->bytes, bits64, 8);
	return p;
}

static const char *number(struct tr_encoder *encoder, const char *start, const char *end)
{
	const char *p = start;
	uint64_t n;
	uint8_t tag = TR_APITRACE_UINT;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
		tag = TR_APITRACE_POINTER;
		p = hex(p + 2, end, &n);
	} else {
		if (*p == '-') {
			tag = TR_APITRACE_SINT;
			p++;
		}
		p = digits(p, end, &n);
		if (p && p < end && (*p == '.' || *p == 'e'))
			return real(encoder, start, end);
	}
	if (!p)
		return NULL;
	tr_encode_byte(encoder, tag);
	tr_encode_uint(encoder, n);
	return p;
}

static const char *string(struct tr_encoder *encoder, const char *p, const char *end)
{
	p++;
	const char *quote = memchr(p, '"', (size_t)(end - p));
	/* a cut string is followed by dots, a string that is a name by something else */
	if (!quote || !is_end(quote + 1, end) || memchr(p, '\\', (size_t)(quote - p)))
		return NULL;
	tr_encode_byte(encoder, TR_APITRACE_STRING);
	tr_encode_string(encoder, tr_text_span(p, quote));
	return quote + 1;
}

/* Names up to the parenthesis: words, and at the end perhaps bits. */
static const char *names(const char *p, const char *end, bool *several)
{
	*several = false;
	if (*p == '?')
		return p + 1;
	for (;;) {
		uint64_t bits;
		if (p == end)
			return NULL;
		if (*several && end - p > 2 && p[0] == '0' && p[1] == 'x')
			return hex(p + 2, end, &bits);
		if (!is_word_start(*p))
			return NULL;
		while (p < end && (is_word_start(*p) || is_digit(*p)))
			p++;
		if (p == end || *p != '|')
			return p;
		*several = true;
		p++;
	}
}

/* "@E12)" or "@M3)": the signature, which has to be there. */
static const char *signature(struct tr_encoder *encoder, const char *p, const char *end,
			     enum tr_apitrace_table table, struct tr_apitrace_signature **found)
{
	uint64_t id;
	if (end - p < 4 || p[0] != '@' || p[1] != tr_apitrace_letters[table])
		return NULL;
	p = digits(p + 2, end, &id);
	if (!p || p == end || *p != ')')
		return NULL;
	*found = tr_apitrace_signature(&encoder->signatures.defined, table, id);
	return *found ? p + 1 : NULL;
}

static const char *symbol(struct tr_encoder *encoder, const char *p, const char *end)
{
	struct tr_apitrace_signature *found;
	const char *start = p;
	uint64_t n;
	bool several;
	p = names(p, end, &several);
	if (!p || p == end || *p != '(')
		return NULL;
	struct tr_text named = tr_text_span(start, p++);
	bool nameless = *start == '?';
	if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
		p = hex(p + 2, end, &n);
		p = p ? signature(encoder, p, end, TR_APITRACE_MASKS, &found) : NULL;
		if (!p || (!nameless && !tr_written_are_mask_names(found, named, n)))
			return NULL;
		tr_encode_byte(encoder, TR_APITRACE_MASK);
		tr_encode_signature(encoder, found);
		tr_encode_uint(encoder, n);
		return p;
	}
	bool negative = p < end && *p == '-';
	p = digits(p + negative, end, &n);
	p = p ? signature(encoder, p, end, TR_APITRACE_ENUMS, &found) : NULL;
	if (!p || several || encoder->version < TR_APITRACE_HAS_ENUM_TABLES ||
	    (!nameless && !tr_written_is_enum_name(found, named, n, negative)))
		return NULL;
	tr_encode_byte(encoder, TR_APITRACE_ENUM);
	tr_encode_signature(encoder, found);
	tr_encode_byte(encoder, negative ? TR_APITRACE_SINT : TR_APITRACE_UINT);
	tr_encode_uint(encoder, n);
	return p;
}

/* A constant, or a symbol. */
static const char *word(struct tr_encoder *encoder, const char *p, const char *end)
{
	static const struct {
		const char *word;
		uint8_t tag;
	} constants[] = {
		{ "null", TR_APITRACE_NULL },
		{ "false", TR_APITRACE_FALSE },
		{ "true", TR_APITRACE_TRUE },
	};
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
		size_t len = strlen(constants[i].word);
		if ((size_t)(end - p) < len || memcmp(p, constants[i].word, len) != 0)
			continue;
		if (!is_end(p + len, end))
			break;
		tr_encode_byte(encoder, constants[i].tag);
		return p + len;
	}
	return symbol(encoder, p, end);
}

static const char *value(struct tr_encoder *encoder, const char *p, const char *end,
			 unsigned depth);

/*
 * The count is unknown before the end: one byte is reserved for it, which is nearly always
 * enough.
 */
static const char *list(struct tr_encoder *encoder, const char *p, const char *end, unsigned depth)
{
	enum { ONE_BYTE = 0x7f };
	uint64_t count = 0;
	tr_encode_byte(encoder, TR_APITRACE_ARRAY);
	size_t at = encoder->bytes.len;
	tr_encode_byte(encoder, 0);
	p++;
	while (p < end && *p != ']') {
		p = count && *p == ',' ? p + 1 : p;
		p = value(encoder, p, end, depth + 1);
		if (!p || p == end || (*p != ',' && *p != ']'))
			return NULL;
		/* "[1,]" is none */
		if (*p == ',' && (p + 1 == end || p[1] == ']'))
			return NULL;
		count++;
	}
	if (p >= end || count > ONE_BYTE || encoder->bytes.failed)
		return NULL;
	encoder->bytes.data[at] = (char)count;
	return p + 1;
}

static const char *value(struct tr_encoder *encoder, const char *p, const char *end, unsigned depth)
{
	if (p == end || depth > TR_LITERAL_DEPTH)
		return NULL;
	if (is_digit(*p) || *p == '-')
		return number(encoder, p, end);
	if (*p == '"')
		return string(encoder, p, end);
	if (*p == '[')
		return list(encoder, p, end, depth);
	if (is_word_start(*p) || *p == '?')
		return word(encoder, p, end);
	return NULL;
}

/* b64:…: blobs, by far the longest values, are decoded directly to their place. */
static bool blob(struct tr_encoder *encoder, struct tr_text digits)
{
	size_t most = digits.len / 4 * 3, size, start = encoder->bytes.len;
	size_t padding = digits.len && digits.data[digits.len - 1] == '=';
	if (digits.len % 4 || digits.len < 4)
		return false;
	padding += padding && digits.data[digits.len - 2] == '=';
	tr_encode_byte(encoder, TR_APITRACE_BLOB);
	tr_encode_uint(encoder, most - padding);
	char *room = tr_buffer_room(&encoder->bytes, most);
	if (room && !tr_base64_read(digits, room, &size)) {
		tr_buffer_used(&encoder->bytes, size);
		return true;
	}
	encoder->bytes.len = start;
	return false;
}

bool tr_encode_plain(struct tr_encoder *encoder, struct tr_text spelling)
{
	const char *end = spelling.data + spelling.len;
	size_t len = encoder->bytes.len, fresh = encoder->fresh_count;
	if (tr_text_starts(spelling, TR_TEXT("b64:")))
		return blob(encoder, tr_text_span(spelling.data + 4, end));
	const char *p = value(encoder, spelling.data, end, 0);
	if (p == end)
		return true;
	/* back to the state before */
	while (encoder->fresh_count > fresh)
		encoder->fresh[--encoder->fresh_count]->written = false;
	encoder->bytes.len = len;
	return false;
}

/* The value at p, at the end of which a field ends. NULL: it is none of the commonest. */
static const char *field(struct tr_encoder *encoder, const char *p, const char *end)
{
	if (end - p < 4 || memcmp(p, "b64:", 4) != 0) {
		p = value(encoder, p, end, 0);
		return p && (p == end || *p == '\t') ? p : NULL;
	}
	const char *tab = memchr(p, '\t', (size_t)(end - p));
	end = tab ? tab : end;
	return blob(encoder, tr_text_span(p + 4, end)) ? end : NULL;
}

static bool begins(const char *p, const char *end, struct tr_text lead)
{
	return (size_t)(end - p) >= lead.len && p[1] == lead.data[1] &&
	       memcmp(p, lead.data, lead.len) == 0;
}

/*
 * Encodes which part of a call the "\tkey=" at p begins: an argument, usually the one that is
 * due, or the returned value. NULL: another part.
 */
static const char *part(struct tr_encoder *encoder, const struct tr_apitrace_signature *function,
			size_t *due, const char *p, const char *end)
{
	enum { NEAR = 8 };
	static const struct tr_text returned = { "\treturn=", 8 };
	for (size_t i = *due; i < function->count && i < *due + NEAR; i++) {
		struct tr_text lead = function->labels[i].lead;
		if (!begins(p, end, lead))
			continue;
		*due = i + 1;
		tr_encode_byte(encoder, TR_APITRACE_ARGUMENT);
		tr_encode_uint(encoder, i);
		return p + lead.len;
	}
	if (!begins(p, end, returned))
		return NULL;
	tr_encode_byte(encoder, TR_APITRACE_RETURN);
	return p + returned.len;
}

bool tr_encode_fields(struct tr_encoder *encoder, const struct tr_apitrace_signature *function,
		      uint64_t call, struct tr_text fields)
{
	const char *p = fields.data, *end = p + fields.len;
	bool entering = true;
	size_t due = 0;
	while (p && end - p > 1) {
		if (end - p >= 3 && memcmp(p, "\t->", 3) == 0 && entering) {
			entering = false;
			due = 0;
			p += 3;
			tr_encode_byte(encoder, TR_APITRACE_END);
			tr_encode_byte(encoder, TR_APITRACE_LEAVE);
			tr_encode_uint(encoder, call);
			continue;
		}
		p = part(encoder, function, &due, p, end);
		p = p ? field(encoder, p, end) : NULL;
	}
	tr_encode_byte(encoder, TR_APITRACE_END);
	return p == end && !entering;
}
