#include <stdlib.h>

#include "format/etrace/etrace.h"
#include "format/etrace/fields.h"
#include "format/etrace/pen.h"
#include "format/etrace/verbatim.h"
#include "format/etrace/write_event.h"
#include "format/segment_writer.h"
#include "process/recent.h"

struct writer {
	struct tr_segment_writer base;
	struct tr_buffer line;
	const struct tr_format *(*find_format)(struct tr_text name);
	bool begun;    /* something of the segment was written */
	bool forkless; /* its records say whose child a process is, and tell of no forks */
	struct tr_recent living; /* then: the tasks that are */
	bool told_time;
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

/*
 * In the log it is a fork that makes a child: one that the record of its execution speaks of, and
 * nothing else does. What is wrong with the record is said of the execution.
 */
static enum tr_status write_fork(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_etrace_pen pen = { .to = &writer->line };
	uint64_t task, sec, nsec, lives = false;
	int64_t parent;
	bool there;

	tr_error_clear(err);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (!tr_cell_number(&record->task, &task) ||
	    (tr_recent_find(&writer->living, task, &lives) && lives) ||
	    !tr_etrace_field_number(record, "ppid", &there, &parent, err) || !there ||
	    parent <= 0 || (uint64_t)parent == task ||
	    !tr_etrace_field_time(record, &sec, &nsec, err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_OK;
	tr_etrace_pen_begin(&pen, (uint64_t)parent, 0, sec, nsec);
	tr_etrace_pen_open(&pen, TR_TEXT("SchedFork"));
	tr_buffer_put_literal(&writer->line, "pid=");
	tr_buffer_put_decimal(&writer->line, task);
	tr_buffer_put_byte(&writer->line, '\n');
	return TR_OK;
}

/* An event of a trace that tells of parents, and of no forks. */
static enum tr_status write_forkless(struct writer *writer, struct tr_record *record,
				     struct tr_error *err)
{
	bool exec = tr_text_is(record->kind, "exec");
	uint64_t task;

	if (exec && write_fork(writer, record, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = tr_etrace_write_event(record, &writer->line, err);
	/* a number that comes again behind an exit is another child's */
	if (status == TR_OK && tr_cell_number(&record->task, &task) &&
	    !tr_recent_put(&writer->living, task, exec))
		return tr_error_memory(err);
	return status;
}

/* Puts the record's lines into line. TR_END: the log has no place for it. */
static enum tr_status write_record(struct writer *writer, struct tr_record *record,
				   struct tr_error *err)
{
	tr_buffer_reset(&writer->line);
	if (tr_text_is(record->kind, "line"))
		return tr_etrace_verbatim_line(record, &writer->line, err);
	if (is_initcwd(record))
		return write_text(writer, record, "value", err);
	/* what could not be read of another format is no line of a log */
	bool foreign = writer->base.headed && !writer->base.faithful;
	if (tr_text_is(record->kind, "raw"))
		return foreign ? TR_END : write_text(writer, record, "text", err);
	if (tr_text_is(record->kind, "lost"))
		return write_lost(writer, record, err);
	return writer->forkless ? write_forkless(writer, record, err)
				: tr_etrace_write_event(record, &writer->line, err);
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

/* Lines without a time all have the same one. */
static enum tr_status look_at_time(struct writer *writer, const struct tr_record *record,
				   struct tr_error *err)
{
	if (writer->told_time || record->time.type != TR_CELL_ABSENT ||
	    record->task.type == TR_CELL_ABSENT)
		return TR_OK;
	writer->told_time = true;
	tr_error_set(err, TR_CAUSE_INPUT, "records without a time: it is 0 in the log");
	return note(err);
}

static enum tr_status put_record(void *self, struct tr_record *record, struct tr_error *err)
{
	struct writer *writer = self;
	enum tr_status status = write_record(writer, record, err);

	if (status == TR_END) {
		if (!tr_text_is(record->kind, "sys") || record->name.type != TR_CELL_TEXT)
			return TR_END;
		tr_misfits_add(&writer->base.misfits, record->name.text);
		return TR_OK;
	}
	if (status == TR_OK && writer->line.failed)
		return tr_error_memory(err);
	if (status == TR_OK) {
		status = begin_log(writer, record, err);
		tr_output_put_text(writer->base.out, tr_buffer_text(&writer->line));
		if (status == TR_OK)
			status = look_at_time(writer, record, err);
	}
	if (status != TR_OK)
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
	return TR_OK;
}

static const struct tr_segment_steps steps = {
	.format = "etrace",
	.begin = begin_segment,
	.put = put_record,
	.end = end_segment,
};

struct tr_writer *tr_etrace_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err)
{
	struct writer *writer =
		(struct writer *)tr_segment_writer_new(sizeof *writer, &steps, out, err);

	if (writer)
		writer->find_format = config->find_format;
	return (struct tr_writer *)writer;
}

void tr_etrace_discard(struct tr_writer *base)
{
	struct writer *writer = (struct writer *)base;

	tr_buffer_free(&writer->line);
	tr_recent_free(&writer->living);
	free(writer);
}
