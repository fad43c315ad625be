/* SPDX-License-Identifier: MIT */
/*
 * The critical path as a table. Records go to the forest and, from the first file call on, to the
 * graph of files; at the end of a segment the path is searched and its steps are kept as rows,
 * with copies of their texts, because forest and graph are cleared for the next segment.
 */
#include "view/critical_text.h"

#include <stdlib.h>
#include <string.h>

#include "process/command.h"
#include "process/forest.h"
#include "process/makes.h"
#include "view/critical.h"
#include "view/file_uses.h"
#include "view/report.h"

/* A step with its texts, which are in the arena; data NULL: unknown. */
struct row {
	int64_t began, ended;
	enum tr_critical_cause cause;
	uint64_t seq;
	struct tr_text file, makes, command;
	bool shown;
};

struct tr_critical_text {
	struct tr_critical_text_config config;
	struct tr_forest forest;
	struct tr_file_uses uses;
	struct tr_buffer rows; /* of struct row */
	struct tr_arena arena;
	struct tr_buffer scratch;
	struct tr_makes *maker;
	bool cut, has_files;
	int64_t seconds; /* of the paths of all segments */
};

/* Keeps the text of a program: the file that it makes, LF, its command. */
static bool describe(void *context, struct tr_record *record, struct tr_buffer *text)
{
	const struct tr_critical_text *critical = context;
	struct tr_text makes;

	if (!tr_makes_find(critical->maker, record, &makes))
		return false;
	if (makes.data)
		tr_shell_quote_printable(makes, text);
	tr_buffer_put_byte(text, '\n');
	return tr_command_show(record, 0, text) && !text->failed;
}

struct tr_critical_text *tr_critical_text_new(const struct tr_critical_text_config *config)
{
	struct tr_critical_text *text = malloc(sizeof *text);
	struct tr_makes *maker = tr_makes_new(config->compilers);

	if (!text || !maker) {
		free(text);
		tr_makes_free(maker);
		return NULL;
	}
	*text = (struct tr_critical_text){ .config = *config,
					   .rows = TR_BUFFER_INIT,
					   .arena = TR_ARENA_INIT,
					   .scratch = TR_BUFFER_INIT,
					   .maker = maker };
	tr_forest_init(&text->forest, config->max_spool, describe, text);
	tr_file_uses_init(&text->uses, true);
	return text;
}

/* Sets the two texts of a row from the text of its node. False: err is filled. */
static bool set_texts(struct tr_critical_text *text, uint32_t at, struct row *row,
		      struct tr_error *err)
{
	const struct tr_forest_node *node = &text->forest.nodes[at];

	row->seq = node->seq;
	if (!node->program) {
		row->command = TR_TEXT("(fork)");
		return true;
	}
	if (!tr_forest_text(&text->forest, node, &text->scratch, err))
		return false;
	struct tr_text own = tr_arena_copy(&text->arena, tr_buffer_text(&text->scratch));
	const char *lf = own.data ? memchr(own.data, '\n', own.len) : NULL;
	if (!lf)
		return false;
	if (lf > own.data)
		row->makes = tr_text_span(own.data, lf);
	row->command = tr_text_span(lf + 1, own.data + own.len);
	return true;
}

/* Keeps a step as a row. False: err is filled. */
static bool add_row(struct tr_critical_text *text, const struct tr_critical_step *step,
		    struct tr_error *err)
{
	struct row row = {
		.began = step->began, .ended = step->ended, .cause = step->cause, .seq = TR_RUN_NONE
	};

	if (step->node != TR_FOREST_NONE && !set_texts(text, step->node, &row, err))
		return false;
	if (step->file) {
		tr_buffer_reset(&text->scratch);
		tr_deps_path_write(step->file, &text->scratch);
		row.file = tr_arena_copy(&text->arena, tr_buffer_text(&text->scratch));
		if (!row.file.data)
			return false;
	}
	tr_buffer_put(&text->rows, (const char *)&row, sizeof row);
	return !text->rows.failed && !text->scratch.failed;
}

/*
 * Searches the path of a segment, and adds it to those of the segments before. False: err is
 * filled.
 */
