/* SPDX-License-Identifier: MIT */
/*
 * The contract between formats and everything else. A format is one const struct, listed in
 * TR_FORMATS; HACKING.md has the checklist for a new one.
 *
 * Data flows one way: bytes, container, reader, records, writer, bytes.
 *
 *  - bid looks at the window and returns how many bits of evidence it verified.
 *  - a reader gives records in the source's order: definitions before their
 *    first use. It gives no header and no trailer; trace.h makes those, except
 *    where TR_FORMAT_STREAM says that the format has its own (trec, json), and
 *    with TR_FORMAT_HEADS the reader provides further fields of the header.
 *  - a writer takes every line of the stream, header and trailer too.
 *
 * Not thread safe: one reader or writer belongs to one thread. Several may
 * live at the same time; there is no global state.
 */
#ifndef TR_FORMAT_FORMAT_H
#define TR_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "core/codec.h"
#include "core/container.h"
#include "core/error.h"
#include "core/file.h"
#include "core/input.h"
#include "core/output.h"
#include "record/record.h"
#include "record/calls.h"
#include "record/line.h"

enum {
	TR_FORMAT_READS =
		1, /* without it, but with a bid: open fails and reports what the file is */
	TR_FORMAT_WRITES = 2,
	TR_FORMAT_BINARY = 4,  /* refused on a terminal */
	TR_FORMAT_STREAM = 8,  /* carries headers and trailers of its own */
	TR_FORMAT_JSON = 16,   /* offered by tr-tojson --as=NAME */
	TR_FORMAT_HEADS = 32,  /* its reader begins each segment with a header record, see next */
	TR_FORMAT_ONE = 64,    /* a file holds one segment, so two of them cannot be put together */
	TR_FORMAT_LINES = 128, /* its reader supports config.lines */
	TR_FORMAT_MERGES =
		256, /* segments become one, which two files one after the other are not */
	TR_FORMAT_FORKLESS = 512, /* its records name the parent of a process, and none is a fork */
};

struct tr_block;       /* coverage/block.h */
struct tr_block_taker; /* coverage/block.h */
struct tr_call_config; /* process/call.h */
struct tr_compilers;   /* process/compilers.h */
struct tr_programs;    /* coverage/programs.h */

/* One -O KEY=VALUE. Feeds help, man page test and completion. */
struct tr_format_option {
	const char *key;
	/* "parent|top" (checked), or in capitals: free; FILE, CONFIG, PROG: a file that is read;
	 * DATABASE: one that is read and can be the output, too */
	const char *values;
	bool reading, writing;
	const char *help; /* one line */
};

/* The -O of the command line, checked against the table of the format. */
struct tr_setting {
	struct tr_text key, value;
};

struct tr_settings {
	const struct tr_setting *list;
	size_t count;
};

/*
 * Takes the programs of an execution trace from the keys path, exe and base, in this order, and
 * from demangle. False: err is filled.
 */
bool tr_setting_programs(const struct tr_settings *settings, struct tr_programs *programs,
			 struct tr_error *err);

/* The last value given for key, or fallback. */
struct tr_text tr_setting_get(const struct tr_settings *settings, const char *key,
			      const char *fallback);

/*
 * Appends the directory in the last value given for key, if there is one, as an absolute path: one
 * that is relative begins in the working directory. drives: a drive of Windows makes it absolute,
 * too. False: err is filled.
 */
bool tr_setting_get_directory(const struct tr_settings *settings, const char *key, bool drives,
			      struct tr_buffer *path, struct tr_error *err);

/* The rows of options that tr_setting_get_compilers reads. */
#define TR_COMPILER_OPTIONS(reading, writing) \
	{ "compilers", "FILE", reading, writing, \
	  "add the compilers in FILE, which is like the installed compilers.txt (repeatable)" }, \
		{ "compiler", "PROGRAM=FAMILY", reading, writing, \
		  "add a compiler with the options of a known one: mycc=gcc (repeatable)" }, \
	{ \
		"only-compilers", "no|yes", reading, writing, \
			"know only these added compilers, not the built-in ones (default no)" \
	}

/*
 * Reads the settings of TR_COMPILER_OPTIONS: a table that the caller frees (tr_compilers_free), or
 * NULL if only the compilers that are built in are known. False: err is filled.
 */
bool tr_setting_get_compilers(const struct tr_settings *settings, struct tr_compilers **table,
			      struct tr_error *err);

/* The other rows of options that tr_setting_get_calls reads. */
#define TR_CALL_OPTIONS \
	{ "respfile-root", "DIR", false, true, \
	  "read response files below DIR that are not in the trace (repeatable; default: none)" }, \
	{ \
		"quoting", "auto|gnu|windows", false, true, "quoting rules of response files" \
	}

/*
 * Reads the settings of TR_CALL_OPTIONS and TR_COMPILER_OPTIONS into config, which is all zero at
 * first. False: err is filled. In both cases the caller frees it with tr_call_config_free.
 */
