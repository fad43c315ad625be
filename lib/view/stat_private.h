/* SPDX-License-Identifier: MIT */
/* The parts of the statistics, one for each sort of trace; stat.c passes records to them. */
#ifndef TR_VIEW_STAT_PRIVATE_H
#define TR_VIEW_STAT_PRIVATE_H

#include "core/heap.h"
#include "core/map.h"
#include "process/runs.h"
#include "record/calls.h"
#include "view/file_uses.h"
#include "view/report.h"
#include "view/stat.h"
#include "view/tally.h"

/* stat_runs.c: runs of programs, their durations and ends. */
struct tr_stat_load {
	uint64_t most_alive, most_running;
	struct tr_id_map processes; /* by the number of the run that is theirs now */
	struct tr_heap events;	    /* beginnings and ends, by their times */
	uint64_t order, alive, running;
};

struct tr_stat_runs {
	struct tr_compilers *compilers; /* NULL: those that are built in; borrowed */
	struct tr_runs runs;
	struct tr_tally *tally; /* borrowed; the durations go to its entries */
	uint32_t entry;		/* of the record that is being put */
	struct tr_tally ends;	/* "exited 0", "SIGKILL" */
	struct tr_heap longest; /* the shortest first */
	size_t longest_max;
	uint64_t programs, forks;
	struct tr_stat_load load;
	int64_t busy; /* sum of durations */
	bool ended;   /* some run has an end */
	struct tr_buffer line, command;
	struct tr_arena arena; /* of the exec record of a long run */
	bool failed;
};

void tr_stat_runs_init(struct tr_stat_runs *runs, struct tr_tally *tally,
		       const struct tr_stat_config *config);
bool tr_stat_runs_put(struct tr_stat_runs *runs, struct tr_record *record, uint32_t entry);
void tr_stat_runs_report(struct tr_stat_runs *runs, struct tr_report *report);
void tr_stat_runs_free(struct tr_stat_runs *runs);

/* stat_calls.c: API calls, their frames and blobs. */
struct tr_stat_frame {
	uint64_t number;
	uint64_t first, last; /* numbers of calls */
	uint64_t calls, draws;
	uint64_t from, bytes; /* of the unpacked trace */
};

struct tr_stat_calls {
	struct tr_live_calls live;
	struct tr_buffer frames;    /* of struct tr_stat_frame: complete frames */
	struct tr_stat_frame frame; /* the frame that is not complete */
	bool closing;		    /* frame is complete, but ends where the next record begins */
	struct tr_tally *tally;	    /* borrowed */
	struct tr_call_kinds kinds;
	const char *(*call_api)(struct tr_text name);
	const char *api; /* from the first function that identifies it */
	uint64_t calls, fake, incomplete, draws;
	uint64_t blobs, blob_bytes, largest_blob;
	uint64_t offset; /* of the last record, or 0 */
	bool failed;
};

bool tr_stat_calls_put(struct tr_stat_calls *calls, struct tr_record *record, uint32_t entry);
/* Ends a segment. unpacked: the size of its file without compression. */
bool tr_stat_calls_end(struct tr_stat_calls *calls, uint64_t unpacked);
void tr_stat_calls_report(struct tr_stat_calls *calls, struct tr_report *report);
bool tr_stat_frames_report(struct tr_stat_calls *calls, struct tr_report *report, size_t top);
void tr_stat_calls_free(struct tr_stat_calls *calls);

/* stat_coverage.c: blocks of code, and coverage by source line. */
struct tr_sources;
struct tr_stat_block;

struct tr_stat_blocks {
	struct tr_id_map plain;	  /* struct tr_stat_block by address */
	struct tr_id_map placed;  /* by the number of a module and the offset in it */
	struct tr_map paths;	  /* numbers of modules, over all traces, by their paths */
	struct tr_id_map modules; /* struct tr_stat_module of this segment, by their ids */
	struct tr_arena segment;  /* of modules */
	struct tr_arena arena;
	uint64_t blocks;
	uint64_t beyond; /* blocks that the maps have no room for, and those without a valid size */
	uint64_t ops[256];
};

bool tr_stat_blocks_put(struct tr_stat_blocks *blocks, struct tr_record *record);
/* Takes a record of kind module. */
bool tr_stat_blocks_module(struct tr_stat_blocks *blocks, struct tr_record *record);
/* Ends a segment: its modules are forgotten. */
void tr_stat_blocks_end(struct tr_stat_blocks *blocks);
bool tr_stat_blocks_report(const struct tr_stat_blocks *blocks, struct tr_report *report,
			   size_t top);
void tr_stat_blocks_free(struct tr_stat_blocks *blocks);
bool tr_stat_lines_report(const struct tr_sources *sources, struct tr_report *report, size_t top);

/* stat_files.c: the files that programs read and wrote, if the trace has file calls. */
struct tr_stat_files {
	struct tr_file_uses uses; /* of the segment */
	size_t top;
	struct tr_compilers *compilers; /* NULL: those that are built in; borrowed */
	bool any;			/* some segment has file calls */
	bool reads, writes; /* ... and all of these have calls that say how many bytes */
	uint64_t read, written, bytes_read, bytes_written;
	struct tr_buffer rows; /* of struct row */
	struct tr_arena arena;
};

void tr_stat_files_init(struct tr_stat_files *files, const struct tr_stat_config *config);
bool tr_stat_files_put(struct tr_stat_files *files, struct tr_record *record);
/* Ends a segment. */
bool tr_stat_files_end(struct tr_stat_files *files);
void tr_stat_files_report(struct tr_stat_files *files, struct tr_report *report);
void tr_stat_files_free(struct tr_stat_files *files);

/* stat.c: reports a tally as a table; `what` names its last column. False: memory is exhausted. */
bool tr_stat_tally_report(const struct tr_tally *tally, struct tr_report *report, const char *name,
			  const char *what, size_t top);

#endif
