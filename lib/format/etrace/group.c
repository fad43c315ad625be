#include "format/etrace/clock.h"
#include "format/etrace/progress.h"

/*
 * The first half that the tag continues; NULL: there is none. A line that is older than a half
 * follows something else.
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
	bool fits = event && event->type == tag->type && !tr_etrace_event_is_before(line, event);
	return fits ? event : NULL;
}

/* The event that a tag begins, or goes on with where that is a half, is to be the open one. */
static bool open_event(struct tr_etrace_group *group, struct tr_etrace_task *task,
		       struct tr_etrace_event *half, const struct tr_etrace_tag *tag,
		       const struct tr_etrace_line *line)
{
	if (task->open != half && !tr_etrace_progress_finish_open(group, task))
		return false;
	if (half) {
		task->half = task->half == half ? NULL : task->half;
		task->open = half;
		tr_etrace_event_go_on(half, tag, line);
		return true;
	}
	if (tag->type != TR_ETRACE_COMM && !tr_etrace_progress_finish_half(group, task))
		return false;
	task->stray = false;
	return tr_etrace_progress_begin(group, task, tag, line);
}

/* A line whose parameters nobody understands: it is no event, but what was open ends with it. */
static bool drop_event(struct tr_etrace_group *group, struct tr_etrace_task *task, bool fresh,
		       const struct tr_etrace_line *line, const char *reason)
{
	struct tr_etrace_event *event = task->open;

	if (fresh) {
		tr_etrace_progress_drop(group, task);
		return tr_etrace_render_raw(group, line, reason);
	}
	event->unfinished = true;
	return tr_etrace_progress_finish(group, task, event) &&
	       tr_etrace_render_raw(group, line, reason);
}

/*
 * Nothing that the task is in the middle of has to do with a line that was printed before: it
 * stands in the wrong place.
 */
static bool is_late(const struct tr_etrace_task *task, const struct tr_etrace_line *line)
{
	return (task->open && tr_etrace_event_is_before(line, task->open)) ||
	       (task->half && tr_etrace_event_is_before(line, task->half));
}

/* Its event is all in this line, and has nothing to do with what the task is in the middle of. */
static bool stands_alone(const struct tr_etrace_task *task, const struct tr_etrace_tag *tag,
			 const struct tr_etrace_line *line)
{
	enum {
		TEXTLESS = 1 << TR_ETRACE_FORK | 1 << TR_ETRACE_EXIT | 1 << TR_ETRACE_CLOSE |
			   1 << TR_ETRACE_PIPE | 1 << TR_ETRACE_DUP
	};

	if (!(TEXTLESS >> tag->type & 1) || line->form != TR_ETRACE_BAR ||
	    (tag->role != TR_ETRACE_ALONE && tag->role != TR_ETRACE_SECOND))
		return false;
	return (!task->open && !task->half) || (tag->type != TR_ETRACE_EXIT && is_late(task, line));
}

static bool whole_line(struct tr_etrace_group *group, struct tr_etrace_task *task,
		       const struct tr_etrace_tag *tag, const struct tr_etrace_line *line)
{
	struct tr_etrace_event *event = tr_etrace_progress_spare(group);

	if (!event)
		return false;
	tr_etrace_event_begin(event, tag, line);
	const char *reason = tr_etrace_event_parameters(event, tag, line->text);
	if (event->extra.failed)
		return false;
	if (reason)
		return tr_etrace_render_raw(group, line, reason);
	event->cut = line->cut;
	task->stray = false;
	bool fine = tr_etrace_render(group, event, task);
	if (event->type == TR_ETRACE_EXIT)
		tr_etrace_task_end(&group->tasks, task);
	return fine;
}