bool tr_setting_get_calls(const struct tr_settings *settings, struct tr_call_config *config,
			  struct tr_error *err);

struct tr_read_config {
	struct tr_limits limits;
	struct tr_settings settings;
	const char *name; /* of the file, as it was given, or the member; NULL: it has none */
	bool exact;	  /* --exact: add .raw where the rewrite would differ */
	bool lines;	  /* --lines: one record for every line of the source, all bytes of it */
	/*
	 * The sieve and the takers count the records that the trace does not return, and the trace
	 * reads these numbers up to its end: they must live as long as the trace, also if the tool
	 * stops before the end.
	 */
	struct tr_sieve *sieve; /* the records that are not wanted; NULL: all are wanted */
	/* *taker takes plain calls, and may change at any time; NULL: no call is taken. */
	struct tr_call_taker *const *taker;
	/* Takes plain calls that concern files (deps/file_call.h); NULL: none is taken. */
	struct tr_file_call_taker *files;
	/* *blocks takes plain blocks, and may change at any time; NULL: no block is taken. */
	struct tr_block_taker *const *blocks;
	bool as_text; /* records may come as text, where that is cheaper than fields */
	/*
	 * With as_text: plain records may be written to *text_out as lines, in their order among
	 * the records that come to the tool. *text_out may be NULL. NULL: all records come.
	 */
	struct tr_output *const *text_out;
};

struct tr_format;

struct tr_write_config {
	struct tr_settings settings;
	bool strict;
	/* tr_format_by_name, which finds the source format of the stream for a writer; or NULL */
	const struct tr_format *(*find_format)(struct tr_text name);
};

/* A format's own struct has one of these as its member base. */
struct tr_reader; /* reader_base.h */
struct tr_writer; /* writer_base.h */

struct tr_text_config {
	struct tr_settings settings;
	struct tr_limits limits;
	size_t width; /* columns of the terminal that is written to; 0: it is not a terminal */
	/* -O grep: whether records of this name are shown. NULL: all are. */
	bool (*is_wanted)(void *context, struct tr_text name);
	/* Reports trouble that ends nothing, such as a file that could not be written. */
	void (*report)(void *context, const struct tr_error *err);
	void *context;
};

/*
 * A text style: how tr-totext shows records. A format has the styles in which its own
 * tools print it; styles for several formats (tree, dot, script) belong to tr-totext.
 */
struct tr_text_style {
	const char *name;	  /* as in --style=NAME */
	const char *help;	  /* for --style: "the output of apitrace dump, with threads" */
	const char *shows;	  /* for messages: "API calls" */
	const char *const *kinds; /* of the records that it shows; NULL-terminated */
	const struct tr_format_option *options; /* ends in a NULL key; may be NULL */
	/*
	 * Whether a segment without a header that begins with this definition or record
	 * is shown in this style by default. NULL: none is.
	 */
	bool (*begins)(const struct tr_record *first);

	/* Borrows config's texts and out. NULL: err is filled. */
	void *(*create)(const struct tr_text_config *config, struct tr_output *out,
			struct tr_error *err);
	/*
	 * Shows the next line of the stream; NULL is its end. TR_WARN: the record was left
	 * out, or (TR_NOTE, TR_FLAW) shown, with a remark. TR_FATAL.
	 */
	enum tr_status (*put)(void *view, struct tr_record *record, struct tr_error *err);
	void (*free)(void *view);
	/* Takes plain calls from a reader (record/calls.h); it may return NULL, and be NULL. */
	struct tr_call_taker *(*taker)(void *view);
	/* Takes plain blocks from a reader (coverage/block.h); may be NULL. */
	struct tr_block_taker *(*blocks)(void *view);
};

struct tr_format {
	const char *name;    /* as in --format and in the header */
	const char *summary; /* one line for --list-formats */
	const char *exact;   /* "EXACT", "SAME", "equal as JSON": for --list-formats */
	unsigned flags;
	const char *const *extensions; /* NULL-terminated, with the dot; the usual one first */
	/*
	 * The codecs that the format's own tools read, the usual one first; NULL-terminated.
	 * NULL: it is a text, in any general codec or none.
	 */
	const struct tr_codec *const *containers;
	const struct tr_format_option *options; /* ends in a NULL key; may be NULL */

	/* Bits of evidence at the window's start, 0 for no. May call tr_input_more, skips nothing.
	 */
	int (*bid)(struct tr_input *in);
	/*
	 * Called when no bid recognises the bytes: the same, further into the input, within a
	 * bound. For data that may follow other text, or whose evidence is the codec that was
	 * removed. settings: those of the reader. May be NULL.
	 */
	int (*search)(struct tr_input *in, const struct tr_settings *settings);
	/*
	 * With TR_FORMAT_ONE, for a format that has another form in which a file holds any number
	 * of traces (a console log): true when the window is of that form, or where in is NULL,
	 * when the writer makes that form with these settings. NULL: there is no such form.
	 */
	bool (*is_log)(struct tr_input *in, const struct tr_settings *settings);

