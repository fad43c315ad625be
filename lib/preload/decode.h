/* SPDX-License-Identifier: MIT */
/*
 * The records of the journal as a log in the words of strace. One reader therefore makes the stream,
 * with the same kinds and fields, whoever watched the command.
 */
#ifndef TR_PRELOAD_DECODE_H
#define TR_PRELOAD_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/map.h"
#include "preload/collect.h"
#include "preload/links.h"

struct tr_decode_process;

/* Data about an event that its line does not have. In a buffer, followed by len bytes. */
struct tr_decode_note {
	uint64_t line;	/* on which it begins; the first line of the log is 1 */
	uint32_t len;	/* of names and contents of response files, each with a NUL */
	uint32_t flags; /* TR_DECODE_… */
};

enum {
	TR_DECODE_UNWATCHED = 1, /* what the process started may be missing */
	TR_DECODE_ORPHAN = 2,	 /* nothing else is known of the process */
	TR_DECODE_END_UNKNOWN =
		4,	      /* the line says how and when the process ended, but is made up */
	TR_DECODE_TRACED = 8, /* the process whose end this is was traced by strace */
};

/* Zero it, and set mark. */
struct tr_decode {
	uint32_t mark;		  /* of the session */
	struct tr_collect *calls; /* file calls; NULL: they are not recorded */
	bool read_all;		  /* data ends where the journal ended after the pass of calls */
	uint64_t lines;		  /* of the log, as far as they are counted */
	size_t counted;		  /* the bytes of out in which they are counted */
	/* appends the caller's lines up to that time; NULL: there are none */
	void (*insert)(void *context, uint64_t time, struct tr_buffer *out);
	void *context;
	struct tr_buffer attach;    /* pids that wait for strace, for the caller; pid_t */
	struct tr_buffer detach;    /* those that are not to be watched after all */
	struct tr_buffer notes;	    /* appended here; the caller takes them before the lines */
	struct tr_id_map processes; /* by pid */
	struct tr_id_map announced; /* programs that start in new processes, by token */
	uint32_t first, recorder;   /* the first process, and its parent */
	size_t early;		    /* processes that were seen before their parent */
	struct tr_decode_process *first_exit, *last_exit; /* whose status may still change */
	uint64_t now;					  /* the time of the last record */
	uint64_t torn;					  /* places at which bytes were skipped */
	uint64_t opaque;    /* programs that cannot load the library */
	uint64_t unnoticed; /* processes whose end is unknown */
	uint64_t bypassing; /* programs that make system calls themselves */
	uint64_t filtered;  /* processes that set a filter for system calls, and report no more */
	uint64_t unplaced;  /* file calls whose process is unknown */
	bool more;	    /* there is enough to write, and more to decode */
	bool out_of_memory;

	/* private */
	size_t begun; /* the bytes of out before */
	struct tr_links links;
	struct tr_buffer prefix;
};

/*
 * Appends the lines for the records in data, and for the file calls up to the horizon, to out. final:
 * nothing follows. Returns how many bytes were used; the rest is the beginning of a record, or later
 * than the horizon, or there is more.
 */
size_t tr_decode(struct tr_decode *decode, const char *data, size_t len, bool final,
		 struct tr_buffer *out);

/*
 * The recorder has learned the end of a child of its own; time: nanoseconds since the epoch. created:
 * a line that was inserted has said that the process began.
 */
void tr_decode_ended(struct tr_decode *decode, uint32_t pid, int wait_status, uint64_t time,
		     bool created, struct tr_buffer *out);

/* Lets the caller append all lines that it has, but none that file calls may precede. */
void tr_decode_flush(struct tr_decode *decode, struct tr_buffer *out);

/* Whether strace reports the process. */
bool tr_decode_is_traced(const struct tr_decode *decode, uint32_t pid);

/* Whether a process of that number is known, or known and has not ended. */
bool tr_decode_knows(const struct tr_decode *decode, uint32_t pid);
bool tr_decode_is_running(const struct tr_decode *decode, uint32_t pid);

/* Appends what was held back. ended: no process of the recording runs any more. */
void tr_decode_finish(struct tr_decode *decode, bool ended, struct tr_buffer *out);
void tr_decode_free(struct tr_decode *decode);

#endif
