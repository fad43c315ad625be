/* SPDX-License-Identifier: MIT */
/*
 * Makes runs of records. A task is an id of a process or thread, which the kernel uses again; a
 * run is what happens in it. Logs contain events in the order in which they were printed, so the
 * end of a process may come before the fork that made it: endings of tasks without a fork are kept
 * for a while (keep_ending), and a later fork decides by its time whether they are its own
 * (ended_early).
 *
 * Runs are entries of an array that moves when it grows, so they refer to each other by their
 * places in it, and a pointer to a run is valid until new_entry is called. A thread has an entry of
 * its own, which refers to the run of its process.
 */
#include "process/runs.h"

#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "process/parent.h"
#include "record/ask.h"

#define NOWHERE UINT32_MAX

/* The ending of a task whose fork has not come. */
struct tr_run_ending {
	struct tr_run_end end;
	uint32_t run; /* place; holds a reference. NOWHERE: the task had none */
	uint64_t task;
	struct tr_run_ending *older, *newer;
};

void tr_runs_init(struct tr_runs *runs,
		  void (*report)(void *context, const struct tr_run_report *report), void *context)
{
	*runs = (struct tr_runs){ .report = report,
				  .context = context,
				  .earliest = TR_INSTANT_NONE,
				  .latest = TR_INSTANT_NONE,
				  .spare = NOWHERE,
				  .seed = tr_hash_seed(runs),
				  .endings = TR_ID_MAP_INIT };
}

/* Reports an event other than an end to the user of the runs. */
static void report(struct tr_runs *runs, enum tr_run_event event, struct tr_run *run,
		   struct tr_record *record, uint64_t replaces)
{
	if (runs->report)
		runs->report(runs->context,
			     &(struct tr_run_report){ event, run, record, replaces, NULL });
}

/* Reports that a run has ended, once. end NULL: the log has no end of it. */
static void report_end(struct tr_runs *runs, struct tr_run *run, struct tr_record *record,
		       const struct tr_run_end *end)
{
	static const struct tr_run_end unknown = { .time = TR_INSTANT_NONE, .status = UINT64_MAX };

	if (run->end_reported)
		return;
	run->end_reported = true;
	if (runs->report)
		runs->report(runs->context,
			     &(struct tr_run_report){ TR_RUN_ENDED, run, record, TR_RUN_NONE,
						      end ? end : &unknown });
}

/* A place in the list. NOWHERE: memory is exhausted, or there are more runs than places. */
static uint32_t new_entry(struct tr_runs *runs)
{
	uint32_t place = runs->spare;

	if (place != NOWHERE) {
		runs->spare = runs->list[place].references;
		return place;
	}
	if (runs->used == NOWHERE - 1 || !tr_array_room(runs->list, runs->used, runs->cap))
		return NOWHERE;
	return (uint32_t)runs->used++;
}

static void free_entry(struct tr_runs *runs, uint32_t place)
{
	runs->list[place].references = runs->spare;
	runs->spare = place;
}

/* Drops a reference. A run without references is reported as ended, and its memory used again. */
static void release(struct tr_runs *runs, uint32_t place)
{
	struct tr_run *run = &runs->list[place];
	uint32_t known;

	if (--run->references)
		return;
	report_end(runs, run, NULL, NULL);
	if (run->program && tr_number_map_get(&runs->by_seq, run->seq, &known) && known == place)
		tr_number_map_take(&runs->by_seq, run->seq);
	free_entry(runs, place);
}

/*
 * A run that begins with this record, with one reference for the caller. NOWHERE: memory is
 * exhausted.
 */
static uint32_t new_run(struct tr_runs *runs, struct tr_record *record)
{
	uint32_t place = new_entry(runs);

	if (place == NOWHERE)
		return NOWHERE;
	struct tr_run *run = &runs->list[place];
	*run = (struct tr_run){ .number = runs->count++,
				.origin = TR_RUN_NONE,
				.began = tr_instant_from_cell(&record->time),
				.references = 1 };
	if (!tr_cell_number(&record->seq, &run->seq))
		run->seq = TR_RUN_NONE;
	return place;
}

