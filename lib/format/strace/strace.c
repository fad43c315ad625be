/* SPDX-License-Identifier: MIT */
/*
 * The description of the format, the bid, the loop from line to record, the merging of the files of
 * -ff, and the repair of lines that strace printed wrong:
 *
 * On standard error a message may be printed into a line. The rest of that line comes on a line of
 * its own, after more messages and output of the traced programs:
 *
 *	clone(child_stack=NULL, flags=SIGCHLDstrace: Process 7 attached
 *	) = 7
 *
 * A call that the exec of another thread interrupted has no end and perhaps not all arguments. The
 * next line of the process follows on the same line:
 *
 *	7 ???(7 +++ superseded by execve in pid 8 +++
 *
 * With -z a call is printed when it is known to have succeeded. If other tasks have printed lines
 * meanwhile, it is complete, but on two lines:
 *
 *	7 close(3 <unfinished ...>
 *	)                                = 0
 */
#include "format/strace/strace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/line_merge.h"

enum {
	PROBE = 64 << 10, /* bytes for the bid; a line of execve may be longer */
	LINES = 8,
	BITS_PREFIXED = 12, /* a call after a number or a time */
	BITS_BARE = 6,	    /* a call without one, which source code resembles */
	BITS_UNKNOWN = 1,   /* a call, but not of a system call */
	BITS_EXEC = 20,
	ENOUGH = 60,
	PIECES = 16, /* lines that may come before the rest of a call */
};

/*
 * Returns the bits of one line; whole: it has an end. A prefix counts more than a bare call, which
 * source code in C resembles.
 */
static int weigh(struct tr_text text, bool whole)
{
	struct tr_strace_line line;
	const char *p, *end = text.data + text.len;

	tr_strace_line_read(text, &line);
	bool prefixed = line.has_pid || line.clock != TR_STRACE_NO_CLOCK;
	switch (whole ? line.type : TR_STRACE_CUT) {
	case TR_STRACE_CALL:
	case TR_STRACE_BEGUN:
	case TR_STRACE_RESUMED:
		if (!tr_strace_syscall(line.name)->arguments)
			return prefixed || line.type != TR_STRACE_CALL ? BITS_UNKNOWN : 0;
		return prefixed ? BITS_PREFIXED : BITS_BARE;
	case TR_STRACE_PID_CHANGED:
	case TR_STRACE_DETACHED:
	case TR_STRACE_SIGNAL:
	case TR_STRACE_EXITED:
	case TR_STRACE_KILLED:
	case TR_STRACE_SUPERSEDED:
		return prefixed ? BITS_PREFIXED : BITS_BARE;
	case TR_STRACE_ATTACHED:
		return BITS_PREFIXED;
	default:
		/* nearly every log begins with such a call, which is often longer than the probe */
		p = line.body;
		return tr_strace_take(&p, end, TR_TEXT("execve(\"")) ||
				       tr_strace_take(&p, end, TR_TEXT("<... execve resumed>"))
			       ? BITS_EXEC
			       : 0;
	}
}

/* Adds the bits of the first lines. Empty lines and output of programs in between count nothing. */
static int weigh_lines(const char *p, const char *end, void *context)
{
	int bits = 0;

	(void)context;
	for (int i = 0; i < LINES && p < end && bits < ENOUGH; i++) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		bits += weigh(tr_text_span(p, lf ? lf : end), lf != NULL);
		p = lf ? lf + 1 : end;
	}
	return bits;
}

static int bid(struct tr_input *in)
{
	return tr_bid_by_lines(in, PROBE, weigh_lines, NULL);
}

/* Calls on one line that should be on two, and the other way round. */

/*
 * Returns the beginning of the second line: its prefix, which begins as that of the whole line. If
 * it is not found, the arguments are returned, where no line begins.
 */
static const char *find_second(struct tr_text text, const struct tr_strace_line *line,
			       const char *arguments)
{
	const struct tr_text ends = TR_TEXT("+++ superseded by execve in pid ");
	const char *end = text.data + text.len, *p = text.data, *found = arguments;
	const char *mark = memmem(arguments, (size_t)(end - arguments), ends.data, ends.len);

	if (!mark || !line->has_pid)
		return mark ? mark : arguments;
	while (p < mark && *p != ' ')
		p++;
	if (line->bracketed)
		p = tr_strace_skip(p, mark);
	const struct tr_text own = tr_text_span(text.data, p);
	for (p = arguments; (p = memmem(p, (size_t)(mark - p), own.data, own.len)); p++)
		found = p;
	return found;
}

