/* SPDX-License-Identifier: MIT */
/*
 * The encoder: it turns one record into the bytes of its events, and a header into the head of the
 * stream. The layout of these bytes is in apitrace.h.
 *
 *	tr_encode_record	a call, an enter or a leave
 *	  put_line		the usual call: from the text of its line, without splitting it
 *	  put_event		every other record: from its fields and their trees of values
 *	tr_encode_head		version and properties
 *
 * The bytes are collected in encoder->bytes, and write.c writes them when the record is complete. A
 * record that cannot be encoded is undone: its bytes are dropped, and the signatures that it
 * defined (encoder->fresh) count as not written, so the next record that uses them defines them
 * again.
 */
#include "format/apitrace/apitrace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "core/wire.h"
#include "format/apitrace/encode.h"
#include "format/apitrace/parse.h"
#include "record/base64.h"
#include "record/literal.h"

/* Numbers, strings, and signatures with their definitions. */

/*
 * Notes that a number begins here. Only is_same needs that, when it compares with the bytes in
 * .raw.
 */
static void mark(struct tr_encoder *encoder)
{
	if (tr_array_room(encoder->marks, encoder->mark_count, encoder->mark_cap))
		encoder->marks[encoder->mark_count++] = encoder->bytes.len;
	else
		encoder->failed = true;
}

/* Writes a LEB128 number in its shortest form, and returns its end. */
static inline char *write_uint(uint64_t number, char *to)
{
	for (; number >= 0x80; number >>= 7)
		*to++ = (char)(number | 0x80);
	*to++ = (char)number;
	return to;
}

/* Appends a number. The source may have it in a longer form, which .raw keeps. */
static void encode_uint(struct tr_encoder *encoder, uint64_t number)
{
	if (encoder->marking)
		mark(encoder);
	char *room = tr_buffer_room(&encoder->bytes, TR_WIRE_UINT_MAX);
	if (room)
		tr_buffer_used(&encoder->bytes, (size_t)(write_uint(number, room) - room));
}

/* Appends a byte and a number, where numbers are not marked. */
static inline void encode_tagged(struct tr_encoder *encoder, uint8_t tag, uint64_t number)
{
	char *room = tr_buffer_room(&encoder->bytes, 1 + TR_WIRE_UINT_MAX);
	if (!room)
		return;
	*room = (char)tag;
	tr_buffer_used(&encoder->bytes, (size_t)(write_uint(number, room + 1) - room));
}

/*
 * Appends the bits of a float or a double: `size` bytes, little endian. It always returns true, so
 * that encode_value can return its result.
 */
static bool encode_real(struct tr_encoder *encoder, uint8_t tag, uint64_t bits, unsigned size)
{
	char *room = tr_buffer_room(&encoder->bytes, 1 + sizeof bits);
	if (!room)
		return true;
	room[0] = (char)tag;
	tr_wire_put_u64(room + 1, false, bits);
	tr_buffer_used(&encoder->bytes, 1 + size);
	return true;
}

/* Appends a length and bytes: strings, names and blobs have the same form. */
static void encode_string(struct tr_encoder *encoder, struct tr_text bytes)
{
	encode_uint(encoder, bytes.len);
	tr_buffer_put_text(&encoder->bytes, bytes);
}

/*
 * Appends the definition of a function or a structure: its name and the names of its arguments or
 * members.
 */
static void put_labels(struct tr_encoder *encoder, const struct tr_apitrace_signature *signature)
{
	encode_string(encoder, signature->name);
	encode_uint(encoder, signature->count);
	for (size_t i = 0; i < signature->count; i++)
		encode_string(encoder, signature->labels[i].name);
}

/*
 * Appends the definition of an enum or a mask. Below version 3 an enum defines a single constant,
 * and there is no count. The flags of a mask have no tag, in contrast to the constants of an enum.
 */
static void put_constants(struct tr_encoder *encoder, const struct tr_apitrace_signature *signature)
{
	bool is_enum = signature->table == TR_APITRACE_ENUMS;
	if (!is_enum || encoder->version >= TR_APITRACE_HAS_ENUM_TABLES)
		encode_uint(encoder, signature->count);
	for (size_t i = 0; i < signature->count; i++) {
		const struct tr_apitrace_label *label = &signature->labels[i];
		encode_string(encoder, label->name);
		if (is_enum)
			tr_encode_byte(encoder, label->tag);
		encode_uint(encoder, label->number);
	}
}

/*
 * Appends the definition of a stack frame. Parts up to the file are strings, those after it
 * numbers; the parts and their order are those of the source, because each of them is optional.
 */
static void put_frame(struct tr_encoder *encoder, const struct tr_apitrace_signature *signature)
{
	for (size_t i = 0; i < signature->count; i++) {
		const struct tr_apitrace_label *part = &signature->labels[i];
		tr_encode_byte(encoder, part->tag);
		if (part->tag <= TR_APITRACE_FRAME_FILE)
			encode_string(encoder, part->name);
		else
			encode_uint(encoder, part->number);
	}
	tr_encode_byte(encoder, TR_APITRACE_FRAME_END);
}

/* Notes that the definition is in bytes, in case these are dropped. False: memory is exhausted. */
static bool note_fresh(struct tr_encoder *encoder, struct tr_apitrace_signature *signature)
{
	if (!tr_array_room(encoder->fresh, encoder->fresh_count, encoder->fresh_cap))
		return false;
	encoder->fresh[encoder->fresh_count++] = signature;
	return true;
}

/* Appends the definition after an id that is used for the first time. */
static void define(struct tr_encoder *encoder, struct tr_apitrace_signature *signature)
{
	if (!note_fresh(encoder, signature)) {
		encoder->failed = true;
		return;
	}
	signature->written = true;
	switch (signature->table) {
	case TR_APITRACE_ENUMS:
	case TR_APITRACE_MASKS:
		put_constants(encoder, signature);
		return;
	case TR_APITRACE_FRAMES:
		put_frame(encoder, signature);
		return;
	default:
		put_labels(encoder, signature);
		return;
	}
}

/* Appends the id, and its definition at the first use. A signature of NULL: memory is exhausted. */
static void encode_signature(struct tr_encoder *encoder, struct tr_apitrace_signature *signature)
{
	if (!signature) {
		encoder->failed = true;
		return;
	}
	encode_uint(encoder, signature->wire);
	if (!signature->written)
		define(encoder, signature);
}

