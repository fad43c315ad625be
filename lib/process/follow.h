/* SPDX-License-Identifier: MIT */
/*
 * Finds the whole environment of the exec record that came last, from its env, envdiff or envtop
 * field. Memory is bounded: nothing is pending, so if the parent comes after its child, the child's
 * environment is unknown. env_tracker.h finds that too, and needs memory for all records.
 */
#ifndef TR_PROCESS_FOLLOW_H
#define TR_PROCESS_FOLLOW_H

#include "core/error.h"
#include "process/environment.h"
#include "process/parent.h"
#include "record/record.h"

struct tr_follow {
	struct tr_environments *pool; /* NULL: there was no record yet */
	struct tr_environment *top;
	/* of the exec record that came last */
	struct tr_environment *own; /* NULL: unknown */
	struct tr_parent parent;    /* lives as long as the record */
	bool minimal;		    /* it has the smallest difference to its parent, or none */
};

/* Frees all; the next record begins another segment. */
void tr_follow_free(struct tr_follow *follow);

/*
 * Takes the next record; only env and exec records have an effect. TR_WARN: the environment is no
 * map, and own is NULL. TR_FATAL: memory is exhausted.
 */
enum tr_status tr_follow_record(struct tr_follow *follow, struct tr_record *record,
				struct tr_error *err);

#endif
