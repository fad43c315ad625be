/* What the files runs*.c share: runs, and who they run in. */
#ifndef TR_PROCESS_RUNS_PRIVATE_H
#define TR_PROCESS_RUNS_PRIVATE_H

#include "process/runs.h"

struct tr_run_task {
	struct tr_run *run; /* what runs in it; holds a reference */
	bool thread;	    /* of a process: its end ends no run */
	size_t len;
	char id[];
};

/* The end of a task whose fork is not known: that may come yet. */
struct tr_run_ending {
	struct tr_run *run; /* holds a reference; NULL: the task did nothing that is a run's */
	int64_t time;	    /* TR_INSTANT_NONE: not told */
	enum tr_run_fate fate;
	uint64_t status;
	char signal[TR_RUN_SIGNAL];
	struct tr_run_ending *older, *newer;
	size_t len;
	char id[];
};

void tr_run_tell(struct tr_runs *runs, enum tr_run_event event, struct tr_run *run,
		 struct tr_record *record);

/* A run that begins with the record; the caller's reference. NULL: memory is out. */
struct tr_run *tr_run_new(struct tr_runs *runs, struct tr_record *record);

/* Told once, whoever says it. */
void tr_run_end(struct tr_runs *runs, struct tr_run *run, struct tr_record *record, int64_t ended);

/* With the last reference it has ended. */
void tr_run_release(struct tr_runs *runs, struct tr_run *run);

/*
 * Keeps a copy of the ending, and takes over the caller's reference to its run. False: memory is
 * out, the reference is gone too.
 */
bool tr_run_ending_keep(struct tr_runs *runs, struct tr_text id,
			const struct tr_run_ending *ending);
/* The last ending of that task, to be dropped; NULL: none is kept. */
struct tr_run_ending *tr_run_ending_take(struct tr_runs *runs, struct tr_text id);
void tr_run_ending_drop(struct tr_runs *runs, struct tr_run_ending *ending); /* NULL is fine */

/* NULL: nobody has the id, or there is none. */
struct tr_run_task *tr_run_task_find(struct tr_runs *runs, struct tr_text id);

/*
 * The run is what runs in the task of that id; takes over the caller's
 * reference. False: memory is out, the reference is gone too.
 */
bool tr_run_task_set(struct tr_runs *runs, struct tr_text id, struct tr_run *run, bool thread);
void tr_run_task_drop(struct tr_runs *runs, struct tr_text id);

#endif
