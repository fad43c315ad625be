/* SPDX-License-Identifier: MIT */
/*
 * Atoms are texts that are stored once, so that two are equal if their addresses are. Tries are
 * maps from atoms to atoms that share their nodes: a map that differs from another one in a single
 * entry takes a few nodes of its own.
 */
#include "process/atom.h"

#include <stdlib.h>
#include <string.h>

#include "core/spool.h"

/* LARGE: shorter texts never go to the spool, as reading them back costs more than they take. */
enum { LARGE = 64 };

void tr_atoms_init(struct tr_atoms *atoms, const void *seed)
{
	*atoms = (struct tr_atoms){ .seed = (uint64_t)(uintptr_t)seed >> 4 };
}

void tr_atoms_free(struct tr_atoms *atoms)
{
	struct tr_atom *next;
	size_t position = 0;
	while ((next = tr_id_map_next(&atoms->known, &position))) {
		for (struct tr_atom *atom = next; atom; atom = next) {
			next = atom->next;
			free(atom);
		}
	}
	tr_id_map_free(&atoms->known);
	tr_spool_free(atoms->spool);
	tr_buffer_free(&atoms->scratch);
}

/* Appends a text that is in the spool. */
static bool fetch(struct tr_atoms *atoms, const struct tr_atom *atom, struct tr_buffer *to)
{
	return tr_spool_append(atoms->spool, atom->spooled - 1, atom->len, to, &atoms->error);
}

bool tr_atom_put(struct tr_atoms *atoms, const struct tr_atom *atom, struct tr_buffer *to)
{
	if (atom->spooled)
		return fetch(atoms, atom, to);
	tr_buffer_put(to, atom->bytes, atom->len);
	return !to->failed;
}

/* Compares the text of an atom, which may have to be read from the spool. */
static bool has_text(struct tr_atoms *atoms, const struct tr_atom *atom, struct tr_text text,
		     bool *failed)
{
	if (atom->len != text.len)
		return false;
	if (!atom->spooled)
		return tr_text_equal((struct tr_text){ atom->bytes, atom->len }, text);
	tr_buffer_reset(&atoms->scratch);
	*failed = !fetch(atoms, atom, &atoms->scratch);
	return !*failed && tr_text_equal(tr_buffer_text(&atoms->scratch), text);
}

/* Writes a large text to the spool if memory is full. Returns atom->spooled. */
static uint64_t spool_text(struct tr_atoms *atoms, struct tr_text text)
{
	struct tr_error ignored;
	if (text.len <= atoms->max_in_memory - atoms->in_memory || !atoms->max_spool)
		return 0;
	if (!atoms->spool)
		atoms->spool = tr_spool_new(atoms->max_spool);
	uint64_t at = atoms->spool ? tr_spool_size(atoms->spool) : 0;
	if (atoms->spool && tr_spool_write(atoms->spool, text.data, text.len, &ignored))
		return at + 1;
	/* the disk is full: keep this and all later texts in memory */
	atoms->max_spool = 0;
	return 0;
}

/* The bytes that an atom takes in memory. */
static size_t size_of(const struct tr_atom *atom)
{
	return sizeof *atom + (atom->spooled ? 0 : atom->len);
}

/* A new atom, which is not in the table yet. NULL: out of memory. */
static struct tr_atom *make_atom(struct tr_atoms *atoms, struct tr_text text, bool large)
{
	uint64_t spooled = large ? spool_text(atoms, text) : 0;
	struct tr_atom *atom = calloc(1, sizeof *atom + (spooled ? 0 : text.len));
	if (!atom)
		return NULL;
	atom->references = 1;
	atom->len = text.len;
	atom->large = large;
	atom->spooled = spooled;
	if (!spooled && text.len)
		memcpy(atom->bytes, text.data, text.len);
	if (large && !spooled)
		atoms->in_memory += text.len;
	atoms->weight += size_of(atom);
	return atom;
}

/* Frees an atom that is not in the table. */
static void forget_atom(struct tr_atoms *atoms, struct tr_atom *atom)
{
	if (atom->large && !atom->spooled)
		atoms->in_memory -= atom->len;
	atoms->weight -= size_of(atom);
	free(atom);
}

/*
 * The atom of a text. Large texts have a seed of their own, because an atom that may be spooled
 * cannot be used where tr_atom_text is called.
 */
