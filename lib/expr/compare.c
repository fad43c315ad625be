/* SPDX-License-Identifier: MIT */
/*
 * Compares numbers, strings and symbols with the literals of a test. Numbers are never rounded to
 * be compared: integers are compared as integers, decimals digit by digit from their spelling, and
 * a REAL with a whole number by its exact value. The one exception is a literal with "." or "e",
 * which is read in the width of the REAL that it is compared with, so that `x == 0.1` holds for a
 * float of 0.1.
 */

#include "expr/match.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "expr/program.h"

enum {
	DECIMAL_ROOM = 24, /* digits of 2^64, with room */
	REAL_ROOM = 400,   /* digits of the largest double */
};

/* An exponent beyond this decides every comparison, so it need not be read further. */
static const int64_t exponent_limit = (int64_t)1 << 40;

/* Reads [eE][+-]DIGITS, all of the text. */
static bool read_exponent(const char *p, const char *end, int64_t *exponent)
{
	bool negative = false;
	int64_t n = 0;
	if (p == end || (*p | 0x20) != 'e')
		return false;
	p++;
	if (p < end && (*p == '-' || *p == '+'))
		negative = *p++ == '-';
	if (p == end)
		return false;
	for (; p < end; p++) {
		if (!tr_is_digit(*p))
			return false;
		if (n < exponent_limit)
			n = n * 10 + (*p - '0');
	}
	*exponent = negative ? -n : n;
	return true;
}

/* Reads DIGITS[.DIGITS][eE[+-]DIGITS], all of the text. */
static bool read_decimal(const char *p, const char *end, struct tr_decimal *decimal)
{
	const char *point = tr_skip_digits(p, end), *mantissa = point;
	int64_t shift = 0;
	if (p == point)
		return false;
	if (point < end && *point == '.') {
		mantissa = tr_skip_digits(point + 1, end);
		if (mantissa == point + 1)
			return false;
	}
	if (mantissa < end && !read_exponent(mantissa, end, &shift))
		return false;
	while (p < mantissa && (*p == '0' || *p == '.'))
		p++;
	decimal->digits = tr_text_span(p, mantissa);
	decimal->exponent = shift + (p < point ? point - p - 1 : point - p);
	return true;
}

/* Reads 0xHEX, all of the text. False: it is something else, or has more than 64 bits. */
static bool read_hex(const char *p, const char *end, uint64_t *number)
{
	if (end - p < 3 || p[0] != '0' || p[1] != 'x')
		return false;
	*number = 0;
	for (p += 2; p < end; p++) {
		int digit = tr_hex_digit(*p);
		if (digit < 0 || *number >> 60)
			return false;
		*number = *number << 4 | (unsigned)digit;
	}
	return true;
}

bool tr_number_from_cell(struct tr_text cell, struct tr_number *number)
{
	const char *p = cell.data, *end = p + cell.len;
	number->negative = false;
	if (p < end && (*p == '-' || *p == '+'))
		number->negative = *p++ == '-';
	if (p == end || !tr_is_digit(*p))
		return false;
	number->type = TR_NUMBER_INTEGER;
	if (tr_decimal_read(tr_text_span(p, end), UINT64_MAX, &number->magnitude) ||
	    read_hex(p, end, &number->magnitude))
		return true;
	number->type = TR_NUMBER_DECIMAL;
	number->decimal.negative = number->negative;
	return read_decimal(p, end, &number->decimal);
}

/* A number that is an integer. */
static struct tr_number integer(bool negative, uint64_t magnitude)
{
	return (struct tr_number){ .type = TR_NUMBER_INTEGER,
				   .negative = negative,
				   .magnitude = magnitude };
}

struct tr_number tr_number_from_count(uint64_t count)
{
	return integer(false, count);
}

/* A number from the bits of a double, as a value stores them. */
static struct tr_number real64(uint64_t bits)
{
	struct tr_number number = { .type = TR_NUMBER_REAL64 };
	memcpy(&number.real, &bits, sizeof number.real);
	return number;
}

/* A number from the bits of a float. */
static struct tr_number real32(uint64_t bits)
{
	uint32_t narrow = (uint32_t)bits;
	float real;
	memcpy(&real, &narrow, sizeof real);
	return (struct tr_number){ .type = TR_NUMBER_REAL32, .real = real };
}

