/* SPDX-License-Identifier: MIT */
/* An event: what all have, who it belongs to and how the viewer is told their names, and fields. */
#include <inttypes.h>
#include <stdio.h>

#include "record/ask.h"
#include "record/literal.h"
#include "view/brief.h"
#include "view/chrome_private.h"
#include "view/json_value.h"

enum {
	VALUE_SHOWN = 1000,	   /* bytes of a value */
	STRANGE_TASK = 1000000000, /* the first number of a task whose id is none */
};

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
