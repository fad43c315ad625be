/* SPDX-License-Identifier: MIT */
/*
 * Values, between the text that ltrace prints and the literals of the stream. Both directions
 * agree: what is read is printed the same again.
 *
 *	nil, 12, 0x1f, SIGINT	null, 12, 0x1f, SIGINT
 *	1.500000		1.5
 *	'a', 0644, <1,3>	<"'a'";97>, <"0644";420>, <"<1,3>";null>: the text, and its number
 *	"text", "te"...		"text", "te"...
 *	[ 1, 2... ]		[1,2]...
 *	{ 1, "a" }		{"#0"=1,"#1"="a"}: a structure whose members have no names
 */
#include <stdio.h>
#include <string.h>

#include "format/ltrace/ltrace.h"
#include "record/literal.h"

enum { DEPTH = 50, FLOAT_DIGITS = 15, OCTAL_DIGITS = 3, EFFORT = 8, EFFORT_MIN = 4096 };

static const char escapes[] = "a\ab\bt\tn\nv\vf\fr\r\\\\"; /* letter, byte */

/* Appends a byte as ltrace prints it. */
static void put_byte(unsigned char c, struct tr_buffer *to)
{
	const char *escape = escapes;

	while (*escape && (unsigned char)escape[1] != c)
		escape += 2;
	if (!*escape && c >= ' ' && c < 0x7f) {
		tr_buffer_put_byte(to, (char)c);
		return;
	}
	tr_buffer_put_byte(to, '\\');
	if (*escape || !c) {
		tr_buffer_put_byte(to, *escape ? *escape : '0');
		return;
	}
	for (int shift = 6; shift >= 0; shift -= 3)
		tr_buffer_put_byte(to, (char)('0' + (c >> shift & 7)));
}

/* Text to literal. */

/*
 * The literal that is being made: depth counts open brackets, which are limited; bytes is scratch.
 * A quote or bracket that is not closed is searched for up to the end of the line, and a line can
 * have many. What may be looked at is limited, and the arguments after that are text.
 */
struct spelling {
	struct tr_buffer *to, *bytes;
	unsigned depth;
	size_t effort; /* bytes and values that may still be looked at */
};

static struct spelling spelling(size_t len, struct tr_buffer *bytes, struct tr_buffer *to)
{
	return (struct spelling){ to, bytes, 0, len * EFFORT + EFFORT_MIN };
}

/* Takes n from the effort. False: too little is left. */
static bool spend(struct spelling *s, size_t n)
{
	bool enough = n <= s->effort;

	s->effort = enough ? s->effort - n : 0;
	return enough;
}

/* True if the text at p begins with the word. */
static bool starts(const char *p, const char *end, struct tr_text word)
{
	return tr_text_starts(tr_text_span(p, end), word);
}

/* True if a value may begin with c. */
static bool is_start(char c)
{
	return c && (strchr("-\"'{[<~_0123456789", c) || (c >= 'A' && c <= 'Z') ||
		     (c >= 'a' && c <= 'z'));
}

/* True if a value may end at p: here, or where another one begins after a comma. */
static bool is_end(const char *p, const char *end)
{
	if (starts(p, end, TR_TEXT(", ")))
		return end - p > 2 && is_start(p[2]);
	return p == end || starts(p, end, TR_TEXT(" }")) || starts(p, end, TR_TEXT(" ]")) ||
	       starts(p, end, TR_TEXT("... ]"));
}

/* Appends text that has no literal, with its number or null. */
static void put_pair(struct tr_text text, struct tr_text number, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "<\"");
	tr_string_escape(text, to);
	tr_buffer_put_literal(to, "\";");
	tr_buffer_put_text(to, number);
	tr_buffer_put_byte(to, '>');
}

/* Appends text with the number that it represents. */
static void put_pair_of(struct tr_text text, uint64_t number, struct tr_buffer *to)
{
	char digits[TR_DECIMAL_MAX];

	put_pair(text, (struct tr_text){ digits, tr_decimal_write(number, digits) }, to);
}

/*
 * Takes a byte that put_byte prints in the same way. Returns the end of its spelling; NULL: it is
 * spelled otherwise.
 */
