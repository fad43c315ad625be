/* SPDX-License-Identifier: MIT */
/* What the parts of the value scanner share: messages, strings, words. */

#include "record/literal_scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "core/utf8.h"
#include "record/base64.h"
#include "record/string_scan.h"

bool tr_scan_fail(struct tr_scan *scan, const char *at, const char *format, ...)
{
	if (!scan->err)
		return false;
	char reason[TR_ERROR_TEXT];
	va_list args;
	va_start(args, format);
	vsnprintf(reason, sizeof reason, format, args);
	va_end(args);
	tr_error_say_in(scan->err, TR_CAUSE_INPUT, format, "column %zu: %s",
			(size_t)(at - scan->begin) + 1, reason);
	return false;
}

/* The same where the reason is a constant that somebody else has found. */
static bool scan_fail_reason(struct tr_scan *scan, const char *at, const char *reason)
{
	tr_error_say_in(scan->err, TR_CAUSE_INPUT, reason, "column %zu: %s",
			(size_t)(at - scan->begin) + 1, reason);
	return false;
}

enum { QUOTED_MAX = 16 };

/* The character at pos in quotes, so that a blank can be told from another. */
static void quote_character(const struct tr_scan *scan, char *to)
{
	unsigned length = tr_utf8_length(scan->pos, scan->end);
	uint32_t code = length ? tr_utf8_decode(scan->pos, length) : (unsigned char)*scan->pos;
	bool visible = length && code > 0x20 && code != 0x7f && (code < 0x80 || code > 0xa0);
	if (code == '\'')
		snprintf(to, QUOTED_MAX, "\"'\"");
	else if (code == '\\')
		snprintf(to, QUOTED_MAX, "'\\\\'");
	else if (visible || code == ' ')
		snprintf(to, QUOTED_MAX, "'%.*s'", (int)length, scan->pos);
	else
		snprintf(to, QUOTED_MAX, "'\\x%02x'", (unsigned)code);
}

bool tr_scan_fail_expected(struct tr_scan *scan, const char *expected)
{
	if (scan->pos == scan->end)
		return tr_scan_fail(scan, scan->pos, "%s missing", expected);
	char quoted[QUOTED_MAX];
	quote_character(scan, quoted);
	return tr_scan_fail(scan, scan->pos, "found %s, expected %s", quoted, expected);
}

bool tr_scan_fail_value(struct tr_scan *scan)
{
	char quoted[QUOTED_MAX];
	quote_character(scan, quoted);
	return tr_scan_fail(scan, scan->pos, "no value begins with %s", quoted);
}

bool tr_scan_fail_memory(struct tr_scan *scan)
{
	if (scan->arena)
		(void)tr_arena_error(scan->arena, scan->err);
	else
		tr_error_memory(scan->err);
	return false;
}

/* A string's canonical spelling in the arena. */
static bool respell(struct tr_scan *scan, bool wide, struct tr_text *spelling)
{
	if (spelling->len > PTRDIFF_MAX / 2)
		return tr_scan_fail_memory(scan);
	char *canonical = tr_arena_alloc(scan->arena, wide ? 2 * spelling->len : spelling->len);
	if (!canonical)
		return tr_scan_fail_memory(scan);
	spelling->len = tr_string_respell(*spelling, wide, canonical);
	spelling->data = canonical;
	return true;
}

bool tr_scan_string(struct tr_scan *scan, bool wide, struct tr_text *spelling, bool *plain)
{
	const char *start = scan->pos + 1;
	struct tr_string_scan string;
	if (!tr_string_scan(start, scan->end, wide, &string))
		return scan_fail_reason(scan, string.end, string.reason);
	scan->pos = string.end + 1;
	*spelling = tr_text_span(start, string.end);
	*plain = string.plain;
	if (!string.json)
		scan->traits |= TR_TRAIT_NO_JSON;
	if (string.canonical)
		return true;
	scan->canonical = false;
	if (!scan->arena)
		return true;
	if (!respell(scan, wide, spelling))
		return false;
	*plain = spelling->len == 0 || !memchr(spelling->data, '\\', spelling->len);
	return true;
}

