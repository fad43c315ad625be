/* SPDX-License-Identifier: MIT */
/*
 * Makes runs of exec, fork and exit records. A run is the time of a process from one exec to the
 * next, or to its end; a process that was forked and never called exec is a run without a program.
 * Threads belong to the run of their process.
 *
 *	records of a segment, in order -> tr_runs_put -> events: BEGAN, PROGRAM, PARENT_KNOWN, ENDED
 *
 * PROGRAM comes with BEGAN, or when the forked process calls exec. PARENT_KNOWN comes when the
 * parent becomes known. If the log has the end of a process before the return of the fork that made
 * it, PARENT_KNOWN follows ENDED. A header or trailer ends the runs of its segment that have no end
 * in the log (many tracers do not write it), in the order in which they began.
 *
 * Memory grows with the runs that are alive, about 80 bytes for each, and with a bounded number of
 * those that ended before their fork. Not thread safe.
 */
#ifndef TR_PROCESS_RUNS_H
#define TR_PROCESS_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/map.h"
#include "process/instant.h"
#include "record/record.h"

#define TR_RUN_NONE UINT64_MAX

enum { TR_RUN_SIGNAL = 16 };

enum tr_run_fate {
	TR_RUN_OPEN,	 /* the log has no end of it */
	TR_RUN_EXITED,	 /* with status; UINT64_MAX: unknown */
	TR_RUN_KILLED,	 /* by the signal */
	TR_RUN_REPLACED, /* its process called exec again */
};

/* The end of a run. */
struct tr_run_end {
	enum tr_run_fate fate;
	int64_t time; /* TR_INSTANT_NONE: unknown */
	uint64_t status;
	char signal[TR_RUN_SIGNAL]; /* "SIGKILL", as the stream spells it, cut to fit */
};

/* A run that is alive. A trace without ends has as many of these as programs, so they are small. */
struct tr_run {
	uint64_t number; /* from 0 in the order of their beginning, in all segments */
	uint64_t seq;	 /* of its exec, else of its fork; NONE: unknown */
	int64_t began;	 /* TR_INSTANT_NONE: unknown */
	void *user;	 /* for the receiver of the events; NULL at BEGAN */

	uint64_t origin; /* private from here: what tr_run_parent or tr_run_parent_seq returns */
	uint64_t task;	 /* the key of the id of its process */
	uint32_t references;   /* of a place without a run: the next such place */
	bool has_parent : 1;   /* origin is a run */
	bool names_parent : 1; /* its record names an exec record as its parent */
	bool program : 1;
	bool forked : 1; /* its process has a fork record */
	bool end_reported : 1, thread : 1;
};

/* Returns the number of the run that started it, or NONE. */
static inline uint64_t tr_run_parent(const struct tr_run *run)
{
	return run->has_parent ? run->origin : TR_RUN_NONE;
}

/* Returns the seq of the exec record that its record names if that run is unknown, or NONE. */
static inline uint64_t tr_run_parent_seq(const struct tr_run *run)
{
	return run->has_parent ? TR_RUN_NONE : run->origin;
}

enum tr_run_event {
	TR_RUN_BEGAN,
	TR_RUN_PROGRAM, /* record is the exec; seq and began are those of the exec from now on */
	TR_RUN_PARENT_KNOWN, /* parent is known now */
	TR_RUN_ENDED,
};

struct tr_run_report {
	enum tr_run_event event;
	struct tr_run *run;	  /* valid during the call */
	struct tr_record *record; /* the cause; may be NULL at ENDED and PARENT_KNOWN */
	uint64_t
		replaces; /* at BEGAN: number of the run that called exec to become this, or NONE */
	const struct tr_run_end *end; /* at ENDED */
};

struct tr_run_ending;

struct tr_runs {
	void (*report)(void *context, const struct tr_run_report *report);
	void *context;
	int64_t earliest, latest; /* of all times so far, also of ends in exec records, or NONE */
	uint64_t records;	  /* so far, in all segments */

	struct tr_run *list; /* of live runs and threads, in no order: private from here */
	size_t used, cap;
	uint32_t spare;		      /* a place in the list without a run */
	struct tr_number_map by_task; /* places by the keys of tasks */
	struct tr_number_map by_seq;  /* of live runs that have a program */
	uint64_t seed;		      /* of keys */
	struct tr_id_map endings;
	struct tr_run_ending *first_ended, *last_ended;
	uint64_t count;
};

/* report may be NULL. */
void tr_runs_init(struct tr_runs *runs,
		  void (*report)(void *context, const struct tr_run_report *report), void *context);

/* Takes the next line. False: memory is exhausted. */
bool tr_runs_put(struct tr_runs *runs, struct tr_record *record);

/* Takes a record of a kind that has no effect on runs, by its time. */
void tr_runs_see(struct tr_runs *runs, int64_t time);

/* Ends all runs. */
void tr_runs_finish(struct tr_runs *runs);

/* Frees without reporting anything. */
void tr_runs_free(struct tr_runs *runs);

#endif
