/* SPDX-License-Identifier: MIT */
/*
 * Records on their way out. A record is put together in out.head. The part that its parent decides
 * may not be known yet: the parent of an execution, its directory, whether the task is a thread.
 * Then the record and all that follow wait in a ring. How many wait is bounded and depends only on
 * the log.
 */
#include "format/strace/strace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "record/literal.h"

enum {
	AHEAD = 1024,	       /* records behind one that is pending */
	AHEAD_BYTES = 4 << 20, /* and their bytes */
	FIRST_RING = 16,
	LONG = 64 << 10, /* bytes of a line that is moved to the ring, not copied */
};

void tr_strace_begin(struct tr_strace_reader *reader, const char *kind,
		     const struct tr_strace_origin *from, uint64_t tid)
{
	struct tr_buffer *to = &reader->out.head;

	reader->out.may_be_thread = NULL;
	tr_buffer_reset(to);
	tr_buffer_put_text(to, tr_text_from(kind));
	tr_buffer_put_byte(to, '\t');
	tr_buffer_put_decimal(to, reader->base.seq++);
	tr_buffer_put_byte(to, '\t');
	if (from && from->time_len)
		tr_buffer_put(to, from->time, from->time_len);
	else
		tr_buffer_put_byte(to, '-');
	tr_buffer_put_byte(to, '\t');
	if (tid == TR_STRACE_NOBODY)
		tr_buffer_put_byte(to, '-');
	else
		tr_buffer_put_decimal(to, tid);
	tr_buffer_put_byte(to, '\t');
}

static void put_number(const char *key, uint64_t number, struct tr_buffer *to)
{
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_decimal(to, number);
}

void tr_strace_put_known_tgid(struct tr_strace_reader *reader, const struct tr_task *task)
{
	uint64_t pid = task->process->pid;

	if (pid != task->tid && pid != TR_STRACE_NOBODY)
		put_number("\ttgid=", pid, &reader->out.head);
}

void tr_strace_put_tgid(struct tr_strace_reader *reader, const struct tr_task *task)
{
	if (!task->adopted) {
		reader->out.may_be_thread = task->process->origin;
		reader->out.gap = reader->out.head.len;
	}
	tr_strace_put_known_tgid(reader, task);
}

void tr_strace_put_flags(unsigned flags, struct tr_buffer *to)
{
	static const char *const names[] = { "cut",	     "env-unknown", "env-repeated",
					     "env-no-value", "unfinished",  "missing:begin",
					     "fd-unknown",   "orphan",	    "cwd-guessed" };
	const char *before = "\tflagged=[\"";

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		if (!(flags & 1u << i))
			continue;
		tr_buffer_put_text(to, tr_text_from(before));
		tr_buffer_put_text(to, tr_text_from(names[i]));
		before = "\",\"";
	}
	if (flags)
		tr_buffer_put_literal(to, "\"]");
}

/* Whether all that the record depends on is known. */
static bool is_complete(const struct tr_strace_pending *item)
{
	uint64_t seq;

	if (item->plain)
		return item->origin->settled || item->origin->waived;
	return !item->origin ||
	       (tr_origin_exec(item->origin, &seq) && tr_origin_has_ppid(item->origin) &&
		!tr_directory_is_open(item->cwd) && !tr_directory_is_open(item->from));
}

static bool has_pwd(const struct tr_strace_pending *item)
{
	return item->pwd.len && *item->pwd.data == '/';
}

/* Decides with what is known, because nothing more will come in time. */
static void expire(const struct tr_strace_pending *item)
{
	struct tr_origin *origin = item->origin;
	uint64_t seq;

	if (item->plain) { /* an execution of the task may still wait */
		origin->waived = true;
		return;
	}
	/* several ancestors may be unknown */
	while (!tr_origin_exec(item->origin, &seq)) {
		for (origin = item->origin; origin->settled; origin = origin->exec_from)
			;
		tr_origin_give_up(origin, true);
	}
	while (!tr_origin_has_ppid(item->origin))
		tr_origin_give_up(item->origin->asks, true);
	if (!has_pwd(item) || !tr_directory_learn(item->cwd, item->pwd, true))
		tr_directory_give_up(item->cwd);
	tr_directory_give_up(item->from);
}

/* Puts the executable. A relative path starts at `from`, whose text is cwd where both are one. */
static void put_name(const struct tr_strace_pending *item, struct tr_text cwd, struct tr_buffer *to)
{
	struct tr_buffer name = TR_BUFFER_INIT, from = TR_BUFFER_INIT;

	if (item->spelled)
		return;
	if (!item->named) {
		tr_buffer_put_byte(to, '-');
		return;
	}
	if (item->from == item->cwd)
		tr_buffer_put_text(&from, cwd);
	else
		tr_directory_resolve(item->from, &from);
	tr_directory_join(tr_buffer_text(&from), item->path, &name);
	tr_cell_escape(tr_buffer_text(&name), false, to);
	to->failed |= name.failed || from.failed;
	tr_buffer_free(&name);
	tr_buffer_free(&from);
}

