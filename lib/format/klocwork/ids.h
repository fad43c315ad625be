/*
 * From an id to the last value given for it, in bounded memory: a trace of any
 * length must not grow the reader. Ids that count upwards together with their
 * values (nearly all do) are runs, one for any number of them; the others are
 * in a table of fixed size from which the least recently used one falls out.
 */
#ifndef TR_FORMAT_KLOCWORK_IDS_H
#define TR_FORMAT_KLOCWORK_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

struct tr_klocwork_run;
struct tr_klocwork_entry;

struct tr_klocwork_ids {
	struct tr_klocwork_run
		*runs; /* by id, and so by time: a new one is always beyond the last */
	size_t run_count, run_cap;
	struct tr_klocwork_entry *table; /* sets of WAYS entries; NULL until an id needs it */
	uint64_t clock; /* counts uses; entries used before `forgotten` are not there */
	uint64_t forgotten;
};

#define TR_KLOCWORK_IDS_INIT \
	{ \
		NULL, 0, 0, NULL, 1, 0 \
	}

/* Of any id; not seeded: what it leads to is bounded. */
uint64_t tr_klocwork_id_hash(struct tr_text id);

/* id is the text of a JSON value. False: memory is out. */
bool tr_klocwork_ids_put(struct tr_klocwork_ids *ids, struct tr_text id, uint64_t value);
bool tr_klocwork_ids_put_number(struct tr_klocwork_ids *ids, uint64_t id, uint64_t value);

/* False: never put, forgotten, or fallen out. A find counts as a use. */
bool tr_klocwork_ids_find(struct tr_klocwork_ids *ids, struct tr_text id, uint64_t *value);
bool tr_klocwork_ids_find_number(struct tr_klocwork_ids *ids, uint64_t id, uint64_t *value);

/* Forgets all ids in constant time. */
void tr_klocwork_ids_forget(struct tr_klocwork_ids *ids);

void tr_klocwork_ids_free(struct tr_klocwork_ids *ids);

#endif
