/* SPDX-License-Identifier: MIT */
/*
 * Calls of an API: their kinds, their numbers, and a way past their records.
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
 * Remembers the kinds of the functions that were called last. A trace calls a few dozen functions
 * millions of times, and asking each format takes several times as long as comparing two names. Set
 * ask, the rest zero.
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
 * Calls that have not returned. An enter and its leave have the same task and seq: under these a
 * call is kept in between. The struct for a call is the user's, and begins with this one.
 */
struct tr_live_call {
	struct tr_live_call *previous, *next; /* in the order of the enters */
	struct tr_text key;
};

/* All zero: empty. */
struct tr_live_calls {
	struct tr_live_call *first, *last;
	struct tr_map by_key;
	struct tr_buffer key; /* scratch */
};

/*
 * Adds a call with the task and seq of this enter. It has `size` bytes, which are zero after the
 * part above; the caller takes it out and frees it with free(3). *twin: a call that had the same
 * task and seq, which is taken out, or NULL. A leave belongs to the last enter before it, so this
 * one never returns. NULL: memory is exhausted, and nothing changed.
 */
void *tr_live_calls_add(struct tr_live_calls *calls, const struct tr_record *enter, size_t size,
			struct tr_live_call **twin);

/*
 * Takes out the call with the task and seq of the record. NULL: there is none, or memory is
 * exhausted and calls->key.failed is set.
 */
void *tr_live_calls_take(struct tr_live_calls *calls, const struct tr_record *record);

/* Takes out this call, and returns it. */
void *tr_live_calls_remove(struct tr_live_calls *calls, struct tr_live_call *call);

/* Frees all calls, after the user has freed what it keeps in them. */
void tr_live_calls_free(struct tr_live_calls *calls);

/*
 * True for more calls in progress, or more bytes of them, than any trace has: their leaves were
 * lost, and they must not exhaust the memory.
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

/* All zero: empty. The owner frees it with tr_call_set_free. */
struct tr_call_set {
	struct tr_call_ranges whole;	/*
					 * ranges that contain all their numbers, and do not touch
					 */
	struct tr_call_ranges filtered; /* ranges with a step or a class */
};

/*
 * Adds the numbers of the text. False: err has the reason and the place ("byte 5: …"; in a file
 * "FILE, byte 5: …"), or memory is exhausted; the set can then only be freed. A text must contain
 * an item, a file may be empty.
 */
bool tr_call_set_add(struct tr_call_set *set, struct tr_text text, struct tr_error *err);

/* True if the set contains the number; kinds: those of the call. */
bool tr_call_set_has(const struct tr_call_set *set, uint64_t number, unsigned kinds);

/*
 * Returns whether the set contains none, some or all of the numbers from this one on, of any kinds.
 */
enum tr_call_set_rest { TR_CALL_SET_NONE, TR_CALL_SET_SOME, TR_CALL_SET_ALL };
enum tr_call_set_rest tr_call_set_rest(const struct tr_call_set *set, uint64_t number);

void tr_call_set_free(struct tr_call_set *set);

#endif
