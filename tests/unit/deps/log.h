/* SPDX-License-Identifier: MIT */
/*
 * Logs for the tests of lib/deps. A line is "KIND TASK NAME FIELD..." with blanks; the seq is the
 * number of the line, from 0.
 */
#ifndef TR_TESTS_DEPS_LOG_H
#define TR_TESTS_DEPS_LOG_H

#include <stdio.h>
#include <string.h>

#include "deps/tracker.h"

/* Puts the line into a record, which borrows line. False: it has no kind, task and name. */
static inline bool log_record(const char **at, unsigned seq, char *line, size_t cap,
			      struct tr_record *record, struct tr_arena *arena)
{
	size_t len = strcspn(*at, "\n"), n = 0;
	int blanks = 0;
	struct tr_error err;

	for (size_t i = 0; i < len && n + 32 < cap; i++) {
		line[n++] = (*at)[i] == ' ' ? '\t' : (*at)[i];
		if ((*at)[i] == ' ' && blanks++ == 0)
			n += (size_t)sprintf(line + n, "%u\t-\t", seq);
	}
	line[n++] = '\n';
	memset(line + n, 0, cap - n);
	*at += len + ((*at)[len] == '\n');
	tr_record_init(record, arena);
	return tr_record_from_line(record, (struct tr_text){ line, n }, &err);
}

/* Puts a log, and ends it. False: a record was damaged, or memory is exhausted. */
static inline bool log_put(struct tr_deps_tracker *tracker, const char *log)
{
	char line[512];
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_record record;
	struct tr_error err;
	bool fine = true;

	for (unsigned seq = 0; fine && *log; seq++) {
		fine = log_record(&log, seq, line, sizeof line, &record, &arena) &&
		       tr_deps_put(tracker, &record, &err) != TR_FATAL;
		tr_arena_reset(&arena);
	}
	tr_arena_free(&arena);
	return fine && tr_deps_finish(tracker, &err) != TR_FATAL;
}

#endif
