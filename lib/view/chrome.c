/* SPDX-License-Identifier: MIT */
/*
 * Records as Chrome trace events. An event is composed in chrome->line, from its name to its
 * closing bracket, and written when it is complete; a long command is written in pieces meanwhile.
 * Runs and calls have arguments of their own (describe, begin_call), which are JSON before the
 * event begins.
 */
#include "view/chrome.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/container.h"
#include "core/heap.h"
#include "core/map.h"
#include "core/utf8.h"
#include "process/command.h"
#include "process/forest.h"
#include "record/ask.h"
#include "record/json.h"
#include "record/literal.h"
#include "record/string_scan.h"
#include "record/vocabulary.h"
#include "view/brief.h"
#include "view/json_value.h"
#include "view/timeline.h"

enum {
	VALUE_SHOWN = 1000,	  /* bytes of a value; the rest of a longer one is left out */
	FIRST_GIVEN = 1000000000, /* the first number for tasks whose id is not a small number */
	PIECE = 64 << 10,	  /* bytes of a command that are escaped at a time */
};

/* The viewer shows these groups as "processes"; each segment has its own. */
enum group { GROUP_RUNS, GROUP_CALLS, GROUP_REST, GROUPS };

struct tr_chrome {
	struct tr_output *out;
	struct tr_timeline timeline; /* of the segment */
	struct tr_forest forest;
	struct tr_phases *phases; /* NULL: there are none */
	struct tr_buffer line;	  /* the part of an event that is not yet in out */
	bool any;		  /* an event was written */
	bool finished;

	/* the segment */
	uint64_t segment;
	bool named[GROUPS];
	struct tr_map tasks;	  /* struct task, by id */
	uint64_t given_numbers;	  /* to tasks whose id is not a small number */
	struct tr_arena arena;	  /* of tasks */
	struct tr_buffer origins; /* JSON: the first time of each segment */
};

/* Appends the row of the viewer in which an event is drawn. */
static void put_place(struct tr_chrome *chrome, enum group group, uint64_t tid)
{
	/* the "pid" of a group, from 1 */
	uint64_t number = chrome->segment * GROUPS + group + 1;

	tr_buffer_put_literal(&chrome->line, ",\"pid\":");
	tr_buffer_put_decimal(&chrome->line, number);
	tr_buffer_put_literal(&chrome->line, ",\"tid\":");
	tr_buffer_put_decimal(&chrome->line, tid);
}

/* Writes what chrome->line holds of an event, so that a long one needs no memory of its own. */
static void flush_line(struct tr_chrome *chrome)
{
	if (!chrome->line.failed)
		tr_output_put_text(chrome->out, tr_buffer_text(&chrome->line));
	chrome->line.len = 0;
}

/* Closes an event and writes it. */
static void end_event(struct tr_chrome *chrome)
{
	tr_buffer_put_byte(&chrome->line, '}');
	flush_line(chrome);
}

/* Every event begins with its name. */
static void begin_name(struct tr_chrome *chrome, struct tr_text name_json)
{
	if (chrome->any)
		tr_buffer_put_literal(&chrome->line, ",\n{\"name\":");
	else
		tr_buffer_put_literal(&chrome->line, "{\"traceEvents\":[\n{\"name\":");
	tr_buffer_put_text(&chrome->line, name_json);
	chrome->any = true;
}

/* Sets the name that the viewer shows for a group ("process_name") or a row ("thread_name"). */
static void put_name(struct tr_chrome *chrome, struct tr_text what_json, enum group group,
		     uint64_t tid, struct tr_text name_json)
{
	struct tr_buffer *to = &chrome->line;

	begin_name(chrome, what_json);
	tr_buffer_put_literal(to, ",\"ph\":\"M\"");
	put_place(chrome, group, tid);
	tr_buffer_put_literal(to, ",\"args\":{\"name\":");
	tr_buffer_put_text(to, name_json);
	tr_buffer_put_byte(to, '}');
	end_event(chrome);
}

