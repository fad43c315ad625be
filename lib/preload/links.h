/* SPDX-License-Identifier: MIT */
/*
 * Resolves the symbolic links in paths that programs open, which strace finds in /proc. They are
 * resolved a moment after the call, in the file system of the recorder, and each result is kept until
 * a call of a recorded program changes it.
 */
#ifndef TR_PRELOAD_LINKS_H
#define TR_PRELOAD_LINKS_H

#include "core/buffer.h"
#include "core/map.h"

struct link;

/* Zero it. */
struct tr_links {
	struct tr_map known;   /* struct link, by path */
	struct link *symbolic; /* the symbolic links among them */
	struct tr_buffer rest, real, target;
};

/*
 * Returns the path without links, for a process whose directory is cwd. follow: the last component
 * may be a link, too. NULL: it is unknown, as below /proc. Valid until the next call.
 */
const char *tr_links_resolve(struct tr_links *links, const char *cwd, const char *path,
			     bool follow);

/* Forgets what the path leads to, because a call has changed it. */
void tr_links_changed(struct tr_links *links, const char *cwd, const char *path);
/* The same for a path in an unknown directory; removed: nothing has taken its place. */
void tr_links_changed_somewhere(struct tr_links *links, const char *path);
void tr_links_removed_somewhere(struct tr_links *links, const char *path);

/* Notes that a link to target was made at that path. */
void tr_links_made(struct tr_links *links, const char *cwd, const char *path, const char *target);

/* Forgets everything. */
void tr_links_clear(struct tr_links *links);

void tr_links_free(struct tr_links *links);

#endif
