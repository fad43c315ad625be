/*
 * The environments of many processes in little memory. An environment is
 * immutable and says how it differs from the one it was made of; names and
 * values are kept once for all. Which environment belongs to which record is
 * remembered for the records that were used last, in bounded memory.
 *
 * Names are string spellings, values are spelled literals of any type, as the
 * map of the stream has them. Not thread safe.
 */
#ifndef TR_PROCESS_ENVIRONMENT_H
#define TR_PROCESS_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "record/value.h"

struct tr_environments;
struct tr_environment;

/* NULL: memory is out. */
struct tr_environments *tr_environments_new(void);
void tr_environments_free(struct tr_environments *pool);

/*
 * base (NULL: the empty environment) with what a map sets, and without what it
 * has null for. The caller owns a reference. NULL: memory is out.
 */
struct tr_environment *tr_environment_apply(struct tr_environments *pool,
					    struct tr_environment *base,
					    const struct tr_value *map);

/* The environment that has what the map sets and nothing else; near says what it may resemble. */
struct tr_environment *tr_environment_whole(struct tr_environments *pool,
					    struct tr_environment *near,
					    const struct tr_value *map);

struct tr_environment *tr_environment_retain(struct tr_environment *env);
void tr_environment_release(struct tr_environments *pool, struct tr_environment *env);

/*
 * Appends what turns base into env as a map literal: what is new or changed,
 * null for what is gone. "{}" where both say the same. False: memory is out.
 */
bool tr_environment_diff(struct tr_environments *pool, struct tr_environment *base,
			 struct tr_environment *env, struct tr_buffer *to);

/* Record seq has this environment (a reference of its own is taken). False: memory is out. */
bool tr_environments_remember(struct tr_environments *pool, uint64_t seq,
			      struct tr_environment *env);

/* The environment of a record (no reference for the caller); NULL: not known or forgotten. */
struct tr_environment *tr_environments_of(struct tr_environments *pool, uint64_t seq);

#endif
