/* SPDX-License-Identifier: MIT */
/*
 * The environments of records, by seq. If all of them take much memory, those that nothing but this
 * store refers to move to a temporary file: children of any record may still come, but most have
 * come already.
 */
#ifndef TR_PROCESS_ENV_STORE_H
#define TR_PROCESS_ENV_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/map.h"
#include "core/spool.h"
#include "process/environment.h"

struct tr_env_store {
	struct tr_environments *pool;
	uint64_t max_spool; /* 0: everything stays in memory */
	size_t max_weight;  /* bytes of environments in memory; 0: 128 MiB */

	struct tr_id_map known; /* private from here; see env_store.c */
	struct tr_spool *spool;
	struct tr_spool_window window;
	struct tr_buffer scratch;
	size_t spill_at;
};

/* The environment of a record, no reference for the caller. NULL: unknown, or *failed. */
struct tr_environment *tr_env_store_find(struct tr_env_store *store, uint64_t seq, bool *failed);

/* Sets the environment of a record. False: memory is exhausted. */
bool tr_env_store_put(struct tr_env_store *store, uint64_t seq, struct tr_environment *env);

/* Forgets all records; the store can be used again. */
void tr_env_store_free(struct tr_env_store *store);

#endif
