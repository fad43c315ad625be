/* What the writer knows, and the lines that records become. Private to writer.c and render.c. */
#ifndef TR_FORMAT_BEAR_WRITER_H
#define TR_FORMAT_BEAR_WRITER_H

#include "format/bear/bear.h"
#include "process/command.h"
#include "process/follow.h"
#include "process/recent.h"
#include "record/framing.h"
#include "record/misfits.h"

struct tr_bear_writer {
	struct tr_output *out;
	struct tr_buffer line, literal;
	unsigned version_wanted; /* 0: as the segment has it */

	/* the segment */
	bool faithful; /* it was a bear trace: its environments are whole */
	unsigned version;
	struct tr_framing framing;
	struct tr_follow follow;
	struct tr_recent pids; /* of executions, by seq */
	struct tr_recent rids; /* of what runs, by pid */

	uint64_t next_rid; /* for executions that have none */
	uint64_t unknown;  /* executions whose environment is not known */
	bool finished, told;
	struct tr_misfits misfits;
};

/*
 * Makes writer->line of an exec record, whose environment has been followed.
 * TR_WARN: a value that JSON has no place for. TR_FATAL: memory.
 */
enum tr_status tr_bear_render_exec(struct tr_bear_writer *writer, struct tr_record *record,
				   const struct tr_command *command, struct tr_error *err);

/* The same of an exit record with a status or a signal. TR_END: of no known execution. */
enum tr_status tr_bear_render_exit(struct tr_bear_writer *writer, struct tr_record *record,
				   struct tr_error *err);

#endif
