/* SPDX-License-Identifier: MIT */
/*
 * Writes what each written file was made from directly, and by which command: as rules with which
 * make or ninja can run the command again, or as a graph for Graphviz.
 */
#include "tr_deps.h"

#include <stdlib.h>

#include "process/respfile.h"

/* Appends a command for a shell, after a change to its directory. */
static void put_command(struct tr_deps *deps, const struct tr_deps_command *command,
			struct tr_buffer *line)
{
	if (command->directory) {
		tr_buffer_put_literal(line, "cd ");
		tr_shell_quote_printable(tr_deps_text(deps, command->directory), line);
		tr_buffer_put_literal(line, " && ");
	}
	tr_deps_put_argv(deps, command, line);
}

/* Appends a line of commands as make and ninja spell it, and empties it. */
static void put_line(struct tr_buffer *line, struct tr_buffer *to)
{
	struct tr_buffer bash = TR_BUFFER_INIT;
	struct tr_text text = tr_buffer_text(line);

	/* not all shells understand the spelling of words with control bytes */
	if (line->len && memmem(line->data, line->len, "$'", 2)) {
		tr_buffer_put_literal(&bash, "exec bash -c ");
		tr_shell_quote(text, &bash);
		text = tr_buffer_text(&bash);
	}
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '$')
			tr_buffer_put_byte(to, '$');
		tr_buffer_put_byte(to, text.data[i]);
	}
	to->failed |= line->failed || bash.failed;
	tr_buffer_free(&bash);
	tr_buffer_reset(line);
}

/* How a path is written in a rule; "$" is doubled. */
struct spelling {
	const char *special; /* bytes that are preceded by escape */
	char escape;
	char other; /* a byte that cannot be escaped, and what expands to it */
	const char *expands;
	const char *never; /* bytes that cannot be written */
};

/* make expands wildcards of a target, too, but it removes a backslash only if the file exists */
static const struct spelling make_target = { " #:%", '\\', '=', "$(strip =)", "\t\n\v\f\r;\\*?[" };
static const struct spelling make_need = { " #:*?[|", '\\', '=', "$(strip =)", "\t\n\v\f\r;\\" };
static const struct spelling ninja = { " :", '$', '|', "${bar}", "\n\r" };
static const struct spelling dot = { "", '\\', '\0', "", "\n" };

static void put_path(struct tr_deps *deps, const struct tr_deps_path *path,
		     const struct spelling *spelling, struct tr_buffer *to)
{
	struct tr_text text = tr_deps_text(deps, path);

	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == spelling->other) {
			tr_buffer_put_text(to, tr_text_from(spelling->expands));
			continue;
		}
		if (text.data[i] == '$')
			tr_buffer_put_byte(to, '$');
		else if (strchr(spelling->special, text.data[i]))
			tr_buffer_put_byte(to, spelling->escape);
		tr_buffer_put_byte(to, text.data[i]);
	}
}

static bool is_target(const struct tr_deps *deps, const struct tr_deps_path *path)
{
	return tr_deps_was_written(path) && tr_deps_in_project(deps, path);
}

/* Returns whether the path can be written. The first one that cannot be is reported. */
static bool can_write(struct tr_deps *deps, const struct tr_deps_path *path)
{
	const struct spelling *spelling = deps->as == AS_DOT	  ? &dot
					  : deps->as == AS_NINJA  ? &ninja
					  : is_target(deps, path) ? &make_target
								  : &make_need;
	struct tr_text text = tr_deps_text(deps, path);
	char last = text.len ? text.data[text.len - 1] : '/';
	/* make drops spaces at the end of a line, and takes a(b) for a member of an archive */
	bool fine = deps->as != AS_MAKE ||
		    (last != ' ' && !(last == ')' && memchr(text.data, '(', text.len)));

	for (size_t i = 0; i < text.len && fine; i++)
		fine = !strchr(spelling->never, text.data[i]);
	if (!fine && !deps->left_out)
		tr_cli_fail(&deps->cli, "paths that %s cannot read are left out, such as '%.*s'",
			    deps->as == AS_DOT	   ? "dot"
			    : deps->as == AS_NINJA ? "ninja"
						   : "make",
			    (int)text.len, text.data);
	deps->left_out |= !fine;
	return fine;
}

