/* SPDX-License-Identifier: MIT */
#include "deps/graph.h"

#include <string.h>

#include "process/path.h"

static const char *const does_words[TR_DOES_WORDS] = { "read",	 "write",  "create", "truncate",
						       "append", "delete", "rename", "link",
						       "exec",	 "map",	   "stat",   "list",
						       "missing" };

void tr_deps_graph_init(struct tr_deps_graph *graph)
{
	*graph = (struct tr_deps_graph){ .arena = TR_ARENA_INIT,
					 .uses = TR_ID_MAP_INIT,
					 .instant = TR_INSTANT_NONE };
	tr_deps_paths_init(&graph->paths);
	graph->failed = graph->paths.failed;
}

void tr_deps_graph_free(struct tr_deps_graph *graph)
{
	tr_deps_paths_free(&graph->paths);
	tr_id_map_free(&graph->uses);
	tr_arena_free(&graph->arena);
}

static void *add(struct tr_deps_graph *graph, size_t size)
{
	void *item = tr_arena_alloc(&graph->arena, size);

	if (item)
		memset(item, 0, size);
	else
		graph->failed = true;
	return item;
}

struct tr_deps_command *tr_deps_add_command(struct tr_deps_graph *graph,
					    struct tr_deps_command *parent)
{
	struct tr_deps_command *command = add(graph, sizeof *command);

	if (!command)
		return NULL;
	command->parent = parent;
	command->owner = parent ? parent->owner : command;
	command->seq = command->fork_seq = TR_DEPS_NO_SEQ;
	command->ended = TR_DEPS_NEVER;
	command->began = graph->now;
	if (parent) {
		command->sibling = parent->children;
		parent->children = command;
	}
	*(graph->last_command ? &graph->last_command->next : &graph->first_command) = command;
	graph->last_command = command;
	return command;
}

struct tr_deps_file *tr_deps_add_file(struct tr_deps_graph *graph, struct tr_deps_path *path)
{
	struct tr_deps_file *file = add(graph, sizeof *file);

	if (!file || !tr_deps_add_version(graph, file, false))
		return NULL;
	*(graph->last_file ? &graph->last_file->next : &graph->first_file) = file;
	graph->last_file = file;
	if (path)
		tr_deps_bind(path, file);
	return file;
}

struct tr_deps_version *tr_deps_add_version(struct tr_deps_graph *graph, struct tr_deps_file *file,
					    bool keeps_content)
{
	struct tr_deps_version *version = add(graph, sizeof *version);

	if (!version)
		return NULL;
	version->file = file;
	if (keeps_content && file->version) {
		version->older = file->version;
		file->version->newer = version;
	}
	file->version = version;
	return version;
}

struct tr_deps_file *tr_deps_file_at(struct tr_deps_graph *graph, struct tr_deps_path *path)
{
	return path->file ? path->file : tr_deps_add_file(graph, path);
}

void tr_deps_bind(struct tr_deps_path *path, struct tr_deps_file *file)
{
	if (path->file == file)
		return;
	if (path->file) {
		tr_deps_unbind(path);
		path->last->replaced = true;
	}
	struct tr_deps_path *name = file->names ? file->path : path;
	path->other_name = file->names ? name->other_name : path;
	path->previous_name = name;
	name->other_name = path->other_name->previous_name = path;
	path->file = path->last = file;
	path->moved = false;
	path->was_directory = false;
	path->exists = true;
	path->link.data = NULL;
	file->path = path;
	file->names++;
	file->deleted = false;
	for (struct tr_deps_path *p = path->parent; p && !p->directory; p = p->parent)
		p->directory = true;
}

void tr_deps_unbind(struct tr_deps_path *path)
{
	struct tr_deps_file *file = path->file;

	path->file = NULL;
	path->exists = false;
	if (!file)
		return;
	path->other_name->previous_name = path->previous_name;
	path->previous_name->other_name = path->other_name;
	if (--file->names == 0)
		file->deleted = true;
	else if (file->path == path)
		file->path = path->other_name;
}