/* Puts the tgid of a task that turned out to be a thread. */
static void put_tgid(const struct tr_strace_pending *item, struct tr_buffer *to)
{
	if (item->origin->thread && item->origin->tgid != TR_STRACE_NOBODY)
		put_number("\ttgid=", item->origin->tgid, to);
}

/*
 * Appends the directory of an execution. A guess starts with PWD of an ancestor; if PWD of the
 * execution itself differs, a shell has set it since, so it is better.
 */
static void find_cwd(const struct tr_strace_pending *item, struct tr_buffer *cwd, unsigned *flags)
{
	if (tr_directory_resolve(item->cwd, cwd) != TR_PLACE_GUESSED)
		return;
	*flags |= TR_STRACE_FLAG_CWD_GUESSED;
	if (!has_pwd(item) || tr_text_equal(item->pwd, tr_directory_guess(item->cwd)))
		return;
	tr_buffer_reset(cwd);
	tr_directory_join(TR_TEXT("/"), item->pwd, cwd);
}

/* Puts the part of an exec record that is inserted at its gap. */
static void put_exec(const struct tr_strace_pending *item, unsigned *flags, struct tr_buffer *to)
{
	char memory[1024];
	struct tr_buffer cwd = tr_buffer_over(memory, sizeof memory);
	uint64_t parent;

	find_cwd(item, &cwd, flags);
	if (item->origin->orphan)
		*flags |= TR_STRACE_FLAG_ORPHAN;
	put_name(item, tr_buffer_text(&cwd), to);
	if (tr_origin_exec(item->origin, &parent) && parent != TR_EXEC_NONE)
		put_number("\tparent=", parent, to);
	if (item->origin->has_ppid && item->origin->ppid != TR_STRACE_NOBODY)
		put_number("\tppid=", item->origin->ppid, to);
	if (cwd.len) {
		tr_buffer_put_literal(to, "\tcwd=\"");
		tr_string_escape(tr_buffer_text(&cwd), to);
		tr_buffer_put_byte(to, '"');
	}
	to->failed |= cwd.failed;
	tr_buffer_free(&cwd);
}

/* Inserts and appends what the parent decided. */
static void complete(struct tr_strace_pending *item, struct tr_buffer *scratch)
{
	struct tr_buffer *line = &item->line;
	bool exec = item->origin && !item->plain;
	unsigned flags = item->flags;

	tr_buffer_reset(scratch);
	if (exec)
		put_exec(item, &flags, scratch);
	else if (item->origin)
		put_tgid(item, scratch);
	char *gap = scratch->len ? tr_buffer_insert(line, item->gap, scratch->len) : NULL;
	if (gap)
		memcpy(gap, scratch->data, scratch->len);
	line->failed |= scratch->failed;
	if (exec) {
		put_tgid(item, line);
		tr_strace_put_flags(flags, line);
	}
}

/* Whether the record could not be put together, which is reported. */
static bool is_lost(struct tr_strace_reader *reader, const struct tr_buffer *line,
		    uint64_t source_line)
{
	if (!line->failed)
		return false;
	if (!line->limited) {
		reader->out_of_memory = true;
		return true;
	}
	tr_error_set(&reader->base.remark, TR_CAUSE_LIMIT,
		     "a record is, with its escapes, longer than the limit of %" PRIu64
		     " (--max-record raises it)",
		     reader->base.max_record);
	tr_error_at_line(&reader->base.remark, source_line);
	return true;
}

/* Makes the record the next one out. Its buffer takes the place of the last one's. */
static void deliver(struct tr_strace_reader *reader, struct tr_strace_pending *item)
{
	struct tr_strace_records *out = &reader->out;
	struct tr_buffer last = reader->base.line;

	complete(item, &out->scratch);
	out->orphans += item->origin && !item->plain && item->origin->orphan;
	reader->base.line = item->line;
	item->line = last;
	reader->base.source_line = item->source_line;
	reader->base.source_offset = item->source_offset;
	reader->base.held = !is_lost(reader, &reader->base.line, item->source_line);
}

static bool grow(struct tr_strace_records *out)
{
	size_t cap = out->cap ? out->cap * 2 : FIRST_RING;
	struct tr_strace_pending *ring = calloc(cap, sizeof *ring);

	if (!ring)
		return false;
	for (size_t i = 0; i < out->count; i++)
		ring[i] = out->ring[(out->first + i) % out->cap];
	free(out->ring);
	out->ring = ring;
	out->cap = cap;
	out->first = 0;
	return true;
}

static size_t size_of(const struct tr_strace_pending *item)
{
	return item->line.len + item->path.len + item->pwd.len;
}

