/* SPDX-License-Identifier: MIT */
/* The page, with the trace in it. */
#include "view/html_private.h"

#include <string.h>

#include "record/literal.h"
#include "view/html_page.h"
#include "view/json_value.h"

enum { PENDING_SIZE = 64 << 10 };

bool tr_html_word(struct tr_html_words *words, struct tr_text bytes, uint32_t *number)
{
	struct word {
		uint32_t number;
		char bytes[];
	} *word = tr_map_get(&words->map, bytes);

	if (word) {
		*number = word->number;
		return true;
	}
	word = tr_arena_alloc(&words->arena, sizeof *word + bytes.len);
	if (!word || words->map.count >= UINT32_MAX)
		return false;
	word->number = *number = (uint32_t)words->map.count;
	if (bytes.len)
		memcpy(word->bytes, bytes.data, bytes.len);
	if (words->json.len)
		tr_buffer_put_byte(&words->json, ',');
	tr_json_view_name(bytes, &words->json);
	return !words->json.failed &&
	       tr_map_put(&words->map, (struct tr_text){ word->bytes, bytes.len }, word);
}

void tr_html_words_free(struct tr_html_words *words)
{
	tr_map_free(&words->map);
	tr_arena_free(&words->arena);
	tr_buffer_free(&words->json);
}

bool tr_html_lane(struct tr_html *html, struct tr_text label, uint32_t *lane)
{
	struct tr_buffer *to = &html->lanes.json;

	*lane = html->lane_count++;
	if (to->len)
		tr_buffer_put_byte(to, ',');
	tr_json_view_name(label, to);
	return !to->failed;
}

static bool flush_lines(struct tr_html *html, struct tr_error *err)
{
	struct tr_text text = tr_buffer_text(&html->pending);

	if (html->pending.failed || !tr_spool_write(html->lines, text.data, text.len, err))
		return false;
	html->lines_size += text.len;
	html->pending.len = 0;
	return true;
}

bool tr_html_add(struct tr_html *html, const struct tr_html_span *span, struct tr_text line,
		 struct tr_error *err)
{
	if (tr_html_spans(html) >= html->config.limit) {
		html->left++;
		return true;
	}
	tr_buffer_put(&html->spans, (const char *)span, sizeof *span);
	tr_buffer_put_text(&html->pending, line);
	if (html->spans.failed)
		return false;
	return html->pending.len < PENDING_SIZE || flush_lines(html, err);
}

/* JSON inside of a script: what could end it is spelled otherwise, and only strings have it. */
static void put_safely(struct tr_output *out, struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;

	while (p < end) {
		const char *bracket = memchr(p, '<', (size_t)(end - p));
		const char *stop = bracket ? bracket : end;
		tr_output_put(out, p, (size_t)(stop - p));
		if (bracket)
			tr_output_put_literal(out, "\\u003c");
		p = bracket ? bracket + 1 : end;
	}
}

enum column { BEGIN, DURATION, NAME, END, MAKES, LANE, LEVEL, PARENT, COLUMNS };

static void put_number(const struct tr_html *html, const struct tr_html_span *span,
		       enum column column, struct tr_buffer *to)
{
	switch (column) {
	case BEGIN:
		tr_instant_write_micro((int64_t)((uint64_t)span->begin - (uint64_t)html->base), to);
		break;
	case DURATION:
		tr_instant_write_micro((int64_t)((uint64_t)span->end - (uint64_t)span->begin), to);
		break;
	case NAME:
		tr_buffer_put_decimal(to, span->name);
		break;
	case END:
		tr_buffer_put_decimal(to, span->ending);
		break;
	case MAKES:
		tr_buffer_put_decimal(to, span->makes);
		break;
	case LANE:
		tr_buffer_put_decimal(to, span->lane);
		break;
	case LEVEL:
		tr_buffer_put_decimal(to, span->level);
		break;
	default:
		if (span->parent == TR_FOREST_NONE || span->parent >= tr_html_spans(html))
			tr_buffer_put_literal(to, "-1");
		else
			tr_buffer_put_decimal(to, span->parent);
	}
}

