/* SPDX-License-Identifier: MIT */
/*
 * The file calls of all lanes, in the order of their times. Calls are collected in passes. If a pass
 * finds no record that is still being written, all calls up to the time at which the pass began are
 * known, because a process that saw the effect of such a call began its own record later.
 */
#ifndef TR_PRELOAD_COLLECT_H
#define TR_PRELOAD_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "preload/lanes.h"

struct tr_collected {
	uint64_t time;
	size_t place; /* in bytes */
};

/* Zero it, and set fd, page and mark. */
struct tr_collect {
	int fd;			    /* of the file; not closed */
	struct tr_lanes_page *page; /* a mapping of its beginning; not unmapped */
	uint32_t mark;
	struct tr_buffer bytes;	   /* records that were read */
	struct tr_collected *list; /* by time; the calls from next to count were not taken yet */
	size_t next, count, cap;
	uint64_t horizon;	/* all calls up to this time are known */
	uint64_t stuck;		/* the time since which a record is incomplete; 0: none is */
	uint32_t at[TR_LANES];	/* how many bytes of each lane were read */
	bool torn_in[TR_LANES]; /* a writer may complete its record later: the lane is not freed */
	uint64_t torn;		/* records that were never completed */
	bool failed;		/* memory is exhausted, or the file cannot be read */
};

/* Reads new records. now: a time before this call; final: no process writes any more. */
void tr_collect_pass(struct tr_collect *collect, uint64_t now, bool final);

/* Returns the next call up to that time, which is valid until the next pass. NULL: none. */
const struct tr_call_record *tr_collect_next(struct tr_collect *collect, uint64_t until);

/* Returns a string of a call by its number, from 0. NULL: it has fewer. */
const char *tr_call_string(const struct tr_call_record *call, unsigned number);

void tr_collect_free(struct tr_collect *collect);

#endif
