/* SPDX-License-Identifier: MIT */
/*
 * Writes the records of a stream as a log. Three kinds of streams differ:
 *
 *	of etrace	paths are absolute, and every fork is a record before its child's records
 *	with forks	a fork may be reported late, and paths may be relative (where.c)
 *	forkless	records state their parents (Klocwork), so the forks are made here
 *
 *	print_record	the lines of a record (print.c), in writer->line
 *	begin_log	INITCWD before the first line
 *	put_lines	to the output, or held back until the fork of their task is written
 *	look_at_record	notes on what the log states otherwise than the record
 */
#include <stdlib.h>

#include "format/etrace/etrace.h"
#include "format/etrace/writer.h"
#include "format/writer_base.h"

/* Bytes of lines that are held back for a fork. Above that, all are written without it. */
enum { LATE_MAX = 4 << 20 };

/*
 * strace prints a clone when it returns, and by then the child may have done much. In a log the
 * fork comes before the child's execution, because readers find the parent there. So the lines of a
 * child, from its execution on, are held back until its fork is written.
 */
struct late {
	uint64_t number, parent;
	bool forked; /* its fork is among the lines of parent, which are held back too */
	struct tr_buffer lines;
	struct late *older, *newer;
};

struct writer {
	struct tr_writer base;
	struct tr_buffer line; /* the lines of the record */
	const struct tr_format *(*find_format)(struct tr_text name);
	bool begun;		      /* something of the segment was written */
	bool forkless;		      /* its format states parents, and has no forks */
	bool follows;		      /* tasks are followed, because its paths may be relative */
	struct tr_recent alive;	      /* of a forkless segment: the tasks that are */
	struct tr_etrace_clock clock; /* of all segments: the log is one */
	struct tr_etrace_where where;
	struct tr_id_map late;
	struct late *oldest, *newest;
	size_t late_bytes, late_forked; /* of all late: bytes, and how many are forked */
	bool reported_time, reported_back, reported_path;
};

/* Tasks whose lines are held back. */

/* True if the lines of the task are held back. */
static bool is_late(const struct writer *writer, uint64_t task)
{
	return tr_id_map_get(&writer->late, task) != NULL;
}

/* Begins to hold back the lines of a task. False: memory is exhausted. */
static bool begin_late(struct writer *writer, uint64_t number, uint64_t parent, bool forked)
{
	struct late *task = tr_id_map_get(&writer->late, number);

	if (!task) {
		task = calloc(1, sizeof *task);
		if (!task || !tr_id_map_put(&writer->late, number, task)) {
			free(task);
			return false;
		}
		task->number = number;
		task->older = writer->newest;
		*(writer->newest ? &writer->newest->newer : &writer->oldest) = task;
		writer->newest = task;
	}
	task->parent = parent;
	writer->late_forked += forked && !task->forked;
	task->forked |= forked;
	return true;
}

/* Appends lines to those of a task that are held back. False: memory is exhausted. */
static bool add_late(struct writer *writer, uint64_t number, struct tr_text lines)
{
	struct late *task = tr_id_map_get(&writer->late, number);

	tr_buffer_put_text(&task->lines, lines);
	writer->late_bytes += lines.len;
	return !task->lines.failed;
}

/* Forgets a task whose lines were written. */
static void remove_late(struct writer *writer, struct late *task)
{
	tr_id_map_take(&writer->late, task->number);
	writer->late_bytes -= task->lines.len;
	writer->late_forked -= task->forked;
	*(task->older ? &task->older->newer : &writer->oldest) = task->newer;
	*(task->newer ? &task->newer->older : &writer->newest) = task->older;
	tr_buffer_free(&task->lines);
	free(task);
}

/* Finds a task whose fork was among lines that are written by now; NULL: there is none. */
static struct late *next_child(const struct writer *writer)
{
	struct late *task = writer->late_forked ? writer->oldest : NULL;

	while (task && !(task->forked && !is_late(writer, task->parent)))
		task = task->newer;
	return task;
}

/*
 * Writes the lines of a task whose fork is written, and then those of its children whose forks were
 * among these lines, and so on.
 */
static void release_late(struct writer *writer, uint64_t number)
{
	struct late *task = tr_id_map_get(&writer->late, number);

	for (; task; task = next_child(writer)) {
		tr_output_put_text(writer->base.out, tr_buffer_text(&task->lines));
		remove_late(writer, task);
	}
}

/*
 * Writes all that is held back, because it takes too much memory or the segment ends. Forks that
 * did not come are inferred from the executions, which state their parents. False: memory is
 * exhausted.
 */
