/* SPDX-License-Identifier: MIT */
/* Small files, read whole. */
#ifndef TR_CORE_FILE_H
#define TR_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"

/*
 * Appends the content of a regular file of at most max bytes. Nothing else is
 * opened for good: a pipe or a device that an input names would wait, or never end.
 * False: err is filled, nothing was appended.
 */
bool tr_file_read(struct tr_text path, size_t max, struct tr_buffer *to, struct tr_error *err);

/*
 * Directories that bound which files may be read, for paths that come from input.
 * Their links are resolved when they are added. All zero: no file may be read.
 */
struct tr_file_roots {
	struct tr_file_root {
		char *path; /* resolved, NUL-terminated */
		int fd;
	} * list;
	size_t count;
};

/* False: it is not a directory, or memory is out; err is filled. */
bool tr_file_roots_add(struct tr_file_roots *roots, struct tr_text path, struct tr_error *err);

/*
 * The same as tr_file_read, for an absolute path that must lie below one of the roots after all
 * links in it are resolved. The resolved path is then opened one component at a time without
 * following links, so a directory that is replaced meanwhile leads nowhere else.
 */
bool tr_file_roots_read(const struct tr_file_roots *roots, struct tr_text path, size_t max,
			struct tr_buffer *to, struct tr_error *err);

void tr_file_roots_free(struct tr_file_roots *roots);

/*
 * A stretch of a regular file where the system has it in memory, for who looks at
 * bytes once and wants few of them: copying them is most of what that costs.
 *
 * The file stays what it is: somebody may write to it while it is looked at, so
 * nothing that was found in the bytes once may be trusted to be there again. And
 * where it is cut meanwhile, or cannot be read, looking is answered by SIGBUS:
 * look only under a guard.
 *
 * What is mapped counts as memory of the process: TR_FILE_VIEW bytes at most.
 * Not thread safe.
 */

enum {
	TR_FILE_VIEW = 512 << 10,      /* bytes */
	TR_FILE_VIEW_LEAST = 32 << 10, /* what is less is not worth it */
};

/*
 * Signals belong to the program, not to a library, so it is the program that
 * lends this. One stretch at a time, not nested.
 */
struct tr_fault_guard {
	/* Until leave, what cannot be had of [data, data + len) reads as zeros. */
	void (*enter)(const char *data, size_t len);
	/* True: all of it could be had. */
	bool (*leave)(void);
};

/* All zeros at first. */
struct tr_file_view {
	char *base;
	size_t len; /* of the file, from offset on */
	off_t offset;
};

/*
 * What fd holds from offset on, good until the next call: TR_FILE_VIEW_LEAST bytes
 * and more, and TR_INPUT_PAD readable ones behind them. Empty where that cannot be
 * had: the file is of another type, or has not so much left.
 */
struct tr_text tr_file_view_at(struct tr_file_view *view, int fd, off_t offset);

void tr_file_view_free(struct tr_file_view *view);

/* Writing to file descriptors: what the sinks on them share. */

/*
 * All of data, waiting where the descriptor is non-blocking. A reader that
 * went away is TR_CAUSE_PIPE.
 */
bool tr_fd_write(int fd, const char *data, size_t len, struct tr_error *err);

/* Fills err for a write that failed, and returns false. */
bool tr_fd_write_failed(int sys_errno, struct tr_error *err);

/* Asks for a large buffer where fd is a pipe; a refusal only costs speed. */
void tr_fd_enlarge_pipe(int fd);

/*
 * Directories that files are written to. The directory itself is the user's choice and may be
 * reached through links; below it nothing follows a link, because whoever else can write there
 * could lead the output to any other file.
 */

/*
 * A descriptor (O_PATH) of the directory. make: it is created where it is missing, with all
 * directories above it. -1: err is filled.
 */
int tr_directory_open(const char *path, bool make, struct tr_error *err);

/*
 * A descriptor of the directory, below root, that holds the last component of path, which *name
 * is set to. Creates the directories that are missing. -1: err is filled; a component is a link
 * or a file, or "..".
 */
int tr_directory_below(int root, const char *path, const char **name, struct tr_error *err);

#endif
