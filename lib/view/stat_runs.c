/* SPDX-License-Identifier: MIT */
/* Statistics of runs of programs: durations, ends, and how many ran at a time. */
#include "view/stat_private.h"

#include <stdlib.h>

#include "process/call.h"
#include "process/command.h"
#include "record/literal.h"
#include "view/brief.h"

enum { COMMAND_SHOWN = 160, LONGEST_MAX = 1 << 16 };

/* A run that has not ended. */
struct live {
	struct tr_tally_entry *entry;
	size_t len;
	char line[]; /* its exec record, with the fields that describe a command */
};

static void swap(struct tr_stat_long_run *a, struct tr_stat_long_run *b)
{
	struct tr_stat_long_run kept = *a;

	*a = *b;
	*b = kept;
}

/* Of two runs with the same duration, the earlier one is the longer. */
static bool less(const struct tr_stat_long_run *a, const struct tr_stat_long_run *b)
{
	return a->duration != b->duration ? a->duration < b->duration : a->seq > b->seq;
}

static void sift_down(struct tr_stat_long_run *heap, size_t count)
{
	for (size_t i = 0;;) {
		size_t child = 2 * i + 1;
		if (child + 1 < count && less(&heap[child + 1], &heap[child]))
			child++;
		if (child >= count || !less(&heap[child], &heap[i]))
			return;
		swap(&heap[i], &heap[child]);
		i = child;
	}
}

