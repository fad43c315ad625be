/* SPDX-License-Identifier: MIT */
/*
 * The environments of many processes in little memory.
 *
 * An environment is immutable, and is stored as its difference to the one it was derived from.
 * Names, values and equal environments are stored once per pool. Environments are reference
 * counted: functions that return a new one give the caller a reference, to be given up with
 * tr_environment_release before the pool is freed.
 *
 * An environment is whole if all its variables are known. One that is derived from
 * tr_environment_unknown is not: a variable is either known to be set, known not to be set, or
 * unknown.
 *
 * Names are spelled strings without quotes, and values are spelled literals of any type, both as
 * in a map of the stream. Variables keep their order. Those that a difference sets come after all
 * others, so that a difference that is applied and computed again has the same order; removals
 * come last.
 *
 * Functions that return NULL or false have run out of memory, or could not read the temporary
 * file, unless stated otherwise; tr_environments_error returns which. A pool and its environments
 * are used by one thread at a time.
 */
#ifndef TR_PROCESS_ENVIRONMENT_H
#define TR_PROCESS_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "record/value.h"

struct tr_environments; /* a pool */
struct tr_environment;

enum {
	TR_NAME_SELECTED = 1, /* variables with other names are ignored */
	TR_NAME_HIDDEN = 2,   /* the value is printed as "***" */
};

/*
 * Selects and hides variables by their spelled names. fold: names are compared without regard to
 * the case of letters. The verdict is a set of TR_NAME_ flags; it is computed once per name and
 * kept. Without judge, all variables are selected and none is hidden.
 */
struct tr_environment_rules {
	bool (*judge)(void *context, struct tr_text name, bool fold, unsigned *verdict);
	void *context; /* judge returns false if memory is exhausted */
};

struct tr_environments *tr_environments_new(void);
void tr_environments_free(struct tr_environments *pool);

/*
 * Moves values to a temporary file of up to max_spool bytes once max_here bytes of them are in
 * memory. Values in the file stay there until the pool is freed.
 */
void tr_environments_spill(struct tr_environments *pool, size_t max_here, uint64_t max_spool);

/*
 * Bounds the output of tr_environment_diff and tr_environment_write, which can be quadratic in
 * their input: a chain of N processes that each add a variable has N * N / 2 variables. On
 * average a record may have `ratio` variables and ratio times its own bytes; the first 262144
 * variables and 64 MiB are free. 0 (default): no bound. Writers of formats, which have no such
 * option, use TR_ENVIRONMENTS_RATIO.
 */
enum { TR_ENVIRONMENTS_RATIO = 1000 };
void tr_environments_limit(struct tr_environments *pool, unsigned ratio);

/* Counts a record of that many bytes. False: the bound is reached, so do not write more. */
bool tr_environments_may_write(struct tr_environments *pool, size_t record_bytes);

/* True if tr_environments_may_write last returned false. */
bool tr_environments_are_spent(const struct tr_environments *pool);

/* Sets err to the reason of the last failure. */
void tr_environments_error(const struct tr_environments *pool, struct tr_error *err);

/* Makes err the reason that tr_environments_error returns from now on. */
void tr_environments_fail(struct tr_environments *pool, const struct tr_error *err);

/* The bytes in memory of all environments with their names and values. */
size_t tr_environments_weight(const struct tr_environments *pool);

/* Sets the rules for environments that are made from now on; the context is borrowed. */
void tr_environments_set_rules(struct tr_environments *pool,
			       const struct tr_environment_rules *rules);

/* Applies the rules to a name. */
bool tr_environments_judge(struct tr_environments *pool, struct tr_text name, unsigned *verdict);

/*
 * Compares names from now on without regard to the case of ASCII letters, as Windows does. Do not
 * use environments that were made before, except through tr_environment_fold.
 */
void tr_environments_fold(struct tr_environments *pool, bool fold);

/*
 * Turns folding on and returns a whole environment as it is under that rule: of names that have
 * become equal the last one counts.
 */
