#include "format/compdb/entry.h"

#include <string.h>

#include "core/sha256.h"
#include "process/path.h"
#include "record/json.h"

static void put_member(struct tr_buffer *to, const char *key, struct tr_text bytes)
{
	tr_buffer_put_literal(to, "    \"");
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_literal(to, "\": ");
	tr_json_string_from_wtf8(bytes, to);
}

static void put_arguments(struct tr_buffer *to, const struct tr_compdb_entry *entry)
{
	tr_buffer_put_literal(to, "    \"arguments\": [");
	for (size_t i = 0; i < entry->argc; i++) {
		if (i)
			tr_buffer_put_byte(to, ',');
		tr_buffer_put_literal(to, "\n      ");
		tr_json_string_from_wtf8(entry->argv[i], to);
	}
	if (entry->argc)
		tr_buffer_put_literal(to, "\n    ]");
	else
		tr_buffer_put_byte(to, ']');
}

/* The layout is Bear's, so that diff(1) shows what differs and nothing else. */
static void put_json(struct tr_buffer *to, const struct tr_compdb_entry *entry)
{
	tr_buffer_put_literal(to, "  {\n");
	put_arguments(to, entry);
	tr_buffer_put_literal(to, ",\n");
	put_member(to, "directory", entry->directory);
	tr_buffer_put_literal(to, ",\n");
	put_member(to, "file", entry->file);
	if (entry->output.data) {
		tr_buffer_put_literal(to, ",\n");
		put_member(to, "output", entry->output);
	}
	if (entry->extra.data) {
		tr_buffer_put_literal(to, ",\n    ");
		tr_buffer_put_text(to, entry->extra);
	}
	tr_buffer_put_literal(to, "\n  }");
}

static bool put_key(const struct tr_compdb_entry *entry, enum tr_compdb_unique unique,
		    struct tr_text json, struct tr_compdb_head *head)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_text output = entry->output.data ? entry->output : entry->implied;

	tr_path_join(entry->directory, entry->file, &text);
	tr_sha256_hex(tr_buffer_text(&text), head->file);
	if (unique == TR_COMPDB_UNIQUE_FILE_OUTPUT) {
		tr_buffer_put_byte(&text, '\0');
		/* without an output nothing less than the whole command tells two apart */
		if (output.data)
			tr_path_join(entry->directory, output, &text);
		else
			tr_buffer_put_text(&text, json);
	} else if (unique == TR_COMPDB_UNIQUE_ALL) {
		tr_buffer_put_text(&text, json);
	}
	tr_sha256_hex(tr_buffer_text(&text), head->key);
	bool done = !text.failed;
	tr_buffer_free(&text);
	return done;
}

bool tr_compdb_entry_put(const struct tr_compdb_entry *entry, enum tr_compdb_unique unique,
			 bool fallback, struct tr_buffer *to)
{
	struct tr_compdb_head head = { .fallback = fallback };
	size_t begin = to->len;

	tr_buffer_put(to, (const char *)&head, sizeof head);
	size_t text = to->len;
	put_json(to, entry);
	if (to->failed)
		return false;
	struct tr_text json = { to->data + text, to->len - text };
	head.len = json.len;
	if (!put_key(entry, unique, json, &head))
		return false;
	memcpy(to->data + begin, &head, sizeof head);
	return true;
}

/* The words that all entries of a call share, and where each source goes among them. */
struct line {
	struct tr_text *shared, *argv; /* argv: room for the words of one entry */
	size_t count;
	struct source {
		const struct tr_part *part;
		const struct tr_part *option; /* "/Tc" before it; NULL: none */
		size_t place;		      /* number of shared words before it */
	} * sources;
	size_t source_count;
};

static void add(struct line *line, struct tr_text text)
{
	line->shared[line->count++] = text;
}

static bool is_only_for_linking(const struct tr_invocation *invocation, const struct tr_part *part)
{
	return invocation->mode == TR_MODE_LINK &&
	       (part->role == TR_ROLE_LINKING || part->role == TR_ROLE_INPUT ||
		part->role == TR_ROLE_PRODUCT);
}

/*
 * Parts of a response file become its name again, which stands where the file
 * was named: once, whatever was in the file.
 */
static void add_parts(struct line *line, const struct tr_call *call, bool inlined)
{
	const struct tr_invocation *invocation = &call->invocation;
	const struct tr_text *words = call->command.argv + invocation->launchers;
	const struct tr_part *end = invocation->parts + invocation->count, *option = NULL;
	size_t named = 0; /* the argument of which this was done, none is 0 */

	for (const struct tr_part *part = invocation->parts + 1; part < end; part++) {
		if (part->from_file && !inlined) {
			size_t used;
			if (part->origin == named)
				continue;
			named = part->origin;
			tr_respfile_named(words, call->command.argc - invocation->launchers, named,
					  call->rules, &used);
			for (size_t k = 0; k < used; k++)
				add(line, words[named + k]);
		} else if (part + 1 < end && part[1].value && part[1].role == TR_ROLE_SOURCE) {
			option = part;
		} else if (part->role == TR_ROLE_SOURCE) {
			line->sources[line->source_count++] =
				(struct source){ part, option, line->count };
			option = NULL;
		} else if (!is_only_for_linking(invocation, part)) {
			add(line, part->text);
		}
	}
}

