/* SPDX-License-Identifier: MIT */
/* The values of calls as text, with real numbers as printf writes them, and much faster. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "core/utf8.h"
#include "format/apitrace/text.h"
#include "record/string_scan.h"

/*
 * Real numbers. Most numbers of a trace are whole, or have a few decimals: those are scaled by an
 * exact power of ten, and rounded if the error cannot change a digit. The others are printed by
 * snprintf.
 */

enum { DIGITS = 7, EXACT_POWER = 22 };

/* The powers of ten that a double holds exactly. */
static const double powers[EXACT_POWER + 1] = {
	1e0,  1e1,  1e2,  1e3,	1e4,  1e5,  1e6,  1e7,	1e8,  1e9,  1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* The eight digits of a number as values, the first in the lowest byte: all of them at once. */
static uint64_t split_digits(uint32_t n)
{
	uint64_t halves = n / 10000 | (uint64_t)(n % 10000) << 32;
	uint64_t tops = (halves * 10486 >> 20) & UINT64_C(0x0000007f0000007f); /* by 100 */
	uint64_t pairs = tops | (halves - 100 * tops) << 16;
	uint64_t tens = (pairs * 103 >> 10) & UINT64_C(0x000f000f000f000f); /* by 10 */

	return tens | (pairs - 10 * tens) << 8;
}

/* Writes eight digits from the skip-th on, and zeros after them. */
static void put_digits(uint64_t digits, unsigned skip, char *to)
{
	digits = (digits >> 8 * skip) + UINT64_C(0x3030303030303030);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	digits = __builtin_bswap64(digits);
#endif
	memcpy(to, &digits, sizeof digits);
}

/* %g of mantissa * 10^(exponent - DIGITS + 1); the mantissa has DIGITS digits. */
static size_t put_general(uint32_t mantissa, int exponent, char *to)
{
	uint64_t digits = split_digits(mantissa * 10);
	/* without the zeros at the end */
	size_t len = 8 - (size_t)__builtin_clzll(digits) / 8;

	if (exponent < -4 || exponent >= DIGITS) {
		put_digits(digits, 1, to + 2);
		to[0] = (char)('0' + (digits & 0xf));
		to[1] = '.';
		size_t at = len > 1 ? len + 1 : 1;
		unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
		to[at++] = 'e';
		to[at++] = exponent < 0 ? '-' : '+';
		to[at++] = (char)('0' + magnitude / 10);
		to[at++] = (char)('0' + magnitude % 10);
		return at;
	}
	if (exponent < 0) {
		size_t at = (size_t)(1 - exponent);
		memcpy(to, "0.000", 5);
		put_digits(digits, 0, to + at);
		return at + len;
	}
	unsigned whole = (unsigned)exponent + 1; /* digits before the point */
	put_digits(digits, 0, to);
	if (len <= whole)
		return whole;
	put_digits(digits, whole, to + whole + 1);
	to[whole] = '.';
	return len + 1;
}

/*
 * A number that is not whole: its magnitude, at least 2^binary and less than twice that. 0:
 * rounding needs more precision than is available.
 */
static size_t put_fraction(double number, int binary, char *to)
{
	/* floor(log10(number)), or one less */
	for (int exponent = (binary * 1233 - (binary < 0 ? 4095 : 0)) / 4096;; exponent++) {
		int shift = DIGITS - 1 - exponent;
		if (shift > EXACT_POWER || shift < -EXACT_POWER)
			return 0;
		/* one rounding, so the error is below 1e-9 */
		double scaled = shift < 0 ? number / powers[-shift] : number * powers[shift];
		if (scaled >= powers[DIGITS])
			continue;
		uint32_t mantissa = (uint32_t)scaled;
		double rest = scaled - mantissa - 0.5;
		/* so near to a half, the error of the scaling decides about the last digit */
		if (rest < 1e-6 && rest > -1e-6)
			return 0;
		mantissa += rest > 0;
		if (mantissa == 10000000) {
			mantissa /= 10;
			exponent++;
		}
		return put_general(mantissa, exponent, to);
	}
}

/* Prints the number with snprintf, which is exact for all. */
static size_t put_exactly(double number, int digits, char *to)
{
	char text[TR_TEXT_REAL_MAX];
	int len = snprintf(text, sizeof text, "%.*g", digits, number);

	memcpy(to, text, (size_t)len);
	return (size_t)len;
}

size_t tr_text_real32(uint32_t bits, char *to)
{
	unsigned exponent = bits >> 23 & 0xff;
	size_t sign = bits >> 31;
	float number;

	memcpy(&number, &bits, sizeof number);
	if (exponent == 0xff)
		return put_exactly(number, DIGITS, to);
	*to = '-';
	double magnitude = sign ? -(double)number : (double)number;
	if (magnitude < powers[DIGITS]) {
		uint32_t whole = (uint32_t)magnitude;
		if (whole == magnitude)
			return sign + tr_decimal_write(whole, to + sign);
	}
	size_t len = exponent ? put_fraction(magnitude, (int)exponent - 127, to + sign) : 0;
	return len ? sign + len : put_exactly(number, DIGITS, to);
}

size_t tr_text_real64(uint64_t bits, char *to)
{
	enum { PRECISION = 16 };
	size_t sign = bits >> 63;
	double number;

	memcpy(&number, &bits, sizeof number);
	double magnitude = fabs(number);
	if (magnitude < powers[PRECISION]) {
		uint64_t whole = (uint64_t)magnitude;
		*to = '-';
		if ((double)whole == magnitude)
			return sign + tr_decimal_write(whole, to + sign);
	}
	return put_exactly(number, PRECISION, to);
}

static void put_octal(uint64_t code, bool fixed, struct tr_buffer *to)
{
	char digits[24];
	char *p = digits + sizeof digits;

	if (fixed) {
		for (int i = 0; i < 3 || code; i++, code >>= 3)
			*--p = (char)('0' + (code & 7));
	} else {
		unsigned second = code >> 3 & 7;
		*--p = (char)('0' + (code & 7));
		if (second) {
			*--p = (char)('0' + second);
			*--p = (char)('0' + second);
		}
	}
	*--p = '\\';
	tr_buffer_put(to, p, (size_t)(digits + sizeof digits - p));
}

/* One byte or unit that is no plain character. False: C's strings end here. */
static bool put_unit(const struct tr_apitrace_text *text, uint64_t code, struct tr_buffer *to)
{
	bool fixed = text->fixed_octal;

	if (!fixed)
		code = (uint32_t)code; /* a wchar_t */
	if (code == 0 && !fixed)
		return false;
	if (code == '"' || code == '\\') {
		tr_buffer_put_byte(to, '\\');
		tr_buffer_put_byte(to, (char)code);
	} else if ((code >= 0x20 && code <= 0x7e) || code == '\t') {
		tr_buffer_put_byte(to, (char)code);
	} else if (code == '\n' && text->multiline) {
		/* coloured line by line, for pagers */
		tr_buffer_put_text(to, text->colors.normal);
		tr_buffer_put_byte(to, '\n');
		tr_buffer_put_text(to, text->colors.literal);
	} else if (code == '\n') {
		tr_buffer_put_literal(to, "\\n");
	} else if (code != '\r' || fixed) {
		put_octal(code, fixed, to);
	}
	return true;
}

/* Appends the bytes of a character of a narrow string, none of which is a character by itself. */
static void put_bytes(const struct tr_apitrace_text *text, uint32_t code, struct tr_buffer *to)
{
	/* a lone surrogate is encoded like a character of three bytes */
	char bytes[4] = { (char)0xed, (char)(0x80 | (code >> 6 & 0x3f)),
			  (char)(0x80 | (code & 0x3f)) };
	bool surrogate = code >= 0xd800 && code < 0xe000;
	unsigned len = surrogate ? 3 : tr_utf8_encode(code, bytes);

	for (unsigned i = 0; i < len; i++)
		put_unit(text, (unsigned char)bytes[i], to);
}

/* Appends the character of an escape. False: the text ends here. */
static bool put_escape(const struct tr_apitrace_text *text, const char **p, const char *end,
		       bool wide, struct tr_buffer *to)
{
	struct tr_escape escape;

	if (!tr_escape_read(*p, end, wide, &escape))
		return false; /* no value has that */
	*p += escape.len;
	if (wide || escape.type == TR_ESCAPE_BYTE || escape.code < 0x80)
		return put_unit(text, escape.code, to);
	put_bytes(text, (uint32_t)escape.code, to);
	return true;
}

/* Appends characters beyond ASCII. */
static void put_raw(const struct tr_apitrace_text *text, const char **p, const char *end, bool wide,
		    struct tr_buffer *to)
{
	unsigned len = wide ? tr_utf8_length(*p, end) : 0;

	put_unit(text, len ? tr_utf8_decode(*p, len) : (unsigned char)**p, to);
	*p += len ? len : 1;
}

void tr_apitrace_text_string(struct tr_apitrace_text *text, struct tr_text spelling, bool wide)
{
	struct tr_buffer *to = &text->line;
	const char *p = spelling.data, *end = p + spelling.len;
	bool more = true;

	tr_buffer_put_byte(to, '"');
	while (more && p < end) {
		const char *special = tr_string_special(p, end);
		tr_buffer_put(to, p, (size_t)(special - p));
		p = special;
		if (p == end)
			break;
		if (*p == '\\')
			more = put_escape(text, &p, end, wide, to);
		else
			put_raw(text, &p, end, wide, to);
	}
	tr_buffer_put_byte(to, '"');
}

/* Structures called GUID: the name that a GUID is known by, or its digits. */

struct known {
	uint64_t high, low;
	const char *name;
};

static const struct known known[] = {
#include "format/apitrace/text_guid_names.h"
};

/* By all 16 bytes. */
static int compare(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->high != y->high)
		return x->high < y->high ? -1 : 1;
	return x->low < y->low ? -1 : x->low > y->low;
}

