/* SPDX-License-Identifier: MIT */
/*
 * Collects the lines of each task into events.
 *
 *	begin_line	a tag with parameters begins an event, or the second half of one
 *	text_line	a text is added to the open event of its task
 *	finish_event	an event that is complete, or that another one ends, becomes a record
 *
 * A text states its size before it comes, so most events are complete with their last line. That
 * matters because the next line of the task may come much later: in the log of a parallel build
 * thousands of lines follow those of another task.
 */
#include "format/etrace/event.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "core/input.h"
#include "process/tree.h"
#include "record/literal.h"

enum {
	TASKS_MAX = 4 << 20,	 /* Linux has no more pids */
	IN_PROGRESS_MAX = 16384, /* more than tasks that can be interrupted while they print */
	UNUSED_MAX = 64,	 /* events that are kept for reuse */
	ENV = 0,		 /* the slot of an envset's text */
	GAP_MAX = 1024,		 /* empty arguments in a row; a larger gap is damage */
	ARGUMENTS_MAX = 8 << 20, /* the kernel has room for no more */
	KEPT_BYTES = 1 << 20,
	KEPT = 4096, /* arguments that an event keeps space for */
};

/* Tasks. */

/* Forgets the tasks without events in progress: their execs will have no parent. */
static bool sweep_tasks(struct tr_etrace_events *events)
{
	struct tr_id_map busy = TR_ID_MAP_INIT;
	struct tr_etrace_task *task;

	for (size_t i = 0; (task = tr_id_map_next(&events->tasks, &i));)
		if ((task->half || task->open) && !tr_id_map_put(&busy, task->upid, task)) {
			tr_id_map_free(&busy);
			return false;
		}
	for (size_t i = 0; (task = tr_id_map_next(&events->tasks, &i));)
		if (!task->half && !task->open)
			free(task);
	tr_id_map_free(&events->tasks);
	events->tasks = busy;
	events->recent = NULL;
	return true;
}

/* Finds a task that is not the last one, or makes it. NULL: memory is exhausted. */
static __attribute__((noinline)) struct tr_etrace_task *
get_other_task(struct tr_etrace_events *events, uint64_t upid)
{
	struct tr_etrace_task *task = tr_id_map_get(&events->tasks, upid);

	if (!task) {
		if (events->tasks.count >= TASKS_MAX && !sweep_tasks(events))
			return NULL;
		task = calloc(1, sizeof *task);
		if (!task || !tr_id_map_put(&events->tasks, upid, task)) {
			free(task);
			return NULL;
		}
		task->upid = upid;
		task->ppid = task->parent = task->current = TR_NO_POSITION;
	}
	events->recent = task;
	return task;
}

/* Finds the task, or makes it. NULL: memory is exhausted. */
static inline struct tr_etrace_task *get_task(struct tr_etrace_events *events, uint64_t upid)
{
	struct tr_etrace_task *recent = events->recent;

	return recent && recent->upid == upid ? recent : get_other_task(events, upid);
}

/*
 * Forgets a task that has ended and has no events in progress. A late line makes it anew, without a
 * parent.
 */
static void end_task(struct tr_etrace_events *events, struct tr_etrace_task *task)
{
	if (events->recent == task)
		events->recent = NULL;
	tr_id_map_take(&events->tasks, task->upid);
	free(task);
}

/* Forgets all tasks. */
static void free_tasks(struct tr_etrace_events *events)
{
	struct tr_etrace_task *task;

	for (size_t i = 0; (task = tr_id_map_next(&events->tasks, &i));)
		free(task);
	tr_id_map_free(&events->tasks);
	events->recent = NULL;
}

/* Makes the record of an event, and applies a fork or an exec to the tasks. */
static bool render(struct tr_etrace_events *events, struct tr_etrace_event *event,
		   struct tr_etrace_task *task)
{
	uint64_t seq = events->seq;

	if (!tr_etrace_render(events, event, task))
		return false;
	if (event->type == TR_ETRACE_EXEC) {
		task->current = seq;
		task->execed = true;
		return true;
	}
	if (event->type != TR_ETRACE_FORK || !(event->given & 1) || event->numbers[0] < 0 ||
	    tr_etrace_is_invalid_child(events, event))
		return true;
	bool sibling = event->given & 2 && event->numbers[1] & (TR_FORK_SIBLING | TR_FORK_THREAD);
	uint64_t ppid = sibling ? task->ppid : task->upid, current = task->current;
	struct tr_etrace_task *child = get_task(events, (uint64_t)event->numbers[0]);
	if (!child)
		return false;
	child->forked = true;
	child->ppid = ppid;
	child->parent = current;
	/* the fork may be printed after the child's own exec */
	if (!child->execed)
		child->current = current;
	return true;
}

