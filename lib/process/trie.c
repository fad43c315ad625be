/* SPDX-License-Identifier: MIT */
#include "process/trie.h"

#include <stdlib.h>
#include <string.h>

/*
 * Each level of nodes goes by four bits of a number that is the key's own (a
 * mixture of its address that no other key has), so there are sixteen levels,
 * and never two keys in the same place of the last. A place of a node has
 * nothing, an entry, or a node of the next level.
 */
enum { BITS = 4, PLACES = 1 << BITS };

struct tr_trie {
	uint32_t references;
	uint16_t entries, children; /* the places that have such, a bit for each */
	/* entries, then pointers to children, in the order of their places */
	struct tr_trie_entry slots[];
};

static unsigned count_bits(unsigned bits)
{
	return (unsigned)__builtin_popcount(bits);
}

static struct tr_trie **children_of(const struct tr_trie *node)
{
	return (struct tr_trie **)&node->slots[count_bits(node->entries)];
}

static struct tr_trie_entry *entry_at(struct tr_trie *node, unsigned bit)
{
	return &node->slots[count_bits(node->entries & (bit - 1))];
}

static struct tr_trie **child_at(const struct tr_trie *node, unsigned bit)
{
	return &children_of(node)[count_bits(node->children & (bit - 1))];
}

/* A mixture that can be undone, so that different addresses stay different. */
static uint64_t number_of(const struct tr_atom *key)
{
	uint64_t n = (uintptr_t)key;
	n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ^ n >> 31;
}

static unsigned bit_of(uint64_t number)
{
	return 1U << (number % PLACES);
}

const struct tr_trie_entry *tr_trie_find(const struct tr_trie *trie, const struct tr_atom *key)
{
	uint64_t number = number_of(key);
	for (const struct tr_trie *node = trie; node; number >>= BITS) {
		unsigned bit = bit_of(number);
		if (node->entries & bit) {
			const struct tr_trie_entry *entry = entry_at((struct tr_trie *)node, bit);
			return entry->key == key ? entry : NULL;
		}
		node = node->children & bit ? *child_at(node, bit) : NULL;
	}
	return NULL;
}

struct tr_trie *tr_trie_retain(struct tr_trie *trie)
{
	if (trie)
		trie->references++;
	return trie;
}

static void release_entry(struct tr_atoms *atoms, const struct tr_trie_entry *entry)
{
	tr_atom_release(atoms, entry->value);
	tr_atom_release(atoms, entry->name);
}

static void retain_entry(const struct tr_trie_entry *entry)
{
	tr_atom_retain(entry->name);
	tr_atom_retain(entry->value);
}

static size_t size_of(unsigned entries, unsigned children)
{
	return sizeof(struct tr_trie) + count_bits(entries) * sizeof(struct tr_trie_entry) +
	       count_bits(children) * sizeof(struct tr_trie *);
}

/* Goes as deep as there are levels. */
void tr_trie_release(struct tr_atoms *atoms, struct tr_trie *trie)
{
	if (!trie || --trie->references > 0)
		return;
	struct tr_trie **children = children_of(trie);
	for (unsigned i = 0; i < count_bits(trie->children); i++)
		tr_trie_release(atoms, children[i]);
	for (unsigned i = 0; i < count_bits(trie->entries); i++)
		release_entry(atoms, &trie->slots[i]);
	atoms->weight -= size_of(trie->entries, trie->children);
	free(trie);
}

static struct tr_trie *allocate(struct tr_atoms *atoms, unsigned entries, unsigned children)
{
	size_t size = size_of(entries, children);
	struct tr_trie *node = malloc(size);
	if (node) {
		atoms->weight += size;
		node->references = 1;
		node->entries = (uint16_t)entries;
		node->children = (uint16_t)children;
	}
	return node;
}

/*
 * Puts a node with these places in the place of *link, which may be shared;
 * what both have is in it, what is new is for the caller to fill. False:
 * memory, nothing changed.
 */
static bool reshape(struct tr_atoms *atoms, struct tr_trie **link, unsigned entries,
		    unsigned children)
{
	struct tr_trie *old = *link, *new = allocate(atoms, entries, children);
	if (!new)
		return false;
	for (unsigned left = entries & old->entries; left; left &= left - 1) {
		unsigned bit = left & -left;
		*entry_at(new, bit) = *entry_at(old, bit);
		retain_entry(entry_at(new, bit));
	}
	for (unsigned left = children & old->children; left; left &= left - 1) {
		unsigned bit = left & -left;
		*child_at(new, bit) = tr_trie_retain(*child_at(old, bit));
	}
	*link = new;
	tr_trie_release(atoms, old);
	return true;
}

