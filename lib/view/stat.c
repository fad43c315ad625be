/* SPDX-License-Identifier: MIT */
#include "view/stat.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/ask.h"
#include "record/vocabulary.h"
#include "record/literal.h"
#include "coverage/sources.h"
#include "view/stat_private.h"

struct input {
	struct tr_text name, format, container; /* in the arena */
	int64_t size;
	uint64_t unpacked;
};

struct tr_stat {
	struct tr_stat_config config;
	struct tr_tally kinds, names, tasks, errors, keys;
	struct tr_stat_runs runs;
	struct tr_stat_calls calls;
	struct tr_stat_blocks blocks;
	struct tr_stat_files used; /* unless there is a table of keys or frames */
	struct tr_buffer files;	   /* of struct input */
	struct tr_arena arena;
	bool failed; /* memory was exhausted */
	uint64_t records, definitions, segments;
	uint64_t lost; /* what trailers say */
	bool truncated;
};

bool tr_stat_file(struct tr_stat *stat, const struct tr_stat_file *from)
{
	struct input file = {
		.name = tr_arena_copy(&stat->arena, from->name),
		.format = tr_arena_copy(&stat->arena, from->format),
		.size = from->size,
		.unpacked = from->unpacked,
	};

	if (from->container.data)
		file.container = tr_arena_copy(&stat->arena, from->container);
	tr_buffer_put(&stat->files, (const char *)&file, sizeof file);
	return file.name.data && file.format.data && !stat->files.failed &&
	       tr_stat_calls_end(&stat->calls, from->unpacked);
}

/* Counts a cell. TR_TALLY_NONE: the cell is absent, or memory is exhausted. */
static uint32_t count_cell(struct tr_stat *stat, struct tr_tally *tally, struct tr_record *record,
			   const struct tr_cell *cell)
{
	struct tr_error err;

	if (cell->type == TR_CELL_ABSENT)
		return TR_TALLY_NONE;
	struct tr_text bytes = tr_ask_cell(cell, record->arena, &err);
	stat->failed |= !bytes.data;
	return bytes.data ? tr_tally_count(tally, bytes) : TR_TALLY_NONE;
}

/*
 * False: the record has none of the fields error, failed and dur. Most calls of a log are such, and
 * their lines need not be split.
 */
static bool may_have_outcome(const struct tr_record *record)
{
	const char *p = record->rest.data, *end = p + record->rest.len;

	if (record->split || !record->line.data)
		return true;
	while (p < end && (p = memchr(p, '\t', (size_t)(end - p))) && end - p > 2) {
		if ((p[1] == 'e' && p[2] == 'r') || (p[1] == 'f' && p[2] == 'a') ||
		    (p[1] == 'd' && p[2] == 'u'))
			return true;
		p++;
	}
	return false;
}

/* Counts the error of a record that failed. */
static void count_error(struct tr_stat *stat, struct tr_record *record)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_error err;

	tr_error_clear(&err);
	const struct tr_value *error = tr_ask_any(record, "error", &err);
	if (error) {
		tr_literal_write(error, &text);
		tr_tally_count(&stat->errors, tr_buffer_text(&text));
	} else if (tr_ask_has(record, "failed", &err)) {
		tr_tally_count(&stat->errors, TR_TEXT("failed"));
	}
	stat->failed |= err.cause == TR_CAUSE_MEMORY || text.failed;
	tr_buffer_free(&text);
}

static void count_trailer(struct tr_stat *stat, struct tr_record *record)
{
	struct tr_error err;

	tr_error_clear(&err);
	stat->lost += tr_ask_number(record, "errors", 0, &err);
	stat->truncated |= tr_ask_has(record, "truncated", &err);
	stat->failed |= err.cause == TR_CAUSE_MEMORY;
}

enum sort { OTHER, BLOCK, CALL, LEAVE, SYS, EXEC, CONTEXT };