/* An event and its lines. */

/* Empties a buffer, without a call if it is small and has not failed, as most are. */
static inline void clear(struct tr_buffer *buffer)
{
	if (buffer->cap > KEPT_BYTES || buffer->failed)
		tr_buffer_reset(buffer);
	buffer->len = 0;
}

/*
 * Empties the event, which keeps its memory, and sets where it begins. Each field is set for
 * itself, because clearing all of the struct takes more time than a line without texts.
 */
static void begin_event(struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
			const struct tr_etrace_line *line)
{
	event->type = tag->type;
	event->role = tag->role;
	event->upid = line->upid;
	event->cpu = line->cpu;
	event->source_line = line->number;
	event->time = event->begun = event->last_time = line->time;
	event->is_half = event->in_arguments = event->failed = false;
	event->cut = event->unfinished = event->disorder = event->beginless = false;
	event->given = event->awaited = 0;
	for (unsigned i = 0; event->used >> i; i++)
		event->strings[i] = (struct tr_etrace_string){ 0 };
	event->used = 0;
	event->last = NULL;
	clear(&event->bytes);
	clear(&event->extra);
	event->argument_count = 0;
	if (event->argument_cap > KEPT) {
		free(event->arguments);
		event->arguments = NULL;
		event->argument_cap = 0;
	}
}

/* Frees an event that is in no list. */
static void free_event(struct tr_etrace_event *event)
{
	tr_buffer_free(&event->bytes);
	tr_buffer_free(&event->extra);
	free(event->arguments);
	free(event);
}

/* Bytes that the event holds. */
static inline size_t held_bytes(const struct tr_etrace_event *event)
{
	return event->bytes.len + event->extra.len +
	       event->argument_count * sizeof *event->arguments;
}

/*
 * True if the line was printed before the event, or its second half, began: then it is the end of
 * another event, whose beginning is lost.
 */
static inline bool is_before(const struct tr_etrace_line *line, const struct tr_etrace_event *event)
{
	return tr_etrace_before(line->time, event->begun);
}

/*
 * True if the event has all strings whose sizes it states. An exec and a variable have no such
 * end: a line of their own ends them, or the next event.
 */
static inline bool is_whole(const struct tr_etrace_event *event)
{
	return !event->awaited && event->type != TR_ETRACE_EXEC && event->type != TR_ETRACE_ENVSET;
}

/* `name=number,...`, the parameters after a tag that begins an event. */

/* Reads a number up to a comma or the end. NULL: it is not a number of 64 bits. */
static inline const char *read_number(const char *p, const char *end, int64_t *number)
{
	enum { SAFE = 18 }; /* digits that 63 bits have room for */
	bool negative = *p == '-';
	const char *begin = p + negative;
	uint64_t magnitude = 0;
	bool padded;

	for (p = begin; (unsigned char)(*p - '0') <= 9 && p < end; p++)
		magnitude = magnitude * 10 + (unsigned char)(*p - '0');
	if (p - begin > SAFE && !tr_etrace_number(tr_text_span(begin, p), &magnitude, &padded))
		return NULL;
	if (p <= begin || (p < end && *p != ',') || magnitude > INT64_MAX)
		return NULL;
	*number = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return p;
}

/*
 * Reads the name before the equals sign; data NULL: there is none. likely: the name that the tracer
 * prints in this place, which is compared first; or NULL.
 */
static inline struct tr_text read_name(const char *p, const char *end,
				       const struct tr_etrace_parameter *likely)
{
	size_t left = (size_t)(end - p);

	if (likely && left > likely->name.len && p[likely->name.len] == '=' &&
	    tr_etrace_tag_begins(p, likely->bytes, likely->name.len))
		return likely->name;
	const char *equals = memchr(p, '=', left);
	const char *comma = memchr(p, ',', left);
	bool none = !equals || equals == p || (comma && comma < equals);
	return none ? (struct tr_text){ NULL, 0 } : tr_text_span(p, equals);
}

