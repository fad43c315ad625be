/* SPDX-License-Identifier: MIT */
/*
 * Source files with how often each line was executed (tr-totext --style=source, tr-tohtml), in the
 * form of gcov's listing:
 *
 *	        -:    0:Source:/src/a.c
 *	        2:    3:int main(void)
 *	    #####:    8:	return 1;
 *	        -:    9:}
 *
 * - marks a line without code, ##### one that was not executed. If a source cannot be read, only
 * the numbers of its lines with code, or with branches that are shown, are listed. Memory grows with the lines of the programs.
 */
#ifndef TR_VIEW_SOURCE_TEXT_H
#define TR_VIEW_SOURCE_TEXT_H

#include <stdbool.h>

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_programs;
struct tr_source_text;

struct tr_source_text_config {
	/*
	 * Write a page for a browser with this title instead: the files, each with its share of
	 * executed lines, which open to their listing in colours. NULL: text. Borrowed.
	 */
	const struct tr_text *page;
	bool branches;	       /* also list the outcomes of branches */
	const char *directory; /* before the paths of sources; NULL: none. Borrowed */
	/* Reports a source that cannot be read. */
	void (*report)(void *context, const struct tr_error *err);
	void *context;
};

/* Borrows out. NULL: memory is exhausted. */
struct tr_source_text *tr_source_text_new(const struct tr_source_text_config *config,
					  struct tr_output *out);

/* Returns the programs, to which the caller adds those of the blocks before the first record. */
struct tr_programs *tr_source_text_programs(struct tr_source_text *view);

/* Takes the next line of the stream, or NULL at its end: then the files are written. */
enum tr_status tr_source_text_put(struct tr_source_text *view, struct tr_record *record,
				  struct tr_error *err);

/* Returns whether there are any lines; to be called after the end. */
bool tr_source_text_any(const struct tr_source_text *view);

void tr_source_text_free(struct tr_source_text *view);

#endif
