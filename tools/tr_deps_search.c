/* SPDX-License-Identifier: MIT */
/*
 * The files of the trace: sets of their paths, the files that match a GLOB, and searches from a
 * file to what it was made from and to what was made from it.
 */
#include "tr_deps.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct tr_deps_set tr_deps_set_new(struct tr_deps *deps)
{
	return (struct tr_deps_set){ .id = ++deps->sets };
}

void tr_deps_set_add(struct tr_deps *deps, struct tr_deps_set *set, struct tr_deps_path *path)
{
	if (path->set == set->id)
		return;
	if (!tr_array_room(set->paths, set->count, set->cap)) {
		tr_cli_out_of_memory(&deps->cli);
		return;
	}
	path->set = set->id;
	set->paths[set->count++] = path;
}

struct tr_text tr_deps_text(struct tr_deps *deps, const struct tr_deps_path *path)
{
	tr_buffer_reset(&deps->text);
	tr_deps_path_write(path, &deps->text);
	if (deps->text.failed)
		tr_cli_out_of_memory(&deps->cli);
	return tr_buffer_text(&deps->text);
}

/* Compares absolute paths as bytes, component by component; "/" sorts before all other bytes. */
static int compare_paths(const void *a, const void *b)
{
	const struct tr_deps_path *x = *(struct tr_deps_path *const *)a;
	const struct tr_deps_path *y = *(struct tr_deps_path *const *)b;
	size_t depth_x = 0, depth_y = 0;

	if (x == y)
		return 0;
	for (const struct tr_deps_path *p = x; p; p = p->parent)
		depth_x++;
	for (const struct tr_deps_path *p = y; p; p = p->parent)
		depth_y++;
	int shorter = depth_x < depth_y ? -1 : 1;
	for (; depth_x > depth_y; depth_x--)
		x = x->parent;
	for (; depth_y > depth_x; depth_y--)
		y = y->parent;
	if (x == y)
		return shorter;
	while (x->parent != y->parent) {
		x = x->parent;
		y = y->parent;
	}
	size_t least = x->name.len < y->name.len ? x->name.len : y->name.len;
	int order = memcmp(x->name.data, y->name.data, least);
	return order ? order : x->name.len < y->name.len ? -1 : 1;
}

void tr_deps_set_sort(struct tr_deps_set *set)
{
	if (set->count)
		qsort(set->paths, set->count, sizeof *set->paths, compare_paths);
}

struct tr_deps_path *tr_deps_next_path(struct tr_deps *deps, struct tr_deps_path *path)
{
	if (!path)
		return deps->graph.paths.root;
	if (path->children)
		return path->children;
	while (path && !path->next)
		path = path->parent;
	return path ? path->next : NULL;
}

bool tr_deps_is_shown(const struct tr_deps *deps, const struct tr_deps_path *path)
{
	return path &&
	       (deps->special || (!path->directory && !path->was_directory && !path->special));
}

bool tr_deps_in_project(const struct tr_deps *deps, const struct tr_deps_path *path)
{
	return !deps->project || tr_deps_path_is_below(path, deps->project);
}

bool tr_deps_matches(struct tr_deps *deps, const struct tr_deps_globs *globs,
		     const struct tr_deps_path *path)
{
	if (!globs->count)
		return false;
	tr_deps_text(deps, path);
	tr_buffer_put_byte(&deps->text, '\0');
	for (size_t i = 0; i < globs->count && !deps->text.failed; i++)
		if (fnmatch(globs->globs[i], deps->text.data, 0) == 0)
			return true;
	return false;
}

bool tr_deps_was_written(const struct tr_deps_path *path)
{
	const struct tr_deps_version *version = path->file ? path->file->version : NULL;

	return version && (version->written || path->file->created);
}

