/* SPDX-License-Identifier: MIT */
/*
 * The TABs of a line, one after the other. Columns are so short that calls of memchr would cost
 * more than the search. Only bytes of the line are read.
 */
#ifndef TR_RECORD_TABS_H
#define TR_RECORD_TABS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/utf8.h"

struct tr_tabs {
	const char *line, *end;	  /* the whole line: bytes that may be read */
	const char *block, *next; /* the block of mask; the start of the next block */
	uint64_t mask;		  /* TABs of the block that were not returned */
};

/* Begins a search for TABs from `from` on, in a line that ends at end. */
static inline struct tr_tabs tr_tabs_begin(const char *line, const char *from, const char *end)
{
	return (struct tr_tabs){ line, end, from, from, 0 };
}

#if defined __SSE2__ && !defined TR_PORTABLE
enum { TR_TABS_STEP = 16 };

static inline uint64_t tr_tabs_of_step(const char *p)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')));
}

/* Returns the TABs of the last bytes of the line, which are less than a block. */
static inline uint64_t tr_tabs_of_rest(const struct tr_tabs *tabs)
{
	const char *p = tabs->next;
	unsigned left = (unsigned)(tabs->end - p), i = 0;
	uint64_t mask = 0;

	for (; left - i >= TR_TABS_STEP; i += TR_TABS_STEP)
		mask |= tr_tabs_of_step(p + i) << i;
	/* bytes before the rest may be read, bytes after the end may not */
	if (i < left && tabs->end - tabs->line >= TR_TABS_STEP)
		return mask | tr_tabs_of_step(tabs->end - TR_TABS_STEP) >> (i + TR_TABS_STEP - left)
										   << i;
	for (; i < left; i++)
		mask |= (uint64_t)(p[i] == '\t') << i;
	return mask;
}

/* Returns the next TAB, or the end of the line. Inlined, so that the state stays in registers. */
static inline __attribute__((always_inline)) const char *tr_tabs_next(struct tr_tabs *tabs)
{
	while (!tabs->mask) {
		size_t left = (size_t)(tabs->end - tabs->next);
		if (left == 0)
			return tabs->end;
		tabs->block = tabs->next;
		if (left >= TR_UTF8_BLOCK) {
			tabs->mask = tr_block64_equal(tr_block64_load(tabs->next), '\t');
			tabs->next += TR_UTF8_BLOCK;
		} else {
			tabs->mask = tr_tabs_of_rest(tabs);
			tabs->next = tabs->end;
		}
	}
	const char *tab = tabs->block + __builtin_ctzll(tabs->mask);
	tabs->mask &= tabs->mask - 1;
	return tab;
}
#else
static inline const char *tr_tabs_next(struct tr_tabs *tabs)
{
	const char *tab = memchr(tabs->next, '\t', (size_t)(tabs->end - tabs->next));
	tabs->next = tab ? tab + 1 : tabs->end;
	return tab ? tab : tabs->end;
}
#endif

#endif
