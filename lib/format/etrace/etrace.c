/* SPDX-License-Identifier: MIT */
/* The format, its recognition, and the merging of per-CPU parts. */
#include "format/etrace/etrace.h"

#include <stdlib.h>

#include "core/line_merge.h"

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
	.open = tr_etrace_open,
	.part = part,
	.merge = merge,
	.create = tr_etrace_create,
	.default_style = "tree",
};