static bool end_segment(struct tr_critical_text *text, struct tr_error *err)
{
	struct tr_critical critical = { NULL, 0, false };

	tr_error_memory(err); /* the usual reason; other errors replace it */
	bool fine = tr_file_uses_finish(&text->uses) && tr_forest_link(&text->forest) &&
		    tr_critical_find(&critical, &text->forest,
				     text->uses.following ? &text->uses.graph : NULL);
	for (size_t i = 0; fine && i < critical.count; i++)
		fine = add_row(text, &critical.steps[i], err);
	if (fine && critical.count) {
		int64_t took = critical.steps[critical.count - 1].ended - critical.steps[0].began;
		if (__builtin_add_overflow(text->seconds, took, &text->seconds))
			text->seconds = INT64_MAX;
		text->cut |= critical.cut;
	}
	text->has_files |= text->uses.following;
	tr_critical_free(&critical);
	tr_file_uses_clear(&text->uses);
	tr_forest_clear(&text->forest);
	return fine;
}

enum tr_status tr_critical_text_put(struct tr_critical_text *text, struct tr_record *record,
				    struct tr_error *err)
{
	if (tr_forest_complete(&text->forest, record) && !end_segment(text, err))
		return TR_FATAL;
	if (!record)
		return TR_OK;
	if (!tr_forest_put(&text->forest, record, err))
		return TR_FATAL;
	if (record->type == TR_RECORD && !tr_file_uses_put(&text->uses, record))
		return tr_error_memory(err);
	return TR_OK;
}

bool tr_critical_text_found(const struct tr_critical_text *text)
{
	return text->rows.len > 0;
}

bool tr_critical_text_has_files(const struct tr_critical_text *text)
{
	return text->has_files;
}

/* Sorts the longest steps first, and steps of the same length in their order. */
static int longest_first(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	if (x->ended - x->began != y->ended - y->began)
		return x->ended - x->began > y->ended - y->began ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Marks the longest steps. False: memory is exhausted. */
static bool choose(struct tr_critical_text *text, struct row *rows, size_t count)
{
	struct row **list = malloc((count + 1) * sizeof *list);

	if (!list)
		return false;
	for (size_t i = 0; i < count; i++)
		list[i] = &rows[i];
	if (text->config.top && text->config.top < count)
		qsort(list, count, sizeof *list, longest_first);
	for (size_t i = 0; i < count && (!text->config.top || i < text->config.top); i++)
		list[i]->shown = true;
	free(list);
	return true;
}

/*
 * Adds a row to the table. Its time counts from the first step; its seconds are those of the step.
 */
static void report_row(struct tr_critical_text *text, const struct row *row, int64_t origin,
		       struct tr_report *report)
{
	tr_report_cell_seconds(report, row->began - origin);
	tr_report_cell_seconds(report, row->ended - row->began);
	tr_report_cell_share(report, (uint64_t)(row->ended - row->began), (uint64_t)text->seconds);
	if (row->seq == TR_RUN_NONE)
		tr_report_cell_none(report);
	else
		tr_report_cell_number(report, row->seq);
	tr_report_cell_line(report, tr_text_from(tr_critical_word(row->cause)));
	tr_report_cell_text(report, row->file);
	tr_report_cell_program(report, row->makes, row->command);
}

/* If there are many steps, only the longest are shown, in the order of time. */
bool tr_critical_text_write(struct tr_critical_text *text, struct tr_output *out)
{
	static const char *const columns[] = { "from", "seconds", "share",   "seq", "waited-for",
					       "file", "makes",	  "command", NULL };
	struct row *rows = (void *)text->rows.data;
	size_t count = text->rows.len / sizeof *rows;
	struct tr_report report;

	if (!choose(text, rows, count))
		return false;
	tr_report_begin(&report, text->config.json);
	tr_report_seconds(&report, "seconds", text->seconds);
	tr_report_number(&report, "steps", count);
	if (text->cut)
		tr_report_flag(&report, "cut");
	tr_report_table(&report, "critical", columns);
	for (size_t i = 0; i < count; i++)
		if (rows[i].shown)
			report_row(text, &rows[i], rows[0].began, &report);
	tr_report_table_end(&report);
	bool fine = tr_report_end(&report, out);
	tr_report_free(&report);
	return fine;
}

void tr_critical_text_free(struct tr_critical_text *text)
{
	if (!text)
		return;
	tr_forest_free(&text->forest);
	tr_file_uses_free(&text->uses);
	tr_buffer_free(&text->rows);
	tr_buffer_free(&text->scratch);
	tr_arena_free(&text->arena);
	tr_makes_free(text->maker);
	free(text);
}
