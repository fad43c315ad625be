#include <stdlib.h>
#include <string.h>

#include "format/strace/reader.h"
#include "format/strace/scan.h"
#include "format/strace/strace.h"
#include "format/strace/value.h"
#include "record/literal.h"

enum {
	IDLE = 1000, /* milliseconds: who has waited so long is not kept any longer */
};

struct tr_reader *tr_strace_open(const struct tr_read_config *config, struct tr_input *in,
				 struct tr_error *err)
{
	struct tr_text cwd = tr_setting_get(&config->settings, "cwd", NULL);
	struct tr_strace_reader *reader;

	/* what a directory would be relative to is not known here */
	if (cwd.data && !tr_text_starts(cwd, TR_TEXT("/"))) {
		tr_error_set(err, TR_CAUSE_USAGE, "-O cwd takes an absolute path, not '%.*s'",
			     (int)(cwd.len < 80 ? cwd.len : 80), cwd.data);
		return NULL;
	}
	reader = calloc(1, sizeof *reader);
	if (!reader) {
		tr_error_memory(err);
		return NULL;
	}
	reader->in = in;
	reader->limits = config->limits;
	reader->cwd = cwd;
	reader->keep_failed = tr_text_is(tr_setting_get(&config->settings, "failed", "no"), "yes");
	reader->bare = reader->file_pid = TR_STRACE_NOBODY;
	if (tr_strace_part(config, in) >= 0)
		tr_strace_name_number(config->name, &reader->file_pid);
	reader->tasks.release = tr_strace_state_release;
	return (struct tr_reader *)reader;
}

void tr_strace_close(struct tr_reader *base)
{
	struct tr_strace_reader *reader = (struct tr_strace_reader *)base;

	tr_strace_hold_free(&reader->hold);
	tr_tasks_free(&reader->tasks);
	tr_strace_exec_free(&reader->exec);
	tr_buffer_free(&reader->head);
	tr_buffer_free(&reader->scratch);
	tr_buffer_free(&reader->bytes);
	tr_buffer_free(&reader->whole);
	tr_buffer_free(&reader->glued);
	tr_buffer_free(&reader->line);
	tr_arena_free(&reader->arena);
	free(reader);
}

/* Hands out reader->line, which is whole. */
static enum tr_status deliver(struct tr_strace_reader *reader, struct tr_record **record,
			      struct tr_error *err)
{
	reader->have = false;
	/* whoever scans the line with wide loads finds readable bytes behind it */
	if (!tr_buffer_room(&reader->line, TR_INPUT_PAD) || reader->line.failed)
		return tr_error_memory(err);
	tr_record_init(&reader->record, &reader->arena);
	if (!tr_record_from_line(&reader->record, tr_buffer_text(&reader->line), err))
		return TR_FATAL;
	reader->record.canonical = true;
	reader->record.source_line = reader->line_source;
	reader->record.source_offset = reader->line_offset;
	*record = &reader->record;
	return TR_OK;
}

static void complain(struct tr_strace_reader *reader, const char *what)
{
	tr_error_say(&reader->trouble, TR_CAUSE_INPUT, what);
	tr_error_at_line(&reader->trouble, reader->here.line);
}

static void put_raw(struct tr_strace_reader *reader, struct tr_text text, const char *reason)
{
	struct tr_strace_time none = { .len = 0 };

	tr_strace_begin(reader, "raw", &none, TR_STRACE_NOBODY);
	tr_buffer_put_literal(&reader->head, "-\ttext=\"");
	tr_string_escape(text, &reader->head);
	tr_buffer_put_literal(&reader->head, "\"\treason=\"");
	tr_buffer_put_text(&reader->head, tr_text_from(reason));
	tr_buffer_put_byte(&reader->head, '"');
	tr_strace_emit(reader, &reader->here);
	tr_error_say_in(&reader->trouble, TR_CAUSE_INPUT, reason, "%s: kept as a raw record",
			reason);
	tr_error_at_line(&reader->trouble, reader->here.line);
}

