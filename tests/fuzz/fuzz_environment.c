/* SPDX-License-Identifier: MIT */
/*
 * A stream of records: the environment of every exec record, told in each way,
 * is the same environment. The first byte says how the stream is read.
 */
#include "process/lineage.h"

#include <stdlib.h>

#include "core/input.h"
#include "fuzz.h"
#include "process/env_line.h"
#include "record/line.h"
#include "record/literal.h"

enum { HEIRS = 256 };

struct state {
	struct tr_lineage *lineage;
	struct tr_heir *heirs[HEIRS];
	size_t count;
	struct tr_arena arena;
};

static void check_same(struct tr_environments *pool, struct tr_environment *a,
		       struct tr_environment *b)
{
	struct tr_buffer none = TR_BUFFER_INIT;
	if (tr_environment_diff(pool, a, b, &none) != TR_OK ||
	    !tr_text_is(tr_buffer_text(&none), "{}"))
		fuzz_fail("what was told is the environment");
	tr_buffer_free(&none);
}

/* The map that was told, applied to what it was told against, gives the environment again. */
static void check_telling(struct state *state, const struct tr_heir *heir, enum tr_telling telling)
{
	struct tr_environments *pool = tr_lineage_pool(state->lineage);
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_environment *again = NULL;
	const char *key;
	bool told = tr_heir_tell(state->lineage, heir, telling, &key, &text) == TR_OK;
	struct tr_text literal = text.len ? tr_buffer_text(&text) : TR_TEXT("{}");
	const struct tr_value *map = told ? tr_literal_parse(literal, &state->arena, NULL) : NULL;
	if (told && !map)
		fuzz_fail("what is told is a map");
	if (map && telling == TR_TELLS_WHOLE)
		again = tr_environment_whole(pool, heir->top, map);
	else if (map)
		again = tr_environment_apply(
			pool, telling == TR_TELLS_TOP ? heir->top : heir->parent, map, NULL);
	if (again)
		check_same(pool, heir->own, again);
	tr_environment_release(pool, again);
	tr_buffer_free(&text);
	tr_arena_reset(&state->arena);
}

static void end_segment(struct state *state)
{
	static const enum tr_telling ways[] = { TR_TELLS_WHOLE, TR_TELLS_TOP, TR_TELLS_PARENT };
	if (!tr_lineage_settle(state->lineage) || tr_lineage_is_waiting(state->lineage))
		fuzz_fail("nobody waits in the end");
	for (size_t i = 0; i < state->count; i++) {
		struct tr_heir *heir = state->heirs[i];
		if (heir->waits || !heir->own || !heir->top)
			fuzz_fail("everybody has an environment in the end");
		for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
			check_telling(state, heir, ways[way]);
		tr_lineage_release(state->lineage, heir);
	}
	state->count = 0;
	if (!tr_lineage_begin(state->lineage))
		fuzz_fail("there is memory");
}

static void one_line(struct state *state, struct tr_text line, struct tr_arena *arena)
{
	struct tr_buffer to = TR_BUFFER_INIT;
	struct tr_record record;
	struct tr_heir *heir = NULL;
	struct tr_error err;
	tr_record_init(&record, arena);
	if (tr_line_scan(line.data, line.data + line.len) != line.data + line.len ||
	    !tr_record_from_line(&record, line, NULL))
		return;
	if (record.type == TR_HEADER || record.type == TR_TRAILER || state->count == HEIRS)
		end_segment(state);
	if (tr_lineage_follow(state->lineage, &record, &heir, &err) == TR_FATAL)
		fuzz_fail("there is memory");
	if (!heir)
		return;
	state->heirs[state->count++] = heir;
	if (!tr_env_line_put(line, "env", TR_TEXT("{}"), &to))
		fuzz_fail("a line that was one can be put together again");
	tr_buffer_free(&to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + TR_INPUT_PAD);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	memset(copy + size, 0, TR_INPUT_PAD);
	unsigned how = size ? data[0] : 0;
	struct tr_lineage_config config = { .against_top = how & 1,
					    .wants_parent = true,
					    .doubts = how & 2,
					    .names = how & 4 ? TR_NAMES_FOLDED : TR_NAMES_AUTO };
	struct state state = { .lineage = tr_lineage_new(&config), .arena = TR_ARENA_INIT };
	struct tr_arena arena = TR_ARENA_INIT;
	const char *p = copy + (size > 0), *end = copy + size, *lf;
	for (; state.lineage && (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1) {
		one_line(&state, tr_text_span(p, lf + 1), &arena);
		tr_arena_reset(&arena);
	}
	if (state.lineage)
		end_segment(&state);
	tr_lineage_free(state.lineage);
	tr_arena_free(&state.arena);
	tr_arena_free(&arena);
	free(copy);
	return 0;
}