/* Keeps an unknown parameter. */
static void put_extra(struct tr_buffer *extra, struct tr_text name, int64_t number)
{
	if (extra->len)
		tr_buffer_put_byte(extra, ',');
	tr_buffer_put_byte(extra, '"');
	tr_string_escape(name, extra);
	tr_buffer_put_literal(extra, "\":");
	tr_etrace_put_number(number, extra);
}

/* Sets a known parameter. Returns why it is bad, or NULL. */
static const char *set_parameter(struct tr_etrace_event *event,
				 const struct tr_etrace_parameter *known, int64_t number)
{
	struct tr_etrace_string *string = &event->strings[known->slot];

	if (known->size ? string->expected : event->given >> known->slot & 1)
		return "a parameter is repeated";
	if (!known->size) {
		event->given |= (uint8_t)(1u << known->slot);
		event->numbers[known->slot] = number;
		return NULL;
	}
	string->expected = true;
	event->awaited++;
	event->used |= (uint8_t)(1u << known->slot);
	string->size = (uint64_t)number;
	/*
	 * Tracers before July 2024 print the sizes of a mount under each other's names. Sizes and
	 * texts come in the order source, target; so if the target's name comes first, both are
	 * wrong.
	 */
	if (event->type == TR_ETRACE_MOUNT && known->slot == 0 && event->strings[1].expected) {
		string->size = event->strings[1].size;
		event->strings[1].size = (uint64_t)number;
	}
	return number < 0 ? "a size is negative" : NULL;
}

/*
 * Reads the list into the event. Returns why it is none, or NULL. A name that is not at its usual
 * place is searched for; one that is unknown is kept as extra.
 */
static const char *read_parameters(struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
				   struct tr_text text)
{
	const char *p = text.data, *end = p + text.len, *reason = NULL;

	for (size_t i = 0; p < end && !reason; i++) {
		const struct tr_etrace_parameter *known =
			i < tag->parameter_count ? &tag->parameters[i] : NULL;
		struct tr_text name = read_name(p, end, known);
		int64_t number;
		if (!name.data)
			return "not a list of parameters";
		p = read_number(p + name.len + 1, end, &number);
		if (!p)
			return "a parameter is not a 64-bit number";
		if (p < end && ++p == end)
			return "not a list of parameters";
		if (!known || name.data != known->name.data) {
			known = NULL;
			for (size_t k = 0; k < tag->parameter_count && !known; k++)
				if (tr_text_equal(tag->parameters[k].name, name))
					known = &tag->parameters[k];
		}
		if (known)
			reason = set_parameter(event, known, number);
		else
			put_extra(&event->extra, name, number);
	}
	return reason;
}

/* Reads the parameters of the tag. Returns why the text is not a list of such, or NULL. */
static const char *event_parameters(struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
				    struct tr_text text)
{
	const char *reason = read_parameters(event, tag, text);

	/* a log that was on a system with other line ends has it in each of these lines */
	return reason && text.data[text.len - 1] == '\r' ? "a CR at the end of the line" : reason;
}

/* Lines with text. */

/*
 * These functions return false if the line does not belong to the event. If memory is exhausted,
 * event->bytes has failed.
 */

/* The lines of one string are printed one after the other: an older one is misplaced. */
static bool is_older(struct tr_etrace_event *event, const struct tr_etrace_line *line)
{
	bool older = tr_etrace_before(line->time, event->last_time);

	event->last_time = line->time;
	return older;
}

/* Notes that a text is complete; the event may be whole then. */
static void end_string(struct tr_etrace_event *event, struct tr_etrace_string *string)
{
	event->awaited -= string->expected && !string->done;
	string->done = true;
}

/* Appends text, which is followed by TR_INPUT_PAD readable bytes, so a short one needs no call. */
static void put_text(struct tr_buffer *to, struct tr_text text)
{
	char *room = tr_buffer_room(to, text.len + TR_INPUT_PAD);

	if (!room)
		return;
	if (text.len <= TR_INPUT_PAD)
		memcpy(room, text.data, TR_INPUT_PAD);
	else
		memcpy(room, text.data, text.len);
	tr_buffer_used(to, text.len);
}

/* Appends to a string. One that follows a bar, not in parts, is complete when it has its size. */
static void append(struct tr_etrace_event *event, struct tr_etrace_string *string,
		   struct tr_text text)
{
	put_text(&event->bytes, text);
	string->len += text.len;
	if (string->form == TR_ETRACE_SHORT && string->len >= string->size)
		end_string(event, string);
}

