/* SPDX-License-Identifier: MIT */
/*
 * The file calls of all lanes, in the order of their times. Calls are collected in passes: when a
 * pass has found no record that is still being written, then all calls up to the time at which it
 * began are known, because who saw the effect of a call has begun its own record later.
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
	struct tr_collected *list; /* those that were not taken, by time, from next to count */
	size_t next, count, cap;
	uint64_t horizon;	/* the calls up to this time are known */
	uint64_t stuck;		/* since when a record is being written; 0: none is */
	uint32_t at[TR_LANES];	/* what was read of each lane */
	bool torn_in[TR_LANES]; /* who wrote there may do so later: the lane is not given back */
	uint64_t torn;		/* records that were never completed */
	bool failed;		/* memory is exhausted, or the file cannot be read */
};

/* Reads what there is. now: the time, before the call; final: no process writes any more. */
void tr_collect_pass(struct tr_collect *collect, uint64_t now, bool final);

/* Takes the next call up to that time. NULL: there is none. Valid until the next pass. */
const struct tr_call_record *tr_collect_next(struct tr_collect *collect, uint64_t until);

/* The strings of a call; NULL: it has fewer. */
const char *tr_call_string(const struct tr_call_record *call, unsigned number);

void tr_collect_free(struct tr_collect *collect);

#endif