bool tr_scan_cut(struct tr_scan *scan)
{
	if (!tr_text_starts(tr_text_span(scan->pos, scan->end), TR_TEXT("...")))
		return false;
	scan->pos += 3;
	scan->traits |= TR_TRAIT_NO_JSON;
	return true;
}

struct tr_text tr_scan_word(struct tr_scan *scan)
{
	const char *start = scan->pos, *p = start;
	while (p < scan->end && (tr_is_word_start(*p) || tr_is_digit(*p)))
		p++;
	scan->pos = p;
	return tr_text_span(start, p);
}

/* Numbers of the value grammar. */

static const uint64_t JSON_INTEGER_MAX = (UINT64_C(1) << 53) - 1;

/* Decimal digits into 64 bits. what: "integer", "identifier", … for the message; NULL: a value. */
static bool scan_digits(struct tr_scan *scan, const char *what, uint64_t *number)
{
	const char *start = scan->pos, *p = start;
	uint64_t n = 0;
	bool beyond = false;
	for (; p < scan->end && tr_is_digit(*p); p++) {
		unsigned digit = (unsigned)(*p - '0');
		beyond |= n > (UINT64_MAX - digit) / 10;
		n = n * 10 + digit;
	}
	if (p == start)
		return what ? tr_scan_fail(scan, p, "digits expected in %s", what)
			    : tr_scan_fail(scan, p, "digits expected");
	if (*start == '0' && p - start > 1)
		return tr_scan_fail(scan, start, "leading zero in %s", what ? what : "integer");
	if (beyond)
		return tr_scan_fail(scan, start, "%s beyond 64 bits", what ? what : "integer");
	scan->pos = p;
	*number = n;
	return true;
}

/* Where the hex digits end that begin at pos; an upper-case one is noted. */
static const char *hex_end(struct tr_scan *scan)
{
	const char *p = scan->pos;
	for (; p < scan->end && tr_hex_digit(*p) >= 0; p++)
		if (*p >= 'A' && *p <= 'F')
			scan->canonical = false;
	return p;
}

/* The digits after a 0x. */
static bool scan_hex(struct tr_scan *scan, const char *what, uint64_t *number)
{
	const char *start = scan->pos, *end = hex_end(scan);
	uint64_t n = 0;
	bool beyond = false;
	for (const char *p = start; p < end; p++) {
		beyond |= n >> 60 != 0;
		n = n << 4 | (uint64_t)tr_hex_digit(*p);
	}
	if (end == start)
		return tr_scan_fail(scan, end, "hex digits expected in %s", what);
	if (beyond)
		return tr_scan_fail(scan, start, "%s beyond 64 bits", what);
	scan->canonical &= *start != '0' || end - start == 1;
	scan->pos = end;
	*number = n;
	return true;
}

bool tr_scan_id(struct tr_scan *scan, char letter, bool *there, uint64_t *id)
{
	*there = tr_scan_at(scan, '@');
	if (!*there)
		return true;
	scan->pos++;
	if (!tr_scan_at(scan, letter))
		return tr_scan_fail(scan, scan->pos, "identifier of table %c expected", letter);
	scan->pos++;
	return scan_digits(scan, "identifier", id);
}

