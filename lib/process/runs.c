/* SPDX-License-Identifier: MIT */
/*
 * Makes runs of records. A task is an id of a process or thread, which the kernel uses again; a
 * run is what happens in it. Logs contain events in the order in which they were printed, so the
 * end of a process may come before the fork that made it: endings of tasks without a fork are kept
 * for a while (keep_ending), and a later fork decides by its time whether they are its own
 * (ended_early).
 */
#include "process/runs.h"

#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "process/parent.h"
#include "record/ask.h"

/* How a run ended. */
struct ending {
	struct tr_run *run; /* holds a reference; NULL: the task had none */
	int64_t time;	    /* TR_INSTANT_NONE: unknown */
	enum tr_run_fate fate;
	uint64_t status;
	char signal[TR_RUN_SIGNAL];
};

/* The ending of a task whose fork has not come. */
struct tr_run_ending {
	struct ending ending;
	const struct tr_run_task *task;
	struct tr_run_ending *older, *newer;
};

/*
 * The knowledge about an id. Its fork may come after its end, and after another task has begun with
 * the same id, so it may have both a run and the ending of an earlier one. There are as many of
 * these as there are runs in a trace that has no ends, so they are small.
 */
struct tr_run_task {
	struct tr_run *run;	    /* what runs in it; holds a reference. NULL: nothing */
	struct tr_run_ending *kept; /* NULL: no ending is kept */
	uint32_t len;		    /* of id */
	bool thread;		    /* a thread of a process: its end ends no run */
	char id[];
};

void tr_runs_init(struct tr_runs *runs,
		  void (*report)(void *context, enum tr_run_event event, struct tr_run *run,
				 struct tr_record *record),
		  void *context)
{
	*runs = (struct tr_runs){ .report = report,
				  .context = context,
				  .earliest = TR_INSTANT_NONE,
				  .latest = TR_INSTANT_NONE,
				  .memory = TR_ARENA_INIT,
				  .tasks = TR_MAP_INIT,
				  .numbered = TR_ID_MAP_INIT,
				  .by_seq = TR_ID_MAP_INIT };
}

/* Reports an event to the user of the runs. */
static void report(struct tr_runs *runs, enum tr_run_event event, struct tr_run *run,
		   struct tr_record *record)
{
	if (runs->report)
		runs->report(runs->context, event, run, record);
}

/* Ends the look-up of a run by its seq, unless another run has the seq. */
static void forget_seq(struct tr_runs *runs, struct tr_run *run)
{
	if (run->known_by_seq && tr_id_map_get(&runs->by_seq, run->seq) == run)
		tr_id_map_take(&runs->by_seq, run->seq);
	run->known_by_seq = false;
}

/* Reports that a run has ended, once. ended: NONE if the log has no end of it. */
static void mark_ended(struct tr_runs *runs, struct tr_run *run, struct tr_record *record,
		       int64_t ended)
{
	if (run->end_reported)
		return;
	run->end_reported = true;
	run->ended = ended;
	run->last = runs->records;
	report(runs, TR_RUN_ENDED, run, record);
}

/* Drops a reference. A run without references is reported as ended, and its memory used again. */
static void release(struct tr_runs *runs, struct tr_run *run)
{
	if (--run->references)
		return;
	mark_ended(runs, run, NULL, TR_INSTANT_NONE);
	forget_seq(runs, run);
	if (run->older)
		run->older->newer = run->newer;
	else
		runs->oldest = run->newer;
	if (run->newer)
		run->newer->older = run->older;
	else
		runs->newest = run->older;
	run->newer = runs->spare;
	runs->spare = run;
}

/*
 * A run that begins with this record, with one reference for the caller. NULL: memory is
 * exhausted.
 */
static struct tr_run *new_run(struct tr_runs *runs, struct tr_record *record)
{
	struct tr_run *run = runs->spare;

