#include "format/etrace/queue.h"

#include <inttypes.h>
#include <stdlib.h>

struct tr_etrace_entry *tr_etrace_queue_add(struct tr_etrace_queue *queue, uint64_t source_line)
{
	if (queue->count == queue->cap) {
		size_t cap = queue->cap ? queue->cap * 2 : 16;
		struct tr_etrace_entry *larger = reallocarray(queue->entries, cap, sizeof *larger);
		if (!larger)
			return NULL;
		queue->entries = larger;
		queue->cap = cap;
	}
	struct tr_etrace_entry *entry = &queue->entries[queue->count++];
	entry->begin = queue->text.len;
	entry->len = 0;
	entry->columns[TR_COLUMN_SEQ] = 0;
	entry->source_line = source_line;
	entry->trouble = TR_ETRACE_FINE;
	return entry;
}

static void tell_flags(const struct tr_etrace_queue *queue, const struct tr_etrace_entry *entry,
		       struct tr_error *err)
{
	enum { SHOWN = 120 };
	int len = entry->flags_len < SHOWN ? (int)entry->flags_len : SHOWN;
	const char *flags = queue->text.data + entry->flags_begin;

	if (entry->trouble == TR_ETRACE_FLAGGED) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s of task %" PRIu64 " is damaged: %.*s",
			     entry->reason, entry->number, len, flags);
		return;
	}
	tr_error_set(err, TR_CAUSE_INPUT,
		     "an empty last argument, or a line end at the end of one, is not in the log: "
		     "%s of task %" PRIu64,
		     entry->reason, entry->number);
	tr_error_is_note(err);
}

void tr_etrace_entry_tell(const struct tr_etrace_queue *queue, const struct tr_etrace_entry *entry,
			  struct tr_error *err)
{
	switch (entry->trouble) {
	case TR_ETRACE_CUT:
		tr_error_set(err, TR_CAUSE_CUT, "the last line has no end: it may be cut");
		break;
	case TR_ETRACE_EVENTS_LOST:
		if (entry->number)
			tr_error_set(err, TR_CAUSE_INPUT, "the tracer lost %" PRIu64 " lines",
				     entry->number);
		else
			tr_error_set(err, TR_CAUSE_INPUT, "the tracer lost lines");
		break;
	case TR_ETRACE_RAW:
		tr_error_say_in(err, TR_CAUSE_INPUT, entry->reason, "%s: kept as a raw record",
				entry->reason);
		break;
	default:
		tell_flags(queue, entry, err);
		break;
	}
	tr_error_at_line(err, entry->source_line);
}

bool tr_etrace_entry_record(const struct tr_etrace_queue *queue,
			    const struct tr_etrace_entry *entry, struct tr_record *record,
			    struct tr_error *err)
{
	const char *text = queue->text.data;
	struct tr_text line = { text + entry->begin, entry->len };
	struct tr_columns columns;

	if (!entry->columns[TR_COLUMN_SEQ])
		return tr_record_from_line(record, line, err);
	for (unsigned i = 0; i <= TR_COLUMNS; i++)
		columns.start[i] = text + entry->columns[i];
	tr_record_from_columns(record, line, &columns);
	return true;
}

void tr_etrace_queue_reset(struct tr_etrace_queue *queue)
{
	tr_buffer_reset(&queue->text);
	queue->first = queue->count = 0;
}

void tr_etrace_queue_free(struct tr_etrace_queue *queue)
{
	tr_buffer_free(&queue->text);
	free(queue->entries);
}
