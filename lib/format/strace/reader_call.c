/* Calls that have come back: what they say of processes, and their records. */
#include "format/strace/reader.h"

#include "core/decimal.h"
#include "format/strace/clone_flags.h"
#include "format/strace/scan.h"
#include "format/strace/value.h"
#include "record/literal.h"
#include "record/record.h"

static void put_key(struct tr_strace_reader *reader, const char **names, unsigned n)
{
	struct tr_buffer *to = &reader->head;
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

/* "flags=A|B": strace names arguments itself where there are many forms of a call. */
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

/* Where only the last arguments are in the log, their names are the last, too. */
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

/* All arguments as fields. Sets cut where strace left something out. */
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
			tr_buffer_put_byte(&reader->head, '\t');
			tr_buffer_put_text(&reader->head, own);
			tr_buffer_put_byte(&reader->head, '=');
		} else {
			put_key(reader, &names, n);
		}
		tr_strace_value(text, &reader->head, cut);
		if (stop == end)
			break;
		p = tr_strace_skip(stop + 1, end);
	}
}

static void put_field(struct tr_strace_reader *reader, const char *key, struct tr_text value)
{
	bool cut = false;

	tr_buffer_put_text(&reader->head, tr_text_from(key));
	tr_strace_value(value, &reader->head, &cut);
}

static void put_string_field(struct tr_strace_reader *reader, const char *key, struct tr_text value)
{
	tr_buffer_put_text(&reader->head, tr_text_from(key));
	tr_buffer_put_byte(&reader->head, '"');
	tr_string_escape(value, &reader->head);
	tr_buffer_put_byte(&reader->head, '"');
}

/* "0.000123" as a REAL: what strace prints is not always its one spelling. */
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
	tr_buffer_put_literal(&reader->head, "\tdur=");
	tr_buffer_put(&reader->head, spelled, tr_real64_write(bits, spelled));
}

static void put_result(struct tr_strace_reader *reader, const struct tr_strace_result *result)
{
	tr_buffer_put_literal(&reader->head, "\t->");
	if (result->value.data && !result->error.data)
		put_field(reader, "\treturn=", result->value);
	if (result->error.data)
		put_field(reader, "\terror=", result->error);
	if (result->info.data)
		put_string_field(reader, "\tinfo=", result->info);
	if (result->time.data)
		put_duration(reader, result->time);
}

/* A record of its own for a call that is nothing but a call. */
static void put_sys(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
		    struct tr_text arguments, const struct tr_strace_result *result,
		    const struct tr_strace_origin_line *from, unsigned flags)
{
	bool cut = false;

	tr_strace_begin(reader, "sys", &from->time, task->tid);
	tr_buffer_put_text(&reader->head, name);
	put_arguments(reader, name, arguments, &cut, flags & TR_STRACE_FLAG_BEGIN_LOST);
	if (result)
		put_result(reader, result);
	tr_strace_put_tgid(reader, task);
	flags |= cut ? TR_STRACE_FLAG_CUT : 0;
	flags |= result ? 0 : TR_STRACE_FLAG_UNFINISHED;
	tr_strace_put_flags(flags, &reader->head);
	tr_strace_emit(reader, from);
}

static void put_fork(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
		     struct tr_text arguments, uint64_t child,
		     const struct tr_strace_origin_line *from)
{
	struct tr_strace_call *call = task->state;
	uint64_t flags = tr_strace_clone_flags(name, arguments);
	struct tr_directory *directory =
		call && call->directory ? call->directory : task->place->directory;
	struct tr_task *last = tr_tasks_find(&reader->tasks, child);

	if (last && last != task && last->adopted) /* it has ended, and the number is used again */
		tr_strace_end_leaving(reader, child);
	tr_strace_begin(reader, "fork", &from->time, task->tid);
	tr_buffer_put_literal(&reader->head, "-\tchild=");
	tr_buffer_put_decimal(&reader->head, child);
	tr_strace_put_clone_flags(flags, &reader->head);
	tr_strace_put_tgid(reader, task);
	tr_strace_emit(reader, from);
	reader->out_of_memory |= !tr_tasks_fork(&reader->tasks, task, directory, child, flags);
}

