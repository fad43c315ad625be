/* The fields of each kind of event, in the order of trec(5). */
#include "format/etrace/flags.h"
#include "format/etrace/render.h"
#include "record/literal.h"

static void put_string(struct tr_etrace_render *r, unsigned slot)
{
	tr_string_quote(tr_etrace_string_text(r->event, slot), r->to);
}

#define put_string_field(r, key, slot) \
	do { \
		if (tr_etrace_has((r)->event, slot)) { \
			tr_etrace_put_key(r, key); \
			put_string(r, slot); \
		} \
	} while (0)

/* The field flags, where the number in the slot is there. */
static void put_flags(struct tr_etrace_render *r, unsigned slot)
{
	const struct tr_etrace_event *event = r->event;
	struct tr_buffer *to = r->to;

	if (!(event->given >> slot & 1))
		return;
	tr_etrace_put_key(r, "flags");
	int64_t flags = event->numbers[slot];
	unsigned place =
		(unsigned)event->type + (unsigned)((uint64_t)flags * 0x9e3779b97f4a7c15 >> 60);
	struct tr_etrace_words *words = &r->group->words[place % TR_ETRACE_WORDS];
	char *room = tr_buffer_room(to, sizeof words->text);
	if (room && words->len && words->flags == flags && words->type == event->type) {
		memcpy(room, words->text, sizeof words->text);
		tr_buffer_used(to, words->len);
		return;
	}
	size_t begin = to->len;
	tr_etrace_flags_spell(event->type, flags, to);
	size_t len = to->len - begin;
	if (to->failed || len > sizeof words->text)
		return;
	words->flags = flags;
	words->type = (uint8_t)event->type;
	words->len = (uint8_t)len;
	memcpy(words->text, to->data + begin, len);
}

static void put_exec(struct tr_etrace_render *r, const struct tr_etrace_task *task)
{
	const struct tr_etrace_event *event = r->event;
	struct tr_buffer *to = r->to;
	uint64_t next = 0;

	if (task->parent != TR_NO_POSITION) {
		tr_etrace_put_key(r, "parent");
		tr_buffer_put_decimal(to, task->parent);
	}
	if (task->ppid != TR_NO_POSITION) {
		tr_etrace_put_key(r, "ppid");
		tr_buffer_put_decimal(to, task->ppid);
	}
	put_string_field(r, "cwd", 2);
	tr_etrace_put_key(r, "argv");
	tr_buffer_put_byte(to, '[');
	for (size_t i = 0; i < event->argument_count; i++) {
		const struct tr_etrace_argument *argument = &event->arguments[i];
		/* empty ones are not printed */
		for (; next < argument->index; next++)
			tr_buffer_put_literal(to, "\"\",");
		next++;
		tr_string_quote(
			(struct tr_text){ event->bytes.data + argument->begin, argument->len }, to);
		if (i + 1 < event->argument_count)
			tr_buffer_put_byte(to, ',');
	}
	tr_buffer_put_byte(to, ']');
	if (tr_etrace_has(event, 0) &&
	    !(tr_etrace_has(event, 1) &&
	      tr_text_equal(tr_etrace_string_text(event, 0), tr_etrace_string_text(event, 1))))
		put_string_field(r, "interp", 0);
}

static void put_fork(struct tr_etrace_render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (event->given & 1) {
		tr_etrace_put_key(r, "child");
		tr_etrace_put_number(event->numbers[0], r->to);
	}
	put_flags(r, 1);
	if (event->failed)
		tr_buffer_put_literal(r->to, "\tfailed=true");
}

static void put_envset(struct tr_etrace_render *r)
{
	const struct tr_etrace_event *event = r->event;

	put_string_field(r, "var", 0);
	tr_etrace_put_key(r, "tasks");
	tr_buffer_put_byte(r->to, '[');
	for (size_t i = 0; i < event->argument_count; i++) {
		if (i)
			tr_buffer_put_byte(r->to, ',');
		tr_buffer_put_decimal(r->to, event->arguments[i].index);
	}
	tr_buffer_put_byte(r->to, ']');
}

