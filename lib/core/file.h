/* SPDX-License-Identifier: MIT */
/*
 * Files and directories: small files read at once, views of large ones, writes to descriptors, and
 * directories that output goes to. Not thread safe, except where no struct is shared.
 */
#ifndef TR_CORE_FILE_H
#define TR_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"

/*
 * Appends the content of a regular file of at most max bytes. Anything but a regular file is
 * refused, because a pipe or a device that an input names could wait, or never end. False: err is
 * filled, and nothing was appended.
 */
bool tr_file_read(struct tr_text path, size_t max, struct tr_buffer *to, struct tr_error *err);

/*
 * Directories that limit which files may be read by paths that come from input. Their links are
 * resolved when they are added. All zero: no file may be read. The owner frees it with
 * tr_file_roots_free.
 */
struct tr_file_roots {
	struct tr_file_root {
		char *path; /* resolved, NUL-terminated */
		int fd;
	} * list;
	size_t count;
};

/* Adds a directory. False: it is not a directory, or memory is exhausted; err is filled. */
bool tr_file_roots_add(struct tr_file_roots *roots, struct tr_text path, struct tr_error *err);

/*
 * Like tr_file_read, for an absolute path that must be below one of the roots after all links in it
 * are resolved. The resolved path is then opened one component at a time without following links,
 * so a directory that is replaced meanwhile leads nowhere else.
 */
bool tr_file_roots_read(const struct tr_file_roots *roots, struct tr_text path, size_t max,
			struct tr_buffer *to, struct tr_error *err);

void tr_file_roots_free(struct tr_file_roots *roots);

/*
 * A view maps a part of a regular file, for a caller that looks at most bytes only once: copying
 * them would be most of the cost.
 *
 * Another process may change the file meanwhile, so bytes must not be read a second time in the
 * belief that they are the same. If the file is truncated or unreadable, an access raises SIGBUS:
 * look only under a guard.
 *
 * Mapped pages count as memory of the process: TR_FILE_VIEW bytes at most. Not thread safe.
 */

enum {
	TR_FILE_VIEW = 512 << 10,      /* bytes */
	TR_FILE_VIEW_LEAST = 32 << 10, /* a smaller part is not worth a view */
};

/*
 * Signals belong to the program, not to a library, so the program supplies this guard. It protects
 * one range at a time, and is not nested.
 */
struct tr_fault_guard {
	/* Until leave, inaccessible bytes of [data, data + len) are read as zeros. */
	void (*enter)(const char *data, size_t len);
	/* True: all bytes were accessible. */
	bool (*leave)(void);
};

/* Initialised with zeros. */
struct tr_file_view {
	char *base;
	size_t len; /* bytes of the file, from offset on */
	off_t offset;
};

/*
 * The bytes of fd from offset on: TR_FILE_VIEW_LEAST bytes or more, with TR_INPUT_PAD readable
 * bytes after them. Valid until the next call. Empty: the file is not a regular one, or has fewer
 * bytes left.
 */
struct tr_text tr_file_view_at(struct tr_file_view *view, int fd, off_t offset);

void tr_file_view_free(struct tr_file_view *view);

/*
 * Returns a new file without a name in TMPDIR (else /tmp), which the system frees even after a
 * crash. The caller closes it. -1: err is filled.
 */
int tr_file_unnamed(struct tr_error *err);

/* Writing to file descriptors, for the sinks. */

/*
 * Writes all of data, and waits if the descriptor is non-blocking. A reader that has closed its end
 * is TR_CAUSE_PIPE.
 */
bool tr_fd_write(int fd, const char *data, size_t len, struct tr_error *err);

/* Fills err for a write that failed, and returns false. */
bool tr_fd_write_failed(int sys_errno, struct tr_error *err);

/* Enlarges the buffer of a pipe; a failure only costs speed. */
void tr_fd_enlarge_pipe(int fd);

/*
 * Directories for output. The directory itself is chosen by the user and may be reached through
 * links. Below it links are not followed, because anyone else with write access could redirect the
 * output to another file.
 */

/*
 * Returns a descriptor (O_PATH) of the directory, which the caller closes. make: it is created if
 * it is missing, with all directories above it. -1: err is filled.
 */
int tr_directory_open(const char *path, bool make, struct tr_error *err);

/*
 * Returns a descriptor of the directory below root that contains the last component of path, and
 * sets *name to that component. Creates missing directories. -1: err is filled; a component is a
 * link or a file, or "..".
 */
int tr_directory_below(int root, const char *path, const char **name, struct tr_error *err);

#endif