/* Appends the GUID whose first 8 bytes, as people write them, are high and whose last are low. */
static void put_guid(uint64_t high, uint64_t low, struct tr_buffer *to)
{
	const struct known wanted = { high, low, NULL };
	const struct known *found =
		bsearch(&wanted, known, sizeof known / sizeof *known, sizeof *known, compare);

	if (found) {
		tr_buffer_put_text(to, tr_text_from(found->name));
		return;
	}
	tr_buffer_put_literal(to, "uuid(");
	tr_buffer_put_hex(to, high >> 32, 8);
	tr_buffer_put_byte(to, '-');
	tr_buffer_put_hex(to, high >> 16 & 0xffff, 4);
	tr_buffer_put_byte(to, '-');
	tr_buffer_put_hex(to, high & 0xffff, 4);
	tr_buffer_put_byte(to, '-');
	tr_buffer_put_hex(to, low >> 48, 4);
	tr_buffer_put_byte(to, '-');
	tr_buffer_put_hex(to, low & 0xffffffffffff, 12);
	tr_buffer_put_byte(to, ')');
}

/* Values as apitrace shows them; one that no apitrace trace has (a map, a cut list) much alike. */

/* Copies a text and returns the end. */
static inline char *copy(char *to, struct tr_text text)
{
	if (text.len)
		memcpy(to, text.data, text.len);
	return to + text.len;
}