void tr_deps_make_absolute(struct tr_deps *deps, struct tr_deps_globs *globs)
{
	for (size_t i = 0; i < globs->count; i++) {
		struct tr_text glob = tr_text_from(globs->globs[i]);
		if (!glob.len || *glob.data == '/' || *glob.data == '*')
			continue;
		const struct tr_deps_path *directory = deps->tracker.directory;
		for (bool up; (up = tr_text_skip(&glob, TR_TEXT("../"))) ||
			      tr_text_skip(&glob, TR_TEXT("./"));)
			if (up && directory && directory->parent)
				directory = directory->parent;
		tr_buffer_reset(&deps->text);
		if (directory)
			tr_deps_path_write(directory, &deps->text);
		else if (*globs->globs[i] != '*')
			tr_cli_fail(
				&deps->cli,
				"'%s' is relative to the working directory, which is not in this "
				"trace: give the whole path, or for strace -O cwd=DIR",
				globs->globs[i]);
		if (deps->text.len != 1)
			tr_buffer_put_byte(&deps->text, '/');
		tr_buffer_put_text(&deps->text, glob);
		tr_buffer_put_byte(&deps->text, '\0');
		struct tr_text own = tr_arena_copy(&deps->arena, tr_buffer_text(&deps->text));
		if (!own.data || deps->text.failed) {
			tr_cli_out_of_memory(&deps->cli);
			return;
		}
		globs->globs[i] = own.data;
	}
}

bool tr_deps_find_wanted(struct tr_deps *deps, struct tr_deps_set *set)
{
	for (size_t i = 0; i < deps->wanted.count; i++) {
		struct tr_deps_globs one = { &deps->wanted.globs[i], 1, 1 };
		bool any = false;
		for (struct tr_deps_path *path = NULL; (path = tr_deps_next_path(deps, path));) {
			if ((!path->last && !path->link.data && !path->used) ||
			    !tr_deps_matches(deps, &one, path))
				continue;
			any = true;
			struct tr_deps_path *target = NULL;
			if (path->link.data && !path->last)
				target = tr_deps_paths_resolved(&deps->graph.paths, path->parent,
								path->link, true, NULL);
			tr_deps_set_add(deps, set, target ? target : path);
		}
		if (!any)
			tr_cli_fail(&deps->cli, "no file of the trace matches '%s'",
				    deps->wanted.globs[i]);
	}
	return set->count && !deps->cli.stop;
}

/* Searches. */

struct finding {
	struct tr_deps *deps;
	struct tr_deps_path *target;
	bool direct, forward;
	struct tr_deps_set *set;
};

static bool has_writer(const struct tr_deps_version *version)
{
	for (; version; version = version->older)
		if (version->written)
			return true;
	return false;
}

static bool found(void *context, struct tr_deps_use *use)
{
	struct finding *f = context;
	struct tr_deps *deps = f->deps;
	struct tr_deps_path *path = use->path;

	if (!use->version) {
		if (tr_deps_is_shown(deps, path) && f->set)
			tr_deps_set_add(deps, f->set, path);
		return false;
	}
	const struct tr_deps_file *file = use->version->file;
	if (file->pipe || !path)
		return true;
	/* a file counts under its last name, not under the one under which it was written */
	if (f->forward && file->path)
		path = file->path;
	/* another file that has this name at the end counts, too */
	bool gone = file->names == 0 && !path->file;
	if (path->special || path->directory) {
		if (deps->special && f->set)
			tr_deps_set_add(deps, f->set, path);
		return false;
	}
	bool same = path == f->target || (f->target && f->target->file == file);
	if (tr_deps_matches(deps, &deps->cut, path)) {
		if (!same && f->set)
			tr_deps_set_add(deps, f->set, path);
		return false;
	}
	if (f->direct) {
		bool through = same || ((gone || !tr_deps_in_project(deps, path)) &&
					(f->forward || has_writer(use->version)));
		if (!through && f->set)
			tr_deps_set_add(deps, f->set, path);
		return through;
	}
	if (!same && f->set)
		tr_deps_set_add(deps, f->set, path);
	return true;
}

static void mark_command(void *context, struct tr_deps_command *command)
{
	(void)context;
	if (command && command->owner->program)
		command->owner->chosen = true;
}

