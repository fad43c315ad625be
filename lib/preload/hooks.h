/* SPDX-License-Identifier: MIT */
/*
 * The interface between hooks.c, file_hooks.c and real.c, which replace functions of libc. No other
 * file includes it.
 */
#ifndef TR_PRELOAD_HOOKS_H
#define TR_PRELOAD_HOOKS_H

#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "preload/launch.h"

#define HOOK __attribute__((visibility("default")))

/* The function that a hook replaces: libc's, or that of a library that is loaded later. */
#define REAL(name) ((__typeof__(&name))tr_hook_real(&real_##name, #name))
#define DECLARE_REAL(name) static void *_Atomic real_##name;

void *tr_hook_real(void *_Atomic *known, const char *name);
/* The program begins: all objects that exist now stay. */
void tr_hook_begin(void);

/* An element of a posix_spawn_file_actions_t, as every version of glibc has it. */
struct tr_spawn_action {
	enum {
		TR_SPAWN_CLOSES,
		TR_SPAWN_DUPLICATES,
		TR_SPAWN_OPENS,
		TR_SPAWN_CHANGES,
		TR_SPAWN_CHANGES_BY_FD,
		TR_SPAWN_CLOSES_FROM
	} tag;
	union {
		int fd;
		const char *directory;
		struct {
			int fd, other;
		} dup2;
		struct {
			int fd;
			const char *path;
			int flags;
			mode_t mode;
		} open;
	};
};

/*
 * file_hooks.c is in the library of --files alone: without it there are no further hooks, which
 * cost time when a program begins.
 */
#ifdef TREC_FILE_CALLS

/*
 * Begins to record file calls, if the session includes them, and the objects that are loaded
 * already.
 */
void tr_files_begin(const struct tr_journal *session);
/* Prepares the child of a fork to record its file calls. */
void tr_files_forked(void);
/* Stops recording file calls. False: they were not recorded. */
bool tr_files_stop(void);
/* Continues to record file calls. */
void tr_files_continue(void);
/* Records the objects that dlopen has loaded: before the program ends, or another one begins. */
void tr_files_loaded(void);
/* Records what libc does with descriptors in the process that it creates for the program. */
void tr_files_spawn(const struct tr_launch *launch, const posix_spawn_file_actions_t *actions);
/* A stream is about to be closed. */
void tr_files_closed(FILE *stream);
/* Makes the call if it is one that concerns files. False: it is not. */
bool tr_files_syscall(long number, const long *a, long *result);

#else

#define tr_files_begin(session) ((void)(session))
#define tr_files_forked() ((void)0)
#define tr_files_stop() false
#define tr_files_continue() ((void)0)
#define tr_files_loaded() ((void)0)
#define tr_files_spawn(launch, actions) ((void)(actions))
#define tr_files_closed(stream) ((void)(stream))
#define tr_files_syscall(number, a, result) (*(result) = 0, false)

#endif
#endif
