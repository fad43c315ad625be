/* SPDX-License-Identifier: MIT */
/*
 * The fields of a record as the writer reads them, the times of the lines that it writes, and the
 * records of --lines, of which each is one line.
 */
#include "format/etrace/etrace.h"

#include <stdlib.h>

#include "core/text.h"
#include "format/etrace/writer.h"
#include "format/etrace/line.h"
#include "record/literal.h"

static bool wrong_type(struct tr_error *err, const char *key, const char *type)
{
	tr_error_set(err, TR_CAUSE_INPUT, "%s: no %s", key, type);
	return false;
}

bool tr_etrace_field_value(struct tr_record *record, const char *key, const struct tr_value **value,
			   struct tr_error *err)
{
	struct tr_field *field = key ? tr_record_field(record, key) : NULL;

	*value = field ? tr_field_value(record, field, err) : NULL;
	return !field || *value;
}

bool tr_etrace_field_string(struct tr_record *record, const char *key, bool *there,
			    struct tr_text *bytes, struct tr_error *err)
{
	const struct tr_value *value;

	*there = false;
	*bytes = TR_TEXT("");
	if (!tr_etrace_field_value(record, key, &value, err))
		return false;
	if (!value)
		return true;
	if (value->type != TR_STRING || value->flags & TR_CUT)
		return wrong_type(err, key, "string that is whole");
	*bytes = tr_string_bytes(value->text, record->arena);
	if (!bytes->data) {
		tr_error_memory(err);
		return false;
	}
	*there = true;
	return true;
}

const struct tr_value *tr_etrace_machine_form(const struct tr_value *value)
{
	return value->type == TR_REPR ? &value->as.items[1] : value;
}

/* Reads a text that consists of a few digits, as most numbers do. */
static bool few_digits(struct tr_text text, int64_t *number)
{
	enum { SAFE = 18 };
	int64_t n = 0;

	if (!text.len || text.len > SAFE || (*text.data == '0' && text.len > 1))
		return false;
	for (size_t i = 0; i < text.len; i++) {
		unsigned digit = (unsigned char)(text.data[i] - '0');
		if (digit > 9)
			return false;
		n = n * 10 + digit;
	}
	*number = n;
	return true;
}

bool tr_etrace_field_number(struct tr_record *record, const char *key, bool *there, int64_t *number,
			    struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, key);

	*there = field && few_digits(field->text, number);
	if (*there)
		return true;
	*number = 0;
	const struct tr_value *found = field ? tr_field_value(record, field, err) : NULL;
	if (!found)
		return !field;
	const struct tr_value *value = tr_etrace_machine_form(found);
	if ((value->type != TR_UINT && value->type != TR_INT) || value->as.number > INT64_MAX)
		return wrong_type(err, key, "number of 64 bits");
	*number = (int64_t)value->as.number;
	if (value->flags & TR_NEGATIVE)
		*number = -*number;
	*there = true;
	return true;
}

bool tr_etrace_field_uint(struct tr_record *record, const char *key, uint64_t *number)
{
	const struct tr_value *found;
	struct tr_error ignored;

	if (!tr_etrace_field_value(record, key, &found, &ignored) || !found)
		return false;
	const struct tr_value *value = tr_etrace_machine_form(found);
	*number = value->as.number;
	return value->type == TR_UINT || value->type == TR_POINTER;
}

bool tr_etrace_field_has(struct tr_record *record, const char *key, const char *word, uint64_t bit)
{
	const struct tr_value *value;
	struct tr_error ignored;
	uint64_t number;

	if (tr_etrace_field_uint(record, key, &number))
		return number & bit;
	if (!tr_etrace_field_value(record, key, &value, &ignored) || !value ||
	    value->type != TR_SYMBOL)
		return false;
	for (size_t i = 0; i < value->as.symbol->count; i++)
		if (tr_text_is(value->as.symbol->names[i].text, word))
			return true;
	return false;
}

bool tr_etrace_field_true(struct tr_record *record, const char *key, bool *truth,
			  struct tr_error *err)
{
	const struct tr_value *value;

