/* SPDX-License-Identifier: MIT */
/*
 * Parses, checks and writes the text of values.
 *
 * One scanner serves parsing and checking: tr_literal_parse builds a tree, and tr_literal_check has
 * no arena and builds nothing, so the two agree. Every scan_ function begins at `pos`, where its
 * token must begin, and moves pos after it. False: the scan has failed, and err is filled.
 *
 * Almost all values of a build trace are strings, small integers, and lists and maps of those in
 * their canonical spelling. tr_literal_examine recognises them in one pass without the scanner,
 * which checks all other texts from their beginning and reports every error.
 */

#include "record/literal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/text.h"
#include "core/utf8.h"
#include "record/base64.h"
#include "record/string_scan.h"

/* A member, or with an empty key an item, of a container that is not closed yet. */
struct open_value {
	struct tr_text key;
	struct tr_value value;
};

struct scan {
	const char *begin, *pos, *end;
	struct tr_arena *arena; /* NULL: only check */
	struct tr_error *err;
	unsigned depth;
	bool canonical;
	unsigned traits; /* enum tr_literal_trait */
	/* the members of the open containers, innermost last */
	struct open_value *pending;
	size_t pending_count, pending_cap;
};

static inline bool scan_at(const struct scan *scan, char c)
{
	return scan->pos < scan->end && *scan->pos == c;
}