static bool put_columns(struct tr_html *html)
{
	static const char *const names[COLUMNS] = { "begin", "dur",  "name",  "end",
						    "make",  "lane", "level", "parent" };
	const struct tr_html_span *spans = (const void *)html->spans.data;
	struct tr_buffer text = TR_BUFFER_INIT;

	for (enum column column = BEGIN; column < COLUMNS; column++) {
		tr_buffer_put_literal(&text, ",\n\"");
		tr_buffer_put_text(&text, tr_text_from(names[column]));
		tr_buffer_put_literal(&text, "\":[");
		for (size_t i = 0; i < tr_html_spans(html); i++) {
			if (i)
				tr_buffer_put_byte(&text, ',');
			put_number(html, &spans[i], column, &text);
			if (text.len < PENDING_SIZE || text.failed)
				continue;
			tr_output_put_text(html->out, tr_buffer_text(&text));
			text.len = 0;
		}
		tr_buffer_put_byte(&text, ']');
	}
	tr_output_put_text(html->out, tr_buffer_text(&text));
	bool fine = !text.failed;
	tr_buffer_free(&text);
	return fine;
}

static void put_list(struct tr_html *html, const char *name, const struct tr_buffer *json)
{
	tr_output_put_literal(html->out, ",\n\"");
	tr_output_put_text(html->out, tr_text_from(name));
	tr_output_put_literal(html->out, "\":[");
	put_safely(html->out, tr_buffer_text(json));
	tr_output_put_byte(html->out, ']');
}

static bool put_data(struct tr_html *html)
{
	struct tr_buffer head = TR_BUFFER_INIT;

	tr_buffer_put_literal(&head, "{\"title\":");
	tr_json_view_name(html->config.title, &head);
	tr_buffer_put_text(&head, html->timed ? TR_TEXT(",\"timed\":true,\"origin\":\"")
					      : TR_TEXT(",\"timed\":false,\"origin\":\""));
	if (html->timed)
		tr_instant_write(html->base, 9, &head);
	tr_buffer_put_literal(&head, "\",\"calls\":");
	tr_buffer_put_text(&head, html->has_calls ? TR_TEXT("true") : TR_TEXT("false"));
	tr_buffer_put_literal(&head, ",\"left\":");
	tr_buffer_put_decimal(&head, html->left);
	tr_buffer_put_literal(&head, ",\"top\":");
	tr_buffer_put_text(&head, html->top.len ? tr_buffer_text(&html->top) : TR_TEXT("null"));
	put_safely(html->out, tr_buffer_text(&head));
	bool fine = !head.failed;
	tr_buffer_free(&head);
	put_list(html, "names", &html->names.json);
	put_list(html, "ends", &html->endings.json);
	put_list(html, "makes", &html->makes.json);
	put_list(html, "lanes", &html->lanes.json);
	put_list(html, "frames", &html->frames);
	fine = fine && put_columns(html);
	tr_output_put_literal(html->out, "}");
	return fine && !html->frames.failed && !html->top.failed;
}

static bool put_lines(struct tr_html *html, struct tr_error *err)
{
	char part[16 << 10];
	const char *data;

	tr_output_put_byte(html->out, '\n');
	for (uint64_t offset = 0; offset < html->lines_size;) {
		size_t len = sizeof part;
		if (!tr_spool_read(html->lines, offset, part, &data, &len, err))
			return false;
		if (len == 0)
			break;
		put_safely(html->out, (struct tr_text){ data, len });
		offset += len;
	}
	return true;
}

/* Writes the page up to a mark; returns what stands behind it. */
static const char *put_page(struct tr_html *html, const char *from, const char *mark)
{
	const char *found = strstr(from, mark);

	tr_output_put(html->out, from, (size_t)(found - from));
	return found + strlen(mark);
}

bool tr_html_write(struct tr_html *html, struct tr_error *err)
{
	const char *rest = put_page(html, page, "<!--DATA-->");

	if (!flush_lines(html, err) || !put_data(html))
		return false;
	rest = put_page(html, rest, "<!--LINES-->");
	if (!put_lines(html, err))
		return false;
	tr_output_put_text(html->out, tr_text_from(rest));
	return true;
}

size_t tr_html_spans(const struct tr_html *html)
{
	return html->spans.len / sizeof(struct tr_html_span);
}