/* Values from their trees. */

/* Appends a value. False: err is filled, or memory is exhausted. */
static bool encode_value(struct tr_encoder *encoder, const struct tr_value *value);

/* Sets the error for a value that the format cannot hold. Returns false for callers to return. */
static bool no_place(struct tr_encoder *encoder, const char *what)
{
	tr_error_set(encoder->err, TR_CAUSE_INPUT, "an apitrace cannot hold %s", what);
	return false;
}

/*
 * Appends a string with its escapes decoded. A cut string is refused: what is left of it would look
 * like the whole one to whoever reads the trace.
 */
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
	encode_string(encoder, bytes);
	return true;
}

/*
 * Appends a wide string: the number of its units, then each unit. The spelling is read twice,
 * because the count precedes the units and escapes make it differ from the length of the text.
 */
static bool put_wide(struct tr_encoder *encoder, const struct tr_value *value)
{
	struct tr_text left = value->text;
	uint64_t unit, count = 0;
	while (tr_wstring_next(&left, &unit))
		count++;
	tr_encode_byte(encoder, TR_APITRACE_WSTRING);
	encode_uint(encoder, count);
	for (left = value->text; tr_wstring_next(&left, &unit);)
		encode_uint(encoder, unit);
	return true;
}

/*
 * Compares the names of a symbol with its number, which is what is written. Somebody may have
 * edited the name and expect the trace to change, so a difference is reported as a flaw of the
 * record; only the first one of a record is kept. False: memory is exhausted.
 */
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

/*
 * Appends a constant of an enum: the id of its table, then the tag and the magnitude of its number.
 */
static bool put_enum(struct tr_encoder *encoder, const struct tr_value *value)
{
	const struct tr_symbol *symbol = value->as.symbol;
	bool negative = value->flags & TR_NEGATIVE;
	bool single = encoder->version < TR_APITRACE_HAS_ENUM_TABLES;
	if (!check_names(encoder, TR_APITRACE_ENUMS, value))
		return false;
	tr_encode_byte(encoder, TR_APITRACE_ENUM);
	encode_signature(encoder, tr_written_enum(&encoder->signatures, symbol,
						  value->flags & TR_HAS_ID, negative, single));
	if (single)
		return true; /* it is the constant's */
	tr_encode_byte(encoder, negative ? TR_APITRACE_SINT : TR_APITRACE_UINT);
	encode_uint(encoder, symbol->number);
	return true;
}

/* Appends a number of a mask, which has no tag, in contrast to all other numbers of the format. */
static bool put_mask(struct tr_encoder *encoder, const struct tr_value *value)
{
	const struct tr_symbol *symbol = value->as.symbol;
	if (!check_names(encoder, TR_APITRACE_MASKS, value))
		return false;
	tr_encode_byte(encoder, TR_APITRACE_MASK);
	encode_signature(encoder,
			 tr_written_mask(&encoder->signatures, symbol, value->flags & TR_HAS_ID));
	encode_uint(encoder, symbol->number);
	return true;
}

/*
 * Appends a symbol that has only names, as a person writes it. Its number is the one that the
 * tables of the trace give to these names. False: no table has them, or tables differ about them.
 */
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

/* Appends a list. One that was cut is refused, as put_string refuses a string. */
static bool put_list(struct tr_encoder *encoder, const struct tr_value *value)
{
	if (value->flags & TR_CUT)
		return no_place(encoder, "a list that was cut");
	tr_encode_byte(encoder, TR_APITRACE_ARRAY);
	encode_uint(encoder, value->count);
	for (size_t i = 0; i < value->count; i++)
		if (!encode_value(encoder, &value->as.items[i]))
			return false;
	return true;
}

/*
 * The place of a recently used structure whose first member has this name, as values spell it with
 * the brace before it and "=" after it.
 */
static struct tr_apitrace_signature **recent_struct(struct tr_encoder *encoder, struct tr_text lead)
{
	size_t hash = lead.len * 31 + (unsigned char)lead.data[1] +
		      (unsigned char)lead.data[lead.len - 2];
	return &encoder->signatures.structs[hash % TR_WRITTEN_STRUCTS];
}

/* Remembers a structure that the stream defines, for `structure`, which reads its spelling. */
static void remember_struct(struct tr_encoder *encoder, struct tr_apitrace_signature *signature,
			    const struct tr_value *value)
{
	if (signature && signature->count && (value->flags & TR_HAS_ID) &&
	    signature == tr_apitrace_signature(&encoder->signatures.defined, TR_APITRACE_STRUCTS,
					       value->id))
		*recent_struct(encoder, signature->leads[0]) = signature;
}

/*
 * Appends the values of the members in order. Their names are in the signature, which is rebuilt
 * from this value if the stream does not define it.
 */
static bool put_struct(struct tr_encoder *encoder, const struct tr_value *value)
{
	struct tr_apitrace_signature *signature = tr_written_struct(&encoder->signatures, value);

	tr_encode_byte(encoder, TR_APITRACE_STRUCT);
	encode_signature(encoder, signature);
	remember_struct(encoder, signature, value);
	for (size_t i = 0; i < value->count; i++)
		if (!encode_value(encoder, value->as.members[i].value))
			return false;
	return true;
}

/* Always returns true, so that encode_value can return its result. */
static bool put_number(struct tr_encoder *encoder, uint8_t tag, uint64_t number)
{
	tr_encode_byte(encoder, tag);
	encode_uint(encoder, number);
	return true;
}

static bool encode_value(struct tr_encoder *encoder, const struct tr_value *value)
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
		return encode_real(encoder, TR_APITRACE_DOUBLE, value->as.number, 8);
	case TR_REAL32:
		return encode_real(encoder, TR_APITRACE_FLOAT, value->as.number, 4);
	case TR_STRING:
		return put_string(encoder, value);
	case TR_WSTRING:
		return put_wide(encoder, value);
	case TR_BLOB:
		tr_encode_byte(encoder, TR_APITRACE_BLOB);
		encode_string(encoder, value->text);
		return true;
	case TR_BLOB_LEFT:
		return no_place(encoder, "a blob that was left out");
	case TR_BLOB_FILE:
		return no_place(encoder, "a blob in a file (--blob-dir reads it)");
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
		return encode_value(encoder, &value->as.items[0]) &&
		       encode_value(encoder, &value->as.items[1]);
	}
	return no_place(encoder, "a value of that type");
}

