/* A record as lines of the log. */
#ifndef TR_FORMAT_ETRACE_WRITE_EVENT_H
#define TR_FORMAT_ETRACE_WRITE_EVENT_H

#include "core/buffer.h"
#include "record/record.h"

/*
 * Appends the lines of a record of kind exec, fork, exit, comm, envset or sys.
 * TR_END: the log has no place for it. TR_WARN: it lacks what the log needs, or
 * a value is bad (err says which); nothing was appended. TR_FATAL: memory.
 */
enum tr_status tr_etrace_write_event(struct tr_record *record, struct tr_buffer *to,
				     struct tr_error *err);

#endif
