/* SPDX-License-Identifier: MIT */
/*
 * The files of -ff as one log: all lines in the order of their times, each with the number of its
 * process as prefix. Without times, and among equal ones, the lines of a child follow the call that
 * created it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/line_merge.h"
#include "format/strace/strace.h"

/*
 * Returns the number that the name of a file ends in: strace -ff -o LOG writes LOG.PID. -1: there
 * is none.
 */
static int64_t number_of(const char *name)
{
	const char *dot = name ? strrchr(name, '.') : NULL, *p = dot ? dot + 1 : NULL;
	const char *end = p ? p + strlen(p) : NULL;
	unsigned long long n;

	if (!p || !tr_strace_digits(&p, end, &n) || p != end || n > INT32_MAX)
		return -1;
	return (int64_t)n;
}

/* Reads the prefix of the first line. False: the file is empty or cannot be read. */
static bool read_first(struct tr_input *in, struct tr_strace_line *line)
{
	struct tr_text text;
	struct tr_error err;

	if (tr_input_line(in, &text, &err) != TR_OK)
		return false;
	tr_strace_prefix_read(text, line);
	return true;
}

/* A file whose lines begin with a pid is a whole log, even if its name ends in a number. */
int64_t tr_strace_part(const struct tr_read_config *config, struct tr_input *in)
{
	struct tr_strace_line line;
	int64_t number = number_of(config->name);

	return number >= 0 && read_first(in, &line) && !line.has_pid ? number : -1;
}

/* Takes the time from the prefix of a line. Relative times are not comparable between files. */
static void take_time(const struct tr_strace_line *line, struct tr_line_merge_time *time)
{
	unsigned long long seconds;
	const char *p = line->time.data, *end;

	if (line->clock != TR_STRACE_DAY && line->clock != TR_STRACE_EPOCH)
		return; /* relative times are those of one process */
	end = p + line->time.len;
	if (line->clock == TR_STRACE_DAY) {
		seconds = tr_strace_day_seconds(time->seconds, line->time);
		p += sizeof "HH:MM:SS" - 1;
	} else if (!tr_strace_digits(&p, end, &seconds)) {
		return;
	}
	time->seconds = seconds;
	time->fraction = tr_strace_nanoseconds(p, end);
}

/* Sets the time of a line; a line without one keeps the time of the line before. */
static void look(struct tr_text text, struct tr_line_merge_time *time)
{
	struct tr_strace_line line;

	tr_strace_prefix_read(text, &line);
	take_time(&line, time);
}

/*
 * Returns the effect of the line on other tasks, and the number of that task. Without times the
 * merge puts the lines of a child after the call that created it, and a superseded leader after the
 * lines of the thread whose exec ended it. Most lines have no effect, which their beginning shows.
 */
static enum tr_line_merge_act act(struct tr_text text, uint64_t *number)
{
	struct tr_strace_line line;
	unsigned long long child;

	tr_strace_prefix_read(text, &line);
	const char *p = line.body, *end = text.data + text.len;
	tr_strace_take(&p, end, TR_TEXT("??\?(")); /* another line follows on the same one */
	const char *name = p;
	while (p < end && tr_strace_is_name(*p))
		p++;
	bool forks = p < end && *p == '(' &&
		     tr_strace_syscall(tr_text_span(name, p))->effect == TR_STRACE_FORK;
	if (!forks && !tr_strace_take(&p, end, TR_TEXT("+++ superseded")))
		return TR_LINE_NOTHING;
	tr_strace_line_read(tr_text_span(name, end), &line);
	*number = line.number;
	if (line.type == TR_STRACE_SUPERSEDED)
		return TR_LINE_NEEDS;
	if (line.type != TR_STRACE_CALL || !tr_strace_succeeded(&line.result) ||
	    !tr_strace_number(line.result.value, &child))
		return TR_LINE_NOTHING;
	*number = child;
	return TR_LINE_CALLS;
}

enum { NO_TIME_OF_DAY = TR_STRACE_DAY_SECONDS };

/* Ascending. */
static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Returns the time of day at which the log begins. A time of day has no date: processes that began
 * after a midnight belong to the next day. The log begins after the longest time in which none
 * began, if that is most of a day. 0: there is no midnight. `starts` gets sorted.
 */
static uint64_t find_evening(uint64_t *starts, size_t count)
{
	enum { MOST_OF_A_DAY = 16 * 60 * 60 };
	uint64_t longest = MOST_OF_A_DAY, evening = 0;

	qsort(starts, count, sizeof *starts, by_number);
	for (size_t i = 1; i < count && starts[i] != NO_TIME_OF_DAY; i++) {
		if (starts[i] - starts[i - 1] < longest)
			continue;
		longest = starts[i] - starts[i - 1];
		evening = starts[i];
	}
	return evening;
}

/* Describes the parts. *timed: there are times. False: memory is exhausted. */
static bool describe(struct tr_input *const *parts, const int64_t *numbers, size_t count,
		     struct tr_line_merge_part *list, bool *timed)
{
	uint64_t *starts = calloc(count, 2 * sizeof *starts), *sorted = starts + count;

	if (!starts)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct tr_line_merge_time time = { 0, 0, 0 };
		struct tr_strace_line line = { .clock = TR_STRACE_NO_CLOCK };
		if (read_first(parts[i], &line))
			take_time(&line, &time);
		*timed = *timed || time.seconds || time.fraction;
		starts[i] = line.clock == TR_STRACE_DAY ? time.seconds : NO_TIME_OF_DAY;
		list[i].in = parts[i];
		list[i].number = list[i].time.rank = (uint64_t)numbers[i];
		snprintf(list[i].prefix, sizeof list[i].prefix, "%lld ", (long long)numbers[i]);
	}
	memcpy(sorted, starts, count * sizeof *starts);
	uint64_t evening = find_evening(sorted, count);
	for (size_t i = 0; i < count; i++)
		if (starts[i] < evening)
			list[i].time.seconds = TR_STRACE_DAY_SECONDS;
	free(starts);
	return true;
}

struct tr_source *tr_strace_merge(struct tr_input *const *parts, const int64_t *numbers,
				  size_t count)
{
	struct tr_line_merge_part *list = calloc(count, sizeof *list);
	struct tr_source *source = NULL;
	bool timed = false;

	if (list && describe(parts, numbers, count, list, &timed))
		source = tr_line_merge_new(list, count, look);
	else
		for (size_t i = 0; i < count; i++)
			tr_input_free(parts[i]);
	free(list);
	if (source)
		tr_line_merge_tasks(source, timed, act);
	return source;
}
