/* SPDX-License-Identifier: MIT */
/*
 * Processes as a tree (tr-totext --style=tree): each with its
 * duration and its end.
 *
 *	seconds     exit  seq  command
 *	  3.499        2    0  make -j2
 *	  1.400     exec    2  ├─ sh -c 'gcc -c a.c; exec true'
 *	  1.100        0    5  │  └─ gcc -c a.c
 *	  0.100        1    8  ├─ exec true
 *	  2.550  SIGKILL    6  └─ gcc -c b.c
 *
 * A process that calls exec again has another line, whose command begins with "exec"; the exit of
 * the first program is "exec", too. A process that never called exec is shown as "(fork)". Columns
 * without any value are left out.
 */
#ifndef TR_VIEW_TREE_TEXT_H
#define TR_VIEW_TREE_TEXT_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_tree_text_config {
	size_t width;	    /* of lines, in characters; 0: unlimited */
	bool ascii;	    /* draw lines with ASCII characters */
	uint64_t max_spool; /* as in struct tr_limits */
};

struct tr_tree_text;

/* Borrows out. NULL: memory is exhausted. */
struct tr_tree_text *tr_tree_text_new(const struct tr_tree_text_config *config,
				      struct tr_output *out);

/*
 * Takes the next line of the stream, or NULL at its end. A segment is shown when it is complete.
 * TR_WARN: err states what could not be shown as it should be.
 */
enum tr_status tr_tree_text_put(struct tr_tree_text *tree, struct tr_record *record,
				struct tr_error *err);

void tr_tree_text_free(struct tr_tree_text *tree);

#endif