static inline bool is_word_start(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

static bool scan_fail(struct scan *scan, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Fails the scan with "column N: reason", with N the column of `at`. Always false. */
static bool scan_fail(struct scan *scan, const char *at, const char *format, ...)
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

/* Like scan_fail, for a constant reason of another file. */
static bool scan_fail_reason(struct scan *scan, const char *at, const char *reason)
{
	tr_error_say_in(scan->err, TR_CAUSE_INPUT, reason, "column %zu: %s",
			(size_t)(at - scan->begin) + 1, reason);
	return false;
}

enum { QUOTED_MAX = 16 };

/* Quotes the character at pos, so that blanks can be distinguished. */
static void quote_character(const struct scan *scan, char *to)
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

/* Fails where something else is expected. False. */
static bool scan_fail_expected(struct scan *scan, const char *expected)
{
	if (scan->pos == scan->end)
		return scan_fail(scan, scan->pos, "%s missing", expected);
	char quoted[QUOTED_MAX];
	quote_character(scan, quoted);
	return scan_fail(scan, scan->pos, "found %s, expected %s", quoted, expected);
}

/* Fails where no value begins. False. */
static bool scan_fail_value(struct scan *scan)
{
	char quoted[QUOTED_MAX];
	quote_character(scan, quoted);
	return scan_fail(scan, scan->pos, "no value begins with %s", quoted);
}

/* Fails because memory is exhausted, or because the arena has reached --max-record. False. */
static bool scan_fail_memory(struct scan *scan)
{
	if (scan->arena)
		(void)tr_arena_error(scan->arena, scan->err);
	else
		tr_error_memory(scan->err);
	return false;
}

/* Replaces the spelling of a valid string by the canonical one, in the arena. */
static bool respell(struct scan *scan, bool wide, struct tr_text *spelling)
{
	const char *p = spelling->data, *end = p + spelling->len;
	if (spelling->len > PTRDIFF_MAX / 2)
		return scan_fail_memory(scan);
	/* only in wide strings a canonical escape can be longer, and at most twice as long */
	char *canonical = tr_arena_alloc(scan->arena, wide ? 2 * spelling->len : spelling->len);
	char *to = canonical;
	if (!canonical)
		return scan_fail_memory(scan);
	while (p < end) {
		const char *backslash = memchr(p, '\\', (size_t)(end - p));
		const char *stop = backslash ? backslash : end;
		struct tr_escape escape;
		memcpy(to, p, (size_t)(stop - p));
		to += stop - p;
		if (!backslash || !tr_escape_read(backslash, end, wide, &escape))
			break;
		to += tr_escape_write(&escape, wide, to);
		p = backslash + escape.len;
	}
	*spelling = tr_text_span(canonical, to);
	return true;
}

/* Skips the escape at *p, and clears *canonical if it has another canonical spelling. */
static bool scan_escape(struct scan *scan, bool wide, const char **p, bool *canonical)
{
	struct tr_escape escape;
	char spelled[TR_ESCAPE_MAX];
	if (!tr_escape_read(*p, scan->end, wide, &escape))
		return scan_fail_reason(scan, *p + escape.reason_at, escape.reason);
	size_t len = tr_escape_write(&escape, wide, spelled);
	*canonical &= len == escape.len && memcmp(spelled, *p, len) == 0;
	if (escape.type != TR_ESCAPE_CHAR) /* JSON has neither such bytes nor lone surrogates */
		scan->traits |= TR_TRAIT_NO_JSON;
	*p += escape.len;
	return true;
}

/* Scans a string from its opening quote: *spelling is the canonical spelling without the quotes. */
static bool scan_string(struct scan *scan, bool wide, struct tr_text *spelling, bool *plain)
{
	const char *start = scan->pos + 1, *end = scan->end, *p = start;
	bool canonical = true;
	*plain = true;
	while ((p = tr_string_special(p, end)) < end && *p != '"') {
		if (*p == '\\') {
			*plain = false;
			/* the most frequent escapes have no other spelling */
			if (end - p >= 2 &&
			    (p[1] == '"' || p[1] == '\\' || p[1] == 'n' || p[1] == 't'))
				p += 2;
			else if (!scan_escape(scan, wide, &p, &canonical))
				return false;
			continue;
		}
		if ((unsigned char)*p < 0x80)
			return scan_fail(scan, p, "raw control byte in a string");
		unsigned length = tr_utf8_length(p, end);
		if (length == 0)
			return scan_fail(scan, p, "invalid UTF-8 in a string");
		p += length;
	}
	if (p == end)
		return scan_fail(scan, p, "closing quote missing");
	scan->pos = p + 1;
	*spelling = tr_text_span(start, p);
	scan->canonical &= canonical;
	if (canonical || !scan->arena)
		return true;
	if (!respell(scan, wide, spelling))
		return false;
	*plain = spelling->len == 0 || !memchr(spelling->data, '\\', spelling->len);
	return true;
}

/*
 * Skips "...", which marks a value that the tracer cut. False: it is not there, which is no error.
 */
static bool scan_cut(struct scan *scan)
{
	if (!tr_text_starts(tr_text_span(scan->pos, scan->end), TR_TEXT("...")))
		return false;
	scan->pos += 3;
	scan->traits |= TR_TRAIT_NO_JSON;
	return true;
}

/* Skips letters, digits and "_"; the word may be empty. */
static struct tr_text scan_word(struct scan *scan)
{
	static const bool in_word[256] = {
		['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true, ['_'] = true
	};
	const char *start = scan->pos, *p = start;
	while (p < scan->end && in_word[(unsigned char)*p])
		p++;
	scan->pos = p;
	return tr_text_span(start, p);
}

/* Numbers of the value grammar. */

static const uint64_t JSON_INTEGER_MAX = (UINT64_C(1) << 53) - 1;

/*
 * Scans decimal digits of 64 bits. what: "integer", "identifier" … for the message; NULL: a value.
 */
static bool scan_digits(struct scan *scan, const char *what, uint64_t *number)
{
	enum { SAFE_DIGITS = 19 }; /* that many never exceed 64 bits */
	const char *start = scan->pos, *p = start;
	uint64_t n = 0;
	bool beyond = false;
	for (; p < scan->end && tr_is_digit(*p); p++) {
		unsigned digit = (unsigned)(*p - '0');
		if (p - start >= SAFE_DIGITS)
			beyond |= n > (UINT64_MAX - digit) / 10;
		n = n * 10 + digit;
	}
	if (p == start)
		return what ? scan_fail(scan, p, "digits expected in %s", what)
			    : scan_fail(scan, p, "digits expected");
	if (*start == '0' && p - start > 1)
		return scan_fail(scan, start, "leading zero in %s", what ? what : "integer");
	if (beyond)
		return scan_fail(scan, start, "%s beyond 64 bits", what ? what : "integer");
	scan->pos = p;
	*number = n;
	return true;
}

/* Returns the end of the hex digits at pos, and notes an upper-case one. */
static const char *hex_end(struct scan *scan)
{
	const char *p = scan->pos;
	for (; p < scan->end && tr_hex_digit(*p) >= 0; p++)
		if (*p >= 'A' && *p <= 'F')
			scan->canonical = false;
	return p;
}

/* Scans the digits after a 0x, of at most 64 bits. */
static bool scan_hex(struct scan *scan, const char *what, uint64_t *number)
{
	const char *start = scan->pos, *end = hex_end(scan);
	uint64_t n = 0;
	bool beyond = false;
	for (const char *p = start; p < end; p++) {
		beyond |= n >> 60 != 0;
		n = n << 4 | (uint64_t)tr_hex_digit(*p);
	}
	if (end == start)
		return scan_fail(scan, end, "hex digits expected in %s", what);
	if (beyond)
		return scan_fail(scan, start, "%s beyond 64 bits", what);
	scan->canonical &= *start != '0' || end - start == 1;
	scan->pos = end;
	*number = n;
	return true;
}

/* Scans @E12 and the like, if it is there. */
static bool scan_id(struct scan *scan, char letter, bool *there, uint64_t *id)
{
	*there = scan_at(scan, '@');
	if (!*there)
		return true;
	scan->pos++;
	if (!scan_at(scan, letter))
		return scan_fail(scan, scan->pos, "'%c' and a number expected after '@'", letter);
	scan->pos++;
	return scan_digits(scan, "identifier", id);
}

/* Scans the bits of a NaN after "nan:" or "nanf:". */
static bool scan_nan(struct scan *scan, bool single, struct tr_value *value)
{
	const char *start = scan->pos, *end = hex_end(scan);
	int want = single ? 8 : 16;
	uint64_t bits = 0;
	for (const char *p = start; p < end; p++)
		bits = bits << 4 | (uint64_t)tr_hex_digit(*p);
	if (end - start != want)
		return scan_fail(scan, end, "nan%s: needs %d hex digits", single ? "f" : "", want);
	uint64_t infinity = single ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
	uint64_t magnitude = single ? bits & 0x7fffffff : bits & (UINT64_MAX >> 1);
	if (magnitude <= infinity)
		return scan_fail(scan, start, "these bits are not a NaN");
	/* the quiet NaN without a payload has a word of its own */
	if (bits == (single ? UINT64_C(0x7fc00000) : UINT64_C(0x7ff8000000000000)))
		scan->canonical = false;
	*value = (struct tr_value){ .type = single ? TR_REAL32 : TR_REAL64, .as.number = bits };
	scan->traits |= TR_TRAIT_NO_JSON;
	scan->pos = end;
	return true;
}

/* Scans "-inf" or "-inff". False: it is something else. */
static bool scan_negative_infinity(struct scan *scan, struct tr_value *value)
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

/* Returns the end of the fraction and the exponent that may follow the digits of an integer. */
static const char *real_end(const char *p, const char *end)
{
	if (end - p >= 2 && *p == '.' && tr_is_digit(p[1]))
		p = tr_skip_digits(p + 1, end);
	if (p < end && (*p == 'e' || *p == 'E')) {
		const char *exponent = p + 1;
		if (exponent < end && (*exponent == '-' || *exponent == '+'))
			exponent++;
		if (exponent < end && tr_is_digit(*exponent))
			p = tr_skip_digits(exponent, end);
	}
	return p;
}

/* Scans a REAL from start to stop. It is canonical if writing its bits gives the same text. */
static bool scan_real(struct scan *scan, const char *start, const char *stop,
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
		len = tr_real32_write(bits, spelled) - 1; /* without the f */
		scan->traits |= TR_TRAIT_NO_JSON;
	} else {
		uint64_t bits = 0;
		in_range = tr_real64_read(decimal, &bits);
		*value = (struct tr_value){ .type = TR_REAL64, .as.number = bits };
		len = tr_real64_write(bits, spelled);
		scan->traits |= TR_TRAIT_REAL;
	}
	if (!in_range)
		return scan_fail(scan, start, "real out of range");
	scan->canonical &= tr_text_equal(decimal, (struct tr_text){ spelled, len });
	scan->pos = stop + single;
	return true;
}

/* Scans 0xHEX. */
static bool scan_address(struct scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_POINTER };
	scan->traits |= TR_TRAIT_NO_JSON;
	scan->pos += 2;
	return scan_hex(scan, "address", &value->as.number);
}

/*
 * Scans an integer, an address or a REAL: the digits are found first, and what follows them
 * decides.
 */
static bool scan_number(struct scan *scan, struct tr_value *value)
{
	const char *start = scan->pos, *digits = start;
	char sign = *start == '-' || *start == '+' ? *start : 0;
	if (sign == '-' && scan_negative_infinity(scan, value))
		return true;
	if (sign)
		digits++;
	else if (scan->end - start >= 2 && start[0] == '0' && start[1] == 'x')
		return scan_address(scan, value);
	scan->pos = digits;
	const char *integer = tr_skip_digits(digits, scan->end);
	const char *stop = real_end(integer, scan->end);
	if (integer > digits && stop > integer) {
		if (sign == '+')
			return scan_fail(scan, start, "a real cannot have a plus sign");
		if (*digits == '0' && integer - digits > 1)
			return scan_fail(scan, digits, "leading zero in real");
		return scan_real(scan, start, stop, value);
	}
	*value = (struct tr_value){ .type = sign ? TR_INT : TR_UINT,
				    .flags = sign == '-' ? TR_NEGATIVE : 0 };
	if (!scan_digits(scan, NULL, &value->as.number))
		return false;
	if (scan_at(scan, 'f'))
		return scan_fail(scan, start, "an integer cannot have an f");
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

/* Adds a name of a symbol; without an arena only counts it. */
static bool add_name(struct scan *scan, struct names *names, struct tr_text name)
{
	enum { FIRST = 4 };
	if (scan->arena && names->count == names->cap) {
		size_t cap = names->cap ? names->cap * 2 : FIRST;
		struct tr_name *list = tr_arena_alloc(scan->arena, cap * sizeof *list);
		if (!list)
			return scan_fail_memory(scan);
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

/* Scans what follows a "|": a name, or the bits without a name. */
static bool scan_name(struct scan *scan, struct names *names, uint64_t *unknown_bits)
{
	const char *start = scan->pos;
	if (scan_at(scan, '"')) {
		struct tr_text name;
		bool plain;
		if (!scan_string(scan, false, &name, &plain))
			return false;
		/* only what is not a word here needs quotes */
		if (tr_is_word(name, scan_at(scan, '(')))
			scan->canonical = false;
		return add_name(scan, names, name);
	}
	if (scan->end - start >= 2 && start[0] == '0' && start[1] == 'x') {
		scan->pos += 2;
		if (!scan_hex(scan, "unknown bits", unknown_bits))
			return false;
		return *unknown_bits ? true : scan_fail(scan, scan->pos, "unknown bits are zero");
	}
	if (start == scan->end || !is_word_start(*start))
		return scan_fail(scan, start, "name expected");
	struct tr_text word = scan_word(scan);
	if (tr_is_reserved(word) && !scan_at(scan, '('))
		return scan_fail(scan, start, "%.*s must be quoted here", (int)word.len, word.data);
	return add_name(scan, names, word);
}

/* Scans what follows the "(": the number, its table, the ")". */
static bool scan_machine_number(struct scan *scan, struct tr_symbol *symbol, uint8_t *flags)
{
	bool hex = scan->end - scan->pos >= 2 && scan->pos[0] == '0' && scan->pos[1] == 'x';
	symbol->numbered = hex ? TR_SYMBOL_MASK : TR_SYMBOL_ENUM;
	if (hex) {
		scan->pos += 2;
		if (!scan_hex(scan, "number", &symbol->number))
			return false;
	} else {
		if (scan_at(scan, '-')) {
			*flags |= TR_NEGATIVE;
			scan->pos++;
		}
		if (!scan_digits(scan, "number", &symbol->number))
			return false;
	}
	bool has_id;
	if (!scan_id(scan, hex ? 'M' : 'E', &has_id, &symbol->id))
		return false;
	if (has_id)
		*flags |= TR_HAS_ID;
	if (!scan_at(scan, ')'))
		return scan_fail_expected(scan, "')'");
	scan->pos++;
	if (!hex && (symbol->count > 1 || symbol->unknown_bits))
		return scan_fail(scan, scan->pos, "the number of a mask must be hex");
	return true;
}

/*
 * Scans the rest of a symbol, after its first name (data NULL: after "?"). quoted: the name was a
 * string, which is canonical only if it cannot be a word.
 */
static bool scan_symbol(struct scan *scan, struct tr_text first, bool quoted,
			struct tr_value *value)
{
	struct tr_symbol symbol = { .numbered = TR_SYMBOL_WORDS };
	struct names names = { NULL, 0, 0 };
	*value = (struct tr_value){ .type = TR_SYMBOL };
	scan->traits |= TR_TRAIT_NO_JSON;
	if (first.data && !add_name(scan, &names, first))
		return false;
	if (quoted && tr_is_word(first, scan_at(scan, '(')))
		scan->canonical = false;
	while (scan_at(scan, '|')) {
		if (symbol.unknown_bits)
			return scan_fail(scan, scan->pos, "unknown bits must be last");
		scan->pos++;
		if (!scan_name(scan, &names, &symbol.unknown_bits))
			return false;
	}
	symbol.names = names.list;
	symbol.count = names.count;
	if (scan_at(scan, '(')) {
		scan->pos++;
		if (!scan_machine_number(scan, &symbol, &value->flags))
			return false;
	}
	if (!scan->arena)
		return true;
	value->as.symbol = tr_arena_alloc(scan->arena, sizeof symbol);
	if (!value->as.symbol)
		return scan_fail_memory(scan);
	*value->as.symbol = symbol;
	return true;
}

/* Blobs: bytes in base64, or a length and where the bytes are. */

static bool is_base64(char c)
{
	/* the digits of the URL alphabet too: they are meant as base64, which is then wrong */
	return is_word_start(c) || tr_is_digit(c) || memchr("+/=-", c, 4) != NULL;
}

/* Scans the bytes of a blob. */
static bool scan_base64(struct scan *scan, struct tr_value *value)
{
	const char *start = scan->pos, *p = start;
	while (p < scan->end && is_base64(*p))
		p++;
	struct tr_text text = tr_text_span(start, p);
	char *bytes = NULL;
	if (scan->arena) {
		bytes = tr_arena_alloc(scan->arena, tr_base64_size(text.len));
		if (!bytes)
			return scan_fail_memory(scan);
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

/* Scans the length of a blob that was left out. */
static bool scan_blob_left(struct scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_BLOB_LEFT };
	scan->traits |= TR_TRAIT_NO_JSON;
	return scan_digits(scan, "length", &value->as.number);
}

/* Scans the SHA-256 and the length of a blob that is in a file. */
static bool scan_blob_file(struct scan *scan, struct tr_value *value)
{
	enum { DIGITS = 64 };
	const char *start = scan->pos, *p = start;
	while (p < scan->end && (tr_is_digit(*p) || (*p >= 'a' && *p <= 'f')))
		p++;
	if (p - start != DIGITS)
		return scan_fail(scan, start, "64 lower-case hex digits expected");
	scan->pos = p;
	if (!scan_at(scan, ':'))
		return scan_fail_expected(scan, "':'");
	scan->pos++;
	*value = (struct tr_value){ .type = TR_BLOB_FILE, .text = { start, DIGITS } };
	scan->traits |= TR_TRAIT_NO_JSON;
	return scan_digits(scan, "length", &value->as.number);
}

static bool scan_value(struct scan *scan, struct tr_value *value);

/* Skips blanks, which are legal here but not canonical. */
static void skip_blanks(struct scan *scan)
{
	while (scan_at(scan, ' ')) {
		scan->canonical = false;
		scan->pos++;
	}
}

/* Pushes a value onto the stack of those whose container is still open. */
static inline bool push(struct scan *scan, struct tr_text key, const struct tr_value *value)
{
	if (!scan->arena)
		return true;
	if (scan->pending_count == scan->pending_cap && scan->arena->limit &&
	    scan->pending_cap * 2 > scan->arena->limit / sizeof *scan->pending) {
		scan->arena->limited = true;
		return scan_fail_memory(scan);
	}
	if (!tr_array_room(scan->pending, scan->pending_count, scan->pending_cap))
		return scan_fail_memory(scan);
	scan->pending[scan->pending_count++] = (struct open_value){ key, *value };
	return true;
}

/* Pops the values from index base on, as the items of a list. */
static bool pop_items(struct scan *scan, size_t base, struct tr_value *list)
{
	size_t count = scan->pending_count - base;
	if (!scan->arena || count == 0)
		return true;
	struct tr_value *items = tr_arena_alloc(scan->arena, count * sizeof *items);
	if (!items)
		return scan_fail_memory(scan);
	for (size_t i = 0; i < count; i++)
		items[i] = scan->pending[base + i].value;
	list->as.items = items;
	list->count = count;
	scan->pending_count = base;
	return true;
}

/* Like pop_items, for the members of a map or a structure. */
static bool pop_members(struct scan *scan, size_t base, struct tr_value *map)
{
	size_t count = scan->pending_count - base;
	if (!scan->arena || count == 0)
		return true;
	struct tr_member *members = tr_arena_alloc(scan->arena, count * sizeof *members);
	struct tr_value *values = tr_arena_alloc(scan->arena, count * sizeof *values);
	if (!members || !values)
		return scan_fail_memory(scan);
	for (size_t i = 0; i < count; i++) {
		values[i] = scan->pending[base + i].value;
		members[i] = (struct tr_member){ scan->pending[base + i].key, &values[i] };
	}
	map->as.members = members;
	map->count = count;
	scan->pending_count = base;
	return true;
}

/* Skips an opening bracket. False: too many are open. */
static bool open_bracket(struct scan *scan)
{
	if (scan->depth == TR_LITERAL_DEPTH) {
		scan_fail(scan, scan->pos, "more than %d open brackets", TR_LITERAL_DEPTH);
		if (scan->err)
			scan->err->cause = TR_CAUSE_LIMIT;
		return false;
	}
	scan->depth++;
	scan->pos++;
	return true;
}

static void close_bracket(struct scan *scan)
{
	scan->depth--;
	scan->pos++;
}

/*
 * Scans strings without escapes, each with the comma after it, as most arguments of programs are.
 * Stops before any other item and before the last one, which scan_value scans.
 */
static bool scan_plain_items(struct scan *scan)
{
	while (scan_at(scan, '"')) {
		const char *start = scan->pos + 1, *stop = tr_string_special(start, scan->end);
		if (scan->end - stop < 2 || *stop != '"' || stop[1] != ',')
			break;
		const struct tr_value item = { .type = TR_STRING,
					       .flags = TR_PLAIN,
					       .text = tr_text_span(start, stop) };
		if (!push(scan, TR_TEXT(""), &item))
			return false;
		scan->pos = stop + 2;
	}
	return true;
}

/* Scans a list, and the "..." that may follow it. */
static bool scan_list(struct scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_LIST };
	size_t base = scan->pending_count;
	if (!open_bracket(scan))
		return false;
	skip_blanks(scan);
	if (!scan_at(scan, ']')) {
		for (;;) {
			struct tr_value item;
			if (!scan_plain_items(scan))
				return false;
			skip_blanks(scan);
			if (!scan_value(scan, &item) || !push(scan, TR_TEXT(""), &item))
				return false;
			skip_blanks(scan);
			if (!scan_at(scan, ','))
				break;
			scan->pos++;
			skip_blanks(scan);
		}
		if (!scan_at(scan, ']'))
			return scan_fail_expected(scan, "',' or ']'");
	}
	close_bracket(scan);
	if (scan_cut(scan))
		value->flags |= TR_CUT;
	return pop_items(scan, base, value);
}

/* Scans a key of either kind of braces; *word: it has no quotes. */
static bool scan_key(struct scan *scan, struct tr_text *key, bool *word)
{
	const char *start = scan->pos;
	bool plain;
	*word = false;
	if (scan_at(scan, '"'))
		return scan_string(scan, false, key, &plain);
	if (start == scan->end || !is_word_start(*start))
		return scan_fail(scan, start, "key expected");
	*word = true;
	*key = scan_word(scan);
	if (tr_is_reserved(*key))
		return scan_fail(scan, start, "%.*s must be quoted here", (int)key->len, key->data);
	return true;
}

/* Scans a member; the separator of the first one decides whether this is a map. */
static bool scan_member(struct scan *scan, struct tr_value *value, char *separator)
{
	const char *start = scan->pos;
	struct tr_text key;
	bool word;
	if (!scan_key(scan, &key, &word))
		return false;
	skip_blanks(scan);
	if (!*separator) {
		if (!scan_at(scan, ':') && !scan_at(scan, '='))
			return scan_fail(scan, scan->pos, "expected : or = after the key");
		*separator = *scan->pos;
		value->type = *separator == ':' ? TR_MAP : TR_STRUCT;
	}
	if (word && *separator == ':')
		return scan_fail(scan, start, "the keys of a map are strings");
	if (!scan_at(scan, *separator))
		return scan_fail_expected(scan, *separator == ':' ? "':'" : "'='");
	if (!word && *separator == '=' && tr_is_word(key, false))
		scan->canonical = false;
	scan->pos++;
	skip_blanks(scan);
	struct tr_value member;
	return scan_value(scan, &member) && push(scan, key, &member);
}

/* Scans "=" and what follows it: a structure without members. */
static bool scan_no_members(struct scan *scan, struct tr_value *value)
{
	value->type = TR_STRUCT;
	scan->pos++;
	skip_blanks(scan);
	return scan_at(scan, '}') || scan_fail_expected(scan, "'}'");
}

/* Scans the members of a map or structure. The first separator decides which of them it is. */
static bool scan_members(struct scan *scan, struct tr_value *value)
{
	for (char separator = 0;;) {
		if (!scan_member(scan, value, &separator))
			return false;
		skip_blanks(scan);
		if (!scan_at(scan, ','))
			return scan_at(scan, '}') || scan_fail_expected(scan, "',' or '}'");
		scan->pos++;
		skip_blanks(scan);
	}
}

/* Scans a map or a structure. */
static bool scan_braces(struct scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_MAP };
	size_t base = scan->pending_count;
	if (!open_bracket(scan))
		return false;
	skip_blanks(scan);
	if (scan_at(scan, '=')) {
		if (!scan_no_members(scan, value))
			return false;
	} else if (!scan_at(scan, '}') && !scan_members(scan, value)) {
		return false;
	}
	close_bracket(scan);
	scan->traits |= value->type == TR_MAP ? TR_TRAIT_MAP : TR_TRAIT_NO_JSON;
	if (value->type == TR_STRUCT) {
		bool has_id;
		if (!scan_id(scan, 'S', &has_id, &value->id))
			return false;
		value->flags |= has_id ? TR_HAS_ID : 0;
	}
	return pop_members(scan, base, value);
}

/* Scans <human;machine>. */
static bool scan_repr(struct scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_REPR };
	size_t base = scan->pending_count;
	scan->traits |= TR_TRAIT_NO_JSON;
	if (!open_bracket(scan))
		return false;
	for (const char *separator = ";>"; *separator; separator++) {
		struct tr_value item;
		if (!scan_value(scan, &item) || !push(scan, TR_TEXT(""), &item))
			return false;
		if (!scan_at(scan, *separator))
			return scan_fail_expected(scan, *separator == ';' ? "';'" : "'>'");
		if (*separator == ';')
			scan->pos++;
	}
	close_bracket(scan);
	return pop_items(scan, base, value);
}

/* Values by their first character, and the two entries of the scanner. */

/* Scans a string, or a symbol whose first name is a string. */
static bool scan_quoted(struct scan *scan, struct tr_value *value)
{
	struct tr_text spelling;
	bool plain;
	if (!scan_string(scan, false, &spelling, &plain))
		return false;
	if (scan_at(scan, '|') || scan_at(scan, '('))
		return scan_symbol(scan, spelling, true, value);
	*value = (struct tr_value){ .type = TR_STRING, .text = spelling };
	value->flags = (uint8_t)((plain ? TR_PLAIN : 0) | (scan_cut(scan) ? TR_CUT : 0));
	return true;
}

/* Scans a wide string, after the L. */
static bool scan_wide(struct scan *scan, struct tr_value *value)
{
	if (!scan_at(scan, '"'))
		return scan_fail(scan, scan->pos, "L needs a string");
	*value = (struct tr_value){ .type = TR_WSTRING };
	scan->traits |= TR_TRAIT_NO_JSON;
	bool plain;
	if (!scan_string(scan, true, &value->text, &plain))
		return false;
	value->flags = plain ? TR_PLAIN : 0;
	return true;
}

/* Takes a word that is a value of its own. False: it is another word. */
static bool take_constant(struct scan *scan, struct tr_text word, struct tr_value *value)
{
	static const struct {
		const char *word;
		uint8_t type;
		bool json;
		uint64_t bits;
	} constants[] = {
		{ "null", TR_NULL, true, 0 },
		{ "true", TR_TRUE, true, 0 },
		{ "false", TR_FALSE, true, 0 },
		{ "inf", TR_REAL64, false, UINT64_C(0x7ff0000000000000) },
		{ "nan", TR_REAL64, false, UINT64_C(0x7ff8000000000000) },
		{ "inff", TR_REAL32, false, 0x7f800000 },
		{ "nanf", TR_REAL32, false, 0x7fc00000 },
	};
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
		if (!tr_text_is(word, constants[i].word))
			continue;
		*value = (struct tr_value){ .type = constants[i].type,
					    .as.number = constants[i].bits };
		if (!constants[i].json)
			scan->traits |= TR_TRAIT_NO_JSON;
		return true;
	}
	return false;
}

/* Skips the colon after a word that is this prefix of a value. False: it is something else. */
static bool skip_prefix(struct scan *scan, struct tr_text word, const char *prefix)
{
	if (!scan_at(scan, ':') || !tr_text_is(word, prefix))
		return false;
	scan->pos++;
	return true;
}

/* Scans a value that begins with a word. A word before "(" is always a name. */
static bool scan_word_value(struct scan *scan, struct tr_value *value)
{
	struct tr_text word = scan_word(scan);
	if (scan_at(scan, '('))
		return scan_symbol(scan, word, false, value);
	if (skip_prefix(scan, word, "nan"))
		return scan_nan(scan, false, value);
	if (skip_prefix(scan, word, "nanf"))
		return scan_nan(scan, true, value);
	if (skip_prefix(scan, word, "b64"))
		return scan_base64(scan, value);
	if (skip_prefix(scan, word, "blob"))
		return scan_blob_left(scan, value);
	if (skip_prefix(scan, word, "file"))
		return scan_blob_file(scan, value);
	if (tr_text_is(word, "L"))
		return scan_wide(scan, value);
	if (take_constant(scan, word, value))
		return true;
	/* the empty set of a fixed set of words does not combine with other names */
	if (tr_text_is(word, "none") && scan_at(scan, '|'))
		return scan_fail(scan, scan->pos, "text after the value");
	return scan_symbol(scan, word, false, value);
}

/* Scans any value: its first byte decides. Its recursion is bounded by open_bracket. */
static bool scan_value(struct scan *scan, struct tr_value *value)
{
	if (scan->pos == scan->end)
		return scan_fail(scan, scan->pos, "empty value");
	char c = *scan->pos;
	if (c == '"')
		return scan_quoted(scan, value);
	if (tr_is_digit(c) || c == '-' || c == '+')
		return scan_number(scan, value);
	if (is_word_start(c))
		return scan_word_value(scan, value);
	if (c == '[')
		return scan_list(scan, value);
	if (c == '{')
		return scan_braces(scan, value);
	if (c == '<')
		return scan_repr(scan, value);
	if (c == '?' && scan->end - scan->pos > 1 && scan->pos[1] == '(') {
		scan->pos++;
		return scan_symbol(scan, (struct tr_text){ NULL, 0 }, false, value);
	}
	return scan_fail_value(scan);
}

/* Scans a complete text. */
static bool scan_all(struct scan *scan, struct tr_value *value)
{
	if (!scan_value(scan, value))
		return false;
	if (scan->pos < scan->end)
		return scan_fail(scan, scan->pos, "text after the value");
	return true;
}

/* A scan of this text; arena NULL: it only checks. */
static struct scan scan_begin(struct tr_text text, struct tr_arena *arena, struct tr_error *err)
{
	const char *begin = text.data ? text.data : "";
	return (struct scan){
		.begin = begin,
		.pos = begin,
		.end = begin + text.len,
		.arena = arena,
		.err = err,
		.canonical = true,
	};
}

struct tr_value *tr_literal_parse(struct tr_text text, struct tr_arena *arena, struct tr_error *err)
{
	struct scan scan = scan_begin(text, arena, err);
	struct tr_value *value = tr_arena_alloc(arena, sizeof *value);
	if (!value)
		(void)tr_arena_error(arena, err);
	else if (!scan_all(&scan, value))
		value = NULL;
	free(scan.pending);
	return value;
}

static enum tr_spelling scan_spelling(struct tr_text text, unsigned *traits, struct tr_error *err)
{
	struct scan scan = scan_begin(text, NULL, err);
	struct tr_value value;
	if (!scan_all(&scan, &value))
		return TR_MALFORMED;
	*traits = scan.traits;
	return scan.canonical ? TR_CANONICAL : TR_NONCANONICAL;
}

/*
 * Checks without the scanner: the skip_ functions return the end of the value at p, or NULL if the
 * scanner has to decide.
 */

/* Skips a string in its canonical spelling. */
static inline const char *skip_string(const char *p, const char *end)
{
	for (p++;;) {
		p = tr_string_special(p, end);
		if (p == end)
			return NULL;
		if (*p == '"')
			return p + 1;
		if (*p == '\\') {
			/* escapes that have no other spelling; no string ends after them */
			char c = end - p > 2 ? p[1] : 0;
			if (c != '"' && c != '\\' && c != 'n' && c != 't' && c != 'r')
				return NULL;
			p += 2;
			continue;
		}
		unsigned length = (unsigned char)*p < 0x80 ? 0 : tr_utf8_length(p, end);
		if (length == 0)
			return NULL;
		p += length;
	}
}

/* Skips an integer that JSON certainly holds. The caller checks the byte after it. */
static const char *skip_integer(const char *p, const char *end)
{
	enum { SAFE_DIGITS = 15 };
	if (*p == '-' && (++p == end || *p == '0'))
		return NULL;
	if (*p == '0')
		return p + 1;
	const char *start = p;
	p = tr_skip_digits(p, end);
	return p > start && p - start <= SAFE_DIGITS ? p : NULL;
}

/* Skips a string, a small integer or null. */
static inline const char *skip_scalar(const char *p, const char *end)
{
	if (p == end)
		return NULL;
	if (*p == '"')
		return skip_string(p, end);
	if (tr_is_digit(*p) || *p == '-')
		return skip_integer(p, end);
	return tr_text_starts(tr_text_span(p, end), TR_TEXT("null")) ? p + 4 : NULL;
}

/* Skips a list of scalars. */
static const char *skip_list(const char *p, const char *end)
{
	if (end - p >= 2 && p[1] == ']')
		return p + 2;
	do {
		p = skip_scalar(p + 1, end);
		if (!p || p == end)
			return NULL;
	} while (*p == ',');
	return *p == ']' ? p + 1 : NULL;
}

/* Skips a map of scalars. */
static const char *skip_map(const char *p, const char *end)
{
	if (end - p >= 2 && p[1] == '}')
		return p + 2;
	do {
		p++;
		if (p == end || *p != '"' || !(p = skip_string(p, end)) || p == end || *p != ':')
			return NULL;
		p = skip_scalar(p + 1, end);
		if (!p || p == end)
			return NULL;
	} while (*p == ',');
	return *p == '}' ? p + 1 : NULL;
}

bool tr_literal_is_json_strings(struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;

	if (text.len < 2 || *p != '[')
		return text.len >= 2 && *p == '"' && skip_string(p, end) == end;
	if (text.len >= TR_PLAIN_LEAST && tr_literal_is_plain(p, end))
		return true;
	do {
		p++;
		if (p == end || *p != '"' || !(p = skip_string(p, end)) || p == end)
			return false;
	} while (*p == ',');
	return *p == ']' && p + 1 == end;
}

enum tr_spelling tr_literal_examine(struct tr_text text, unsigned *traits, struct tr_error *err)
{
	const char *p = text.data, *end = p + text.len;
	if (text.len >= TR_PLAIN_LEAST && tr_literal_is_plain(p, end)) {
		*traits = *p == '{' ? TR_TRAIT_MAP : 0;
		return TR_CANONICAL;
	}
	if (text.len > 0) {
		const char *after = *p == '['	? skip_list(p, end)
				    : *p == '{' ? skip_map(p, end)
						: skip_scalar(p, end);
		if (after == end) {
			*traits = *p == '{' ? TR_TRAIT_MAP : 0;
			return TR_CANONICAL;
		}
	}
	return scan_spelling(text, traits, err);
}

enum tr_spelling tr_literal_check(struct tr_text text, bool *json, struct tr_error *err)
{
	unsigned traits = 0;
	enum tr_spelling spelling = tr_literal_examine(text, &traits, err);
	if (json)
		*json = spelling == TR_CANONICAL && !(traits & TR_TRAIT_NO_JSON);
	return spelling;
}

/* Writing. */

/* Appends a name, with quotes only where it would be read as something else. */
static void put_name(struct tr_text name, bool before_parenthesis, struct tr_buffer *to)
{
	if (tr_is_word(name, before_parenthesis))
		tr_buffer_put_text(to, name);
	else
		tr_buffer_put_quoted(to, name);
}

/* Appends @E12 and the like. */
static void put_id(char letter, uint64_t id, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '@');
	tr_buffer_put_byte(to, letter);
	tr_buffer_put_decimal(to, id);
}