static bool begin(struct tr_etrace_group *group, struct tr_etrace_task *task,
		  const struct tr_etrace_tag *tag, const struct tr_etrace_line *line)
{
	if (stands_alone(task, tag, line))
		return whole_line(group, task, tag, line);
	struct tr_etrace_event *half = first_half(task, tag, line);
	/* a failure may stand alone, but not where there are traces of its beginning */
	bool torn = !half && tag->role == TR_ETRACE_FAILED && (task->open || task->stray);

	if (line->form != TR_ETRACE_BAR)
		return tr_etrace_render_raw(group, line, "a tag without its bar");
	if (!open_event(group, task, half, tag, line))
		return false;
	struct tr_etrace_event *event = task->open;
	size_t held = tr_etrace_event_held(event);
	const char *reason = tr_etrace_event_parameters(event, tag, line->text);
	group->held += tr_etrace_event_held(event) - held;
	if (event->extra.failed)
		return false;
	if (reason)
		return drop_event(group, task, !half, line, reason);
	event->cut = event->cut || line->cut;
	event->unfinished = event->unfinished || torn;
	event->failed = tag->role == TR_ETRACE_FAILED;
	if (event->failed)
		return tr_etrace_progress_finish(group, task, event);
	return tr_etrace_event_is_whole(event) ? tr_etrace_progress_complete(group, task) : true;
}

/* The line is 1 ns after the one before it. */
static bool is_next(const struct tr_etrace_event *event, const struct tr_etrace_line *line)
{
	uint64_t sec = line->sec - event->last_sec;

	return line->nsec + sec * TR_ETRACE_NANOSECONDS == event->last_nsec + 1;
}

/*
 * The lines of a variable's tasks all have one time, then comes its text, later: one of that time
 * after the text is late. In the logs that are written here each is 1 ns after the one before.
 */
static bool begins_envset(const struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
			  const struct tr_etrace_line *line)
{
	if (!event || event->type != TR_ETRACE_ENVSET)
		return true;
	bool text = event->strings[0].form != TR_ETRACE_UNSEEN;
	if (tag->class == TR_ETRACE_UPID && !text && is_next(event, line))
		return false;
	if (tag->class == TR_ETRACE_UPID)
		return event->sec != line->sec || event->nsec != line->nsec ||
		       (text && event->last_sec == event->sec && event->last_nsec == event->nsec);
	return text && (line->form == TR_ETRACE_BAR || line->index == 0);
}

static bool open_envset(struct tr_etrace_group *group, struct tr_etrace_task *task,
			const struct tr_etrace_tag *tag, const struct tr_etrace_line *line)
{
	static const struct tr_etrace_tag envset = { .type = TR_ETRACE_ENVSET };

	return !begins_envset(task->open, tag, line) ||
	       open_event(group, task, NULL, &envset, line);
}

/* What the line is to the open event. What is older than that is the rest of another. */
static enum tr_etrace_fit try(struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
			      bool ended, const struct tr_etrace_line *line)
{
	if (tr_etrace_event_is_before(line, event))
		return TR_ETRACE_STRANGE;
	switch (tag->class) {
	case TR_ETRACE_STRING:
		return tr_etrace_event_string(event, tag, ended, line);
	case TR_ETRACE_ARGUMENT:
		return tr_etrace_event_argument(event, line);
	case TR_ETRACE_CONT:
		return tr_etrace_event_cont(event, line);
	case TR_ETRACE_UPID:
		return tr_etrace_event_upid(event, line);
	default:
		return tr_etrace_event_env(event, line);
	}
}

