/* SPDX-License-Identifier: MIT */
/* Prints a record as lines of the log. */
#ifndef TR_FORMAT_ETRACE_PRINT_H
#define TR_FORMAT_ETRACE_PRINT_H

#include "core/buffer.h"
#include "format/etrace/clock.h"
#include "format/etrace/line.h"
#include "format/etrace/where.h"
#include "record/record.h"

/*
 * Appends the lines of a record of kind exec, fork, exit, comm, envset or sys. where: NULL if the
 * stream comes from a log, whose paths are absolute. *back: see tr_etrace_clock_start. TR_END: the
 * log has no place for it; *reason says why. TR_WARN: it lacks something that the log needs, or a
 * value is bad; err says which, and nothing was appended. TR_FATAL: memory.
 */
enum tr_status tr_etrace_print_record(struct tr_record *record, struct tr_etrace_clock *clock,
				      struct tr_buffer *to, struct tr_etrace_where *where,
				      bool *back, const char **reason, struct tr_error *err);

/* Appends the line of a fork at that time, if it can state it. False: memory is out. */
bool tr_etrace_print_fork(struct tr_etrace_clock *clock, struct tr_buffer *to, uint64_t parent,
			  uint64_t child, bool timed, struct tr_etrace_moment own);

/* Appends a line that was not understood, and an LF; its time is raised if it has to be. */
bool tr_etrace_print_raw(struct tr_etrace_clock *clock, struct tr_buffer *to, struct tr_text text,
			 bool *back);

#endif
