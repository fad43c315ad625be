#include "format/bear/bear.h"

#include <inttypes.h>
#include <stdlib.h>

#include "process/command.h"
#include "process/follow.h"
#include "process/recent.h"
#include "record/framing.h"
#include "record/json.h"
#include "record/literal.h"
#include "record/misfits.h"

struct writer {
	struct tr_output *out;
	struct tr_buffer line, literal;
	unsigned version_wanted; /* 0: as the segment has it */

	/* the segment */
	bool faithful; /* it was a bear trace: its environments are whole */
	unsigned version;
	struct tr_framing framing;
	struct tr_follow follow;
	struct tr_recent pids; /* of executions, by seq */
	struct tr_recent rids; /* of what runs, by pid */

	uint64_t next_rid; /* for executions that have none */
	uint64_t unknown;  /* executions whose environment is not known */
	bool finished, told;
	struct tr_misfits misfits;
};

struct tr_writer *tr_bear_create(const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err)
{
	struct tr_text version = tr_setting_get(&config->settings, "version", "");
	struct writer *writer = calloc(1, sizeof *writer);

	if (!writer) {
		tr_error_memory(err);
		return NULL;
	}
	writer->out = out;
	writer->next_rid = 1;
	writer->version_wanted = tr_text_is(version, "4") ? 4 : tr_text_is(version, "3") ? 3 : 0;
	writer->version = writer->version_wanted ? writer->version_wanted : 3;
	return (struct tr_writer *)writer;
}

static void forget_segment(struct writer *writer)
{
	tr_follow_free(&writer->follow);
	tr_recent_free(&writer->pids);
	tr_recent_free(&writer->rids);
}

void tr_bear_discard(struct tr_writer *base)
{
	struct writer *writer = (struct writer *)base;

	forget_segment(writer);
	tr_buffer_free(&writer->line);
	tr_buffer_free(&writer->literal);
	free(writer);
}

static enum tr_status out_of_memory(struct tr_error *err)
{
	tr_error_memory(err);
	return TR_FATAL;
}

static enum tr_status end_segment(struct writer *writer, const struct tr_record *trailer,
				  struct tr_error *err)
{
	forget_segment(writer);
	writer->faithful = false;
	return tr_framing_end(&writer->framing, trailer, err);
}

