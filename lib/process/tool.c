/* SPDX-License-Identifier: MIT */
/* Configurations that list compilers. */
#include "process/tool.h"

#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/input.h"
#include "process/compilers.h"
#include "record/json.h"
#include "record/literal.h"

/* A tool of a configuration, and how it names its response files. */
struct configured {
	struct tr_text binary;
	struct tr_respfile_rules rules;
};

struct tr_tool_config {
	struct tr_arena arena;
	struct configured *tools;
	size_t count;
	struct tr_text origin; /* its name in messages, valid while it is parsed */
};

/* Sets err to a flaw of the configuration. Returns false. */
static bool bad(struct tr_tool_config *config, struct tr_error *err, const char *why)
{
	tr_error_set(err, TR_CAUSE_USAGE, "%.*s: %s", TR_SHOWN(config->origin, 200), why);
	return false;
}

/* Fills err. False. */
static bool out_of_memory(struct tr_error *err)
{
	tr_error_memory(err);
	return false;
}

/* The value of a key; the last of repeated keys counts. NULL: none. */
static const struct tr_value *member(const struct tr_value *map, const char *key)
{
	for (size_t i = map->type == TR_MAP ? map->count : 0; i > 0; i--)
		if (tr_text_is(map->as.members[i - 1].key, key))
			return map->as.members[i - 1].value;
	return NULL;
}

/* Reads an entry of responseFileArgs. */
static bool read_rule(struct tr_tool_config *config, const struct tr_value *value,
		      struct tr_respfile_rule *rule, struct tr_error *err)
{
	static const struct {
		const char *name;
		unsigned form;
	} known[] = { { "attached", TR_RESPFILE_ATTACHED },
		      { "space", TR_RESPFILE_SPACE },
		      { "equal", TR_RESPFILE_EQUAL } };
	const struct tr_value *option = member(value, "argument");
	const struct tr_value *forms = member(value, "argFormat");

	if (!option || option->type != TR_STRING || !option->text.len || !forms ||
	    forms->type != TR_LIST)
		return bad(config, err,
			   "responseFileArgs: every entry needs an argument and an argFormat");
	rule->option = tr_string_bytes(option->text, &config->arena);
	rule->forms = 0;
	if (!rule->option.data)
		return out_of_memory(err);
	for (size_t i = 0; i < forms->count; i++) {
		const struct tr_value *word = &forms->as.items[i];
		unsigned form = 0;
		for (size_t k = 0; word->type == TR_STRING && k < sizeof known / sizeof *known; k++)
			form |= tr_text_is(word->text, known[k].name) ? known[k].form : 0;
		if (!form)
			return bad(config, err, "argFormat: attached, space or equal expected");
		rule->forms |= form;
	}
	return true;
}

/* Reads an entry of the list of tools. */
static bool read_tool(struct tr_tool_config *config, const struct tr_value *value,
		      struct configured *tool, struct tr_error *err)
{
	const struct tr_value *binary = member(value, "binary");
	const struct tr_value *rules = member(value, "responseFileArgs");

	if (!binary || binary->type != TR_STRING || !binary->text.len)
		return bad(config, err, "every tool needs the name of its binary");
	if (rules && rules->type != TR_LIST && rules->type != TR_NULL)
		return bad(config, err, "responseFileArgs must be a list");
	struct tr_text name = tr_string_bytes(binary->text, &config->arena);
	size_t count = rules && rules->type == TR_LIST ? rules->count : 0;
	struct tr_respfile_rule *list = tr_arena_alloc(&config->arena, count * sizeof *list);
	if (!list || !name.data)
		return out_of_memory(err);
	*tool = (struct configured){ tr_tool_base(name), { list, count } };
	for (size_t i = 0; i < count; i++)
		if (!read_rule(config, &rules->as.items[i], &list[i], err))
			return false;
	return true;
}

/* Reads the list of tools. */
static bool read_tools(struct tr_tool_config *config, const struct tr_value *list,
		       struct tr_error *err)
{
	if (list->type != TR_LIST)
		return bad(config, err, "not a list of tools");
	config->tools = tr_arena_alloc(&config->arena, list->count * sizeof *config->tools);
	if (!config->tools)
		return out_of_memory(err);
	for (; config->count < list->count; config->count++)
		if (!read_tool(config, &list->as.items[config->count],
			       &config->tools[config->count], err))
			return false;
	return true;
}

