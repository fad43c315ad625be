/* SPDX-License-Identifier: MIT */
/*
 * The format: its recognition, the merging of per-CPU parts into one log, and the reader of its
 * lines. Each line becomes a record (--lines), or goes to the events, through a window that sorts
 * late lines if -O reorder is given.
 */
#include "format/etrace/etrace.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "core/line_merge.h"
#include "format/etrace/event.h"
#include "format/reader_base.h"
#include "record/literal.h"

/* Recognition, and parts. */

enum {
	BITS_INITCWD = 40,
	BITS_EVENT = 40, /* four numbers, their separators, and a known tag */
	BITS_LOST = 20,

	PROBED_BYTES = 16 << 10,
	PROBED_LINES = 16,

	/* numbers of parts */
	HEAD = 0, /* the file with only the first line, if the rest went into the parts */
	FIRST_CPU = 1,
	CPUS = 1 << 20, /* no system has more */
	FIRST_ENVIRONMENT = FIRST_CPU + CPUS,
};

/* Reads the first lines of an input without consuming them. All zero at first. */
struct probe {
	size_t at; /* of the next line */
	unsigned lines;
	bool done;
};

/* Reads the next line near the beginning; the last may be cut. False: there is none. */
static bool probe_line(struct probe *probe, struct tr_input *in, struct tr_etrace_line *line)
{
	size_t seen = probe->at;
	const char *lf = NULL;

	if (probe->done || probe->lines == PROBED_LINES || !tr_input_more(in, probe->at + 1))
		return false;
	for (;;) {
		size_t available = tr_input_available(in);
		lf = memchr(in->pos + seen, '\n', available - seen);
		if (lf || available >= PROBED_BYTES || !tr_input_more(in, available + 1))
			break;
		seen = available;
	}
	tr_etrace_line_read(tr_text_span(in->pos + probe->at, lf ? lf : in->end), NULL, line);
	probe->lines++;
	probe->done = !lf || lf + 1 - in->pos >= PROBED_BYTES;
	probe->at = lf ? (size_t)(lf + 1 - in->pos) : 0;
	return true;
}

static int weigh(const struct tr_etrace_line *line)
{
	switch (line->type) {
	case TR_ETRACE_EVENT:
		return line->known ? BITS_EVENT : 0;
	case TR_ETRACE_INITCWD:
		return BITS_INITCWD;
	case TR_ETRACE_LOST:
		return BITS_LOST;
	default:
		return 0;
	}
}

/* Recognises the format by one of its first lines; other lines may come before it. */
static int bid(struct tr_input *in)
{
	struct probe probe = { 0 };
	struct tr_etrace_line line;
	int bits = 0;

	if (tr_input_more(in, 3) && memcmp(in->pos, "\xef\xbb\xbf", 3) == 0)
		probe.at = 3; /* with --lines it is not removed before */
	if (tr_input_more(in, probe.at + 1) && strchr("{[", in->pos[probe.at]))
		return 0; /* JSON: do not wait for the end of its line, which may be far */
	while (bits < BITS_EVENT && probe_line(&probe, in, &line)) {
		int more = weigh(&line);
		bits = more > bits ? more : bits;
	}
	return bits;
}

/*
 * Lines of the environment state CPU 0 wherever they were printed. A part that begins with them,
 * because its CPU had nothing else to do, is distinguished from others by their time.
 */
static int64_t number_of(const struct tr_etrace_line *line)
{
	if (line->type == TR_ETRACE_EVENT && line->upid == 0)
		return FIRST_ENVIRONMENT + (int64_t)line->time.nsec;
	return line->cpu < CPUS ? FIRST_CPU + (int64_t)line->cpu : -1;
}

/*
 * Returns which part it is, by its first lines, which are all of one CPU; -1: none. It may begin in
 * the middle of a line, or with lines that its buffer lost.
 */
