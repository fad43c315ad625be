/*
 * Private to the etrace format: the log of the kernel tracer of Samsung's Code
 * Aware Services. The facts are in trace-formats(5), "etrace"; they were read in
 * the tracer's source where that and its published page disagree.
 *
 *	INITCWD=/srv/build
 *	0: 8413874,1,100,2800!Open|fnamesize=6,forigsize=8,flags=577,mode=438,fd=3
 *	0: 8413874,1,100,2801!FN|/w/b.c
 *	0: 8413874,1,100,2802!FO|/w/./b.c
 *
 * The way of a line: reorder (only when asked for) -> line -> group, which adds
 * it to the event that its task is in the middle of (progress) -> render, when the
 * event is whole -> queue -> a record. With --lines: line -> a record.
 */
#ifndef TR_FORMAT_ETRACE_ETRACE_H
#define TR_FORMAT_ETRACE_ETRACE_H

#include "format/format.h"

int tr_etrace_bid(struct tr_input *in);

struct tr_reader *tr_etrace_open(const struct tr_read_config *config, struct tr_input *in,
				 struct tr_error *err);
enum tr_status tr_etrace_next(struct tr_reader *reader, struct tr_record **record,
			      struct tr_error *err);
void tr_etrace_close(struct tr_reader *reader);

int64_t tr_etrace_part(const struct tr_read_config *config, struct tr_input *in);
struct tr_source *tr_etrace_merge(struct tr_input *const *parts, const int64_t *numbers,
				  size_t count);

struct tr_writer *tr_etrace_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err);
void tr_etrace_discard(struct tr_writer *writer);

#endif