/*
 * Returns the key of a task. Nearly all ids are numbers, which are the keys; the key of another id
 * is its hash, with a bit that no number has.
 */
static uint64_t key_of(const struct tr_runs *runs, struct tr_text id)
{
	uint64_t number;

	return tr_decimal_id(id, &number) ? number
					  : tr_text_hash(runs->seed, id) | UINT64_C(1) << 63;
}

/* Finds the entry of a task. False: there is none. */
static bool find_entry(struct tr_runs *runs, uint64_t task, uint32_t *place)
{
	return tr_number_map_get(&runs->by_task, task, place);
}

/* Finds the run of a task, which is that of its process if it is a thread. False: there is none. */
static bool find_run(struct tr_runs *runs, uint64_t task, uint32_t *place)
{
	if (!find_entry(runs, task, place))
		return false;
	if (runs->list[*place].thread)
		*place = (uint32_t)runs->list[*place].origin;
	return true;
}

/*
 * Takes the entry of a task out of the index. Returns the place of its run, whose reference it had.
 */
static uint32_t end_task(struct tr_runs *runs, uint32_t place)
{
	const struct tr_run *entry = &runs->list[place];
	uint32_t run = entry->thread ? (uint32_t)entry->origin : place;

	tr_number_map_take(&runs->by_task, entry->task);
	if (entry->thread)
		free_entry(runs, place);
	return run;
}

/* Makes an entry that of a task, instead of another one. False: memory is exhausted. */
static bool set_task(struct tr_runs *runs, uint64_t task, uint32_t place)
{
	uint32_t old;

	if (find_entry(runs, task, &old))
		release(runs, end_task(runs, old));
	runs->list[place].task = task;
	return tr_number_map_put(&runs->by_task, task, place);
}

/* Makes a task a thread of the process of a run. False: memory is exhausted. */
static bool set_thread(struct tr_runs *runs, uint64_t task, uint32_t run)
{
	uint32_t place = new_entry(runs);

	if (place == NOWHERE)
		return false;
	runs->list[place] = (struct tr_run){ .origin = run, .thread = true };
	runs->list[run].references++;
	return set_task(runs, task, place);
}

/* Takes the ending of an earlier task, with its reference. False: there is none. */
static bool take_ending(struct tr_runs *runs, uint64_t task, struct tr_run_ending *ending)
{
	struct tr_run_ending *kept = tr_id_map_take(&runs->endings, task);

	if (!kept)
		return false;
	*ending = *kept;
	*(kept->older ? &kept->older->newer : &runs->first_ended) = kept->newer;
	*(kept->newer ? &kept->newer->older : &runs->last_ended) = kept->older;
	free(kept);
	return true;
}

/* Forgets the ending of an earlier task. */
static void drop_ending(struct tr_runs *runs, uint64_t task)
{
	struct tr_run_ending ending;

	if (take_ending(runs, task, &ending) && ending.run != NOWHERE)
		release(runs, ending.run);
}

/*
 * Keeps the ending of a task whose fork may still come, with its reference. False: memory is
 * exhausted.
 */
static bool keep_ending(struct tr_runs *runs, const struct tr_run_ending *ending)
{
	enum { ENDED_MAX = 1024 };

	drop_ending(runs, ending->task);
	struct tr_run_ending *kept = malloc(sizeof *kept);
	if (!kept || !tr_id_map_put(&runs->endings, ending->task, kept)) {
		free(kept);
		return false;
	}
	*kept = *ending;
	kept->older = runs->last_ended;
	kept->newer = NULL;
	*(kept->older ? &kept->older->newer : &runs->first_ended) = kept;
	runs->last_ended = kept;
	if (runs->endings.count > ENDED_MAX)
		drop_ending(runs, runs->first_ended->task);
	return true;
}