static struct tr_atom *get(struct tr_atoms *atoms, struct tr_text text, bool large)
{
	uint64_t hash = tr_text_hash(atoms->seed + large, text);
	struct tr_atom *first = tr_id_map_get(&atoms->known, hash);
	bool failed = false;
	for (struct tr_atom *atom = first; atom && !failed; atom = atom->next)
		if (atom->large == large && has_text(atoms, atom, text, &failed))
			return tr_atom_retain(atom);
	struct tr_atom *atom = failed ? NULL : make_atom(atoms, text, large);
	if (!atom)
		return NULL;
	atom->hash = hash;
	atom->next = first;
	if (tr_id_map_put(&atoms->known, hash, atom))
		return atom;
	forget_atom(atoms, atom);
	return NULL;
}

struct tr_atom *tr_atom_get(struct tr_atoms *atoms, struct tr_text text)
{
	return get(atoms, text, false);
}

struct tr_atom *tr_atom_get_large(struct tr_atoms *atoms, struct tr_text text)
{
	return get(atoms, text, text.len >= LARGE);
}

/* Appends the text in lower case. The escapes of a spelled string are in lower case already. */
static void fold_text(struct tr_text text, struct tr_buffer *to)
{
	for (size_t i = 0; i < text.len; i++)
		tr_buffer_put_byte(to, tr_lower(text.data[i]));
}

struct tr_atom *tr_atom_fold(struct tr_atoms *atoms, struct tr_atom *atom)
{
	struct tr_buffer folded = TR_BUFFER_INIT;
	if (atom->folded)
		return atom->folded;
	fold_text(tr_atom_text(atom), &folded);
	if (tr_text_equal(tr_buffer_text(&folded), tr_atom_text(atom)))
		atom->folded = atom;
	else if (!folded.failed)
		atom->folded = tr_atom_get(atoms, tr_buffer_text(&folded));
	tr_buffer_free(&folded);
	return atom->folded;
}

/* Takes the atom out of its chain of equal hashes before it is freed. */
void tr_atom_release(struct tr_atoms *atoms, struct tr_atom *atom)
{
	if (!atom || --atom->references > 0)
		return;
	struct tr_atom *folded = atom->folded;
	struct tr_atom *first = tr_id_map_get(&atoms->known, atom->hash);
	if (first == atom) {
		tr_id_map_take(&atoms->known, atom->hash);
		/* the map has room for what was just taken from it, so this does not fail */
		if (atom->next)
			tr_id_map_put(&atoms->known, atom->hash, atom->next);
	} else {
		while (first->next != atom)
			first = first->next;
		first->next = atom->next;
	}
	forget_atom(atoms, atom);
	if (folded != atom)
		tr_atom_release(atoms, folded);
}

/* Maps. */

/*
 * A map is a tree of nodes with sixteen places each. A place is empty, holds an entry, or holds a
 * node of the next level. The level k selects the place by the bits 4k to 4k + 3 of the key's hash.
 * That hash is a bijection of the key's address, so that two keys never share all sixteen levels.
 */
enum { BITS = 4, PLACES = 1 << BITS };

struct tr_trie {
	uint32_t references;
	uint16_t entries, children; /* bit sets of the places that hold entries and nodes */
	/* the entries, then the pointers to child nodes, both in the order of their places */
	struct tr_trie_entry slots[];
};

static unsigned count_bits(unsigned bits)
{
	return (unsigned)__builtin_popcount(bits);
}

/* The child nodes follow the entries in the same allocation. */
static struct tr_trie **children_of(const struct tr_trie *node)
{
	return (struct tr_trie **)&node->slots[count_bits(node->entries)];
}

/* The entry at a place, which must have one. The entries before it are counted by their bits. */
static struct tr_trie_entry *entry_at(struct tr_trie *node, unsigned bit)
{
	return &node->slots[count_bits(node->entries & (bit - 1))];
}

/* The child at a place, which must have one. */
static struct tr_trie **child_at(const struct tr_trie *node, unsigned bit)
{
	return &children_of(node)[count_bits(node->children & (bit - 1))];
}

/* Every step is invertible, so different keys have different hashes. */
static uint64_t key_hash(const struct tr_atom *key)
{
	uint64_t n = (uintptr_t)key;
	n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ^ n >> 31;
}

/* The place of a key in a node, as a bit; its hash is shifted by BITS for each level. */
static unsigned place_bit(uint64_t hash)
{
	return 1U << (hash % PLACES);
}

