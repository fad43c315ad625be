/* SPDX-License-Identifier: MIT */
/* The figures that were collected, in the order in which people want them. */
#include "view/stat_private.h"

#include <stdlib.h>
#include <time.h>

static void report_files(const struct tr_stat *stat, struct tr_report *report)
{
	static const char *const columns[] = { "size",	 "unpacked", "container",
					       "format", "file",     NULL };
	const struct tr_stat_input *files = (const void *)stat->files.data;
	size_t count = stat->files.len / sizeof *files;

	tr_report_table(report, "files", columns);
	for (size_t i = 0; i < count; i++) {
		tr_report_cell_number(report, files[i].size < 0 ? files[i].unpacked
								: (uint64_t)files[i].size);
		tr_report_cell_number(report, files[i].unpacked);
		tr_report_cell_text(report,
				    files[i].container.data ? files[i].container : TR_TEXT("none"));
		tr_report_cell_text(report, files[i].format);
		tr_report_cell_text(report, files[i].name);
	}
	tr_report_table_end(report);
}

/* People get a date where the time counts from 1970, which is so if it is years. */
static void report_instant(struct tr_report *report, const char *name, int64_t instant)
{
	const int64_t years = (int64_t)100000000 * TR_INSTANT_SECOND;
	struct tr_buffer text = TR_BUFFER_INIT;
	time_t seconds = (time_t)(instant / TR_INSTANT_SECOND);
	struct tm date;
	char spelled[40];

	if (!report->json && instant >= years && gmtime_r(&seconds, &date) &&
	    strftime(spelled, sizeof spelled, "%Y-%m-%d %H:%M:%S UTC", &date))
		tr_buffer_put_text(&text, tr_text_from(spelled));
	else
		tr_instant_write(instant, 9, &text);
	tr_report_text(report, name, tr_buffer_text(&text));
	report->text.failed |= text.failed;
	tr_buffer_free(&text);
}

/* When it happened, and how much of it in a second. */
static void report_times(const struct tr_stat *stat, struct tr_report *report)
{
	const struct tr_runs *runs = &stat->runs.runs;

	if (runs->earliest == TR_INSTANT_NONE)
		return;
	int64_t span = runs->latest - runs->earliest;
	report_instant(report, "from", runs->earliest);
	report_instant(report, "to", runs->latest);
	tr_report_seconds(report, "seconds", span);
	if (span > 0)
		tr_report_real(report, "per-second",
			       (double)stat->records * TR_INSTANT_SECOND / (double)span, 1);
}

/* A table that had no place for all of them says so. */
static void report_beyond(const struct tr_tally *tally, struct tr_report *report, const char *name)
{
	if (tally->beyond)
		tr_report_number(report, name, tally->beyond->count);
}

static void report_records(const struct tr_stat *stat, struct tr_report *report)
{
	report_files(stat, report);
	tr_report_number(report, "segments", stat->segments);
	tr_report_number(report, "records", stat->records);
	tr_report_number(report, "definitions", stat->definitions);
	tr_report_number(report, "errors", stat->lost);
	if (stat->truncated)
		tr_report_flag(report, "truncated");
	report_times(stat, report);
}

static bool report_all(struct tr_stat *stat, struct tr_report *report)
{
	size_t top = stat->config.top;

	report_records(stat, report);
	tr_report_number(report, "names", tr_tally_distinct(&stat->names));
	report_beyond(&stat->names, report, "uncounted-names");
	tr_report_number(report, "tasks", tr_tally_distinct(&stat->tasks));
	report_beyond(&stat->tasks, report, "uncounted-tasks");
	if (!tr_stat_tally_report(&stat->kinds, report, "kinds", "kind", 0))
		return false;
	if (tr_tally_distinct(&stat->names) &&
	    !tr_stat_tally_report(&stat->names, report, "busiest-names", "name", top))
		return false;
	/* where each has one record, or one has all, there is nothing to see */
	if (tr_tally_distinct(&stat->tasks) > 1 &&
	    tr_tally_distinct(&stat->tasks) < stat->tasks.total &&
	    !tr_stat_tally_report(&stat->tasks, report, "busiest-tasks", "task", top))
		return false;
	if (tr_tally_distinct(&stat->errors) &&
	    !tr_stat_tally_report(&stat->errors, report, "failures", "error", top))
		return false;
	if (stat->runs.programs || stat->runs.forks)
		tr_stat_runs_report(&stat->runs, report);
	if (stat->calls.calls)
		tr_stat_calls_report(&stat->calls, report);
	return !stat->blocks.blocks || tr_stat_blocks_report(&stat->blocks, report, top);
}

static bool report_keys(struct tr_stat *stat, struct tr_report *report)
{
	tr_report_number(report, "records", stat->records);
	tr_report_number(report, "counted", stat->keys.total);
	tr_report_number(report, "distinct", tr_tally_distinct(&stat->keys));
	report_beyond(&stat->keys, report, "uncounted");
	return tr_stat_tally_report_by(&stat->keys, report, "by", stat->config.by,
				       stat->config.top);
}

bool tr_stat_write(struct tr_stat *stat, struct tr_output *out)
{
	struct tr_report report;
	bool fine;

	tr_runs_finish(&stat->runs.runs);
	if (stat->runs.failed || stat->runs.ends.failed || stat->calls.frames.failed)
		return false;
	tr_report_begin(&report, stat->config.json);
	switch (stat->config.table) {
	case TR_STAT_BY_KEY:
		fine = report_keys(stat, &report);
		break;
	case TR_STAT_BY_FRAME:
		fine = tr_stat_frames_report(&stat->calls, &report, stat->config.top);
		break;
	default:
		fine = report_all(stat, &report);
	}
	fine = fine && tr_report_end(&report, out);
	tr_report_free(&report);
	return fine;
}
