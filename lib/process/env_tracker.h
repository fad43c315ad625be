/* SPDX-License-Identifier: MIT */
/*
 * Finds the environment of every exec record of a segment.
 *
 *	tr_env_tracker_follow   every record, in the order of the stream; of an exec record, it
 *	                        returns the environment (struct tr_exec_env)
 *	struct store            the environments of the records so far, by seq
 *	record/pending.h        exec records whose environment is a difference to that of a
 *	                        parent which comes later: they are pending on the parent's seq
 *	tr_env_tracker_settle   gives up, at the end, what is still pending
 *
 * A record whose parent was left out, or which is its own ancestor, has an environment of which
 * only the difference is known. If several records have the parent's seq, the parent is the nearest
 * one before the child or, if there is none before, the first one after it.
 *
 * Memory: a few bytes for each exec record, the records that are pending, and each distinct
 * difference between environments, once; large ones are moved to temporary files. After a failure
 * everything can only be freed. Not thread safe.
 */
#ifndef TR_PROCESS_ENV_TRACKER_H
#define TR_PROCESS_ENV_TRACKER_H

#include "process/environment.h"
#include "record/record.h"

enum tr_name_case {
	TR_NAMES_AUTO, /* folded if a record shows that the segment is from Windows */
	TR_NAMES_EXACT,
	TR_NAMES_FOLDED, /* names that differ only in the case of ASCII letters are equal */
};

struct tr_env_tracker_config {
	bool against_top;  /* envdiff, too, is a difference to the first environment */
	bool wants_parent; /* the parent's environment is wanted, too */
	bool doubts;	   /* count what contradicts a reading of envdiff */
	enum tr_name_case names;
	struct tr_environment_rules rules;
	uint64_t max_spool; /* bytes of temporary files; 0: none are used */
	unsigned max_ratio; /* see tr_environments_limit */
	size_t max_weight;  /* bytes of environments that stay in memory; 0: 128 MiB */
};

/* Counts of entries that contradict each reading of the envdiff fields so far. */
struct tr_env_tracker_doubts {
	uint64_t sets, removals;
	struct tr_environment_doubts against_parent, against_top;
};

/* The form in which a record has its environment. */
enum tr_env_form {
	TR_ENV_FORM_NONE,
	TR_ENV_FORM_WHOLE,  /* env */
	TR_ENV_FORM_TOP,    /* envtop: a difference to the first environment */
	TR_ENV_FORM_PARENT, /* envdiff: a difference to the parent's environment */
};

/* The environment of an exec record. Read only; tr_env_tracker_release gives it back. */
struct tr_exec_env {
	bool pending; /* on the parent: the members up to literal are not final */
	enum tr_env_form form;
	bool minimal; /* the difference contains no redundant entries */
	struct tr_environment *own;
	struct tr_environment *parent; /* the base of envdiff; NULL: not wanted, or unknown */
	struct tr_environment *top;
	const char *trouble;	/* the reason why too little is known of own or parent, or NULL */
	struct tr_text literal; /* the record's map; only of one that is or was pending */

	size_t references;
	bool has_seq, has_parent, own_pending;
	uint64_t seq, wanted;	  /* wanted: the seq of the parent, if it has one */
	uint64_t since;		  /* how many records had come when it became pending */
	struct tr_exec_env *next; /* for a queue of its user */
};

struct tr_env_tracker;

/* The rules of the configuration are borrowed. NULL: memory is exhausted. */
struct tr_env_tracker *tr_env_tracker_new(const struct tr_env_tracker_config *config);
void tr_env_tracker_free(struct tr_env_tracker *tracker);

/* For tr_environment_diff and similar functions. */
struct tr_environments *tr_env_tracker_pool(struct tr_env_tracker *tracker);

/* Begins a segment; records that are pending stay so forever. False: memory is exhausted. */
bool tr_env_tracker_begin(struct tr_env_tracker *tracker);

/*
 * Follows a record; *exec is set for exec records, else NULL. TR_WARN: err describes what is wrong
 * with its environment, which is unknown then. TR_FATAL: memory is exhausted, *exec is NULL.
 */
enum tr_status tr_env_tracker_follow(struct tr_env_tracker *tracker, struct tr_record *record,
				     struct tr_exec_env **exec, struct tr_error *err);

/* Settles all records that are pending. False: memory is exhausted. */
bool tr_env_tracker_settle(struct tr_env_tracker *tracker);

/* exec may be NULL. */
void tr_env_tracker_release(struct tr_env_tracker *tracker, struct tr_exec_env *exec);

/* True after an env record, or tr_env_tracker_make_top. */
bool tr_env_tracker_has_top(const struct tr_env_tracker *tracker);

/* The first environment (no reference for the caller). */
struct tr_environment *tr_env_tracker_top(const struct tr_env_tracker *tracker);

/* Without an env record, makes the record's environment the first one, from this record on. */
void tr_env_tracker_make_top(struct tr_env_tracker *tracker, struct tr_exec_env *exec);

const struct tr_env_tracker_doubts *tr_env_tracker_doubts(const struct tr_env_tracker *tracker);

#endif