/*
 * Encodes values directly from their spellings, and whole calls from their lines: the usual
 * ones in their canonical spelling. All others are parsed by the code that knows the whole
 * grammar and reports errors.
 *
 * The functions return the end of what they encoded, or NULL: then the spelling is not a usual one,
 * some bytes may have been appended, and encode_plain or put_line takes them back. A spelling that
 * they accept gives the same bytes as the tree that the grammar makes of it.
 */

/*
 * Whether a value ends at p. This is checked where a value could go on, such as "..." after a cut
 * string, which must not be encoded as if it were whole.
 */
static bool is_end(const char *p, const char *end)
{
	return p == end || *p == ',' || *p == ']' || *p == '}' || *p == '\t';
}

static bool is_word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/*
 * Reads decimal digits at p. NULL: there are none, they begin with a zero, or there are more than
 * 19, which may not fit 64 bits.
 */
static const char *digits(const char *p, const char *end, uint64_t *number)
{
	enum { SURE = 19 }; /* digits that always fit */
	const char *start = p;
	uint64_t n = 0;
	while (p < end && tr_is_digit(*p))
		n = n * 10 + (uint64_t)(*p++ - '0');
	*number = n;
	if (p == start || p - start > SURE || (*start == '0' && p - start > 1))
		return NULL;
	return p;
}

/*
 * Reads lower-case hex digits after "0x", without leading zeros, as the stream writes a pointer.
 */
static const char *hex(const char *p, const char *end, uint64_t *number)
{
	const char *start = p;
	uint64_t n = 0;
	for (; p < end && (tr_is_digit(*p) || (*p >= 'a' && *p <= 'f')); p++)
		n = n << 4 | (uint64_t)tr_hex_digit(*p);
	*number = n;
	if (p == start || p - start > 16 || (*start == '0' && p - start > 1))
		return NULL;
	return p;
}

/*
 * Reads the rest of a real number after the digits before its point, with an `f` at the end for 32
 * bits. Exponents, inf and nan are rare and left to the parser.
 */
static const char *real(struct tr_encoder *encoder, const char *start, const char *point,
			const char *end)
{
	const char *p = tr_skip_digits(point + 1, end);
	uint64_t bits64;
	uint32_t bits32;
	if (p == point + 1)
		return NULL;
	struct tr_text text = tr_text_span(start, p);
	if (p < end && *p == 'f') {
		if (!tr_real32_read(text, &bits32))
			return NULL;
		encode_real(encoder, TR_APITRACE_FLOAT, bits32, 4);
		return p + 1;
	}
	if (!tr_real64_read(text, &bits64))
		return NULL;
	encode_real(encoder, TR_APITRACE_DOUBLE, bits64, 8);
	return p;
}

/*
 * Reads a number. Its spelling states its tag: "0x" is a pointer, "-" a number below 0, a point a
 * real number, and everything else is unsigned.
 */
static const char *number(struct tr_encoder *encoder, const char *start, const char *end)
{
	const char *p = start;
	uint64_t n;
	uint8_t tag = TR_APITRACE_UINT;
	if (tr_is_digit(*p) && is_end(p + 1, end)) { /* many have a single digit */
		encode_tagged(encoder, tag, (uint64_t)(*p - '0'));
		return p + 1;
	}
	if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
		tag = TR_APITRACE_POINTER;
		p = hex(p + 2, end, &n);
	} else {
		if (*p == '-') {
			tag = TR_APITRACE_SINT;
			p++;
		}
		p = digits(p, end, &n);
		if (p && p < end && *p == '.')
			return real(encoder, start, p, end);
	}
	if (p)
		encode_tagged(encoder, tag, n);
	return p;
}

/* Reads a string without escapes, whose spelling is its bytes. */
static const char *string(struct tr_encoder *encoder, const char *p, const char *end)
{
	p++;
	const char *quote = memchr(p, '"', (size_t)(end - p));
	/* a cut string is followed by dots, a string that is a name by something else */
	if (!quote || !is_end(quote + 1, end) || memchr(p, '\\', (size_t)(quote - p)))
		return NULL;
	tr_encode_byte(encoder, TR_APITRACE_STRING);
	encode_string(encoder, tr_text_span(p, quote));
	return quote + 1;
}

/* Skips letters, digits and "_". */
static inline const char *skip_word(const char *p, const char *end)
{
	static const bool in_word[256] = {
		['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true, ['_'] = true
	};
	while (p < end && in_word[(unsigned char)*p])
		p++;
	return p;
}

/*
 * Skips the names of a symbol up to its parenthesis: words, and at the end perhaps bits that have
 * no name. "?" is printed for a number without a name. *several: there is more than one name,
 * which only a mask can have.
 */
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
		p = skip_word(p, end);
		if (p == end || *p != '|')
			return p;
		*several = true;
		p++;
	}
}

/*
 * Reads "@E12)" or "@M3)". NULL also if the stream does not define that id: then the signature has
 * to be rebuilt from the names, which needs the tree.
 */
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

/*
 * Reads "(NUMBER@ID)" after the names of a symbol. The number is decimal for an enum and hex for a
 * mask. The names have to be those that were found to mean this number before; otherwise the tree
 * is made, and check_names examines them. several: see names.
 */
static const char *symbol(struct tr_encoder *encoder, struct tr_text named, bool several,
			  const char *end)
{
	struct tr_apitrace_signature *found;
	const char *p = named.data + named.len + 1;
	bool nameless = *named.data == '?';
	uint64_t n;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
		p = hex(p + 2, end, &n);
		p = p ? signature(encoder, p, end, TR_APITRACE_MASKS, &found) : NULL;
		if (!p || (!nameless && !tr_written_are_mask_names(found, named, n)))
			return NULL;
		tr_encode_byte(encoder, TR_APITRACE_MASK);
		encode_signature(encoder, found);
		encode_uint(encoder, n);
		return p;
	}
	bool negative = p < end && *p == '-';
	p = digits(p + negative, end, &n);
	p = p ? signature(encoder, p, end, TR_APITRACE_ENUMS, &found) : NULL;
	if (!p || several || encoder->version < TR_APITRACE_HAS_ENUM_TABLES ||
	    (!nameless && !tr_written_is_enum_name(found, named, n, negative)))
		return NULL;
	tr_encode_byte(encoder, TR_APITRACE_ENUM);
	encode_signature(encoder, found);
	encode_tagged(encoder, negative ? TR_APITRACE_SINT : TR_APITRACE_UINT, n);
	return p;
}