/*
 * Takes the call if a line of the same task follows on the same line. *text is then that line.
 * False: what follows is not such a line.
 */
static bool split(struct tr_strace_reader *reader, struct tr_text *text,
		  const struct tr_strace_line *line)
{
	const char *arguments = line->name.data + line->name.len + 1;
	const char *second = find_second(*text, line, arguments);
	struct tr_text rest = tr_text_span(second, text->data + text->len);
	struct tr_strace_line next, begun = *line;

	tr_strace_line_read(rest, &next);
	if (next.has_pid != line->has_pid || next.pid != line->pid ||
	    (next.type != TR_STRACE_RESUMED && next.type != TR_STRACE_LEFT &&
	     next.type != TR_STRACE_SUPERSEDED && next.type != TR_STRACE_EXITED &&
	     next.type != TR_STRACE_KILLED))
		return false;
	begun.type = TR_STRACE_BEGUN;
	begun.arguments = tr_text_span(arguments, second);
	struct tr_task *task = tr_strace_task(reader, &begun);
	if (task)
		tr_strace_call_begin(reader, task, &begun);
	*text = rest;
	return true;
}

/*
 * Takes the line as the end of the call on the line before. The text is appended for a trial,
 * because only both together show whether the call is complete. False: it is not.
 */
static bool take_second_half(struct tr_strace_reader *reader, struct tr_text text)
{
	struct tr_task *task = tr_tasks_find(&reader->tasks, reader->repair.begun_tid);
	struct tr_strace_call *call = task ? task->state : NULL;

	if (!call || !call->open)
		return false;
	size_t before = call->len;
	if (!tr_strace_call_append(reader, call, text))
		return false;
	struct tr_strace_line line = { .type = TR_STRACE_RESUMED,
				       .name = tr_strace_call_name(call) };
	bool whole = tr_strace_body_finish(tr_strace_call_arguments(call), &line);
	call->len = before;
	if (!whole)
		return false;
	line.arguments = text;
	tr_strace_resume(reader, task, &line, text);
	return true;
}

/*
 * Repairs a line that should be two, or is the second half of a call. True: it has been read,
 * except for what *text is then.
 */
static bool repair(struct tr_strace_reader *reader, struct tr_text *text,
		   const struct tr_strace_line *line)
{
	bool cut = line->type == TR_STRACE_CUT;
	bool unseen = line->type == TR_STRACE_CALL && *line->name.data == '?';

	if ((cut || unseen) && split(reader, text, line))
		return true;
	if ((cut || line->type == TR_STRACE_UNKNOWN) && !line->has_pid &&
	    reader->repair.begun_line && reader->repair.begun_line + 1 == reader->here.line &&
	    take_second_half(reader, *text)) {
		text->len = 0;
		return true;
	}
	return false;
}

/* Emits the record of a signal. */
static void put_signal(struct tr_strace_reader *reader, const struct tr_task *task,
		       const struct tr_strace_line *line)
{
	bool cut = false;

	tr_strace_begin(reader, "signal", &reader->here, task);
	tr_buffer_put_text(&reader->out.head, line->name);
	if (line->type == TR_STRACE_STOPPED) {
		tr_buffer_put_literal(&reader->out.head, "\tstopped=true");
	} else if (line->arguments.len) {
		tr_buffer_put_literal(&reader->out.head, "\tinfo=");
		tr_strace_value(line->arguments, &reader->out.head, &cut);
	}
	tr_strace_put_frames(reader, NULL);
	tr_strace_emit(reader, task, 0);
}

