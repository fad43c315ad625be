/* SPDX-License-Identifier: MIT */
/* Calls as they begin, continue and return: their records, and their effects on tasks. */
#include "format/strace/strace.h"
#include "format/strace/text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/text.h"
#include "record/literal.h"
#include "record/record.h"

/* Records. */

/* Puts the key of the n-th argument and moves *names on. */
static void put_key(struct tr_strace_reader *reader, const char **names, unsigned n)
{
	struct tr_buffer *to = &reader->out.head;
	const char *name = *names;

	tr_buffer_put_byte(to, '\t');
	if (!name || !*name) {
		tr_buffer_put_byte(to, 'a');
		tr_buffer_put_decimal(to, n);
	} else {
		size_t len = strcspn(name, " ");
		tr_buffer_put(to, name, len);
		*names = name[len] ? name + len + 1 : "";
	}
	tr_buffer_put_byte(to, '=');
}

/* Removes the name that strace prints itself from an argument: "flags=A|B". */
static bool own_name(struct tr_text *argument, struct tr_text *name)
{
	const char *p = argument->data, *end = p + argument->len;

	while (p < end && ((*p >= 'a' && *p <= 'z') || *p == '_' ||
			   (p > argument->data && *p >= '0' && *p <= '9')))
		p++;
	if (p == argument->data || p == end || *p != '=')
		return false;
	*name = tr_text_span(argument->data, p);
	*argument = tr_text_span(p + 1, end);
	return true;
}

static unsigned count_arguments(struct tr_text arguments)
{
	const char *p = arguments.data, *end = p + arguments.len;
	unsigned count = 0;

	while ((p = tr_strace_skip(p, end)) < end) {
		count++;
		p = tr_strace_item_end(p, end);
		p += p < end;
	}
	return count;
}

/* If only the last arguments of a call are in the log, their names are the last ones. */
static const char *last_names(const char *names, struct tr_text arguments, bool last)
{
	unsigned known = 1, there;

	if (!names || !last)
		return names;
	for (const char *p = names; *p; p++)
		known += *p == ' ';
	for (there = count_arguments(arguments); known > there; known--)
		names += strcspn(names, " ") + (known > 1);
	return names;
}

/* Puts all arguments as fields. *cut is set if strace left out a part. */
static void put_arguments(struct tr_strace_reader *reader, struct tr_text name,
			  struct tr_text arguments, bool *cut, bool last)
{
	const char *names = last_names(tr_strace_argument_names(name), arguments, last);
	const char *p = tr_strace_skip(arguments.data, arguments.data + arguments.len);
	const char *end = arguments.data + arguments.len;

	for (unsigned n = 0; p < end; n++) {
		const char *stop = tr_strace_item_end(p, end);
		struct tr_text text = tr_text_span(p, stop), own;
		if (own_name(&text, &own)) {
			tr_buffer_put_byte(&reader->out.head, '\t');
			tr_buffer_put_text(&reader->out.head, own);
			tr_buffer_put_byte(&reader->out.head, '=');
		} else {
			put_key(reader, &names, n);
		}
		tr_strace_value(text, &reader->out.head, cut);
		if (stop == end)
			break;
		p = tr_strace_skip(stop + 1, end);
	}
}

static void put_field(struct tr_strace_reader *reader, const char *key, struct tr_text value)
{
	bool cut = false;

	tr_buffer_put_text(&reader->out.head, tr_text_from(key));
	tr_strace_value(value, &reader->out.head, &cut);
}

static void put_string_field(struct tr_strace_reader *reader, const char *key, struct tr_text value)
{
	tr_buffer_put_text(&reader->out.head, tr_text_from(key));
	tr_buffer_put_byte(&reader->out.head, '"');
	tr_string_escape(value, &reader->out.head);
	tr_buffer_put_byte(&reader->out.head, '"');
}

/* Puts "0.000123" as a REAL. The stream has one spelling of it, which may differ. */
static void put_duration(struct tr_strace_reader *reader, struct tr_text time)
{
	uint64_t bits;
	char spelled[TR_REAL_MAX];
	const char *p = time.data, *end = p + time.len;
	unsigned dots = 0;

	for (; p < end && ((*p >= '0' && *p <= '9') || *p == '.'); p++)
		dots += *p == '.';
	if (p < end || dots != 1 || *time.data == '.' || end[-1] == '.' ||
	    !tr_real64_read(time, &bits))
		return;
	tr_buffer_put_literal(&reader->out.head, "\tdur=");
	tr_buffer_put(&reader->out.head, spelled, tr_real64_write(bits, spelled));
}