static int64_t part_of(struct tr_input *in)
{
	struct probe probe = { 0 };
	struct tr_etrace_line line;
	int64_t part = -1;

	while (probe_line(&probe, in, &line)) {
		if (line.type == TR_ETRACE_INITCWD)
			return probe_line(&probe, in, &line) ? -1 : HEAD;
		if (line.type == TR_ETRACE_NOISE)
			continue;
		int64_t number = number_of(&line);
		part = part < 0 ? number : part;
		if (number < 0 || (number != part && number < FIRST_ENVIRONMENT))
			return -1;
	}
	return part;
}

static int64_t part(const struct tr_read_config *config, struct tr_input *in)
{
	bool apart = tr_text_is(tr_setting_get(&config->settings, "parts", "merge"), "apart");

	return config->lines || apart ? -1 : part_of(in);
}

/* A line without a time stays after the one that it came after. */
static void time_of(struct tr_text text, struct tr_line_merge_time *time)
{
	struct tr_etrace_line line;

	tr_etrace_line_read(text, NULL, &line);
	if (line.type == TR_ETRACE_EVENT)
		*time = (struct tr_line_merge_time){ line.time.sec, line.time.nsec, line.cpu };
}

/* Merges the lines of all parts in the order of their times; the lines state their CPUs. */
static struct tr_source *merge(struct tr_input *const *parts, const int64_t *numbers, size_t count)
{
	struct tr_line_merge_part *list = calloc(count, sizeof *list);

	(void)numbers;
	if (!list) {
		for (size_t i = 0; i < count; i++)
			tr_input_free(parts[i]);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		list[i].in = parts[i];
	struct tr_source *source = tr_line_merge_new(list, count, time_of);
	free(list);
	return source;
}

/* The reader. */

enum {
	HELD_MAX = 64 << 20, /* bytes of all unfinished events: the kernel's argv has 6 MiB */
	REORDER_MAX = 1 << 20,
};

/* A line in the window. */
struct waiting {
	struct tr_etrace_moment time;
	uint64_t number; /* of the line */
	bool cut;
	char *text; /* owned */
	size_t len;
};

/* The window of -O reorder: a heap of lines; the oldest one leaves it when it is full. */
struct reorder {
	size_t window; /* 0: off */
	struct waiting *heap;
	size_t count, cap;
	struct tr_etrace_moment last; /* time of a line: one without a time stays after it */
};

struct reader {
	struct tr_reader base;
	bool lines;		    /* --lines */
	struct tr_etrace_head head; /* of the last line */
	struct tr_etrace_events events;
	struct reorder reorder;
	bool at_end; /* of the input */
};

/* The window of -O reorder. */

static bool is_before(const struct waiting *a, const struct waiting *b)
{
	return tr_etrace_before(a->time, b->time) ||
	       (a->number < b->number && !tr_etrace_before(b->time, a->time));
}

static void rise(struct waiting *heap, size_t i)
{
	struct waiting line = heap[i];

	for (; i && is_before(&line, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = line;
}

static void sink(struct waiting *heap, size_t count)
{
	struct waiting line = heap[0];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &line))
			break;
		heap[i] = heap[child];
	}
	heap[i] = line;
}

/* Adds a copy of a line, whose time is set if timed. False: memory is exhausted. */
static bool add_waiting(struct reorder *reorder, struct waiting line, bool timed)
{
	if (!tr_array_room(reorder->heap, reorder->count, reorder->cap))
		return false;
	/* the text is followed by readable bytes, for wide loads */
	char *text = malloc(line.len + TR_INPUT_PAD);
	if (!text)
		return false;
	memcpy(text, line.text, line.len);
	memset(text + line.len, 0, TR_INPUT_PAD);
	line.text = text;
	if (timed)
		reorder->last = line.time;
	line.time = reorder->last;
	reorder->heap[reorder->count] = line;
	rise(reorder->heap, reorder->count++);
	return true;
}

/* Takes the oldest line if the window is full, or any with `all`. The text becomes the caller's. */
static bool take_oldest(struct reorder *reorder, bool all, struct waiting *line)
{
	if (!reorder->count || (!all && reorder->count <= reorder->window))
		return false;
	*line = reorder->heap[0];
	reorder->heap[0] = reorder->heap[--reorder->count];
	if (reorder->count)
		sink(reorder->heap, reorder->count);
	return true;
}

