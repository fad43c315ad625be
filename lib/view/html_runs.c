/* SPDX-License-Identifier: MIT */
/* Processes: a line about each, and where it stands in the timeline. */
#include "view/html_private.h"

#include <stdlib.h>

#include "process/call.h"
#include "process/env_line.h"
#include "process/lanes.h"
#include "process/command.h"
#include "record/ask.h"
#include "record/literal.h"
#include "view/brief.h"
#include "view/json_value.h"

enum { COMMAND_SHOWN = 64 << 10 };

/* A map literal as JSON, behind "BASE",. */
static bool put_map(struct tr_html *html, struct tr_record *record, const char *key,
		    struct tr_text literal)
{
	struct tr_buffer *to = &html->environment;
	const struct tr_value *map = tr_literal_parse(literal, record->arena, NULL);
	const char *base = "none";

	if (!map || map->type != TR_MAP)
		return map != NULL; /* the text is good: only memory can be missing */
	if (strcmp(key, "envdiff") == 0)
		base = "parent";
	else if (strcmp(key, "envtop") == 0)
		base = "top";
	tr_buffer_put_literal(to, ",\"");
	tr_buffer_put_text(to, tr_text_from(base));
	tr_buffer_put_literal(to, "\",");
	return tr_json_view_value(map, record->arena, to);
}

/* As the record has it, for want of something better. */
static bool put_own(struct tr_html *html, struct tr_record *record)
{
	static const char *const keys[] = { "envdiff", "envtop", "env" };
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_error err;
	bool fine = true;

	tr_error_clear(&err);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const struct tr_value *value = tr_ask_any(record, keys[i], &err);
		if (err.cause == TR_CAUSE_MEMORY)
			return false;
		if (!value)
			continue;
		tr_literal_write(value, &text);
		fine = !text.failed && put_map(html, record, keys[i], tr_buffer_text(&text));
		break;
	}
	tr_buffer_free(&text);
	return fine;
}

bool tr_html_follow(struct tr_html *html, struct tr_record *record)
{
	struct tr_buffer *map = &html->text;
	struct tr_heir *heir;
	const char *key;
	struct tr_error err;

	tr_buffer_reset(&html->environment);
	tr_buffer_reset(map);
	enum tr_status status = tr_lineage_follow(html->lineage, record, &heir, &err);
	if (status == TR_FATAL)
		return false;
	bool fine = true, told = false;
	/* one that waits for its parent is told as it told itself */
	if (status == TR_OK && heir && !heir->waits) {
		status = tr_heir_tell(html->lineage, heir, TR_TELLS_PARENT, &key, map);
		told = status == TR_OK && map->len;
		fine = status != TR_FATAL && !map->failed;
		if (fine && told)
			fine = put_map(html, record, key, tr_buffer_text(map));
	}
	if (fine && heir && !told)
		fine = put_own(html, record);
	tr_lineage_release(html->lineage, heir);
	return fine;
}

/* The line: [SEQ,"COMMAND",CWD or null,"BASE",{…}]. */
static bool put_line(struct tr_html *html, struct tr_record *record, struct tr_buffer *text)
{
	struct tr_buffer *command = &html->text;
	struct tr_error err;

	tr_error_clear(&err);
	tr_buffer_reset(command);
	struct tr_text cwd = tr_ask_string(record, "cwd", &err);
	bool fine = err.cause != TR_CAUSE_MEMORY && tr_command_show(record, COMMAND_SHOWN, command);
	tr_buffer_put_byte(text, '[');
	if (record->seq.type == TR_CELL_ABSENT)
		tr_buffer_put_literal(text, "null");
	else
		tr_brief_cell(&record->seq, record->arena, text);
	tr_buffer_put_literal(text, ",\"");
	tr_string_escape(tr_buffer_text(command), text);
	tr_buffer_put_literal(text, "\",");
	if (cwd.data)
		tr_json_view_name(cwd, text);
	else
		tr_buffer_put_literal(text, "null");
	tr_buffer_put_text(text, tr_buffer_text(&html->environment));
	tr_buffer_put_literal(text, "]\n");
	return fine && !text->failed && !html->environment.failed;
}

/* The numbers of the name and of what it makes, LF, and the line. */
bool tr_html_describe(void *context, struct tr_record *record, struct tr_buffer *text)
{
	struct tr_html *html = context;
	const struct tr_cell program = tr_brief_program(&record->name);
	struct tr_error err;
	struct tr_text makes;
	uint32_t number, made;

	struct tr_text name = tr_ask_cell(&program, record->arena, &err);
	if (!name.data || !tr_html_word(&html->names, name, &number) ||
	    !tr_html_word(&html->makes, TR_TEXT(""), &made) || !tr_call_makes(record, &makes) ||
	    (makes.data && !tr_html_word(&html->makes, makes, &made)))
		return false;
	tr_buffer_put_decimal(text, number);
	tr_buffer_put_byte(text, ' ');
	tr_buffer_put_decimal(text, made);
	tr_buffer_put_byte(text, '\n');
	return put_line(html, record, text);
}

