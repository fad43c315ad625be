/* Response files, read before the build deletes them. */
#define _GNU_SOURCE /* memmem */
#include "config.h"

#include <string.h>

#include "process/call.h"
#include "process/respfile.h"
#include "process/words.h"
#include "record/literal.h"
#include "tr_record.h"

enum { FILES = 64 }; /* of one command line, nested ones too */

struct gathering {
	const struct tr_respfile_source *source;
	struct tr_arena *arena;
	struct tr_text names[FILES], contents[FILES];
	size_t count, bytes;
	bool failed;
};

static bool is_known(const struct gathering *g, struct tr_text name)
{
	for (size_t i = 0; i < g->count; i++)
		if (tr_text_equal(g->names[i], name))
			return true;
	return false;
}

static void add_file(struct gathering *g, struct tr_text name)
{
	struct tr_error err;

	/* names of the command's own descriptors would open files of this process */
	if (tr_text_starts(name, TR_TEXT("/dev/")) || tr_text_starts(name, TR_TEXT("/proc/")) ||
	    g->count == FILES || is_known(g, name))
		return;
	tr_error_clear(&err);
	struct tr_text content = tr_respfile_content(name, false, g->source, g->arena, &err);
	g->failed |= err.cause == TR_CAUSE_MEMORY;
	if (!content.data || content.len > TR_RESPFILE_MAX - g->bytes)
		return;
	g->bytes += content.len;
	g->names[g->count] = tr_arena_copy(g->arena, name);
	g->contents[g->count] = content;
	g->failed |= !g->names[g->count].data;
	g->count++;
}

/* Those that a file names in turn. */
static void add_nested(struct gathering *g, struct tr_text content)
{
	struct tr_words words = { .pos = content.data,
				  .end = content.data + content.len,
				  .quoting = g->source->quoting };
	struct tr_buffer word = TR_BUFFER_INIT;
	size_t used;

	while (!g->failed && tr_words_next(&words, &word)) {
		/* argv[0] is never one */
		struct tr_text argv[] = { TR_TEXT(""), tr_buffer_text(&word) };
		struct tr_text name = tr_respfile_named(argv, 2, 1, &tr_respfile_usual, &used);
		if (name.data)
			add_file(g, name);
		tr_buffer_reset(&word);
	}
	g->failed |= word.failed;
	tr_buffer_free(&word);
}

static void put_map(const struct gathering *g, struct tr_buffer *to)
{
	const char *before = "\trespfile={\"";

	for (size_t i = 0; i < g->count; i++) {
		tr_buffer_put_text(to, tr_text_from(before));
		tr_string_escape(g->names[i], to);
		tr_buffer_put_literal(to, "\":\"");
		tr_string_escape(g->contents[i], to);
		tr_buffer_put_byte(to, '"');
		before = ",\"";
	}
	tr_buffer_put_byte(to, '}');
}

/* Where the field belongs in the line: in front of what says how it went. */
static const char *place_in(struct tr_record *record)
{
	static const char *const behind[] = { "status", "signal", "end",     "error",
					      "rid",	"tgid",	  "flagged", "extra" };
	const char *end = record->line.data + record->line.len - 1;

	for (size_t i = 0; i < record->count; i++)
		for (size_t k = 0; k < sizeof behind / sizeof *behind; k++)
			if (tr_text_is(record->fields[i].key, behind[k]))
				return record->fields[i].key.data - 1;
	return end;
}

/* The command of a record if it is a tool that reads response files: curl's -d @FILE is none. */
static bool is_build_tool(struct tr_record *record, struct tr_command *command)
{
	const struct tr_call_config config = { 0 };
	struct tr_call call;
	struct tr_error err;

	if (tr_call_read(record, &config, &call, &err) != TR_OK || call.tool == TR_TOOL_NONE)
		return false;
	*command = call.command;
	return true;
}

static void gather(struct gathering *g, const struct tr_command *command)
{
	size_t used = 1;

	for (size_t i = 1; i < command->argc; i += used) {
		used = 1;
		struct tr_text name = tr_respfile_named(command->argv, command->argc, i,
							&tr_respfile_usual, &used);
		if (name.data)
			add_file(g, name);
	}
	for (size_t i = 0; i < g->count; i++)
		add_nested(g, g->contents[i]);
}

bool tr_record_respfiles(struct tr_record *record, struct tr_buffer *to)
{
	struct tr_file_roots everywhere = { 0 };
	struct tr_command command;
	struct tr_error err;

	/* nearly no command line names one */
	if (!record->line.data || !memmem(record->line.data, record->line.len, "\"@", 2) ||
	    !is_build_tool(record, &command))
		return false;
	/* the command has just read the file itself, with the rights of the same user */
	if (!tr_file_roots_add(&everywhere, TR_TEXT("/"), &err)) {
		to->failed |= err.cause == TR_CAUSE_MEMORY;
		return false;
	}
	struct tr_respfile_source source = { command.directory, NULL, &everywhere, TR_QUOTING_GNU };
	struct gathering g = { .source = &source, .arena = record->arena };
	gather(&g, &command);
	tr_file_roots_free(&everywhere);
	to->failed |= g.failed;
	if (!g.count || g.failed)
		return false;
	const char *begin = record->line.data, *place = place_in(record);
	tr_buffer_put(to, begin, (size_t)(place - begin));
	put_map(&g, to);
	tr_buffer_put(to, place, record->line.len - (size_t)(place - begin));
	return !to->failed;
}
