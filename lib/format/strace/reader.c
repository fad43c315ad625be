#include <stdlib.h>
#include <string.h>

#include "format/strace/reader.h"
#include "format/strace/strace.h"

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
	tr_arena_limit(&reader->arena, config->limits.max_record);
	tr_buffer_limit(&reader->head, config->limits.max_record);
	tr_buffer_limit(&reader->line, config->limits.max_record);
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
	if (tr_record_from_buffer(&reader->record, &reader->arena, &reader->line, err) != TR_OK)
		return TR_FATAL;
	reader->record.source_line = reader->line_source;
	reader->record.source_offset = reader->line_offset;
	*record = &reader->record;
	return TR_OK;
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
			tr_strace_deliver(reader, item);
			tr_strace_hold_pop(&reader->hold);
			if (lacks_memory(reader))
				return tr_error_memory(err);
			continue;
		}
		if (reader->ended)
			return end(reader, err);
		enum tr_status status = step(reader, err);
		if (status != TR_OK)
			return status;
	}
}