/* A symbol counts as the number in its parentheses; one of words alone has none. */
bool tr_number_from_value(const struct tr_value *value, struct tr_number *number)
{
	switch (value->type) {
	case TR_UINT:
	case TR_POINTER:
		*number = integer(false, value->as.number);
		return true;
	case TR_INT:
		*number = integer(value->flags & TR_NEGATIVE, value->as.number);
		return true;
	case TR_REAL64:
		*number = real64(value->as.number);
		return true;
	case TR_REAL32:
		*number = real32(value->as.number);
		return true;
	case TR_SYMBOL:
		*number = integer(value->flags & TR_NEGATIVE, value->as.symbol->number);
		return value->as.symbol->numbered != TR_SYMBOL_WORDS;
	default:
		return false;
	}
}

/* Makes a decimal of an integer; its digits are in room. */
static struct tr_decimal to_decimal(bool negative, uint64_t n, char room[static DECIMAL_ROOM])
{
	size_t len = n ? tr_decimal_write(n, room) : 0;
	return (struct tr_decimal){ .digits = { room, len },
				    .exponent = (int64_t)len - 1,
				    .negative = negative };
}

/*
 * Rounds the literal to both widths. strtod gets "314e-2" for 3.14, because the decimal point
 * depends on the locale.
 */
static bool round_literal(struct tr_number_literal *literal, struct tr_arena *arena)
{
	const struct tr_decimal *decimal = &literal->decimal;
	size_t cap = decimal->digits.len + 32, len = 0;
	/* the digits, a sign, and an exponent of up to 20 digits */
	char *text = tr_arena_alloc(arena, cap);
	if (!text)
		return false;
	if (literal->negative)
		text[len++] = '-';
	text[len++] = '0';
	size_t first = len;
	for (size_t i = 0; i < decimal->digits.len; i++) {
		if (decimal->digits.data[i] != '.')
			text[len++] = decimal->digits.data[i];
	}
	int64_t exponent = decimal->exponent - (int64_t)(len - first) + 1;
	snprintf(text + len, cap - len, "e%lld", (long long)exponent);
	literal->real64 = strtod(text, NULL);
	literal->real32 = strtof(text, NULL);
	return true;
}

/* All forms are made now, so that a comparison only chooses one. */
bool tr_number_literal_read(struct tr_text token, struct tr_arena *arena,
			    struct tr_number_literal *literal, bool *fits)
{
	struct tr_text copy = tr_arena_copy(arena, token);
	*literal = (struct tr_number_literal){ 0 };
	*fits = true;
	if (!copy.data)
		return false;
	const char *p = copy.data, *end = p + copy.len;
	if (*p == '-') {
		literal->negative = true;
		p++;
	}
	if (end - p > 2 && p[1] == 'x') {
		char *room = tr_arena_alloc(arena, DECIMAL_ROOM);
		*fits = read_hex(p, end, &literal->magnitude);
		if (!room || !*fits)
			return false;
		literal->is_integer = true;
		literal->decimal = to_decimal(false, literal->magnitude, room);
	} else {
		read_decimal(p, end, &literal->decimal);
		literal->is_integer =
			tr_decimal_read(tr_text_span(p, end), UINT64_MAX, &literal->magnitude);
		literal->is_real = tr_skip_digits(p, end) != end;
	}
	literal->decimal.negative = literal->negative;
	return round_literal(literal, arena);
}

/* The order of two negative numbers from that of their magnitudes. */
static enum tr_order reversed(enum tr_order order)
{
	return order == TR_LESS ? TR_GREATER : order == TR_GREATER ? TR_LESS : order;
}

static enum tr_order order_of(bool less, bool greater)
{
	return less ? TR_LESS : greater ? TR_GREATER : TR_EQUAL;
}

/* Returns the next digit, and '0' after the end, because 1.5 and 1.50 are equal. */
static char next_digit(const char **p, const char *end)
{
	if (*p < end && **p == '.')
		++*p;
	return *p < end ? *(*p)++ : '0';
}

