/* SPDX-License-Identifier: MIT */
/*
 * Tasks, and what they share: descriptors (struct tr_files), the working directory (struct
 * tr_place), and the process. Descriptors are copied on write, because most children call exec
 * without a change to them.
 */
#include "process/tree.h"

#include <stdlib.h>
#include <string.h>

/* The descriptors of a process. */

struct file {
	uint64_t fd;
	struct tr_directory *directory; /* NULL: unknown */
	bool inherited;			/* it is pending on the same descriptor of the parent */
	bool cloexec;
};

/* Several struct tr_files share a table until one of them changes it. */
struct table {
	size_t references;
	size_t count, cap;
	struct file list[]; /* sorted by fd */
};

struct tr_files {
	size_t references;
	struct table *table; /* NULL: empty */
};

struct tr_files *tr_files_new(void)
{
	struct tr_files *files = calloc(1, sizeof *files);

	if (files)
		files->references = 1;
	return files;
}

/* Takes a reference; files may be NULL. */
static struct tr_files *files_retain(struct tr_files *files)
{
	if (files)
		files->references++;
	return files;
}

/* Drops a reference to a table, which is freed with its last one. */
static void table_release(struct table *table)
{
	if (!table || --table->references > 0)
		return;
	for (size_t i = 0; i < table->count; i++)
		tr_directory_release(table->list[i].directory);
	free(table);
}

/* Drops a reference to a set of descriptors. */
static void files_release(struct tr_files *files)
{
	if (!files || --files->references > 0)
		return;
	table_release(files->table);
	free(files);
}

/* Makes a table that no other shares, with room for one more. False: memory is exhausted. */
static bool own(struct tr_files *files)
{
	struct table *table = files->table;
	size_t count = table ? table->count : 0, cap = table ? table->cap : 8;

	if (table && table->references == 1 && count < cap)
		return true;
	cap = count < cap ? cap : cap * 2;
	struct table *mine = malloc(sizeof *mine + cap * sizeof *mine->list);
	if (!mine)
		return false;
	*mine = (struct table){ .references = 1, .count = count, .cap = cap };
	for (size_t i = 0; i < count; i++) {
		mine->list[i] = table->list[i];
		tr_directory_retain(mine->list[i].directory);
	}
	table_release(table);
	files->table = mine;
	return true;
}

/* The index of fd, or the one at which it belongs. */
static size_t find(const struct table *table, uint64_t fd)
{
	return tr_array_search(i, 0, table ? table->count : 0, table->list[i].fd < fd);
}

/* True if the entry at that index is the descriptor. */
static bool is_at(const struct table *table, size_t i, uint64_t fd)
{
	return table && i < table->count && table->list[i].fd == fd;
}

/*
 * Inserts a descriptor at its index. Beyond TR_FILES_MAX it is forgotten, which bounds a table of
 * a hostile log. False: memory is exhausted.
 */
static bool insert(struct tr_files *files, size_t i, struct file file)
{
	if (files->table && files->table->count == TR_FILES_MAX)
		return true;
	if (!own(files))
		return false;
	struct table *table = files->table;
	memmove(table->list + i + 1, table->list + i, (table->count - i) * sizeof *table->list);
	table->list[i] = file;
	tr_directory_retain(file.directory);
	table->count++;
	return true;
}

bool tr_files_open(struct tr_files *files, uint64_t fd, struct tr_directory *directory,
		   bool cloexec)
{
	struct file file = { .fd = fd, .directory = directory, .cloexec = cloexec };
	size_t i = find(files->table, fd);

	if (!is_at(files->table, i, fd))
		return insert(files, i, file);
	if (!own(files))
		return false;
	tr_directory_retain(directory);
	tr_directory_release(files->table->list[i].directory);
	files->table->list[i] = file;
	return true;
}

/* Removes the descriptor at that index from a table that is not shared. */
static void remove_at(struct table *table, size_t i)
{
	tr_directory_release(table->list[i].directory);
	table->count--;
	memmove(table->list + i, table->list + i + 1, (table->count - i) * sizeof *table->list);
}

bool tr_files_put(struct tr_files *files, uint64_t fd, struct tr_directory *directory)
{
	size_t i = find(files->table, fd);

	if (directory)
		return tr_files_open(files, fd, directory, false);
	if (!is_at(files->table, i, fd))
		return true;
	if (!own(files))
		return false;
	remove_at(files->table, i);
	return true;
}

bool tr_files_next(const struct tr_files *files, uint64_t *fd)
{
	const struct table *table = files ? files->table : NULL;
	size_t i = find(table, *fd);

	if (!table || i == table->count)
		return false;
	*fd = table->list[i].fd;
	return true;
}

