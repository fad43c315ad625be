/* SPDX-License-Identifier: MIT */
/*
 * Reads the JSON that Bazel writes about the commands of a build, in two forms. Both are the JSON
 * of protobuf messages, which leaves out members that are 0 or empty:
 *
 *	bazel aquery --output=jsonproto: an ActionGraphContainer, one object whose members are lists
 *	of small objects (src/main/protobuf/analysis_v2.proto in Bazel's sources). Those of "actions"
 *	are what the build would run:
 *
 *		{"artifacts": [{"id": 1, "pathFragmentId": 1}],
 *		 "actions": [{"targetId": 1, "mnemonic": "CppCompile", "arguments": ["/usr/bin/gcc", ...],
 *			      "environmentVariables": [{"key": "PATH", "value": "/bin"}],
 *			      "paramFiles": [{"execPath": "a.params", "arguments": ["a.o"]}]}]}
 *
 *	bazel build --execution_log_json_file=FILE: one SpawnExec after another, which has run
 *	(spawn.proto):
 *
 *		{"commandArgs": ["/usr/bin/gcc", ...],
 *		 "environmentVariables": [{"name": "PATH", "value": "/bin"}], "listedOutputs": ["a.o"],
 *		 "exitCode": 0, "metrics": {"startTime": "2026-11-23T10:00:00.5Z",
 *		 "executionWallTime": "1.25s"}}
 *
 * Path of the data: lists of the container (next_item) or objects one after another -> object
 * (json_items) -> its members (open_command) -> record. No list is kept, so an action names its
 * inputs and outputs by the numbers of Bazel's tables, in extra.
 */
#include <inttypes.h>
#include <string.h>

#include "core/date.h"
#include "format/format.h"
#include "format/reader_base.h"
#include "process/compilers.h"
#include "process/instant.h"
#include "record/json.h"
#include "record/literal.h"

/* An object, and its members that become fields; NULL: absent, or of another type. */
struct command {
	struct tr_json_object all;
	const struct tr_json_member *arguments, *status, *metrics;
	bool planned; /* of aquery */
};

/* The place in the input that is read next. */
enum where {
	FIRST,	/* the beginning */
	SPAWNS, /* between the objects of an execution log */
	TOP,	/* in the container, between its members */
	LIST,	/* in one of its lists */
};

struct reader {
	struct tr_reader base;
	struct tr_json_items items;
	struct tr_buffer cwd; /* of -O cwd; empty: unknown */
	struct tr_buffer extra, text;
	enum where where;
	bool actions; /* LIST: of actions */
	bool damaged; /* bytes of the file are missing: every object is read as an action or a spawn */
	uint64_t unplaced;	  /* number of commands without a directory */
	uint64_t without_command; /* number of actions that run no command */
};

/* The text between the quotes of a string. */
static struct tr_text body(const struct tr_json_member *member)
{
	return (struct tr_text){ member->value.data + 1, member->value.len - 2 };
}

/* Splits an object. False: memory is exhausted. */
static bool open_command(struct command *command, struct tr_text text, struct tr_arena *arena)
{
	struct tr_json_object *all = &command->all;

	*command = (struct command){ .planned = false };
	if (!tr_json_members(text, arena, &all->members, &all->count))
		return false;
	command->arguments = tr_json_take(all, "commandArgs", TR_JSON_ARRAY);
	command->planned = !command->arguments;
	if (command->planned)
		command->arguments = tr_json_take(all, "arguments", TR_JSON_ARRAY);
	if (!command->arguments || command->planned)
		return true;
	command->status = tr_json_take(all, "exitCode", TR_JSON_NUMBER);
	/* it stays in extra, because it has more than the times */
	command->metrics = tr_json_member_find(all->members, all->count, "metrics");
	return true;
}

static bool has_member(const struct command *command, const char *key)
{
	return tr_json_member_find(command->all.members, command->all.count, key) != NULL;
}

/* True for an action that runs no command, such as one that writes a file. */
static bool is_action(const struct command *command)
{
	return has_member(command, "actionKey") || has_member(command, "mnemonic");
}

