/* SPDX-License-Identifier: MIT */
/* Base64 beside the plainest way to it, in memory that is not a byte too large. */
#include "record/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static uint32_t state = 3;

static unsigned char next_byte(void)
{
	state = state * UINT32_C(1664525) + UINT32_C(1013904223);
	return (unsigned char)(state >> 24);
}

/* Bit by bit. */
static size_t spell(const unsigned char *bytes, size_t len, char *to)
{
	size_t size = (len + 2) / 3 * 4;
	for (size_t i = 0; i < size; i++) {
		unsigned value = 0;
		for (size_t bit = 6 * i; bit < 6 * i + 6; bit++)
			value = value << 1 |
				(bit / 8 < len ? bytes[bit / 8] >> (7 - bit % 8) & 1 : 0);
		to[i] = 6 * i < 8 * len ? alphabet[value] : '=';
	}
	return size;
}

enum { LONGEST = 300 };

static bool comes_and_goes(size_t len)
{
	unsigned char *bytes = malloc(len + !len);
	char expected[2 * LONGEST];
	struct tr_buffer text = TR_BUFFER_INIT;
	for (size_t i = 0; i < len; i++)
		bytes[i] = next_byte();
	size_t size = spell(bytes, len, expected), back;
	tr_base64_write((struct tr_text){ (const char *)bytes, len }, &text);
	bool fine = text.len == size && (!size || !memcmp(text.data, expected, size));
	size_t room = tr_base64_size(size);
	char *got = malloc(room + !room), *exact = malloc(size + !size);
	memcpy(exact, expected, size);
	struct tr_text digits = { exact, size };
	fine = fine && !tr_base64_read(digits, got, &back) && back == len &&
	       !memcmp(got, bytes, len) && !tr_base64_read(digits, NULL, &back) && back == len;
	tr_buffer_free(&text);
	free(bytes);
	free(got);
	free(exact);
	return fine;
}

/* Every byte in every place of a text: only digits pass there, and they are right. */
static bool only_digits_pass(void)
{
	enum { BYTES = 96, SIZE = BYTES / 3 * 4 };
	unsigned char bytes[BYTES];
	char text[SIZE], again[SIZE], got[BYTES];
	size_t size;
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = next_byte();
	spell(bytes, BYTES, text);
	for (size_t place = 0; place + 2 < SIZE; place++) {
		char before = text[place];
		for (int c = 0; c < 256; c++) {
			text[place] = (char)c;
			bool digit = c && strchr(alphabet, c);
			struct tr_text all = { text, SIZE };
			bool passes = !tr_base64_read(all, got, &size);
			if (passes != digit || !tr_base64_read(all, NULL, &size) != digit)
				return false;
			spell((unsigned char *)got, BYTES, again);
			if (passes && memcmp(again, text, SIZE))
				return false;
		}
		text[place] = before;
	}
	return true;
}

int main(void)
{
	bool all = true;

	for (size_t len = 0; len <= LONGEST; len++)
		all = all && comes_and_goes(len);
	ok(all, "bytes of every length come back");
	ok(only_digits_pass(), "no byte passes that is no digit");
	return done_testing();
}
