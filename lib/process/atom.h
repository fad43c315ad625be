/* SPDX-License-Identifier: MIT */
/* Texts that are kept once: two are equal when their atoms are the same. */
#ifndef TR_PROCESS_ATOM_H
#define TR_PROCESS_ATOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"

struct tr_atom {
	struct tr_atom *next;	/* in its bucket */
	struct tr_atom *folded; /* see tr_atom_fold; NULL: not asked yet */
	size_t references;
	uint64_t hash;
	/* For the owner of the atoms. */
	uint64_t round;	  /* the round of comparing in which it was seen last ... */
	uint32_t slot;	  /* ... and where its findings are */
	uint8_t verdicts; /* what was found out about it once and for all */
	bool large;	  /* it may be away */
	size_t len;
	uint64_t away; /* 1 + where it is in the spool; 0: bytes has it */
	char bytes[];
};

struct tr_spool;

struct tr_atoms {
	struct tr_atom **buckets;
	size_t bucket_count, count;
	size_t weight; /* bytes of atoms, and of tries of them (trie.h), that are in memory */
	uint64_t seed; /* differs from run to run, so that no input can be made to collide */

	/* Of the large ones so many bytes are in memory, and up to max_here; the others are away.
	 */
	size_t here, max_here;
	uint64_t max_spool; /* 0: none is ever away */
	struct tr_spool *spool;
	struct tr_buffer scratch;
	struct tr_error error; /* why one could not be had; no cause: memory was out */
};

/* False: memory is out. */
bool tr_atoms_init(struct tr_atoms *atoms);
void tr_atoms_free(struct tr_atoms *atoms);

/* The caller owns a reference. NULL: memory is out. */
struct tr_atom *tr_atom_get(struct tr_atoms *atoms, struct tr_text text);

/*
 * The same for a text that is only ever compared and written, and so may be put
 * away where it is long and there are many of them. For each text it is either
 * always this one, or always the other. NULL: memory, or the spool, failed.
 */
struct tr_atom *tr_atom_get_large(struct tr_atoms *atoms, struct tr_text text);

/* Appends the atom's text, wherever it is. False: memory, or the spool, failed. */
bool tr_atom_put(struct tr_atoms *atoms, const struct tr_atom *atom, struct tr_buffer *to);

static inline struct tr_atom *tr_atom_retain(struct tr_atom *atom)
{
	if (atom)
		atom->references++;
	return atom;
}

/*
 * The atom that stands for all texts which differ from this one in the case of
 * ASCII letters alone; lives as long as this one. NULL: memory is out.
 */
struct tr_atom *tr_atom_fold(struct tr_atoms *atoms, struct tr_atom *atom);

/* What was found out about them counts no more. */
void tr_atoms_forget_verdicts(struct tr_atoms *atoms);

/* NULL is fine. */
void tr_atom_release(struct tr_atoms *atoms, struct tr_atom *atom);

/* Of one that is not large. */
static inline struct tr_text tr_atom_text(const struct tr_atom *atom)
{
	return (struct tr_text){ atom->bytes, atom->len };
}

#endif
