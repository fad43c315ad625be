/* SPDX-License-Identifier: MIT */
/* Statistics of runs of programs: durations, ends, and how many ran at a time. */
#include "view/stat_private.h"

#include <stdlib.h>

#include "process/call.h"
#include "process/command.h"
#include "record/literal.h"
#include "view/brief.h"

enum { COMMAND_SHOWN = 160, LONGEST_MAX = 1 << 16 };

/* A run that is among the longest. In the heap, its key is its duration, and its order ~seq. */
struct long_run {
	char *command;
	char *makes; /* the file that the program makes, NULL if unknown */
};

/* A run that has not ended. */
struct live {
	uint32_t entry;
	size_t len;
	char line[]; /* its exec record, with the fields that describe a command */
};

static char *copy_string(struct tr_text text)
{
	char *copy = malloc(text.len + 1);

	if (copy) {
		memcpy(copy, text.data, text.len);
		copy[text.len] = '\0';
	}
	return copy;
}

static void free_long_run(struct long_run *run)
{
	if (!run)
		return;
	free(run->command);
	free(run->makes);
	free(run);
}

/*
 * Sets the command and the file that it makes from the exec record. now: the current record, whose
 * arena reports values that exceed --max-record. False: memory is exhausted.
 */
static bool describe(struct tr_stat_runs *runs, const struct live *live, struct tr_record *now,
		     struct long_run *longer)
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
		    tr_command_show(&record, 0, &runs->command) &&
		    tr_call_makes(&record, runs->compilers, &makes);
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
	/* of two runs with the same duration, the earlier one is the longer */
	struct tr_heap_item item = { .key = duration, .order = ~run->seq };
	struct tr_heap *longest = &runs->longest;
	bool full = longest->count == runs->longest_max;

	if (full && !tr_heap_before(&longest->items[0], &item))
		return;
	struct long_run *longer = item.value = calloc(1, sizeof *longer);
	bool fine = longer && describe(runs, live, now, longer) &&
		    (full || tr_heap_push(longest, item));
	if (fine && !full)
		return;
	free_long_run(fine ? tr_heap_replace(longest, item).value : longer);
	runs->failed |= !fine;
}

