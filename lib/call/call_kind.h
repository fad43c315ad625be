/*
 * What a graphics call does, as far as its function's name tells: apitrace
 * stores nothing of the kind in a trace, its tools go by a table of names.
 * Ours has the same names as apitrace 11.1, so that call sets and text agree.
 */
#ifndef TR_CALL_CALL_KIND_H
#define TR_CALL_CALL_KIND_H

#include <stdbool.h>

#include "core/text.h"

enum {
	TR_CALL_END_FRAME = 1,	   /* the frame is complete: swaps, presents */
	TR_CALL_RENDER = 2,	   /* draws or clears */
	TR_CALL_RENDER_TARGET = 4, /* what is rendered to changes: framebuffer bindings, swaps */
	TR_CALL_VERBOSE = 8,	   /* asks for something that seldom matters; text leaves it out */
};

/*
 * The kinds of a function, 0 for most. name: its bytes, or its cell (no name
 * that is known needs an escape). One thing is not in a name: a glGetError
 * that returned GL_NO_ERROR is verbose too.
 */
unsigned tr_call_kinds(struct tr_text name);

/* call_plain.c: True if the function has no side effects: apitrace shows its name without bold. */
bool tr_call_is_plain(struct tr_text name);

#endif
