/* SPDX-License-Identifier: MIT */
/*
 * Mutations of text, which libFuzzer calls. A change of single bytes seldom gives a line of a
 * trace that is almost right; here a span (a word, an item of a list, a bracket with all in it, or
 * lines) is replaced by another one of the input or of a second input, by itself twice, by nothing,
 * or by a word that only looks like a value. Every second mutation, and all of those of an input
 * that is not text, are libFuzzer's own.
 */
#include "fuzz.h"

#include <string.h>

/* Defined by libFuzzer: changes data and gives its new size; it knows the dictionary. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* Called by libFuzzer, by these names. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
				 uint8_t *out, size_t max, unsigned int seed);

enum { PIECE = 4096 }; /* bytes of a span, at most */

static const char *const odd_words[] = {
	"0",
	"-1",
	"-0",
	"+5",
	"007",
	"0x",
	"0xg",
	"1e5",
	"1.",
	".5",
	"0.0",
	"NaN",
	"inf",
	"true",
	"null",
	"L",
	"u8",
	"\"",
	"\"\"",
	"'",
	"\\",
	"\\x00",
	"?",
	"...",
	"=",
	"%09",
	"\t",
	"\r\n",
	" ",
	"\xc3",
	"/",
	"/../",
	"a b",
	"18446744073709551616",
	"-9223372036854775809",
	"99999999999999999999999999",
	"0xffffffffffffffff",
	"1.1234567890123",
	"0.123456789",
	"12345678901234567.5",
};

struct dice {
	uint64_t state;
};

/* A number below `sides`, which is not 0; splitmix64 is enough for choices. */
static size_t roll(struct dice *dice, size_t sides)
{
	uint64_t x = dice->state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (size_t)((x ^ x >> 31) % sides);
}

static bool is_one_of(uint8_t c, const char *set)
{
	return c && strchr(set, c);
}

static bool ends_word(uint8_t c)
{
	return c < '0' ? !is_one_of(c, "+-.") : is_one_of(c, ":;<=>?@[\\]^`{|}~");
}

static bool ends_item(uint8_t c)
{
	return is_one_of(c, ",;|\t\n ()[]{}<>=\"");
}

static bool ends_line(uint8_t c)
{
	return c == '\n';
}

/* The span about the place between two bytes that end one; a byte that ends one is its own span. */
static struct tr_text between(struct tr_text all, size_t place, bool (*ends)(uint8_t))
{
	size_t begin = place, end = place + 1;

	while (begin > 0 && !ends((uint8_t)all.data[begin]) && !ends((uint8_t)all.data[begin - 1]))
		begin--;
	while (end < all.len && !ends((uint8_t)all.data[end - 1]) && !ends((uint8_t)all.data[end]))
		end++;
	return (struct tr_text){ all.data + begin, end - begin };
}

/* The first bracket or string that begins at the place or after it, with its end. */
static struct tr_text group(struct tr_text all, size_t place)
{
	while (place < all.len && !is_one_of((uint8_t)all.data[place], "([{<\""))
		place++;
	if (place == all.len)
		return (struct tr_text){ all.data, 0 };
	const char open = all.data[place];
	const char close = open == '"' ? '"' : open == '(' ? ')' : (char)(open + 2);
	size_t depth = 1, end = place + 1;

	for (; end < all.len && depth > 0; end++) {
		char c = all.data[end];

		if (c == close)
			depth--;
		else if (c == open)
			depth++;
		else if (c == '\\' && open == '"' && end + 1 < all.len)
			end++;
	}
	return (struct tr_text){ all.data + place, end - place };
}

/* One to four lines. */
static struct tr_text lines(struct tr_text all, size_t place, struct dice *dice)
{
	size_t begin = (size_t)(between(all, place, ends_line).data - all.data);
	size_t count = roll(dice, 4), end = place;

	while (end < all.len && (all.data[end] != '\n' || count-- > 0))
		end++;
	return (struct tr_text){ all.data + begin, end - begin + (end < all.len) };
}

static struct tr_text span(struct tr_text all, unsigned int kind, struct dice *dice)
{
	if (!all.len)
		return all;
	size_t place = roll(dice, all.len);
	struct tr_text found = kind == 0   ? between(all, place, ends_word)
			       : kind == 1 ? between(all, place, ends_item)
			       : kind == 2 ? group(all, place)
					   : lines(all, place, dice);

	if (found.len > PIECE)
		found.len = PIECE;
	return found;
}

/* Puts the new text in the place of the old one, which is a part of data; the new one is not. */
static size_t replace(uint8_t *data, size_t size, size_t max, struct tr_text old,
		      struct tr_text new)
{
	uint8_t *place = data + (old.data - (const char *)data);
	size_t rest = size - (size_t)(place - data) - old.len;

	if (size - old.len + new.len > max)
		return size;
	memmove(place + new.len, place + old.len, rest);
	if (new.len)
		memcpy(place, new.data, new.len);
	return size - old.len + new.len;
}

static size_t mutate(uint8_t *data, size_t size, size_t max, struct tr_text other,
		     struct dice *dice)
{
	char piece[2 * PIECE];
	struct tr_text new = { piece, 0 };
	unsigned int kind = (unsigned int)roll(dice, 4);
	struct tr_text old = span((struct tr_text){ (const char *)data, size }, kind, dice);
	struct tr_text from = { NULL, 0 };
	size_t copies = 1;

	switch (roll(dice, 6)) {
	case 0: /* nothing */
		break;
	case 1:
		from = old;
		copies = 2;
		break;
	case 2:
		from = tr_text_from(odd_words[roll(dice, sizeof odd_words / sizeof *odd_words)]);
		break;
	case 3: /* inserted before */
		from = span(other, kind, dice);
		old.len = 0;
		break;
	default:
		from = span(other, kind, dice);
	}
	for (; from.len && copies > 0; copies--) {
		memcpy(piece + new.len, from.data, from.len);
		new.len += from.len;
	}
	return replace(data, size, max, old, new);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	struct dice dice = { seed };

	if (!size || memchr(data, 0, size) || roll(&dice, 2))
		return LLVMFuzzerMutate(data, size, max);
	return mutate(data, size, max, (struct tr_text){ (const char *)data, size }, &dice);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
				 uint8_t *out, size_t max, unsigned int seed)
{
	struct dice dice = { seed };

	if (!a_size || a_size > max)
		return 0;
	memcpy(out, a, a_size);
	return mutate(out, a_size, max, (struct tr_text){ (const char *)b, b_size }, &dice);
}
