/* SPDX-License-Identifier: MIT */
/*
 * Writes a compilation database. put_exec reads a record as a call of a build tool (process/call.h)
 * and makes an entry for each source, as JSON after a struct tr_compdb_head. The filter of calls
 * (process/call_filter.h) emits the entries of calls that are not part of another call, and
 * put_entries leaves out repeated ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "core/codec.h"
#include "core/error.h"
#include "core/map.h"
#include "format/compdb/compdb.h"
#include "format/reader_base.h"
#include "format/writer_base.h"
#include "process/call.h"
#include "process/follow.h"
#include "process/path.h"
#include "record/json.h"

struct writer {
	struct tr_writer base;
	struct tr_call_config calls;
	struct tr_tool_config *tools;
	struct tr_compdb_style style;
	bool inlined;
	struct tr_compdb_headers *headers; /* NULL: they get no entries */
	bool follows;			   /* -O env-includes */

	/* the segment */
	struct tr_call_filter filter;
	struct tr_follow follow;

	struct tr_buffer entries;  /* of the record */
	struct tr_buffer fallback; /* written at the end for files that have no other entry */

	/* the whole stream */
	struct tr_id_map keys, files, made; /* of written entries: the id of a hash -> its rest */
	uint64_t unknown;		    /* number of calls whose environment is unknown */
	bool lost; /* a call that compiles had no entry, which was reported */
	struct tr_compdb_unknown *drivers; /* for notes about unknown ones */

	/* the database of -O append */
	struct tr_text kept;	  /* its name; data NULL: there is none */
	struct tr_reader *reader; /* NULL: the file does not exist yet */
	struct tr_input *in;
	bool appending; /* its entries are being written */
	bool missing;	/* the file does not exist, which has to be reported */
};

/* Adds a hash to a set. False: the set had it. Clears *done if memory is exhausted. */
static bool is_new(struct tr_id_map *set, struct tr_compdb_hash hash, bool *done)
{
	void *rest = (void *)(uintptr_t)hash.rest;
	bool known = tr_id_map_get(set, hash.id) == rest;

	*done &= known || tr_id_map_put(set, hash.id, rest);
	return !known;
}

/* True if the set has the hash. */
static bool has(const struct tr_id_map *set, struct tr_compdb_hash hash)
{
	return tr_id_map_get(set, hash.id) == (void *)(uintptr_t)hash.rest;
}

/* True if an entry of the build replaces this one of the database of -O append. */
static bool is_replaced(const struct writer *writer, const struct tr_compdb_head *head)
{
	switch (writer->style.unique) {
	case TR_COMPDB_UNIQUE_FILE_OUTPUT:
		return has(&writer->made, head->made);
	case TR_COMPDB_UNIQUE_FILE:
		return has(&writer->files, head->file);
	default:
		return false;
	}
}

/* Writes an entry, unless it repeats another one. False: memory is exhausted. */
static bool put_entry(struct writer *writer, const struct tr_compdb_head *head, struct tr_text json)
{
	bool done = true;

	if (writer->appending && is_replaced(writer, head))
		return true;
	bool fresh = writer->style.unique == TR_COMPDB_UNIQUE_NONE ||
		     is_new(&writer->keys, head->key, &done);
	if (!writer->appending)
		is_new(&writer->files, head->file, &done);
	if (writer->style.appends && !writer->appending)
		is_new(&writer->made, head->made, &done);
	if (!fresh)
		return done;
	tr_compdb_put_element(&writer->base, json);
	return done;
}

/* Writes entries, and keeps fallbacks until the end. False: memory is exhausted. */
static bool put_entries(struct writer *writer, struct tr_text entries, bool at_end)
{
	struct tr_compdb_head head;
	const char *p = entries.data, *end = p + entries.len;
	bool done = true;

	while (p < end && done) {
		memcpy(&head, p, sizeof head);
		struct tr_text json = { p + sizeof head, head.len };
		struct tr_text seed = { json.data + json.len, head.seed_len };
		if (seed.len)
			done = tr_compdb_headers_add(writer->headers, seed, head.fallback);
		p = seed.data + seed.len;
		head.seed_len = 0;
		if (head.fallback && !at_end) {
			tr_buffer_put(&writer->fallback, (const char *)&head, sizeof head);
			tr_buffer_put_text(&writer->fallback, json);
		} else if (!head.fallback || is_new(&writer->files, head.file, &done)) {
			done &= put_entry(writer, &head, json);
		}
	}
	return done && !writer->fallback.failed;
}

