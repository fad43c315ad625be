/* SPDX-License-Identifier: MIT */
/*
 * The parts of the tools' base, which tools do not use:
 *
 *	cli.c          operands, records in, records out, the exit status
 *	cli_options.c  the tables of options, -O, --help
 *	cli_output.c   the output: its codec, and its file, which appears only when it is complete
 *	cli_message.c  messages, --report, progress
 *	cli_jobs.c     files and members that child processes read
 */
#ifndef TR_TOOLS_CLI_PRIVATE_H
#define TR_TOOLS_CLI_PRIVATE_H

#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "cli.h"
#include "core/buffer.h"
#include "coverage/block.h"

/* The tool's own options and then the common ones. */
struct tr_cli_rows {
	const struct tr_option **list; /* NULL-terminated; in the order of --help=all */
	size_t count, own;	       /* of all; of the tool's own */
};

enum { TR_CLI_ALIKE = 20 }; /* messages of one kind that are printed */

struct tr_cli_alike {
	const char *pattern; /* shared by the messages of one kind: tr_error.pattern */
	uint64_t count;
	bool notes;		  /* all of them are notes */
	char last[TR_ERROR_TEXT]; /* the text of the last one, for the line that counts the rest */
};

/* --report */
struct tr_cli_log_count {
	uint64_t records, errors, notes;
};

struct tr_cli_log {
	const char *path; /* NULL: no report */
	bool tried;	  /* the file was opened, or cannot be */
	bool ready;	  /* fd is open */
	size_t kept;	  /* where its id is in inputs; SIZE_MAX: it is no regular file */
	int fd;
	struct tr_buffer line;
	bool in_member;
	bool cut;		  /* the member ends too early */
	struct tr_buffer outputs; /* of the member: names as JSON, with commas */
	uint64_t output_count, kept_count;
	struct tr_cli_log_count member, all;
	uint64_t members;
};

enum tr_cli_when { TR_CLI_AUTO, TR_CLI_ALWAYS, TR_CLI_NEVER };

struct tr_cli_private {
	int argc;
	char **argv;
	struct tr_cli_rows rows;
	struct option *long_options;
	char *short_options;
	const struct tr_option *row; /* of the current option */

	struct tr_setting *settings; /* -O */
	size_t setting_count;
	struct tr_compilers *compilers;
	uint64_t settings_taken; /* as bits: a format in use has them */
	const char **members;
	bool line_buffered;
	enum tr_cli_when progress;

	struct tr_trace_place *place;  /* that tr_cli_next reads; NULL: the next one */
	const struct tr_record *last;  /* the record that was read before */
	struct tr_block_taker taker;   /* puts blocks into the writer below */
	struct tr_block_taker *blocks; /* it, while there is such a writer; else NULL */
	struct tr_writer *block_writer;
	bool join_ends;		      /* tr_cli_next_joined is at the end of a place */
	struct tr_blob_dir *blob_dir; /* NULL: without --blob-dir */
	struct tr_error err;	      /* not on the stack of the hot loop */
	struct tr_cli_alike *alike;
	size_t alike_count;
	struct tr_buffer message, line;
	struct tr_buffer inputs; /* ids of the regular files that are read, for -o */
	struct tr_cli_log log;
	struct tr_cli_tally tally;
	bool has_last_line;
	struct tr_error last_line;
	uint64_t unwritten;	    /* files that could not be completed */
	bool inputs_known;	    /* inputs has the operands */
	struct tr_file_group files; /* of tr_cli_sink_at */
	int64_t completed;	    /* when files were completed; as tr_cli_clock */
	bool any_read;		    /* some operand, or a member of it, has a known format */
	bool read_before;	    /* any_read of the places before this one */
	bool discard;		    /* --strict or a failure: the output is removed */

	/* In a child process: gives a message to the parent, which prints and counts it. */
	void (*relay)(struct tr_cli *cli, bool of_place, const struct tr_error *err);
	struct tr_cli_child *child;

	int64_t started;  /* milliseconds, for the rate */
	bool progress_up; /* a progress line is on the terminal */
};

/* cli_options.c */

bool tr_cli_rows_make(struct tr_cli *cli);
void tr_cli_rows_free(struct tr_cli *cli);
void tr_cli_short_usage(const struct tr_cli *cli);

/* A format that is read or written uses its keys of -O; those that no format uses are noted. */
void tr_cli_settings_taken(struct tr_cli *cli, const struct tr_format *format, bool writing);
void tr_cli_settings_idle(struct tr_cli *cli);

/* cli_message.c */

void tr_cli_summarise(struct tr_cli *cli); /* counts of messages that were not printed */
void tr_cli_report_nowhere(struct tr_cli *cli, const struct tr_error *err); /* of no file */

/* --report: a file or member begins, has ended, or could not be opened; and the last line. */
void tr_cli_log_step(struct tr_cli *cli);
void tr_cli_log_member(struct tr_cli *cli);
void tr_cli_log_missed(struct tr_cli *cli, const struct tr_trace_place *place,
		       const struct tr_error *err);
/* tr_cli_log_member for a place that another process read. damaged: its bytes ended early. */
void tr_cli_log_place(struct tr_cli *cli, const struct tr_trace_place *place,
		      const struct tr_trace_seen *seen, bool damaged);
void tr_cli_log_end(struct tr_cli *cli);

/* Milliseconds of a clock that does not jump when the time of day is set. */
int64_t tr_cli_clock(void);

extern volatile sig_atomic_t tr_cli_attention; /* a progress line is due: tr_cli_progress */
void tr_cli_progress_begin(struct tr_cli *cli);
void tr_cli_progress(struct tr_cli *cli);
void tr_cli_progress_wait(struct tr_cli *cli); /* before a read that may take long */
void tr_cli_progress_end(struct tr_cli *cli);

/* cli.c: adds a file of ours that no output may replace; a place is opened. */
void tr_cli_keeps(struct tr_cli *cli, const struct stat *st);
void tr_cli_note_read(struct tr_cli *cli, const struct tr_trace_place *place);

/* cli_output.c */

void tr_cli_standard_descriptors(void);
void tr_cli_catch_file_limit(void);
/*
 * True if after this descriptor there are only few for inputs and outputs: the kernel gives the
 * lowest number that is free.
 */
bool tr_cli_is_scarce(int fd);
void tr_cli_watch_exit(bool on); /* while on, exit() by a library removes incomplete files too */
void tr_cli_output_end(struct tr_cli *cli);
/* For a child process, which leaves the files of its parent alone. */
void tr_cli_output_is_not_ours(struct tr_cli *cli);

#endif
