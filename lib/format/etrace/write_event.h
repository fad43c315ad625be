/* A record as lines of the log. */
#ifndef TR_FORMAT_ETRACE_WRITE_EVENT_H
#define TR_FORMAT_ETRACE_WRITE_EVENT_H

#include "core/buffer.h"
#include "format/etrace/clock.h"
#include "format/etrace/where.h"
#include "record/record.h"

/*
 * where: NULL where the stream comes from a log, which states absolute paths.
 * Appends the lines of a record of kind exec, fork, exit, comm, envset or sys.
 * *back: see tr_etrace_clock_start. TR_END: the log has no place for it;
 * *reason says why.
 * TR_WARN: it lacks what the log needs, or a value is bad (err says which);
 * nothing was appended. TR_FATAL: memory.
 */
enum tr_status tr_etrace_write_event(struct tr_record *record, struct tr_etrace_clock *clock,
				     struct tr_buffer *to, struct tr_etrace_where *where,
				     bool *back, const char **reason, struct tr_error *err);

#endif
