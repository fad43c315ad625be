/* Records out: at once, or behind those that wait. */
#include "format/strace/reader.h"

#include <inttypes.h>

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
		reader->gap = reader->head.len;
	}
	tr_strace_spell_tgid(task, &reader->head);
}

/* The item that is whole now is the next one out: its line takes the place of the last one's. */
void tr_strace_deliver(struct tr_strace_reader *reader, struct tr_strace_item *item)
{
	struct tr_buffer last = reader->line;

	tr_strace_item_finish(item, &reader->scratch);
	reader->orphans += tr_strace_item_is_orphan(item);
	reader->line = item->line;
	item->line = last;
	reader->line_source = item->source_line;
	reader->line_offset = item->source_offset;
	reader->have = !tr_strace_is_lost(reader, &reader->line, item->source_line);
}

bool tr_strace_is_lost(struct tr_strace_reader *reader, const struct tr_buffer *text,
		       uint64_t source_line)
{
	if (!text->failed)
		return false;
	if (!text->limited) {
		reader->out_of_memory = true;
		return true;
	}
	tr_error_set(&reader->trouble, TR_CAUSE_LIMIT,
		     "a record is, with its escapes, longer than the limit of %" PRIu64
		     " (--max-record raises it)",
		     reader->limits.max_record);
	tr_error_at_line(&reader->trouble, source_line);
	return true;
}

static void pass_on(struct tr_strace_reader *reader, struct tr_strace_item *item,
		    const struct tr_strace_origin_line *from)
{
	if (tr_strace_is_lost(reader, &reader->head, from->line))
		return;
	item->source_line = from->line;
	item->source_offset = from->offset;
	item->line = reader->head;
	if (reader->have || reader->hold.count || !tr_strace_item_ready(item))
		reader->out_of_memory |= !tr_strace_hold_push(&reader->hold, item);
	else
		tr_strace_deliver(reader, item);
	reader->head = item->line;
}

void tr_strace_emit(struct tr_strace_reader *reader, const struct tr_strace_origin_line *from)
{
	struct tr_strace_item item = { .origin = reader->may_be_thread,
				       .plain = reader->may_be_thread,
				       .gap = reader->gap };

	pass_on(reader, &item, from);
}

void tr_strace_emit_exec(struct tr_strace_reader *reader, const struct tr_strace_origin_line *from,
			 const struct tr_task *task, struct tr_directory *seen_from)
{
	const struct tr_strace_exec *exec = &reader->exec;
	struct tr_strace_item item = { .origin = task->process->origin,
				       .cwd = task->place->directory,
				       .from = seen_from,
				       .gap = reader->gap,
				       .named = exec->named,
				       .spelled = exec->spelled,
				       .path = exec->spelled ? TR_TEXT("")
							     : tr_buffer_text(&exec->path),
				       .pwd = tr_buffer_text(&exec->pwd),
				       .flags = exec->flags };

	pass_on(reader, &item, from);
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
