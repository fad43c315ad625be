/* SPDX-License-Identifier: MIT */
/*
 * Renders an event as the line of its record (see trace-formats(5)): the columns, the fields of its
 * kind, the fields that all have, its flags, and its results. The keys of fields are in
 * tr_etrace_shapes.
 *
 *	tr_etrace_render	an event -> a record in the queue
 *	  find_flags		compares what the event states with its texts
 *	  put_columns, put_name, put_fields, put_tail, put_results
 *	  take_call		or gives it to a taker of file calls, and no record is made
 *	tr_etrace_render_line	a line of no event -> a record raw, lost or meta
 *	tr_etrace_queue_take	the first of the queue -> the reader
 *
 * Damage is reported by a flag in the record and a message before it; nothing is dropped. What the
 * tracer itself loses (an empty last argument) gives a note, since no reader can do better.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/buffer.h"
#include "format/etrace/event.h"
#include "process/instant.h"
#include "record/literal.h"

/* An event and the line that it becomes. */
struct render {
	struct tr_etrace_events *events;
	const struct tr_etrace_event *event;
	const struct tr_etrace_shape *shape;
	struct tr_buffer *to;
	struct tr_buffer *flags; /* the damage of the event, as the items of a list */
	bool only_last_argument; /* a byte is missing that the tracer may not have printed */
};

/* True if the log has the text. */
static inline bool has(const struct tr_etrace_event *event, unsigned slot)
{
	return event->strings[slot].form != TR_ETRACE_UNSEEN;
}

/* Returns the bytes of a text, with escapes not yet applied. */
static inline struct tr_text string_text(const struct tr_etrace_event *event, unsigned slot)
{
	const struct tr_etrace_string *string = &event->strings[slot];

	return (struct tr_text){ event->bytes.data + string->begin, string->len };
}

/* Sorts the arguments. */