/* Reads a line, without its LF, into which no message was printed. */
static void read_line(struct tr_strace_reader *reader, struct tr_text text)
{
	struct tr_strace_line line;
	struct tr_task *task = NULL;

	if (reader->in_table && tr_strace_is_row(text))
		return;
	tr_strace_line_read(text, &line);
	reader->here.time_len = tr_strace_time(&reader->clock, &line, reader->here.time);
	reader->in_table = line.type == TR_STRACE_TABLE;
	if (repair(reader, &text, &line)) {
		if (text.len)
			read_line(reader, text); /* it ends a call and needs no repair */
		return;
	}
	if (line.type < TR_STRACE_ATTACHED && !(task = tr_strace_task(reader, &line)))
		return;
	switch (line.type) {
	case TR_STRACE_CALL:
	case TR_STRACE_DETACHED:
		tr_strace_call_whole(reader, task, &line);
		break;
	case TR_STRACE_BEGUN:
		reader->repair.begun_tid = task->tid;
		reader->repair.begun_line = reader->here.line;
		tr_strace_call_begin(reader, task, &line);
		break;
	case TR_STRACE_PID_CHANGED:
		task = tr_strace_call_begin(reader, task, &line);
		if (task)
			tr_strace_change_pid(reader, task, line.number);
		break;
	case TR_STRACE_RESUMED:
		tr_strace_resume(reader, task, &line, text);
		break;
	case TR_STRACE_LEFT:
		tr_strace_abandon(reader, task);
		break;
	case TR_STRACE_SUPERSEDED: {
		struct tr_task *thread = tr_tasks_find(&reader->tasks, line.number);
		if (thread)
			tr_strace_move_exec(reader, thread, task);
		break;
	}
	case TR_STRACE_EXITED:
	case TR_STRACE_KILLED:
		tr_strace_exit(reader, task, &line);
		break;
	case TR_STRACE_SIGNAL:
	case TR_STRACE_STOPPED:
		if (tr_text_is(line.name, "SIGCHLD"))
			tr_strace_child_info(reader, task, line.arguments);
		put_signal(reader, task, &line);
		break;
	case TR_STRACE_ATTACHED:
		tr_strace_task_by_number(reader, line.number);
		break;
	case TR_STRACE_CUT:
		tr_strace_put_raw(reader, text, "an incomplete call");
		break;
	case TR_STRACE_UNKNOWN:
		tr_strace_put_raw(reader, text, "not a line of strace");
		break;
	case TR_STRACE_MESSAGE:
	case TR_STRACE_FRAME: /* of nothing that makes a record */
	case TR_STRACE_TABLE:
		break;
	}
}

/* Messages of strace within a line. */

/*
 * Returns the beginning of strace's name, which ends at name_end: "strace", "/usr/bin/strace".
 * NULL: another word is there.
 */
static const char *name_begin(const char *begin, const char *name_end)
{
	struct tr_text before = tr_text_span(begin, name_end);

	if (!tr_strace_chop(&before, TR_TEXT("strace")))
		return NULL;
	const char *p = begin + before.len, *name = p;
	if (p == begin || p[-1] != '/')
		return name;
	/* only from its first slash on is it certain that text belongs to the path */
	for (; p > begin && (tr_strace_is_name(p[-1]) || memchr("/.+-", p[-1], 4)); p--)
		if (p[-1] == '/')
			name = p - 1;
	while (name > begin && name[-1] == '.')
		name--;
	return name;
}

/* The beginning of a message in "clone(...strace: Process 7 attached"; NULL: there is none. */
static const char *find_message(struct tr_text line)
{
	struct tr_text head = line;

	if (!tr_strace_chop(&head, TR_TEXT(" attached")))
		return NULL;
	while (head.len && tr_is_digit(head.data[head.len - 1]))
		head.len--;
	if (!tr_strace_chop(&head, TR_TEXT(": Process ")))
		return NULL;
	return name_begin(head.data, head.data + head.len);
}

/* Reads a line, or only the message that was printed into it, and keeps the rest. */
static void take_apart(struct tr_strace_reader *reader, struct tr_text line)
{
	struct tr_buffer *head = &reader->repair.head;
	const char *message = find_message(line);

	if (!message || message == line.data) {
		read_line(reader, line);
		return;
	}
	read_line(reader, tr_text_span(message, line.data + line.len));
	tr_buffer_reset(head);
	tr_buffer_put(head, line.data, (size_t)(message - line.data));
	reader->out_of_memory |= head->failed;
}

/* Joins the line with the one that lacks its rest. False: together they are no call. */
static bool join(struct tr_strace_reader *reader, struct tr_text text)
{
	struct tr_buffer *head = &reader->repair.head, whole;
	struct tr_strace_line line;
	size_t before = head->len;

	tr_buffer_put_text(head, text);
	reader->out_of_memory |= head->failed;
	tr_strace_line_read(tr_buffer_text(head), &line);
	if (head->failed ||
	    (line.type > TR_STRACE_RESUMED && !find_message(tr_buffer_text(head)))) {
		head->len = before;
		return false;
	}
	whole = *head;
	*head = (struct tr_buffer)TR_BUFFER_INIT;
	take_apart(reader, tr_buffer_text(&whole));
	tr_buffer_free(&whole);
	return true;
}