bool tr_files_set_cloexec(struct tr_files *files, uint64_t first, uint64_t last, bool cloexec)
{
	size_t i = find(files->table, first);

	if (!files->table || !own(files))
		return !files->table;
	for (struct table *table = files->table; i < table->count && table->list[i].fd <= last; i++)
		table->list[i].cloexec = cloexec;
	return true;
}

bool tr_files_exec(struct tr_files *files)
{
	if (!files->table || !own(files))
		return !files->table;
	for (size_t i = files->table->count; i-- > 0;)
		if (files->table->list[i].cloexec)
			remove_at(files->table, i);
	return true;
}

struct tr_directory *tr_files_get(const struct tr_files *files, uint64_t fd)
{
	const struct table *table = files ? files->table : NULL;
	size_t i = find(table, fd);

	return is_at(table, i, fd) ? table->list[i].directory : NULL;
}

bool tr_files_hold(struct tr_files *files, uint64_t fd, struct tr_directory *directory)
{
	struct file file = { .fd = fd, .directory = directory, .inherited = true };
	size_t i = find(files->table, fd);

	return is_at(files->table, i, fd) || insert(files, i, file);
}

/*
 * Resolves inherited descriptors by those of the parent. waits: the parent is pending itself, so
 * what it does not have may be inherited by it, too. False: memory is exhausted.
 */
static bool files_resolve(struct tr_files *files, struct tr_files *parent, bool waits)
{
	struct table *table = files ? files->table : NULL;

	for (size_t i = 0; table && i < table->count; i++) {
		struct file *file = &table->list[i];
		if (!file->inherited)
			continue;
		struct tr_directory *there = tr_files_get(parent, file->fd);
		if (there == file->directory)
			continue; /* it was resolved before, and is pending with the parent */
		if (!there && parent && waits) {
			if (!tr_files_hold(parent, file->fd, file->directory))
				return false;
			continue;
		}
		file->inherited = false;
		tr_directory_follow(file->directory, there);
	}
	return true;
}

/* Adds the descriptors of `from` whose numbers are not used yet. False: memory is exhausted. */
static bool files_inherit(struct tr_files *files, const struct tr_files *from)
{
	const struct table *table = from ? from->table : NULL;

	if (table && !files->table) {
		files->table = from->table;
		files->table->references++;
		return true;
	}
	for (size_t k = 0; table && k < table->count; k++) {
		const struct file *file = &table->list[k];
		size_t i = find(files->table, file->fd);
		if (!is_at(files->table, i, file->fd) && !insert(files, i, *file))
			return false;
	}
	return true;
}

/* The tasks. */

/* Drops a reference to a working directory. */
static void place_release(struct tr_place *place)
{
	if (!place || --place->references > 0)
		return;
	tr_directory_release(place->directory);
	free(place);
}

/* A working directory with one reference. NULL: memory is exhausted. */
static struct tr_place *place_new(struct tr_directory *directory)
{
	struct tr_place *place = malloc(sizeof *place);

	if (place)
		*place = (struct tr_place){ 1, tr_directory_retain(directory), 0 };
	return place;
}

/* Makes the task share this working directory. */
static void move_to(struct tr_task *task, struct tr_place *place)
{
	if (task->place == place)
		return;
	place->references++;
	place_release(task->place);
	task->place = place;
}

/* Takes the task out of its process, which ends with its last task. */
static void leave_process(struct tr_task *task)
{
	struct tr_process *process = task->process;

	if (!process)
		return;
	task->process = NULL;
	*task->link = task->next;
	if (task->next)
		task->next->link = task->link;
	if (process->first)
		return;
	tr_origin_release(process->origin);
	free(process);
}

/* Moves the task to a process. */
static void belong_to(struct tr_task *task, struct tr_process *process)
{
	if (task->process == process)
		return;
	leave_process(task);
	task->process = process;
	task->link = &process->first;
	task->next = process->first;
	if (task->next)
		task->next->link = &task->next;
	process->first = task;
}

/* Adds a task at the newest end of a list. */
static void list_add(struct tr_task_list *list, struct tr_task *task)
{
	task->newer = NULL;
	task->older = list->newest;
	*(task->older ? &task->older->newer : &list->oldest) = task;
	list->newest = task;
	list->count++;
}

/* Removes a task from its list. */
static void list_remove(struct tr_task_list *list, struct tr_task *task)
{
	*(task->older ? &task->older->newer : &list->oldest) = task->newer;
	*(task->newer ? &task->newer->older : &list->newest) = task->older;
	list->count--;
}

/* Frees a task that is not in the map. */
static void drop(struct tr_tasks *tasks, struct tr_task *task)
{
	list_remove(task->has_ended ? &tasks->ended : &tasks->live, task);
	if (task->state && tasks->release)
		tasks->release(task->state);
	leave_process(task);
	place_release(task->place);
	files_release(task->files);
	free(task);
}