/* A signed number of 64 bits. */
static char *write_signed(uint64_t bits, char *to)
{
	if (bits >> 63) {
		*to++ = '-';
		bits = -bits;
	}
	return to + tr_decimal_write(bits, to);
}

/* Writes 0x and lower-case digits without leading zeros. */
static char *write_hex(uint64_t number, char *to)
{
	unsigned len = tr_hex_length(number);

	*to++ = '0';
	*to++ = 'x';
	tr_hex_write(number, len, to);
	return to + len;
}

/* A number or one short plain name; NULL: the value is not that simple. */
static char *write_symbol(const struct tr_value *value, char *to)
{
	enum { SHORT = 64 };
	const struct tr_symbol *symbol = value->as.symbol;

	if (symbol->unknown_bits || symbol->count > 1)
		return NULL;
	if (symbol->count == 1) {
		struct tr_text name = symbol->names[0].text;
		return name.len <= SHORT && !memchr(name.data, '\\', name.len) ? copy(to, name)
									       : NULL;
	}
	if (symbol->numbered == TR_SYMBOL_MASK)
		return write_hex(symbol->number, to);
	/* an enum is a signed number however it was written */
	return write_signed(value->flags & TR_NEGATIVE ? -symbol->number : symbol->number, to);
}

char *tr_apitrace_text_leaf(const struct tr_apitrace_text *text, const struct tr_value *value,
			    char *to)
{
	bool pointer = value->type == TR_POINTER;

	to = copy(to, pointer ? text->colors.pointer : text->colors.literal);
	switch ((enum tr_type)value->type) {
	case TR_UINT:
		to += tr_decimal_write(value->as.number, to);
		break;
	case TR_INT:
		if (value->flags & TR_NEGATIVE)
			to = write_signed(-value->as.number, to);
		else
			to += tr_decimal_write(value->as.number, to);
		break;
	case TR_REAL32:
		to += tr_text_real32((uint32_t)value->as.number, to);
		break;
	case TR_REAL64:
		to += tr_text_real64(value->as.number, to);
		break;
	case TR_SYMBOL:
		to = write_symbol(value, to);
		if (!to)
			return NULL;
		break;
	case TR_POINTER:
		to = write_hex(value->as.number, to);
		break;
	case TR_NULL:
		to = copy(to, TR_TEXT("NULL"));
		break;
	case TR_FALSE:
		to = copy(to, TR_TEXT("false"));
		break;
	case TR_TRUE:
		to = copy(to, TR_TEXT("true"));
		break;
	default:
		return NULL;
	}
	return copy(to, text->colors.normal);
}