/* True if the list has an object with that key. The list may be cut. */
static bool list_has(const struct tr_json_member *list, const char *key, struct tr_arena *arena)
{
	struct tr_json_member *members;
	const char *begin;
	size_t count;

	if (!list || list->type != TR_JSON_ARRAY)
		return false;
	begin = memchr(list->value.data, '{', list->value.len);
	if (!begin || !tr_json_members(tr_text_span(begin, list->value.data + list->value.len),
				       arena, &members, &count))
		return false;
	return tr_json_member_find(members, count, key) != NULL;
}

/* Recognises a container by its first lists, and a spawn by its keys. */
static int bid(struct tr_input *in)
{
	enum { MOST = 1 << 20, BITS = 50 };
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_json_member *members;
	struct tr_text object;
	size_t count;
	int bits = 0;

	if (!tr_json_items_peek(in, MOST, &object))
		return 0;
	/* if memory is exhausted, the open that follows reports it */
	if (!tr_json_members(object, &arena, &members, &count)) {
		bits = 1;
	} else {
		const struct tr_json_member *list =
			tr_json_member_find(members, count, "commandArgs");
		bool spawn = list && list->type == TR_JSON_ARRAY &&
			     (tr_json_member_find(members, count, "environmentVariables") ||
			      tr_json_member_find(members, count, "listedOutputs") ||
			      tr_json_member_find(members, count, "remotable"));
		list = tr_json_member_find(members, count, "actions");
		bool graph = list_has(list, "actionKey", &arena) ||
			     list_has(list, "mnemonic", &arena) ||
			     list_has(tr_json_member_find(members, count, "artifacts"),
				      "pathFragmentId", &arena);
		bits = spawn || graph ? BITS : 0;
	}
	tr_arena_free(&arena);
	return bits;
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	tr_buffer_free(&reader->cwd);
	tr_buffer_free(&reader->extra);
	tr_buffer_free(&reader->text);
}

/*
 * Puts a list of objects as a field of another name; put appends an object. A list that has anything
 * else, which Bazel does not write, stays in extra. False: memory is exhausted, or put returned
 * false.
 */
static bool put_list(struct reader *reader, struct command *command, const char *key,
		     const char *field,
		     bool (*put)(struct reader *reader, struct tr_json_member *members,
				 size_t count, bool first))
{
	const struct tr_json_member *list =
		tr_json_member_find(command->all.members, command->all.count, key);
	struct tr_buffer *line = &reader->base.line;
	size_t start = line->len;
	struct tr_text text;
	bool first = true;

	if (!list || list->type != TR_JSON_ARRAY)
		return true;
	tr_buffer_put_byte(line, '\t');
	tr_buffer_put_text(line, tr_text_from(field));
	tr_buffer_put_literal(line, "={");
	struct tr_json json = { list->value.data, list->value.data + list->value.len };
	tr_json_next(&json, &text); /* [ */
	for (;;) {
		struct tr_json at = json, after = json;
		struct tr_error err;
		enum tr_json_token token = tr_json_next(&at, &text);
		if (token == TR_JSON_COMMA) {
			json = at;
			continue;
		}
		if (token == TR_JSON_ARRAY_END || tr_json_skip(&after, &err) == TR_JSON_BAD ||
		    after.pos == json.pos)
			break;
		if (token != TR_JSON_OBJECT) {
			line->len = start;
			return true;
		}
		struct tr_json_member *members;
		size_t count;
		const char *begin = at.pos - 1; /* { */
		json = after;
		if (!tr_json_members(tr_text_span(begin, after.pos), &reader->base.arena, &members,
				     &count)) {
			line->failed = true;
			return false;
		}
		if (!put(reader, members, count, first))
			return false;
		first = false;
	}
	tr_buffer_put_byte(line, '}');
	tr_json_take(&command->all, key, TR_JSON_ARRAY);
	return true;
}

/* Returns the string of that key; it is empty if Bazel left it out. */
static struct tr_text string_of(const struct tr_json_member *members, size_t count, const char *key)
{
	const struct tr_json_member *member = tr_json_member_find(members, count, key);

