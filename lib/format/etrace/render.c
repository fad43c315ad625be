/* Events as lines of the stream: see trace-formats(5). */
#include "core/decimal.h"
#include "format/etrace/render.h"
#include "process/tree.h"
#include "record/literal.h"
#include "record/record.h"

/* Fields of all events. */

static void put_pid(struct tr_etrace_render *r)
{
	unsigned bits = r->group->pid_bits;

	if (bits == TR_ETRACE_NO_PID || bits == 0)
		return;
	tr_etrace_put_key(r, "pid");
	tr_buffer_put_decimal(r->to, r->event->upid & (((uint64_t)1 << bits) - 1));
}

/* The sizes that the event states, where they are not those of its texts. */
static void put_sizes(struct tr_etrace_render *r)
{
	const struct tr_etrace_event *event = r->event;

	for (unsigned i = 0; i < TR_ETRACE_STRINGS; i++) {
		const struct tr_etrace_string *string = &event->strings[i];
		if (!string->expected || (tr_etrace_has(event, i) && string->len == string->size))
			continue;
		tr_buffer_put_literal(r->to, "\t.");
		tr_buffer_put_text(r->to, tr_etrace_tag_of(event->type, i)->name);
		tr_buffer_put_byte(r->to, '=');
		tr_buffer_put_decimal(r->to, string->size);
	}
}

static void put_tail(struct tr_etrace_render *r, struct tr_etrace_entry *entry)
{
	const struct tr_etrace_event *event = r->event;

	put_pid(r);
	tr_etrace_put_key(r, "cpu");
	tr_etrace_put_number((int64_t)event->cpu, r->to);
	if (r->flags->len) {
		tr_etrace_put_key(r, "flagged");
		tr_buffer_put_byte(r->to, '[');
		entry->flags_begin = r->to->len;
		entry->flags_len = r->flags->len;
		tr_buffer_put_text(r->to, tr_buffer_text(r->flags));
		tr_buffer_put_byte(r->to, ']');
		put_sizes(r);
	}
	if (event->extra.len) {
		tr_etrace_put_key(r, "extra");
		tr_buffer_put_byte(r->to, '{');
		tr_buffer_put_text(r->to, tr_buffer_text(&event->extra));
		tr_buffer_put_byte(r->to, '}');
	}
}

/* The whole record. */

/* A short word, copied with what stands behind it. */
struct word {
	char bytes[8];
	uint8_t len;
};

#define WORD(literal) \
	{ \
		literal, sizeof(literal) - 1 \
	}

/* The kind; of a sys its name; and so what messages call it. */
static const struct word words[] = {
	[TR_ETRACE_EXEC] = WORD("exec"),     [TR_ETRACE_FORK] = WORD("fork"),
	[TR_ETRACE_EXIT] = WORD("exit"),     [TR_ETRACE_COMM] = WORD("comm"),
	[TR_ETRACE_ENVSET] = WORD("envset"), [TR_ETRACE_OPEN] = WORD("open"),
	[TR_ETRACE_CLOSE] = WORD("close"),   [TR_ETRACE_PIPE] = WORD("pipe"),
	[TR_ETRACE_DUP] = WORD("dup"),	     [TR_ETRACE_RENAME] = WORD("rename"),
	[TR_ETRACE_LINK] = WORD("link"),     [TR_ETRACE_SYMLINK] = WORD("symlink"),
	[TR_ETRACE_MOUNT] = WORD("mount"),   [TR_ETRACE_UMOUNT] = WORD("umount"),
};
static const struct word sys = WORD("sys");
static const struct word raw = WORD("raw");

static inline char *put_word(const struct word *word, char *p)
{
	memcpy(p, word->bytes, sizeof word->bytes);
	return p + word->len;
}

/* The digits of a number that is often the one of the time before. */
static inline char *put_again(struct tr_etrace_spelled *spelled, uint64_t number, char *p)
{
	if (spelled->number != number || !spelled->len) {
		spelled->number = number;
		spelled->len = tr_decimal_write(number, spelled->digits);
	}
	memcpy(p, spelled->digits, sizeof spelled->digits);
	return p + spelled->len;
}