static int compare_targets(const void *a, const void *b)
{
	const struct tr_deps_target *x = a, *y = b;

	return x->group < y->group ? -1 : x->group > y->group;
}

/* Joins the needs of all targets of a group, which are made together. */
static void join_needs(struct tr_deps *deps, struct tr_deps_target *group, size_t count,
		       struct tr_deps_set *needs)
{
	struct tr_deps_set own = tr_deps_set_new(deps);

	for (size_t i = 0; i < count; i++)
		group[i].path->set = own.id;
	needs->id = ++deps->sets;
	needs->count = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < group[i].needs.count; k++)
			if (group[i].needs.paths[k]->set != own.id &&
			    group[i].needs.paths[k]
				    ->file && /* no rule can make a file that is gone */
			    can_write(deps, group[i].needs.paths[k]))
				tr_deps_set_add(deps, needs, group[i].needs.paths[k]);
	tr_deps_set_sort(needs);
}

static void put_make(const struct tr_deps_recipes *recipes, struct tr_deps_target *group,
		     size_t count, const struct tr_deps_set *needs, struct tr_buffer *to)
{
	struct tr_deps *deps = recipes->deps;
	const struct tr_deps_recipe *list = recipes->list;
	struct tr_buffer line = TR_BUFFER_INIT;

	for (size_t i = 0; i < count; i++) {
		put_path(deps, group[i].path, &make_target, to);
		tr_buffer_put_literal(to, " ");
	}
	tr_buffer_put_text(to, count > 1 ? TR_TEXT("&:") : TR_TEXT(":"));
	for (size_t i = 0; i < needs->count; i++) {
		tr_buffer_put_literal(to, " \\\n  ");
		put_path(deps, needs->paths[i], &make_need, to);
	}
	/* a line for each command, because the length of a line is limited */
	for (uint32_t r = list[group->group].first; r; r = list[r].next) {
		tr_buffer_put_literal(to, "\n\t");
		put_command(deps, list[r].command, &line);
		put_line(&line, to);
	}
	tr_buffer_put_literal(to, "\n\n");
	tr_buffer_free(&line);
}

static void put_ninja(const struct tr_deps_recipes *recipes, struct tr_deps_target *group,
		      size_t count, const struct tr_deps_set *needs, struct tr_buffer *to)
{
	struct tr_deps *deps = recipes->deps;
	const struct tr_deps_recipe *list = recipes->list;
	struct tr_buffer line = TR_BUFFER_INIT;
	uint64_t number = list[group->group].command->seq;
	size_t begin;

	if (number == TR_DEPS_NO_SEQ || number < deps->rules) /* another segment may repeat a seq */
		number = deps->rules;
	deps->rules = number + 1;
	tr_buffer_put_literal(to, "rule command_");
	tr_buffer_put_decimal(to, number);
	tr_buffer_put_literal(to, "\n  command = ");
	for (uint32_t r = list[group->group].first; r; r = list[r].next) {
		if (line.len)
			tr_buffer_put_literal(&line, " && ");
		put_command(deps, list[r].command, &line);
	}
	put_line(&line, to);
	tr_buffer_put_literal(to, "\nbuild");
	begin = to->len;
	for (size_t i = 0; i < count; i++) {
		tr_buffer_put_literal(to, " ");
		put_path(deps, group[i].path, &ninja, to);
	}
	tr_buffer_put_literal(to, ": command_");
	tr_buffer_put_decimal(to, number);
	for (size_t i = 0; i < needs->count; i++) {
		tr_buffer_put_literal(to, " $\n  ");
		put_path(deps, needs->paths[i], &ninja, to);
	}
	if (!to->failed && memmem(to->data + begin, to->len - begin, "${bar}", 6))
		tr_buffer_put_literal(to, "\n  bar = |");
	tr_buffer_put_literal(to, "\n\n");
	tr_buffer_free(&line);
}

