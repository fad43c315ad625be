/* SPDX-License-Identifier: MIT */
/*
 * Merges lines by a heap of the parts that have a line, ordered by the times of these lines. With
 * tasks, the act of the first part's line decides whether another part must come first
 * (may_proceed). Bytes are copied directly from the windows of the parts.
 */
#include "core/line_merge.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"

struct part {
	struct tr_line_merge_part base;
	size_t prefix_len;
	struct tr_text line; /* the next line, in the window */
	size_t place;	     /* index in the heap, or NOWHERE */
	bool awake, called;
};

#define NOWHERE SIZE_MAX

struct merge {
	struct tr_source base;
	void (*look)(struct tr_text line, struct tr_line_merge_time *time);
	struct part *parts; /* all parts; they stay open until the source is closed */
	size_t count;
	uint64_t rank;	    /* rank of the part that is called next */
	struct part **heap; /* the parts that have a line */
	size_t live;
	enum tr_line_merge_act (*act)(struct tr_text line, uint64_t *number); /* or NULL */
	struct part *called; /* by the line that is being copied */
	size_t asleep;	     /* index of the first part that may be asleep */
	bool timed, started;
	size_t given;		 /* bytes copied of the first part's line, with its prefix */
	bool done;		 /* the line was copied completely and is skipped */
	struct tr_error trouble; /* the first error, reported after all lines */
};

/* The order of the heap: by time, then by rank, then by the order in which parts were given. */
static bool is_before(const struct part *a, const struct part *b)
{
	const struct tr_line_merge_time *x = &a->base.time, *y = &b->base.time;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds;
	if (x->fraction != y->fraction)
		return x->fraction < y->fraction;
	if (x->rank != y->rank)
		return x->rank < y->rank;
	return a < b;
}

/* Puts a part at a place of the heap. */
static void put(struct merge *merge, size_t i, struct part *part)
{
	merge->heap[i] = part;
	part->place = i;
}

