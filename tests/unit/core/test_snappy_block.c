/* SPDX-License-Identifier: MIT */
/*
 * Compares blocks of random elements with the bytes that they encode. No memory has spare bytes,
 * so that a sanitizer reports each access beyond it.
 */
#include "core/codec_private.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "tap.h"

static uint32_t state = 7;

static uint32_t next_random(uint32_t below)
{
	state = state * UINT32_C(1664525) + UINT32_C(1013904223);
	return (uint32_t)((uint64_t)(state >> 4) * below >> 28);
}

static void put_number(struct tr_buffer *to, unsigned bytes, size_t value)
{
	for (unsigned i = 0; i < bytes; i++)
		tr_buffer_put_byte(to, (char)(value >> 8 * i));
}

static void add_literal(struct tr_buffer *packed, struct tr_buffer *plain)
{
	size_t length = next_random(8) ? 1 + next_random(60) : 1 + next_random(70000);
	unsigned bytes = length > 1 << 16 ? 3 : length > 256 ? 2 : length > 60 ? 1 : 0;
	if (bytes && next_random(2))
		bytes++; /* more than are needed may be used */
	tr_buffer_put_byte(packed, (char)((bytes ? 59 + bytes : length - 1) << 2));
	put_number(packed, bytes, length - 1);
	for (; length > 0; length--) {
		char byte = (char)next_random(256);
		tr_buffer_put_byte(packed, byte);
		tr_buffer_put_byte(plain, byte);
	}
}

/* times: a long match is written as several elements. */
static void add_copies(struct tr_buffer *packed, struct tr_buffer *plain, unsigned times)
{
	unsigned type = times > 1 ? 2 : 1 + next_random(3);
	size_t length = times > 1 ? 64 : type == 1 ? 4 + next_random(8) : 1 + next_random(64);
	size_t most = type == 1 ? 2047 : type == 2 ? 65535 : plain->len;
	if (most > plain->len)
		most = plain->len;
	size_t offset = 1 + next_random((uint32_t)(next_random(2) && most > 40 ? 40 : most));
	for (; times > 0; times--) {
		if (type == 1) {
			tr_buffer_put_byte(packed,
					   (char)(1 | (length - 4) << 2 | offset >> 8 << 5));
			put_number(packed, 1, offset);
		} else {
			tr_buffer_put_byte(packed, (char)(type | (length - 1) << 2));
			put_number(packed, type == 2 ? 2 : 4, offset);
		}
		for (size_t i = 0; i < length; i++)
			tr_buffer_put_byte(plain, plain->data[plain->len - offset]);
	}
}

static void make_elements(unsigned count, struct tr_buffer *packed, struct tr_buffer *plain)
{
	packed->len = plain->len = 0;
	for (unsigned i = 0; i < count; i++) {
		if (plain->len == 0 || next_random(3) == 0)
			add_literal(packed, plain);
		else
			add_copies(packed, plain, next_random(4) ? 1 : 2 + next_random(30));
	}
}

/* Decodes a block with its size before it, into memory without spare bytes. */
static size_t decode(struct tr_text elements, size_t size, char *plain, bool *whole)
{
	size_t room = 5 + elements.len, head = 0;
	char *exact = malloc(room);
	for (size_t rest = size; head < 5; rest >>= 7) {
		exact[head++] = (char)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
		if (rest <= 0x7f)
			break;
	}
	char *block = malloc(head + elements.len);
	memcpy(block, exact, head);
	memcpy(block + head, elements.data, elements.len);
	struct tr_text packed = { block, head + elements.len };
	uint32_t stated = 0;
	bool sane = tr_snappy_size(packed, &stated) && stated == size;
	size_t made = tr_snappy_decode(packed, plain, size, whole);
	*whole = *whole && sane;
	free(exact);
	free(block);
	return made;
}

static bool comes_back(struct tr_text elements, struct tr_text plain)
{
	char *got = malloc(plain.len);
	bool whole;
	size_t made = decode(elements, plain.len, got, &whole);
	bool same = whole && made == plain.len && !memcmp(got, plain.data, made);
	free(got);
	return same;
}

/* A cut block gives a prefix and an error; more input never gives less. */
static bool cuts_are_told(struct tr_text elements, struct tr_text plain)
{
	char *got = malloc(plain.len);
	size_t least = 0;
	bool fine = true;
	for (size_t cut = 0; cut < elements.len && fine; cut += 1 + cut / 50) {
		bool whole;
		size_t made =
			decode((struct tr_text){ elements.data, cut }, plain.len, got, &whole);
		fine = !whole && made >= least && made < plain.len &&
		       !memcmp(got, plain.data, made);
		least = made;
	}
	free(got);
	return fine;
}

/* A changed block gives wrong bytes at worst. */
static void disturb(struct tr_buffer *elements, size_t size)
{
	char *got = malloc(size);
	for (unsigned i = 0; i < 20; i++) {
		char *byte = &elements->data[next_random((uint32_t)elements->len)];
		char before = *byte;
		bool whole;
		*byte = (char)next_random(256);
		decode(tr_buffer_text(elements), size, got, &whole);
		*byte = before;
	}
	free(got);
}

int main(void)
{
	struct tr_buffer packed = TR_BUFFER_INIT, plain = TR_BUFFER_INIT;
	bool all = true, cuts = true, sizes = true, whole;
	char room[8];

	for (unsigned round = 0; round < 400; round++) {
		make_elements(1 + round / 4, &packed, &plain);
		struct tr_text elements = tr_buffer_text(&packed), bytes = tr_buffer_text(&plain);
		all = all && comes_back(elements, bytes);
		cuts = cuts && cuts_are_told(elements, bytes);
		/* a size that differs from that of the elements */
		char *more = malloc(bytes.len + 1);
		decode(elements, bytes.len + 1, more, &whole);
		sizes = sizes && !whole;
		decode(elements, bytes.len - 1, more, &whole);
		sizes = sizes && !whole;
		free(more);
		disturb(&packed, plain.len);
	}
	ok(all, "elements of every kind");
	ok(cuts, "cut anywhere");
	ok(sizes, "a wrong size is reported");
	ok(decode((struct tr_text){ "", 0 }, 0, room, &whole) == 0 && whole, "a block of nothing");
	ok(decode(TR_TEXT("\x0c"
			  "abcd\x02\x05\x00"),
		  6, room, &whole) == 4 &&
		   !whole,
	   "a copy from before the beginning");
	ok(decode(TR_TEXT("\x0c"
			  "abcd\x02\x00\x00"),
		  6, room, &whole) == 4 &&
		   !whole,
	   "a copy from nowhere");
	ok(decode(TR_TEXT("\xfc\xff\xff\xff\xff"
			  "ab"),
		  6, room, &whole) == 2 &&
		   !whole,
	   "a literal of four gigabytes");
	tr_buffer_free(&packed);
	tr_buffer_free(&plain);
	return done_testing();
}
