#include "format/strace/names.h"

#include <stdlib.h>

#include "format/strace/scan.h"

enum { FIRST = 256, KEPT = 4096 };

void tr_strace_names_reset(struct tr_strace_names *names)
{
	names->count = 0;
	if (names->cap > KEPT)
		tr_strace_names_free(names);
	else if (names->cap)
		memset(names->slots, 0, names->cap * sizeof *names->slots);
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

/* The slot of the name, or the free one in which it belongs. */
static uint32_t *find(const struct tr_strace_names *names, const char *base, struct tr_text name)
{
	for (size_t i = (size_t)hash_name(names, name);; i++) {
		uint32_t *slot = &names->slots[i & (names->cap - 1)];
		const char *known = base + *slot;
		/* known names come first and end in a quote, so nothing beyond name is read */
		if (!*slot || (memcmp(known, name.data, name.len) == 0 && known[name.len] == '"'))
			return slot;
	}
}

/* Doubles the table. The names, all of which end before `end`, are read again. */
static bool grow(struct tr_strace_names *names, const char *base, const char *end)
{
	uint32_t *old = names->slots;
	size_t old_cap = names->cap, cap = old_cap ? old_cap * 2 : FIRST;
	uint32_t *slots = calloc(cap, sizeof *slots);

	if (!slots)
		return false;
	names->slots = slots;
	names->cap = cap;
	for (size_t i = 0; i < old_cap; i++) {
		if (!old[i])
			continue;
		const char *name = base + old[i], *behind = tr_strace_string_end(name, end);
		*find(names, base, tr_text_span(name, behind - 1)) = old[i];
	}
	free(old);
	return true;
}

enum tr_strace_name_status tr_strace_names_add(struct tr_strace_names *names, const char *base,
					       struct tr_text name)
{
	if (names->count >= names->cap / 2 && !grow(names, base, name.data))
		return TR_STRACE_NAME_MEMORY;
	uint32_t *slot = find(names, base, name);
	if (*slot)
		return TR_STRACE_NAME_KNOWN;
	if (name.data - base <= UINT32_MAX) { /* later ones are not looked for */
		*slot = (uint32_t)(name.data - base);
		names->count++;
	}
	return TR_STRACE_NAME_NEW;
}

void tr_strace_names_free(struct tr_strace_names *names)
{
	free(names->slots);
	*names = (struct tr_strace_names){ 0 };
}
