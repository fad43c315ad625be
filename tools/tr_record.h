/* SPDX-License-Identifier: MIT */
/*
 * The parts of tr-record.
 *
 *	tr_record.c ---------- options; reads the log and writes the records
 *	tr_record_strace.c --- starts the command under strace; signals and the exit status
 *	tr_record_preload.c -- starts it with the library of lib/preload
 *	tr_record_tracers.c -- straces for programs that cannot load the library
 *	tr_record_files.c ---- response files, and programs with a sanitizer
 */
#ifndef TR_TOOLS_TR_RECORD_H
#define TR_TOOLS_TR_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/map.h"
#include "record/record.h"
#include "process/compilers.h"

struct tr_cli;
struct tr_decode;
struct tr_journal_page;

/* The mechanism that watches the command. */
enum tr_backend {
	TR_BACKEND_AUTO,    /* the library, and strace for programs that cannot load it */
	TR_BACKEND_PRELOAD, /* the library of lib/preload */
	TR_BACKEND_STRACE,
};

/* Counts of what the library could not record. The supervisor counts it, in shared memory. */
struct tr_preload_losses {
	_Atomic uint64_t noted; /* bytes of notes whose lines may be in the log */
	uint64_t lost;		/* records that could not be written */
	uint64_t torn;		/* places at which records are damaged */
	uint64_t opaque;	/* programs that cannot load the library */
	uint64_t unnoticed;	/* processes whose end is unknown */
	uint64_t bypassing;	/* programs that make system calls themselves */
	uint64_t outside;	/* processes in other pid namespaces */
	uint64_t filtered;	/* processes that are not watched after they set a filter */
	uint64_t straces;	/* programs for which a strace was started */
	bool incomplete;	/* the recorder ran out of memory, or could not read the records */
};

/* A command that is watched. Its log is written to a pipe. */
struct tr_capture {
	enum tr_backend backend;
	pid_t supervisor; /* ends with the status of the command */
	int log;	  /* read end of the pipe that the log is written to */
	bool files;	  /* record the calls that concern files */
	bool stat;	  /* also those that only query files */
	bool alone;	  /* record the command, and not what it starts */
	bool attaches;	  /* with the library: attach strace to programs that cannot load it */
	bool no_wait;	  /* do not wait for processes that the command leaves running */
	const struct tr_preload_losses *losses; /* complete when the log ends; NULL: strace */
	struct tr_preload_notes *notes;		/* about events of the log; NULL: strace */
};

/* The command, and how to start it. */
struct tr_start {
	const char *const *command;
	const char *script; /* the file, if it is a script that the shell runs; or NULL */
	bool divert;	    /* its standard output goes to standard error */
};

/*
 * Starts command (NULL-terminated). divert: its standard output goes to standard error, because
 * records are written to standard output. False: nothing runs, which is reported; *status is the
 * exit status.
 */
bool tr_capture_begin(struct tr_cli *cli, struct tr_capture *capture, const char *const *command,
		      bool divert, int *status);

/* Sets the pid of the command, to which signals are passed on. */
void tr_capture_command(pid_t pid);

/*
 * Handles the processes that still run when the command has ended: with no_wait they are released
 * after a moment; otherwise a message explains the wait unless quiet is set, and SIGINT ends it.
 */
void tr_capture_lingers(const struct tr_capture *capture, bool quiet);

/* True if processes were left running. Then tr_capture_end does not return the command's status. */
bool tr_capture_was_left(void);

/* Reads the rest of the log and waits. Returns the wait status of the command. */
int tr_capture_end(struct tr_capture *capture);

/*
 * tr_record_preload.c: starts the command with the library, in a supervisor that writes the log to
 * the pipe. False: nothing runs; err is filled.
 */
bool tr_preload_begin(struct tr_capture *capture, const struct tr_start *start,
		      struct tr_error *err);

/*
 * tr_record_tracers.c: the straces that watch programs which cannot load the library. Zero it, and
 * set the members above "private".
 */
