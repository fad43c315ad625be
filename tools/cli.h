/* SPDX-License-Identifier: MIT */
/*
 * The base of the tools. A tool is an option table and a loop:
 *
 *	static const struct tr_tool tool = { .name = "tr-example", … };
 *
 *	int main(int argc, char **argv)
 *	{
 *		struct tr_cli cli;
 *		tr_cli_begin(&cli, &tool, argc, argv);
 *		for (int id; (id = tr_cli_option(&cli)) != 0;)
 *			… the tool's own options; cli.argument …
 *		if (cli.operands is not right)
 *			tr_cli_usage(&cli, "…");
 *		struct tr_record *record;
 *		if (tr_cli_open(&cli) && tr_cli_output(&cli, false))
 *			while (tr_cli_next(&cli, &record))
 *				… tr_output_put(cli.out, …) …
 *		return tr_cli_end(&cli);
 *	}
 *
 * The base prints messages, sets the exit status, and handles --strict, progress, signals and
 * the end of the output. Errors stop the loop by themselves: all functions below do nothing
 * once cli.stop is set.
 */
#ifndef TR_TOOLS_CLI_H
#define TR_TOOLS_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/codec.h"
#include "core/error.h"
#include "core/output.h"
#include "core/text.h"
#include "format/format.h"
#include "format/trace.h"
#include "record/blobs.h"
#include "record/join.h"
#include "record/vocabulary.h"
#include "view/phases.h"

/* One row of an option table. Feeds getopt_long, --help, man page test and completion. */
struct tr_option {
	int id;		      /* what tr_cli_option returns: 1 to 98, unique; 0 ends the table */
	char letter;	      /* 0: has none */
	const char *name;     /* without "--"; NULL: only a letter */
	const char *argument; /* in capitals, or its choices "used|all|none"; NULL: takes none */
	const char *help;     /* no capital, no full stop; long ones are wrapped */
};

enum { TR_CLI_ARROW = 99 }; /* tr_cli_option: a word that begins with "->" is in cli.argument */

/* The rows of the shared table of options that a tool has. */
enum {
	TR_CLI_READS = 1,  /* -f, -O, --member, limits, --progress … */
	TR_CLI_WRITES = 2, /* -o, --line-buffered */
	TR_CLI_ALL = TR_CLI_READS | TR_CLI_WRITES,
	TR_CLI_FORMATS = 4, /* no rows: it writes trace formats, so -O has the keys of writers */
};

struct tr_tool {
	const char *name;
	const char *usage;   /* what follows the name: "[OPTION...] [FILE...]" */
	const char *summary; /* one or two sentences */
	unsigned shared;     /* TR_CLI_… */
	const struct tr_option *options;
	const struct tr_format_option *settings; /* -O keys of its own; may be NULL */
	const struct tr_format *format;		 /* the only format that it reads; NULL: any */
	bool command; /* operands are a command with its arguments: options end before them */
	bool arrow; /* its first operand may begin with "->", which is not an option: TR_CLI_ARROW */
	const char *status;	     /* the exit status in --help; NULL: 0, perhaps 1, and 2 */
	const char *status_one;	     /* what exit status 1 means; NULL: does not occur */
	const char *const *hints;    /* pairs: an option it lacks, what to use; NULL-terminated */
	const char *const *examples; /* pairs: a description, the command; NULL-terminated */
	const char *(*const *libraries)(void); /* versions besides those of lib/core; may be NULL */
};

struct tr_cli_private;

struct tr_cli {
	const struct tr_tool *tool;
	const char *argument; /* of the option that tr_cli_option returned */

	/* After the last option. A tool takes what is not a file off the front (operands++). */
	const char *const *operands;
	size_t operand_count;

	/* The values of the shared options. */
	struct tr_trace_config config; /* a tool may change it before tr_cli_open */
	const char *output_path;       /* -o, NULL: stdout */
	bool strict, quiet, verbose;

	/*
	 * The treatment of the blobs of records that are read (record/blobs.h), and --blob-dir,
	 * which is opened by tr_cli_open. A tool sets them before; NULL: without a directory.
	 */
	bool changes_blobs;
	enum tr_blobs blobs;
	const char *blob_path;

	struct tr_trace *trace; /* after tr_cli_open */
	struct tr_output *out;	/* after tr_cli_output */

	const char *output_name; /* of one of several outputs, for the report; NULL: only one */

	bool several; /* set by a tool that has several outputs: each is given up alone */

	/*
	 * The output is compressed: a wait for input does not cut it into smaller
	 * blocks. Only --line-buffered asks for that.
	 */
	bool packed;

