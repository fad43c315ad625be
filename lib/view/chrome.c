#include "view/chrome.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/ask.h"
#include "record/context.h"
#include "record/literal.h"
#include "view/brief.h"
#include "view/chrome_private.h"
#include "view/json_value.h"

enum {
	VALUE_SHOWN = 1000, /* bytes of a value */
	MICROSECOND = 1000,
	STRANGE_TASK = 1000000000, /* the first number of a task whose id is none */
};

struct tr_chrome *tr_chrome_new(uint64_t max_spool, struct tr_output *out)
{
	struct tr_chrome *chrome = calloc(1, sizeof *chrome);

	if (!chrome)
		return NULL;
	chrome->out = out;
	tr_forest_init(&chrome->forest, max_spool, tr_chrome_describe, chrome);
	return chrome;
}

static void forget_tasks(struct tr_chrome *chrome)
{
	tr_map_clear(&chrome->tasks);
	tr_arena_reset(&chrome->arena);
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

static uint64_t group_number(const struct tr_chrome *chrome, enum tr_chrome_group group)
{
	return chrome->segment * TR_CHROME_GROUPS + group + 1;
}

static void put_place(struct tr_chrome *chrome, enum tr_chrome_group group, uint64_t tid)
{
	tr_buffer_put_literal(&chrome->line, ",\"pid\":");
	tr_buffer_put_decimal(&chrome->line, group_number(chrome, group));
	tr_buffer_put_literal(&chrome->line, ",\"tid\":");
	tr_buffer_put_decimal(&chrome->line, tid);
}

void tr_chrome_end(struct tr_chrome *chrome)
{
	tr_buffer_put_byte(&chrome->line, '}');
	if (!chrome->line.failed) {
		tr_output_put_text(chrome->out,
				   chrome->any ? TR_TEXT(",\n") : TR_TEXT("{\"traceEvents\":[\n"));
		tr_output_put_text(chrome->out, tr_buffer_text(&chrome->line));
		chrome->any = true;
		chrome->line.len = 0;
	}
}

/* Says what the viewer is to call a "process", or a "thread" of it. */
static void put_name(struct tr_chrome *chrome, const char *what, enum tr_chrome_group group,
		     uint64_t tid, struct tr_text name_json)
{
	struct tr_buffer *to = &chrome->line;

	tr_buffer_put_literal(to, "{\"name\":\"");
	tr_buffer_put_text(to, tr_text_from(what));
	tr_buffer_put_literal(to, "\",\"ph\":\"M\"");
	put_place(chrome, group, tid);
	tr_buffer_put_literal(to, ",\"args\":{\"name\":");
	tr_buffer_put_text(to, name_json);
	tr_buffer_put_byte(to, '}');
	tr_chrome_end(chrome);
}

static void name_group(struct tr_chrome *chrome, enum tr_chrome_group group)
{
	static const char *const names[] = { "processes", "calls", "records" };
	char name[80];

	if (chrome->named[group])
		return;
	chrome->named[group] = true;
	int len = snprintf(name, sizeof name, "\"%s%s\"", names[group],
			   chrome->timed ? "" : " in sequence (the trace has no times)");
	put_name(chrome, "process_name", group, 0, (struct tr_text){ name, (size_t)len });
}

void tr_chrome_name_lane(struct tr_chrome *chrome, uint64_t lane)
{
	struct tr_buffer *to = &chrome->line;
	char name[40];

	name_group(chrome, TR_CHROME_RUNS);
	int len = snprintf(name, sizeof name, "\"lane %" PRIu64 "\"", lane);
	put_name(chrome, "thread_name", TR_CHROME_RUNS, lane,
		 (struct tr_text){ name, (size_t)len });
	/* by number: "lane 10" is not the second one */
	tr_buffer_put_literal(to, "{\"name\":\"thread_sort_index\",\"ph\":\"M\"");
	put_place(chrome, TR_CHROME_RUNS, lane);
	tr_buffer_put_literal(to, ",\"args\":{\"sort_index\":");
	tr_buffer_put_decimal(to, lane);
	tr_buffer_put_byte(to, '}');
	tr_chrome_end(chrome);
}

void tr_chrome_begin(struct tr_chrome *chrome, char phase, struct tr_text name_json,
		     const char *category, int64_t time, enum tr_chrome_group group, uint64_t tid)
{
	struct tr_buffer *to = &chrome->line;

	name_group(chrome, group);
	tr_buffer_put_literal(to, "{\"name\":");
	tr_buffer_put_text(to, name_json);
	tr_buffer_put_literal(to, ",\"cat\":\"");
	tr_buffer_put_text(to, tr_text_from(category));
	tr_buffer_put_literal(to, "\",\"ph\":\"");
	tr_buffer_put_byte(to, phase);
	tr_buffer_put_literal(to, "\",\"ts\":");
	tr_instant_write_micro((int64_t)((uint64_t)time - (uint64_t)chrome->base), to);
	put_place(chrome, group, tid);
}

void tr_chrome_duration(struct tr_chrome *chrome, int64_t duration)
{
	tr_buffer_put_literal(&chrome->line, ",\"dur\":");
	tr_instant_write_micro(duration, &chrome->line);
}

struct task {
	uint64_t number;
	bool named[TR_CHROME_GROUPS];
	size_t len;
	char id[];
};

/* Of a cell as it stands. NULL: memory is out. */
static struct task *find_task(struct tr_chrome *chrome, const struct tr_cell *cell)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_cell number = *cell;

	tr_cell_write(cell, &text);
	struct tr_text id = tr_buffer_text(&text);
	struct task *task = text.failed ? NULL : tr_map_get(&chrome->tasks, id);
	if (!task && !text.failed &&
	    (task = tr_arena_alloc(&chrome->arena, sizeof *task + id.len))) {
		*task = (struct task){ .len = id.len };
		memcpy(task->id, id.data, id.len);
		if (!tr_cell_number(&number, &task->number) || task->number >= STRANGE_TASK)
			task->number = STRANGE_TASK + chrome->strange_tasks++;
		if (!tr_map_put(&chrome->tasks, (struct tr_text){ task->id, id.len }, task))
			task = NULL;
	}
	tr_buffer_free(&text);
	return task;
}

