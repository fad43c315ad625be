/* SPDX-License-Identifier: MIT */
/*
 * Processes as a graph for Graphviz (tr-totext --style=dot), a digraph for each
 * segment: a node for each run, an edge to it from the run that started it, and a dashed
 * edge from the run that it replaced by calling exec. A node shows its command and its
 * duration, and the whole command as a tooltip. Runs that failed are red; the longer a run
 * took, the darker is its node.
 */
#ifndef TR_VIEW_DOT_TEXT_H
#define TR_VIEW_DOT_TEXT_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_dot_text_config {
	size_t width;	    /* commands are cut to so many bytes in nodes; 0: they are not */
	uint64_t max_spool; /* as in struct tr_limits */
};

struct tr_dot_text;

/* Borrows out. NULL: memory is exhausted. */
struct tr_dot_text *tr_dot_text_new(const struct tr_dot_text_config *config, struct tr_output *out);

/* Takes the next line of the stream, or NULL at its end. A segment is shown when it is complete. */
enum tr_status tr_dot_text_put(struct tr_dot_text *dot, struct tr_record *record,
			       struct tr_error *err);

void tr_dot_text_free(struct tr_dot_text *dot);

#endif
