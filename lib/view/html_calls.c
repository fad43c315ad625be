/* SPDX-License-Identifier: MIT */
/* API calls: a lane for each thread, what was called meanwhile above its caller. */
#include "view/html_private.h"

#include <stdlib.h>

#include "record/calls.h"
#include "record/join.h"
#include "record/literal.h"
#include "view/brief.h"

enum { VALUE_SHOWN = 200, FIELDS_SHOWN = 2000 };

struct thread {
	uint32_t lane;
	uint32_t depth; /* calls that have not returned */
	size_t len;
	char id[];
};

struct live {
	int64_t began;
	struct thread *thread;
	uint32_t name, level;
	unsigned kinds;
	struct tr_buffer line; /* without its end */
	size_t len;
	char key[];
};

static void free_live(struct live *live)
{
	tr_buffer_free(&live->line);
	free(live);
}

void tr_html_calls_free(struct tr_html_calls *calls)
{
	size_t position = 0;
	void *each;

	while ((each = tr_map_next(&calls->live, &position)))
		free_live(each);
	position = 0;
	while ((each = tr_map_next(&calls->threads, &position)))
		free(each);
	tr_map_free(&calls->live);
	tr_map_free(&calls->threads);
}

/* NULL: memory is out. */
static struct thread *thread_of(struct tr_html *html, const struct tr_record *record)
{
	struct tr_buffer label = TR_BUFFER_INIT;

	tr_buffer_put_literal(&label, "thread ");
	tr_cell_write(&record->task, &label);
	struct tr_text id = tr_buffer_text(&label);
	struct thread *thread = label.failed ? NULL : tr_map_get(&html->calls.threads, id);
	if (!thread && !label.failed && (thread = malloc(sizeof *thread + id.len))) {
		*thread = (struct thread){ .len = id.len };
		memcpy(thread->id, id.data, id.len);
		if (!tr_html_lane(html, id, &thread->lane) ||
		    !tr_map_put(&html->calls.threads, (struct tr_text){ thread->id, id.len },
				thread)) {
			free(thread);
			thread = NULL;
		}
	}
	tr_buffer_free(&label);
	return thread;
}

/* Fields as a list, `key = value, …`, from one index up to another. */
static bool put_fields(struct tr_record *record, size_t from, size_t to, struct tr_buffer *text)
{
	size_t begin = text->len;

	for (size_t i = from; i < to; i++) {
		struct tr_field *field = &record->fields[i];
		/* keys with a point in front are for writers */
		if (field->bad || !field->key.data || tr_text_starts(field->key, TR_TEXT(".")))
			continue;
		if (text->len > begin)
			tr_buffer_put_literal(text, ", ");
		tr_buffer_put_text(text, field->key);
		tr_buffer_put_literal(text, " = ");
		if (!tr_brief_value(record, field, VALUE_SHOWN, text))
			return false;
		if (tr_brief_cut(text, begin, FIELDS_SHOWN))
			break;
	}
	return !text->failed;
}

/* What went in, as a JSON string that is still open. */
static bool begin_line(struct tr_record *record, struct tr_buffer *line)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	size_t arrow = record->arrow == TR_NO_ARROW ? record->count : record->arrow;

	tr_buffer_put_byte(line, '[');
	tr_brief_cell(&record->seq, record->arena, line);
	tr_buffer_put_literal(line, ",\"");
	tr_cell_write(&record->name, &text);
	tr_buffer_put_byte(&text, '(');
	bool fine = put_fields(record, 0, arrow, &text);
	tr_buffer_put_byte(&text, ')');
	tr_string_escape(tr_buffer_text(&text), line);
	line->failed |= text.failed;
	tr_buffer_free(&text);
	return fine && !line->failed;
}

/* What came out, and the end. */
static bool end_line(struct tr_record *record, struct tr_buffer *line)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	size_t arrow = record->arrow == TR_NO_ARROW ? record->count : record->arrow;

	if (arrow < record->count)
		tr_buffer_put_literal(&text, " \xe2\x86\x92 ");
	bool fine = put_fields(record, arrow, record->count, &text);
	tr_string_escape(tr_buffer_text(&text), line);
	tr_buffer_put_literal(line, "\"]\n");
	line->failed |= text.failed;
	tr_buffer_free(&text);
	return fine && !line->failed;
}

static void put_micro(int64_t time, struct tr_buffer *to)
{
	tr_buffer_put_decimal(to, (uint64_t)(time > 0 ? time : 0) / 1000);
}

static void end_frame(struct tr_html *html, int64_t time)
{
	struct tr_html_calls *calls = &html->calls;
	struct tr_buffer *to = &html->frames;
	uint64_t facts[] = { calls->count, calls->draws, calls->frame++ };

	tr_buffer_put_text(to, to->len ? TR_TEXT(",[") : TR_TEXT("["));
	put_micro(calls->frame_began - html->base, to);
	tr_buffer_put_byte(to, ',');
	put_micro(time - html->base, to);
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		tr_buffer_put_byte(to, ',');
		tr_buffer_put_decimal(to, facts[i]);
	}
	tr_buffer_put_byte(to, ']');
	calls->frame_began = time;
	calls->count = calls->draws = 0;
}

static bool add_call(struct tr_html *html, const struct live *live, int64_t ended,
		     struct tr_error *err)
{
	struct tr_html_calls *calls = &html->calls;
	struct tr_html_span span = { .begin = live->began,
				     .end = ended > live->began ? ended : live->began,
				     .name = live->name,
				     .lane = live->thread->lane,
				     .level = live->level,
				     .parent = TR_FOREST_NONE };