	int status;	    /* the exit status so far: tr_cli_status raises it */
	int command_status; /* not 0: the tool returns this instead; for --report */
	bool stop;	    /* nothing more is to be done but tr_cli_end */
	struct tr_cli_private *private;
};

/* Prepares cli; stop is set if memory is exhausted. argv is borrowed until tr_cli_end. */
void tr_cli_begin(struct tr_cli *cli, const struct tr_tool *tool, int argc, char **argv);

/*
 * Returns the next of the tool's own options, or 0 after the last, and processes the shared ones
 * before it. --help, --version, --list-formats and errors set stop.
 */
int tr_cli_option(struct tr_cli *cli);

/* The current option's argument as its index in its table's "used|all|none"; -1: usage error. */
int tr_cli_choice(struct tr_cli *cli);

/*
 * As tr_cli_choice for several words with commas: adds their bits, 1 for the first. False:
 * reported.
 */
bool tr_cli_choices(struct tr_cli *cli, unsigned *set);

/* The current option's argument as a number; K M G (1024) allowed when size. False: usage error. */
bool tr_cli_number(struct tr_cli *cli, bool size, uint64_t max, uint64_t *value);

/* One line, "Try …", status 2, stop. Always false. */
bool tr_cli_usage(struct tr_cli *cli, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Input files, which the output must not replace; tr_cli_open adds the operands, -O what it names.
 * tr_cli_reads adds a file that another option names. tr_cli_inputs_open adds operands; false, with
 * a message: one of them is the regular file that stdout is, and reading it might never end.
 */
void tr_cli_reads(struct tr_cli *cli, struct tr_text path);
bool tr_cli_inputs_open(struct tr_cli *cli, const char *const *operands, size_t count);

/*
 * True if the file that the output at path would replace is an input or the report; reports it
 * then. place: that the output is made of; NULL: more than one.
 */
bool tr_cli_refuses(struct tr_cli *cli, const struct tr_trace_place *place, const char *path,
		    const struct stat *replaced);

/* Like tr_cli_usage, with a caret under the byte at that column (from 1) of the text. */
bool tr_cli_usage_at(struct tr_cli *cli, struct tr_text text, size_t column, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));

/*
 * The usage error "unknown WHAT 'WORD'", and then the name that was found to be similar, or the
 * hint where none was.
 */
bool tr_cli_unknown(struct tr_cli *cli, const char *what, struct tr_text word,
		    const struct tr_similar *similar, const char *hint);

/* The format that cli->argument names; NULL, with a message: it cannot be read, or written. */
const struct tr_format *tr_cli_format(struct tr_cli *cli, bool writing);

/* For reading mapped files; handles SIGBUS in this process. NULL: unavailable. */
const struct tr_fault_guard *tr_cli_fault_guard(void);

/*
 * Opens the operands as cli->config demands; without any, standard input, unless it is a terminal.
 */
bool tr_cli_open(struct tr_cli *cli);

/*
 * The output: -o or stdout. tr_cli_sink returns the file alone, for tools that stack encoders;
 * tr_cli_output_on makes cli->out of a sink, which it owns; tr_cli_output makes it of the file,
 * with the codec that the name of -o asks for. binary: refused on a terminal. tr_cli_sink_at: a
 * file of this name in a directory, whose path is cli->output_path, for a place; it gets its name
 * together with others, in tr_cli_finish_output or later.
 */
struct tr_sink *tr_cli_sink(struct tr_cli *cli, bool binary);
struct tr_sink *tr_cli_sink_at(struct tr_cli *cli, const struct tr_trace_place *place, int dir,
			       const char *name);
bool tr_cli_output_on(struct tr_cli *cli, struct tr_sink *sink);
bool tr_cli_output(struct tr_cli *cli, bool binary);

/*
 * The codec that the name of -o asks for, NULL without one; tr_cli_output uses it. archives: the
 * tool writes them. codec NULL: an option gives it. False: the name is one of what the tool does
 * not write, which is reported.
 */
bool tr_cli_name_codec(struct tr_cli *cli, bool archives, const struct tr_codec **codec);

/* An encoder on a sink, which it owns; without a codec the sink itself. NULL: reported. */
enum { TR_CLI_DEFAULT_LEVEL = INT32_MIN };
struct tr_sink *tr_cli_encoded(struct tr_cli *cli, struct tr_sink *sink,
			       const struct tr_codec *codec, int level, unsigned threads);

/*
 * Ends cli->out before the tool ends, for one that has several outputs: members of an archive, or
 * files of tr_cli_sink_at, which then get this modification time. What its writer gave up is
 * dropped. place: what the output is made of, for messages; NULL: more than one. False: reported.
 */
bool tr_cli_finish_output(struct tr_cli *cli, const struct tr_trace_place *place,
			  const struct timespec *mtime);

