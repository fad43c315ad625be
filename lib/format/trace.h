/* SPDX-License-Identifier: MIT */
/*
 * Reads operands and returns records: opens files and stdin, unpacks containers and archives,
 * detects the format, and returns one stream of lines for all operands, each segment with its
 * header and trailer.
 *
 *	operands -> trace_open.c: window, format, parts of one trace -> places
 *	place -> its reader -> trace.c: header, records, trailer of each segment -> lines
 *
 * A segment has a header (made here unless the format has its own), records in order, and a trailer
 * with errors=N and truncated=true if something was lost here or upstream. A stream that is read
 * without losses keeps its own flaws, so that later tools see them: anonymous segments get no
 * header; a missing trailer is made, and a wrong count corrected, only if there are errors to
 * report.
 */
#ifndef TR_FORMAT_TRACE_H
#define TR_FORMAT_TRACE_H

#include "format/format.h"

/* Which files are read as one place if they are parts of one trace (`part` of struct tr_format). */
enum tr_trace_joins {
	TR_JOINS_FILES,	  /* operands, and members of an archive */
	TR_JOINS_MEMBERS, /* members of an archive only */
	TR_JOINS_NOTHING,
};

struct tr_trace_config {
	struct tr_read_config read;
	const struct tr_format *format; /* forced with -f, or NULL */
	const char *const *members;	/* --member globs; any match selects; none: all */
	size_t member_count;
	bool threads; /* decode on a thread of its own where a core is idle */
	enum tr_trace_joins joins;
	bool unknown_members; /* step to archive members of no known format too */
	/*
	 * Adds a last place, a stream without a window. Its only line is a trailer that counts
	 * what could not be opened or has no known format, because no other segment has a trailer
	 * that could report this to later tools.
	 */
	bool reports_lost;
	/* see tr_input_on_wait; called on the thread that reads the trace, and on no other */
	void (*on_wait)(void *context);
	void *wait_context;
};

/* One operand or archive member that was opened. */
struct tr_trace_place {
	const char *name;    /* for messages: FILE, "FILE:MEMBER", "stdin" */
	const char *file;    /* operand, NULL for stdin */
	const char *member;  /* NULL: the operand is not an archive */
	const char *archive; /* "tar" …, NULL */
	int64_t mtime;
	int64_t size; /* of the file; -1: unknown */
	/*
	 * A hash of the size and time of the regular file, and of the member's number in it: another
	 * version of the file has another one. 0: there is none.
	 */
	uint64_t version;
	const struct tr_codec *codec;	      /* container, or NULL */
	const struct tr_codec *archive_codec; /* container around the archive, or NULL */
	const struct tr_format *format;	      /* NULL: not recognised */
	struct tr_input *in; /* the window, for tools that copy bytes; see reports_lost */
	bool bom;	     /* a byte order mark before the window was skipped */
};

struct tr_trace;

/* operands: "-" is stdin. config's texts are borrowed. NULL: memory. */
struct tr_trace *tr_trace_open(const char *const *operands, size_t count,
			       const struct tr_trace_config *config);

/*
 * Steps to the next operand or member. TR_OK: *place is set until the next
 * step; its format may be NULL (then tr_trace_next reports and gives nothing).
 * TR_WARN: one could not be opened, call again. TR_END.
 */
enum tr_status tr_trace_step(struct tr_trace *trace, struct tr_trace_place **place,
			     struct tr_error *err);

/*
 * The next line of the current place. TR_WARN: err is filled, call again.
 * TR_END: step on. TR_FATAL: this place gives no more: step on.
 */
enum tr_status tr_trace_next(struct tr_trace *trace, struct tr_record **record,
			     struct tr_error *err);

/* Whether the current place has a reader: tr_trace_next was called and its format could open it. */
bool tr_trace_is_open(const struct tr_trace *trace);

/* The current place, or the one just left; NULL before the first. */
const struct tr_trace_place *tr_trace_here(const struct tr_trace *trace);

/* Whether any operand so far was an archive, readable or not. */
bool tr_trace_met_archive(const struct tr_trace *trace);

/* How much of the current place was read, and how. */
struct tr_trace_seen {
	uint64_t records; /* of all segments so far, without those that were lost */
	bool parsed;	  /* records were asked for; if not, its bytes may have been copied */
	bool complete;	  /* they were, to the end */
};
struct tr_trace_seen tr_trace_seen(struct tr_trace *trace);

/*
 * Places that a child process reads while the trace steps on. They go through a file that both
 * processes have open, from one end to the other.
 *
 *	tr_trace_step -> tr_trace_send -> file -> tr_trace_receive -> tr_trace_next
 */
enum { TR_TRACE_SENT_MAX = 64 << 20 }; /* bytes of a member that are sent */

/*
 * Appends the current place, of which nothing was read, to the file at *end, and advances *end: the
 * name of a file, or the bytes of a member. TR_OK: the trace may step on. TR_END: this process must
 * read the place now, because it is a pipe or a large member, or the file has no room. TR_FATAL:
 * memory is exhausted.
 */
enum tr_status tr_trace_send(struct tr_trace *trace, int fd, uint64_t *end, struct tr_error *err);

/*
 * Makes the place that begins at *begin in the file the current one, in a child process;
 * *begin moves to its end. TR_WARN, TR_FATAL: it cannot be read; err is filled.
 */
enum tr_status tr_trace_receive(struct tr_trace *trace, int fd, uint64_t *begin,
				struct tr_trace_place **place, struct tr_error *err);

/*
 * The progress: bytes read of all operands, of compressed ones as in the file. total is 0 if a size
 * is unknown.
 */
void tr_trace_progress(const struct tr_trace *trace, uint64_t *done, uint64_t *total);

/*
 * Marks the record that was returned last as lost: the segment's trailer counts one error more and
 * one record less.
 */
void tr_trace_lost(struct tr_trace *trace, const struct tr_record *record);

/*
 * The damage that the trailer of the segment would report if the segment ended here, for callers
 * that stop reading.
 */
void tr_trace_damage(const struct tr_trace *trace, uint64_t *errors, bool *truncated);

void tr_trace_free(struct tr_trace *trace);

#endif
