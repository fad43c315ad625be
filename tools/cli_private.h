/* What the files cli*.c share; no business of the tools themselves. */
#ifndef TR_TOOLS_CLI_PRIVATE_H
#define TR_TOOLS_CLI_PRIVATE_H

#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "cli.h"
#include "core/buffer.h"

/* The two tables of a command line, the tool's own and the shared one, as one. */
struct tr_cli_rows {
	const struct tr_option **list; /* NULL-terminated; in the order of --help */
	size_t count;
};

enum { TR_CLI_ALIKE = 20 }; /* messages of one kind that are printed */

struct tr_cli_alike {
	const char *pattern; /* what alike messages share: tr_error.pattern */
	uint64_t count;
	bool notes; /* none of them was more */
	char last[TR_ERROR_TEXT]; /* the text of the last one, for the line that counts the rest */
};

/* --report: cli_log.c */
struct tr_cli_log_count {
	uint64_t records, errors, notes;
};

struct tr_cli_log {
	const char *path; /* NULL: no report is wanted */
	bool tried;	  /* to open it */
	bool ready;	  /* fd takes lines */
	int fd;
	struct tr_buffer line;
	bool in_member;
	bool cut; /* the member ends too early */
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
	const struct tr_option *row; /* of the option that is being looked at */

	struct tr_setting *settings; /* -O */
	size_t setting_count;
	uint64_t settings_taken; /* as bits: a format here knows them */
	const char **members;
	bool line_buffered;
	enum tr_cli_when progress;

	struct tr_trace_place *place; /* where tr_cli_next stands; NULL: step on */
	const struct tr_record *last; /* the record that was read before */
	struct tr_error err;          /* kept off the stack of the hot loop */
	struct tr_cli_alike *alike;
	size_t alike_count;
	struct tr_buffer message, line;
	struct tr_buffer inputs; /* ids of the regular files that are read, for -o: cli_inputs.c */
	struct tr_cli_log log;
	bool inputs_known; /* inputs has the operands */
	struct tr_file_group files; /* of tr_cli_sink_at */
	bool any_read; /* some operand, or a member of it, is of a known format */
	bool discard; /* --strict or a failure: what was written must not stand */

	int64_t started;   /* milliseconds, for the rate */
	bool progress_up;  /* a progress line stands on the terminal */
};

/* cli_shared.c: a format that is read or written looks at its -O; those that none did are told. */
void tr_cli_settings_taken(struct tr_cli *cli, const struct tr_format *format, bool writing);
void tr_cli_settings_idle(struct tr_cli *cli);

/* cli_options.c */
bool tr_cli_rows_make(struct tr_cli *cli);
void tr_cli_rows_free(struct tr_cli *cli);
enum {
	TR_CLI_FORMAT = 100,
	TR_CLI_MEMBER,
	TR_CLI_OUTPUT,
	TR_CLI_SETTING,
	TR_CLI_STRICT,
	TR_CLI_MAX_RECORD,
	TR_CLI_MAX_DEPTH,
	TR_CLI_MAX_RATIO,
	TR_CLI_LINE_BUFFERED,
	TR_CLI_PROGRESS,
	TR_CLI_QUIET,
	TR_CLI_VERBOSE,
	TR_CLI_REPORT,
	TR_CLI_LIST_FORMATS,
	TR_CLI_HELP,
	TR_CLI_VERSION,
};

/* cli_shared.c: the shared table (0-terminated), and what its options do. */
extern const struct tr_option tr_cli_shared_input[], tr_cli_shared_output[],
	tr_cli_shared_general[];
void tr_cli_shared_option(struct tr_cli *cli, int id);

/* cli_help.c: on stdout. */
void tr_cli_help(const struct tr_cli *cli);
void tr_cli_short_usage(const struct tr_cli *cli);
void tr_cli_version(const struct tr_cli *cli);
void tr_cli_list_formats(void);

/* cli_message.c */
void tr_cli_summarise(struct tr_cli *cli); /* counts of what was not printed */
void tr_cli_report_nowhere(struct tr_cli *cli, const struct tr_error *err); /* of no file */
void tr_cli_say(struct tr_cli *cli, struct tr_text text); /* one line to stderr, as it is */

void tr_cli_escape(struct tr_text text, struct tr_buffer *to); /* harmless on a terminal */

/*
 * cli_log.c: --report. open: when the operands are known, and before anything is
 * written; false: it cannot be, reported. trouble: what is reported, printed or not.
 * step: a file or member begins; member: it has ended; missed: it could not be opened.
 */
void tr_cli_log_trouble(struct tr_cli *cli, const struct tr_trace_place *place,
			const struct tr_error *err);
void tr_cli_log_step(struct tr_cli *cli);
void tr_cli_log_member(struct tr_cli *cli);
void tr_cli_log_missed(struct tr_cli *cli, const struct tr_error *err);
void tr_cli_log_end(struct tr_cli *cli);

/* cli_inputs.c: adds a file of ours that no output may replace. */
void tr_cli_keeps(struct tr_cli *cli, const struct stat *st);

/* cli_output.c */
void tr_cli_standard_descriptors(void);
void tr_cli_watch_exit(bool on); /* an exit that is not ours must be as good as ours */
void tr_cli_output_end(struct tr_cli *cli);

/* cli_progress.c */
extern volatile sig_atomic_t tr_cli_attention; /* a line is due: call tr_cli_progress */
void tr_cli_progress_begin(struct tr_cli *cli);
void tr_cli_progress(struct tr_cli *cli);
void tr_cli_progress_wait(struct tr_cli *cli); /* before a read that may take long */
void tr_cli_progress_clear(struct tr_cli *cli);
void tr_cli_progress_end(struct tr_cli *cli);

#endif
