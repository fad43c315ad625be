/* SPDX-License-Identifier: MIT */
/*
 * A timeline of runs: the beginning and the end of each, and the lane on which it is drawn. A lane
 * holds one run at a time, and above it the children of that run which ran one after the other, and
 * so on. A run beside others goes to the lowest free lane, so a build takes as many lanes as it
 * has jobs.
 */
#ifndef TR_PROCESS_LANES_H
#define TR_PROCESS_LANES_H

#include "process/forest.h"

struct tr_span {
	int64_t begin, end; /* nanoseconds, or records where there are no times */
	uint32_t lane;	    /* from 0 */
	uint32_t level;	    /* number of runs below it on its lane */
	bool open;	    /* it has no end in the log: it lasts as long as its descendants */
};

struct tr_lanes {
	struct tr_span *spans; /* one for each node of the forest */
	uint32_t *order;       /* nodes by their beginning, parents first */
	uint32_t count;	       /* of lanes */
	bool timed;	       /* begin and end are times */
};

/*
 * Makes the lanes of a linked forest. A run without an end ends with its last descendant or, if
 * there are times, with the segment. False: memory is exhausted.
 */
bool tr_lanes_make(struct tr_lanes *lanes, const struct tr_forest *forest);
void tr_lanes_free(struct tr_lanes *lanes);

#endif
