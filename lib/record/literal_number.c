/* Numbers of the value grammar. */
#include <string.h>

#include "core/hex.h"
#include "record/literal_scan.h"

static const uint64_t JSON_INTEGER_MAX = (UINT64_C(1) << 53) - 1;

bool tr_scan_digits(struct tr_scan *scan, const char *what, uint64_t *number)
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

bool tr_scan_hex(struct tr_scan *scan, const char *what, uint64_t *number)
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
	return tr_scan_digits(scan, "identifier", id);
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

/* Behind the fraction and the exponent that may follow an integer's digits. */
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
	return tr_scan_hex(scan, "address", &value->as.number);
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
	if (!tr_scan_digits(scan, NULL, &value->as.number))
		return false;
	if (tr_scan_at(scan, 'f'))
		return tr_scan_fail(scan, start, "an integer has no f");
	if (value->as.number > JSON_INTEGER_MAX || sign == '+' ||
	    (sign == '-' && value->as.number == 0))
		scan->traits |= TR_TRAIT_NO_JSON;
	return true;
}