/* Reads a constant; everything else that begins with a letter is a symbol. */
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
	bool several;
	const char *stop = names(p, end, &several);
	struct tr_text text = tr_text_span(p, stop ? stop : p);
	if (stop && stop < end && *stop == '(')
		return symbol(encoder, text, several, end);
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
		if (tr_text_is(text, constants[i].word) && is_end(stop, end)) {
			tr_encode_byte(encoder, constants[i].tag);
			return stop;
		}
	}
	return NULL;
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
		/* "[1,]" is not a list */
		if (*p == ',' && (p + 1 == end || p[1] == ']'))
			return NULL;
		count++;
	}
	if (p >= end || count > ONE_BYTE || encoder->bytes.failed)
		return NULL;
	encoder->bytes.data[at] = (char)count;
	return p + 1;
}

/*
 * Reads {KEY=VALUE,...}@S3. The id comes last, and the trace has it first, so the structure has to
 * be one that was used lately, with the same members in the same order.
 */
static const char *structure(struct tr_encoder *encoder, const char *p, const char *end,
			     unsigned depth)
{
	const char *equal = memchr(p, '=', (size_t)(end - p));
	uint64_t id;
	if (!equal || equal < p + 2)
		return NULL;
	struct tr_apitrace_signature *recent = *recent_struct(encoder, tr_text_span(p, equal + 1));
	if (!recent)
		return NULL;
	tr_encode_byte(encoder, TR_APITRACE_STRUCT);
	encode_signature(encoder, recent);
	for (size_t i = 0; i < recent->count; i++) {
		struct tr_text lead = recent->leads[i];
		if ((size_t)(end - p) < lead.len || !tr_apitrace_same(p, lead.data, lead.len))
			return NULL;
		p = value(encoder, p + lead.len, end, depth + 1);
		if (!p)
			return NULL;
	}
	if (end - p < 4 || memcmp(p, "}@S", 3) != 0)
		return NULL;
	p = digits(p + 3, end, &id);
	if (!p ||
	    recent != tr_apitrace_signature(&encoder->signatures.defined, TR_APITRACE_STRUCTS, id))
		return NULL;
	return p;
}

/*
 * Reads any value by its first byte. Other structures, wide strings, maps and blobs in lists are
 * left to the parser. The depth is bounded as it is there, because lists recurse.
 */
static const char *value(struct tr_encoder *encoder, const char *p, const char *end, unsigned depth)
{
	if (p == end)
		return NULL;
	if (tr_is_digit(*p) || *p == '-')
		return number(encoder, p, end);
	if (*p == '"')
		return string(encoder, p, end);
	if (*p == '[' && depth < TR_LITERAL_DEPTH)
		return list(encoder, p, end, depth);
	if (*p == '{' && depth < TR_LITERAL_DEPTH)
		return structure(encoder, p, end, depth);
	if (is_word_start(*p) || *p == '?')
		return word(encoder, p, end);
	return NULL;
}

/*
 * Decodes the base64 after "b64:" directly to its place: blobs are by far the longest values, and a
 * copy of each would take noticeable time. False: the text is no canonical base64; nothing changed.
 */
static bool blob(struct tr_encoder *encoder, struct tr_text digits)
{
	size_t most = digits.len / 4 * 3, size, start = encoder->bytes.len;
	size_t padding = digits.len && digits.data[digits.len - 1] == '=';
	if (digits.len % 4 || digits.len < 4)
		return false;
	padding += padding && digits.data[digits.len - 2] == '=';
	tr_encode_byte(encoder, TR_APITRACE_BLOB);
	encode_uint(encoder, most - padding);
	char *room = tr_buffer_room(&encoder->bytes, most);
	if (room && !tr_base64_read(digits, room, &size)) {
		tr_buffer_used(&encoder->bytes, size);
		return true;
	}
	encoder->bytes.len = start;
	return false;
}

/*
 * Appends a value by its spelling. False: it is not one of the usual ones; nothing changed, so the
 * caller can encode its tree instead.
 */
static bool encode_plain(struct tr_encoder *encoder, struct tr_text spelling)
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

/*
 * Reads the value of a field, which ends at a TAB or at the end of the line. NULL: it is not one of
 * the usual values.
 */
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

/* Whether the bytes at p begin with lead ("\tkey="). Most labels differ in the first byte. */
static inline bool begins(const char *p, const char *end, struct tr_text lead)
{
	return (size_t)(end - p) >= lead.len && p[1] == lead.data[1] &&
	       tr_apitrace_same(p, lead.data, lead.len);
}

/*
 * The last value of an argument or of the returned value, as text and encoded. Calls of a function
 * often repeat arguments, such as a display or a structure. Most values are so short that copying
 * FEW bytes takes no call.
 */
enum { FEW = 16 };

struct tr_written_value {
	uint16_t len, size; /* of the text, and of the bytes; 0: there is none */
	char text[236], bytes[80];
};

/* Copies len bytes, or FEW of them, which can be read and written, too. */
static inline void copy_few(char *to, const char *from, size_t len)
{
	if (len <= FEW)
		memcpy(to, from, FEW);
	else
		memcpy(to, from, len);
}

/*
 * The last value with this number; the returned value comes after all arguments. NULL: none is
 * kept, because the function has many arguments, or many functions have been called.
 */
static struct tr_written_value *last_value(struct tr_encoder *encoder,
					   struct tr_apitrace_signature *function, size_t number)
{
	enum { MOST_ARGUMENTS = 16, MOST_VALUES = 4096 };
	struct tr_written_signatures *signatures = &encoder->signatures;
	size_t count = function->count + 1;
	if (!function->last && count <= MOST_ARGUMENTS &&
	    signatures->last_values + count <= MOST_VALUES) {
		signatures->last_values += count;
		function->last =
			tr_arena_alloc(&signatures->rebuilt.arena, count * sizeof *function->last);
		if (function->last)
			memset(function->last, 0, count * sizeof *function->last);
	}
	return function->last ? &function->last[number] : NULL;
}