#define put_number_field(r, key, slot) \
	do { \
		if ((r)->event->given >> (slot)&1) { \
			tr_etrace_put_key(r, key); \
			tr_etrace_put_number((r)->event->numbers[slot], (r)->to); \
		} \
	} while (0)

static void put_open(struct tr_etrace_render *r)
{
	const struct tr_etrace_event *event = r->event;
	int64_t creates = TR_ETRACE_O_CREAT | TR_ETRACE_O_TMPFILE;

	put_string_field(r, "path", 0);
	if (tr_etrace_has(event, 1) &&
	    !(tr_etrace_has(event, 0) &&
	      tr_text_equal(tr_etrace_string_text(event, 0), tr_etrace_string_text(event, 1))))
		put_string_field(r, "orig", 1);
	put_flags(r, 0);
	/* without a file that is made the mode is what happened to be in a register */
	if (event->given & 1 && event->numbers[0] & creates)
		put_number_field(r, "mode", 1);
	else if (event->numbers[1] || !(event->given & 1))
		put_number_field(r, ".mode", 1);
}

static void put_pipe(struct tr_etrace_render *r)
{
	const struct tr_etrace_event *event = r->event;

	tr_etrace_put_key(r, "fds");
	tr_buffer_put_byte(r->to, '[');
	if (event->given & 1)
		tr_etrace_put_number(event->numbers[0], r->to);
	if ((event->given & 3) == 3)
		tr_buffer_put_byte(r->to, ',');
	if (event->given & 2)
		tr_etrace_put_number(event->numbers[1], r->to);
	tr_buffer_put_byte(r->to, ']');
	put_flags(r, 2);
}

static void put_sys(struct tr_etrace_render *r)
{
	switch (r->event->type) {
	case TR_ETRACE_OPEN:
		put_open(r);
		break;
	case TR_ETRACE_CLOSE:
		put_number_field(r, "fd", 0);
		break;
	case TR_ETRACE_PIPE:
		put_pipe(r);
		break;
	case TR_ETRACE_DUP:
		put_number_field(r, "oldfd", 0);
		put_number_field(r, "newfd", 1);
		put_flags(r, 2);
		break;
	case TR_ETRACE_SYMLINK:
		put_string_field(r, "target", 0);
		put_string_field(r, "resolved", 1);
		put_string_field(r, "link", 2);
		break;
	case TR_ETRACE_RENAME:
	case TR_ETRACE_LINK:
		put_string_field(r, "from", 0);
		put_string_field(r, "to", 1);
		put_flags(r, 0);
		break;
	default:
		put_string_field(r, "source", 0);
		put_string_field(r, "target", 1);
		put_string_field(r, "type", 2);
		put_flags(r, 0);
		break;
	}
}

void tr_etrace_put_fields(struct tr_etrace_render *r, const struct tr_etrace_task *task)
{
	switch (r->event->type) {
	case TR_ETRACE_EXEC:
		put_exec(r, task);
		break;
	case TR_ETRACE_FORK:
		put_fork(r);
		break;
	case TR_ETRACE_EXIT:
		put_number_field(r, "status", 0);
		break;
	case TR_ETRACE_COMM:
		put_string_field(r, "comm", 0);
		break;
	case TR_ETRACE_ENVSET:
		put_envset(r);
		break;
	default:
		put_sys(r);
		break;
	}
}

void tr_etrace_put_results(struct tr_etrace_render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (event->type == TR_ETRACE_OPEN && event->given & 4) {
		tr_buffer_put_literal(r->to, "\t->\treturn=");
		tr_etrace_put_number(event->numbers[2], r->to);
	}
	if (event->failed && event->type >= TR_ETRACE_OPEN)
		tr_buffer_put_literal(r->to, "\t->\tfailed=true");
}