/* Makes *link one that nobody shares. */
static bool make_own(struct tr_atoms *atoms, struct tr_trie **link)
{
	return (*link)->references == 1 ||
	       reshape(atoms, link, (*link)->entries, (*link)->children);
}

static struct tr_trie *lone_entry(struct tr_atoms *atoms, const struct tr_trie_entry *entry,
				  unsigned bit)
{
	struct tr_trie *node = allocate(atoms, bit, 0);
	if (node) {
		node->slots[0] = *entry;
		retain_entry(entry);
	}
	return node;
}

/* The entry in that place of *link goes down a level, to make room for others. */
static bool push_down(struct tr_atoms *atoms, struct tr_trie **link, unsigned bit, unsigned level)
{
	const struct tr_trie_entry *entry = entry_at(*link, bit);
	unsigned below = bit_of(number_of(entry->key) >> (level + 1) * BITS);
	struct tr_trie *child = lone_entry(atoms, entry, below);
	if (!child)
		return false;
	if (!reshape(atoms, link, (*link)->entries & ~bit, (*link)->children | bit)) {
		tr_trie_release(atoms, child);
		return false;
	}
	*child_at(*link, bit) = child;
	return true;
}

bool tr_trie_put(struct tr_atoms *atoms, struct tr_trie **trie, const struct tr_trie_entry *entry)
{
	uint64_t number = number_of(entry->key);
	if (!*trie) {
		*trie = lone_entry(atoms, entry, bit_of(number));
		return *trie;
	}
	struct tr_trie **link = trie;
	for (unsigned level = 0;; level++, number >>= BITS) {
		unsigned bit = bit_of(number);
		if (!make_own(atoms, link))
			return false;
		bool taken = (*link)->entries & bit;
		if (taken && entry_at(*link, bit)->key != entry->key) {
			if (!push_down(atoms, link, bit, level))
				return false;
		} else if (!((*link)->children & bit)) {
			if (!taken &&
			    !reshape(atoms, link, (*link)->entries | bit, (*link)->children))
				return false;
			retain_entry(entry);
			if (taken)
				release_entry(atoms, entry_at(*link, bit));
			*entry_at(*link, bit) = *entry;
			return true;
		}
		link = child_at(*link, bit);
	}
}

bool tr_trie_remove(struct tr_atoms *atoms, struct tr_trie **trie, const struct tr_atom *key)
{
	uint64_t number = number_of(key);
	struct tr_trie **link = trie;
	if (!tr_trie_find(*trie, key))
		return true;
	for (;; number >>= BITS) {
		unsigned bit = bit_of(number);
		if ((*link)->entries & bit)
			return reshape(atoms, link, (*link)->entries & ~bit, (*link)->children);
		if (!make_own(atoms, link))
			return false;
		link = child_at(*link, bit);
	}
}

bool tr_trie_walk(const struct tr_trie *trie,
		  bool (*visit)(void *context, const struct tr_trie_entry *entry), void *context)
{
	if (!trie)
		return true;
	for (unsigned i = 0; i < count_bits(trie->entries); i++) {
		if (!visit(context, &trie->slots[i]))
			return false;
	}
	for (unsigned i = 0; i < count_bits(trie->children); i++) {
		if (!tr_trie_walk(children_of(trie)[i], visit, context))
			return false;
	}
	return true;
}

/* What one of them has in that place. */
static bool walk_place(const struct tr_trie *node, unsigned bit,
		       bool (*visit)(void *context, const struct tr_trie_entry *entry),
		       void *context)
{
	if (node->entries & bit)
		return visit(context, entry_at((struct tr_trie *)node, bit));
	return !(node->children & bit) || tr_trie_walk(*child_at(node, bit), visit, context);
}

static bool same_entry(const struct tr_trie_entry *a, const struct tr_trie_entry *b)
{
	return a->key == b->key && a->value == b->value && a->name == b->name;
}

bool tr_trie_walk_differences(const struct tr_trie *a, const struct tr_trie *b,
			      bool (*visit)(void *context, const struct tr_trie_entry *entry),
			      void *context)
{
	if (a == b)
		return true;
	if (!a || !b)
		return tr_trie_walk(a ? a : b, visit, context);
	for (unsigned bit = 1; bit < 1U << PLACES; bit <<= 1) {
		bool fine;
		if (a->children & b->children & bit)
			fine = tr_trie_walk_differences(*child_at(a, bit), *child_at(b, bit), visit,
							context);
		else if ((a->entries & b->entries & bit) &&
			 same_entry(entry_at((struct tr_trie *)a, bit),
				    entry_at((struct tr_trie *)b, bit)))
			fine = true;
		else
			fine = walk_place(a, bit, visit, context) &&
			       walk_place(b, bit, visit, context);
		if (!fine)
			return false;
	}
	return true;
}