/* Begins a text, which Cont lines continue from now on. */
static void begin_string(struct tr_etrace_event *event, struct tr_etrace_string *string,
			 bool in_parts)
{
	string->form = in_parts ? TR_ETRACE_LONG : TR_ETRACE_SHORT;
	event->used |= (uint8_t)(1u << (string - event->strings));
	string->begin = event->bytes.len;
	string->index = 0;
	event->last = string;
	event->in_arguments = false;
}

/*
 * Adds a line of a text with a tag of its own: all of it, or one of its parts, or the line that
 * ends the parts (`ended`).
 */
static bool add_string_line(struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
			    bool ended, const struct tr_etrace_line *line)
{
	struct tr_etrace_string *string = &event->strings[tag->slot];
	bool in_halves = event->type == TR_ETRACE_RENAME || event->type == TR_ETRACE_LINK;
	bool in_parts = line->form == TR_ETRACE_PART, begins = string->form == TR_ETRACE_UNSEEN;

	if (event->is_half || !(tag->types >> event->type & 1) || (in_halves && !string->expected))
		return false;
	if (ended) {
		/* the tracer prints a bar here; its published description has none */
		if (string->form != TR_ETRACE_LONG || string->done || line->text.len)
			return false;
		end_string(event, string);
		return true;
	}
	if (line->form == TR_ETRACE_BARE ||
	    (!begins && (!in_parts || string->form != TR_ETRACE_LONG || event->last != string)))
		return false;
	if (begins)
		begin_string(event, string, in_parts);
	/* a text that begins with a line end has a Cont before its first part */
	bool older = is_older(event, line);
	if (in_parts && (begins ? line->index != 0 : line->index <= string->index || older))
		string->disorder = true;
	string->index = line->index;
	append(event, string, line->text);
	return true;
}

/* Adds an argument, or a task of a variable. NULL: memory is exhausted, and bytes has failed. */
static struct tr_etrace_argument *add_argument(struct tr_etrace_event *event, uint64_t index)
{
	if (!tr_array_room(event->arguments, event->argument_count, event->argument_cap)) {
		event->bytes.failed = true;
		return NULL;
	}
	struct tr_etrace_argument *argument = &event->arguments[event->argument_count++];
	*argument = (struct tr_etrace_argument){ index, event->bytes.len, 0 };
	return argument;
}

/*
 * Adds an argument, or another part of the last one: long ones are printed in parts of the same
 * number.
 */
static bool add_argument_line(struct tr_etrace_event *event, const struct tr_etrace_line *line)
{
	struct tr_etrace_argument *last =
		event->argument_count ? &event->arguments[event->argument_count - 1] : NULL;
	/* empty arguments are numbered but not printed: any larger gap is damage */
	uint64_t next = last ? last->index + 1 : 0;

	if (event->type != TR_ETRACE_EXEC || line->form != TR_ETRACE_PART ||
	    line->index >= ARGUMENTS_MAX || (line->index > next && line->index - next > GAP_MAX))
		return false;
	bool older = is_older(event, line);
	bool goes_on = last && last->index == line->index && event->in_arguments;
	if ((event->in_arguments && older) || (last && !goes_on && line->index <= last->index))
		event->disorder = true;
	if (!goes_on)
		last = add_argument(event, line->index);
	put_text(&event->bytes, line->text);
	if (last)
		last->len += line->text.len;
	event->in_arguments = true;
	event->last = NULL;
	return true;
}

/* True if it is the line of a task that has a variable. */
static bool is_upid_line(const struct tr_etrace_line *line)
{
	uint64_t upid;
	bool padded;

	return line->form == TR_ETRACE_BAR && tr_etrace_number(line->text, &upid, &padded);
}

/* Adds a task to a variable. All tasks come before its text. */
static bool add_upid_line(struct tr_etrace_event *event, const struct tr_etrace_line *line)
{
	uint64_t upid = 0;
	bool padded;

	if (event->type != TR_ETRACE_ENVSET || line->form != TR_ETRACE_BAR ||
	    !tr_etrace_number(line->text, &upid, &padded))
		return false;
	if (event->strings[ENV].form != TR_ETRACE_UNSEEN)
		event->disorder = true;
	else
		event->last_time = line->time;
	add_argument(event, upid);
	return true;
}

/*
 * Adds a part of a variable. The number of a part counts the parts and the Cont lines before it, so
 * a gap means lost lines.
 */
