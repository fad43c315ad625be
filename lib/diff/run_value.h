/* SPDX-License-Identifier: MIT */
/*
 * Values of system calls that a run chooses: numbers of descriptors, ids of tasks, and readings such as
 * times, inode numbers and random bytes.
 *
 *	call -> tr_run_call -> tr_run_value for each of its fields, or a member of one
 *	descriptor of a task -> tr_open_files_name -> a number that no other open file has
 *
 * A number of a descriptor is another name after it was closed and opened again, so the open
 * descriptors of every task are kept. A child does not get those of its parent: what it uses
 * of these has a name of its own.
 *
 * Memory: 16 to 64 bytes for each descriptor that is open and was used. Not thread safe.
 */
#ifndef TR_DIFF_RUN_VALUE_H
#define TR_DIFF_RUN_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/map.h"
#include "core/text.h"

enum tr_run_value {
	TR_RUN_PLAIN,	   /* compared as it is */
	TR_RUN_DESCRIPTOR, /* below 3 it is compared as it is */
	TR_RUN_OPENED,	   /* a descriptor that the call makes */
	TR_RUN_CLOSED,	   /* a descriptor that the call closes */
	TR_RUN_TASK,	   /* the id of a process, a thread or a group of processes */
	TR_RUN_READING,	   /* of clocks, of the state of the machine: it is never compared */
};

enum { TR_RUN_KEYS = 2 };

struct tr_run_key {
	struct tr_text key;
	enum tr_run_value value;
};

/* What fields of a call are. */
struct tr_run_call {
	struct tr_text name;
	struct tr_run_key keys[TR_RUN_KEYS];
};

/* Returns NULL if nothing is known of a call but what is the same in all calls. */
const struct tr_run_call *tr_run_call(struct tr_text name);

/* What a field of a call, or a member of a structure in it, is. call: may be NULL. */
enum tr_run_value tr_run_value(const struct tr_run_call *call, struct tr_text key);

struct tr_open_files {
	struct tr_id_map tasks; /* by the hash of a task: its descriptors */
	uint64_t count;		/* of all that were opened */
};

/*
 * The number of what a task knows by a descriptor. value: how the call uses it. 0: memory is
 * exhausted.
 */
uint64_t tr_open_files_name(struct tr_open_files *files, uint64_t task, uint64_t descriptor,
			    enum tr_run_value value);

/* A new thread uses the descriptors of its parent. False: memory is exhausted. */
bool tr_open_files_share(struct tr_open_files *files, uint64_t parent, uint64_t child);

/* A task has ended. */
void tr_open_files_end(struct tr_open_files *files, uint64_t task);
void tr_open_files_free(struct tr_open_files *files);

#endif