	/* The reader borrows in and config's texts. NULL: err is filled. */
	struct tr_reader *(*open)(const struct tr_read_config *config, struct tr_input *in,
				  struct tr_error *err);

	/*
	 * For a recorder that writes several files at a time, each a part of what happened: which
	 * part the window is, -1 if it is a whole trace. Consecutive files whose numbers
	 * differ are merged to one source, which owns their windows (frees them also where it is
	 * NULL: memory). Both may be NULL.
	 */
	int64_t (*part)(const struct tr_read_config *config, struct tr_input *in);
	struct tr_source *(*merge)(struct tr_input *const *parts, const int64_t *numbers,
				   size_t count);

	/* The writer borrows out and config's texts. NULL: err is filled. */
	struct tr_writer *(*create)(const struct tr_write_config *config, struct tr_output *out,
				    struct tr_error *err);

	/* The first is the format's default. Ends in a NULL name; may be NULL. */
	const struct tr_text_style *styles;
	/*
	 * For API calls: the kinds (record/calls.h) of calls of a function, 0 for most. name:
	 * as the records have it. NULL: the format has no API calls.
	 */
	unsigned (*call_kinds)(struct tr_text name);
	/* The API that has this function, for tr-stat; NULL where the name does not identify it. */
	const char *(*call_api)(struct tr_text name);

	/* For a format without styles of its own, the name of a style of tr-totext. Or NULL. */
	const char *default_style;
};

/*
 * The list of formats, in the order in which they are asked for evidence: those that a magic
 * identifies come before those that may wait for a whole line. tests/bats/words.bats compares the
 * README, the manual and --as with it.
 */
#define TR_FORMATS(X) \
	X(trec) \
	X(json) \
	X(apitrace) \
	X(gnatcov) \
	X(srctrace) \
	X(drcov) \
	X(checkpoint) \
	X(profraw) \
	X(lcov) \
	X(cobertura) \
	X(gcovjson) \
	X(etracestats) \
	X(etraceklog) \
	X(etrace) \
	X(compdb) \
	X(buildspec) \
	X(bear) \
	X(bazel) \
	X(klocwork) \
	X(kwspec) \
	X(ninjalog) \
	X(qemulog) \
	X(trace32) \
	X(ltrace) \
	X(strace) \
	X(makelog)

#define TR_FORMAT_DECLARE(name) extern const struct tr_format tr_format_##name;
TR_FORMATS(TR_FORMAT_DECLARE)
#undef TR_FORMAT_DECLARE

/*
 * The next record, as tr_reader_step in reader_base.h; trace.h has the header and the trailer, too.
 */
enum tr_status tr_reader_read(struct tr_reader *reader, struct tr_record **record,
			      struct tr_error *err);

/* NULL is allowed. */
void tr_reader_free(struct tr_reader *reader);

/*
 * Writes one line of the stream. TR_OK; TR_WARN: the record was left out (with TR_NOTE or TR_FLAW:
 * written, with a remark); TR_FATAL. Output errors are kept in the output.
 */
enum tr_status tr_writer_put(struct tr_writer *writer, struct tr_record *record,
			     struct tr_error *err);

/* Whether the writer can take blocks without records. */
bool tr_writer_takes_blocks(const struct tr_writer *writer);

/*
 * Writes blocks as tr_writer_put would write their records, the first of which has the number seq.
 * Returns how many were written; the next one must come as a record.
 */
size_t tr_writer_put_blocks(struct tr_writer *writer, const struct tr_block *blocks, size_t count,
			    uint64_t seq);

/* Writes what is left; is called again while it returns TR_WARN. */
enum tr_status tr_writer_finish(struct tr_writer *writer, struct tr_error *err);

/* Frees the writer without writing anything. */
void tr_writer_free(struct tr_writer *writer);

/* All of them, NULL-terminated. */
extern const struct tr_format *const tr_formats[];

const struct tr_format *tr_format_by_name(struct tr_text name);

/* The kinds of API calls of this function, in any format that has such calls. */
unsigned tr_format_call_kinds(struct tr_text name);

/* The API of this function in the words of its format, or NULL. */
const char *tr_format_call_api(struct tr_text name);

/* Returns the format with the highest bid; NULL: no format bids. settings: for its reader. */
const struct tr_format *tr_format_detect(struct tr_input *in, const struct tr_settings *settings);

/* True when value is one of option->values, or option takes any. */
bool tr_setting_accepts(const struct tr_format_option *option, struct tr_text value);

/*
 * Checks settings against the format's table (reading or writing). A key that is not in the table
 * is ignored, because it may be meant for the format at the other end. False: err is filled.
 */
bool tr_settings_check(const struct tr_settings *settings, const struct tr_format *format,
		       bool writing, struct tr_error *err);

#endif