const struct tr_trie_entry *tr_trie_find(const struct tr_trie *trie, const struct tr_atom *key)
{
	uint64_t hash = key_hash(key);
	for (const struct tr_trie *node = trie; node; hash >>= BITS) {
		unsigned bit = place_bit(hash);
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

/*
 * Drops the references of an entry. Its key is not counted: it is the name, or the folded name,
 * which the name holds.
 */
static void release_entry(struct tr_atoms *atoms, const struct tr_trie_entry *entry)
{
	tr_atom_release(atoms, entry->value);
	tr_atom_release(atoms, entry->name);
}

/* Takes the references of an entry. */
static void retain_entry(const struct tr_trie_entry *entry)
{
	tr_atom_retain(entry->name);
	tr_atom_retain(entry->value);
}

/* The bytes of a node with these places. */
static size_t node_size(unsigned entries, unsigned children)
{
	return sizeof(struct tr_trie) + count_bits(entries) * sizeof(struct tr_trie_entry) +
	       count_bits(children) * sizeof(struct tr_trie *);
}

/* The recursion is bounded by the number of levels. */
void tr_trie_release(struct tr_atoms *atoms, struct tr_trie *trie)
{
	if (!trie || --trie->references > 0)
		return;
	struct tr_trie **children = children_of(trie);
	for (unsigned i = 0; i < count_bits(trie->children); i++)
		tr_trie_release(atoms, children[i]);
	for (unsigned i = 0; i < count_bits(trie->entries); i++)
		release_entry(atoms, &trie->slots[i]);
	atoms->weight -= node_size(trie->entries, trie->children);
	free(trie);
}

/* A node whose entries and children are not set yet. NULL: out of memory. */
static struct tr_trie *new_node(struct tr_atoms *atoms, unsigned entries, unsigned children)
{
	size_t size = node_size(entries, children);
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
 * Replaces *link, which may be shared, by a node with these places. Places that both nodes have
 * are copied; the caller fills new ones. False: out of memory, nothing has changed.
 */
static bool reshape(struct tr_atoms *atoms, struct tr_trie **link, unsigned entries,
		    unsigned children)
{
	struct tr_trie *old = *link, *new = new_node(atoms, entries, children);
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

/* Copies the node if other maps share it. */
static bool make_own(struct tr_atoms *atoms, struct tr_trie **link)
{
	return (*link)->references == 1 ||
	       reshape(atoms, link, (*link)->entries, (*link)->children);
}

/* A node with one entry. NULL: out of memory. */
static struct tr_trie *node_with_entry(struct tr_atoms *atoms, const struct tr_trie_entry *entry,
				       unsigned bit)
{
	struct tr_trie *node = new_node(atoms, bit, 0);
	if (node) {
		node->slots[0] = *entry;
		retain_entry(entry);
	}
	return node;
}

/* Moves the entry at that place into a new child node, to make room for a second key. */
static bool push_down(struct tr_atoms *atoms, struct tr_trie **link, unsigned bit, unsigned level)
{
	const struct tr_trie_entry *entry = entry_at(*link, bit);
	unsigned below = place_bit(key_hash(entry->key) >> (level + 1) * BITS);
	struct tr_trie *child = node_with_entry(atoms, entry, below);
	if (!child)
		return false;
	if (!reshape(atoms, link, (*link)->entries & ~bit, (*link)->children | bit)) {
		tr_trie_release(atoms, child);
		return false;
	}
	*child_at(*link, bit) = child;
	return true;
}

/*
 * Walks down to the place of the key. Nodes that are shared with other maps are copied on the way,
 * so only this map changes.
 */
bool tr_trie_put(struct tr_atoms *atoms, struct tr_trie **trie, const struct tr_trie_entry *entry)
{
	uint64_t hash = key_hash(entry->key);
	if (!*trie) {
		*trie = node_with_entry(atoms, entry, place_bit(hash));
		return *trie;
	}
	struct tr_trie **link = trie;
	for (unsigned level = 0;; level++, hash >>= BITS) {
		unsigned bit = place_bit(hash);
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
	uint64_t hash = key_hash(key);
	struct tr_trie **link = trie;
	if (!tr_trie_find(*trie, key))
		return true;
	for (;; hash >>= BITS) {
		unsigned bit = place_bit(hash);
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

/* Visits everything at one place. */
static bool walk_place(const struct tr_trie *node, unsigned bit,
		       bool (*visit)(void *context, const struct tr_trie_entry *entry),
		       void *context)
{
	if (node->entries & bit)
		return visit(context, entry_at((struct tr_trie *)node, bit));
	return !(node->children & bit) || tr_trie_walk(*child_at(node, bit), visit, context);
}

/* The order is not compared: two maps do not differ in it alone. */
static bool same_entry(const struct tr_trie_entry *a, const struct tr_trie_entry *b)
{
	return a->key == b->key && a->value == b->value && a->name == b->name;
}

/*
 * Skips all nodes that both maps share, so the time depends on the differences and not on the
 * sizes.
 */
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
