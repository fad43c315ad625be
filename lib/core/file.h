/* Small files, read whole. */
#ifndef TR_CORE_FILE_H
#define TR_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
