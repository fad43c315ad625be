/* SPDX-License-Identifier: MIT */
/*
 * Computed fields (record/record.h):
 *
 *	frame      of call, enter and leave: the number of the frame, from 0 in each trace, in
 *	           which the call returns; one that never does ends after all others
 *	backtrace  of records with .bt: a list of what their %frame lines define, as maps: module,
 *	           function, file, line, offset, file_offset
 *	end        of block: the address after its last byte
 *	duration   in seconds: of exit, since the process was forked, or else first called exec; of
 *	           sys, its `dur`; of an enter and its leave, the time between them
 *	source     of an exec that compiles: what it compiles, a string; of several a list
 *	output     of an exec that compiles or links: what it makes, the same
 *
 * With programs, of a block at its first address:
 *
 *	function   by its linkage name
 *	file, line of the source
 *	inline     a list of the functions that are inlined there, the outermost first
 *
 * Not thread safe.
 */
#ifndef TR_VIEW_COMPUTED_H
#define TR_VIEW_COMPUTED_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"

enum { TR_COMPUTED_NAMES = 6 };
extern const char *const tr_computed_names[TR_COMPUTED_NAMES];

/* How many of the names need programs. */
enum { TR_COMPUTED_SYMBOLS = 4 };
extern const char *const tr_computed_symbols[TR_COMPUTED_SYMBOLS];

/*
 * Describes the records that have the computed field ("block records"); NULL: it is not computed.
 */
const char *tr_computed_records(struct tr_text name);

struct tr_compilers;
struct tr_computed;
struct tr_programs; /* coverage/programs.h */

/*
 * call_kinds: as in struct tr_format. compilers: borrowed, or NULL for those that are built in.
 * NULL: memory is exhausted.
 */
struct tr_computed *tr_computed_new(unsigned (*call_kinds)(struct tr_text name),
				    struct tr_compilers *compilers);
void tr_computed_free(struct tr_computed *computed);

/* Makes the fields that need programs available; they are borrowed. */
void tr_computed_set_programs(struct tr_computed *computed, struct tr_programs *programs);

/* The interface through which expressions get the values. */
struct tr_computed_fields *tr_computed_fields(struct tr_computed *computed);

/*
 * The stream is joined (record/join.h): its enters are the calls that never return, at the place
 * where they end.
 */
void tr_computed_set_joined(struct tr_computed *computed);

/*
 * Without a join: a call ends whose leave is missing. They end in the order of their enters, at the
 * end of the trace or when it is clear that the leave is lost.
 */
void tr_computed_end_call(struct tr_computed *computed, bool ends_frame);

/*
 * Takes every line of the stream, in order, before its values are read. False: memory is
 * exhausted.
 */
bool tr_computed_follow(struct tr_computed *computed, struct tr_record *record);

#endif
