/* SPDX-License-Identifier: MIT */
/*
 * Writes a build specification. put_exec makes an item of each call of a program that -O tools
 * lists (put_chosen), or else of each call of a build tool that is not part of another call
 * (put_call, process/call_filter.h).
 */
#include <errno.h>

#include "format/compdb/compdb.h"
#include "format/writer_base.h"
#include "record/json.h"

/* The value of -O respfiles. */
enum respfiles { KEEP, INLINE, ATTACH };

struct writer {
	struct tr_writer base;
	struct tr_call_config calls;
	struct tr_tool_config *tools;
	enum respfiles respfiles;
	struct tr_call_filter filter; /* of the segment */
	struct tr_buffer item;	      /* of the record */
};

/* An item of the specification. */
struct item {
	struct tr_text directory;
	const struct tr_text *argv;
	size_t argc;
	struct tr_text respfile;      /* data NULL: none */
	struct tr_text file, output;  /* copied from a specification */
	struct tr_respfile_left left; /* a response file whose content is missing */
};

/* Appends a member if there is a value. */
static void put_member(struct tr_buffer *to, const char *key, struct tr_text bytes)
{
	if (!bytes.data)
		return;
	tr_buffer_put_literal(to, ",\n  \"");
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_literal(to, "\": ");
	tr_json_string_from_wtf8(bytes, to);
}

/* Appends an item with the members that are known. */
static void put_item(struct tr_buffer *to, const struct item *item, struct tr_text extra)
{
	tr_buffer_put_literal(to, "{\n  \"directory\": ");
	tr_json_string_from_wtf8(item->directory, to);
	tr_buffer_put_literal(to, ",\n  \"arguments\": [");
	for (size_t i = 0; i < item->argc; i++) {
		if (i)
			tr_buffer_put_byte(to, ',');
		tr_json_string_from_wtf8(item->argv[i], to);
	}
	tr_buffer_put_byte(to, ']');
	put_member(to, "respfile", item->respfile);
	put_member(to, "file", item->file);
	put_member(to, "output", item->output);
	if (extra.len) {
		tr_buffer_put_literal(to, ",\n  ");
		tr_buffer_put_text(to, extra);
	}
	tr_buffer_put_literal(to, "\n}\n");
}

/* Writes an item, for the filter of calls. Always returns true, because memory is not needed. */
static bool emit(void *context, struct tr_text item)
{
	struct writer *writer = context;

	tr_compdb_put_element(&writer->base, item);
	return true;
}

/*
 * Attaches the content of the first response file that the arguments name. Sets item->left if it is
 * unknown or too large. False: memory is exhausted.
 */
static bool attach(struct writer *writer, const struct tr_command *command, struct item *item,
		   const struct tr_respfile_rules *rules, struct tr_arena *arena,
		   struct tr_error *err)
{
	struct tr_respfile_source source = { item->directory, command->respfile,
					     &writer->calls.roots,
					     tr_call_quoting(&writer->calls, NULL, item->directory),
					     false };
	struct tr_text name = { NULL, 0 };
	size_t used = 1;

	/* the content that a specification already had is copied */
	if (command->respfile && command->respfile->type == TR_STRING) {
		item->respfile = tr_string_bytes(command->respfile->text, arena);
		return item->respfile.data;
	}
	for (size_t i = 1; i < item->argc && !name.data; i += used)
		name = tr_respfile_named(item->argv, item->argc, i, rules, &used);
	if (!name.data || (writer->respfiles == KEEP && !command->respfile))
		return true;
	item->respfile = tr_respfile_content(name, true, &source, arena, err);
	if (!item->respfile.data)
		item->left = (struct tr_respfile_left){
			err->sys_errno == EFBIG ? TR_RESPFILE_TOO_LARGE : TR_RESPFILE_UNKNOWN, name
		};
	return item->respfile.data || err->cause != TR_CAUSE_MEMORY;
}

/*
 * Writes the item of a call, whose program is the word `at`, into writer->item. skipped: the number
 * of words before it that are left out.
 */
static enum tr_status make_item(struct writer *writer, struct tr_record *record,
				const struct tr_call *call, size_t at, size_t skipped,
				struct item *item, struct tr_error *err)
{
	const struct tr_command *command = &call->command;
	struct tr_buffer extra = TR_BUFFER_INIT;
	bool done;

	*item = (struct item){ .directory = command->directory,
			       .argv = command->argv + skipped,
			       .argc = command->argc - skipped };
	if (writer->respfiles == INLINE) {
		item->left = call->expansion.left;
		done = tr_compdb_inline(&call->expansion, at - skipped, record->arena, &item->argv,
					&item->argc);
	} else {
		done = attach(writer, command, item, call->rules, record->arena, err);
	}
	if (!done)
		return tr_error_memory(err);
	enum tr_status status = TR_OK;
	if (writer->base.faithful) {
		item->file = tr_command_string(record, "file");
		item->output = tr_command_string(record, "output");
		status = tr_compdb_extra(record, &extra, err);
	}
	if (status == TR_OK) {
		put_item(&writer->item, item, tr_buffer_text(&extra));
		if (writer->item.failed)
			status = tr_error_memory(err);
	}
	tr_buffer_free(&extra);
	return status;
}