/* Writes the entries of a call that the filter keeps. */
static bool emit(void *context, struct tr_text entries)
{
	return put_entries(context, entries, false);
}

/* The reason why a call that compiles has no entry; NULL: it has one. */
static const char *why_no_entry(const struct tr_call *call)
{
	if (call->command.cut)
		return "the tracer cut its arguments: no entry";
	if (!call->command.directory.data)
		return "its directory is unknown: no entry";
	return NULL;
}

/* True if the call compiles a source, so that it has an entry. */
static bool compiles(const struct tr_call *call)
{
	const struct tr_invocation *invocation = &call->invocation;

	return (call->stage == TR_STAGE_DRIVER || call->stage == TR_STAGE_COMPILER ||
		call->libtool || call->tool == TR_TOOL_ASSEMBLER) &&
	       invocation->mode <= TR_MODE_SYNTAX && (invocation->sources || call->command.cut) &&
	       !(invocation->program.section && invocation->program.section->foreign);
}

/*
 * Makes the entries of a call and passes them to the filter, which may decide only later whether
 * the call is part of another one.
 */
static enum tr_status put_call(struct writer *writer, struct tr_record *record,
			       const struct tr_call *call, struct tr_compdb_variables *variables,
			       struct tr_error *err)
{
	bool wanted = compiles(call), lost = wanted && why_no_entry(call);

	writer->lost |= lost;
	enum tr_status status = TR_OK;

	/* only drivers read variables, cc1 does not */
	bool reads = call->tool == TR_TOOL_DRIVER || call->tool == TR_TOOL_DRIVER_CL;
	writer->unknown += wanted && reads && writer->follows && !variables;
	tr_buffer_reset(&writer->entries);
	if (wanted && !lost)
		status = tr_compdb_call_append(record, call, writer->inlined, writer->headers,
					       variables, &writer->style, &writer->entries, err);
	if (status == TR_FATAL)
		return status;
	enum tr_call_verdict verdict = tr_call_filter_put(
		&writer->filter, record, call->stage, (struct tr_text){ NULL, 0 },
		tr_buffer_text(&writer->entries), emit, writer);
	if (verdict == TR_CALL_FAILED)
		return tr_error_memory(err);
	if (verdict != TR_CALL_HIDDEN && !writer->tools &&
	    !tr_compdb_unknown_put(&writer->drivers, record, call))
		return tr_error_memory(err);
	if (verdict == TR_CALL_HIDDEN || call->stage == TR_STAGE_OTHER)
		return TR_OK;
	if (status != TR_OK)
		return status;
	if (lost) {
		tr_error_say(err, TR_CAUSE_INPUT, why_no_entry(call));
		return TR_WARN;
	}
	return tr_respfile_report(&call->expansion.left, &writer->calls.roots, err);
}

/*
 * Removes options that Clang does not accept from the command of an entry. The invocation begins at
 * the word `at` of the call, after launchers. Without inlined, response files keep their names.
 * False: memory is exhausted.
 */
static bool remove_unknown(struct tr_compdb_entry *entry, const struct tr_call *call, size_t at,
			   const struct tr_invocation *invocation, bool inlined,
			   struct tr_arena *arena)
{
	const struct tr_part *part = invocation->parts, *end = part + invocation->count;
	bool warns = tr_compdb_has_warnings(invocation);
	struct tr_text *argv, *options;
	size_t argc = 0;
	size_t named = 0; /* index of the last argument that was added as a name; 0: none */