static void put_result(struct tr_strace_reader *reader, const struct tr_strace_result *result)
{
	tr_buffer_put_literal(&reader->out.head, "\t->");
	if (result->value.data && !result->error.data)
		put_field(reader, "\treturn=", result->value);
	if (result->error.data)
		put_field(reader, "\terror=", result->error);
	if (result->info.data)
		put_string_field(reader, "\tinfo=", result->info);
	if (result->time.data)
		put_duration(reader, result->time);
}

/* Emits a sys record. */
static void put_sys(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
		    struct tr_text arguments, const struct tr_strace_result *result,
		    const struct tr_strace_origin *from, unsigned flags)
{
	bool cut = false;

	tr_strace_begin(reader, "sys", from, task);
	tr_buffer_put_text(&reader->out.head, name);
	put_arguments(reader, name, arguments, &cut, flags & TR_STRACE_FLAG_BEGIN_LOST);
	if (result)
		put_result(reader, result);
	flags |= cut ? TR_STRACE_FLAG_CUT : 0;
	flags |= result ? 0 : TR_STRACE_FLAG_UNFINISHED;
	tr_strace_emit(reader, task, flags);
}

static void put_fork(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
		     struct tr_text arguments, uint64_t child, const struct tr_strace_origin *from)
{
	struct tr_strace_call *call = task->state;
	uint64_t flags = tr_strace_clone_flags(name, arguments);
	struct tr_directory *directory =
		call && call->directory ? call->directory : task->place->directory;
	struct tr_task *last = tr_tasks_find(&reader->tasks, child);

	if (last && last != task && last->adopted) /* it has ended: its number is used again */
		tr_strace_end_task(reader, child);
	tr_strace_begin(reader, "fork", from, task);
	tr_buffer_put_literal(&reader->out.head, "-\tchild=");
	tr_buffer_put_decimal(&reader->out.head, child);
	tr_strace_put_clone_flags(flags, &reader->out.head);
	tr_strace_emit(reader, task, 0);
	reader->out_of_memory |= !tr_tasks_fork(&reader->tasks, task, directory, child, flags);
}

/* Emits the exec record of a call that succeeded, or failed with that result. */
static void put_exec(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
		     struct tr_text arguments, const struct tr_strace_origin *from,
		     const struct tr_strace_result *failure, unsigned flags)
{
	struct tr_strace_exec *exec = &reader->exec;
	struct tr_directory *seen_from = tr_directory_retain(task->place->directory);
	bool cut = false;

	tr_strace_begin(reader, "exec", from, task);
	tr_strace_exec_read(arguments, tr_text_is(name, "execveat"), exec, &reader->out.head);
	exec->flags |= flags;
	if (exec->fd.data) {
		const struct tr_strace_call *call = task->state;
		tr_directory_release(seen_from);
		seen_from = call && call->seen_from ? tr_directory_retain(call->seen_from)
						    : tr_strace_descriptor(reader, task, exec->fd);
		bool absolute = exec->path.len && *exec->path.data == '/';
		if (!seen_from && !absolute)
			exec->flags |= TR_STRACE_FLAG_FD_UNKNOWN;
		exec->named &= seen_from || exec->path.len;
	}
	if (failure) {
		tr_buffer_put_literal(&reader->out.head, "\terror=");
		tr_strace_value(failure->error, &reader->out.head, &cut);
	}
	tr_strace_emit_exec(reader, task, seen_from);
	tr_directory_release(seen_from);
}

/* Calls that are known as a whole. */

/* The exec succeeded. */
static void succeed(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
		    struct tr_text arguments, const struct tr_strace_origin *from, unsigned flags)
{
	uint64_t seq = reader->base.seq;

	tr_strace_place_exec(reader, task);
	tr_tasks_exec(&reader->tasks, task);
	put_exec(reader, task, name, arguments, from, NULL, flags);
	task->process->exec = seq;
	if (task->state)
		((struct tr_strace_call *)task->state)->lost_thread = false;
}

/* The same; arguments.data NULL: the beginning of the call is not in the log. */
static void exec_done(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
		      struct tr_text arguments, const struct tr_strace_origin *from)
{
	succeed(reader, task, name, arguments.data ? arguments : TR_TEXT(""), from,
		arguments.data ? 0 : TR_STRACE_FLAG_BEGIN_LOST);
}

/* The status in exit_group(N). */
static uint64_t exit_status(struct tr_text arguments)
{
	unsigned long long status;
	const char *p = arguments.data;
	bool negative = arguments.len && *p == '-';

	if (!tr_strace_number((struct tr_text){ p + negative, arguments.len - negative }, &status))
		return 0;
	return (negative ? 0 - status : status) & 0xff;
}

