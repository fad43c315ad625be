/* SPDX-License-Identifier: MIT */
/* Processes on lanes, and how many are alive. */
#include "view/chrome_private.h"

#include <stdlib.h>

#include "process/lanes.h"
#include "process/command.h"
#include "record/ask.h"
#include "record/literal.h"
#include "view/brief.h"
#include "view/json_value.h"

static void put_member(struct tr_record *record, const char *key, struct tr_buffer *text)
{
	struct tr_error err;

	tr_error_clear(&err);
	const struct tr_value *value = tr_ask_any(record, key, &err);
	text->failed |= err.cause == TR_CAUSE_MEMORY;
	if (!value)
		return;
	tr_buffer_put_literal(text, ",\"");
	tr_buffer_put_text(text, tr_text_from(key));
	tr_buffer_put_literal(text, "\":");
	text->failed |= !tr_json_view_value(value, record->arena, text);
}

/* NAME in JSON, LF, and the members of args but what the end tells. */
bool tr_chrome_describe(void *context, struct tr_record *record, struct tr_buffer *text)
{
	struct tr_buffer command = TR_BUFFER_INIT;
	const struct tr_cell name = tr_brief_program(&record->name);

	(void)context;
	tr_brief_cell(&name, record->arena, text);
	tr_buffer_put_byte(text, '\n');
	bool fine = tr_command_show(record, 0, &command);
	tr_buffer_put_literal(text, "\"command\":\"");
	tr_string_escape(tr_buffer_text(&command), text);
	tr_buffer_put_literal(text, "\",\"task\":");
	tr_brief_cell(&record->task, record->arena, text);
	put_member(record, "cwd", text);
	put_member(record, "output", text);
	tr_buffer_free(&command);
	return fine;
}

static void put_end(const struct tr_forest_node *node, const struct tr_span *span,
		    struct tr_buffer *to)
{
	struct tr_buffer end = TR_BUFFER_INIT;

	if (node->seq != TR_RUN_NONE) {
		tr_buffer_put_literal(to, "\"seq\":");
		tr_buffer_put_decimal(to, node->seq);
		tr_buffer_put_byte(to, ',');
	}
	if (!tr_forest_end(node, &end))
		tr_buffer_put_literal(&end, "unknown");
	tr_buffer_put_literal(to, "\"exit\":\"");
	tr_string_escape(tr_buffer_text(&end), to);
	tr_buffer_put_byte(to, '"');
	to->failed |= end.failed;
	tr_buffer_free(&end);
	if (span->open)
		tr_buffer_put_literal(to, ",\"end\":\"guessed\"");
}

static bool put_run(struct tr_chrome *chrome, const struct tr_lanes *lanes, uint32_t at,
		    struct tr_buffer *text, struct tr_error *err)
{
	const struct tr_forest_node *node = &chrome->forest.nodes[at];
	const struct tr_span *span = &lanes->spans[at];
	int64_t scale = lanes->timed ? 1 : 1000;
	struct tr_text name = TR_TEXT("\"(fork)\""), args = TR_TEXT("");

	if (!tr_forest_text(&chrome->forest, node, text, err))
		return false;
	const char *middle = text->len ? memchr(text->data, '\n', text->len) : NULL;
	if (middle) {
		name = tr_text_span(text->data, middle);
		args = tr_text_span(middle + 1, text->data + text->len);
	}
	tr_chrome_begin(chrome, 'X', name, tr_forest_failed(node) ? "process,failed" : "process",
			span->begin * scale, TR_CHROME_RUNS, span->lane + 1);
	tr_chrome_duration(chrome, (span->end - span->begin) * scale);
	if (tr_forest_failed(node))
		tr_buffer_put_literal(&chrome->line, ",\"cname\":\"terrible\"");
	tr_buffer_put_literal(&chrome->line, ",\"args\":{");
	tr_buffer_put_text(&chrome->line, args);
	if (args.len)
		tr_buffer_put_byte(&chrome->line, ',');
	put_end(node, span, &chrome->line);
	tr_buffer_put_byte(&chrome->line, '}');
	tr_chrome_end(chrome);
	return true;
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* A counter of those that are alive: an event at each change. */
static bool put_alive(struct tr_chrome *chrome, const struct tr_lanes *lanes)
{
	size_t count = chrome->forest.count, began = 0;
	int64_t *ends = malloc((count + 1) * sizeof *ends), scale = lanes->timed ? 1 : 1000;

	if (!ends)
		return false;
	for (size_t i = 0; i < count; i++)
		ends[i] = lanes->spans[i].end;
	qsort(ends, count, sizeof *ends, by_number);
	for (size_t ended = 0; ended < count;) {
		int64_t now = ends[ended];
		if (began < count && lanes->spans[lanes->order[began]].begin < now)
			now = lanes->spans[lanes->order[began]].begin;
		while (began < count && lanes->spans[lanes->order[began]].begin <= now)
			began++;
		while (ended < count && ends[ended] <= now)
			ended++;
		tr_chrome_begin(chrome, 'C', TR_TEXT("\"alive\""), "process", now * scale,
				TR_CHROME_RUNS, 0);
		tr_buffer_put_literal(&chrome->line, ",\"args\":{\"processes\":");
		tr_buffer_put_decimal(&chrome->line, began - ended);
		tr_buffer_put_byte(&chrome->line, '}');
		tr_chrome_end(chrome);
	}
	free(ends);
	return true;
}

bool tr_chrome_runs(struct tr_chrome *chrome, struct tr_error *err)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_lanes lanes = { NULL, NULL, 0, false };
	bool fine = tr_forest_link(&chrome->forest) && tr_lanes_make(&lanes, &chrome->forest);

	for (uint32_t lane = 0; fine && lane < lanes.count; lane++)
		tr_chrome_name_lane(chrome, lane + 1);
	fine = fine && put_alive(chrome, &lanes);
	if (!fine)
		tr_error_memory(err);
	for (size_t i = 0; fine && i < chrome->forest.count; i++)
		fine = put_run(chrome, &lanes, lanes.order[i], &text, err) && !chrome->out->failed;
	tr_lanes_free(&lanes);
	tr_buffer_free(&text);
	return fine || chrome->out->failed;
}
