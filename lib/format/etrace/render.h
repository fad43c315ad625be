/* What the files render*.c share: an event on its way to a line of the stream. */
#ifndef TR_FORMAT_ETRACE_RENDER_H
#define TR_FORMAT_ETRACE_RENDER_H

#include "format/etrace/group.h"

struct tr_etrace_render {
	struct tr_etrace_group *group;
	struct tr_etrace_event *event;
	struct tr_buffer *to;
	struct tr_buffer *flags; /* what is wrong with it, as the items of a list */
	bool only_last_argument; /* what is wrong is a byte that the tracer does not print */
};

/* A key, which is a constant, with its TAB and equals sign. */
#define tr_etrace_put_key(r, key) tr_buffer_put((r)->to, "\t" key "=", sizeof("\t" key "=") - 1)

static inline bool tr_etrace_has(const struct tr_etrace_event *event, unsigned slot)
{
	return event->strings[slot].form != TR_ETRACE_UNSEEN;
}

static inline struct tr_text tr_etrace_string_text(const struct tr_etrace_event *event,
						   unsigned slot)
{
	const struct tr_etrace_string *string = &event->strings[slot];

	return (struct tr_text){ event->bytes.data + string->begin, string->len };
}

/* render_flags.c: adds to flags, one, or all that the event shows by itself. */
void tr_etrace_flag(struct tr_etrace_render *r, struct tr_text what, struct tr_text tag);
void tr_etrace_find_flags(struct tr_etrace_render *r);

/* A child whose upid the tracer could not make. */
bool tr_etrace_is_invalid_child(const struct tr_etrace_group *group,
				const struct tr_etrace_event *event);

/* render_fields.c: the fields of the kind, and those behind the arrow. */
void tr_etrace_put_fields(struct tr_etrace_render *r, const struct tr_etrace_task *task);
void tr_etrace_put_results(struct tr_etrace_render *r);

#endif