	if (run)
		runs->spare = run->newer;
	else
		run = tr_arena_alloc(&runs->memory, sizeof *run);
	if (!run)
		return NULL;
	memset(run, 0, sizeof *run);
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

/* True for an id that is a number in its usual spelling: that of almost every task. */
static bool is_number(struct tr_text id, uint64_t *number)
{
	enum { SAFE_DIGITS = 18 };

	if (!id.len || id.len > SAFE_DIGITS || (*id.data == '0' && id.len > 1))
		return false;
	*number = 0;
	for (size_t i = 0; i < id.len; i++) {
		unsigned digit = (unsigned char)id.data[i] - '0';
		if (digit > 9)
			return false;
		*number = *number * 10 + digit;
	}
	return true;
}

/* The entry of an id. NULL: there is none. */
static struct tr_run_task *get_task(const struct tr_runs *runs, struct tr_text id)
{
	uint64_t number;

	return is_number(id, &number) ? tr_id_map_get(&runs->numbered, number)
				      : tr_map_get(&runs->tasks, id);
}

/* The task that has a run. NULL: there is none. */
static struct tr_run_task *find_task(struct tr_runs *runs, struct tr_text id)
{
	struct tr_run_task *task = id.data ? get_task(runs, id) : NULL;

	return task && task->run ? task : NULL;
}

/* The entry of an id, which is new if there is none. NULL: memory is exhausted. */
static struct tr_run_task *need_task(struct tr_runs *runs, struct tr_text id)
{
	struct tr_run_task *task = get_task(runs, id);
	uint64_t number;

	if (task)
		return task;
	task = malloc(sizeof *task + id.len + 1);
	if (!task)
		return NULL;
	*task = (struct tr_run_task){ .len = (uint32_t)id.len };
	memcpy(task->id, id.data, id.len);
	if (is_number(id, &number)
		    ? tr_id_map_put(&runs->numbered, number, task)
		    : tr_map_put(&runs->tasks, (struct tr_text){ task->id, id.len }, task))
		return task;
	free(task);
	return NULL;
}

/* Frees an entry that has become empty. */
static void tidy(struct tr_runs *runs, struct tr_run_task *task)
{
	uint64_t number;

	if (task->run || task->kept)
		return;
	struct tr_text id = { task->id, task->len };
	if (is_number(id, &number))
		tr_id_map_take(&runs->numbered, number);
	else
		tr_map_take(&runs->tasks, id);
	free(task);
}

/* Takes the reference to run. False: memory is exhausted. */
static bool set_task(struct tr_runs *runs, struct tr_text id, struct tr_run *run, bool thread)
{
	struct tr_run_task *task = need_task(runs, id);

	if (!task || task->run)
		release(runs, task ? task->run : run);
	if (!task)
		return false;
	task->run = run;
	task->thread = thread;
	return true;
}

/* Takes the ending of an earlier task, with its reference. False: there is none. */
static bool take_ending(struct tr_runs *runs, struct tr_text id, struct ending *ending)
{
	struct tr_run_task *task = get_task(runs, id);

	struct tr_run_ending *kept = task ? task->kept : NULL;

	if (!kept)
		return false;
	*ending = kept->ending;
	*(kept->older ? &kept->older->newer : &runs->first_ended) = kept->newer;
	*(kept->newer ? &kept->newer->older : &runs->last_ended) = kept->older;
	runs->ended--;
	free(kept);
	task->kept = NULL;
	tidy(runs, task);
	return true;
}

/* Forgets the ending of an earlier task with this id. */
static void drop_ending(struct tr_runs *runs, struct tr_text id)
{
	struct ending ending;

	if (take_ending(runs, id, &ending) && ending.run)
		release(runs, ending.run);
}

/* Keeps the ending of a task whose fork may still come. False: memory is exhausted. */
static bool keep_ending(struct tr_runs *runs, struct tr_text id, const struct ending *ending)
{
	enum { ENDED_MAX = 1024 };

	drop_ending(runs, id);
	struct tr_run_task *task = need_task(runs, id);
	struct tr_run_ending *kept = task ? malloc(sizeof *kept) : NULL;
	if (!kept) {
		if (task)
			tidy(runs, task);
		if (ending->run)
			release(runs, ending->run);
		return false;
	}
	*kept = (struct tr_run_ending){ *ending, task, runs->last_ended, NULL };
	task->kept = kept;
	*(kept->older ? &kept->older->newer : &runs->first_ended) = kept;
	runs->last_ended = kept;
	if (++runs->ended > ENDED_MAX) {
		const struct tr_run_task *first = runs->first_ended->task;
		drop_ending(runs, (struct tr_text){ first->id, first->len });
	}
	return true;
}

/* A number as text; NONE: it is none. */
static uint64_t text_number(struct tr_text text)
{
	struct tr_cell cell = { .type = TR_CELL_TEXT, .text = text };
	uint64_t number;

	return text.data && tr_cell_number(&cell, &number) ? number : TR_RUN_NONE;
}

/* The fate that the fields of an exit record, or of an exec record with an end, describe. */
static struct ending read_fate(struct tr_text status, struct tr_text signal)
{
	struct ending end = { .status = UINT64_MAX, .time = TR_INSTANT_NONE };

