#include "format/etrace/task.h"

#include <stdlib.h>

#include "core/error.h"

/* Linux has no more pids than this. A log with more tasks that never end is not let grow us. */
enum { TASKS_MAX = 4 << 20 };

/* Forgets those that are not in the middle of anything: their execs will have no parent. */
static bool sweep(struct tr_etrace_tasks *tasks)
{
	struct tr_id_map busy = TR_ID_MAP_INIT;
	struct tr_etrace_task *task;

	for (size_t i = 0; (task = tr_id_map_next(&tasks->map, &i));)
		if ((task->half || task->open) && !tr_id_map_put(&busy, task->upid, task)) {
			tr_id_map_free(&busy);
			return false;
		}
	for (size_t i = 0; (task = tr_id_map_next(&tasks->map, &i));)
		if (!task->half && !task->open)
			free(task);
	tr_id_map_free(&tasks->map);
	tasks->map = busy;
	tasks->recent = NULL;
	return true;
}

struct tr_etrace_task *tr_etrace_task_get(struct tr_etrace_tasks *tasks, uint64_t upid)
{
	struct tr_etrace_task *task = tasks->recent;

	if (task && task->upid == upid)
		return task;
	task = tr_id_map_get(&tasks->map, upid);
	if (!task) {
		if (tasks->map.count >= TASKS_MAX && !sweep(tasks))
			return NULL;
		task = calloc(1, sizeof *task);
		if (!task || !tr_id_map_put(&tasks->map, upid, task)) {
			free(task);
			return NULL;
		}
		task->upid = upid;
		task->ppid = task->parent = task->current = TR_NO_POSITION;
	}
	tasks->recent = task;
	return task;
}

void tr_etrace_task_end(struct tr_etrace_tasks *tasks, struct tr_etrace_task *task)
{
	if (tasks->recent == task)
		tasks->recent = NULL;
	tr_id_map_take(&tasks->map, task->upid);
	free(task);
}

void tr_etrace_tasks_free(struct tr_etrace_tasks *tasks)
{
	struct tr_etrace_task *task;

	for (size_t i = 0; (task = tr_id_map_next(&tasks->map, &i));)
		free(task);
	tr_id_map_free(&tasks->map);
	tasks->recent = NULL;
}
