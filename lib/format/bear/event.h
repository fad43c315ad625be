/* One object of a trace, opened: the members that matter at each of its levels. */
#ifndef TR_FORMAT_BEAR_EVENT_H
#define TR_FORMAT_BEAR_EVENT_H

#include "record/json_items.h"

/* Members of one level, of which NULL ones are absent or of another type. */
struct tr_bear_level {
	struct tr_json_member *members;
	size_t count;
};

struct tr_bear_event {
	struct tr_bear_level top;
	const struct tr_json_member *rid, *timestamp, *terminated, *signalled, *started;
	struct tr_bear_level in_started;
	/* of started, or in version 4 of the top */
	const struct tr_json_member *execution, *pid, *ppid;
	struct tr_bear_level in_execution;
	const struct tr_json_member *executable, *arguments, *working_dir, *environment;
};

/* The object's text has TR_INPUT_PAD behind it. False: memory is out. */
bool tr_bear_event_open(struct tr_bear_event *event, struct tr_text object, struct tr_arena *arena);

/* Something is executed. */
static inline bool tr_bear_is_execution(const struct tr_bear_event *event)
{
	return event->executable || event->arguments;
}

/*
 * Appends ,"key":VALUE of what the event has besides, from the outside in. False:
 * a value that no record can hold, a key of Bear's with a value of another type or
 * at another level, or memory is out.
 */
bool tr_bear_event_others(const struct tr_bear_event *event, struct tr_buffer *to,
			  struct tr_error *err);

#endif