/* Reads a line that comes before the rest of another one, or is that rest. False: neither. */
static bool take_between(struct tr_strace_reader *reader, struct tr_text text)
{
	struct tr_strace_line line;

	tr_strace_line_read(text, &line);
	switch (line.type) {
	case TR_STRACE_MESSAGE:
	case TR_STRACE_FRAME:
	case TR_STRACE_ATTACHED:
		read_line(reader, text);
		return true;
	case TR_STRACE_UNKNOWN:
	case TR_STRACE_CUT:
		if (line.has_pid || reader->repair.pieces++ == PIECES)
			return false;
		if (!join(reader, text))
			read_line(reader, text); /* output of a program */
		return true;
	default:
		return false; /* strace marks calls that are interrupted by others */
	}
}

/* Reads the kept beginning of a line as it is, because no rest of it comes. */
static void end_head(struct tr_strace_reader *reader)
{
	if (reader->repair.head.len)
		read_line(reader, tr_buffer_text(&reader->repair.head));
	tr_buffer_reset(&reader->repair.head);
}

static bool lacks_memory(const struct tr_strace_reader *reader)
{
	return reader->out_of_memory || reader->tasks.origins.failed;
}

/* Takes a whole line at reader->here, as it is or as the rest of another one. */
static void take_line(struct tr_strace_reader *reader, struct tr_text line)
{
	if (reader->repair.head.len && take_between(reader, line))
		return;
	end_head(reader);
	reader->repair.pieces = 0;
	take_apart(reader, line);
}

/* Takes the line that is kept, with the frames that followed it. */
static void take_kept(struct tr_strace_reader *reader)
{
	struct tr_strace_stack *stack = &reader->stack;
	struct tr_strace_origin here = reader->here;

	if (!stack->kept)
		return;
	stack->kept = false;
	reader->here.line = stack->source_line;
	reader->here.offset = stack->source_offset;
	take_line(reader, tr_buffer_text(&stack->line));
	tr_buffer_reset(&stack->list);
	reader->here = here;
}

/*
 * Reads one line, or what remains at the end of the input. A step takes one line only, because each
 * may leave a message.
 */
static enum tr_status step(struct tr_strace_reader *reader, struct tr_error *err)
{
	struct tr_text line;
	bool ended, kept = reader->stack.kept;

	if (kept && !tr_strace_may_have_frames(reader)) {
		take_kept(reader);
		return lacks_memory(reader) ? tr_error_memory(err) : TR_OK;
	}
	reader->here.line = reader->base.lines + 1;
	reader->here.offset = reader->base.in->offset;
	enum tr_status status = tr_reader_line(&reader->base, &line, &ended, err);
	if (status == TR_OK) {
		line.len -= line.len && line.data[line.len - 1] == '\r';
		if (!ended)
			reader->cut_line = reader->here.line;
		if (kept && tr_strace_add_frame(reader, line))
			return lacks_memory(reader) ? tr_error_memory(err) : TR_OK;
		take_kept(reader);
		if (kept || tr_strace_may_have_frames(reader))
			tr_strace_keep_line(reader, line);
		else
			take_line(reader, line);
	} else if (status == TR_END) {
		reader->ended = true;
		take_kept(reader);
		end_head(reader);
		tr_strace_flush(reader);
	} else {
		return status;
	}
	return lacks_memory(reader) ? tr_error_memory(err) : TR_OK;
}

static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	enum { SOON = 20 /* milliseconds */ };
	struct tr_strace_reader *reader = tr_container(base, struct tr_strace_reader, base);
	enum tr_status status;

	tr_arena_reset(&base->arena);
	while ((status = tr_reader_due(base, record, err)) == TR_END) {
		/* strace writes a stack at once, and most logs have none */
		if (reader->stack.kept && !reader->stack.ids.count &&
		    tr_reader_pauses(base, SOON)) {
			take_kept(reader);
			if (lacks_memory(reader))
				return tr_error_memory(err);
			continue;
		}
		/* no record must wait for input that may never come */
		bool forced = reader->ended || ((reader->out.queue.count || reader->stack.kept) &&
						tr_reader_is_idle(base));
		if (forced)
			take_kept(reader);
		if (tr_strace_next_pending(reader, forced))
			status = lacks_memory(reader) ? tr_error_memory(err) : TR_OK;
		else if (reader->ended)
			return tr_reader_note_orphans(base, reader->out.orphans,
						      "executions whose parent is not in the trace",
						      err);
		else
			status = step(reader, err);
		if (status != TR_OK)
			return status;
	}
	return status;
}