/* uses: of every content that had the name of the target; a search forward begins there. */
static bool search(struct tr_deps *deps, struct tr_deps_path *target, bool direct, bool forward,
		   struct tr_deps_use *const *uses, size_t use_count, struct tr_deps_set *set)
{
	struct finding finding = { deps, target, direct, forward, set };
	struct tr_deps_search search = { .graph = &deps->graph,
					 .through = deps->through,
					 .missing = deps->missing,
					 .forward = forward,
					 .found = found,
					 .visited = deps->commands ? mark_command : NULL,
					 .context = &finding };
	struct tr_deps_file *file = target->file || forward ? target->file : target->last;
	bool fine = true;

	tr_deps_search_begin(&search);
	for (size_t i = 0; i < use_count && fine; i++)
		fine = tr_deps_search(&search, uses[i]->version);
	if (file)
		fine = fine && tr_deps_search(&search, file->version);
	tr_deps_search_free(&search);
	return fine || tr_cli_out_of_memory(&deps->cli);
}

bool tr_deps_collect(struct tr_deps *deps, struct tr_deps_path *target, bool direct,
		     struct tr_deps_set *set)
{
	return search(deps, target, direct, false, NULL, 0, set);
}

static int compare_users(const void *a, const void *b)
{
	const struct tr_deps_use *x = *(struct tr_deps_use *const *)a;
	const struct tr_deps_use *y = *(struct tr_deps_use *const *)b;

	return x->path < y->path ? -1 : x->path > y->path;
}

static int compare_renames(const void *a, const void *b)
{
	const struct tr_deps_use *x = *(struct tr_deps_use *const *)a;
	const struct tr_deps_use *y = *(struct tr_deps_use *const *)b;

	return x->version->file < y->version->file ? -1 : x->version->file > y->version->file;
}

bool tr_deps_collect_from(struct tr_deps *deps, const struct tr_deps_set *wanted,
			  struct tr_deps_set *set)
{
	struct tr_deps_use **uses = NULL, **renames = NULL, *use;
	size_t count = 0, cap = 0, renamed = 0, room = 0;
	bool fine = true;

	for (const struct tr_deps_command *c = deps->graph.first_command; c; c = c->next)
		for (use = c->uses; fine && use; use = use->next_of_command) {
			if (!use->version || !use->path)
				continue;
			if (use->does & TR_DOES_RENAME &&
			    (fine = tr_array_room(renames, renamed, room)))
				renames[renamed++] = use;
			if (fine && use->path->set == wanted->id &&
			    (fine = tr_array_room(uses, count, cap)))
				uses[count++] = use;
		}
	if (!fine)
		tr_cli_out_of_memory(&deps->cli);
	if (count)
		qsort(uses, count, sizeof *uses, compare_users);
	if (renamed)
		qsort(renames, renamed, sizeof *renames, compare_renames);
	for (size_t i = 0, n; fine && i < wanted->count; i++) {
		struct tr_deps_use key = { .path = wanted->paths[i] }, *keyed = &key, **first;
		first = count ? bsearch(&keyed, uses, count, sizeof *uses, compare_users) : NULL;
		while (first && first > uses && first[-1]->path == key.path)
			first--;
		for (n = 0; first && first + n < uses + count && first[n]->path == key.path;)
			n++;
		fine = search(deps, key.path, deps->direct, true, first, n, set);
		if (n || key.path->file || !key.path->last)
			continue;
		/* it was renamed and not used: the use has the other name */
		struct tr_deps_version last = { .file = key.path->last };
		key.version = &last;
		first = renamed ? bsearch(&keyed, renames, renamed, sizeof *renames,
					  compare_renames)
				: NULL;
		while (first && first > renames && first[-1]->version->file == last.file)
			first--;
		for (; first && first < renames + renamed && first[0]->version->file == last.file;
		     first++)
			n++;
		fine = search(deps, key.path, deps->direct, true, first - n, n, set);
	}
	free(renames);
	free(uses);
	return fine;
}
