/* SPDX-License-Identifier: MIT */
/* tr_columns_find against tr_record_from_line, on lines of every shape. */
#include "record/line.h"

#include <string.h>

#include "record/record.h"
#include "tap.h"

static uint32_t state = 1;

static uint32_t next_random(uint32_t below)
{
	state = state * UINT32_C(1664525) + UINT32_C(1013904223);
	return (state >> 8) % below;
}

enum { LONGEST = 400 };
static char text[LONGEST];

/* Columns of mostly plain bytes, short and long, now and then one too few or empty; with its LF. */
static size_t random_line(void)
{
	static const char *const kinds[] = { "exec", "a",  "loadaddr", "loadaddress",
					     "x-y",  "e1", "",	       "Exec",
					     "\x80", "#",  "exe{",     "`ab" };
	size_t columns = next_random(10) ? 5 + next_random(4) : next_random(6);
	size_t len = 0;

	for (size_t i = 0; i < columns; i++) {
		size_t width = next_random(20) == 0 ? next_random(60)
			       : next_random(50)    ? 1 + next_random(12)
						    : 0;
		if (i > 0)
			text[len++] = '\t';
		if (i == 0 && next_random(40) > 0)
			len += (size_t)(stpcpy(text + len,
					       kinds[next_random(3) ? 0 : next_random(12)]) -
					(text + len));
		else
			for (; width > 0; width--)
				text[len++] = "-\\=a"[next_random(20) ? 3 : next_random(4)];
	}
	text[len] = '\n';
	return len;
}

static bool same_cell(const struct tr_cell *a, const struct tr_cell *b)
{
	return a->type == b->type && tr_text_equal(a->text, b->text);
}

static bool same_record(const struct tr_record *a, const struct tr_record *b)
{
	return a->type == b->type && tr_text_equal(a->kind, b->kind) &&
	       same_cell(&a->seq, &b->seq) && same_cell(&a->time, &b->time) &&
	       same_cell(&a->task, &b->task) && same_cell(&a->name, &b->name) &&
	       tr_text_equal(a->rest, b->rest) && tr_text_equal(a->line, b->line);
}

/* Converts a kind to a number, its first letter lowest. False: it is not up to eight letters. */
static bool kind_number(struct tr_text kind, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < kind.len; i++) {
		if (i == 8 || kind.data[i] < 'a' || kind.data[i] > 'z')
			return false;
		*number += (uint64_t)kind.data[i] << 8 * i;
	}
	return true;
}

/* Plain kinds are found in every good line; what is found is what the line layer finds. */
static bool agrees(size_t len, bool *found)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_text line = { text, len + 1 };
	struct tr_record expected, record;
	struct tr_columns columns;
	uint64_t kind;

	tr_record_init(&expected, &arena);
	tr_record_init(&record, &arena);
	bool good = tr_record_from_line(&expected, line, NULL) && expected.type == TR_RECORD;
	*found = tr_columns_find(text, text + len, &columns);
	if (*found != (good && kind_number(expected.kind, &kind)))
		return false;
	if (!*found)
		return true;
	tr_record_from_columns(&record, line, &columns);
	bool escapes = memchr(text, '\\', (size_t)(record.rest.data - text)) != NULL;
	return same_record(&record, &expected) && columns.kind == kind &&
	       columns.escapes == escapes;
}

int main(void)
{
	unsigned yes = 0, no = 0;
	bool same = true;

	for (int i = 0; i < 200000 && same; i++) {
		size_t len = random_line();
		bool found;
		same = agrees(len, &found);
		yes += found;
		no += !found;
		if (!same)
			diag("%.*s", (int)len, text);
	}
	ok(same, "random lines");
	ok(yes > 20000 && no > 20000, "of both sorts: %u, %u", yes, no);

	same = true;
	for (size_t width = 1; width < 140; width++) {
		bool found;
		size_t head = (size_t)(stpcpy(text, "exec\t1\t-\t2\t") - text);
		memset(text + head, 'n', width);
		strcpy(text + head + width, width % 2 ? "\n" : "\tkey=1\n");
		same = same && agrees(head + width + (width % 2 ? 0 : 6), &found) && found;
	}
	ok(same, "columns of every width");
	return done_testing();
}
