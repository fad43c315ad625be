/* Runs that live, and the tasks that they are in. */
#include "process/runs_private.h"

#include <stdlib.h>
#include <string.h>

void tr_run_tell(struct tr_runs *runs, enum tr_run_event event, struct tr_run *run,
		 struct tr_record *record)
{
	if (runs->tell)
		runs->tell(runs->context, event, run, record);
}

static void forget_seq(struct tr_runs *runs, struct tr_run *run)
{
	if (run->known_by_seq && tr_id_map_get(&runs->by_seq, run->seq) == run)
		tr_id_map_take(&runs->by_seq, run->seq);
	run->known_by_seq = false;
}

void tr_run_end(struct tr_runs *runs, struct tr_run *run, struct tr_record *record, int64_t ended)
{
	if (run->told_end)
		return;
	run->told_end = true;
	run->ended = ended;
	run->last = runs->records;
	tr_run_tell(runs, TR_RUN_ENDED, run, record);
}

void tr_run_release(struct tr_runs *runs, struct tr_run *run)
{
	if (--run->references)
		return;
	tr_run_end(runs, run, NULL, TR_INSTANT_NONE);
	forget_seq(runs, run);
	if (run->older)
		run->older->newer = run->newer;
	else
		runs->oldest = run->newer;
	if (run->newer)
		run->newer->older = run->older;
	else
		runs->newest = run->older;
	free(run);
}

enum { ENDINGS_MAX = 1024 }; /* tasks whose fork may still come */

struct tr_run_ending *tr_run_ending_take(struct tr_runs *runs, struct tr_text id)
{
	struct tr_run_ending *ending = id.data ? tr_map_take(&runs->endings, id) : NULL;

	if (!ending)
		return NULL;
	*(ending->older ? &ending->older->newer : &runs->first_ending) = ending->newer;
	*(ending->newer ? &ending->newer->older : &runs->last_ending) = ending->older;
	return ending;
}

void tr_run_ending_drop(struct tr_runs *runs, struct tr_run_ending *ending)
{
	if (ending && ending->run)
		tr_run_release(runs, ending->run);
	free(ending);
}

bool tr_run_ending_keep(struct tr_runs *runs, struct tr_text id, const struct tr_run_ending *ending)
{
	struct tr_run_ending *kept = malloc(sizeof *kept + id.len + 1);

	tr_run_ending_drop(runs, tr_run_ending_take(runs, id));
	if (kept) {
		*kept = *ending;
		kept->len = id.len;
		memcpy(kept->id, id.data, id.len);
	}
	if (!kept || !tr_map_put(&runs->endings, (struct tr_text){ kept->id, id.len }, kept)) {
		if (ending->run)
			tr_run_release(runs, ending->run);
		free(kept);
		return false;
	}
	kept->newer = NULL;
	kept->older = runs->last_ending;
	*(kept->older ? &kept->older->newer : &runs->first_ending) = kept;
	runs->last_ending = kept;
	if (runs->endings.count > ENDINGS_MAX) {
		const struct tr_run_ending *first = runs->first_ending;
		tr_run_ending_drop(
			runs, tr_run_ending_take(runs, (struct tr_text){ first->id, first->len }));
	}
	return true;
}

struct tr_run *tr_run_new(struct tr_runs *runs, struct tr_record *record)
{
	struct tr_run *run = calloc(1, sizeof *run);

	if (!run)
		return NULL;
	run->number = runs->count++;
	run->parent = run->parent_seq = run->replaces = TR_RUN_NONE;
	if (!tr_cell_number(&record->seq, &run->seq))
		run->seq = TR_RUN_NONE;
	run->status = UINT64_MAX;
	run->began = tr_instant_from_cell(&record->time);
	run->ended = TR_INSTANT_NONE;
	run->first = run->last = runs->records;
	run->references = 1;
	run->older = runs->newest;
	if (runs->newest)
		runs->newest->newer = run;
	else
		runs->oldest = run;
	runs->newest = run;
	return run;
}

struct tr_run_task *tr_run_task_find(struct tr_runs *runs, struct tr_text id)
{
	return id.data ? tr_map_get(&runs->tasks, id) : NULL;
}

bool tr_run_task_set(struct tr_runs *runs, struct tr_text id, struct tr_run *run, bool thread)
{
	struct tr_run_task *task = tr_run_task_find(runs, id);

	if (!task) {
		task = malloc(sizeof *task + id.len + 1);
		if (task) {
			task->run = NULL;
			task->len = id.len;
			memcpy(task->id, id.data, id.len);
		}
		if (!task ||
		    !tr_map_put(&runs->tasks, (struct tr_text){ task->id, id.len }, task)) {
			free(task);
			tr_run_release(runs, run);
			return false;
		}
	}
	if (task->run)
		tr_run_release(runs, task->run);
	task->run = run;
	task->thread = thread;
	return true;
}

void tr_run_task_drop(struct tr_runs *runs, struct tr_text id)
{
	struct tr_run_task *task = tr_map_take(&runs->tasks, id);

	if (!task)
		return;
	tr_run_release(runs, task->run);
	free(task);
}
