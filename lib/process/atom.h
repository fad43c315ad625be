/* SPDX-License-Identifier: MIT */
/*
 * Atoms: texts that are stored once, so that equal texts are the same atom; and immutable maps
 * from atoms to atoms that share their nodes. Both are reference counted. A set of atoms, with the
 * maps of them, is used by one thread at a time.
 */
#ifndef TR_PROCESS_ATOM_H
#define TR_PROCESS_ATOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/map.h"
#include "core/text.h"

struct tr_atom {
	struct tr_atom *next;	/* with the same hash */
	struct tr_atom *folded; /* the result of tr_atom_fold; NULL: not computed yet */
	size_t references;
	uint64_t hash;
	/* These three are for the owner of the atoms. */
	uint64_t round;	     /* the last comparison in which the atom occurred ... */
	uint32_t slot;	     /* ... and its index there */
	uint8_t verdicts[2]; /* cached properties, [1]: if names are folded; 0: not known yet */
	bool large;	     /* made by tr_atom_get_large, from a text that is long enough */
	size_t len;
	uint64_t spooled; /* 1 + the offset of the text in the spool; 0: bytes holds it */
	char bytes[];
};

struct tr_spool;

struct tr_atoms {
	struct tr_id_map known; /* lists of atoms, by their hash */
	size_t weight;		/* bytes in memory of all atoms and maps */
	uint64_t seed;		/* differs between runs, so that no input can provoke collisions */

	size_t in_memory, max_in_memory; /* bytes of large texts that are not in the spool */
	uint64_t max_spool;		 /* 0: nothing goes to the spool */
	struct tr_spool *spool;
	struct tr_buffer scratch;
	struct tr_error error; /* why the last call failed; without a cause: out of memory */
};

/* seed: an address that differs between runs. */
void tr_atoms_init(struct tr_atoms *atoms, const void *seed);
void tr_atoms_free(struct tr_atoms *atoms);

/* The atom of a text; the caller owns a reference. NULL: out of memory. */
struct tr_atom *tr_atom_get(struct tr_atoms *atoms, struct tr_text text);

/*
 * Like tr_atom_get, for texts that are only compared and written: long ones go to the spool when
 * max_in_memory is reached. Call only one of the two functions for any given text. NULL: memory
 * is exhausted, or the spool failed.
 */
struct tr_atom *tr_atom_get_large(struct tr_atoms *atoms, struct tr_text text);

/* Appends the text of an atom. False: memory is exhausted, or the spool failed. */
bool tr_atom_put(struct tr_atoms *atoms, const struct tr_atom *atom, struct tr_buffer *to);

static inline struct tr_atom *tr_atom_retain(struct tr_atom *atom)
{
	if (atom)
		atom->references++;
	return atom;
}

/* Accepts NULL. */
void tr_atom_release(struct tr_atoms *atoms, struct tr_atom *atom);

/*
 * The atom of the text in lower case (ASCII letters only), which identifies all texts that differ
 * in case alone. It is borrowed from `atom`. NULL: out of memory.
 */
struct tr_atom *tr_atom_fold(struct tr_atoms *atoms, struct tr_atom *atom);

/* The text of an atom that is not large. */
static inline struct tr_text tr_atom_text(const struct tr_atom *atom)
{
	return (struct tr_text){ atom->bytes, atom->len };
}

/*
 * A map, which is never changed: with an entry put or removed it is another map, which shares
 * nearly all nodes with the first. Thousands of maps that differ in little therefore take little
 * memory, and their differences are found without visiting what they share. NULL is the empty map.
 */
struct tr_trie;

struct tr_trie_entry {
	struct tr_atom *key; /* identifies the entry; borrowed, and lives as long as name */
	struct tr_atom *name;
	struct tr_atom *value; /* NULL is a value, too */
	uint64_t stamp;	       /* for the user: the order of entries */
};

/* NULL: there is no such entry. */
const struct tr_trie_entry *tr_trie_find(const struct tr_trie *trie, const struct tr_atom *key);

/*
 * Replaces *trie by the map with that entry in place of any with the same key, and takes
 * references to name and value. False: out of memory; *trie holds the same entries as before.
 */
bool tr_trie_put(struct tr_atoms *atoms, struct tr_trie **trie, const struct tr_trie_entry *entry);

/* Replaces *trie by the map without that key. False: out of memory. */
bool tr_trie_remove(struct tr_atoms *atoms, struct tr_trie **trie, const struct tr_atom *key);

/* Calls visit for every entry, in no particular order, until it returns false; returns that. */
bool tr_trie_walk(const struct tr_trie *trie,
		  bool (*visit)(void *context, const struct tr_trie_entry *entry), void *context);

/* Calls visit for every entry of either map that is not in the other one. */
bool tr_trie_walk_differences(const struct tr_trie *a, const struct tr_trie *b,
			      bool (*visit)(void *context, const struct tr_trie_entry *entry),
			      void *context);

/* Both accept NULL. */
struct tr_trie *tr_trie_retain(struct tr_trie *trie);
void tr_trie_release(struct tr_atoms *atoms, struct tr_trie *trie);

#endif
