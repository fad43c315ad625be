/* SPDX-License-Identifier: MIT */
/* API calls by thread, and their frames. */
#include "view/chrome_private.h"

#include <stdlib.h>

#include "record/calls.h"
#include "record/join.h"
#include "view/brief.h"

/* A call that has not returned: owned by the map. */
struct live {
	int64_t began;
	uint64_t tid;
	unsigned kinds;
	struct tr_buffer name, args; /* JSON */
	size_t key_len;
	char key[];
};

static void free_live(struct live *live)
{
	tr_buffer_free(&live->name);
	tr_buffer_free(&live->args);
	free(live);
}

/* The members of args: the call's number and what the record says. */
static bool spell_args(struct tr_record *record, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "\"#\":");
	tr_brief_cell(&record->seq, record->arena, to);
	return tr_chrome_fields(record, true, to);
}

static void spell_key(const struct tr_record *record, struct tr_buffer *key)
{
	tr_cell_write(&record->task, key);
	tr_buffer_put_byte(key, '\t');
	tr_cell_write(&record->seq, key);
}

static void end_frame(struct tr_chrome *chrome, int64_t time)
{
	struct tr_chrome_calls *calls = &chrome->calls;
	struct tr_buffer *line = &chrome->line;

	tr_chrome_begin(chrome, 'C', TR_TEXT("\"per frame\""), "frame", calls->frame_began,
			TR_CHROME_CALLS, 0);
	tr_buffer_put_literal(line, ",\"args\":{\"calls\":");
	tr_buffer_put_decimal(line, calls->calls);
	tr_buffer_put_literal(line, ",\"draws\":");
	tr_buffer_put_decimal(line, calls->draws);
	tr_buffer_put_byte(line, '}');
	tr_chrome_end(chrome);
	tr_chrome_begin(chrome, 'i', TR_TEXT("\"frame\""), "frame", time, TR_CHROME_CALLS, 0);
	tr_buffer_put_literal(line, ",\"s\":\"p\",\"args\":{\"frame\":");
	tr_buffer_put_decimal(line, calls->frame++);
	tr_buffer_put_byte(line, '}');
	tr_chrome_end(chrome);
	calls->frame_began = time;
	calls->calls = calls->draws = 0;
}

static void put_call(struct tr_chrome *chrome, struct tr_text name, struct tr_text args,
		     int64_t began, int64_t ended, uint64_t tid, unsigned kinds)
{
	struct tr_chrome_calls *calls = &chrome->calls;

	if (!calls->frame && !calls->calls)
		calls->frame_began = began;
	tr_chrome_begin(chrome, 'X', name, kinds & TR_CALL_RENDER ? "call,draw" : "call", began,
			TR_CHROME_CALLS, tid);
	tr_chrome_duration(chrome, ended > began ? ended - began : 0);
	tr_buffer_put_literal(&chrome->line, ",\"args\":{");
	tr_buffer_put_text(&chrome->line, args);
	tr_buffer_put_byte(&chrome->line, '}');
	tr_chrome_end(chrome);
	calls->calls++;
	calls->draws += (kinds & TR_CALL_RENDER) != 0;
	if (kinds & TR_CALL_END_FRAME)
		end_frame(chrome, ended);
}

static unsigned kinds_of(struct tr_chrome *chrome, const struct tr_record *record)
{
	return record->name.type == TR_CELL_TEXT
		       ? tr_call_kinds_of(&chrome->call_kinds, record->name.text)
		       : 0;
}

/* Where a record ends, of which nothing tells how long it took. */
static int64_t end_of(const struct tr_chrome *chrome)
{
	return chrome->now + (chrome->timed ? 0 : 1000);
}

static bool whole(struct tr_chrome *chrome, struct tr_record *record, uint64_t tid)
{
	struct tr_buffer name = TR_BUFFER_INIT, args = TR_BUFFER_INIT;

	tr_brief_cell(&record->name, record->arena, &name);
	bool fine = spell_args(record, &args) && !name.failed && !args.failed;
	if (fine)
		put_call(chrome, tr_buffer_text(&name), tr_buffer_text(&args), chrome->now,
			 end_of(chrome), tid, kinds_of(chrome, record));
	tr_buffer_free(&name);
	tr_buffer_free(&args);
	return fine;
}

