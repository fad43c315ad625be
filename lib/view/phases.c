/* SPDX-License-Identifier: MIT */
/* Reads the files of -ftime-trace: an object with the list "traceEvents" and "beginningOfTime". */
#include "view/phases.h"

#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/input.h"
#include "record/json.h"
#include "view/json_value.h"

enum { MOST = 256 << 20, MICROSECOND = 1000 };

/* A file that is read: its text, the list in it, and when it began. */
struct content {
	struct tr_buffer text;
	struct tr_arena arena;
	struct tr_text events;
	uint64_t began;
};

static void free_content(struct content *content)
{
	tr_buffer_free(&content->text);
	tr_arena_free(&content->arena);
}

/* Reads the integer part of a number. False: the member is missing, or no number. */
static bool read_integer(const struct tr_json_member *member, uint64_t *number)
{
	if (!member || member->type != TR_JSON_NUMBER)
		return false;
	const char *point = memchr(member->value.data, '.', member->value.len);
	const char *end = member->value.data + member->value.len;
	return tr_decimal_read(tr_text_span(member->value.data, point ? point : end), INT64_MAX,
			       number);
}

static bool read_content(const char *path, struct content *content, struct tr_error *err)
{
	static const char padding[TR_INPUT_PAD];
	const struct tr_json_member *events, *began;
	struct tr_json_member *members;
	size_t count;

	*content = (struct content){ .text = TR_BUFFER_INIT, .arena = TR_ARENA_INIT };
	if (!tr_file_read(tr_text_from(path), MOST, &content->text, err))
		return false;
	tr_buffer_put(&content->text, padding, sizeof padding);
	if (content->text.failed) {
		tr_error_memory(err);
		return false;
	}
	struct tr_text all = { content->text.data, content->text.len - sizeof padding };
	struct tr_json json = { all.data, all.data + all.len };
	tr_error_set(err, TR_CAUSE_INPUT, "not a file of -ftime-trace");
	/* the value is checked as a whole before its members are read */
	struct tr_json_walk walk = TR_JSON_WALK_INIT;
	if (tr_json_walk_on(&json, &walk) != TR_JSON_OBJECT_END) {
		tr_error_name(err, tr_text_from(path));
		return false;
	}
	if (!tr_json_members(tr_text_span(all.data, json.pos), &content->arena, &members, &count)) {
		tr_error_memory(err);
		return false;
	}
	events = tr_json_member_find(members, count, "traceEvents");
	began = tr_json_member_find(members, count, "beginningOfTime");
	if (events && events->type == TR_JSON_ARRAY && read_integer(began, &content->began) &&
	    content->began < INT64_MAX / MICROSECOND / 2) {
		content->events = events->value;
		return true;
	}
	tr_error_name(err, tr_text_from(path));
	return false;
}

/* The members of an event that are used here. Events of threads other than the first are sums. */
struct event {
	struct tr_text name, detail;
	uint64_t process, thread, began, duration;
	bool lasts;
};

/* Decodes a string. data NULL: memory is exhausted. */
static struct tr_text bytes_of(const struct tr_json_member *member, struct tr_arena *arena)
{
	return tr_string_bytes((struct tr_text){ member->value.data + 1, member->value.len - 2 },
			       arena);
}