	if (!calls->any)
		calls->frame_began = live->began;
	calls->any = html->has_calls = true;
	calls->count++;
	calls->draws += (live->kinds & TR_CALL_RENDER) != 0;
	if (live->kinds & TR_CALL_END_FRAME)
		end_frame(html, span.end);
	return tr_html_word(&html->endings, TR_TEXT("-"), &span.ending) &&
	       tr_html_add(html, &span, tr_buffer_text(&live->line), err);
}

/* A record takes no time, or its place in the sequence. */
static int64_t end_of(const struct tr_html *html)
{
	return html->now + (html->timed ? 0 : 1000);
}

/* A call as its record begins it. False: memory is out. */
static bool begin_call(struct tr_html *html, struct tr_record *record, struct live *live)
{
	struct tr_text name = record->name.text;

	if (record->name.type != TR_CELL_TEXT)
		name = TR_TEXT("-");
	live->began = html->now;
	live->kinds = tr_call_kinds_of(&html->call_kinds, name);
	live->thread = thread_of(html, record);
	if (!live->thread || tr_record_split(record, NULL) == TR_FATAL)
		return false;
	live->level = live->thread->depth;
	return tr_html_word(&html->names, name, &live->name) && begin_line(record, &live->line);
}

static bool whole(struct tr_html *html, struct tr_record *record, struct tr_error *err)
{
	struct live live = { .line = TR_BUFFER_INIT };
	bool fine = begin_call(html, record, &live) && end_line(record, &live.line) &&
		    add_call(html, &live, end_of(html), err);

	tr_buffer_free(&live.line);
	return fine;
}

static void spell_key(const struct tr_record *record, struct tr_buffer *key)
{
	tr_cell_write(&record->task, key);
	tr_buffer_put_byte(key, '\t');
	tr_cell_write(&record->seq, key);
}

/* It has not returned, and lasts to here. */
static bool add_incomplete(struct tr_html *html, struct live *live, struct tr_error *err)
{
	tr_buffer_put_literal(&live->line, " (never returned)\"]\n");
	if (live->thread->depth)
		live->thread->depth--;
	return !live->line.failed && add_call(html, live, end_of(html), err);
}

static int by_beginning(const void *a, const void *b)
{
	const struct live *x = *(struct live *const *)a, *y = *(struct live *const *)b;

	return (x->began > y->began) - (x->began < y->began);
}

/* All those that have not returned. */
static bool add_all_incomplete(struct tr_html *html, struct tr_error *err)
{
	struct tr_map *map = &html->calls.live;
	size_t position = 0, count = 0;
	struct live *live, **list = malloc((map->count + 1) * sizeof *list);
	bool fine = list != NULL;

	while (list && (live = tr_map_next(map, &position)))
		list[count++] = live;
	if (list)
		qsort(list, count, sizeof *list, by_beginning);
	for (size_t i = 0; i < count; i++) {
		fine = fine && add_incomplete(html, list[i], err);
		free_live(list[i]);
	}
	if (list)
		tr_map_clear(map);
	free(list);
	return fine;
}

static bool enter(struct tr_html *html, struct tr_record *record, struct tr_error *err)
{
	struct tr_buffer key = TR_BUFFER_INIT;

	if (tr_calls_are_lost(html->calls.live.count, 0) && !add_all_incomplete(html, err))
		return false;
	spell_key(record, &key);
	struct live *live = key.failed ? NULL : malloc(sizeof *live + key.len);
	if (live) {
		*live = (struct live){ .line = TR_BUFFER_INIT, .len = key.len };
		memcpy(live->key, key.data, key.len);
	}
	tr_buffer_free(&key);
	if (!live)
		return false;
	struct tr_text text = { live->key, live->len };
	struct live *twin = tr_map_take(&html->calls.live, text);
	bool fine = !twin || add_incomplete(html, twin, err);
	if (twin)
		free_live(twin);
	fine = fine && begin_call(html, record, live);
	tr_buffer_trim(&live->line);
	if (fine && tr_map_put(&html->calls.live, text, live)) {
		live->thread->depth++;
		return true;
	}
	free_live(live);
	return false;
}

static bool leave(struct tr_html *html, struct tr_record *record, struct tr_error *err)
{
	struct tr_buffer key = TR_BUFFER_INIT;

	spell_key(record, &key);
	struct live *live =
		key.failed ? NULL : tr_map_take(&html->calls.live, tr_buffer_text(&key));
	bool fine = !key.failed;
	tr_buffer_free(&key);
	if (!live)
		return fine && whole(html, record, err);
	if (live->thread->depth)
		live->thread->depth--;
	fine = tr_record_split(record, NULL) != TR_FATAL && end_line(record, &live->line) &&
	       add_call(html, live, end_of(html), err);
	free_live(live);
	return fine;
}

bool tr_html_call(struct tr_html *html, struct tr_record *record, struct tr_error *err)
{
	if (tr_text_is(record->kind, "call"))
		return whole(html, record, err);
	return tr_text_is(record->kind, "enter") ? enter(html, record, err)
						 : leave(html, record, err);
}

/* Those that never returned last to the end. */
bool tr_html_calls_end(struct tr_html *html, struct tr_error *err)
{
	struct tr_html_calls *calls = &html->calls;

	if (!add_all_incomplete(html, err))
		return false;
	tr_html_calls_free(calls);
	*calls = (struct tr_html_calls){ .frame_began = html->now };
	return true;
}
