#include "format/bear/event.h"

static const struct tr_json_member *typed(const struct tr_bear_level *level, const char *key,
					  enum tr_json_token type)
{
	const struct tr_json_member *member =
		tr_json_member_find(level->members, level->count, key);

	return member && member->type == type ? member : NULL;
}

static bool open_level(struct tr_bear_level *level, struct tr_text object, struct tr_arena *arena)
{
	return tr_json_members(object, arena, &level->members, &level->count);
}

/* outside: where the execution stands. */
static bool open_execution(struct tr_bear_event *event, const struct tr_bear_level *outside,
			   struct tr_arena *arena)
{
	struct tr_bear_level *level = &event->in_execution;

	event->pid = typed(outside, "pid", TR_JSON_NUMBER);
	event->ppid = typed(outside, "ppid", TR_JSON_NUMBER);
	event->execution = typed(outside, "execution", TR_JSON_OBJECT);
	if (!event->execution)
		return true;
	if (!open_level(level, event->execution->value, arena))
		return false;
	event->executable = typed(level, "executable", TR_JSON_STRING);
	event->arguments = typed(level, "arguments", TR_JSON_ARRAY);
	event->working_dir = typed(level, "working_dir", TR_JSON_STRING);
	event->environment = typed(level, "environment", TR_JSON_OBJECT);
	return true;
}

bool tr_bear_event_open(struct tr_bear_event *event, struct tr_text object, struct tr_arena *arena)
{
	const struct tr_bear_level *top = &event->top;

	*event = (struct tr_bear_event){ .rid = NULL };
	if (!open_level(&event->top, object, arena))
		return false;
	event->rid = typed(top, "rid", TR_JSON_STRING);
	event->timestamp = typed(top, "timestamp", TR_JSON_STRING);
	event->terminated = typed(top, "terminated", TR_JSON_OBJECT);
	event->signalled = typed(top, "signalled", TR_JSON_OBJECT);
	event->started = typed(top, "started", TR_JSON_OBJECT);
	if (!event->started)
		return open_execution(event, top, arena);
	return open_level(&event->in_started, event->started->value, arena) &&
	       open_execution(event, &event->in_started, arena);
}

static bool put_member(const struct tr_json_member *member, struct tr_buffer *to,
		       struct tr_error *err)
{
	tr_buffer_put_literal(to, ",\"");
	tr_json_string_to_spelling(member->key, to);
	tr_buffer_put_literal(to, "\":");
	return tr_json_put_value(member->value, to, err);
}

static bool is_known(struct tr_text key)
{
	static const char *const keys[] = {
		"rid", "timestamp", "terminated", "signalled", "started",     "execution",
		"pid", "ppid",	    "executable", "arguments", "working_dir", "environment"
	};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (tr_text_is(key, keys[i]))
			return true;
	return false;
}

/* Members that no field has; nor does one in front of another of its key that counts. */
static bool put_others(const struct tr_bear_level *level, const struct tr_json_member *const *used,
		       size_t used_count, struct tr_buffer *to, struct tr_error *err)
{
	for (size_t i = 0; i < level->count; i++) {
		size_t k = 0;
		while (k < used_count &&
		       !(used[k] && tr_text_equal(used[k]->key, level->members[i].key)))
			k++;
		if (k < used_count)
			continue;
		if (is_known(level->members[i].key)) {
			tr_error_set(err, TR_CAUSE_INPUT,
				     "a key of Bear in the wrong place");
			return false;
		}
		if (!put_member(&level->members[i], to, err))
			return false;
	}
	return true;
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

bool tr_bear_event_others(const struct tr_bear_event *event, struct tr_buffer *to,
			  struct tr_error *err)
{
	/* what is executed does not end in the same event */
	bool ends = !tr_bear_is_execution(event);
	const struct tr_json_member *top[] = {
		event->rid,
		event->timestamp,
		ends ? event->terminated : NULL,
		ends ? event->signalled : NULL,
		event->started,
		NULL,
		NULL,
		NULL,
	};
	const struct tr_json_member *outside[] = { event->execution, event->pid, event->ppid };
	const struct tr_json_member *execution[] = { event->executable, event->arguments,
						     event->working_dir, event->environment };

	if (!event->started)
		memcpy(&top[COUNT(top) - COUNT(outside)], outside, sizeof outside);
	return put_others(&event->top, top, COUNT(top), to, err) &&
	       put_others(&event->in_started, outside, COUNT(outside), to, err) &&
	       put_others(&event->in_execution, execution, COUNT(execution), to, err);
}
