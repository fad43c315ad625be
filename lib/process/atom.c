/* SPDX-License-Identifier: MIT */
#include "process/atom.h"

#include <stdlib.h>
#include <string.h>

#include "core/spool.h"

enum { FIRST_BUCKETS = 256, LARGE = 64 };

bool tr_atoms_init(struct tr_atoms *atoms)
{
	*atoms = (struct tr_atoms){ .bucket_count = FIRST_BUCKETS };
	atoms->buckets = calloc(FIRST_BUCKETS, sizeof(struct tr_atom *));
	atoms->seed = (uint64_t)(uintptr_t)atoms->buckets >> 4;
	return atoms->buckets != NULL;
}

void tr_atoms_free(struct tr_atoms *atoms)
{
	for (size_t i = 0; i < atoms->bucket_count; i++) {
		struct tr_atom *next;
		for (struct tr_atom *atom = atoms->buckets[i]; atom; atom = next) {
			next = atom->next;
			free(atom);
		}
	}
	free(atoms->buckets);
	tr_spool_free(atoms->spool);
	tr_buffer_free(&atoms->scratch);
}

static uint64_t hash_text(uint64_t seed, struct tr_text text)
{
	const uint64_t factor = UINT64_C(0x9fb21c651e98df25);
	uint64_t hash = (seed ^ text.len) * factor;
	const char *p = text.data;
	size_t left = text.len;
	for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), p += sizeof(uint64_t)) {
		uint64_t word;
		memcpy(&word, p, sizeof word);
		hash = (hash ^ word) * factor;
		hash ^= hash >> 32 ^ seed;
	}
	uint64_t tail = 0;
	memcpy(&tail, p, left);
	hash = (hash ^ tail) * factor;
	return hash ^ hash >> 32;
}

/* Twice as many buckets when there are as many atoms; without memory the chains get longer. */
static void grow(struct tr_atoms *atoms)
{
	size_t count = atoms->bucket_count * 2;
	struct tr_atom **buckets = calloc(count, sizeof *buckets);
	if (!buckets)
		return;
	for (size_t i = 0; i < atoms->bucket_count; i++) {
		struct tr_atom *next;
		for (struct tr_atom *atom = atoms->buckets[i]; atom; atom = next) {
			struct tr_atom **bucket = &buckets[atom->hash & (count - 1)];
			next = atom->next;
			atom->next = *bucket;
			*bucket = atom;
		}
	}
	free(atoms->buckets);
	atoms->buckets = buckets;
	atoms->bucket_count = count;
}

/* Appends what is away. */
static bool fetch(struct tr_atoms *atoms, const struct tr_atom *atom, struct tr_buffer *to)
{
	return tr_spool_append(atoms->spool, atom->away - 1, atom->len, to, &atoms->error);
}

bool tr_atom_put(struct tr_atoms *atoms, const struct tr_atom *atom, struct tr_buffer *to)
{
	if (atom->away)
		return fetch(atoms, atom, to);
	tr_buffer_put(to, atom->bytes, atom->len);
	return !to->failed;
}

static bool has_text(struct tr_atoms *atoms, const struct tr_atom *atom, struct tr_text text,
		     bool *failed)
{
	if (atom->len != text.len)
		return false;
	if (!atom->away)
		return tr_text_equal((struct tr_text){ atom->bytes, atom->len }, text);
	tr_buffer_reset(&atoms->scratch);
	*failed = !fetch(atoms, atom, &atoms->scratch);
	return !*failed && tr_text_equal(tr_buffer_text(&atoms->scratch), text);
}

/* Where a large text goes when too many are here; 0: it stays. */
static uint64_t put_away(struct tr_atoms *atoms, struct tr_text text)
{
	struct tr_error ignored;
	if (text.len <= atoms->max_here - atoms->here || !atoms->max_spool)
		return 0;
	if (!atoms->spool)
		atoms->spool = tr_spool_new(atoms->max_spool);
	uint64_t at = atoms->spool ? tr_spool_size(atoms->spool) : 0;
	if (atoms->spool && tr_spool_write(atoms->spool, text.data, text.len, &ignored))
		return at + 1;
	/* a full disk: memory has to do */
	atoms->max_spool = 0;
	return 0;
}

static size_t size_of(const struct tr_atom *atom)
{
	return sizeof *atom + (atom->away ? 0 : atom->len);
}

static struct tr_atom *make_atom(struct tr_atoms *atoms, struct tr_text text, bool large)
{
	uint64_t away = large ? put_away(atoms, text) : 0;
	struct tr_atom *atom = calloc(1, sizeof *atom + (away ? 0 : text.len));
	if (!atom)
		return NULL;
	atom->references = 1;
	atom->len = text.len;
	atom->large = large;
	atom->away = away;
	if (!away && text.len)
		memcpy(atom->bytes, text.data, text.len);
	if (large && !away)
		atoms->here += text.len;
	atoms->weight += size_of(atom);
	return atom;
}

static struct tr_atom *get(struct tr_atoms *atoms, struct tr_text text, bool large)
{
	uint64_t hash = hash_text(atoms->seed + large, text);
	struct tr_atom **bucket = &atoms->buckets[hash & (atoms->bucket_count - 1)];
	bool failed = false;
	for (struct tr_atom *atom = *bucket; atom && !failed; atom = atom->next)
		if (atom->hash == hash && atom->large == large &&
		    has_text(atoms, atom, text, &failed))
			return tr_atom_retain(atom);
	struct tr_atom *atom = failed ? NULL : make_atom(atoms, text, large);
	if (!atom)
		return NULL;
	atom->hash = hash;
	atom->next = *bucket;
	*bucket = atom;
	if (++atoms->count > atoms->bucket_count)
		grow(atoms);
	return atom;
}

struct tr_atom *tr_atom_get(struct tr_atoms *atoms, struct tr_text text)
{
	return get(atoms, text, false);
}

struct tr_atom *tr_atom_get_large(struct tr_atoms *atoms, struct tr_text text)
{
	return get(atoms, text, text.len >= LARGE);
}

/* Appends the text in small letters. Escapes stay what they are: they are small already. */
static void fold_text(struct tr_text text, struct tr_buffer *to)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		tr_buffer_put_byte(to, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
	}
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

void tr_atoms_forget_verdicts(struct tr_atoms *atoms)
{
	for (size_t i = 0; i < atoms->bucket_count; i++) {
		for (struct tr_atom *atom = atoms->buckets[i]; atom; atom = atom->next)
			atom->verdicts = 0;
	}
}

static void remove_atom(struct tr_atoms *atoms, struct tr_atom *atom)
{
	struct tr_atom **place = &atoms->buckets[atom->hash & (atoms->bucket_count - 1)];
	while (*place != atom)
		place = &(*place)->next;
	*place = atom->next;
	atoms->count--;
	atoms->weight -= size_of(atom);
	free(atom);
}

void tr_atom_release(struct tr_atoms *atoms, struct tr_atom *atom)
{
	if (!atom || --atom->references > 0)
		return;
	struct tr_atom *folded = atom->folded;
	if (atom->large && !atom->away)
		atoms->here -= atom->len;
	remove_atom(atoms, atom);
	if (folded != atom)
		tr_atom_release(atoms, folded);
}