bool tr_scan_nan(struct tr_scan *scan, bool single, struct tr_value *value)
{
	const char *start = scan->pos, *end = hex_end(scan);
	int want = single ? 8 : 16;
	uint64_t bits = 0;
	for (const char *p = start; p < end; p++)
		bits = bits << 4 | (uint64_t)tr_hex_digit(*p);
	if (end - start != want)
		return tr_scan_fail(scan, end, "nan%s: needs %d hex digits", single ? "f" : "",
				    want);
	uint64_t infinity = single ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
	uint64_t magnitude = single ? bits & 0x7fffffff : bits & (UINT64_MAX >> 1);
	if (magnitude <= infinity)
		return tr_scan_fail(scan, start, "these bits are no NaN");
	/* the quiet one without a payload has a word of its own */
	if (bits == (single ? UINT64_C(0x7fc00000) : UINT64_C(0x7ff8000000000000)))
		scan->canonical = false;
	*value = (struct tr_value){ .type = single ? TR_REAL32 : TR_REAL64, .as.number = bits };
	scan->traits |= TR_TRAIT_NO_JSON;
	scan->pos = end;
	return true;
}

/* "-inf", "-inff" */
static bool negative_infinity(struct tr_scan *scan, struct tr_value *value)
{
	struct tr_text left = tr_text_span(scan->pos + 1, scan->end);
	if (!tr_text_starts(left, TR_TEXT("inf")))
		return false;
	bool single = left.len > 3 && left.data[3] == 'f';
	size_t len = single ? 4 : 3;
	*value = single ? (struct tr_value){ .type = TR_REAL32, .as.number = 0xff800000 }
			: (struct tr_value){ .type = TR_REAL64,
					     .as.number = UINT64_C(0xfff0000000000000) };
	scan->traits |= TR_TRAIT_NO_JSON;
	scan->pos += 1 + len;
	return true;
}

/* Where the digits end that begin at p. */
static const char *digits_end(const char *p, const char *end)
{
	while (p < end && tr_is_digit(*p))
		p++;
	return p;
}

/* After the fraction and the exponent that may follow an integer's digits. */
static const char *real_end(const char *p, const char *end)
{
	if (end - p >= 2 && *p == '.' && tr_is_digit(p[1]))
		p = digits_end(p + 1, end);
	if (p < end && (*p == 'e' || *p == 'E')) {
		const char *exponent = p + 1;
		if (exponent < end && (*exponent == '-' || *exponent == '+'))
			exponent++;
		if (exponent < end && tr_is_digit(*exponent))
			p = digits_end(exponent, end);
	}
	return p;
}

static bool scan_real(struct tr_scan *scan, const char *start, const char *stop,
		      struct tr_value *value)
{
	struct tr_text decimal = tr_text_span(start, stop);
	bool single = stop < scan->end && *stop == 'f', in_range;
	char spelled[TR_REAL_MAX];
	size_t len;
	if (single) {
		uint32_t bits = 0;
		in_range = tr_real32_read(decimal, &bits);
		*value = (struct tr_value){ .type = TR_REAL32, .as.number = bits };
		len = tr_real32_write(bits, spelled) - 1; /* less the f */
		scan->traits |= TR_TRAIT_NO_JSON;
	} else {
		uint64_t bits = 0;
		in_range = tr_real64_read(decimal, &bits);
		*value = (struct tr_value){ .type = TR_REAL64, .as.number = bits };
		len = tr_real64_write(bits, spelled);
		scan->traits |= TR_TRAIT_REAL;
	}
	if (!in_range)
		return tr_scan_fail(scan, start, "real out of range");
	scan->canonical &= tr_text_equal(decimal, (struct tr_text){ spelled, len });
	scan->pos = stop + single;
	return true;
}

static bool scan_address(struct tr_scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_POINTER };
	scan->traits |= TR_TRAIT_NO_JSON;
	scan->pos += 2;
	return scan_hex(scan, "address", &value->as.number);
}

