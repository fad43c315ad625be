/* SPDX-License-Identifier: MIT */
/* Strings: bytes to their spelling, spellings to bytes, and base64 beside it. */
#include "record/literal.h"

#include <stdlib.h>

#include "record/base64.h"

#include "tap.h"

#define BYTES(literal) \
	{ \
		"" literal, sizeof(literal) - 1 \
	}

static void escaping(struct tr_buffer *to)
{
	static const struct {
		struct tr_text bytes;
		const char *spelling;
	} table[] = {
		{ BYTES(""), "" },
		{ BYTES("plain text of more than sixteen bytes"),
		  "plain text of more than sixteen bytes" },
		{ BYTES("a\"b\\c/d"), "a\\\"b\\\\c/d" },
		{ BYTES("\b\t\n\f\r"), "\\b\\t\\n\\f\\r" },
		{ BYTES("\0\x01\x1f\x7f"), "\\u0000\\u0001\\u001f\\u007f" },
		{ BYTES("é€😀"), "é€😀" },
		{ BYTES("\x80\xff"), "\\x80\\xff" },
		{ BYTES("\xc3\xc3\xa9"), "\\xc3é" },
		{ BYTES("\xe2\x82("), "\\xe2\\x82(" },
		{ BYTES("\xe2\x82"), "\\xe2\\x82" },
		{ BYTES("\xed\xa0\x80"), "\\xed\\xa0\\x80" },
		{ BYTES("\xc0\xaf\xe0\x9f\xbf\xf4\x90\x80\x80"),
		  "\\xc0\\xaf\\xe0\\x9f\\xbf\\xf4\\x90\\x80\\x80" },
		{ BYTES("0123456789abcdef\n0123456789abcde\xff"),
		  "0123456789abcdef\\n0123456789abcde\\xff" },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		tr_buffer_reset(to);
		bool plain = tr_string_escape(table[i].bytes, to);
		ok(tr_text_is(tr_buffer_text(to), table[i].spelling) &&
			   plain == (strchr(table[i].spelling, '\\') == NULL),
		   "spelled %s", table[i].spelling);
	}
}

/* In quotes it is the same, for every length, and for every place of what has to be escaped. */
static void quoting(struct tr_buffer *to)
{
	static const char specials[] = "\n\"\\\x7f\xff";
	enum { LONGEST = 50 };
	char bytes[LONGEST + TR_STRING_PAD], want[2 * LONGEST];
	struct tr_buffer escaped = TR_BUFFER_INIT;
	bool same = true;

	for (size_t len = 0; len <= LONGEST; len++) {
		for (size_t i = 0; i < (len + 1) * (sizeof specials - 1); i++) {
			size_t at = i / (sizeof specials - 1);
			memset(bytes, '"', sizeof bytes); /* any bytes may follow it */
			memset(bytes, 'a', len);
			if (at < len)
				bytes[at] = specials[i % (sizeof specials - 1)];
			tr_buffer_reset(&escaped);
			tr_string_escape((struct tr_text){ bytes, len }, &escaped);
			int n = snprintf(want, sizeof want, "\"%.*s\"", (int)escaped.len,
					 escaped.len ? escaped.data : "");
			tr_buffer_reset(to);
			tr_string_quote_padded((struct tr_text){ bytes, len }, to);
			same = same && tr_text_equal(tr_buffer_text(to),
						     (struct tr_text){ want, (size_t)n });
		}
	}
	ok(same, "quoted as escaped");
	tr_buffer_free(&escaped);
}

