#include <stdlib.h>
#include <string.h>

#include "format/etrace/etrace.h"
#include "format/etrace/group.h"
#include "format/etrace/reorder.h"
#include "format/etrace/verbatim.h"

enum { HELD_MAX = 64 << 20 }; /* bytes of all unfinished events: the kernel's argv has 6 MiB */

struct reader {
	struct tr_input *in;
	bool lines;		    /* one record a line, nothing is put together */
	struct tr_etrace_head head; /* of the last line */
	struct tr_etrace_group group;
	struct tr_etrace_reorder reorder;
	struct tr_arena arena;
	struct tr_record record;
	struct tr_buffer line; /* the record's, with lines */
	uint64_t source_line;  /* of the last line */
	uint64_t max_record;
	bool at_end; /* of the input */
	bool told_orphans;
};

/* A number in an option of the format. */
static bool read_option(const struct tr_settings *settings, const char *key, const char *fallback,
			uint64_t max, uint64_t *number, struct tr_error *err)
{
	struct tr_text value = tr_setting_get(settings, key, fallback);
	bool padded;

	if (tr_etrace_number(value, number, &padded) && *number <= max)
		return true;
	tr_error_set(err, TR_CAUSE_USAGE, "-O %s takes a number up to %llu, not '%.*s'", key,
		     (unsigned long long)max, (int)(value.len < 40 ? value.len : 40), value.data);
	return false;
}

struct tr_reader *tr_etrace_open(const struct tr_read_config *config, struct tr_input *in,
				 struct tr_error *err)
{
	const struct tr_settings *settings = &config->settings;
	uint64_t window, bits = TR_ETRACE_NO_PID;

	if (!read_option(settings, "reorder", "0", TR_ETRACE_REORDER_MAX, &window, err) ||
	    (tr_setting_get(settings, "pid-bits", "").len &&
	     !read_option(settings, "pid-bits", "", 32, &bits, err)))
		return NULL;
	if (config->lines && (window || bits != TR_ETRACE_NO_PID)) {
		tr_error_set(err, TR_CAUSE_USAGE,
			     "-O reorder and -O pid-bits are about events: not with --lines");
		return NULL;
	}
	struct reader *reader = calloc(1, sizeof *reader);
	if (!reader) {
		tr_error_memory(err);
		return NULL;
	}
	reader->in = in;
	reader->record.arena = &reader->arena;
	reader->max_record = config->limits.max_record;
	tr_arena_limit(&reader->arena, config->limits.max_record);
	reader->lines = config->lines;
	reader->reorder.window = (size_t)window;
	reader->group.pid_bits = (unsigned)bits;
	reader->group.max_held =
		config->limits.max_record < HELD_MAX ? config->limits.max_record : HELD_MAX;
	return (struct tr_reader *)reader;
}

void tr_etrace_close(struct tr_reader *base)
{
	struct reader *reader = (struct reader *)base;

	tr_etrace_group_free(&reader->group);
	tr_etrace_reorder_free(&reader->reorder);
	tr_buffer_free(&reader->line);
	tr_arena_free(&reader->arena);
	free(reader);
}

/* The record is filled. */
static enum tr_status deliver(struct reader *reader, uint64_t source_line,
			      struct tr_record **record)
{
	reader->record.canonical = true;
	reader->record.source_line = source_line;
	*record = &reader->record;
	return TR_OK;
}

/* The next line, without its LF; good until the next one is read. As tr_input_line. */
static enum tr_status read_line(struct reader *reader, struct tr_text *text, bool *end,
				struct tr_error *err)
{
	struct tr_input *in = reader->in;
	enum tr_status status = tr_input_line(in, text, err);

	if (status == TR_END)
		return TR_END;
	reader->source_line++;
	if (status != TR_OK) {
		tr_error_at_line(err, reader->source_line);
		return status;
	}
	tr_input_skip(in, text->len);
	*end = text->data[text->len - 1] == '\n';
	text->len -= *end;
	return TR_OK;
}

/* --lines */
static enum tr_status next_line(struct reader *reader, struct tr_record **record,
				struct tr_error *err)
{
	struct tr_etrace_line line;
	struct tr_text text;
	bool end;
	enum tr_status status = read_line(reader, &text, &end, err);

	if (status != TR_OK)
		return status;
	tr_etrace_line_read(text, &reader->head, &line);
	tr_buffer_reset(&reader->line);
	tr_etrace_verbatim_record(&line, reader->group.seq++, end, &reader->line);
	if (!tr_buffer_room(&reader->line, TR_INPUT_PAD))
		return tr_error_memory(err);
	tr_arena_reset(&reader->arena);
	if (!tr_record_from_line(&reader->record, tr_buffer_text(&reader->line), err))
		return TR_FATAL;
	return deliver(reader, reader->source_line, record);
}

/* What is first in the queue: a message, and then the record it is about. */
static enum tr_status take(struct reader *reader, struct tr_record **record, struct tr_error *err)
{
	struct tr_etrace_queue *queue = &reader->group.queue;
	struct tr_etrace_entry *entry = &queue->entries[queue->first];

