/* From records to lines. */
#include "format/bear/writer.h"
#include "record/json.h"

/* Appends a field's value as JSON. TR_WARN: it is none. */
static enum tr_status put_value(struct tr_bear_writer *writer, struct tr_record *record,
				struct tr_field *field, struct tr_error *err)
{
	if (tr_json_from_field(record, field, &writer->line, err))
		return TR_OK;
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
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
static enum tr_status put_ppid(struct tr_bear_writer *writer, struct tr_record *record,
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
static bool put_rid(struct tr_bear_writer *writer, struct tr_record *record, uint64_t pid)
{
	struct tr_text rid = tr_command_string(record, "rid");
	uint64_t number;

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

static void put_timestamp(struct tr_bear_writer *writer, struct tr_record *record)
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
	if (tr_bear_time_write(time, line))
		tr_buffer_put_byte(line, '"');
	else
		line->len = begin;
}

/* Members of other keys go back to the top, where most of them were. */
static enum tr_status put_extra(struct tr_bear_writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_field *field = writer->base.faithful ? tr_record_field(record, "extra") : NULL;
	struct tr_buffer *line = &writer->line;

	if (!field)
		return TR_OK;
	tr_buffer_put_byte(line, ',');
	size_t begin = line->len;
	if (!tr_json_members_from_field(record, field, line, err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	line->len -= line->len == begin; /* an empty map: no comma */
	return TR_OK;
}

/* The whole environment, where it is known. */
static enum tr_status put_environment(struct tr_bear_writer *writer, struct tr_record *record,
				      struct tr_error *err)
{
	struct tr_field *whole = tr_record_field(record, "env");

	if (whole) {
		tr_buffer_put_literal(&writer->line, ",\"environment\":");
		return put_value(writer, record, whole, err);
	}
	if (!writer->follow.own) {
		writer->unknown += !writer->base.faithful;
		return TR_OK;
	}
	if (!tr_environments_may_write(writer->follow.pool, record->line.len)) {
		tr_error_say(err, TR_CAUSE_LIMIT,
			     "left out: the whole environments of this trace take more than 1000 "
			     "times what was read");
		return TR_WARN;
	}
	tr_buffer_put_literal(&writer->line, ",\"environment\":");
	tr_buffer_reset(&writer->literal);
	if (!tr_environment_write(writer->follow.pool, writer->follow.own, &writer->literal))
		return tr_error_memory(err);
	if (!tr_json_from_literal(tr_buffer_text(&writer->literal), record->arena, &writer->line,
				  err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	return TR_OK;
}

static enum tr_status put_execution(struct tr_bear_writer *writer, struct tr_record *record,
				    const struct tr_command *command, struct tr_error *err)
{
	struct tr_buffer *line = &writer->line;

	tr_buffer_put_literal(line, "\"execution\":{");
	if (command->executable.data || !writer->base.faithful) {
		tr_buffer_put_literal(line, "\"executable\":");
		tr_json_string_from_wtf8(tr_command_program(command), line);
		tr_buffer_put_byte(line, ',');
	}
	tr_buffer_put_literal(line, "\"arguments\":[");
	for (size_t i = 0; i < command->argc; i++) {
		if (i)
			tr_buffer_put_byte(line, ',');
		tr_json_string_from_wtf8(command->argv[i], line);
	}
	tr_buffer_put_literal(line, "],\"working_dir\":");
	tr_json_string_from_wtf8(command->directory, line);
	enum tr_status status = put_environment(writer, record, err);
	tr_buffer_put_byte(line, '}');
	return status;
}

enum tr_status tr_bear_render_exec(struct tr_bear_writer *writer, struct tr_record *record,
				   const struct tr_command *command, struct tr_error *err)
{
	struct tr_buffer *line = &writer->line;
	uint64_t pid = pid_of(record), seq;
	enum tr_status status;

	tr_buffer_reset(line);
	if (tr_cell_number(&record->seq, &seq) && !tr_recent_put(&writer->pids, seq, pid))
		return tr_error_memory(err);
	if (writer->version == 4) {
		tr_buffer_put_literal(line, "{\"pid\":");
		tr_buffer_put_decimal(line, pid);
		tr_buffer_put_byte(line, ',');
		status = put_execution(writer, record, command, err);
	} else {
		tr_buffer_put_literal(line, "{\"rid\":");
		if (!put_rid(writer, record, pid))
			return tr_error_memory(err);
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
		put_timestamp(writer, record);
	if (status == TR_OK)
		status = put_extra(writer, record, err);
	tr_buffer_put_literal(line, "}\n");
	return status;
}

/* The end of an execution: by its own rid, or that of what the process runs. */
static bool put_end_rid(struct tr_bear_writer *writer, struct tr_record *record)
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

static enum tr_status put_signal(struct tr_bear_writer *writer, struct tr_record *record,
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
	unsigned number = tr_bear_signal_number(name);
	if (!number) {
		tr_error_set(err, TR_CAUSE_INPUT, "unknown signal number: left out");
		return TR_WARN;
	}
	tr_buffer_put_decimal(&writer->line, number);
	return TR_OK;
}

/* Version 3 says the status as a string. */
static enum tr_status put_status(struct tr_bear_writer *writer, struct tr_record *record,
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

enum tr_status tr_bear_render_exit(struct tr_bear_writer *writer, struct tr_record *record,
				   struct tr_error *err)
{
	struct tr_field *exit_status = tr_record_field(record, "status");
	struct tr_field *signal = tr_record_field(record, "signal");
	enum tr_status status;

	tr_buffer_reset(&writer->line);
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