/* Gives the files of tr_cli_sink_at that were finished their names. Returns how many failed so far. */
uint64_t tr_cli_complete_files(struct tr_cli *cli);

/* Prints the name of a file that is complete, and a NUL. False: reported. */
bool tr_cli_list_file(struct tr_cli *cli, const char *path);

/*
 * Adds cli->output_name to the line of the current place in the report. kept: an earlier run wrote
 * this output. tr_cli_finish_output adds those that are finished.
 */
void tr_cli_log_output(struct tr_cli *cli, bool kept);

/* Stops and discards the output, after a message. */
void tr_cli_abandon(struct tr_cli *cli);

/*
 * True if no operand could be read. Then there is no output either, so that a mistyped name does
 * not empty the file of an earlier run.
 */
bool tr_cli_read_nothing(const struct tr_cli *cli);

/* Opens the report, for a tool that writes before tr_cli_open. False: reported. */
bool tr_cli_log_open(struct tr_cli *cli);

/*
 * Reads the next line of all operands and reports errors on the way. False: the end, or a stop.
 */
bool tr_cli_next(struct tr_cli *cli, struct tr_record **record);

/* tr_cli_next in two steps, for tools that handle each file or member separately. */
bool tr_cli_step(struct tr_cli *cli, struct tr_trace_place **place);
bool tr_cli_next_here(struct tr_cli *cli, struct tr_record **record);

/*
 * tr_cli_next_here through a join (record/join.h; NULL: none). A call that is entered in a file or
 * member does not return in another one, so the join is empty when this returns false.
 */
bool tr_cli_next_joined(struct tr_cli *cli, struct tr_join *join, struct tr_record **record);

/*
 * Files and members that are read by child processes, for a tool that writes an output of each:
 *
 *	work of a child -> tr_cli_job_send -> take of the parent, in the order of the input
 *
 * Children are started when reading has turned out to be slow; before, and where they would not
 * help, this process reads. A child that crashes loses the place that it was reading; the others
 * are read by another child. The parent prints and counts the messages of its children.
 */
struct tr_cli_jobs {
	unsigned count; /* of processes that work at the same time, at most 256 */
	bool heavy;	/* the work is likely to be slow, such as compression */

	bool skips; /* the next places are probably left out, so no child reads them */

	/* In a child: reads the place. */
	void (*work)(void *context, struct tr_trace_place *place);

	/* In the parent, for each place: its begin, each message of work, its end. */
	void (*begin)(void *context, const struct tr_trace_place *place);
	/* take: false: the message is not one of work, and the place is lost. */
	bool (*take)(void *context, const struct tr_trace_place *place, struct tr_text message);
	/* complete: false if the child crashed. */
	void (*end)(void *context, const struct tr_trace_place *place, bool complete);

	/* In this process: all of it, for a place that no other process reads. */
	void (*here)(void *context, struct tr_trace_place *place);

	bool muted; /* set by take: further messages of the child about this place are not printed */
};
void tr_cli_jobs_run(struct tr_cli *cli, struct tr_cli_jobs *jobs, void *context);

/*
 * Sends a message to take of the parent, which gets both parts as one text. The text is in memory
 * there, so large data are sent in pieces. Ends the process if that is not possible.
 */
void tr_cli_job_send(struct tr_cli *cli, struct tr_text head, struct tr_text body);

/*
 * The programs of -O exe, base and path. False: there are none (which is no error), or a stop. _end
 * adds a remark on programs without a block, and frees them. The settings are those of tools with
 * computed fields: they include those of compilers.
 */
struct tr_programs; /* coverage/programs.h */
extern const struct tr_format_option tr_cli_computed_settings[];
#define TR_CLI_PROGRAM_OPTIONS(reading, writing, use) \
	{ "exe", "PROG", reading, writing, use "a program that was run (repeatable)" }, \
		{ "base", "ADDRESS", reading, writing, \
		  use "load address of the first program (0x...), or of another one " \
		      "(NAME=0x...; repeatable)" }, \
		{ "path", "DIR", reading, writing, \
		  use "search the files of the trace's modules below this directory " \
		      "(repeatable)" }, \
	{ \
		"demangle", "no|yes", reading, writing, \
			use "write the names that C++ and Ada functions have in the source " \
			    "(default no)" \
	}
bool tr_cli_programs(struct tr_cli *cli, struct tr_programs *programs);
void tr_cli_programs_end(struct tr_cli *cli, struct tr_programs *programs);

/*
 * The line of a record: its original bytes if it has them, else in the canonical spelling, which
 * is composed in to. False: it has no line, which is reported and counted as lost, or a stop.
 */