static bool write_all_late(struct writer *writer)
{
	const struct tr_etrace_moment none = { 0, 0 };
	struct tr_buffer fork = TR_BUFFER_INIT;
	const struct late *task;
	bool good = true;

	while (good && (task = writer->oldest)) {
		uint64_t number = task->number, parent = task->parent;
		struct tr_task *maker = tr_tasks_find(&writer->where.tasks, parent);
		tr_buffer_reset(&fork);
		good = task->forked ||
		       tr_etrace_print_fork(&writer->clock, &fork, parent, number, false, none);
		good = good && (!maker || tr_tasks_guess_fork(&writer->where.tasks, maker, number));
		if (is_late(writer, parent))
			good = good && add_late(writer, parent, tr_buffer_text(&fork));
		else if (good)
			tr_output_put_text(writer->base.out, tr_buffer_text(&fork));
		if (good)
			release_late(writer, number);
	}
	tr_buffer_free(&fork);
	return good;
}

/*
 * True if the record is the first execution of a child whose fork has not come. Only executions
 * whose parent is a task of the stream are held back: for others no fork will come.
 */
static bool is_early(struct writer *writer, struct tr_record *record, uint64_t number,
		     uint64_t *parent)
{
	const struct tr_tasks *tasks = &writer->where.tasks;
	const struct tr_task *task = tr_tasks_find(tasks, number);

	return tr_text_is(record->kind, "exec") && !(task && task->parent_known) &&
	       tr_etrace_field_uint(record, "ppid", parent) && *parent != number &&
	       tr_tasks_find(tasks, *parent);
}

/* Writes the lines of a record, or holds them back. False: memory is exhausted. */
static bool put_lines(struct writer *writer, struct tr_record *record)
{
	struct tr_text lines = tr_buffer_text(&writer->line);
	uint64_t task, parent, child;

	if (!writer->follows || !tr_cell_number(&record->task, &task)) {
		tr_output_put_text(writer->base.out, lines);
		return true;
	}
	bool late = is_late(writer, task);
	if (!late && is_early(writer, record, task, &parent)) {
		late = true;
		if (!begin_late(writer, task, parent, false))
			return false;
	}
	if (!late)
		tr_output_put_text(writer->base.out, lines);
	else if (!add_late(writer, task, lines))
		return false;
	if (tr_text_is(record->kind, "fork") && tr_etrace_field_uint(record, "child", &child) &&
	    child != task) {
		if (!late)
			release_late(writer, child);
		else if (!begin_late(writer, child, task, true))
			return false;
	}
	return writer->late_bytes <= LATE_MAX || write_all_late(writer);
}

/* Records as lines. */

/* True if the record is the directory of a log. */
static bool is_initcwd(const struct tr_record *record)
{
	return tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT &&
	       tr_text_is(record->name.text, "INITCWD");
}

/*
 * Prints a record of --lines. A record with a task and a name is a line of the tracer's, one with a
 * name alone is INITCWD, and any other line is all in its text.
 */
static void print_verbatim(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	struct tr_text prefix = tr_etrace_field_text(record, ".prefix", err);
	struct tr_text text = tr_etrace_field_text(record, "text", err);
	bool named = record->name.type == TR_CELL_TEXT;
	bool is_event = named && record->task.type != TR_CELL_ABSENT;
	int64_t index, cpu;
	bool has_index = tr_etrace_field_number(record, "index", &index, err);

	tr_etrace_field_number(record, "cpu", &cpu, err);
	if (is_event) {
		struct tr_etrace_moment time = tr_etrace_field_time(record, err);
		const uint64_t numbers[] = { tr_etrace_field_task(record, err), (uint64_t)cpu,
					     time.sec, time.nsec };
		tr_buffer_put_text(to, prefix.data ? prefix : TR_TEXT("0: "));
		for (size_t i = 0; i < 4; i++) {
			tr_buffer_put_decimal(to, numbers[i]);
			tr_buffer_put_byte(to, i < 3 ? ',' : '!');
		}
	}
	if (named)
		tr_buffer_put_text(to, record->name.text);
	if (is_event && has_index) {
		tr_buffer_put_byte(to, '[');
		tr_buffer_put_decimal(to, (uint64_t)index);
		tr_buffer_put_byte(to, ']');
	} else if (is_event && text.data) {
		tr_buffer_put_byte(to, '|');
	} else if (named && !is_event) {
		tr_buffer_put_byte(to, '=');
	}
	tr_buffer_put_text(to, text);
	const struct tr_value *lf = tr_etrace_field(record, ".lf", err);
	if (!lf || lf->type != TR_FALSE)
		tr_buffer_put_byte(to, '\n');
}

/* Reads a field that the record has to have. data NULL: it does not, and err is filled. */
static struct tr_text need_text(struct tr_record *record, const char *key, struct tr_error *err)
{
	struct tr_text text = tr_etrace_field_text(record, key, err);

