/* SPDX-License-Identifier: MIT */
/*
 * Compiles the expression on the first line, judges the records of the stream after it, and shows
 * their fields.
 */
#include "expr/expr.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "core/input.h"
#include "record/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An answer that was given without the leave must be the final one. */
static void judge(struct tr_expr_state *state, struct tr_record *record, struct tr_record *leave)
{
	struct tr_error err;
	enum tr_match early = tr_expr_match(state, record, NULL, true, &err);
	enum tr_match final = tr_expr_match(state, record, leave, false, &err);
	if (early != TR_MATCH_OPEN && early != final)
		abort();
}

static void show(struct tr_field_list *list, struct tr_record *record)
{
	struct tr_buffer row = TR_BUFFER_INIT;
	struct tr_error err;
	for (size_t i = 0; i < tr_field_list_count(list); i++) {
		tr_field_list_write(list, i, record, NULL, false, &row, &err);
		tr_field_list_write(list, i, record, NULL, true, &row, &err);
	}
	tr_buffer_free(&row);
}

static void run(struct tr_expr *expr, struct tr_field_list *list, const char *p, const char *end)
{
	struct tr_expr_state *state = expr ? tr_expr_state_new(expr) : NULL;
	struct tr_arena arenas[2] = { TR_ARENA_INIT, TR_ARENA_INIT };
	struct tr_record records[2];
	struct tr_record *last = NULL;
	for (unsigned i = 0; p < end; i ^= 1) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		if (!lf)
			break;
		tr_arena_reset(&arenas[i]);
		tr_record_init(&records[i], &arenas[i]);
		if (tr_line_scan(p, lf + 1) == lf + 1 &&
		    tr_record_from_line(&records[i], tr_text_span(p, lf + 1), NULL) &&
		    records[i].type == TR_RECORD) {
			if (state)
				judge(state, &records[i], NULL);
			if (state && last)
				judge(state, last, &records[i]);
			if (list)
				show(list, &records[i]);
			last = &records[i];
		} else {
			last = NULL;
		}
		p = lf + 1;
	}
	tr_arena_free(&arenas[0]);
	tr_arena_free(&arenas[1]);
	tr_expr_state_free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + TR_INPUT_PAD);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	memset(copy + size, 0, TR_INPUT_PAD);
	const char *end = copy + size, *lf = memchr(copy, '\n', size);
	struct tr_text text = tr_text_span(copy, lf ? lf : end);
	struct tr_expr_error error;
	struct tr_expr *expr = tr_expr_compile(text, &error);
	if (!expr && error.column > text.len + 1)
		abort();
	struct tr_field_list *list = tr_field_list_compile(text, &error);
	if (expr || list)
		run(expr, list, lf ? lf + 1 : end, end);
	tr_field_list_free(list);
	tr_expr_free(expr);
	free(copy);
	return 0;
}
