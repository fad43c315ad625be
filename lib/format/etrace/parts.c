/*
 * What the recorder wrote to a file for each CPU, as one log: the lines of all
 * parts in the order of their times. A line without a time stays behind the one
 * that it stood behind.
 */
#include <stdlib.h>
#include <string.h>

#include "format/etrace/etrace.h"
#include "format/etrace/line.h"

/* The file that has nothing but the first line when the rest went into the parts. */
enum { HEAD = 0, FIRST_CPU = 1 };

int64_t tr_etrace_part(const struct tr_read_config *config, struct tr_input *in)
{
	struct tr_etrace_line line;
	struct tr_error err;
	struct tr_text text;

	if (config->lines ||
	    tr_text_is(tr_setting_get(&config->settings, "parts", "merge"), "apart") ||
	    tr_input_line(in, &text, &err) != TR_OK)
		return -1;
	size_t len = text.len;
	text.len -= text.data[len - 1] == '\n';
	tr_etrace_line_read(text, NULL, &line);
	if (line.type == TR_ETRACE_INITCWD)
		return tr_input_more(in, len + 1) ? -1 : HEAD;
	bool fits = line.type == TR_ETRACE_EVENT && line.cpu < INT64_MAX - FIRST_CPU;
	return fits ? (int64_t)line.cpu + FIRST_CPU : -1;
}

struct part {
	struct tr_input *in;
	struct tr_text line; /* the next one, in the window */
	uint64_t sec, nsec, cpu;
	size_t index; /* of the operand */
};

struct merge {
	struct tr_source base;
	struct part *parts; /* all of them, open for as long as the source is */
	size_t count;
	struct part **heap; /* those that have a line */
	size_t live;
	bool started;
	size_t given;		 /* bytes of the first part's line */
	bool done;		 /* all of them, and it is skipped */
	struct tr_error trouble; /* the first there was: reported when everything is given */
};

static bool is_before(const struct part *a, const struct part *b)
{
	if (a->sec != b->sec)
		return a->sec < b->sec;
	if (a->nsec != b->nsec)
		return a->nsec < b->nsec;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	return a->index < b->index;
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
	struct tr_etrace_line line;
	enum tr_status status;

	while ((status = tr_input_line(part->in, &part->line, err)) == TR_WARN)
		note_trouble(merge, err);
	if (status == TR_END && part->in->damaged) {
		tr_input_error(part->in, err);
		note_trouble(merge, err);
	}
	if (status != TR_OK)
		return status;
	struct tr_text text = part->line;
	bool end = text.data[text.len - 1] == '\n';
	text.len -= end;
	if (!end && !part->in->damaged) {
		tr_error_set(err, TR_CAUSE_CUT,
			     "the last line of a part has no end: it may be cut");
		note_trouble(merge, err);
	}
	tr_etrace_line_read(text, NULL, &line);
	if (line.type == TR_ETRACE_EVENT) {
		part->sec = line.sec;
		part->nsec = line.nsec;
		part->cpu = line.cpu;
	}
	return TR_OK;
}

static bool start(struct merge *merge, struct tr_error *err)
{
	merge->started = true;
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
	return true;
}

/* Bytes of the first part's line to buf, with a LF where it has none. */
static size_t give(struct merge *merge, char *buf, size_t cap)
{
	struct part *part = merge->heap[0];
	size_t left = part->line.len - merge->given, n = left < cap ? left : cap;
	bool end = part->line.data[part->line.len - 1] == '\n';

	memcpy(buf, part->line.data + merge->given, n);
	merge->given += n;
	merge->done = n == left && (end || n < cap);
	if (merge->done && !end)
		buf[n++] = '\n';
	if (merge->done)
		tr_input_skip(part->in, part->line.len);
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
		if (merge->done && n && tr_input_would_wait(merge->heap[0]->in))
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
		tr_input_free(merge->parts[i].in);
	free(merge->parts);
	free(merge->heap);
	free(merge);
}

static uint64_t raw_offset(struct tr_source *source)
{
	const struct merge *merge = (struct merge *)source;
	uint64_t sum = 0;

	for (size_t i = 0; i < merge->count; i++)
		sum += tr_input_raw_offset(merge->parts[i].in);
	return sum;
}

struct tr_source *tr_etrace_merge(struct tr_input *const *parts, size_t count)
{
	struct merge *merge = calloc(1, sizeof *merge);

	if (merge) {
		merge->parts = calloc(count, sizeof *merge->parts);
		merge->heap = calloc(count, sizeof(struct part *));
	}
	if (!merge || !merge->parts || !merge->heap) {
		for (size_t i = 0; i < count; i++)
			tr_input_free(parts[i]);
		free(merge ? merge->parts : NULL);
		free(merge ? merge->heap : NULL);
		free(merge);
		return NULL;
	}
	merge->base = (struct tr_source){ .read = read_merged,
					  .close = close_merged,
					  .raw_offset = raw_offset };
	merge->count = count;
	for (size_t i = 0; i < count; i++)
		merge->parts[i] = (struct part){ .in = parts[i], .index = i };
	tr_error_clear(&merge->trouble);
	return &merge->base;
}