	if (!text.data && !err->cause)
		tr_error_set(err, TR_CAUSE_INPUT, "no %s in the record", key);
	return text;
}

/* Prints the line with which ftrace reports events that it lost: "CPU:3 [LOST 12 EVENTS]". */
static void print_lost(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	int64_t events, cpu;
	bool has_events = tr_etrace_field_number(record, "events", &events, err);

	tr_etrace_field_number(record, "cpu", &cpu, err);
	tr_buffer_put_literal(to, "CPU:");
	tr_buffer_put_decimal(to, cpu < 0 ? 0 : (uint64_t)cpu);
	tr_buffer_put_literal(to, " [LOST ");
	if (has_events) {
		tr_buffer_put_decimal(to, events < 0 ? 0 : (uint64_t)events);
		tr_buffer_put_byte(to, ' ');
	}
	tr_buffer_put_literal(to, "EVENTS]\n");
}

/*
 * In the log a fork makes a child: prints one for a child that only the record of its execution
 * names. Errors in the record are reported for the execution. False: memory is exhausted.
 */
static bool print_missing_fork(struct writer *writer, struct tr_record *record)
{
	bool timed = record->time.type != TR_CELL_ABSENT;
	uint64_t task, lives = false;
	struct tr_error ignored;
	int64_t parent;

	tr_error_clear(&ignored);
	if (!tr_cell_number(&record->task, &task) ||
	    (tr_recent_find(&writer->alive, task, &lives) && lives) ||
	    !tr_etrace_field_number(record, "ppid", &parent, &ignored) || parent <= 0 ||
	    (uint64_t)parent == task)
		return !tr_error_is_memory(&ignored);
	struct tr_etrace_moment own = tr_etrace_field_time(record, &ignored);
	return ignored.cause || tr_etrace_print_fork(&writer->clock, &writer->line,
						     (uint64_t)parent, task, timed, own);
}

/* Prints an event of a stream that states parents and has no forks. */
static enum tr_status print_forkless(struct writer *writer, struct tr_record *record, bool *back,
				     struct tr_error *err)
{
	bool exec = tr_text_is(record->kind, "exec");
	uint64_t task;

	if (exec && !print_missing_fork(writer, record))
		return tr_error_memory(err);
	enum tr_status status = tr_etrace_print_record(record, &writer->clock, &writer->line, NULL,
						       back, &writer->base.reason, err);
	/* a number that comes again after an exit is that of another child */
	if (status == TR_OK && tr_cell_number(&record->task, &task) &&
	    !tr_recent_put(&writer->alive, task, exec))
		return tr_error_memory(err);
	return status;
}

/*
 * Counts the fields of a record that is written which an event cannot state. They are reported at
 * the end.
 */
static void count_lost_fields(struct writer *writer, struct tr_record *record)
{
	static const struct {
		const char *kind, *field, *reason;
	} lost[] = {
		{ "exec", "env", "its variables belong to no program" },
		{ "exec", "envtop", "its variables belong to no program" },
		{ "exec", "envdiff", "its variables belong to no program" },
		{ "exit", "signal", "it states the status 0 instead" },
	};

	for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
		if (tr_text_is(record->kind, lost[i].kind) &&
		    tr_record_field(record, lost[i].field))
			tr_unsupported_add_part(&writer->base.unsupported, record->kind,
						TR_TEXT(""), lost[i].field, lost[i].reason);
}

/* Puts the record's lines into line. TR_END: the log has no place for it. */
static enum tr_status print_record(struct writer *writer, struct tr_record *record, bool *back,
				   struct tr_error *err)
{
	struct tr_buffer *to = &writer->line;
	bool line = tr_text_is(record->kind, "line"), raw = tr_text_is(record->kind, "raw");
	bool lost = tr_text_is(record->kind, "lost"), initcwd = is_initcwd(record);

	*back = false;
	tr_buffer_reset(to);
	if (raw && writer->base.headed && !writer->base.faithful) {
		writer->base.reason = "the text is a line of another format";
		return TR_END;
	}
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	tr_error_clear(err);
	if (!line && !raw && !lost && !initcwd)
		return writer->forkless
			       ? print_forkless(writer, record, back, err)
			       : tr_etrace_print_record(record, &writer->clock, to,
							writer->follows ? &writer->where : NULL,
							back, &writer->base.reason, err);
	if (line) {
		print_verbatim(record, to, err);
	} else if (lost) {
		print_lost(record, to, err);
	} else if (initcwd) {
		tr_buffer_put_literal(to, "INITCWD=");
		tr_buffer_put_text(to, need_text(record, "value", err));
		tr_buffer_put_byte(to, '\n');
	} else {
		struct tr_text text = need_text(record, "text", err);
		if (text.data && !tr_etrace_print_raw(&writer->clock, to, text, back))
			tr_error_memory(err);
	}
	return err->cause ? tr_error_status(err) : TR_OK;
}