	return member && member->type == TR_JSON_STRING ? body(member) : TR_TEXT("");
}

/* Puts a variable of the environment. */
static bool put_variable(struct reader *reader, struct tr_json_member *members, size_t count,
			 bool first)
{
	struct tr_buffer *line = &reader->base.line;
	struct tr_text name = string_of(members, count, "name");

	if (!name.len)
		name = string_of(members, count, "key");
	if (!first)
		tr_buffer_put_byte(line, ',');
	tr_buffer_put_byte(line, '"');
	tr_json_string_to_spelling(name, line);
	tr_buffer_put_literal(line, "\":\"");
	tr_json_string_to_spelling(string_of(members, count, "value"), line);
	tr_buffer_put_byte(line, '"');
	return true;
}

/* Appends an argument as a line of a response file in GNU's quoting. False: memory is exhausted. */
static bool put_argument(struct tr_text argument, struct tr_arena *arena, struct tr_buffer *to)
{
	struct tr_text bytes = tr_string_bytes(argument, arena);

	if (!bytes.data)
		return false;
	if (!bytes.len)
		tr_buffer_put_literal(to, "\"\"");
	for (size_t i = 0; i < bytes.len; i++) {
		char c = bytes.data[i];
		if (tr_is_space(c) || c == '"' || c == '\'' || c == '\\')
			tr_buffer_put_byte(to, '\\');
		tr_buffer_put_byte(to, c);
	}
	tr_buffer_put_byte(to, '\n');
	return !to->failed;
}

/* Puts the name and the content of a response file. */
static bool put_params(struct reader *reader, struct tr_json_member *members, size_t count,
		       bool first)
{
	const struct tr_json_member *list = tr_json_member_find(members, count, "arguments");
	struct tr_buffer *line = &reader->base.line;
	struct tr_text text;

	tr_buffer_reset(&reader->text);
	if (list && list->type == TR_JSON_ARRAY) {
		struct tr_json json = { list->value.data, list->value.data + list->value.len };
		enum tr_json_token token = tr_json_next(&json, &text);
		for (; json.pos < json.end && token != TR_JSON_BAD && token != TR_JSON_CUT;
		     token = tr_json_next(&json, &text))
			if (token == TR_JSON_STRING &&
			    !put_argument(text, &reader->base.arena, &reader->text)) {
				line->failed = true;
				return false;
			}
	}
	if (!first)
		tr_buffer_put_byte(line, ',');
	tr_buffer_put_byte(line, '"');
	tr_json_string_to_spelling(string_of(members, count, "execPath"), line);
	tr_buffer_put_literal(line, "\":\"");
	tr_string_escape(tr_buffer_text(&reader->text), line);
	tr_buffer_put_byte(line, '"');
	return true;
}

/* Converts 1970-01-01T00:00:00.5Z to nanoseconds since 1970; NONE: the text has another form. */
static int64_t instant_of_date(struct tr_text text)
{
	struct tr_date date;
	struct tr_text rest;
	char fraction[16] = "0";

	if (!tr_date_parse(text, &date, &rest) || rest.len > 10)
		return TR_INSTANT_NONE;
	int64_t seconds = tr_date_seconds(&date), limit = TR_INSTANT_MAX / TR_INSTANT_SECOND;
	if (seconds <= -limit || seconds >= limit)
		return TR_INSTANT_NONE;
	memcpy(fraction + 1, rest.data, rest.len);
	return seconds * TR_INSTANT_SECOND + tr_instant_from_text(tr_text_from(fraction));
}

/*
 * Reads the times at which the command began and ended; NONE: unknown. False: memory is exhausted.
 */