/* Names a group when it is first used in a segment, so that empty groups are not shown. */
static void name_group(struct tr_chrome *chrome, enum group group)
{
	static const char *const names[] = { "processes", "calls", "records" };
	char name[80];

	if (chrome->named[group])
		return;
	chrome->named[group] = true;
	int len = snprintf(name, sizeof name, "\"%s%s\"", names[group],
			   chrome->timeline.timed ? "" : " in sequence (the trace has no times)");
	put_name(chrome, TR_TEXT("\"process_name\""), group, 0,
		 (struct tr_text){ name, (size_t)len });
}

/* Names the row of a lane. */
static void name_lane(struct tr_chrome *chrome, uint64_t lane)
{
	struct tr_buffer *to = &chrome->line;
	char name[40];

	name_group(chrome, GROUP_RUNS);
	int len = snprintf(name, sizeof name, "\"lane %" PRIu64 "\"", lane);
	put_name(chrome, TR_TEXT("\"thread_name\""), GROUP_RUNS, lane,
		 (struct tr_text){ name, (size_t)len });
	/* the viewer would sort "lane 10" after "lane 1" */
	begin_name(chrome, TR_TEXT("\"thread_sort_index\""));
	tr_buffer_put_literal(to, ",\"ph\":\"M\"");
	put_place(chrome, GROUP_RUNS, lane);
	tr_buffer_put_literal(to, ",\"args\":{\"sort_index\":");
	tr_buffer_put_decimal(to, lane);
	tr_buffer_put_byte(to, '}');
	end_event(chrome);
}

/* Opens an event in chrome->line; its other members follow, then end_event. */
static void begin_event(struct tr_chrome *chrome, char phase, struct tr_text name_json,
			const char *category, int64_t time, enum group group, uint64_t tid)
{
	struct tr_buffer *to = &chrome->line;

	name_group(chrome, group);
	begin_name(chrome, name_json);
	tr_buffer_put_literal(to, ",\"cat\":\"");
	tr_buffer_put_text(to, tr_text_from(category));
	tr_buffer_put_literal(to, "\",\"ph\":\"");
	tr_buffer_put_byte(to, phase);
	tr_buffer_put_literal(to, "\",\"ts\":");
	tr_instant_write_micro((int64_t)((uint64_t)time - (uint64_t)chrome->timeline.base), to);
	put_place(chrome, group, tid);
}

/* Appends the duration of an event, in microseconds. */
static void put_duration(struct tr_chrome *chrome, int64_t duration)
{
	tr_buffer_put_literal(&chrome->line, ",\"dur\":");
	tr_instant_write_micro(duration, &chrome->line);
}

/* A task, and the groups in which its row has been named. */
struct task {
	uint64_t number;
	bool named[GROUPS];
	size_t len;
	char id[];
};

/*
 * Returns the task with an id. The viewer needs numbers: an id that is a small number is used as it
 * is, and other tasks are numbered. NULL: memory is exhausted.
 */
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
		if (!tr_cell_number(&number, &task->number) || task->number >= FIRST_GIVEN)
			task->number = FIRST_GIVEN + chrome->given_numbers++;
		if (!tr_map_put(&chrome->tasks, (struct tr_text){ task->id, id.len }, task))
			task = NULL;
	}
	tr_buffer_free(&text);
	return task;
}

/* Sets *tid to the number of the record's task. The first use in a group names the task there. */
static bool get_task(struct tr_chrome *chrome, struct tr_record *record, enum group group,
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
		put_name(chrome, TR_TEXT("\"thread_name\""), group, task->number,
			 tr_buffer_text(&name));
		tr_buffer_free(&name);
	}
	return true;
}

/* Appends a value as JSON, a long one as a string of its beginning. False: memory is exhausted. */
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

/* Appends the fields as members, each after a comma. False: memory is exhausted. */
static bool put_fields(struct tr_record *record, struct tr_buffer *to)
{
	if (tr_record_split(record, NULL) == TR_FATAL)
		return false;
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
		/* a leading dot marks fields that only writers use */
		if (field->bad || !field->key.data || tr_text_starts(field->key, TR_TEXT(".")))
			continue;
		tr_buffer_put_byte(to, ',');
		const struct tr_cell key = { .type = TR_CELL_TEXT, .text = field->key };
		tr_brief_cell(&key, record->arena, to);
		tr_buffer_put_byte(to, ':');
		if (!put_value(record, field, to))
			return false;
	}
	return !to->failed;
}