/* Makes err a note, which changes the exit status only with --strict. */
static enum tr_status note(struct tr_error *err)
{
	tr_error_is_note(err);
	return TR_WARN;
}

/*
 * Writes INITCWD before the first line, if the stream does not have it: the tracer's own tools drop
 * the first line, whatever it is. The directory is that of the first record, or the root.
 */
static enum tr_status begin_log(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	bool missing = !writer->begun && !writer->base.faithful && !is_initcwd(record) &&
		       !tr_text_is(record->kind, "line");

	writer->begun = true;
	if (!missing)
		return TR_OK;
	struct tr_text cwd = tr_etrace_field_text(record, "cwd", NULL);
	if (!cwd.data || memchr(cwd.data, '\n', cwd.len))
		cwd = TR_TEXT("/");
	tr_output_put_literal(writer->base.out, "INITCWD=");
	tr_output_put_text(writer->base.out, cwd);
	tr_output_put_byte(writer->base.out, '\n');
	tr_error_set(err, TR_CAUSE_INPUT, "the stream has no INITCWD: added");
	return note(err);
}

/* Reports once what the log states otherwise than the record, or cannot state. */
static enum tr_status look_at_record(struct writer *writer, const struct tr_record *record,
				     bool back, struct tr_error *err)
{
	if (back && !writer->reported_back) {
		writer->reported_back = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the time is before that of the task's last record: raised, because "
			     "the lines of a task need increasing times");
		return note(err);
	}
	if (writer->where.unresolved && !writer->reported_path) {
		writer->reported_path = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the directory of a relative path is unknown: the path is kept as "
			     "it is (strace -y records directories)");
		return note(err);
	}
	if (writer->reported_time || record->time.type != TR_CELL_ABSENT ||
	    record->task.type == TR_CELL_ABSENT)
		return TR_OK;
	writer->reported_time = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "records without a time: each of their lines gets the time of the "
		     "line before and 1 ns");
	return note(err);
}

/*
 * Takes one record. The tasks are followed even if the record was left out, because a chdir has no
 * line in the log and yet decides what later paths mean.
 */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	struct tr_error ignored;
	bool back;

	writer->follows = !writer->base.faithful && !writer->forkless;
	enum tr_status status = print_record(writer, record, &back, err);
	if (writer->follows && status != TR_FATAL &&
	    tr_etrace_where_follow(&writer->where, record, &ignored) == TR_FATAL)
		return tr_error_memory(err);
	if (status == TR_OK && writer->line.failed)
		return tr_error_memory(err);
	if (status == TR_OK) {
		if (!writer->base.faithful)
			count_lost_fields(writer, record);
		status = begin_log(writer, record, err);
		if (!put_lines(writer, record))
			return tr_error_memory(err);
		if (status == TR_OK)
			status = look_at_record(writer, record, back, err);
	}
	if (status != TR_OK && status != TR_END)
		tr_error_at_line(err, record->source_line);
	return status;
}

/* Finds out whether the format of the segment states parents instead of forks. */
static enum tr_status begin_segment(struct tr_writer *base, struct tr_record *header,
				    struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	struct tr_field *name = tr_record_field(header, "format");
	const struct tr_format *format = writer->find_format && name && name->text.data
						 ? writer->find_format(name->text)
						 : NULL;

	(void)err;
	writer->forkless = format && format->flags & TR_FORMAT_FORKLESS;
	return TR_OK;
}

/*
 * Writes what is held back and forgets the tasks. The clock stays, because all segments are one
 * log.
 */
static enum tr_status end_segment(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	(void)err;
	writer->begun = writer->forkless = false;
	tr_recent_free(&writer->alive);
	bool done = write_all_late(writer);
	tr_etrace_where_free(&writer->where);
	return done ? TR_OK : tr_error_memory(err);
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);

	while (writer->oldest)
		remove_late(writer, writer->oldest);
	tr_id_map_free(&writer->late);
	tr_buffer_free(&writer->line);
	tr_recent_free(&writer->alive);
	tr_etrace_clock_free(&writer->clock);
	tr_etrace_where_free(&writer->where);
}

static const struct tr_writer_steps steps = {
	.format = "etrace",
	.some_calls = true,
	.begin = begin_segment,
	.put = put_record,
	.end = end_segment,
	.discard = discard,
};

struct tr_writer *tr_etrace_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err)
{
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);

	if (!writer)
		return NULL;
	writer->find_format = config->find_format;
	return &writer->base;
}