/* Appends 0xHEX. */
static void put_hex(uint64_t number, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "0x");
	tr_buffer_put_hex(to, number, 1);
}

/* Appends a symbol: the spelling that it has already, or its names and its number. */
static void write_symbol(const struct tr_value *value, struct tr_buffer *to)
{
	const struct tr_symbol *symbol = value->as.symbol;
	/* readers of binary formats prepare the text of a symbol once for all of its uses */
	if (value->text.data) {
		tr_buffer_put_text(to, value->text);
		return;
	}
	bool numbered = symbol->numbered != TR_SYMBOL_WORDS;
	bool hex = symbol->numbered == TR_SYMBOL_MASK;
	if (!numbered && symbol->count == 1 && !symbol->unknown_bits &&
	    tr_text_is(symbol->names[0].text, "none")) {
		tr_buffer_put_literal(to, "none");
		return;
	}
	/* a number without a name */
	if (symbol->count == 0)
		tr_buffer_put_byte(to, '?');
	for (size_t i = 0; i < symbol->count; i++) {
		bool last = i + 1 == symbol->count && !symbol->unknown_bits;
		if (i > 0)
			tr_buffer_put_byte(to, '|');
		put_name(symbol->names[i].text, last && numbered, to);
	}
	if (symbol->unknown_bits) {
		tr_buffer_put_byte(to, '|');
		put_hex(symbol->unknown_bits, to);
	}
	if (!numbered)
		return;
	tr_buffer_put_byte(to, '(');
	if (value->flags & TR_NEGATIVE)
		tr_buffer_put_byte(to, '-');
	if (hex)
		put_hex(symbol->number, to);
	else
		tr_buffer_put_decimal(to, symbol->number);
	if (value->flags & TR_HAS_ID)
		put_id(hex ? 'M' : 'E', symbol->id, to);
	tr_buffer_put_byte(to, ')');
}