void tr_strace_resume(struct tr_strace_reader *reader, struct tr_task *task,
		      struct tr_strace_body *body, struct tr_text line)
{
	bool exec = tr_strace_is_exec(body->name);
	struct tr_text nothing = { NULL, 0 };

	if (exec)
		tr_strace_take_exec(reader, task);
	struct tr_strace_call *call = task->state;
	bool mine = call && call->open && tr_text_equal(tr_strace_call_name(call), body->name);
	if (!mine) {
		/* its beginning is not in the log */
		if (call)
			task = tr_strace_abandon(reader, task);
		if (!task)
			return;
		if (!tr_strace_body_finish(body->arguments, body))
			put_raw(reader, line, "a call that is cut");
		else if (!exec)
			tr_strace_call_done(reader, task, body->name, body->arguments,
					    body->broken ? NULL : &body->result, &reader->here,
					    TR_STRACE_FLAG_BEGIN_LOST);
		else if (body->result.value.data)
			tr_strace_exec_done(reader, task, body->name, nothing, &reader->here);
		return;
	}
	struct tr_buffer *both = &reader->whole;

	tr_buffer_reset(both);
	tr_buffer_put(both, call->text, call->len);
	tr_buffer_put_text(both, body->arguments);
	reader->out_of_memory |= both->failed;
	if (both->failed)
		return;
	struct tr_text text = tr_buffer_text(both);
	struct tr_text name = { text.data, call->name_len };
	struct tr_text rest = { text.data + name.len, text.len - name.len };
	struct tr_text more = body->arguments;
	bool whole = tr_strace_body_close(more, body);
	if (whole)
		body->arguments = (struct tr_text){ rest.data, rest.len - more.len };
	else
		whole = tr_strace_body_finish(rest, body);
	if (!whole)
		complain(reader, "a call whose end is cut");
	call->open = false;
	if (call->proven)
		tr_strace_exec_done(reader, task, name, whole ? body->arguments : rest,
				    &call->begin);
	else
		tr_strace_call_done(reader, task, name, whole ? body->arguments : rest,
				    whole && !body->broken ? &body->result : NULL, &call->begin, 0);
	/* the task may be gone, but not after an exec or a fork of its own */
	tr_strace_call_close(call);
}

static void put_signal(struct tr_strace_reader *reader, const struct tr_task *task,
		       const struct tr_strace_body *body)
{
	bool cut = false;

	tr_strace_begin(reader, "signal", &reader->here.time, task->tid);
	tr_buffer_put_text(&reader->head, body->name);
	if (body->type == TR_STRACE_STOPPED) {
		tr_buffer_put_literal(&reader->head, "\tstopped=true");
	} else if (body->arguments.len) {
		tr_buffer_put_literal(&reader->head, "\tinfo=");
		tr_strace_value(body->arguments, &reader->head, &reader->scratch, &cut);
	}
	tr_strace_put_tgid(reader, task);
	tr_strace_emit(reader, &reader->here);
}

static void act(struct tr_strace_reader *reader, struct tr_task *task, struct tr_strace_body *body,
		struct tr_text line)
{
	switch (body->type) {
	case TR_STRACE_CALL:
		task = tr_strace_abandon(reader, task);
		if (!task)
			break;
		tr_strace_call_done(reader, task, body->name, body->arguments,
				    body->broken ? NULL : &body->result, &reader->here, 0);
		break;
	case TR_STRACE_BEGUN:
		tr_strace_call_begin(reader, task, body);
		break;
	case TR_STRACE_PID_CHANGED:
		task = tr_strace_call_begin(reader, task, body);
		if (task)
			tr_strace_change_pid(reader, task, body->number);
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
			tr_strace_take_over(reader, thread, task);
		break;
	}
	case TR_STRACE_EXITED:
	case TR_STRACE_KILLED:
		tr_strace_exit(reader, task, body);
		break;
	default:
		if (tr_text_is(body->name, "SIGCHLD"))
			tr_strace_claim(reader, task, body->arguments);
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
	reader->here.time.len = tr_strace_time(&reader->clock, &prefix, reader->here.time.text);
	tr_strace_body_read(tr_text_span(prefix.body, end), &body);
	reader->in_table = body.type == TR_STRACE_TABLE;
	if (tr_strace_mend(reader, line, &prefix, &body))
		return;
	switch (body.type) {
	case TR_STRACE_MESSAGE:
	case TR_STRACE_TABLE:
		return;
	case TR_STRACE_ATTACHED:
		tr_strace_task_by_number(reader, body.number);
		return;
	case TR_STRACE_CUT:
		put_raw(reader, line, "a call that is cut");
		return;
	case TR_STRACE_UNKNOWN:
		put_raw(reader, line, "no line of strace's");
		return;
	default:
		break;
	}
	struct tr_task *task = tr_strace_task(reader, &prefix, &body);
	if (!task)
		return;
	if (body.type == TR_STRACE_BEGUN)
		reader->begun = (struct tr_strace_begun){ task->tid, reader->here.line };
	act(reader, task, &body, line);
}