/* Reads an event. False: memory is exhausted. */
static bool read_event(struct tr_text text, struct tr_arena *arena, struct event *event)
{
	struct tr_json_member *members;
	const struct tr_json_member *phase, *name, *args, *detail;
	size_t count;

	*event = (struct event){ .name = { NULL, 0 } };
	if (!tr_json_members(text, arena, &members, &count))
		return false;
	phase = tr_json_member_find(members, count, "ph");
	name = tr_json_member_find(members, count, "name");
	args = tr_json_member_find(members, count, "args");
	event->lasts = phase && tr_text_is(phase->value, "\"X\"") && name &&
		       name->type == TR_JSON_STRING &&
		       read_integer(tr_json_member_find(members, count, "pid"), &event->process) &&
		       read_integer(tr_json_member_find(members, count, "tid"), &event->thread) &&
		       read_integer(tr_json_member_find(members, count, "ts"), &event->began) &&
		       read_integer(tr_json_member_find(members, count, "dur"), &event->duration) &&
		       !tr_text_starts(name->value, TR_TEXT("\"Total ")) &&
		       event->began < INT64_MAX / MICROSECOND / 2 &&
		       event->duration < INT64_MAX / MICROSECOND / 2;
	if (!event->lasts)
		return true;
	event->name = bytes_of(name, arena);
	if (!event->name.data)
		return false;
	if (!args || args->type != TR_JSON_OBJECT)
		return true;
	if (!tr_json_members(args->value, arena, &members, &count))
		return false;
	detail = tr_json_member_find(members, count, "detail");
	if (!detail || detail->type != TR_JSON_STRING)
		return true;
	event->detail = bytes_of(detail, arena);
	return event->detail.data;
}

/* Calls take for each event, until it returns false. False: err is filled. */
static bool each(const struct content *content, bool (*take)(void *context, struct event *event),
		 void *context, struct tr_error *err)
{
	const struct tr_limits limits = TR_LIMITS_DEFAULT;
	struct tr_source *source = tr_source_memory(content->events);
	struct tr_input *in = source ? tr_input_new(source, &limits, 0) : NULL;
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_json_items items;
	struct event event;
	struct tr_text object;
	uint64_t line;
	bool fine = in, more = in;

	if (in)
		tr_json_items_init(&items, in, false);
	while (more) {
		enum tr_status status = tr_json_items_next(&items, &object, &line, err);
		tr_arena_reset(&arena);
		fine = status != TR_FATAL &&
		       (status != TR_OK || read_event(object, &arena, &event));
		more = fine && status != TR_END &&
		       (status != TR_OK || !event.lasts || take(context, &event));
	}
	tr_arena_free(&arena);
	tr_input_free(in);
	if (!fine)
		tr_error_memory(err);
	return fine;
}

/* Sets the process of a file to that of its first event. */
static bool take_process(void *context, struct event *event)
{
	uint64_t *process = context;

	*process = event->process;
	return false;
}

bool tr_phases_add(struct tr_phases *phases, struct tr_text path, struct tr_error *err)
{
	struct content content;
	uint64_t process = UINT64_MAX;
	char *copy = strndup(path.data, path.len);

	if (!copy || !tr_array_room(phases->files, phases->count, phases->cap)) {
		free(copy);
		tr_error_memory(err);
		return false;
	}
	bool fine =
		read_content(copy, &content, err) && each(&content, take_process, &process, err);
	if (fine)
		phases->files[phases->count++] =
			(struct tr_phases_file){ copy, process,
						 (int64_t)content.began * MICROSECOND, false };
	else
		free(copy);
	free_content(&content);
	return fine;
}

struct tr_phases_file *tr_phases_find(const struct tr_phases *phases, uint64_t process,
				      int64_t began, int64_t ended)
{
	for (size_t i = 0; i < phases->count; i++) {
		struct tr_phases_file *file = &phases->files[i];
		if (!file->drawn && file->process == process && file->began >= began &&
		    file->began <= ended)
			return file;
	}
	return NULL;
}

/* The receiver of phases, and the file that they come from. */
struct receiver {
	void (*put)(void *context, const struct tr_phase *phase);
	void *context;
	const struct tr_phases_file *file;
};

static bool take_phase(void *context, struct event *event)
{
	const struct receiver *receiver = context;

	if (event->process != receiver->file->process || event->thread != event->process)
		return true;
	receiver->put(
		receiver->context,
		&(struct tr_phase){ event->name, event->detail,
				    receiver->file->began + (int64_t)event->began * MICROSECOND,
				    (int64_t)event->duration * MICROSECOND });
	return true;
}

