/* SPDX-License-Identifier: MIT */
/*
 * A tree of the absolute paths in a trace. A path is always the same node, although it can name
 * different files in the course of time (graph.h), so paths are compared by their nodes.
 *
 *	tr_deps_paths_spelled --- the path without ".", ".." and doubled slashes
 *	tr_deps_paths_resolved -- the same, with the symbolic links resolved that are known so far
 *
 * As in the kernel, slashes separate components, which can have any other bytes. Memory grows with
 * the number of different paths. A program can descend without end by relative paths, so absolute
 * paths are limited to TR_DEPS_PATH_MAX, which bounds the time to handle their text. Not thread
 * safe.
 */
#ifndef TR_DEPS_PATHS_H
#define TR_DEPS_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "core/map.h"
#include "core/text.h"

/* Four times the limit of a system call: configure scripts make paths of 12 KiB. */
enum { TR_DEPS_PATH_MAX = 16 << 10 };

struct tr_deps_file;
struct tr_deps_memo;
struct tr_deps_use;

struct tr_deps_path {
	struct tr_deps_path *parent;	      /* NULL: this is the root */
	struct tr_deps_path *children, *next; /* the children of a path, the newest first */
	struct tr_text name;		      /* the last component */
	uint32_t len;			      /* of the absolute path; 0: this is the root */
	struct tr_text link;	   /* the target of a symbolic link; data NULL: it is not one */
	struct tr_deps_file *file; /* the file that has this name now, or NULL */
	struct tr_deps_file *last; /* the last file that had this name, or NULL */
	struct tr_deps_path *other_name, *previous_name; /* of file: a ring of all its names */
	struct tr_deps_use *missed; /* uses without a file: graph.h; the newest first */
	bool directory;		    /* a call showed that it is one */
	bool was_directory;	    /* and it is gone, and no file has had the name */
	/* below /proc, /sys or /dev (except /dev/shm), or a call showed a device or socket */
	bool special;
	bool moved;    /* the last file with this name was renamed */
	bool exists;   /* the last call that used it found it */
	bool used;     /* a command has used it */
	bool input;    /* the first use of its file was reading */
	uint16_t does; /* of all its uses */

	/* for the user of the graph */
	uint32_t set;
	void *user;
};

struct tr_deps_paths {
	struct tr_deps_path *root;
	struct tr_deps_path *top; /* where absolute texts begin, for chroot; NULL: at the root */
	struct tr_arena arena;
	struct tr_map nodes; /* by parent and name: private */
	struct tr_buffer key;
	struct tr_deps_memo *memo; /* private: texts that were resolved recently */
	uint32_t links;		   /* how often a link was set; older entries of memo are void */
	uint64_t too_long;	   /* texts that were refused */
	bool failed;		   /* memory is exhausted */
};

void tr_deps_paths_init(struct tr_deps_paths *paths);
void tr_deps_paths_free(struct tr_deps_paths *paths);

/*
 * Returns the node of a path, relative to base unless it begins with a slash. NULL: the path is
 * empty or too long, or it is relative and base is NULL, or memory is exhausted (paths->failed).
 */
struct tr_deps_path *tr_deps_paths_spelled(struct tr_deps_paths *paths, struct tr_deps_path *base,
					   struct tr_text text);

/*
 * As tr_deps_paths_spelled, with links resolved. *spelled (which may be NULL) is set to the node of
 * the path as it is spelled. follow: a link at the end is resolved, too. A loop of links ends at
 * one of them.
 */
struct tr_deps_path *tr_deps_paths_resolved(struct tr_deps_paths *paths, struct tr_deps_path *base,
					    struct tr_text text, bool follow,
					    struct tr_deps_path **spelled);

/* Makes a directory outside the tree, to exchange names. NULL: memory is exhausted. */
struct tr_deps_path *tr_deps_paths_detached(struct tr_deps_paths *paths);

/* Makes the path a symbolic link; target is copied. False: memory is exhausted. */
bool tr_deps_paths_set_link(struct tr_deps_paths *paths, struct tr_deps_path *path,
			    struct tr_text target);

/* Appends the absolute path. */
void tr_deps_path_write(const struct tr_deps_path *path, struct tr_buffer *to);

/* Returns whether path is the directory, or below it. */
bool tr_deps_path_is_below(const struct tr_deps_path *path, const struct tr_deps_path *directory);

#endif
