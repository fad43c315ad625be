/* SPDX-License-Identifier: MIT */
#include "view/chrome.h"

#include <stdlib.h>

#include "record/vocabulary.h"
#include "view/brief.h"
#include "view/chrome_private.h"

enum { MICROSECOND = 1000 };

struct tr_chrome *tr_chrome_new(uint64_t max_spool, unsigned (*call_kinds)(struct tr_text name),
				struct tr_output *out)
{
	struct tr_chrome *chrome = calloc(1, sizeof *chrome);

	if (!chrome)
		return NULL;
	chrome->out = out;
	chrome->call_kinds.ask = call_kinds;
	tr_forest_init(&chrome->forest, max_spool, tr_chrome_describe, chrome);
	return chrome;
}

static void forget_tasks(struct tr_chrome *chrome)
{
	tr_map_clear(&chrome->tasks);
	tr_arena_reset(&chrome->arena);
}

bool tr_chrome_is_empty(const struct tr_chrome *chrome)
{
	return !chrome->any;
}

void tr_chrome_free(struct tr_chrome *chrome)
{
	if (!chrome)
		return;
	chrome->line.failed = true; /* nothing more is written */
	tr_chrome_calls_end(chrome);
	tr_map_free(&chrome->calls.live);
	tr_map_free(&chrome->tasks);
	tr_arena_free(&chrome->arena);
	tr_forest_free(&chrome->forest);
	tr_buffer_free(&chrome->line);
	tr_buffer_free(&chrome->origins);
	free(chrome);
}

/* Where a record stands on the axis. The first one tells whether it is one of time. */
static void see_time(struct tr_chrome *chrome, const struct tr_record *record)
{
	int64_t time = tr_instant_from_cell(&record->time);

	if (!chrome->decided) {
		chrome->decided = true;
		chrome->timed = time != TR_INSTANT_NONE;
		chrome->sequence |= !chrome->timed;
		chrome->base = chrome->timed ? time : (int64_t)chrome->records * MICROSECOND;
		chrome->now = chrome->base;
	}
	if (chrome->timed && time != TR_INSTANT_NONE)
		chrome->now = time;
	else if (!chrome->timed)
		chrome->now = (int64_t)chrome->records * MICROSECOND;
}

/* A system call, a signal: as long as it took, or at one moment. */
static bool put_other(struct tr_chrome *chrome, struct tr_record *record)
{
	struct tr_buffer name = TR_BUFFER_INIT;
	int64_t duration;
	bool block = tr_text_is(record->kind, "block");
	uint64_t tid;

	if (!tr_chrome_task(chrome, record, TR_CHROME_REST, &tid) ||
	    !tr_instant_from_field(record, "dur", &duration))
		return false;
	if (record->name.type == TR_CELL_ABSENT) {
		const struct tr_cell kind = { .type = TR_CELL_TEXT, .text = record->kind };
		tr_brief_cell(&kind, record->arena, &name);
	} else {
		tr_brief_cell(&record->name, record->arena, &name);
	}
	if (block)
		duration = MICROSECOND;
	bool lasts = duration != TR_INSTANT_NONE && duration >= 0;
	tr_chrome_begin(chrome, lasts ? 'X' : 'i', tr_buffer_text(&name), "record", chrome->now,
			TR_CHROME_REST, tid);
	if (lasts)
		tr_chrome_duration(chrome, duration);
	else
		tr_buffer_put_literal(&chrome->line, ",\"s\":\"t\"");
	tr_buffer_put_literal(&chrome->line, ",\"args\":{\"kind\":\"");
	tr_buffer_put_text(&chrome->line, record->kind);
	tr_buffer_put_byte(&chrome->line, '"');
	bool fine = tr_chrome_fields(record, true, &chrome->line) && !name.failed;
	tr_buffer_put_byte(&chrome->line, '}');
	tr_chrome_end(chrome);
	tr_buffer_free(&name);
	return fine;
}

static bool is_process(struct tr_text kind)
{
	return tr_text_is(kind, "exec") || tr_text_is(kind, "fork") || tr_text_is(kind, "exit") ||
	       tr_text_is(kind, "comm");
}

/* What its times count from. */
static void note_origin(struct tr_chrome *chrome)
{
	struct tr_buffer *to = &chrome->origins;

	if (to->len)
		tr_buffer_put_byte(to, ',');
	tr_buffer_put_byte(to, '"');
	if (chrome->timed)
		tr_instant_write(chrome->base, 9, to);
	else
		tr_buffer_put_literal(to, "sequence");
	tr_buffer_put_byte(to, '"');
}

/* Processes come when all are known: the earliest time is where times begin, if nothing is out. */
static void set_base(struct tr_chrome *chrome)
{
	static const bool none[TR_CHROME_GROUPS];
	int64_t earliest = chrome->forest.earliest;

	if (chrome->timed && earliest < chrome->base &&
	    memcmp(chrome->named, none, sizeof none) == 0)
		chrome->base = earliest;
}

static bool end_segment(struct tr_chrome *chrome, struct tr_error *err)
{
	if (chrome->decided)
		set_base(chrome);
	if (chrome->forest.count && !tr_chrome_runs(chrome, err))
		return false;
	tr_forest_clear(&chrome->forest);
	tr_chrome_calls_end(chrome);
	if (chrome->decided) {
		note_origin(chrome);
		chrome->segment++;
	}
	chrome->decided = false;
	memset(chrome->named, 0, sizeof chrome->named);
	forget_tasks(chrome);
	return true;
}

static void finish(struct tr_chrome *chrome)
{
	if (chrome->finished)
		return;
	chrome->finished = true;
	tr_output_put_text(chrome->out,
			   chrome->any ? TR_TEXT("\n") : TR_TEXT("{\"traceEvents\":[\n"));
	tr_output_put_literal(chrome->out,
			      "],\"displayTimeUnit\":\"ms\",\"otherData\":{\"origins\":[");
	tr_output_put_text(chrome->out, tr_buffer_text(&chrome->origins));
	tr_output_put_literal(chrome->out, "]}}\n");
}

static bool put_record(struct tr_chrome *chrome, struct tr_record *record)
{
	if (tr_context_kind(record->kind) >= 0)
		return true;
	see_time(chrome, record);
	if (tr_kind_is_call(record->kind))
		return tr_chrome_call(chrome, record);
	return is_process(record->kind) || put_other(chrome, record);
}

enum tr_status tr_chrome_put(struct tr_chrome *chrome, struct tr_record *record,
			     struct tr_error *err)
{
	bool boundary = !record || record->type == TR_HEADER || record->type == TR_TRAILER;

	tr_error_memory(err);
	if (boundary && !end_segment(chrome, err))
		return TR_FATAL;
	if (record && !tr_forest_put(&chrome->forest, record, err))
		return TR_FATAL;
	if (record && record->type == TR_RECORD) {
		chrome->records++;
		if (!put_record(chrome, record))
			return TR_FATAL;
		tr_output_record_end(chrome->out);
	}
	if (chrome->line.failed || chrome->origins.failed)
		return tr_error_memory(err);
	if (!record)
		finish(chrome);
	return TR_OK;
}
