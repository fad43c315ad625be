/* SPDX-License-Identifier: MIT */
#include "process/command.h"

#include "record/literal.h"

struct tr_text tr_command_executable(struct tr_record *record)
{
	struct tr_text bytes = { NULL, 0 };

	if (record->name.type == TR_CELL_TEXT &&
	    !tr_cell_bytes(record->name.text, record->arena, &bytes, NULL))
		bytes.data = NULL;
	return bytes;
}

bool tr_command_failed(struct tr_record *record)
{
	return tr_record_field(record, "error") || tr_record_field(record, "failed");
}

uint64_t tr_command_number(struct tr_record *record, const char *key)
{
	struct tr_field *field = tr_record_field(record, key);
	struct tr_value *value = field ? tr_field_value(record, field, NULL) : NULL;

	return value && value->type == TR_UINT ? value->as.number : TR_NO_POSITION;
}

struct tr_text tr_command_string(struct tr_record *record, const char *key)
{
	struct tr_field *field = tr_record_field(record, key);
	struct tr_value *value = field ? tr_field_value(record, field, NULL) : NULL;

	if (!value || value->type != TR_STRING || (value->flags & TR_CUT))
		return (struct tr_text){ NULL, 0 };
	return tr_value_bytes(value, record->arena);
}

static enum tr_status bad(struct tr_error *err, const char *what)
{
	tr_error_say(err, TR_CAUSE_INPUT, what);
	return TR_WARN;
}

static enum tr_status read_argv(struct tr_record *record, const struct tr_value *list,
				struct tr_command *command, struct tr_error *err)
{
	if (list->type != TR_LIST)
		return bad(err, "argv is no list");
	command->argv = tr_arena_alloc(record->arena, list->count * sizeof *command->argv);
	if (!command->argv)
		return tr_error_memory(err);
	command->cut = list->flags & TR_CUT;
	for (size_t i = 0; i < list->count; i++) {
		const struct tr_value *item = &list->as.items[i];
		if (item->type == TR_POINTER || item->type == TR_NULL) {
			command->cut = true; /* the tracer could not read it */
			command->argv[i] = TR_TEXT("");
			continue;
		}
		if (item->type != TR_STRING)
			return bad(err, "an argument that is no string");
		command->cut |= (item->flags & TR_CUT) != 0;
		command->argv[i] = tr_value_bytes(item, record->arena);
		if (!command->argv[i].data)
			return tr_error_memory(err);
	}
	command->argc = list->count;
	return TR_OK;
}

enum tr_status tr_command_read(struct tr_record *record, struct tr_command *command,
			       struct tr_error *err)
{
	*command = (struct tr_command){ 0 };
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	command->executable = tr_command_executable(record);
	command->directory = tr_command_string(record, "cwd");
	struct tr_field *respfile = tr_record_field(record, "respfile");
	if (respfile)
		command->respfile = tr_field_value(record, respfile, NULL);
	struct tr_field *field = tr_record_field(record, "argv");
	if (!field)
		return bad(err, "no argv in the record");
	struct tr_value *argv = tr_field_value(record, field, err);
	if (!argv)
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	return read_argv(record, argv, command, err);
}

enum tr_status tr_command_left_out(const struct tr_command *command, struct tr_error *err)
{
	return bad(err, command->cut ? "the tracer cut its arguments: left out"
				     : "its directory is unknown: left out");
}
