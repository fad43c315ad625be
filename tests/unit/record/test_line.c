/* SPDX-License-Identifier: MIT */
/* tr_line_scan against the definition of the line layer, byte by byte. */
#include "record/line.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/input.h"
#include "core/utf8.h"
#include "tap.h"

static const char *naive(const char *p, const char *end)
{
	while (p < end) {
		unsigned char c = (unsigned char)*p;
		unsigned length = tr_utf8_length(p, end);
		if (length == 0 || c == 0x7f || (c < 0x20 && c != '\t' && c != '\n'))
			return p;
		p += length;
	}
	return end;
}

static uint32_t state = 1;

static uint32_t next_random(void)
{
	state = state * UINT32_C(1664525) + UINT32_C(1013904223);
	return state >> 8;
}

/* Mostly legal text of every script, so that scans get far. */
static size_t random_text(char *to, size_t max)
{
	size_t len = 0;
	while (len + 4 <= max) {
		uint32_t dice = next_random() % 1000;
		if (dice < 2)
			to[len++] = (char)next_random();
		else if (dice < 40)
			len += tr_utf8_encode(0xe000 + next_random() % 0x102000, to + len);
		else if (dice < 100)
			len += tr_utf8_encode(0x80 + next_random() % 0xd780, to + len);
		else
			to[len++] = dice < 200 ? "\t\n"[dice & 1] : (char)(' ' + dice % 95);
	}
	return len;
}

static char text[5000 + TR_INPUT_PAD];

/* The bytes after the end must not matter, even if they complete a sequence. */
static bool agrees(size_t begin, size_t len, int after)
{
	memset(text + begin + len, after, TR_INPUT_PAD);
	return tr_line_scan(text + begin, text + begin + len) ==
	       naive(text + begin, text + begin + len);
}

/* Every line end is marked and nothing else, and no byte that a line cannot hold is missed. */
static bool marks_ends(size_t blocks)
{
	static struct tr_line_ends ends;
	const char *end = text + blocks * TR_LINE_BLOCK;
	bool ascii = true;
	const char *last = NULL;
	tr_line_ends(text, blocks, &ends);
	for (const char *p = text; p < end; p++) {
		if (*p == '\n' && (!ends.last || p > ends.last || tr_line_ends_next(&ends) != p))
			return false;
		last = *p == '\n' ? p : last;
		ascii = ascii && (unsigned char)*p < 0x80;
	}
	if (last != ends.last)
		return false;
	return ends.clean ? naive(text, end) == end : !ascii || naive(text, end) < end;
}

/* At every place up to the third block, with a decoy after the end. */
static bool sees_what_refers(void)
{
	bool same = true;
	for (size_t at = 0; at < 150 && same; at++) {
		memset(text, '.', 150 + TR_INPUT_PAD);
		for (size_t i = 0; i < 150; i += 7)
			text[i] = '\t', text[i + 1] = '=';
		text[150] = '@';
		same = !tr_line_may_refer(text, text + 150) &&
		       !tr_line_may_refer(text + 1, text + at);
		char before = text[at];
		text[at] = '@';
		same = same && tr_line_may_refer(text, text + 150) &&
		       tr_line_may_refer(text, text + at + 1) &&
		       !tr_line_may_refer(text, text + at);
		text[at] = before;
		if (at % 7 == 1) {
			text[at] = '.';
			same = same && tr_line_may_refer(text, text + 150) &&
			       !tr_line_may_refer(text, text + at);
		}
	}
	return same;
}

int main(void)
{
	bool same = true;
	for (int i = 0; i < 3000 && same; i++) {
		size_t len = random_text(text, next_random() % 4900);
		size_t begin = len ? next_random() % (len < 70 ? len : 70) : 0;
		same = agrees(begin, len - begin, i & 1 ? 0x80 : 0);
	}
	ok(same, "random text");

	same = true;
	for (int i = 0; i < 200000 && same; i++) {
		size_t len = next_random() % 12;
		for (size_t k = 0; k < len; k++)
			text[k] = (char)next_random();
		same = agrees(0, len, 0x01);
	}
	ok(same, "random bytes");

	same = true;
	for (unsigned c = 0; c < 256; c++) {
		for (size_t at = 0; at < 130; at++) {
			memset(text, 'x', 130);
			text[at] = (char)c;
			same = same && agrees(0, 130, 'x');
		}
	}
	ok(same, "every byte at every place");

	same = true;
	for (unsigned c = 0; c < 256; c++) {
		for (size_t at = 0; at < 64; at++) {
			static struct tr_line_ends ends;
			memset(text, c % 2 ? ' ' : '~', 128);
			text[at] = (char)c;
			tr_line_ends(text, 2, &ends);
			bool legal = c < 0x80 && naive(text, text + 128) == text + 128;
			same = same && ends.clean == legal && !!ends.last == (c == '\n');
		}
	}
	ok(same, "every byte at every place of a block");
	ok(tr_line_scan(text, text) == text, "nothing to scan");

	same = true;
	for (int i = 0; i < 3000 && same; i++) {
		size_t len = random_text(text, 4900);
		/* half of them are clean: the rare bytes are taken out */
		for (size_t k = 0; i & 1 && k < len; k++)
			text[k] = (char)(naive(text + k, text + k + 1) == text + k ? 'x' : text[k]);
		same = marks_ends(next_random() % (len / TR_LINE_BLOCK + 1));
	}
	ok(same, "line ends");
	ok(sees_what_refers(), "what may refer to definitions");
	return done_testing();
}