/*
 * Compares without signs: the exponent of the first digit decides, and then the digits. No decimal
 * is expanded, so an exponent of a hostile trace costs nothing.
 */
static enum tr_order compare_magnitudes(const struct tr_decimal *a, const struct tr_decimal *b)
{
	/* a zero has no digits, and no exponent */
	if (!a->digits.len || !b->digits.len)
		return order_of(b->digits.len != 0, a->digits.len != 0);
	if (a->exponent != b->exponent)
		return order_of(a->exponent < b->exponent, true);
	const char *p = a->digits.data, *p_end = p + a->digits.len;
	const char *q = b->digits.data, *q_end = q + b->digits.len;
	while (p < p_end || q < q_end) {
		char x = next_digit(&p, p_end), y = next_digit(&q, q_end);
		if (x != y)
			return order_of(x < y, true);
	}
	return TR_EQUAL;
}

/* Compares with signs. Zero has none. */
static enum tr_order compare_decimals(const struct tr_decimal *a, const struct tr_decimal *b)
{
	bool a_negative = a->negative && a->digits.len, b_negative = b->negative && b->digits.len;
	if (a_negative != b_negative)
		return a_negative ? TR_LESS : TR_GREATER;
	enum tr_order order = compare_magnitudes(a, b);
	return a_negative ? reversed(order) : order;
}

/* Compares integers with signs, whose magnitudes have 64 bits each. */
static enum tr_order compare_integers(bool a_negative, uint64_t a, bool b_negative, uint64_t b)
{
	a_negative = a_negative && a; /* there is one zero */
	b_negative = b_negative && b;
	if (a_negative != b_negative)
		return a_negative ? TR_LESS : TR_GREATER;
	enum tr_order order = order_of(a<b, a> b);
	return a_negative ? reversed(order) : order;
}

/* Compares an integer of a record with a literal of any form. */
static enum tr_order compare_integer(const struct tr_number *number,
				     const struct tr_number_literal *literal)
{
	if (literal->is_integer)
		return compare_integers(number->negative, number->magnitude, literal->negative,
					literal->magnitude);
	char room[DECIMAL_ROOM];
	struct tr_decimal decimal = to_decimal(number->negative, number->magnitude, room);
	return compare_decimals(&decimal, &literal->decimal);
}

/* Compares exactly, although a double cannot hold every integer. real is not a NaN. */
static enum tr_order compare_real_to_integer(double real, const struct tr_number_literal *literal)
{
	double magnitude = fabs(real);
	bool negative = real < 0;
	if (isinf(real))
		return negative ? TR_LESS : TR_GREATER;
	if (literal->is_integer && magnitude < 0x1p64) {
		uint64_t whole = (uint64_t)magnitude;
		enum tr_order order =
			compare_integers(negative, whole, literal->negative, literal->magnitude);
		/* the fraction decides if the whole parts are equal */
		if (order == TR_EQUAL && magnitude > (double)whole)
			order = negative ? TR_LESS : TR_GREATER;
		return order;
	}
	/* from here on both are whole numbers, or the literal has more than 64 bits */
	char room[REAL_ROOM];
	snprintf(room, sizeof room, "%.0f", magnitude);
	struct tr_decimal decimal;
	read_decimal(room, room + strlen(room), &decimal);
	decimal.negative = negative;
	return compare_decimals(&decimal, &literal->decimal);
}

/* Compares a number of a record with a literal. */
static enum tr_order number_compare(const struct tr_number *number,
				    const struct tr_number_literal *literal)
{
	switch (number->type) {
	case TR_NUMBER_INTEGER:
		return compare_integer(number, literal);
	case TR_NUMBER_DECIMAL:
		return compare_decimals(&number->decimal, &literal->decimal);
	default:
		break;
	}
	if (isnan(number->real))
		return TR_UNORDERED;
	if (!literal->is_real)
		return compare_real_to_integer(number->real, literal);
	double wanted = number->type == TR_NUMBER_REAL32 ? literal->real32 : literal->real64;
	return order_of(number->real<wanted, number->real> wanted);
}

enum tr_order tr_number_literal_compare(const struct tr_number_literal *a,
					const struct tr_number_literal *b)
{
	return compare_decimals(&a->decimal, &b->decimal);
}

