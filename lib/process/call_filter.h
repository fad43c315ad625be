/* SPDX-License-Identifier: MIT */
/*
 * Distinguishes the compiler calls of a build that are calls of their own from those that are parts
 * of another call in the trace: cc1, as and ld under gcc, gcc under ccache, gcc under mpicc. Only
 * the tree of processes shows that, because these programs are also called directly.
 *
 * A linker whose parent is not in the trace is a call of its own unless a driver links the same
 * file: in flat traces, which name no parents, the linker that a driver runs is a sibling of the
 * driver. This is decided at the end of the segment.
 *
 * Half a byte is kept of each process that has a number. A child may come before its parent: its
 * call is pending until then (record/pending.h). Not thread safe.
 */
#ifndef TR_PROCESS_CALL_FILTER_H
#define TR_PROCESS_CALL_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/map.h"
#include "core/text.h"
#include "record/pending.h"
#include "record/record.h"

/* The stage of a build that a program carries out. */
enum tr_stage {
	TR_STAGE_OTHER,	    /* none */
	TR_STAGE_DRIVER,    /* gcc: all that runs below it is part of its call */
	TR_STAGE_COMPILER,  /* cc1: the program that runs it is a driver, whatever its name */
	TR_STAGE_ASSEMBLER, /* as: a part, unless the tree shows that no driver runs it */
	TR_STAGE_LINKER,    /* ld: a part if the tree shows that a driver runs it */
	TR_STAGE_COLLECTOR, /* collect2: a linker that runs another one, which is a part of it */
	TR_STAGE_TOOL,	    /* ar: a call of its own unless the tree shows that it is a part */
};

enum tr_call_verdict {
	TR_CALL_KEPT,
	TR_CALL_HIDDEN,	 /* it is a part of another call */
	TR_CALL_PENDING, /* on its parent, or on a driver that links the same file */
	TR_CALL_FAILED,	 /* memory is exhausted */
};

/* A call that is pending. The text of its item is its output, followed by its product. */
struct tr_pending_call {
	uint64_t seq, parent;
	enum tr_stage stage;
	size_t output_len;
};

struct tr_call_filter {
	struct tr_id_map pages;				  /* of the states of processes, by seq */
	struct tr_pending pending;			  /* calls, by the seq of their parent */
	struct tr_pending_item *resolved, *last_resolved; /* calls whose parent is known now */
	struct tr_pending linkers; /* linkers without a parent, until the end */
	struct tr_id_map linked;   /* by the hash of a linked file: COLLECTOR or DRIVER */
	uint64_t seed;		   /* of the hashes */
	bool has_driver;	   /* a driver links one of them */
};

#define TR_CALL_FILTER_INIT \
	{ \
		.pages = TR_ID_MAP_INIT, .pending = TR_PENDING_INIT(struct tr_pending_call), \
		.linkers = TR_PENDING_INIT(struct tr_pending_call), .linked = TR_ID_MAP_INIT \
	}

/* Receives the output of a call that is kept. False: stop, memory is exhausted. */
typedef bool tr_call_emit(void *context, struct tr_text output);

/*
 * Judges the call in an exec record, and emits its output if it is kept and has one; then those of
 * pending calls that it decides. product: the file that it links (data NULL: none).
 */
enum tr_call_verdict tr_call_filter_put(struct tr_call_filter *filter, struct tr_record *record,
					enum tr_stage stage, struct tr_text product,
					struct tr_text output, tr_call_emit *emit, void *context);

/*
 * Takes an exec record whose parent shows that it is a part of another call, so its arguments need
 * not be read. Returns TR_CALL_HIDDEN if so, and TR_CALL_KEPT if the record is for
 * tr_call_filter_put, because its arguments matter. Only for callers without products: those of
 * parts count, too.
 */
enum tr_call_verdict tr_call_filter_put_part(struct tr_call_filter *filter,
					     struct tr_record *record, tr_call_emit *emit,
					     void *context);

/* Ends the segment: decides pending calls, and forgets all processes. False: out of memory. */
bool tr_call_filter_end(struct tr_call_filter *filter, tr_call_emit *emit, void *context);

/* Forgets all processes. */
void tr_call_filter_free(struct tr_call_filter *filter);

#endif