	if (entry->trouble != TR_ETRACE_FINE) {
		tr_etrace_entry_tell(queue, entry, err);
		entry->trouble = TR_ETRACE_FINE;
		queue->first += entry->len == 0;
		return TR_WARN;
	}
	queue->first++;
	tr_arena_reset(&reader->arena);
	if (!tr_etrace_entry_record(queue, entry, &reader->record, err))
		return TR_FATAL;
	return deliver(reader, entry->source_line, record);
}

/* The last line has no end; where the input is damaged that is said with its cause. */
static bool note_cut(struct reader *reader, uint64_t number)
{
	struct tr_etrace_entry *entry =
		reader->in->damaged ? NULL : tr_etrace_queue_add(&reader->group.queue, number);

	if (entry)
		entry->trouble = TR_ETRACE_CUT;
	return entry || reader->in->damaged;
}

static bool group_line(struct reader *reader, struct tr_etrace_line *line, uint64_t number,
		       bool cut)
{
	line->number = number;
	line->cut = cut;
	return (!cut || note_cut(reader, number)) && tr_etrace_group_line(&reader->group, line);
}

/* Through the window of those that are put in order. */
static bool group_waiting(struct reader *reader, bool all)
{
	struct tr_etrace_waiting waiting;
	struct tr_etrace_line line;

	if (!tr_etrace_reorder_take(&reader->reorder, all, &waiting))
		return true;
	tr_etrace_line_read((struct tr_text){ waiting.text, waiting.len }, NULL, &line);
	bool fine = group_line(reader, &line, waiting.number, waiting.cut);
	free(waiting.text);
	return fine;
}

/* A line of the log to the events. False: memory is out. */
static bool use_line(struct reader *reader, struct tr_text text, bool cut)
{
	struct tr_etrace_line line;

	tr_etrace_line_read(text, &reader->head, &line);
	if (!reader->reorder.window)
		return group_line(reader, &line, reader->source_line, cut);
	struct tr_etrace_waiting waiting = { line.sec, line.nsec,	  reader->source_line,
					     cut,      (char *)text.data, text.len };
	return tr_etrace_reorder_put(&reader->reorder, waiting, line.type == TR_ETRACE_EVENT) &&
	       group_waiting(reader, false);
}

/* Nothing more comes: those that wait, then those that are not finished. TR_END: nothing is left.
 */
static enum tr_status wind_up(struct reader *reader, struct tr_error *err)
{
	struct tr_etrace_group *group = &reader->group;

	if (reader->reorder.count || group->oldest) {
		bool fine = reader->reorder.count ? group_waiting(reader, true)
						  : tr_etrace_group_end(group);
		return fine ? TR_OK : tr_error_memory(err);
	}
	if (!group->orphans || reader->told_orphans)
		return TR_END;
	reader->told_orphans = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "executions whose fork is not in the log (flagged \"orphan\"): %llu",
		     (unsigned long long)group->orphans);
	tr_error_is_note(err);
	return TR_WARN;
}

/*
 * The lines that the window has, which are nearly all there are, until one of them finishes
 * something. False: memory is out.
 */
static bool use_window(struct reader *reader)
{
	enum { ESCAPED = 6 }; /* bytes that a byte may take in a record */
	const struct tr_etrace_queue *queue = &reader->group.queue;
	struct tr_input *in = reader->in;
	struct tr_etrace_line line;
	const char *lf;

	while (!queue->count && (lf = memchr(in->pos, '\n', tr_input_available(in)))) {
		struct tr_text text = tr_text_span(in->pos, lf);
		if (text.len >= reader->max_record / ESCAPED)
			break; /* tr_input_line sees to the limit */
		tr_etrace_line_read(text, &reader->head, &line);
		line.number = ++reader->source_line;
		tr_input_skip(in, text.len + 1);
		if (!tr_etrace_group_line(&reader->group, &line))
			return false;
	}
	return true;
}

/* More for the queue, maybe. TR_END: nothing is left. */
static enum tr_status fill(struct reader *reader, struct tr_error *err)
{
	struct tr_text text;
	bool end;

	if (reader->at_end)
		return wind_up(reader, err);
	if (!reader->reorder.window && !use_window(reader))
		return tr_error_memory(err);
	if (reader->group.queue.count)
		return TR_OK;
	enum tr_status status = read_line(reader, &text, &end, err);
	reader->at_end = status == TR_END;
	if (status == TR_END)
		return TR_OK;
	if (status == TR_OK && !use_line(reader, text, !end))
		return tr_error_memory(err);
	return status;
}

enum tr_status tr_etrace_next(struct tr_reader *base, struct tr_record **record,
			      struct tr_error *err)
{
	struct reader *reader = (struct reader *)base;
	struct tr_etrace_queue *queue = &reader->group.queue;

	if (reader->lines)
		return next_line(reader, record, err);
	while (queue->first == queue->count) {
		if (queue->count)
			tr_etrace_queue_reset(queue);
		enum tr_status status = fill(reader, err);
		if (status != TR_OK)
			return status;
		/* whoever scans a line with wide loads finds readable bytes behind it */
		if (queue->count && !tr_buffer_room(&queue->text, TR_INPUT_PAD))
			return tr_error_memory(err);
	}
	return take(reader, record, err);
}
