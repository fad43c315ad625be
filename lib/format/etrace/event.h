/* SPDX-License-Identifier: MIT */
/*
 * Assembles the lines of a log into events. The lines of many tasks are interleaved, so every task
 * has its own events in progress; a finished event is rendered into the queue of records. Nothing
 * is dropped: a line that belongs to no event becomes a raw record, and an event that lacks
 * something is flagged.
 */
#ifndef TR_FORMAT_ETRACE_EVENT_H
#define TR_FORMAT_ETRACE_EVENT_H

#include "core/map.h"
#include "core/text.h"
#include "deps/file_call.h"
#include "format/etrace/line.h"
#include "record/line.h"
#include "record/record.h"

struct tr_etrace_string {
	enum {
		TR_ETRACE_UNSEEN,
		TR_ETRACE_SHORT, /* one line, then Cont lines: the size determines its end */
		TR_ETRACE_LONG,	 /* in parts, up to a line that ends it */
	} form;
	bool expected; /* the event states its size */
	bool done;
	bool disorder;	/* its lines are not in the order in which they were printed */
	uint64_t size;	/* as the event states it */
	uint64_t index; /* of the last part */
	size_t begin, len;
};

struct tr_etrace_argument {
	uint64_t index;
	size_t begin, len;
};

/*
 * An event in progress. Its strings are raw bytes in one buffer, because a part may end within a
 * character; they are escaped when the event is rendered.
 */
struct tr_etrace_event {
	struct tr_etrace_event *previous, *next; /* of those in progress, oldest first */
	enum tr_etrace_type type;
	enum tr_etrace_role role;
	bool is_half; /* all lines of the first half are there, and the second is pending */
	uint64_t upid, cpu;
	uint64_t source_line;
	struct tr_etrace_moment time;
	struct tr_etrace_moment begun;	   /* time of the line that began it, or its second half */
	struct tr_etrace_moment last_time; /* of the last line that had text */

	/* damage, besides that of its strings */
	bool cut;
	bool unfinished;
	bool disorder;	/* of its arguments, or tasks */
	bool beginless; /* an Env without its first part */
	bool failed;	/* the system call did; this is no damage */

	uint8_t given;	 /* numbers that are there, as bits */
	uint8_t awaited; /* strings that are expected and not done */
	uint8_t used;	 /* strings that are expected or there, as bits */
	int64_t numbers[TR_ETRACE_NUMBERS];
	struct tr_etrace_string strings[TR_ETRACE_STRINGS];
	struct tr_etrace_string *last; /* that a Cont continues; NULL: an argument, or none */
	bool in_arguments;
	struct tr_buffer bytes;
	struct tr_buffer extra;		      /* unknown parameters, as the members of a map */
	struct tr_etrace_argument *arguments; /* of an exec; of an envset its tasks, as index */
	size_t argument_count, argument_cap;
};

/*
 * A living task: what it inherits from the task that forked it, and its events in progress. It is
 * known from its fork or its first line to its exit.
 */
struct tr_etrace_task {
	uint64_t upid;
	uint64_t ppid;	  /* TR_NO_POSITION: unknown */
	uint64_t parent;  /* seq of the exec that was current in the parent; TR_NO_POSITION: none */
	uint64_t current; /* seq of the exec that is current here, inherited or not */
	struct tr_etrace_event *half; /* pending its second half */
	struct tr_etrace_event *open; /* pending its texts */
	bool forked;
	bool execed;
	bool stray; /* texts of no event came since the last event began */
};

/* A rendered record, a message, or both. */
struct tr_etrace_entry {
	size_t begin, len; /* of the record in the queue's text, with LF; len 0: only a message */
	size_t columns[TR_COLUMNS + 1]; /* as in struct tr_columns; [1] is 0: unknown */
	uint64_t source_line;
	enum {
		TR_ETRACE_FINE,
		TR_ETRACE_RAW,	   /* reason */
		TR_ETRACE_FLAGGED, /* reason: the name of the event; its flags are in text */
		TR_ETRACE_AMBIGUOUS,
		TR_ETRACE_EVENTS_LOST,
		TR_ETRACE_CUT,
	} trouble;
	const char *reason;
	uint64_t number; /* upid, or the number of lost lines */
	size_t flags_begin, flags_len;
};

