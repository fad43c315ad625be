/* SPDX-License-Identifier: MIT */
/*
 * The kinds of an API call: what it does to the picture. The formats that hold API calls
 * know them by the names of functions (call_kinds of struct tr_format); views and call sets
 * use them.
 */
#ifndef TR_RECORD_CALL_KIND_H
#define TR_RECORD_CALL_KIND_H

#include "core/text.h"

enum {
	TR_CALL_END_FRAME = 1,	   /* completes a frame: swaps, presents */
	TR_CALL_RENDER = 2,	   /* draws or clears */
	TR_CALL_RENDER_TARGET = 4, /* changes the target: framebuffer bindings, swaps */
	TR_CALL_VERBOSE = 8,	   /* a query that seldom matters; text may leave it out */
};

/*
 * Remembers the kinds of the functions that were called last. A trace calls a few dozen functions
 * millions of times, and an answer takes several times as long as the comparison of two names,
 * because each format is asked. Set ask, the rest zero.
 */
struct tr_call_kinds {
	unsigned (*ask)(struct tr_text name); /* as call_kinds of struct tr_format */
	struct tr_call_kinds_slot {
		unsigned char kinds, len; /* len: of the name; 0: the slot is free */
		char name[62];		  /* longer names are not remembered */
	} slots[128];
};

unsigned tr_call_kinds_of(struct tr_call_kinds *kinds, struct tr_text name);

#endif
