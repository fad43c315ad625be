/* SPDX-License-Identifier: MIT */
/*
 * Processes or API calls as a page for a browser (tr-tohtml(1)): one file that fetches nothing. It
 * has a timeline to zoom and search, the busiest names, the longest runs, the process tree and
 * frames. A click on a run shows its command, its directory, and how its environment differs from
 * that of its parent.
 *
 * The path of the data: exec records go to a forest (process/forest.h), which keeps a text for
 * each; at the end of a segment every run becomes a span. API calls become spans when they
 * return. At the end, the page html_page.html is written with the spans in two places: as
 * columns of numbers, which the browser parses at once, and as a line of JSON for each span,
 * which it parses when the span is clicked. Environments have lines of their own, since many runs
 * have the same. The page draws only what is visible, so that it can hold a hundred thousand spans.
 *
 * If the trace has file calls (file_uses.h), the page also has a line of JSON for each span with
 * its files, and the critical path (critical.h). The parts of html_page.html that show these are
 * between lines "@if NAME" and "@end", and other pages do not contain them. The line of a compiler
 * has its longest phases if there is a file of them (phases.h).
 *
 * Memory: what process/forest.h, process/env_tracker.h and file_uses.h take. The columns go to a
 * temporary file, so that a span takes no memory of its own.
 */
#ifndef TR_VIEW_HTML_H
#define TR_VIEW_HTML_H

#include <stddef.h>

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"
#include "view/phases.h"

struct tr_html_config {
	struct tr_text title;			     /* borrowed */
	size_t limit;				     /* of spans; further ones are only counted */
	uint64_t max_spool;			     /* as in struct tr_limits */
	unsigned (*call_kinds)(struct tr_text name); /* as in struct tr_format */
	struct tr_compilers *compilers;		     /* NULL: those that are built in; borrowed */
	struct tr_phases *phases;		     /* of compilers; NULL: none; borrowed */
	size_t cores;  /* their number, to show how many are busy; 0: not shown */
	bool critical; /* show the critical path even if there are no file calls */
};

struct tr_html;

/* Borrows out. NULL: memory is exhausted. */
struct tr_html *tr_html_new(const struct tr_html_config *config, struct tr_output *out);

/*
 * Takes the next line of the stream, or NULL at its end: then the page is written. TR_WARN: err
 * states what could not be shown. TR_FATAL: nothing is written.
 */
enum tr_status tr_html_put(struct tr_html *html, struct tr_record *record, struct tr_error *err);

/* Return the number of spans on the page, and of those beyond the limit. */
size_t tr_html_spans(const struct tr_html *html);
uint64_t tr_html_left(const struct tr_html *html);

/*
 * Return, after the end, whether the page shows the cores, and whether it shows the critical path.
 */
bool tr_html_has_cores(const struct tr_html *html);
bool tr_html_has_path(const struct tr_html *html);

void tr_html_free(struct tr_html *html);

#endif
