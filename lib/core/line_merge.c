#include "core/line_merge.h"

#include <stdlib.h>
#include <string.h>

struct part {
	struct tr_line_merge_part base;
	size_t prefix_len;
	struct tr_text line; /* the next one, in the window */
	bool awake;
};

struct merge {
	struct tr_source base;
	void (*look)(struct tr_text line, struct tr_line_merge_time *time);
	struct part *parts; /* all of them, open for as long as the source is */
	size_t count;
	uint64_t rank;	    /* of who is woken next */
	struct part **heap; /* those that have a line */
	size_t live;
	bool (*calls)(struct tr_text line, uint64_t *number); /* NULL: all are awake */
	struct part *called;				      /* by the line that is given */
	size_t asleep;					      /* none before it is */
	bool started;
	size_t given;		 /* bytes of the first part's line, its prefix included */
	bool done;		 /* all of them, and it is skipped */
	struct tr_error trouble; /* the first there was: reported when everything is given */
};

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

static void sink(struct merge *merge, size_t i)
{
	struct part *part = merge->heap[i];

	for (size_t child; (child = 2 * i + 1) < merge->live; i = child) {
		if (child + 1 < merge->live &&
		    is_before(merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!is_before(merge->heap[child], part))
			break;
		merge->heap[i] = merge->heap[child];
	}
	merge->heap[i] = part;
}

static void note_trouble(struct merge *merge, const struct tr_error *err)
{
	if (merge->trouble.cause == TR_CAUSE_NONE)
		merge->trouble = *err;
}

/* The next line of a part. TR_OK; TR_END; TR_FATAL: memory. */
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
			     "the last line of a part has no end: it may be cut");
		note_trouble(merge, err);
	}
	merge->look(text, &part->base.time);
	return TR_OK;
}

static void swim(struct merge *merge, size_t i)
{
	struct part *part = merge->heap[i];

	for (; i > 0 && is_before(part, merge->heap[(i - 1) / 2]); i = (i - 1) / 2)
		merge->heap[i] = merge->heap[(i - 1) / 2];
	merge->heap[i] = part;
}

/* Who is woken last comes first. False: memory is out. */
static bool wake(struct merge *merge, struct part *part, struct tr_error *err)
{
	enum tr_status status = advance(merge, part, err);

	part->awake = true;
	part->base.time = (struct tr_line_merge_time){ .rank = merge->rank-- };
	if (status == TR_OK) {
		merge->heap[merge->live] = part;
		swim(merge, merge->live++);
	}
	return status != TR_FATAL;
}

/* While nobody is awake and somebody sleeps. */
static bool wake_next(struct merge *merge, struct tr_error *err)
{
	bool good = true;

	while (good && merge->calls && !merge->live && merge->asleep < merge->count) {
		struct part *part = &merge->parts[merge->asleep++];
		good = part->awake || wake(merge, part, err);
	}
	return good;
}

/* The part that the line calls, where it sleeps; NULL: none. */
static struct part *find_called(const struct merge *merge, struct tr_text line)
{
	size_t low = 0, high = merge->count;
	uint64_t number;

	if (!merge->calls || !merge->calls(line, &number))
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (merge->parts[middle].base.number < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == merge->count || merge->parts[low].base.number != number ||
	    merge->parts[low].awake)
		return NULL;
	return &merge->parts[low];
}

static bool start(struct merge *merge, struct tr_error *err)
{
	merge->started = true;
	if (merge->calls)
		return wake_next(merge, err);
	for (size_t i = 0; i < merge->count; i++) {
		enum tr_status status = advance(merge, &merge->parts[i], err);
		if (status == TR_FATAL)
			return false;
		if (status == TR_OK)
			merge->heap[merge->live++] = &merge->parts[i];
	}
	for (size_t i = merge->live / 2; i-- > 0;)
		sink(merge, i);
	return true;
}

/* The line of the first part is given: its next one, or the next part. */
static bool step(struct merge *merge, struct tr_error *err)
{
	enum tr_status status = advance(merge, merge->heap[0], err);

	merge->done = false;
	merge->given = 0;
	if (status == TR_FATAL)
		return false;
	if (status == TR_END)
		merge->heap[0] = merge->heap[--merge->live];
	if (merge->live)
		sink(merge, 0);
	if (merge->called && !wake(merge, merge->called, err))
		return false;
	merge->called = NULL;
	return wake_next(merge, err);
}

/* From offset on, as far as there is room. */
static size_t copy(struct tr_text text, size_t offset, char *buf, size_t cap)
{
	size_t left = text.len - offset, n = left < cap ? left : cap;

	memcpy(buf, text.data + offset, n);
	return n;
}

/* Bytes of the first part's line to buf, its prefix before it, and a LF where it has none. */
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
	if (merge->done) {
		merge->called = find_called(merge, (struct tr_text){ line.data, line.len - end });
		tr_input_skip(part->base.in, line.len);
	}
	return n;
}

static ssize_t read_merged(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct merge *merge = (struct merge *)source;
	size_t n = 0;

	if (!merge->started && !start(merge, err))
		return -1;
	while (merge->live && n < cap) {
		/* what is there is not kept back for what would have to be waited for */
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

static void close_merged(struct tr_source *source)
{
	struct merge *merge = (struct merge *)source;

	for (size_t i = 0; i < merge->count; i++)
		tr_input_free(merge->parts[i].base.in);
	free(merge->parts);
	free(merge->heap);
	free(merge);
}

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
	for (size_t i = 0; i < count; i++)
		merge->parts[i] =
			(struct part){ .base = parts[i], .prefix_len = strlen(parts[i].prefix) };
	tr_error_clear(&merge->trouble);
	return &merge->base;
}

static int by_number(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->base.number > y->base.number) - (x->base.number < y->base.number);
}

void tr_line_merge_calls(struct tr_source *source,
			 bool (*calls)(struct tr_text line, uint64_t *number))
{
	struct merge *merge = (struct merge *)source;

	merge->calls = calls;
	merge->rank = UINT64_MAX;
	qsort(merge->parts, merge->count, sizeof *merge->parts, by_number);
}