static enum tr_status begin_segment(struct writer *writer, struct tr_record *header,
				    struct tr_error *err)
{
	if (tr_record_split(header, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = end_segment(writer, NULL, err);
	struct tr_field *format = tr_record_field(header, "format");
	tr_framing_begin(&writer->framing);
	writer->faithful = format && format->text.data && tr_text_is(format->text, "bear");
	writer->version = writer->version_wanted ? writer->version_wanted
			  : writer->faithful && tr_command_number(header, "version") == 4 ? 4
											  : 3;
	return status;
}

/* Appends a field's value as JSON. TR_WARN: it is none. */
static enum tr_status put_value(struct writer *writer, struct tr_record *record,
				struct tr_field *field, struct tr_error *err)
{
	struct tr_value *value = tr_field_value(record, field, err);

	if (!value)
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	tr_buffer_reset(&writer->literal);
	tr_literal_write(value, &writer->literal);
	if (writer->literal.failed)
		return out_of_memory(err);
	if (!tr_json_from_literal(tr_buffer_text(&writer->literal), record->arena, &writer->line,
				  err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	return TR_OK;
}

/* The process's number: the task, or one that is made of the execution's. */
static uint64_t pid_of(const struct tr_record *record)
{
	uint64_t number;

	if (record->task.type != TR_CELL_ABSENT && tr_cell_number(&record->task, &number))
		return number;
	return tr_cell_number(&record->seq, &number) ? number + 1 : 0;
}

/* Appends the parent's number: as it is told, else by its record; 0 where neither says. */
static enum tr_status put_ppid(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, "ppid");
	struct tr_value *value = field ? tr_field_value(record, field, NULL) : NULL;
	uint64_t parent = tr_command_number(record, "parent"), pid = 0;

	if (value && (value->type == TR_UINT || value->type == TR_INT))
		return put_value(writer, record, field, err);
	if (parent == TR_NO_POSITION || !tr_recent_find(&writer->pids, parent, &pid))
		pid = 0;
	tr_buffer_put_decimal(&writer->line, pid);
	return TR_OK;
}

static bool is_decimal(struct tr_text text, uint64_t *number)
{
	struct tr_cell cell = { .type = TR_CELL_TEXT, .text = text };

	return text.len && tr_cell_number(&cell, number);
}

/*
 * The execution's rid, and whether it is a number that its end can be told by.
 * Those made here count up from 1; Bear's own are random.
 */
static bool put_rid(struct writer *writer, struct tr_record *record, uint64_t pid)
{
	struct tr_text rid = tr_command_string(record, "rid");
	uint64_t number;

	if (!rid.data) {
		number = writer->next_rid++;
		tr_buffer_put_byte(&writer->line, '"');
		tr_buffer_put_decimal(&writer->line, number);
		tr_buffer_put_byte(&writer->line, '"');
	} else {
		tr_json_string_from_bytes(rid, &writer->line);
		if (!is_decimal(rid, &number))
			return true;
	}
	return tr_recent_put(&writer->rids, pid, number);
}

static enum tr_status put_timestamp(struct writer *writer, struct tr_record *record)
{
	struct tr_buffer *line = &writer->line;
	size_t begin = line->len;
	char digits[24];
	struct tr_buffer number = { digits, 0, sizeof digits, false };
	struct tr_text time = record->time.text;

	if (record->time.type == TR_CELL_NUMBER) {
		tr_buffer_put_decimal(&number, record->time.number);
		time = tr_buffer_text(&number);
	} else if (record->time.type != TR_CELL_TEXT) {
		return TR_OK;
	}
	tr_buffer_put_literal(line, ",\"timestamp\":\"");
	if (tr_bear_time_write(time, line))
		tr_buffer_put_byte(line, '"');
	else
		line->len = begin;
	return TR_OK;
}

/* Members of other keys go back to the top, where most of them were. */
static enum tr_status put_extra(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_field *field = writer->faithful ? tr_record_field(record, "extra") : NULL;
	size_t begin = writer->line.len + 1;

	if (!field)
		return TR_OK;
	tr_buffer_put_byte(&writer->line, ',');
	enum tr_status status = put_value(writer, record, field, err);
	if (status != TR_OK || writer->line.failed)
		return status;
	struct tr_buffer *line = &writer->line;
	if (line->len - begin < 2 || line->data[begin] != '{') {
		tr_error_set(err, TR_CAUSE_INPUT, "extra: no map");
		return TR_WARN;
	}
	memmove(line->data + begin, line->data + begin + 1, line->len - begin - 2);
	line->len -= 2;
	if (line->len == begin)
		line->len--; /* an empty map: no comma */
	return TR_OK;
}

/* The whole environment, where it is known. */
static enum tr_status put_environment(struct writer *writer, struct tr_record *record,
				      struct tr_error *err)
{
	struct tr_field *whole = tr_record_field(record, "env");

	if (whole) {
		tr_buffer_put_literal(&writer->line, ",\"environment\":");
		return put_value(writer, record, whole, err);
	}
	if (!writer->follow.own) {
		writer->unknown += !writer->faithful;
		return TR_OK;
	}
	tr_buffer_put_literal(&writer->line, ",\"environment\":");
	tr_buffer_reset(&writer->literal);
	if (!tr_environment_write(writer->follow.pool, writer->follow.own, &writer->literal))
		return out_of_memory(err);
	if (!tr_json_from_literal(tr_buffer_text(&writer->literal), record->arena, &writer->line,
				  err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	return TR_OK;
}

static enum tr_status put_execution(struct writer *writer, struct tr_record *record,
				    const struct tr_command *command, struct tr_error *err)
{
	struct tr_buffer *line = &writer->line;

	tr_buffer_put_literal(line, "\"execution\":{\"executable\":");
	tr_json_string_from_bytes(tr_command_program(command), line);
	tr_buffer_put_literal(line, ",\"arguments\":[");
	for (size_t i = 0; i < command->argc; i++) {
		if (i)
			tr_buffer_put_byte(line, ',');
		tr_json_string_from_bytes(command->argv[i], line);
	}
	tr_buffer_put_literal(line, "],\"working_dir\":");
	tr_json_string_from_bytes(command->directory, line);
	enum tr_status status = put_environment(writer, record, err);
	tr_buffer_put_byte(line, '}');
	return status;
}

static enum tr_status put_started(struct writer *writer, struct tr_record *record,
				  const struct tr_command *command, struct tr_error *err)
{
	struct tr_buffer *line = &writer->line;
	uint64_t pid = pid_of(record), seq;
	enum tr_status status;

	if (tr_cell_number(&record->seq, &seq) && !tr_recent_put(&writer->pids, seq, pid))
		return out_of_memory(err);
	if (writer->version == 4) {
		tr_buffer_put_literal(line, "{\"pid\":");
		tr_buffer_put_decimal(line, pid);
		tr_buffer_put_byte(line, ',');
		status = put_execution(writer, record, command, err);
	} else {
		tr_buffer_put_literal(line, "{\"rid\":");
		if (!put_rid(writer, record, pid))
			return out_of_memory(err);
		tr_buffer_put_literal(line, ",\"started\":{");
		status = put_execution(writer, record, command, err);
		tr_buffer_put_literal(line, ",\"pid\":");
		tr_buffer_put_decimal(line, pid);
		tr_buffer_put_literal(line, ",\"ppid\":");
		if (status == TR_OK)
			status = put_ppid(writer, record, err);
		tr_buffer_put_byte(line, '}');
	}
	if (status == TR_OK)
		status = put_timestamp(writer, record);
	if (status == TR_OK)
		status = put_extra(writer, record, err);
	tr_buffer_put_literal(line, "}\n");
	return status;
}

/* Writes the line, unless something is wrong with it. */
static enum tr_status finish_line(struct writer *writer, enum tr_status status,
				  struct tr_error *err)
{
	if (writer->line.failed)
		return out_of_memory(err);
	if (status != TR_OK)
		return status;
	tr_output_put_text(writer->out, tr_buffer_text(&writer->line));
	tr_output_record_end(writer->out);
	return TR_OK;
}

static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_command command;
	enum tr_status status;

	if (tr_command_failed(record))
		return TR_OK;
	if (!writer->faithful) {
		status = tr_follow_record(&writer->follow, record, err);
		if (status != TR_OK)
			return status;
	}
	status = tr_command_read(record, &command, err);
	if (status != TR_OK)
		return status;
	if (command.cut || !command.directory.data) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s",
			     command.cut ? "the tracer cut its arguments: left out"
					 : "its directory is not known: left out");
		return TR_WARN;
	}
	tr_buffer_reset(&writer->line);
	return finish_line(writer, put_started(writer, record, &command, err), err);
}

/* The end of an execution: by its own rid, or that of what the process runs. */
static bool put_end_rid(struct writer *writer, struct tr_record *record)
{
	struct tr_text rid = tr_command_string(record, "rid");
	uint64_t pid, number;

	tr_buffer_put_literal(&writer->line, "{\"rid\":");
	if (rid.data) {
		tr_json_string_from_bytes(rid, &writer->line);
		return true;
	}
	if (record->task.type == TR_CELL_ABSENT || !tr_cell_number(&record->task, &pid) ||
	    !tr_recent_find(&writer->rids, pid, &number))
		return false;
	tr_buffer_put_byte(&writer->line, '"');
	tr_buffer_put_decimal(&writer->line, number);
	tr_buffer_put_byte(&writer->line, '"');
	return true;
}

/* Signals that end programs; their numbers are those of Linux on most machines. */
static unsigned signal_number(struct tr_text name)
{
	static const char *const names[] = {
		"",	    "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",  "SIGTRAP",   "SIGABRT",
		"SIGBUS",   "SIGFPE",  "SIGKILL",   "SIGUSR1", "SIGSEGV", "SIGUSR2",   "SIGPIPE",
		"SIGALRM",  "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP",   "SIGTSTP",
		"SIGTTIN",  "SIGTTOU", "SIGURG",    "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF",
		"SIGWINCH", "SIGIO",   "SIGPWR",    "SIGSYS",
	};

	for (unsigned i = 1; i < sizeof names / sizeof *names; i++)
		if (tr_text_is(name, names[i]))
			return i;
	return 0;
}

static enum tr_status put_signal(struct writer *writer, struct tr_record *record,
				 struct tr_field *field, struct tr_error *err)
{
	struct tr_value *value = tr_field_value(record, field, err);
	struct tr_text name = { NULL, 0 };

	if (!value)
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	if (value->type == TR_SYMBOL && value->as.symbol->count == 1)
		name = value->as.symbol->names[0].text;
	else if (value->type == TR_STRING)
		name = value->text;
	else
		return put_value(writer, record, field, err);
	tr_buffer_put_decimal(&writer->line, signal_number(name));
	return TR_OK;
}

/* Version 3 says the status as a string. */
static enum tr_status put_status(struct writer *writer, struct tr_record *record,
				 struct tr_field *field, struct tr_error *err)
{
	struct tr_value *value = tr_field_value(record, field, err);
	bool number = value && (value->type == TR_UINT || value->type == TR_INT);

	if (number)
		tr_buffer_put_byte(&writer->line, '"');
	enum tr_status status = put_value(writer, record, field, err);
	if (number)
		tr_buffer_put_byte(&writer->line, '"');
	return status;
}

static enum tr_status put_exit(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_field *exit_status = tr_record_field(record, "status");
	struct tr_field *signal = tr_record_field(record, "signal");
	enum tr_status status = TR_OK;

	tr_buffer_reset(&writer->line);
	if (writer->version == 4 || (!exit_status && !signal) || !put_end_rid(writer, record)) {
		tr_misfits_add(&writer->misfits, record->kind);
		return TR_OK;
	}
	if (signal) {
		tr_buffer_put_literal(&writer->line, ",\"signalled\":{\"number\":");
		status = put_signal(writer, record, signal, err);
	} else {
		tr_buffer_put_literal(&writer->line, ",\"terminated\":{\"status\":");
		status = put_status(writer, record, exit_status, err);
	}
	tr_buffer_put_byte(&writer->line, '}');
	if (status == TR_OK)
		status = put_timestamp(writer, record);
	if (status == TR_OK)
		status = put_extra(writer, record, err);
	tr_buffer_put_literal(&writer->line, "}\n");
	return finish_line(writer, status, err);
}

/* What was no event goes back as it was. */
static enum tr_status put_raw(struct writer *writer, struct tr_record *record, struct tr_error *err)
{
	struct tr_text text = tr_command_string(record, "text");

	tr_buffer_reset(&writer->line);
	if (!writer->faithful || !text.data) {
		tr_misfits_add(&writer->misfits, record->kind);
		return TR_OK;
	}
	tr_buffer_put_text(&writer->line, text);
	tr_buffer_put_byte(&writer->line, '\n');
	return finish_line(writer, TR_OK, err);
}

static enum tr_status put_record(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	enum tr_status status = TR_OK;

	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (tr_text_is(record->kind, "exec"))
		status = put_exec(writer, record, err);
	else if (tr_text_is(record->kind, "exit"))
		status = put_exit(writer, record, err);
	else if (tr_text_is(record->kind, "raw"))
		status = put_raw(writer, record, err);
	else if (tr_text_is(record->kind, "env"))
		status = tr_follow_record(&writer->follow, record, err);
	else
		tr_misfits_add(&writer->misfits, record->kind);
	if (status != TR_OK)
		tr_error_at_line(err, record->source_line);
	if (!tr_framing_lost(status, err))
		tr_framing_count(&writer->framing, record);
	return status;
}

enum tr_status tr_bear_put(struct tr_writer *base, struct tr_record *record, struct tr_error *err)
{
	struct writer *writer = (struct writer *)base;

	tr_error_clear(err);
	switch (record->type) {
	case TR_HEADER:
		return begin_segment(writer, record, err);
	case TR_TRAILER:
		return end_segment(writer, record, err);
	case TR_RECORD:
		return put_record(writer, record, err);
	default:
		return TR_OK;
	}
}

enum tr_status tr_bear_finish(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = (struct writer *)base;

	if (!writer->finished) {
		writer->finished = true;
		enum tr_status status = end_segment(writer, NULL, err);
		if (status != TR_OK)
			return status;
	}
	if (writer->unknown && !writer->told) {
		writer->told = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "executions written without environment, because it is not known: "
			     "%" PRIu64,
			     writer->unknown);
		return TR_WARN;
	}
	return tr_misfits_tell(&writer->misfits, "bear", err);
}
