/* SPDX-License-Identifier: MIT */
/*
 * What tracker.c and calls.c share: a task of the traced system has a process, a working directory
 * and descriptors, which it shares with other tasks according to the flags of clone. Not thread
 * safe.
 *
 *	descriptor -> open (made by open(2), shared by copies of the descriptor) -> version of a file
 */
#ifndef TR_DEPS_TRACKER_PRIVATE_H
#define TR_DEPS_TRACKER_PRIVATE_H

#include "deps/file_call.h"
#include "deps/graph.h"
#include "deps/tracker.h"

enum { TR_DEPS_FDS_MAX = 4096 }; /* descriptors that are tracked in a process */

/* An open file; descriptors that were duplicated or inherited share it. */
struct tr_deps_open {
	size_t references;
	struct tr_deps_version *version; /* NULL: a directory, or a special file */
	struct tr_deps_path *path, *spelled;
	struct tr_deps_command *opener;
	unsigned mode; /* TR_FILE_READS, TR_FILE_WRITES */
};

struct tr_deps_slot {
	struct tr_deps_open *open; /* NULL: closed, or unknown */
	bool cloexec;
	struct tr_deps_use *use; /* by the command that read or wrote last; or NULL */
};

struct tr_deps_descriptors {
	size_t references;
	size_t count;
	struct tr_deps_slot *slots;
};

struct tr_deps_directory {
	size_t references;
	struct tr_deps_path *path; /* NULL: unknown */
	struct tr_deps_path *root; /* set by chroot; NULL: that of the trace */
};

struct tr_deps_process {
	size_t references;
	struct tr_deps_command *command;
};

struct tr_deps_task {
	struct tr_deps_process *process; /* NULL: its fork record has not been read */
	struct tr_deps_directory *directory;
	struct tr_deps_descriptors *descriptors;
	uint64_t number;
	struct tr_pending_item *pending; /* of a task in the list `ready`: its pending records */
	struct tr_deps_task *ready;	 /* the next in that list; these must not be freed */
	size_t len;
	char id[];
};

/* Drops a reference; open may be NULL. */
void tr_deps_open_release(struct tr_deps_open *open);

/* Removes one of the messages that were sent. The caller owns the reference that it returns. */
struct tr_deps_open *tr_deps_message_take(struct tr_deps_tracker *tracker, unsigned at);

/* Makes an open file with one reference. NULL: memory is exhausted. */
struct tr_deps_open *tr_deps_open_new(struct tr_deps_tracker *tracker,
				      struct tr_deps_command *command,
				      struct tr_deps_version *version, struct tr_deps_path *path,
				      unsigned mode);

/* Returns the open descriptor of a task, or NULL. Valid until a descriptor is set. */
struct tr_deps_slot *tr_deps_slot(const struct tr_deps_task *task, int64_t fd);

/* Returns the use of the open file by the task's command. NULL: memory is exhausted. */
struct tr_deps_use *tr_deps_slot_use(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
				     struct tr_deps_slot *slot);

/* Closes a descriptor. If it is the last one, what was written through it is complete. */
void tr_deps_slot_close(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
			struct tr_deps_slot *slot);

/* Closes a descriptor and sets it again. Takes over the reference to open. */
void tr_deps_slot_set(struct tr_deps_tracker *tracker, struct tr_deps_task *task, int64_t fd,
		      struct tr_deps_open *open, bool cloexec);

/* Stop sharing the descriptors, or the directory, of a task. False: memory is exhausted. */
bool tr_deps_task_unshare(struct tr_deps_tracker *tracker, struct tr_deps_task *task);
bool tr_deps_task_unshare_fs(struct tr_deps_tracker *tracker, struct tr_deps_task *task);

/* Adds an event to a use, whose details keep the first one. use NULL: memory was exhausted. */
void tr_deps_count_use(struct tr_deps_tracker *tracker, struct tr_deps_use *use, unsigned does,
		       const struct tr_record *record);

/* Adds the use of a file whose call has failed. Returns its effect, which --events shows. */
unsigned tr_deps_failed_use(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
			    struct tr_deps_path *path, struct tr_text error,
			    const struct tr_record *record);

/*
 * Resolves the links to directories and descriptors of tasks in /proc and /dev. Sets *base to the
 * directory to which the link leads, and *text to the rest of the path. False: the path has no such
 * link.
 */
bool tr_deps_read_proc(const struct tr_deps_tracker *tracker, const struct tr_deps_task *task,
		       struct tr_text *text, struct tr_deps_path **base,
		       const struct tr_deps_slot **slot, bool *own);

/*
 * calls.c: the effects of system calls on descriptors, names and contents of files; tests/data/deps
 * has the cases.
 */

/* The paths and effects of a record, which --events adds to it. Zero it. */
struct tr_deps_event {
	struct tr_deps_path *path[2];
	unsigned does;
};

/* Applies a call of the task; record has its columns. Sets graph->failed likewise. */
void tr_deps_put_call(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
		      const struct tr_record *record, const struct tr_file_call *call,
		      struct tr_deps_event *event);

/* Applies a sys record of the task. Returns the same as tr_deps_put. */
enum tr_status tr_deps_put_sys(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
			       struct tr_record *record, struct tr_deps_event *event,
			       struct tr_error *err);

#endif