/* Appends a field of an exec record as a member, after a comma; nothing if it has no value. */
static void put_member(struct tr_record *record, struct tr_text key, struct tr_field *field,
		       struct tr_buffer *text)
{
	const struct tr_value *value = NULL;
	bool plain = tr_json_view_same(field->text);
	struct tr_error err;

	tr_error_clear(&err);
	if (!plain && !(value = tr_ask_field(record, field, &err))) {
		text->failed |= err.cause == TR_CAUSE_MEMORY;
		return;
	}
	tr_buffer_put_literal(text, ",\"");
	tr_buffer_put_text(text, key);
	tr_buffer_put_literal(text, "\":");
	if (plain)
		tr_buffer_put_text(text, field->text);
	else
		text->failed |= !tr_json_view_value(value, record->arena, text);
}

/*
 * Writes the text that the forest keeps of a run: its name in JSON, LF, the members of args after
 * the command in JSON, LF, and the command. A command that has no escapes in JSON comes last as it
 * is; any other one follows a NUL, and is escaped when it is written, because it may be as large as
 * the record.
 */
static bool describe(void *context, struct tr_record *record, struct tr_buffer *text)
{
	static const struct tr_text keys[] = { TR_TEXT("cwd"), TR_TEXT("output") };
	const struct tr_cell name = tr_brief_program(&record->name);
	struct tr_field *fields[2];

	(void)context;
	if (tr_record_split(record, NULL) == TR_FATAL)
		return false;
	tr_brief_cell(&name, record->arena, text);
	tr_buffer_put_literal(text, "\n,\"task\":");
	tr_brief_cell(&record->task, record->arena, text);
	tr_record_fields(record, keys, 2, fields);
	for (size_t i = 0; i < 2; i++)
		if (fields[i])
			put_member(record, keys[i], fields[i], text);
	tr_buffer_put_byte(text, '\n');
	if (tr_command_show_plain(record, 0, text))
		return !text->failed;
	tr_buffer_put_byte(text, '\0');
	return tr_command_show(record, 0, text);
}

/* Writes a text with escapes, one piece at a time. */
static void put_escaped(struct tr_chrome *chrome, struct tr_text text)
{
	flush_line(chrome);
	while (text.len) {
		size_t len = text.len < PIECE ? text.len : PIECE;
		const char *end = text.data + len;
		if (tr_string_special(text.data, end) == end) {
			tr_output_put(chrome->out, text.data, len);
		} else {
			/*
			 * the bytes of a character stay together, because all of them decide how it
			 * is escaped
			 */
			while (len < text.len && tr_utf8_is_inside(text.data[len]))
				len++;
			tr_string_escape((struct tr_text){ text.data, len }, &chrome->line);
			flush_line(chrome);
		}
		text = (struct tr_text){ text.data + len, text.len - len };
	}
}

/*
 * Appends the last members of a run: seq and exit. "end" is there if the trace does not contain
 * the end of the run, so that the length of its bar is not taken for a measurement.
 */
static void put_end(const struct tr_forest *forest, const struct tr_forest_node *node,
		    const struct tr_span *span, struct tr_buffer *to)
{
	if (node->seq != TR_RUN_NONE) {
		tr_buffer_put_literal(to, "\"seq\":");
		tr_buffer_put_decimal(to, node->seq);
		tr_buffer_put_byte(to, ',');
	}
	tr_buffer_put_literal(to, "\"exit\":\"");
	if (node->fate == TR_RUN_KILLED)
		tr_string_escape(tr_text_from(forest->signals[node->end]), to);
	else if (!tr_forest_end(forest, node, to))
		tr_buffer_put_literal(to, "unknown");
	tr_buffer_put_byte(to, '"');
	if (span->open)
		tr_buffer_put_literal(to, ",\"end\":\"guessed\"");
}

