/* SPDX-License-Identifier: MIT */
/* What the files lineage*.c share. */
#ifndef TR_PROCESS_LINEAGE_PRIVATE_H
#define TR_PROCESS_LINEAGE_PRIVATE_H

#include "core/map.h"
#include "core/spool.h"
#include "process/lineage.h"

struct tr_lineage {
	struct tr_lineage_config config;
	struct tr_environments *pool;
	struct tr_lineage_doubts doubts;
	struct tr_buffer scratch;

	/* the segment */
	struct tr_environment *top;
	bool has_top;
	bool any_exec; /* since the trace began, of which there may be several in the segment */
	bool names_settled; /* whether they are folded: the first exec record has come */
	/* somebody told a difference against the first environment; and nobody anything else */
	bool any_top, only_top;
	struct tr_id_map known;	  /* seq to environment, a reference each; see lineage_park.c */
	struct tr_id_map pending; /* seq to the heir that waits for its own environment */
	struct tr_id_map waiters; /* seq to the heirs that wait for it */
	struct tr_id_map links;	  /* seq to 1 + its parent's, of who came while somebody waits */
	struct tr_heir *first, *last; /* who waits, or has waited */
	size_t waiting;
	struct tr_spool *parked;       /* environments that are not in memory */
	struct tr_spool_window window; /* of it */
	size_t park_at;		       /* when they are too much */
	bool any_seq;
	uint64_t highest;  /* of all seqs */
	uint64_t numbered; /* records with a seq that came */
	uint64_t
		disorder; /* how many there were when the last came that was not above all others */
};

/*
 * So many records in a row whose seqs rise are a stream in order: what is below
 * the last of them and not there was left out, and will not come.
 */
enum { TR_LINEAGE_ORDER = 256 };

/* lineage_heir.c */

/* This is the first environment from now on. */
void tr_lineage_set_top(struct tr_lineage *lineage, struct tr_environment *env);

/* Its own out of what it tells and its parent's environment. False: memory. */
bool tr_heir_inherit(struct tr_lineage *lineage, struct tr_heir *heir, const struct tr_value *map);

/* lineage_park.c */

/* The environment of a record that came, no reference for the caller. NULL: unknown, or *failed. */
struct tr_environment *tr_lineage_find(struct tr_lineage *lineage, uint64_t seq, bool *failed);

/* Record seq has this environment. False: memory. */
bool tr_lineage_remember(struct tr_lineage *lineage, uint64_t seq, struct tr_environment *env);

/* No record is known any more. */
void tr_lineage_forget(struct tr_lineage *lineage);

/* lineage_names.c: whether names are folded is settled before the first exec record. */
void tr_lineage_look_at_env(struct tr_lineage *lineage, const struct tr_value *map);

/* What the first exec record shows; map: its environment, or NULL. False: memory. */
bool tr_lineage_look_at_first(struct tr_lineage *lineage, struct tr_record *record,
			      const struct tr_value *map);

/* lineage_wait.c */

/* A record with that seq comes: where it stands among the others. */
void tr_lineage_note_seq(struct tr_lineage *lineage, uint64_t seq);

/* Can a record with this number not come any more? */
bool tr_lineage_has_passed(const struct tr_lineage *lineage, uint64_t seq);

/* Puts the heir among those that wait for heir->wanted. False: memory. */
bool tr_lineage_wait(struct tr_lineage *lineage, struct tr_heir *heir);

/* Somebody waits, so whose parent this one has may close a circle. False: memory. */
bool tr_lineage_link(struct tr_lineage *lineage, const struct tr_heir *heir);

/* Record seq has this environment: it is remembered, and whoever waits for it goes on. */
bool tr_lineage_register(struct tr_lineage *lineage, uint64_t seq, struct tr_environment *env);

/* The environment of a record that does not come: nothing is known of it. NULL: memory. */
struct tr_environment *tr_lineage_missing(struct tr_lineage *lineage, uint64_t seq);

/* Whoever waits for a record that should have come by now waits no more. False: memory. */
bool tr_lineage_lose_patience(struct tr_lineage *lineage);

/* Forgets all who wait. */
void tr_lineage_abandon(struct tr_lineage *lineage);

#endif
