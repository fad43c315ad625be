#include <stdlib.h>

#include "format/etrace/etrace.h"
#include "format/etrace/fields.h"
#include "format/etrace/pen.h"
#include "format/etrace/late.h"
#include "format/etrace/line.h"
#include "format/etrace/verbatim.h"
#include "format/etrace/write_event.h"
#include "format/segment_writer.h"
#include "process/recent.h"

struct writer {
	struct tr_segment_writer base;
	struct tr_buffer line, raised;
	const struct tr_format *(*find_format)(struct tr_text name);
	bool begun;    /* something of the segment was written */
	bool forkless; /* its records say whose child a process is, and tell of no forks */
	struct tr_recent living;      /* then: the tasks that are */
	struct tr_etrace_clock clock; /* of all segments: the log is one */
	struct tr_etrace_where where;
	struct tr_etrace_late late;
	bool follows; /* paths of the segment are seen from where its tasks are */
	bool told_time, told_back, told_path;
};

static enum tr_status note(struct tr_error *err)
{
	tr_error_is_note(err);
	return TR_WARN;
}

static bool is_initcwd(const struct tr_record *record)
{
	return tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT &&
	       tr_text_is(record->name.text, "INITCWD");
}

/* The value of a meta record, or the text of a raw one. */
static enum tr_status write_text(struct writer *writer, struct tr_record *record, const char *key,
				 struct tr_error *err)
{
	struct tr_text text;
	bool there;

