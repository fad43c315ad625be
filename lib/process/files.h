/*
 * What directories the descriptors of a process stand for, as far as a log says
 * so: for fchdir, and for paths that are seen from a descriptor. Shared by
 * those that share their descriptors, copied for others.
 */
#ifndef TR_PROCESS_FILES_H
#define TR_PROCESS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/directory.h"

enum { TR_FILES_MAX = 256 }; /* descriptors that are kept of a process; more are not known */

struct tr_files;

/* Empty, and the caller's. NULL: memory is out. */
struct tr_files *tr_files_new(void);
struct tr_files *tr_files_retain(struct tr_files *files);
void tr_files_release(struct tr_files *files); /* NULL is fine */

/* fd is directory from now on; NULL: nobody knows what. False: memory is out. */
bool tr_files_put(struct tr_files *files, uint64_t fd, struct tr_directory *directory);

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