/* Name and line of a node; of one without a program, of the fork. */
static bool take_text(struct tr_html *html, const struct tr_forest_node *node,
		      struct tr_buffer *text, struct tr_html_span *span, struct tr_text *line,
		      struct tr_error *err)
{
	uint32_t *number = &span->name;

	*line = TR_TEXT("\n");
	if (!tr_forest_text(&html->forest, node, text, err))
		return false;
	const char *end = text->len ? memchr(text->data, '\n', text->len) : NULL;
	if (!end)
		return tr_html_word(&html->names, TR_TEXT("(fork)"), number);
	for (const char *p = text->data; p < end; p++) {
		if (*p == ' ')
			number = &span->makes;
		else
			*number = *number * 10 + (uint32_t)(*p - '0');
	}
	*line = tr_text_span(end + 1, text->data + text->len);
	return true;
}

static bool ending_of(struct tr_html *html, const struct tr_forest_node *node, uint32_t *ending)
{
	struct tr_buffer *text = &html->text;

	tr_buffer_reset(text);
	if (!tr_forest_end(node, text))
		tr_buffer_put_byte(text, '-');
	return !text->failed && tr_html_word(&html->endings, tr_buffer_text(text), ending);
}

static bool add_lanes(struct tr_html *html, uint32_t count, uint32_t *first)
{
	char label[32];
	uint32_t lane;

	*first = html->lane_count;
	for (uint32_t i = 0; i < count; i++) {
		struct tr_buffer text = TR_BUFFER_INIT;
		tr_buffer_put_literal(&text, "lane ");
		tr_buffer_put_decimal(&text, i + 1);
		size_t len = text.failed || text.len > sizeof label ? 0 : text.len;
		memcpy(label, tr_buffer_text(&text).data, len);
		tr_buffer_free(&text);
		if (!len || !tr_html_lane(html, (struct tr_text){ label, len }, &lane))
			return false;
	}
	return true;
}

/* Times as the page has them: a sequence behind times goes on where these end, and so do times. */
static void set_times(const struct tr_html *html, const struct tr_lanes *lanes,
		      const struct tr_span *from, struct tr_html_span *span)
{
	int64_t scale = lanes->timed ? 1 : 1000, origin = 0, shift = 0;

	if (html->timed != lanes->timed) {
		origin = lanes->timed ? html->forest.earliest : 0;
		shift = html->latest;
	}
	span->begin = (from->begin - origin) * scale + shift;
	span->end = (from->end - origin) * scale + shift;
}

/* place: by node, where it stands on the page. */
static bool add_run(struct tr_html *html, const struct tr_lanes *lanes, uint32_t at,
		    uint32_t first_lane, uint32_t *place, struct tr_buffer *text,
		    struct tr_error *err)
{
	const struct tr_forest_node *node = &html->forest.nodes[at];
	const struct tr_span *from = &lanes->spans[at];
	struct tr_html_span span = { .lane = first_lane + from->lane,
				     .level = from->level,
				     .parent = node->parent == TR_FOREST_NONE
						       ? TR_FOREST_NONE
						       : place[node->parent] };
	struct tr_text line;

	set_times(html, lanes, from, &span);
	place[at] = (uint32_t)tr_html_spans(html);
	return take_text(html, node, text, &span, &line, err) &&
	       ending_of(html, node, &span.ending) && tr_html_add(html, &span, line, err);
}

bool tr_html_runs(struct tr_html *html, struct tr_error *err)
{
	size_t count = html->forest.count;
	struct tr_lanes lanes = { NULL, NULL, 0, false };
	struct tr_buffer text = TR_BUFFER_INIT;
	uint32_t first_lane = 0, *place = malloc((count + 1) * sizeof *place);
	bool fine = place && tr_forest_link(&html->forest) &&
		    tr_lanes_make(&lanes, &html->forest) &&
		    add_lanes(html, lanes.count, &first_lane);

	/* a parent that begins after its child has no place yet */
	for (size_t i = 0; fine && i < count; i++)
		place[i] = TR_FOREST_NONE;
	for (size_t i = 0; fine && i < count; i++)
		fine = add_run(html, &lanes, lanes.order[i], first_lane, place, &text, err);
	tr_lanes_free(&lanes);
	tr_buffer_free(&text);
	free(place);
	return fine;
}
