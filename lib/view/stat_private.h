/* SPDX-License-Identifier: MIT */
/* What the files of the statistics share: one part for each sort of trace. */
#ifndef TR_VIEW_STAT_PRIVATE_H
#define TR_VIEW_STAT_PRIVATE_H

#include "core/map.h"
#include "process/load.h"
#include "process/runs.h"
#include "record/calls.h"
#include "view/report.h"
#include "view/stat.h"
#include "view/tally.h"

/* Runs of programs: how long they took, how they ended. */
struct tr_stat_long_run {
	int64_t duration;
	uint64_t seq;  /* TR_RUN_NONE */
	char *command; /* owned */
	char *makes;   /* the same; NULL: nothing that is known */
};

struct tr_stat_runs {
	struct tr_runs runs;
	struct tr_tally *tally;		  /* whose entries programs are counted in: borrowed */
	struct tr_tally_entry *entry;	  /* of the record that is being put */
	struct tr_tally ends;		  /* "exited 0", "SIGKILL" */
	struct tr_stat_long_run *longest; /* a heap, the shortest first */
	size_t longest_count, longest_cap;
	uint64_t programs, forks;
	struct tr_load load;
	int64_t busy; /* sum of durations */
	bool ended;   /* the trace tells how some of them did */
	struct tr_buffer line, command;
	struct tr_arena arena; /* of the exec record of a long run */
	bool failed;
};

bool tr_stat_runs_init(struct tr_stat_runs *runs, struct tr_tally *tally, size_t top);
bool tr_stat_runs_put(struct tr_stat_runs *runs, struct tr_record *record,
		      struct tr_tally_entry *entry);
void tr_stat_runs_report(struct tr_stat_runs *runs, struct tr_report *report);
void tr_stat_runs_free(struct tr_stat_runs *runs);

/* API calls: frames and blobs. */
struct tr_stat_frame {
	uint64_t number;
	uint64_t first, last; /* calls */
	uint64_t calls, draws;
	uint64_t from, bytes; /* of the unpacked trace */
};

struct tr_stat_calls {
	struct tr_id_map live;	    /* calls that have not returned, by seq */
	struct tr_buffer frames;    /* of struct tr_stat_frame: those that are complete */
	struct tr_stat_frame frame; /* the one that is not */
	bool closing;		    /* it is, but its end is where the next record begins */
	struct tr_tally *tally;	    /* borrowed */
	struct tr_call_kinds kinds;
	const char *api; /* by the first function that tells */
	uint64_t calls, fake, incomplete, draws;
	uint64_t blobs, blob_bytes, largest_blob;
	uint64_t entered;
	uint64_t offset; /* of the record that came last, or 0 */
	bool failed;
};

bool tr_stat_calls_put(struct tr_stat_calls *calls, struct tr_record *record,
		       struct tr_tally_entry *entry);
/* A segment is through, and with it `unpacked` bytes of a file. */
bool tr_stat_calls_end(struct tr_stat_calls *calls, uint64_t unpacked);
void tr_stat_calls_report(struct tr_stat_calls *calls, struct tr_report *report);
bool tr_stat_frames_report(struct tr_stat_calls *calls, struct tr_report *report, size_t top);
void tr_stat_calls_free(struct tr_stat_calls *calls);

/* Blocks of code. */
struct tr_stat_block;

struct tr_stat_blocks {
	struct tr_id_map plain;	 /* struct tr_stat_block by address */
	struct tr_id_map placed; /* by module and address: these mean nothing alone */
	struct tr_arena arena;
	uint64_t blocks, beyond; /* beyond: found no place in the maps */
	uint64_t ops[256];
};

bool tr_stat_blocks_put(struct tr_stat_blocks *blocks, struct tr_record *record);
bool tr_stat_blocks_report(const struct tr_stat_blocks *blocks, struct tr_report *report,
			   size_t top);
void tr_stat_blocks_free(struct tr_stat_blocks *blocks);

/*
 * stat_tally.c: a table of a tally. what: its last column, or the columns that
 * its texts make, NULL at the end. False: memory is out.
 */
bool tr_stat_tally_report_by(const struct tr_tally *tally, struct tr_report *report,
			     const char *name, const char *const *what, size_t top);
bool tr_stat_tally_report(const struct tr_tally *tally, struct tr_report *report, const char *name,
			  const char *what, size_t top);

struct tr_stat_input {
	struct tr_text name, format, container; /* in the arena */
	int64_t size;
	uint64_t unpacked;
};

struct tr_stat {
	struct tr_stat_config config;
	struct tr_tally kinds, names, tasks, errors, keys;
	struct tr_stat_runs runs;
	struct tr_stat_calls calls;
	struct tr_stat_blocks blocks;
	struct tr_buffer files; /* of struct tr_stat_input */
	struct tr_arena arena;
	bool failed; /* memory was out */
	uint64_t records, definitions, segments;
	uint64_t lost; /* what trailers say */
	bool truncated;
};

#endif