static void write_list(const struct tr_value *value, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '[');
	for (size_t i = 0; i < value->count; i++) {
		if (i > 0)
			tr_buffer_put_byte(to, ',');
		tr_literal_write(&value->as.items[i], to);
	}
	tr_buffer_put_byte(to, ']');
}

/* Appends a map or a structure. */
static void write_members(const struct tr_value *value, struct tr_buffer *to)
{
	bool map = value->type == TR_MAP;
	tr_buffer_put_byte(to, '{');
	if (!map && value->count == 0)
		tr_buffer_put_byte(to, '=');
	for (size_t i = 0; i < value->count; i++) {
		const struct tr_member *member = &value->as.members[i];
		if (i > 0)
			tr_buffer_put_byte(to, ',');
		if (map)
			tr_buffer_put_quoted(to, member->key);
		else
			put_name(member->key, false, to);
		tr_buffer_put_byte(to, map ? ':' : '=');
		tr_literal_write(member->value, to);
	}
	tr_buffer_put_byte(to, '}');
	if (value->flags & TR_HAS_ID)
		put_id('S', value->id, to);
}

/*
 * Each type has one spelling, so equal values are equal texts. The recursion is bounded by
 * TR_LITERAL_DEPTH.
 */
void tr_literal_write(const struct tr_value *value, struct tr_buffer *to)
{
	char *room;

	switch ((enum tr_type)value->type) {
	case TR_NULL:
		tr_buffer_put_literal(to, "null");
		return;
	case TR_FALSE:
		tr_buffer_put_literal(to, "false");
		return;
	case TR_TRUE:
		tr_buffer_put_literal(to, "true");
		return;
	case TR_INT:
		tr_buffer_put_byte(to, value->flags & TR_NEGATIVE ? '-' : '+');
		tr_buffer_put_decimal(to, value->as.number);
		return;
	case TR_UINT:
		tr_buffer_put_decimal(to, value->as.number);
		return;
	case TR_POINTER:
		put_hex(value->as.number, to);
		return;
	case TR_REAL64:
	case TR_REAL32:
		room = tr_buffer_room(to, TR_REAL_MAX);
		if (!room)
			return;
		tr_buffer_used(to, value->type == TR_REAL64
					   ? tr_real64_write(value->as.number, room)
					   : tr_real32_write((uint32_t)value->as.number, room));
		return;
	case TR_WSTRING:
		tr_buffer_put_byte(to, 'L');
		tr_buffer_put_quoted(to, value->text);
		return;
	case TR_STRING:
		tr_buffer_put_quoted(to, value->text);
		break;
	case TR_BLOB:
		tr_buffer_put_literal(to, "b64:");
		tr_base64_write(value->text, to);
		return;
	case TR_BLOB_LEFT:
		tr_buffer_put_literal(to, "blob:");
		tr_buffer_put_decimal(to, value->as.number);
		return;
	case TR_BLOB_FILE:
		tr_buffer_put_literal(to, "file:");
		tr_buffer_put_text(to, value->text);
		tr_buffer_put_byte(to, ':');
		tr_buffer_put_decimal(to, value->as.number);
		return;
	case TR_SYMBOL:
		write_symbol(value, to);
		return;
	case TR_LIST:
		write_list(value, to);
		break;
	case TR_MAP:
	case TR_STRUCT:
		write_members(value, to);
		return;
	case TR_REPR:
		tr_buffer_put_byte(to, '<');
		tr_literal_write(&value->as.items[0], to);
		tr_buffer_put_byte(to, ';');
		tr_literal_write(&value->as.items[1], to);
		tr_buffer_put_byte(to, '>');
		return;
	}
	if (value->flags & TR_CUT) /* of a string or a list */
		tr_buffer_put_literal(to, "...");
}