static void close_reader(struct tr_reader *base)
{
	struct tr_strace_reader *reader = tr_container(base, struct tr_strace_reader, base);

	tr_strace_records_free(&reader->out);
	tr_tasks_free(&reader->tasks);
	tr_strace_exec_free(&reader->exec);
	tr_buffer_free(&reader->cwd);
	tr_buffer_free(&reader->bytes);
	tr_buffer_free(&reader->repair.head);
	tr_strace_stack_free(&reader->stack);
}

/*
 * The files of -ff as one log: all lines in the order of their times, each with the number of its
 * process as prefix. Without times, and among equal ones, the lines of a child follow the call that
 * created it.
 */

/*
 * Returns the number that the name of a file ends in: strace -ff -o LOG writes LOG.PID. -1: there
 * is none.
 */
static int64_t number_of(const char *name)
{
	const char *dot = name ? strrchr(name, '.') : NULL, *p = dot ? dot + 1 : NULL;
	const char *end = p ? p + strlen(p) : NULL;
	unsigned long long n;

	if (!p || !tr_strace_digits(&p, end, &n) || p != end || n > INT32_MAX)
		return -1;
	return (int64_t)n;
}

/* Reads the prefix of the first line. False: the file is empty or cannot be read. */
static bool read_first(struct tr_input *in, struct tr_strace_line *line)
{
	struct tr_text text;
	struct tr_error err;

	if (tr_input_line(in, &text, &err) != TR_OK)
		return false;
	tr_strace_prefix_read(text, line);
	return true;
}

/* A file whose lines begin with a pid is a whole log, even if its name ends in a number. */
static int64_t part(const struct tr_read_config *config, struct tr_input *in)
{
	struct tr_strace_line line;
	int64_t number = number_of(config->name);

	return number >= 0 && read_first(in, &line) && !line.has_pid ? number : -1;
}

/* Takes the time from the prefix of a line. Relative times are not comparable between files. */
static void take_time(const struct tr_strace_line *line, struct tr_line_merge_time *time)
{
	unsigned long long seconds;
	const char *p = line->time.data, *end;

	if (line->clock != TR_STRACE_DAY && line->clock != TR_STRACE_EPOCH)
		return; /* relative times are those of one process */
	end = p + line->time.len;
	if (line->clock == TR_STRACE_DAY) {
		seconds = tr_strace_day_seconds(time->seconds, line->time);
		p += sizeof "HH:MM:SS" - 1;
	} else if (!tr_strace_digits(&p, end, &seconds)) {
		return;
	}
	time->seconds = seconds;
	time->fraction = tr_strace_nanoseconds(p, end);
}

/* Sets the time of a line; a line without one keeps the time of the line before. */
static void look(struct tr_text text, struct tr_line_merge_time *time)
{
	struct tr_strace_line line;

	tr_strace_prefix_read(text, &line);
	take_time(&line, time);
}

/*
 * Returns the effect of the line on other tasks, and the number of that task. Without times the
 * merge puts the lines of a child after the call that created it, and a superseded leader after the
 * lines of the thread whose exec ended it. Most lines have no effect, which their beginning shows.
 */
static enum tr_line_merge_act act(struct tr_text text, uint64_t *number)
{
	struct tr_strace_line line;
	unsigned long long child;

	tr_strace_prefix_read(text, &line);
	const char *p = line.body, *end = text.data + text.len;
	tr_strace_take(&p, end, TR_TEXT("??\?(")); /* another line follows on the same one */
	const char *name = p;
	while (p < end && tr_strace_is_name(*p))
		p++;
	bool forks = p < end && *p == '(' &&
		     tr_strace_syscall(tr_text_span(name, p))->effect == TR_STRACE_FORK;
	if (!forks && !tr_strace_take(&p, end, TR_TEXT("+++ superseded")))
		return TR_LINE_NOTHING;
	tr_strace_line_read(tr_text_span(name, end), &line);
	*number = line.number;
	if (line.type == TR_STRACE_SUPERSEDED)
		return TR_LINE_NEEDS;
	if (line.type != TR_STRACE_CALL || !tr_strace_succeeded(&line.result) ||
	    !tr_strace_number(line.result.value, &child))
		return TR_LINE_NOTHING;
	*number = child;
	return TR_LINE_CALLS;
}