/*
 * Encodes a field of a function, which is the argument `number` or, after all of them, the returned
 * value. A value is kept unless a signature was defined for the record so far, as that would be
 * undone with it. NULL: see field.
 */
static const char *field_of(struct tr_encoder *encoder, struct tr_apitrace_signature *function,
			    size_t number, const char *p, const char *end)
{
	struct tr_written_value *last = last_value(encoder, function, number);
	struct tr_buffer *bytes = &encoder->bytes;
	size_t start = bytes->len;
	if (last && last->len && last->len <= (size_t)(end - p) &&
	    (p + last->len == end || p[last->len] == '\t') &&
	    tr_apitrace_same(p, last->text, last->len)) {
		char *room = tr_buffer_room(bytes, last->size + FEW);
		if (room) {
			copy_few(room, last->bytes, last->size);
			tr_buffer_used(bytes, last->size);
		}
		return p + last->len;
	}
	const char *stop = field(encoder, p, end);
	size_t len = stop ? (size_t)(stop - p) : 0, size = bytes->len - start;
	if (!last || !len || len > sizeof last->text || size > sizeof last->bytes ||
	    encoder->fresh_count || bytes->failed || !tr_buffer_room(bytes, FEW))
		return stop;
	last->len = (uint16_t)len;
	last->size = (uint16_t)size;
	copy_few(last->text, p, len); /* a line is followed by readable bytes */
	copy_few(last->bytes, bytes->data + start, size);
	return stop;
}

/*
 * Encodes which part of a call the "\tkey=" at p begins: an argument or the returned value.
 * Arguments usually come in the order of the signature, so the search begins at the one that is due
 * and looks at a few after it, as some may be missing. *number: that of the argument, or their
 * count. NULL: another part, or an argument out of order.
 */
static const char *part(struct tr_encoder *encoder, const struct tr_apitrace_signature *function,
			size_t *due, size_t *number, const char *p, const char *end)
{
	enum { NEAR = 8 };
	static const struct tr_text returned = { "\treturn=", 8 };
	for (size_t i = *due; i < function->count && i < *due + NEAR; i++) {
		struct tr_text lead = function->leads[i];
		if (!begins(p, end, lead))
			continue;
		*due = i + 1;
		*number = i;
		encode_tagged(encoder, TR_APITRACE_ARGUMENT, i);
		return p + lead.len;
	}
	if (!begins(p, end, returned))
		return NULL;
	tr_encode_byte(encoder, TR_APITRACE_RETURN);
	*number = function->count;
	return p + returned.len;
}

/*
 * Appends the fields of a call, as its line has them after the fixed columns, and its leave after
 * the arrow. False: a field is not spelled in the usual way, or the call has no arrow; the caller
 * undoes what was appended.
 */
static bool encode_fields(struct tr_encoder *encoder, struct tr_apitrace_signature *function,
			  uint64_t call, struct tr_text fields)
{
	const char *p = fields.data, *end = p + fields.len;
	bool entering = true;
	size_t due = 0, number;
	while (p && end - p > 1) {
		if (end - p >= 3 && memcmp(p, "\t->", 3) == 0 && entering) {
			entering = false;
			due = 0;
			p += 3;
			tr_encode_byte(encoder, TR_APITRACE_END);
			encode_tagged(encoder, TR_APITRACE_LEAVE, call);
			continue;
		}
		p = part(encoder, function, &due, &number, p, end);
		p = p ? field_of(encoder, function, number, p, end) : NULL;
	}
	tr_encode_byte(encoder, TR_APITRACE_END);
	return p == end && !entering;
}

/* Begins a record: nothing is encoded, defined or wrong yet. The arena is the record's. */
static void begin_bytes(struct tr_encoder *encoder, struct tr_arena *arena, struct tr_error *err)
{
	tr_buffer_reset(&encoder->bytes);
	encoder->fresh_count = 0;
	encoder->mark_count = 0;
	encoder->failed = encoder->flawed = false;
	encoder->err = err;
	encoder->signatures.scratch_arena = arena;
}

/*
 * Drops what was encoded for the record. The signatures that it defined are defined again at their
 * next use.
 */
static void undo_bytes(struct tr_encoder *encoder)
{
	while (encoder->fresh_count)
		encoder->fresh[--encoder->fresh_count]->written = false;
	encoder->bytes.len = 0;
}

/*
 * Reads the number at p. Returns its end; NULL: it is cut or too long. The bytes are copied,
 * because .raw may be hostile or short, and tr_wire_uint reads after its end.
 */
static const char *read_uint(const char *p, const char *end, uint64_t *number)
{
	char bytes[TR_WIRE_UINT_MAX] = { 0 };
	size_t left = (size_t)(end - p);
	memcpy(bytes, p, left < sizeof bytes ? left : sizeof bytes);
	const char *stop = tr_wire_uint(bytes, number);
	return stop && (size_t)(stop - bytes) <= left ? p + (stop - bytes) : NULL;
}

/*
 * Whether the bytes of the source mean what was encoded: they are equal, apart from zeros at the
 * top of numbers (`80 00`), which only the source has. Therefore everything between two marks has
 * to be equal as bytes, and what is at a mark only as a number.
 */
static bool is_same(const struct tr_encoder *encoder, struct tr_text source)
{
	const char *ours = encoder->bytes.data, *end = ours + encoder->bytes.len;
	const char *theirs = source.data, *their_end = theirs + source.len;
	for (size_t i = 0; i <= encoder->mark_count; i++) {
		const char *mark =
			i < encoder->mark_count ? encoder->bytes.data + encoder->marks[i] : end;
		size_t len = (size_t)(mark - ours);
		uint64_t number, their_number;
		if ((size_t)(their_end - theirs) < len || (len && memcmp(ours, theirs, len) != 0))
			return false;
		ours = mark;
		theirs += len;
		if (i == encoder->mark_count)
			break;
		ours = read_uint(ours, end, &number);
		theirs = read_uint(theirs, their_end, &their_number);
		if (!ours || !theirs || number != their_number)
			return false;
	}
	return theirs == their_end;
}

/*
 * Replaces what was encoded by the bytes in .raw, if they mean the same. Otherwise the record was
 * edited, and its fields are what counts; this is why a .raw that differs is not an error.
 */
