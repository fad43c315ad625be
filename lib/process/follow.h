/* SPDX-License-Identifier: MIT */
/*
 * The whole environment of the program that has just come, whatever way its
 * record tells it: whole, against its parent's, or against the first one. One
 * look, in bounded memory: a parent that stands behind its child is not waited
 * for, so that the child's is not known. env_tracker.h waits, and remembers all.
 */
#ifndef TR_PROCESS_FOLLOW_H
#define TR_PROCESS_FOLLOW_H

#include "core/error.h"
#include "process/environment.h"
#include "record/record.h"

struct tr_follow {
	struct tr_environments *pool; /* NULL: nothing came yet */
	struct tr_environment *top;
	struct tr_environment *own; /* of the exec record that came last; NULL: not known */
};

/* Another segment begins. */
void tr_follow_free(struct tr_follow *follow);

/*
 * An env or exec record comes; others do nothing. TR_WARN: an environment that
 * is no map (own is NULL then). TR_FATAL: memory.
 */
enum tr_status tr_follow_record(struct tr_follow *follow, struct tr_record *record,
				struct tr_error *err);

#endif
