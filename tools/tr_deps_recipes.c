/* SPDX-License-Identifier: MIT */
/*
 * Which commands make a file again, and which files can only be made together.
 *
 * A file may need several commands: "ar r" and ranlib change what an earlier command made. They are
 * found by a search from its last content to the older ones that went into it:
 *
 *	content -> its writer -> an older content of the file that it read -> the writer of that ...
 *
 * If one rule made the file and another one changed it, the order would be lost, so recipes are
 * nodes of a graph whose strongly connected components become one rule each. Two recipes are
 * linked in both directions if they make the same file, or if one of them reads a content that the
 * other one replaces; otherwise from the one that needs a file to the one that makes it.
 */
#include "tr_deps.h"

#include <stdlib.h>

#include "process/command.h"

struct tr_deps_link {
	uint32_t to;
	size_t next; /* of the same recipe; 0: none */
};

bool tr_deps_recipes_begin(struct tr_deps_recipes *recipes)
{
	recipes->count = recipes->link_count = 1;
	if (!tr_array_room(recipes->list, 1, recipes->cap) ||
	    !tr_array_room(recipes->links, 1, recipes->link_cap))
		return tr_cli_out_of_memory(&recipes->deps->cli);
	for (struct tr_deps_command *c = recipes->deps->graph.first_command; c; c = c->next) {
		if (!c->program)
			continue;
		const struct tr_deps_command *above = tr_deps_program(c->parent);
		if (above && !tr_command_is_build_tool(above->name) &&
		    tr_deps_program(above->parent)) {
			c->recipe = above->recipe;
			continue;
		}
		if (!tr_array_room(recipes->list, recipes->count, recipes->cap))
			return tr_cli_out_of_memory(&recipes->deps->cli);
		if (above)
			recipes->list[above->recipe].starts = true;
		recipes->list[recipes->count] = (struct tr_deps_recipe){ .command = c };
		c->recipe = (uint32_t)recipes->count++;
	}
	return true;
}

static uint32_t recipe_of(const struct tr_deps_use *use)
{
	const struct tr_deps_command *program = tr_deps_program(use->command);

	return program ? program->recipe : 0;
}

/* Returns the recipe of the first command that wrote the version, or 0. */
static uint32_t writer_of(const struct tr_deps_version *version)
{
	uint32_t recipe = 0;

	for (const struct tr_deps_use *use = version->uses; use; use = use->next_of_version)
		if (tr_deps_is_writer(use) && recipe_of(use))
			recipe = recipe_of(use);
	return recipe;
}

uint32_t tr_deps_recipe_of(const struct tr_deps_path *path)
{
	const struct tr_deps_version *version = path->file ? path->file->version : NULL;
	uint32_t recipe = 0;

	for (; version && !recipe; version = version->older)
		recipe = writer_of(version);
	return recipe;
}

/* Adds a link, except for commands that start others: in a rule they would make everything. */
static void add_link(struct tr_deps_recipes *recipes, uint32_t from, uint32_t to)
{
	if (from == to || recipes->list[from].starts || recipes->list[to].starts)
		return;
	if (!tr_array_room(recipes->links, recipes->link_count, recipes->link_cap)) {
		tr_cli_out_of_memory(&recipes->deps->cli);
		return;
	}
	recipes->links[recipes->link_count] =
		(struct tr_deps_link){ to, recipes->list[from].links };
	recipes->list[from].links = recipes->link_count++;
}

static void join(struct tr_deps_recipes *recipes, uint32_t recipe)
{
	add_link(recipes, recipes->target->recipe, recipe);
	add_link(recipes, recipe, recipes->target->recipe);
}

/*
 * Joins the recipe of the target with those that made the version or its names, and with those that
 * read it before it was replaced or renamed. Only the first of several targets does so, because
 * many may have been made from a file that is deleted; the others join that target.
 */