enum { NO_TIME_OF_DAY = TR_STRACE_DAY_SECONDS };

/* Ascending. */
static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Returns the time of day at which the log begins. A time of day has no date: processes that began
 * after a midnight belong to the next day. The log begins after the longest time in which none
 * began, if that is most of a day. 0: there is no midnight. `starts` gets sorted.
 */
static uint64_t find_beginning(uint64_t *starts, size_t count)
{
	enum { MOST_OF_A_DAY = 16 * 60 * 60 };
	uint64_t longest = MOST_OF_A_DAY, beginning = 0;

	qsort(starts, count, sizeof *starts, by_number);
	for (size_t i = 1; i < count && starts[i] != NO_TIME_OF_DAY; i++) {
		if (starts[i] - starts[i - 1] < longest)
			continue;
		longest = starts[i] - starts[i - 1];
		beginning = starts[i];
	}
	return beginning;
}

/* Describes the parts. *timed: there are times. False: memory is exhausted. */
static bool describe(struct tr_input *const *parts, const int64_t *numbers, size_t count,
		     struct tr_line_merge_part *list, bool *timed)
{
	uint64_t *starts = calloc(count, 2 * sizeof *starts), *sorted = starts + count;

	if (!starts)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct tr_line_merge_time time = { 0, 0, 0 };
		struct tr_strace_line line = { .clock = TR_STRACE_NO_CLOCK };
		if (read_first(parts[i], &line))
			take_time(&line, &time);
		*timed = *timed || time.seconds || time.fraction;
		starts[i] = line.clock == TR_STRACE_DAY ? time.seconds : NO_TIME_OF_DAY;
		list[i].in = parts[i];
		list[i].number = list[i].time.rank = (uint64_t)numbers[i];
		snprintf(list[i].prefix, sizeof list[i].prefix, "%lld ", (long long)numbers[i]);
	}
	memcpy(sorted, starts, count * sizeof *starts);
	uint64_t beginning = find_beginning(sorted, count);
	for (size_t i = 0; i < count; i++)
		if (starts[i] < beginning)
			list[i].time.seconds = TR_STRACE_DAY_SECONDS;
	free(starts);
	return true;
}

static struct tr_source *merge(struct tr_input *const *parts, const int64_t *numbers, size_t count)
{
	struct tr_line_merge_part *list = calloc(count, sizeof *list);
	struct tr_source *source = NULL;
	bool timed = false;

	if (list && describe(parts, numbers, count, list, &timed))
		source = tr_line_merge_new(list, count, look);
	else
		for (size_t i = 0; i < count; i++)
			tr_input_free(parts[i]);
	free(list);
	if (source)
		tr_line_merge_tasks(source, timed, act);
	return source;
}

static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	struct tr_strace_reader *reader;

	reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);
	if (!reader)
		return NULL;
	if (!tr_setting_get_directory(&config->settings, "cwd", false, &reader->cwd, err)) {
		tr_reader_free(&reader->base);
		return NULL;
	}
	tr_buffer_limit(&reader->out.head, reader->base.max_record);
	tr_buffer_limit(&reader->base.line, reader->base.max_record);
	if (config->as_text)
		reader->base.text_out = config->text_out;
	reader->keep_failed = tr_text_is(tr_setting_get(&config->settings, "failed", "no"), "yes");
	reader->bare = reader->file_pid = TR_STRACE_NO_PID;
	int64_t pid = part(config, in);
	if (pid >= 0)
		reader->file_pid = (uint64_t)pid;
	reader->tasks.release = tr_strace_state_release;
	reader->stack.ids = (struct tr_map)TR_MAP_INIT;
	return &reader->base;
}

static const char *const extensions[] = { ".strace", NULL };

static const struct tr_format_option options[] = {
	{ "cwd", "DIR", true, false, "the directory in which the first process starts" },
	{ "failed", "no|yes", true, false,
	  "keep failed executions, with their error (default no)" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_strace = {
	.name = "strace",
	.summary = "system calls as strace prints them",
	.exact = "-",
	.flags = TR_FORMAT_READS,
	.extensions = extensions,
	.options = options,
	.bid = bid,
	.open = open_reader,
	.part = part,
	.merge = merge,
	.default_style = "tree",
};
