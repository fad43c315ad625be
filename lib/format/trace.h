/* SPDX-License-Identifier: MIT */
/*
 * Operands in, records out: opens files and stdin, takes containers and
 * archives apart, finds the format, and gives one stream of lines for all of
 * it, each segment with its header and its trailer.
 *
 * What it promises of a segment: a header (made here unless the format has its
 * own), records in order, and a trailer that carries errors=N and truncated=true
 * where something was lost, here or upstream. In a stream, where nothing is lost
 * here, what is missing or wrong stays so, because those who come after have to
 * see it: anonymous segments get no header, a trailer that is not there is made
 * only where there are errors to tell, and only then a wrong count is put right.
 */
#ifndef TR_FORMAT_TRACE_H
#define TR_FORMAT_TRACE_H

#include "format/format.h"

struct tr_trace_config {
	struct tr_read_config read;
	const struct tr_format *format; /* forced with -f, or NULL */
	const char *const *members;	/* --member globs; any match selects; none: all */
	size_t member_count;
	bool threads; /* decode on a thread of its own where a core is idle */
	bool apart; /* each file is a place of its own, also where several are parts of one trace */
	bool unknown_members; /* step to archive members of no known format too */
	/*
	 * What could not be opened, or is of no known format, has no segment whose
	 * trailer could tell of it to those who come after: a last place, a stream
	 * without a window, has nothing but a trailer that does.
	 */
	bool tells_lost;
	/* see tr_input_on_wait; called on the thread that reads the trace, and on no other */
	void (*on_wait)(void *context);
	void *wait_context;
};

/* One operand or archive member that was opened. */
struct tr_trace_place {
	const char *name;    /* for messages: FILE, "FILE:MEMBER", "stdin" */
	const char *file;    /* operand, NULL for stdin */
	const char *member;  /* NULL where the operand is no archive */
	const char *archive; /* "tar" …, NULL */
	int64_t mtime;
	int64_t size;			      /* of the file, -1 where not known */
	const struct tr_codec *codec;	      /* container, or NULL */
	const struct tr_codec *archive_codec; /* container around the archive, or NULL */
	const struct tr_format *format;	      /* NULL: not recognised */
	struct tr_input *in; /* the window, for tools that copy bytes; see tells_lost */
	bool bom;	     /* a byte order mark stood before the window and was skipped */
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

/* The current place, or the one just left; NULL before the first. */
const struct tr_trace_place *tr_trace_here(const struct tr_trace *trace);

/* Whether any operand so far was an archive, readable or not. */
bool tr_trace_met_archive(const struct tr_trace *trace);

/* How much of the current place was read, and what that was. */
struct tr_trace_seen {
	uint64_t records; /* of all segments so far, less those that were lost */
	bool truncated;	  /* one of the segments is */
	bool parsed;	  /* records were asked for; if not, its bytes may have been copied */
	bool complete;	  /* they were, to the end */
};
struct tr_trace_seen tr_trace_seen(const struct tr_trace *trace);

/*
 * How far it is: bytes read of all operands, compressed ones as they are in
 * the file; total is 0 where a size is not known.
 */
void tr_trace_progress(const struct tr_trace *trace, uint64_t *done, uint64_t *total);

/*
 * Tells the trace that the record it gave last could not be used and goes no
 * further: an error more and a record less in the segment's trailer.
 */
void tr_trace_lost(struct tr_trace *trace, const struct tr_record *record);

/*
 * What the trailer of the segment would have to tell if the segment ended here:
 * for who reads no further.
 */
void tr_trace_damage(const struct tr_trace *trace, uint64_t *errors, bool *truncated);

void tr_trace_free(struct tr_trace *trace);

#endif