static const char *take_byte(const char *p, const char *end, unsigned char *byte)
{
	const char *q = p + 1;
	unsigned c = 0;

	if (p == end)
		return NULL;
	*byte = (unsigned char)*p;
	if (*p != '\\')
		return *byte >= ' ' && *byte < 0x7f ? q : NULL;
	for (size_t i = 0; q < end && escapes[i]; i += 2)
		if (*q == escapes[i]) {
			*byte = (unsigned char)escapes[i + 1];
			return q + 1;
		}
	while (q < end && q - p <= OCTAL_DIGITS && *q >= '0' && *q <= '7')
		c = c * 8 + (unsigned)(*q++ - '0');
	if (q - p <= OCTAL_DIGITS || !c) {
		*byte = 0;
		return end - p > 1 && p[1] == '0' ? p + 2 : NULL;
	}
	*byte = (unsigned char)c;
	if (c > 0xff || (c >= ' ' && c < 0x7f) || (c >= '\a' && c <= '\r'))
		return NULL;
	return q;
}

/*
 * Appends a string. Quotes inside are printed as they are, so the closing quote is the first one
 * where a value may end.
 */
static const char *spell_string(struct spelling *s, const char *p, const char *end)
{
	unsigned char byte = 0;

	for (const char *q = p + 1; q < end && spend(s, 1); q++) {
		q += *q == '\\';
		if (q >= end || *q != '"')
			continue;
		const char *after = q + 1, *at = p + 1;
		bool cut = starts(after, end, TR_TEXT("...")) && is_end(after + 3, end);
		if (!cut && !is_end(after, end))
			continue;
		after += cut ? 3 : 0;
		tr_buffer_reset(s->bytes);
		while (at && at < q) {
			at = take_byte(at, q, &byte);
			tr_buffer_put_byte(s->bytes, (char)byte);
		}
		if (!at) {
			put_pair(tr_text_span(p, after), TR_TEXT("null"), s->to);
			return after;
		}
		tr_buffer_put_byte(s->to, '"');
		tr_string_escape(tr_buffer_text(s->bytes), s->to);
		tr_buffer_put_text(s->to, cut ? TR_TEXT("\"...") : TR_TEXT("\""));
		s->to->failed |= s->bytes->failed;
		return after;
	}
	return NULL;
}

/* Appends a character in quotes with its number. NULL: it is none, and nothing was appended. */
static const char *spell_char(struct spelling *s, const char *p, const char *end)
{
	unsigned char byte;
	const char *q = take_byte(p + 1, end, &byte);

	if (!q || q == end || *q != '\'' || !is_end(q + 1, end))
		return NULL;
	put_pair_of(tr_text_span(p, q + 1), byte, s->to);
	return q + 1;
}

/* Reads digits of that base. False: there are others, or too many for 64 bits. */
static bool read_digits(const char *p, const char *end, unsigned base, uint64_t *number)
{
	if (p == end)
		return false;
	for (*number = 0; p < end; p++) {
		int digit = *p >= 'A' && *p <= 'F' ? -1 : tr_hex_digit(*p);

		if (digit < 0 || (unsigned)digit >= base ||
		    __builtin_mul_overflow(*number, base, number) ||
		    __builtin_add_overflow(*number, (unsigned)digit, number))
			return false;
	}
	return true;
}

/* Appends a decimal number with six digits after the point, as a REAL. */
static bool put_float(struct spelling *s, struct tr_text text)
{
	enum { FRACTION = 7 };
	const char *p = text.data, *end = p + text.len;
	char spelled[TR_REAL_MAX];
	uint64_t number, bits;

	p += *p == '-';
	const char *point = end - p > FRACTION ? end - FRACTION : p;
	bool small = end - p - 1 <= FLOAT_DIGITS;
	if (*point != '.' || (*p == '0' && point > p + 1) ||
	    !read_digits(point + 1, end, 10, &number))
		return false;
	p = tr_skip_digits(p, point);
	if (p < point || !tr_real64_read(text, &bits))
		return false;
	struct tr_text real = { spelled, tr_real64_write(bits, spelled) };
	/* a number of more digits might be printed with others */
	if (small)
		tr_buffer_put_text(s->to, real);
	else
		put_pair(text, real, s->to);
	return true;
}

/* Appends a number in the spelling that ltrace has for it. */
static bool put_number(struct spelling *s, struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;
	bool negative = text.len && *p == '-';
	uint64_t number;

	p += negative;
	if (p == end || *p < '0' || *p > '9')
		return false;
	bool zero = *p == '0', more = end - p > 1;
	if (zero && more && !negative) {
		bool hex = text.len > 2 && p[1] == 'x' && (p[2] != '0' || text.len == 3);
		if (hex && read_digits(p + 2, end, 16, &number)) {
			tr_buffer_put_text(s->to, text);
			return true;
		}
		if (read_digits(p + 1, end, 8, &number)) {
			put_pair_of(text, number, s->to);
			return true;
		}
	}
	if (!read_digits(p, end, 10, &number))
		return put_float(s, text);
	if (zero && (more || negative))
		return false;
	tr_buffer_put_text(s->to, text);
	return true;
}

