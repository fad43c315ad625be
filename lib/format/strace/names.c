#include "format/strace/names.h"

#include <stdlib.h>

enum { FIRST = 256 };

struct tr_strace_name {
	uint64_t round, hash;
	size_t offset, len; /* from base */
};

void tr_strace_names_reset(struct tr_strace_names *names)
{
	names->round++;
	names->count = 0;
}

/* The seed is where the memory happens to be: no input can know it. */
static uint64_t hash_name(const struct tr_strace_names *names, struct tr_text name)
{
	const uint64_t factor = UINT64_C(0x9fb21c651e98df25);
	uint64_t hash = (uint64_t)(uintptr_t)names ^ name.len * factor;
	const char *p = name.data;
	size_t left = name.len;

	for (; left >= sizeof hash; left -= sizeof hash, p += sizeof hash) {
		uint64_t word;
		memcpy(&word, p, sizeof word);
		hash = (hash ^ word) * factor;
		hash ^= hash >> 32 ^ (uint64_t)(uintptr_t)names;
	}
	uint64_t tail = 0;
	memcpy(&tail, p, left);
	hash = (hash ^ tail) * factor;
	return hash ^ hash >> 32;
}

static struct tr_strace_name *find(const struct tr_strace_names *names, uint64_t hash)
{
	size_t i = hash & (names->cap - 1);

	while (names->slots[i].round == names->round && names->slots[i].hash != hash)
		i = (i + 1) & (names->cap - 1);
	return &names->slots[i];
}

static bool grow(struct tr_strace_names *names)
{
	struct tr_strace_names larger = { NULL, names->cap ? names->cap * 2 : FIRST, names->count,
					  names->round };

	larger.slots = calloc(larger.cap, sizeof *larger.slots);
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < names->cap; i++) {
		if (names->slots[i].round != names->round)
			continue;
		size_t k = names->slots[i].hash & (larger.cap - 1);
		while (larger.slots[k].round == larger.round)
			k = (k + 1) & (larger.cap - 1);
		larger.slots[k] = names->slots[i];
	}
	free(names->slots);
	*names = larger;
	return true;
}

enum tr_strace_name_status tr_strace_names_add(struct tr_strace_names *names, const char *base,
					       struct tr_text name)
{
	if (names->count >= names->cap / 2 && !grow(names))
		return TR_STRACE_NAME_MEMORY;
	uint64_t hash = hash_name(names, name);
	struct tr_strace_name *slot = find(names, hash);
	for (; slot->round == names->round; slot = find(names, ++hash)) {
		struct tr_text known = { base + slot->offset, slot->len };
		if (tr_text_equal(known, name))
			return TR_STRACE_NAME_KNOWN;
	}
	*slot = (struct tr_strace_name){ names->round, hash, (size_t)(name.data - base), name.len };
	names->count++;
	return TR_STRACE_NAME_NEW;
}

void tr_strace_names_free(struct tr_strace_names *names)
{
	free(names->slots);
	*names = (struct tr_strace_names){ 0 };
}