/* kind, seq, time, task, TAB; the entry takes note of where they are */
static void put_columns(struct tr_etrace_group *group, struct tr_etrace_entry *entry,
			const struct word *kind, uint64_t upid, uint64_t sec, uint64_t nsec)
{
	enum { MOST = sizeof *kind + TR_DECIMAL_MAX + 2 + 2 * sizeof group->task_text.digits + 16 };
	struct tr_buffer *to = &group->queue.text;
	char *begin = tr_buffer_room(to, MOST), *p = begin;

	if (!begin)
		return;
	p = put_word(kind, p);
	*p++ = '\t';
	entry->columns[TR_COLUMN_KIND] = to->len;
	entry->columns[TR_COLUMN_SEQ] = to->len + (size_t)(p - begin);
	p += tr_counter_write(&group->counter, group->seq++, p);
	*p++ = '\t';
	entry->columns[TR_COLUMN_TIME] = to->len + (size_t)(p - begin);
	p = put_again(&group->sec_text, sec, p);
	*p++ = '.';
	tr_etrace_write_nanoseconds(nsec, p);
	p += TR_ETRACE_NANO_DIGITS;
	*p++ = '\t';
	entry->columns[TR_COLUMN_TASK] = to->len + (size_t)(p - begin);
	p = put_again(&group->task_text, upid, p);
	*p++ = '\t';
	entry->columns[TR_COLUMN_NAME] = to->len + (size_t)(p - begin);
	tr_buffer_used(to, (size_t)(p - begin));
}

static void put_name(struct tr_etrace_render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (event->type >= TR_ETRACE_OPEN) {
		char *room = tr_buffer_room(r->to, sizeof words->bytes);
		if (room)
			tr_buffer_used(r->to, (size_t)(put_word(&words[event->type], room) - room));
		return;
	}
	if (event->type == TR_ETRACE_EXEC && tr_etrace_has(event, 1))
		tr_cell_escape(tr_etrace_string_text(event, 1), false, r->to);
	else
		tr_buffer_put_byte(r->to, '-');
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
	    tr_etrace_is_invalid_child(group, event))
		return true;
	bool sibling = event->given & 2 && event->numbers[1] & (TR_FORK_SIBLING | TR_FORK_THREAD);
	uint64_t ppid = sibling ? task->ppid : task->upid, current = task->current;
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
	struct tr_etrace_render r = { group, event, &group->queue.text, &group->flags, false };
	uint64_t seq = group->seq;

	if (!entry || !tr_etrace_event_sort(event) || !tr_buffer_room(&event->bytes, TR_STRING_PAD))
		return false;
	if (r.flags->len)
		tr_buffer_reset(r.flags);
	/* its last line sets the role */
	event->unfinished |= event->type == TR_ETRACE_EXEC && event->role != TR_ETRACE_SECOND;
	tr_etrace_find_flags(&r);
	bool damaged = r.flags->len > 0;
	bool ambiguous = r.only_last_argument;
	if (event->type == TR_ETRACE_EXEC && !task->forked) {
		tr_etrace_flag(&r, TR_TEXT("orphan"), TR_TEXT(""));
		group->orphans++;
	}
	put_columns(group, entry, event->type < TR_ETRACE_OPEN ? &words[event->type] : &sys,
		    event->upid, event->sec, event->nsec);
	put_name(&r);
	entry->columns[TR_COLUMNS] = r.to->len + 1;
	tr_etrace_put_fields(&r, task);
	put_tail(&r, entry);
	if (damaged && event->type == TR_ETRACE_EXEC && event->given & 1 &&
	    tr_etrace_event_argsize(event) != (uint64_t)event->numbers[0]) {
		tr_etrace_put_key(&r, ".argsize");
		tr_etrace_put_number(event->numbers[0], r.to);
	}
	tr_etrace_put_results(&r);
	tr_buffer_put_byte(r.to, '\n');
	entry->len = r.to->len - entry->begin;
	entry->reason = words[event->type].bytes;
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
		put_columns(group, entry, &raw, line->upid, line->sec, line->nsec);
		entry->columns[TR_COLUMNS] = to->len + 2;
	} else {
		tr_buffer_put_literal(to, "raw\t");
		tr_buffer_put_decimal(to, group->seq++);
		tr_buffer_put_literal(to, "\t-\t-\t");
	}
	tr_buffer_put_literal(to, "-\ttext=");
	tr_string_quote(line->whole, to);
	tr_buffer_put_literal(to, "\treason=\"");
	tr_buffer_put_text(to, tr_text_from(reason)); /* a text of ours, without any escape */
	tr_buffer_put_byte(to, '"');
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
	tr_string_quote(line->text, to);
	if (line->cut)
		tr_buffer_put_literal(to, "\tflagged=[\"cut\"]");
	return end_entry(group, entry);
}
