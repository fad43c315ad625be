/* SPDX-License-Identifier: MIT */
/*
 * Writes Bear's events. put_record follows the environment of the process, spells the event as
 * JSON in writer->line (put_exec, put_exit) and writes the line if it is whole.
 */
#include <inttypes.h>
#include <time.h>

#include "core/date.h"
#include "core/map.h"
#include "core/text_cache.h"
#include "format/bear/bear.h"
#include "format/writer_base.h"
#include "process/command.h"
#include "process/follow.h"
#include "process/parent.h"
#include "record/json.h"
#include "record/literal.h"

/* The note in the cache of environments: JSON has the same text, so it is not kept. */
enum { SAME };

struct writer {
	struct tr_writer base;
	struct tr_buffer line; /* often in the output already: see tr_output_lend */
	struct tr_buffer literal;
	unsigned version; /* of -O; 0: each event has its own */

	/* the segment */
	struct tr_follow follow;
	struct tr_recent pids;		   /* pid of each execution, by seq */
	struct tr_recent rids;		   /* rid of the execution that each pid runs */
	struct tr_text_cache environments; /* as JSON, by id: many executions have the same */

	uint64_t next_rid; /* for executions that have none */
	uint64_t unknown;  /* executions whose environment is unknown */
	bool noted;
};

/*
 * The number of a real-time signal with one of strace's names: SIGRTMIN, SIGRT_1 ... SIGRTMAX. 0:
 * the name is another one.
 */
static unsigned real_time_signal(struct tr_text name)
{
	enum { FIRST = 32, LAST = 64 };
	const struct tr_text lead = TR_TEXT("SIGRT_");
	uint64_t number;

	if (tr_text_is(name, "SIGRTMIN"))
		return FIRST;
	if (tr_text_is(name, "SIGRTMAX"))
		return LAST;
	if (!tr_text_starts(name, lead))
		return 0;
	const struct tr_cell cell = { .type = TR_CELL_TEXT,
				      .text = tr_text_span(name.data + lead.len,
							   name.data + name.len) };
	return tr_cell_number(&cell, &number) && number <= LAST - FIRST ? FIRST + (unsigned)number
									: 0;
}

/*
 * The number of a signal that can end a program, as Linux has it on most machines. 0: unknown.
 */
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
	return real_time_signal(name);
}

/* The fields of an execution that are used here. */
enum { ARGV, CWD, ENV, PPID, RID, ERROR, FAILED, FIELDS };

/* An execution: the fields of its record, and its parts. */
struct execution {
	struct tr_record *record;
	struct tr_field *fields[FIELDS]; /* NULL: the record does not have the field */

	struct tr_text executable; /* data NULL: unknown */
	struct tr_text arguments;  /* JSON; data NULL: command has them */
	struct tr_text directory;  /* JSON; data NULL: command has it */
	struct tr_command command;
};

/* The text of a field if it is strings that JSON spells alike; data NULL: it is not. */
static struct tr_text json_strings(const struct tr_field *field, char first)
{
	if (field && field->text.len && *field->text.data == first &&
	    tr_literal_is_json_strings(field->text))
		return field->text;
	return (struct tr_text){ NULL, 0 };
}

/* Appends a field's value as JSON. TR_WARN: it is not a value. */
static enum tr_status put_value(struct writer *writer, struct tr_record *record,
				struct tr_field *field, struct tr_error *err)
{
	if (tr_json_from_field(record, field, &writer->line, err))
		return TR_OK;
	return tr_error_status(err);
}

/* The pid: the task, or a number made from the seq of the execution. */
static uint64_t pid_of(const struct tr_record *record)
{
	uint64_t number;

	if (record->task.type != TR_CELL_ABSENT && tr_cell_number(&record->task, &number))
		return number;
	return tr_cell_number(&record->seq, &number) ? number + 1 : 0;
}

/* Appends the parent's pid: from ppid, else from the parent's record; 0 if neither is known. */
static enum tr_status put_ppid(struct writer *writer, const struct execution *execution,
			       struct tr_error *err)
{
	struct tr_field *field = execution->fields[PPID];
	struct tr_value *value = field ? tr_field_value(execution->record, field, NULL) : NULL;
	struct tr_parent parent = writer->follow.parent;
	uint64_t pid = 0;

