/* SPDX-License-Identifier: MIT */
/*
 * The kinds of an API call: what it does to the picture. The formats that hold API calls
 * know them by the names of functions (call_kinds of struct tr_format); views and call sets
 * use them.
 */
#ifndef TR_RECORD_CALL_KIND_H
#define TR_RECORD_CALL_KIND_H

enum {
	TR_CALL_END_FRAME = 1,	   /* completes a frame: swaps, presents */
	TR_CALL_RENDER = 2,	   /* draws or clears */
	TR_CALL_RENDER_TARGET = 4, /* changes the target: framebuffer bindings, swaps */
	TR_CALL_VERBOSE = 8,	   /* a query that seldom matters; text may leave it out */
};

#endif
