/* SPDX-License-Identifier: MIT */
/*
 * Who lives: the threads and processes of a log, what they share, and whose
 * children they are. Knows nothing of any format.
 *
 * A task that nobody announced begins as a process of its own with an open
 * origin (directory.h) and is adopted when the log says whose it is, even after
 * its end. Memory goes by the tasks that live, and a bounded number of those
 * that ended before they were adopted.
 */
#ifndef TR_PROCESS_TREE_H
#define TR_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/map.h"
#include "process/directory.h"
#include "process/files.h"

enum {
	TR_FORK_FS = 0x200,	  /* CLONE_FS: one working directory for both */
	TR_FORK_FILES = 0x400,	  /* CLONE_FILES: one set of descriptors */
	TR_FORK_SIBLING = 0x8000, /* CLONE_PARENT: the parent of who made it is its own */
	TR_FORK_THREAD = 0x10000, /* CLONE_THREAD */
};

enum { TR_GHOSTS = 1024 }; /* ended tasks that may still be adopted */

/* What tasks with one working directory share. */
struct tr_place {
	size_t references;
	struct tr_directory *directory; /* NULL: not known */
	uint64_t moves;			/* how often one of them changed it */
};

struct tr_process {
	struct tr_task *first; /* of its tasks, in no order */
	uint64_t pid;
	uint64_t exec; /* seq of its own last exec record, or TR_EXEC_NONE */
	struct tr_origin *origin;
};

struct tr_task {
	uint64_t tid;
	struct tr_process *process;
	struct tr_task *next, **link; /* in its process */
	struct tr_place *place;
	struct tr_files *files;	       /* NULL: nothing is known of any descriptor */
	void *state;		       /* the user's; see tr_tasks.release */
	bool adopted;		       /* or known to have no parent */
	bool alone;		       /* its directory is its own, whatever it began with */
	bool ghost;		       /* it has ended, but not been adopted */
	struct tr_task *older, *newer; /* among those that live, or the ghosts */
};

struct tr_task_list {
	struct tr_task *oldest, *newest;
	size_t count;
};

struct tr_tasks {
	struct tr_id_map map; /* of tid */
	struct tr_origins origins;
	struct tr_task_list live, ghosts;
	void (*release)(void *state); /* of a task that is no more */
};

/* The task of that id, a new one where it was not known. NULL: memory is out. */
struct tr_task *tr_tasks_get(struct tr_tasks *tasks, uint64_t tid, bool *is_new);

/* The same, but NULL where it is not known or has ended. */
struct tr_task *tr_tasks_find(const struct tr_tasks *tasks, uint64_t tid);

/*
 * parent made the task tid, with flags of TR_FORK_…; directory is where parent
 * was when it asked for that. False: memory is out.
 */
bool tr_tasks_fork(struct tr_tasks *tasks, struct tr_task *parent, struct tr_directory *directory,
		   uint64_t tid, uint64_t flags);

/*
 * tid turned out to be a child of parent's: one that is not adopted is settled,
 * with no more than a guess at where it began. False: memory is out.
 */
bool tr_tasks_claim(struct tr_tasks *tasks, struct tr_task *parent, uint64_t tid);

/* task turned out to be a thread of the process that leader is of. False: memory is out. */
bool tr_tasks_join(struct tr_task *task, struct tr_task *leader);

/* The task's exec succeeded: the other tasks of its process are gone. */
void tr_tasks_exec(struct tr_tasks *tasks, struct tr_task *task);

/* The task's number becomes known. False: memory is out, nothing changed. */
bool tr_tasks_rename(struct tr_tasks *tasks, struct tr_task *task, uint64_t tid);

/* The task has ended; with the task that gave it its id a process ends as a whole. */
void tr_tasks_exit(struct tr_tasks *tasks, struct tr_task *task);

/* chdir(path) succeeded. */
void tr_task_chdir(struct tr_task *task, struct tr_text path);

/* The task is at that absolute path. */
void tr_task_is_at(struct tr_task *task, struct tr_text path);

/* It has moved to that directory; NULL: to where nobody knows. */
void tr_task_moves(struct tr_task *task, struct tr_directory *directory);

/* fd is that directory; NULL: something else. False: memory is out. */
bool tr_task_opens(struct tr_task *task, uint64_t fd, struct tr_directory *directory);

/* unshare() of these TR_FORK_… succeeded. False: memory is out. */
bool tr_task_unshare(struct tr_task *task, uint64_t flags);

void tr_tasks_free(struct tr_tasks *tasks);

#endif