/* Reads an exec into reader->exec and lets its record go. */
static void put_exec(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
		     struct tr_text arguments, const struct tr_strace_origin_line *from,
		     const struct tr_strace_result *failure, unsigned flags)
{
	struct tr_strace_exec *exec = &reader->exec;
	struct tr_directory *seen_from = tr_directory_retain(task->place->directory);
	bool cut = false;

	tr_strace_begin(reader, "exec", &from->time, task->tid);
	tr_strace_exec_read(arguments, tr_text_is(name, "execveat"), exec, &reader->head,
			    &reader->gap);
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
		tr_buffer_put_literal(&reader->head, "\terror=");
		tr_strace_value(failure->error, &reader->head, &cut);
		tr_strace_spell_tgid(task, &reader->head);
	}
	tr_strace_emit_exec(reader, from, task, seen_from);
	tr_directory_release(seen_from);
}

static void succeed(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
		    struct tr_text arguments, const struct tr_strace_origin_line *from,
		    unsigned flags)
{
	uint64_t seq = reader->seq;

	tr_strace_place_exec(reader, task);
	tr_tasks_exec(&reader->tasks, task);
	put_exec(reader, task, name, arguments, from, NULL, flags);
	task->process->exec = seq;
	if (task->state)
		((struct tr_strace_call *)task->state)->lost_thread = false;
}

void tr_strace_exec_done(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
			 struct tr_text arguments, const struct tr_strace_origin_line *from)
{
	succeed(reader, task, name, arguments.data ? arguments : TR_TEXT(""), from,
		arguments.data ? 0 : TR_STRACE_FLAG_BEGIN_LOST);
}

void tr_strace_detached(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
			struct tr_text arguments)
{
	/* -b execve lets go of those that succeed */
	if (tr_strace_is_exec(name))
		succeed(reader, task, name, arguments, &reader->here, TR_STRACE_FLAG_UNFINISHED);
	else
		tr_strace_call_done(reader, task, name, arguments, NULL, &reader->here, 0);
}

/* exit_group(N) */
static uint64_t exit_status(struct tr_text arguments)
{
	unsigned long long status;
	const char *p = arguments.data;
	bool negative = arguments.len && *p == '-';

	if (!tr_strace_number((struct tr_text){ p + negative, arguments.len - negative }, &status))
		return 0;
	return (negative ? 0 - status : status) & 0xff;
}

/* The call has made a thread perhaps, and did not come back to say which. */
static void lose_thread(struct tr_strace_reader *reader, struct tr_task *task, uint64_t flags)
{
	struct tr_strace_call *call = tr_strace_state(reader, task);

	if (call)
		call->lost_thread |= flags & TR_FORK_THREAD;
}

/* What a call that waited has heard of. */
static void look_at_child(struct tr_strace_reader *reader, struct tr_task *task,
			  struct tr_text name, struct tr_text arguments,
			  const struct tr_strace_result *result)
{
	unsigned long long child;

	if (tr_text_is(name, "waitid"))
		tr_strace_claim(reader, task, tr_strace_argument(arguments, 2));
	else if (tr_strace_number(result->value, &child) && child > 0)
		tr_strace_waited(reader, task, child, tr_strace_argument(arguments, 1));
}

void tr_strace_call_done(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
			 struct tr_text arguments, const struct tr_strace_result *result,
			 const struct tr_strace_origin_line *from, unsigned flags)
{
	unsigned long long child;

	tr_strace_look_around(reader, task, name, arguments, result);
	if (result && tr_strace_is_exec(name)) {
		if (tr_strace_succeeded(result) && tr_text_is(result->value, "0"))
			tr_strace_exec_done(reader, task, name, arguments, from);
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
		tr_strace_leave(reader, task, exit_status(arguments));
		return;
	}
	tr_strace_follow(reader, task, name, arguments, result);
	put_sys(reader, task, name, arguments, result, from, flags);
	if (tr_strace_succeeded(result) && tr_text_starts(name, TR_TEXT("wait")))
		look_at_child(reader, task, name, arguments, result);
}
