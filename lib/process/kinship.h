/* SPDX-License-Identifier: MIT */
/*
 * Which compiler calls of a build are somebody's own, and which are part of
 * another one that is known already: cc1, as and ld under gcc, gcc under
 * ccache, gcc under mpicc. It is the tree that tells, because programs are
 * called by hand, too.
 *
 * A linker whose parent is not in the trace is somebody's own unless a driver
 * links the very same file: in flat traces, which name no parents, the linker
 * that a driver runs stands beside it. That is known at the end.
 *
 * Half a byte is remembered of each process that has a number. A child may be
 * told before its parent: what it says then waits until the parent is there.
 * Not thread safe.
 */
#ifndef TR_PROCESS_KINSHIP_H
#define TR_PROCESS_KINSHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/id_map.h"
#include "core/map.h"
#include "core/text.h"
#include "record/record.h"

enum tr_kin {
	TR_KIN_OTHER,	  /* no compiler */
	TR_KIN_DRIVER,	  /* whatever runs below it is its own business */
	TR_KIN_COMPILER,  /* cc1: who runs it drives, by whatever name */
	TR_KIN_PART,	  /* as: nobody's own unless the tree says so */
	TR_KIN_LINKER,	  /* ld: the same where the tree says anything */
	TR_KIN_COLLECTOR, /* collect2: a linker that runs another, which is a part of it */
	TR_KIN_TOOL,	  /* ar: somebody's own unless the tree says otherwise */
};

enum tr_kin_verdict {
	TR_KIN_KEPT,
	TR_KIN_HIDDEN, /* part of another call */
	TR_KIN_WAITS,  /* its parent will come, or a driver that explains it */
	TR_KIN_FAILED, /* memory is out */
};

struct tr_kinship_waiting;

struct tr_kinship {
	struct tr_id_map pages;	  /* of states by seq */
	struct tr_id_map waiting; /* those that wait, in chains by their parent's seq */
	struct tr_kinship_waiting *first, *last; /* all of them, in the order in which they came */
	struct tr_kinship_waiting *ready, *ready_last; /* their parent is there */
	struct tr_kinship_waiting *given;	       /* what the last call gave is in it */
	struct tr_kinship_waiting *cursor; /* at the end: up to there they wait for one another */
	struct tr_kinship_waiting *linkers, *last_linker; /* without a parent, in their order */
	struct tr_map driven;				  /* what drivers link, by itself */
	struct tr_map collected;			  /* what collectors link */
	bool ending;					  /* cursor says something */
	bool failed;					  /* memory was out in tr_kinship_next */
};

#define TR_KINSHIP_INIT \
	{ \
		.pages = TR_ID_MAP_INIT, .waiting = TR_ID_MAP_INIT, .driven = TR_MAP_INIT, \
		.collected = TR_MAP_INIT \
	}

/* A process comes. seq, parent: TR_NO_POSITION where there is none. */
enum tr_kin_verdict tr_kinship_judge(struct tr_kinship *kinship, uint64_t seq, uint64_t parent,
				     enum tr_kin kin);

/* What is to be done for the process that waits, should it be kept; copied. False: memory. */
bool tr_kinship_wait(struct tr_kinship *kinship, uint64_t seq, uint64_t parent, enum tr_kin kin,
		     struct tr_text what);

/*
 * One that waits no more and is kept: what it left is in *what until the next
 * call; false: there is none, or failed is set. at_end: the parents that are
 * missing will not come.
 */
bool tr_kinship_next(struct tr_kinship *kinship, bool at_end, struct tr_text *what);

/* Who gets what is kept. False: it gives up, for want of memory. */
typedef bool tr_kinship_emit(void *context, struct tr_text what);

/*
 * All of this for one record, with the numbers that it has: emits what it says
 * where that is kept and not empty, and what others said that it has decided.
 * product: the file that it links (data NULL: none).
 */
enum tr_kin_verdict tr_kinship_take(struct tr_kinship *kinship, struct tr_record *record,
				    enum tr_kin kin, struct tr_text product, struct tr_text what,
				    tr_kinship_emit *emit, void *context);

/* The segment is over: emits what waits, and forgets everybody. False: memory is out. */
bool tr_kinship_end(struct tr_kinship *kinship, tr_kinship_emit *emit, void *context);

/* Forgets everybody. */
void tr_kinship_free(struct tr_kinship *kinship);

#endif
