/* SPDX-License-Identifier: MIT */
/*
 * The environments of many processes in little memory. An environment is
 * immutable and says how it differs from the one it was made of; names, values
 * and equal differences are kept once for all.
 *
 * An environment need not be known as a whole: one that was made of
 * tr_environment_unknown has names of which it cannot be said what they are.
 *
 * Names are string spellings, values are spelled literals of any type, as the
 * map of the stream has them. Their order is kept: what a difference names
 * stands behind all else, so that telling the difference again gives its order
 * back; removals come last. Not thread safe.
 */
#ifndef TR_PROCESS_ENVIRONMENT_H
#define TR_PROCESS_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "record/value.h"

struct tr_environments;
struct tr_environment;

enum { TR_NAME_SELECTED = 1, TR_NAME_HIDDEN = 2 };

/*
 * Which names there are at all, and which values are not told: TR_NAME_… of a
 * name (spelled; fold: the case of its letters means nothing). NULL: all, none.
 */
struct tr_environment_rules {
	bool (*judge)(void *context, struct tr_text name, bool fold, unsigned *verdict);
	void *context; /* judge returns false when memory is out */
};

/* NULL: memory is out. */
struct tr_environments *tr_environments_new(void);
void tr_environments_free(struct tr_environments *pool);

/*
 * Values beyond max_here bytes in all go to a temporary file of up to max_spool
 * bytes. For pools that grow and grow: what is in the file stays there.
 */
void tr_environments_spill(struct tr_environments *pool, size_t max_here, uint64_t max_spool);

/*
 * Bounds what tr_environment_diff and tr_environment_write put out, which can be quadratic in
 * what they were made of: a chain of N processes that each add a variable has N * N / 2. On
 * average a record has at most `ratio` variables, and not more than ratio times its own bytes;
 * the first 262144 variables and 64 MiB are free. 0 (default): no bound. Writers of formats, which
 * have no such option, use TR_ENVIRONMENTS_RATIO.
 */
enum { TR_ENVIRONMENTS_RATIO = 1000 };
void tr_environments_limit(struct tr_environments *pool, unsigned ratio);

/* A record of that many bytes comes. False: the bound is reached, so none is to be put out. */
bool tr_environments_may_write(struct tr_environments *pool, size_t record_bytes);

/* What tr_environments_may_write returned last is false. */
bool tr_environments_are_spent(const struct tr_environments *pool);

/* Why a call failed: memory is out, or the temporary file cannot be read. */
void tr_environments_error(const struct tr_environments *pool, struct tr_error *err);

/* The same for what the owner could not do: it is the reason from now on. */
void tr_environments_fail(struct tr_environments *pool, const struct tr_error *err);

/* Bytes that environments take in memory, and all that they are made of. */
size_t tr_environments_weight(const struct tr_environments *pool);

/* For all environments that are made from now on; borrowed. */
void tr_environments_set_rules(struct tr_environments *pool,
			       const struct tr_environment_rules *rules);

/* What the rules say of a name: TR_NAME_…. False: memory is out. */
bool tr_environments_judge(struct tr_environments *pool, struct tr_text name, unsigned *verdict);

/*
 * From now on names that differ in the case of ASCII letters alone are the
 * same, as on Windows; of environments that were made before this says nothing.
 */
void tr_environments_fold(struct tr_environments *pool, bool fold);
/*
 * The same, and the whole environment env under that rule: of names that are
 * one now the last counts. NULL: memory is out.
 */
struct tr_environment *tr_environment_fold(struct tr_environments *pool,
					   struct tr_environment *env);

bool tr_environments_are_folded(const struct tr_environments *pool);

/* One of which nothing is known, and that is like no other. NULL: memory is out. */
struct tr_environment *tr_environment_unknown(struct tr_environments *pool);

/*
 * base (NULL: the empty environment) with what a map sets, and without what it
 * has null for. The caller owns a reference. NULL: memory is out.
 */
struct tr_environment *tr_environment_apply(struct tr_environments *pool,
					    struct tr_environment *base,
					    const struct tr_value *map);

/*
 * The same. *lean: nothing in the map goes without saying, so it is a
 * difference as tr_environment_diff would tell it, but for its order.
 */
struct tr_environment *tr_environment_apply_lean(struct tr_environments *pool,
						 struct tr_environment *base,
						 const struct tr_value *map, bool *lean);

/* The environment that has what the map sets and nothing else; near says what it may resemble. */
struct tr_environment *tr_environment_whole(struct tr_environments *pool,
					    struct tr_environment *near,
					    const struct tr_value *map);

struct tr_environment *tr_environment_retain(struct tr_environment *env);
void tr_environment_release(struct tr_environments *pool, struct tr_environment *env);

/* How many references there are, other environments' included. */
size_t tr_environment_references(const struct tr_environment *env);

/* Everything in it is known. */
bool tr_environment_is_whole(const struct tr_environment *env);

/* Nothing in it is known. */
bool tr_environment_is_unknown(const struct tr_environment *env);

/*
 * Appends what turns base (NULL: the empty environment) into env as a map
 * literal: what is new or changed, null for what is gone. "{}" where both say
 * the same. TR_END: it cannot be said, because too little is known of one of
 * them; nothing is appended. TR_FATAL: memory is out.
 */
enum tr_status tr_environment_diff(struct tr_environments *pool, struct tr_environment *base,
				   struct tr_environment *env, struct tr_buffer *to);

/* Appends what is known of env as a map literal. False: memory is out. */
bool tr_environment_write(struct tr_environments *pool, struct tr_environment *env,
			  struct tr_buffer *to);

/* The same with hidden values as they are, for tr_environment_whole to make it again. */
bool tr_environment_spell(struct tr_environments *pool, struct tr_environment *env,
			  struct tr_buffer *to);

/* What speaks against a map's being a difference to base. */
struct tr_environment_doubts {
	uint64_t redundant;  /* set to what they are in base */
	uint64_t impossible; /* removed, though base does not have them */
};

/* Adds to doubts. False: memory is out. */
bool tr_environment_doubt(struct tr_environments *pool, struct tr_environment *base,
			  const struct tr_value *map, struct tr_environment_doubts *doubts);

/*
 * Which environment belongs to which record, for the records that were used
 * last, in bounded memory.
 */

/* Record seq has this environment (a reference of its own is taken). False: memory is out. */
bool tr_environments_remember(struct tr_environments *pool, uint64_t seq,
			      struct tr_environment *env);

/* The environment of a record (no reference for the caller); NULL: not known or forgotten. */
struct tr_environment *tr_environments_of(struct tr_environments *pool, uint64_t seq);

#endif
