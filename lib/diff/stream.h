/* SPDX-License-Identifier: MIT */
/*
 * Pairs processes or threads of both traces by what they do, where neither a program nor anything
 * else identifies them: the order in which they begin is that of chance.
 *
 *	tr_streams_begin, tr_streams_add	those of a side that have no partner yet
 *	tr_streams_pair				finds their partners
 *
 * Those that do the same come first. Then each record, and after that each key of a record, is a vote
 * for the two in which it mostly occurs, one of each side; pairs with more votes come first. What
 * has no votes is paired in the order of the traces.
 *
 * The time is linear in the number of records, apart from sorting the pairs that have votes. Memory:
 * 36 to 60 bytes for each process or thread, and up to 25 for each of its records. Not thread safe.
 */
#ifndef TR_DIFF_STREAM_H
#define TR_DIFF_STREAM_H

#include "diff/align.h"

/* Processes or threads of a side. */
struct tr_streams {
	/*
	 * In the order of the trace; of these records, `key` says which can be partners, `group` is that
	 * of the records, and `match` the place of the partner in the other list.
	 */
	struct tr_diff_record *list;
	size_t count, cap;
	uint32_t *places; /* by the group of records: the place in the list, or TR_ALIGN_NONE */
};

/* Records have groups below that number. False: memory is exhausted. */
bool tr_streams_begin(struct tr_streams *streams, size_t groups);

/* Adds the process or thread whose records have that group. False: memory is exhausted. */
bool tr_streams_add(struct tr_streams *streams, uint32_t group, uint64_t key);

/*
 * Sets `match` of the streams of both sides. records: of both sides. threads: the streams are
 * threads. in_order: those without votes are paired too. False: memory is exhausted.
 */
bool tr_streams_pair(struct tr_streams *streams, const struct tr_align_side *records, bool threads,
		     bool in_order);

/* Both sides. */
void tr_streams_free(struct tr_streams *streams);

#endif
