/* SPDX-License-Identifier: MIT */
/*
 * The byte layer of the stream: one fast pass over a window that finds line
 * ends and whatever may not stand in a trec stream.
 */
#ifndef TR_RECORD_LINE_H
#define TR_RECORD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/file.h"
#include "core/text.h"

/*
 * The first byte in [p, end) that no trec line may hold raw: 00-1f except TAB
 * and LF, 7f, or no valid UTF-8. end when there is none. A sequence that is
 * cut by end counts as invalid, so pass whole lines. Reads up to
 * TR_INPUT_PAD bytes behind end.
 */
const char *tr_line_scan(const char *p, const char *end);

/*
 * False when a line surely refers to no definition: it has no "@", and no column that
 * begins with "." as .sig and .bt do. Reads up to TR_INPUT_PAD bytes behind it.
 */
bool tr_line_may_refer(const char *p, const char *end);

enum {
	TR_LINE_BLOCK = 64,  /* bytes */
	TR_LINE_GROUP = 64,  /* blocks */
	TR_LINE_BLOCKS = 256 /* so few that what was checked is yet near when it is read */
};
_Static_assert(TR_LINE_BLOCKS % TR_LINE_GROUP == 0, "groups are whole");

/*
 * Where lines end in a run of blocks: a bit for every byte, and one for every
 * block that has any, because of the others there are many.
 */
struct tr_line_ends {
	bool clean;	   /* tr_line_scan would find nothing in the blocks */
	const char *last;  /* of all line ends; NULL: there is none */
	const char *base;  /* the first byte */
	const char *block; /* the one whose line ends are being given */
	uint64_t left;	   /* those that were not given yet */
	size_t group;
	uint64_t used[TR_LINE_BLOCKS / TR_LINE_GROUP];
	uint64_t bits[TR_LINE_BLOCKS];
};

/*
 * Finds them in `blocks` blocks at p, TR_LINE_BLOCKS at most. Where something
 * is not clean, there may yet be no more than legal bytes beyond ASCII.
 */
void tr_line_ends(const char *p, size_t blocks, struct tr_line_ends *ends);

/* The next of them. There has to be one. */
static inline const char *tr_line_ends_next(struct tr_line_ends *ends)
{
	if (!ends->left) {
		while (!ends->used[ends->group])
			ends->group++;
		uint64_t *used = &ends->used[ends->group];
		size_t block = ends->group * TR_LINE_GROUP + (unsigned)__builtin_ctzll(*used);
		*used &= *used - 1;
		ends->left = ends->bits[block];
		ends->block = ends->base + block * TR_LINE_BLOCK;
	}
	const char *end = ends->block + (unsigned)__builtin_ctzll(ends->left);
	ends->left &= ends->left - 1;
	return end;
}

/*
 * The fixed columns of a record's line, where they are as plain as nearly always.
 * What is not so is left to tr_record_from_line, which also says what is wrong
 * with it. Many lines at a time: tr_sieve_pick.
 */

enum tr_column {
	TR_COLUMN_KIND,
	TR_COLUMN_SEQ,
	TR_COLUMN_TIME,
	TR_COLUMN_TASK,
	TR_COLUMN_NAME,
	TR_COLUMNS,
};

struct tr_columns {
	/* where each begins, and what is behind the TAB or LF that ends the last of them */
	const char *start[TR_COLUMNS + 1];
	uint64_t kind; /* its bytes: the first one lowest, 0 behind the last */
	bool escapes;  /* a backslash stands in one of them */
};

static inline struct tr_text tr_columns_text(const struct tr_columns *columns,
					     enum tr_column column)
{
	return tr_text_span(columns->start[column], columns->start[column + 1] - 1);
}

/*
 * True when the line from p to its LF at lf is a record's, of a kind of up to
 * eight letters, and no fixed column of it is missing or empty. False says
 * nothing.
 */
bool tr_columns_find(const char *p, const char *lf, struct tr_columns *columns);

/* The kind as tr_columns has it; false: it is none that tr_columns_find accepts. */
bool tr_columns_kind(struct tr_text kind, uint64_t *word);

/*
 * A sieve tells from the fixed columns of a line whether anybody wants its
 * record, before the record is made. It is a hint: readers may know nothing of
 * it, and let lines through whenever that is easier. What a sieve says must
 * not depend on anything but the columns, and must not be worth a message.
 */

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