	if (part == end || !tr_compdb_has_gcc_options(invocation, part->text))
		return true;
	argv = tr_arena_alloc(arena, (entry->argc + 1) * sizeof *argv);
	if (!argv)
		return false;
	while (argc < at) {
		argv[argc] = entry->argv[argc];
		argc++;
	}
	/* "zig cc" */
	for (size_t i = 0; i < invocation->program.words && part < end; i++)
		argv[argc++] = part++->text;
	options = argv + argc;
	for (; part < end; part++) {
		struct tr_text word;
		size_t replaced;
		if (part->from_file && !inlined) {
			if (part->origin != named)
				argc += tr_compdb_put_name(call, at, part->origin, argv + argc);
			named = part->origin;
			continue;
		}
		if (!tr_compdb_replace_for_clang(part, end, arena, &word, &replaced))
			return false;
		if (replaced) {
			if (word.len)
				argv[argc++] = word;
			part += replaced - 1;
			continue;
		}
		/* an entry that was made for Clang already has the word */
		warns &= !tr_text_is(part->text, tr_compdb_clang_word);
		argv[argc++] = part->text;
	}
	if (warns) {
		memmove(options + 1, options, (size_t)(argv + argc - options) * sizeof *options);
		*options = tr_text_from(tr_compdb_clang_word);
		argc++;
	}
	entry->argv = argv;
	entry->argc = argc;
	return true;
}

/*
 * Completes an entry that was read, whose program is the word `at` of the call: sets its implied
 * output, and removes options for -O for=clangd. False: memory is exhausted.
 */
static bool complete_entry(const struct writer *writer, struct tr_compdb_entry *entry,
			   const struct tr_call *call, size_t at, struct tr_arena *arena)
{
	const struct tr_compdb_style *style = &writer->style;
	struct tr_invocation invocation;

	if (entry->output.data && !style->for_clang)
		return true;
	if (!tr_invocation_parse(&call->program, call->expansion.words, call->expansion.count,
				 arena, &invocation))
		return false;
	struct tr_text given, implied;
	if (!tr_compdb_find_output(&invocation, entry->file, arena, &given, &implied))
		return false;
	entry->implied = given.data ? given : implied;
	return !style->for_clang ||
	       remove_unknown(entry, call, at, &invocation, writer->inlined, arena);
}

/*
 * Appends the content of a response file that stays on the command line, or is not named there, as
 * a member. False: memory is exhausted.
 */
static bool put_respfile(const struct tr_value *content, struct tr_arena *arena,
			 struct tr_buffer *extra)
{
	if (!content || content->type != TR_STRING)
		return true;
	struct tr_text bytes = tr_string_bytes(content->text, arena);
	if (!bytes.data)
		return false;
	if (extra->len)
		tr_buffer_put_byte(extra, ',');
	tr_buffer_put_literal(extra, "\"respfile\":");
	tr_json_string_from_wtf8(bytes, extra);
	return !extra->failed;
}

/* Writes the entry of a record that was read from a database, here or by tr-parse. */
static enum tr_status put_read_entry(struct writer *writer, struct tr_record *record,
				     struct tr_text file, struct tr_error *err)
{
	struct tr_call call = { .tool = TR_TOOL_NONE };
	const struct tr_command *command = &call.command;
	struct tr_buffer extra = TR_BUFFER_INIT;
	enum tr_status status = tr_command_read(record, &call.command, err);
	size_t at;

