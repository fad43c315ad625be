/* SPDX-License-Identifier: MIT */
/*
 * The paths that programs open, without the symbolic links in them, as strace finds them in /proc.
 * They are resolved a moment after the call, on the file system of the recorder, and what was looked
 * up is kept until a call changes it.
 */
#ifndef TR_PRELOAD_LINKS_H
#define TR_PRELOAD_LINKS_H

#include "core/buffer.h"
#include "core/map.h"

struct link;

/* Zero it. */
struct tr_links {
	struct tr_map known;   /* struct link, by path */
	struct link *symbolic; /* those that are links */
	struct tr_buffer rest, real, target;
};

/*
 * The path without links, in a process whose directory is cwd. NULL: it is unknown, as below /proc.
 * follow: the last component, too. Valid until the next call.
 */
const char *tr_links_resolve(struct tr_links *links, const char *cwd, const char *path,
			     bool follow);

/* What that path names has changed. */
void tr_links_changed(struct tr_links *links, const char *cwd, const char *path);
/* The same of a path in an unknown directory; removed: and nothing has taken its place. */
void tr_links_changed_somewhere(struct tr_links *links, const char *path);
void tr_links_removed_somewhere(struct tr_links *links, const char *path);

/* A link to target was made at that path. */
void tr_links_made(struct tr_links *links, const char *cwd, const char *path, const char *target);

/* Anything may have changed. */
void tr_links_clear(struct tr_links *links);

void tr_links_free(struct tr_links *links);

#endif