/* Reads a number in an option of the format. */
static bool read_option(const struct tr_settings *settings, const char *key, const char *fallback,
			uint64_t max, uint64_t *number, struct tr_error *err)
{
	struct tr_text value = tr_setting_get(settings, key, fallback);
	bool padded;

	if (tr_etrace_number(value, number, &padded) && *number <= max)
		return true;
	tr_error_set(err, TR_CAUSE_USAGE, "-O %s takes a number up to %llu, not '%.*s'", key,
		     (unsigned long long)max, TR_SHOWN(value, 40));
	return false;
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	tr_etrace_events_free(&reader->events);
	for (size_t i = 0; i < reader->reorder.count; i++)
		free(reader->reorder.heap[i].text);
	free(reader->reorder.heap);
}

/* --lines: each line is a record. */

static void put_text(struct tr_text bytes, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "\ttext=");
	tr_string_quote(bytes, to);
}

/* Appends what follows the seq, for a line of a task without zeros in front of numbers. */
static void put_event(const struct tr_etrace_line *line, struct tr_buffer *to)
{
	enum { MOST = 2 * TR_DECIMAL_MAX + TR_ETRACE_NANO_DIGITS + 3 };
	char *begin = tr_buffer_room(to, MOST), *p = begin;

	if (!begin)
		return;
	p += tr_decimal_write(line->time.sec, p);
	*p++ = '.';
	tr_etrace_write_nanoseconds(line->time.nsec, p);
	p += TR_ETRACE_NANO_DIGITS;
	*p++ = '\t';
	p += tr_decimal_write(line->upid, p);
	*p++ = '\t';
	tr_buffer_used(to, (size_t)(p - begin));
	tr_buffer_put_text(to, line->tag);
	tr_buffer_put_literal(to, "\tcpu=");
	tr_etrace_put_number((int64_t)line->cpu, to);
	if (line->form == TR_ETRACE_PART) {
		tr_buffer_put_literal(to, "\tindex=");
		tr_etrace_put_number((int64_t)line->index, to);
	}
	if (line->form != TR_ETRACE_BARE)
		put_text(line->text, to);
	if (tr_text_equal(line->prefix, TR_TEXT("0: ")))
		return;
	tr_buffer_put_literal(to, "\t.prefix=");
	tr_string_quote(line->prefix, to);
}

/*
 * Appends the rest of the record of a line, after its seq. A line in the tracer's own
 * spelling is split:
 *
 *	line	7	100.000002400	8413874	A	cpu=1	index=0	text="sh"
 *
 * index stands for [0], text is what follows it or the bar; without text there was neither.
 * `.prefix` is the text in front of the upid if that is not "0: ", and `.lf=false` means that the
 * line has no LF. INITCWD= has its value in text. A line in any other spelling has no time, task
 * and name, and is all in text. end: the line has its LF.
 */
static void put_verbatim(const struct tr_etrace_line *line, bool end, struct tr_buffer *to)
{
	if (line->type == TR_ETRACE_EVENT && !line->padded) {
		put_event(line, to);
	} else if (line->type == TR_ETRACE_INITCWD) {
		tr_buffer_put_literal(to, "-\t-\tINITCWD");
		put_text(line->text, to);
	} else {
		tr_buffer_put_literal(to, "-\t-\t-");
		put_text(line->whole, to);
	}
	if (!end)
		tr_buffer_put_literal(to, "\t.lf=false");
}

/* Does without tr_reader_deliver, which would cost a tenth more time. */
static enum tr_status next_line(struct reader *reader, struct tr_record **record,
				struct tr_error *err)
{
	struct tr_buffer *to = &reader->base.line;
	struct tr_etrace_line line;
	struct tr_text text;
	bool end;
	enum tr_status status = tr_reader_line(&reader->base, &text, &end, err);