	if (signal.len > 1 && signal.data[0] == '"')
		signal = (struct tr_text){ signal.data + 1, signal.len - 2 };
	if (signal.data && signal.len) {
		size_t len = signal.len;
		if (len >= sizeof end.signal)
			for (len = sizeof end.signal - 1;
			     len > 0 && tr_utf8_is_inside(signal.data[len]);)
				len--;
		end.fate = TR_RUN_KILLED;
		memcpy(end.signal, signal.data, len);
	} else {
		end.fate = TR_RUN_EXITED;
		end.status = text_number(status);
	}
	return end;
}

/*
 * Ends a run as a record describes it. A run ends once, so a second exit of the same process has
 * no effect.
 */
static void end_run(struct tr_runs *runs, struct tr_run *run, const struct ending *end,
		    struct tr_record *record)
{
	if (run->end_reported)
		return;
	run->fate = end->fate;
	run->status = end->status;
	memcpy(run->signal, end->signal, sizeof run->signal);
	mark_ended(runs, run, record, end->time);
}

/* Finds the parent of a process without a fork record: by the field parent, else by ppid. */
static bool find_parent(struct tr_runs *runs, struct tr_record *record, struct tr_run *run)
{
	struct tr_parent parent;

	if (!tr_parent_read(record, &parent))
		return false;
	if (parent.kind == TR_PARENT_RECORD) {
		const struct tr_run *of =
			parent.seq == TR_RUN_NONE ? NULL : tr_id_map_get(&runs->by_seq, parent.seq);
		run->parent_seq = parent.seq;
		run->parent = of && of != run ? of->number : TR_RUN_NONE;
		return true;
	}
	const struct tr_run_task *task = find_task(runs, parent.text);
	run->parent = task && task->run != run ? task->run->number : TR_RUN_NONE;
	return true;
}

/*
 * True if an exec in a task continues its process. False: the two have different parents, so the
 * process has ended without a record, and another one has its id.
 */
static bool same_process(const struct tr_run *old, const struct tr_run *now)
{
	if (old->forked)
		return true; /* another process with this id would have a fork of its own */
	if (now->parent_seq == TR_RUN_NONE && now->parent == TR_RUN_NONE)
		return old->parent == TR_RUN_NONE || old->parent_seq == TR_RUN_NONE;
	if (now->parent == old->number)
		return true;
	if (old->parent != TR_RUN_NONE)
		return now->parent == old->parent;
	return now->parent_seq == old->parent_seq;
}

/* Finds the run of an exec: that of a forked process without a program, else a new one. */
static bool exec_run(struct tr_runs *runs, struct tr_record *record, struct tr_text id,
		     struct tr_run **result)
{
	struct tr_run_task *task = find_task(runs, id);
	struct tr_run *old = task ? task->run : NULL, *run = *result = old;

