/* SPDX-License-Identifier: MIT */
/* The fields of a record as the writer reads them, and the times of the lines that it writes. */
#include <stdlib.h>

#include "core/text.h"
#include "format/etrace/line.h"
#include "format/etrace/writer.h"

/* Reports a field of the wrong type. */
static void report_type(struct tr_error *err, const char *key, const char *type)
{
	tr_error_set(err, TR_CAUSE_INPUT, "%s: not a %s", key, type);
}

const struct tr_value *tr_etrace_field(struct tr_record *record, const char *key,
				       struct tr_error *err)
{
	struct tr_field *field = err && err->cause ? NULL : tr_record_field(record, key);

	return field ? tr_field_value(record, field, err) : NULL;
}

struct tr_text tr_etrace_field_text(struct tr_record *record, const char *key, struct tr_error *err)
{
	const struct tr_value *value = tr_etrace_field(record, key, err);
	struct tr_text bytes = { NULL, 0 };

	if (value && value->type == TR_STRING && !(value->flags & TR_CUT)) {
		bytes = tr_value_bytes(value, record->arena);
		if (!bytes.data)
			tr_error_memory(err);
	} else if (value) {
		report_type(err, key, "complete string");
	}
	return bytes;
}

const struct tr_value *tr_etrace_machine_form(const struct tr_value *value)
{
	return value && value->type == TR_REPR ? &value->as.items[1] : value;
}

bool tr_etrace_value_number(const struct tr_value *value, int64_t *number)
{
	if ((value->type != TR_UINT && value->type != TR_INT) || value->as.number > INT64_MAX)
		return false;
	*number = (int64_t)value->as.number;
	if (value->flags & TR_NEGATIVE)
		*number = -*number;
	return true;
}

bool tr_etrace_field_number(struct tr_record *record, const char *key, int64_t *number,
			    struct tr_error *err)
{
	struct tr_field *field = err && err->cause ? NULL : tr_record_field(record, key);
	uint64_t few; /* most numbers have few digits, and need no value */

	if (field && tr_decimal_id(field->text, &few)) {
		*number = (int64_t)few;
		return true;
	}
	*number = 0;
	const struct tr_value *value =
		tr_etrace_machine_form(field ? tr_field_value(record, field, err) : NULL);
	if (!value || tr_etrace_value_number(value, number))
		return value;
	report_type(err, key, "64-bit number");
	return false;
}

bool tr_etrace_field_uint(struct tr_record *record, const char *key, uint64_t *number)
{
	const struct tr_value *value = tr_etrace_machine_form(tr_etrace_field(record, key, NULL));

	if (!value || (value->type != TR_UINT && value->type != TR_POINTER))
		return false;
	*number = value->as.number;
	return true;
}

bool tr_etrace_field_has(struct tr_record *record, const char *key, const char *word, uint64_t bit)
{
	const struct tr_value *value = tr_etrace_machine_form(tr_etrace_field(record, key, NULL));

	if (value && (value->type == TR_UINT || value->type == TR_POINTER))
		return value->as.number & bit;
	for (size_t i = 0; value && value->type == TR_SYMBOL && i < value->as.symbol->count; i++)
		if (tr_text_is(value->as.symbol->names[i].text, word))
			return true;
	return false;
}

/* Reads SECONDS[.FRACTION]; of the fraction no more than a log can hold. */
static bool read_time(struct tr_text text, struct tr_etrace_moment *moment)
{
	const char *end = text.data + text.len, *point = memchr(text.data, '.', text.len);
	struct tr_text fraction = tr_text_span(point ? point + 1 : end, end);
	bool padded;

	if (fraction.len > TR_ETRACE_NANO_DIGITS)
		fraction.len = TR_ETRACE_NANO_DIGITS;
	if (!tr_etrace_number(tr_text_span(text.data, point ? point : end), &moment->sec,
			      &padded) ||
	    (point && !tr_etrace_number(fraction, &moment->nsec, &padded)))
		return false;
	for (size_t i = fraction.len; i < TR_ETRACE_NANO_DIGITS; i++)
		moment->nsec *= 10;
	return true;
}

