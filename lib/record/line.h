/* SPDX-License-Identifier: MIT */
/*
 * Lines of the stream before records are made of them.
 *
 *	window -> tr_line_ends -> tr_sieve_pick -> struct tr_pick -> tr_record_from_columns
 *
 * The first pass over a window finds the ends of lines and invalid bytes. The second one finds the
 * fixed columns of each line, and a sieve selects lines by these. Thread safe for separate structs.
 */
#ifndef TR_RECORD_LINE_H
#define TR_RECORD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/file.h"
#include "core/text.h"

/*
 * Returns the first byte in [p, end) that a trec line must not contain: 00-1f except TAB and LF,
 * 7f, or invalid UTF-8; or end. A sequence that is cut by end counts as invalid, so pass complete
 * lines. Reads up to TR_INPUT_PAD bytes after end.
 */
const char *tr_line_scan(const char *p, const char *end);

/*
 * False if a line certainly refers to no definition: it has no "@", and no column that begins with
 * "." as .sig and .bt do. Reads up to TR_INPUT_PAD bytes after it.
 */
bool tr_line_may_refer(const char *p, const char *end);

enum {
	TR_LINE_BLOCK = 64,  /* bytes */
	TR_LINE_GROUP = 64,  /* blocks */
	TR_LINE_BLOCKS = 256 /*
			      * few enough that the bytes are still in the cache when they are read
			      */
};
_Static_assert(TR_LINE_BLOCKS % TR_LINE_GROUP == 0, "groups are whole");

/*
 * The ends of lines in a sequence of blocks: one bit for each byte, and one for each block that has
 * any, because most have none.
 */
struct tr_line_ends {
	bool clean;	   /* tr_line_scan would accept all of the blocks */
	const char *last;  /* the last line end, or NULL */
	const char *base;  /* the first byte */
	const char *block; /* the block of the line ends that are being returned */
	uint64_t left;	   /* line ends of this block that were not returned yet */
	size_t group;
	uint64_t used[TR_LINE_BLOCKS / TR_LINE_GROUP];
	uint64_t bits[TR_LINE_BLOCKS];
};

/*
 * Finds the line ends in `blocks` blocks at p, at most TR_LINE_BLOCKS. Blocks that are not clean
 * may still contain only valid bytes beyond ASCII.
 */
void tr_line_ends(const char *p, size_t blocks, struct tr_line_ends *ends);

/* Returns the next line end; there must be one. */
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
 * The fixed columns of a line that is as plain as nearly all are. Other lines are parsed by
 * tr_record_from_line, which also reports errors.
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
	/*
	 * where each column begins; the last one is the byte after the TAB or LF that ends the
	 * columns
	 */
	const char *start[TR_COLUMNS + 1];
	uint64_t kind; /* its bytes, the first one lowest, then zeros */
	bool escapes;  /* one of the columns has a backslash */
};

static inline struct tr_text tr_columns_text(const struct tr_columns *columns,
					     enum tr_column column)
{
	return tr_text_span(columns->start[column], columns->start[column + 1] - 1);
}

/*
 * True if the line from p to its LF at lf is a record with a kind of up to eight letters, and no
 * fixed column is missing or empty. False means nothing.
 */
bool tr_columns_find(const char *p, const char *lf, struct tr_columns *columns);

/* The same, faster: for short columns, where TR_INPUT_PAD bytes after the LF may be read. */
bool tr_columns_find_soon(const char *p, const char *lf, struct tr_columns *columns);

/* Converts a kind to the form in tr_columns; false: tr_columns_find does not accept it. */
bool tr_columns_kind(struct tr_text kind, uint64_t *word);

/*
 * A sieve selects lines before records are made of them: by their fixed columns, and by fields that
 * it can compare in the text of the line. It is a hint: a reader may ignore it, and may pass any
 * line. An answer must not need a message.
 */

enum tr_sift {
	TR_SIFT_OUT,  /* the record is not needed */
	TR_SIFT_OPEN, /* only the record can decide */
	TR_SIFT_IN,   /* the record is needed: it is `chosen` */
};

struct tr_sieve {
	/*
	 * Called for lines of records whose fixed columns have no escapes; lf: the end of the line.
	 * Another process may change the fields while they are read (struct tr_file_view).
	 */
	enum tr_sift (*sift)(struct tr_sieve *sieve, const struct tr_columns *columns,
			     const char *lf);
	/*
	 * Not NULL: called for each line that is IN, in order. True: the line was processed
	 * completely, and no record is made.
	 */
	bool (*take)(struct tr_sieve *sieve, struct tr_text line, const struct tr_columns *columns);
	void *taker; /* the context of take */
	/* Not NULL: lines may be passed to it where they lie in a file (struct tr_file_view). */
	const struct tr_fault_guard *guard;
	uint64_t left_out; /* lines so far, including those taken; counted by the reader */
};

/* A line of which a record is made, and its columns. */
struct tr_pick {
	struct tr_text line;
	struct tr_columns columns;
	bool has_columns;
	enum tr_sift answer;
	uint64_t left_out; /* lines skipped before it, including those taken */
};

/*
 * Finds the first line from p on, whose ends are the next ones of ends, that the sieve (may be
 * NULL) neither leaves out nor takes. False: there is none. Reads up to TR_INPUT_PAD bytes after
 * the lines.
 */
bool tr_sieve_pick(struct tr_sieve *sieve, struct tr_line_ends *ends, const char *p,
		   struct tr_pick *pick);

#endif
