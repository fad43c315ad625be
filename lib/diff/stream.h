/* SPDX-License-Identifier: MIT */
/*
 * Pairs processes or threads of both traces by their records, if no program identifies them. The
 * order in which they begin is random.
 *
 *	tr_streams_begin, tr_streams_add	take those of a side that have no match yet
 *	tr_streams_pair				sets their matches
 *
 * Streams with equal records are paired first. Then the content of each record, and after that its
 * key, is a vote for the stream of each side that has most records with it; pairs with most votes
 * come first. Streams without votes are paired in the order of the traces.
 *
 * The time is linear in the number of records, apart from sorting the pairs that have votes.
 * Memory: 36 to 60 bytes for each process or thread, and up to 25 for each of its records. Not
 * thread safe.
 */
#ifndef TR_DIFF_STREAM_H
#define TR_DIFF_STREAM_H

#include "diff/align.h"

/* Processes or threads of a side. */
struct tr_streams {
	/*
	 * In the order of the trace. Only streams with equal keys can match; `group` is that of
	 * their records, `content` a sum of the records' contents, `match` a place in the other
	 * list.
	 */
	struct tr_diff_record *list;
	size_t count, cap;
	uint32_t
		*places; /* by group: the place in the list; TR_ALIGN_NONE: none, or it is paired */
};

/* groups: all groups of records are below this number. False: memory is exhausted. */
bool tr_streams_begin(struct tr_streams *streams, size_t groups);

/* Adds the process or thread whose records have this group. False: memory is exhausted. */
bool tr_streams_add(struct tr_streams *streams, uint32_t group, uint64_t key);

/*
 * Sets `match` of the streams of both sides, whose records are in `records`. threads: the streams
 * are threads. in_order: streams without votes are paired, too. False: memory is exhausted.
 */
bool tr_streams_pair(struct tr_streams *streams, const struct tr_align_side *records, bool threads,
		     bool in_order);

/* Frees the streams of both sides. */
void tr_streams_free(struct tr_streams *streams);

#endif
