/* SPDX-License-Identifier: MIT */
/*
 * Values of system calls that a run chooses: descriptors, addresses, ids of tasks, and readings such as
 * times, inode numbers and random bytes.
 *
 *	call -> tr_run_call -> tr_run_value for each of its fields, or a member of one
 *	task -> tr_open_files_of -> its table -> tr_open_files_name for each of its descriptors
 *
 * A number of a descriptor is another name after it was closed and opened again, and so is an address
 * where something else is mapped, so what is open and mapped in every process is kept. A child does
 * not get what its parent has: what it uses of that has a name of its own.
 *
 * Memory: 16 to 64 bytes for each descriptor that is open, and each mapping. Not thread safe.
 */
#ifndef TR_DIFF_RUN_VALUE_H
#define TR_DIFF_RUN_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/map.h"
#include "core/text.h"

enum tr_run_value {
	TR_RUN_PLAIN,	   /* a number is compared as it is, an address as a name */
	TR_RUN_DESCRIPTOR, /* below 3 it is compared as it is */
	TR_RUN_OPENED,	   /* a descriptor that the call makes */
	TR_RUN_CLOSED,	   /* a descriptor that the call closes */
	TR_RUN_TASK,	   /* the id of a process, a thread or a group of processes */
	TR_RUN_READING,	   /* of clocks, of the state of the machine: it is not compared */
	TR_RUN_NUMBER,	   /* compared as it is, also if it looks like an address */
	TR_RUN_MAPPED,	   /* an address where memory is mapped, */
	TR_RUN_UNMAPPED,   /* and no longer mapped */
};

enum { TR_RUN_KEYS = 2 };

struct tr_run_key {
	struct tr_text key;
	enum tr_run_value value;
};

/* A call, and those of its fields that are something else than in most calls. */
struct tr_run_call {
	struct tr_text name;
	struct tr_run_key keys[TR_RUN_KEYS];
};

/* Returns NULL if nothing is known of a call but what is the same in all calls. */
const struct tr_run_call *tr_run_call(struct tr_text name);

/* The sort of a field of a call, or of a member of a structure in one. call may be NULL. */
enum tr_run_value tr_run_value(const struct tr_run_call *call, struct tr_text key);

struct tr_open_files {
	struct tr_id_map tasks; /* by the hash of a task: its table */
	uint64_t count;		/* of all that was opened, and of all tables */
};

/* A process: the descriptors and the addresses of its threads mean the same. */
struct tr_open_table {
	struct tr_id_map opened; /* by a key (see below): a number, which is no address */
	uint64_t users;		 /* threads */
	uint64_t id;		 /* no other process has it */
};

/* The table of a task, which is a new one if there is none. NULL: memory is exhausted. */
struct tr_open_table *tr_open_files_of(struct tr_open_files *files, uint64_t task);

/*
 * Sets *name to the number of what a process knows by a descriptor or an address; nothing else has
 * it. 0: it is an address where nothing was mapped. key: the descriptor, or the address with its bits
 * inverted. value: how the call uses it; TR_RUN_PLAIN: an address that is used. False: memory is
 * exhausted.
 */
bool tr_open_files_name(struct tr_open_files *files, struct tr_open_table *table, uint64_t key,
			enum tr_run_value value, uint64_t *name);

/* A new thread uses the descriptors of its parent. False: memory is exhausted. */
bool tr_open_files_share(struct tr_open_files *files, uint64_t parent, uint64_t child);

/* A task has ended. */
void tr_open_files_end(struct tr_open_files *files, uint64_t task);
void tr_open_files_free(struct tr_open_files *files);

#endif
