/* SPDX-License-Identifier: MIT */
/*
 * Tracks the tasks of a process trace, and builds a graph of what they do with files.
 *
 *	exec, fork, exit, sys records -> tr_deps_put -> graph.h: commands, files, versions, uses
 *	                                            `-> emit: the record's line with path1, does, by
 *
 * A task has a working directory and descriptors, which fork copies or shares and exec keeps.
 * Records of a task that precede its fork record are pending until that is read.
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

/* A descriptor in a message that has not been received yet. */
struct tr_deps_message {
	struct tr_deps_open *open, *socket; /* socket NULL: unknown */
};

struct tr_deps_tracker {
	struct tr_deps_graph *graph;

	/* Receives the lines of all records in their order; NULL: only the graph is needed. */
	bool (*emit)(void *context, struct tr_text line);
	/* Called when a program and all processes that it forked have ended; NULL: not needed. */
	void (*program_ended)(void *context, struct tr_deps_command *program);
	void *context; /* of both */

	bool times; /* read the times of events, for `closed` in the details of uses */

	uint64_t calls;	    /* sys records about files, and not only about working directories */
	uint64_t unknown;   /* uses that were left out, because the working directory is unknown */
	uint64_t cut_pipes; /* pipes and socket pairs of which the trace lacks a descriptor */
	uint64_t mounts;    /* calls that changed the meaning of paths, which is not tracked */
	struct tr_deps_path *directory; /* of the first command; NULL: unknown */

	/* private */
	struct tr_map tasks;
	struct tr_deps_task *recent; /* the task that was found last, or NULL */
	uint64_t task_count;
	struct tr_pending held; /* the data of an item is its number */
	uint64_t held_count;
	struct tr_deps_task *ready; /* tasks whose pending records are resolved */
	struct tr_deps_message sent[TR_DEPS_SENT_MAX]; /* the oldest first */
	unsigned sent_count;
	struct tr_buffer line;
};

void tr_deps_tracker_init(struct tr_deps_tracker *tracker, struct tr_deps_graph *graph);

/*
 * Takes the next record of the stream. TR_WARN: err states why the record was not understood; it is
 * emitted nevertheless. TR_FATAL: memory is exhausted, or emit returned false (err is clear).
 */
enum tr_status tr_deps_put(struct tr_deps_tracker *tracker, struct tr_record *record,
			   struct tr_error *err);

/*
 * Takes a call of which the reader made no record; columns is a record without fields, whose task
 * is text. False: the reader must make a record, because `emit` is set or the task is not known
 * yet. Exhausted memory is reported with the next record, or by tr_deps_finish.
 */
bool tr_deps_take(struct tr_deps_tracker *tracker, const struct tr_record *columns,
		  const struct tr_file_call *call);

/* Ends the segment: tasks without a fork record have no parent. */
enum tr_status tr_deps_finish(struct tr_deps_tracker *tracker, struct tr_error *err);

void tr_deps_tracker_free(struct tr_deps_tracker *tracker);

#endif
