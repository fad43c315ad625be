/* SPDX-License-Identifier: MIT */
/*
 * Follows the tasks of a process trace, and puts what they do with files into a graph.
 *
 *	exec, fork, exit, sys records -> tr_deps_put -> graph.h: commands, files, versions, uses
 *	                                            `-> emit: the record's line with path1, does, by
 *
 * A task has a working directory and descriptors, which fork copies (or shares) and exec keeps. The
 * records of a task that come before the fork record that made it are pending until that comes.
 *
 * Not thread safe.
 */
#ifndef TR_DEPS_TRACKER_H
#define TR_DEPS_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/map.h"
#include "deps/file_call.h"
#include "deps/graph.h"
#include "record/pending.h"
#include "record/record.h"

/* How to record file calls; strace 6.1 has the last two calls in no class. */
#define TR_DEPS_ADVICE \
	"record them with tr-record --files, or " \
	"strace -f -v -s 1000000 -e trace=%file,%process,%desc,close_range,unshare"

struct tr_deps_open;
struct tr_deps_task;

enum { TR_DEPS_SENT_MAX = 64 };

/* A descriptor in a message that was not received yet. */
struct tr_deps_message {
	struct tr_deps_open *open, *socket; /* socket NULL: it is unknown */
};

struct tr_deps_tracker {
	struct tr_deps_graph *graph;

	/* Gets the lines of all records in their order; NULL: only the graph is wanted. */
	bool (*emit)(void *context, struct tr_text line);
	void *context;

	bool times; /* know the times of events: `closed` of the details of uses */

	uint64_t calls;	    /* sys records that concern files, not only directories of tasks */
	uint64_t unknown;   /* uses that were left out, because the working directory is unknown */
	uint64_t cut_pipes; /* pipes and pairs of sockets of which the trace lacks a descriptor */
	uint64_t mounts;    /* calls that gave paths another meaning, which is not followed */
	struct tr_deps_path *directory; /* that of the first command; NULL: unknown */

	/* private */
	struct tr_map tasks;
	struct tr_deps_task *recent; /* the task that was found last, or NULL */
	uint64_t task_count;
	struct tr_pending held; /* the data of an item is its number */
	uint64_t held_count;
	struct tr_deps_task *ready;		       /* those with records that can be put */
	struct tr_deps_message sent[TR_DEPS_SENT_MAX]; /* the oldest first */
	unsigned sent_count;
	struct tr_buffer line;
};

void tr_deps_tracker_init(struct tr_deps_tracker *tracker, struct tr_deps_graph *graph);

/*
 * Takes the next line of the stream. TR_WARN: err says why the record was not understood; it is
 * passed on all the same. TR_FATAL: memory is exhausted, or emit returned false (err is clear).
 */
enum tr_status tr_deps_put(struct tr_deps_tracker *tracker, struct tr_record *record,
			   struct tr_error *err);

/*
 * Takes a call of which the reader makes no record; columns is one without fields, whose task is
 * text. False: it must come as a record, for `emit`, or because its task is not known yet. Exhausted
 * memory is reported with the next record, or by tr_deps_finish.
 */
bool tr_deps_take(struct tr_deps_tracker *tracker, const struct tr_record *columns,
		  const struct tr_file_call *call);

/* Ends the segment: the tasks whose fork has not come have no parent. */
enum tr_status tr_deps_finish(struct tr_deps_tracker *tracker, struct tr_error *err);

void tr_deps_tracker_free(struct tr_deps_tracker *tracker);

#endif
