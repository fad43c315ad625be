/* SPDX-License-Identifier: MIT */
/*
 * The contents of a trace in figures (tr-stat(1)): kinds, names and tasks of its
 * records, and what their kinds allow to count: runs of programs and their ends,
 * calls with frames and blobs, blocks of code, coverage by source line.
 *
 * The path of the data: tr_stat_put counts a line of the stream in the tallies of stat.c and
 * passes the record to the part for its kind (stat_runs.c, stat_calls.c, stat_coverage.c); at the
 * end, tr_stat_write lets each part fill a report (report.h), which is written at once.
 *
 * Memory grows with the number of distinct names, tasks, block addresses and frames, up to limits
 * (tally.h), and with the processes and calls that have not ended. If the trace has file calls, it
 * grows with all programs and the files that they write, too (deps/graph.h).
 */
#ifndef TR_VIEW_STAT_H
#define TR_VIEW_STAT_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

enum tr_stat_by {
	TR_STAT_BY_ALL,	  /* all figures */
	TR_STAT_BY_KEY,	  /* a table of the keys that the caller passes */
	TR_STAT_BY_FRAME, /* a table of frames */
};

enum { TR_STAT_FIELDS = 16 };

struct tr_stat_config {
	enum tr_stat_by table;
	const char *by[TR_STAT_FIELDS + 1]; /* the fields of a key; NULL-terminated */
	size_t top;			    /* rows of a table at most; 0: all */
	bool json;
	unsigned (*call_kinds)(struct tr_text name);  /* as in struct tr_format */
	const char *(*call_api)(struct tr_text name); /* the same */
	struct tr_compilers *compilers;		      /* NULL: those that are built in; borrowed */
	/* what the caller collects, complete at tr_stat_write; empty: none is reported */
	const struct tr_sources *sources;
};

struct tr_stat;

/* Borrows config's texts. NULL: memory is exhausted. */
struct tr_stat *tr_stat_new(const struct tr_stat_config *config);

/* The key of a record that the table does not count: a definition, or one without the field. */
#define TR_STAT_NO_KEY ((struct tr_text){ NULL, 0 })

/*
 * Counts one line. key: with TR_STAT_BY_KEY, the bytes of the field; of several fields their
 * cells (absent: -) with TABs between. Records that describe their segment have no key. False:
 * memory is exhausted.
 */
bool tr_stat_put(struct tr_stat *stat, struct tr_record *record, struct tr_text key);

/*
 * Counts a call that a reader hands over without a record (deps/file_call.h), and its time. False:
 * it must come as a record.
 */
struct tr_file_call;
bool tr_stat_take(struct tr_stat *stat, const struct tr_record *columns, int64_t time,
		  const struct tr_file_call *call);

/* A file or member that ends here. */
struct tr_stat_file {
	struct tr_text name, format, container; /* container: data NULL without one */
	int64_t size;				/* of the file; -1: unknown */
	uint64_t unpacked;			/* bytes that came out of its container */
};
bool tr_stat_file(struct tr_stat *stat, const struct tr_stat_file *file);

/* Writes the figures. False: memory is exhausted. */
bool tr_stat_write(struct tr_stat *stat, struct tr_output *out);

/*
 * True if some times count from 1970 and others do not: the span from the first to the last one
 * means nothing, and is not reported. Valid after tr_stat_write.
 */
bool tr_stat_has_two_clocks(const struct tr_stat *stat);

void tr_stat_free(struct tr_stat *stat);

#endif