bool tr_phases_each(const struct tr_phases_file *file,
		    void (*put)(void *context, const struct tr_phase *phase), void *context,
		    struct tr_error *err)
{
	struct receiver receiver = { put, context, file };
	struct content content;
	bool fine = read_content(file->path, &content, err) &&
		    each(&content, take_phase, &receiver, err);

	free_content(&content);
	return fine;
}

enum { LONGEST = 50 };

/* The longest phases of a run. */
struct longest {
	size_t count;
	struct {
		int64_t began, duration;
		struct tr_buffer json; /* the name and the detail */
	} list[LONGEST];
};

/* Keeps a phase if it is one of the longest. */
static void keep_longest(void *context, const struct tr_phase *phase)
{
	struct longest *longest = context;
	size_t at = 0;

	if (longest->count < LONGEST)
		at = longest->count++;
	else
		for (size_t i = 1; i < LONGEST; i++)
			if (longest->list[i].duration < longest->list[at].duration)
				at = i;
	struct tr_buffer *json = &longest->list[at].json;
	if (json->len && longest->list[at].duration >= phase->duration)
		return;
	tr_buffer_reset(json);
	longest->list[at].began = phase->began;
	longest->list[at].duration = phase->duration;
	tr_json_view_name(phase->name, json);
	tr_buffer_put_byte(json, ',');
	if (phase->detail.data)
		tr_json_view_name(phase->detail, json);
	else
		tr_buffer_put_literal(json, "null");
}

/* Returns the index of the earliest phase that is not done; LONGEST: there is none. */
static size_t next_longest(const struct longest *longest, const bool *done)
{
	size_t next = LONGEST;

	for (size_t i = 0; i < longest->count; i++) {
		if (done[i])
			continue;
		/* of phases that begin at the same time, the outer one is first */
		if (next == LONGEST || longest->list[i].began < longest->list[next].began ||
		    (longest->list[i].began == longest->list[next].began &&
		     longest->list[i].duration > longest->list[next].duration))
			next = i;
	}
	return next;
}

bool tr_phases_longest(const struct tr_phases *phases, uint64_t process, int64_t began,
		       int64_t ended, struct tr_buffer *to, struct tr_error *err)
{
	struct longest longest = { .count = 0 };
	bool done[LONGEST] = { false }, fine = true;
	struct tr_phases_file *file;
	size_t next;

	while (fine && (file = tr_phases_find(phases, process, began, ended))) {
		file->drawn = true;
		fine = tr_phases_each(file, keep_longest, &longest, err);
	}
	for (bool first = true; fine && (next = next_longest(&longest, done)) < LONGEST;
	     first = false) {
		done[next] = true;
		tr_buffer_put_byte(to, first ? '[' : ',');
		tr_buffer_put_byte(to, '[');
		tr_buffer_put_decimal(to, (uint64_t)(longest.list[next].began - began));
		tr_buffer_put_byte(to, ',');
		tr_buffer_put_decimal(to, (uint64_t)longest.list[next].duration);
		tr_buffer_put_byte(to, ',');
		tr_buffer_put_text(to, tr_buffer_text(&longest.list[next].json));
		tr_buffer_put_byte(to, ']');
		to->failed |= longest.list[next].json.failed;
	}
	if (longest.count)
		tr_buffer_put_byte(to, ']');
	for (size_t i = 0; i < longest.count; i++)
		tr_buffer_free(&longest.list[i].json);
	if (fine && to->failed)
		tr_error_memory(err);
	return fine && !to->failed;
}

size_t tr_phases_left(const struct tr_phases *phases)
{
	size_t left = 0;

	for (size_t i = 0; i < phases->count; i++)
		left += !phases->files[i].drawn;
	return left;
}

void tr_phases_free(struct tr_phases *phases)
{
	for (size_t i = 0; i < phases->count; i++)
		free(phases->files[i].path);
	free(phases->files);
	*phases = (struct tr_phases){ .count = 0 };
}