/*
 * A value that is no string, list or structure. Most are numbers that the stream spells alike. The
 * word of an unclosed bracket is long, and needed again for each bracket before it.
 */
static const char *spell_word(struct spelling *s, const char *p, const char *end)
{
	enum { DIGITS = 18 }; /* that fit into 64 bits */
	const char *q = tr_skip_digits(p, end);
	bool plain = q > p && q - p <= DIGITS && (*p != '0' || q == p + 1) && is_end(q, end);
	while (q < end && !plain && ((*q != ',' && *q != ' ' && *q != '.') || !is_end(q, end)))
		q++;
	struct tr_text text = tr_text_span(p, q);
	spend(s, text.len);
	if (plain)
		tr_buffer_put_text(s->to, text);
	else if (tr_text_is(text, "nil"))
		tr_buffer_put_literal(s->to, "null");
	else if (tr_is_word(text, false))
		tr_buffer_put_text(s->to, text);
	else if (!put_number(s, text))
		put_pair(text, TR_TEXT("null"), s->to);
	return q;
}

static const char *spell_value(struct spelling *s, const char *p, const char *end);

/* A list or a structure, after its bracket and blank. NULL: its end is missing. */
static const char *spell_items(struct spelling *s, const char *p, const char *end, bool list)
{
	struct tr_text close = list ? TR_TEXT(" ]") : TR_TEXT(" }");
	size_t n = 0;

	tr_buffer_put_byte(s->to, list ? '[' : '{');
	for (; p && !starts(p, end, close); n++) {
		if (!spend(s, 1))
			return NULL;
		if (list && starts(p, end, TR_TEXT("... ]"))) {
			tr_buffer_put_literal(s->to, "]...");
			return p + 5;
		}
		if (n && !starts(p, end, TR_TEXT(", ")))
			return NULL;
		if (n) {
			tr_buffer_put_byte(s->to, ',');
			p += 2;
		}
		if (!list) {
			tr_buffer_put_literal(s->to, "\"#");
			tr_buffer_put_decimal(s->to, n);
			tr_buffer_put_literal(s->to, "\"=");
		}
		p = p < end ? spell_value(s, p, end) : NULL;
	}
	if (!p)
		return NULL;
	tr_buffer_put_text(s->to, list ? TR_TEXT("]") : n ? TR_TEXT("}") : TR_TEXT("=}"));
	return p + 2;
}

/* Appends the literal of the value at p. Returns its end; NULL: it has none. */
static const char *spell_value(struct spelling *s, const char *p, const char *end)
{
	size_t begin = s->to->len;
	const char *q = NULL;

	if (s->depth < DEPTH && (starts(p, end, TR_TEXT("{ ")) || starts(p, end, TR_TEXT("[ ")))) {
		s->depth++;
		q = spell_items(s, p + 2, end, *p == '[');
		s->depth--;
	} else if (p < end && *p == '"') {
		q = spell_string(s, p, end);
	} else if (p < end && *p == '\'') {
		q = spell_char(s, p, end);
	}
	if (q || s->to->failed)
		return q;
	s->to->len = begin;
	return spell_word(s, p, end);
}

/* Appends the literal of the value at p, which ends at the next one of its level or at end. */
static const char *spell_argument(struct spelling *s, const char *p, const char *end)
{
	size_t begin = s->to->len;
	const char *q = s->effort ? spell_value(s, p, end) : NULL;

	if (s->to->failed || (q && (q == end || starts(q, end, TR_TEXT(", ")))))
		return q ? q : end;
	s->to->len = begin;
	q = memmem(p, (size_t)(end - p), ", ", 2);
	q = q ? q : end;
	put_pair(tr_text_span(p, q), TR_TEXT("null"), s->to);
	return q;
}

size_t tr_ltrace_put_arguments(struct tr_text arguments, char prefix, size_t first,
			       struct tr_buffer *bytes, struct tr_buffer *to)
{
	struct spelling s = spelling(arguments.len, bytes, to);
	const char *p = arguments.data, *end = p + arguments.len;

	for (; arguments.len; first++) {
		tr_buffer_put_byte(to, '\t');
		tr_buffer_put_byte(to, prefix);
		tr_buffer_put_decimal(to, first);
		tr_buffer_put_byte(to, '=');
		p = spell_argument(&s, p, end);
		if (p == end)
			return first + 1;
		p += 2;
	}
	return first;
}

