/* SPDX-License-Identifier: MIT */
/*
 * Defines which record is the parent of a process. The field parent names it by its seq, which is
 * exact; without that field, ppid names a task, whose id may be used again, so it means the program
 * that runs in that task now. A fork record that names the process as its child precedes both.
 * Views use all three (runs.h); environments and calls, which belong to records, only the field
 * parent.
 *
 * tests/data/process/parent.cases are the cases, which every user of this definition passes.
 */
#ifndef TR_PROCESS_PARENT_H
#define TR_PROCESS_PARENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "record/record.h"

enum tr_parent_kind {
	TR_PARENT_NONE,	  /* the record names none */
	TR_PARENT_RECORD, /* the exec record whose seq is text */
	TR_PARENT_TASK,	  /* the task whose id is text */
};

struct tr_parent {
	enum tr_parent_kind kind;
	struct tr_text text; /* lives as long as the record */
	uint64_t seq;	     /* of RECORD; TR_NO_POSITION: it is not a number */
};

/* Finds the parent that a record names, which is split. False: memory is exhausted. */
bool tr_parent_read(struct tr_record *record, struct tr_parent *parent);

/* As tr_parent_read, for a caller that has the fields parent and ppid (NULL: there is none). */
bool tr_parent_of_fields(struct tr_record *record, const struct tr_field *parent_field,
			 const struct tr_field *ppid, struct tr_parent *parent);

/*
 * The decoded text of a task or seq cell; data NULL: it is absent. It lives as long as the record.
 * False: memory is exhausted.
 */
bool tr_parent_cell(struct tr_record *record, const struct tr_cell *cell, struct tr_text *text);

/*
 * The text of a field as trec spells it, which is also the spelling of task cells of the same
 * source; data NULL: field is NULL. It lives as long as the record. False: memory is exhausted.
 */
bool tr_parent_text(struct tr_record *record, const struct tr_field *field, struct tr_text *text);

#endif