/* Moves a part down in the heap, after its time has grown. */
static void sink(struct merge *merge, size_t i)
{
	struct part *part = merge->heap[i];

	for (size_t child; (child = 2 * i + 1) < merge->live; i = child) {
		if (child + 1 < merge->live &&
		    is_before(merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!is_before(merge->heap[child], part))
			break;
		put(merge, i, merge->heap[child]);
	}
	put(merge, i, part);
}

/* Keeps the first error: lines of other parts follow before it is reported. */
static void note_trouble(struct merge *merge, const struct tr_error *err)
{
	if (merge->trouble.cause == TR_CAUSE_NONE)
		merge->trouble = *err;
}

/* Reads the next line of a part. TR_OK; TR_END; TR_FATAL: memory is exhausted. */
static enum tr_status advance(struct merge *merge, struct part *part, struct tr_error *err)
{
	struct tr_input *in = part->base.in;
	enum tr_status status;

	while ((status = tr_input_line(in, &part->line, err)) == TR_WARN)
		note_trouble(merge, err);
	if (status == TR_END && in->damaged) {
		tr_input_error(in, err);
		note_trouble(merge, err);
	}
	if (status != TR_OK)
		return status;
	struct tr_text text = part->line;
	bool end = text.data[text.len - 1] == '\n';
	text.len -= end;
	if (!end && !in->damaged) {
		tr_error_set(err, TR_CAUSE_CUT,
			     "the last line of a part has no newline: it may be truncated");
		note_trouble(merge, err);
	}
	merge->look(text, &part->base.time);
	return TR_OK;
}

/* Moves a part up in the heap, after its rank has changed. */
static void swim(struct merge *merge, size_t i)
{
	struct part *part = merge->heap[i];

	for (; i > 0 && is_before(part, merge->heap[(i - 1) / 2]); i = (i - 1) / 2)
		put(merge, i, merge->heap[(i - 1) / 2]);
	put(merge, i, part);
}

/* Adds a part to the heap. */
static void add(struct merge *merge, struct part *part)
{
	put(merge, merge->live++, part);
	swim(merge, part->place);
}

/* Removes the first part from the heap. */
static void leave(struct merge *merge)
{
	struct part *last = merge->heap[--merge->live];

	merge->heap[0]->place = NOWHERE;
	if (merge->live) {
		put(merge, 0, last);
		sink(merge, 0);
	}
}

/* Adds a sleeping part to the heap. False: memory is exhausted. */
static bool wake(struct merge *merge, struct part *part, struct tr_error *err)
{
	enum tr_status status = advance(merge, part, err);

	part->awake = true;
	if (status == TR_OK)
		add(merge, part);
	return status != TR_FATAL;
}

/*
 * Gives the part the highest priority: the most recently created task comes first. False: memory is
 * exhausted.
 */
static bool call(struct merge *merge, struct part *part, struct tr_error *err)
{
	if (!part->called)
		part->base.time.rank = merge->rank--;
	part->called = true;
	if (!part->awake)
		return wake(merge, part, err);
	if (part->place != NOWHERE)
		swim(merge, part->place);
	return true;
}

/* Wakes the next sleeping part while none is awake. */
static bool wake_next(struct merge *merge, struct tr_error *err)
{
	bool good = true;

	while (good && merge->act && !merge->live && merge->asleep < merge->count) {
		struct part *part = &merge->parts[merge->asleep++];
		good = part->awake || call(merge, part, err);
	}
	return good;
}

/* Returns the part of that task, or NULL. */
static struct part *find(const struct merge *merge, uint64_t number)
{
	size_t low = tr_array_search(i, 0, merge->count, merge->parts[i].base.number < number);
	return low < merge->count && merge->parts[low].base.number == number ? &merge->parts[low]
									     : NULL;
}

/* The line of a part without its LF. */
static struct tr_text text_of(const struct part *part)
{
	struct tr_text line = part->line;

	line.len -= line.data[line.len - 1] == '\n';
	return line;
}

/*
 * Sets *may if the first part may continue; otherwise wakes or calls another part, which then comes
 * first. False: memory is exhausted.
 */
static bool may_proceed(struct merge *merge, bool *may, struct tr_error *err)
{
	uint64_t number;
	enum tr_line_merge_act act = merge->act(text_of(merge->heap[0]), &number);
	struct part *other = act == TR_LINE_NOTHING ? NULL : find(merge, number);

	*may = act != TR_LINE_NEEDS || !other || other->called || other == merge->heap[0];
	if (act == TR_LINE_CALLS)
		merge->called = other;
	return *may || call(merge, other, err);
}

/* Chooses the part of the next line. False: memory is exhausted. */
static bool choose(struct merge *merge, struct tr_error *err)
{
	bool may = !merge->act;

	merge->called = NULL;
	while (!may && merge->live)
		if (!may_proceed(merge, &may, err))
			return false;
	return true;
}

/* Reads the first line of each part, or wakes the first part if there are no times. */
static bool start(struct merge *merge, struct tr_error *err)
{
	merge->started = true;
	for (size_t i = 0; merge->timed && i < merge->count; i++)
		if (!wake(merge, &merge->parts[i], err))
			return false;
	return wake_next(merge, err) && choose(merge, err);
}

/* Steps from a line that was copied to the next one. */
static bool step(struct merge *merge, struct tr_error *err)
{
	struct part *part = merge->heap[0], *called = merge->called;
	enum tr_status status = advance(merge, part, err);

	merge->done = false;
	merge->given = 0;
	if (status == TR_FATAL)
		return false;
	if (status == TR_END)
		leave(merge);
	else
		sink(merge, 0);
	if (called && called != part && !called->called && !call(merge, called, err))
		return false;
	return wake_next(merge, err) && choose(merge, err);
}

/* Copies the text from offset on, up to cap bytes. Returns their number. */
static size_t copy(struct tr_text text, size_t offset, char *buf, size_t cap)
{
	size_t left = text.len - offset, n = left < cap ? left : cap;

	memcpy(buf, text.data + offset, n);
	return n;
}

/* Copies the line of the first part to buf, with its prefix, and with a LF if it lacks one. */
static size_t give(struct merge *merge, char *buf, size_t cap)
{
	struct part *part = merge->heap[0];
	struct tr_text prefix = { part->base.prefix, part->prefix_len }, line = part->line;
	bool end = line.data[line.len - 1] == '\n';
	size_t n = 0;

	if (merge->given < prefix.len) {
		n = copy(prefix, merge->given, buf, cap);
		merge->given += n;
	}
	if (merge->given >= prefix.len) {
		size_t more = copy(line, merge->given - prefix.len, buf + n, cap - n);
		merge->given += more;
		n += more;
	}
	merge->done = merge->given == prefix.len + line.len && (end || n < cap);
	if (merge->done && !end)
		buf[n++] = '\n';
	if (merge->done)
		tr_input_skip(part->base.in, line.len);
	return n;
}

/* Reads lines (struct tr_source). */
static ssize_t read_merged(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct merge *merge = (struct merge *)source;
	size_t n = 0;

	if (!merge->started && !start(merge, err))
		return -1;
	while (merge->live && n < cap) {
		/* lines that were read are not held back until the next one arrives */
		if (merge->done && n && tr_input_would_wait(merge->heap[0]->base.in))
			break;
		if (merge->done && !step(merge, err))
			return -1;
		if (merge->live)
			n += give(merge, buf + n, cap - n);
	}
	if (n || merge->trouble.cause == TR_CAUSE_NONE)
		return (ssize_t)n;
	*err = merge->trouble;
	return -1;
}

/* Frees all parts. */
static void close_merged(struct tr_source *source)
{
	struct merge *merge = (struct merge *)source;

	for (size_t i = 0; i < merge->count; i++)
		tr_input_free(merge->parts[i].base.in);
	free(merge->parts);
	free(merge->heap);
	free(merge);
}

/* Returns the number of bytes read from all parts, for progress. */
static uint64_t raw_offset(struct tr_source *source)
{
	const struct merge *merge = (struct merge *)source;
	uint64_t sum = 0;

	for (size_t i = 0; i < merge->count; i++)
		sum += tr_input_raw_offset(merge->parts[i].base.in);
	return sum;
}

struct tr_source *tr_line_merge_new(const struct tr_line_merge_part *parts, size_t count,
				    void (*look)(struct tr_text line,
						 struct tr_line_merge_time *time))
{
	struct merge *merge = calloc(1, sizeof *merge);

	if (merge) {
		merge->parts = calloc(count, sizeof *merge->parts);
		merge->heap = calloc(count, sizeof(struct part *));
	}
	if (!merge || !merge->parts || !merge->heap) {
		for (size_t i = 0; i < count; i++)
			tr_input_free(parts[i].in);
		free(merge ? merge->parts : NULL);
		free(merge ? merge->heap : NULL);
		free(merge);
		return NULL;
	}
	merge->base = (struct tr_source){ .read = read_merged,
					  .close = close_merged,
					  .raw_offset = raw_offset };
	merge->look = look;
	merge->count = count;
	merge->timed = true;
	for (size_t i = 0; i < count; i++)
		merge->parts[i] = (struct part){ .base = parts[i],
						 .prefix_len = strlen(parts[i].prefix),
						 .place = NOWHERE };
	tr_error_clear(&merge->trouble);
	return &merge->base;
}

/* Sorts parts by the number of their task. */
static int by_number(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->base.number > y->base.number) - (x->base.number < y->base.number);
}

void tr_line_merge_tasks(struct tr_source *source, bool timed,
			 enum tr_line_merge_act (*act)(struct tr_text line, uint64_t *number))
{
	struct merge *merge = (struct merge *)source;

	merge->act = act;
	merge->timed = timed;
	/* called parts come before all others */
	merge->rank = INT64_MAX;
	for (size_t i = 0; i < merge->count; i++)
		merge->parts[i].base.time.rank += (uint64_t)INT64_MAX + 1;
	qsort(merge->parts, merge->count, sizeof *merge->parts, by_number);
}