bool tr_scan_number(struct tr_scan *scan, struct tr_value *value)
{
	const char *start = scan->pos, *digits = start;
	char sign = *start == '-' || *start == '+' ? *start : 0;
	if (sign == '-' && negative_infinity(scan, value))
		return true;
	if (sign)
		digits++;
	else if (scan->end - start >= 2 && start[0] == '0' && start[1] == 'x')
		return scan_address(scan, value);
	scan->pos = digits;
	const char *integer = digits_end(digits, scan->end);
	const char *stop = real_end(integer, scan->end);
	if (integer > digits && stop > integer) {
		if (sign == '+')
			return tr_scan_fail(scan, start, "no plus sign before a real");
		if (*digits == '0' && integer - digits > 1)
			return tr_scan_fail(scan, digits, "leading zero in real");
		return scan_real(scan, start, stop, value);
	}
	*value = (struct tr_value){ .type = sign ? TR_INT : TR_UINT,
				    .flags = sign == '-' ? TR_NEGATIVE : 0 };
	if (!scan_digits(scan, NULL, &value->as.number))
		return false;
	if (tr_scan_at(scan, 'f'))
		return tr_scan_fail(scan, start, "an integer has no f");
	if (value->as.number > JSON_INTEGER_MAX || sign == '+' ||
	    (sign == '-' && value->as.number == 0))
		scan->traits |= TR_TRAIT_NO_JSON;
	return true;
}

/* Symbols of the value grammar: enums, masks, words of fixed sets. */

struct names {
	struct tr_name *list;
	size_t count, cap;
};

static bool add_name(struct tr_scan *scan, struct names *names, struct tr_text name)
{
	enum { FIRST = 4 };
	if (scan->arena && names->count == names->cap) {
		size_t cap = names->cap ? names->cap * 2 : FIRST;
		struct tr_name *list = tr_arena_alloc(scan->arena, cap * sizeof *list);
		if (!list)
			return tr_scan_fail_memory(scan);
		if (names->count)
			memcpy(list, names->list, names->count * sizeof *list);
		names->list = list;
		names->cap = cap;
	}
	if (scan->arena)
		names->list[names->count].text = name;
	names->count++;
	return true;
}

/* After a "|": a name, or the bits that have none. */
static bool scan_name(struct tr_scan *scan, struct names *names, uint64_t *unknown_bits)
{
	const char *start = scan->pos;
	if (tr_scan_at(scan, '"')) {
		struct tr_text name;
		bool plain;
		if (!tr_scan_string(scan, false, &name, &plain))
			return false;
		/* quotes are for what is no word in this place */
		if (tr_is_word(name, tr_scan_at(scan, '(')))
			scan->canonical = false;
		return add_name(scan, names, name);
	}
	if (scan->end - start >= 2 && start[0] == '0' && start[1] == 'x') {
		scan->pos += 2;
		if (!scan_hex(scan, "unknown bits", unknown_bits))
			return false;
		return *unknown_bits ? true
				     : tr_scan_fail(scan, scan->pos, "unknown bits are zero");
	}
	if (start == scan->end || !tr_is_word_start(*start))
		return tr_scan_fail(scan, start, "name expected");
	struct tr_text word = tr_scan_word(scan);
	if (!tr_is_word(word, tr_scan_at(scan, '(')))
		return tr_scan_fail(scan, start, "%.*s must be quoted here", (int)word.len,
				    word.data);
	return add_name(scan, names, word);
}

/* After the "(": the number, its table, the ")". */
static bool scan_machine_number(struct tr_scan *scan, struct tr_symbol *symbol, uint8_t *flags)
{
	bool hex = scan->end - scan->pos >= 2 && scan->pos[0] == '0' && scan->pos[1] == 'x';
	symbol->numbered = hex ? TR_SYMBOL_MASK : TR_SYMBOL_ENUM;
	if (hex) {
		scan->pos += 2;
		if (!scan_hex(scan, "number", &symbol->number))
			return false;
	} else {
		if (tr_scan_at(scan, '-')) {
			*flags |= TR_NEGATIVE;
			scan->pos++;
		}
		if (!scan_digits(scan, "number", &symbol->number))
			return false;
	}
	bool has_id;
	if (!tr_scan_id(scan, hex ? 'M' : 'E', &has_id, &symbol->id))
		return false;
	if (has_id)
		*flags |= TR_HAS_ID;
	if (!tr_scan_at(scan, ')'))
		return tr_scan_fail_expected(scan, "')'");
	scan->pos++;
	if (!hex && (symbol->count > 1 || symbol->unknown_bits))
		return tr_scan_fail(scan, scan->pos, "the number of a mask is hex");
	return true;
}