/* A line that belongs to the open event, if it belongs to anything. */
static bool add(struct tr_etrace_group *group, struct tr_etrace_task *task,
		const struct tr_etrace_tag *tag, bool ended, const struct tr_etrace_line *line)
{
	bool is_upid = tag->class == TR_ETRACE_UPID;
	bool of_set = is_upid ? tr_etrace_event_is_upid(line) : tag->class == TR_ETRACE_ENV;
	if (of_set && line->form != TR_ETRACE_BARE && !open_envset(group, task, tag, line))
		return false;
	struct tr_etrace_event *event = task->open;
	size_t held = event ? tr_etrace_event_held(event) : 0;
	enum tr_etrace_fit fit = event ? try(event, tag, ended, line) : TR_ETRACE_STRANGE;
	if (fit == TR_ETRACE_STRANGE) {
		task->stray = true;
		return tr_etrace_render_raw(group, line, "text of no event");
	}
	if (fit == TR_ETRACE_MEMORY)
		return false;
	group->held += tr_etrace_event_held(event) - held;
	event->cut = event->cut || line->cut;
	return !tr_etrace_event_is_whole(event) || tr_etrace_progress_complete(group, task);
}

/*
 * The end of a group of Cont lines says nothing that is not known, and may stand
 * where no group was. In a variable the tracer forgets the end of its line: the
 * next one stands in what should be empty.
 */
static bool cont_end(struct tr_etrace_group *group, const struct tr_etrace_line *line)
{
	struct tr_etrace_line glued;

	if (!line->text.len && line->form != TR_ETRACE_PART)
		return true;
	tr_etrace_line_read(line->text, NULL, &glued);
	bool is_env = glued.type == TR_ETRACE_EVENT && tr_text_is(glued.tag, "Env");
	if (line->form == TR_ETRACE_PART || !is_env)
		return tr_etrace_render_raw(group, line, "text after the end of a text");
	glued.number = line->number;
	glued.cut = line->cut;
	return tr_etrace_group_line(group, &glued);
}

static bool end_of_args(struct tr_etrace_group *group, struct tr_etrace_task *task,
			const struct tr_etrace_line *line)
{
	if (!task->open || task->open->type != TR_ETRACE_EXEC || line->form == TR_ETRACE_PART ||
	    line->text.len)
		return tr_etrace_render_raw(group, line, "the end of no arguments");
	task->open->cut = line->cut;
	task->open->role = TR_ETRACE_SECOND; /* it has its end */
	return tr_etrace_progress_finish(group, task, task->open);
}

static bool event_line(struct tr_etrace_group *group, const struct tr_etrace_line *line)
{
	const struct tr_etrace_tag *tag = line->known;

	if (!tag)
		return tr_etrace_render_raw(group, line, "an unknown tag");
	struct tr_etrace_task *task = tr_etrace_task_get(&group->tasks, line->upid);
	if (!task)
		return false;
	switch (tag->class) {
	case TR_ETRACE_BEGIN:
		return begin(group, task, tag, line);
	case TR_ETRACE_END_OF_ARGS:
		return end_of_args(group, task, line);
	case TR_ETRACE_CONT_END:
		return cont_end(group, line);
	default:
		return add(group, task, tag, line->ended, line);
	}
}

bool tr_etrace_group_line(struct tr_etrace_group *group, const struct tr_etrace_line *line)
{
	switch (line->type) {
	case TR_ETRACE_EVENT:
		return event_line(group, line) &&
		       (!tr_etrace_progress_is_full(group) || tr_etrace_progress_bound(group));
	case TR_ETRACE_INITCWD:
		/* another log: its tasks have nothing to do with those before */
		while (group->oldest)
			if (!tr_etrace_progress_end_oldest(group))
				return false;
		tr_etrace_tasks_free(&group->tasks);
		return tr_etrace_render_initcwd(group, line);
	case TR_ETRACE_LOST:
		return tr_etrace_render_lost(group, line);
	default:
		return tr_etrace_render_raw(group, line, line->reason);
	}
}

bool tr_etrace_group_end(struct tr_etrace_group *group)
{
	return !group->oldest || tr_etrace_progress_end_oldest(group);
}

void tr_etrace_group_free(struct tr_etrace_group *group)
{
	tr_etrace_progress_free(group);
	tr_etrace_tasks_free(&group->tasks);
	tr_etrace_queue_free(&group->queue);
	tr_buffer_free(&group->flags);
}