static enum sort sort_of(struct tr_text kind)
{
	/* the most frequent kinds first */
	if (tr_text_is(kind, "block"))
		return BLOCK;
	if (tr_text_is(kind, "sys"))
		return SYS;
	if (tr_text_is(kind, "call") || tr_text_is(kind, "enter"))
		return CALL;
	if (tr_text_is(kind, "leave"))
		return LEAVE;
	if (tr_text_is(kind, "exec"))
		return EXEC;
	return tr_context_kind(kind) >= 0 ? CONTEXT : OTHER;
}

static bool put_record(struct tr_stat *stat, struct tr_record *record, struct tr_text key)
{
	enum sort sort = sort_of(record->kind);
	uint32_t entry = TR_TALLY_NONE;
	/* the second half of a call, whose enter was counted */
	bool second = sort == LEAVE && record->name.type != TR_CELL_ABSENT;

	stat->records += !second;
	tr_tally_count(&stat->kinds, record->kind);
	if (stat->config.table == TR_STAT_BY_KEY && key.data && !second && sort != CONTEXT)
		entry = tr_tally_count(&stat->keys, key);
	else if (stat->config.table != TR_STAT_BY_KEY && !second && sort != CONTEXT &&
		 sort != BLOCK)
		entry = count_cell(stat, &stat->names, record, &record->name);
	if (!second)
		count_cell(stat, &stat->tasks, record, &record->task);
	if (sort == BLOCK)
		return tr_stat_blocks_put(&stat->blocks, record);
	if ((sort == CALL || sort == LEAVE) && !tr_stat_calls_put(&stat->calls, record, entry))
		return false;
	if (sort == CONTEXT && tr_text_is(record->kind, "module") &&
	    !tr_stat_blocks_module(&stat->blocks, record))
		return false;
	bool outcome = (sort == SYS || sort == EXEC) && may_have_outcome(record);
	if (outcome)
		count_error(stat, record);
	if (outcome && sort == SYS) {
		int64_t duration;
		if (!tr_instant_from_field(record, "dur", &duration))
			return false;
		if (duration != TR_INSTANT_NONE && duration >= 0)
			tr_tally_time(stat->runs.tally, entry, duration);
	}
	if ((sort == SYS || sort == EXEC || sort == OTHER) &&
	    stat->config.table == TR_STAT_BY_ALL && !tr_stat_files_put(&stat->used, record))
		return false;
	return tr_stat_runs_put(&stat->runs, record, entry);
}

bool tr_stat_put(struct tr_stat *stat, struct tr_record *record, struct tr_text key)
{
	switch (record->type) {
	case TR_RECORD:
		if (!put_record(stat, record, key))
			return false;
		break;
	case TR_DEFINITION:
		stat->definitions++;
		break;
	case TR_COMMENT:
		break;
	case TR_TRAILER:
		count_trailer(stat, record);
		/* fall through */
	case TR_HEADER:
		stat->segments += record->type == TR_HEADER;
		/* without headers, calls end with their file: tr_stat_file */
		if (record->type == TR_HEADER && !tr_stat_calls_end(&stat->calls, 0))
			return false;
		tr_stat_blocks_end(&stat->blocks);
		if (!tr_stat_runs_put(&stat->runs, record, TR_TALLY_NONE) ||
		    !tr_stat_files_end(&stat->used))
			return false;
	}
	return !stat->kinds.failed && !stat->names.failed && !stat->tasks.failed &&
	       !stat->errors.failed && !stat->keys.failed && !stat->failed;
}

bool tr_stat_take(struct tr_stat *stat, const struct tr_record *columns, int64_t time,
		  const struct tr_file_call *call)
{
	if (stat->config.table != TR_STAT_BY_ALL ||
	    !tr_file_uses_take(&stat->used.uses, columns, call))
		return false;
	stat->records++;
	tr_tally_count(&stat->kinds, columns->kind);
	tr_tally_count(&stat->names, columns->name.text);
	tr_tally_count(&stat->tasks, columns->task.text);
	tr_runs_see(&stat->runs.runs, time);
	return true;
}