static void take_raw(struct tr_encoder *encoder, struct tr_record *record, struct tr_field *raw)
{
	struct tr_error ignored;
	struct tr_value *value = tr_field_value(record, raw, &ignored);
	if (!value || value->type != TR_BLOB || !is_same(encoder, value->text))
		return;
	encoder->bytes.len = 0;
	tr_buffer_put_text(&encoder->bytes, value->text);
}

/* The head of the stream. */

/* Sets *number if the header has the field as an unsigned number, and leaves it alone otherwise. */
static bool header_number(struct tr_record *header, const char *key, uint64_t *number,
			  struct tr_error *err)
{
	struct tr_value *value = tr_record_value(header, key, err);
	if (value && value->type == TR_UINT)
		*number = value->as.number;
	return value && value->type == TR_UINT;
}

/*
 * Whether the header comes from an apitrace. Other formats have versions, too, which mean nothing
 * here. A header without a format is one that somebody wrote by hand.
 */
static bool is_ours(struct tr_record *header)
{
	struct tr_field *format = tr_record_field(header, "format");
	return !format || tr_text_is(format->text, "apitrace");
}

/*
 * Appends the properties of the header. One that is not a pair of texts is left out, and the status
 * is TR_WARN; memory failures set encoder->failed.
 */
static enum tr_status put_properties(struct tr_encoder *encoder, struct tr_value *list,
				     struct tr_error *err)
{
	enum tr_status status = TR_OK;
	struct tr_arena *arena = encoder->signatures.scratch_arena;
	for (size_t i = 0; list->type == TR_LIST && i < list->count; i++) {
		const struct tr_value *pair = &list->as.items[i];
		struct tr_text text[2] = { { "", 0 } };
		bool good = pair->type == TR_LIST && pair->count == 2;
		for (unsigned k = 0; good && k < 2; k++) {
			good = pair->as.items[k].type == TR_STRING;
			if (good)
				text[k] = tr_string_bytes(pair->as.items[k].text, arena);
			encoder->failed |= good && !text[k].data;
		}
		/* an empty name would be the end of them */
		if (!good || !text[0].len) {
			tr_error_set(err, TR_CAUSE_INPUT,
				     "a property is not a pair of strings [\"name\",\"value\"]");
			status = TR_WARN;
			continue;
		}
		encode_string(encoder, text[0]);
		encode_string(encoder, text[1]);
	}
	return status;
}

/*
 * The version that is written is the one of the option, or the source's. The semantic version stays
 * the source's in any case: apitrace decides by it what malloc and user arrays mean, and its own
 * trim writes an old trace as version 6 with the old semantic version.
 */
enum tr_status tr_encode_head(struct tr_encoder *encoder, struct tr_record *header, int version,
			      struct tr_error *err)
{
	uint64_t own = TR_APITRACE_VERSION, semantic;
	bool ours = header && is_ours(header);
	struct tr_field *raw = ours ? tr_record_field(header, ".raw") : NULL;
	enum tr_status status = TR_OK;
	begin_bytes(encoder, header ? header->arena : NULL, err);
	if (ours)
		header_number(header, "version", &own, err);
	if (own > TR_APITRACE_VERSION) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "version %" PRIu64 " of apitrace's format is not known", own);
		return TR_FATAL;
	}
	semantic = own;
	if (ours)
		header_number(header, "semantic", &semantic, err);
	encoder->version = version < 0 ? own : (uint64_t)version;
	/* only if the source has them, too */
	encoder->thread_details =
		ours && own < TR_APITRACE_HAS_THREADS && encoder->version < TR_APITRACE_HAS_THREADS;
	encoder->marking = raw != NULL;
	encode_uint(encoder, encoder->version);
	if (encoder->version >= TR_APITRACE_HAS_PROPERTIES) {
		struct tr_value *list = ours ? tr_record_value(header, "properties", err) : NULL;
		encode_uint(encoder, semantic);
		if (list)
			status = put_properties(encoder, list, err);
		/* they end with an empty name, whose length .raw may have in a longer form, too */
		encode_string(encoder, TR_TEXT(""));
	}
	if (raw)
		take_raw(encoder, header, raw);
	if (!encoder->failed && !encoder->bytes.failed)
		return status;
	return tr_error_memory(err);
}

/*
 * A call that was entered and has not returned. It is found by its seq in the stream, for a leave
 * that comes as a record of its own.
 */
struct entered {
	uint64_t number; /* in the trace */
	struct tr_apitrace_signature *function;
};

/* The event that is being put together. */
struct event {
	struct tr_encoder *encoder;
	struct tr_record *record;
	struct tr_apitrace_signature *function;
	uint64_t id; /* of its function, from .sig */
	bool has_id;
	/* a field that cannot be written is left out, instead of the record */
	bool lenient;
	bool less;	      /* something was left out */
	size_t next;	      /* the argument that is expected next */
	bool thread_in_place; /* the enter has its thread as a field, at the place of the detail */
};

void tr_encoder_free(struct tr_encoder *encoder)
{
	size_t position = 0;
	for (void *call; (call = tr_id_map_next(&encoder->entered, &position)) != NULL;)
		free(call);
	tr_id_map_free(&encoder->entered);
	tr_written_signatures_free(&encoder->signatures);
	tr_buffer_free(&encoder->bytes);
	free(encoder->fresh);
	free(encoder->marks);
}

void tr_encoder_restart(struct tr_encoder *encoder)
{
	tr_encoder_free(encoder);
	*encoder = (struct tr_encoder){ 0 };
}

/*
 * Keeps an enter for its leave. False: memory is exhausted. The map grows with the calls that have
 * not returned, not with all calls.
 */
static bool remember(struct tr_encoder *encoder, uint64_t seq,
		     struct tr_apitrace_signature *function)
{
	struct entered *call = malloc(sizeof *call);
	if (!call)
		return false;
	*call = (struct entered){ .number = encoder->calls, .function = function };
	/* of two enters with one number, the later one gets the leave */
	free(tr_id_map_take(&encoder->entered, seq));
	if (tr_id_map_put(&encoder->entered, seq, call))
		return true;
	free(call);
	return false;
}

/* Fields. */

/*
 * Appends the value of a field: from its spelling if that is a usual one, otherwise from its tree.
 * The spelling is not used while numbers are marked, because .raw is compared with every field.
 */