	*truth = false;
	if (!tr_etrace_field_value(record, key, &value, err))
		return false;
	*truth = value && value->type == TR_TRUE;
	return true;
}

bool tr_etrace_field_time(const struct tr_record *record, struct tr_etrace_moment *moment,
			  struct tr_error *err)
{
	enum { DIGITS = 9 };
	const struct tr_cell *time = &record->time;
	bool padded;

	*moment = (struct tr_etrace_moment){ 0, 0 };
	if (time->type == TR_CELL_ABSENT)
		return true;
	if (time->type == TR_CELL_NUMBER) {
		moment->sec = time->number;
		return true;
	}
	if (time->type != TR_CELL_TEXT)
		return wrong_type(err, "time", "decimal number");
	const char *end = time->text.data + time->text.len;
	const char *point = memchr(time->text.data, '.', time->text.len);
	struct tr_text fraction = tr_text_span(point ? point + 1 : end, end);
	if (!tr_etrace_number(tr_text_span(time->text.data, point ? point : end), &moment->sec,
			      &padded))
		return wrong_type(err, "time", "decimal number");
	/* the log cannot hold more digits */
	if (fraction.len > DIGITS)
		fraction.len = DIGITS;
	if (point && !tr_etrace_number(fraction, &moment->nsec, &padded))
		return wrong_type(err, "time", "decimal number");
	for (size_t i = fraction.len; i < DIGITS; i++)
		moment->nsec *= 10;
	return true;
}

bool tr_etrace_field_task(const struct tr_record *record, uint64_t *task, struct tr_error *err)
{
	return tr_cell_number(&record->task, task) || wrong_type(err, "task", "number");
}

enum {
	ENDED_MAX = 1 << 16,
	TASKS_MAX = 4 << 20, /* Linux has no more pids */
};

struct task {
	uint64_t number;
	struct tr_etrace_moment own, next;
	bool ended;
};

static bool before(struct tr_etrace_moment a, struct tr_etrace_moment b)
{
	return a.sec != b.sec ? a.sec < b.sec : a.nsec < b.nsec;
}

/* Finds the task, most often that of the last call; NULL: it is unknown. */
static struct task *find(struct tr_etrace_clock *clock, uint64_t number)
{
	struct task *task = clock->recent;

	if (task && task->number == number)
		return task;
	return clock->recent = tr_id_map_get(&clock->tasks, number);
}

bool tr_etrace_clock_start(struct tr_etrace_clock *clock, uint64_t number, bool timed,
			   struct tr_etrace_moment *time, bool *back)
{
	const struct task *task = find(clock, number);

	*back = timed && task && before(*time, task->own);
	if (!timed)
		*time = clock->latest;
	if (before(*time, task ? task->next : clock->floor))
		*time = task ? task->next : clock->floor;
	return time->sec <= INT64_MAX;
}

/* Forgets the tasks that ended, and all of them if too many live. */
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
	if (before(clock->latest, next))
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

static void put_text(struct tr_text bytes, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "\ttext=\"");
	tr_string_escape(bytes, to);
	tr_buffer_put_byte(to, '"');
}

/* Appends what follows the seq, for a line of a task without zeros in front of numbers. */
static void put_event(const struct tr_etrace_line *line, struct tr_buffer *to)
{
	enum { MOST = 2 * TR_DECIMAL_MAX + TR_ETRACE_NANO_DIGITS + 3 };
	char *begin = tr_buffer_room(to, MOST), *p = begin;

	if (!begin)
		return;
	p += tr_decimal_write(line->sec, p);
	*p++ = '.';
	tr_etrace_write_nanoseconds(line->nsec, p);
	p += TR_ETRACE_NANO_DIGITS;
	*p++ = '\t';
	p += tr_decimal_write(line->upid, p);
	*p++ = '\t';
	tr_buffer_used(to, (size_t)(p - begin));
	tr_buffer_put_text(to, line->tag);
	tr_buffer_put_literal(to, "\tcpu=");
	tr_etrace_put_number((int64_t)line->cpu, to);
	if (line->form == TR_ETRACE_PART) {
		tr_buffer_put_literal(to, "\tindex=");
		tr_etrace_put_number((int64_t)line->index, to);
	}
	if (line->form != TR_ETRACE_BARE)
		put_text(line->text, to);
	if (tr_text_equal(line->prefix, TR_TEXT("0: ")))
		return;
	tr_buffer_put_literal(to, "\t.prefix=\"");
	tr_string_escape(line->prefix, to);
	tr_buffer_put_byte(to, '"');
}