static void put_quoted(struct tr_deps *deps, const struct tr_deps_path *path, struct tr_buffer *to)
{
	struct tr_text text = tr_deps_text(deps, path);

	tr_buffer_put_byte(to, '"');
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '"' || text.data[i] == '\\')
			tr_buffer_put_byte(to, '\\');
		tr_buffer_put_byte(to, text.data[i]);
	}
	tr_buffer_put_byte(to, '"');
}

static bool flush(struct tr_deps *deps, struct tr_buffer *to)
{
	if (to->failed)
		return false;
	bool fine = tr_cli_put_text(&deps->cli, tr_buffer_text(to));
	tr_buffer_reset(to);
	return fine;
}

static bool put_group(const struct tr_deps_recipes *recipes, struct tr_deps_target *group,
		      size_t count, struct tr_buffer *to)
{
	struct tr_deps *deps = recipes->deps;
	struct tr_deps_set needs = { 0 };

	if (deps->as == AS_DOT) {
		for (size_t i = 0; i < count; i++) {
			tr_deps_set_sort(&group[i].needs);
			for (size_t k = 0; k < group[i].needs.count; k++) {
				tr_buffer_put_literal(to, "  ");
				put_quoted(deps, group[i].needs.paths[k], to);
				tr_buffer_put_literal(to, " -> ");
				put_quoted(deps, group[i].path, to);
				tr_buffer_put_literal(to, ";\n");
			}
		}
		return flush(deps, to);
	}
	join_needs(deps, group, count, &needs);
	if (deps->as == AS_MAKE)
		put_make(recipes, group, count, &needs, to);
	else
		put_ninja(recipes, group, count, &needs, to);
	free(needs.paths);
	return flush(deps, to);
}

bool tr_deps_write_rules(struct tr_deps *deps, const struct tr_deps_set *files)
{
	struct tr_deps_target *targets = calloc(files->count + 1, sizeof *targets);
	struct tr_deps_recipes recipes = { .deps = deps };
	struct tr_buffer to = TR_BUFFER_INIT;
	size_t count = 0;
	bool fine = targets && tr_deps_recipes_begin(&recipes);

	for (size_t i = 0; fine && i < files->count; i++) {
		struct tr_deps_path *path = files->paths[i];
		if (!is_target(deps, path) || !can_write(deps, path))
			continue;
		uint32_t recipe = tr_deps_recipe_of(path);
		if (!recipe)
			continue;
		targets[count] =
			(struct tr_deps_target){ path, tr_deps_set_new(deps), recipe, recipe };
		fine = tr_deps_collect(deps, path, true, &targets[count++].needs);
	}
	if (deps->as != AS_DOT)
		fine = fine && tr_deps_recipes_group(&recipes, targets, count);
	if (count)
		qsort(targets, count, sizeof *targets, compare_targets);
	if (deps->as == AS_DOT) {
		tr_buffer_put_literal(&to, "digraph dependencies {\n  rankdir=LR;\n"
					   "  node [shape=box];\n");
	} else if (deps->as == AS_MAKE) {
		tr_buffer_put_literal(&to, "all:");
		for (size_t i = 0; i < count; i++) {
			tr_buffer_put_literal(&to, " \\\n  ");
			put_path(deps, targets[i].path, &make_need, &to);
		}
		tr_buffer_put_literal(&to, "\n.PHONY: all\n\n");
	}
	for (size_t i = 0, group; fine && i < count; i += group) {
		for (group = 1; i + group < count && targets[i + group].group == targets[i].group;)
			group++;
		fine = put_group(&recipes, targets + i, group, &to);
	}
	if (deps->as == AS_DOT)
		tr_buffer_put_literal(&to, "}\n");
	fine = fine && flush(deps, &to);
	for (size_t i = 0; i < count; i++)
		free(targets[i].needs.paths);
	free(targets);
	tr_deps_recipes_free(&recipes);
	tr_buffer_free(&to);
	return fine;
}