/* The fields of process records that are used here. */
enum wanted { ERROR, FAILED, PARENT, PPID, STATUS, SIGNAL, END, CHILD, FIELDS };

static void find_fields(const struct tr_record *record, struct tr_field *found[FIELDS])
{
	static const struct tr_text keys[FIELDS] = {
		[ERROR] = TR_TEXT("error"),   [FAILED] = TR_TEXT("failed"),
		[PARENT] = TR_TEXT("parent"), [PPID] = TR_TEXT("ppid"),
		[STATUS] = TR_TEXT("status"), [SIGNAL] = TR_TEXT("signal"),
		[END] = TR_TEXT("end"),	      [CHILD] = TR_TEXT("child"),
	};

	tr_record_fields(record, keys, FIELDS, found);
}

/* Reads the end that the fields of an exit record, or of an exec record, describe. */
static bool read_end(struct tr_record *record, struct tr_field *const *fields,
		     struct tr_run_end *end)
{
	struct tr_text status, signal;

	*end = (struct tr_run_end){ .fate = TR_RUN_EXITED, .status = UINT64_MAX };
	if (!tr_parent_text(record, fields[STATUS], &status) ||
	    !tr_parent_text(record, fields[SIGNAL], &signal))
		return false;
	if (signal.len > 1 && signal.data[0] == '"')
		signal = (struct tr_text){ signal.data + 1, signal.len - 2 };
	if (signal.data && signal.len) {
		size_t len = signal.len;
		if (len >= sizeof end->signal)
			for (len = sizeof end->signal - 1;
			     len > 0 && tr_utf8_is_inside(signal.data[len]);)
				len--;
		end->fate = TR_RUN_KILLED;
		memcpy(end->signal, signal.data, len);
	} else if (status.data) {
		struct tr_cell cell = { .type = TR_CELL_TEXT, .text = status };
		if (!tr_cell_number(&cell, &end->status))
			end->status = UINT64_MAX;
	}
	return true;
}

/* Makes a run the parent of another one. */
static void link_parent(struct tr_run *run, const struct tr_run *parent)
{
	run->origin = parent->number;
	run->has_parent = true;
}

/*
 * Finds the parent of a process without a fork record: by the field parent, else by ppid. *seq: of
 * the exec record that the field names, or NONE.
 */
static bool find_parent(struct tr_runs *runs, struct tr_record *record,
			struct tr_field *const *fields, uint32_t place, uint64_t *seq)
{
	struct tr_run *run = &runs->list[place];
	struct tr_parent parent;
	uint32_t of;

	if (!tr_parent_of_fields(record, fields[PARENT], fields[PPID], &parent))
		return false;
	bool found = false;
	*seq = TR_RUN_NONE;
	if (parent.kind == TR_PARENT_RECORD) {
		run->origin = *seq = parent.seq;
		run->names_parent = parent.seq != TR_RUN_NONE;
		found = run->names_parent && tr_number_map_get(&runs->by_seq, parent.seq, &of);
	} else if (parent.kind == TR_PARENT_TASK) {
		found = find_run(runs, key_of(runs, parent.text), &of);
	}
	if (found && of != place)
		link_parent(run, &runs->list[of]);
	return true;
}

/*
 * True if an exec in a task continues its process. False: the two have different parents, so the
 * process has ended without a record, and another one has its id. seq: of the exec record that the
 * exec names as its parent, or NONE.
 */
static bool same_process(const struct tr_run *old, const struct tr_run *now, uint64_t seq)
{
	if (old->forked)
		return true; /* another process with this id would have a fork of its own */
	if (!now->names_parent && !now->has_parent)
		return !old->has_parent || !old->names_parent;
	if (tr_run_parent(now) == old->number)
		return true;
	if (old->has_parent)
		return tr_run_parent(now) == old->origin;
	return seq == old->origin;
}

