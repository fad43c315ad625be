/*
 * An event that is being put together from its lines. Its strings stand as raw
 * bytes in one buffer, because a part may end within a character; escaping
 * comes when all of it is there.
 */
#ifndef TR_FORMAT_ETRACE_EVENT_H
#define TR_FORMAT_ETRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "format/etrace/line.h"
#include "format/etrace/tag.h"

struct tr_etrace_string {
	enum {
		TR_ETRACE_UNSEEN,
		TR_ETRACE_SHORT, /* one line, or its first part behind a bar: the size tells its end
				  */
		TR_ETRACE_LONG,	 /* in parts, until the line that ends it */
	} form;
	bool expected; /* the event says how long it is */
	bool done;
	bool disorder;	/* its lines stand in another order than they were printed in */
	uint64_t size;	/* as the event says */
	uint64_t index; /* of the last part */
	size_t begin, len;
};

struct tr_etrace_argument {
	uint64_t index;
	size_t begin, len;
};

enum tr_etrace_phase {
	TR_ETRACE_GATHERING,
	TR_ETRACE_HALF, /* complete so far, what follows is missing */
};

struct tr_etrace_event {
	struct tr_etrace_event *previous, *next; /* of those in progress, oldest first */
	enum tr_etrace_type type;
	enum tr_etrace_role role;
	enum tr_etrace_phase phase;
	uint64_t upid, cpu, sec, nsec;
	uint64_t source_line;
	uint64_t begun_sec, begun_nsec; /* of the line that began it, or its second half */
	uint64_t last_sec, last_nsec;	/* of the last line that had text */

	/* what is wrong with it, besides what its strings tell */
	bool failed; /* the system call did */
	bool cut;
	bool unfinished;
	bool disorder;	/* of its arguments, or tasks */
	bool beginless; /* an Env without its first part */

	uint8_t given;	 /* numbers that are there, as bits */
	uint8_t awaited; /* strings that are expected and not done */
	uint8_t used;	 /* strings that are expected or there, as bits */
	int64_t numbers[TR_ETRACE_NUMBERS];
	struct tr_etrace_string strings[TR_ETRACE_STRINGS];
	struct tr_etrace_string *last; /* where a Cont belongs; NULL: to an argument, or nowhere */
	bool in_arguments;
	struct tr_buffer bytes;
	struct tr_buffer extra;		      /* unknown parameters, as the members of a map */
	struct tr_etrace_argument *arguments; /* of an exec; of an envset its tasks, as index */
	size_t argument_count, argument_cap;
};

/* Empties the event and takes note of where it begins. Memory is kept. */
void tr_etrace_event_begin(struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
			   const struct tr_etrace_line *line);

/* A first half goes on with the tag of its second. */
void tr_etrace_event_go_on(struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
			   const struct tr_etrace_line *line);

/*
 * The line was printed before the event, or the second half of it, began: it is the end of
 * something else that is torn.
 */
static inline bool tr_etrace_event_is_before(const struct tr_etrace_line *line,
					     const struct tr_etrace_event *event)
{
	return line->sec != event->begun_sec ? line->sec < event->begun_sec
					     : line->nsec < event->begun_nsec;
}

/* NULL: fine; else why the text is no list of the tag's parameters. May fail extra. */
const char *tr_etrace_event_parameters(struct tr_etrace_event *event,
				       const struct tr_etrace_tag *tag, struct tr_text text);

enum tr_etrace_fit {
	TR_ETRACE_FITS,
	TR_ETRACE_STRANGE, /* the line does not belong to this event */
	TR_ETRACE_MEMORY,
};

/* A line with text, or the end of it (ended). */
enum tr_etrace_fit tr_etrace_event_string(struct tr_etrace_event *event,
					  const struct tr_etrace_tag *tag, bool ended,
					  const struct tr_etrace_line *line);
enum tr_etrace_fit tr_etrace_event_argument(struct tr_etrace_event *event,
					    const struct tr_etrace_line *line);
enum tr_etrace_fit tr_etrace_event_env(struct tr_etrace_event *event,
				       const struct tr_etrace_line *line);
bool tr_etrace_event_is_upid(const struct tr_etrace_line *line);
enum tr_etrace_fit tr_etrace_event_upid(struct tr_etrace_event *event,
					const struct tr_etrace_line *line);
enum tr_etrace_fit tr_etrace_event_cont(struct tr_etrace_event *event,
					const struct tr_etrace_line *line);

/* All strings that it announced are there. Not for what an own line ends. */
static inline bool tr_etrace_event_is_whole(const struct tr_etrace_event *event)
{
	return !event->awaited && event->type != TR_ETRACE_EXEC && event->type != TR_ETRACE_ENVSET;
}

/* Puts the arguments in their order and makes one of those with one number. False: memory. */
bool tr_etrace_event_sort(struct tr_etrace_event *event);

/* Bytes that the arguments take in the kernel, with their NULs. */
uint64_t tr_etrace_event_argsize(const struct tr_etrace_event *event);

/* Bytes it holds. */
static inline size_t tr_etrace_event_held(const struct tr_etrace_event *event)
{
	return event->bytes.len + event->extra.len +
	       event->argument_count * sizeof *event->arguments;
}

void tr_etrace_event_free(struct tr_etrace_event *event);

#endif
