/* SPDX-License-Identifier: MIT */
/*
 * The phases of compilers, as Clang writes them with -ftime-trace: JSON files of trace events,
 * whose "beginningOfTime" and process show to which run of a trace they belong. Only the files that
 * the user names are read. They are read again when their run is drawn, so that memory does not
 * grow with them.
 */
#ifndef TR_VIEW_PHASES_H
#define TR_VIEW_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"

/* All zero at first. */
struct tr_phases {
	struct tr_phases_file {
		char *path;
		uint64_t process;
		int64_t began; /* nanoseconds since 1970 */
		bool drawn;
	} * files;
	size_t count, cap;
};

/*
 * Adds a file. False: it cannot be read or is no such file, or memory is exhausted; err is filled.
 */
bool tr_phases_add(struct tr_phases *phases, struct tr_text path, struct tr_error *err);

/* Finds the file of a process that began within these times. NULL: there is none. */
struct tr_phases_file *tr_phases_find(const struct tr_phases *phases, uint64_t process,
				      int64_t began, int64_t ended);

/* A phase: its name and detail as bytes (detail: data NULL if it has none), and its times. */
struct tr_phase {
	struct tr_text name, detail;
	int64_t began, duration;
};

/* Calls put for each phase, except for sums over all phases. False: err is filled. */
bool tr_phases_each(const struct tr_phases_file *file,
		    void (*put)(void *context, const struct tr_phase *phase), void *context,
		    struct tr_error *err);

/*
 * Appends the longest phases of a process that ran within these times as a JSON list, in the order
 * of their beginning: [[BEGAN,DURATION,"NAME","DETAIL" or null],...], in nanoseconds since the
 * process began. Nothing is appended if no file belongs to it. False: err is filled.
 */
bool tr_phases_longest(const struct tr_phases *phases, uint64_t process, int64_t began,
		       int64_t ended, struct tr_buffer *to, struct tr_error *err);

/* Returns the number of files that belong to no run that was drawn. */
size_t tr_phases_left(const struct tr_phases *phases);

void tr_phases_free(struct tr_phases *phases);

#endif
