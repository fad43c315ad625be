/* SPDX-License-Identifier: MIT */
#include "process/tree.h"

#include <stdlib.h>

static void place_release(struct tr_place *place)
{
	if (!place || --place->references > 0)
		return;
	tr_directory_release(place->directory);
	free(place);
}

static struct tr_place *place_new(struct tr_directory *directory)
{
	struct tr_place *place = malloc(sizeof *place);

	if (place)
		*place = (struct tr_place){ 1, tr_directory_retain(directory), 0 };
	return place;
}

static void move_to(struct tr_task *task, struct tr_place *place)
{
	if (task->place == place)
		return;
	place->references++;
	place_release(task->place);
	task->place = place;
}

/* Its process is gone with its last task. */
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

static void list_add(struct tr_task_list *list, struct tr_task *task)
{
	task->newer = NULL;
	task->older = list->newest;
	*(task->older ? &task->older->newer : &list->oldest) = task;
	list->newest = task;
	list->count++;
}

static void list_remove(struct tr_task_list *list, struct tr_task *task)
{
	*(task->older ? &task->older->newer : &list->oldest) = task->newer;
	*(task->newer ? &task->newer->older : &list->newest) = task->older;
	list->count--;
}

/* What the task has goes back; the map is the caller's. */
static void drop(struct tr_tasks *tasks, struct tr_task *task)
{
	list_remove(task->ghost ? &tasks->ghosts : &tasks->live, task);
	if (task->state && tasks->release)
		tasks->release(task->state);
	leave_process(task);
	place_release(task->place);
	tr_files_release(task->files);
	free(task);
}

static void forget(struct tr_tasks *tasks, struct tr_task *task)
{
	tr_id_map_take(&tasks->map, task->tid);
	drop(tasks, task);
}

/* A process of one task, whose origin and place are open. */
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

	return task && !task->ghost ? task : NULL;
}

struct tr_task *tr_tasks_get(struct tr_tasks *tasks, uint64_t tid, bool *is_new)
{
	struct tr_task *task = tr_id_map_get(&tasks->map, tid);

	*is_new = !task || task->ghost;
	if (task && task->ghost) { /* the number is used again: nobody will adopt the first one */
		tr_origin_give_up(task->process->origin, true);
		forget(tasks, task);
		task = NULL;
	}
	return task ? task : begin(tasks, tid);
}

static void put_directory(struct tr_task *task, struct tr_directory *directory)
{
	tr_directory_release(task->place->directory);
	task->place->directory = directory;
}

/* What the child has opened itself stays; the rest is its parent's. */
static bool share_files(struct tr_task *parent, struct tr_task *child, uint64_t flags)
{
	bool shared = flags & (TR_FORK_FILES | TR_FORK_THREAD);
	bool waits = !parent->adopted && !parent->process->origin->settled;

	if (child->files == parent->files && (child->files || !shared))
		return true;
	if (child->files && waits && !parent->files && !(parent->files = tr_files_new()))
		return false;
	if (!tr_files_resolve(child->files, parent->files, waits))
		return false;
	if (shared) {
		if (!parent->files)
			parent->files = tr_files_new();
		if (!parent->files || !tr_files_inherit(parent->files, child->files))
			return false;
		tr_files_release(child->files);
		child->files = tr_files_retain(parent->files);
		return true;
	}
	if (!child->files)
		child->files = tr_files_new();
	return child->files && tr_files_inherit(child->files, parent->files);
}

/* The child has its parent. What it did before it had goes for what they share from now on. */
static bool adopt(struct tr_task *parent, struct tr_task *child, struct tr_directory *directory,
		  uint64_t flags)
{
	struct tr_process *process = parent->process;
	struct tr_origin *origin = child->process->origin;
	bool fresh = !origin->settled, thread = flags & TR_FORK_THREAD;
	bool may_be_thread = !parent->adopted && process->exec == TR_EXEC_NONE;

	child->adopted = true;
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

bool tr_tasks_fork(struct tr_tasks *tasks, struct tr_task *parent, struct tr_directory *directory,
		   uint64_t tid, uint64_t flags)
{
	struct tr_task *child = tr_id_map_get(&tasks->map, tid);

	if (child == parent)
		return true;
	if (child && child->adopted) { /* it ended without a word, and the number is used again */
		forget(tasks, child);
		child = NULL;
	}
	if (!child)
		child = begin(tasks, tid);
	if (!child)
		return false;
	bool good = adopt(parent, child, directory, flags);
	if (child->ghost)
		forget(tasks, child);
	return good;
}

bool tr_tasks_claim(struct tr_tasks *tasks, struct tr_task *parent, uint64_t tid)
{
	struct tr_task *child = tr_id_map_get(&tasks->map, tid);

	if (!child || child == parent || child->adopted || child->process == parent->process)
		return true;
	child->process->origin->guessed = true;
	bool good = adopt(parent, child, parent->place->directory, 0);
	if (child->ghost)
		forget(tasks, child);
	return good;
}

bool tr_tasks_join(struct tr_task *task, struct tr_task *leader)
{
	return task->process == leader->process ||
	       adopt(leader, task, leader->place->directory, TR_FORK_FS | TR_FORK_THREAD);
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
	if (task->tid == task->process->pid)
		tr_tasks_exec(tasks, task);
	if (task->adopted) {
		forget(tasks, task);
		return;
	}
	if (tasks->release && task->state)
		tasks->release(task->state);
	task->state = NULL;
	task->ghost = true;
	list_remove(&tasks->live, task);
	list_add(&tasks->ghosts, task);
	if (tasks->ghosts.count > TR_GHOSTS) {
		tr_origin_give_up(tasks->ghosts.oldest->process->origin, true);
		forget(tasks, tasks->ghosts.oldest);
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
	if (!task->files)
		task->files = tr_files_new();
	return task->files && tr_files_put(task->files, fd, directory);
}

void tr_task_is_at(struct tr_task *task, struct tr_text path)
{
	tr_directory_learn(task->place->directory, path, false);
	if (!tr_directory_is(task->place->directory, path))
		put_directory(task, tr_directory_new(task->process->origin->all, path));
}

static bool unshare_files(struct tr_task *task)
{
	struct tr_files *files = task->files ? tr_files_new() : NULL;

	if (!task->files)
		return true;
	if (!files || !tr_files_inherit(files, task->files)) {
		tr_files_release(files);
		return false;
	}
	tr_files_release(task->files);
	task->files = files;
	return true;
}

static bool unshare_place(struct tr_task *task)
{
	struct tr_place *place = place_new(task->place->directory);

	if (!place)
		return false;
	task->alone = true;
	move_to(task, place);
	place_release(place);
	return true;
}

bool tr_task_unshare(struct tr_task *task, uint64_t flags)
{
	return (!(flags & TR_FORK_FS) || unshare_place(task)) &&
	       (!(flags & TR_FORK_FILES) || unshare_files(task));
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
