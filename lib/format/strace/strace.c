/* SPDX-License-Identifier: MIT */
/* The format's description, the bid, and the loop from line to record. */
#include "format/strace/strace.h"

#include <string.h>

#include "format/strace/text.h"

enum {
	PROBE = 64 << 10, /* bytes for the bid; a line of execve may be longer */
	LINES = 8,
	BITS_PREFIXED = 12, /* a call after a number or a time */
	BITS_BARE = 6,	    /* a call without one, which source code resembles */
	BITS_UNKNOWN = 1,   /* a call, but not of a system call */
	BITS_EXEC = 20,
	ENOUGH = 60,
};

/* Nearly every log begins with `execve("/`. */
static int weigh_cut(const struct tr_strace_prefix *prefix, const char *end)
{
	const char *p = prefix->body;

	if (tr_strace_take(&p, end, TR_TEXT("execve(\"")) ||
	    tr_strace_take(&p, end, TR_TEXT("<... execve resumed>")))
		return BITS_EXEC;
	return 0;
}

static int weigh(struct tr_text line, bool whole)
{
	struct tr_strace_prefix prefix;
	struct tr_strace_body body;
	const char *end = line.data + line.len;

	tr_strace_prefix_read(line, &prefix);
	bool prefixed = prefix.has_pid || prefix.clock != TR_STRACE_NO_CLOCK;
	if (!whole)
		return weigh_cut(&prefix, end);
	tr_strace_body_read(tr_text_span(prefix.body, end), &body);
	switch (body.type) {
	case TR_STRACE_CALL:
	case TR_STRACE_BEGUN:
	case TR_STRACE_RESUMED:
		if (!tr_strace_argument_names(body.name))
			return prefixed || body.type != TR_STRACE_CALL ? BITS_UNKNOWN : 0;
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
		return weigh_cut(&prefix, end);
	}
}

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

static void close_reader(struct tr_reader *base)
{
	struct tr_strace_reader *reader = tr_container(base, struct tr_strace_reader, base);

	tr_strace_records_free(&reader->out);
	tr_tasks_free(&reader->tasks);
	tr_strace_exec_free(&reader->exec);
	tr_buffer_free(&reader->bytes);
	tr_buffer_free(&reader->repair.glued);
}

static void put_signal(struct tr_strace_reader *reader, const struct tr_task *task,
		       const struct tr_strace_body *body)
{
	bool cut = false;

	tr_strace_begin(reader, "signal", &reader->here, task);
	tr_buffer_put_text(&reader->out.head, body->name);
	if (body->type == TR_STRACE_STOPPED) {
		tr_buffer_put_literal(&reader->out.head, "\tstopped=true");
	} else if (body->arguments.len) {
		tr_buffer_put_literal(&reader->out.head, "\tinfo=");
		tr_strace_value(body->arguments, &reader->out.head, &cut);
	}
	tr_strace_emit(reader, task, 0);
}

static void act(struct tr_strace_reader *reader, struct tr_task *task, struct tr_strace_body *body,
		struct tr_text line)
{
	switch (body->type) {
	case TR_STRACE_CALL:
		tr_strace_call_whole(reader, task, body);
		break;
	case TR_STRACE_BEGUN:
		tr_strace_call_begin(reader, task, body);
		break;
	case TR_STRACE_PID_CHANGED:
		task = tr_strace_call_begin(reader, task, body);
		if (task)
			tr_strace_change_pid(reader, task, body->number);
		break;
	case TR_STRACE_DETACHED:
		task = tr_strace_abandon(reader, task);
		if (task)
			tr_strace_detached(reader, task, body->name, body->arguments);
		break;
	case TR_STRACE_RESUMED:
		tr_strace_resume(reader, task, body, line);
		break;
	case TR_STRACE_LEFT:
		tr_strace_abandon(reader, task);
		break;
	case TR_STRACE_SUPERSEDED: {
		struct tr_task *thread = tr_tasks_find(&reader->tasks, body->number);
		if (thread)
			tr_strace_move_exec(reader, thread, task);
		break;
	}
	case TR_STRACE_EXITED:
	case TR_STRACE_KILLED:
		tr_strace_exit(reader, task, body);
		break;
	default:
		if (tr_text_is(body->name, "SIGCHLD"))
			tr_strace_child_info(reader, task, body->arguments);
		put_signal(reader, task, body);
	}
}

