/* Events as lines of the stream: see trace-formats(5). */
#include "core/decimal.h"
#include "format/etrace/flags.h"
#include "format/etrace/group.h"
#include "record/literal.h"
#include "record/record.h"

struct render {
	struct tr_etrace_group *group;
	struct tr_etrace_event *event;
	struct tr_buffer *to;
	struct tr_buffer *flags; /* what is wrong with it, as the items of a list */
	bool only_last_argument; /* what is wrong is a byte that the tracer does not print */
};

static struct tr_text string_text(const struct tr_etrace_event *event, unsigned slot)
{
	const struct tr_etrace_string *string = &event->strings[slot];

	return (struct tr_text){ event->bytes.data + string->begin, string->len };
}

static bool has(const struct tr_etrace_event *event, unsigned slot)
{
	return event->strings[slot].form != TR_ETRACE_UNSEEN;
}

/* A key with its TAB and equals sign. */
#define put_key(r, key) tr_buffer_put((r)->to, "\t" key "=", sizeof("\t" key "=") - 1)

static void put_number(struct tr_buffer *to, int64_t number)
{
	if (number < 0)
		tr_buffer_put_byte(to, '-');
	tr_buffer_put_decimal(to, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

static void put_quoted(struct tr_buffer *to, struct tr_text bytes)
{
	tr_buffer_put_byte(to, '"');
	tr_string_escape(bytes, to);
	tr_buffer_put_byte(to, '"');
}

static void put_string(struct render *r, unsigned slot)
{
	put_quoted(r->to, string_text(r->event, slot));
}

#define put_string_field(r, key, slot) \
	do { \
		if (has((r)->event, slot)) { \
			put_key(r, key); \
			put_string(r, slot); \
		} \
	} while (0)

/* What is wrong with it. */

static void flag(struct render *r, struct tr_text what, struct tr_text tag)
{
	if (r->flags->len)
		tr_buffer_put_byte(r->flags, ',');
	tr_buffer_put_byte(r->flags, '"');
	tr_buffer_put_text(r->flags, what);
	tr_buffer_put_text(r->flags, tag);
	tr_buffer_put_byte(r->flags, '"');
	r->only_last_argument = false;
}

static void flag_strings(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	for (unsigned i = 0; i < TR_ETRACE_STRINGS; i++) {
		const struct tr_etrace_string *string = &event->strings[i];
		if (!string->expected && string->form == TR_ETRACE_UNSEEN)
			continue;
		struct tr_text tag = tr_etrace_tag_of(event->type, i)->name;
		if (string->form == TR_ETRACE_UNSEEN)
			flag(r, TR_TEXT("missing:"), tag);
		else if (string->expected && string->len != string->size)
			flag(r, TR_TEXT("size:"), tag);
		if (string->disorder)
			flag(r, TR_TEXT("order:"), tag);
	}
}

static void flag_arguments(struct render *r)
{
	const struct tr_etrace_event *event = r->event;
	uint64_t sum = tr_etrace_event_argsize(event), said = (uint64_t)event->numbers[0];
	bool fine = r->flags->len == 0;
	char text[TR_DECIMAL_MAX + 1];

	if (event->disorder)
		flag(r, TR_TEXT("order:A"), TR_TEXT(""));
	if (!(event->given & 1) || sum == said)
		return;
	text[0] = sum < said ? '-' : '+';
	size_t len = 1 + tr_decimal_write(sum < said ? said - sum : sum - said, text + 1);
	flag(r, TR_TEXT("argsize:"), (struct tr_text){ text, len });
	r->only_last_argument = fine && !event->disorder && sum + 1 == said;
}

static void flag_env(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (!event->argument_count)
		flag(r, TR_TEXT("missing:UPID"), TR_TEXT(""));
	if (!has(event, 0) || event->beginless)
		flag(r, TR_TEXT("missing:Env"), TR_TEXT(""));
	if (event->strings[0].disorder)
		flag(r, TR_TEXT("order:Env"), TR_TEXT(""));
}

/* Numbers that every version of the tracer prints. */
static void flag_numbers(struct render *r)
{
	static const struct {
		enum tr_etrace_type type;
		struct tr_text names[TR_ETRACE_NUMBERS];
	} always[] = {
		{ TR_ETRACE_OPEN, { { "flags", 5 }, { "mode", 4 }, { "fd", 2 } } },
		{ TR_ETRACE_CLOSE, { { "fd", 2 } } },
		{ TR_ETRACE_PIPE, { { "fd1", 3 }, { "fd2", 3 }, { "flags", 5 } } },
		{ TR_ETRACE_DUP, { { "oldfd", 5 }, { "newfd", 5 }, { "flags", 5 } } },
	};
	const struct tr_etrace_event *event = r->event;

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		for (unsigned k = 0; k < TR_ETRACE_NUMBERS; k++)
			if (always[i].type == event->type && always[i].names[k].data &&
			    !(event->given >> k & 1))
				flag(r, TR_TEXT("missing:"), always[i].names[k]);
	if (event->type == TR_ETRACE_FORK && event->role == TR_ETRACE_SECOND && !(event->given & 1))
		flag(r, TR_TEXT("missing:pid"), TR_TEXT(""));
}

/* All but what only the one kind has. */
static void find_flags(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (event->cut)
		flag(r, TR_TEXT("cut"), TR_TEXT(""));
	if (event->unfinished)
		flag(r, TR_TEXT("unfinished"), TR_TEXT(""));
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
		flag(r, TR_TEXT("missing:"), tr_etrace_tag_of(event->type, 0)->name);
}

/* Fields of all events. */

static void put_pid(struct render *r)
{
	unsigned bits = r->group->pid_bits;

	if (bits == TR_ETRACE_NO_PID)
		return;
	put_key(r, "pid");
	tr_buffer_put_decimal(r->to, r->event->upid & (((uint64_t)1 << bits) - 1));
}

/* The sizes that the event states, where they are not those of its texts. */
static void put_sizes(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	for (unsigned i = 0; i < TR_ETRACE_STRINGS; i++) {
		const struct tr_etrace_string *string = &event->strings[i];
		if (!string->expected || (has(event, i) && string->len == string->size))
			continue;
		tr_buffer_put_literal(r->to, "\t.");
		tr_buffer_put_text(r->to, tr_etrace_tag_of(event->type, i)->name);
		tr_buffer_put_byte(r->to, '=');
		tr_buffer_put_decimal(r->to, string->size);
	}
}

static void put_tail(struct render *r, struct tr_etrace_entry *entry)
{
	const struct tr_etrace_event *event = r->event;

	put_pid(r);
	put_key(r, "cpu");
	tr_buffer_put_decimal(r->to, event->cpu);
	if (r->flags->len) {
		put_key(r, "flagged");
		tr_buffer_put_byte(r->to, '[');
		entry->flags_begin = r->to->len;
		entry->flags_len = r->flags->len;
		tr_buffer_put_text(r->to, tr_buffer_text(r->flags));
		tr_buffer_put_byte(r->to, ']');
		put_sizes(r);
	}
	if (event->extra.len) {
		put_key(r, "extra");
		tr_buffer_put_byte(r->to, '{');
		tr_buffer_put_text(r->to, tr_buffer_text(&event->extra));
		tr_buffer_put_byte(r->to, '}');
	}
}

/* The kinds. */

static void put_exec(struct render *r, const struct tr_etrace_task *task)
{
	const struct tr_etrace_event *event = r->event;
	struct tr_buffer *to = r->to;
	uint64_t next = 0;

	if (task->parent != TR_NO_POSITION) {
		put_key(r, "parent");
		tr_buffer_put_decimal(to, task->parent);
	}
	if (task->forked) {
		put_key(r, "ppid");
		tr_buffer_put_decimal(to, task->ppid);
	}
	put_string_field(r, "cwd", 2);
	put_key(r, "argv");
	tr_buffer_put_byte(to, '[');
	for (size_t i = 0; i < event->argument_count; i++) {
		const struct tr_etrace_argument *argument = &event->arguments[i];
		/* empty ones are not printed */
		for (; next < argument->index; next++)
			tr_buffer_put_literal(to, "\"\",");
		next++;
		put_quoted(to,
			   (struct tr_text){ event->bytes.data + argument->begin, argument->len });
		if (i + 1 < event->argument_count)
			tr_buffer_put_byte(to, ',');
	}
	tr_buffer_put_byte(to, ']');
	if (has(event, 0) &&
	    !(has(event, 1) && tr_text_equal(string_text(event, 0), string_text(event, 1))))
		put_string_field(r, "interp", 0);
}

static void put_fork(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (event->given & 1) {
		put_key(r, "child");
		put_number(r->to, event->numbers[0]);
	}
	if (event->given & 2) {
		put_key(r, "flags");
		tr_etrace_flags_spell(event->type, event->numbers[1], r->to);
	}
	if (event->failed)
		tr_buffer_put_literal(r->to, "\tfailed=true");
}

static void put_envset(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	put_string_field(r, "var", 0);
	put_key(r, "tasks");
	tr_buffer_put_byte(r->to, '[');
	for (size_t i = 0; i < event->argument_count; i++) {
		if (i)
			tr_buffer_put_byte(r->to, ',');
		tr_buffer_put_decimal(r->to, event->arguments[i].index);
	}
	tr_buffer_put_byte(r->to, ']');
}

static void put_flags(struct render *r, unsigned slot)
{
	const struct tr_etrace_event *event = r->event;

	if (!(event->given >> slot & 1))
		return;
	put_key(r, "flags");
	tr_etrace_flags_spell(event->type, event->numbers[slot], r->to);
}

#define put_number_field(r, key, slot) \
	do { \
		if ((r)->event->given >> (slot)&1) { \
			put_key(r, key); \
			put_number((r)->to, (r)->event->numbers[slot]); \
		} \
	} while (0)

static void put_open(struct render *r)
{
	const struct tr_etrace_event *event = r->event;
	int64_t creates = TR_ETRACE_O_CREAT | TR_ETRACE_O_TMPFILE;

	put_string_field(r, "path", 0);
	if (has(event, 1) &&
	    !(has(event, 0) && tr_text_equal(string_text(event, 0), string_text(event, 1))))
		put_string_field(r, "orig", 1);
	put_flags(r, 0);
	/* without a file that is made the mode is what happened to be in a register */
	if (event->given & 1 && event->numbers[0] & creates)
		put_number_field(r, "mode", 1);
	else if (event->numbers[1] || !(event->given & 1))
		put_number_field(r, ".mode", 1);
}

static void put_pipe(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	put_key(r, "fds");
	tr_buffer_put_byte(r->to, '[');
	if (event->given & 1)
		put_number(r->to, event->numbers[0]);
	if ((event->given & 3) == 3)
		tr_buffer_put_byte(r->to, ',');
	if (event->given & 2)
		put_number(r->to, event->numbers[1]);
	tr_buffer_put_byte(r->to, ']');
	put_flags(r, 2);
}

static void put_sys(struct render *r)
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

static void put_results(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (event->type == TR_ETRACE_OPEN && event->given & 4) {
		tr_buffer_put_literal(r->to, "\t->\treturn=");
		put_number(r->to, event->numbers[2]);
	}
	if (event->failed)
		tr_buffer_put_literal(r->to, "\t->\tfailed=true");
}

/* The whole record. */

static struct tr_text kind_of(enum tr_etrace_type type)
{
	static const struct tr_text kinds[] = {
		[TR_ETRACE_EXEC] = { "exec", 4 },     [TR_ETRACE_FORK] = { "fork", 4 },
		[TR_ETRACE_EXIT] = { "exit", 4 },     [TR_ETRACE_COMM] = { "comm", 4 },
		[TR_ETRACE_ENVSET] = { "envset", 6 },
	};
	return type < TR_ETRACE_OPEN ? kinds[type] : TR_TEXT("sys");
}

static const char *name_of(enum tr_etrace_type type)
{
	static const char *const names[] = {
		[TR_ETRACE_EXEC] = "exec",     [TR_ETRACE_FORK] = "fork",
		[TR_ETRACE_EXIT] = "exit",     [TR_ETRACE_COMM] = "comm",
		[TR_ETRACE_ENVSET] = "envset", [TR_ETRACE_OPEN] = "open",
		[TR_ETRACE_CLOSE] = "close",   [TR_ETRACE_PIPE] = "pipe",
		[TR_ETRACE_DUP] = "dup",       [TR_ETRACE_RENAME] = "rename",
		[TR_ETRACE_LINK] = "link",     [TR_ETRACE_SYMLINK] = "symlink",
		[TR_ETRACE_MOUNT] = "mount",   [TR_ETRACE_UMOUNT] = "umount",
	};
	return names[type];
}

/* kind, seq, time, task, TAB */
static void put_columns(struct tr_etrace_group *group, struct tr_text kind, uint64_t upid,
			uint64_t sec, uint64_t nsec)
{
	struct tr_buffer *to = &group->queue.text;

	tr_buffer_put_text(to, kind);
	tr_buffer_put_byte(to, '\t');
	tr_buffer_put_decimal(to, group->seq++);
	tr_buffer_put_byte(to, '\t');
	tr_etrace_put_time(sec, nsec, to);
	tr_buffer_put_byte(to, '\t');
	tr_buffer_put_decimal(to, upid);
	tr_buffer_put_byte(to, '\t');
}

static void put_name(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (event->type >= TR_ETRACE_OPEN)
		tr_buffer_put_text(r->to, tr_text_from(name_of(event->type)));
	else if (event->type == TR_ETRACE_EXEC && has(event, 1))
		tr_cell_escape(string_text(event, 1), false, r->to);
	else
		tr_buffer_put_byte(r->to, '-');
}

static void put_fields(struct render *r, const struct tr_etrace_task *task)
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

/* A child whose upid the tracer could not make: all bits of the counter are set. */
static bool is_invalid_child(int64_t child)
{
	enum { USUAL_BITS = 22 };

	return child >> USUAL_BITS == INT64_MAX >> USUAL_BITS;
}

/* What a fork or an exec means for what comes later. */
static bool follow(struct tr_etrace_group *group, const struct tr_etrace_event *event,
		   struct tr_etrace_task *task, uint64_t seq)
{
	if (event->type == TR_ETRACE_EXEC) {
		task->current = seq;
		task->execed = true;
		return true;
	}
	if (event->type != TR_ETRACE_FORK || !(event->given & 1) || event->numbers[0] < 0 ||
	    is_invalid_child(event->numbers[0]))
		return true;
	uint64_t ppid = task->upid, current = task->current;
	struct tr_etrace_task *child =
		tr_etrace_task_get(&group->tasks, (uint64_t)event->numbers[0]);
	if (!child)
		return false;
	child->forked = true;
	child->ppid = ppid;
	child->parent = current;
	if (!child->execed)
		child->current = current;
	return true;
}

bool tr_etrace_render(struct tr_etrace_group *group, struct tr_etrace_event *event,
		      struct tr_etrace_task *task)
{
	struct tr_etrace_entry *entry = tr_etrace_queue_add(&group->queue, event->source_line);
	struct render r = { group, event, &group->queue.text, &group->flags, false };
	uint64_t seq = group->seq;

	if (!entry || !tr_etrace_event_sort(event))
		return false;
	tr_buffer_reset(r.flags);
	/* its last line sets the role */
	event->unfinished |= event->type == TR_ETRACE_EXEC && event->role != TR_ETRACE_SECOND;
	find_flags(&r);
	bool damaged = r.flags->len > 0;
	if (event->type == TR_ETRACE_FORK && event->given & 1 &&
	    is_invalid_child(event->numbers[0])) {
		flag(&r, TR_TEXT("invalid-child"), TR_TEXT(""));
		damaged = true;
	}
	bool ambiguous = r.only_last_argument;
	if (event->type == TR_ETRACE_EXEC && !task->forked) {
		flag(&r, TR_TEXT("orphan"), TR_TEXT(""));
		group->orphans++;
	}
	put_columns(group, kind_of(event->type), event->upid, event->sec, event->nsec);
	put_name(&r);
	put_fields(&r, task);
	put_tail(&r, entry);
	if (damaged && event->type == TR_ETRACE_EXEC && event->given & 1 &&
	    tr_etrace_event_argsize(event) != (uint64_t)event->numbers[0]) {
		put_key(&r, ".argsize");
		put_number(r.to, event->numbers[0]);
	}
	put_results(&r);
	tr_buffer_put_byte(r.to, '\n');
	entry->len = r.to->len - entry->begin;
	entry->reason = name_of(event->type);
	entry->number = event->upid;
	if (damaged)
		entry->trouble = ambiguous ? TR_ETRACE_AMBIGUOUS : TR_ETRACE_FLAGGED;
	return !r.to->failed && !r.flags->failed && follow(group, event, task, seq);
}

/* Lines that are no event's. */

static bool end_entry(struct tr_etrace_group *group, struct tr_etrace_entry *entry)
{
	struct tr_buffer *to = &group->queue.text;

	tr_buffer_put_byte(to, '\n');
	entry->len = to->len - entry->begin;
	return !to->failed;
}

bool tr_etrace_render_raw(struct tr_etrace_group *group, const struct tr_etrace_line *line,
			  const char *reason)
{
	struct tr_etrace_entry *entry = tr_etrace_queue_add(&group->queue, line->number);
	struct tr_buffer *to = &group->queue.text;

	if (!entry)
		return false;
	if (line->type == TR_ETRACE_EVENT) {
		put_columns(group, TR_TEXT("raw"), line->upid, line->sec, line->nsec);
	} else {
		tr_buffer_put_literal(to, "raw\t");
		tr_buffer_put_decimal(to, group->seq++);
		tr_buffer_put_literal(to, "\t-\t-\t");
	}
	tr_buffer_put_literal(to, "-\ttext=");
	put_quoted(to, line->whole);
	tr_buffer_put_literal(to, "\treason=");
	put_quoted(to, tr_text_from(reason));
	entry->trouble = TR_ETRACE_RAW;
	entry->reason = reason;
	return end_entry(group, entry);
}

bool tr_etrace_render_lost(struct tr_etrace_group *group, const struct tr_etrace_line *line)
{
	struct tr_etrace_entry *entry = tr_etrace_queue_add(&group->queue, line->number);
	struct tr_buffer *to = &group->queue.text;

	if (!entry)
		return false;
	tr_buffer_put_literal(to, "lost\t");
	tr_buffer_put_decimal(to, group->seq++);
	tr_buffer_put_literal(to, "\t-\t-\t-");
	if (line->has_lost) {
		tr_buffer_put_literal(to, "\tevents=");
		tr_buffer_put_decimal(to, line->lost);
	}
	tr_buffer_put_literal(to, "\tcpu=");
	tr_buffer_put_decimal(to, line->cpu);
	entry->trouble = TR_ETRACE_EVENTS_LOST;
	entry->number = line->has_lost ? line->lost : 0;
	return end_entry(group, entry);
}

bool tr_etrace_render_initcwd(struct tr_etrace_group *group, const struct tr_etrace_line *line)
{
	struct tr_etrace_entry *entry = tr_etrace_queue_add(&group->queue, line->number);
	struct tr_buffer *to = &group->queue.text;

	if (!entry)
		return false;
	tr_buffer_put_literal(to, "meta\t");
	tr_buffer_put_decimal(to, group->seq++);
	tr_buffer_put_literal(to, "\t-\t-\tINITCWD\tvalue=");
	put_quoted(to, line->text);
	return end_entry(group, entry);
}
