/* SPDX-License-Identifier: MIT */
/* A table of what was counted, the most frequent first. */
#include "view/stat_private.h"

#include <stdlib.h>

/* The cells that a key of several fields consists of. */
static void key_cells(struct tr_text key, struct tr_report *report)
{
	struct tr_arena arena = TR_ARENA_INIT;
	const char *p = key.data, *end = key.data + key.len;

	for (const char *tab; p; p = tab ? tab + 1 : NULL) {
		tab = memchr(p, '\t', (size_t)(end - p));
		struct tr_text bytes, cell = tr_text_span(p, tab ? tab : end);
		if (tr_text_is(cell, "-")) {
			bytes = (struct tr_text){ NULL, 0 };
		} else if (!tr_cell_bytes(cell, &arena, &bytes, NULL)) {
			report->text.failed = true; /* it was spelled by ourselves */
			bytes = cell;
		}
		tr_report_cell_text(report, bytes);
	}
	tr_arena_free(&arena);
}

static void tally_row(const struct tr_tally *tally, const struct tr_tally_entry *entry,
		      bool several, struct tr_report *report)
{
	tr_report_cell_number(report, entry->count);
	tr_report_cell_share(report, entry->count, tally->total);
	if (tally->timed) {
		bool timed = entry->timed > 0;
		tr_report_cell_seconds(report, timed ? entry->total : TR_INSTANT_NONE);
		tr_report_cell_seconds(report, timed ? entry->total / (int64_t)entry->timed
						     : TR_INSTANT_NONE);
		tr_report_cell_seconds(report, timed ? entry->longest : TR_INSTANT_NONE);
	}
	if (several)
		key_cells(tr_tally_text(entry), report);
	else
		tr_report_cell_text(report, tr_tally_text(entry));
}

bool tr_stat_tally_report_by(const struct tr_tally *tally, struct tr_report *report,
			     const char *name, const char *const *what, size_t top)
{
	const char *columns[5 + TR_STAT_FIELDS + 1] = { "count", "share", "seconds", "mean",
							"longest" };
	size_t fields = 0, figures = tally->timed ? 5 : 2, count;
	struct tr_tally_entry **list;

	_Static_assert(5 + TR_STAT_FIELDS <= TR_REPORT_COLUMNS, "a table has room for them");
	for (; what[fields]; fields++)
		columns[figures + fields] = what[fields];
	columns[figures + fields] = NULL;

	if (!tr_tally_top(tally, top, &list, &count)) {
		report->text.failed = true; /* for those who write on */
		return false;
	}
	tr_report_table(report, name, columns);
	for (size_t i = 0; i < count; i++)
		tally_row(tally, list[i], fields > 1, report);
	tr_report_table_end(report);
	free(list);
	return true;
}

bool tr_stat_tally_report(const struct tr_tally *tally, struct tr_report *report, const char *name,
			  const char *what, size_t top)
{
	const char *const columns[] = { what, NULL };

	return tr_stat_tally_report_by(tally, report, name, columns, top);
}
