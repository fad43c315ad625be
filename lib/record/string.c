/* SPDX-License-Identifier: MIT */
/*
 * Escapes of strings: a sequence that begins with a backslash is decoded to a unit (struct
 * tr_escape), and a unit is encoded to its canonical spelling.
 */

#include <stddef.h>
#include <string.h>

#include "core/text.h"
#include "core/utf8.h"
#include "record/literal.h"
#include "record/string_scan.h"
#include "record/value.h"

/* Returns the number in exactly n hex digits at p; -1: they are not there. */
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

/* Fills the reason why an escape is malformed. False. */
static bool fail(struct tr_escape *escape, const char *reason, size_t at)
{
	escape->reason = reason;
	escape->reason_at = at;
	return false;
}

/* Fills an escape that is complete. True. */
static bool found(struct tr_escape *escape, int type, uint64_t code, size_t len)
{
	escape->type = type;
	escape->code = code;
	escape->len = len;
	return true;
}

/* Reads `\u{hex}`: a unit of a wide string, in any number of digits. */
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

/* Reads `\uhhhh`; a high surrogate and a low one after it are one character. */
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

/* Reads `\xhh`, and those after it as far as they form one valid sequence with it. */
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
	/*
	 * bytes that form a character are the character: a reader accepts this spelling, a writer
	 * does not use it
	 */
	unsigned length = tr_utf8_length(bytes, bytes + n);
	if (length == 0)
		return found(escape, TR_ESCAPE_BYTE, (uint64_t)first, 4);
	return found(escape, TR_ESCAPE_CHAR, tr_utf8_decode(bytes, length), (size_t)4 * length);
}

/* Reads one escape. Letters come from JSON; \x is only for bytes, and \u{ only for wide strings. */
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

/* Writes that many hex digits. */
static size_t write_hex(char *to, uint64_t n, int digits)
{
	for (int i = 0; i < digits; i++)
		to[i] = "0123456789abcdef"[n >> (4 * (digits - 1 - i)) & 15];
	return (size_t)digits;
}

/* Writes \u{hex}, for units of wide strings that are no characters. */
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

/* The shortest escape of JSON, or the character itself where it needs none. */
size_t tr_escape_write(const struct tr_escape *escape, bool wide, char *to)
{
	uint64_t code = escape->code;
	if (escape->type == TR_ESCAPE_BYTE) {
		memcpy(to, "\\x", 2);
		return 2 + write_hex(to + 2, code, 2);
	}
	to[0] = '\\';
	to[1] = (char)code;
	if (code == '"' || code == '\\')
		return 2;
	if (wide && (is_surrogate(code) || code > 0x10ffff))
		return write_braces(to, code);
	if (code >= 0x20 && code != 0x7f && !is_surrogate(code))
		return tr_utf8_encode((uint32_t)code, to);
	static const char controls[] = "\b\t\n\f\r", letters[] = "btnfr";
	const char *control = code ? strchr(controls, (int)code) : NULL;
	if (control && code < 0x80) {
		to[1] = letters[control - controls];
		return 2;
	}
	to[1] = 'u';
	return 2 + write_hex(to + 2, code, 4);
}

/* Appends the escape for a byte that needs one or is not part of a valid sequence. */
static void put_escape(unsigned char c, struct tr_buffer *to)
{
	struct tr_escape escape = { .type = c < 0x80 ? TR_ESCAPE_CHAR : TR_ESCAPE_BYTE, .code = c };
	char spelled[TR_ESCAPE_MAX] = { '\\', (char)c };
	bool simple = c == '"' || c == '\\'; /* as most are */
	tr_buffer_put(to, spelled, simple ? 2 : tr_escape_write(&escape, false, spelled));
}

bool tr_string_escape(struct tr_text bytes, struct tr_buffer *to)
{
	if (bytes.len == 0)
		return true;
	const char *p = bytes.data, *end = p + bytes.len, *copied = p;
	bool plain = true;
	while ((p = tr_string_special(p, end)) < end) {
		unsigned length = (unsigned char)*p < 0x80 ? 0 : tr_utf8_length(p, end);
		if (length == 0) {
			plain = false;
			tr_buffer_put(to, copied, (size_t)(p - copied));
			put_escape((unsigned char)*p, to);
			copied = p + 1;
		}
		p += length ? length : 1;
	}
	tr_buffer_put(to, copied, (size_t)(end - copied));
	return plain;
}

/* Copies bytes, after which TR_STRING_PAD bytes can be read. False: one of them is special. */
static inline bool copy_plain(struct tr_text bytes, char *to)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	for (size_t i = 0; i < bytes.len; i += TR_STRING_PAD) {
		size_t left = bytes.len - i;
		unsigned ours = left < TR_STRING_PAD ? (1u << left) - 1 : 0xffff;
		__m128i block = _mm_loadu_si128((const __m128i *)(const void *)(bytes.data + i));
		_mm_storeu_si128((__m128i *)(void *)(to + i), block);
		if (tr_string_special_mask(block) & ours)
			return false;
	}
	return true;
