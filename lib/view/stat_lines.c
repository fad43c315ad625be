/* SPDX-License-Identifier: MIT */
/* Statistics of coverage by source line: the sums, then files and functions, worst ones first. */
#include "view/stat_private.h"

#include <stdlib.h>

#include "coverage/coverage.h"

/* A row: lines of a file, or of a function in it. */
struct row {
	const struct tr_source_file *file;
	const struct tr_source_function *function; /* NULL: the whole file */
	struct tr_source_share lines;
};

/* Sorts by the number of lines that were not executed, then by name. */
static int by_missing(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	uint64_t missing = x->lines.all - x->lines.hit, other = y->lines.all - y->lines.hit;

	if (missing != other)
		return missing < other ? 1 : -1;
	int order = tr_text_compare(x->file->path, y->file->path);
	if (order || !x->function)
		return order;
	return tr_text_compare(x->function->name, y->function->name);
}

/* Appends the figures of all files. */
static void report_sums(const struct tr_source_shares *all, struct tr_report *report)
{
	static const char *const columns[] = { "executed", "share", "all", "of", NULL };
	const struct {
		const struct tr_source_share *share;
		const char *name;
	} rows[] = {
		{ &all->lines, "lines" },
		{ &all->functions, "functions" },
		{ &all->branches, "branches" },
	};

	tr_report_table(report, "parts", columns);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!rows[i].share->all)
			continue;
		tr_report_cell_number(report, rows[i].share->hit);
		tr_report_cell_share(report, rows[i].share->hit, rows[i].share->all);
		tr_report_cell_number(report, rows[i].share->all);
		tr_report_cell_text(report, tr_text_from(rows[i].name));
	}
	tr_report_table_end(report);
}

/* Appends a table of files or functions, at most `top` rows of it (0: all). */
static void report_rows(struct row *rows, size_t count, bool functions, size_t top,
			struct tr_report *report)
{
	static const char *const of_files[] = { "executed", "share", "lines", "file", NULL };
	static const char *const of_functions[] = { "entered",	"executed", "share", "lines",
						    "function", "file",	    NULL };

	if (count)
		qsort(rows, count, sizeof *rows, by_missing);
	tr_report_table(report, functions ? "functions" : "sources",
			functions ? of_functions : of_files);
	for (size_t i = 0; i < count && (!top || i < top); i++) {
		if (functions)
			tr_report_cell_number(report, rows[i].function->count);
		tr_report_cell_number(report, rows[i].lines.hit);
		tr_report_cell_share(report, rows[i].lines.hit, rows[i].lines.all);
		tr_report_cell_number(report, rows[i].lines.all);
		if (functions)
			tr_report_cell_text(report, rows[i].function->name);
		tr_report_cell_text(report, rows[i].file->path);
	}
	tr_report_table_end(report);
}

bool tr_stat_lines_report(const struct tr_sources *sources, struct tr_report *report, size_t top)
{
	struct tr_source_shares all = { .lines = { 0, 0 } };
	size_t functions = 0, count = 0;

	for (size_t i = 0; i < sources->count; i++) {
		tr_source_file_count(sources->list[i], &all);
		functions += sources->list[i]->functions.count;
	}
	struct row *rows = malloc((sources->count + functions + 1) * sizeof *rows);
	if (!rows)
		return false;
	tr_report_group(report, "coverage");
	report_sums(&all, report);
	for (size_t i = 0; i < sources->count; i++) {
		struct tr_source_shares shares = { .lines = { 0, 0 } };
		tr_source_file_count(sources->list[i], &shares);
		if (shares.lines.all)
			rows[count++] = (struct row){ sources->list[i], NULL, shares.lines };
	}
	report_rows(rows, count, false, top, report);
	count = 0;
	for (size_t i = 0; i < sources->count; i++) {
		const struct tr_source_file *file = sources->list[i];
		for (size_t k = 0; k < file->functions.count; k++)
			rows[count++] = (struct row){ file, &file->functions.list[k],
						      tr_source_function_share(file, k).lines };
	}
	report_rows(rows, count, true, top, report);
	tr_report_group_end(report);
	free(rows);
	return true;
}
