/* SPDX-License-Identifier: MIT */
/*
 * Shared by trace_open.c (operands, archives, formats, traces of several files), trace_keep.c
 * (places that are read later) and trace.c (headers, records and trailers of a place that was
 * opened).
 */
#ifndef TR_FORMAT_TRACE_PRIVATE_H
#define TR_FORMAT_TRACE_PRIVATE_H

#include "core/archive.h"
#include "core/buffer.h"
#include "format/reader_base.h"
#include "format/trace.h"

/* The segment that is being read. */
struct tr_segment {
	bool open; /* it has a header */
	bool truncated;
	uint64_t count;
	uint64_t errors;
};

/*
 * Open archives, each but the first a member of the one before. Deeper ones are reported instead of
 * opened, because some contain themselves without end.
 */
enum { TR_TRACE_ARCHIVES = 4 };

struct tr_trace_archives {
	struct {
		struct tr_archive *archive;
		struct tr_input *in; /* owned by archive */
		size_t path;	     /* length of its name in path; 0: it is the operand */
		bool selected;	     /* --member names it, and so all its members */
		bool has_members;    /* a file in it was found, if only a damaged one */
	} list[TR_TRACE_ARCHIVES];
	unsigned count;
	struct tr_buffer path;
	bool matched; /* something in the operand was selected */
};

/* The state that opening an operand or member sets in a trace, and its result. */
struct tr_trace_opened {
	bool there;
	enum tr_status status;
	struct tr_error err;
	struct tr_trace_place place;
	struct tr_buffer name, member;
	struct tr_trace_archives archives; /* of an operand */
};

enum tr_trace_state {
	TR_TRACE_START, /* no reader yet */
	TR_TRACE_BODY,
	TR_TRACE_DAMAGE,  /* the reader has ended; damage of the window is reported */
	TR_TRACE_TRAILER, /* a trailer may be due */
	TR_TRACE_DONE,
};

struct tr_trace {
	struct tr_trace_config config;
	const char *const *operands;
	size_t operand_count, next_operand;

	bool stepped;
	struct tr_trace_place place;
	struct tr_buffer name, member; /* the texts of place, NUL-terminated */
	struct tr_input *in;	       /* of the operand or member; place.in, owned */
	struct tr_trace_archives archives;
	uint64_t version, members;	     /* of the operand, and those that were met in it */
	bool met_archive;		     /* some operand is one */
	struct tr_trace_opened ahead;	     /* the operand next_operand, opened before its turn */
	struct tr_trace_opened member_ahead; /* the archive's next member, the same */

	enum tr_trace_state state;
	struct tr_reader *reader;
	bool check_depth; /* the limit is smaller than the grammar's */
	struct tr_segment segment;
	struct tr_trace_seen seen; /* the segments of the place that have ended */
	uint64_t left_out;	   /* counted records that the sieve left out */
	struct tr_record *held;	   /* a header or trailer of the reader, to be returned later */
	bool trailer_due;	   /* before the held header */
	uint64_t upstream_errors;
	bool upstream_truncated;
	bool say_upstream; /* report these before held */

	struct tr_record made; /* header or trailer */
	struct tr_arena made_arena;
	struct tr_buffer made_line;

	uint64_t lost; /* operands and members that were not read, rests of damaged archives */

	uint64_t done_before; /* bytes of the operands that are done */
	uint64_t total;	      /* bytes of all operands; 0: unknown */
};

/*
 * Opens the next member of the open archives or, without one, the next operand, together with those
 * after it that are parts of the same trace. TR_END: it has no further member, or is an archive.
 */
enum tr_status tr_trace_open_next(struct tr_trace *trace, struct tr_error *err);
void tr_trace_close_place(struct tr_trace *trace);
/* Closes the place, the archives, and what was opened before its turn. */
void tr_trace_close_all(struct tr_trace *trace);

/* Opens an operand. TR_END: it is an archive, whose members come next. */
enum tr_status tr_trace_open_operand(struct tr_trace *trace, const char *operand,
				     struct tr_error *err);

/* Resets the state of the place that was read. */
void tr_trace_forget_place(struct tr_trace *trace);

/* Bytes of members of archives, which give one after the other. NULL: memory is exhausted. */
struct tr_trace_store *tr_trace_store_new(const struct tr_limits *limits);

/*
 * Stores the bytes of the window, which it frees, and returns a source of them, which keeps the
 * store. NULL: err is filled.
 */
struct tr_source *tr_trace_store_input(struct tr_trace_store *store, struct tr_input *in,
				       struct tr_error *err);
void tr_trace_store_release(struct tr_trace_store *store);

/* The name that a reader may use; NULL: none. */
static inline const char *tr_trace_file_name(const struct tr_trace *trace)
{
	return trace->place.member ? trace->place.member : trace->place.file;
}

#endif