	if (status != TR_OK)
		return status;
	if (!tr_command_is_whole(command)) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "its directory or an argument is unknown: no entry");
		return TR_WARN;
	}
	struct tr_compdb_entry entry = { .directory = command->directory,
					 .file = file,
					 .output = tr_command_string(record, "output"),
					 .argv = command->argv,
					 .argc = command->argc };
	status = tr_compdb_expand(&writer->calls, NULL, record->arena, &call, &at, err);
	if (status == TR_OK && writer->inlined &&
	    !tr_compdb_inline(&call.expansion, at, record->arena, &entry.argv, &entry.argc))
		status = tr_error_memory(err);
	if (status == TR_OK)
		status = tr_compdb_extra(record, &extra, err);
	if (status == TR_OK && entry.argv == command->argv &&
	    !put_respfile(command->respfile, record->arena, &extra))
		status = tr_error_memory(err);
	if (status == TR_OK) {
		entry.extra = extra.len ? tr_buffer_text(&extra) : (struct tr_text){ NULL, 0 };
		tr_buffer_reset(&writer->entries);
		if (!complete_entry(writer, &entry, &call, at, record->arena) ||
		    !tr_compdb_entry_append(&entry, &writer->style, false, record->arena,
					    &writer->entries) ||
		    !put_entries(writer, tr_buffer_text(&writer->entries), false))
			status = tr_error_memory(err);
		else if (writer->inlined)
			status =
				tr_respfile_report(&call.expansion.left, &writer->calls.roots, err);
	}
	tr_buffer_free(&extra);
	return status;
}

/*
 * Finds the words that the environment adds to a call, and reads the call again with its options.
 * *variables: NULL without -O env-includes, or if the environment is unknown.
 */
static enum tr_status add_variables(struct writer *writer, struct tr_record *record,
				    struct tr_call *call, struct tr_compdb_variables **variables,
				    struct tr_error *err)
{
	struct tr_environment *own = writer->follow.own;
	struct tr_call_config *calls = &writer->calls;

	*variables = NULL;
	if (!writer->follows || !own || tr_environment_is_unknown(own) ||
	    (call->tool != TR_TOOL_DRIVER && call->tool != TR_TOOL_DRIVER_CL))
		return TR_OK;
	*variables = tr_arena_alloc(record->arena, sizeof **variables);
	if (!*variables ||
	    !tr_compdb_variables_read(writer->follow.pool, own, call, record->arena, *variables))
		return tr_error_memory(err);
	calls->before = (*variables)->before;
	calls->after = (*variables)->after;
	enum tr_status status = TR_OK;
	if (calls->before.count + calls->after.count)
		status = tr_call_read(record, calls, call, err);
	calls->before = calls->after = (struct tr_call_words){ NULL, 0 };
	return status;
}

/*
 * Writes an execution. A record with the field file was read from a database; others are read as
 * calls.
 */
static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_compdb_variables *variables;
	struct tr_call call;

	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (tr_command_failed(record))
		return TR_OK;
	struct tr_text file = tr_command_string(record, "file");
	if (file.data)
		return put_read_entry(writer, record, file, err);
	enum tr_status status =
		writer->follows ? tr_follow_record(&writer->follow, record, err) : TR_OK;
	if (status != TR_OK)
		return status;
	/* half of the executions are cc1, as and others below a driver: their arguments, which are
	 * the longest, need not be parsed */
	enum tr_call_verdict verdict =
		tr_call_filter_put_part(&writer->filter, record, emit, writer);
	if (verdict != TR_CALL_KEPT)
		return verdict == TR_CALL_HIDDEN ? TR_OK : tr_error_memory(err);
	status = tr_call_read(record, &writer->calls, &call, err);
	if (status == TR_OK)
		status = add_variables(writer, record, &call, &variables, err);
	return status == TR_OK ? put_call(writer, record, &call, variables, err) : status;
}

/* Adds an entry for a header, which is a fallback. False: memory is exhausted. */
static bool add_header(void *context, struct tr_text directory, struct tr_text file,
		       const struct tr_text *argv, size_t argc)
{
	struct writer *writer = context;
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_compdb_entry entry = {
		.made = true, .directory = directory, .file = file, .argv = argv, .argc = argc
	};

	bool fine = tr_compdb_entry_append(&entry, &writer->style, true, &arena, &writer->fallback);
	tr_arena_free(&arena);
	return fine;
}

/* Writes the pending calls of the filter, and finds the headers of the segment. */
static enum tr_status end_segment(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	tr_follow_free(&writer->follow);
	tr_compdb_unknown_end(writer->drivers);
	if (!tr_call_filter_end(&writer->filter, emit, writer))
		return tr_error_memory(err);
	return writer->headers ? tr_compdb_headers_end(writer->headers, add_header, writer, err)
			       : TR_OK;
}

