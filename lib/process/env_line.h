/* SPDX-License-Identifier: MIT */
/* The environment that an exec record tells, told otherwise. */
#ifndef TR_PROCESS_ENV_LINE_H
#define TR_PROCESS_ENV_LINE_H

#include "process/lineage.h"

/*
 * What the record of a settled heir has to say to tell its environment in that
 * way: *key, and its map appended to `map` (nothing: neither is needed). TR_OK.
 * TR_END: it cannot be said in that way, or the pool's bound is reached, so it is said as it was;
 * what was left unsaid, because it is as the parent's is, is said where it would mean something
 * else now. TR_WARN: what it says has no meaning. TR_FATAL: memory.
 */
enum tr_status tr_heir_tell(struct tr_lineage *lineage, const struct tr_heir *heir,
			    enum tr_telling telling, const char **key, struct tr_buffer *map);

/* Why it could not be said in another way, for people. */
const char *tr_heir_trouble(struct tr_lineage *lineage, const struct tr_heir *heir);

/* Of its environment nothing was said, and nothing is known. */
bool tr_heir_is_silent(const struct tr_heir *heir);

/*
 * Appends an exec record's line with key=map in the place of whatever told its
 * environment, else behind argv or where that would end; without them where map
 * is empty. A .raw that would tell it too is left out. False: memory is out.
 */
bool tr_env_line_put(struct tr_text line, const char *key, struct tr_text map,
		     struct tr_buffer *to);

#endif