	if (status != TR_OK)
		return status;
	tr_etrace_line_read(text, &reader->head, &line);
	tr_buffer_reset(to);
	tr_buffer_put_literal(to, "line\t");
	tr_buffer_put_decimal(to, reader->base.seq++);
	tr_buffer_put_byte(to, '\t');
	put_verbatim(&line, end, to);
	tr_buffer_put_byte(to, '\n');
	if (!tr_buffer_room(to, TR_INPUT_PAD))
		return tr_error_memory(err);
	tr_arena_reset(&reader->base.arena);
	if (!tr_record_from_line(&reader->base.record, tr_buffer_text(to), err))
		return TR_FATAL;
	reader->base.record.canonical = true;
	reader->base.record.source_line = reader->base.lines;
	*record = &reader->base.record;
	return TR_OK;
}

/* Passes a line to the events. cut: it has no LF; in damaged input that is not reported again. */
static bool use_line(struct reader *reader, struct tr_etrace_line *line, uint64_t number, bool cut)
{
	line->number = number;
	line->cut = cut;
	return (!cut || reader->base.in->damaged ||
		tr_etrace_render_cut(&reader->events, number)) &&
	       tr_etrace_events_line(&reader->events, line);
}

/* Passes on the oldest line of the window, if it is to leave. False: memory is exhausted. */
static bool use_oldest(struct reader *reader, bool all)
{
	struct tr_etrace_line line;
	struct waiting waiting;

	if (!take_oldest(&reader->reorder, all, &waiting))
		return true;
	tr_etrace_line_read((struct tr_text){ waiting.text, waiting.len }, NULL, &line);
	bool fine = use_line(reader, &line, waiting.number, waiting.cut);
	free(waiting.text);
	return fine;
}

/* At the end of the input: empties the window, then finishes the events. TR_END: all is done. */
static enum tr_status finish_input(struct reader *reader, struct tr_error *err)
{
	struct tr_etrace_events *events = &reader->events;

	if (reader->reorder.count || events->oldest) {
		bool fine = reader->reorder.count ? use_oldest(reader, true)
						  : tr_etrace_events_end(events);
		return fine ? TR_OK : tr_error_memory(err);
	}
	return tr_reader_note_orphans(&reader->base, events->orphans,
				      "executions whose fork is not in the log", err);
}

/*
 * Writes the records of the queue to the output of the tool, which needs nothing but lines. False:
 * they have to come as records, because one has a message, or the output failed.
 */
static bool write_queue(struct reader *reader, struct tr_output *out)
{
	struct tr_etrace_queue *queue = &reader->events.queue;

	for (size_t i = 0; i < queue->count; i++)
		if (queue->entries[i].trouble != TR_ETRACE_FINE)
			return false;
	if (out->failed)
		return false;
	tr_output_put(out, queue->text.data, queue->text.len);
	tr_output_record_end(out);
	reader->base.handed_over += queue->count;
	tr_buffer_reset(&queue->text);
	queue->count = 0;
	return true;
}

/*
 * Passes on the lines in the input's window, which are nearly all lines, until there are records
 * for a while in the queue: reading lines and using records each take so much code that the
 * processor's cache does not hold both. A taker, or an output for lines, wants each at once. False:
 * memory is exhausted.
 */
static bool use_window(struct reader *reader)
{
	enum {
		ESCAPED = 6, /* bytes that a byte may take in a record */
		BATCH = 16 << 10,
	};
	const struct tr_etrace_queue *queue = &reader->events.queue;
	struct tr_output *out = reader->base.text_out ? *reader->base.text_out : NULL;
	size_t batch = out || reader->events.files ? 0 : BATCH;
	struct tr_input *in = reader->base.in;
	struct tr_etrace_line line;
	const char *lf;

	while ((!queue->count || queue->text.len < batch || (out && write_queue(reader, out))) &&
	       (lf = memchr(in->pos, '\n', tr_input_available(in)))) {
		struct tr_text text = tr_text_span(in->pos, lf);
		if (text.len >= reader->base.max_record / ESCAPED)
			break; /* tr_input_line applies the limit */
		tr_etrace_line_read(text, &reader->head, &line);
		line.number = ++reader->base.lines;
		tr_input_skip(in, text.len + 1);
		if (!tr_etrace_events_line(&reader->events, &line))
			return false;
	}
	return true;
}