static bool add_env_line(struct tr_etrace_event *event, const struct tr_etrace_line *line)
{
	struct tr_etrace_string *string = &event->strings[ENV];

	if (event->type != TR_ETRACE_ENVSET || line->form == TR_ETRACE_BARE)
		return false;
	bool older = is_older(event, line);
	if (string->form == TR_ETRACE_UNSEEN) {
		begin_string(event, string, true);
		event->beginless = line->index != 0;
	} else if (older || line->index <= string->index) {
		string->disorder = true;
	} else if (line->index != string->index + 1) {
		event->beginless = true;
	}
	string->index = line->index;
	append(event, string, line->text);
	return true;
}

/*
 * Begins the next string for a Cont that comes before it: only a text in parts that begins with a
 * line end is printed like that. NULL: no such string is expected.
 */
static struct tr_etrace_string *begins_with_lf(struct tr_etrace_event *event)
{
	struct tr_etrace_string *string = event->strings;

	if (event->last && !event->last->done)
		return NULL;
	while (string < event->strings + TR_ETRACE_STRINGS &&
	       (!string->expected || string->form != TR_ETRACE_UNSEEN))
		string++;
	if (string == event->strings + TR_ETRACE_STRINGS || string->size < TR_ETRACE_PIECE)
		return NULL;
	begin_string(event, string, true);
	return string;
}

/* Adds a line of a text after a line end in it. In a text in parts, it may be the first line. */
static bool add_cont_line(struct tr_etrace_event *event, const struct tr_etrace_line *line)
{
	struct tr_etrace_string *string = event->last;

	if (line->form != TR_ETRACE_BAR || event->is_half)
		return false;
	if (!event->in_arguments && (!string || string->done)) {
		string = begins_with_lf(event);
		if (!string)
			return false;
	}
	bool older = is_older(event, line);
	tr_buffer_put_byte(&event->bytes, '\n');
	if (event->in_arguments) {
		event->disorder |= older;
		event->arguments[event->argument_count - 1].len += 1 + line->text.len;
		put_text(&event->bytes, line->text);
		return true;
	}
	string->disorder |= older;
	string->index += event->type == TR_ETRACE_ENVSET;
	string->len++;
	append(event, string, line->text);
	return true;
}

/* Events in progress: a task has at most one open event, and one half pending its second half. */

/*
 * Returns an event to fill, one that was used before if there is one: its buffers are kept, which
 * saves an allocation for each event. NULL: memory is exhausted.
 */
static struct tr_etrace_event *take_unused(struct tr_etrace_events *events)
{
	struct tr_etrace_event *event = events->unused;

	if (!event)
		return calloc(1, sizeof *event);
	events->unused = event->next;
	events->unused_count--;
	return event;
}

/* Keeps an event for reuse, up to a number of them. */
static void keep_unused(struct tr_etrace_events *events, struct tr_etrace_event *event)
{
	if (events->unused_count >= UNUSED_MAX) {
		free_event(event);
		return;
	}
	event->next = events->unused;
	events->unused = event;
	events->unused_count++;
}

/*
 * Puts an event into the list of those in progress, which bound_events and the end of the log
 * finish in the order in which they began.
 */
static void enlist(struct tr_etrace_events *events, struct tr_etrace_event *event)
{
	event->next = NULL;
	event->previous = events->newest;
	*(events->newest ? &events->newest->next : &events->oldest) = event;
	events->newest = event;
	events->in_progress++;
}

/* Takes an event and its bytes out of those in progress. */
static void delist(struct tr_etrace_events *events, struct tr_etrace_event *event)
{
	*(event->previous ? &event->previous->next : &events->oldest) = event->next;
	*(event->next ? &event->next->previous : &events->newest) = event->previous;
	events->in_progress--;
	events->held -= held_bytes(event);
}

/* Makes a record of an event of the task, which is flagged if it lacks something. */
static bool finish_event(struct tr_etrace_events *events, struct tr_etrace_task *task,
			 struct tr_etrace_event *event)
{
	if (task->half == event)
		task->half = NULL;
	if (task->open == event)
		task->open = NULL;
	delist(events, event);
	bool fine = render(events, event, task);
	bool exit = event->type == TR_ETRACE_EXIT;
	keep_unused(events, event);
	if (exit && !task->half && !task->open)
		end_task(events, task);
	return fine;
}