/* Returns a number for a use: a hash of the addresses of what it connects. */
static uint64_t id_of(const struct tr_deps_command *command, const struct tr_deps_version *version,
		      const struct tr_deps_path *path)
{
	uint64_t id = (uintptr_t)command * UINT64_C(0x9e3779b97f4a7c15);

	id = ((id >> 32 | id << 32) ^ (uintptr_t)version) * UINT64_C(0xbf58476d1ce4e5b9);
	return ((id >> 32 | id << 32) ^ (uintptr_t)path) * UINT64_C(0x94d049bb133111eb);
}

enum {
	FEW = 32,   /* if a command has no more uses, all of them are compared */
	NEWEST = 4, /* uses of a version that are compared first */
};

/*
 * Finds a use of a command with many uses. The first search of a command adds its uses to the map;
 * few commands need this.
 */
static struct tr_deps_use *find_mapped(struct tr_deps_graph *graph, struct tr_deps_command *command,
				       const struct tr_deps_version *version,
				       const struct tr_deps_path *path)
{
	struct tr_deps_use *use;
	uint64_t id;

	/* the rare uses with equal ids get successive ones */
	for (use = command->uses; use != command->mapped; use = use->next_of_command) {
		for (id = id_of(command, use->version, use->path); tr_id_map_get(&graph->uses, id);
		     id++)
			;
		graph->failed |= !tr_id_map_put(&graph->uses, id, use);
	}
	command->mapped = command->uses;
	for (id = id_of(command, version, path); (use = tr_id_map_get(&graph->uses, id)); id++)
		if (use->command == command && use->version == version && use->path == path)
			break;
	return use;
}

/*
 * Finds a use. It is usually one of the newest of its version (or path, if that has no file). If
 * these are older than the command, the command has no use of it.
 */
static struct tr_deps_use *find_use(struct tr_deps_graph *graph, struct tr_deps_use *newest,
				    struct tr_deps_command *command,
				    const struct tr_deps_version *version,
				    const struct tr_deps_path *path)
{
	struct tr_deps_use *use = newest;

	for (int i = 0; i < NEWEST; i++, use = use->next_of_version) {
		if (!use || use->first < command->began)
			return NULL;
		if (use->command == command && use->path == path)
			return use;
	}
	if (command->use_count > FEW)
		return find_mapped(graph, command, version, path);
	for (use = command->uses; use; use = use->next_of_command)
		if (use->version == version && use->path == path)
			break;
	return use;
}

static struct tr_deps_use *new_use(struct tr_deps_graph *graph)
{
	struct tr_deps_use *use = graph->free_uses;

	if (!use)
		return add(graph, sizeof *use);
	graph->free_uses = use->next_of_command;
	*use = (struct tr_deps_use){ 0 };
	return use;
}

struct tr_deps_use *tr_deps_get_use(struct tr_deps_graph *graph, struct tr_deps_command *command,
				    struct tr_deps_version *version, struct tr_deps_path *path)
{
	struct tr_deps_use **list = version ? &version->uses : &path->missed;
	struct tr_deps_use *newest = *list, *use = find_use(graph, newest, command, version, path);

	if (use)
		return use;
	use = new_use(graph);
	if (use && graph->details)
		use->details = add(graph, sizeof *use->details);
	if (graph->failed)
		return NULL;
	if (use->details) {
		*use->details = (struct tr_deps_details){ .spelled = path,
							  .seq = TR_DEPS_NO_SEQ,
							  .closed = TR_INSTANT_NONE };
		*(graph->last_use ? &graph->last_use->details->next : &graph->first_use) = use;
		graph->last_use = use;
	}
	if (path)
		path->used = true;
	use->command = command;
	use->version = version;
	use->path = path;
	use->first = graph->now;
	use->read_at = use->written_until = TR_DEPS_NEVER;
	use->next_of_command = command->uses;
	command->uses = use;
	use->next_of_version = newest;
	*list = use;
	graph->use_count++;
	command->use_count++;
	return graph->failed ? NULL : use;
}

/*
 * Returns the pointer to a use in the list of its version or path. NULL: newer uses are too many.
 */
static struct tr_deps_use **link_of(const struct tr_deps_use *use)
{
	enum { MANY = 64 };
	struct tr_deps_use **link = use->version ? &use->version->uses : &use->path->missed;