/* Takes a record; only headers need records that are not executions. */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	bool exec = tr_text_is(record->kind, "exec");
	enum tr_status status = TR_OK, followed;
	struct tr_error own;

	if (exec)
		status = put_exec(writer, record, err);
	else if (writer->follows && tr_text_is(record->kind, "env"))
		status = tr_follow_record(&writer->follow, record, err);
	if (!writer->headers || status == TR_FATAL)
		return exec || status != TR_OK ? status : TR_END;
	followed = tr_compdb_headers_put(writer->headers, record, &own);
	if (status == TR_OK && followed != TR_OK) {
		*err = own;
		status = followed;
	}
	return status;
}

/*
 * Writes the entries of the database of -O append that no entry of the build replaces. TR_WARN: an
 * entry, or other bytes, are left out; call again. TR_END: all are written.
 */
static enum tr_status put_kept(struct writer *writer, struct tr_error *err)
{
	struct tr_record *record;
	enum tr_status status;

	while ((status = tr_reader_read(writer->reader, &record, err)) == TR_OK) {
		if (tr_record_split(record, err) == TR_FATAL)
			return TR_FATAL;
		struct tr_text file = tr_command_string(record, "file");
		if (file.data)
			status = put_read_entry(writer, record, file, err);
		else
			tr_error_say(err, TR_CAUSE_INPUT, "an entry without file: left out");
		if (status == TR_OK && file.data)
			continue;
		tr_error_at_line(err, writer->reader->source_line);
		return status == TR_OK ? TR_WARN : status;
	}
	if (status == TR_END && writer->in->damaged) {
		writer->in->damaged = false;
		tr_input_error(writer->in, err);
		return TR_WARN;
	}
	return status;
}

/*
 * Adds the name of the database of -O append to a message, and moves the line number into its text,
 * because the position of a message refers to the input.
 */
static enum tr_status name_kept(const struct writer *writer, enum tr_status status,
				struct tr_error *err)
{
	if (err->cause == TR_CAUSE_MEMORY)
		return status;
	if (err->line != TR_NO_POSITION) {
		char text[TR_ERROR_TEXT];
		enum tr_severity severity = err->severity;
		memcpy(text, err->text, sizeof text);
		tr_error_set(err, err->cause, "line %" PRIu64 ": %s", err->line, text);
		err->severity = severity;
	}
	tr_error_name(err, writer->kept);
	return status;
}

/*
 * Writes the fallbacks whose file has no other entry and the entries of -O append, and ends the
 * list.
 */
static enum tr_status close_list(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	if (!writer->appending && !put_entries(writer, tr_buffer_text(&writer->fallback), true))
		return tr_error_memory(err);
	writer->appending = true;
	tr_error_clear(err);
	enum tr_status status = writer->reader ? put_kept(writer, err) : TR_END;
	if (status != TR_END)
		return name_kept(writer, status, err);
	if (writer->base.entries)
		tr_output_put_literal(writer->base.out, "\n]\n");
	else
		tr_output_put_literal(writer->base.out, "[]\n");
	base->noted_empty = writer->style.left_out || writer->lost; /* reports say why */
	return TR_OK;
}

static enum tr_status report(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	if (writer->missing) {
		writer->missing = false;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "-O append: '%.*s' does not exist, so no entries are kept",
			     TR_SHOWN(writer->kept, 200));
		tr_error_is_note(err);
		return TR_WARN;
	}
	if (!base->entries && writer->style.left_out) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "-O leaves out all %" PRIu64 " entries: the database has none",
			     writer->style.left_out);
		tr_error_is_note(err);
		writer->style.left_out = 0;
		return TR_WARN;
	}
	if (writer->unknown) {
		tr_error_set(
			err, TR_CAUSE_INPUT,
			"-O env-includes: calls whose environment is not in the trace: %" PRIu64,
			writer->unknown);
		tr_error_is_note(err);
		writer->unknown = 0;
		return TR_WARN;
	}
	if (tr_compdb_unknown_report(writer->drivers, err))
		return TR_WARN;
	return writer->headers ? tr_compdb_headers_report(writer->headers, err) : TR_OK;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);

	tr_compdb_style_free(&writer->style);
	tr_compdb_headers_free(writer->headers);
	tr_tool_config_free(writer->tools);
	free(writer->drivers);
	tr_call_config_free(&writer->calls);
	tr_call_filter_free(&writer->filter);
	tr_follow_free(&writer->follow);
	tr_buffer_free(&writer->entries);
	tr_buffer_free(&writer->fallback);
	tr_id_map_free(&writer->keys);
	tr_id_map_free(&writer->files);
	tr_id_map_free(&writer->made);
	tr_reader_free(writer->reader);
	tr_input_free(writer->in);
}

