/* SPDX-License-Identifier: MIT */
/*
 * Lines of the stream, before records are made of them.
 *
 *	window -> tr_line_ends -> tr_sieve_pick -> struct tr_pick -> tr_record_from_columns
 *
 * The first pass over a window finds the ends of lines and bytes that no line may have. The second
 * one finds the fixed columns of each line, by which a sieve selects lines. format/trec/trec.c does
 * both.
 *
 * All pointers are into the window of the caller. Thread safe for separate structs.
 */
#ifndef TR_RECORD_LINE_H
#define TR_RECORD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/file.h"
#include "core/text.h"

/*
 * Returns the first byte in [p, end) that a line must not have: 00 to 1f except TAB and LF, 7f, or
 * a byte that is not UTF-8. Returns end if there is none. A character that end cuts is not UTF-8,
 * so pass complete lines. Reads up to TR_INPUT_PAD bytes after end.
 */
const char *tr_line_scan(const char *p, const char *end);

/*
 * False if a line certainly does not refer to a definition: it has no "@", and no column that
 * begins with ".", as .sig and .bt do. Reads up to TR_INPUT_PAD bytes after the line.
 */
bool tr_line_may_refer(const char *p, const char *end);

enum {
	TR_LINE_BLOCK = 64,   /* bytes */
	TR_LINE_GROUP = 64,   /* blocks */
	TR_LINE_BLOCKS = 256, /* at a time; they stay in the cache until their lines are read */
};
_Static_assert(TR_LINE_BLOCKS % TR_LINE_GROUP == 0, "groups are whole");

/*
 * The ends of lines in a sequence of blocks: one bit for each byte, and one for each block that has
 * an end, because most blocks have none.
 */
struct tr_line_ends {
	bool clean;	   /* tr_line_scan accepts all bytes of the blocks */
	const char *last;  /* the last line end, or NULL */
	const char *base;  /* the first byte */
	const char *block; /* the block of the line ends that are being returned */
	uint64_t left;	   /* line ends of that block that were not returned */
	size_t group;
	uint64_t used[TR_LINE_BLOCKS / TR_LINE_GROUP];
	uint64_t bits[TR_LINE_BLOCKS];
};

/*
 * Finds the line ends in that many blocks from p on, at most TR_LINE_BLOCKS. Blocks that are not
 * clean may be valid all the same, if they have bytes beyond ASCII: tr_line_scan decides.
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
 * The fixed columns of a record in the form that nearly all have. Other lines are parsed by
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
	/* where each column begins, and the byte after the TAB or LF that ends the last one */
	const char *start[TR_COLUMNS + 1];
	uint64_t kind; /* its bytes as a number, the first one lowest, filled with zeros */
	bool escapes;  /* one of the columns has a backslash */
};

static inline struct tr_text tr_columns_text(const struct tr_columns *columns,
					     enum tr_column column)
{
	return tr_text_span(columns->start[column], columns->start[column + 1] - 1);
}

/*
 * Finds the columns of the line from p to its LF at lf. False: it is no record with a kind of up to
 * eight letters and five columns that are not empty; it may be another valid line.
 */
bool tr_columns_find(const char *p, const char *lf, struct tr_columns *columns);

/*
 * As tr_columns_find, for a line whose columns end within its first 64 bytes. False also for
 * others. Reads up to TR_INPUT_PAD bytes after the LF.
 */
bool tr_columns_find_short(const char *p, const char *lf, struct tr_columns *columns);

/*
 * A sieve selects lines before records are made of them: by their fixed columns, and by fields that
 * it can compare in the text of the line. It is a hint: a reader may ignore it and return any line,
 * so the tool decides again. No message may depend on its answer.
 */

enum tr_sift {
	TR_SIFT_OUT,  /* the record is not needed */
	TR_SIFT_OPEN, /* only the record can decide */
	TR_SIFT_IN,   /* the record is needed: record->chosen */
};

struct tr_sieve {
	/*
	 * Called for lines of records whose fixed columns have no escapes; lf: the end of the line.
	 * Another process may change the fields while they are read (struct tr_file_view).
	 */
	enum tr_sift (*sift)(struct tr_sieve *sieve, const struct tr_columns *columns,
			     const char *lf);
	/*
	 * Called for each line that is IN, in order, if it is not NULL. True: the line was
	 * processed, and no record is made of it.
	 */
	bool (*take)(struct tr_sieve *sieve, struct tr_text line, const struct tr_columns *columns);
	void *taker; /* the context of take */
	/*
	 * If it is not NULL, lines may be examined in a mapping of their file (struct
	 * tr_file_view).
	 */
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
 * Finds the first line that the sieve, which may be NULL, neither leaves out nor takes. The lines
 * begin at p, and their ends are the next ones of `ends`. False: there is none. Reads up to
 * TR_INPUT_PAD bytes after the lines.
 */
bool tr_sieve_pick(struct tr_sieve *sieve, struct tr_line_ends *ends, const char *p,
		   struct tr_pick *pick);

#endif