	if (old && !old->program && !old->end_reported) {
		if (!tr_cell_number(&record->seq, &run->seq))
			run->seq = TR_RUN_NONE;
		run->began = tr_instant_from_cell(&record->time);
		run->first = runs->records;
		return true;
	}
	run = *result = new_run(runs, record);
	if (!run)
		return false;
	if (!find_parent(runs, record, run)) {
		release(runs, run);
		return false;
	}
	if (old && !old->end_reported && same_process(old, run)) {
		run->parent = old->parent;
		run->parent_seq = old->parent_seq;
		run->replaces = old->number;
		run->forked = old->forked;
		old->fate = TR_RUN_REPLACED;
		mark_ended(runs, old, record, run->began);
	} else if (old) {
		mark_ended(runs, old, NULL, TR_INSTANT_NONE);
	}
	report(runs, TR_RUN_BEGAN, run, record);
	if (id.data)
		return set_task(runs, id, run, false);
	/* no task cell has an id that begins with NUL */
	char own[1 + sizeof run->number] = { 0 };
	memcpy(own + 1, &run->number, sizeof run->number);
	return set_task(runs, (struct tr_text){ own, sizeof own }, run, false);
}

/* Extends the range of all times. */
static void see_time(struct tr_runs *runs, int64_t time)
{
	if (time == TR_INSTANT_NONE)
		return;
	if (runs->earliest == TR_INSTANT_NONE || time < runs->earliest)
		runs->earliest = time;
	if (runs->latest == TR_INSTANT_NONE || time > runs->latest)
		runs->latest = time;
}

/* Follows an exec. One that failed is no program. */
static bool put_exec(struct tr_runs *runs, struct tr_record *record, struct tr_text id)
{
	struct tr_text status, signal;
	struct tr_run *run;

	if (tr_record_field(record, "error") || tr_record_field(record, "failed"))
		return true;
	if (!exec_run(runs, record, id, &run))
		return false;
	run->program = true;
	if (run->seq != TR_RUN_NONE && !tr_id_map_get(&runs->by_seq, run->seq)) {
		if (!tr_id_map_put(&runs->by_seq, run->seq, run))
			return false;
		run->known_by_seq = true;
	}
	report(runs, TR_RUN_PROGRAM, run, record);
	if (!tr_parent_field(record, "status", &status) ||
	    !tr_parent_field(record, "signal", &signal))
		return false;
	if (!status.data && !signal.data && !tr_record_field(record, "end"))
		return true;
	struct ending end = read_fate(status, signal);
	if (!tr_instant_from_field(record, "end", &end.time))
		return false;
	see_time(runs, end.time);
	/* the task stays, because children may still come */
	end_run(runs, run, &end, record);
	return true;
}

/*
 * Sets *thread if a fork makes a thread, which belongs to the run of its process. False: memory is
 * exhausted.
 */
static bool is_thread(struct tr_record *record, bool *thread)
{
	struct tr_text word = TR_TEXT("CLONE_THREAD");
	struct tr_error err;

	tr_error_clear(&err);
	const struct tr_value *flags = tr_ask_any(record, "flags", &err);
	*thread = flags && flags->type == TR_UINT && (flags->as.number & 0x10000);
	if (!flags || flags->type != TR_SYMBOL)
		return err.cause != TR_CAUSE_MEMORY;
	for (size_t i = 0; i < flags->as.symbol->count; i++)
		*thread |= tr_text_equal(flags->as.symbol->names[i].text, word);
	return true;
}

/* Sets the parent from a fork that comes after the exec; it is more reliable than that of the exec. */
static void adopt(struct tr_runs *runs, struct tr_run *child, const struct tr_run *parent)
{
	child->forked = true;
	if (child == parent)
		return;
	child->parent = parent->number;
	report(runs, TR_RUN_ADOPTED, child, NULL);
}

/*
 * True if the ending is that of the task which this fork made: the log has it before the return of
 * the fork. Otherwise it is that of an earlier task with the same id. Without times that differ, the
 * parent that the exec record of the task names decides.
 */
static bool ended_early(const struct ending *end, const struct tr_record *fork,
			const struct tr_run *parent)
{
	int64_t forked = tr_instant_from_cell(&fork->time);

	if (forked != TR_INSTANT_NONE && end->time != TR_INSTANT_NONE && forked != end->time)
		return forked < end->time;
	return !end->run || end->run->parent == parent->number;
}

/* A run that begins with a fork. parent: TR_RUN_NONE for the run that called fork itself. */
static struct tr_run *fork_run(struct tr_runs *runs, struct tr_record *record, uint64_t parent)
{
	struct tr_run *run = new_run(runs, record);