	if (value && (value->type == TR_UINT || value->type == TR_INT))
		return put_value(writer, execution->record, field, err);
	if (writer->base.faithful && !tr_parent_read(execution->record, &parent))
		return tr_error_memory(err);
	if (parent.seq == TR_NO_POSITION || !tr_recent_find(&writer->pids, parent.seq, &pid))
		pid = 0;
	tr_buffer_put_decimal(&writer->line, pid);
	return TR_OK;
}

/* True if the text is a number of 64 bits. */
static bool is_decimal(struct tr_text text, uint64_t *number)
{
	struct tr_cell cell = { .type = TR_CELL_TEXT, .text = text };

	return text.len && tr_cell_number(&cell, number);
}

/*
 * Appends the execution's rid, and keeps one that is a number for the event that ends it.
 * Those made here count up from 1; Bear's own are random. False: memory is exhausted.
 */
static bool put_rid(struct writer *writer, const struct execution *execution, uint64_t pid)
{
	struct tr_text rid = { NULL, 0 };
	uint64_t number;

	if (execution->fields[RID])
		rid = tr_command_string(execution->record, "rid");
	if (!rid.data) {
		number = writer->next_rid++;
		tr_buffer_put_byte(&writer->line, '"');
		tr_buffer_put_decimal(&writer->line, number);
		tr_buffer_put_byte(&writer->line, '"');
	} else {
		tr_json_string_from_wtf8(rid, &writer->line);
		if (!is_decimal(rid, &number))
			return true;
	}
	return tr_recent_put(&writer->rids, pid, number);
}

/*
 * Appends seconds since 1970 as a timestamp with the same digits after the point. False: it would
 * not come back the same.
 */
static bool put_time(struct tr_text seconds, struct tr_buffer *timestamp)
{
	const char *point = seconds.len ? memchr(seconds.data, '.', seconds.len) : NULL;
	const char *end = seconds.data + seconds.len;
	struct tr_text whole = tr_text_span(seconds.data, point ? point : end);
	struct tr_text digits = point ? tr_text_span(point + 1, end) : TR_TEXT("");
	enum { MOST_DIGITS = 18 };
	time_t number = 0;
	struct tm tm;

	if (!tr_text_is_digits(whole) || whole.len > MOST_DIGITS ||
	    (point && !tr_text_is_digits(digits)))
		return false;
	for (size_t i = 0; i < whole.len; i++)
		number = number * 10 + (whole.data[i] - '0');
	if (!gmtime_r(&number, &tm) || tm.tm_year + 1900 > 9999)
		return false;
	struct tr_date date = {
		(unsigned)tm.tm_year + 1900, (unsigned)tm.tm_mon + 1, (unsigned)tm.tm_mday,
		(unsigned)tm.tm_hour,	     (unsigned)tm.tm_min,     (unsigned)tm.tm_sec,
	};
	tr_date_write(&date, timestamp);
	if (timestamp->len && !timestamp->failed)
		timestamp->len--; /* the Z */
	if (point) {
		tr_buffer_put_byte(timestamp, '.');
		tr_buffer_put_text(timestamp, digits);
	}
	tr_buffer_put_byte(timestamp, 'Z');
	return true;
}

/* Appends the timestamp. A time that is not seconds since 1970 is left out. */
static void put_timestamp(struct writer *writer, struct tr_record *record)
{
	struct tr_buffer *line = &writer->line;
	size_t begin = line->len;
	char digits[24];
	struct tr_buffer number = tr_buffer_over(digits, sizeof digits);
	struct tr_text time = record->time.text;

	if (record->time.type == TR_CELL_NUMBER) {
		tr_buffer_put_decimal(&number, record->time.number);
		time = tr_buffer_text(&number);
	} else if (record->time.type != TR_CELL_TEXT) {
		return;
	}
	tr_buffer_put_literal(line, ",\"timestamp\":\"");
	if (put_time(time, line))
		tr_buffer_put_byte(line, '"');
	else
		line->len = begin;
}

/* Writes members of other keys at the top level, where most of them were. */
static enum tr_status put_extra(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_field *field = writer->base.faithful ? tr_record_field(record, "extra") : NULL;
	struct tr_buffer *line = &writer->line;

	if (!field)
		return TR_OK;
	tr_buffer_put_byte(line, ',');
	size_t begin = line->len;
	if (!tr_json_members_from_field(record, field, line, err))
		return tr_error_status(err);
	line->len -= line->len == begin; /* an empty map: no comma */
	return TR_OK;
}