static bool read_times(struct reader *reader, const struct command *command, int64_t *begin,
		       int64_t *end)
{
	struct tr_json_member *members;
	size_t count;

	*begin = *end = TR_INSTANT_NONE;
	if (!command->metrics || command->metrics->type != TR_JSON_OBJECT)
		return true;
	if (!tr_json_members(command->metrics->value, &reader->base.arena, &members, &count))
		return false;
	*begin = instant_of_date(string_of(members, count, "startTime"));
	struct tr_text text = string_of(members, count, "executionWallTime");
	if (!text.len)
		text = string_of(members, count, "totalTime");
	if (*begin == TR_INSTANT_NONE || text.len < 2 || text.data[text.len - 1] != 's')
		return true;
	text.len--;
	int64_t took = tr_instant_from_text(text);
	if (took != TR_INSTANT_NONE && took >= 0 && took < TR_INSTANT_MAX - *begin)
		*end = *begin + took;
	return true;
}

/* Appends a time column: without zeros at the end, except for the first digit after the point. */
static void put_seconds(int64_t instant, struct tr_buffer *to)
{
	unsigned digits = 9;
	int64_t rest = instant;

	while (digits > 1 && rest % 10 == 0) {
		rest /= 10;
		digits--;
	}
	tr_instant_write(instant, digits, to);
}

/* Appends seconds as a value: the shortest number that is read as the same double. */
static void put_real(int64_t instant, struct tr_buffer *to)
{
	size_t begin = to->len;
	char spelled[TR_REAL_MAX];
	uint64_t bits;

	put_seconds(instant, to);
	if (to->failed ||
	    !tr_real64_read(tr_text_span(to->data + begin, to->data + to->len), &bits))
		return;
	to->len = begin;
	tr_buffer_put(to, spelled, tr_real64_write(bits, spelled));
}

/* Puts the program, which is the first argument, as the name. */
static void put_name(const struct tr_json_member *arguments, struct tr_buffer *line)
{
	struct tr_json json = { arguments->value.data,
				arguments->value.data + arguments->value.len };
	struct tr_text text;

	tr_json_next(&json, &text);
	if (tr_json_next(&json, &text) == TR_JSON_STRING && text.len)
		tr_json_string_to_cell(text, line);
	else
		tr_buffer_put_byte(line, '-');
}

/* Puts the status, and the time of the end. An execution log leaves out a status of 0. */
static bool put_end(const struct command *command, int64_t end, struct tr_buffer *line,
		    struct tr_error *err)
{
	const struct tr_json_member *reason =
		tr_json_member_find(command->all.members, command->all.count, "status");
	bool failed = reason && reason->type == TR_JSON_STRING && body(reason).len;

	if (command->planned)
		return true;
	if (command->status && !tr_json_put_field("status", command->status, line, err))
		return false;
	if (!command->status && !failed)
		tr_buffer_put_literal(line, "\tstatus=0");
	if (end != TR_INSTANT_NONE) {
		tr_buffer_put_literal(line, "\tend=");
		put_real(end, line);
	}
	return true;
}

/* Puts the columns and fields. False: a value that no record can hold, or memory is exhausted. */
static bool put_command(struct reader *reader, struct command *command, struct tr_error *err)
{
	struct tr_buffer *line = &reader->base.line;
	uint64_t task = reader->base.seq;
	int64_t begin, end;

	tr_reader_begin(&reader->base, "exec");
	if (!read_times(reader, command, &begin, &end)) {
		line->failed = true;
		return false;
	}
	if (begin != TR_INSTANT_NONE)
		put_seconds(begin, line);
	else
		tr_buffer_put_byte(line, '-');
	tr_buffer_put_byte(line, '\t');
	/* a task for each command, as each is a process of its own */
	tr_buffer_put_decimal(line, task);
	tr_buffer_put_byte(line, '\t');
	put_name(command->arguments, line);
	if (reader->cwd.len) {
		tr_buffer_put_literal(line, "\tcwd=");
		tr_string_quote(tr_buffer_text(&reader->cwd), line);
	}
	if (!tr_json_put_field("argv", command->arguments, line, err))
		return false;
	size_t taken = command->all.taken_count;
	if (!put_list(reader, command, "environmentVariables", "env", put_variable))
		return false;
	bool has_environment = command->all.taken_count > taken;
	if (command->planned && !put_list(reader, command, "paramFiles", "respfile", put_params))
		return false;
	if (!put_end(command, end, line, err))
		return false;
	if (command->planned && has_environment)
		tr_buffer_put_literal(line, "\tflagged=[\"planned\",\"env-trimmed\"]");
	else if (command->planned)
		tr_buffer_put_literal(line, "\tflagged=[\"planned\"]");
	tr_buffer_reset(&reader->extra);
	if (!tr_json_put_others(&command->all, &reader->extra, err))
		return false;
	tr_json_put_extra(tr_buffer_text(&reader->extra), line);
	line->failed |= reader->extra.failed || reader->text.failed;
	return true;
}

