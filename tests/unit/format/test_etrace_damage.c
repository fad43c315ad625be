/* SPDX-License-Identifier: MIT */
/*
 * A small log with any line removed, any two neighbours swapped, and cut
 * anywhere: the events that are touched say so, all others are as they were.
 */
#include <ctype.h>

#include "tap.h"
#include "transcript.h"

enum { LINES = 512, RECORDS = 1024 };

struct log {
	struct tr_text lines[LINES]; /* with their LF */
	size_t count;
};

/* Records of a log, without what depends on others: seq, and the parent's. */
struct events {
	char *list[RECORDS];
	size_t count;
};

static void split(struct tr_text text, struct log *log)
{
	const char *p = text.data, *end = p + text.len;

	log->count = 0;
	while (p < end && log->count < LINES) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		log->lines[log->count++] = tr_text_span(p, lf ? lf + 1 : end);
		p = lf ? lf + 1 : end;
	}
}

/* Cuts `\tkey=digits` or the second column out of a line. */
static void cut_out(char *from, const char *to)
{
	memmove(from, to, strlen(to) + 1);
}

static char *normal(struct tr_text record)
{
	char *line = strndup(record.data, record.len - 1);
	char *seq = strchr(line, '\t') + 1, *parent = strstr(line, "\tparent=");

	if (parent) {
		char *end = parent + 8;
		while (isdigit((unsigned char)*end))
			end++;
		cut_out(parent, end);
	}
	cut_out(seq, strchr(seq, '\t') + 1);
	return line;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool read_events(struct tr_text trace, struct events *events)
{
	struct reading how = { .format = &tr_format_etrace, .piece = 1 << 16 };
	struct transcript got = { 0 };
	struct log records;
	bool good = read_trace(trace, &how, &got);

	split(tr_buffer_text(&got.lines), &records);
	events->count = records.count;
	for (size_t i = 0; i < records.count; i++)
		events->list[i] = normal(records.lines[i]);
	qsort(events->list, events->count, sizeof *events->list, by_text);
	transcript_free(&got);
	return good;
}

static void free_events(struct events *events)
{
	for (size_t i = 0; i < events->count; i++)
		free(events->list[i]);
}

static bool is_flagged(const char *record)
{
	return strstr(record, "\tflagged=[") || strncmp(record, "raw\t", 4) == 0;
}

/* The task column of a record. */
static bool is_of(const char *record, const char *task)
{
	const char *p = strchr(strchr(record, '\t') + 1, '\t') + 1;
	size_t len = strlen(task);

	return strncmp(p, task, len) == 0 && p[len] == '\t';
}

/* Walks both lists: what is only in one, and what is only in the other. */
struct difference {
	size_t lost, lost_of_others; /* not counting execs of the child below */
	size_t new_unflagged;
};

static struct difference compare(const struct events *before, const struct events *after,
				 const char *tasks[2], const char *child)
{
	struct difference d = { 0, 0, 0 };
	size_t i = 0, k = 0;

	while (i < before->count || k < after->count) {
		int order = i == before->count	? 1
			    : k == after->count ? -1
						: strcmp(before->list[i], after->list[k]);
		if (order < 0) {
			const char *record = before->list[i];
			/* who loses the fork of a child does not know the parent of what it runs */
			bool childs =
				child && strncmp(record, "exec", 4) == 0 && is_of(record, child);
			d.lost += !childs;
			d.lost_of_others +=
				!childs && !is_of(record, tasks[0]) && !is_of(record, tasks[1]);
		}
		if (order > 0)
			d.new_unflagged += !is_flagged(after->list[k]);
		i += order <= 0;
		k += order >= 0;
	}
	return d;
}

/* The upid of a line; "-" where it has none. */
static const char *task_of(struct tr_text line, char *to)
{
	unsigned long long upid;

	if (sscanf(line.data, "0: %llu,", &upid) == 1)
		sprintf(to, "%llu", upid);
	else
		strcpy(to, "-");
	return to;
}

static bool has_tag(struct tr_text line, const char *tag)
{
	return memmem(line.data, line.len, tag, strlen(tag)) != NULL;
}

/* Without these lines what is left is a form of its own. */
static bool leaves_no_trace(struct tr_text line)
{
	return has_tag(line, "!SysClone|") || has_tag(line, "!UPID|") ||
	       has_tag(line, "!MountFailed|") || has_tag(line, "!UmountFailed|") ||
	       tr_text_starts(line, TR_TEXT("0: 0,"));
}

static const char *child_of(struct tr_text line, char *to)
{
	const char *pid = memmem(line.data, line.len, "!SchedFork|pid=", 15);

	if (!pid)
		return NULL;
	snprintf(to, 24, "%.*s", (int)strspn(pid + 15, "0123456789"), pid + 15);
	return to;
}

static void put_lines(const struct log *log, size_t from, size_t to, struct tr_buffer *trace)
{
	for (size_t i = from; i < to; i++)
		tr_buffer_put_text(trace, log->lines[i]);
}

static void check_removed(const struct log *log, const struct events *whole)
{
	size_t bad = 0;

	for (size_t i = 0; i < log->count; i += every(5)) {
		struct tr_buffer trace = TR_BUFFER_INIT;
		struct events left;
		char task[24], child[24];
		put_lines(log, 0, i, &trace);
		put_lines(log, i + 1, log->count, &trace);
		bool good = read_events(tr_buffer_text(&trace), &left);
		const char *tasks[2] = { task_of(log->lines[i], task), task };
		struct difference d = compare(whole, &left, tasks, child_of(log->lines[i], child));
		good = good && d.lost <= 1 && !d.lost_of_others &&
		       (!d.new_unflagged || leaves_no_trace(log->lines[i]));
		if (!good)
			diag("without line %zu: %.*s%zu lost, %zu of others, %zu new", i + 1,
			     (int)log->lines[i].len, log->lines[i].data, d.lost, d.lost_of_others,
			     d.new_unflagged);
		bad += !good;
		free_events(&left);
		tr_buffer_free(&trace);
	}
	ok(bad == 0, "any line removed: only the event that it belongs to changes, with a message");
}

static void check_swapped(const struct log *log, const struct events *whole)
{
	size_t bad = 0;

	for (size_t i = 0; i + 1 < log->count; i += every(5)) {
		struct tr_buffer trace = TR_BUFFER_INIT;
		struct events left;
		char one[24], other[24];
		put_lines(log, 0, i, &trace);
		put_lines(log, i + 1, i + 2, &trace);
		put_lines(log, i, i + 1, &trace);
		put_lines(log, i + 2, log->count, &trace);
		bool good = read_events(tr_buffer_text(&trace), &left);
		const char *tasks[2] = { task_of(log->lines[i], one),
					 task_of(log->lines[i + 1], other) };
		struct difference d = compare(whole, &left, tasks, NULL);
		/* a task has events after its end, or a fork after another event */
		bool may = has_tag(log->lines[i + 1], "!Exit|") ||
			   has_tag(log->lines[i], "!SchedFork|") ||
			   leaves_no_trace(log->lines[i]) || leaves_no_trace(log->lines[i + 1]);
		good = good && d.lost <= 2 && !d.lost_of_others && (!d.new_unflagged || may);
		/* lines of two tasks have no order */
		if (strcmp(one, other) != 0 && *one != '-' && *other != '-')
			good = good && !d.lost;
		if (!good)
			diag("with line %zu after the next: %.*s%zu lost, %zu of others, %zu new",
			     i + 1, (int)log->lines[i].len, log->lines[i].data, d.lost,
			     d.lost_of_others, d.new_unflagged);
		bad += !good;
		free_events(&left);
		tr_buffer_free(&trace);
	}
	ok(bad == 0, "any two neighbours swapped: the same");
}

/* What is not in the whole log is flagged, and that is no more than what was going on. */
static void check_cuts(struct tr_text trace, const struct events *whole)
{
	size_t bad = 0, best = 0;
	const char *first_set = memmem(trace.data, trace.len, "\n0: 0,", 6);
	size_t sets = (size_t)(first_set - trace.data);

	for (size_t len = trace.len % every(7); len <= trace.len; len += every(7)) {
		/* a copy of its own size, so that a sanitizer reports what is read after it */
		char *copy = malloc(len ? len : 1);
		struct events left;
		memcpy(copy, trace.data, len);
		bool good = read_events((struct tr_text){ copy, len }, &left);
		size_t i = 0, k = 0, same = 0, flagged = 0;
		while (k < left.count) {
			int order = i == whole->count ? 1 : strcmp(whole->list[i], left.list[k]);
			same += order == 0;
			flagged += order > 0 && is_flagged(left.list[k]);
			i += order <= 0;
			k += order >= 0;
		}
		/* the task of the last line, and what others are in the middle of */
		size_t open = len > sets ? 1 : 0; /* a set has no end that could be missed */
		good = good && same + flagged + open >= left.count && flagged <= 4 &&
		       same + 1 >= best;
		if (!good)
			diag("cut at %zu: %zu records, %zu as they were, %zu flagged", len,
			     left.count, same, flagged);
		best = same > best ? same : best;
		bad += !good;
		free_events(&left);
		free(copy);
	}
	ok(bad == 0 && best == whole->count, "cut anywhere: what came before is there");
}

static void slurp(const char *name, struct tr_buffer *to)
{
	const char *top = getenv("top_srcdir");
	char path[4096];
	snprintf(path, sizeof path, "%s/tests/data/etrace/%s", top ? top : ".", name);
	FILE *file = fopen(path, "rb");
	char block[4096];
	size_t n;

	while (file && (n = fread(block, 1, sizeof block, file)) > 0)
		tr_buffer_put(to, block, n);
	if (file)
		fclose(file);
}

int main(void)
{
	struct tr_buffer trace = TR_BUFFER_INIT;
	struct events whole;
	struct log log;

	slurp("small.nfsdb", &trace);
	split(tr_buffer_text(&trace), &log);
	ok(log.count > 90 && read_events(tr_buffer_text(&trace), &whole), "the log is read");
	size_t flagged = 0;
	for (size_t i = 0; i < whole.count; i++)
		flagged += is_flagged(whole.list[i]);
	ok(flagged == 0, "nothing is wrong with it");
	check_removed(&log, &whole);
	check_swapped(&log, &whole);
	check_cuts(tr_buffer_text(&trace), &whole);
	free_events(&whole);
	tr_buffer_free(&trace);
	return done_testing();
}
