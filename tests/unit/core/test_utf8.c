/* SPDX-License-Identifier: MIT */
#include "core/utf8.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* The definition: a sequence is valid if it is the shortest spelling of a code point. */
static unsigned naive_length(const unsigned char *p, size_t left)
{
	static const unsigned char lead_mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	static const unsigned char lead_bits[] = { 0, 0x00, 0xc0, 0xe0, 0xf0 };
	for (unsigned n = 1; n <= 4 && n <= left; n++) {
		if ((p[0] & (unsigned char)~lead_mask[n]) != lead_bits[n])
			continue;
		uint32_t code = p[0] & lead_mask[n];
		for (unsigned i = 1; i < n; i++) {
			if ((p[i] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (p[i] & 0x3f);
		}
		if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			return 0;
		unsigned least = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
		return n == least ? n : 0;
	}
	return 0;
}

static bool all_code_points(void)
{
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		if (code == 0xd800)
			code = 0xe000;
		char to[4];
		unsigned n = tr_utf8_encode(code, to);
		if (tr_utf8_length(to, to + n) != n || tr_utf8_decode(to, n) != code ||
		    naive_length((unsigned char *)to, n) != n ||
		    tr_utf8_check(to, to + n) != to + n)
			return false;
		for (unsigned cut = 1; cut < n; cut++)
			if (tr_utf8_length(to, to + cut) != 0)
				return false;
	}
	return true;
}

/* Every first and second byte, before tails that are none, the least and the greatest. */
static bool all_leads(void)
{
	static const unsigned char ends[] = { 0x00, 0x7f, 0x80, 0x8f, 0x90,
					      0x9f, 0xa0, 0xbf, 0xc0, 0xff };
	for (unsigned lead = 0; lead < 256; lead++) {
		for (unsigned second = 0; second < 256; second++) {
			for (size_t i = 0; i < sizeof ends * sizeof ends; i++) {
				unsigned char s[4] = { (unsigned char)lead, (unsigned char)second,
						       ends[i / sizeof ends],
						       ends[i % sizeof ends] };
				for (size_t n = 1; n <= 4; n++)
					if (tr_utf8_length((char *)s, (char *)s + n) !=
					    naive_length(s, n))
						return false;
			}
		}
	}
	return true;
}

/* A bad byte, and a sequence, at every place of an ASCII text of every small length. */
static bool all_places(void)
{
	char text[80];
	for (size_t len = 0; len <= sizeof text; len++) {
		memset(text, 'a', sizeof text);
		if (tr_utf8_check(text, text + len) != text + len)
			return false;
		for (size_t at = 0; at < len; at++) {
			memset(text, 'a', sizeof text);
			text[at] = '\xff';
			if (tr_utf8_check(text, text + len) != text + at)
				return false;
			memset(text, 'a', sizeof text);
			memcpy(text + at, "\xe2\x82\xac",
			       sizeof text - at < 3 ? sizeof text - at : 3);
			const char *expected = text + (at + 3 <= len ? len : at);
			if (tr_utf8_check(text, text + len) != expected)
				return false;
		}
	}
	return true;
}

int main(void)
{
	ok(all_code_points(), "every code point there and back, and cut");
	ok(all_leads(), "every lead and second byte");
	ok(all_places(), "every place in a text");
	return done_testing();
}