	if (!run)
		return NULL;
	run->parent = parent;
	run->forked = parent != TR_RUN_NONE;
	report(runs, TR_RUN_BEGAN, run, record);
	return run;
}

/* Follows a fork. The child may have begun already, by its exec, or even have ended. */
static bool put_fork(struct tr_runs *runs, struct tr_record *record, struct tr_text id)
{
	struct tr_run_task *task = find_task(runs, id);
	struct tr_run *parent = task ? task->run : NULL, *run;
	struct tr_text child_id;
	struct ending end;
	bool thread;

	if (!tr_parent_field(record, "child", &child_id) || !is_thread(record, &thread))
		return false;
	if (!id.data || !child_id.data)
		return true;
	if (!parent) {
		parent = fork_run(runs, record, TR_RUN_NONE);
		if (!parent || !set_task(runs, id, parent, false))
			return false;
	}
	if (take_ending(runs, child_id, &end)) {
		bool early = ended_early(&end, record, parent), done = true;
		if (early && !thread && end.run) {
			adopt(runs, end.run, parent);
		} else if (early && !thread) {
			run = fork_run(runs, record, parent->number);
			done = run;
			if (run) {
				end_run(runs, run, &end, NULL);
				release(runs, run);
			}
		}
		if (end.run)
			release(runs, end.run);
		if (early)
			return done;
	}
	if (thread) {
		parent->references++;
		return set_task(runs, child_id, parent, true);
	}
	const struct tr_run_task *child = find_task(runs, child_id);
	/* a task that was forked before is another process, which has ended without a record */
	if (child && !child->run->end_reported && !child->run->forked) {
		adopt(runs, child->run, parent);
		return true;
	}
	if (child)
		mark_ended(runs, child->run, NULL, TR_INSTANT_NONE);
	run = fork_run(runs, record, parent->number);
	return run && set_task(runs, child_id, run, false);
}

/*
 * Follows an exit. That of a thread ends no run; that of a task without a fork is kept, because
 * the fork may still come.
 */
static bool put_exit(struct tr_runs *runs, struct tr_record *record, struct tr_text id)
{
	struct tr_run_task *task = find_task(runs, id);
	struct tr_text status, signal;

	if (!id.data)
		return true;
	if (!tr_parent_field(record, "status", &status) ||
	    !tr_parent_field(record, "signal", &signal))
		return false;
	struct ending end = read_fate(status, signal);
	end.time = tr_instant_from_cell(&record->time);
	if (!task)
		return keep_ending(runs, id, &end);
	struct tr_run *run = task->run;
	bool thread = task->thread;
	if (!thread)
		end_run(runs, run, &end, record);
	task->run = NULL;
	tidy(runs, task);
	if (thread || run->forked) {
		release(runs, run);
		return true;
	}
	end.run = run; /* its fork may still come */
	return keep_ending(runs, id, &end);
}

static void free_task(struct tr_run_task *task)
{
	free(task->kept);
	free(task);
}

void tr_runs_finish(struct tr_runs *runs)
{
	size_t position = 0;
	struct tr_run_task *task;

	for (struct tr_run *run = runs->oldest; run; run = run->newer)
		mark_ended(runs, run, NULL, TR_INSTANT_NONE);
	while ((task = tr_map_next(&runs->tasks, &position)))
		free_task(task);
	position = 0;
	while ((task = tr_id_map_next(&runs->numbered, &position)))
		free_task(task);
	runs->oldest = runs->newest = runs->spare = NULL;
	tr_arena_free(&runs->memory);
	tr_id_map_free(&runs->by_seq);
	tr_map_clear(&runs->tasks);
	tr_id_map_free(&runs->numbered);
	runs->first_ended = runs->last_ended = NULL;
	runs->ended = 0;
}

bool tr_runs_put(struct tr_runs *runs, struct tr_record *record)
{
	bool (*put)(struct tr_runs * runs, struct tr_record * record, struct tr_text id) = NULL;
	struct tr_text id;

	if (record->type == TR_HEADER || record->type == TR_TRAILER)
		tr_runs_finish(runs);
	if (record->type != TR_RECORD)
		return true;
	runs->records++;
	see_time(runs, tr_instant_from_cell(&record->time));
	if (tr_text_is(record->kind, "exec"))
		put = put_exec;
	else if (tr_text_is(record->kind, "fork"))
		put = put_fork;
	else if (tr_text_is(record->kind, "exit"))
		put = put_exit;
	if (!put)
		return true;
	if (tr_record_split(record, NULL) == TR_FATAL)
		return false;
	return tr_parent_cell(record, &record->task, &id) && put(runs, record, id);
}

void tr_runs_free(struct tr_runs *runs)
{
	runs->report = NULL;
	tr_runs_finish(runs);
	tr_map_free(&runs->tasks);
}
