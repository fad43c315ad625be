/*
 * tr-parse --lines: a line of the log as a record, and a record as the line it
 * came from, to the byte. A line in the tracer's own spelling is taken apart:
 *
 *	line	7	100.000002400	8413874	A	cpu=1	index=0	text="sh"
 *
 * index stands for [0], text is what follows it or the bar; without text there
 * was neither. `.prefix` is what stood in front of the upid where that was not
 * "0: ", `.lf=false` says that the line had no end. INITCWD= has its value in
 * text, and all that is spelled in another way has no time, task and name, and
 * the whole line in text.
 */
#ifndef TR_FORMAT_ETRACE_VERBATIM_H
#define TR_FORMAT_ETRACE_VERBATIM_H

#include "format/etrace/line.h"
#include "record/record.h"

/* Appends the record. end: the line has its LF. */
void tr_etrace_verbatim_record(const struct tr_etrace_line *line, uint64_t seq, bool end,
			       struct tr_buffer *to);

/* Appends the line. TR_WARN: a cell or field is not as it has to be. TR_FATAL: memory. */
enum tr_status tr_etrace_verbatim_line(struct tr_record *record, struct tr_buffer *to,
				       struct tr_error *err);

#endif