static bool value_of(struct event *event, struct tr_field *field)
{
	struct tr_encoder *encoder = event->encoder;
	if (!field->value && field->text.data && !encoder->marking &&
	    encode_plain(encoder, field->text))
		return true;
	struct tr_value *value = tr_field_value(event->record, field, encoder->err);
	return value && encode_value(encoder, value);
}

/* Sets the error of a field. The key is cut to 80 bytes, as it may have any length. */
static bool unfit(struct event *event, struct tr_text key, const char *what)
{
	tr_error_set(event->encoder->err, TR_CAUSE_INPUT, "'%.*s' %s", TR_SHOWN(key, 80), what);
	return false;
}

/*
 * Reads a word with an id: K3 in a list of frames, F17 of .sig. False: the value is no such word.
 */
static bool id_word(const struct tr_value *value, char letter, uint64_t *id)
{
	if (value->type != TR_SYMBOL || value->as.symbol->numbered != TR_SYMBOL_WORDS ||
	    value->as.symbol->count != 1)
		return false;
	return tr_apitrace_read_id(value->as.symbol->names[0].text, letter, id);
}

/*
 * Appends the frames of .bt. A frame that the stream does not define is rebuilt with its id as
 * name.
 */
static bool put_backtrace(struct event *event, struct tr_field *field)
{
	struct tr_encoder *encoder = event->encoder;
	struct tr_value *list = tr_field_value(event->record, field, encoder->err);
	uint64_t id;
	if (!list)
		return false;
	if (list->type != TR_LIST || list->flags & TR_CUT)
		return unfit(event, field->key, "is not a list of stack frames");
	tr_encode_byte(encoder, TR_APITRACE_BACKTRACE);
	encode_uint(encoder, list->count);
	for (size_t i = 0; i < list->count; i++) {
		if (!id_word(&list->as.items[i], 'K', &id))
			return unfit(event, field->key, "is not a list of stack frames");
		encode_signature(encoder, tr_written_frame(&encoder->signatures, id));
	}
	return true;
}

/* Returns the number of .flags or .thread. False: err is filled. */
static bool number_of(struct event *event, struct tr_field *field, uint64_t *number)
{
	struct tr_value *value = tr_field_value(event->record, field, event->encoder->err);
	if (!value)
		return false;
	*number = value->as.number;
	return value->type == TR_UINT || unfit(event, field->key, "is not a number");
}

/*
 * Appends an argument with the number of its key. The number is searched from the argument after
 * the last one, where it nearly always is.
 */
static bool put_argument(struct event *event, struct tr_field *field)
{
	uint64_t number;
	if (!tr_written_argument(&event->encoder->signatures, event->function, field->key,
				 event->next, &number))
		return unfit(event, field->key, "is not an argument of its function");
	event->next = (size_t)number + 1;
	tr_encode_byte(event->encoder, TR_APITRACE_ARGUMENT);
	encode_uint(event->encoder, number);
	return value_of(event, field);
}

/*
 * Appends a field as a detail of the event. Keys with a dot are fields of the format; everything
 * else except `return` is an argument.
 */
static bool put_field(struct event *event, struct tr_field *field)
{
	struct tr_encoder *encoder = event->encoder;
	uint64_t number;
	if (*field->key.data != '.') {
		if (!tr_text_is(field->key, "return"))
			return put_argument(event, field);
		tr_encode_byte(encoder, TR_APITRACE_RETURN);
		return value_of(event, field);
	}
	if (tr_text_is(field->key, ".bt"))
		return put_backtrace(event, field);
	bool flags = tr_text_is(field->key, ".flags");
	/* .sig and .raw were used before; other keys do not belong to the format */
	if (!flags && !tr_text_is(field->key, ".thread"))
		return true;
	if (!number_of(event, field, &number))
		return false;
	if (!flags && encoder->version >= TR_APITRACE_HAS_THREADS)
		return true; /* every enter has it */
	put_number(encoder, flags ? TR_APITRACE_FLAGS : TR_APITRACE_THREAD, number);
	return true;
}

/*
 * Takes back a field that cannot be encoded, in a leave of its own, which is written all the same:
 * without its leave, a call would look as if it had not returned. False: the whole record is left
 * out, because it is not such a leave or memory is exhausted.
 */
static bool skip_field(struct event *event, size_t bytes, size_t fresh, size_t marks)
{
	struct tr_encoder *encoder = event->encoder;
	if (!event->lenient || encoder->failed || tr_error_is_memory(encoder->err))
		return false;
	while (encoder->fresh_count > fresh)
		encoder->fresh[--encoder->fresh_count]->written = false;
	encoder->bytes.len = bytes;
	encoder->mark_count = marks;
	event->less = true;
	return true;
}

/*
 * Appends fields and the byte that ends an event. Fields whose key is unset were removed by a tool.
 */
static bool put_fields(struct event *event, size_t from, size_t to)
{
	struct tr_encoder *encoder = event->encoder;
	for (size_t i = from; i < to; i++) {
		struct tr_field *field = &event->record->fields[i];
		size_t bytes = encoder->bytes.len, fresh = encoder->fresh_count;
		size_t marks = encoder->mark_count;
		if (field->key.data && !put_field(event, field) &&
		    !skip_field(event, bytes, fresh, marks))
			return false;
	}
	tr_encode_byte(encoder, TR_APITRACE_END);
	return true;
}

/* Events. */

/*
 * Appends an enter up to its fields. From version 4 on each enter has a thread; a record without
 * one gets thread 0. Below version 4 the thread is a detail, and only if the source was like that.
 */
static bool begin_enter(struct event *event)
{
	struct tr_encoder *encoder = event->encoder;
	uint64_t thread = 0;
	const struct tr_cell *task = &event->record->task;
	if (task->type != TR_CELL_ABSENT &&
	    !(task->type == TR_CELL_TEXT && tr_decimal_id(task->text, &thread)) &&
	    !tr_cell_number(task, &thread)) {
		tr_error_set(encoder->err, TR_CAUSE_INPUT, "the task is not a thread number");
		return false;
	}
	if (!event->function && tr_written_function(&encoder->signatures, event->record,
						    event->has_id ? &event->id : NULL,
						    &event->function, encoder->err) != TR_OK)
		return false;
	tr_encode_byte(encoder, TR_APITRACE_ENTER);
	if (encoder->version >= TR_APITRACE_HAS_THREADS)
		encode_uint(encoder, thread);
	encode_signature(encoder, event->function);
	if (encoder->thread_details && !event->thread_in_place &&
	    event->record->task.type != TR_CELL_ABSENT) {
		tr_encode_byte(encoder, TR_APITRACE_THREAD);
		encode_uint(encoder, thread);
	}
	return true;
}