struct tr_tracers {
	const char *directory;	      /* for their logs */
	struct tr_journal_page *page; /* notifies a process that strace cannot watch it */
	struct tr_decode *decode;     /* the records of the library, and the requests for strace */
	sigset_t signals;	      /* the signal mask for strace */
	bool incomplete; /* records are missing: a strace was killed, or memory was exhausted */
	uint64_t lost;	 /* lines that could not be written */
	size_t count;	 /* straces that run, or whose lines were not all inserted */
	size_t made;	 /* straces that were started */

	/* private */
	struct tr_tracer *list;
	size_t cap;
	struct tr_id_map known; /* how much the logs contain of a process, by its pid */
	int messages[2];	/* a pipe with the error messages of the straces */
	struct tr_buffer message;
};

/* Starts straces for the processes that ask for it, and ends those that are not needed. */
void tr_tracers_serve(struct tr_tracers *tracers);
/* Reads the logs of the straces. */
void tr_tracers_read(struct tr_tracers *tracers);
/* Appends the lines up to that time; context: struct tr_tracers. */
void tr_tracers_insert(void *context, uint64_t until, struct tr_buffer *out);
/* Removes the straces that have ended. True: there was more to read, which was read. */
bool tr_tracers_more(struct tr_tracers *tracers);
/* Handles the end of a child of this process. True: it was a strace. */
bool tr_tracers_ended(struct tr_tracers *tracers, pid_t pid, int status);
/* True if a strace has reported a process with that number. */
bool tr_tracers_saw(const struct tr_tracers *tracers, pid_t pid);
/*
 * True if a strace has reported a process with that number, or the call that created it: strace
 * does not report the end of a process that was killed before strace could stop it.
 */
bool tr_tracers_saw_created(const struct tr_tracers *tracers, pid_t pid);
/* Ends the running straces; the processes that they watch continue. */
void tr_tracers_free(struct tr_tracers *tracers);

/*
 * Becomes strace, which watches a running process and writes to the file log; returns only if that
 * fails. files: it also reports file calls.
 */
void tr_strace_attach(const char *log, pid_t pid, bool files);

/* A note of the library about an event. */
struct tr_preload_note {
	unsigned flags; /* TR_DECODE_… */
	struct tr_text
		files; /* of an exec: names and contents of response files, each with a NUL */
};

/* Returns the note about the event on a line of the log, valid until the next call. NULL: none. */
const struct tr_preload_note *tr_preload_note(struct tr_capture *capture, uint64_t line);
void tr_preload_free(struct tr_capture *capture);

/*
 * Passes signals that are sent to this process alone to handler, and leaves those of the terminal
 * to the command.
 */
void tr_mind_signals(void (*handler)(int));
/* Ends this process as the command ended, without a core file. */
_Noreturn void tr_end_as(int wait_status);

/* Returns the exit status of the command, or kills this process by the signal that killed it. */
int tr_capture_status(int wait_status);

/* The programs of running processes, to find those with a sanitizer. Zero it. */
struct tr_sanitized {
	struct tr_id_map programs; /* paths by pid, owned */
	struct tr_id_map known;	   /* files that were examined, by inode */
};

/*
 * Takes the next record. traced: strace watches the process. True: the record is the end of a
 * process that failed, and its program contains LeakSanitizer and was not reported before; its path
 * is appended.
 */
bool tr_sanitized_failed(struct tr_sanitized *sanitized, struct tr_record *record, bool traced,
			 struct tr_buffer *path);
void tr_sanitized_free(struct tr_sanitized *sanitized);

/*
 * Appends the line of an exec record with the field respfile: the contents of the response files
 * that its arguments name. noted: names and contents, each with a NUL, that the library has read;
 * other files are read if they still exist. compilers: NULL for those that are built in. False:
 * there are no such files, and nothing was appended; or to->failed is set.
 */
bool tr_record_respfiles(struct tr_record *record, struct tr_compilers *compilers,
			 struct tr_text noted, struct tr_buffer *to);

#endif