static const struct tr_writer_steps steps = {
	.format = "compdb",
	.empty = "no command here compiles: the database has no entries",
	.put = put_record,
	.end = end_segment,
	.close = close_list,
	.report = report,
	.discard = discard,
};

/*
 * Opens the database of -O append, which is read at the end. It can be the file that the output
 * replaces. False: err is filled.
 */
static bool open_kept(struct writer *writer, struct tr_text name, struct tr_error *err)
{
	struct tr_read_config config = { .limits = TR_LIMITS_DEFAULT };
	char *path = strndup(name.data, name.len);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	int reason = errno;

	free(path);
	if (!path || (fd < 0 && reason == ENOMEM)) {
		tr_error_memory(err);
		return false;
	}
	writer->kept = name;
	writer->missing = fd < 0 && reason == ENOENT;
	if (writer->missing)
		return true;
	if (fd < 0) {
		tr_error_system(err, reason, "-O append: %.*s", TR_SHOWN(name, 200));
		return false;
	}
	struct tr_source *source = tr_source_fd(fd, true);
	if (!source)
		close(fd);
	struct tr_input *in = source ? tr_input_new(source, &config.limits, 0) : NULL;
	if (!in) {
		tr_error_memory(err);
		return false;
	}
	writer->in = tr_codec_open(in, &config.limits, false, err);
	if (!writer->in)
		return false;
	while (tr_input_more(writer->in, 1) && tr_is_blank(*writer->in->pos))
		tr_input_skip(writer->in, 1);
	if (writer->in->damaged && !tr_input_available(writer->in)) {
		tr_input_error(writer->in, err);
		tr_error_name(err, name);
		return false;
	}
	if (tr_input_available(writer->in) && *writer->in->pos != '[' &&
	    *writer->in->pos != '\xef') {
		tr_error_set(err, TR_CAUSE_USAGE, "-O append: '%.*s' is not a compilation database",
			     TR_SHOWN(name, 200));
		return false;
	}
	writer->reader = tr_format_compdb.open(&config, writer->in, err);
	return writer->reader != NULL;
}

/* Reads the settings. False: err is filled. */
static bool set_up(struct writer *writer, const struct tr_settings *settings, struct tr_error *err)
{
	struct tr_text append = tr_setting_get(settings, "append", "");

	writer->inlined = tr_text_is(tr_setting_get(settings, "respfiles", "inline"), "inline");
	writer->follows = tr_text_is(tr_setting_get(settings, "env-includes", "no"), "yes");
	writer->style.appends = append.len;
	if (!tr_compdb_style_read(settings, &writer->style, err))
		return false;
	struct tr_text headers = tr_setting_get(settings, "headers", "no");
	if (!tr_text_is(headers, "no")) {
		writer->headers = tr_compdb_headers_new(tr_text_is(headers, "all"), err);
		if (!writer->headers)
			return false;
	}
	return tr_compdb_call_config(settings, &writer->calls, &writer->tools, err) &&
	       (!append.len || open_kept(writer, append, err));
}

struct tr_writer *tr_compdb_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err)
{
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);

	if (!writer)
		return NULL;
	writer->filter = (struct tr_call_filter)TR_CALL_FILTER_INIT;
	if (set_up(writer, &config->settings, err))
		return &writer->base;
	tr_writer_free(&writer->base);
	return NULL;
}