/* Appends an enter with the first `fields` fields of the record. */
static bool put_enter(struct event *event, size_t fields)
{
	return begin_enter(event) && put_fields(event, 0, fields);
}

/* Appends a leave with the fields from `from` on. */
static bool put_leave(struct event *event, uint64_t number, size_t from)
{
	event->next = 0;
	tr_encode_byte(event->encoder, TR_APITRACE_LEAVE);
	encode_uint(event->encoder, number);
	return put_fields(event, from, event->record->count);
}

/*
 * Appends a call that returned as its enter and, directly after it, its leave. The arrow separates
 * the fields of both; without an arrow the leave has none.
 */
static bool put_call(struct event *event)
{
	size_t arrow = event->record->arrow;
	if (arrow == TR_NO_ARROW)
		arrow = event->record->count;
	return put_enter(event, arrow) && put_leave(event, event->encoder->calls, arrow);
}

/*
 * Appends a leave of its own. The stream numbers its calls by seq, which may have gaps after a
 * filter; the trace counts them from 0, so the number comes from the remembered enter.
 */
static bool put_other_leave(struct event *event, uint64_t seq, bool has_seq)
{
	struct tr_encoder *encoder = event->encoder;
	struct entered *call = has_seq ? tr_id_map_get(&encoder->entered, seq) : NULL;
	if (!call) {
		tr_error_set(encoder->err, TR_CAUSE_INPUT,
			     "a leave without an enter before it in the stream");
		return false;
	}
	event->function = call->function;
	event->lenient = true;
	return put_leave(event, call->number, 0);
}

/*
 * Appends the events of a record and counts its call. A leave whose bytes failed for lack of memory
 * keeps its enter, so that the error does not turn into a missing one.
 */
static bool put_event(struct event *event)
{
	struct tr_encoder *encoder = event->encoder;
	struct tr_record *record = event->record;
	uint64_t seq;
	bool has_seq = tr_cell_number(&record->seq, &seq);
	if (tr_text_is(record->kind, "leave")) {
		if (!put_other_leave(event, seq, has_seq))
			return false;
		if (!encoder->bytes.failed && !encoder->failed)
			free(tr_id_map_take(&encoder->entered, seq));
		return true;
	}
	bool whole = tr_text_is(record->kind, "call");
	if (!(whole ? put_call(event) : put_enter(event, record->count)))
		return false;
	if (!whole && has_seq && !remember(encoder, seq, event->function)) {
		encoder->failed = true;
		return false;
	}
	encoder->calls++;
	return true;
}

/*
 * Whether the field is in the enter and has the thread of the task column. Then the field is
 * written, at its own place, and the column is not.
 */
static bool is_task(struct event *event, size_t field)
{
	struct tr_record *record = event->record;
	struct tr_value *value = tr_field_value(record, &record->fields[field], NULL);
	uint64_t thread;
	return field < record->arrow && value && value->type == TR_UINT &&
	       tr_cell_number(&record->task, &thread) && thread == value->as.number;
}

/*
 * Reads what has to be known before the first byte is encoded, wherever it is in the record: the
 * function (.sig), whether the thread is a field (.thread), and whether the places of numbers are
 * kept for a comparison (.raw). False: .sig is not valid.
 */
static bool look_ahead(struct event *event, struct tr_field **raw)
{
	struct tr_record *record = event->record;
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
		if (!field->key.data || *field->key.data != '.')
			continue;
		if (tr_text_is(field->key, ".raw")) {
			*raw = field;
		} else if (tr_text_is(field->key, ".thread")) {
			event->thread_in_place |= is_task(event, i);
		} else if (tr_text_is(field->key, ".sig")) {
			struct tr_value *value = tr_field_value(record, field, event->encoder->err);
			if (!value)
				return false;
			event->has_id = id_word(value, 'F', &event->id);
			if (!event->has_id)
				return unfit(event, field->key, "names no function");
		}
	}
	return true;
}

/*
 * Encodes the whole call from its line, without splitting it into fields. That is possible if the
 * function was used recently: then its definition is known, and its name needs no decoding. False:
 * the line has to be split; nothing is changed.
 */
static bool put_line(struct event *event)
{
	struct tr_encoder *encoder = event->encoder;
	struct tr_record *record = event->record;
	if (!record->line.data || record->split || !tr_text_is(record->kind, "call"))
		return false;
	event->function = tr_written_recent(&encoder->signatures, record);
	if (!event->function)
		return false;
	encoder->marking = false;
	if (begin_enter(event) &&
	    encode_fields(encoder, event->function, encoder->calls, record->rest) &&
	    !encoder->failed && !encoder->bytes.failed) {
		encoder->calls++;
		return true;
	}
	undo_bytes(encoder);
	begin_bytes(encoder, record->arena, encoder->err);
	event->function = NULL;
	return false;
}

enum tr_status tr_encode_record(struct tr_encoder *encoder, struct tr_record *record,
				struct tr_error *err)
{
	struct event event = { .encoder = encoder, .record = record };
	struct tr_field *raw = NULL;
	begin_bytes(encoder, record->arena, err);
	if (put_line(&event))
		return TR_OK;
	enum tr_status status = tr_record_split(record, err);
	if (status != TR_OK)
		return status;
	bool done = look_ahead(&event, &raw);
	encoder->marking = raw != NULL;
	done = done && put_event(&event);
	if (done && raw)
		take_raw(encoder, record, raw);
	if (encoder->failed || encoder->bytes.failed || (!done && tr_error_is_memory(err))) {
		undo_bytes(encoder);
		return tr_error_memory(err);
	}
	if (!done) {
		undo_bytes(encoder);
		return TR_WARN;
	}
	if (!event.less && !encoder->flawed)
		return TR_OK;
	if (!event.less)
		*err = encoder->flaw;
	err->severity = TR_FLAW;
	return TR_WARN;
}
