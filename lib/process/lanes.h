/* SPDX-License-Identifier: MIT */
/*
 * A timeline of runs: when each begins and ends, and on which of as few lanes
 * as possible it is drawn. A lane holds one run at a time, and above it those
 * children of it that ran one after the other, above these theirs; what runs
 * beside goes to the lowest lane that is free. So a build takes as many lanes
 * as it has jobs.
 */
#ifndef TR_PROCESS_LANES_H
#define TR_PROCESS_LANES_H

#include "process/forest.h"

struct tr_span {
	int64_t begin, end; /* nanoseconds, or records where there are no times */
	uint32_t lane;	    /* from 0 */
	uint32_t level;	    /* how many are below it on its lane */
	bool open; /* nothing tells when it ended: it lasts as long as something of it does */
};

struct tr_lanes {
	struct tr_span *spans; /* one for each node of the forest */
	uint32_t *order;       /* nodes by their beginning, parents first */
	uint32_t count;	       /* of lanes */
	bool timed;	       /* begin and end are times */
};

/*
 * Of a forest that is linked. A run without an end ends with its last
 * descendant or, where there are times, with the segment. False: memory is out.
 */
bool tr_lanes_make(struct tr_lanes *lanes, const struct tr_forest *forest);
void tr_lanes_free(struct tr_lanes *lanes);

#endif
