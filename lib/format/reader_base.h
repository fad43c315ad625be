/* SPDX-License-Identifier: MIT */
/*
 * The common part of readers, the counterpart of writer_base.h. A format's own struct has a
 * struct tr_reader as its member base: open returns &reader->base, and the other functions get
 * the format's struct from it with tr_container.
 *
 *	struct reader {
 *		struct tr_reader base;
 *		...
 *	};
 *
 *	open:	reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);
 *	next:	struct reader *reader = tr_container(base, struct reader, base);
 *		tr_arena_reset(&reader->base.arena);
 *		status = tr_reader_due(&reader->base, record, err);	what the last call left
 *		if (status != TR_END)
 *			return status;
 *		tr_reader_line(&reader->base, &text, &ended, err);
 *		tr_reader_begin(&reader->base, "exec"); ... fields into base->line ...
 *		return tr_reader_deliver(&reader->base, record, err);
 *		at the end: return tr_reader_note_orphans(base, count, "events whose ...", err);
 *
 * A remark is reported by the call after the one that found it. A record is held where it
 * follows a message of its own: the call that finds it returns the message, the next one the
 * record.
 */
#ifndef TR_FORMAT_READER_BASE_H
#define TR_FORMAT_READER_BASE_H

#include "format/format.h"

/*
 * Reads the next record of a trace. TR_OK: *record is set, and is valid until the next call.
 * TR_WARN: err states what is wrong, and there is no record. TR_NOTE in err->severity: nothing was
 * lost. TR_CAUSE_NONE: one more of what was reported before (CR LF), which is only counted.
 * TR_CAUSE_CUT: the input is truncated. TR_END, TR_FATAL. A damaged window ends like any other: the
 * trace reports why.
 *
 * With TR_FORMAT_HEADS the first record is a TR_HEADER with the fields that the format has once
 * (version=6 ...), without format, container and member, which the trace adds. A further TR_HEADER
 * closes the segment and opens another one.
 *
 * A reader may also be a state machine of steps (tr_reader_next). There a step sets the one that
 * follows if it is another one, and TR_END lets that run at once.
 */
typedef enum tr_status tr_reader_step(struct tr_reader *reader, struct tr_record **record,
				      struct tr_error *err);

struct tr_reader {
	tr_reader_step *next;
	void (*close)(struct tr_reader *reader); /* frees what the format's own struct holds */
	struct tr_input *in;
	tr_reader_step *step; /* for tr_reader_next; NULL: the input is over */
	uint64_t max_record;
	struct tr_arena arena;	 /* of the record; limited by --max-record */
	struct tr_record record; /* the one that next returns */
	struct tr_buffer line;	 /* the record's line, without its LF until it is delivered */
	uint64_t source_line;	 /* position of the record in line; TR_NO_POSITION: none */
	uint64_t source_offset;
	uint64_t seq;		/* number of the next record */
	uint64_t handed_over;	/* records that were not made, since the last one that was */
	uint64_t lines;		/* source lines that were read or skipped */
	struct tr_error remark; /* to be reported by the next call; no cause: none */
	bool held;		/* line is a whole record for the next call */
	/*
	 * Takes records as lines (struct tr_read_config); NULL: nothing does. It is set by readers
	 * whose records all have lines, and none is a leave.
	 */
	struct tr_output *const *text_out;
	bool noted_orphans;
};

/*
 * The format's own struct of that size, all zero except for its member base, which comes first.
 * close may be NULL. NULL: memory is exhausted, err is filled.
 */
void *tr_reader_new(size_t size, tr_reader_step *next, void (*close)(struct tr_reader *reader),
		    const struct tr_read_config *config, struct tr_input *in, struct tr_error *err);

/*
 * The bid of a format of lines: weighs the bytes of the window, and again each time another line is
 * complete, because a slow pipe delivers bytes one by one. It stops when weigh returns bits, probe
 * bytes are there, or the input ends. The last line may be cut.
 */
int tr_bid_by_lines(struct tr_input *in, size_t probe,
		    int (*weigh)(const char *begin, const char *end, void *context), void *context);

/* Reads ahead until the window has so many bytes, if the input and limits.max_record allow it. */
void tr_reader_look(struct tr_reader *reader, size_t want);

/*
 * The next line of the window without its LF, counted in lines; valid until the next read.
 * *ended: it has an LF. As tr_input_line, with the position in err.
 */
enum tr_status tr_reader_line(struct tr_reader *reader, struct tr_text *line, bool *ended,
			      struct tr_error *err);

/* Begins line with the kind and the next seq, each with a TAB after it. */
void tr_reader_begin(struct tr_reader *reader, const char *kind);

/* Makes line a raw record: a text that could not be interpreted, and the reason. */
void tr_reader_put_raw(struct tr_reader *reader, struct tr_text text, const char *reason);

/* Ends line and makes it the record. TR_OK; TR_FATAL: memory or a limit. */
enum tr_status tr_reader_deliver(struct tr_reader *reader, struct tr_record **record,
				 struct tr_error *err);

/*
 * Returns what an earlier call has left: a remark (TR_WARN), then a held record (TR_OK).
 * TR_END: nothing, or the record was written to text_out.
 */
enum tr_status tr_reader_due(struct tr_reader *reader, struct tr_record **record,
			     struct tr_error *err);

/*
 * Makes err, which is filled, a remark of that severity on the record in line, which loses nothing.
 * The next call returns the record. TR_WARN.
 */
enum tr_status tr_reader_hold(struct tr_reader *reader, enum tr_severity severity,
			      struct tr_error *err);

/*
 * next for a reader with steps: returns what is due, then runs steps, each
 * with an empty line, until one returns a record or an error.
 */
enum tr_status tr_reader_next(struct tr_reader *reader, struct tr_record **record,
			      struct tr_error *err);

/*
 * Notes once, at the end, how many records have a parent that is not in the trace. which: a
 * string constant such as "events whose parent is not in the trace". TR_WARN, or TR_END.
 */
enum tr_status tr_reader_note_orphans(struct tr_reader *reader, uint64_t count, const char *which,
				      struct tr_error *err);

/*
 * A note about the whole input: sets err, with TR_DETAIL if only --verbose shows it. False: there
 * is none, or it was returned before. It is called again until it returns false.
 */
typedef bool tr_reader_note(struct tr_reader *reader, struct tr_error *err);

/*
 * At the end of the input, returns one note after another. notes: a list that ends in NULL.
 * TR_WARN; TR_END: there is no further one.
 */
enum tr_status tr_reader_note_end(struct tr_reader *reader, tr_reader_note *const *notes,
				  struct tr_error *err);

/*
 * True if no whole line is in the window and none comes within a second. Records that are pending
 * on a parent are then released: no pipe from a running program pauses for so long.
 */
bool tr_reader_is_idle(const struct tr_reader *reader);

/* As tr_reader_is_idle, with that time instead of a second. */
bool tr_reader_pauses(const struct tr_reader *reader, unsigned milliseconds);

#endif
