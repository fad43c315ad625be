/* SPDX-License-Identifier: MIT */
/*
 * The open descriptors of a process, as far as a log shows them, and the directories that they
 * refer to: for fchdir, for paths that are relative to a descriptor, and for close_range. Tasks
 * that share their descriptors share one struct tr_files; others have copies.
 */
#ifndef TR_PROCESS_FILES_H
#define TR_PROCESS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/directory.h"

enum { TR_FILES_MAX = 1024 }; /* descriptors that are kept of a process; more are not known */

struct tr_files;

/* An empty table that the caller owns. NULL: memory is exhausted. */
struct tr_files *tr_files_new(void);
struct tr_files *tr_files_retain(struct tr_files *files);
void tr_files_release(struct tr_files *files); /* NULL is fine */

/* Sets the directory of fd; NULL: it is closed, or unknown. False: memory is exhausted. */
bool tr_files_put(struct tr_files *files, uint64_t fd, struct tr_directory *directory);

/* Marks fd as open; directory: NULL if it is none, or unknown. False: memory is exhausted. */
bool tr_files_open(struct tr_files *files, uint64_t fd, struct tr_directory *directory,
		   bool cloexec);

/* Finds the first open descriptor that is not below *fd. False: there is none. */
bool tr_files_next(const struct tr_files *files, uint64_t *fd);

/* Sets close-on-exec of the open ones from first to last. False: memory is out. */
bool tr_files_set_cloexec(struct tr_files *files, uint64_t first, uint64_t last, bool cloexec);

/* Closes those that are close-on-exec. False: memory is out. */
bool tr_files_exec(struct tr_files *files);

/* The directory of fd; NULL: unknown. files may be NULL. */
struct tr_directory *tr_files_get(const struct tr_files *files, uint64_t fd);

/*
 * Makes fd a directory that is inherited from a parent that is unknown yet; tr_files_resolve
 * resolves it. False: memory is exhausted.
 */
bool tr_files_hold(struct tr_files *files, uint64_t fd, struct tr_directory *directory);

/*
 * Resolves the pending directories with those of the parent, which is known now. waits: the parent
 * is itself pending, and so stay the directories that it does not have. Otherwise they are given
 * up, as are all if parent is NULL. False: memory is exhausted.
 */
bool tr_files_resolve(struct tr_files *files, struct tr_files *parent, bool waits);

/* Puts what `from` has (NULL: nothing) where files has nothing. False: memory is out. */
bool tr_files_inherit(struct tr_files *files, const struct tr_files *from);

#endif