void tr_strace_read_line(struct tr_strace_reader *reader, struct tr_text line)
{
	struct tr_strace_prefix prefix;
	struct tr_strace_body body;
	const char *end = line.data + line.len;

	if (reader->in_table && tr_strace_is_row(line))
		return;
	tr_strace_prefix_read(line, &prefix);
	reader->here.time_len = tr_strace_time(&reader->clock, &prefix, reader->here.time);
	tr_strace_body_read(tr_text_span(prefix.body, end), &body);
	reader->in_table = body.type == TR_STRACE_TABLE;
	if (tr_strace_mend(reader, &line, &prefix, &body)) {
		if (line.len)
			tr_strace_read_line(reader, line); /* it ends a call and needs no mending */
		return;
	}
	switch (body.type) {
	case TR_STRACE_MESSAGE:
	case TR_STRACE_TABLE:
		return;
	case TR_STRACE_ATTACHED:
		tr_strace_task_by_number(reader, body.number);
		return;
	case TR_STRACE_CUT:
		tr_strace_put_raw(reader, line, "a call that is cut");
		return;
	case TR_STRACE_UNKNOWN:
		tr_strace_put_raw(reader, line, "no line of strace's");
		return;
	default:
		break;
	}
	struct tr_task *task = tr_strace_task(reader, &prefix, &body);
	if (!task)
		return;
	if (body.type == TR_STRACE_BEGUN) {
		reader->repair.begun_tid = task->tid;
		reader->repair.begun_line = reader->here.line;
	}
	act(reader, task, &body, line);
}

static bool lacks_memory(const struct tr_strace_reader *reader)
{
	return reader->out_of_memory || reader->tasks.origins.failed;
}

/* Reads one line, or what remains at the end of the input. */
static enum tr_status step(struct tr_strace_reader *reader, struct tr_error *err)
{
	struct tr_text line;
	bool ended;

	reader->here.line = reader->base.lines + 1;
	reader->here.offset = reader->base.in->offset;
	enum tr_status status = tr_reader_line(&reader->base, &line, &ended, err);
	if (status == TR_OK) {
		tr_strace_take_line(reader, line);
	} else if (status == TR_END) {
		reader->ended = true;
		tr_strace_end_lines(reader);
		tr_strace_flush(reader);
	} else {
		return status;
	}
	return lacks_memory(reader) ? tr_error_memory(err) : TR_OK;
}

static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct tr_strace_reader *reader = tr_container(base, struct tr_strace_reader, base);
	enum tr_status status;

	tr_arena_reset(&base->arena);
	while ((status = tr_reader_due(base, record, err)) == TR_END) {
		/* a pending record must not wait for input that may never come */
		bool forced = reader->ended || (reader->out.queue.count && tr_reader_is_idle(base));
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

static struct tr_reader *tr_strace_open(const struct tr_read_config *config, struct tr_input *in,
					struct tr_error *err)
{
	struct tr_text cwd = tr_setting_get(&config->settings, "cwd", NULL);
	struct tr_strace_reader *reader;

	/* the directory that a relative one would start at is unknown */
	if (cwd.data && !tr_text_starts(cwd, TR_TEXT("/"))) {
		tr_error_set(err, TR_CAUSE_USAGE, "-O cwd takes an absolute path, not '%.*s'",
			     (int)(cwd.len < 80 ? cwd.len : 80), cwd.data);
		return NULL;
	}
	reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);
	if (!reader)
		return NULL;
	tr_strace_records_init(reader);
	reader->cwd = cwd;
	reader->keep_failed = tr_text_is(tr_setting_get(&config->settings, "failed", "no"), "yes");
	reader->bare = reader->file_pid = TR_STRACE_NOBODY;
	int64_t part = tr_strace_part(config, in);
	if (part >= 0)
		reader->file_pid = (uint64_t)part;
	reader->tasks.release = tr_strace_state_release;
	return &reader->base;
}

static const char *const extensions[] = { ".strace", NULL };

static const struct tr_format_option options[] = {
	{ "cwd", "DIR", true, false, "the directory in which the first process began" },
	{ "failed", "yes|no", true, false, "keep executions that failed, with their error (no)" },
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
	.open = tr_strace_open,
	.part = tr_strace_part,
	.merge = tr_strace_merge,
	.default_style = "tree",
};
