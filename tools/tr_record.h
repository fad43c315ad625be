/* What the files tr_record*.c share. */
#ifndef TR_TOOLS_TR_RECORD_H
#define TR_TOOLS_TR_RECORD_H

#include <sys/types.h>

#include "cli.h"
#include "core/buffer.h"

/* A command that runs under strace, which writes to a pipe. */
struct tr_capture {
	pid_t supervisor; /* ends as the command does */
	int log;	  /* what strace writes, to be read */
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

/* The command has ended. Where others that it made go on for long, that is said on stderr. */
void tr_capture_lingers(void);

/* Reads what is still there and waits: the wait status of the command. */
int tr_capture_end(struct tr_capture *capture);

/* Ends as the command did: never returns where a signal killed it. */
int tr_capture_status(int wait_status);

/*
 * Appends the exec record's line with the field respfile, the content of the
 * files that its arguments name, as far as they are still there. False: there
 * are none (nothing was appended), or memory is out (to->failed is set).
 */
bool tr_record_respfiles(struct tr_record *record, struct tr_buffer *to);

#endif
