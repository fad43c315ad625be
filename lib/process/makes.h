/* SPDX-License-Identifier: MIT */
/*
 * The files that the commands of a build make, for many records in a row: tr_call_makes (call.c)
 * decides what a command makes, and this remembers it.
 * The commands of one program differ in few words, mostly names of files. So the last ones of each
 * program are kept with the role of each of their words, and a command that differs from one of
 * them only where that cannot change the result is not split and parsed. Bounded memory. Not thread
 * safe.
 */
#ifndef TR_PROCESS_MAKES_H
#define TR_PROCESS_MAKES_H

#include <stdbool.h>

#include "core/text.h"
#include "process/compilers.h"
#include "record/record.h"

struct tr_makes;

/* compilers: as in struct tr_call_config. NULL: memory is exhausted. */
struct tr_makes *tr_makes_new(struct tr_compilers *compilers);
void tr_makes_free(struct tr_makes *makes);

/*
 * True if the program of a record is certainly no build tool, so that it makes nothing, whatever its
 * arguments are. Only the first records of a program are parsed for this.
 */
bool tr_makes_nothing(struct tr_makes *makes, struct tr_record *record);

/* Like tr_call_makes. */
bool tr_makes_find(struct tr_makes *makes, struct tr_record *record, struct tr_text *file);

#endif