/*
 * Makes the record of an object. TR_END: it has no command. TR_WARN: it is not an object of
 * Bazel's; after damage it may be a part of one, so nothing is reported.
 */
static enum tr_status make_record(struct reader *reader, struct tr_text text,
				  struct tr_record **record, struct tr_error *err)
{
	struct command command;

	if (!open_command(&command, text, &reader->base.arena))
		return tr_arena_error(&reader->base.arena, err);
	if (!command.arguments) {
		bool action = is_action(&command);
		reader->without_command += action;
		if (action || reader->damaged)
			return TR_END;
		tr_error_say(err, TR_CAUSE_INPUT, "an object that is not a command of Bazel");
		return TR_WARN;
	}
	uint64_t seq = reader->base.seq;
	if (put_command(reader, &command, err) || reader->base.line.failed) {
		reader->unplaced += !reader->cwd.len;
		return tr_reader_deliver(&reader->base, record, err);
	}
	reader->base.seq = seq;
	return tr_error_status(err);
}

/* Skips what separates the members of the container. False: the input ends. */
static bool skip_separators(struct reader *reader)
{
	struct tr_input *in = reader->base.in;

	while (tr_input_more(in, 1) && *in->pos && strchr(" \t\r\n,{}", *in->pos))
		tr_json_items_skip(&reader->items, 1);
	return tr_input_available(in) > 0;
}

/*
 * Adds to *at, an offset in the window, the blanks there and the byte after them. False: it is
 * another byte. The window grows as necessary, so the result is the same however the input arrives.
 */
static bool pass(struct reader *reader, char byte, size_t *at)
{
	struct tr_input *in = reader->base.in;

	for (;; ++*at) {
		tr_reader_look(&reader->base, *at + 1);
		if (tr_input_available(in) <= *at)
			return false;
		if (!tr_is_blank(in->pos[*at]))
			return in->pos[(*at)++] == byte;
	}
}

/* As pass, for a key, which has at most LONGEST bytes with its quotes. */
static bool pass_key(struct reader *reader, struct tr_text *key, size_t *at)
{
	enum { LONGEST = 256 };
	struct tr_input *in = reader->base.in;

	if (!pass(reader, '"', at))
		return false;
	size_t begin = *at - 1;
	tr_reader_look(&reader->base, begin + LONGEST);
	size_t len = tr_input_available(in) - begin;
	struct tr_json json = { in->pos + begin,
				in->pos + begin + (len < LONGEST ? len : LONGEST) };
	if (tr_json_next(&json, key) != TR_JSON_STRING)
		return false;
	*at = (size_t)(json.pos - in->pos);
	return true;
}

/*
 * Steps over the key of a list and its bracket. TR_WARN: something else is there, and what follows
 * is searched for objects.
 */
static enum tr_status enter_list(struct reader *reader, struct tr_error *err)
{
	struct tr_text key;
	size_t at = 0;

	bool found = pass_key(reader, &key, &at);
	bool actions = found && tr_text_is(key, "actions");
	reader->where = LIST;
	if (found && pass(reader, ':', &at) && pass(reader, '[', &at)) {
		tr_json_items_skip(&reader->items, at);
		reader->items.inside = true;
		reader->actions = actions;
		return TR_OK;
	}
	reader->damaged = true;
	tr_error_say(err, TR_CAUSE_INPUT, "unexpected text in Bazel's output");
	tr_error_at_line(err, reader->items.line);
	return TR_WARN;
}