/* The program as the entry names it: whole, where it is known. */
static struct tr_text program_of(const struct tr_call *call, struct tr_arena *arena)
{
	const struct tr_command *command = &call->command;
	struct tr_text path = tr_command_program(command);
	struct tr_buffer whole = TR_BUFFER_INIT;

	if (call->invocation.launchers)
		return call->expansion.words[0].text;
	/* a name alone was looked for in PATH */
	if (tr_path_is_absolute(path) || !memchr(path.data, '/', path.len))
		return path;
	tr_path_join(command->directory, path, &whole);
	path = tr_arena_copy(arena, tr_buffer_text(&whole));
	if (whole.failed)
		path.data = NULL;
	tr_buffer_free(&whole);
	return path;
}

static struct tr_text absolute(struct tr_text directory, struct tr_text path,
			       struct tr_arena *arena)
{
	struct tr_buffer whole = TR_BUFFER_INIT;

	if (!path.data)
		return path;
	tr_path_join(directory, path, &whole);
	path = tr_arena_copy(arena, tr_buffer_text(&whole));
	if (whole.failed)
		path.data = NULL;
	tr_buffer_free(&whole);
	return path;
}

static bool has_hidden_sources(const struct tr_invocation *invocation)
{
	for (size_t i = 0; i < invocation->count; i++)
		if (invocation->parts[i].role == TR_ROLE_SOURCE && invocation->parts[i].from_file)
			return true;
	return false;
}

static bool make_line(struct line *line, const struct tr_call *call, bool inlined,
		      struct tr_arena *arena)
{
	const struct tr_invocation *invocation = &call->invocation;
	/* all words of the call and its response files, and the -c */
	size_t words = call->expansion.count + call->command.argc + 2;
	struct tr_text program = program_of(call, arena);

	*line = (struct line){
		.shared = tr_arena_alloc(arena, words * sizeof *line->shared),
		.argv = tr_arena_alloc(arena, words * sizeof *line->argv),
		.sources = tr_arena_alloc(arena, invocation->sources * sizeof *line->sources),
	};
	if (!program.data || !line->shared || !line->argv || !line->sources)
		return false;
	add(line, program);
	if (invocation->mode == TR_MODE_LINK)
		add(line, invocation->tool == TR_TOOL_DRIVER_CL ? TR_TEXT("/c") : TR_TEXT("-c"));
	add_parts(line, call, inlined);
	return true;
}

/* The command line of one source in line->argv; its number of words. */
static size_t spell_line(struct line *line, const struct source *source)
{
	size_t count = source->place, rest = line->count - count;

	memcpy(line->argv, line->shared, count * sizeof *line->argv);
	if (source->option)
		line->argv[count++] = source->option->text;
	line->argv[count++] = source->part->text;
	if (rest)
		memcpy(line->argv + count, line->shared + source->place, rest * sizeof *line->argv);
	return count + rest;
}

/* Where the entry's output is: on the way to a program it is that, as Bear has it. */
static struct tr_text output_of(const struct tr_invocation *invocation, struct tr_text source,
				struct tr_arena *arena, bool *failed)
{
	if (invocation->tool == TR_TOOL_DRIVER_CL)
		return tr_invocation_output(invocation, source, arena, failed);
	return invocation->output;
}

static bool put_source(const struct tr_call *call, struct line *line, const struct source *source,
		       enum tr_compdb_unique unique, struct tr_arena *arena, struct tr_buffer *to)
{
	const struct tr_invocation *invocation = &call->invocation;
	struct tr_text directory = call->command.directory, file = source->part->file;
	bool failed = false;
	struct tr_text output = output_of(invocation, file, arena, &failed);
	struct tr_compdb_entry entry = {
		.directory = directory,
		.file = absolute(directory, file, arena),
		.output = absolute(directory, output, arena),
		.argv = line->argv,
		.argc = spell_line(line, source),
	};
	if (!output.data && invocation->mode != TR_MODE_SYNTAX) {
		entry.implied = tr_invocation_object(invocation, file, arena);
		failed |= !entry.implied.data;
	}
	if (failed || !entry.file.data || (output.data && !entry.output.data))
		return false;
	return tr_compdb_entry_put(&entry, unique, call->libtool, to);
}

enum tr_status tr_compdb_call_put(const struct tr_call *call, bool inlined,
				  enum tr_compdb_unique unique, struct tr_arena *arena,
				  struct tr_buffer *to, struct tr_error *err)
{
	size_t begin = to->len;
	struct line line;

	/* what names other sources, too, cannot stay */
	inlined |= has_hidden_sources(&call->invocation);
	if (!make_line(&line, call, inlined, arena))
		return tr_error_memory(err);
	for (size_t i = 0; i < line.source_count; i++) {
		if (!put_source(call, &line, &line.sources[i], unique, arena, to))
			return tr_error_memory(err);
		if (to->len - begin <= TR_CALL_TEXT_MAX)
			continue;
		to->len = begin;
		return tr_call_too_long(call, err);
	}
	return TR_OK;
}
