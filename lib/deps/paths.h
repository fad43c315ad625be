/* SPDX-License-Identifier: MIT */
/*
 * A tree of the absolute paths that a trace mentions. A path is one node for ever, whatever file it
 * names at a time (graph.h), so two spellings of a path can be compared by their nodes.
 *
 *	tr_deps_paths_spelled --- the text as it is written: "." and ".." and doubled slashes are removed
 *	tr_deps_paths_resolved -- the same, through the symbolic links that the trace has shown so far
 *
 * Paths are those of a kernel, which only slashes separate. Memory grows with the distinct paths.
 * A program can go down without end by relative paths, so no absolute path is longer than
 * TR_DEPS_PATH_MAX: what takes its text takes bounded time. Not thread safe.
 */
#ifndef TR_DEPS_PATHS_H
#define TR_DEPS_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "core/map.h"
#include "core/text.h"

/* Four times what a call of Linux takes: configure scripts make paths of 12 KiB. */
enum { TR_DEPS_PATH_MAX = 16 << 10 };

struct tr_deps_file;
struct tr_deps_memo;
struct tr_deps_use;

struct tr_deps_path {
	struct tr_deps_path *parent;	      /* NULL: this is the root */
	struct tr_deps_path *children, *next; /* the children of a path, the newest first */
	struct tr_text name;		      /* the last component */
	uint32_t len;			      /* of the absolute path; 0: this is the root */
	struct tr_text link;	   /* the target of a symbolic link; data NULL: it is none */
	struct tr_deps_file *file; /* the file that has this name now, or NULL */
	struct tr_deps_file *last; /* the file that had it last, or NULL */
	struct tr_deps_path *other_name, *previous_name; /* of file: a ring of all its names */
	struct tr_deps_use *missed; /* uses without a file: graph.h; the newest first */
	bool directory;		    /* a call showed that it is one */
	bool special; /* it is below /proc, /sys or /dev (but for /dev/shm), or a call showed a device or a socket */
	bool moved;    /* the file that had it last got another name */
	bool exists;   /* the last call that used it found it */
	bool used;     /* some command has a use of it */
	bool input;    /* what was done first with its file was reading */
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
	struct tr_deps_memo *memo; /* the texts that were resolved lately: private */
	uint32_t links;		   /* how often a link was set: the memo knows nothing older */
	uint64_t too_long;	   /* texts that were refused */
	bool failed;		   /* memory is exhausted */
};

void tr_deps_paths_init(struct tr_deps_paths *paths);
void tr_deps_paths_free(struct tr_deps_paths *paths);

/*
 * The node of a path, relative to base if it does not begin with a slash. NULL: the path is empty
 * or too long, or relative and base is NULL, or memory is exhausted (paths->failed).
 */
struct tr_deps_path *tr_deps_paths_spelled(struct tr_deps_paths *paths, struct tr_deps_path *base,
					   struct tr_text text);

/*
 * The same, and the node of the path as it is spelled in *spelled, which may be NULL. follow: a link
 * at the end is followed, too. A loop of links ends at one of them.
 */
struct tr_deps_path *tr_deps_paths_resolved(struct tr_deps_paths *paths, struct tr_deps_path *base,
					    struct tr_text text, bool follow,
					    struct tr_deps_path **spelled);

/* A directory outside of the tree, for names that are moved in two steps. NULL: memory. */
struct tr_deps_path *tr_deps_paths_detached(struct tr_deps_paths *paths);

/* Copies the target of a symbolic link. False: memory is exhausted. */
bool tr_deps_paths_set_link(struct tr_deps_paths *paths, struct tr_deps_path *path,
			    struct tr_text target);

/* Appends the absolute path. */
void tr_deps_path_write(const struct tr_deps_path *path, struct tr_buffer *to);

/* True if path is directory, or below it. */
bool tr_deps_path_is_below(const struct tr_deps_path *path, const struct tr_deps_path *directory);

#endif
