/* SPDX-License-Identifier: MIT */
/*
 * Makes runs of exec, fork and exit records. A run is the time of a process from one exec to the
 * next, or to its end; a process that was forked and never called exec is a run without a program.
 * Threads belong to the run of their process.
 *
 *	records of a segment, in order -> tr_runs_put -> events: BEGAN, PROGRAM, ADOPTED, ENDED
 *
 * PROGRAM comes with BEGAN, or when the forked process calls exec. ADOPTED comes when the parent
 * becomes known. If the log has the end of a process before the return of the fork that made it,
 * ADOPTED follows ENDED. A header or trailer ends the runs of its segment that have no end in the
 * log (many tracers do not write it), in the order in which they began.
 *
 * Memory grows with the runs that are alive, and with a bounded number of those that ended before
 * their fork. Not thread safe.
 */
#ifndef TR_PROCESS_RUNS_H
#define TR_PROCESS_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/map.h"
#include "process/instant.h"
#include "record/record.h"

#define TR_RUN_NONE UINT64_MAX

enum { TR_RUN_SIGNAL = 16 };

struct tr_run_ending;

enum tr_run_event {
	TR_RUN_BEGAN,
	TR_RUN_PROGRAM, /* record is the exec */
	TR_RUN_ADOPTED, /* parent is known now */
	TR_RUN_ENDED,	/* record may be NULL */
};

enum tr_run_fate {
	TR_RUN_OPEN,	 /* the log has no end of it */
	TR_RUN_EXITED,	 /* with status; UINT64_MAX: unknown */
	TR_RUN_KILLED,	 /* by the signal */
	TR_RUN_REPLACED, /* its process called exec again */
};

struct tr_run {
	uint64_t number; /* from 0 in the order of their beginning, in all segments */
	uint64_t parent; /* number of the run it was started by, or NONE */
	uint64_t
		parent_seq; /* if parent is NONE: the exec record that the record names as parent */
	uint64_t replaces;  /* number of the run that called exec to become this one, or NONE */
	uint64_t seq;	    /* of its exec, else of its fork */
	bool program;
	bool forked; /* its process has a fork record */
	enum tr_run_fate fate;
	uint64_t status;
	char signal[TR_RUN_SIGNAL]; /* "SIGKILL", as the stream spells it, cut to fit */
	int64_t began, ended;	    /* TR_INSTANT_NONE: unknown */
	/* began and ended as numbers of records in the whole stream, for traces without times */
	uint64_t first, last;
	void *user; /* for the receiver of the events; NULL at BEGAN */

	struct tr_run *older, *newer; /* among those that live: private */
	size_t references;
	bool end_reported, known_by_seq;
};

struct tr_runs {
	void (*report)(void *context, enum tr_run_event event, struct tr_run *run,
		       struct tr_record *record);
	void *context;
	int64_t earliest, latest; /* of all times so far, also of ends in exec records, or NONE */

	struct tr_arena memory; /* of the runs: private from here */
	struct tr_run *spare;	/* memory of runs that were freed */
	struct tr_map tasks;	/* by their id, and those whose id is a number: */
	struct tr_id_map numbered;
	struct tr_run_ending *first_ended, *last_ended;
	size_t ended;
	struct tr_id_map by_seq; /* of live runs that have a program */
	struct tr_run *oldest, *newest;
	uint64_t count, records;
};

/* report may be NULL. */
void tr_runs_init(struct tr_runs *runs,
		  void (*report)(void *context, enum tr_run_event event, struct tr_run *run,
				 struct tr_record *record),
		  void *context);

/* Takes the next line. False: memory is exhausted. */
bool tr_runs_put(struct tr_runs *runs, struct tr_record *record);

/* Ends all runs. */
void tr_runs_finish(struct tr_runs *runs);

/* Frees without reporting anything. */
void tr_runs_free(struct tr_runs *runs);

#endif