/*
 * A record that waits for a parent must not wait for input that may never come.
 * The time is so long that no pipe from a program at work reaches it.
 */
static bool is_idle(struct tr_strace_reader *reader)
{
	size_t available = tr_input_available(reader->in);

	return reader->hold.count && !(available && memchr(reader->in->pos, '\n', available)) &&
	       tr_input_idle(reader->in, IDLE);
}

static bool lacks_memory(const struct tr_strace_reader *reader)
{
	return reader->out_of_memory || reader->tasks.origins.failed;
}

/* Reads one line. TR_OK: go on; TR_END: there is none. */
static enum tr_status step(struct tr_strace_reader *reader, struct tr_error *err)
{
	struct tr_text line;

	reader->here.line++;
	reader->here.offset = reader->in->offset;
	enum tr_status status = tr_input_line(reader->in, &line, err);
	if (status == TR_WARN)
		tr_error_at_line(err, reader->here.line);
	if (status == TR_END) {
		reader->ended = true;
		tr_strace_take_rest(reader);
		tr_strace_flush(reader);
		return lacks_memory(reader) ? tr_error_memory(err) : TR_OK;
	}
	if (status != TR_OK)
		return status;
	bool ended = line.data[line.len - 1] == '\n';
	tr_strace_take_line(reader, (struct tr_text){ line.data, line.len - ended });
	tr_input_skip(reader->in, line.len);
	return lacks_memory(reader) ? tr_error_memory(err) : TR_OK;
}

static enum tr_status end(struct tr_strace_reader *reader, struct tr_error *err)
{
	if (!reader->orphans || reader->told_orphans)
		return TR_END;
	reader->told_orphans = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "executions whose parent is not in the trace (flagged \"orphan\"): %llu",
		     (unsigned long long)reader->orphans);
	tr_error_is_note(err);
	return TR_WARN;
}

enum tr_status tr_strace_next(struct tr_reader *base, struct tr_record **record,
			      struct tr_error *err)
{
	struct tr_strace_reader *reader = (struct tr_strace_reader *)base;

	tr_arena_reset(&reader->arena);
	for (;;) {
		if (reader->trouble.cause) {
			*err = reader->trouble;
			tr_error_clear(&reader->trouble);
			return TR_WARN;
		}
		if (reader->have)
			return deliver(reader, record, err);
		struct tr_strace_item *item =
			tr_strace_hold_ready(&reader->hold, reader->ended || is_idle(reader));
		if (item) {
			tr_buffer_reset(&reader->line);
			tr_strace_item_line(item, &reader->scratch, &reader->line);
			reader->line_source = item->source_line;
			reader->line_offset = item->source_offset;
			reader->orphans += tr_strace_item_is_orphan(item);
			tr_strace_hold_pop(&reader->hold);
			if (lacks_memory(reader))
				return tr_error_memory(err);
			return deliver(reader, record, err);
		}
		if (reader->ended)
			return end(reader, err);
		enum tr_status status = step(reader, err);
		if (status != TR_OK)
			return status;
	}
}