enum { FEW = 16 }; /* literals: up to this number, a loop is as fast as a search */

/* A number, or a range of them. */
struct span {
	const struct tr_number_literal *low;
	/* after sorting: the highest end of this span and all before it */
	const struct tr_number_literal *high;
};

/* The literals of a test, sorted. */
struct tr_many {
	size_t text_count, span_count;
	struct tr_text *texts;
	struct span *spans;
};

/* Sorts texts by their length first, so that bytes are seldom compared. */
static int compare_texts(const void *a, const void *b)
{
	const struct tr_text *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return x->len ? memcmp(x->data, y->data, x->len) : 0;
}

/* Sorts spans by their low ends. */
static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	enum tr_order order = tr_number_literal_compare(x->low, y->low);

	return order == TR_LESS ? -1 : order == TR_GREATER;
}

/* Counts the literals. False: they are few, or one is neither a string nor a number. */
static bool count_literals(const struct tr_test *test, struct tr_many *many)
{
	for (const struct tr_literal *literal = test->literals; literal; literal = literal->next) {
		if (literal->type == TR_LITERAL_STRING)
			many->text_count++;
		else if (literal->type == TR_LITERAL_NUMBER || literal->type == TR_LITERAL_RANGE)
			many->span_count++;
		else
			return false;
	}
	return many->text_count + many->span_count > FEW;
}

/*
 * Fills and sorts the lists. Spans may overlap, so each gets the highest end of those before it;
 * then one search is enough to decide whether any of them contains a number.
 */
static void fill(struct tr_many *many, const struct tr_literal *literal)
{
	size_t texts = 0, spans = 0;

	for (; literal; literal = literal->next) {
		if (literal->type == TR_LITERAL_STRING)
			many->texts[texts++] = literal->text;
		else
			many->spans[spans++] =
				(struct span){ &literal->number, literal->type == TR_LITERAL_RANGE
									 ? &literal->high
									 : &literal->number };
	}
	qsort(many->texts, texts, sizeof *many->texts, compare_texts);
	qsort(many->spans, spans, sizeof *many->spans, compare_spans);
	for (size_t i = 1; i < spans; i++) {
		const struct tr_number_literal *before = many->spans[i - 1].high;
		if (tr_number_literal_compare(before, many->spans[i].high) == TR_GREATER)
			many->spans[i].high = before;
	}
}

bool tr_many_build(struct tr_test *test, struct tr_arena *arena)
{
	struct tr_many counted = { 0 };

	if (!count_literals(test, &counted))
		return true;
	struct tr_many *many = tr_arena_alloc(arena, sizeof *many);
	counted.texts = tr_arena_alloc(arena, (counted.text_count + 1) * sizeof *counted.texts);
	counted.spans = tr_arena_alloc(arena, (counted.span_count + 1) * sizeof *counted.spans);
	if (!many || !counted.texts || !counted.spans)
		return false;
	*many = counted;
	fill(many, test->literals);
	test->many = many;
	return true;
}

bool tr_many_has_text(const struct tr_many *many, struct tr_text bytes)
{
	return bsearch(&bytes, many->texts, many->text_count, sizeof *many->texts, compare_texts);
}

/* Whether one of the spans contains the number. */
static bool many_has_number(const struct tr_many *many, const struct tr_number *number)
{
	size_t begun = tr_array_search(i, 0, many->span_count,
				       number_compare(number, many->spans[i].low) != TR_LESS);

	/* high is the highest end of all spans so far, so the last one that has begun decides */
	return begun && number_compare(number, many->spans[begun - 1].high) != TR_GREATER;
}

/* The bytes of a symbol's name; empty if memory is exhausted, which is noted. */
static struct tr_text name_bytes(struct tr_compare *compare, const struct tr_name *name)
{
	struct tr_text bytes = tr_string_bytes(name->text, compare->arena);
	if (!bytes.data) {
		compare->trouble |= TR_TROUBLE_MEMORY;
		return TR_TEXT("");
	}
	return bytes;
}