bool tr_chrome_task(struct tr_chrome *chrome, struct tr_record *record, enum tr_chrome_group group,
		    uint64_t *tid)
{
	struct tr_buffer name = TR_BUFFER_INIT;
	struct task *task = find_task(chrome, &record->task);

	if (!task)
		return false;
	*tid = task->number;
	if (!task->named[group]) {
		task->named[group] = true;
		name_group(chrome, group);
		tr_buffer_put_literal(&name, "\"task ");
		tr_string_escape((struct tr_text){ task->id, task->len }, &name);
		tr_buffer_put_byte(&name, '"');
		chrome->line.failed |= name.failed;
		put_name(chrome, "thread_name", group, task->number, tr_buffer_text(&name));
		tr_buffer_free(&name);
	}
	return true;
}

/* A value, or what it begins with as a string. */
static bool put_value(struct tr_record *record, struct tr_field *field, struct tr_buffer *to)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	size_t from = to->len;
	struct tr_error err;

	tr_error_clear(&err);
	const struct tr_value *value = tr_ask_field(record, field, &err);
	if (err.cause == TR_CAUSE_MEMORY)
		return false;

	if (value && value->type != TR_BLOB) {
		if (!tr_json_view_value(value, record->arena, to))
			return false;
		if (to->len - from <= VALUE_SHOWN)
			return true;
		to->len = from;
	}
	bool fine = tr_brief_value(record, field, VALUE_SHOWN, &text);
	tr_buffer_put_byte(to, '"');
	tr_string_escape(tr_buffer_text(&text), to);
	tr_buffer_put_byte(to, '"');
	tr_buffer_free(&text);
	return fine && !to->failed;
}

bool tr_chrome_fields(struct tr_record *record, bool comma, struct tr_buffer *to)
{
	if (tr_record_split(record, NULL) == TR_FATAL)
		return false;
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
		/* keys with a point in front are for writers */
		if (field->bad || !field->key.data || tr_text_starts(field->key, TR_TEXT(".")))
			continue;
		if (comma)
			tr_buffer_put_byte(to, ',');
		comma = true;
		const struct tr_cell key = { .type = TR_CELL_TEXT, .text = field->key };
		tr_brief_cell(&key, record->arena, to);
		tr_buffer_put_byte(to, ':');
		if (!put_value(record, field, to))
			return false;
	}
	return !to->failed;
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
