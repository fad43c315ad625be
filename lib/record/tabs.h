/* SPDX-License-Identifier: MIT */
/*
 * The TABs of a line, one after the other. Columns are so short that calls of memchr would cost
 * more than the search. Only bytes of the line are read.
 */
#ifndef TR_RECORD_TABS_H
#define TR_RECORD_TABS_H

#include <stddef.h>
#include <string.h>

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

enum { TR_TABS_BLOCK = 16 };

struct tr_tabs {
	const char *line, *end;	  /* the whole line: bytes that may be read */
	const char *block, *next; /* the block of mask; the start of the next block */
	unsigned mask;		  /* TABs of the block that were not returned */
};

/* Begins a search for TABs from `from` on, in a line that ends at end. */
static inline struct tr_tabs tr_tabs_begin(const char *line, const char *from, const char *end)
{
	return (struct tr_tabs){ line, end, from, from, 0 };
}

#if defined __SSE2__ && !defined TR_PORTABLE
static inline unsigned tr_tabs_mask(const char *p)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')));
}

/* Returns the next TAB, or the end of the line. */
static inline const char *tr_tabs_next(struct tr_tabs *tabs)
{
	while (!tabs->mask) {
		size_t left = (size_t)(tabs->end - tabs->next);
		if (left == 0)
			return tabs->end;
		tabs->block = tabs->next;
		if (left >= TR_TABS_BLOCK) {
			tabs->mask = tr_tabs_mask(tabs->next);
			tabs->next += TR_TABS_BLOCK;
			continue;
		}
		tabs->next = tabs->end;
		if (tabs->end - tabs->line >= TR_TABS_BLOCK) {
			/* bytes before the block may be read, bytes after the end may not */
			tabs->mask = tr_tabs_mask(tabs->end - TR_TABS_BLOCK);
			tabs->mask >>= TR_TABS_BLOCK - left;
			continue;
		}
		for (size_t i = 0; i < left; i++)
			tabs->mask |= (unsigned)(tabs->block[i] == '\t') << i;
	}
	const char *tab = tabs->block + __builtin_ctz(tabs->mask);
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
