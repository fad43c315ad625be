/* SPDX-License-Identifier: MIT */
/*
 * The kinds of records, as far as comparing them differs: where the partner of a record can be, and
 * which of its fields are not compared.
 */
#ifndef TR_DIFF_KIND_H
#define TR_DIFF_KIND_H

#include "core/text.h"

/* The records of the other trace among which a record can have its partner. */
enum tr_diff_class {
	TR_DIFF_SET,  /* those with the same key */
	TR_DIFF_EXEC, /* exec records with the same key; the partners in their processes follow */
	TR_DIFF_EXIT, /* the exit record of the same process */
	TR_DIFF_PROCESS, /* those of the same process, in order */
	TR_DIFF_THREAD,	 /* those of the same thread, in order */
	TR_DIFF_KIND,	 /* those of the same kind, in order */
};

enum { TR_DIFF_CLASSES = TR_DIFF_KIND + 1 };

struct tr_diff_kind {
	struct tr_text name;
	enum tr_diff_class class;
	struct tr_text module; /* the field that refers to a module, which has a number per trace */
	/* fields, each of these lists up to one without data; NULL: none */
	const struct tr_text *left_out;
	const struct tr_text *keys; /* the record is another one if they differ, with their "=" */
};

/* Returns the kind of that name; all other kinds have one without a name. */
const struct tr_diff_kind *tr_diff_kind(struct tr_text name);

#endif
