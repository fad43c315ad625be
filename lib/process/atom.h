/* Texts that are kept once: two are equal when their atoms are the same. */
#ifndef TR_PROCESS_ATOM_H
#define TR_PROCESS_ATOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

struct tr_atom {
	struct tr_atom *next; /* in its bucket */
	size_t references;
	uint64_t hash;
	/* For the owner of the atoms: what a round of comparing two sides found under this name. */
	uint64_t round;
	bool has[2];
	struct tr_atom *value[2];
	size_t len;
	char bytes[];
};

struct tr_atoms {
	struct tr_atom **buckets;
	size_t bucket_count, count;
	uint64_t seed; /* differs from run to run, so that no input can be made to collide */
};

/* False: memory is out. */
bool tr_atoms_init(struct tr_atoms *atoms);
void tr_atoms_free(struct tr_atoms *atoms);

/* The caller owns a reference. NULL: memory is out. */
struct tr_atom *tr_atom_get(struct tr_atoms *atoms, struct tr_text text);

static inline struct tr_atom *tr_atom_retain(struct tr_atom *atom)
{
	if (atom)
		atom->references++;
	return atom;
}

/* NULL is fine. */
void tr_atom_release(struct tr_atoms *atoms, struct tr_atom *atom);

static inline struct tr_text tr_atom_text(const struct tr_atom *atom)
{
	return (struct tr_text){ atom->bytes, atom->len };
}

#endif
