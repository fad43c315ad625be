/* SPDX-License-Identifier: MIT */
/*
 * The definitions of a segment, which are kept until a record uses them: functions by the name of a
 * call, and others by their id, in fields (@F17, and any id in .sig and .bt). Lines include their
 * LF. Thread safe for separate structs.
 */
#ifndef TR_RECORD_DEFINITIONS_H
#define TR_RECORD_DEFINITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/map.h"
#include "record/line.h"
#include "record/record.h"

struct tr_definition {
	struct tr_definition *next;
	uint64_t place;	  /* in the order of the source */
	uint64_t written; /* the round in which it was, from 1; 0: it was not */
	bool wanted;
	struct tr_text id, line;
	char data[];
};

/* Begins as all zero. */
struct tr_definitions {
	struct tr_map by_id;   /* "F17" */
	struct tr_map by_name; /* of fn: the first of that name */
	struct tr_definition *list;
	size_t waiting;		       /* of the list, those not written yet */
	uint64_t count;		       /* of all: the place of the next in the source's order */
	uint64_t round;		       /* of outputs */
	struct tr_definition **wanted; /* by one record */
	size_t wanted_count, wanted_cap;
	/* the last name of a call whose definition is written, or that has none */
	char settled[64];
	size_t settled_len;
};

/* True for definitions whose use is visible in records; the others are passed as they come. */
bool tr_definition_is_known(const struct tr_record *record);

/* Keeps a copy of the definition in line. False: memory is exhausted. */
bool tr_definitions_add(struct tr_definitions *defs, struct tr_text line);

/* The definition of this id was written as it came. */
void tr_definitions_passed(struct tr_definitions *defs, struct tr_text id);

/* True if the line uses no definition that is not written yet. */
bool tr_definitions_are_settled(struct tr_definitions *defs, struct tr_text line,
				const struct tr_columns *columns);

/*
 * Puts the definitions that the line uses, and that are not written yet, into defs->wanted: the
 * caller writes them. False: memory is exhausted.
 */
bool tr_definitions_use(struct tr_definitions *defs, struct tr_text line);

/* Begins another output, to which none of them is written yet. */
void tr_definitions_begin_round(struct tr_definitions *defs);
void tr_definitions_free(struct tr_definitions *defs);

#endif