/* The call may have created a thread, but did not return its number. */
static void lose_thread(struct tr_strace_reader *reader, struct tr_task *task, uint64_t flags)
{
	struct tr_strace_call *call = tr_strace_state(reader, task);

	if (call)
		call->lost_thread |= flags & TR_FORK_THREAD;
}

/* A call that waits has returned the end of a child. */
static void look_at_child(struct tr_strace_reader *reader, struct tr_task *task,
			  struct tr_text name, struct tr_text arguments,
			  const struct tr_strace_result *result)
{
	unsigned long long child;

	if (tr_text_is(name, "waitid"))
		tr_strace_child_info(reader, task, tr_strace_argument(arguments, 2));
	else if (tr_strace_number(result->value, &child) && child > 0)
		tr_strace_child_status(reader, task, child, tr_strace_argument(arguments, 1));
}

/*
 * A call with this name and these arguments has returned; result NULL: it never will. flags: of
 * the record; BEGIN_LOST: only its last arguments are in the log.
 */
static void call_done(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
		      struct tr_text arguments, const struct tr_strace_result *result,
		      const struct tr_strace_origin *from, unsigned flags)
{
	unsigned long long child;

	tr_strace_infer_cwd(reader, task, name, arguments, result);
	if (result && tr_strace_is_exec(name)) {
		if (tr_strace_succeeded(result) && tr_text_is(result->value, "0"))
			exec_done(reader, task, name, arguments, from);
		else if (result->error.data && reader->keep_failed)
			put_exec(reader, task, name, arguments, from, result, 0);
		else if (!result->error.data)
			put_sys(reader, task, name, arguments, NULL, from, flags);
		return;
	}
	if (tr_strace_succeeded(result) && tr_strace_is_fork(name) &&
	    tr_strace_number(result->value, &child) && child > 0) {
		put_fork(reader, task, name, arguments, child, from);
		return;
	}
	if (tr_strace_is_fork(name) && !(result && (result->value.data || result->error.data)))
		lose_thread(reader, task, tr_strace_clone_flags(name, arguments));
	if (result && !result->error.data && tr_text_is(name, "exit_group")) {
		tr_strace_exit_group(reader, task, exit_status(arguments));
		return;
	}
	tr_strace_track_files(reader, task, name, arguments, result);
	put_sys(reader, task, name, arguments, result, from, flags);
	if (tr_strace_succeeded(result) && tr_text_starts(name, TR_TEXT("wait")))
		look_at_child(reader, task, name, arguments, result);
}

void tr_strace_detached(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
			struct tr_text arguments)
{
	/* -b execve detaches from those that succeed */
	if (tr_strace_is_exec(name))
		succeed(reader, task, name, arguments, &reader->here, TR_STRACE_FLAG_UNFINISHED);
	else
		call_done(reader, task, name, arguments, NULL, &reader->here, 0);
}

void tr_strace_call_whole(struct tr_strace_reader *reader, struct tr_task *task,
			  const struct tr_strace_body *body)
{
	task = tr_strace_abandon(reader, task);
	if (task)
		call_done(reader, task, body->name, body->arguments,
			  body->broken ? NULL : &body->result, &reader->here, 0);
}

/* Calls that begin on one line and return on another. */

/* Makes room for len bytes of text, and no more: there may be as many calls as there are tasks. */
static bool reserve(struct tr_strace_reader *reader, struct tr_strace_call *call, size_t len)
{
	char *text = len > call->cap ? realloc(call->text, len) : call->text;

	if (len <= call->cap)
		return true;
	if (!text) {
		reader->out_of_memory = true;
		return false;
	}
	*call->held += len - call->cap;
	call->text = text;
	call->cap = len;
	return true;
}

bool tr_strace_call_append(struct tr_strace_reader *reader, struct tr_strace_call *call,
			   struct tr_text text)
{
	if (!reserve(reader, call, call->len + text.len))
		return false;
	if (text.len)
		memcpy(call->text + call->len, text.data, text.len);
	call->len += text.len;
	return true;
}

/* Whether all open calls together take no more memory than a record may. */
static bool fits(struct tr_strace_reader *reader, const struct tr_strace_body *body)
{
	uint64_t limit = reader->base.max_record;

	if (reader->held + body->name.len + body->arguments.len <= limit)
		return true;
	tr_error_set(&reader->base.remark, TR_CAUSE_LIMIT,
		     "calls that have not returned take more than %" PRIu64
		     " bytes: this one is recorded as unfinished (--max-record raises it)",
		     limit);
	tr_error_at_line(&reader->base.remark, reader->here.line);
	return false;
}

