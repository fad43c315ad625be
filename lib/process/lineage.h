/* SPDX-License-Identifier: MIT */
/*
 * Which environment every exec record of a segment has.
 *
 * Every record comes by in the order of the stream. An exec record whose
 * environment is told as a difference against that of a parent which stands
 * further behind waits for it; one whose parent was left out, or which is its
 * own ancestor, has an environment of which only the difference is known.
 * Of records with the same number the nearest one before is meant, or the
 * first one behind.
 *
 * Memory: a few bytes for each exec record, and what differs between their
 * environments, once; when that is much, it goes to temporary files.
 * After a failure nothing can be asked any more, but everything be freed. Not
 * thread safe.
 */
#ifndef TR_PROCESS_LINEAGE_H
#define TR_PROCESS_LINEAGE_H

#include "process/environment.h"
#include "record/record.h"

enum tr_name_case {
	TR_NAMES_AUTO, /* folded where something in the segment shows that it is from Windows */
	TR_NAMES_EXACT,
	TR_NAMES_FOLDED, /* names that differ in the case of ASCII letters alone are one */
};

struct tr_lineage_config {
	bool against_top;  /* envdiff too is a difference against the first environment */
	bool wants_parent; /* whoever is settled knows its parent's environment too */
	bool doubts;	   /* count what speaks against a reading of envdiff */
	enum tr_name_case names;
	struct tr_environment_rules rules;
	uint64_t max_spool; /* for temporary files of what is too much for memory; 0: none */
	unsigned max_ratio; /* see tr_environments_limit */
	size_t max_weight;  /* bytes of environments that are not too much; 0: 128 MiB */
};

/* What speaks against the readings of the envdiff fields so far. */
struct tr_lineage_doubts {
	uint64_t sets, removals;
	struct tr_environment_doubts against_parent, against_top;
};

/* How a record tells its environment. */
enum tr_telling {
	TR_TELLS_NOTHING,
	TR_TELLS_WHOLE,	 /* env */
	TR_TELLS_TOP,	 /* envtop */
	TR_TELLS_PARENT, /* envdiff */
};

/* An exec record's environment. Read only; tr_lineage_release gives it back. */
struct tr_heir {
	bool waits; /* for its parent: what follows is not known yet */
	enum tr_telling telling;
	bool lean; /* nothing that it tells goes without saying */
	struct tr_environment *own;
	struct tr_environment *parent; /* what envdiff is against; NULL: not wanted, not known */
	struct tr_environment *top;
	const char *trouble;	/* why too little is known of own or parent; NULL: it is not so */
	struct tr_text literal; /* what it tells; only of one that waits or waited */

	size_t references;
	bool has_seq, has_parent, waits_for_own;
	uint64_t seq, wanted;	/* wanted: the parent's seq, where it has one */
	uint64_t since;		/* how many records had come before it began to wait */
	struct tr_heir *next;	/* that waits for the same parent */
	struct tr_heir *later;	/* that began to wait later */
	struct tr_heir *behind; /* for its user, to queue it */
};

struct tr_lineage;

/* config's rules are borrowed. NULL: memory is out. */
struct tr_lineage *tr_lineage_new(const struct tr_lineage_config *config);
void tr_lineage_free(struct tr_lineage *lineage);

/* For tr_environment_diff and its like. */
struct tr_environments *tr_lineage_pool(struct tr_lineage *lineage);

/* Another segment begins; who waits waits in vain. False: memory is out. */
bool tr_lineage_begin(struct tr_lineage *lineage);

/*
 * A record comes by; *heir is set for exec records, else NULL. TR_WARN: err
 * says what is wrong with its environment, of which nothing is known then.
 * TR_FATAL: memory is out, *heir is NULL.
 */
enum tr_status tr_lineage_follow(struct tr_lineage *lineage, struct tr_record *record,
				 struct tr_heir **heir, struct tr_error *err);

/* Nobody else comes, or nobody may wait any longer. False: memory is out. */
bool tr_lineage_settle(struct tr_lineage *lineage);

/* Somebody waits. */
bool tr_lineage_is_waiting(const struct tr_lineage *lineage);

/* NULL is fine. */
void tr_lineage_release(struct tr_lineage *lineage, struct tr_heir *heir);

/* There was an env record, or tr_lineage_make_top. */
bool tr_lineage_has_top(const struct tr_lineage *lineage);

/* The first environment (no reference for the caller). */
struct tr_environment *tr_lineage_top(const struct tr_lineage *lineage);

/* In want of an env record the heir's is the first environment, for itself and whoever follows. */
void tr_lineage_make_top(struct tr_lineage *lineage, struct tr_heir *heir);

const struct tr_lineage_doubts *tr_lineage_doubts(const struct tr_lineage *lineage);

#endif
