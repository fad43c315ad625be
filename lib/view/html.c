/* SPDX-License-Identifier: MIT */
#include "view/html.h"

#include <stdlib.h>

#include "record/ask.h"
#include "record/vocabulary.h"
#include "view/html_private.h"
#include "view/json_value.h"

struct tr_html *tr_html_new(const struct tr_html_config *config, struct tr_output *out)
{
	const struct tr_lineage_config lineage = { .wants_parent = true,
						   .max_spool = config->max_spool };
	struct tr_html *html = calloc(1, sizeof *html);

	if (!html)
		return NULL;
	html->config = *config;
	html->out = out;
	html->call_kinds.ask = config->call_kinds;
	tr_forest_init(&html->forest, config->max_spool, tr_html_describe, html);
	html->lineage = tr_lineage_new(&lineage);
	html->lines = tr_spool_new(config->max_spool);
	if (html->lineage && html->lines)
		return html;
	tr_html_free(html);
	return NULL;
}

void tr_html_free(struct tr_html *html)
{
	if (!html)
		return;
	tr_buffer_free(&html->spans);
	tr_html_words_free(&html->names);
	tr_html_words_free(&html->endings);
	tr_html_words_free(&html->makes);
	tr_html_words_free(&html->lanes);
	tr_spool_free(html->lines);
	tr_buffer_free(&html->pending);
	tr_buffer_free(&html->frames);
	tr_buffer_free(&html->top);
	tr_buffer_free(&html->environment);
	tr_buffer_free(&html->text);
	tr_forest_free(&html->forest);
	tr_lineage_free(html->lineage);
	tr_html_calls_free(&html->calls);
	free(html);
}

uint64_t tr_html_left(const struct tr_html *html)
{
	return html->left;
}

/* Where a record stands on the axis: of times, or of records. */
static void see_time(struct tr_html *html, const struct tr_record *record)
{
	int64_t time = tr_instant_from_cell(&record->time);

	if (!html->decided) {
		html->decided = true;
		html->timed = time != TR_INSTANT_NONE;
		html->base = html->timed ? time : 0;
		html->now = html->base;
	}
	if (!html->timed)
		html->now = (int64_t)html->records * 1000;
	else if (time != TR_INSTANT_NONE)
		html->now = time;
	if (html->now > html->latest)
		html->latest = html->now;
}

/* The first environment of the first segment, against which the page can show what was before. */
static bool keep_top(struct tr_html *html, struct tr_record *record)
{
	struct tr_error err;

	tr_error_clear(&err);
	const struct tr_value *vars = tr_ask_any(record, "vars", &err);
	if (err.cause == TR_CAUSE_MEMORY)
		return false;
	if (html->segments > 1 || html->top.len)
		tr_buffer_reset(&html->top);
	else if (vars)
		return tr_json_view_value(vars, record->arena, &html->top);
	return true;
}

static bool end_segment(struct tr_html *html, const struct tr_record *record, struct tr_error *err)
{
	if (html->forest.count && !tr_html_runs(html, err))
		return false;
	tr_forest_clear(&html->forest); /* times of a segment without processes, too */
	if (!tr_html_calls_end(html, err))
		return false;
	html->segments += record && record->type == TR_HEADER;
	return tr_lineage_begin(html->lineage);
}

static bool put_record(struct tr_html *html, struct tr_record *record, struct tr_error *err)
{
	html->records++;
	if (tr_text_is(record->kind, "env") && !keep_top(html, record))
		return false;
	if (!tr_html_follow(html, record))
		return false;
	if (tr_context_kind(record->kind) >= 0)
		return true;
	see_time(html, record);
	return !tr_kind_is_call(record->kind) || tr_html_call(html, record, err);
}

enum tr_status tr_html_put(struct tr_html *html, struct tr_record *record, struct tr_error *err)
{
	bool boundary = !record || record->type == TR_HEADER || record->type == TR_TRAILER;

	tr_error_memory(err); /* the usual reason; others are told where they are met */
	if (boundary && !end_segment(html, record, err))
		return TR_FATAL;
	if (record && record->type == TR_RECORD && !put_record(html, record, err))
		return TR_FATAL;
	if (record)
		return tr_forest_put(&html->forest, record, err) ? TR_OK : TR_FATAL;
	return tr_html_write(html, err) ? TR_OK : TR_FATAL;
}
