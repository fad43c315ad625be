/*
 * Puts lines that came too late back into the order of their times: a window of
 * a fixed number of lines, of which the oldest leaves. Lines without a time stay
 * behind the line they came behind.
 */
#ifndef TR_FORMAT_ETRACE_REORDER_H
#define TR_FORMAT_ETRACE_REORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

enum { TR_ETRACE_REORDER_MAX = 1 << 20 };

struct tr_etrace_waiting {
	uint64_t sec, nsec;
	uint64_t number; /* of the line */
	bool cut;
	char *text; /* owned */
	size_t len;
};

struct tr_etrace_reorder {
	size_t window; /* lines that wait; 0: off */
	struct tr_etrace_waiting *heap;
	size_t count, cap;
	uint64_t sec, nsec; /* of the last line that had a time */
};

/* Copies line, whose time is given where timed. False: memory is out. */
bool tr_etrace_reorder_put(struct tr_etrace_reorder *reorder, struct tr_etrace_waiting line,
			   bool timed);

/* The oldest, when more wait than should, or with `all` when any does. Its text is the caller's. */
bool tr_etrace_reorder_take(struct tr_etrace_reorder *reorder, bool all,
			    struct tr_etrace_waiting *line);

void tr_etrace_reorder_free(struct tr_etrace_reorder *reorder);

#endif