/* Splits the text that describe wrote. False: the run is a fork, which has no text. */
static bool split_text(struct tr_text text, struct tr_text *name, struct tr_text *members,
		       struct tr_text *command)
{
	const char *end = text.data + text.len,
		   *lf = text.len ? memchr(text.data, '\n', text.len) : NULL;

	if (!lf)
		return false;
	*name = tr_text_span(text.data, lf);
	const char *second = memchr(lf + 1, '\n', (size_t)(end - lf - 1));
	*members = tr_text_span(lf + 1, second);
	*command = tr_text_span(second + 1, end);
	return true;
}

/* The run within which phases are drawn. */
struct phase_place {
	struct tr_chrome *chrome;
	uint64_t lane;
};

static void put_phase(void *context, const struct tr_phase *phase)
{
	const struct phase_place *place = context;
	struct tr_chrome *chrome = place->chrome;
	struct tr_buffer name = TR_BUFFER_INIT;

	tr_json_string_from_wtf8(phase->name, &name);
	begin_event(chrome, 'X', tr_buffer_text(&name), "phase", phase->began, GROUP_RUNS,
		    place->lane);
	put_duration(chrome, phase->duration);
	if (phase->detail.data) {
		tr_buffer_put_literal(&chrome->line, ",\"args\":{\"detail\":");
		tr_json_string_from_wtf8(phase->detail, &chrome->line);
		tr_buffer_put_byte(&chrome->line, '}');
	}
	end_event(chrome);
	chrome->line.failed |= name.failed;
	tr_buffer_free(&name);
}

/* Reads the task from the members of a run, which begin with it. False: it is not a number. */
static bool read_task(struct tr_text members, uint64_t *task)
{
	if (!tr_text_skip(&members, TR_TEXT(",\"task\":")))
		return false;
	if (members.len && *members.data == '"')
		members = tr_text_span(members.data + 1, members.data + members.len);
	size_t len = 0;
	while (len < members.len && members.data[len] >= '0' && members.data[len] <= '9')
		len++;
	return tr_decimal_read((struct tr_text){ members.data, len }, UINT64_MAX, task);
}

/* Writes the phases of the programs of a process while it ran. False: err is filled. */
static bool put_phases(struct tr_chrome *chrome, struct tr_text members, const struct tr_span *span,
		       struct tr_error *err)
{
	struct phase_place place = { chrome, span->lane + 1 };
	struct tr_phases_file *file;
	uint64_t task;

	if (!chrome->phases || !read_task(members, &task))
		return true;
	while ((file = tr_phases_find(chrome->phases, task, span->begin, span->end))) {
		file->drawn = true;
		if (!tr_phases_each(file, put_phase, &place, err))
			return false;
	}
	return true;
}

/*
 * Writes the event of a run. Without times, positions count records, and are scaled to
 * microseconds. False: err is filled.
 */
static bool put_run(struct tr_chrome *chrome, const struct tr_lanes *lanes, uint32_t at,
		    struct tr_buffer *text, struct tr_error *err)
{
	const struct tr_forest_node *node = &chrome->forest.nodes[at];
	const struct tr_span *span = &lanes->spans[at];
	int64_t scale = lanes->timed ? 1 : 1000;
	struct tr_text name = TR_TEXT("\"(fork)\""), members = { NULL, 0 }, command;

	if (!tr_forest_text(&chrome->forest, node, text, err))
		return false;
	bool program = split_text(tr_buffer_text(text), &name, &members, &command);
	begin_event(chrome, 'X', name, tr_forest_failed(node) ? "process,failed" : "process",
		    span->begin * scale, GROUP_RUNS, span->lane + 1);
	put_duration(chrome, (span->end - span->begin) * scale);
	if (tr_forest_failed(node))
		tr_buffer_put_literal(&chrome->line, ",\"cname\":\"terrible\"");
	tr_buffer_put_literal(&chrome->line, ",\"args\":{");
	if (program) {
		tr_buffer_put_literal(&chrome->line, "\"command\":\"");
		if (command.len && !*command.data)
			put_escaped(chrome,
				    tr_text_span(command.data + 1, command.data + command.len));
		else
			tr_buffer_put_text(&chrome->line, command);
		tr_buffer_put_byte(&chrome->line, '"');
		tr_buffer_put_text(&chrome->line, members);
		tr_buffer_put_byte(&chrome->line, ',');
	}
	put_end(&chrome->forest, node, span, &chrome->line);
	tr_buffer_put_byte(&chrome->line, '}');
	end_event(chrome);
	return !program || !lanes->timed || put_phases(chrome, members, span, err);
}