/* It has not returned, and lasts to here. */
static void put_incomplete(struct tr_chrome *chrome, struct live *live)
{
	tr_buffer_put_literal(&live->args, ",\"incomplete\":true");
	chrome->line.failed |= live->args.failed;
	put_call(chrome, tr_buffer_text(&live->name), tr_buffer_text(&live->args), live->began,
		 end_of(chrome), live->tid, live->kinds);
	free_live(live);
}

static int by_beginning(const void *a, const void *b)
{
	const struct live *x = *(struct live *const *)a, *y = *(struct live *const *)b;

	return (x->began > y->began) - (x->began < y->began);
}

/* All those that have not returned. */
static void put_all_incomplete(struct tr_chrome *chrome)
{
	struct tr_map *map = &chrome->calls.live;
	size_t position = 0, count = 0;
	struct live *live, **list = malloc((map->count + 1) * sizeof *list);

	while ((live = tr_map_next(map, &position))) {
		if (list)
			list[count++] = live;
		else
			free_live(live);
	}
	chrome->line.failed |= !list;
	if (list)
		qsort(list, count, sizeof *list, by_beginning);
	for (size_t i = 0; i < count; i++)
		put_incomplete(chrome, list[i]);
	free(list);
	tr_map_clear(map);
}

static bool enter(struct tr_chrome *chrome, struct tr_record *record, uint64_t tid)
{
	struct tr_buffer key = TR_BUFFER_INIT;

	if (tr_calls_are_lost(chrome->calls.live.count, 0))
		put_all_incomplete(chrome);
	spell_key(record, &key);
	struct live *live = key.failed ? NULL : malloc(sizeof *live + key.len);
	if (!live) {
		tr_buffer_free(&key);
		return false;
	}
	*live = (struct live){ chrome->now,    tid,    kinds_of(chrome, record), TR_BUFFER_INIT,
			       TR_BUFFER_INIT, key.len };
	memcpy(live->key, key.data, key.len);
	tr_buffer_free(&key);
	tr_brief_cell(&record->name, record->arena, &live->name);
	struct tr_text text = { live->key, live->key_len };
	struct live *twin = tr_map_take(&chrome->calls.live, text);
	if (twin)
		put_incomplete(chrome, twin);
	bool fine = spell_args(record, &live->args) && !live->name.failed;
	tr_buffer_trim(&live->name);
	tr_buffer_trim(&live->args);
	if (fine && tr_map_put(&chrome->calls.live, text, live))
		return true;
	free_live(live);
	return false;
}

static bool leave(struct tr_chrome *chrome, struct tr_record *record, uint64_t tid)
{
	struct tr_buffer key = TR_BUFFER_INIT;

	spell_key(record, &key);
	struct live *live = tr_map_take(&chrome->calls.live, tr_buffer_text(&key));
	bool fine = !key.failed;
	tr_buffer_free(&key);
	if (!live)
		return fine && whole(chrome, record, tid);
	fine = fine && tr_chrome_fields(record, true, &live->args);
	if (fine)
		put_call(chrome, tr_buffer_text(&live->name), tr_buffer_text(&live->args),
			 live->began, end_of(chrome), live->tid, live->kinds);
	free_live(live);
	return fine;
}

bool tr_chrome_call(struct tr_chrome *chrome, struct tr_record *record)
{
	uint64_t tid;

	if (!tr_chrome_task(chrome, record, TR_CHROME_CALLS, &tid))
		return false;
	if (tr_text_is(record->kind, "call"))
		return whole(chrome, record, tid);
	return tr_text_is(record->kind, "enter") ? enter(chrome, record, tid)
						 : leave(chrome, record, tid);
}

/* Those that never returned last to the end. */
void tr_chrome_calls_end(struct tr_chrome *chrome)
{
	struct tr_chrome_calls *calls = &chrome->calls;

	put_all_incomplete(chrome);
	calls->frame = calls->calls = calls->draws = 0;
}