bool tr_scan_symbol(struct tr_scan *scan, struct tr_text first, bool quoted, struct tr_value *value)
{
	struct tr_symbol symbol = { .numbered = TR_SYMBOL_WORDS };
	struct names names = { NULL, 0, 0 };
	*value = (struct tr_value){ .type = TR_SYMBOL };
	scan->traits |= TR_TRAIT_NO_JSON;
	if (first.data && !add_name(scan, &names, first))
		return false;
	if (quoted && tr_is_word(first, tr_scan_at(scan, '(')))
		scan->canonical = false;
	while (tr_scan_at(scan, '|')) {
		if (symbol.unknown_bits)
			return tr_scan_fail(scan, scan->pos, "unknown bits must be last");
		scan->pos++;
		if (!scan_name(scan, &names, &symbol.unknown_bits))
			return false;
	}
	symbol.names = names.list;
	symbol.count = names.count;
	if (tr_scan_at(scan, '(')) {
		scan->pos++;
		if (!scan_machine_number(scan, &symbol, &value->flags))
			return false;
	}
	if (!scan->arena)
		return true;
	value->as.symbol = tr_arena_alloc(scan->arena, sizeof symbol);
	if (!value->as.symbol)
		return tr_scan_fail_memory(scan);
	*value->as.symbol = symbol;
	return true;
}

/* The bytes of a blob, in base64, or where they are instead: left out, or in a file. */

static bool is_base64(char c)
{
	/* the URL alphabet's digits too: they are meant, though wrong */
	return tr_is_word_start(c) || tr_is_digit(c) || memchr("+/=-", c, 4) != NULL;
}

bool tr_scan_base64(struct tr_scan *scan, struct tr_value *value)
{
	const char *start = scan->pos, *p = start;
	while (p < scan->end && is_base64(*p))
		p++;
	struct tr_text text = tr_text_span(start, p);
	char *bytes = NULL;
	if (scan->arena) {
		bytes = tr_arena_alloc(scan->arena, tr_base64_size(text.len));
		if (!bytes)
			return tr_scan_fail_memory(scan);
	}
	size_t size;
	const char *reason = tr_base64_read(text, bytes, &size);
	if (reason)
		return scan_fail_reason(scan, start, reason);
	*value = (struct tr_value){ .type = TR_BLOB, .text = { bytes, size } };
	scan->traits |= TR_TRAIT_NO_JSON;
	scan->pos = p;
	return true;
}

bool tr_scan_blob_left(struct tr_scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_BLOB_LEFT };
	scan->traits |= TR_TRAIT_NO_JSON;
	return scan_digits(scan, "length", &value->as.number);
}

bool tr_scan_blob_file(struct tr_scan *scan, struct tr_value *value)
{
	enum { DIGITS = 64 };
	const char *start = scan->pos, *p = start;
	while (p < scan->end && (tr_is_digit(*p) || (*p >= 'a' && *p <= 'f')))
		p++;
	if (p - start != DIGITS)
		return tr_scan_fail(scan, start, "64 lower-case hex digits expected");
	scan->pos = p;
	if (!tr_scan_at(scan, ':'))
		return tr_scan_fail_expected(scan, "':'");
	scan->pos++;
	*value = (struct tr_value){ .type = TR_BLOB_FILE, .text = { start, DIGITS } };
	scan->traits |= TR_TRAIT_NO_JSON;
	return scan_digits(scan, "length", &value->as.number);
}