/* Appends a string with its prefix and colours. */
static void put_string(struct tr_apitrace_text *text, const struct tr_value *value)
{
	bool wide = value->type == TR_WSTRING;

	tr_buffer_put_text(&text->line, text->colors.literal);
	if (wide) {
		tr_buffer_put_byte(&text->line, 'L');
		tr_buffer_put_text(&text->line, text->colors.literal);
	}
	tr_apitrace_text_string(text, value->text, wide);
	tr_buffer_put_text(&text->line, text->colors.normal);
}

/*
 * Appends a blob: its length, or the name of the file that it is kept in. If the file cannot be
 * written, which is reported, the length is shown.
 */
static void put_blob(struct tr_apitrace_text *text, const struct tr_value *value)
{
	struct tr_buffer *to = &text->line;

	tr_buffer_put_text(to, text->colors.pointer);
	tr_buffer_put_literal(to, "blob(");
	size_t start = to->len;
	unsigned number = text->blobs++;
	if (text->folder.data && value->type == TR_BLOB) {
		tr_buffer_put_byte(to, '"');
		if (tr_apitrace_text_keep_blob(text, number, value->text))
			tr_buffer_put_byte(to, '"');
		else
			to->len = start;
	}
	if (to->len == start)
		tr_buffer_put_decimal(to,
				      value->type == TR_BLOB ? value->text.len : value->as.number);
	tr_buffer_put_byte(to, ')');
	tr_buffer_put_text(to, text->colors.normal);
}

/* The bytes of a name, as far as C sees them. False: memory is exhausted. */
static bool put_name(struct tr_apitrace_text *text, struct tr_text spelling)
{
	struct tr_text name = tr_string_bytes(spelling, &text->arena);

	if (!name.data)
		return false;
	/* a spelling has a NUL only as an escape */
	const char *nul =
		name.data == spelling.data || !name.len ? NULL : memchr(name.data, '\0', name.len);
	tr_buffer_put_text(&text->line, nul ? tr_text_span(name.data, nul) : name);
	return true;
}

/* Several names, or long ones. */
static bool put_symbol(struct tr_apitrace_text *text, const struct tr_value *value)
{
	const struct tr_symbol *symbol = value->as.symbol;
	struct tr_buffer *to = &text->line;

	for (size_t i = 0; i < symbol->count; i++) {
		if (i)
			tr_buffer_put_literal(to, " | ");
		tr_buffer_put_text(to, text->colors.literal);
		if (!put_name(text, symbol->names[i].text))
			return false;
		tr_buffer_put_text(to, text->colors.normal);
	}
	if (symbol->unknown_bits) {
		tr_buffer_put_literal(to, " | ");
		tr_buffer_put_text(to, text->colors.literal);
		tr_buffer_put_literal(to, "0x");
		tr_buffer_put_hex(to, symbol->unknown_bits, 1);
		tr_buffer_put_text(to, text->colors.normal);
	}
	return true;
}

/* Appends a list; one with a single value is shown as a pointer to it, as in apitrace. */
static bool put_list(struct tr_apitrace_text *text, const struct tr_value *value)
{
	struct tr_buffer *to = &text->line;

	if (value->count == 1) {
		tr_buffer_put_byte(to, '&');
		return tr_apitrace_text_value(text, value->as.items);
	}
	tr_buffer_put_byte(to, '{');
	for (size_t i = 0; i < value->count; i++) {
		if (i)
			tr_buffer_put_literal(to, ", ");
		if (!tr_apitrace_text_value(text, &value->as.items[i]))
			return false;
	}
	tr_buffer_put_byte(to, '}');
	return true;
}