/* The rules of a program that the user has chosen; NULL: it is not chosen. */
static const struct tr_respfile_rules *chosen(const struct writer *writer,
					      const struct tr_command *command)
{
	const struct tr_respfile_rules *rules = NULL;

	if (command->executable.data)
		rules = tr_tool_config_find(writer->tools, command->executable);
	if (!rules && command->argc)
		rules = tr_tool_config_find(writer->tools, command->argv[0]);
	return rules;
}

/* Writes the call of a chosen program or an item that was read, whatever its parent is. */
static enum tr_status put_chosen(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_call call = { .tool = TR_TOOL_NONE };
	struct item item;
	enum tr_status status = tr_command_read(record, &call.command, err);
	size_t at;

	if (status != TR_OK)
		return status;
	const struct tr_respfile_rules *rules =
		writer->tools ? chosen(writer, &call.command) : NULL;
	if (writer->tools && !rules)
		return TR_OK;
	if (!tr_command_is_whole(&call.command))
		return tr_command_left_out(&call.command, err);
	status = tr_compdb_expand(&writer->calls, rules, record->arena, &call, &at, err);
	if (status == TR_OK)
		status = make_item(writer, record, &call, at, 0, &item, err);
	if (status != TR_OK)
		return status;
	emit(writer, tr_buffer_text(&writer->item));
	return tr_respfile_report(&item.left, &writer->calls.roots, err);
}

/* Writes the call of a build tool unless it is part of another call. */
static enum tr_status put_call(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_call call;
	struct item item = { .argc = 0 };
	enum tr_status status = tr_call_read(record, &writer->calls, &call, err);

	if (status != TR_OK)
		return status;
	bool wanted = call.stage != TR_STAGE_OTHER;
	bool whole = tr_command_is_whole(&call.command);
	if (wanted && whole)
		status = make_item(writer, record, &call, call.invocation.launchers,
				   call.invocation.launchers, &item, err);
	if (status != TR_OK)
		return status;
	struct tr_text product = { NULL, 0 };
	if (call.tool != TR_TOOL_NONE && !tr_call_product(&call, record->arena, &product))
		return tr_error_memory(err);
	enum tr_call_verdict verdict =
		tr_call_filter_put(&writer->filter, record, call.stage, product,
				   tr_buffer_text(&writer->item), emit, writer);
	if (verdict == TR_CALL_FAILED)
		return tr_error_memory(err);
	if (!wanted || verdict == TR_CALL_HIDDEN)
		return TR_OK;
	if (!whole)
		return tr_command_left_out(&call.command, err);
	return tr_respfile_report(&item.left, &writer->calls.roots, err);
}

/* Writes the item of an execution, unless it failed. */
static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (tr_command_failed(record))
		return TR_OK;
	tr_buffer_reset(&writer->item);
	return writer->tools || writer->base.faithful ? put_chosen(writer, record, err)
						      : put_call(writer, record, err);
}

/* Only executions have a place in a specification. */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	return tr_text_is(record->kind, "exec") ? put_exec(writer, record, err) : TR_END;
}

/* Writes the pending items of the filter of calls. */
static enum tr_status end_segment(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	return tr_call_filter_end(&writer->filter, emit, writer) ? TR_OK : tr_error_memory(err);
}

/* Ends the list; without items it is empty, and still a valid file. */
static enum tr_status close_list(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	(void)err;
	if (!writer->base.entries)
		tr_output_put_literal(writer->base.out, "[\n");
	tr_output_put_literal(writer->base.out, "]\n");
	return TR_OK;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);

	tr_tool_config_free(writer->tools);
	tr_call_config_free(&writer->calls);
	tr_call_filter_free(&writer->filter);
	tr_buffer_free(&writer->item);
}

static const struct tr_writer_steps steps = {
	.format = "buildspec",
	.empty = "no command here compiles or links: the specification has no entries",
	.put = put_record,
	.end = end_segment,
	.close = close_list,
	.discard = discard,
};

struct tr_writer *tr_buildspec_create(const struct tr_write_config *config, struct tr_output *out,
				      struct tr_error *err)
{
	struct tr_text respfiles = tr_setting_get(&config->settings, "respfiles", "keep");
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);

	if (!writer)
		return NULL;
	writer->filter = (struct tr_call_filter)TR_CALL_FILTER_INIT;
	writer->respfiles = tr_text_is(respfiles, "inline")   ? INLINE
			    : tr_text_is(respfiles, "attach") ? ATTACH
							      : KEEP;
	if (tr_compdb_call_config(&config->settings, &writer->calls, &writer->tools, err))
		return &writer->base;
	tr_writer_free(&writer->base);
	return NULL;
}