/* Appends the whole environment if it is known. */
static enum tr_status put_environment(struct writer *writer, const struct execution *execution,
				      struct tr_error *err)
{
	if (execution->fields[ENV]) {
		tr_buffer_put_literal(&writer->line, ",\"environment\":");
		return put_value(writer, execution->record, execution->fields[ENV], err);
	}
	if (!writer->follow.own) {
		writer->unknown += !writer->base.faithful;
		return TR_OK;
	}
	if (!tr_environments_may_write(writer->follow.pool, execution->record->line.len)) {
		tr_error_say(err, TR_CAUSE_LIMIT,
			     "left out: the complete environments of this trace exceed 1000 "
			     "times the size of the input");
		return TR_WARN;
	}
	struct tr_buffer *line = &writer->line;
	tr_buffer_put_literal(line, ",\"environment\":");
	size_t begin = line->len;
	if (!tr_environment_write(writer->follow.pool, writer->follow.own, line))
		return tr_error_memory(err);
	uint64_t id = tr_environment_id(writer->follow.own);
	const struct tr_cached_text *known = tr_text_cache_find(&writer->environments, id, 0);
	if (known && known->notes[SAME])
		return TR_OK;
	if (known) {
		line->len = begin;
		tr_buffer_put_text(line, known->text);
		return TR_OK;
	}
	tr_buffer_reset(&writer->literal);
	tr_buffer_put_text(&writer->literal,
			   tr_text_span(line->data + begin, line->data + line->len));
	if (writer->literal.failed)
		return tr_error_memory(err);
	line->len = begin;
	struct tr_text literal = tr_buffer_text(&writer->literal);
	if (!tr_json_from_literal(literal, execution->record->arena, line, err))
		return tr_error_status(err);
	if (line->failed)
		return tr_error_memory(err);
	struct tr_text json = tr_text_span(line->data + begin, line->data + line->len);
	const uint64_t notes[2] = { [SAME] = tr_text_equal(json, literal) };
	tr_text_cache_put(&writer->environments, id, 0, notes[SAME] ? TR_TEXT("") : json, notes);
	return TR_OK;
}

/* Appends the arguments of a command that was read. */
static void put_arguments(struct tr_buffer *line, const struct tr_command *command)
{
	tr_buffer_put_byte(line, '[');
	for (size_t i = 0; i < command->argc; i++) {
		if (i)
			tr_buffer_put_byte(line, ',');
		tr_json_string_from_wtf8(command->argv[i], line);
	}
	tr_buffer_put_byte(line, ']');
}

/*
 * Reads the parts of an execution. Most command lines are the same text in JSON, so they are not
 * split. TR_WARN: a part is missing. TR_FATAL: memory.
 */
static enum tr_status read_parts(struct execution *execution, struct tr_error *err)
{
	execution->executable = tr_command_executable(execution->record);
	execution->arguments = json_strings(execution->fields[ARGV], '[');
	execution->directory = json_strings(execution->fields[CWD], '"');
	if (execution->executable.data && execution->arguments.data && execution->directory.data)
		return TR_OK;
	execution->arguments.data = execution->directory.data = NULL;
	enum tr_status status = tr_command_read(execution->record, &execution->command, err);
	if (status == TR_OK && !tr_command_is_whole(&execution->command))
		return tr_command_left_out(&execution->command, err);
	return status;
}

/* Appends the execution itself, which both versions have in the same form. */
static enum tr_status put_execution(struct writer *writer, const struct execution *execution,
				    struct tr_error *err)
{
	const struct tr_command *command = &execution->command;
	struct tr_buffer *line = &writer->line;

	tr_buffer_put_literal(line, "\"execution\":{");
	if (execution->executable.data || !writer->base.faithful) {
		tr_buffer_put_literal(line, "\"executable\":");
		tr_json_string_from_wtf8(execution->executable.data ? execution->executable
								    : tr_command_program(command),
					 line);
		tr_buffer_put_byte(line, ',');
	}
	tr_buffer_put_literal(line, "\"arguments\":");
	if (execution->arguments.data)
		tr_buffer_put_text(line, execution->arguments);
	else
		put_arguments(line, command);
	tr_buffer_put_literal(line, ",\"working_dir\":");
	if (execution->directory.data)
		tr_buffer_put_text(line, execution->directory);
	else
		tr_json_string_from_wtf8(command->directory, line);
	enum tr_status status = put_environment(writer, execution, err);
	tr_buffer_put_byte(line, '}');
	return status;
}