/* Frees a task, whose id may be used again. */
static void forget(struct tr_tasks *tasks, struct tr_task *task)
{
	tr_id_map_take(&tasks->map, task->tid);
	drop(tasks, task);
}

/* Makes a process of this one task, whose parent and directory are not known yet. */
static bool settle_alone(struct tr_tasks *tasks, struct tr_task *task)
{
	struct tr_process *process = calloc(1, sizeof *process);
	struct tr_origin *origin = process ? tr_origin_new(&tasks->origins) : NULL;
	struct tr_directory *directory = origin ? tr_directory_of(origin) : NULL;
	struct tr_place *place = directory ? place_new(directory) : NULL;

	tr_directory_release(directory);
	if (!place) {
		tr_origin_release(origin);
		free(process);
		return false;
	}
	*process = (struct tr_process){ NULL, task->tid, TR_EXEC_NONE, origin };
	belong_to(task, process);
	move_to(task, place);
	place_release(place);
	return true;
}

/* A new task in a process of its own. NULL: memory is exhausted. */
static struct tr_task *begin(struct tr_tasks *tasks, uint64_t tid)
{
	struct tr_task *task = calloc(1, sizeof *task);

	if (!task)
		return NULL;
	task->tid = tid;
	list_add(&tasks->live, task);
	if (settle_alone(tasks, task) && tr_id_map_put(&tasks->map, tid, task))
		return task;
	drop(tasks, task);
	return NULL;
}

struct tr_task *tr_tasks_find(const struct tr_tasks *tasks, uint64_t tid)
{
	struct tr_task *task = tr_id_map_get(&tasks->map, tid);

	return task && !task->has_ended ? task : NULL;
}

struct tr_task *tr_tasks_get(struct tr_tasks *tasks, uint64_t tid, bool *is_new)
{
	struct tr_task *task = tr_id_map_get(&tasks->map, tid);

	*is_new = !task || task->has_ended;
	if (task &&
	    task->has_ended) { /* the id is used again, so the parent of the ended task will not come */
		tr_origin_give_up(task->process->origin, true);
		forget(tasks, task);
		task = NULL;
	}
	return task ? task : begin(tasks, tid);
}

/* Sets the directory of the place, for all tasks that share it. Takes the reference. */
static void put_directory(struct tr_task *task, struct tr_directory *directory)
{
	tr_directory_release(task->place->directory);
	task->place->directory = directory;
}

/* Makes a table of descriptors unless the task has one. False: memory is exhausted. */
static bool need_files(struct tr_task *task)
{
	if (!task->files)
		task->files = tr_files_new();
	return task->files;
}

/* Gives the child the descriptors of its parent, except for those that it opened itself. */
static bool share_files(struct tr_task *parent, struct tr_task *child, uint64_t flags)
{
	bool shared = flags & (TR_FORK_FILES | TR_FORK_THREAD);
	bool waits = !parent->parent_known && !parent->process->origin->settled;

	if (child->files == parent->files && (child->files || !shared))
		return true;
	if (child->files && waits && !need_files(parent))
		return false;
	if (!files_resolve(child->files, parent->files, waits))
		return false;
	if (shared) {
		if (!need_files(parent) || !files_inherit(parent->files, child->files))
			return false;
		files_release(child->files);
		child->files = files_retain(parent->files);
		return true;
	}
	return need_files(child) && files_inherit(child->files, parent->files);
}

/*
 * Makes child a child of parent. What the child did before its parent was known, such as chdir,
 * applies to all that the two share from now on.
 */
static bool set_parent(struct tr_task *parent, struct tr_task *child,
		       struct tr_directory *directory, uint64_t flags)
{
	struct tr_process *process = parent->process;
	struct tr_origin *origin = child->process->origin;
	bool fresh = !origin->settled, thread = flags & TR_FORK_THREAD;
	bool may_be_thread = !parent->parent_known && process->exec == TR_EXEC_NONE;

	child->parent_known = true;
	tr_origin_settle(origin, process->pid, process->exec, process->origin, directory);
	if (fresh && (thread || flags & TR_FORK_SIBLING))
		tr_origin_derive(origin, process->origin, true);
	else if (fresh && may_be_thread)
		tr_origin_derive(origin, process->origin, false);
	if (flags & (TR_FORK_FS | TR_FORK_THREAD) && !child->alone) {
		struct tr_directory *own = child->place->directory;
		struct tr_directory *start = tr_directory_of(origin);
		if (start && !tr_directory_same(own, start) && child->place != parent->place)
			put_directory(parent, tr_directory_retain(own));
		tr_directory_release(start);
		move_to(child, parent->place);
	}
	if (thread) {
		origin->thread = child->process != process;
		origin->tgid = process->pid;
		belong_to(child, process);
	}
	return share_files(parent, child, flags);
}