/*
 * Makes a run for an exec, which ends the run that its task has, if there is one. NOWHERE: memory
 * is exhausted.
 */
static uint32_t exec_run(struct tr_runs *runs, struct tr_record *record,
			 struct tr_field *const *fields, struct tr_text id, uint32_t old_place)
{
	uint32_t place = new_run(runs, record);
	uint64_t parent_seq;

	if (place == NOWHERE || !find_parent(runs, record, fields, place, &parent_seq))
		return NOWHERE;
	struct tr_run *run = &runs->list[place];
	struct tr_run *old = old_place == NOWHERE ? NULL : &runs->list[old_place];
	uint64_t replaces = TR_RUN_NONE;
	if (old && !old->end_reported && same_process(old, run, parent_seq)) {
		run->origin = old->origin;
		run->has_parent = old->has_parent;
		run->names_parent = old->names_parent;
		run->forked = old->forked;
		replaces = old->number;
		report_end(runs, old, record,
			   &(struct tr_run_end){ .fate = TR_RUN_REPLACED,
						 .time = run->began,
						 .status = UINT64_MAX });
	} else if (old) {
		report_end(runs, old, NULL, NULL);
	}
	report(runs, TR_RUN_BEGAN, run, record, replaces);
	/* a record without an id keeps its reference until the end: no other record can end it */
	return !id.data || set_task(runs, key_of(runs, id), place) ? place : NOWHERE;
}

/* Extends the range of all times. */
static void see_time(struct tr_runs *runs, int64_t time)
{
	if (time == TR_INSTANT_NONE)
		return;
	if (runs->earliest == TR_INSTANT_NONE || time < runs->earliest)
		runs->earliest = time;
	if (runs->latest == TR_INSTANT_NONE || time > runs->latest)
		runs->latest = time;
}

/* Follows an exec: of a forked process without a program, or of one that gets another program. */
static bool put_exec(struct tr_runs *runs, struct tr_record *record, struct tr_text id)
{
	struct tr_field *fields[FIELDS];
	uint32_t place = NOWHERE, first;

	find_fields(record, fields);
	if (fields[ERROR] || fields[FAILED])
		return true; /* the call failed */
	bool known = id.data && find_run(runs, key_of(runs, id), &place);
	if (known && !runs->list[place].program && !runs->list[place].end_reported) {
		struct tr_run *run = &runs->list[place];
		if (!tr_cell_number(&record->seq, &run->seq))
			run->seq = TR_RUN_NONE;
		run->began = tr_instant_from_cell(&record->time);
	} else {
		place = exec_run(runs, record, fields, id, place);
		if (place == NOWHERE)
			return false;
	}
	struct tr_run *run = &runs->list[place];
	run->program = true;
	/* of two records with one seq, the first keeps it */
	if (run->seq != TR_RUN_NONE && !tr_number_map_get(&runs->by_seq, run->seq, &first) &&
	    !tr_number_map_put(&runs->by_seq, run->seq, place))
		return false;
	report(runs, TR_RUN_PROGRAM, run, record, TR_RUN_NONE);
	if (!fields[STATUS] && !fields[SIGNAL] && !fields[END])
		return true;
	struct tr_run_end end;
	if (!read_end(record, fields, &end) || !tr_instant_from_field(record, "end", &end.time))
		return false;
	see_time(runs, end.time);
	/* the task stays, because children may still come */
	report_end(runs, run, record, &end);
	return true;
}

/*
 * Sets *thread if a fork makes a thread, which belongs to the run of its process. False: memory is
 * exhausted.
 */
static bool is_thread(struct tr_record *record, bool *thread)
{
	struct tr_text word = TR_TEXT("CLONE_THREAD");
	struct tr_error err;

	tr_error_clear(&err);
	const struct tr_value *flags = tr_ask_any(record, "flags", &err);
	*thread = flags && flags->type == TR_UINT && (flags->as.number & 0x10000);
	if (!flags || flags->type != TR_SYMBOL)
		return err.cause != TR_CAUSE_MEMORY;
	for (size_t i = 0; i < flags->as.symbol->count; i++)
		*thread |= tr_text_equal(flags->as.symbol->names[i].text, word);
	return true;
}

