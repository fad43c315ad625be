/* SPDX-License-Identifier: MIT */
/*
 * All runs of a segment (runs.h) with their parents and children, for views
 * that need to see the end before they can show the beginning.
 *
 *	tr_forest_put(forest, record, &err)          every line
 *	where tr_forest_complete(forest, record):    before putting a header or trailer
 *	        tr_forest_link(forest); … show …; tr_forest_clear(forest);
 *	and once more at the end.
 *
 * A child that came before its parent finds it. What names a parent that is
 * not there, or is a descendant of its own, becomes a root.
 *
 * Memory is some 120 bytes a run; what is to be shown of each is put aside
 * (core/spool.h). Not thread safe.
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
enum { TR_FOREST_SIGNAL = 16 };

struct tr_forest_node {
	uint64_t seq, parent_seq; /* of the exec records; TR_RUN_NONE */
	int64_t began, ended;	  /* TR_INSTANT_NONE: unknown */
	uint64_t first, last;	  /* the same in records */
	uint64_t status;	  /* UINT64_MAX: not told */
	uint64_t text;		  /* where it begins among the texts */
	uint32_t text_len;
	uint32_t parent, child, next; /* once linked; child: the first, next: of one parent */
	uint32_t successor, replaces; /* of one process: each called exec to become the next */
	uint8_t fate;		      /* enum tr_run_fate */
	bool program;
	char signal[TR_FOREST_SIGNAL]; /* NUL-terminated */
};

struct tr_forest {
	struct tr_forest_node *nodes; /* in the order of their beginning */
	size_t count, cap;
	uint32_t root;		  /* the first of the roots, once linked */
	uint32_t lost;		  /* how many name a parent that is not there */
	int64_t earliest, latest; /* of all that was put; TR_INSTANT_NONE: no times */
	struct tr_runs runs;
	uint64_t base; /* number of the first run */

	/* What is to be kept of a program: appended to text. False: memory is out. */
	bool (*describe)(void *context, struct tr_record *record, struct tr_buffer *text);
	void *context;
	struct tr_spool *texts;
	uint64_t max_spool, spooled;
	struct tr_buffer pending; /* texts on their way */
	struct tr_error *err;	  /* of the put that is under way */
	bool failed;
};

/* max_spool: as in struct tr_limits. */
void tr_forest_init(struct tr_forest *forest, uint64_t max_spool,
		    bool (*describe)(void *context, struct tr_record *record,
				     struct tr_buffer *text),
		    void *context);

/* True where this line (NULL: the end) ends a segment in which there are runs. */
static inline bool tr_forest_complete(const struct tr_forest *forest,
				      const struct tr_record *record)
{
	return forest->count &&
	       (!record || record->type == TR_HEADER || record->type == TR_TRAILER);
}

/* False: err is filled, nothing more can be done. */
bool tr_forest_put(struct tr_forest *forest, struct tr_record *record, struct tr_error *err);

/* Ends all runs and finds parents and children. False: memory is out. */
bool tr_forest_link(struct tr_forest *forest);

/*
 * The next of all nodes: parents before children, children in the order of
 * their beginning, who was replaced in front of the one who did. *depth is 0
 * for roots. Begins with TR_FOREST_NONE and ends with it.
 */
uint32_t tr_forest_next(const struct tr_forest *forest, uint32_t node, size_t *depth);

/* Appends the node's text, as describe wrote it. False: err is filled. */
bool tr_forest_add_text(struct tr_forest *forest, const struct tr_forest_node *node,
			struct tr_buffer *to, struct tr_error *err);

/* The same, into buf, which is emptied first. */
bool tr_forest_text(struct tr_forest *forest, const struct tr_forest_node *node,
		    struct tr_buffer *buf, struct tr_error *err);

/* How long it ran; NONE: not told. */
int64_t tr_forest_duration(const struct tr_forest_node *node);

/*
 * Appends how it ended: "0", "SIGKILL", "exec" where it was replaced. False: not
 * told. A trace may call a signal anything: one line of valid UTF-8.
 */
bool tr_forest_end(const struct tr_forest_node *node, struct tr_buffer *to);

/* It was killed, or its status is not 0. */
bool tr_forest_failed(const struct tr_forest_node *node);

/* Makes ready for the next segment. */
void tr_forest_clear(struct tr_forest *forest);
void tr_forest_free(struct tr_forest *forest);

#endif