#else
	const char *end = bytes.data + bytes.len;
	if (tr_string_special(bytes.data, end) < end)
		return false;
	memcpy(to, bytes.data, bytes.len);
	return true;
#endif
}

/*
 * Bytes are copied and checked in one pass; only if one is special, they are escaped from the
 * beginning.
 */
void tr_string_quote_padded(struct tr_text bytes, struct tr_buffer *to)
{
	char *room = tr_buffer_room(to, bytes.len + TR_STRING_PAD + 2);

	if (!room)
		return;
	*room = '"';
	if (copy_plain(bytes, room + 1)) {
		room[1 + bytes.len] = '"';
		tr_buffer_used(to, bytes.len + 2);
		return;
	}
	tr_buffer_used(to, 1);
	tr_string_escape(bytes, to);
	tr_buffer_put_byte(to, '"');
}

void tr_wstring_unit(uint64_t unit, struct tr_buffer *to)
{
	struct tr_escape escape = { .type = TR_ESCAPE_CHAR, .code = unit };
	char *room = tr_buffer_room(to, TR_ESCAPE_MAX);
	if (room)
		tr_buffer_used(to, tr_escape_write(&escape, true, room));
}

/* Writes the bytes of one escape, of lone surrogates and of numbers beyond Unicode too. */
static size_t escape_bytes(const struct tr_escape *escape, char *to)
{
	uint64_t code = escape->code;
	if (escape->type == TR_ESCAPE_BYTE) {
		*to = (char)code;
		return 1;
	}
	if (code >= 0xd800 && code < 0xe000) {
		to[0] = (char)0xed;
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	if (code > 0x10ffff)
		return tr_escape_write(escape, true, to);
	return tr_utf8_encode((uint32_t)code, to);
}

size_t tr_string_unit(const char *p, const char *end, char *to, size_t *length)
{
	struct tr_escape escape;

	if (*p != '\\' || !tr_escape_read(p, end, false, &escape)) {
		*to = *p;
		*length = 1;
		return 1;
	}
	*length = escape_bytes(&escape, to);
	return escape.len;
}

struct tr_text tr_string_bytes(struct tr_text spelling, struct tr_arena *arena)
{
	const char *p = spelling.data, *end = p + spelling.len;
	if (spelling.len == 0)
		return TR_TEXT("");
	const char *backslash = memchr(p, '\\', spelling.len);
	if (!backslash)
		return spelling;
	/* no escape is shorter than its bytes; TR_ESCAPE_MAX is slack for writing one */
	char *bytes = tr_arena_alloc(arena, spelling.len + TR_ESCAPE_MAX);
	if (!bytes)
		return (struct tr_text){ NULL, 0 };
	char *to = bytes;
	while (backslash) {
		memcpy(to, p, (size_t)(backslash - p));
		to += backslash - p;
		/* only wide strings have `\u{…}`, and narrow ones have no similar escape */
		bool wide = end - backslash > 2 && backslash[2] == '{';
		struct tr_escape escape;
		p = backslash;
		if (!tr_escape_read(backslash, end, wide, &escape))
			break;
		to += escape_bytes(&escape, to);
		p += escape.len;
		backslash = p < end ? memchr(p, '\\', (size_t)(end - p)) : NULL;
	}
	memcpy(to, p, (size_t)(end - p));
	to += end - p;
	return tr_text_span(bytes, to);
}

/* Each character or escape of the spelling is one unit. */
bool tr_wstring_next(struct tr_text *spelling, uint64_t *unit)
{
	const char *p = spelling->data, *end = p + spelling->len;
	size_t length;
	if (spelling->len == 0)
		return false;
	if (*p == '\\') {
		struct tr_escape escape;
		if (!tr_escape_read(p, end, true, &escape))
			return false;
		*unit = escape.code;
		length = escape.len;
	} else {
		length = tr_utf8_length(p, end);
		if (length == 0)
			return false;
		*unit = tr_utf8_decode(p, (unsigned)length);
	}
	*spelling = tr_text_span(p + length, end);
	return true;
}

bool tr_is_reserved(struct tr_text word)
{
	static const char *const reserved[] = { "null", "true", "false", "none", "inf",
						"inff", "nan",	"nanf",	 "L",	 NULL };

	return word.len <= sizeof "false" - 1 && tr_text_is_among(word, reserved);
}

bool tr_is_word(struct tr_text name, bool before_parenthesis)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.data[i];
		bool letter = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
		if (!letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	if (name.len == 0)
		return false;
	return before_parenthesis || !tr_is_reserved(name);
}