/* One line of the log can finish several events; the records are returned one at a time. */
struct tr_etrace_queue {
	struct tr_buffer text;
	struct tr_etrace_entry *entries;
	size_t first, count, cap;
};

/* A number and its digits, for numbers that are needed again and again. */
struct tr_etrace_spelled {
	uint64_t number;
	size_t len;	 /* 0: none yet */
	char digits[32]; /* all of it is copied, whatever len is */
};

/* Flags and their words: programs use few combinations, and finding the words takes time. */
struct tr_etrace_words {
	int64_t flags;
	uint8_t type;
	uint8_t len;	/* 0: none yet */
	unsigned means; /* of an open: enum in deps/file_call.h */
	char text[54];	/* all of it is copied, whatever len is */
};

enum { TR_ETRACE_WORDS = 16 };
enum { TR_ETRACE_NO_PID = 64 }; /* of pid_bits: no pids are wanted */

/* All zero at first, except pid_bits and max_held. */
struct tr_etrace_events {
	struct tr_etrace_queue queue;
	struct tr_id_map tasks;
	struct tr_etrace_task *recent;		 /* of the last lookup, or NULL */
	struct tr_etrace_event *oldest, *newest; /* in progress */
	struct tr_etrace_event *unused;		 /* linked by next */
	size_t in_progress, held;		 /* how many, and their bytes */
	size_t unused_count;
	uint64_t max_held;
	uint64_t seq; /* of the next record */
	uint64_t orphans;
	unsigned pid_bits; /* of an upid that are the pid, or TR_ETRACE_NO_PID */

	/* render.c */
	struct tr_file_call_taker *files; /* borrowed; NULL: all calls become records */
	struct tr_record columns;	  /* of a call that is taken */
	struct tr_buffer flags;
	struct tr_counter counter; /* of seq */
	struct tr_etrace_spelled sec_text, task_text;
	struct tr_etrace_words words[TR_ETRACE_WORDS];
};

/* event.c. All these return false if memory is exhausted. */

bool tr_etrace_events_line(struct tr_etrace_events *events, const struct tr_etrace_line *line);

/* Finishes an event at the end of the log. Call it until none is in progress. */
bool tr_etrace_events_end(struct tr_etrace_events *events);

void tr_etrace_events_free(struct tr_etrace_events *events);

/* render.c: appends the record of an event, which has that seq, to the queue. */
bool tr_etrace_render(struct tr_etrace_events *events, struct tr_etrace_event *event,
		      const struct tr_etrace_task *task);

/*
 * Appends the record of a line that belongs to no event. reason: why it does not; NULL: the line is
 * no event, but lost lines, the directory of the log, or noise.
 */
bool tr_etrace_render_line(struct tr_etrace_events *events, const struct tr_etrace_line *line,
			   const char *reason);

/* Appends only a message: the line has no end. */
bool tr_etrace_render_cut(struct tr_etrace_events *events, uint64_t source_line);

/*
 * Takes what is first in the queue, which is not empty: TR_WARN with a message, then TR_OK with the
 * record that it is about, if there is one. The record is good until the queue is empty and a line
 * comes.
 */
enum tr_status tr_etrace_queue_take(struct tr_etrace_queue *queue, struct tr_record *record,
				    struct tr_error *err);

/* True if the event forked a child whose upid the tracer could not make: its counter has all bits
 * set. */
static inline bool tr_etrace_is_invalid_child(const struct tr_etrace_events *events,
					      const struct tr_etrace_event *event)
{
	enum { USUAL_BITS = 22 };
	unsigned bits = events->pid_bits == TR_ETRACE_NO_PID ? USUAL_BITS : events->pid_bits;

	return event->type == TR_ETRACE_FORK && event->given & 1 &&
	       event->numbers[0] >> bits == INT64_MAX >> bits;
}

#endif
