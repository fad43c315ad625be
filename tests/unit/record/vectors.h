/* SPDX-License-Identifier: MIT */
/*
 * The tables of tests/data/trec, row by row: the first lines that begin with
 * "# " are comments, every later line is a row, TABs separate columns.
 */
#ifndef TR_TESTS_VECTORS_H
#define TR_TESTS_VECTORS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/text.h"

enum { VECTOR_COLUMNS = 6 };

struct vectors {
	char *data;
	const char *pos, *end;
	unsigned row;
	struct tr_text column[VECTOR_COLUMNS];
};

static bool vectors_open(struct vectors *v, const char *name)
{
	const char *top = getenv("top_srcdir");
	char path[4096];
	snprintf(path, sizeof path, "%s/tests/data/trec/%s", top ? top : ".", name);
	FILE *file = fopen(path, "rb");
	*v = (struct vectors){ 0 };
	if (!file)
		return false;
	struct tr_buffer content = TR_BUFFER_INIT;
	for (size_t n = 1; n > 0;) {
		char *room = tr_buffer_room(&content, 4096);
		n = room ? fread(room, 1, 4096, file) : 0;
		tr_buffer_used(&content, n);
	}
	fclose(file);
	v->data = content.data;
	v->pos = content.data;
	v->end = content.data + content.len;
	while (v->end - v->pos >= 2 && v->pos[0] == '#' && v->pos[1] == ' ')
		v->pos = (const char *)memchr(v->pos, '\n', (size_t)(v->end - v->pos)) + 1;
	return true;
}

/* False: no row is left. Columns beyond those of the row are empty. */
static bool vectors_next(struct vectors *v)
{
	if (v->pos == v->end)
		return false;
	v->row++;
	const char *end = memchr(v->pos, '\n', (size_t)(v->end - v->pos));
	for (int i = 0; i < VECTOR_COLUMNS; i++) {
		const char *tab = memchr(v->pos, '\t', (size_t)(end - v->pos));
		const char *stop = tab ? tab : end;
		v->column[i] = tr_text_span(v->pos, stop);
		v->pos = tab ? tab + 1 : end;
	}
	v->pos = end + 1;
	return true;
}

static void vectors_close(struct vectors *v)
{
	free(v->data);
}

#endif