struct tr_environment *tr_environment_fold(struct tr_environments *pool,
					   struct tr_environment *env);

bool tr_environments_are_folded(const struct tr_environments *pool);

/* An environment in which every variable is unknown. It is equal to no other. */
struct tr_environment *tr_environment_unknown(struct tr_environments *pool);

/*
 * base (NULL: the empty environment) with the variables of a map set, or removed if null. *minimal
 * (unless NULL): the map contains no redundant entries, so that tr_environment_diff would return
 * the same apart from the order.
 */
struct tr_environment *tr_environment_apply(struct tr_environments *pool,
					    struct tr_environment *base, const struct tr_value *map,
					    bool *minimal);

/*
 * The environment that has the variables of the map and no others. near (or NULL) is an
 * environment that may resemble it, which saves memory; variables of both keep the order of near.
 */
struct tr_environment *tr_environment_whole(struct tr_environments *pool,
					    struct tr_environment *near,
					    const struct tr_value *map);

/*
 * Most traces have the same differences and environments again and again. tr_environments_keep
 * keeps, for some of them, what tr_environment_apply made of a base and a spelled map, or with base
 * NULL, tr_environment_whole of a map. tr_environments_recall returns that environment for an equal
 * base and an equal spelling, so that the map need not be parsed; NULL: parse it.
 */
struct tr_environment *tr_environments_recall(struct tr_environments *pool,
					      struct tr_environment *base, struct tr_text spelling,
					      bool *minimal);
void tr_environments_keep(struct tr_environments *pool, const struct tr_environment *base,
			  struct tr_text spelling, const struct tr_environment *env, bool minimal);

/* A number that no other environment of the pool ever has. */
uint64_t tr_environment_id(const struct tr_environment *env);

/* A number for whoever stores environments, 0 at first. It may be that of an earlier store. */
uint32_t tr_environment_place(const struct tr_environment *env);
void tr_environment_set_place(struct tr_environment *env, uint32_t place);

/* Both accept NULL. */
struct tr_environment *tr_environment_retain(struct tr_environment *env);
void tr_environment_release(struct tr_environments *pool, struct tr_environment *env);

/* The number of references, including those of other environments. */
size_t tr_environment_references(const struct tr_environment *env);

/* True if all variables are known. */
bool tr_environment_is_whole(const struct tr_environment *env);

/* True if every variable is unknown. */
bool tr_environment_is_unknown(const struct tr_environment *env);

/*
 * Appends the map that turns base (NULL: the empty environment) into env: variables that were
 * added or changed, then null for those that were removed; "{}" if both are equal. Returns TR_END
 * and appends nothing if the difference depends on unknown variables; TR_FATAL if it fails.
 */
enum tr_status tr_environment_diff(struct tr_environments *pool, struct tr_environment *base,
				   struct tr_environment *env, struct tr_buffer *to);

/* Appends the known variables of env as a map. */
bool tr_environment_write(struct tr_environments *pool, struct tr_environment *env,
			  struct tr_buffer *to);

/* Like tr_environment_write with hidden values in plain, for tr_environment_whole to read back. */
bool tr_environment_write_plain(struct tr_environments *pool, struct tr_environment *env,
				struct tr_buffer *to);

/* Reasons to doubt that a map is a difference to a given base. */
struct tr_environment_doubts {
	uint64_t redundant;  /* variables that base already has with that value */
	uint64_t impossible; /* variables to remove that base does not have */
};

/* Adds the doubts about a map to the counters. */
bool tr_environment_doubt(struct tr_environments *pool, struct tr_environment *base,
			  const struct tr_value *map, struct tr_environment_doubts *doubts);

/* Records env as the environment of record seq, for the 131072 records that were used last. */
bool tr_environments_remember(struct tr_environments *pool, uint64_t seq,
			      struct tr_environment *env);

/* The environment of a record, borrowed. NULL: it is unknown, or was dropped. */
struct tr_environment *tr_environments_of(struct tr_environments *pool, uint64_t seq);

#endif
