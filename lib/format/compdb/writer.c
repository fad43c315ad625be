#include <stdlib.h>

#include "core/id_map.h"
#include "format/compdb/compdb.h"
#include "format/compdb/entry.h"
#include "format/segment_writer.h"

struct writer {
	struct tr_segment_writer base;
	struct tr_call_config calls;
	struct tr_tool_config *tools;
	enum tr_compdb_unique unique;
	bool inlined;

	struct tr_kinship kinship; /* of the segment */
	struct tr_buffer entries;  /* of the record */
	struct tr_buffer fallback; /* for files that nothing else compiles, until the end */

	/* the whole stream */
	struct tr_id_map keys, files; /* of entries that were written: two halves of a hash */
};

/* Sixteen hex digits. */
static uint64_t number_of(const char *hex)
{
	uint64_t n = 0;

	for (int i = 0; i < 16; i++)
		n = n << 4 | (uint64_t)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
	return n;
}

/* 127 bits of a hash tell whether it was there before. False in *done: memory is out. */
static bool is_new(struct tr_id_map *set, const char *hash, bool *done)
{
	uint64_t id = number_of(hash);
	void *rest = (void *)(uintptr_t)(number_of(hash + 16) | 1);
	bool known = tr_id_map_get(set, id) == rest;

	*done &= known || tr_id_map_put(set, id, rest);
	return !known;
}

static bool put_entry(struct writer *writer, const struct tr_compdb_head *head, struct tr_text json)
{
	bool done = true;
	bool fresh =
		writer->unique == TR_COMPDB_UNIQUE_NONE || is_new(&writer->keys, head->key, &done);

	is_new(&writer->files, head->file, &done);
	if (!fresh)
		return done;
	if (writer->base.entries)
		tr_output_put_literal(writer->base.out, ",\n");
	else
		tr_output_put_literal(writer->base.out, "[\n");
	writer->base.entries = true;
	tr_output_put_text(writer->base.out, json);
	tr_output_record_end(writer->base.out);
	return done;
}

/* Entries in a row. Those that stand for others that may come are put aside. */
static bool put_entries(struct writer *writer, struct tr_text entries, bool at_end)
{
	struct tr_compdb_head head;
	const char *p = entries.data, *end = p + entries.len;
	bool done = true;

	while (p < end && done) {
		memcpy(&head, p, sizeof head);
		struct tr_text json = { p + sizeof head, head.len };
		if (head.fallback && !at_end)
			tr_buffer_put(&writer->fallback, p, sizeof head + head.len);
		else if (!head.fallback || is_new(&writer->files, head.file, &done))
			done &= put_entry(writer, &head, json);
		p += sizeof head + head.len;
	}
	return done && !writer->fallback.failed;
}

static bool emit(void *context, struct tr_text entries)
{
	return put_entries(context, entries, false);
}

/* What stands against an entry for a call that has sources. NULL: nothing. */
static const char *lacks(const struct tr_call *call)
{
	if (call->command.cut)
		return "the tracer cut its arguments: no entry";
	if (!call->command.directory.data)
		return "its directory is unknown: no entry";
	return NULL;
}

static bool compiles(const struct tr_call *call)
{
	const struct tr_invocation *invocation = &call->invocation;

	return (call->kin == TR_KIN_DRIVER || call->kin == TR_KIN_COMPILER || call->libtool ||
		call->tool == TR_TOOL_ASSEMBLER) &&
	       invocation->mode <= TR_MODE_SYNTAX && (invocation->sources || call->command.cut);
}

static enum tr_status put_call(struct writer *writer, struct tr_record *record,
			       const struct tr_call *call, struct tr_error *err)
{
	bool wanted = compiles(call), lost = wanted && lacks(call);
	enum tr_status status = TR_OK;

	tr_buffer_reset(&writer->entries);
	if (wanted && !lost)
		status = tr_compdb_call_put(call, writer->inlined, writer->unique, record->arena,
					    &writer->entries, err);
	if (status == TR_FATAL)
		return status;
	enum tr_kin_verdict verdict =
		tr_kinship_take(&writer->kinship, record, call->kin, (struct tr_text){ NULL, 0 },
				tr_buffer_text(&writer->entries), emit, writer);
	if (verdict == TR_KIN_FAILED)
		return tr_error_memory(err);
	if (verdict == TR_KIN_HIDDEN || call->kin == TR_KIN_OTHER)
		return TR_OK;
	if (status != TR_OK)
		return status;
	if (lost) {
		tr_error_say(err, TR_CAUSE_INPUT, lacks(call));
		return TR_WARN;
	}
	return tr_respfile_report(&call->expansion.left, &writer->calls.roots, err);
}

/* The arguments with response files in their place. */
static enum tr_status inline_files(struct writer *writer, struct tr_record *record,
				   const struct tr_command *command, struct tr_compdb_entry *entry,
				   struct tr_respfile_left *left, struct tr_error *err)
{
	struct tr_respfile_source source = { command->directory, command->respfile,
					     &writer->calls.roots,
					     tr_call_quoting(&writer->calls, command->directory) };
	const struct tr_respfile_rules *rules = &tr_respfile_usual, *found;
	struct tr_expansion expansion;

	if (writer->tools && (found = tr_tool_config_find(writer->tools, command->argv[0])))
		rules = found;
	enum tr_status status = tr_respfile_expand(command->argv, command->argc, rules, &source,
						   record->arena, &expansion, err);
	struct tr_text *argv = tr_arena_alloc(record->arena, expansion.count * sizeof *entry->argv);
	if (status != TR_OK || !argv)
		return tr_error_memory(err);
	for (size_t i = 0; i < expansion.count; i++)
		argv[i] = expansion.words[i].text;
	entry->argv = argv;
	entry->argc = expansion.count;
	*left = expansion.left;
	return TR_OK;
}

