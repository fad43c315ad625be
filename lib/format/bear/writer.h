/* What the writer knows, and the lines that records become. Private to writer.c and render.c. */
#ifndef TR_FORMAT_BEAR_WRITER_H
#define TR_FORMAT_BEAR_WRITER_H

#include "format/bear/bear.h"
#include "format/segment_writer.h"
#include "process/command.h"
#include "process/follow.h"
#include "process/recent.h"

struct tr_bear_writer {
	struct tr_segment_writer base;
	struct tr_buffer line, literal;
	unsigned version_wanted; /* 0: as the segment has it */

	/* the segment */
	unsigned version;
	struct tr_follow follow;
	struct tr_recent pids; /* of executions, by seq */
	struct tr_recent rids; /* of what runs, by pid */

	uint64_t next_rid; /* for executions that have none */
	uint64_t unknown;  /* executions whose environment is not known */
	bool told;
};

/*
 * Makes writer->line of an exec record, whose environment has been followed.
 * TR_WARN: a value that JSON cannot hold. TR_FATAL: memory.
 */
enum tr_status tr_bear_render_exec(struct tr_bear_writer *writer, struct tr_record *record,
				   const struct tr_command *command, struct tr_error *err);

/* The same of an exit record with a status or a signal. TR_END: of no known execution. */
enum tr_status tr_bear_render_exit(struct tr_bear_writer *writer, struct tr_record *record,
				   struct tr_error *err);

#endif
