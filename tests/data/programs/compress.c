/* SPDX-License-Identifier: MIT */
/* Compression by references to text that came before (LZ77), with a table of recent places. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 3, MOST = 66, WINDOW = 1 << 12, PLACES = 1 << 10 };

struct bytes {
	uint8_t *data;
	size_t len, cap;
};

static void put(struct bytes *to, uint8_t byte)
{
	if (to->len == to->cap) {
		size_t cap = to->cap ? 2 * to->cap : 64;
		uint8_t *data = realloc(to->data, cap);
		if (!data) {
			fputs("out of memory\n", stderr);
			exit(1);
		}
		to->data = data;
		to->cap = cap;
	}
	to->data[to->len++] = byte;
}

static uint32_t hash(const uint8_t *p)
{
	uint32_t h = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;

	h *= 2654435761u;
	return h >> 22;
}

/* Returns how many bytes are equal, at most `most`. */
static size_t match(const uint8_t *a, const uint8_t *b, size_t most)
{
	size_t n = 0;

	while (n < most && a[n] == b[n])
		n++;
	return n;
}

/* Writes literal bytes: their number below 128, then they themselves. */
static void put_literals(struct bytes *to, const uint8_t *p, size_t n)
{
	while (n) {
		size_t part = n < 127 ? n : 127;
		put(to, (uint8_t)part);
		for (size_t i = 0; i < part; i++)
			put(to, *p++);
		n -= part;
	}
}

static void compress(const uint8_t *from, size_t len, struct bytes *to)
{
	size_t places[PLACES];
	size_t at = 0, literals = 0;

	for (size_t i = 0; i < PLACES; i++)
		places[i] = SIZE_MAX;
	while (at + LEAST <= len) {
		uint32_t slot = hash(from + at) % PLACES;
		size_t before = places[slot], n = 0;
		places[slot] = at;
		if (before != SIZE_MAX && at - before < WINDOW) {
			size_t most = len - at < MOST ? len - at : MOST;
			n = match(from + before, from + at, most);
		}
		if (n < LEAST) {
			at++;
			continue;
		}
		put_literals(to, from + literals, at - literals);
		size_t distance = at - before;
		put(to, (uint8_t)(0x80 | (n - LEAST)));
		put(to, (uint8_t)(distance >> 8));
		put(to, (uint8_t)distance);
		at += n;
		literals = at;
	}
	put_literals(to, from + literals, len - literals);
	put(to, 0);
}

/* Returns 0, or what is wrong with the data. */
static const char *decompress(const uint8_t *p, size_t len, struct bytes *to)
{
	const uint8_t *end = p + len;

	while (p < end) {
		uint8_t code = *p++;
		if (code == 0)
			return p == end ? NULL : "bytes after the end";
		if (code < 0x80) {
			if ((size_t)(end - p) < code)
				return "literals are cut";
			for (; code; code--)
				put(to, *p++);
			continue;
		}
		if (end - p < 2)
			return "a reference is cut";
		size_t distance = (size_t)p[0] << 8 | p[1];
		size_t n = (size_t)(code & 0x7f) + LEAST;
		p += 2;
		if (distance == 0 || distance > to->len)
			return "a reference leads out of the data";
		while (n--)
			put(to, to->data[to->len - distance]);
	}
	return "the end is missing";
}

static int check(const char *text)
{
	struct bytes small = { NULL, 0, 0 }, back = { NULL, 0, 0 };
	size_t len = strlen(text);
	int good = 0;

	compress((const uint8_t *)text, len, &small);
	const char *error = decompress(small.data, small.len, &back);
	if (error)
		printf("%s\n", error);
	else
		good = back.len == len && (len == 0 || memcmp(back.data, text, len) == 0);
	printf("%zu -> %zu: %s\n", len, small.len, good ? "good" : "bad");
	free(small.data);
	free(back.data);
	return good;
}

int main(void)
{
	static const uint8_t damaged[][4] = { { 3, 'a' }, { 1, 'a', 0x80 }, { 1, 'a', 0x85, 9 } };
	char text[600];
	int bad = 0;

	bad += !check("");
	bad += !check("she sells sea shells, she sells sea shells on the sea shore");
	for (size_t i = 0; i < sizeof text - 1; i++)
		text[i] = (char)('a' + i * i % 7 * (i % 300 < 150));
	text[sizeof text - 1] = 0;
	bad += !check(text);
	for (size_t i = 0; i < sizeof text - 1; i++)
		text[i] = (char)(' ' + (i * 7919 + i / 3) % 90);
	bad += !check(text);
	for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
		struct bytes back = { NULL, 0, 0 };
		const char *error = decompress(damaged[i], i + 2, &back);
		puts(error ? error : "no error");
		free(back.data);
	}
	return bad != 0;
}
