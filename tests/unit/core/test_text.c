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

int main(void)
{
	bool found = true;

	ok(compares(), "texts are ordered by their bytes");
	for (int from = 0; from <= COUNT; from++)
		for (int to = from; to <= COUNT; to++)
			found = found && finds(from, to);
	ok(found, "in each part of a sorted list, exactly its words are found");
	return done_testing();
}
