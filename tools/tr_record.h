/* What the files tr_record*.c share. */
#ifndef TR_TOOLS_TR_RECORD_H
#define TR_TOOLS_TR_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/buffer.h"
#include "core/id_map.h"
#include "record/record.h"

struct tr_cli;

/* A command that runs under strace, which writes to a pipe. */
struct tr_capture {
	pid_t supervisor; /* ends as the command does */
	int log;	  /* what strace writes, to be read */
	bool no_wait;	  /* for processes that the command leaves behind */
};

/*
 * Starts command (NULL-terminated). Its standard output goes to ours, or to
 * standard error where that is wanted for the records. False: nothing runs, and
 * why is said; *status is what to exit with.
 */
bool tr_capture_begin(struct tr_cli *cli, struct tr_capture *capture, const char *const *command,
		      bool divert, int *status);

/* The command has this number: signals can be passed on to it. */
void tr_capture_command(pid_t pid);

/*
 * The command has ended. If processes that it made go on: with no_wait they are watched no more
 * after a moment; else a message says so unless quiet is set, and SIGINT ends the wait.
 */
void tr_capture_lingers(const struct tr_capture *capture, bool quiet);

/* One of these two was done, so that tr_capture_end does not return the command's status. */
bool tr_capture_was_left(void);

/* Reads what is still there and waits: the wait status of the command. */
int tr_capture_end(struct tr_capture *capture);

/* Ends as the command did: never returns where a signal killed it. */
int tr_capture_status(int wait_status);

/* Which programs run, to know those that are built with a sanitizer. Zero it. */
struct tr_sanitized {
	struct tr_id_map programs; /* of processes: paths, owned */
	struct tr_id_map known;	   /* files that were looked at, by inode */
};

/*
 * Follows a record. True: it ends a process that failed, whose program is built with
 * LeakSanitizer and was not reported before; its path is appended.
 */
bool tr_sanitized_failed(struct tr_sanitized *sanitized, struct tr_record *record,
			 struct tr_buffer *path);
void tr_sanitized_free(struct tr_sanitized *sanitized);

/*
 * Appends the exec record's line with the field respfile, the content of the
 * files that its arguments name, as far as they are still there. False: there
 * are none (nothing was appended), or memory is out (to->failed is set).
 */
bool tr_record_respfiles(struct tr_record *record, struct tr_buffer *to);

#endif
