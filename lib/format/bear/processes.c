#include "format/bear/processes.h"

#include <stdlib.h>
#include <string.h>

enum { DEAD = 4096, LONGEST_TIME = 32 };

struct tr_bear_process {
	struct tr_bear_process *next_dead;
	uint64_t seq;
	bool dead;
	char ended[LONGEST_TIME]; /* seconds; ended_len 0: not known */
	size_t ended_len;
	size_t rid_len, pid_len;
	char bytes[]; /* rid, pid */
};

static struct tr_text rid_of(const struct tr_bear_process *process)
{
	return (struct tr_text){ process->bytes, process->rid_len };
}

static struct tr_text pid_of(const struct tr_bear_process *process)
{
	return (struct tr_text){ process->bytes + process->rid_len, process->pid_len };
}

/* The maps borrow their keys: nobody finds it any more. */
static void forget(struct tr_bear_processes *processes, struct tr_bear_process *process)
{
	if (tr_map_get(&processes->by_rid, rid_of(process)) == process)
		tr_map_take(&processes->by_rid, rid_of(process));
	if (tr_map_get(&processes->by_pid, pid_of(process)) == process)
		tr_map_take(&processes->by_pid, pid_of(process));
}

static void bury_first(struct tr_bear_processes *processes)
{
	struct tr_bear_process *process = processes->first_dead;

	processes->first_dead = process->next_dead;
	if (!processes->first_dead)
		processes->last_dead = NULL;
	processes->dead--;
	forget(processes, process);
	free(process);
}

static void die(struct tr_bear_processes *processes, struct tr_bear_process *process)
{
	if (process->dead)
		return;
	process->dead = true;
	*(processes->last_dead ? &processes->last_dead->next_dead : &processes->first_dead) =
		process;
	processes->last_dead = process;
	if (++processes->dead > DEAD)
		bury_first(processes);
}

bool tr_bear_processes_start(struct tr_bear_processes *processes, struct tr_text rid,
			     struct tr_text pid, uint64_t seq)
{
	struct tr_bear_process *process = malloc(sizeof *process + rid.len + pid.len);

	if (!process)
		return false;
	*process = (struct tr_bear_process){ .seq = seq, .rid_len = rid.len, .pid_len = pid.len };
	if (rid.len)
		memcpy(process->bytes, rid.data, rid.len);
	if (pid.len)
		memcpy(process->bytes + rid.len, pid.data, pid.len);
	/* a pid that comes again, or a rid: the one before is over */
	struct tr_bear_process *same_pid = tr_map_get(&processes->by_pid, pid_of(process));
	struct tr_bear_process *same_rid =
		rid.len ? tr_map_get(&processes->by_rid, rid_of(process)) : NULL;
	bool done = tr_map_put(&processes->by_pid, pid_of(process), process);
	if (done && rid.len)
		done = tr_map_put(&processes->by_rid, rid_of(process), process);
	if (!done) {
		forget(processes, process);
		free(process);
		/* into the place that has just become free: this takes no memory */
		if (same_pid)
			tr_map_put(&processes->by_pid, pid_of(same_pid), same_pid);
		return false;
	}
	/* who is dead already may be freed by the first of these */
	bool other = same_rid && same_rid != same_pid && !same_rid->dead;
	if (same_pid)
		die(processes, same_pid);
	if (other)
		die(processes, same_rid);
	return true;
}

/* Seconds with or without digits behind the point. */
static bool is_before(struct tr_text a, struct tr_text b)
{
	const char *point_a = memchr(a.data, '.', a.len), *point_b = memchr(b.data, '.', b.len);
	size_t whole_a = point_a ? (size_t)(point_a - a.data) : a.len;
	size_t whole_b = point_b ? (size_t)(point_b - b.data) : b.len;

	if (whole_a != whole_b)
		return whole_a < whole_b;
	int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
	return order ? order < 0 : a.len < b.len;
}

bool tr_bear_processes_find(const struct tr_bear_processes *processes, struct tr_text pid,
			    struct tr_text time, uint64_t *seq)
{
	const struct tr_bear_process *process = tr_map_get(&processes->by_pid, pid);

	if (!process)
		return false;
	struct tr_text ended = { process->ended, process->ended_len };
	if (process->dead && !(time.len && ended.len && is_before(time, ended)))
		return false;
	*seq = process->seq;
	return true;
}

bool tr_bear_processes_end(struct tr_bear_processes *processes, struct tr_text rid,
			   struct tr_text time, struct tr_text *pid)
{
	struct tr_bear_process *process = tr_map_get(&processes->by_rid, rid);

	if (!process)
		return false;
	*pid = pid_of(process);
	if (!process->dead && time.len <= LONGEST_TIME) {
		process->ended_len = time.len;
		if (time.len)
			memcpy(process->ended, time.data, time.len);
	}
	die(processes, process);
	return true;
}

void tr_bear_processes_free(struct tr_bear_processes *processes)
{
	struct tr_bear_process *process;
	size_t position = 0;

	while (processes->first_dead)
		bury_first(processes);
	/* what is left is alive, and may be in either map or in both */
	while ((process = tr_map_next(&processes->by_pid, &position))) {
		if (tr_map_get(&processes->by_rid, rid_of(process)) == process)
			process->dead = true; /* the other map frees it */
		else
			free(process);
	}
	position = 0;
	while ((process = tr_map_next(&processes->by_rid, &position)))
		free(process);
	tr_map_free(&processes->by_rid);
	tr_map_free(&processes->by_pid);
	*processes = (struct tr_bear_processes)TR_BEAR_PROCESSES_INIT;
}
