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
#include "format/strace/text.h"

/* The number that the name of a file ends in; -1: there is none. */
static int64_t number_of(const char *name)
{
	const char *dot = name ? strrchr(name, '.') : NULL, *p = dot ? dot + 1 : NULL;
	const char *end = p ? p + strlen(p) : NULL;
	unsigned long long n;

	if (!p || !tr_strace_digits(&p, end, &n) || p != end || n > INT32_MAX)
		return -1;
	return (int64_t)n;
}

int64_t tr_strace_part(const struct tr_read_config *config, struct tr_input *in)
{
	struct tr_strace_prefix prefix;
	struct tr_error err;
	struct tr_text line;
	int64_t number = number_of(config->name);

	if (number < 0 || tr_input_line(in, &line, &err) != TR_OK)
		return -1;
	tr_strace_prefix_read(line, &prefix);
	return prefix.has_pid ? -1 : number;
}

/* Reads the time of a line. */
static void look(struct tr_text line, struct tr_line_merge_time *time)
{
	enum { NANO_DIGITS = 9 };
	struct tr_strace_prefix prefix;
	unsigned long long seconds = 0;

	tr_strace_prefix_read(line, &prefix);
	const char *p = prefix.time.data, *end = p ? p + prefix.time.len : NULL;
	if (prefix.clock == TR_STRACE_DAY) {
		seconds = tr_strace_day_seconds(time->seconds, prefix.time);
		p += 8;
	} else if (prefix.clock != TR_STRACE_EPOCH || !tr_strace_digits(&p, end, &seconds)) {
		return; /* relative times are those of one process */
	}
	uint64_t fraction = 0;
	p += p < end;
	for (int i = 0; i < NANO_DIGITS; i++)
		fraction = fraction * 10 + (p < end ? (uint64_t)(*p++ - '0') : 0);
	time->seconds = seconds;
	time->fraction = fraction;
}

/* Whether a call that creates a task begins at p. */
static bool may_fork(const char *p, const char *end)
{
	const char *name = p;

	while (p < end && tr_strace_is_name(*p))
		p++;
	return p < end && *p == '(' && tr_strace_is_fork(tr_text_span(name, p));
}

/* The effect of the line on other tasks. Most have none, which their beginning shows. */
static enum tr_line_merge_act act(struct tr_text line, uint64_t *number)
{
	static const char unseen[] = "??\?(";
	struct tr_strace_prefix prefix;
	struct tr_strace_body body;
	unsigned long long child;

	tr_strace_prefix_read(line, &prefix);
	const char *p = prefix.body, *end = line.data + line.len;
	if (tr_strace_take(&p, end,
			   tr_text_from(unseen))) /* another line follows on the same one */
		prefix.body = p;
	bool forks = may_fork(p, end), ends = tr_strace_take(&p, end, TR_TEXT("+++ superseded"));
	if (!forks && !ends)
		return TR_LINE_NOTHING;
	tr_strace_body_read(tr_text_span(prefix.body, end), &body);
	*number = body.number;
	if (body.type == TR_STRACE_SUPERSEDED)
		return TR_LINE_NEEDS;
	if (body.type != TR_STRACE_CALL || !tr_strace_succeeded(&body.result) ||
	    !tr_strace_number(body.result.value, &child))
		return TR_LINE_NOTHING;
	*number = child;
	return TR_LINE_CALLS;
}

static bool has_times(struct tr_input *in)
{
	struct tr_line_merge_time time = { 0, 0, 0 };
	struct tr_text line;
	struct tr_error err;

	if (tr_input_line(in, &line, &err) == TR_OK)
		look(line, &time);
	return time.seconds || time.fraction;
}

enum { NO_TIME_OF_DAY = TR_STRACE_DAY_SECONDS };

/* The time of day at which the part begins, if its times have no date. */
static uint64_t start_of(struct tr_input *in)
{
	struct tr_strace_prefix prefix = { .clock = TR_STRACE_NO_CLOCK };
	struct tr_text line;
	struct tr_error err;

	if (tr_input_line(in, &line, &err) == TR_OK)
		tr_strace_prefix_read(line, &prefix);
	return prefix.clock == TR_STRACE_DAY ? tr_strace_day_seconds(0, prefix.time)
					     : NO_TIME_OF_DAY;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * A time of day has no date: processes that began after a midnight belong to the next day. The log
 * begins after the longest time in which none began, if that is most of a day. 0: there is no
 * midnight.
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

/* Moves the parts that began after midnight to the next day. False: memory is exhausted. */
static bool set_days(struct tr_line_merge_part *parts, size_t count)
{
	uint64_t *starts = calloc(count, sizeof *starts);

	if (!starts)
		return false;
	for (size_t i = 0; i < count; i++)
		starts[i] = start_of(parts[i].in);
	uint64_t evening = find_evening(starts, count);
	for (size_t i = 0; i < count; i++)
		if (start_of(parts[i].in) < evening)
			parts[i].time.seconds = TR_STRACE_DAY_SECONDS;
	free(starts);
	return true;
}

static void free_inputs(struct tr_input *const *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tr_input_free(parts[i]);
}

struct tr_source *tr_strace_merge(struct tr_input *const *parts, const int64_t *numbers,
				  size_t count)
{
	struct tr_line_merge_part *list = calloc(count, sizeof *list);
	struct tr_source *source = NULL;
	bool timed = false;

	for (size_t i = 0; list && i < count; i++) {
		timed = timed || has_times(parts[i]);
		list[i].in = parts[i];
		list[i].number = list[i].time.rank = (uint64_t)numbers[i];
		snprintf(list[i].prefix, sizeof list[i].prefix, "%lld ", (long long)numbers[i]);
	}
	if (list && set_days(list, count))
		source = tr_line_merge_new(list, count, look);
	else
		free_inputs(parts, count);
	free(list);
	if (source)
		tr_line_merge_tasks(source, timed, act);
	return source;
}
