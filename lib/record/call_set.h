/* SPDX-License-Identifier: MIT */
/*
 * Sets of call numbers, or of frame numbers, in the syntax of apitrace's
 * --calls and --frames:
 *
 *	set    = { item [ "," ] }                 blanks are allowed between all tokens
 *	item   = range [ "/" ( step | class ) ] | class | "@" FILE
 *	range  = N | N "-" | N "-" M | "*"
 *	class  = frame | rendertarget | fbo | render | draw
 *
 * N-M/step contains every step-th number of the range, the first one included. A class keeps
 * the calls of the range that end a frame, that change the render target (the end of a
 * frame does too), or that render. The name of FILE ends at the next comma; the file
 * contains a set, with commas or line ends between items, and cannot name another file.
 */
#ifndef TR_RECORD_CALL_SET_H
#define TR_RECORD_CALL_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/text.h"

struct tr_call_range {
	uint64_t first, last, step;
	unsigned kinds; /* of call_kind.h, any of them; 0: all calls */
	uint64_t reach; /* the greatest last of this range and those before it */
};

struct tr_call_ranges {
	struct tr_call_range *list; /* by first */
	size_t count, cap;
};

/* Zeroed, it is empty. */
struct tr_call_set {
	struct tr_call_ranges whole;	/* with all their numbers, none touching another */
	struct tr_call_ranges filtered; /* with a step or a class */
};

/*
 * Adds the numbers of the text. False: err says what is wrong and where ("byte 5: …"; in a file
 * "FILE, byte 5: …"), or that memory is out; the set can only be freed then. A text without any
 * item is an error, a file may be empty.
 */
bool tr_call_set_add(struct tr_call_set *set, struct tr_text text, struct tr_error *err);

/* kinds: of the call (call_kind.h). */
bool tr_call_set_has(const struct tr_call_set *set, uint64_t number, unsigned kinds);

/*
 * Whether the set contains none, some or all of the numbers from this one on, of whatever
 * kinds.
 */
enum tr_call_set_rest { TR_CALL_SET_NONE, TR_CALL_SET_SOME, TR_CALL_SET_ALL };
enum tr_call_set_rest tr_call_set_rest(const struct tr_call_set *set, uint64_t number);

void tr_call_set_free(struct tr_call_set *set);

#endif