/*
 * Chooses the form: that of -O, or the one in which the event was read, which has neither rid nor
 * ppid in version 4; else that of version 3.
 */
static bool has_version_4(const struct writer *writer, const struct execution *execution)
{
	if (writer->version)
		return writer->version == 4;
	return writer->base.faithful && !execution->fields[RID] && !execution->fields[PPID];
}

/*
 * Makes writer->line of an exec record, whose environment has been followed.
 * TR_WARN: a value that JSON cannot hold. TR_FATAL: memory.
 */
static enum tr_status spell_exec(struct writer *writer, struct tr_record *record,
				 const struct execution *execution, struct tr_error *err)
{
	struct tr_buffer *line = &writer->line;
	uint64_t pid = pid_of(record), seq;
	enum tr_status status;

	tr_output_lend(writer->base.out, line);
	if (tr_cell_number(&record->seq, &seq) && !tr_recent_put(&writer->pids, seq, pid))
		return tr_error_memory(err);
	if (has_version_4(writer, execution)) {
		tr_buffer_put_literal(line, "{\"pid\":");
		tr_buffer_put_decimal(line, pid);
		tr_buffer_put_byte(line, ',');
		status = put_execution(writer, execution, err);
	} else {
		tr_buffer_put_literal(line, "{\"rid\":");
		if (!put_rid(writer, execution, pid))
			return tr_error_memory(err);
		tr_buffer_put_literal(line, ",\"started\":{");
		status = put_execution(writer, execution, err);
		tr_buffer_put_literal(line, ",\"pid\":");
		tr_buffer_put_decimal(line, pid);
		tr_buffer_put_literal(line, ",\"ppid\":");
		if (status == TR_OK)
			status = put_ppid(writer, execution, err);
		tr_buffer_put_byte(line, '}');
	}
	if (status == TR_OK)
		put_timestamp(writer, record);
	if (status == TR_OK)
		status = put_extra(writer, record, err);
	tr_buffer_put_literal(line, "}\n");
	return status;
}

