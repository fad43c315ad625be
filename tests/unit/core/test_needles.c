/* SPDX-License-Identifier: MIT */
/* Needles are found where a search for each of them at each place finds them. */
#include "core/needles.h"

#include <stdlib.h>

#include "tap.h"

static bool in_word(const char *text, size_t len, size_t at)
{
	return at > 0 && at < len && tr_is_word_byte(text[at - 1]) && tr_is_word_byte(text[at]);
}

/* Marks the bytes of all occurrences that count. */
static void search(const char *text, size_t len, const char (*needles)[12], size_t count,
		   char *mark)
{
	memset(mark, '.', len);
	for (size_t k = 0; k < count; k++) {
		size_t n = strlen(needles[k]);
		for (size_t i = 0; i + n <= len; i++)
			if (memcmp(text + i, needles[k], n) == 0 && !in_word(text, len, i) &&
			    !in_word(text, len, i + n))
				memset(mark + i, '*', n);
	}
}

static void random_text(char *to, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = "aaab-."[rand() % 6];
}

static bool same(unsigned seed)
{
	char needles[12][12] = { "" }, text[61], want[60], got[60];
	struct tr_needles *all = tr_needles_new(1000);
	struct tr_covers covers = { 0 };
	size_t count = 1 + seed % 12;

	srand(seed);
	for (size_t k = 0; k < count; k++) {
		random_text(needles[k], 1 + (size_t)rand() % 10);
		tr_needles_add(all, tr_text_from(needles[k]), false);
	}
	random_text(text, 60);
	tr_needles_prepare(all);
	tr_needles_find(all, (struct tr_text){ text, 60 }, false, &covers, NULL);
	tr_covers_merge(&covers);
	memset(got, '.', sizeof got);
	for (size_t i = 0; i < covers.count; i++)
		memset(got + covers.list[i].begin, '*', covers.list[i].end - covers.list[i].begin);
	search(text, 60, needles, count, want);
	bool equal = memcmp(got, want, 60) == 0;
	if (!equal)
		diag("seed %u: %.60s\n got %.60s\nwant %.60s", seed, text, got, want);
	tr_covers_free(&covers);
	tr_needles_free(all);
	return equal;
}

/* The parts found, as "begin-end " each. */
static void finds(const char *needle, bool open, const char *text, bool cut, const char *want)
{
	struct tr_needles *needles = tr_needles_new(1000);
	struct tr_covers covers = { 0 };
	char got[200] = "";

	tr_needles_add(needles, tr_text_from(needle), open);
	tr_needles_prepare(needles);
	tr_needles_find(needles, tr_text_from(text), cut, &covers, NULL);
	tr_covers_merge(&covers);
	for (size_t i = 0; i < covers.count; i++)
		snprintf(got + strlen(got), 50, "%zu-%zu ", covers.list[i].begin,
			 covers.list[i].end);
	if (!ok(strcmp(got, want) == 0, "%s in %s", needle, text))
		diag("got %s", got);
	tr_covers_free(&covers);
	tr_needles_free(needles);
}

int main(void)
{
	bool fine = true;

	for (unsigned seed = 1; seed <= 5000; seed++)
		fine &= same(seed);
	ok(fine, "the same as a search of each needle at each place");
	finds("secret-value", true, "a secret-value9/x, b", false, "2-17 ");
	finds("secret-value", false, "a secret-value9 secret-va", false, "");
	finds("secret-value", false, "a secret-value9 secret-va", true, "16-25 ");
	finds("secret-value", false, "secret-", true, "");
	struct tr_needles *few = tr_needles_new(10);
	ok(tr_needles_add(few, TR_TEXT("123456789"), false) &&
		   tr_needles_add(few, TR_TEXT("123456789"), false) &&
		   !tr_needles_add(few, TR_TEXT("abc"), false) && tr_needles_are_full(few),
	   "a limit");
	tr_needles_free(few);
	return done_testing();
}