/* Finishes the half whose second half did not come, if there is one. */
static bool finish_half(struct tr_etrace_events *events, struct tr_etrace_task *task)
{
	if (!task->half)
		return true;
	task->half->unfinished = task->half->role == TR_ETRACE_FIRST;
	return finish_event(events, task, task->half);
}

/*
 * Finishes the open event, because another one of the task begins: texts that it lacks will not
 * come.
 */
static bool finish_open(struct tr_etrace_events *events, struct tr_etrace_task *task)
{
	return !task->open || finish_event(events, task, task->open);
}

/* The open event has all its texts: it is whole, or its first half is. */
static bool complete_event(struct tr_etrace_events *events, struct tr_etrace_task *task)
{
	struct tr_etrace_event *event = task->open;

	if (event->role != TR_ETRACE_FIRST && event->role != TR_ETRACE_MAYBE)
		return finish_event(events, task, event);
	/* the open one may be a Comm, and an older half will not get its end */
	if (!finish_half(events, task))
		return false;
	event->is_half = true;
	event->last = NULL;
	task->half = event;
	task->open = NULL;
	return true;
}

/* True if unfinished events take too much memory, as in a log that has only beginnings. */
static inline bool is_full(const struct tr_etrace_events *events)
{
	return events->in_progress > IN_PROGRESS_MAX || events->held > events->max_held;
}

/* Finishes the oldest events until there is room again. */
static bool bound_events(struct tr_etrace_events *events)
{
	while (is_full(events) && events->in_progress) {
		struct tr_etrace_event *event = events->oldest;
		struct tr_etrace_task *task = get_task(events, event->upid);
		event->cut = true;
		if (!task || !finish_event(events, task, event))
			return false;
		/*
		 * there may be many such tasks, so those are forgotten that have nothing to inherit
		 */
		if (!task->forked && !task->execed && !task->half && !task->open)
			end_task(events, task);
	}
	return true;
}

/* Finishes the oldest event at the end of the log, or where another log begins. */
static bool end_oldest(struct tr_etrace_events *events)
{
	struct tr_etrace_event *event = events->oldest;
	struct tr_etrace_task *task = get_task(events, event->upid);

	if (!task)
		return false;
	if (task->half == event) {
		/* a failure may have been reported after the end of the log */
		event->cut = event->role == TR_ETRACE_MAYBE;
		return finish_half(events, task);
	}
	event->cut = event->cut || event->type != TR_ETRACE_ENVSET;
	return finish_event(events, task, event);
}

/* Lines. */

/*
 * Returns the first half that the tag continues, or NULL. A line that is older than a half
 * continues something else.
 */
static struct tr_etrace_event *first_half(const struct tr_etrace_task *task,
					  const struct tr_etrace_tag *tag,
					  const struct tr_etrace_line *line)
{
	struct tr_etrace_event *event = task->half;

	if (tag->role != TR_ETRACE_SECOND && tag->role != TR_ETRACE_FAILED)
		return NULL;
	/* it may still lack its text */
	if (task->open && task->open->type == tag->type && task->open->role != TR_ETRACE_SECOND)
		event = task->open;
	bool fits = event && event->type == tag->type && !is_before(line, event);
	return fits ? event : NULL;
}

/* Makes the event that a tag begins, or the half that it continues, the open one. */
static bool open_event(struct tr_etrace_events *events, struct tr_etrace_task *task,
		       struct tr_etrace_event *half, const struct tr_etrace_tag *tag,
		       const struct tr_etrace_line *line)
{
	if (task->open != half && !finish_open(events, task))
		return false;
	if (half) {
		task->half = task->half == half ? NULL : task->half;
		task->open = half;
		half->is_half = false;
		half->role = tag->role;
		half->last = NULL;
		half->begun = line->time;
		return true;
	}
	if (tag->type != TR_ETRACE_COMM && !finish_half(events, task))
		return false;
	task->stray = false;
	task->open = take_unused(events);
	if (!task->open)
		return false;
	begin_event(task->open, tag, line);
	enlist(events, task->open);
	return true;
}

/* True if the line is a whole event that has nothing to do with those in progress. */
static bool is_whole_event(const struct tr_etrace_task *task, const struct tr_etrace_tag *tag,
			   const struct tr_etrace_line *line)
{
	enum {
		TEXTLESS = 1 << TR_ETRACE_FORK | 1 << TR_ETRACE_EXIT | 1 << TR_ETRACE_CLOSE |
			   1 << TR_ETRACE_PIPE | 1 << TR_ETRACE_DUP
	};

	if (!(TEXTLESS >> tag->type & 1) || line->form != TR_ETRACE_BAR ||
	    (tag->role != TR_ETRACE_ALONE && tag->role != TR_ETRACE_SECOND))
		return false;
	if (!task->open && !task->half)
		return true;
	/* a line that was printed before the events in progress is misplaced */
	return tag->type != TR_ETRACE_EXIT && ((task->open && is_before(line, task->open)) ||
					       (task->half && is_before(line, task->half)));
}

