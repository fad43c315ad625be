/* SPDX-License-Identifier: MIT */
/*
 * Private to the etrace format: the log of the kernel tracer of Samsung's Code Aware Services. The
 * format is described in trace-formats(5), "etrace"; where the tracer's source and its published
 * documentation disagree, the description follows the source.
 *
 *	INITCWD=/srv/build
 *	0: 8413874,1,100,2800!Open|fnamesize=6,forigsize=8,flags=577,mode=438,fd=3
 *	0: 8413874,1,100,2801!FN|/w/b.c
 *	0: 8413874,1,100,2802!FO|/w/./b.c
 *
 * The path of the data when a log is read:
 *
 *	etrace.c	bid; per-CPU parts are merged into one log; bytes -> lines, which -O reorder
 *			sorts in a window; queue of records -> next
 *	line.c		line -> task, time, tag, text, with tables of tags, parameters, flags
 *	event.c		lines of one task -> its events; a fork gives the child its parent
 *	render.c	event -> record in the queue: put_fields() writes the fields of a kind;
 *			a tool that needs nothing but lines gets those (text_out in format.h)
 *
 * and when it is written:
 *
 *	writer.c	segments, lines of tasks whose fork is printed late
 *	where.c		paths are made absolute, as seen from a task's directory and descriptors
 *	print.c		record -> lines: the find_ function of a kind reads its fields
 *	fields.c	the fields of records; the times of a task's lines, which increase
 *
 * With --lines, etrace.c makes one record of every line, and writer.c a line of every such record.
 */
#ifndef TR_FORMAT_ETRACE_ETRACE_H
#define TR_FORMAT_ETRACE_ETRACE_H

#include "format/etrace/line.h"
#include "format/format.h"

struct tr_writer *tr_etrace_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err);

#endif
