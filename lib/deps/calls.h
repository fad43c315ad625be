/* SPDX-License-Identifier: MIT */
/*
 * The effects of exec records and system calls on descriptors, names and contents of files. For
 * lib/deps only; tests/data/deps has the cases.
 */
#ifndef TR_DEPS_CALLS_H
#define TR_DEPS_CALLS_H

#include "deps/file_call.h"
#include "deps/task.h"

/* The paths and effects of a record, which --events adds to it. Zero it. */
struct tr_deps_event {
	struct tr_deps_path *path[2];
	unsigned does;
};

/* Returns the field with that key as trec spells it; data NULL: there is none. */
struct tr_text tr_deps_argument(struct tr_record *record, const char *key);

/* Applies an exec record of the task. Sets graph->failed if memory is exhausted. */
void tr_deps_put_exec(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
		      struct tr_record *record, struct tr_deps_event *event);

/* Applies a call of the task; record has its columns. Sets graph->failed likewise. */
void tr_deps_put_call(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
		      const struct tr_record *record, const struct tr_file_call *call,
		      struct tr_deps_event *event);

/* Applies a sys record of the task. Returns the same as tr_deps_put. */
enum tr_status tr_deps_put_sys(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
			       struct tr_record *record, struct tr_deps_event *event,
			       struct tr_error *err);

#endif