/*
 * Writes a counter of the runs that are alive. It changes when a run begins (lanes->order), or when
 * the first of those that are alive ends. False: memory is exhausted.
 */
static bool put_alive(struct tr_chrome *chrome, const struct tr_lanes *lanes)
{
	size_t count = chrome->forest.count, began = 0;
	int64_t scale = lanes->timed ? 1 : 1000;
	struct tr_heap alive = { NULL, 0, 0 }; /* by end */
	bool fine = true;

	while (fine && (began < count || alive.count)) {
		int64_t now = alive.count ? alive.items[0].key : INT64_MAX;
		if (began < count && lanes->spans[lanes->order[began]].begin < now)
			now = lanes->spans[lanes->order[began]].begin;
		for (; fine && began < count; began++) {
			const struct tr_span *span = &lanes->spans[lanes->order[began]];
			if (span->begin > now)
				break;
			fine = tr_heap_push(&alive, (struct tr_heap_item){ .key = span->end });
		}
		while (alive.count && alive.items[0].key <= now)
			tr_heap_pop(&alive);
		begin_event(chrome, 'C', TR_TEXT("\"alive\""), "process", now * scale, GROUP_RUNS,
			    0);
		tr_buffer_put_literal(&chrome->line, ",\"args\":{\"processes\":");
		tr_buffer_put_decimal(&chrome->line, alive.count);
		tr_buffer_put_byte(&chrome->line, '}');
		end_event(chrome);
	}
	free(alive.items);
	return fine;
}

/*
 * Writes the runs of a segment. Their lanes depend on all runs, so this waits until the segment
 * ends. False: err is filled.
 */
static bool put_runs(struct tr_chrome *chrome, struct tr_error *err)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_lanes lanes = { NULL, NULL, 0, false };
	bool fine = tr_forest_link(&chrome->forest) && tr_lanes_make(&lanes, &chrome->forest);

	for (uint32_t lane = 0; fine && lane < lanes.count; lane++)
		name_lane(chrome, lane + 1);
	fine = fine && put_alive(chrome, &lanes);
	if (!fine)
		tr_error_memory(err);
	for (size_t i = 0; fine && i < chrome->forest.count; i++)
		fine = put_run(chrome, &lanes, lanes.order[i], &text, err) && !chrome->out->failed;
	tr_lanes_free(&lanes);
	tr_buffer_free(&text);
	return fine || chrome->out->failed;
}

/* A call. Its text is its name in JSON, then the members of args. */
struct call {
	struct tr_timeline_call base;
	uint64_t tid;
	size_t name_len;
};

/*
 * Keeps what the first record of a call shows, as JSON: the record is not valid until the leave
 * comes.
 */
static bool begin_call(void *view, struct tr_timeline_call *base, struct tr_record *record)
{
	struct call *call = tr_container(base, struct call, base);
	struct tr_buffer *text = &base->text;

	if (!get_task(view, record, GROUP_CALLS, &call->tid))
		return false;
	tr_brief_cell(&record->name, record->arena, text);
	call->name_len = text->len;
	tr_buffer_put_literal(text, "\"#\":");
	tr_brief_cell(&record->seq, record->arena, text);
	return put_fields(record, text);
}

/*
 * Writes the event of a call. record NULL: it has not returned, and its event ends with the
 * segment.
 */