void tr_ltrace_put_literal(struct tr_text text, struct tr_buffer *bytes, struct tr_buffer *to)
{
	struct spelling s = spelling(text.len, bytes, to);
	size_t begin = to->len;

	if (spell_value(&s, text.data, text.data + text.len) == text.data + text.len || to->failed)
		return;
	to->len = begin;
	put_pair(text, TR_TEXT("null"), to);
}

/* Value to text. */

/* Appends words joined by bars, or a number without a name in hex. False: memory is exhausted. */
static bool put_symbol(const struct tr_symbol *symbol, struct tr_arena *arena, struct tr_buffer *to)
{
	for (size_t i = 0; i < symbol->count; i++) {
		struct tr_text name = tr_string_bytes(symbol->names[i].text, arena);

		if (!name.data)
			return false;
		if (i)
			tr_buffer_put_byte(to, '|');
		tr_buffer_put_text(to, name);
	}
	if (!symbol->count || symbol->unknown_bits) {
		tr_buffer_put_text(to, symbol->count ? TR_TEXT("|0x") : TR_TEXT("0x"));
		tr_buffer_put_hex(to, symbol->count ? symbol->unknown_bits : symbol->number, 1);
	}
	return true;
}

/* Appends a string with ltrace's escapes. False: memory is exhausted. */
static bool put_string_value(const struct tr_value *value, struct tr_arena *arena,
			     struct tr_buffer *to)
{
	struct tr_text bytes = tr_value_bytes(value, arena);

	if (!bytes.data)
		return false;
	tr_buffer_put_byte(to, '"');
	for (size_t i = 0; i < bytes.len; i++)
		put_byte((unsigned char)bytes.data[i], to);
	tr_buffer_put_byte(to, '"');
	if (value->flags & TR_CUT)
		tr_buffer_put_literal(to, "...");
	return true;
}

/* Appends a list or a structure. False: memory is exhausted. */
static bool put_items(const struct tr_value *value, struct tr_arena *arena, struct tr_buffer *to)
{
	bool list = value->type == TR_LIST;

	tr_buffer_put_text(to, list ? TR_TEXT("[ ") : TR_TEXT("{ "));
	for (size_t i = 0; i < value->count; i++) {
		const struct tr_value *item =
			list ? &value->as.items[i] : value->as.members[i].value;

		if (i)
			tr_buffer_put_literal(to, ", ");
		if (!tr_ltrace_put_value(item, arena, to))
			return false;
	}
	if (value->flags & TR_CUT)
		tr_buffer_put_literal(to, "...");
	tr_buffer_put_text(to, list ? TR_TEXT(" ]") : TR_TEXT(" }"));
	return true;
}

/* Appends a real number with six decimals, as ltrace's %f does. */
static void put_real(const struct tr_value *value, struct tr_buffer *to)
{
	enum { MOST = 330 }; /* digits before the point, and six after it */
	char *room = tr_buffer_room(to, MOST);
	double number;
	float narrow;

	memcpy(&number, &value->as.number, sizeof number);
	if (value->type == TR_REAL32) {
		uint32_t bits = (uint32_t)value->as.number;

		memcpy(&narrow, &bits, sizeof narrow);
		number = narrow;
	}
	if (room)
		tr_buffer_used(to, (size_t)snprintf(room, MOST, "%f", number));
}

bool tr_ltrace_put_value(const struct tr_value *value, struct tr_arena *arena, struct tr_buffer *to)
{
	switch (value->type) {
	case TR_NULL:
		tr_buffer_put_literal(to, "nil");
		return true;
	case TR_INT:
		if (value->flags & TR_NEGATIVE)
			tr_buffer_put_byte(to, '-');
		/* fallthrough */
	case TR_UINT:
		tr_buffer_put_decimal(to, value->as.number);
		return true;
	case TR_REAL64:
	case TR_REAL32:
		put_real(value, to);
		return true;
	case TR_STRING:
		return put_string_value(value, arena, to);
	case TR_SYMBOL:
		return put_symbol(value->as.symbol, arena, to);
	case TR_LIST:
	case TR_MAP:
	case TR_STRUCT:
		return put_items(value, arena, to);
	case TR_REPR: {
		struct tr_text text = { NULL, 0 };

		if (value->as.items->type != TR_STRING)
			return tr_ltrace_put_value(value->as.items, arena, to);
		text = tr_value_bytes(value->as.items, arena);
		tr_buffer_put_text(to, text);
		return text.data;
	}
	default:
		tr_literal_write(value, to);
		return true;
	}
}
