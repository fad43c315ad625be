/* SPDX-License-Identifier: MIT */
/*
 * Working directories of processes in a log that tells things late.
 *
 * A child may speak before the log says whose child it is, so where it is can
 * be known only "as seen from where it began". That place is its origin: open
 * at first, settled when the parent is known (or nobody will tell any more).
 * A directory is immutable: a path that is absolute, or relative to an origin.
 *
 * Paths are joined as text: "x/.." is taken away, symbolic links are not known.
 * Not thread safe.
 */
#ifndef TR_PROCESS_DIRECTORY_H
#define TR_PROCESS_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

enum { TR_DIRECTORY_MAX = 16 << 10 }; /* bytes of a path; a longer one is not known */

struct tr_directory;

/* What a process got from its parent when it began. */
struct tr_origin {
	size_t references;
	struct tr_origins *all;
	struct tr_origin *next, **link; /* in that list */
	bool settled;			/* parent, ppid, exec and exec_from are what they will be */
	bool orphan;			/* settled because nobody told */
	bool thread;			/* it turned out to be one of tgid's process */
	bool waived;			/* the user's: whether it is one is not waited for */
	bool has_ppid;
	uint64_t ppid, tgid;
	uint64_t exec;		     /* seq of the exec record that was current in the parent */
	struct tr_origin *exec_from; /* where that is NONE: the parent's own origin says it */
	struct tr_origin *asks;	     /* not NULL: that one knows better what ppid is */
	bool sibling;		     /* the same as its own */
	bool placed;		     /* directory is what it will be; NULL: not known */
	bool guessed;		     /* directory is no more than likely */
	struct tr_directory *directory;
};

#define TR_EXEC_NONE UINT64_MAX

/* All origins of a log, so that a log that turns in circles leaks nothing. Zero it. */
struct tr_origins {
	struct tr_origin *first;
	bool failed; /* memory was out: some directory is not known that could be */
};

/* The caller owns a reference. NULL: memory is out. */
struct tr_origin *tr_origin_new(struct tr_origins *origins);
struct tr_origin *tr_origin_retain(struct tr_origin *origin);
void tr_origin_release(struct tr_origin *origin); /* NULL is fine */
void tr_origins_free(struct tr_origins *origins);

/*
 * The parent is known: its pid, its exec (or where that comes from), and where
 * it was (NULL: not known). What would make a process its own ancestor is left
 * out.
 */
void tr_origin_settle(struct tr_origin *origin, uint64_t ppid, uint64_t exec,
		      struct tr_origin *exec_from, struct tr_directory *directory);

/*
 * Behind that: ppid depends on who made the process, which is not known yet. It may turn out to be
 * a thread, and the parent is its process. sibling: both have the same parent (CLONE_PARENT).
 */
void tr_origin_ask(struct tr_origin *origin, struct tr_origin *maker, bool sibling);

/* False: whether there is a ppid, and which, is not yet to be told. */
bool tr_origin_has_told(struct tr_origin *origin);

/* Nobody will tell. orphan: there should have been a parent. */
void tr_origin_give_up(struct tr_origin *origin, bool orphan);

/* The place becomes known by itself; directory is absolute or NULL. */
void tr_origin_place(struct tr_origin *origin, struct tr_directory *directory, bool guessed);

/* False: not yet to be told. *seq: the exec record current in the parent, or TR_EXEC_NONE. */
bool tr_origin_exec(struct tr_origin *origin, uint64_t *seq);

/*
 * The caller owns a reference of each. NULL: the directory is not known, because
 * the path is too long, or memory is out, which origins->failed says.
 */
struct tr_directory *tr_directory_new(struct tr_origins *origins, struct tr_text absolute);
struct tr_directory *tr_directory_of(struct tr_origin *origin);
struct tr_directory *tr_directory_enter(struct tr_origins *origins,
					const struct tr_directory *directory, struct tr_text path);

/* The same path, seen from the same origin. */
bool tr_directory_same(const struct tr_directory *a, const struct tr_directory *b);

struct tr_directory *tr_directory_retain(struct tr_directory *directory);
void tr_directory_release(struct tr_directory *directory); /* NULL is fine */

enum tr_certainty {
	TR_PLACE_KNOWN,
	TR_PLACE_GUESSED,
	TR_PLACE_UNKNOWN,
	TR_PLACE_OPEN, /* not yet to be told */
};

/* Appends the absolute path where it is known or guessed. directory NULL: unknown. */
enum tr_certainty tr_directory_resolve(const struct tr_directory *directory, struct tr_buffer *to);

/* Of a directory that is guessed: the path that the guess began with. Lives as long as that. */
struct tr_text tr_directory_guess(const struct tr_directory *directory);

/* True while resolve says TR_PLACE_OPEN. */
bool tr_directory_is_open(const struct tr_directory *directory);

/*
 * The process is at the absolute path now (or likely to be). Where directory
 * waits for the place of an origin and the paths agree, that is told by this.
 */
bool tr_directory_learn(const struct tr_directory *directory, struct tr_text absolute,
			bool guessed);

/*
 * directory waits for the place of an origin of its own: that is the other one (NULL: not
 * known), which may itself be open.
 */
void tr_directory_follow(const struct tr_directory *directory, struct tr_directory *other);

/* What directory waits for will not be told. */
void tr_directory_give_up(const struct tr_directory *directory);

/* It is that absolute path, for sure. */
bool tr_directory_is(const struct tr_directory *directory, struct tr_text absolute);

/*
 * Appends path as seen from base, both texts of a kernel's: nothing but slashes
 * separates. "." and ".." are taken away, but for those that lead out of a
 * relative base.
 */
void tr_directory_join(struct tr_text base, struct tr_text path, struct tr_buffer *to);

#endif