/* Finds the next object that may be a command. */
static enum tr_status next_item(struct reader *reader, struct tr_text *object, struct tr_error *err)
{
	uint64_t *line = &reader->base.source_line;
	enum tr_status status;

	for (;;) {
		if (reader->where == TOP) {
			if (!skip_separators(reader))
				return TR_END;
			status = enter_list(reader, err);
			if (status != TR_OK)
				return status;
		}
		if (reader->damaged) {
			reader->items.trouble = true; /* steps to the next brace */
			reader->items.inside = false;
		} else if (reader->where == LIST && tr_json_items_leave(&reader->items)) {
			reader->where = TOP;
			continue;
		}
		status = tr_json_items_next(&reader->items, object, line, err);
		reader->damaged |= status == TR_WARN && reader->where == LIST;
		if (status != TR_OK || reader->where == SPAWNS || reader->actions ||
		    reader->damaged)
			return status;
	}
}

/* Determines by its first key which of the two forms the input has. */
static void begin(struct reader *reader)
{
	static const char *const lists[] = { "artifacts",	  "actions",	   "targets",
					     "depSetOfFiles",	  "configuration", "ruleClasses",
					     "aspectDescriptors", "pathFragments", NULL };
	struct tr_input *in = reader->base.in;
	struct tr_text key;
	size_t at = 0;

	if (tr_input_more(in, 3) && memcmp(in->pos, "\xef\xbb\xbf", 3) == 0)
		tr_json_items_skip(&reader->items, 3);
	while (tr_input_more(in, 1) && tr_is_blank(*in->pos))
		tr_json_items_skip(&reader->items, 1);
	bool graph = pass(reader, '{', &at) && pass_key(reader, &key, &at) &&
		     tr_text_is_among(key, lists);
	reader->where = graph ? TOP : SPAWNS;
}

static bool note_unplaced(struct tr_reader *base, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);

	if (!reader->unplaced)
		return false;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "Bazel does not record where commands run: %" PRIu64
		     "; -O cwd=DIR names the workspace, -O cwd=. if it is here",
		     reader->unplaced);
	reader->unplaced = 0;
	return true;
}

static bool note_without_command(struct tr_reader *base, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);

	if (!reader->without_command)
		return false;
	tr_error_set(err, TR_CAUSE_INPUT, "actions that run no command: %" PRIu64,
		     reader->without_command);
	err->severity = TR_DETAIL;
	reader->without_command = 0;
	return true;
}

/* The notes about the whole input, which are printed at its end. */
static tr_reader_note *const notes[] = { note_unplaced, note_without_command, NULL };

static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	enum tr_status status;
	struct tr_text object;

	if (reader->where == FIRST)
		begin(reader);
	do {
		tr_arena_reset(&base->arena);
		status = next_item(reader, &object, err);
		if (status == TR_END)
			return tr_reader_note_end(base, notes, err);
		if (status != TR_OK)
			return status;
		status = make_record(reader, object, record, err);
	} while (status == TR_END);
	if (status == TR_WARN)
		tr_error_at_line(err, base->source_line);
	return status;
}

static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	if (!tr_setting_get_directory(&config->settings, "cwd", true, &reader->cwd, err)) {
		tr_reader_free(&reader->base);
		return NULL;
	}
	tr_json_items_init(&reader->items, in, false);
	tr_buffer_limit(&reader->base.line, reader->base.max_record);
	tr_buffer_limit(&reader->extra, reader->base.max_record);
	tr_buffer_limit(&reader->text, reader->base.max_record);
	return &reader->base;
}

static const char *const extensions[] = { ".aquery.json", ".execlog.json", NULL };

static const struct tr_format_option options[] = {
	{ "cwd", "DIR", true, false, "the workspace, or the execution root" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_bazel = {
	.name = "bazel",
	.summary = "actions of bazel aquery, and its execution log, JSON",
	.exact = "-",
	.flags = TR_FORMAT_READS,
	.extensions = extensions,
	.options = options,
	.bid = bid,
	.open = open_reader,
	.default_style = "tree",
};