/* Sets the parent of a task of the map. One that has ended was only kept for this. */
static bool set_known_parent(struct tr_tasks *tasks, struct tr_task *parent, struct tr_task *child,
			     struct tr_directory *directory, uint64_t flags)
{
	bool good = set_parent(parent, child, directory, flags);

	if (child->has_ended)
		forget(tasks, child);
	return good;
}

bool tr_tasks_fork(struct tr_tasks *tasks, struct tr_task *parent, struct tr_directory *directory,
		   uint64_t tid, uint64_t flags)
{
	struct tr_task *child = tr_id_map_get(&tasks->map, tid);

	if (child == parent)
		return true;
	if (child &&
	    child->parent_known) { /* the log does not show its end, and its id is used again */
		forget(tasks, child);
		child = NULL;
	}
	if (!child)
		child = begin(tasks, tid);
	if (!child)
		return false;
	return set_known_parent(tasks, parent, child, directory, flags);
}

bool tr_tasks_guess_fork(struct tr_tasks *tasks, struct tr_task *parent, uint64_t tid)
{
	struct tr_task *child = tr_id_map_get(&tasks->map, tid);

	if (!child || child == parent || child->parent_known || child->process == parent->process)
		return true;
	/* the directory of the parent may have changed between the fork and now */
	child->process->origin->guessed = true;
	return set_known_parent(tasks, parent, child, parent->place->directory, 0);
}

bool tr_tasks_join(struct tr_task *task, struct tr_task *leader)
{
	return task->process == leader->process ||
	       set_parent(leader, task, leader->place->directory, TR_FORK_FS | TR_FORK_THREAD);
}

void tr_tasks_exec(struct tr_tasks *tasks, struct tr_task *task)
{
	struct tr_task *next;

	for (struct tr_task *other = task->process->first; other; other = next) {
		next = other->next;
		if (other != task)
			forget(tasks, other);
	}
	task->process->pid = task->tid;
}

bool tr_tasks_rename(struct tr_tasks *tasks, struct tr_task *task, uint64_t tid)
{
	if (!tr_id_map_put(&tasks->map, tid, task))
		return false;
	tr_id_map_take(&tasks->map, task->tid);
	if (task->process->pid == task->tid)
		task->process->pid = tid;
	task->tid = tid;
	return true;
}

void tr_tasks_exit(struct tr_tasks *tasks, struct tr_task *task)
{
	/* the leader has ended, so its process has: the log may not show the ends of the others */
	if (task->tid == task->process->pid)
		tr_tasks_exec(tasks, task);
	if (task->parent_known) {
		forget(tasks, task);
		return;
	}
	if (tasks->release && task->state)
		tasks->release(task->state);
	task->state = NULL;
	task->has_ended = true;
	list_remove(&tasks->live, task);
	list_add(&tasks->ended, task);
	/* the fork of the oldest ended task is not expected after so many other ends */
	if (tasks->ended.count > TR_TASKS_ENDED) {
		tr_origin_give_up(tasks->ended.oldest->process->origin, true);
		forget(tasks, tasks->ended.oldest);
	}
}

void tr_task_chdir(struct tr_task *task, struct tr_text path)
{
	task->place->moves++;
	put_directory(task,
		      tr_directory_enter(task->process->origin->all, task->place->directory, path));
}

void tr_task_moves(struct tr_task *task, struct tr_directory *directory)
{
	task->place->moves++;
	put_directory(task, tr_directory_retain(directory));
}

bool tr_task_opens(struct tr_task *task, uint64_t fd, struct tr_directory *directory)
{
	if (!directory && !task->files)
		return true;
	return need_files(task) && tr_files_put(task->files, fd, directory);
}

void tr_task_is_at(struct tr_task *task, struct tr_text path)
{
	tr_directory_learn(task->place->directory, path, false);
	if (!tr_directory_is(task->place->directory, path))
		put_directory(task, tr_directory_new(task->process->origin->all, path));
}

bool tr_task_unshare(struct tr_task *task, uint64_t flags)
{
	if (flags & TR_FORK_FS) {
		struct tr_place *place = place_new(task->place->directory);
		if (!place)
			return false;
		task->alone = true;
		move_to(task, place);
		place_release(place);
	}
	if (flags & TR_FORK_FILES && task->files) {
		struct tr_files *files = tr_files_new();
		if (!files)
			return false;
		files_inherit(files, task->files); /* into an empty one, so it cannot fail */
		files_release(task->files);
		task->files = files;
	}
	return true;
}

void tr_tasks_free(struct tr_tasks *tasks)
{
	struct tr_task *task;
	size_t position = 0;

	while ((task = tr_id_map_next(&tasks->map, &position)))
		drop(tasks, task);
	tr_id_map_free(&tasks->map);
	tr_origins_free(&tasks->origins);
}