static bool end_call(void *view, struct tr_timeline_call *base, struct tr_record *record,
		     int64_t ended, struct tr_error *err)
{
	struct tr_chrome *chrome = view;
	struct call *call = tr_container(base, struct call, base);
	struct tr_buffer *text = &base->text;

	(void)err;
	if (!record)
		tr_buffer_put_literal(text, ",\"incomplete\":true");
	else if (!base->whole && !put_fields(record, text))
		return false;
	if (text->failed)
		return false;
	begin_event(chrome, 'X', (struct tr_text){ text->data, call->name_len },
		    base->kinds & TR_CALL_RENDER ? "call,draw" : "call", base->began, GROUP_CALLS,
		    call->tid);
	put_duration(chrome, ended - base->began);
	tr_buffer_put_literal(&chrome->line, ",\"args\":{");
	tr_buffer_put_text(&chrome->line,
			   tr_text_span(text->data + call->name_len, text->data + text->len));
	tr_buffer_put_byte(&chrome->line, '}');
	end_event(chrome);
	return true;
}

/* Writes what the frame contains as a counter, and its end as a mark through all rows. */
static void end_frame(void *view, int64_t ended)
{
	struct tr_chrome *chrome = view;
	const struct tr_timeline *timeline = &chrome->timeline;
	struct tr_buffer *line = &chrome->line;

	begin_event(chrome, 'C', TR_TEXT("\"per frame\""), "frame", timeline->frame_began,
		    GROUP_CALLS, 0);
	tr_buffer_put_literal(line, ",\"args\":{\"calls\":");
	tr_buffer_put_decimal(line, timeline->calls);
	tr_buffer_put_literal(line, ",\"draws\":");
	tr_buffer_put_decimal(line, timeline->draws);
	tr_buffer_put_byte(line, '}');
	end_event(chrome);
	begin_event(chrome, 'i', TR_TEXT("\"frame\""), "frame", ended, GROUP_CALLS, 0);
	tr_buffer_put_literal(line, ",\"s\":\"p\",\"args\":{\"frame\":");
	tr_buffer_put_decimal(line, timeline->frame);
	tr_buffer_put_byte(line, '}');
	end_event(chrome);
}

static const struct tr_timeline_steps timeline_steps = {
	.call_size = sizeof(struct call),
	.begin = begin_call,
	.end = end_call,
	.end_frame = end_frame,
};

/* Frees the tasks: the next segment may give the same ids to others. */
static void forget_tasks(struct tr_chrome *chrome)
{
	tr_map_clear(&chrome->tasks);
	tr_arena_reset(&chrome->arena);
}

/* Writes a system call, a signal or any other record, as an instant if it has no duration. */
static bool put_other(struct tr_chrome *chrome, struct tr_record *record)
{
	struct tr_buffer name = TR_BUFFER_INIT;
	int64_t duration;
	bool block = tr_text_is(record->kind, "block");
	uint64_t tid;

	if (!get_task(chrome, record, GROUP_REST, &tid) ||
	    !tr_instant_from_field(record, "dur", &duration))
		return false;
	if (record->name.type == TR_CELL_ABSENT) {
		const struct tr_cell kind = { .type = TR_CELL_TEXT, .text = record->kind };
		tr_brief_cell(&kind, record->arena, &name);
	} else {
		tr_brief_cell(&record->name, record->arena, &name);
	}
	/*
	 * blocks of code have no times; each takes a microsecond, so that the viewer shows their
	 * order
	 */
	if (block)
		duration = TR_MICROSECOND;
	bool lasts = duration != TR_INSTANT_NONE && duration >= 0;
	begin_event(chrome, lasts ? 'X' : 'i', tr_buffer_text(&name), "record",
		    chrome->timeline.now, GROUP_REST, tid);
	if (lasts)
		put_duration(chrome, duration);
	else
		tr_buffer_put_literal(&chrome->line, ",\"s\":\"t\"");
	tr_buffer_put_literal(&chrome->line, ",\"args\":{\"kind\":\"");
	tr_buffer_put_text(&chrome->line, record->kind);
	tr_buffer_put_byte(&chrome->line, '"');
	bool fine = put_fields(record, &chrome->line) && !name.failed;
	tr_buffer_put_byte(&chrome->line, '}');
	end_event(chrome);
	tr_buffer_free(&name);
	return fine;
}