/* Renders an event that is one line, without enlisting it: most lines of a log are such. */
static bool whole_line(struct tr_etrace_events *events, struct tr_etrace_task *task,
		       const struct tr_etrace_tag *tag, const struct tr_etrace_line *line)
{
	struct tr_etrace_event *event = take_unused(events);

	if (!event)
		return false;
	begin_event(event, tag, line);
	event->cut = line->cut;
	const char *reason = event_parameters(event, tag, line->text);
	bool good = !event->extra.failed && (reason ? tr_etrace_render_line(events, line, reason)
						    : render(events, event, task));
	keep_unused(events, event);
	if (reason)
		return good;
	task->stray = false;
	if (tag->type == TR_ETRACE_EXIT)
		end_task(events, task);
	return good;
}

/*
 * Handles a line whose tag begins an event or a second half. A line whose parameters are bad is
 * kept as raw, and a half that it would have ended is unfinished.
 */
static bool begin_line(struct tr_etrace_events *events, struct tr_etrace_task *task,
		       const struct tr_etrace_tag *tag, const struct tr_etrace_line *line)
{
	if (is_whole_event(task, tag, line))
		return whole_line(events, task, tag, line);
	struct tr_etrace_event *half = first_half(task, tag, line);
	/* a failure may come alone; but after other lines of its call its beginning is damaged */
	bool torn = !half && tag->role == TR_ETRACE_FAILED && (task->open || task->stray);

	if (line->form != TR_ETRACE_BAR)
		return tr_etrace_render_line(events, line, "no '|' after the tag");
	if (!open_event(events, task, half, tag, line))
		return false;
	struct tr_etrace_event *event = task->open;
	size_t held = held_bytes(event);
	const char *reason = event_parameters(event, tag, line->text);
	events->held += held_bytes(event) - held;
	if (event->extra.failed)
		return false;
	if (reason && half) {
		event->unfinished = true;
		return finish_event(events, task, event) &&
		       tr_etrace_render_line(events, line, reason);
	}
	if (reason) {
		delist(events, event);
		keep_unused(events, event);
		task->open = NULL;
		return tr_etrace_render_line(events, line, reason);
	}
	event->cut = event->cut || line->cut;
	event->unfinished = event->unfinished || torn;
	event->failed = tag->role == TR_ETRACE_FAILED;
	if (event->failed)
		return finish_event(events, task, event);
	return is_whole(event) ? complete_event(events, task) : true;
}

/*
 * The lines of a variable's tasks all have one time, then its text follows, later: a task line of
 * that time after the text is late. In the logs that are written here each line is 1 ns after the
 * one before.
 */
static bool begins_envset(const struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
			  const struct tr_etrace_line *line)
{
	if (!event || event->type != TR_ETRACE_ENVSET)
		return true;
	bool text = event->strings[0].form != TR_ETRACE_UNSEEN;
	uint64_t sec = line->time.sec - event->last_time.sec;
	bool is_next = line->time.nsec + sec * TR_ETRACE_NANOSECONDS == event->last_time.nsec + 1;
	if (tag->class == TR_ETRACE_UPID && !text && is_next)
		return false;
	if (tag->class == TR_ETRACE_UPID)
		return !tr_etrace_same_time(event->time, line->time) ||
		       (text && tr_etrace_same_time(event->time, event->last_time));
	return text && (line->form == TR_ETRACE_BAR || line->index == 0);
}

/* Adds the line to the event. A line that is older than that is the rest of another. */
static bool add_line(struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
		     const struct tr_etrace_line *line)
{
	if (is_before(line, event))
		return false;
	switch (tag->class) {
	case TR_ETRACE_STRING:
		return add_string_line(event, tag, line->ended, line);
	case TR_ETRACE_ARGUMENT:
		return add_argument_line(event, line);
	case TR_ETRACE_CONT:
		return add_cont_line(event, line);
	case TR_ETRACE_UPID:
		return add_upid_line(event, line);
	default:
		return add_env_line(event, line);
	}
}

