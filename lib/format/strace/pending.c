/* SPDX-License-Identifier: MIT */
/*
 * The queue of records. A record is composed in out.head. If its parent is not known yet, a part of
 * it is missing: the parent and the directory of an execution, or whether the task is a thread.
 * Then the record is pending, and so are all that follow, because their order is kept. The length
 * of the queue is bounded by the log alone, so that the same log always gives the same records;
 * only where a running program writes nothing for a while, strace.c does not hold them any longer.
 *
 * The fields parent and ppid follow process/parent.h: the exec record that was current in the
 * parent when it created the process. tests/data/strace/parent.cases has its cases as logs; the
 * unit test compares the field with what views find without it.
 */
#include "format/strace/strace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "record/literal.h"

enum {
	AHEAD = 1024,	       /* records after one that is pending */
	AHEAD_BYTES = 4 << 20, /* and their bytes */
	LONG = 64 << 10,       /* a record of as many bytes is moved to the queue, not copied */
};

/*
 * A record, whose line has no LF. With an origin, it lacks at offset gap the part that depends on
 * the parent: of an exec record the name, parents and cwd; of another one tgid.
 */
struct pending {
	uint64_t source_line, source_offset;
	struct tr_buffer
		line; /* of a pending record only if it is long; else item->text ends with it */
	size_t gap;
	struct tr_origin *origin;
	bool exec;
	struct tr_directory *cwd;  /* NULL: unknown */
	struct tr_directory *from; /* the directory that a relative path starts at */
	bool named, spelled;	   /* as in struct tr_strace_exec */
	struct tr_text path;	   /* bytes of the executable; empty: `from` itself */
	struct tr_text pwd;	   /* PWD of its environment, to guess cwd; may be empty */
	unsigned flags;
};

void tr_strace_begin(struct tr_strace_reader *reader, const char *kind,
		     const struct tr_strace_origin *from, const struct tr_task *task)
{
	enum { KIND = 16, TABS = 4 };
	struct tr_buffer *to = &reader->out.head;
	size_t len = strlen(kind);

	reader->out.from = from;
	tr_buffer_reset(to);
	char *p = tr_buffer_room(to, KIND + 2 * (TR_DECIMAL_MAX + 2) + TR_STRACE_TIME_MAX + TABS);
	if (!p)
		return;
	p = mempcpy(p, kind, len);
	*p++ = '\t';
	p += tr_counter_write(&reader->out.counter, reader->base.seq++, p);
	*p++ = '\t';
	if (task && from->time_len)
		p = mempcpy(p, from->time, from->time_len);
	else
		*p++ = '-';
	*p++ = '\t';
	if (task && task->tid != TR_STRACE_NO_PID)
		p += tr_decimal_write(task->tid, p);
	else
		*p++ = '-';
	*p++ = '\t';
	to->len = (size_t)(p - to->data);
}

/* Puts a field; nothing if the number is unknown. */
static void put_number(const char *key, uint64_t number, struct tr_buffer *to)
{
	if (number == TR_STRACE_NO_PID)
		return;
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_decimal(to, number);
}

/* Puts the tgid of a task that is known to be a thread. */
static void put_known_tgid(struct tr_strace_reader *reader, const struct tr_task *task)
{
	if (task->process->pid != task->tid)
		put_number("\ttgid=", task->process->pid, &reader->out.head);
}

/* Puts the tgid of a task that turned out to be a thread. */
static void put_tgid(const struct pending *item, struct tr_buffer *to)
{
	if (item->origin->thread)
		put_number("\ttgid=", item->origin->tgid, to);
}

/* Puts the flags as a field, if there are any. */
static void put_flags(unsigned flags, struct tr_buffer *to)
{
	static const char *const names[] = { "cut",	     "env-unknown", "env-repeated",
					     "env-no-value", "unfinished",  "missing:begin",
					     "fd-unknown",   "orphan",	    "cwd-guessed" };
	const char *before = "\tflagged=[\"";

	if (!flags)
		return;
	for (; flags; flags &= flags - 1) {
		tr_buffer_put_text(to, tr_text_from(before));
		tr_buffer_put_text(to, tr_text_from(names[__builtin_ctz(flags)]));
		before = "\",\"";
	}
	tr_buffer_put_literal(to, "\"]");
}

/* True if all that the record depends on is known. */
static bool is_complete(const struct pending *item)
{
	uint64_t seq;

	if (!item->origin)
		return true;
	if (!item->exec)
		return item->origin->settled || item->origin->irrelevant;
	return tr_origin_exec(item->origin, &seq) && tr_origin_has_ppid(item->origin) &&
	       !tr_directory_is_open(item->cwd) && !tr_directory_is_open(item->from);
}

