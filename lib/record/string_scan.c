#include "record/string_scan.h"

#include <string.h>

#include "core/hex.h"
#include "core/utf8.h"

/* The number in exactly n hex digits at p, -1 where they are not there. */
static long hex_digits(const char *p, const char *end, int n)
{
	if (end - p < n)
		return -1;
	long value = 0;
	for (int i = 0; i < n; i++) {
		int digit = tr_hex_digit(p[i]);
		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

static bool is_high_surrogate(uint64_t code)
{
	return code >= 0xd800 && code < 0xdc00;
}

static bool is_surrogate(uint64_t code)
{
	return code >= 0xd800 && code < 0xe000;
}

static bool fail(struct tr_escape *escape, const char *reason, size_t at)
{
	escape->reason = reason;
	escape->reason_at = at;
	return false;
}

static bool found(struct tr_escape *escape, int type, uint64_t code, size_t len)
{
	escape->type = type;
	escape->code = code;
	escape->len = len;
	return true;
}

/* `\u{hex}`: a unit of a wide string, in as many digits as the source likes. */
static bool read_braces(const char *p, const char *end, struct tr_escape *escape)
{
	const char *q = p + 3;
	uint64_t code = 0;
	for (; q < end && tr_hex_digit(*q) >= 0; q++) {
		if (code >> 60)
			return fail(escape, "\\u{} beyond 64 bits", 3);
		code = code << 4 | (uint64_t)tr_hex_digit(*q);
	}
	if (q == p + 3)
		return fail(escape, "hex digits expected in \\u{}", 3);
	if (q == end || *q != '}')
		return fail(escape, "} expected after \\u{", (size_t)(q - p));
	return found(escape, TR_ESCAPE_CHAR, code, (size_t)(q + 1 - p));
}

/* `\uhhhh`; a high surrogate and a low one behind it are one character. */
static bool read_unicode(const char *p, const char *end, bool wide, struct tr_escape *escape)
{
	if (wide && end - p > 2 && p[2] == '{')
		return read_braces(p, end, escape);
	long code = hex_digits(p + 2, end, 4);
	if (code < 0)
		return fail(escape, "\\u needs four hex digits", 0);
	if (is_high_surrogate((uint64_t)code) && end - p >= 12 && p[6] == '\\' && p[7] == 'u') {
		long low = hex_digits(p + 8, end, 4);
		if (low >= 0xdc00 && low < 0xe000)
			return found(escape, TR_ESCAPE_CHAR,
				     (uint64_t)(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)),
				     12);
	}
	bool lone = is_surrogate((uint64_t)code) && !wide;
	return found(escape, lone ? TR_ESCAPE_SURROGATE : TR_ESCAPE_CHAR, (uint64_t)code, 6);
}

/* `\xhh`, and those behind it as far as they make up one valid sequence with it. */
static bool read_bytes(const char *p, const char *end, struct tr_escape *escape)
{
	long first = hex_digits(p + 2, end, 2);
	if (first < 0)
		return fail(escape, "\\x needs two hex digits", 0);
	if (first < 0x80)
		return fail(escape, "\\x is for bytes 80 to ff", 0);
	char bytes[4] = { (char)first };
	size_t n = 1;
	for (const char *q = p + 4; n < sizeof bytes && end - q >= 4; n++, q += 4) {
		long next = q[0] == '\\' && q[1] == 'x' ? hex_digits(q + 2, end, 2) : -1;
		if (next < 0x80)
			break;
		bytes[n] = (char)next;
	}
	unsigned length = tr_utf8_length(bytes, bytes + n);
	if (length == 0)
		return found(escape, TR_ESCAPE_BYTE, (uint64_t)first, 4);
	return found(escape, TR_ESCAPE_CHAR, tr_utf8_decode(bytes, length), (size_t)4 * length);
}

bool tr_escape_read(const char *p, const char *end, bool wide, struct tr_escape *escape)
{
	static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	escape->reason = NULL;
	if (end - p < 2)
		return fail(escape, "unknown escape", 0);
	if (p[1] == 'u')
		return read_unicode(p, end, wide, escape);
	if (p[1] == 'x' && !wide)
		return read_bytes(p, end, escape);
	const char *letter = p[1] ? strchr(letters, p[1]) : NULL;
	if (!letter)
		return fail(escape, "unknown escape", 0);
	return found(escape, TR_ESCAPE_CHAR, (unsigned char)meanings[letter - letters], 2);
}

static size_t write_hex(char *to, uint64_t n, int digits)
{
	for (int i = 0; i < digits; i++)
		to[i] = "0123456789abcdef"[n >> (4 * (digits - 1 - i)) & 15];
	return (size_t)digits;
}

static size_t write_braces(char *to, uint64_t code)
{
	int digits = 1;
	while (digits < 16 && code >> (4 * digits))
		digits++;
	memcpy(to, "\\u{", 3);
	size_t len = 3 + write_hex(to + 3, code, digits);
	to[len] = '}';
	return len + 1;
}

size_t tr_escape_write(const struct tr_escape *escape, bool wide, char *to)
{
	uint64_t code = escape->code;
	if (escape->type == TR_ESCAPE_BYTE) {
		memcpy(to, "\\x", 2);
		return 2 + write_hex(to + 2, code, 2);
	}
	if (wide && (is_surrogate(code) || code > 0x10ffff))
		return write_braces(to, code);
	if (code >= 0x20 && code != 0x7f && code != '"' && code != '\\' && !is_surrogate(code))
		return tr_utf8_encode((uint32_t)code, to);
	to[0] = '\\';
	static const char controls[] = "\b\t\n\f\r\"\\", letters[] = "btnfr\"\\";
	const char *control = code ? strchr(controls, (int)code) : NULL;
	if (control && code < 0x80) {
		to[1] = letters[control - controls];
		return 2;
	}
	to[1] = 'u';
	return 2 + write_hex(to + 2, code, 4);
}

/* Steps over the escape at scan->end and notes what it means for the whole string. */
static bool scan_escape(const char *end, bool wide, struct tr_string_scan *scan)
{
	const char *p = scan->end;
	scan->plain = false;
	if (end - p >= 2 && (p[1] == '"' || p[1] == '\\' || p[1] == 'n' || p[1] == 't')) {
		scan->end = p + 2;
		return true;
	}
	struct tr_escape escape;
	if (!tr_escape_read(p, end, wide, &escape)) {
		scan->reason = escape.reason;
		scan->end = p + escape.reason_at;
		return false;
	}
	char canonical[TR_ESCAPE_MAX];
	size_t len = tr_escape_write(&escape, wide, canonical);
	scan->canonical &= len == escape.len && memcmp(canonical, p, len) == 0;
	scan->json &= escape.type == TR_ESCAPE_CHAR;
	scan->end = p + escape.len;
	return true;
}

bool tr_string_scan(const char *p, const char *end, bool wide, struct tr_string_scan *scan)
{
	*scan = (struct tr_string_scan){ p, NULL, true, true, true };
	for (;;) {
		p = scan->end = tr_string_special(scan->end, end);
		if (p == end) {
			scan->reason = "end of value in a string";
			return false;
		}
		if (*p == '"')
			return true;
		if (*p == '\\') {
			if (!scan_escape(end, wide, scan))
				return false;
			continue;
		}
		unsigned length = (unsigned char)*p < 0x80 ? 0 : tr_utf8_length(p, end);
		if (length == 0) {
			scan->reason = (unsigned char)*p < 0x80 ? "raw control byte in a string"
								: "no valid UTF-8 in a string";
			return false;
		}
		scan->end = p + length;
	}
}

size_t tr_string_respell(struct tr_text spelling, bool wide, char *to)
{
	const char *p = spelling.data, *end = p + spelling.len;
	char *start = to;
	while (p < end) {
		const char *backslash = memchr(p, '\\', (size_t)(end - p));
		const char *stop = backslash ? backslash : end;
		memcpy(to, p, (size_t)(stop - p));
		to += stop - p;
		struct tr_escape escape;
		if (!backslash || !tr_escape_read(backslash, end, wide, &escape))
			break;
		to += tr_escape_write(&escape, wide, to);
		p = backslash + escape.len;
	}
	return (size_t)(to - start);
}
