/* SPDX-License-Identifier: MIT */
#include "core/text.h"

#include "tap.h"

/* In the order of bytes: the empty text first, a text after those that it begins with. */
static const char *const ordered[] = {
	"", "A", "AB", "B", "a", "a-", "a=", "aa", "ab", "b", "\x7f", "\xc3\xa9",
};

enum { COUNT = sizeof ordered / sizeof *ordered };

static bool compares(void)
{
	for (int i = 0; i < COUNT; i++) {
		for (int j = 0; j < COUNT; j++) {
			int order =
				tr_text_compare(tr_text_from(ordered[i]), tr_text_from(ordered[j]));
			if ((order > 0) - (order < 0) != (i > j) - (i < j))
				return false;
		}
	}
	return tr_text_compare((struct tr_text){ NULL, 0 }, TR_TEXT("")) == 0;
}

/* Searches the part [from, to) of the list for every word of the list. */
static bool finds(int from, int to)
{
	for (int i = 0; i < COUNT; i++) {
		bool found = tr_text_is_among_sorted(tr_text_from(ordered[i]), ordered + from,
						     (size_t)(to - from));
		if (found != (i >= from && i < to))
			return false;
	}
	return true;
}

/*
 * Every byte ends the digits before it, wherever it is in a step of eight bytes; so does the end.
 */
static bool skips_digits(void)
{
	char text[24];

	for (size_t at = 0; at < sizeof text; at++) {
		for (unsigned byte = 0; byte <= 0xff; byte++) {
			memset(text, byte & 1 ? '0' : '9', sizeof text);
			text[at] = (char)byte;
			if (tr_skip_digits(text, text + at) != text + at)
				return false;
			if (tr_skip_digits(text, text + sizeof text) !=
			    (tr_is_digit((char)byte) ? text + sizeof text : text + at))
				return false;
		}
	}
	return true;
}

int main(void)
{
	bool found = true;

	ok(compares(), "texts are ordered by their bytes");
	for (int from = 0; from <= COUNT; from++)
		for (int to = from; to <= COUNT; to++)
			found = found && finds(from, to);
	ok(found, "in each part of a sorted list, exactly its words are found");
	ok(skips_digits(), "digits end at the first byte that is none");
	return done_testing();
}
