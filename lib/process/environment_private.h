/* What the files environment*.c share. */
#ifndef TR_PROCESS_ENVIRONMENT_PRIVATE_H
#define TR_PROCESS_ENVIRONMENT_PRIVATE_H

#include "process/atom.h"
#include "process/environment.h"

struct tr_entry {
	struct tr_atom *name;
	struct tr_atom *value; /* NULL: removed */
};

struct tr_environment {
	struct tr_environment *base; /* NULL: what no entry names is not there, or not known */
	/* what it is open to: the unknown one at the end of the chain; NULL: it is whole */
	const struct tr_environment *origin;
	struct tr_environment *next; /* in its bucket */
	uint64_t hash;
	size_t references;
	unsigned depth;
	uint32_t count;
	struct tr_entry entries[];
};

/* What one round of comparing found under a name. Side 0 is the base, side 1 what is made of it. */
struct tr_finding {
	struct tr_atom *key; /* the name, folded where names are */
	struct tr_atom *name[2], *value[2];
	bool has[2]; /* known: to have the value, or with none not to be there */
};

struct tr_environment_memory;

struct tr_environments {
	struct tr_atoms atoms;
	struct tr_environment_rules rules;
	bool fold;

	struct tr_environment **buckets;
	size_t bucket_count, count;

	struct tr_environment_memory *memory; /* NULL until the first is remembered */
	uint64_t clock;

	/* scratch: the names seen in this round, each once */
	struct tr_finding *findings;
	size_t finding_count, finding_cap;
	size_t named; /* of the findings, those that came first and from a map */
	uint64_t round;
};

/* environment_gather.c */

/* Begins to gather: nothing is found yet. */
void tr_findings_begin(struct tr_environments *pool);

/*
 * Gathers what an environment knows as side 0 or 1; the newest word on a name
 * counts. Names that are new to the round come in reverse order. False: memory.
 */
bool tr_findings_add(struct tr_environments *pool, const struct tr_environment *env, int side);

/* Gathers what a map says as side 1, first of all. False: memory; drop what came, all the same. */
bool tr_findings_add_map(struct tr_environments *pool, const struct tr_value *map);

/* Gives back the references that tr_findings_add_map took. */
void tr_findings_drop_map(struct tr_environments *pool);

/* Do the sides differ? open: not to know a name is not the same as not to have it. */
static inline bool tr_finding_differs(const struct tr_finding *finding, bool open)
{
	return finding->value[0] != finding->value[1] ||
	       (open && finding->has[0] != finding->has[1]);
}

/* TR_NAME_…, as the rules have it. */
unsigned tr_name_judge(struct tr_environments *pool, struct tr_atom *name);

/* environment_memory.c */
void tr_environments_forget(struct tr_environments *pool);

#endif
