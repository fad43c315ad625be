/* SPDX-License-Identifier: MIT */
/*
 * The environment of each exec record of a stream is the same environment in all forms: whole, and
 * as a difference. The first byte selects how the stream is read.
 */
#include "process/env_tracker.h"

#include <stdlib.h>

#include "core/input.h"
#include "fuzz.h"
#include "process/env_line.h"
#include "record/line.h"
#include "record/literal.h"

enum { EXECS = 256 };

struct state {
	struct tr_env_tracker *tracker;
	struct tr_exec_env *execs[EXECS];
	size_t count;
	struct tr_arena arena;
};

static void check_same(struct tr_environments *pool, struct tr_environment *a,
		       struct tr_environment *b)
{
	struct tr_buffer none = TR_BUFFER_INIT;
	if (tr_environment_diff(pool, a, b, &none) != TR_OK ||
	    !tr_text_is(tr_buffer_text(&none), "{}"))
		fuzz_fail("the converted form gives the same environment");
	tr_buffer_free(&none);
}

/* The written map, applied to the environment that it is relative to, gives the environment. */
static void check_telling(struct state *state, const struct tr_exec_env *exec,
			  enum tr_env_form form)
{
	struct tr_environments *pool = tr_env_tracker_pool(state->tracker);
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_environment *again = NULL;
	const char *key;
	bool converted = tr_exec_env_convert(state->tracker, exec, form, &key, &text) == TR_OK;
	struct tr_text literal = text.len ? tr_buffer_text(&text) : TR_TEXT("{}");
	const struct tr_value *map =
		converted ? tr_literal_parse(literal, &state->arena, NULL) : NULL;
	if (converted && !map)
		fuzz_fail("a converted environment is a map");
	if (map && form == TR_ENV_FORM_WHOLE)
		again = tr_environment_whole(pool, exec->top, map);
	else if (map)
		again = tr_environment_apply(
			pool, form == TR_ENV_FORM_TOP ? exec->top : exec->parent, map, NULL);
	if (again)
		check_same(pool, exec->own, again);
	tr_environment_release(pool, again);
	tr_buffer_free(&text);
	tr_arena_reset(&state->arena);
}

static void end_segment(struct state *state)
{
	static const enum tr_env_form ways[] = { TR_ENV_FORM_WHOLE, TR_ENV_FORM_TOP,
						 TR_ENV_FORM_PARENT };
	if (!tr_env_tracker_settle(state->tracker))
		fuzz_fail("the end of a segment settles all records");
	for (size_t i = 0; i < state->count; i++) {
		struct tr_exec_env *exec = state->execs[i];
		if (exec->pending || !exec->own || !exec->top)
			fuzz_fail("no record is pending at the end, and each has an environment");
		for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
			check_telling(state, exec, ways[way]);
		tr_env_tracker_release(state->tracker, exec);
	}
	state->count = 0;
	if (!tr_env_tracker_begin(state->tracker))
		fuzz_fail("there is memory");
}

static void one_line(struct state *state, struct tr_text line, struct tr_arena *arena)
{
	struct tr_buffer to = TR_BUFFER_INIT;
	struct tr_record record;
	struct tr_exec_env *exec = NULL;
	struct tr_error err;
	tr_record_init(&record, arena);
	if (tr_line_scan(line.data, line.data + line.len) != line.data + line.len ||
	    !tr_record_from_line(&record, line, NULL))
		return;
	if (record.type == TR_HEADER || record.type == TR_TRAILER || state->count == EXECS)
		end_segment(state);
	if (tr_env_tracker_follow(state->tracker, &record, &exec, &err) == TR_FATAL)
		fuzz_fail("there is memory");
	if (!exec)
		return;
	state->execs[state->count++] = exec;
	if (!tr_env_line_put(line, &record, "env", TR_TEXT("{}"), &to))
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
	struct tr_env_tracker_config config = { .against_top = how & 1,
						.wants_parent = true,
						.doubts = how & 2,
						.names =
							how & 4 ? TR_NAMES_FOLDED : TR_NAMES_AUTO };
	struct state state = { .tracker = tr_env_tracker_new(&config), .arena = TR_ARENA_INIT };
	struct tr_arena arena = TR_ARENA_INIT;
	const char *p = copy + (size > 0), *end = copy + size, *lf;
	for (; state.tracker && (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1) {
		one_line(&state, tr_text_span(p, lf + 1), &arena);
		tr_arena_reset(&arena);
	}
	if (state.tracker)
		end_segment(&state);
	tr_env_tracker_free(state.tracker);
	tr_arena_free(&state.arena);
	tr_arena_free(&arena);
	free(copy);
	return 0;
}
