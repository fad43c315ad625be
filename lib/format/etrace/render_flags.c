/* What is known to be wrong with an event. */
#include "core/decimal.h"
#include "format/etrace/render.h"

void tr_etrace_flag(struct tr_etrace_render *r, struct tr_text what, struct tr_text tag)
{
	if (r->flags->len)
		tr_buffer_put_byte(r->flags, ',');
	tr_buffer_put_byte(r->flags, '"');
	tr_buffer_put_text(r->flags, what);
	tr_buffer_put_text(r->flags, tag);
	tr_buffer_put_byte(r->flags, '"');
	r->only_last_argument = false;
}

static void flag_strings(struct tr_etrace_render *r)
{
	const struct tr_etrace_event *event = r->event;

	for (unsigned i = 0; event->used >> i; i++) {
		const struct tr_etrace_string *string = &event->strings[i];
		if (!(event->used >> i & 1))
			continue;
		bool wrong = string->expected && string->len != string->size;
		if (string->form != TR_ETRACE_UNSEEN && !wrong && !string->disorder)
			continue;
		struct tr_text tag = tr_etrace_tag_of(event->type, i)->name;
		if (string->form == TR_ETRACE_UNSEEN)
			tr_etrace_flag(r, TR_TEXT("missing:"), tag);
		else if (wrong)
			tr_etrace_flag(r, TR_TEXT("size:"), tag);
		if (string->disorder)
			tr_etrace_flag(r, TR_TEXT("order:"), tag);
	}
}

static void flag_arguments(struct tr_etrace_render *r)
{
	const struct tr_etrace_event *event = r->event;
	uint64_t sum = tr_etrace_event_argsize(event), said = (uint64_t)event->numbers[0];
	bool fine = r->flags->len == 0;
	char text[TR_DECIMAL_MAX + 1];

	if (event->disorder)
		tr_etrace_flag(r, TR_TEXT("order:A"), TR_TEXT(""));
	if (!(event->given & 1) || sum == said)
		return;
	text[0] = sum < said ? '-' : '+';
	size_t len = 1 + tr_decimal_write(sum < said ? said - sum : sum - said, text + 1);
	tr_etrace_flag(r, TR_TEXT("argsize:"), (struct tr_text){ text, len });
	r->only_last_argument = fine && !event->disorder && sum + 1 == said;
}

static void flag_env(struct tr_etrace_render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (!event->argument_count)
		tr_etrace_flag(r, TR_TEXT("missing:UPID"), TR_TEXT(""));
	if (!tr_etrace_has(event, 0) || event->beginless)
		tr_etrace_flag(r, TR_TEXT("missing:Env"), TR_TEXT(""));
	if (event->disorder)
		tr_etrace_flag(r, TR_TEXT("order:UPID"), TR_TEXT(""));
	if (event->strings[0].disorder)
		tr_etrace_flag(r, TR_TEXT("order:Env"), TR_TEXT(""));
}

/* Numbers that every version of the tracer prints. */
static void flag_numbers(struct tr_etrace_render *r)
{
	static const struct {
		uint8_t given;
		struct tr_text names[TR_ETRACE_NUMBERS];
	} always[] = {
		[TR_ETRACE_OPEN] = { 7, { { "flags", 5 }, { "mode", 4 }, { "fd", 2 } } },
		[TR_ETRACE_CLOSE] = { 1, { { "fd", 2 } } },
		[TR_ETRACE_PIPE] = { 7, { { "fd1", 3 }, { "fd2", 3 }, { "flags", 5 } } },
		[TR_ETRACE_DUP] = { 7, { { "oldfd", 5 }, { "newfd", 5 }, { "flags", 5 } } },
	};
	const struct tr_etrace_event *event = r->event;
	bool known = event->type < sizeof always / sizeof *always;
	unsigned lacking = known ? always[event->type].given & ~(unsigned)event->given : 0;

	for (unsigned k = 0; lacking >> k; k++)
		if (lacking >> k & 1)
			tr_etrace_flag(r, TR_TEXT("missing:"), always[event->type].names[k]);
	if (event->type == TR_ETRACE_FORK && event->role == TR_ETRACE_SECOND && !(event->given & 1))
		tr_etrace_flag(r, TR_TEXT("missing:pid"), TR_TEXT(""));
}

void tr_etrace_find_flags(struct tr_etrace_render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (event->cut)
		tr_etrace_flag(r, TR_TEXT("cut"), TR_TEXT(""));
	if (event->unfinished)
		tr_etrace_flag(r, TR_TEXT("unfinished"), TR_TEXT(""));
	flag_numbers(r);
	if (event->type == TR_ETRACE_ENVSET)
		flag_env(r);
	else
		flag_strings(r);
	if (event->type == TR_ETRACE_EXEC)
		flag_arguments(r);
	/* the other end alone: what was renamed did not resolve, or its lines are lost */
	if (event->role == TR_ETRACE_SECOND && !event->strings[0].expected &&
	    (event->type == TR_ETRACE_RENAME || event->type == TR_ETRACE_LINK))
		tr_etrace_flag(r, TR_TEXT("missing:"), tr_etrace_tag_of(event->type, 0)->name);
	if (tr_etrace_is_invalid_child(r->group, event))
		tr_etrace_flag(r, TR_TEXT("invalid-child"), TR_TEXT(""));
}

bool tr_etrace_is_invalid_child(const struct tr_etrace_group *group,
				const struct tr_etrace_event *event)
{
	enum { USUAL_BITS = 22 };
	unsigned bits = group->pid_bits == TR_ETRACE_NO_PID ? USUAL_BITS : group->pid_bits;

	/* all bits of the counter are set */
	return event->type == TR_ETRACE_FORK && event->given & 1 &&
	       event->numbers[0] >> bits == INT64_MAX >> bits;
}