/*
 * Sets the parent from a fork that comes after the exec; it is more reliable than that of the exec.
 */
static void set_parent(struct tr_runs *runs, uint32_t child, uint32_t parent)
{
	struct tr_run *run = &runs->list[child];

	run->forked = true;
	if (child == parent)
		return;
	link_parent(run, &runs->list[parent]);
	report(runs, TR_RUN_PARENT_KNOWN, run, NULL, TR_RUN_NONE);
}

/*
 * True if the ending is that of the task which this fork made: the log has it before the return of
 * the fork. Otherwise it is that of an earlier task with the same id. Without times that differ,
 * the parent that the exec record of the task names decides.
 */
static bool ended_early(const struct tr_runs *runs, const struct tr_run_ending *ending,
			const struct tr_record *fork, uint32_t parent)
{
	int64_t forked = tr_instant_from_cell(&fork->time), ended = ending->end.time;

	if (forked != TR_INSTANT_NONE && ended != TR_INSTANT_NONE && forked != ended)
		return forked < ended;
	return ending->run == NOWHERE ||
	       tr_run_parent(&runs->list[ending->run]) == runs->list[parent].number;
}

/*
 * A run that begins with a fork, which its parent called; parent NOWHERE: which it called itself.
 * NOWHERE: memory is exhausted.
 */
static uint32_t fork_run(struct tr_runs *runs, struct tr_record *record, uint32_t parent)
{
	uint32_t place = new_run(runs, record);

	if (place == NOWHERE)
		return NOWHERE;
	struct tr_run *run = &runs->list[place];
	run->forked = parent != NOWHERE;
	if (run->forked)
		link_parent(run, &runs->list[parent]);
	report(runs, TR_RUN_BEGAN, run, record, TR_RUN_NONE);
	return place;
}

/*
 * Uses the ending of a task for the child of a fork, whose return is logged after the end of the
 * child. False: memory is exhausted.
 */
static bool end_child(struct tr_runs *runs, struct tr_record *record,
		      const struct tr_run_ending *ending, uint32_t parent)
{
	if (ending->run != NOWHERE) {
		set_parent(runs, ending->run, parent);
		return true;
	}
	uint32_t run = fork_run(runs, record, parent);
	if (run == NOWHERE)
		return false;
	report_end(runs, &runs->list[run], NULL, &ending->end);
	release(runs, run);
	return true;
}

/* Follows a fork. The child may have begun already, by its exec, or even have ended. */
static bool put_fork(struct tr_runs *runs, struct tr_record *record, struct tr_text id)
{
	struct tr_field *fields[FIELDS];
	struct tr_run_ending ending;
	uint32_t parent, run;
	struct tr_text child_id;
	bool thread;

	find_fields(record, fields);
	if (!tr_parent_text(record, fields[CHILD], &child_id) || !is_thread(record, &thread))
		return false;
	if (!id.data || !child_id.data)
		return true;
	if (!find_run(runs, key_of(runs, id), &parent)) {
		parent = fork_run(runs, record, NOWHERE);
		if (parent == NOWHERE || !set_task(runs, key_of(runs, id), parent))
			return false;
	}
	uint64_t child = key_of(runs, child_id);
	if (take_ending(runs, child, &ending)) {
		bool early = ended_early(runs, &ending, record, parent);
		bool done = !early || thread || end_child(runs, record, &ending, parent);
		if (ending.run != NOWHERE)
			release(runs, ending.run);
		if (early)
			return done;
	}
	if (thread)
		return set_thread(runs, child, parent);
	if (find_run(runs, child, &run)) {
		/*
		 * one that was forked before is another process, which has ended without a record
		 */
		if (!runs->list[run].end_reported && !runs->list[run].forked) {
			set_parent(runs, run, parent);
			return true;
		}
		report_end(runs, &runs->list[run], NULL, NULL);
	}
	run = fork_run(runs, record, parent);
	return run != NOWHERE && set_task(runs, child, run);
}