/*
 * A structure without a name shows its members among those around it; other members without a
 * name are not shown. Values nest at most 60 deep, so the recursion ends.
 */
static bool put_members(struct tr_apitrace_text *text, const struct tr_value *value,
			const char **separator)
{
	struct tr_buffer *to = &text->line;

	for (size_t i = 0; i < value->count; i++) {
		const struct tr_member *member = &value->as.members[i];
		if (member->key.len == 0) {
			if (member->value->type == TR_STRUCT &&
			    !put_members(text, member->value, separator))
				return false;
			continue;
		}
		tr_buffer_put_text(to, tr_text_from(*separator));
		if (!put_name(text, member->key))
			return false;
		tr_buffer_put_text(to, text->colors.normal);
		tr_buffer_put_literal(to, " = ");
		if (!tr_apitrace_text_value(text, member->value))
			return false;
		*separator = ", ";
	}
	return true;
}

/* The bits of a number, whatever its type. */
static uint64_t bits_of(const struct tr_value *value)
{
	switch ((enum tr_type)value->type) {
	case TR_UINT:
	case TR_POINTER:
		return value->as.number;
	case TR_INT:
		return value->flags & TR_NEGATIVE ? -value->as.number : value->as.number;
	default:
		return 0;
	}
}

/* Reads the members Data1 to Data4. False: the structure has others. */
static bool read_guid(const struct tr_value *value, uint64_t *high, uint64_t *low)
{
	enum { PARTS = 4, BYTES = 8 };
	const struct tr_member *members = value->as.members;

	if (value->count != PARTS || members[3].value->type != TR_LIST ||
	    members[3].value->count != BYTES)
		return false;
	*high = bits_of(members[0].value) << 32 | (bits_of(members[1].value) & 0xffff) << 16 |
		(bits_of(members[2].value) & 0xffff);
	*low = 0;
	for (size_t i = 0; i < BYTES; i++)
		*low = *low << 8 | (bits_of(&members[3].value->as.items[i]) & 0xff);
	return true;
}

/* True for the id of a structure that is called GUID. */
static bool is_guid(const struct tr_apitrace_text *text, uint64_t id)
{
	char word[1 + TR_DECIMAL_MAX] = { 'S' };

	if (text->tables.guids.count == 0)
		return false;
	size_t len = 1 + tr_decimal_write(id, word + 1);
	return tr_map_get(&text->tables.guids, (struct tr_text){ word, len });
}

/* Appends a structure; a GUID by its name. */
static bool put_struct(struct tr_apitrace_text *text, const struct tr_value *value)
{
	const char *separator = "";
	uint64_t high, low;

	if (value->flags & TR_HAS_ID && is_guid(text, value->id) && read_guid(value, &high, &low)) {
		tr_buffer_put_text(&text->line, text->colors.literal);
		put_guid(high, low, &text->line);
		tr_buffer_put_text(&text->line, text->colors.normal);
		return true;
	}
	tr_buffer_put_byte(&text->line, '{');
	bool good = put_members(text, value, &separator);
	tr_buffer_put_byte(&text->line, '}');
	return good;
}

/* Recursion ends: values have at most 60 open brackets. */
bool tr_apitrace_text_value(struct tr_apitrace_text *text, const struct tr_value *value)
{
	char *to = tr_buffer_room(&text->line, TR_APITRACE_LEAF);
	char *end = to ? tr_apitrace_text_leaf(text, value, to) : NULL;

	if (end) {
		tr_buffer_used(&text->line, (size_t)(end - to));
		return true;
	}
	switch ((enum tr_type)value->type) {
	case TR_SYMBOL:
		return to && put_symbol(text, value);
	case TR_STRING:
	case TR_WSTRING:
		put_string(text, value);
		return true;
	case TR_BLOB:
	case TR_BLOB_LEFT:
	case TR_BLOB_FILE:
		put_blob(text, value);
		return true;
	case TR_LIST:
		return put_list(text, value);
	case TR_MAP:
	case TR_STRUCT:
		return put_struct(text, value);
	case TR_REPR:
		return tr_apitrace_text_value(text, &value->as.items[0]);
	default:
		return to != NULL;
	}
}