/* A symbol equals a word if it has this one name, and no unknown bits. */
static bool symbol_is(struct tr_compare *compare, const struct tr_value *value, struct tr_text word)
{
	const struct tr_symbol *symbol = value->as.symbol;
	return symbol->count == 1 && !symbol->unknown_bits &&
	       tr_text_equal(name_bytes(compare, &symbol->names[0]), word);
}

/* Whether a symbol has this name among others, as a flag. */
static bool symbol_has(struct tr_compare *compare, const struct tr_value *value,
		       struct tr_text word)
{
	const struct tr_symbol *symbol = value->as.symbol;
	for (size_t i = 0; i < symbol->count; i++) {
		if (tr_text_equal(name_bytes(compare, &symbol->names[i]), word))
			return true;
	}
	return false;
}

/*
 * Whether a symbol has all of the words, or a list the string, which is compared with each element.
 * Text has no words, which is reported.
 */
static bool has_words(struct tr_compare *compare, const struct tr_test *test,
		      const struct tr_leaf *leaf)
{
	if (leaf->type == TR_LEAF_TEXT && test->literals->type == TR_LITERAL_STRING)
		return tr_text_equal(leaf->bytes, test->literals->text);
	if (leaf->type == TR_LEAF_TEXT)
		compare->trouble |= TR_TROUBLE_WORD;
	if (leaf->type != TR_LEAF_SYMBOL)
		return false;
	for (const struct tr_literal *word = test->literals; word; word = word->next) {
		if (!symbol_has(compare, leaf->value, word->text))
			return false;
	}
	return true;
}

/* Whether a number is in a range, with both ends. */
static bool in_range(const struct tr_leaf *leaf, const struct tr_literal *range)
{
	enum tr_order low = number_compare(&leaf->number, &range->number);
	enum tr_order high = number_compare(&leaf->number, &range->high);
	return (low == TR_EQUAL || low == TR_GREATER) && (high == TR_EQUAL || high == TR_LESS);
}

/*
 * Compares with one literal. A string equals a symbol by its name, so `mode == "GL_LINES"` works;
 * a WORD never equals text, which is reported.
 */
static bool is_equal(struct tr_compare *compare, const struct tr_leaf *leaf,
		     const struct tr_literal *literal)
{
	switch (literal->type) {
	case TR_LITERAL_NULL:
		return leaf->type == TR_LEAF_CONSTANT && leaf->constant == TR_NULL;
	case TR_LITERAL_FALSE:
		return leaf->type == TR_LEAF_CONSTANT && leaf->constant == TR_FALSE;
	case TR_LITERAL_TRUE:
		return leaf->type == TR_LEAF_CONSTANT && leaf->constant == TR_TRUE;
	case TR_LITERAL_NUMBER:
		return leaf->has_number &&
		       number_compare(&leaf->number, &literal->number) == TR_EQUAL;
	case TR_LITERAL_RANGE:
		return leaf->has_number && in_range(leaf, literal);
	case TR_LITERAL_STRING:
		if (leaf->type == TR_LEAF_SYMBOL)
			return symbol_is(compare, leaf->value, literal->text);
		return leaf->type == TR_LEAF_TEXT && tr_text_equal(leaf->bytes, literal->text);
	case TR_LITERAL_WORD:
		/* of cells the parser knows that they are text, and has refused the word */
		if (leaf->type == TR_LEAF_TEXT && leaf->is_value)
			compare->trouble |= TR_TROUBLE_WORD;
		return leaf->type == TR_LEAF_SYMBOL &&
		       symbol_is(compare, leaf->value, literal->text);
	}
	return false;
}

/*
 * Compares with all literals of "==" or "in". A symbol is compared one by one, because both its
 * name and its number count.
 */
static bool is_any_equal(struct tr_compare *compare, const struct tr_test *test,
			 const struct tr_leaf *leaf)
{
	if (test->many && leaf->type != TR_LEAF_SYMBOL &&
	    (!leaf->has_number || tr_many_takes(&leaf->number)))
		return (leaf->type == TR_LEAF_TEXT && tr_many_has_text(test->many, leaf->bytes)) ||
		       (leaf->has_number && many_has_number(test->many, &leaf->number));
	for (const struct tr_literal *literal = test->literals; literal; literal = literal->next) {
		if (is_equal(compare, leaf, literal))
			return true;
	}
	return false;
}

