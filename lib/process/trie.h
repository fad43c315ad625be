/* SPDX-License-Identifier: MIT */
/*
 * A map from names to values that is never changed: with a name added or taken
 * out it is another one, which shares nearly all of its nodes with the first.
 * So thousands of large environments that differ in little take little memory,
 * and their differences are found without looking at what they share.
 *
 * The map is its root node, NULL where it is empty. Names are atoms; which of
 * them are the same is for the key to say, an atom that stands for them.
 */
#ifndef TR_PROCESS_TRIE_H
#define TR_PROCESS_TRIE_H

#include "process/atom.h"

struct tr_trie;

struct tr_trie_entry {
	struct tr_atom *key; /* borrowed: it lives as long as the name */
	struct tr_atom *name;
	struct tr_atom *value; /* NULL: it is known that there is none */
	uint64_t stamp;	       /* the user's: the order of entries */
};

/* NULL: not there. */
const struct tr_trie_entry *tr_trie_find(const struct tr_trie *trie, const struct tr_atom *key);

/*
 * *trie becomes the map with that entry instead of any of the same key. It
 * takes references of its own. False: memory is out, *trie is as it was, or is
 * the map that it was with other nodes.
 */
bool tr_trie_put(struct tr_atoms *atoms, struct tr_trie **trie, const struct tr_trie_entry *entry);

/* *trie becomes the map without that key. */
bool tr_trie_remove(struct tr_atoms *atoms, struct tr_trie **trie, const struct tr_atom *key);

/* Calls visit for every entry, in no order, until it returns false; then so does this. */
bool tr_trie_walk(const struct tr_trie *trie,
		  bool (*visit)(void *context, const struct tr_trie_entry *entry), void *context);

/* The same for the entries of both that the other does not share. */
bool tr_trie_walk_differences(const struct tr_trie *a, const struct tr_trie *b,
			      bool (*visit)(void *context, const struct tr_trie_entry *entry),
			      void *context);

struct tr_trie *tr_trie_retain(struct tr_trie *trie);
void tr_trie_release(struct tr_atoms *atoms, struct tr_trie *trie);

#endif
