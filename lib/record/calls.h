/* SPDX-License-Identifier: MIT */
/*
 * API calls: their kinds, those that have not returned, sets of their numbers, and a way past their
 * records.
 *
 *	name of a function -> tr_call_kinds_of -> kinds
 *	enter -> tr_live_calls_add -> a call -> tr_live_calls_take <- leave
 *	number, kinds -> tr_call_set_has -> selected or not
 *	reader -> struct tr_call_taker -> text, without a record in between
 *
 * Not thread safe.
 */
#ifndef TR_RECORD_CALLS_H
#define TR_RECORD_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/map.h"
#include "core/text.h"
#include "record/record.h"

/*
 * The kinds of a call: its effect on the picture. The formats that hold API calls derive them
 * from the names of functions (call_kinds of struct tr_format); views and call sets use them.
 */
enum {
	TR_CALL_END_FRAME = 1,	   /* completes a frame: swaps, presents */
	TR_CALL_RENDER = 2,	   /* draws or clears */
	TR_CALL_RENDER_TARGET = 4, /* changes the target: framebuffer bindings, swaps */
	TR_CALL_VERBOSE = 8,	   /* a query that seldom matters; text may leave it out */
};

/*
 * Remembers the kinds of recent functions: a trace calls a few dozen functions millions of times,
 * and asking a format takes several times as long as comparing two names. Begins with `ask` set and
 * the rest zero.
 */
struct tr_call_kinds {
	unsigned (*ask)(struct tr_text name); /* like call_kinds of struct tr_format */
	struct tr_call_kinds_slot {
		unsigned char kinds, len; /* len: of the name; 0: the slot is free */
		char name[62];		  /* longer names are not remembered */
	} slots[128];
};

unsigned tr_call_kinds_of(struct tr_call_kinds *kinds, struct tr_text name);

/*
 * Calls that have not returned, by task and seq, which an enter and its leave share. A user has a
 * struct of its own for a call, which begins with this one.
 */
struct tr_live_call {
	struct tr_live_call *previous, *next; /* in the order of the enters */
	struct tr_text key;
};

/* Empty if it is all zero. */
struct tr_live_calls {
	struct tr_live_call *first, *last;
	struct tr_map by_key;
	struct tr_buffer key; /* scratch */
};

/*
 * Adds a call with the task and seq of an enter, in a struct of `size` bytes that is zero after the
 * part above. The caller takes it out later and frees it with free(3). *twin: another call with
 * that task and seq, which is taken out, or NULL; as a leave belongs to the last enter before it,
 * the twin will not return. NULL: memory is exhausted, and nothing has changed.
 */
void *tr_live_calls_add(struct tr_live_calls *calls, const struct tr_record *enter, size_t size,
			struct tr_live_call **twin);

/*
 * Takes out the call with the task and seq of a record. NULL: there is none, or memory is
 * exhausted, and calls->key.failed is set.
 */
void *tr_live_calls_take(struct tr_live_calls *calls, const struct tr_record *record);

/* Takes out this call, and returns it. */
void *tr_live_calls_remove(struct tr_live_calls *calls, struct tr_live_call *call);

/* Frees all calls. The user frees what they contain before. */
void tr_live_calls_free(struct tr_live_calls *calls);

/*
 * True if there are more calls in progress, or more bytes of them, than in any real trace: leaves
 * were lost, and calls have to be given up before they exhaust the memory.
 */
static inline bool tr_calls_are_lost(size_t count, size_t bytes)
{
	enum { MANY = 1 << 16, FEW = 64, MUCH = 64 << 20 };

	return count > MANY || (bytes > MUCH && count > FEW);
}

/*
 * A short cut from a reader to a text style of the same format, past the records: the style embeds
 * this struct in one of its own, which the reader knows, and the reader gives it the calls that are
 * plain, in their order among the records. All other calls come as records.
 */
struct tr_call_taker {
	uint64_t taken; /* calls so far, which count as records of their segment */
};

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

struct tr_call_range {
	uint64_t first, last, step;
	unsigned kinds; /* TR_CALL_*, any of them; 0: all calls */
	uint64_t reach; /* maximum of last in this range and those before it */
};

struct tr_call_ranges {
	struct tr_call_range *list; /* by first */
	size_t count, cap;
};

/* Empty if it is all zero. The owner frees it with tr_call_set_free. */
struct tr_call_set {
	struct tr_call_ranges whole;	/* without a step or class; merged, in ascending order */
	struct tr_call_ranges filtered; /* with a step or a class */
};

/*
 * Adds the numbers of a text, which contains an item at least; a file may be empty. False: err has
 * the reason and its place ("byte 5: …", "FILE, byte 5: …"), and the set can only be freed.
 */
bool tr_call_set_add(struct tr_call_set *set, struct tr_text text, struct tr_error *err);

/* True if the set contains the call with that number and those kinds. */
bool tr_call_set_has(const struct tr_call_set *set, uint64_t number, unsigned kinds);

/*
 * Whether the set has none, some or all of the numbers from this one on, whatever their kinds are.
 */
enum tr_call_set_rest { TR_CALL_SET_NONE, TR_CALL_SET_SOME, TR_CALL_SET_ALL };
enum tr_call_set_rest tr_call_set_rest(const struct tr_call_set *set, uint64_t number);

void tr_call_set_free(struct tr_call_set *set);

#endif