/* Sorts by number, then by place in the log: parts of one argument keep their order. */
static int by_index(const void *a, const void *b)
{
	const struct tr_etrace_argument *x = a, *y = b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/*
 * Puts the arguments in their order. Parts of one argument with others between them are joined
 * again, after all bytes. False: memory is exhausted.
 */
static bool sort_arguments(struct tr_etrace_event *event)
{
	struct tr_buffer *bytes = &event->bytes;
	struct tr_etrace_argument *list = event->arguments;
	size_t count = 0;

	if (!event->disorder || event->type != TR_ETRACE_EXEC || event->argument_count < 2)
		return true;
	qsort(list, event->argument_count, sizeof *list, by_index);
	for (size_t i = 0, end; i < event->argument_count; i = end) {
		size_t len = list[i].len, begin = bytes->len;
		for (end = i + 1; end < event->argument_count && list[end].index == list[i].index;
		     end++)
			len += list[end].len;
		if (end > i + 1) {
			char *to = tr_buffer_room(bytes, len);
			if (!to)
				return false;
			for (size_t k = i; k < end; to += list[k++].len)
				memcpy(to, bytes->data + list[k].begin, list[k].len);
			tr_buffer_used(bytes, len);
			list[i].begin = begin;
			list[i].len = len;
		}
		list[count++] = list[i];
	}
	event->argument_count = count;
	return true;
}

/* Bytes that the arguments take in the kernel, with their NULs. */
static uint64_t argument_size(const struct tr_etrace_event *event)
{
	uint64_t size = 0;

	for (size_t i = 0; i < event->argument_count; i++)
		size += event->arguments[i].len;
	if (event->argument_count)
		size += event->arguments[event->argument_count - 1].index + 1;
	return size;
}

/* Finds the damage. */

/* Adds an item to the list of damage: "size:FN". */
static void flag(struct render *r, const char *what, struct tr_text tag)
{
	if (r->flags->len)
		tr_buffer_put_byte(r->flags, ',');
	tr_buffer_put_byte(r->flags, '"');
	tr_buffer_put_text(r->flags, tr_text_from(what));
	tr_buffer_put_text(r->flags, tag);
	tr_buffer_put_byte(r->flags, '"');
	r->only_last_argument = false;
}

/*
 * Flags texts that are missing, or shorter or longer than the event states. The tracer drops empty
 * lines of long texts, so the size is the only evidence of that loss.
 */
static void flag_strings(struct render *r)
{
	const struct tr_etrace_event *event = r->event;
	unsigned needed = event->failed ? 0 : r->shape->needed, expected = event->used | needed;

	for (unsigned i = 0; expected >> i; i++) {
		const struct tr_etrace_string *string = &event->strings[i];
		if (!(expected >> i & 1))
			continue;
		if (string->form == TR_ETRACE_UNSEEN)
			flag(r, "missing:", r->shape->tags[i]);
		else if (string->expected && string->len != string->size)
			flag(r, "size:", r->shape->tags[i]);
		if (string->disorder)
			flag(r, "order:", r->shape->tags[i]);
	}
}

/*
 * Flags arguments whose bytes are not as many as the kernel had. If a single byte is missing, it
 * may be an empty last argument or a line end at the end of one, neither of which the tracer
 * prints.
 */
static void flag_arguments(struct render *r)
{
	const struct tr_etrace_event *event = r->event;
	uint64_t sum = argument_size(event), said = (uint64_t)event->numbers[0];
	bool fine = r->flags->len == 0;
	char text[TR_DECIMAL_MAX + 1];

	if (event->disorder)
		flag(r, "order:A", TR_TEXT(""));
	if (!(event->given & 1) || sum == said)
		return;
	text[0] = sum < said ? '-' : '+';
	size_t len = 1 + tr_decimal_write(sum < said ? said - sum : sum - said, text + 1);
	flag(r, "argsize:", (struct tr_text){ text, len });
	r->only_last_argument = fine && !event->disorder && sum + 1 == said;
}

/* Flags a variable without tasks, or without its first part. */
static void flag_env(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (!event->argument_count)
		flag(r, "missing:UPID", TR_TEXT(""));
	if (!has(event, 0) || event->beginless)
		flag(r, "missing:Env", TR_TEXT(""));
	if (event->disorder)
		flag(r, "order:UPID", TR_TEXT(""));
	if (event->strings[0].disorder)
		flag(r, "order:Env", TR_TEXT(""));
}

/* Flags numbers that every version of the tracer prints. */
static void flag_numbers(struct render *r)
{
	const struct tr_etrace_event *event = r->event;
	unsigned missing = r->shape->always & ~(unsigned)event->given;

	for (unsigned k = 0; missing >> k; k++)
		if (missing >> k & 1)
			flag(r, "missing:", tr_text_from(r->shape->numbers[k].name));
	if (event->type == TR_ETRACE_FORK && event->role == TR_ETRACE_SECOND && !(event->given & 1))
		flag(r, "missing:pid", TR_TEXT(""));
}

/* Lists the damage of the event, in the order of trace-formats(5). */
static void find_flags(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (event->cut)
		flag(r, "cut", TR_TEXT(""));
	if (event->unfinished)
		flag(r, "unfinished", TR_TEXT(""));
	flag_numbers(r);
	if (event->type == TR_ETRACE_ENVSET)
		flag_env(r);
	else
		flag_strings(r);
	if (event->type == TR_ETRACE_EXEC)
		flag_arguments(r);
	/* there is only the second half: the old path did not resolve, or its lines are lost */
	if (event->role == TR_ETRACE_SECOND && !event->strings[0].expected &&
	    (event->type == TR_ETRACE_RENAME || event->type == TR_ETRACE_LINK))
		flag(r, "missing:", r->shape->tags[0]);
	if (tr_etrace_is_invalid_child(r->events, event))
		flag(r, "invalid-child", TR_TEXT(""));
}

/* The fields of each kind, in the order of trec(5). */

/* Appends a key, which is a constant, with its TAB and equals sign. */
#define put_key(r, key) tr_buffer_put((r)->to, "\t" key "=", sizeof("\t" key "=") - 1)

/*
 * Appends a key with its TAB and equals sign; all bytes of the table are copied, which takes no
 * call.
 */
static inline void put_spelled_key(struct render *r, const struct tr_etrace_key *key)
{
	char *room = tr_buffer_room(r->to, sizeof key->spelled);

	if (!room)
		return;
	memcpy(room, key->spelled, sizeof key->spelled);
	tr_buffer_used(r->to, key->len);
}

/* Appends a text as a field, if it is there. */
static inline void put_string(struct render *r, unsigned slot)
{
	if (!has(r->event, slot))
		return;
	put_spelled_key(r, &r->shape->strings[slot]);
	tr_string_quote_padded(string_text(r->event, slot), r->to);
}

/* Appends a string if it is there and is not the same as the other one. */
static void put_if_different(struct render *r, unsigned slot, unsigned other)
{
	const struct tr_etrace_event *event = r->event;

	if (!has(event, other) ||
	    !tr_text_equal(string_text(event, slot), string_text(event, other)))
		put_string(r, slot);
}

/*
 * The words of flags. Programs use few combinations, and finding the words of one takes more time
 * than the rest of the record, so the last ones of each slot of a cache are kept. NULL: they are
 * too long for it.
 */
static const struct tr_etrace_words *find_words(struct tr_etrace_events *events,
						enum tr_etrace_type type, int64_t flags)
{
	unsigned hash = (unsigned)((uint64_t)flags * 0x9e3779b97f4a7c15 >> 60);
	struct tr_etrace_words *words = &events->words[(type + hash) % TR_ETRACE_WORDS];

	if (words->len && words->flags == flags && words->type == type)
		return words;
	struct tr_buffer to = tr_buffer_over(words->text, sizeof words->text);
	words->len = 0;
	tr_etrace_flags_spell(type, flags, &to);
	bool fits = to.data == words->text;
	if (fits) {
		words->flags = flags;
		words->type = (uint8_t)type;
		words->len = (uint8_t)to.len;
		words->means = type == TR_ETRACE_OPEN ? tr_file_open_flags(tr_buffer_text(&to)) : 0;
	}
	tr_buffer_free(&to);
	return fits ? words : NULL;
}

static void put_flag_words(struct render *r, int64_t flags)
{
	const struct tr_etrace_words *words = find_words(r->events, r->event->type, flags);
	char *room = words ? tr_buffer_room(r->to, sizeof words->text) : NULL;

	if (room) {
		memcpy(room, words->text, sizeof words->text);
		tr_buffer_used(r->to, words->len);
	} else if (!words) {
		tr_etrace_flags_spell(r->event->type, flags, r->to);
	}
}

/* Appends a number or flags as a field, if the event has them. */
static inline void put_number(struct render *r, unsigned slot)
{
	if (!(r->event->given >> slot & 1))
		return;
	put_spelled_key(r, &r->shape->numbers[slot]);
	if (r->shape->flags >> slot & 1)
		put_flag_words(r, r->event->numbers[slot]);
	else
		tr_etrace_put_number(r->event->numbers[slot], r->to);
}

/*
 * Appends argv. Gaps in the numbers are empty arguments, which the tracer does not print; event.c
 * limits a gap.
 */
static void put_arguments(struct render *r)
{
	const struct tr_etrace_event *event = r->event;
	struct tr_buffer *to = r->to;
	uint64_t next = 0;

	put_key(r, "argv");
	tr_buffer_put_byte(to, '[');
	for (size_t i = 0; i < event->argument_count; i++) {
		const struct tr_etrace_argument *argument = &event->arguments[i];
		/* empty ones are not printed */
		for (; next < argument->index; next++)
			tr_buffer_put_literal(to, "\"\",");
		next++;
		tr_string_quote_padded(
			(struct tr_text){ event->bytes.data + argument->begin, argument->len }, to);
		if (i + 1 < event->argument_count)
			tr_buffer_put_byte(to, ',');
	}
	tr_buffer_put_byte(to, ']');
}

/*
 * Appends the fields of an execution: its parent (process/parent.h), and the interpreter if it is
 * not the program.
 */
static void put_exec(struct render *r, const struct tr_etrace_task *task)
{
	if (task->parent != TR_NO_POSITION) {
		put_key(r, "parent");
		tr_buffer_put_decimal(r->to, task->parent);
	}
	if (task->ppid != TR_NO_POSITION) {
		put_key(r, "ppid");
		tr_buffer_put_decimal(r->to, task->ppid);
	}
	put_string(r, 2);
	put_arguments(r);
	put_if_different(r, 0, 1);
}

/* Appends a variable and its tasks, whose upids are the numbers of the "arguments". */
static void put_envset(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	put_string(r, 0);
	put_key(r, "tasks");
	tr_buffer_put_byte(r->to, '[');
	for (size_t i = 0; i < event->argument_count; i++) {
		if (i)
			tr_buffer_put_byte(r->to, ',');
		tr_buffer_put_decimal(r->to, event->arguments[i].index);
	}
	tr_buffer_put_byte(r->to, ']');
}

/*
 * Appends the fields of an open. The path as passed is there only if it differs from the resolved
 * one.
 */
static void put_open(struct render *r)
{
	const struct tr_etrace_event *event = r->event;
	int64_t creates = TR_ETRACE_O_CREAT | TR_ETRACE_O_TMPFILE;

	put_string(r, 0);
	put_if_different(r, 1, 0);
	put_number(r, 0);
	/* the mode is meaningless if no file is created: the tracer prints a register */
	if (event->given & 1 && event->numbers[0] & creates) {
		put_number(r, 1);
	} else if (event->given & 2 && (event->numbers[1] || !(event->given & 1))) {
		put_key(r, ".mode");
		tr_etrace_put_number(event->numbers[1], r->to);
	}
}

/* Appends both descriptors as a list, as strace's records have them. */
static void put_pipe(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	put_key(r, "fds");
	tr_buffer_put_byte(r->to, '[');
	if (event->given & 1)
		tr_etrace_put_number(event->numbers[0], r->to);
	if ((event->given & 3) == 3)
		tr_buffer_put_byte(r->to, ',');
	if (event->given & 2)
		tr_etrace_put_number(event->numbers[1], r->to);
	tr_buffer_put_byte(r->to, ']');
	put_number(r, 2);
}

/* Appends the fields of the event's kind, in the order of trec(5). */
static void put_fields(struct render *r, const struct tr_etrace_task *task)
{
	const struct tr_etrace_event *event = r->event;

	switch (event->type) {
	case TR_ETRACE_EXEC:
		put_exec(r, task);
		break;
	case TR_ETRACE_ENVSET:
		put_envset(r);
		break;
	case TR_ETRACE_OPEN:
		put_open(r);
		break;
	case TR_ETRACE_PIPE:
		put_pipe(r);
		break;
	default:
		for (unsigned i = 0; event->used >> i; i++)
			put_string(r, i);
		for (unsigned k = 0; event->given >> k; k++)
			put_number(r, k);
		break;
	}
	if (event->type == TR_ETRACE_FORK && event->failed)
		tr_buffer_put_literal(r->to, "\tfailed=true");
}

/* The fields that all events have. */

/* Appends the fields that all events have: pid and cpu, then what only damaged events have. */
static void put_tail(struct render *r, struct tr_etrace_entry *entry, bool damaged)
{
	const struct tr_etrace_event *event = r->event;
	unsigned bits = r->events->pid_bits;

	if (bits != TR_ETRACE_NO_PID && bits) {
		put_key(r, "pid");
		tr_buffer_put_decimal(r->to, event->upid & (((uint64_t)1 << bits) - 1));
	}
	put_key(r, "cpu");
	tr_etrace_put_number((int64_t)event->cpu, r->to);
	if (r->flags->len) {
		put_key(r, "flagged");
		tr_buffer_put_byte(r->to, '[');
		entry->flags_begin = r->to->len;
		entry->flags_len = r->flags->len;
		tr_buffer_put_text(r->to, tr_buffer_text(r->flags));
		tr_buffer_put_byte(r->to, ']');
		/* sizes that the event states and its texts do not have */
		for (unsigned i = 0; i < TR_ETRACE_STRINGS; i++) {
			const struct tr_etrace_string *string = &event->strings[i];
			if (!string->expected || (has(event, i) && string->len == string->size))
				continue;
			tr_buffer_put_literal(r->to, "\t.");
			tr_buffer_put_text(r->to, r->shape->tags[i]);
			tr_buffer_put_byte(r->to, '=');
			tr_buffer_put_decimal(r->to, string->size);
		}
	}
	if (event->extra.len) {
		put_key(r, "extra");
		tr_buffer_put_byte(r->to, '{');
		tr_buffer_put_text(r->to, tr_buffer_text(&event->extra));
		tr_buffer_put_byte(r->to, '}');
	}
	if (damaged && event->type == TR_ETRACE_EXEC && event->given & 1 &&
	    argument_size(event) != (uint64_t)event->numbers[0]) {
		put_key(r, ".argsize");
		tr_etrace_put_number(event->numbers[0], r->to);
	}
}

/* Appends what follows the arrow. */
static void put_results(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (event->type == TR_ETRACE_OPEN && event->given & 4) {
		tr_buffer_put_literal(r->to, "\t->\treturn=");
		tr_etrace_put_number(event->numbers[2], r->to);
	}
	if (event->failed && event->type >= TR_ETRACE_OPEN)
		tr_buffer_put_literal(r->to, "\t->\tfailed=true");
}

/* The whole record. */

/* Adds an entry, whose text is what is appended up to the next one. NULL: memory is exhausted. */
static struct tr_etrace_entry *add_entry(struct tr_etrace_queue *queue, uint64_t source_line)
{
	if (!tr_array_room(queue->entries, queue->count, queue->cap))
		return NULL;
	struct tr_etrace_entry *entry = &queue->entries[queue->count++];
	entry->begin = queue->text.len;
	entry->len = 0;
	entry->columns[TR_COLUMN_SEQ] = 0;
	entry->source_line = source_line;
	entry->trouble = TR_ETRACE_FINE;
	return entry;
}

/* Writes a kind or a name: all eight bytes are copied, which takes no call. */
static inline char *put_short(const char word[8], size_t len, char *p)
{
	memcpy(p, word, 8);
	return p + len;
}

/* Writes the digits of a number that is often the last one. */
static inline char *put_again(struct tr_etrace_spelled *spelled, uint64_t number, char *p)
{
	if (spelled->number != number || !spelled->len) {
		spelled->number = number;
		spelled->len = tr_decimal_write(number, spelled->digits);
	}
	memcpy(p, spelled->digits, sizeof spelled->digits);
	return p + spelled->len;
}

/* Writes a time as seconds with all digits of a nanosecond. */
static inline char *put_time(struct tr_etrace_events *events, struct tr_etrace_moment time, char *p)
{
	p = put_again(&events->sec_text, time.sec, p);
	*p++ = '.';
	tr_etrace_write_nanoseconds(time.nsec, p);
	return p + TR_ETRACE_NANO_DIGITS;
}

/* Appends kind, seq, time, task and a TAB, and sets in the entry where they are. */
static void put_columns(struct tr_etrace_events *events, struct tr_etrace_entry *entry,
			const char kind[8], size_t kind_len, uint64_t upid,
			struct tr_etrace_moment time)
{
	enum { MOST = 8 + TR_DECIMAL_MAX + 2 + 2 * sizeof events->task_text.digits + 16 };
	struct tr_buffer *to = &events->queue.text;
	char *begin = tr_buffer_room(to, MOST), *p = begin;

	if (!begin)
		return;
	p = put_short(kind, kind_len, p);
	*p++ = '\t';
	entry->columns[TR_COLUMN_KIND] = to->len;
	entry->columns[TR_COLUMN_SEQ] = to->len + (size_t)(p - begin);
	p += tr_counter_write(&events->counter, events->seq++, p);
	*p++ = '\t';
	entry->columns[TR_COLUMN_TIME] = to->len + (size_t)(p - begin);
	p = put_time(events, time, p);
	*p++ = '\t';
	entry->columns[TR_COLUMN_TASK] = to->len + (size_t)(p - begin);
	p = put_again(&events->task_text, upid, p);
	*p++ = '\t';
	entry->columns[TR_COLUMN_NAME] = to->len + (size_t)(p - begin);
	tr_buffer_used(to, (size_t)(p - begin));
}

/* Appends the name column: of a call its name, of an execution the program. */
static void put_name(struct render *r)
{
	const struct tr_etrace_event *event = r->event;

	if (event->type >= TR_ETRACE_OPEN) {
		char *room = tr_buffer_room(r->to, sizeof r->shape->name);
		if (room)
			tr_buffer_used(r->to, (size_t)(put_short(r->shape->name, r->shape->name_len,
								 room) -
						       room));
	} else if (event->type == TR_ETRACE_EXEC && has(event, 1)) {
		tr_cell_escape(string_text(event, 1), false, r->to);
	} else {
		tr_buffer_put_byte(r->to, '-');
	}
}

/* The time in nanoseconds, or TR_INSTANT_NONE. */
static int64_t instant_of(struct tr_etrace_moment time)
{
	uint64_t seconds = TR_INSTANT_MAX / TR_INSTANT_SECOND;

	return time.sec < seconds ? (int64_t)(time.sec * TR_INSTANT_SECOND + time.nsec)
				  : TR_INSTANT_NONE;
}

/*
 * Passes a plain open or close to the taker, because most records would be such calls; the log has
 * none that failed. False: the taker needs a record, or there are records that come before this
 * one.
 */
static bool take_call(struct render *r)
{
	struct tr_etrace_events *events = r->events;
	const struct tr_etrace_event *event = r->event;
	struct tr_file_call call = { .op = TR_FILE_CLOSE,
				     .path = { { .dir = TR_FD_CWD }, { .dir = TR_FD_CWD } },
				     .fd = TR_FD_NONE,
				     .other_fd = TR_FD_NONE,
				     .result = TR_FD_NONE };
	char time[2 * sizeof events->sec_text.digits], task[sizeof events->task_text.digits];

	if (events->queue.count || r->flags->len || event->extra.len)
		return false;
	if (event->type == TR_ETRACE_CLOSE) {
		call.fd = event->given & 1 ? event->numbers[0] : TR_FD_NONE;
	} else {
		const struct tr_etrace_words *words =
			event->given & 1 ? find_words(events, event->type, event->numbers[0])
					 : NULL;
		if (!words)
			return false;
		call.op = TR_FILE_OPEN;
		call.flags = words->means;
		call.path[0].text = string_text(event, 0);
		if (has(event, 1) && !tr_text_equal(string_text(event, 1), call.path[0].text))
			call.original = string_text(event, 1);
		if (event->given & 4)
			call.result = event->numbers[2];
	}
	struct tr_record *columns = &events->columns;
	columns->seq.number = events->seq;
	columns->time.text = tr_text_span(time, put_time(events, event->time, time));
	columns->task.text = tr_text_span(task, put_again(&events->task_text, event->upid, task));
	columns->name.text = (struct tr_text){ r->shape->name, r->shape->name_len };
	if (!events->files->take(events->files, columns, instant_of(event->time), &call))
		return false;
	events->files->taken++;
	events->seq++;
	return true;
}

bool tr_etrace_render(struct tr_etrace_events *events, struct tr_etrace_event *event,
		      const struct tr_etrace_task *task)
{
	const struct tr_etrace_shape *shape = &tr_etrace_shapes[event->type];
	struct render r = { events, event, shape, &events->queue.text, &events->flags, false };
	bool sys = event->type >= TR_ETRACE_OPEN;

	if (!sort_arguments(event) || !tr_buffer_room(&event->bytes, TR_STRING_PAD))
		return false;
	if (r.flags->len)
		tr_buffer_reset(r.flags);
	/* only the line End_of_args sets this role */
	event->unfinished |= event->type == TR_ETRACE_EXEC && event->role != TR_ETRACE_SECOND;
	find_flags(&r);
	bool damaged = r.flags->len > 0, ambiguous = r.only_last_argument;
	if (event->type == TR_ETRACE_EXEC && !task->forked) {
		flag(&r, "orphan", TR_TEXT(""));
		events->orphans++;
	}
	if (events->files && (event->type == TR_ETRACE_OPEN || event->type == TR_ETRACE_CLOSE) &&
	    take_call(&r))
		return true;
	struct tr_etrace_entry *entry = add_entry(&events->queue, event->source_line);
	if (!entry)
		return false;
	put_columns(events, entry, sys ? "sys\0\0\0\0" : shape->name, sys ? 3 : shape->name_len,
		    event->upid, event->time);
	put_name(&r);
	entry->columns[TR_COLUMNS] = r.to->len + 1;
	put_fields(&r, task);
	put_tail(&r, entry, damaged);
	put_results(&r);
	tr_buffer_put_byte(r.to, '\n');
	entry->len = r.to->len - entry->begin;
	entry->reason = shape->name;
	entry->number = event->upid;
	if (damaged)
		entry->trouble = ambiguous ? TR_ETRACE_AMBIGUOUS : TR_ETRACE_FLAGGED;
	return !r.to->failed && !r.flags->failed;
}

bool tr_etrace_render_line(struct tr_etrace_events *events, const struct tr_etrace_line *line,
			   const char *reason)
{
	struct tr_etrace_entry *entry = add_entry(&events->queue, line->number);
	struct tr_buffer *to = &events->queue.text;
	bool lost = line->type == TR_ETRACE_LOST, initcwd = line->type == TR_ETRACE_INITCWD;

	if (!entry)
		return false;
	if (line->type == TR_ETRACE_EVENT) {
		put_columns(events, entry, "raw\0\0\0\0", 3, line->upid, line->time);
		entry->columns[TR_COLUMNS] = to->len + 2;
	} else {
		tr_buffer_put_text(to, tr_text_from(lost      ? "lost\t"
						    : initcwd ? "meta\t"
							      : "raw\t"));
		tr_buffer_put_decimal(to, events->seq++);
		tr_buffer_put_literal(to, "\t-\t-\t");
	}
	if (initcwd) {
		tr_buffer_put_literal(to, "INITCWD\tvalue=");
		tr_string_quote_padded(line->text, to);
		if (line->cut)
			tr_buffer_put_literal(to, "\tflagged=[\"cut\"]");
	} else if (lost) {
		tr_buffer_put_literal(to, "-");
		if (line->has_lost) {
			tr_buffer_put_literal(to, "\tevents=");
			tr_buffer_put_decimal(to, line->lost);
		}
		tr_buffer_put_literal(to, "\tcpu=");
		tr_buffer_put_decimal(to, line->cpu);
		entry->trouble = TR_ETRACE_EVENTS_LOST;
		entry->number = line->has_lost ? line->lost : 0;
	} else {
		entry->trouble = TR_ETRACE_RAW;
		entry->reason = reason ? reason : line->reason;
		tr_buffer_put_literal(to, "-\ttext=");
		tr_string_quote_padded(line->whole, to);
		tr_buffer_put_literal(to, "\treason=\"");
		tr_buffer_put_text(to, tr_text_from(entry->reason)); /* it needs no escape */
		tr_buffer_put_byte(to, '"');
	}
	tr_buffer_put_byte(to, '\n');
	entry->len = to->len - entry->begin;
	return !to->failed;
}

bool tr_etrace_render_cut(struct tr_etrace_events *events, uint64_t source_line)
{
	struct tr_etrace_entry *entry = add_entry(&events->queue, source_line);

	if (entry)
		entry->trouble = TR_ETRACE_CUT;
	return entry;
}

/* Takes records out of the queue. */

/* Fills err with the message of an entry. */
static void report(const struct tr_etrace_queue *queue, const struct tr_etrace_entry *entry,
		   struct tr_error *err)
{
	enum { SHOWN = 120 };

	switch (entry->trouble) {
	case TR_ETRACE_CUT:
		tr_error_set(err, TR_CAUSE_CUT,
			     "the last line has no newline: it may be "
			     "truncated");
		break;
	case TR_ETRACE_EVENTS_LOST:
		if (entry->number)
			tr_error_set(err, TR_CAUSE_INPUT, "the tracer lost %" PRIu64 " lines",
				     entry->number);
		else
			tr_error_set(err, TR_CAUSE_INPUT, "the tracer lost lines");
		break;
	case TR_ETRACE_RAW:
		tr_error_say_in(err, TR_CAUSE_INPUT, entry->reason, "%s: kept as a raw record",
				entry->reason);
		break;
	case TR_ETRACE_FLAGGED:
		tr_error_set(err, TR_CAUSE_INPUT, "%s of task %" PRIu64 " is damaged: %.*s",
			     entry->reason, entry->number,
			     entry->flags_len < SHOWN ? (int)entry->flags_len : SHOWN,
			     queue->text.data + entry->flags_begin);
		break;
	default:
		tr_error_set(err, TR_CAUSE_INPUT,
			     "an empty last argument, or a line end at the end of one, is not in "
			     "the log: %s of task %" PRIu64,
			     entry->reason, entry->number);
		tr_error_is_note(err);
		break;
	}
	tr_error_at_line(err, entry->source_line);
}

enum tr_status tr_etrace_queue_take(struct tr_etrace_queue *queue, struct tr_record *record,
				    struct tr_error *err)
{
	struct tr_etrace_entry *entry = &queue->entries[queue->first];
	const char *text = queue->text.data;
	struct tr_text line = { text + entry->begin, entry->len };
	struct tr_columns columns;

	if (entry->trouble != TR_ETRACE_FINE) {
		report(queue, entry, err);
		entry->trouble = TR_ETRACE_FINE;
		queue->first += entry->len == 0;
		return TR_WARN;
	}
	queue->first++;
	tr_arena_reset(record->arena);
	if (entry->columns[TR_COLUMN_SEQ]) {
		for (unsigned i = 0; i <= TR_COLUMNS; i++)
			columns.start[i] = text + entry->columns[i];
		tr_record_from_columns(record, line, &columns);
	} else if (!tr_record_from_line(record, line, err)) {
		return TR_FATAL;
	}
	record->canonical = true;
	record->source_line = entry->source_line;
	return TR_OK;
}