static void join_version(void *context, struct tr_deps_version *version)
{
	struct tr_deps_recipes *recipes = context;
	const struct tr_deps_file *file = version->file;
	uint32_t recipe;

	if (file->pipe)
		return;
	if (version->recipe) {
		join(recipes, version->recipe);
		return;
	}
	version->recipe = recipes->target->recipe;
	if ((recipe = writer_of(version))) {
		recipes->list[recipe].makes = true;
		join(recipes, recipe);
	}
	for (const struct tr_deps_use *use = version->uses; use; use = use->next_of_version) {
		bool names = use->does & TR_DOES_RENAME ||
			     (use->does & TR_DOES_LINK && use->path &&
			      tr_deps_in_project(recipes->deps, use->path));
		bool stays = version == file->version && use->path && use->path->file == file;
		if (!(recipe = recipe_of(use)))
			continue;
		recipes->list[recipe].makes |= names;
		if (names || (!stays && tr_deps_is_reader(use)))
			join(recipes, recipe);
	}
}

/* Returns whether the target was made from this version by commands that its rule must contain. */
static bool is_part(void *context, struct tr_deps_use *use)
{
	const struct tr_deps_recipes *recipes = context;
	const struct tr_deps_path *target = recipes->target->path, *path = use->path;

	if (!use->version)
		return false;
	const struct tr_deps_file *file = use->version->file;
	if (file->pipe || !path)
		return true;
	bool gone = file->names == 0 && !path->file;
	return (path == target || file == target->file || gone) && !path->special &&
	       !path->directory && !tr_deps_matches(recipes->deps, &recipes->deps->cut, path);
}

/* Finds the strongly connected recipes, by Tarjan's algorithm without recursion. */
static bool connect(struct tr_deps_recipes *recipes)
{
	struct tr_deps_recipe *list = recipes->list, *r;
	uint32_t *stack = malloc(recipes->count * sizeof *stack);
	uint32_t index = 0, count = 0;

	if (!stack)
		return tr_cli_out_of_memory(&recipes->deps->cli);
	for (uint32_t start = 1; start < recipes->count; start++) {
		uint32_t at = list[start].makes && !list[start].index ? start : 0;
		while (at) {
			r = &list[at];
			if (!r->index) {
				r->index = r->low = ++index;
				stack[count++] = at;
			}
			if (r->links) {
				uint32_t to = recipes->links[r->links].to;
				r->links = recipes->links[r->links].next;
				if (!list[to].makes || list[to].group)
					continue;
				if (!list[to].index) {
					list[to].caller = at;
					at = to;
				} else if (list[to].index < r->low) {
					r->low = list[to].index;
				}
				continue;
			}
			if (r->low == r->index) {
				uint32_t first = count, newest = 0;
				do
					newest = stack[--first] > newest ? stack[first] : newest;
				while (stack[first] != at);
				while (count > first)
					list[stack[--count]].group = newest;
			}
			if (r->caller && r->low < list[r->caller].low)
				list[r->caller].low = r->low;
			at = r->caller;
		}
	}
	free(stack);
	for (size_t i = recipes->count - 1; i > 0; i--) {
		if (!list[i].group)
			continue;
		list[i].next = list[list[i].group].first;
		list[list[i].group].first = (uint32_t)i;
	}
	return true;
}

bool tr_deps_recipes_group(struct tr_deps_recipes *recipes, struct tr_deps_target *targets,
			   size_t count)
{
	struct tr_deps *deps = recipes->deps;
	struct tr_deps_search search = {
		.graph = &deps->graph, .found = is_part, .reached = join_version, .context = recipes
	};
	bool fine = true;

	for (size_t i = 0; i < count && fine; i++) {
		recipes->target = &targets[i];
		targets[i].path->user = &targets[i];
		recipes->list[targets[i].recipe].makes = true;
		if (recipes->list[targets[i].recipe].starts ||
		    tr_deps_matches(deps, &deps->cut, targets[i].path))
			continue;
		tr_deps_search_begin(&search);
		fine = tr_deps_search(&search, targets[i].path->file->version);
	}
	tr_deps_search_free(&search);
	if (!fine)
		return tr_cli_out_of_memory(&deps->cli);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < targets[i].needs.count; k++) {
			const struct tr_deps_target *need = targets[i].needs.paths[k]->user;
			if (need)
				add_link(recipes, targets[i].recipe, need->recipe);
		}
	if (deps->cli.stop || !connect(recipes))
		return false;
	for (size_t i = 0; i < count; i++)
		targets[i].group = recipes->list[targets[i].recipe].group;
	return true;
}

void tr_deps_recipes_free(struct tr_deps_recipes *recipes)
{
	free(recipes->list);
	free(recipes->links);
}