	tr_error_clear(err);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (!tr_etrace_field_string(record, key, &there, &text, err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	if (!there) {
		tr_error_set(err, TR_CAUSE_INPUT, "no %s in the record", key);
		return TR_WARN;
	}
	if (is_initcwd(record))
		tr_buffer_put_literal(&writer->line, "INITCWD=");
	tr_buffer_put_text(&writer->line, text);
	tr_buffer_put_byte(&writer->line, '\n');
	return TR_OK;
}

static enum tr_status write_lost(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_buffer *to = &writer->line;
	bool has_events, has_cpu;
	int64_t events, cpu;

	tr_error_clear(err);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (!tr_etrace_field_number(record, "events", &has_events, &events, err) ||
	    !tr_etrace_field_number(record, "cpu", &has_cpu, &cpu, err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	tr_buffer_put_literal(to, "CPU:");
	tr_buffer_put_decimal(to, cpu < 0 ? 0 : (uint64_t)cpu);
	tr_buffer_put_literal(to, " [LOST ");
	if (has_events) {
		tr_buffer_put_decimal(to, events < 0 ? 0 : (uint64_t)events);
		tr_buffer_put_byte(to, ' ');
	}
	tr_buffer_put_literal(to, "EVENTS]\n");
	return TR_OK;
}

/* Appends the line of a fork. False: memory is out. */
static bool put_fork_line(struct writer *writer, struct tr_buffer *to, uint64_t parent,
			  uint64_t child, bool timed, struct tr_etrace_moment own)
{
	struct tr_etrace_pen pen = { .to = to };
	struct tr_etrace_moment time = own;
	bool back;

	if (!tr_etrace_clock_start(&writer->clock, parent, timed, &time, &back))
		return true;
	tr_etrace_pen_begin(&pen, parent, 0, time);
	tr_etrace_pen_open(&pen, TR_TEXT("SchedFork"));
	tr_buffer_put_literal(to, "pid=");
	tr_buffer_put_decimal(to, child);
	tr_buffer_put_byte(to, '\n');
	return !to->failed &&
	       tr_etrace_clock_stop(&writer->clock, parent, timed, own, pen.time, false);
}

/*
 * In the log it is a fork that makes a child: one that the record of its execution speaks of, and
 * nothing else does. What is wrong with the record is said of the execution.
 */
static enum tr_status write_fork(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	bool there, timed = record->time.type != TR_CELL_ABSENT;
	struct tr_etrace_moment own;
	uint64_t task, lives = false;
	int64_t parent;

	tr_error_clear(err);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (!tr_cell_number(&record->task, &task) ||
	    (tr_recent_find(&writer->living, task, &lives) && lives) ||
	    !tr_etrace_field_number(record, "ppid", &there, &parent, err) || !there ||
	    parent <= 0 || (uint64_t)parent == task || !tr_etrace_field_time(record, &own, err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_OK;
	return put_fork_line(writer, &writer->line, (uint64_t)parent, task, timed, own)
		       ? TR_OK
		       : tr_error_memory(err);
}

/* An event of a trace that tells of parents, and of no forks. */
static enum tr_status write_forkless(struct writer *writer, struct tr_record *record, bool *back,
				     struct tr_error *err)
{
	bool exec = tr_text_is(record->kind, "exec");
	uint64_t task;

	if (exec && write_fork(writer, record, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = tr_etrace_write_event(record, &writer->clock, &writer->line, NULL,
						      back, &writer->base.reason, err);
	/* a number that comes again behind an exit is another child's */
	if (status == TR_OK && tr_cell_number(&record->task, &task) &&
	    !tr_recent_put(&writer->living, task, exec))
		return tr_error_memory(err);
	return status;
}

/*
 * A line that could not be read as one of an event. Where it states a task and a time all the
 * same, that time is raised where it has to be.
 */
static enum tr_status write_raw(struct writer *writer, struct tr_record *record, bool *back,
				struct tr_error *err)
{
	enum tr_status status = write_text(writer, record, "text", err);
	struct tr_buffer *to = &writer->line;
	struct tr_etrace_moment own, time;
	struct tr_etrace_line line;

	if (status != TR_OK || !tr_buffer_room(to, TR_INPUT_PAD))
		return status;
	tr_etrace_line_read((struct tr_text){ to->data, to->len - 1 }, NULL, &line);
	if (line.type != TR_ETRACE_EVENT)
		return TR_OK;
	own = time = (struct tr_etrace_moment){ line.sec, line.nsec };
	if (!tr_etrace_clock_start(&writer->clock, line.upid, true, &time, back))
		return TR_OK;
	struct tr_etrace_pen pen = { .to = &writer->raised };
	tr_buffer_reset(pen.to);
	tr_etrace_pen_begin(&pen, line.upid, line.cpu, time);
	tr_etrace_pen_head(&pen, tr_text_span(line.tag.data, to->data + to->len));
	if (time.sec != own.sec || time.nsec != own.nsec) {
		tr_buffer_reset(to);
		tr_buffer_put_text(to, tr_buffer_text(pen.to));
	}
	return !pen.to->failed && tr_etrace_clock_stop(&writer->clock, line.upid, true, own,
						       pen.time, false)
		       ? TR_OK
		       : tr_error_memory(err);
}

/* Counts what an event cannot state of a record that is written. */
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
static enum tr_status write_record(struct writer *writer, struct tr_record *record, bool *back,
				   struct tr_error *err)
{
	*back = false;
	tr_buffer_reset(&writer->line);
	if (tr_text_is(record->kind, "line"))
		return tr_etrace_verbatim_line(record, &writer->line, err);
	if (is_initcwd(record))
		return write_text(writer, record, "value", err);
	/* what could not be read of another format is no line of a log */
	bool foreign = writer->base.headed && !writer->base.faithful;
	if (tr_text_is(record->kind, "raw") && foreign) {
		writer->base.reason = "the text is a line of another format";
		return TR_END;
	}
	if (tr_text_is(record->kind, "raw"))
		return write_raw(writer, record, back, err);
	if (tr_text_is(record->kind, "lost"))
		return write_lost(writer, record, err);
	if (writer->forkless)
		return write_forkless(writer, record, back, err);
	return tr_etrace_write_event(record, &writer->clock, &writer->line,
				     writer->follows ? &writer->where : NULL, back,
				     &writer->base.reason, err);
}

/* The first line of a log is its directory: its own tools drop whatever stands there. */
static enum tr_status begin_log(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_text cwd;
	bool there, missing = !writer->begun && !writer->base.faithful && !is_initcwd(record) &&
			      !tr_text_is(record->kind, "line");
	struct tr_error ignored;

	writer->begun = true;
	if (!missing)
		return TR_OK;
	if (!tr_etrace_field_string(record, "cwd", &there, &cwd, &ignored) || !there ||
	    memchr(cwd.data, '\n', cwd.len))
		cwd = TR_TEXT("/");
	tr_output_put_literal(writer->base.out, "INITCWD=");
	tr_output_put_text(writer->base.out, cwd);
	tr_output_put_byte(writer->base.out, '\n');
	tr_error_set(err, TR_CAUSE_INPUT, "INITCWD was not in the stream: supplied");
	return note(err);
}

/* What the log states otherwise than the record, or cannot state, is reported once. */
static enum tr_status look_at_record(struct writer *writer, const struct tr_record *record,
				     bool back, struct tr_error *err)
{
	if (back && !writer->told_back) {
		writer->told_back = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the time is before that of the task's last record: raised, because "
			     "the lines of a task need increasing times");
		return note(err);
	}
	if (writer->where.unresolved && !writer->told_path) {
		writer->told_path = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the directory of a relative path is unknown: the path is kept as it "
			     "is (strace -y states directories)");
		return note(err);
	}
	if (writer->told_time || record->time.type != TR_CELL_ABSENT ||
	    record->task.type == TR_CELL_ABSENT)
		return TR_OK;
	writer->told_time = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "records without a time: each of their lines gets the time of the "
		     "line before and 1 ns");
	return note(err);
}

/* The record is the first execution of a child whose fork has not come. */
static bool is_early(struct writer *writer, struct tr_record *record, uint64_t number,
		     uint64_t *parent)
{
	const struct tr_tasks *tasks = &writer->where.tasks;
	const struct tr_task *task = tr_tasks_find(tasks, number);

	return tr_text_is(record->kind, "exec") && !(task && task->adopted) &&
	       tr_etrace_field_uint(record, "ppid", parent) && *parent != number &&
	       tr_tasks_find(tasks, *parent);
}

/* Forks that did not come are written by what the executions say of their parents. */
static bool write_late(struct writer *writer)
{
	const struct tr_etrace_moment none = { 0, 0 };
	struct tr_buffer *to = &writer->raised;
	uint64_t task, parent;
	bool forked;

	while (tr_etrace_late_first(&writer->late, &task, &parent, &forked)) {
		struct tr_task *maker = tr_tasks_find(&writer->where.tasks, parent);
		tr_buffer_reset(to);
		if ((!forked && !put_fork_line(writer, to, parent, task, false, none)) ||
		    (maker && !tr_tasks_claim(&writer->where.tasks, maker, task)))
			return false;
		if (!tr_etrace_late_waits(&writer->late, parent))
			tr_output_put_text(writer->base.out, tr_buffer_text(to));
		else if (!tr_etrace_late_add(&writer->late, parent, tr_buffer_text(to)))
			return false;
		tr_etrace_late_write(&writer->late, task, writer->base.out);
	}
	return true;
}

static bool put_lines(struct writer *writer, struct tr_record *record)
{
	struct tr_text lines = tr_buffer_text(&writer->line);
	uint64_t task, parent, child;
	bool of_task = writer->follows && tr_cell_number(&record->task, &task);
	bool waits = of_task && tr_etrace_late_waits(&writer->late, task);

	if (of_task && !waits && is_early(writer, record, task, &parent)) {
		waits = true;
		if (!tr_etrace_late_begin(&writer->late, task, parent, false))
			return false;
	}
	if (!waits)
		tr_output_put_text(writer->base.out, lines);
	else if (!tr_etrace_late_add(&writer->late, task, lines))
		return false;
	if (of_task && tr_text_is(record->kind, "fork") &&
	    tr_etrace_field_uint(record, "child", &child) && child != task) {
		if (!waits)
			tr_etrace_late_write(&writer->late, child, writer->base.out);
		else if (!tr_etrace_late_begin(&writer->late, child, task, true))
			return false;
	}
	return writer->late.bytes <= TR_ETRACE_LATE_MAX || write_late(writer);
}

/* False: memory is out. */
static bool follow(struct writer *writer, struct tr_record *record, enum tr_status status)
{
	struct tr_error trouble;

	return !writer->follows || status == TR_FATAL ||
	       tr_etrace_where_follow(&writer->where, record, &trouble) != TR_FATAL;
}

static enum tr_status put_record(void *self, struct tr_record *record, struct tr_error *err)
{
	struct writer *writer = self;
	bool back;

	writer->follows = !writer->base.faithful && !writer->forkless;
	enum tr_status status = write_record(writer, record, &back, err);
	if (!follow(writer, record, status))
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

static enum tr_status begin_segment(void *self, struct tr_record *header, struct tr_error *err)
{
	struct writer *writer = self;
	struct tr_field *name = tr_record_field(header, "format");
	const struct tr_format *format = writer->find_format && name && name->text.data
						 ? writer->find_format(name->text)
						 : NULL;

	(void)err;
	writer->forkless = format && format->flags & TR_FORMAT_FORKLESS;
	return TR_OK;
}

static enum tr_status end_segment(void *self, struct tr_error *err)
{
	struct writer *writer = self;

	(void)err;
	writer->begun = writer->forkless = false;
	tr_recent_free(&writer->living);
	bool done = write_late(writer);
	tr_etrace_where_free(&writer->where);
	return done ? TR_OK : tr_error_memory(err);
}

static const struct tr_segment_steps steps = {
	.format = "etrace",
	.some_calls = true,
	.begin = begin_segment,
	.put = put_record,
	.end = end_segment,
};

struct tr_writer *tr_etrace_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err)
{
	struct writer *writer =
		(struct writer *)tr_segment_writer_new(sizeof *writer, &steps, out, err);

	if (writer) {
		writer->find_format = config->find_format;
		tr_etrace_where_init(&writer->where);
	}
	return (struct tr_writer *)writer;
}

void tr_etrace_discard(struct tr_writer *base)
{
	struct writer *writer = (struct writer *)base;

	tr_buffer_free(&writer->line);
	tr_buffer_free(&writer->raised);
	tr_recent_free(&writer->living);
	tr_etrace_clock_free(&writer->clock);
	tr_etrace_where_free(&writer->where);
	tr_etrace_late_free(&writer->late);
	free(writer);
}