static void sift_up(struct tr_stat_long_run *heap, size_t i)
{
	for (; i && less(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
}

static char *copy_string(struct tr_text text)
{
	char *copy = malloc(text.len + 1);

	if (copy) {
		memcpy(copy, text.data, text.len);
		copy[text.len] = '\0';
	}
	return copy;
}

static void free_long_run(struct tr_stat_long_run *run)
{
	free(run->command);
	free(run->makes);
}

/*
 * Sets the command and the file that it makes from the exec record. now: the current record, whose
 * arena reports values that exceed --max-record. False: memory is exhausted.
 */
static bool describe(struct tr_stat_runs *runs, const struct live *live, struct tr_record *now,
		     struct tr_stat_long_run *longer)
{
	struct tr_record record;
	struct tr_error err;
	struct tr_text makes;

	tr_buffer_reset(&runs->line);
	tr_buffer_reset(&runs->command);
	tr_arena_reset(&runs->arena);
	tr_buffer_put(&runs->line, live->line, live->len);
	runs->arena.limited = false;
	bool fine = tr_record_from_buffer(&record, &runs->arena, &runs->line, &err) == TR_OK &&
		    tr_command_show(&record, 0, &runs->command) && tr_call_makes(&record, &makes);
	now->arena->limited |= runs->arena.limited;
	if (!fine)
		return false;
	longer->command = copy_string(tr_buffer_text(&runs->command));
	tr_buffer_reset(&runs->command);
	if (makes.data)
		tr_shell_quote_printable(makes, &runs->command);
	longer->makes = makes.data ? copy_string(tr_buffer_text(&runs->command)) : NULL;
	return longer->command && (longer->makes || !makes.data) && !runs->command.failed;
}

static void keep_longest(struct tr_stat_runs *runs, const struct tr_run *run,
			 const struct live *live, struct tr_record *now, int64_t duration)
{
	struct tr_stat_long_run longer = { .duration = duration, .seq = run->seq };
	bool full = runs->longest_count == runs->longest_cap;

	if (full && !less(&runs->longest[0], &longer))
		return;
	if (!describe(runs, live, now, &longer)) {
		free_long_run(&longer);
		runs->failed = true;
		return;
	}
	if (full) {
		free_long_run(&runs->longest[0]);
		runs->longest[0] = longer;
		sift_down(runs->longest, runs->longest_count);
	} else {
		runs->longest[runs->longest_count] = longer;
		sift_up(runs->longest, runs->longest_count++);
	}
}

static void count_end(struct tr_stat_runs *runs, const struct tr_run *run)
{
	struct tr_buffer text = TR_BUFFER_INIT;

	switch (run->fate) {
	case TR_RUN_EXITED:
		tr_buffer_put_literal(&text, "exited ");
		if (run->status == UINT64_MAX)
			tr_buffer_put_byte(&text, '?');
		else
			tr_buffer_put_decimal(&text, run->status);
		break;
	case TR_RUN_KILLED:
		tr_buffer_put_text(&text, tr_text_from(run->signal));
		break;
	case TR_RUN_REPLACED:
		tr_buffer_put_literal(&text, "called exec again");
		break;
	case TR_RUN_OPEN:
		tr_buffer_put_literal(&text, "unknown");
	}
	runs->failed |= text.failed;
	tr_tally_count(&runs->ends, tr_buffer_text(&text));
	tr_buffer_free(&text);
}

static void put_field(struct tr_record *record, const char *key, struct tr_buffer *to)
{
	const struct tr_field *field = tr_record_field(record, key);

	if (!field || (!field->text.data && !field->value))
		return;
	tr_buffer_put_byte(to, '\t');
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_byte(to, '=');
	if (field->text.data)
		tr_buffer_put_text(to, field->text);
	else
		tr_literal_write(field->value, to);
}

static void program(struct tr_stat_runs *runs, struct tr_run *run, struct tr_record *record)
{
	runs->programs++;
	if (run->began == TR_INSTANT_NONE)
		return; /* its duration will be unknown */
	struct tr_buffer *to = &runs->line;
	tr_buffer_reset(to);
	tr_buffer_put_literal(to, "exec\t-\t-\t-\t");
	tr_cell_write(&record->name, to);
	put_field(record, "cwd", to);
	put_field(record, "argv", to);
	put_field(record, "respfile", to);
	tr_buffer_put_byte(to, '\n');
	struct live *live = to->failed ? NULL : malloc(sizeof *live + to->len);
	if (!live) {
		runs->failed = true;
		return;
	}
	live->entry = runs->entry;
	live->len = to->len;
	memcpy(live->line, to->data, to->len);
	runs->arena.limit = record->arena->limit;
	run->user = live;
}

static void ended(struct tr_stat_runs *runs, struct tr_run *run, struct tr_record *record)
{
	int64_t duration = tr_run_duration(run);
	struct live *live = run->user;

	runs->ended |= run->fate != TR_RUN_OPEN;
	count_end(runs, run);
	if (live && duration != TR_INSTANT_NONE) {
		tr_tally_time(runs->tally, live->entry, duration);
		keep_longest(runs, run, live, record, duration);
		if (__builtin_add_overflow(runs->busy, duration, &runs->busy))
			runs->busy = INT64_MAX;
	}
	free(live);
	run->user = NULL;
}

static void follow_run(void *context, enum tr_run_event event, struct tr_run *run,
		       struct tr_record *record)
{
	struct tr_stat_runs *runs = context;

	runs->failed |= !tr_load_count(&runs->load, event, run);
	switch (event) {
	case TR_RUN_BEGAN:
		runs->forks += run->forked && run->replaces == TR_RUN_NONE;
		break;
	case TR_RUN_PROGRAM:
		program(runs, run, record);
		break;
	case TR_RUN_ENDED:
		ended(runs, run, record);
		break;
	case TR_RUN_ADOPTED: /* its fork came after its first record */
		runs->forks++;
		break;
	}
}

bool tr_stat_runs_init(struct tr_stat_runs *runs, struct tr_tally *tally, size_t top)
{
	*runs = (struct tr_stat_runs){ .tally = tally, .ends = TR_TALLY_INIT };
	tr_runs_init(&runs->runs, follow_run, runs);
	runs->longest_cap = top && top < LONGEST_MAX ? top : LONGEST_MAX;
	runs->longest = calloc(runs->longest_cap, sizeof *runs->longest);
	return runs->longest != NULL;
}

bool tr_stat_runs_put(struct tr_stat_runs *runs, struct tr_record *record,
		      struct tr_tally_entry *entry)
{
	runs->entry = entry;
	return tr_runs_put(&runs->runs, record) && !runs->failed && !runs->ends.failed;
}

static int longest_first(const void *a, const void *b)
{
	return less(a, b) ? 1 : less(b, a) ? -1 : 0;
}

/* Text shows the beginning of a long command, JSON all of it. */
static void report_command(struct tr_stat_runs *runs, const char *command, struct tr_report *report)
{
	struct tr_buffer *to = &runs->command;

	tr_buffer_reset(to);
	tr_buffer_put_text(to, tr_text_from(command));
	if (!report->json)
		tr_brief_cut(to, 0, COMMAND_SHOWN);
	runs->failed |= to->failed;
	tr_report_cell_line(report, tr_buffer_text(to));
}

static void report_longest(struct tr_stat_runs *runs, struct tr_report *report)
{
	static const char *const columns[] = { "seconds", "seq", "makes", "command", NULL };

	tr_report_table(report, "longest", columns);
	for (size_t i = 0; i < runs->longest_count; i++) {
		const struct tr_stat_long_run *run = &runs->longest[i];
		tr_report_cell_seconds(report, run->duration);
		if (run->seq == TR_RUN_NONE)
			tr_report_cell_none(report);
		else
			tr_report_cell_number(report, run->seq);
		if (run->makes)
			tr_report_cell_line(report, tr_text_from(run->makes));
		else
			tr_report_cell_text(report, (struct tr_text){ NULL, 0 });
		report_command(runs, run->command, report);
	}
	tr_report_table_end(report);
}

void tr_stat_runs_report(struct tr_stat_runs *runs, struct tr_report *report)
{
	tr_load_finish(&runs->load);
	qsort(runs->longest, runs->longest_count, sizeof *runs->longest, longest_first);
	tr_report_group(report, "processes");
	tr_report_number(report, "programs", runs->programs);
	if (runs->forks)
		tr_report_number(report, "forks", runs->forks);
	if (runs->longest_count) {
		tr_report_number(report, "peak-alive", runs->load.most_alive);
		tr_report_number(report, "peak-running", runs->load.most_running);
		tr_report_seconds(report, "seconds", runs->busy);
	}
	if (runs->ended)
		tr_stat_tally_report(&runs->ends, report, "ends", "end", 0);
	if (runs->longest_count)
		report_longest(runs, report);
	tr_report_group_end(report);
}

void tr_stat_runs_free(struct tr_stat_runs *runs)
{
	for (struct tr_run *run = runs->runs.oldest; run; run = run->newer)
		free(run->user);
	tr_runs_free(&runs->runs);
	for (size_t i = 0; i < runs->longest_count; i++)
		free_long_run(&runs->longest[i]);
	free(runs->longest);
	tr_load_free(&runs->load);
	tr_tally_free(&runs->ends);
	tr_buffer_free(&runs->line);
	tr_buffer_free(&runs->command);
	tr_arena_free(&runs->arena);
}
