/* SPDX-License-Identifier: MIT */
/*
 * Sets of call numbers, or of frame numbers, in the syntax of apitrace's
 * --calls and --frames:
 *
 *	set    = { item [ "," ] }                 blanks may stand between all of it
 *	item   = range [ "/" ( step | class ) ] | class | "@" FILE
 *	range  = N | N "-" | N "-" M | "*"
 *	class  = frame | rendertarget | fbo | render | draw
 *
 * N-M/step: every step-th of the range, its first one included. A class keeps
 * the calls of the range that end a frame, that change what is rendered to (a
 * frame's end does too), or that render. FILE, up to the next comma, has a set
 * in it, which names no further file; commas and line ends are alike there.
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

/* Zero it. Read-only between two calls of add. */
struct tr_call_set {
	struct tr_call_ranges whole;	/* with all their numbers, none touching another */
	struct tr_call_ranges filtered; /* with a step or a class */
};

/*
 * Adds what text says. False: err says what is wrong and where ("byte 5: …";
 * in a file "FILE, byte 5: …"), or that memory is out; the set is of no use
 * then but to be freed. A text without any item is wrong, a file may be empty.
 */
bool tr_call_set_add(struct tr_call_set *set, struct tr_text text, struct tr_error *err);

/* kinds: of the call (call_kind.h). */
bool tr_call_set_has(const struct tr_call_set *set, uint64_t number, unsigned kinds);

/* What the set has of a number and all that follow it, whatever their kinds. */
enum tr_call_set_rest { TR_CALL_SET_NONE, TR_CALL_SET_SOME, TR_CALL_SET_ALL };
enum tr_call_set_rest tr_call_set_rest(const struct tr_call_set *set, uint64_t number);

void tr_call_set_free(struct tr_call_set *set);

#endif