/* Reads on until there may be a record in the queue. TR_END: the log is over. */
static enum tr_status fill(struct reader *reader, struct tr_error *err)
{
	struct tr_text text;
	bool end;

	if (reader->at_end)
		return finish_input(reader, err);
	if (!reader->reorder.window && !use_window(reader))
		return tr_error_memory(err);
	if (reader->events.queue.count)
		return TR_OK;
	enum tr_status status = tr_reader_line(&reader->base, &text, &end, err);
	reader->at_end = status == TR_END;
	if (status == TR_END)
		return TR_OK;
	if (status != TR_OK)
		return status;
	struct tr_etrace_line line;
	bool good;
	tr_etrace_line_read(text, &reader->head, &line);
	if (reader->reorder.window) {
		struct waiting waiting = { line.time, reader->base.lines, !end, (char *)text.data,
					   text.len };
		good = add_waiting(&reader->reorder, waiting, line.type == TR_ETRACE_EVENT) &&
		       use_oldest(reader, false);
	} else {
		good = use_line(reader, &line, reader->base.lines, !end);
	}
	return good ? TR_OK : tr_error_memory(err);
}

static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	struct tr_etrace_queue *queue = &reader->events.queue;

	if (reader->lines)
		return next_line(reader, record, err);
	*record = &reader->base.record;
	while (queue->first == queue->count) {
		if (queue->count)
			tr_buffer_reset(&queue->text);
		queue->first = queue->count = 0;
		enum tr_status status = fill(reader, err);
		if (status != TR_OK)
			return status;
		/* a record's line is followed by readable bytes */
		if (queue->count && !tr_buffer_room(&queue->text, TR_INPUT_PAD))
			return tr_error_memory(err);
	}
	return tr_etrace_queue_take(queue, &reader->base.record, err);
}

static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	const struct tr_settings *settings = &config->settings;
	uint64_t window, bits = TR_ETRACE_NO_PID;

	if (!read_option(settings, "reorder", "0", REORDER_MAX, &window, err) ||
	    (tr_setting_get(settings, "pid-bits", "").len &&
	     !read_option(settings, "pid-bits", "", 32, &bits, err)))
		return NULL;
	if (config->lines && (window || bits != TR_ETRACE_NO_PID)) {
		tr_error_set(err, TR_CAUSE_USAGE,
			     "-O reorder and -O pid-bits apply to events: they cannot be "
			     "combined with --lines");
		return NULL;
	}
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);
	if (!reader)
		return NULL;
	reader->lines = config->lines;
	if (config->as_text)
		reader->base.text_out = config->text_out;
	reader->reorder.window = (size_t)window;
	reader->events.pid_bits = (unsigned)bits;
	reader->events.files = config->files;
	reader->events.columns = (struct tr_record){ .kind = TR_TEXT("sys"),
						     .seq.type = TR_CELL_NUMBER,
						     .time.type = TR_CELL_TEXT,
						     .task.type = TR_CELL_TEXT,
						     .name.type = TR_CELL_TEXT,
						     .split = true,
						     .arrow = TR_NO_ARROW };
	reader->events.max_held =
		config->limits.max_record < HELD_MAX ? config->limits.max_record : HELD_MAX;
	return &reader->base;
}

static const char *const extensions[] = { ".nfsdb", NULL };

static const struct tr_format_option options[] = {
	{ "parts", "merge|apart", true, false,
	  "merge the files of single CPUs (default), or read each separately" },
	{ "pid-bits", "N", true, false,
	  "number of bits of an upid that are the process id, usually 22; adds pid to every "
	  "record" },
	{ "reorder", "N", true, false, "sort lines that are up to N lines late by time" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_etrace = {
	.name = "etrace",
	.summary = "system call log of the etrace kernel tracer (.nfsdb)",
	.exact = "EXACT with --lines, else equal as events",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_LINES,
	.extensions = extensions,
	.options = options,
	.bid = bid,
	.open = open_reader,
	.part = part,
	.merge = merge,
	.create = tr_etrace_create,
	.default_style = "tree",
};