/* What the entry's own command line implies as its output. */
static bool find_implied(struct tr_record *record, struct tr_compdb_entry *entry)
{
	struct tr_word *words = tr_arena_alloc(record->arena, entry->argc * sizeof *words);
	struct tr_invocation invocation;

	if (!words)
		return false;
	for (size_t i = 0; i < entry->argc; i++)
		words[i] = (struct tr_word){ entry->argv[i], i, false };
	enum tr_tool tool = entry->argc ? tr_tool_of_name(entry->argv[0]) : TR_TOOL_NONE;
	if (!tr_invocation_parse(tool, words, entry->argc, record->arena, &invocation))
		return false;
	entry->implied = invocation.output;
	if (!entry->implied.data && invocation.mode < TR_MODE_SYNTAX)
		entry->implied = tr_invocation_object(&invocation, entry->file, record->arena);
	return true;
}

/* A record that was an entry of a database is one again. */
static enum tr_status put_again(struct writer *writer, struct tr_record *record,
				struct tr_text file, struct tr_error *err)
{
	struct tr_command command;
	struct tr_respfile_left left = { 0 };
	struct tr_buffer extra = TR_BUFFER_INIT;
	enum tr_status status = tr_command_read(record, &command, err);

	if (status != TR_OK)
		return status;
	if (!command.directory.data || command.cut) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "its directory or an argument is unknown: no entry");
		return TR_WARN;
	}
	struct tr_compdb_entry entry = { .directory = command.directory,
					 .file = file,
					 .output = tr_command_string(record, "output"),
					 .argv = command.argv,
					 .argc = command.argc };
	if (writer->inlined && command.argc)
		status = inline_files(writer, record, &command, &entry, &left, err);
	if (status == TR_OK)
		status = tr_compdb_extra(record, &extra, err);
	if (status == TR_OK) {
		entry.extra = extra.len ? tr_buffer_text(&extra) : (struct tr_text){ NULL, 0 };
		tr_buffer_reset(&writer->entries);
		if ((!entry.output.data && !find_implied(record, &entry)) ||
		    !tr_compdb_entry_put(&entry, writer->unique, false, &writer->entries) ||
		    !put_entries(writer, tr_buffer_text(&writer->entries), false))
			status = tr_error_memory(err);
		else
			status = tr_respfile_report(&left, &writer->calls.roots, err);
	}
	tr_buffer_free(&extra);
	return status;
}

static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_call call;
	enum tr_status status;

	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (tr_command_failed(record))
		return TR_OK;
	struct tr_text file = tr_command_string(record, "file");
	if (file.data) {
		status = put_again(writer, record, file, err);
	} else {
		status = tr_call_read(record, &writer->calls, &call, err);
		if (status == TR_OK)
			status = put_call(writer, record, &call, err);
	}
	if (status != TR_OK)
		tr_error_at_line(err, record->source_line);
	return status;
}

/* Nothing more of the segment comes. */
static enum tr_status end_segment(void *self, struct tr_error *err)
{
	struct writer *writer = self;

	return tr_kinship_end(&writer->kinship, emit, writer) ? TR_OK : tr_error_memory(err);
}

static enum tr_status put_record(void *self, struct tr_record *record, struct tr_error *err)
{
	return tr_text_is(record->kind, "exec") ? put_exec(self, record, err) : TR_END;
}

static enum tr_status close_list(void *self, struct tr_error *err)
{
	struct writer *writer = self;

	if (!put_entries(writer, tr_buffer_text(&writer->fallback), true))
		return tr_error_memory(err);
	if (writer->base.entries)
		tr_output_put_literal(writer->base.out, "\n]\n");
	else
		tr_output_put_literal(writer->base.out, "[]\n");
	return TR_OK;
}

static const struct tr_segment_steps steps = {
	.format = "compdb",
	.empty = "no command here compiles: the database has no entries",
	.put = put_record,
	.end = end_segment,
	.close = close_list,
};

static bool set_up(struct writer *writer, const struct tr_settings *settings, struct tr_error *err)
{
	static const char *const uniques[] = { "file+output", "file", "all", "none" };
	struct tr_text unique = tr_setting_get(settings, "unique", "file+output");

	for (unsigned i = 0; i < sizeof uniques / sizeof *uniques; i++)
		if (tr_text_is(unique, uniques[i]))
			writer->unique = (enum tr_compdb_unique)i;
	writer->inlined = tr_text_is(tr_setting_get(settings, "respfiles", "inline"), "inline");
	return tr_compdb_call_config(settings, &writer->calls, &writer->tools, err);
}

struct tr_writer *tr_compdb_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err)
{
	struct writer *writer = tr_segment_writer_new(sizeof *writer, &steps, out, err);

	if (!writer)
		return NULL;
	if (set_up(writer, &config->settings, err))
		return (struct tr_writer *)writer;
	tr_compdb_discard((struct tr_writer *)writer);
	return NULL;
}

void tr_compdb_discard(struct tr_writer *base)
{
	struct writer *writer = (struct writer *)base;

	tr_tool_config_free(writer->tools);
	tr_file_roots_free(&writer->calls.roots);
	tr_kinship_free(&writer->kinship);
	tr_buffer_free(&writer->entries);
	tr_buffer_free(&writer->fallback);
	tr_id_map_free(&writer->keys);
	tr_id_map_free(&writer->files);
	free(writer);
}