/*
 * Follows an exit. That of a thread ends no run; that of a task without a fork is kept, because
 * the fork may still come.
 */
static bool put_exit(struct tr_runs *runs, struct tr_record *record, struct tr_text id)
{
	struct tr_run_ending ending = { .run = NOWHERE };
	struct tr_field *fields[FIELDS];
	uint32_t entry;

	if (!id.data)
		return true;
	find_fields(record, fields);
	if (!read_end(record, fields, &ending.end))
		return false;
	ending.end.time = tr_instant_from_cell(&record->time);
	ending.task = key_of(runs, id);
	if (!find_entry(runs, ending.task, &entry))
		return keep_ending(runs, &ending);
	bool thread = runs->list[entry].thread;
	uint32_t run = end_task(runs, entry);
	if (!thread)
		report_end(runs, &runs->list[run], record, &ending.end);
	if (thread || runs->list[run].forked) {
		release(runs, run);
		return true;
	}
	ending.run = run; /* its fork may still come */
	return keep_ending(runs, &ending);
}

static int by_number(const void *a, const void *b)
{
	const struct tr_run *x = a, *y = b;

	return x->number < y->number ? -1 : 1;
}

/*
 * Reports the end of all runs in the order of their beginning. That is the order of their places,
 * but for places that were used again. Places are not valid afterwards.
 */
static void end_all(struct tr_runs *runs)
{
	struct tr_run *list = runs->list;
	size_t count = 0;
	bool in_order = true;

	for (size_t i = 0; i < runs->used; i++) {
		if (list[i].thread || list[i].end_reported)
			continue;
		in_order = in_order && (!count || list[count - 1].number < list[i].number);
		if (count != i)
			list[count] = list[i];
		count++;
	}
	if (!in_order)
		qsort(list, count, sizeof *list, by_number);
	for (size_t i = 0; i < count; i++)
		report_end(runs, &list[i], NULL, NULL);
}

void tr_runs_finish(struct tr_runs *runs)
{
	end_all(runs);
	while (runs->first_ended) {
		struct tr_run_ending *next = runs->first_ended->newer;
		free(runs->first_ended);
		runs->first_ended = next;
	}
	runs->last_ended = NULL;
	tr_id_map_free(&runs->endings);
	tr_number_map_free(&runs->by_task);
	tr_number_map_free(&runs->by_seq);
	free(runs->list);
	runs->list = NULL;
	runs->used = runs->cap = 0;
	runs->spare = NOWHERE;
}

void tr_runs_see(struct tr_runs *runs, int64_t time)
{
	runs->records++;
	see_time(runs, time);
}

bool tr_runs_put(struct tr_runs *runs, struct tr_record *record)
{
	bool (*put)(struct tr_runs * runs, struct tr_record * record, struct tr_text id) = NULL;
	struct tr_text id;

	if (record->type == TR_HEADER || record->type == TR_TRAILER)
		tr_runs_finish(runs);
	if (record->type != TR_RECORD)
		return true;
	tr_runs_see(runs, tr_instant_from_cell(&record->time));
	if (tr_text_is(record->kind, "exec"))
		put = put_exec;
	else if (tr_text_is(record->kind, "fork"))
		put = put_fork;
	else if (tr_text_is(record->kind, "exit"))
		put = put_exit;
	if (!put)
		return true;
	if (tr_record_split(record, NULL) == TR_FATAL)
		return false;
	return tr_parent_cell(record, &record->task, &id) && put(runs, record, id);
}

void tr_runs_free(struct tr_runs *runs)
{
	runs->report = NULL;
	tr_runs_finish(runs);
}
