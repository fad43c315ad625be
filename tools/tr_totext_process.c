/* SPDX-License-Identifier: MIT */
/* The styles of process traces: see view/tree_text.h, dot_text.h, script_text.h. */
#include "tr_totext.h"

#include "view/dot_text.h"
#include "view/script_text.h"
#include "view/tree_text.h"

enum { DOT_WIDTH = 50 };

/* Sets width to -O width if that is given. False: it is not a number; err is filled. */
static bool read_width(const struct tr_text_config *config, size_t *width, struct tr_error *err)
{
	struct tr_text given = tr_setting_get(&config->settings, "width", NULL);
	struct tr_cell cell = { .type = TR_CELL_TEXT, .text = given };
	uint64_t number;

	if (!given.data)
		return true;
	if (!tr_cell_number(&cell, &number) || number > INT16_MAX) {
		tr_error_set(err, TR_CAUSE_USAGE, "width is a number up to %d", INT16_MAX);
		return false;
	}
	*width = (size_t)number;
	return true;
}

static void *create_tree(const struct tr_text_config *config, struct tr_output *out,
			 struct tr_error *err)
{
	struct tr_text lines = tr_setting_get(&config->settings, "lines", "utf8");
	struct tr_tree_text_config tree = { .width = config->width,
					    .ascii = tr_text_is(lines, "ascii"),
					    .max_spool = config->limits.max_spool };

	if (!read_width(config, &tree.width, err))
		return NULL;
	tr_error_memory(err);
	return tr_tree_text_new(&tree, out);
}

static enum tr_status put_tree(void *view, struct tr_record *record, struct tr_error *err)
{
	return tr_tree_text_put(view, record, err);
}

static void free_tree(void *view)
{
	tr_tree_text_free(view);
}

static bool begins_tree(const struct tr_record *first)
{
	static const char *const kinds[] = { "meta", "env", "exec", "fork", "exit" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (tr_text_is(first->kind, kinds[i]))
			return true;
	return false;
}

static void *create_dot(const struct tr_text_config *config, struct tr_output *out,
			struct tr_error *err)
{
	struct tr_dot_text_config dot = { .width = DOT_WIDTH,
					  .max_spool = config->limits.max_spool };

	if (!read_width(config, &dot.width, err))
		return NULL;
	tr_error_memory(err);
	return tr_dot_text_new(&dot, out);
}

static enum tr_status put_dot(void *view, struct tr_record *record, struct tr_error *err)
{
	return tr_dot_text_put(view, record, err);
}

static void free_dot(void *view)
{
	tr_dot_text_free(view);
}

static void *create_script(const struct tr_text_config *config, struct tr_output *out,
			   struct tr_error *err)
{
	struct tr_text nested = tr_setting_get(&config->settings, "nested", "no");
	struct tr_script_text_config script = { .nested = tr_text_is(nested, "yes"),
						.max_spool = config->limits.max_spool,
						.max_ratio = config->limits.max_ratio };

	tr_error_memory(err);
	return tr_script_text_new(&script, out);
}

static enum tr_status put_script(void *view, struct tr_record *record, struct tr_error *err)
{
	return tr_script_text_put(view, record, err);
}

static void free_script(void *view)
{
	tr_script_text_free(view);
}

static const char *const processes[] = { "exec", "fork", "exit", NULL };
static const char *const commands[] = { "exec", NULL };

static const struct tr_format_option tree_options[] = {
	{ "lines", "utf8|ascii", false, true,
	  "tree: what its lines are drawn with (default utf8)" },
	{ "width", "N", false, true,
	  "tree: cut lines to N characters, 0: never (default: width of the terminal); "
	  "dot: cut commands (default 50)" },
	{ 0 },
};

static const struct tr_format_option script_options[] = {
	{ "nested", "yes|no", false, true,
	  "script: also what another command of the script starts itself (default no)" },
	{ 0 },
};

const struct tr_text_style tr_process_styles[] = {
	{
		.name = "tree",
		.help = "processes, how long they took and how they ended",
		.shows = "processes",
		.kinds = processes,
		.options = tree_options,
		.begins = begins_tree,
		.create = create_tree,
		.put = put_tree,
		.free = free_tree,
	},
	{
		.name = "dot",
		.help = "the same for Graphviz",
		.shows = "processes",
		.kinds = processes,
		.create = create_dot,
		.put = put_dot,
		.free = free_dot,
	},
	{
		.name = "script",
		.help = "a shell script that runs the commands again",
		.shows = "commands",
		.kinds = commands,
		.options = script_options,
		.create = create_script,
		.put = put_script,
		.free = free_script,
	},
	{ 0 },
};
