/* SPDX-License-Identifier: MIT */
/*
 * The tasks of a log, which are threads and processes: what they share, and which is the parent of
 * which. Their ids are numbers of the kernel.
 *
 *	tr_tasks_get    a task that is not known becomes a process of its own, whose origin is
 *	                pending (directory.h)
 *	tr_tasks_fork   its parent becomes known, which may be after its end; so also tr_tasks_guess_fork
 *	                and tr_tasks_join
 *	tr_tasks_exit   it ends; one without a parent is kept for a while, because its fork may
 *	                still come
 *
 * Memory grows with the tasks that live, and with a bounded number of those that have ended.
 */
#ifndef TR_PROCESS_TREE_H
#define TR_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/map.h"
#include "process/directory.h"

enum {
	TR_FORK_FS = 0x200,	  /* CLONE_FS: one working directory for both */
	TR_FORK_FILES = 0x400,	  /* CLONE_FILES: one set of descriptors */
	TR_FORK_SIBLING = 0x8000, /* CLONE_PARENT: it has the same parent as its maker */
	TR_FORK_THREAD = 0x10000, /* CLONE_THREAD */
};

enum { TR_TASKS_ENDED = 1024 }; /* ended tasks whose fork may still come */

/* The working directory of one or several tasks. */
struct tr_place {
	size_t references;
	struct tr_directory *directory; /* NULL: unknown */
	uint64_t moves;			/* number of times that one of them changed it */
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
	struct tr_files *files;	       /* NULL: no descriptor is known */
	void *state;		       /* the user's; see tr_tasks.release */
	bool parent_known;	       /* its parent is known, or it is known to have none */
	bool alone;		       /* it shares its directory with no other task */
	bool has_ended;		       /* it has ended, and its fork may still come */
	struct tr_task *older, *newer; /* in its list: live, or ended */
};

struct tr_task_list {
	struct tr_task *oldest, *newest;
	size_t count;
};

struct tr_tasks {
	struct tr_id_map map; /* of tid */
	struct tr_origins origins;
	struct tr_task_list live, ended;
	void (*release)(void *state); /* frees the state of a task that ends */
};

/* The task with that id, which is new if it was not known. NULL: memory is exhausted. */
struct tr_task *tr_tasks_get(struct tr_tasks *tasks, uint64_t tid, bool *is_new);

/* The task with that id; NULL: it is not known, or has ended. */
struct tr_task *tr_tasks_find(const struct tr_tasks *tasks, uint64_t tid);

/*
 * Makes tid a child of parent, with flags of TR_FORK_…; directory: the parent's at the begin of
 * that call. False: memory is exhausted.
 */
bool tr_tasks_fork(struct tr_tasks *tasks, struct tr_task *parent, struct tr_directory *directory,
		   uint64_t tid, uint64_t flags);

/*
 * Makes tid a child of parent unless its parent is known; its first directory is only guessed.
 * False: memory is exhausted.
 */
bool tr_tasks_guess_fork(struct tr_tasks *tasks, struct tr_task *parent, uint64_t tid);

/* Makes task a thread of the process of leader. False: memory is exhausted. */
bool tr_tasks_join(struct tr_task *task, struct tr_task *leader);

/* After a successful exec: ends the other tasks of the process. */
void tr_tasks_exec(struct tr_tasks *tasks, struct tr_task *task);

/* Sets the id of a task. False: memory is exhausted, and nothing has changed. */
bool tr_tasks_rename(struct tr_tasks *tasks, struct tr_task *task, uint64_t tid);

/* Ends a task; if the process has its id, all other tasks of the process end as well. */
void tr_tasks_exit(struct tr_tasks *tasks, struct tr_task *task);

/* After a successful chdir(path). */
void tr_task_chdir(struct tr_task *task, struct tr_text path);

/* Takes the absolute path at which the task is. */
void tr_task_is_at(struct tr_task *task, struct tr_text path);

/* Moves the task to that directory; NULL: to an unknown one. */
void tr_task_moves(struct tr_task *task, struct tr_directory *directory);

/* Sets the directory of fd; NULL: it is none. False: memory is exhausted. */
bool tr_task_opens(struct tr_task *task, uint64_t fd, struct tr_directory *directory);

/* After a successful unshare() of these TR_FORK_…. False: memory is exhausted. */
bool tr_task_unshare(struct tr_task *task, uint64_t flags);

void tr_tasks_free(struct tr_tasks *tasks);

enum { TR_FILES_MAX = 1024 }; /* descriptors that are kept of a process; more are not known */

/*
 * The open descriptors of a process, as far as a log shows them, and the directories that they
 * refer to: for fchdir, for paths that are relative to a descriptor, and for close_range. Tasks
 * that share their descriptors share one struct tr_files; others have copies.
 */
struct tr_files;

/* An empty table that the caller owns. NULL: memory is exhausted. */
struct tr_files *tr_files_new(void);

/* Sets the directory of fd; NULL: it is closed, or unknown. False: memory is exhausted. */
bool tr_files_put(struct tr_files *files, uint64_t fd, struct tr_directory *directory);

/* Marks fd as open; directory: NULL if it is none, or unknown. False: memory is exhausted. */
bool tr_files_open(struct tr_files *files, uint64_t fd, struct tr_directory *directory,
		   bool cloexec);

/* Finds the first open descriptor that is not below *fd. False: there is none. */
bool tr_files_next(const struct tr_files *files, uint64_t *fd);

/* Sets close-on-exec of the open ones from first to last. False: memory is exhausted. */
bool tr_files_set_cloexec(struct tr_files *files, uint64_t first, uint64_t last, bool cloexec);

/* Closes those that are close-on-exec. False: memory is exhausted. */
bool tr_files_exec(struct tr_files *files);

/* The directory of fd; NULL: unknown. files may be NULL. */
struct tr_directory *tr_files_get(const struct tr_files *files, uint64_t fd);

/*
 * Makes fd a directory that is inherited from a parent that is unknown yet; tr_files_resolve
 * resolves it. False: memory is exhausted.
 */
bool tr_files_hold(struct tr_files *files, uint64_t fd, struct tr_directory *directory);

#endif
