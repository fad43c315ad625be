/* SPDX-License-Identifier: MIT */
/*
 * The critical path of a segment: which command the trace was waiting for at each moment, from the
 * end of the last command back to the beginning of the first one that led to it.
 *
 *	forest (process/forest.h), graph (view/file_uses.h) -> tr_critical_find -> steps
 *
 * The search goes backwards. What a command waited for at a moment is the latest of these events:
 * the end of one of its children, the last close of a pipe that it reads, or else its own
 * beginning. The search continues there with the child, the writer of the pipe, or the parent. Each
 * step begins when the step before it ends, so there are no gaps.
 *
 * A command began because its parent had been waiting for the child that ended last. The cause is
 * FILE if that child wrote a file which the command (or a program below it) reads; otherwise SLOT
 * if other children continued to run, as with make -j; otherwise EXIT. It is PARENT if the parent
 * had not waited for any child.
 *
 * Time grows with commands and uses, memory with commands. Thread safe on different graphs.
 */
#ifndef TR_VIEW_CRITICAL_H
#define TR_VIEW_CRITICAL_H

#include "deps/graph.h"
#include "process/forest.h"

/* What a step waited for: the end of the step before it, except for the first one. */
enum tr_critical_cause {
	TR_CRITICAL_START,  /* nothing: it is the first one */
	TR_CRITICAL_PARENT, /* its parent started it */
	TR_CRITICAL_EXEC,   /* another program of the same process called exec */
	TR_CRITICAL_EXIT,   /* a child ended: its own, or its parent's before that started it */
	TR_CRITICAL_SLOT,   /* a child of its parent ended, while further children ran on */
	TR_CRITICAL_FILE,   /* a file that it reads was complete */
	TR_CRITICAL_PIPE,   /* a pipe that it reads was closed by its writer */
};

struct tr_critical_step {
	uint32_t node; /* in the forest; TR_FOREST_NONE: time between commands that are roots */
	int64_t began, ended;
	enum tr_critical_cause cause;
	const struct tr_deps_path *file; /* of TR_CRITICAL_FILE, else NULL */
};

struct tr_critical {
	struct tr_critical_step *steps; /* in the order of time */
	size_t count;			/* 0: the trace has no times, or no ends of processes */
	bool cut;			/* the last command has no end: the trace ends before it */
};

/* Returns the word for a cause, such as "job slot". */
const char *tr_critical_word(enum tr_critical_cause cause);

/*
 * Finds the path; the forest is linked. graph: NULL if the trace has no file calls; the nodes of
 * its commands are set. False: memory is exhausted.
 */
bool tr_critical_find(struct tr_critical *critical, const struct tr_forest *forest,
		      struct tr_deps_graph *graph);

/* Sets the node of each command, TR_FOREST_NONE if it has none. False: memory is exhausted. */
bool tr_critical_set_nodes(const struct tr_forest *forest, struct tr_deps_graph *graph);

void tr_critical_free(struct tr_critical *critical);

#endif
