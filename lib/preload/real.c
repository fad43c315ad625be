/* SPDX-License-Identifier: MIT */
/*
 * Finds the functions that hooks replace: those of libc, or of another library after this one. A
 * hook may be called first in the child of a vfork, in a signal handler, or while another thread
 * loads a library, so the search must not take the lock that dlsym takes. It looks at the objects
 * that were loaded when the program began, which are never unloaded. It is also much faster.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>

#include "preload/hooks.h"

extern struct r_debug _r_debug __attribute__((weak)); /* of the loader */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* The symbol table of an object. */
struct object {
	const struct link_map *map;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hash;	  /* DT_GNU_HASH */
	const uint16_t *versions; /* NULL: there are none */
};

/* The last object that was loaded when the program began; NULL: unknown. */
static const struct link_map *_Atomic last;

/* Returns the address of an offset; the loader has replaced offsets that it could write to. */
static const void *address_of(const struct link_map *map, ElfW(Addr) value)
{
	return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static bool read_object(const struct link_map *map, struct object *object)
{
	*object = (struct object){ .map = map };
	for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			object->symbols = address_of(map, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_STRTAB)
			object->strings = address_of(map, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_GNU_HASH)
			object->hash = address_of(map, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_VERSYM)
			object->versions = address_of(map, entry->d_un.d_ptr);
	}
	return object->symbols && object->strings && object->hash;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* Returns the index of the symbol, in its default version; 0: there is none. */
static uint32_t find_symbol(const struct object *object, const char *name, uint32_t hash)
{
	/* the layout of DT_GNU_HASH is that which glibc reads in elf/dl-lookup.c; HIDDEN: another
	 * version of the symbol is the default */
	enum { BITS = 8 * sizeof(ElfW(Addr)), HIDDEN = 0x8000 };
	uint32_t count = object->hash[0], first = object->hash[1], words = object->hash[2];
	const ElfW(Addr) *filter = (const void *)(object->hash + 4);
	const uint32_t *buckets = (const void *)(filter + words), *chains = buckets + count;

	if (!count || !words)
		return 0;
	ElfW(Addr) word = filter[hash / BITS % words];
	if (!(word >> hash % BITS & word >> (hash >> object->hash[3]) % BITS & 1))
		return 0;
	for (uint32_t i = buckets[hash % count]; i >= first && i; i++) {
		const ElfW(Sym) *symbol = &object->symbols[i];
		if ((chains[i - first] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    !(object->versions && object->versions[i] & HIDDEN) &&
		    is_same(object->strings + symbol->st_name, name))
			return i;
		if (chains[i - first] & 1)
			break;
	}
	return 0;
}

/*
 * Sets *function; NULL: no object has it. False: the search is not possible, but dlsym may find it.
 */
static bool search(const char *name, void **function)
{
	const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL, *stop = last;
	uint32_t hash = hash_of(name);
	struct object object;

	*function = NULL;
	while (map && map->l_ld != _DYNAMIC)
		map = map->l_next;
	if (!map || !stop)
		return false;
	while (map != stop && (map = map->l_next) != NULL) {
		if (!read_object(map, &object))
			return false;
		uint32_t i = find_symbol(&object, name, hash);
		if (!i)
			continue;
		const ElfW(Sym) *symbol = &object.symbols[i];
		*function = (void *)(map->l_addr + symbol->st_value);
		return (symbol->st_info & 15) == STT_FUNC;
	}
	return map;
}

void tr_hook_begin(void)
{
	const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL;

	while (map && map->l_next)
		map = map->l_next;
	last = map;
}

void *tr_hook_real(void *_Atomic *known, const char *name)
{
	void *function = atomic_load_explicit(known, memory_order_relaxed);

	if (!function) {
		if (!search(name, &function))
			function = dlsym(RTLD_NEXT, name);
		atomic_store_explicit(known, function, memory_order_relaxed);
	}
	return function;
}
