/* SPDX-License-Identifier: MIT */
/*
 * Working directories of processes, in a log that shows a child before its fork.
 *
 *	struct tr_origin ------ the place where a process began: pending at first, settled when the
 *	                        parent is known, or given up
 *	struct tr_directory --- a path that is absolute, or relative to an origin; immutable
 *	tr_directory_resolve -> the absolute path, as far as it is known
 *
 * Paths are joined as text: "x/.." is removed, symbolic links are unknown. Not thread safe.
 */
#ifndef TR_PROCESS_DIRECTORY_H
#define TR_PROCESS_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"
#include "process/path.h"

enum { TR_DIRECTORY_MAX = 16 << 10 }; /* bytes; a directory with a longer path is unknown */

struct tr_directory;

/*
 * The state that a process inherits: its parent, and the program and directory that the parent had
 * when the process began.
 */
struct tr_origin {
	size_t references;
	struct tr_origins *all;
	struct tr_origin *next, **link; /* in that list */
	bool settled;			/* parent, ppid, exec and exec_from are final */
	bool orphan;			/* given up: the parent is unknown */
	bool thread;			/* it is a thread of the process tgid */
	bool irrelevant; /* set by the user: whether it is a thread does not matter */
	bool has_ppid;
	uint64_t ppid, tgid;
	uint64_t exec;		     /* seq of the exec record that was current in the parent */
	struct tr_origin *exec_from; /* if that is NONE: the origin of the parent, which has it */
	struct tr_origin *asks;	     /* not NULL: the origin from which ppid is derived */
	bool sibling;		     /* the parent is that of `asks` */
	bool placed;		     /* directory is final; NULL: unknown */
	bool guessed;		     /* directory is only likely */
	struct tr_directory *directory;
};

#define TR_EXEC_NONE UINT64_MAX

/* All origins of a log, so that cycles of them can be freed. All zero at first. */
struct tr_origins {
	struct tr_origin *first;
	bool failed; /* memory was exhausted, so a directory is missing */
};

/* The caller owns a reference. NULL: memory is exhausted. */
struct tr_origin *tr_origin_new(struct tr_origins *origins);
struct tr_origin *tr_origin_retain(struct tr_origin *origin);
void tr_origin_release(struct tr_origin *origin); /* NULL is fine */
void tr_origins_free(struct tr_origins *origins);

/*
 * Settles the origin with its parent: the pid, the exec record (or the origin that has it) and the
 * directory (NULL: unknown). What would make a process its own ancestor is ignored.
 */
void tr_origin_settle(struct tr_origin *origin, uint64_t ppid, uint64_t exec,
		      struct tr_origin *exec_from, struct tr_directory *directory);

/*
 * After tr_origin_settle: derives ppid from the task that made the process, because that may be a
 * thread, whose process is then the parent. sibling: both have the same parent (CLONE_PARENT).
 */
void tr_origin_derive(struct tr_origin *origin, struct tr_origin *maker, bool sibling);

/* False: ppid is pending. Otherwise has_ppid and ppid are final. */
bool tr_origin_has_ppid(struct tr_origin *origin);

/* Settles the origin without a parent. orphan: it should have one. */
void tr_origin_give_up(struct tr_origin *origin, bool orphan);

/* Sets the place without the parent; directory is absolute or NULL. */
void tr_origin_place(struct tr_origin *origin, struct tr_directory *directory, bool guessed);

/* False: it is pending. *seq: the exec record that was current in the parent, or TR_EXEC_NONE. */
bool tr_origin_exec(struct tr_origin *origin, uint64_t *seq);

/*
 * The caller owns a reference to each. NULL: the directory is unknown, because the path is too long
 * or memory is exhausted (origins->failed).
 */
struct tr_directory *tr_directory_new(struct tr_origins *origins, struct tr_text absolute);
struct tr_directory *tr_directory_of(struct tr_origin *origin);
struct tr_directory *tr_directory_enter(struct tr_origins *origins,
					const struct tr_directory *directory, struct tr_text path);

/* True if both are the same path, seen from the same origin. */
bool tr_directory_same(const struct tr_directory *a, const struct tr_directory *b);

struct tr_directory *tr_directory_retain(struct tr_directory *directory);
void tr_directory_release(struct tr_directory *directory); /* NULL is fine */

enum tr_certainty {
	TR_PLACE_KNOWN,
	TR_PLACE_GUESSED,
	TR_PLACE_UNKNOWN,
	TR_PLACE_OPEN, /* pending on an origin */
};

/* Appends the absolute path if it is known or guessed. directory NULL: unknown. */
enum tr_certainty tr_directory_resolve(const struct tr_directory *directory, struct tr_buffer *to);

/* The path that a guess began with; valid as long as the directory. */
struct tr_text tr_directory_guess(const struct tr_directory *directory);

/* True while tr_directory_resolve returns TR_PLACE_OPEN. */
bool tr_directory_is_open(const struct tr_directory *directory);

/*
 * Takes the path where the process is, or with guessed, where it probably is. If directory is
 * pending on an origin and the paths agree, this settles the origin.
 */
bool tr_directory_learn(const struct tr_directory *directory, struct tr_text absolute,
			bool guessed);

/*
 * Settles the origin on which directory is pending with the other directory (NULL: unknown), which
 * may itself be pending.
 */
void tr_directory_follow(const struct tr_directory *directory, struct tr_directory *other);

/* Gives up the origin on which directory is pending. */
void tr_directory_give_up(const struct tr_directory *directory);

/* True if it is certainly that absolute path. */
bool tr_directory_is(const struct tr_directory *directory, struct tr_text absolute);

#endif
