/*
 * Puts the lines of a log together to events, each task for itself, because the
 * lines of many tasks stand between each other. What is finished goes into the
 * queue. Nothing is dropped: a line that belongs to no event becomes a raw
 * record, and an event that lacks something says so.
 */
#ifndef TR_FORMAT_ETRACE_GROUP_H
#define TR_FORMAT_ETRACE_GROUP_H

#include "core/decimal.h"
#include "format/etrace/event.h"
#include "format/etrace/queue.h"
#include "format/etrace/task.h"

enum { TR_ETRACE_NO_PID = 64 }; /* of pid_bits: nobody asked for pids */

/* A number and its digits, for those that are needed again and again. */
struct tr_etrace_spelled {
	uint64_t number;
	size_t len;	 /* 0: none yet */
	char digits[32]; /* so many are copied, whatever len is */
};

/* Flags of calls of one type as words: programs use few combinations, and finding the words takes
 * time. */
struct tr_etrace_words {
	int64_t flags;
	uint8_t type;
	uint8_t len;   /* 0: none yet */
	char text[54]; /* all of it is copied, whatever len is */
};

enum { TR_ETRACE_WORDS = 16 };

struct tr_etrace_group {
	struct tr_etrace_queue queue;
	struct tr_etrace_tasks tasks;
	struct tr_etrace_event *oldest, *newest; /* in progress */
	struct tr_etrace_event *unused;		 /* linked by next */
	size_t in_progress, held;		 /* how many, and their bytes */
	size_t unused_count;
	struct tr_buffer flags;			      /* scratch of render.c */
	struct tr_counter counter;		      /* of seq */
	struct tr_etrace_spelled sec_text, task_text; /* of the last record */
	struct tr_etrace_words words[TR_ETRACE_WORDS];
	uint64_t max_held;
	unsigned pid_bits; /* of an upid that are the pid, or TR_ETRACE_NO_PID */
	uint64_t seq;	   /* of the next record */
	uint64_t orphans;
};

/* False: memory is out. */
bool tr_etrace_group_line(struct tr_etrace_group *group, const struct tr_etrace_line *line);

/* The log has ended: what is in progress is finished as it is. Call again until the queue stays
 * empty. False: memory is out. */
bool tr_etrace_group_end(struct tr_etrace_group *group);

void tr_etrace_group_free(struct tr_etrace_group *group);

/* render.c: the record of an event into the queue. False: memory is out. */
bool tr_etrace_render(struct tr_etrace_group *group, struct tr_etrace_event *event,
		      struct tr_etrace_task *task);

/* The same for lines that are no event's. */
bool tr_etrace_render_raw(struct tr_etrace_group *group, const struct tr_etrace_line *line,
			  const char *reason);
bool tr_etrace_render_lost(struct tr_etrace_group *group, const struct tr_etrace_line *line);
bool tr_etrace_render_initcwd(struct tr_etrace_group *group, const struct tr_etrace_line *line);

#endif
