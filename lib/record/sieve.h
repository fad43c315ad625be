/* SPDX-License-Identifier: MIT */
/*
 * A sieve tells from the fixed columns of a line whether anybody wants its
 * record, before the record is made. It is a hint: readers may know nothing of
 * it, and let lines through whenever that is easier. What a sieve says must
 * not depend on anything but the columns, and must not be worth a message.
 */
#ifndef TR_RECORD_SIEVE_H
#define TR_RECORD_SIEVE_H

#include <stdint.h>

#include "core/file.h"
#include "record/columns.h"
#include "record/line.h"

enum tr_sift {
	TR_SIFT_OUT,  /* nobody wants it */
	TR_SIFT_OPEN, /* not to be told from here */
	TR_SIFT_IN,   /* it is wanted, whatever else it says: the record is `chosen` */
};

struct tr_sieve {
	/* For lines of records whose columns have no escapes. */
	enum tr_sift (*sift)(struct tr_sieve *sieve, const struct tr_columns *columns);
	/*
	 * Not NULL: lines that are IN are shown to it first, in their order. True: it has
	 * done with the line all there is to do, and no record is made.
	 */
	bool (*take)(struct tr_sieve *sieve, struct tr_text line, const struct tr_columns *columns);
	void *taker; /* whatever take needs */
	/* Not NULL: lines may be shown to it, and taken, where they lie in a file (file_view.h). */
	const struct tr_fault_guard *guard;
	uint64_t left_out; /* lines so far, with those taken; counted by the reader */
};

/* A line that is to be given, and what is known of it. */
struct tr_pick {
	struct tr_text line;
	struct tr_columns columns;
	bool has_columns;
	enum tr_sift answer;
	uint64_t left_out; /* lines before it, with those taken */
};

/*
 * Looks at the lines from p on, whose ends are those to come, for the first that
 * the sieve (NULL: none) does not leave out or take. False: there is none. Reads up to
 * TR_INPUT_PAD bytes behind the lines.
 */
bool tr_sieve_pick(struct tr_sieve *sieve, struct tr_line_ends *ends, const char *p,
		   struct tr_pick *pick);

#endif