/* True for the kinds that the forest turns into runs. */
static bool is_process(struct tr_text kind)
{
	return tr_text_is(kind, "exec") || tr_text_is(kind, "fork") || tr_text_is(kind, "exit") ||
	       tr_text_is(kind, "comm");
}

/* Stores the time at which this segment begins, from which the times of its events count. */
static void note_origin(struct tr_chrome *chrome)
{
	struct tr_buffer *to = &chrome->origins;

	if (to->len)
		tr_buffer_put_byte(to, ',');
	tr_buffer_put_byte(to, '"');
	if (chrome->timeline.timed)
		tr_instant_write(chrome->timeline.base, 9, to);
	else
		tr_buffer_put_literal(to, "sequence");
	tr_buffer_put_byte(to, '"');
}

/*
 * Times count from the earliest one of the segment, unless an event was written before it was read.
 * Runs are written at the end of the segment.
 */
static void set_base(struct tr_chrome *chrome)
{
	static const bool none[GROUPS];
	int64_t earliest = chrome->forest.earliest;

	if (chrome->timeline.timed && earliest < chrome->timeline.base &&
	    memcmp(chrome->named, none, sizeof none) == 0)
		chrome->timeline.base = earliest;
}

/* Ends a segment: writes its runs, and the calls that have not returned. False: err is filled. */
static bool end_segment(struct tr_chrome *chrome, struct tr_error *err)
{
	if (chrome->timeline.decided)
		set_base(chrome);
	if (chrome->forest.count && !put_runs(chrome, err))
		return false;
	tr_forest_clear(&chrome->forest);
	if (!tr_timeline_end_calls(&chrome->timeline, err))
		return false;
	if (chrome->timeline.decided) {
		note_origin(chrome);
		/* a segment without records shares its number with the next one */
		chrome->segment++;
	}
	chrome->timeline.decided = false;
	memset(chrome->named, 0, sizeof chrome->named);
	forget_tasks(chrome);
	return true;
}

/* Closes the JSON object, once. It is complete JSON even without an event. */
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

/* Handles a record: calls and others become events now, processes at the end of the segment. */
static bool put_record(struct tr_chrome *chrome, struct tr_record *record, struct tr_error *err)
{
	bool process = is_process(record->kind);

	/* these records describe the trace, and have no place on a timeline */
	if (!process && tr_context_kind(record->kind) >= 0)
		return true;
	tr_timeline_see(&chrome->timeline, record);
	if (process)
		return true;
	return tr_kind_is_call(record->kind) ? tr_timeline_put(&chrome->timeline, record, err)
					     : put_other(chrome, record);
}

/* Definitions and comments only reach the forest, which ignores them. */
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
		chrome->timeline.records++;
		if (!put_record(chrome, record, err))
			return TR_FATAL;
		tr_output_record_end(chrome->out);
	}
	if (chrome->line.failed || chrome->origins.failed)
		return tr_error_memory(err);
	if (!record)
		finish(chrome);
	return TR_OK;
}

void tr_chrome_set_phases(struct tr_chrome *chrome, struct tr_phases *phases)
{
	chrome->phases = phases;
}

struct tr_chrome *tr_chrome_new(uint64_t max_spool, unsigned (*call_kinds)(struct tr_text name),
				struct tr_output *out)
{
	struct tr_chrome *chrome = calloc(1, sizeof *chrome);

	if (!chrome)
		return NULL;
	chrome->out = out;
	chrome->timeline.view = chrome;
	chrome->timeline.steps = &timeline_steps;
	chrome->timeline.kinds.ask = call_kinds;
	tr_forest_init(&chrome->forest, max_spool, describe, chrome);
	return chrome;
}

bool tr_chrome_is_empty(const struct tr_chrome *chrome)
{
	return !chrome->any;
}

void tr_chrome_free(struct tr_chrome *chrome)
{
	if (!chrome)
		return;
	tr_timeline_free(&chrome->timeline);
	tr_map_free(&chrome->tasks);
	tr_arena_free(&chrome->arena);
	tr_forest_free(&chrome->forest);
	tr_buffer_free(&chrome->line);
	tr_buffer_free(&chrome->origins);
	free(chrome);
}
