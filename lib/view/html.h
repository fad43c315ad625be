/* SPDX-License-Identifier: MIT */
/*
 * Processes or API calls as a page for a browser (tr-tohtml(1)): one file that
 * fetches nothing. A timeline to zoom and search, the busiest names, the
 * longest runs, the process tree, frames; a click on a run tells its command,
 * its directory, and how its environment differs from its parent's.
 *
 * The page is html_page.html, with the trace in two places of it: columns of
 * numbers that are looked at at once, and a line of JSON for each span that is
 * looked at when somebody asks. Only what can be seen is drawn, so a hundred
 * thousand of them are no burden.
 *
 * Memory: 48 bytes a span, and what process/forest.h and process/lineage.h take.
 */
#ifndef TR_VIEW_HTML_H
#define TR_VIEW_HTML_H

#include <stddef.h>

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_html_config {
	struct tr_text title; /* borrowed */
	size_t limit;	      /* spans at most; those behind are only counted */
	uint64_t max_spool;   /* as in struct tr_limits */
	unsigned (*call_kinds)(struct tr_text name); /* as in struct tr_format */
};

struct tr_html;

/* Borrows out. NULL: memory. */
struct tr_html *tr_html_new(const struct tr_html_config *config, struct tr_output *out);

/*
 * The next line of the stream, NULL at its end: then the page is written.
 * TR_WARN: err tells what could not be shown. TR_FATAL: nothing is written.
 */
enum tr_status tr_html_put(struct tr_html *html, struct tr_record *record, struct tr_error *err);

/* How many spans there are on the page, and how many had no place. */
size_t tr_html_spans(const struct tr_html *html);
uint64_t tr_html_left(const struct tr_html *html);

void tr_html_free(struct tr_html *html);

#endif
