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

/* Empty, and the caller's. NULL: memory is out. */
struct tr_files *tr_files_new(void);
struct tr_files *tr_files_retain(struct tr_files *files);
void tr_files_release(struct tr_files *files); /* NULL is fine */

/* fd is directory from now on; NULL: it is closed, or unknown. False: memory is out. */
bool tr_files_put(struct tr_files *files, uint64_t fd, struct tr_directory *directory);

/* fd is open from now on, also where it is no known directory. False: memory is out. */
bool tr_files_open(struct tr_files *files, uint64_t fd, struct tr_directory *directory,
		   bool cloexec);

/* Finds the first open descriptor that is not below *fd. False: there is none. */
bool tr_files_next(const struct tr_files *files, uint64_t *fd);

/* Sets close-on-exec of the open ones from first to last. False: memory is out. */
bool tr_files_set_cloexec(struct tr_files *files, uint64_t first, uint64_t last, bool cloexec);

/* Closes those that are close-on-exec. False: memory is out. */
bool tr_files_exec(struct tr_files *files);

/* NULL: not known. files may be NULL. */
struct tr_directory *tr_files_get(const struct tr_files *files, uint64_t fd);

/*
 * fd is a directory that comes from a parent who is not known yet: an open one, for
 * tr_files_told to tell. False: memory is out.
 */
bool tr_files_await(struct tr_files *files, uint64_t fd, struct tr_directory *directory);

/*
 * The parent is known, with what it has. What it has not it may have from a parent that
 * is not known yet (waits): it waits for that, too. Else it is given up, as all is where
 * parent is NULL. False: memory is out.
 */
bool tr_files_told(struct tr_files *files, struct tr_files *parent, bool waits);

/* Puts what `from` has (NULL: nothing) where files has nothing. False: memory is out. */
bool tr_files_inherit(struct tr_files *files, const struct tr_files *from);

#endif