/* Parses the JSON text. NULL: err is set. */
static const struct tr_value *read_json(struct tr_tool_config *config, struct tr_text text,
					struct tr_error *err)
{
	struct tr_buffer literal = TR_BUFFER_INIT;
	const struct tr_value *tree = NULL;
	char *copy = tr_arena_alloc(&config->arena, text.len + TR_INPUT_PAD);

	if (!copy) {
		tr_error_memory(err);
		return NULL;
	}
	memcpy(copy, text.data, text.len);
	memset(copy + text.len, 0, TR_INPUT_PAD);
	struct tr_json json = { copy, copy + text.len };
	enum tr_json_token token = tr_json_spell(&json, &literal, NULL, err);
	struct tr_text ignored;
	/* the tree points into its text, so that has to live as long */
	struct tr_text kept = tr_arena_copy(&config->arena, tr_buffer_text(&literal));
	if (literal.failed || !kept.data)
		tr_error_memory(err);
	else if (token == TR_JSON_CUT || token == TR_JSON_BAD ||
		 tr_json_next(&json, &ignored) != TR_JSON_CUT)
		bad(config, err, "not a JSON text");
	else
		tree = tr_literal_parse(kept, &config->arena, err);
	tr_buffer_free(&literal);
	return tree;
}

struct tr_tool_config *tr_tool_config_parse(struct tr_text json, struct tr_text origin,
					    struct tr_error *err)
{
	struct tr_tool_config *config = calloc(1, sizeof *config);

	if (!config) {
		tr_error_memory(err);
		return NULL;
	}
	if (tr_text_starts(json, TR_TEXT("\xef\xbb\xbf")))
		json = (struct tr_text){ json.data + 3, json.len - 3 };
	config->origin = origin;
	const struct tr_value *list = read_json(config, json, err);
	if (!list || !read_tools(config, list, err)) {
		tr_tool_config_free(config);
		return NULL;
	}
	return config;
}

struct tr_tool_config *tr_tool_config_read(struct tr_text path, struct tr_error *err)
{
	enum { LARGEST = 1 << 20 };
	struct tr_buffer bytes = TR_BUFFER_INIT;
	struct tr_tool_config *config = NULL;

	if (!tr_file_read(path, LARGEST, &bytes, err))
		tr_error_name(err, TR_TEXT("-O tools"));
	else
		config = tr_tool_config_parse(tr_buffer_text(&bytes), path, err);
	tr_buffer_free(&bytes);
	return config;
}

/* These name their response files as @file. */
struct tr_tool_config *tr_tool_config_xcalbuild(struct tr_error *err)
{
	static const char *const names[] = {
		"ar",  "cc",  "ld",	  "gcc",     "llvm-gcc",	  "clang",
		"c++", "g++", "llvm-g++", "clang++", "arm-none-eabi-gcc", "arm-none-eabi-g++"
	};
	enum { COUNT = sizeof names / sizeof *names };
	struct tr_tool_config *config = calloc(1, sizeof *config);

	if (config)
		config->tools = tr_arena_alloc(&config->arena, COUNT * sizeof *config->tools);
	if (!config || !config->tools) {
		tr_error_memory(err);
		tr_tool_config_free(config);
		return NULL;
	}
	for (; config->count < COUNT; config->count++)
		config->tools[config->count] =
			(struct configured){ tr_text_from(names[config->count]),
					     tr_respfile_usual };
	return config;
}

const struct tr_respfile_rules *tr_tool_config_find(const struct tr_tool_config *config,
						    struct tr_text program)
{
	struct tr_text base = tr_tool_base(program);

	if (!config->count)
		return &tr_respfile_usual;
	for (size_t i = 0; i < config->count; i++)
		if (tr_text_equal_in_any_case(config->tools[i].binary, base))
			return &config->tools[i].rules;
	return NULL;
}

bool tr_tool_config_takes_all(const struct tr_tool_config *config)
{
	return config->count == 0;
}

void tr_tool_config_free(struct tr_tool_config *config)
{
	if (!config)
		return;
	tr_arena_free(&config->arena);
	free(config);
}