struct tr_etrace_moment tr_etrace_field_time(const struct tr_record *record, struct tr_error *err)
{
	struct tr_etrace_moment moment = { 0, 0 };
	const struct tr_cell *time = &record->time;

	if (time->type == TR_CELL_NUMBER)
		moment.sec = time->number;
	else if (time->type != TR_CELL_ABSENT &&
		 (time->type != TR_CELL_TEXT || !read_time(time->text, &moment)))
		report_type(err, "time", "decimal number");
	return moment;
}

uint64_t tr_etrace_field_task(const struct tr_record *record, struct tr_error *err)
{
	uint64_t task = 0;

	if (!tr_cell_number(&record->task, &task) && !err->cause)
		report_type(err, "task", "number");
	return task;
}

enum {
	ENDED_MAX = 1 << 16,
	TASKS_MAX = 4 << 20, /* Linux has no more pids */
};

/*
 * A task and the time of its last lines. own: of its last record; next: the earliest one that its
 * next line may have.
 */
struct task {
	uint64_t number;
	struct tr_etrace_moment own, next;
	bool ended;
};

/* Finds the task, most often that of the last call; NULL: it is unknown. */
static struct task *find(struct tr_etrace_clock *clock, uint64_t number)
{
	struct task *task = clock->recent;

	if (task && task->number == number)
		return task;
	return clock->recent = tr_id_map_get(&clock->tasks, number);
}

/* A task that is not in the map may have ended long ago: its lines come after the floor. */
bool tr_etrace_clock_start(struct tr_etrace_clock *clock, uint64_t number, bool timed,
			   struct tr_etrace_moment *time, bool *back)
{
	const struct task *task = find(clock, number);

	*back = timed && task && tr_etrace_before(*time, task->own);
	if (!timed)
		*time = clock->latest;
	if (tr_etrace_before(*time, task ? task->next : clock->floor))
		*time = task ? task->next : clock->floor;
	return time->sec <= INT64_MAX;
}

/*
 * Forgets the tasks that ended, and all tasks if there are too many, as a hostile stream may have.
 * False: memory is exhausted.
 */
static bool sweep(struct tr_etrace_clock *clock)
{
	bool all = clock->tasks.count >= TASKS_MAX;
	struct tr_id_map living = TR_ID_MAP_INIT;
	struct task *task;

	for (size_t i = 0; !all && (task = tr_id_map_next(&clock->tasks, &i));)
		if (!task->ended && !tr_id_map_put(&living, task->number, task)) {
			tr_id_map_free(&living);
			return false;
		}
	for (size_t i = 0; (task = tr_id_map_next(&clock->tasks, &i));)
		if (all || task->ended)
			free(task);
	tr_id_map_free(&clock->tasks);
	clock->tasks = living;
	clock->recent = NULL;
	clock->ended = 0;
	return true;
}

/* Finds the task, or makes it. NULL: memory is exhausted. */
static struct task *get(struct tr_etrace_clock *clock, uint64_t number)
{
	struct task *task = find(clock, number);

	if (task)
		return task;
	if ((clock->ended >= ENDED_MAX || clock->tasks.count >= TASKS_MAX) && !sweep(clock))
		return NULL;
	task = calloc(1, sizeof *task);
	if (!task || !tr_id_map_put(&clock->tasks, number, task)) {
		free(task);
		return NULL;
	}
	task->number = number;
	return task;
}

bool tr_etrace_clock_stop(struct tr_etrace_clock *clock, uint64_t number, bool timed,
			  struct tr_etrace_moment own, struct tr_etrace_moment next, bool ended)
{
	if (tr_etrace_before(clock->latest, next))
		clock->latest = next;
	clock->timed |= timed;
	if (!clock->timed) {
		/* without times the lines of all tasks have one order: no task is remembered */
		clock->floor = clock->latest;
		return true;
	}
	struct task *task = get(clock, number);
	if (!task)
		return false;
	clock->ended += ended;
	clock->ended -= task->ended;
	task->ended = ended;
	task->own = timed ? own : next;
	task->next = next;
	return true;
}

void tr_etrace_clock_free(struct tr_etrace_clock *clock)
{
	struct task *task;

	for (size_t i = 0; (task = tr_id_map_next(&clock->tasks, &i));)
		free(task);
	tr_id_map_free(&clock->tasks);
}
