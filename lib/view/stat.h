/* SPDX-License-Identifier: MIT */
/*
 * What is in a trace, in figures (tr-stat(1)): kinds, names and tasks of its
 * records, and what there is to count besides, by what the records are: runs of
 * programs and how they ended, calls, frames and blobs, blocks of code.
 *
 * Lines go in as the stream has them. Memory grows with what is different among
 * names, tasks, block addresses and frames, up to limits (tally.h), and with
 * what lives: processes, calls that have not returned.
 */
#ifndef TR_VIEW_STAT_H
#define TR_VIEW_STAT_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

enum tr_stat_by {
	TR_STAT_BY_ALL,	  /* everything that there is to say */
	TR_STAT_BY_KEY,	  /* a table of what the caller gives with each record */
	TR_STAT_BY_FRAME, /* a table of frames */
};

enum { TR_STAT_FIELDS = 16 };

struct tr_stat_config {
	enum tr_stat_by table;
	const char *by[TR_STAT_FIELDS + 1]; /* what a key consists of, NULL at the end */
	size_t top;			    /* rows of a table at most; 0: all */
	bool json;
	unsigned (*call_kinds)(struct tr_text name); /* as in struct tr_format */
};

struct tr_stat;

/* Borrows config's texts. NULL: memory. */
struct tr_stat *tr_stat_new(const struct tr_stat_config *config);

/* Key of a record that is not to be counted in the table: not in the stream's records, or absent.
 */
#define TR_STAT_NO_KEY ((struct tr_text){ NULL, 0 })

/*
 * Counts one line. key: with TR_STAT_BY_KEY, bytes, or of several fields the
 * cells that they make (absent: -), with TABs between; those of records that describe their
 * segment are not counted. False: memory is out.
 */
bool tr_stat_put(struct tr_stat *stat, struct tr_record *record, struct tr_text key);

/* A file or member is through. */
struct tr_stat_file {
	struct tr_text name, format, container; /* container: data NULL without one */
	int64_t size;				/* of the file, -1: not known */
	uint64_t unpacked;			/* bytes that came out of its container */
};
bool tr_stat_file(struct tr_stat *stat, const struct tr_stat_file *file);

/* All went in: writes the figures. False: memory is out. */
bool tr_stat_write(struct tr_stat *stat, struct tr_output *out);

void tr_stat_free(struct tr_stat *stat);

#endif
