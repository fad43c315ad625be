/* SPDX-License-Identifier: MIT */
/*
 * All runs of a segment (runs.h) with their parents and children, for views that need to see the
 * end before they can show the beginning.
 *
 *	tr_forest_complete   before each line, and at the end (NULL): if the segment is complete
 *	tr_forest_link       finds parents and children of its runs; then the view shows them, and
 *	tr_forest_clear      makes ready for the next segment
 *	tr_forest_put        takes the line
 *
 * A parent may come after its child. A run is a root if its parent is not in the trace, or would be
 * a descendant of its own.
 *
 * Memory: 56 bytes for each run, 16 more if it was killed, and those of runs.h until it ends; the
 * text that describes it goes to a temporary file (core/spool.h). Not thread safe.
 */
#ifndef TR_PROCESS_FOREST_H
#define TR_PROCESS_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/spool.h"
#include "process/runs.h"

#define TR_FOREST_NONE UINT32_MAX

struct tr_forest_node {
	uint64_t seq; /* of the exec record; TR_RUN_NONE: unknown */
	union {
		uint64_t parent_seq; /* until link, if parent is NONE; TR_RUN_NONE: unknown */
		struct {
			uint32_t child, next; /* set by link: its first child, its next sibling */
		};
	};
	/* times; where they are unknown (see the flags below), numbers of records in their place */
	int64_t began, ended;
	uint64_t
		end; /* its status, UINT64_MAX: unknown; if it was killed, the index of the signal */
	uint32_t parent;    /* complete after link */
	uint32_t replaces;  /* the run of its process before it, which is followed by this one */
	uint64_t text : 56; /* private: where its text is */
	unsigned fate : 2;  /* enum tr_run_fate */
	bool program : 1;
	bool has_began : 1, has_ended : 1; /* the times are known */
};

struct tr_forest {
	struct tr_forest_node *nodes; /* in the order of their beginning */
	size_t count, cap;
	uint32_t root;		  /* the first of the roots, set by link */
	uint32_t lost;		  /* runs that name a parent which is not in the trace */
	int64_t earliest, latest; /* of all records; TR_INSTANT_NONE: no times */
	bool timed;		  /* it is known when some run began */
	struct tr_runs runs;
	uint64_t base;			/* number of the first run */
	char (*signals)[TR_RUN_SIGNAL]; /* of each run that was killed, NUL-terminated */
	size_t signal_count, signal_cap;

	/* Appends what the view shows of a program. False: memory is exhausted. */
	bool (*describe)(void *context, struct tr_record *record, struct tr_buffer *text);
	void *context;
	struct tr_spool *texts;	       /* of each, the length and the bytes */
	struct tr_spool_window window; /* on the texts that were shown last */
	uint64_t max_spool;
	struct tr_buffer text; /* scratch */
	struct tr_error *err;  /* of the current call */
	bool failed;
};

/* max_spool: as in struct tr_limits. */
void tr_forest_init(struct tr_forest *forest, uint64_t max_spool,
		    bool (*describe)(void *context, struct tr_record *record,
				     struct tr_buffer *text),
		    void *context);

/* True if this line (NULL: the end of input) ends a segment that has runs. */
static inline bool tr_forest_complete(const struct tr_forest *forest,
				      const struct tr_record *record)
{
	return forest->count &&
	       (!record || record->type == TR_HEADER || record->type == TR_TRAILER);
}

/* False: err is filled, and the forest can only be freed. */
bool tr_forest_put(struct tr_forest *forest, struct tr_record *record, struct tr_error *err);

/* Ends all runs, and finds parents and children. False: memory is exhausted. */
bool tr_forest_link(struct tr_forest *forest);

/*
 * The node after `node`: parents come before their children, children in the order of their
 * beginning, and a run before the one that replaces it. *depth is 0 for roots. TR_FOREST_NONE as an
 * argument returns the first node, and as a result, is the end.
 */
uint32_t tr_forest_next(const struct tr_forest *forest, uint32_t node, size_t *depth);

/* Appends the text that describe wrote for the node. False: err is filled. */
bool tr_forest_add_text(struct tr_forest *forest, const struct tr_forest_node *node,
			struct tr_buffer *to, struct tr_error *err);

/* Like tr_forest_add_text, for a buffer that is emptied first. */
static inline bool tr_forest_text(struct tr_forest *forest, const struct tr_forest_node *node,
				  struct tr_buffer *to, struct tr_error *err)
{
	tr_buffer_reset(to);
	return tr_forest_add_text(forest, node, to, err);
}

/* The run of its process after it. NONE: it is the last one. */
static inline uint32_t tr_forest_successor(const struct tr_forest *forest, uint32_t node)
{
	uint32_t next = forest->nodes[node].next;

	return next != TR_FOREST_NONE && forest->nodes[next].replaces == node ? next
									      : TR_FOREST_NONE;
}

/* The duration; NONE: unknown. */
static inline int64_t tr_forest_duration(const struct tr_forest_node *node)
{
	return node->has_began && node->has_ended ? tr_instant_between(node->began, node->ended)
						  : TR_INSTANT_NONE;
}

/*
 * Appends how the run ended: its status, "SIGKILL", or "exec" if it was replaced. False: unknown.
 * The name of a signal is any text of the trace: one line of valid UTF-8.
 */
bool tr_forest_end(const struct tr_forest *forest, const struct tr_forest_node *node,
		   struct tr_buffer *to);

/* True if the run was killed, or its status is not 0. */
static inline bool tr_forest_failed(const struct tr_forest_node *node)
{
	return node->fate == TR_RUN_KILLED ||
	       (node->fate == TR_RUN_EXITED && node->end && node->end != UINT64_MAX);
}

/* Prepares for the next segment. */
void tr_forest_clear(struct tr_forest *forest);
void tr_forest_free(struct tr_forest *forest);

/*
 * A timeline of runs: the beginning and the end of each, and the lane on which it is drawn. A lane
 * holds one run at a time, and above it the children of that run which ran one after the other, and
 * so on. A run beside others goes to the lowest free lane, so a build takes as many lanes as it
 * has jobs.
 */
struct tr_span {
	int64_t begin, end;  /* nanoseconds, or records where there are no times */
	uint32_t lane;	     /* from 0 */
	uint32_t level : 31; /* number of runs below it on its lane */
	bool open : 1;	     /* it has no end in the log: it lasts as long as its descendants */
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
