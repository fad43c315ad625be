#include "expr/many.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 16 }; /* so few are looked at one by one as fast */

/* A number, or from low to high. */
struct span {
	const struct tr_number_literal *low;
	const struct tr_number_literal *high; /* once sorted: the highest of this and all before */
};

struct tr_many {
	size_t text_count, span_count;
	struct tr_text *texts;
	struct span *spans;
};

/* Any order will do: this one seldom looks at bytes. */
static int compare_texts(const void *a, const void *b)
{
	const struct tr_text *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return x->len ? memcmp(x->data, y->data, x->len) : 0;
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;
	enum tr_order order = tr_number_literal_compare(x->low, y->low);

	return order == TR_LESS ? -1 : order == TR_GREATER;
}

/* Of how many literals the lists are to be made. False: not of these. */
static bool count_literals(const struct tr_test *test, struct tr_many *many)
{
	for (const struct tr_literal *literal = test->literals; literal; literal = literal->next) {
		if (literal->type == TR_LITERAL_STRING)
			many->text_count++;
		else if (literal->type == TR_LITERAL_NUMBER || literal->type == TR_LITERAL_RANGE)
			many->span_count++;
		else
			return false;
	}
	return many->text_count + many->span_count > MANY;
}

static void fill(struct tr_many *many, const struct tr_literal *literal)
{
	size_t texts = 0, spans = 0;

	for (; literal; literal = literal->next) {
		if (literal->type == TR_LITERAL_STRING)
			many->texts[texts++] = literal->text;
		else
			many->spans[spans++] =
				(struct span){ &literal->number, literal->type == TR_LITERAL_RANGE
									 ? &literal->high
									 : &literal->number };
	}
	qsort(many->texts, texts, sizeof *many->texts, compare_texts);
	qsort(many->spans, spans, sizeof *many->spans, compare_spans);
	for (size_t i = 1; i < spans; i++) {
		const struct tr_number_literal *before = many->spans[i - 1].high;
		if (tr_number_literal_compare(before, many->spans[i].high) == TR_GREATER)
			many->spans[i].high = before;
	}
}

bool tr_many_build(struct tr_test *test, struct tr_arena *arena)
{
	struct tr_many counted = { 0 };

	if (!count_literals(test, &counted))
		return true;
	struct tr_many *many = tr_arena_alloc(arena, sizeof *many);
	/* one more, as nothing of no size is asked for */
	counted.texts = tr_arena_alloc(arena, (counted.text_count + 1) * sizeof *counted.texts);
	counted.spans = tr_arena_alloc(arena, (counted.span_count + 1) * sizeof *counted.spans);
	if (!many || !counted.texts || !counted.spans)
		return false;
	*many = counted;
	fill(many, test->literals);
	test->many = many;
	return true;
}

bool tr_many_has_text(const struct tr_many *many, struct tr_text bytes)
{
	return bsearch(&bytes, many->texts, many->text_count, sizeof *many->texts, compare_texts);
}

bool tr_many_has_number(const struct tr_many *many, const struct tr_number *number)
{
	size_t begin = 0, end = many->span_count; /* those before begin are not above it */

	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;
		if (tr_number_compare(number, many->spans[middle].low) == TR_LESS)
			end = middle;
		else
			begin = middle + 1;
	}
	return begin && tr_number_compare(number, many->spans[begin - 1].high) != TR_GREATER;
}