bool tr_cli_line(struct tr_cli *cli, struct tr_record *record, struct tr_buffer *to,
		 struct tr_text *line);

/* False: a stop, or the output has failed, which is a stop unless it is one of several. */
static inline bool tr_cli_goes_on(struct tr_cli *cli)
{
	bool failed = cli->out && cli->out->failed;

	cli->stop |= failed && !cli->several;
	return !cli->stop && !failed;
}

/* Writes a line of the output, or a record's line. False: nothing more is to be written to it. */
static inline bool tr_cli_put_text(struct tr_cli *cli, struct tr_text text)
{
	tr_output_put_text(cli->out, text);
	tr_output_record_end(cli->out);
	return tr_cli_goes_on(cli);
}
bool tr_cli_put_line(struct tr_cli *cli, struct tr_record *record);

/* True if the bytes of the place, which is in a known format, equal those that its records give. */
bool tr_cli_stands_alone(const struct tr_cli *cli, const struct tr_trace_place *place);

/*
 * Copies the bytes of the place to cli->out and reports damage. *cut_line: whether the last byte is
 * not LF.
 */
bool tr_cli_copy_bytes(struct tr_cli *cli, const struct tr_trace_place *place, bool *cut_line);

/*
 * A writer of format on cli->out. tr_cli_put returns false for a stop, or when the writer gives
 * up; records that the writer leaves out are reported and counted in the trailer.
 */
struct tr_writer *tr_cli_writer(struct tr_cli *cli, const struct tr_format *format);
bool tr_cli_put(struct tr_cli *cli, struct tr_writer *writer, struct tr_record *record);
bool tr_cli_finish(struct tr_cli *cli, struct tr_writer *writer);

/*
 * Lets readers give blocks to the writer without records (coverage/block.h), until it is finished.
 * For a tool that gives all records to this writer, as they are.
 */
void tr_cli_put_blocks(struct tr_cli *cli, struct tr_writer *writer);

/*
 * The -O of tools that search for compilers, and the table that they give. NULL: none, or reported.
 */
extern const struct tr_format_option tr_cli_compiler_settings[];
struct tr_compilers *tr_cli_compilers(struct tr_cli *cli);

/*
 * Prints err, with the current place, and sets the exit status (not for
 * notes); under --strict it sets stop. report_record: position from the
 * record where err has none; lost: also counted as lost in the trailer.
 */
void tr_cli_report(struct tr_cli *cli, const struct tr_error *err);
void tr_cli_report_record(struct tr_cli *cli, const struct tr_record *record,
			  const struct tr_error *err, bool lost);

/* As tr_cli_report, for a place that is not the current one of the trace. */
void tr_cli_message_of(struct tr_cli *cli, const struct tr_trace_place *place,
		       const struct tr_error *err);

/* Reports a message that is made here, about a record, or (NULL) about the place. */
void tr_cli_remark(struct tr_cli *cli, const struct tr_record *record, enum tr_cause cause,
		   enum tr_severity severity, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Reports err, stops, and discards the incomplete output. False. */
bool tr_cli_abort(struct tr_cli *cli, const struct tr_error *err);
bool tr_cli_out_of_memory(struct tr_cli *cli);

/* Adds the file of --phases, the argument of the current option. False: an error is printed. */
bool tr_cli_add_phases(struct tr_cli *cli, struct tr_phases *phases);

/* Notes how many files of --phases belong to no process of the trace. */
void tr_cli_note_phases(struct tr_cli *cli, const struct tr_phases *phases);

/* A message of the tool that concerns no place in the input: an error, or a note. */
void tr_cli_fail(struct tr_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tr_cli_note(struct tr_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The numbers of files and members that were opened so far, could not be opened, or were skipped
 * with a note.
 */
struct tr_cli_tally {
	uint64_t opened, unreadable, skipped;
};
struct tr_cli_tally tr_cli_tally(const struct tr_cli *cli);

/* Sets the last line of all messages, with totals for people. It is not a message for --report. */
void tr_cli_last_line(struct tr_cli *cli, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Reports that a view shows nothing of the input, with the kinds of its records. shows: what it
 * would show ("API calls"); style: --style=STYLE of tr-totext that shows them, or NULL.
 */
void tr_cli_nothing_shown(struct tr_cli *cli, const struct tr_unsupported_kinds *kinds,
			  const char *shows, const char *style);

/* Raises the exit status: 2 (trouble) beats 1 beats 0. */
void tr_cli_status(struct tr_cli *cli, int status);

/*
 * Finishes the output, or discards it after a stop by --strict or an error;
 * frees everything. Returns the exit status.
 */
int tr_cli_end(struct tr_cli *cli);

#endif