struct tr_task *tr_strace_call_begin(struct tr_strace_reader *reader, struct tr_task *task,
				     const struct tr_strace_body *body)
{
	task = tr_strace_abandon(reader, task);
	struct tr_strace_call *call = task ? tr_strace_state(reader, task) : NULL;

	if (!call)
		return NULL;
	if (!fits(reader, body)) {
		call_done(reader, task, body->name, body->arguments, NULL, &reader->here, 0);
		return task;
	}
	call->len = 0;
	call->name_len = body->name.len;
	if (!reserve(reader, call, body->name.len + body->arguments.len) ||
	    !tr_strace_call_append(reader, call, body->name) ||
	    !tr_strace_call_append(reader, call, body->arguments))
		return NULL;
	call->open = true;
	call->begin = reader->here;
	/* another thread may get the number before this call returns */
	call->closed = tr_text_is(body->name, "close");
	if (call->closed)
		tr_strace_close_descriptor(reader, task, body->arguments);
	if (tr_strace_is_fork(body->name))
		call->directory = tr_directory_retain(task->place->directory);
	return task;
}

/* The arguments of an open call as far as they were printed. */
static struct tr_text arguments_of(const struct tr_strace_call *call)
{
	return (struct tr_text){ call->text + call->name_len, call->len - call->name_len };
}

/* The open call of the task is over, with these arguments; result NULL: it did not return. */
static void finish(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text arguments,
		   const struct tr_strace_result *result)
{
	struct tr_strace_call *call = task->state;
	struct tr_text name = tr_strace_call_name(call);

	call->open = false;
	if (call->proven)
		exec_done(reader, task, name, arguments, &call->begin);
	else
		call_done(reader, task, name, arguments, result, &call->begin, 0);
	/* neither an exec nor a fork of its own ends the task */
	tr_strace_call_close(call);
}

struct tr_task *tr_strace_abandon(struct tr_strace_reader *reader, struct tr_task *task)
{
	struct tr_strace_call *call = task->state;
	uint64_t tid = task->tid;

	if (!call || !call->open)
		return task;
	struct tr_task *leader =
		call->proven ? tr_tasks_find(&reader->tasks, task->process->pid) : NULL;
	bool is_thread = leader && leader != task;
	if (is_thread) {
		tr_strace_move_exec(reader, task, leader);
		task = leader;
		call = task->state;
	}
	finish(reader, task, arguments_of(call), NULL);
	/* an exec has ended the thread: another task may have its number now */
	return is_thread ? tr_strace_task_by_number(reader, tid) : task;
}

static void report_cut(struct tr_strace_reader *reader)
{
	tr_error_say(&reader->base.remark, TR_CAUSE_INPUT, "a call without its end");
	tr_error_at_line(&reader->base.remark, reader->here.line);
}

/* Takes the second half of a call whose first half is not in the log. */
static void take_second_half(struct tr_strace_reader *reader, struct tr_task *task,
			     struct tr_strace_body *body, struct tr_text line)
{
	const struct tr_text nothing = { NULL, 0 };

	if (!tr_strace_body_finish(body->arguments, body))
		tr_strace_put_raw(reader, line, "a call that is cut");
	else if (!tr_strace_is_exec(body->name))
		call_done(reader, task, body->name, body->arguments,
			  body->broken ? NULL : &body->result, &reader->here,
			  TR_STRACE_FLAG_BEGIN_LOST);
	else if (body->result.value.data)
		exec_done(reader, task, body->name, nothing, &reader->here);
}

void tr_strace_resume(struct tr_strace_reader *reader, struct tr_task *task,
		      struct tr_strace_body *body, struct tr_text line)
{
	if (tr_strace_is_exec(body->name))
		tr_strace_match_exec(reader, task);
	struct tr_strace_call *call = task->state;
	bool mine = call && call->open && tr_text_equal(tr_strace_call_name(call), body->name);
	if (!mine) {
		if (call)
			task = tr_strace_abandon(reader, task);
		if (task)
			take_second_half(reader, task, body, line);
		return;
	}
	if (!tr_strace_call_append(reader, call, body->arguments))
		return;
	body->name = tr_strace_call_name(call); /* it may have been in the text, which moves */
	struct tr_text rest = arguments_of(call);
	struct tr_text more = body->arguments;
	bool whole = tr_strace_body_close(more, body);
	if (whole)
		body->arguments = (struct tr_text){ rest.data, rest.len - more.len };
	else
		whole = tr_strace_body_finish(rest, body);
	if (!whole)
		report_cut(reader);
	finish(reader, task, whole ? body->arguments : rest,
	       whole && !body->broken ? &body->result : NULL);
}
