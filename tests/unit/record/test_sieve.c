/* SPDX-License-Identifier: MIT */
/* tr_sieve_pick: every line of a chunk comes by, with the columns that it has. */
#include "record/line.h"

#include <string.h>

#include "core/input.h"
#include "tap.h"

static uint32_t state = 1;

static uint32_t next_random(uint32_t below)
{
	state = state * UINT32_C(1664525) + UINT32_C(1013904223);
	return (state >> 8) % below;
}

enum { ROOM = TR_LINE_BLOCKS * TR_LINE_BLOCK };
static char text[ROOM + TR_INPUT_PAD];

static const char *const kinds[] = { "exec", "a", "loadaddr", "loadaddress", "x-y",
				     "e1",   "",  "#",	      "exe{",	     "`ab" };

/* Lines of mostly five columns and more, short and long, now and then with something odd. */
static size_t random_lines(void)
{
	size_t len = 0;

	while (len + 600 < ROOM) {
		unsigned columns = next_random(10) ? 5 + next_random(3) : next_random(6);
		len += (size_t)(stpcpy(text + len, kinds[next_random(8) ? 0 : next_random(10)]) -
				(text + len));
		for (unsigned i = 1; i < columns; i++) {
			size_t width = next_random(15) ? 1 + next_random(10) : next_random(70);
			text[len++] = '\t';
			for (; width > 0; width--)
				text[len++] = "-\\=a"[next_random(30) ? 3 : next_random(4)];
		}
		text[len++] = '\n';
	}
	size_t end = (len + TR_LINE_BLOCK) / TR_LINE_BLOCK * TR_LINE_BLOCK;
	/* what follows the last line belongs to no line */
	memset(text + len, next_random(2) ? '\t' : '\\', end - len + TR_INPUT_PAD);
	return end / TR_LINE_BLOCK;
}

static bool same_columns(const struct tr_columns *a, const struct tr_columns *b)
{
	return memcmp(a->start, b->start, sizeof a->start) == 0 && a->kind == b->kind &&
	       a->escapes == b->escapes;
}

/* One that decides by the length of the name. */
static enum tr_sift by_length(struct tr_sieve *sieve, const struct tr_columns *columns,
			      const char *lf)
{
	(void)sieve, (void)lf;
	size_t len = tr_columns_text(columns, TR_COLUMN_NAME).len;
	return len % 3 == 0 ? TR_SIFT_OUT : len % 3 == 1 ? TR_SIFT_OPEN : TR_SIFT_IN;
}

static enum tr_sift expected(struct tr_sieve *sieve, const char *p, const char *lf,
			     struct tr_columns *columns, bool *found)
{
	*found = tr_columns_find(p, lf, columns);
	return sieve && *found && !columns->escapes ? sieve->sift(sieve, columns, lf)
						    : TR_SIFT_OPEN;
}

struct taken {
	size_t lines, bytes;
};

/* Takes what has an even length. */
static bool takes(struct tr_text line)
{
	return line.len % 2 == 0;
}

static bool take_even(struct tr_sieve *sieve, struct tr_text line, const struct tr_columns *columns)
{
	(void)columns;
	struct taken *taken = sieve->taker;

	if (!takes(line))
		return false;
	taken->lines++;
	taken->bytes += line.len;
	return true;
}

/* Goes line by line beside it. */
static bool agrees(struct tr_sieve *sieve, size_t blocks)
{
	static struct tr_line_ends ends;
	const char *p = text;
	struct tr_pick pick;
	struct taken taken = { 0 }, *reported = sieve ? sieve->taker : NULL;

	if (reported)
		*reported = taken;

	tr_line_ends(text, blocks, &ends);
	while (p <= ends.last) {
		const char *begin = p, *lf;
		struct tr_columns columns;
		enum tr_sift answer = TR_SIFT_OUT;
		uint64_t left_out = 0;
		bool found = false;
		for (; p <= ends.last && answer == TR_SIFT_OUT; p = lf + 1) {
			lf = memchr(p, '\n', (size_t)(text + ROOM - p));
			answer = expected(sieve, p, lf, &columns, &found);
			struct tr_text line = tr_text_span(p, lf + 1);
			if (reported && answer == TR_SIFT_IN && takes(line)) {
				taken.lines++;
				taken.bytes += line.len;
				answer = TR_SIFT_OUT;
			}
			left_out += answer == TR_SIFT_OUT;
		}
		bool picked = tr_sieve_pick(sieve, &ends, begin, &pick);
		if (picked != (answer != TR_SIFT_OUT) || pick.left_out != left_out)
			return false;
		if (picked && (pick.answer != answer || pick.has_columns != found ||
			       pick.line.data + pick.line.len != p))
			return false;
		if (reported && (reported->lines != taken.lines || reported->bytes != taken.bytes))
			return false;
		if (picked && found && !same_columns(&pick.columns, &columns))
			return false;
	}
	return true;
}

int main(void)
{
	struct tr_sieve sieve = { .sift = by_length };
	struct taken taken;
	struct tr_sieve taking = { .sift = by_length, .take = take_even, .taker = &taken };
	bool all = true, some = true, fewer = true;

	for (int i = 0; i < 300; i++) {
		size_t blocks = random_lines();
		all = all && agrees(NULL, blocks);
		some = some && agrees(&sieve, blocks);
		fewer = fewer && agrees(&taking, blocks);
	}
	ok(all, "without a sieve every line is given");
	ok(some, "with one, what it does not leave out");
	ok(fewer, "and where it takes some of what is in, the others");
	return done_testing();
}
