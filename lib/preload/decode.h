/* SPDX-License-Identifier: MIT */
/*
 * Converts the records of the journal and the file calls of the lanes (journal.h) to a log in the
 * format of strace, so that the same reader makes the stream, with the same kinds and fields as
 * with
 * --backend=strace:
 *
 *	journal ----------> decode.c: processes and their programs, in the order of time
 *	lanes -> collect.c ---^  |      the file calls of all lanes, sorted
 *	         links.c --------+      paths without symbolic links
 *	                         +----> print.c: lines of the log
 */
#ifndef TR_PRELOAD_DECODE_H
#define TR_PRELOAD_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/map.h"
#include "preload/lanes.h"

/*
 * collect.c: the file calls of all lanes, in the order of their times. Calls are collected in
 * passes. If a pass finds no record that is still being written, all calls up to the time at which
 * the pass began are known, because a process that saw the effect of such a call began its own
 * record later.
 */

struct tr_collected {
	uint64_t time;
	size_t place; /* in bytes */
};

/* Zero it, and set fd, page and mark. */
struct tr_collect {
	int fd;			    /* of the file; not closed */
	struct tr_lanes_page *page; /* a mapping of its beginning; not unmapped */
	uint32_t mark;
	struct tr_buffer bytes;	   /* records that were read */
	struct tr_collected *list; /* by time; the calls from next to count were not taken yet */
	size_t next, count, cap;
	uint64_t horizon;	/* all calls up to this time are known */
	uint64_t stuck;		/* the time since which a record is incomplete; 0: none is */
	uint32_t at[TR_LANES];	/* how many bytes of each lane were read */
	bool torn_in[TR_LANES]; /* a writer may complete its record later: the lane is not freed */
	uint64_t torn;		/* records that were never completed */
	bool failed;		/* memory is exhausted, or the file cannot be read */
};

/* Reads new records. now: a time before this call; final: no process writes any more. */
void tr_collect_pass(struct tr_collect *collect, uint64_t now, bool final);

/* Returns the next call up to that time, which is valid until the next pass. NULL: none. */
const struct tr_call_record *tr_collect_next(struct tr_collect *collect, uint64_t until);

/* Returns a string of a call by its number, from 0. NULL: it has fewer. */
const char *tr_call_string(const struct tr_call_record *call, unsigned number);

void tr_collect_free(struct tr_collect *collect);

/*
 * links.c: resolves the symbolic links in paths that programs open, which strace finds in /proc.
 * They are resolved a moment after the call, in the file system of the recorder, and each result is
 * kept until a call of a recorded program changes it.
 */

struct link;

/* Zero it. */
struct tr_links {
	struct tr_map known;	 /* struct link, by path */
	struct link *symbolic;	 /* the symbolic links among them */
	struct tr_buffer real;	 /* the path that is being resolved, as far as it is */
	struct tr_buffer rest;	 /* its other components */
	struct tr_buffer target; /* the next rest */
};

/*
 * Returns the path without links, for a process whose directory is cwd. follow: the last component
 * may be a link, too. NULL: it is unknown, as below /proc. Valid until the next call.
 */
const char *tr_links_resolve(struct tr_links *links, const char *cwd, const char *path,
			     bool follow);

/* Forgets what the path leads to, because a call has changed it. */
void tr_links_changed(struct tr_links *links, const char *cwd, const char *path);

/*
 * Forget what paths lead to that contain the last component of `path`, because a call has changed
 * or removed it in an unknown directory.
 */
void tr_links_changed_somewhere(struct tr_links *links, const char *path);
void tr_links_removed_somewhere(struct tr_links *links, const char *path);

/* Notes that a link to target was made at that path. */
void tr_links_made(struct tr_links *links, const char *cwd, const char *path, const char *target);

/* Forgets everything. */
void tr_links_clear(struct tr_links *links);

void tr_links_free(struct tr_links *links);

/* decode.c: the log. */

struct tr_decode_process;

/* Data about an event that its line cannot hold. In a buffer, followed by len bytes. */
struct tr_decode_note {
	uint64_t line;	/* where the event begins; the first line of the log is 1 */
	uint32_t len;	/* of the names and contents of response files, each with a NUL */
	uint32_t flags; /* TR_DECODE_… */
};

enum {
	TR_DECODE_UNWATCHED = 1, /* processes that this one started may be missing */
	TR_DECODE_ORPHAN = 2,	 /* nothing else is known about the process */
	TR_DECODE_END_UNKNOWN =
		4,	      /* how and when the process ended is unknown: the line is made up */
	TR_DECODE_TRACED = 8, /* strace traced the process that ended */
};

/* Zero it, and set mark; calls, insert and context may be set. Not thread safe. */
struct tr_decode {
	uint32_t mark;		  /* of the session */
	struct tr_collect *calls; /* file calls; NULL: they are not recorded */
	bool read_all;		  /* data ends where the journal ended after the last pass */
	uint64_t lines;		  /* of the log, as far as they were counted */
	size_t counted;		  /* the length of out up to which they were */
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
 * Appends the lines for the records in data, and for the file calls up to the horizon, to out.
 * final: nothing follows. Returns how many bytes of data were used. The rest is an incomplete
 * record or later than the horizon, unless decode->more is set.
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
 * Appends the call as one or more lines, each of which begins with prefix. cwd: the directory of
 * the process, "" if unknown; real: the path of the opened file without symbolic links, or NULL.
 */
void tr_call_print(const struct tr_call_record *call, struct tr_text prefix, const char *cwd,
		   const char *real, struct tr_buffer *out);

/* Appends the content of a string with the escapes of strace. */
void tr_print_escaped(struct tr_buffer *out, const char *string);
/* Appends the result of a call, which is 0 or an errno, and the end of the line. */
void tr_print_result(struct tr_buffer *out, int error);

#endif