/* True if the environment of the execution has an absolute PWD. */
static bool has_pwd(const struct pending *item)
{
	return item->pwd.len && *item->pwd.data == '/';
}

/*
 * Decides with what is known, because nothing more will come in time: the input has ended, the
 * queue is too long, or a running program writes nothing for a while. Every unknown ancestor counts
 * as absent, and PWD replaces an unknown directory.
 */
static void expire(const struct pending *item)
{
	struct tr_origin *origin = item->origin;
	uint64_t seq;

	if (!item->exec) { /* an execution of the task may still be pending */
		origin->irrelevant = true;
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

/*
 * Puts the executable. A relative path starts at `from`, whose text is cwd if both are the same.
 * Memory failures make `to` fail.
 */
static void put_name(const struct pending *item, struct tr_text cwd, struct tr_buffer *to)
{
	struct tr_buffer name = TR_BUFFER_INIT, from = TR_BUFFER_INIT;

	if (item->from != item->cwd) {
		tr_directory_resolve(item->from, &from);
		cwd = tr_buffer_text(&from);
	}
	tr_directory_join(cwd, item->path, &name);
	tr_cell_escape(tr_buffer_text(&name), false, to);
	to->failed |= name.failed || from.failed;
	tr_buffer_free(&name);
	tr_buffer_free(&from);
}

/*
 * Puts the part of an exec record that is inserted at its gap. A guess of the directory starts from
 * PWD of an ancestor. If PWD of the execution itself differs, a shell has set it since, so it is
 * the better guess.
 */
static void put_parent(const struct pending *item, unsigned *flags, struct tr_buffer *to)
{
	char memory[1024];
	struct tr_buffer cwd = tr_buffer_over(memory, sizeof memory);
	uint64_t parent;

	if (tr_directory_resolve(item->cwd, &cwd) == TR_PLACE_GUESSED) {
		*flags |= TR_STRACE_FLAG_CWD_GUESSED;
		if (has_pwd(item) && !tr_text_equal(item->pwd, tr_directory_guess(item->cwd))) {
			tr_buffer_reset(&cwd);
			tr_directory_join(TR_TEXT("/"), item->pwd, &cwd);
		}
	}
	if (item->origin->orphan)
		*flags |= TR_STRACE_FLAG_ORPHAN;
	if (!item->named)
		tr_buffer_put_byte(to, '-');
	else if (!item->spelled)
		put_name(item, tr_buffer_text(&cwd), to);
	if (tr_origin_exec(item->origin, &parent))
		put_number("\tparent=", parent, to);
	if (item->origin->has_ppid)
		put_number("\tppid=", item->origin->ppid, to);
	if (cwd.len) {
		tr_buffer_put_literal(to, "\tcwd=");
		tr_string_quote(tr_buffer_text(&cwd), to);
	}
	to->failed |= cwd.failed;
	tr_buffer_free(&cwd);
}

/*
 * True if the record could not be composed, which is reported: it is longer than the limit, or
 * memory is exhausted.
 */
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

/* Inserts what depends on the parent into base.line, which is then the next record out. */
static void deliver(struct tr_strace_reader *reader, const struct pending *item)
{
	struct tr_buffer *line = &reader->base.line, *gap = &reader->out.gap;
	unsigned flags = item->flags;

	tr_buffer_reset(gap);
	if (item->exec)
		put_parent(item, &flags, gap);
	else if (item->origin)
		put_tgid(item, gap);
	char *room = gap->len ? tr_buffer_insert(line, item->gap, gap->len) : NULL;
	if (room)
		memcpy(room, gap->data, gap->len);
	line->failed |= gap->failed;
	if (item->exec) {
		put_tgid(item, line);
		put_flags(flags, line);
		reader->out.orphans += item->origin->orphan;
	} else if (item->origin && (!item->origin->settled || item->origin->orphan)) {
		put_flags(flags, line);
	}
	reader->base.source_line = item->source_line;
	reader->base.source_offset = item->source_offset;
	reader->base.held = !is_lost(reader, line, item->source_line);
}

/* Exchanges the buffers, whose limits are the same. */
static void swap(struct tr_buffer *a, struct tr_buffer *b)
{
	struct tr_buffer c = *a;

	*a = *b;
	*b = c;
}

/* Queues the record, with copies of its texts. False: memory is exhausted. */
static bool hold(struct tr_strace_reader *reader, const struct pending *given)
{
	struct tr_strace_records *out = &reader->out;
	size_t texts = given->path.len + given->pwd.len, len = out->head.len;
	bool moves = len >= LONG;
	char *room;

	out->queue.data_size = sizeof *given;
	struct tr_pending_item *item = tr_pending_make(
		&out->queue, given, moves ? texts : texts + len, texts + len, &room);

	if (!item)
		return false;
	struct pending *mine = item->data;
	mine->path.data = memcpy(room, given->path.data, given->path.len);
	room += given->path.len;
	mine->pwd.data = memcpy(room, given->pwd.data, given->pwd.len);
	mine->line = (struct tr_buffer){ .limit = out->head.limit };
	if (moves)
		swap(&mine->line, &out->head);
	else
		memcpy(room + given->pwd.len, out->head.data, len);
	tr_origin_retain(mine->origin);
	tr_directory_retain(mine->cwd);
	tr_directory_retain(mine->from);
	return true;
}

/* Removes an item from the queue and releases its references. */
static void drop(struct tr_pending *queue, struct tr_pending_item *item)
{
	struct pending *mine = item->data;

	tr_buffer_free(&mine->line);
	tr_origin_release(mine->origin);
	tr_directory_release(mine->cwd);
	tr_directory_release(mine->from);
	tr_pending_remove(queue, item);
	tr_pending_free_item(item);
}

bool tr_strace_next_pending(struct tr_strace_reader *reader, bool forced)
{
	struct tr_pending *queue = &reader->out.queue;
	struct tr_pending_item *item = queue->first;

	if (!item)
		return false;
	struct pending *mine = item->data;
	if (!is_complete(mine)) {
		if (!forced && queue->count <= AHEAD && queue->weight <= AHEAD_BYTES)
			return false;
		expire(mine);
	}
	tr_buffer_reset(&reader->base.line);
	if (mine->line.data) {
		swap(&mine->line, &reader->base.line);
	} else {
		size_t texts = mine->path.len + mine->pwd.len;
		tr_buffer_put(&reader->base.line, item->text.data + texts, item->text.len - texts);
	}
	deliver(reader, mine);
	drop(queue, item);
	return true;
}

/*
 * Passes on the record in out.head: out at once if nothing is pending before it, and it is
 * complete; otherwise to the queue, so that records keep their order.
 */
static void pass_on(struct tr_strace_reader *reader, struct pending *item)
{
	struct tr_strace_records *out = &reader->out;

	if (is_lost(reader, &out->head, out->from->line))
		return;
	item->source_line = out->from->line;
	item->source_offset = out->from->offset;
	if (reader->base.held || out->queue.count || !is_complete(item)) {
		reader->out_of_memory |= !hold(reader, item);
		return;
	}
	swap(&out->head, &reader->base.line);
	deliver(reader, item);
}

void tr_strace_emit(struct tr_strace_reader *reader, const struct tr_task *task, unsigned flags)
{
	struct pending item = { .gap = reader->out.head.len,
				.path = TR_TEXT(""),
				.pwd = TR_TEXT("") };

	if (task && !task->parent_known)
		item.origin = task->process->origin;
	if (task)
		put_known_tgid(reader, task);
	item.flags = flags & TR_STRACE_FLAG_ORPHAN;
	put_flags(flags & ~(unsigned)TR_STRACE_FLAG_ORPHAN, &reader->out.head);
	pass_on(reader, &item);
}

void tr_strace_emit_exec(struct tr_strace_reader *reader, const struct tr_task *task,
			 struct tr_directory *seen_from)
{
	const struct tr_strace_exec *exec = &reader->exec;
	struct pending item = { .gap = exec->gap,
				.origin = task->process->origin,
				.exec = true,
				.cwd = task->place->directory,
				.from = seen_from,
				.named = exec->named,
				.spelled = exec->spelled,
				.path = exec->spelled ? TR_TEXT("") : tr_buffer_text(&exec->path),
				.pwd = tr_buffer_text(&exec->pwd),
				.flags = exec->flags };

	put_known_tgid(reader, task);
	pass_on(reader, &item);
}

void tr_strace_put_raw(struct tr_strace_reader *reader, struct tr_text text, const char *reason)
{
	struct tr_buffer *to = &reader->out.head;

	tr_strace_begin(reader, "raw", &reader->here, NULL);
	tr_buffer_put_literal(to, "-\ttext=\"");
	tr_string_escape(text, to);
	tr_buffer_put_literal(to, "\"\treason=\"");
	tr_buffer_put_text(to, tr_text_from(reason));
	tr_buffer_put_byte(to, '"');
	tr_strace_emit(reader, NULL, 0);
	tr_error_say_in(&reader->base.remark, tr_strace_cause(reader), reason,
			"%s: kept as a raw record", reason);
	tr_error_at_line(&reader->base.remark, reader->here.line);
}

void tr_strace_records_free(struct tr_strace_records *out)
{
	while (out->queue.first)
		drop(&out->queue, out->queue.first);
	tr_pending_free(&out->queue);
	tr_buffer_free(&out->head);
	tr_buffer_free(&out->gap);
}