/* Puts a cell for each field of a key of several fields. */
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
			report->text.failed =
				true; /* keys are valid cells, so only memory can be missing */
			bytes = cell;
		}
		tr_report_cell_text(report, bytes);
	}
	tr_arena_free(&arena);
}

static void tally_row(const struct tr_tally *tally, uint32_t entry, bool several,
		      struct tr_report *report)
{
	tr_report_cell_number(report, tally->entries[entry].count);
	tr_report_cell_share(report, tally->entries[entry].count, tally->total);
	if (tally->timed) {
		struct tr_tally_time time = tr_tally_times(tally, entry);
		bool timed = time.count > 0;
		tr_report_cell_seconds(report, timed ? time.total : TR_INSTANT_NONE);
		tr_report_cell_seconds(report,
				       timed ? time.total / (int64_t)time.count : TR_INSTANT_NONE);
		tr_report_cell_seconds(report, timed ? time.longest : TR_INSTANT_NONE);
	}
	if (several)
		key_cells(tr_tally_text(tally, entry), report);
	else
		tr_report_cell_text(report, tr_tally_text(tally, entry));
}

static bool report_tally_by(const struct tr_tally *tally, struct tr_report *report,
			    const char *name, const char *const *what, size_t top)
{
	const char *columns[5 + TR_STAT_FIELDS + 1] = { "count", "share", "seconds", "mean",
							"longest" };
	size_t fields = 0, figures = tally->timed ? 5 : 2, count;
	uint32_t *list;

	_Static_assert(5 + TR_STAT_FIELDS <= TR_REPORT_COLUMNS, "a table has room for them");
	for (; what[fields]; fields++)
		columns[figures + fields] = what[fields];
	columns[figures + fields] = NULL;

	if (!tr_tally_top(tally, top, &list, &count)) {
		report->text.failed = true; /* callers check this flag at the end */
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

	return report_tally_by(tally, report, name, columns, top);
}

static void report_files(const struct tr_stat *stat, struct tr_report *report)
{
	static const char *const columns[] = { "size",	 "unpacked", "container",
					       "format", "file",     NULL };
	const struct input *files = (const void *)stat->files.data;
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

/* Three years: later times are taken to count from 1970, earlier ones from a machine's start. */
#define YEARS ((int64_t)100000000 * TR_INSTANT_SECOND)

bool tr_stat_has_two_clocks(const struct tr_stat *stat)
{
	const struct tr_runs *runs = &stat->runs.runs;

	return runs->earliest != TR_INSTANT_NONE && runs->earliest < YEARS && runs->latest >= YEARS;
}

/* In text, times that count from 1970 are dates; in JSON they are seconds. */
static void report_instant(struct tr_report *report, const char *name, int64_t instant)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	time_t seconds = (time_t)(instant / TR_INSTANT_SECOND);
	struct tm date;
	char spelled[40];

	if (!report->json && instant >= YEARS && gmtime_r(&seconds, &date) &&
	    strftime(spelled, sizeof spelled, "%Y-%m-%d %H:%M:%S UTC", &date))
		tr_buffer_put_text(&text, tr_text_from(spelled));
	else
		tr_instant_write(instant, 9, &text);
	tr_report_text(report, name, tr_buffer_text(&text));
	report->text.failed |= text.failed;
	tr_buffer_free(&text);
}

/* Reports the first and the last time, and the records per second. */
static void report_times(const struct tr_stat *stat, struct tr_report *report)
{
	const struct tr_runs *runs = &stat->runs.runs;

	if (runs->earliest == TR_INSTANT_NONE)
		return;
	int64_t span = runs->latest - runs->earliest;
	report_instant(report, "from", runs->earliest);
	report_instant(report, "to", runs->latest);
	if (tr_stat_has_two_clocks(stat))
		return;
	tr_report_seconds(report, "seconds", span);
	if (span > 0)
		tr_report_real(report, "per-second",
			       (double)stat->records * TR_INSTANT_SECOND / (double)span, 1);
}

/* Reports how many records a full tally counted together. */
static void report_beyond(const struct tr_tally *tally, struct tr_report *report, const char *name)
{
	if (tally->beyond)
		tr_report_number(report, name, tally->beyond);
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
	tr_report_number(report, "names", stat->names.count);
	report_beyond(&stat->names, report, "uncounted-names");
	tr_report_number(report, "tasks", stat->tasks.count);
	report_beyond(&stat->tasks, report, "uncounted-tasks");
	if (!tr_stat_tally_report(&stat->kinds, report, "kinds", "kind", 0))
		return false;
	if (stat->names.count &&
	    !tr_stat_tally_report(&stat->names, report, "busiest-names", "name", top))
		return false;
	/* a table of tasks is useless if each has one record, or if there is only one */
	if (stat->tasks.count > 1 && stat->tasks.count < stat->tasks.total &&
	    !tr_stat_tally_report(&stat->tasks, report, "busiest-tasks", "task", top))
		return false;
	if (stat->errors.count &&
	    !tr_stat_tally_report(&stat->errors, report, "failures", "error", top))
		return false;
	if (stat->runs.programs || stat->runs.forks)
		tr_stat_runs_report(&stat->runs, report);
	if (stat->used.any)
		tr_stat_files_report(&stat->used, report);
	if (stat->calls.calls)
		tr_stat_calls_report(&stat->calls, report);
	if ((stat->blocks.blocks || stat->blocks.beyond) &&
	    !tr_stat_blocks_report(&stat->blocks, report, top))
		return false;
	const struct tr_sources *sources = stat->config.sources;
	return !sources || !sources->count || tr_stat_lines_report(sources, report, top);
}

static bool report_keys(struct tr_stat *stat, struct tr_report *report)
{
	tr_report_number(report, "records", stat->records);
	tr_report_number(report, "counted", stat->keys.total);
	tr_report_number(report, "distinct", stat->keys.count);
	report_beyond(&stat->keys, report, "uncounted");
	return report_tally_by(&stat->keys, report, "by", stat->config.by, stat->config.top);
}

bool tr_stat_write(struct tr_stat *stat, struct tr_output *out)
{
	struct tr_report report;
	bool fine;

	tr_runs_finish(&stat->runs.runs);
	if (!tr_stat_files_end(&stat->used) || stat->failed || stat->runs.failed ||
	    stat->runs.ends.failed || stat->calls.frames.failed)
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

struct tr_stat *tr_stat_new(const struct tr_stat_config *config)
{
	struct tr_stat *stat = calloc(1, sizeof *stat);

	if (!stat)
		return NULL;
	stat->config = *config;
	struct tr_tally *timed = config->table == TR_STAT_BY_KEY ? &stat->keys : &stat->names;
	stat->calls.tally = timed;
	stat->calls.kinds.ask = config->call_kinds;
	stat->calls.call_api = config->call_api;
	tr_stat_runs_init(&stat->runs, timed, config);
	tr_stat_files_init(&stat->used, config);
	return stat;
}

void tr_stat_free(struct tr_stat *stat)
{
	if (!stat)
		return;
	tr_tally_free(&stat->kinds);
	tr_tally_free(&stat->names);
	tr_tally_free(&stat->tasks);
	tr_tally_free(&stat->errors);
	tr_tally_free(&stat->keys);
	tr_stat_runs_free(&stat->runs);
	tr_stat_calls_free(&stat->calls);
	tr_stat_blocks_free(&stat->blocks);
	tr_stat_files_free(&stat->used);
	tr_buffer_free(&stat->files);
	tr_arena_free(&stat->arena);
	free(stat);
}