/* Orders strings by their bytes, whatever the locale. */
static enum tr_order order_of_bytes(struct tr_text a, struct tr_text b)
{
	int order = tr_text_compare(a, b);

	return order < 0 ? TR_LESS : order > 0 ? TR_GREATER : TR_EQUAL;
}

/* The order for < and the like. Values of different types have none. */
static enum tr_order order_of_leaf(struct tr_compare *compare, const struct tr_leaf *leaf,
				   const struct tr_literal *literal)
{
	if (literal->type == TR_LITERAL_NUMBER && leaf->has_number)
		return number_compare(&leaf->number, &literal->number);
	if (literal->type == TR_LITERAL_STRING && leaf->type == TR_LEAF_TEXT)
		return order_of_bytes(leaf->bytes, literal->text);
	if (literal->type == TR_LITERAL_WORD && leaf->type == TR_LEAF_TEXT && leaf->is_value)
		compare->trouble |= TR_TROUBLE_WORD;
	return TR_UNORDERED;
}

/* Applies a regular expression; a limit counts as no match, and is reported. */
static bool match_regex(struct tr_compare *compare, const struct tr_regex *regex,
			struct tr_text bytes)
{
	switch (tr_regex_match(regex, bytes, compare->scratch)) {
	case TR_REGEX_YES:
		return true;
	case TR_REGEX_NO:
		return false;
	case TR_REGEX_LIMIT:
		compare->trouble |= TR_TROUBLE_REGEX;
		return false;
	case TR_REGEX_FAILED:
		compare->trouble |= TR_TROUBLE_MEMORY;
		return false;
	}
	return false;
}

/* Applies =~ ^= $= or *= to bytes. */
static bool match_bytes(struct tr_compare *compare, const struct tr_test *test,
			struct tr_text bytes)
{
	if (test->op == TR_OP_REGEX)
		return match_regex(compare, test->regex, bytes);
	struct tr_text part = test->literals->text;
	if (part.len > bytes.len)
		return false;
	if (part.len == 0)
		return true;
	if (test->op == TR_OP_PREFIX)
		return memcmp(bytes.data, part.data, part.len) == 0;
	if (test->op == TR_OP_SUFFIX)
		return memcmp(bytes.data + bytes.len - part.len, part.data, part.len) == 0;
	return memmem(bytes.data, bytes.len, part.data, part.len) != NULL;
}

/* A symbol matches if any of its names does. */
static bool match_text(struct tr_compare *compare, const struct tr_test *test,
		       const struct tr_leaf *leaf)
{
	if (leaf->type == TR_LEAF_TEXT)
		return match_bytes(compare, test, leaf->bytes);
	if (leaf->type != TR_LEAF_SYMBOL)
		return false;
	const struct tr_symbol *symbol = leaf->value->as.symbol;
	for (size_t i = 0; i < symbol->count; i++) {
		if (match_bytes(compare, test, name_bytes(compare, &symbol->names[i])))
			return true;
	}
	return false;
}

bool tr_compare_leaf(struct tr_compare *compare, const struct tr_test *test,
		     const struct tr_leaf *leaf)
{
	enum tr_order order;
	switch (test->op) {
	case TR_OP_EXISTS:
		return true;
	case TR_OP_EQ:
		return is_any_equal(compare, test, leaf);
	case TR_OP_LT:
		return order_of_leaf(compare, leaf, test->literals) == TR_LESS;
	case TR_OP_GT:
		return order_of_leaf(compare, leaf, test->literals) == TR_GREATER;
	case TR_OP_LE:
		order = order_of_leaf(compare, leaf, test->literals);
		return order == TR_LESS || order == TR_EQUAL;
	case TR_OP_GE:
		order = order_of_leaf(compare, leaf, test->literals);
		return order == TR_GREATER || order == TR_EQUAL;
	case TR_OP_PREFIX:
	case TR_OP_SUFFIX:
	case TR_OP_CONTAINS:
	case TR_OP_REGEX:
		return match_text(compare, test, leaf);
	case TR_OP_HAS_WORDS:
		return has_words(compare, test, leaf);
	}
	return false;
}