static void decoding(struct tr_arena *arena)
{
	static const struct {
		struct tr_text spelling, bytes;
	} table[] = {
		{ BYTES(""), BYTES("") },
		{ BYTES("plain"), BYTES("plain") },
		{ BYTES("\\\"\\\\\\/\\b\\f\\n\\r\\t"), BYTES("\"\\/\b\f\n\r\t") },
		{ BYTES("a\\u0000b\\u00e9\\u20AC"), BYTES("a\0bé€") },
		{ BYTES("\\ud83d\\ude00"), BYTES("😀") },
		{ BYTES("\\ud800x"), BYTES("\xed\xa0\x80x") },
		{ BYTES("\\ude00\\ud83d"), BYTES("\xed\xb8\x80\xed\xa0\xbd") },
		{ BYTES("\\x80\\xFF"), BYTES("\x80\xff") },
		{ BYTES("\\xc3\\xa9"), BYTES("é") },
		{ BYTES("\\u{d800}\\u{1f600}"), BYTES("\xed\xa0\x80😀") },
		{ BYTES("\\u{110000}"), BYTES("\\u{110000}") },
		{ BYTES("\\u{ffffffffffffffff}!"), BYTES("\\u{ffffffffffffffff}!") },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		ok(tr_text_equal(tr_string_bytes(table[i].spelling, arena), table[i].bytes),
		   "the bytes of %s", table[i].spelling.data);
	struct tr_text plain = TR_TEXT("as it stands");
	ok(tr_string_bytes(plain, arena).data == plain.data, "no copy where there is no backslash");
}

static void wide_units(struct tr_buffer *to)
{
	static const uint64_t units[] = { 'a',	  0,	   '\n',     0x7f,	0xe9,
					  0xd800, 0x1f600, 0x110000, UINT64_MAX };
	tr_buffer_reset(to);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		tr_wstring_unit(units[i], to);
	ok(tr_text_is(tr_buffer_text(to),
		      "a\\u0000\\n\\u007fé\\u{d800}😀\\u{110000}\\u{ffffffffffffffff}"),
	   "units of wide strings");
}

static void words(void)
{
	ok(tr_is_word(TR_TEXT("GL_POINTS"), false) && tr_is_word(TR_TEXT("_"), false) &&
		   tr_is_word(TR_TEXT("falsey"), false),
	   "words");
	ok(!tr_is_word(TR_TEXT(""), true) && !tr_is_word(TR_TEXT("1a"), true) &&
		   !tr_is_word(TR_TEXT("a-b"), true) && !tr_is_word(TR_TEXT("é"), true),
	   "no words");
	ok(!tr_is_word(TR_TEXT("false"), false) && !tr_is_word(TR_TEXT("L"), false) &&
		   tr_is_word(TR_TEXT("false"), true),
	   "reserved but before a parenthesis");
}

static void base64(struct tr_buffer *to)
{
	char bytes[300], back[300];
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 37 ^ i >> 3);
	unsigned wrong = 0;
	for (size_t len = 0; len <= sizeof bytes; len++) {
		size_t size = 0;
		tr_buffer_reset(to);
		tr_base64_write((struct tr_text){ bytes, len }, to);
		const char *reason = tr_base64_read(tr_buffer_text(to), back, &size);
		wrong += reason || size != len || memcmp(bytes, back, len) != 0;
		wrong += tr_base64_read(tr_buffer_text(to), NULL, &size) != NULL || size != len;
	}
	ok(wrong == 0, "base64 of all lengths to %zu", sizeof bytes);

	enum { LARGE = 1 << 20 };
	char *large = calloc(LARGE, 2);
	size_t size = 0;
	tr_buffer_reset(to);
	if (large)
		tr_base64_write((struct tr_text){ large, LARGE }, to);
	ok(large && !tr_base64_read(tr_buffer_text(to), large, &size) && size == LARGE,
	   "and of a megabyte");
	free(large);

	static const char *const bad[] = { "A",	       "AA",   "AAA",  "A===",	   "====", "AA=A",
					   "AAAA=AAA", "AAB=", "AB==", "AA==AAAA", "AA-A", "AA A" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(tr_base64_read(tr_text_from(bad[i]), NULL, &size), "no base64: %s", bad[i]);
}

int main(void)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer to = TR_BUFFER_INIT;
	escaping(&to);
	quoting(&to);
	decoding(&arena);
	wide_units(&to);
	words();
	base64(&to);
	tr_buffer_free(&to);
	tr_arena_free(&arena);
	return done_testing();
}