/* Moves a long line; of a short one makes a copy without the buffer's spare room. */
static bool take_line(struct tr_buffer *to, struct tr_buffer *line)
{
	*to = (struct tr_buffer){ .limit = line->limit };
	if (line->len >= LONG) {
		struct tr_buffer empty = *to;
		*to = *line;
		*line = empty;
		return true;
	}
	to->data = malloc(line->len + 1);
	to->cap = to->data ? line->len + 1 : 0;
	if (to->data)
		tr_buffer_put_text(to, tr_buffer_text(line));
	return to->data;
}

/* Queues a copy of the record. False: memory is exhausted. */
static bool push(struct tr_strace_records *out, struct tr_strace_pending *item)
{
	if (out->count == out->cap && !grow(out))
		return false;
	char *texts = malloc(item->path.len + item->pwd.len + 1);
	struct tr_strace_pending *mine = &out->ring[(out->first + out->count) % out->cap];
	*mine = *item;
	if (!texts || !take_line(&mine->line, &item->line)) {
		free(texts);
		return false;
	}
	mine->path.data = texts; /* owns both */
	mine->pwd.data = texts + item->path.len;
	if (item->path.len)
		memcpy(texts, item->path.data, item->path.len);
	if (item->pwd.len)
		memcpy(texts + item->path.len, item->pwd.data, item->pwd.len);
	tr_origin_retain(mine->origin);
	tr_directory_retain(mine->cwd);
	tr_directory_retain(mine->from);
	out->count++;
	out->bytes += size_of(mine);
	return true;
}

static void pop(struct tr_strace_records *out)
{
	struct tr_strace_pending *item = &out->ring[out->first];

	free((char *)item->path.data);
	tr_buffer_free(&item->line);
	tr_origin_release(item->origin);
	tr_directory_release(item->cwd);
	tr_directory_release(item->from);
	out->first = (out->first + 1) % out->cap;
	out->count--;
}

bool tr_strace_next_pending(struct tr_strace_reader *reader, bool forced)
{
	struct tr_strace_records *out = &reader->out;

	if (!out->count)
		return false;
	struct tr_strace_pending *item = &out->ring[out->first];
	if (!is_complete(item)) {
		if (!forced && out->count <= AHEAD && out->bytes <= AHEAD_BYTES)
			return false;
		expire(item);
	}
	out->bytes -= size_of(item);
	deliver(reader, item);
	pop(out);
	return true;
}

/* Passes on the record in out.head: out at once, or behind those that are pending. */
static void pass_on(struct tr_strace_reader *reader, struct tr_strace_pending *item,
		    const struct tr_strace_origin *from)
{
	struct tr_strace_records *out = &reader->out;

	if (is_lost(reader, &out->head, from->line))
		return;
	item->source_line = from->line;
	item->source_offset = from->offset;
	item->line = out->head;
	item->gap = out->gap;
	if (reader->base.held || out->count || !is_complete(item))
		reader->out_of_memory |= !push(out, item);
	else
		deliver(reader, item);
	out->head = item->line;
}

void tr_strace_emit(struct tr_strace_reader *reader, const struct tr_strace_origin *from)
{
	struct tr_strace_pending item = { .origin = reader->out.may_be_thread,
					  .plain = reader->out.may_be_thread };

	pass_on(reader, &item, from);
}

void tr_strace_emit_exec(struct tr_strace_reader *reader, const struct tr_strace_origin *from,
			 const struct tr_task *task, struct tr_directory *seen_from)
{
	const struct tr_strace_exec *exec = &reader->exec;
	struct tr_strace_pending item = { .origin = task->process->origin,
					  .cwd = task->place->directory,
					  .from = seen_from,
					  .named = exec->named,
					  .spelled = exec->spelled,
					  .pwd = tr_buffer_text(&exec->pwd),
					  .flags = exec->flags };

	if (!exec->spelled)
		item.path = tr_buffer_text(&exec->path);
	pass_on(reader, &item, from);
}

void tr_strace_put_raw(struct tr_strace_reader *reader, struct tr_text text, const char *reason)
{
	struct tr_buffer *to = &reader->out.head;

	tr_strace_begin(reader, "raw", NULL, TR_STRACE_NOBODY);
	tr_buffer_put_literal(to, "-\ttext=\"");
	tr_string_escape(text, to);
	tr_buffer_put_literal(to, "\"\treason=\"");
	tr_buffer_put_text(to, tr_text_from(reason));
	tr_buffer_put_byte(to, '"');
	tr_strace_emit(reader, &reader->here);
	tr_error_say_in(&reader->base.remark, TR_CAUSE_INPUT, reason, "%s: kept as a raw record",
			reason);
	tr_error_at_line(&reader->base.remark, reader->here.line);
}

void tr_strace_records_free(struct tr_strace_records *out)
{
	while (out->count)
		pop(out);
	free(out->ring);
	tr_buffer_free(&out->head);
	tr_buffer_free(&out->scratch);
}