/*
 * Handles a line that belongs to the open event of its task; if that is not so, it is kept as raw.
 */
static bool text_line(struct tr_etrace_events *events, struct tr_etrace_task *task,
		      const struct tr_etrace_tag *tag, const struct tr_etrace_line *line)
{
	static const struct tr_etrace_tag envset = { .type = TR_ETRACE_ENVSET };
	bool of_set =
		tag->class == TR_ETRACE_UPID ? is_upid_line(line) : tag->class == TR_ETRACE_ENV;

	if (of_set && line->form != TR_ETRACE_BARE && begins_envset(task->open, tag, line) &&
	    !open_event(events, task, NULL, &envset, line))
		return false;
	struct tr_etrace_event *event = task->open;
	size_t held = event ? held_bytes(event) : 0;
	if (!event || !add_line(event, tag, line)) {
		task->stray = true;
		return tr_etrace_render_line(events, line, "text that belongs to no event");
	}
	if (event->bytes.failed)
		return false;
	events->held += held_bytes(event) - held;
	event->cut = event->cut || line->cut;
	return !is_whole(event) || complete_event(events, task);
}

/*
 * The end of a group of Cont lines adds nothing, and may come without a group. In a variable the
 * tracer forgets the LF of this line: the next one follows where nothing should be.
 */
static bool cont_end_line(struct tr_etrace_events *events, const struct tr_etrace_line *line)
{
	struct tr_etrace_line glued;

	if (!line->text.len && line->form != TR_ETRACE_PART)
		return true;
	tr_etrace_line_read(line->text, NULL, &glued);
	bool is_env = glued.type == TR_ETRACE_EVENT && tr_text_is(glued.tag, "Env");
	if (line->form == TR_ETRACE_PART || !is_env)
		return tr_etrace_render_line(events, line, "text after the end of a string");
	glued.number = line->number;
	glued.cut = line->cut;
	return tr_etrace_events_line(events, &glued);
}

/* Handles the end of an execution, the only event that does not state its length. */
static bool end_of_args_line(struct tr_etrace_events *events, struct tr_etrace_task *task,
			     const struct tr_etrace_line *line)
{
	if (!task->open || task->open->type != TR_ETRACE_EXEC || line->form == TR_ETRACE_PART ||
	    line->text.len)
		return tr_etrace_render_line(events, line, "end of arguments outside an exec");
	task->open->cut = line->cut;
	task->open->role = TR_ETRACE_SECOND; /* it has its end */
	return finish_event(events, task, task->open);
}

/* Handles a line of a task by the class of its tag. */
static bool event_line(struct tr_etrace_events *events, const struct tr_etrace_line *line)
{
	const struct tr_etrace_tag *tag = line->known;

	if (!tag)
		return tr_etrace_render_line(events, line, "an unknown tag");
	struct tr_etrace_task *task = get_task(events, line->upid);
	if (!task)
		return false;
	switch (tag->class) {
	case TR_ETRACE_BEGIN:
		return begin_line(events, task, tag, line);
	case TR_ETRACE_END_OF_ARGS:
		return end_of_args_line(events, task, line);
	case TR_ETRACE_CONT_END:
		return cont_end_line(events, line);
	default:
		return text_line(events, task, tag, line);
	}
}

bool tr_etrace_events_line(struct tr_etrace_events *events, const struct tr_etrace_line *line)
{
	switch (line->type) {
	case TR_ETRACE_EVENT:
		return event_line(events, line) && (!is_full(events) || bound_events(events));
	case TR_ETRACE_INITCWD:
		/* another log: its tasks have nothing to do with those before */
		while (events->oldest)
			if (!end_oldest(events))
				return false;
		free_tasks(events);
		return tr_etrace_render_line(events, line, NULL);
	default:
		return tr_etrace_render_line(events, line, NULL);
	}
}

bool tr_etrace_events_end(struct tr_etrace_events *events)
{
	return !events->oldest || end_oldest(events);
}

static void free_list(struct tr_etrace_event *event)
{
	for (struct tr_etrace_event *next; event; event = next) {
		next = event->next;
		free_event(event);
	}
}

void tr_etrace_events_free(struct tr_etrace_events *events)
{
	free_list(events->oldest);
	free_list(events->unused);
	free_tasks(events);
	tr_buffer_free(&events->queue.text);
	free(events->queue.entries);
	tr_buffer_free(&events->flags);
}
