/* SPDX-License-Identifier: MIT */
/*
 * What the files environment*.c share.
 *
 * An environment says what is different from its base. So that no chain gets
 * long and no large environment is copied, one in a while is heavy: it has all
 * that is known of it in a trie, which shares its nodes with those of others.
 */
#ifndef TR_PROCESS_ENVIRONMENT_PRIVATE_H
#define TR_PROCESS_ENVIRONMENT_PRIVATE_H

#include "process/environment.h"
#include "process/trie.h"

struct tr_entry {
	struct tr_atom *name;
	struct tr_atom *value; /* NULL: removed */
};

struct tr_environment {
	/* what a light one says is a difference to, and one that is not whole; else NULL */
	struct tr_environment *base;
	uint64_t id, base_id; /* of no other that ever was; base_id 0: made of nothing */
	/* the unknown one that it was made of in the end; NULL: it is whole */
	const struct tr_environment *origin;
	struct tr_environment *next; /* in its bucket */
	struct tr_trie *trie;	     /* of a heavy one: all that is known */
	uint64_t hash;
	size_t references;
	size_t size;	/* names that are known to have a value */
	uint64_t stamp; /* of its first entry; they rise along the chain */
	uint32_t count;
	uint16_t depth; /* light ones up to a heavy one */
	bool heavy;
	struct tr_entry entries[];
};

/* What one round of comparing found under a name. Side 0 is the base, side 1 what is made of it. */
struct tr_finding {
	struct tr_atom *key; /* the name, folded where names are */
	struct tr_atom *name[2], *value[2];
	uint64_t stamp[2]; /* the order on that side */
	bool has[2];	   /* known: to have the value, or with none not to be there */
};

struct tr_environment_memory;

struct tr_environments {
	struct tr_atoms atoms;
	struct tr_environment_rules rules;
	bool fold;

	struct tr_environment **buckets;
	size_t bucket_count, count;
	uint64_t last_id;
	size_t weight; /* bytes of all environments, without atoms and tries */

	unsigned ratio; /* see tr_environments_limit */
	bool spent;
	uint64_t records, bytes_read, variables_written, bytes_written;

	struct tr_environment_memory *memory; /* NULL until the first is remembered */
	uint64_t clock;

	/* scratch: the names of this round, each once */
	struct tr_finding *findings;
	size_t finding_count, finding_cap;
	size_t named; /* of the findings, those that came first and from a map */
	uint64_t round;
};

/* environment_gather.c: false: memory is out. */

/* Begins to gather: nothing is found yet. */
void tr_findings_begin(struct tr_environments *pool);

/* Adds all that is known of an environment as that side. */
bool tr_findings_add(struct tr_environments *pool, const struct tr_environment *env, int side);

/* Adds what a map says as side 1, first of all. Without memory drop what came, all the same. */
bool tr_findings_add_map(struct tr_environments *pool, const struct tr_value *map);

/* Gives back the references that tr_findings_add_map took. */
void tr_findings_drop_map(struct tr_environments *pool);

/* Adds the names in which two environments may differ. */
bool tr_findings_add_candidates(struct tr_environments *pool, const struct tr_environment *a,
				const struct tr_environment *b);

/* Says of all names that were added what an environment (NULL: none) knows, as that side. */
void tr_findings_look_up(struct tr_environments *pool, const struct tr_environment *env, int side);

/* Do the sides differ? open: not to know a name is not the same as not to have it. */
static inline bool tr_finding_differs(const struct tr_finding *finding, bool open)
{
	return finding->value[0] != finding->value[1] ||
	       (open && finding->has[0] != finding->has[1]);
}

/* The name, or what stands for it where names are folded. NULL: memory is out. */
static inline struct tr_atom *tr_name_key(struct tr_environments *pool, struct tr_atom *name)
{
	return pool->fold ? tr_atom_fold(&pool->atoms, name) : name;
}

/* *verdict: TR_NAME_…, as the rules have it. False: memory is out. */
bool tr_name_judge(struct tr_environments *pool, struct tr_atom *name, unsigned *verdict);

/* environment_table.c */

/* One that says the same as env, whose hash is set; NULL: there is none. */
struct tr_environment *tr_environments_find(struct tr_environments *pool,
					    struct tr_environment *env);
/* Puts env, whose hash is set, among all. */
void tr_environments_keep(struct tr_environments *pool, struct tr_environment *env);
/* The same for one that was made of nothing: it is not looked for, but has to be somewhere. */
void tr_environments_keep_alone(struct tr_environments *pool, struct tr_environment *env);
void tr_environments_drop(struct tr_environments *pool, struct tr_environment *env);

/* environment_memory.c */
void tr_environments_forget(struct tr_environments *pool);

#endif