	for (int i = 0; i < MANY && *link; i++, link = &(*link)->next_of_version)
		if (*link == use)
			return link;
	return NULL;
}

bool tr_deps_is_droppable(const struct tr_deps_use *use)
{
	return link_of(use);
}

void tr_deps_drop_uses(struct tr_deps_graph *graph, struct tr_deps_command *command,
		       bool (*drop)(void *context, const struct tr_deps_use *use), void *context)
{
	struct tr_deps_use **place = &command->uses, **link, *use;

	for (use = command->mapped; use; use = use->next_of_command)
		tr_id_map_take(&graph->uses, id_of(command, use->version, use->path));
	command->mapped = NULL;
	while ((use = *place)) {
		link = link_of(use);
		if (!link || !drop(context, use)) {
			place = &use->next_of_command;
			continue;
		}
		*link = use->next_of_version;
		if (use->version)
			use->version->dropped = true;
		*place = use->next_of_command;
		use->command = NULL;
		use->next_of_command = graph->free_uses;
		graph->free_uses = use;
		graph->use_count--;
		command->use_count--;
	}
}

void tr_deps_mark_read(struct tr_deps_graph *graph, struct tr_deps_use *use,
		       enum tr_evidence evidence)
{
	if (use->read_at == TR_DEPS_NEVER)
		use->read_at = graph->now;
	if (evidence > use->read)
		use->read = evidence;
	if (evidence > use->version->read)
		use->version->read = evidence;
}

void tr_deps_mark_written(struct tr_deps_use *use, enum tr_evidence evidence)
{
	use->written_until = TR_DEPS_NEVER;
	if (evidence > use->written)
		use->written = evidence;
	if (evidence > use->version->written)
		use->version->written = evidence;
}

void tr_deps_mark_closed(const struct tr_deps_graph *graph, struct tr_deps_use *use)
{
	use->written_until = graph->now;
	if (use->details)
		use->details->closed = graph->instant;
}

/* Returns the first of these siblings that is not a program. */
static const struct tr_deps_command *first_fork(const struct tr_deps_command *command)
{
	while (command && command->program)
		command = command->sibling;
	return command;
}

const struct tr_deps_command *tr_deps_next_fork(const struct tr_deps_command *command)
{
	const struct tr_deps_command *next = first_fork(command->children);

	for (; !next && command != command->owner; command = command->parent)
		next = first_fork(command->sibling);
	return next;
}

const struct tr_deps_command *tr_deps_program(const struct tr_deps_command *command)
{
	return command && command->owner->program ? command->owner : NULL;
}

bool tr_deps_opens_for_itself(const struct tr_deps_command *command)
{
	const struct tr_deps_command *program = tr_deps_program(command);

	return !program || !program->shell;
}

bool tr_deps_is_reader(const struct tr_deps_use *use)
{
	if (!use->read || !use->version || use->version->file->both_ends)
		return false;
	/*
	 * a command reads a file that it opens; a shell may only hold a pipe or pass on a
	 * descriptor
	 */
	if (use->version->file->pipe)
		return use->read == use->version->read ||
		       (use->read == TR_EVIDENCE_OPENED && use->path &&
			tr_deps_opens_for_itself(use->command));
	if (use->read == TR_EVIDENCE_OPENED && use->version->transferred)
		return tr_deps_opens_for_itself(use->command);
	return use->read != TR_EVIDENCE_PASSED || use->version->read == TR_EVIDENCE_PASSED;
}

bool tr_deps_is_writer(const struct tr_deps_use *use)
{
	if (!use->written || !use->version || use->version->file->both_ends)
		return false;
	if (use->version->file->pipe && use->path && use->written == TR_EVIDENCE_OPENED)
		return tr_deps_opens_for_itself(use->command) ||
		       use->version->written == TR_EVIDENCE_OPENED;
	return use->written == use->version->written;
}

void tr_deps_put_does(unsigned does, const char *between, struct tr_buffer *to)
{
	bool any = false;

	for (int i = 0; i < TR_DOES_WORDS; i++) {
		if (!(does >> i & 1))
			continue;
		if (any)
			tr_buffer_put_text(to, tr_text_from(between));
		any = true;
		tr_buffer_put_text(to, tr_text_from(does_words[i]));
	}
}