/* Appends the rid of the execution that ends: its own, or that of the process. False: unknown. */
static bool put_end_rid(struct writer *writer, struct tr_record *record)
{
	struct tr_text rid = tr_command_string(record, "rid");
	uint64_t pid, number;

	tr_buffer_put_literal(&writer->line, "{\"rid\":");
	if (rid.data) {
		tr_json_string_from_wtf8(rid, &writer->line);
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

/* Appends the number of a signal, which records may have by name. */
static enum tr_status put_signal(struct writer *writer, struct tr_record *record,
				 struct tr_field *field, struct tr_error *err)
{
	struct tr_value *value = tr_field_value(record, field, err);
	struct tr_text name = { NULL, 0 };

	if (!value)
		return tr_error_status(err);
	if (value->type == TR_SYMBOL && value->as.symbol->count == 1)
		name = value->as.symbol->names[0].text;
	else if (value->type == TR_STRING)
		name = value->text;
	else
		return put_value(writer, record, field, err);
	unsigned number = signal_number(name);
	if (!number) {
		tr_error_set(err, TR_CAUSE_INPUT, "unknown signal number: left out");
		return TR_WARN;
	}
	tr_buffer_put_decimal(&writer->line, number);
	return TR_OK;
}

/* Version 3 writes the status as a string. */
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

/* As spell_exec, of an exit record. TR_END: it belongs to no known execution. */
static enum tr_status spell_exit(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_field *exit_status = tr_record_field(record, "status");
	struct tr_field *signal = tr_record_field(record, "signal");
	enum tr_status status;

	tr_output_lend(writer->base.out, &writer->line);
	if ((!exit_status && !signal) || !put_end_rid(writer, record))
		return TR_END;
	if (signal) {
		tr_buffer_put_literal(&writer->line, ",\"signalled\":{\"number\":");
		status = put_signal(writer, record, signal, err);
	} else {
		tr_buffer_put_literal(&writer->line, ",\"terminated\":{\"status\":");
		status = put_status(writer, record, exit_status, err);
	}
	tr_buffer_put_byte(&writer->line, '}');
	if (status == TR_OK)
		put_timestamp(writer, record);
	if (status == TR_OK)
		status = put_extra(writer, record, err);
	tr_buffer_put_literal(&writer->line, "}\n");
	return status;
}

/* Forgets what belongs to the processes of a segment. */
static void forget_segment(struct writer *writer)
{
	tr_follow_free(&writer->follow);
	tr_recent_free(&writer->pids);
	tr_recent_free(&writer->rids);
	tr_text_cache_free(&writer->environments);
}

static enum tr_status end_segment(struct tr_writer *base, struct tr_error *err)
{
	(void)err;
	forget_segment(tr_container(base, struct writer, base));
	return TR_OK;
}

/* Writes the line if it is whole. */
static enum tr_status finish_line(struct writer *writer, enum tr_status status,
				  struct tr_error *err)
{
	if (writer->line.failed)
		return tr_error_memory(err);
	if (status != TR_OK)
		return status;
	tr_output_put_text(writer->base.out, tr_buffer_text(&writer->line));
	return TR_OK;
}

/*
 * Writes the event of an execution. Bear has only executions that succeeded. The environment is
 * followed even if the record is left out, because those of its children are differences to it.
 */
static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	static const struct tr_text keys[FIELDS] = {
		[ARGV] = TR_TEXT("argv"),     [CWD] = TR_TEXT("cwd"), [ENV] = TR_TEXT("env"),
		[PPID] = TR_TEXT("ppid"),     [RID] = TR_TEXT("rid"), [ERROR] = TR_TEXT("error"),
		[FAILED] = TR_TEXT("failed"),
	};
	struct execution execution = { .record = record };
	enum tr_status status = TR_OK;

	tr_record_fields(record, keys, FIELDS, execution.fields);
	if (execution.fields[ERROR] || execution.fields[FAILED])
		return TR_OK;
	if (!writer->base.faithful)
		status = tr_follow_record(&writer->follow, record, err);
	if (status == TR_OK)
		status = read_parts(&execution, err);
	return status == TR_OK
		       ? finish_line(writer, spell_exec(writer, record, &execution, err), err)
		       : status;
}

static enum tr_status put_exit(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	enum tr_status status = writer->version == 4 ? TR_END : spell_exit(writer, record, err);

	return status == TR_END ? TR_END : finish_line(writer, status, err);
}

/* Writes the text of a line that was not an event. */
static enum tr_status put_raw(struct writer *writer, struct tr_record *record, struct tr_error *err)
{
	struct tr_text text = tr_command_string(record, "text");

	tr_output_lend(writer->base.out, &writer->line);
	if (!writer->base.faithful || !text.data)
		return TR_END;
	tr_buffer_put_text(&writer->line, text);
	tr_buffer_put_byte(&writer->line, '\n');
	return finish_line(writer, TR_OK, err);
}

static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (tr_text_is(record->kind, "exec"))
		return put_exec(writer, record, err);
	if (tr_text_is(record->kind, "exit"))
		return put_exit(writer, record, err);
	if (tr_text_is(record->kind, "raw"))
		return put_raw(writer, record, err);
	if (tr_text_is(record->kind, "env"))
		return tr_follow_record(&writer->follow, record, err);
	return TR_END;
}

static enum tr_status report(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	if (!writer->unknown || writer->noted)
		return TR_OK;
	writer->noted = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "executions written without environment, because it is unknown: "
		     "%" PRIu64,
		     writer->unknown);
	return TR_WARN;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);

	forget_segment(writer);
	tr_buffer_free(&writer->line);
	tr_buffer_free(&writer->literal);
}

static const struct tr_writer_steps steps = {
	.format = "bear",
	.put = put_record,
	.end = end_segment,
	.report = report,
	.discard = discard,
};

struct tr_writer *tr_bear_create(const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err)
{
	struct tr_text version = tr_setting_get(&config->settings, "version", "");
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);

	if (!writer)
		return NULL;
	writer->next_rid = 1;
	writer->version = tr_text_is(version, "4") ? 4 : tr_text_is(version, "3") ? 3 : 0;
	return &writer->base;
}