void tr_etrace_verbatim_record(const struct tr_etrace_line *line, bool end, struct tr_buffer *to)
{
	if (line->type == TR_ETRACE_EVENT && !line->padded) {
		put_event(line, to);
	} else if (line->type == TR_ETRACE_INITCWD) {
		tr_buffer_put_literal(to, "-\t-\tINITCWD");
		put_text(line->text, to);
	} else {
		tr_buffer_put_literal(to, "-\t-\t-");
		put_text(line->whole, to);
	}
	if (!end)
		tr_buffer_put_literal(to, "\t.lf=false");
}

/* The fields of such a record. */
struct parts {
	struct tr_text text, prefix;
	bool has_text, has_prefix, has_index, has_cpu;
	int64_t index, cpu;
};

static bool find_parts(struct tr_record *record, struct parts *parts, struct tr_error *err)
{
	return tr_etrace_field_string(record, "text", &parts->has_text, &parts->text, err) &&
	       tr_etrace_field_string(record, ".prefix", &parts->has_prefix, &parts->prefix, err) &&
	       tr_etrace_field_number(record, "index", &parts->has_index, &parts->index, err) &&
	       tr_etrace_field_number(record, "cpu", &parts->has_cpu, &parts->cpu, err);
}

static bool line_of_event(const struct tr_record *record, const struct parts *parts,
			  struct tr_buffer *to, struct tr_error *err)
{
	struct tr_etrace_moment time;
	uint64_t task;

	if (!tr_etrace_field_time(record, &time, err) || !tr_etrace_field_task(record, &task, err))
		return false;
	tr_buffer_put_text(to, parts->has_prefix ? parts->prefix : TR_TEXT("0: "));
	tr_buffer_put_decimal(to, task);
	tr_buffer_put_byte(to, ',');
	tr_buffer_put_decimal(to, (uint64_t)parts->cpu);
	tr_buffer_put_byte(to, ',');
	tr_buffer_put_decimal(to, time.sec);
	tr_buffer_put_byte(to, ',');
	tr_buffer_put_decimal(to, time.nsec);
	tr_buffer_put_byte(to, '!');
	tr_buffer_put_text(to, record->name.text);
	if (parts->has_index) {
		tr_buffer_put_byte(to, '[');
		tr_buffer_put_decimal(to, (uint64_t)parts->index);
		tr_buffer_put_byte(to, ']');
	} else if (parts->has_text) {
		tr_buffer_put_byte(to, '|');
	}
	return true;
}

static bool put_line(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	struct parts parts;
	struct tr_value *lf = NULL;

	if (!find_parts(record, &parts, err))
		return false;
	if (record->task.type != TR_CELL_ABSENT && record->name.type == TR_CELL_TEXT) {
		if (!line_of_event(record, &parts, to, err))
			return false;
	} else if (record->name.type == TR_CELL_TEXT) {
		tr_buffer_put_text(to, record->name.text);
		tr_buffer_put_byte(to, '=');
	}
	tr_buffer_put_text(to, parts.text);
	struct tr_field *field = tr_record_field(record, ".lf");
	if (field && !(lf = tr_field_value(record, field, err)))
		return false;
	if (!lf || lf->type != TR_FALSE)
		tr_buffer_put_byte(to, '\n');
	return true;
}

enum tr_status tr_etrace_verbatim_line(struct tr_record *record, struct tr_buffer *to,
				       struct tr_error *err)
{
	size_t begin = to->len;

	tr_error_clear(err);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (put_line(record, to, err) && !to->failed)
		return TR_OK;
	to->len = begin;
	if (to->failed)
		tr_error_memory(err);
	return tr_error_status(err);
}
