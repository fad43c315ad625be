/* Records out: at once, or behind those that wait. */
#include "format/strace/reader.h"

#include "record/literal.h"

void tr_strace_begin(struct tr_strace_reader *reader, const char *kind,
		     const struct tr_strace_time *time, uint64_t tid)
{
	struct tr_buffer *to = &reader->head;

	reader->may_be_thread = NULL;
	tr_buffer_reset(to);
	tr_buffer_put_text(to, tr_text_from(kind));
	tr_buffer_put_byte(to, '\t');
	tr_buffer_put_decimal(to, reader->seq++);
	tr_buffer_put_byte(to, '\t');
	if (time->len)
		tr_buffer_put(to, time->text, time->len);
	else
		tr_buffer_put_byte(to, '-');
	tr_buffer_put_byte(to, '\t');
	if (tid == TR_STRACE_NOBODY)
		tr_buffer_put_byte(to, '-');
	else
		tr_buffer_put_decimal(to, tid);
	tr_buffer_put_byte(to, '\t');
}

void tr_strace_spell_tgid(const struct tr_task *task, struct tr_buffer *to)
{
	uint64_t pid = task->process->pid;

	if (pid == task->tid || pid == TR_STRACE_NOBODY)
		return;
	tr_buffer_put_literal(to, "\ttgid=");
	tr_buffer_put_decimal(to, pid);
}

void tr_strace_put_tgid(struct tr_strace_reader *reader, const struct tr_task *task)
{
	if (!task->adopted) {
		reader->may_be_thread = task->process->origin;
		reader->tgid_at = reader->head.len;
	}
	tr_strace_spell_tgid(task, &reader->head);
}

static void pass_on(struct tr_strace_reader *reader, const struct tr_strace_item *item)
{
	if (reader->have || reader->hold.count || !tr_strace_item_ready(item)) {
		reader->out_of_memory |= !tr_strace_hold_push(&reader->hold, item);
		return;
	}
	if (item->origin) {
		tr_buffer_reset(&reader->line);
		tr_strace_item_line(item, &reader->scratch, &reader->line);
	} else {
		/* the head is all of it, and may be large: it is not copied */
		struct tr_buffer head = reader->head;
		reader->head = reader->line;
		reader->line = head;
		tr_buffer_put_byte(&reader->line, '\n');
	}
	reader->line_source = item->source_line;
	reader->line_offset = item->source_offset;
	reader->have = true;
	reader->orphans += tr_strace_item_is_orphan(item);
}

void tr_strace_emit(struct tr_strace_reader *reader, const struct tr_strace_origin_line *from)
{
	struct tr_strace_item item = { .source_line = from->line,
				       .source_offset = from->offset,
				       .head = tr_buffer_text(&reader->head) };

	if (reader->head.failed) {
		reader->out_of_memory = true;
		return;
	}
	if (reader->may_be_thread) {
		item.origin = reader->may_be_thread;
		item.plain = true;
		item.tail = tr_text_span(item.head.data + reader->tgid_at,
					 item.head.data + item.head.len);
		item.head.len = reader->tgid_at;
	}
	pass_on(reader, &item);
}

void tr_strace_emit_exec(struct tr_strace_reader *reader, const struct tr_strace_origin_line *from,
			 const struct tr_task *task, struct tr_directory *seen_from)
{
	const struct tr_strace_exec *exec = &reader->exec;
	struct tr_strace_item item = { .source_line = from->line,
				       .source_offset = from->offset,
				       .origin = task->process->origin,
				       .cwd = task->place->directory,
				       .from = seen_from,
				       .head = tr_buffer_text(&reader->head),
				       .named = exec->named,
				       .path = tr_buffer_text(&exec->path),
				       .pwd = tr_buffer_text(&exec->pwd),
				       .tail = tr_buffer_text(&exec->tail),
				       .flags = exec->flags };

	if (reader->head.failed || tr_strace_exec_failed(exec))
		reader->out_of_memory = true;
	else
		pass_on(reader, &item);
}

void tr_strace_put_raw(struct tr_strace_reader *reader, struct tr_text text, const char *reason)
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