static void count_end(struct tr_stat_runs *runs, const struct tr_run_end *end)
{
	char memory[64];
	struct tr_buffer text = tr_buffer_over(memory, sizeof memory);

	switch (end->fate) {
	case TR_RUN_EXITED:
		tr_buffer_put_literal(&text, "exited ");
		if (end->status == UINT64_MAX)
			tr_buffer_put_byte(&text, '?');
		else
			tr_buffer_put_decimal(&text, end->status);
		break;
	case TR_RUN_KILLED:
		tr_buffer_put_text(&text, tr_text_from(end->signal));
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

static void ended(struct tr_stat_runs *runs, struct tr_run *run, const struct tr_run_end *end,
		  struct tr_record *record)
{
	int64_t duration = tr_instant_between(run->began, end->time);
	struct live *live = run->user;

	runs->ended |= end->fate != TR_RUN_OPEN;
	count_end(runs, end);
	if (live && duration != TR_INSTANT_NONE) {
		tr_tally_time(runs->tally, live->entry, duration);
		keep_longest(runs, run, live, record, duration);
		if (__builtin_add_overflow(runs->busy, duration, &runs->busy))
			runs->busy = INT64_MAX;
	}
	free(live);
	run->user = NULL;
}

/*
 * Counts how many processes are alive at once, and how many of them run: a process with a live
 * child waits for it (make, sh, gcc), and the leaves of the tree do the work. `make -j2` has two
 * leaves at once, and may have seven live processes.
 *
 * Beginnings and ends come in the order of the records, and are counted in the order of their
 * times; of equal times, the one that came first is counted first. An event that comes more than
 * LOAD_AHEAD events late is counted when it comes.
 */

enum { LOAD_AHEAD = 1 << 16 };

struct process {
	struct process *parent;	     /* NULL: unknown; holds a reference */
	struct process *above;	     /* some ancestor, NULL if there is none; see first_ancestor */
	size_t references, children; /* children: those that are alive */
	bool alive;
};

static void release(struct process *process)
{
	while (process && --process->references == 0) {
		struct process *parent = process->parent;
		free(process);
		process = parent;
	}
}

/* Counts a child of the process that begins or ends. */
static void count_child(struct tr_stat_load *load, struct process *parent, bool begins)
{
	if (!parent)
		return;
	parent->children += begins ? 1 : (size_t)-1;
	if (!parent->alive)
		return;
	if (begins && parent->children == 1)
		load->running--;
	if (!begins && parent->children == 0)
		load->running++;
}

/* Counts the earliest event that is pending. */
static void count_event(struct tr_stat_load *load)
{
	struct tr_heap_item event = tr_heap_pop(&load->events);
	struct process *process = event.value;
	bool begins = event.order & 1;

	if (process->alive != begins) {
		process->alive = begins;
		load->alive += begins ? 1 : (uint64_t)-1;
		if (!process->children)
			load->running += begins ? 1 : (uint64_t)-1;
		count_child(load, process->parent, begins);
	}
	if (load->alive > load->most_alive)
		load->most_alive = load->alive;
	if (load->running > load->most_running)
		load->most_running = load->running;
	release(process);
}

static bool add_event(struct tr_stat_load *load, struct process *process, int64_t time, bool begins)
{
	struct tr_heap_item event = { time, load->order++ << 1 | begins, process };

	if (!tr_heap_push(&load->events, event))
		return false;
	process->references++;
	/* ends that are unknown come last, however many there are */
	if (load->events.count > LOAD_AHEAD && load->events.items[0].key != INT64_MAX)
		count_event(load);
	return true;
}

/*
 * Returns the first of the ancestors, or the process itself if it has none. A search halves the path
 * for the next ones, so that long chains do not take quadratic time.
 */
static struct process *first_ancestor(struct process *process)
{
	while (process->above) {
		if (process->above->above)
			process->above = process->above->above;
		process = process->above;
	}
	return process;
}

static void set_parent(struct tr_stat_load *load, struct process *process, uint64_t number)
{
	struct process *parent = tr_id_map_get(&load->processes, number);

	/* no process is its own ancestor, whatever a trace says */
	if (process->parent || !parent || first_ancestor(parent) == process)
		return;
	parent->references++;
	process->parent = process->above = parent;
	if (process->alive)
		count_child(load, parent, true);
}

/* replaces: number of the run that becomes this one, or TR_RUN_NONE. */
static bool load_begins(struct tr_stat_load *load, const struct tr_run *run, uint64_t replaces)
{
	struct process *process;

	/* a program that is replaced by another one stays the same process */
	if (replaces != TR_RUN_NONE) {
		process = tr_id_map_take(&load->processes, replaces);
		if (!process || tr_id_map_put(&load->processes, run->number, process))
			return true;
		release(process);
		return false;
	}
	if (run->began == TR_INSTANT_NONE)
		return true;
	process = calloc(1, sizeof *process);
	if (!process)
		return false;
	process->references = 1; /* of the map */
	if (!tr_id_map_put(&load->processes, run->number, process)) {
		free(process);
		return false;
	}
	set_parent(load, process, tr_run_parent(run));
	return add_event(load, process, run->began, true);
}

static bool load_ends(struct tr_stat_load *load, const struct tr_run *run,
		      const struct tr_run_end *end)
{
	struct process *process =
		end->fate == TR_RUN_REPLACED ? NULL : tr_id_map_take(&load->processes, run->number);

	if (!process)
		return true;
	int64_t time = end->time == TR_INSTANT_NONE ? INT64_MAX : end->time;
	bool good = add_event(load, process, time < run->began ? run->began : time, false);
	release(process);
	return good;
}

static void free_load(struct tr_stat_load *load)
{
	void *process;

	while (load->events.count)
		count_event(load);
	for (size_t i = 0; (process = tr_id_map_next(&load->processes, &i));)
		release(process);
	tr_id_map_free(&load->processes);
	free(load->events.items);
}

static void follow_run(void *context, const struct tr_run_report *report)
{
	struct tr_stat_runs *runs = context;
	struct tr_stat_load *load = &runs->load;
	struct tr_run *run = report->run;
	struct process *process;

	switch (report->event) {
	case TR_RUN_BEGAN:
		runs->failed |= !load_begins(load, run, report->replaces);
		runs->forks += run->forked && report->replaces == TR_RUN_NONE;
		break;
	case TR_RUN_PROGRAM:
		program(runs, run, report->record);
		break;
	case TR_RUN_ENDED:
		runs->failed |= !load_ends(load, run, report->end);
		ended(runs, run, report->end, report->record);
		break;
	case TR_RUN_PARENT_KNOWN: /* its fork came after its first record */
		process = tr_id_map_get(&load->processes, run->number);
		if (process)
			set_parent(load, process, tr_run_parent(run));
		runs->forks++;
		break;
	}
}

void tr_stat_runs_init(struct tr_stat_runs *runs, struct tr_tally *tally,
		       const struct tr_stat_config *config)
{
	size_t top = config->top;

	*runs = (struct tr_stat_runs){ .tally = tally, .compilers = config->compilers };
	tr_runs_init(&runs->runs, follow_run, runs);
	runs->longest_max = top && top < LONGEST_MAX ? top : LONGEST_MAX;
}

bool tr_stat_runs_put(struct tr_stat_runs *runs, struct tr_record *record, uint32_t entry)
{
	runs->entry = entry;
	return tr_runs_put(&runs->runs, record) && !runs->failed && !runs->ends.failed;
}

static int longest_first(const void *a, const void *b)
{
	return tr_heap_before(a, b) - tr_heap_before(b, a);
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
	for (size_t i = 0; i < runs->longest.count; i++) {
		const struct tr_heap_item *item = &runs->longest.items[i];
		const struct long_run *run = item->value;
		tr_report_cell_seconds(report, item->key);
		if (~item->order == TR_RUN_NONE)
			tr_report_cell_none(report);
		else
			tr_report_cell_number(report, ~item->order);
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
	struct tr_heap *longest = &runs->longest;

	while (runs->load.events.count)
		count_event(&runs->load);
	if (longest->count)
		qsort(longest->items, longest->count, sizeof *longest->items, longest_first);
	tr_report_group(report, "processes");
	tr_report_number(report, "programs", runs->programs);
	if (runs->forks)
		tr_report_number(report, "forks", runs->forks);
	if (longest->count) {
		tr_report_number(report, "peak-alive", runs->load.most_alive);
		tr_report_number(report, "peak-running", runs->load.most_running);
		tr_report_seconds(report, "seconds", runs->busy);
	}
	if (runs->ended)
		tr_stat_tally_report(&runs->ends, report, "ends", "end", 0);
	if (longest->count)
		report_longest(runs, report);
	tr_report_group_end(report);
}

void tr_stat_runs_free(struct tr_stat_runs *runs)
{
	tr_runs_finish(&runs->runs); /* frees what belongs to live runs */
	tr_runs_free(&runs->runs);
	for (size_t i = 0; i < runs->longest.count; i++)
		free_long_run(runs->longest.items[i].value);
	free(runs->longest.items);
	free_load(&runs->load);
	tr_tally_free(&runs->ends);
	tr_buffer_free(&runs->line);
	tr_buffer_free(&runs->command);
	tr_arena_free(&runs->arena);
}
