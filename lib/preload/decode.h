/* SPDX-License-Identifier: MIT */
/*
 * Converts the records of the journal to a log in the format of strace, so that the same reader makes
 * the stream, with the same kinds and fields, whatever has watched the command.
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

/* Data about an event that its line cannot hold. In a buffer, followed by len bytes. */
struct tr_decode_note {
	uint64_t line;	/* where the event begins; the first line of the log is 1 */
	uint32_t len;	/* of the names and contents of response files, each with a NUL */
	uint32_t flags; /* TR_DECODE_… */
};

enum {
	TR_DECODE_UNWATCHED = 1, /* what the process started may be missing */
	TR_DECODE_ORPHAN = 2,	 /* nothing else is known about the process */
	/* how and when the process ended is unknown, and the line is made up */
	TR_DECODE_END_UNKNOWN = 4,
	TR_DECODE_TRACED = 8, /* strace traced the process that ended */
};

/* Zero it, and set mark. */
struct tr_decode {
	uint32_t mark;		  /* of the session */
	struct tr_collect *calls; /* file calls; NULL: they are not recorded */
	bool read_all;		  /* data ends where the journal ended after the last pass */
	uint64_t lines;		  /* of the log that were counted */
	size_t counted;		  /* the length of out up to which lines were counted */
	/* appends the caller's own lines up to that time; NULL: it has none */
	void (*insert)(void *context, uint64_t time, struct tr_buffer *out);
	void *context;
	struct tr_buffer attach;    /* for the caller: pid_t of processes that wait for strace */
	struct tr_buffer detach;    /* for the caller: those that need not be watched after all */
	struct tr_buffer notes;	    /* for the caller, which takes them before the lines */
	struct tr_id_map processes; /* by pid */
	struct tr_id_map announced; /* execs in new processes, by token */
	uint32_t first, recorder;   /* the first process, and its parent */
	size_t early;		    /* processes whose first record came before their parent's */
	struct tr_decode_process *first_exit, *last_exit; /* their status may still change */
	uint64_t now;					  /* the time of the last record */
	uint64_t torn;					  /* places at which bytes were skipped */
	uint64_t opaque;    /* programs that cannot load the library */
	uint64_t unnoticed; /* processes whose end is unknown */
	uint64_t bypassing; /* programs that make system calls themselves */
	uint64_t filtered;  /* processes that filter system calls, and report nothing after that */
	uint64_t unplaced;  /* file calls whose process is unknown */
	bool more;	    /* out is long enough to be written, and more can be decoded */
	bool out_of_memory;

	/* private */
	size_t begun; /* the length of out before this call */
	struct tr_links links;
	struct tr_buffer prefix;
};

/*
 * Appends the lines for the records in data, and for the file calls up to the horizon, to out. final:
 * nothing follows. Returns how many bytes of data were used. The rest is an incomplete record or
 * later than the horizon, unless decode->more is set.
 */
size_t tr_decode(struct tr_decode *decode, const char *data, size_t len, bool final,
		 struct tr_buffer *out);

/*
 * Reports the end of a child of the recorder. time: in nanoseconds since the epoch; created: an
 * inserted line has already reported the beginning of the process.
 */
void tr_decode_ended(struct tr_decode *decode, uint32_t pid, int wait_status, uint64_t time,
		     bool created, struct tr_buffer *out);

/* Lets the caller insert its lines, up to the time before which all file calls are known. */
void tr_decode_flush(struct tr_decode *decode, struct tr_buffer *out);

/* Whether strace reports the process. */
bool tr_decode_is_traced(const struct tr_decode *decode, uint32_t pid);

/* Whether the process is known; whether it is known and has not ended. */
bool tr_decode_knows(const struct tr_decode *decode, uint32_t pid);
bool tr_decode_is_running(const struct tr_decode *decode, uint32_t pid);

/* Appends what was held back. ended: no process of the recording is running. */
void tr_decode_finish(struct tr_decode *decode, bool ended, struct tr_buffer *out);
void tr_decode_free(struct tr_decode *decode);

/* print.c: file calls as strace -y prints them. */

/*
 * Appends the call as one or more lines, each of which begins with prefix. cwd: the directory of the
 * process, "" if unknown; real: the path of the opened file without symbolic links, or NULL.
 */
void tr_call_print(const struct tr_call_record *call, struct tr_text prefix, const char *cwd,
		   const char *real, struct tr_buffer *out);

/* Appends the content of a string with the escapes of strace. */
void tr_print_escaped(struct tr_buffer *out, const char *string);
/* Appends the result of a call, which is 0 or an errno, and the end of the line. */
void tr_print_result(struct tr_buffer *out, int error);

#endif
