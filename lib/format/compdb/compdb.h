/* SPDX-License-Identifier: MIT */
/*
 * Private to the formats compdb and buildspec.
 *
 *	compdb.c	    names, options, what both writers use; the reader of both formats:
 *			    bytes -> object (json_items) -> record
 *	writer.c	    record -> call -> entries -> call filter -> JSON; the database that
 *			    is kept
 *	sources.c	    call -> an entry for each source
 *	entry.c		    entry -> its paths as the settings want them -> JSON
 *	unknown.c	    drivers whose names are unknown, for notes
 *	clangd.c	    options of GCC that Clang does not know
 *	variables.c	    environment -> words that it adds to a command
 *	headers.c	    the same calls, and all records -> entries for headers
 *	buildspec_writer.c  record -> call -> item -> call filter -> JSON
 *
 * compdb is compile_commands.json, the compilation database of Clang's tools
 * (https://clang.llvm.org/docs/JSONCompilationDatabase.html): a JSON list of
 * objects with directory, file, arguments or command, output.
 *
 * buildspec is xcalbuild's build specification (docs/design/Build-Spec.md and
 * docs/design/Tracer.md in its sources): the same without file, and with
 * respfile, the content of the first response file that the arguments name.
 * Its tracer's debug output has more keys, which are copied.
 */
#ifndef TR_FORMAT_COMPDB_COMPDB_H
#define TR_FORMAT_COMPDB_COMPDB_H

#include "format/format.h"
#include "process/call.h"
#include "process/environment.h"

/* What two entries have in common if the second one is left out. */
enum tr_compdb_unique {
	TR_COMPDB_UNIQUE_FILE_OUTPUT,
	TR_COMPDB_UNIQUE_FILE,
	TR_COMPDB_UNIQUE_ALL,
	TR_COMPDB_UNIQUE_NONE,
};

/* The form of directory, file and output. */
enum tr_compdb_paths {
	TR_COMPDB_PATHS_DEFAULT,   /* absolute; as they are if the entry comes from a database */
	TR_COMPDB_PATHS_ABSOLUTE,  /* file and output, without links resolved */
	TR_COMPDB_PATHS_RELATIVE,  /* file and output, to the directory */
	TR_COMPDB_PATHS_CANONICAL, /* all three, without links, as this machine has them */
	TR_COMPDB_PATHS_AS_IS,	   /* as the command names them */
};

struct tr_compdb_globs {
	char **list; /* owned */
	size_t count, cap;
};

/* Which entries are written, and how: the settings. All zero at first. */
struct tr_compdb_style {
	enum tr_compdb_unique unique;
	enum tr_compdb_paths paths;
	bool as_command, without_output;
	bool existing;				 /* only sources that are on this machine */
	bool appends;				 /* heads need the member made */
	bool for_clang;				 /* without options that Clang does not know */
	struct tr_compdb_globs include, exclude; /* of sources */
	uint64_t left_out;			 /* entries that the settings left out */
	uint64_t seeds[2];			 /* of hashes */
};

/* False: memory is exhausted, err is filled; tr_compdb_style_free frees it in both cases. */
bool tr_compdb_style_read(const struct tr_settings *settings, struct tr_compdb_style *style,
			  struct tr_error *err);
void tr_compdb_style_free(struct tr_compdb_style *style);

/* The parts of an entry, as bytes. */
struct tr_compdb_entry {
	bool made;				/* of a call; else it was read from a database */
	struct tr_text directory, file, output; /* output, data NULL: the command names none */
	struct tr_text implied; /* the output that the command makes without naming it */
	const struct tr_text *argv;
	size_t argc;
	struct tr_text extra; /* members of other keys, as compact JSON without braces; data NULL */
};

/* Two hashes with seeds of their own: texts with equal ones are taken to be equal. */
struct tr_compdb_hash {
	uint64_t id, rest; /* rest is not 0 */
};

/* Precedes each entry's text in the buffer, which the seed of entries for headers may follow. */
struct tr_compdb_head {
	struct tr_compdb_hash key;  /* equal: the same for -O unique */
	struct tr_compdb_hash file; /* equal: of the same file */
	struct tr_compdb_hash
		made;  /* equal: the same output, or none, of that file; style.appends */
	bool fallback; /* written only if no other entry is of that file */
	size_t len, seed_len;
};

/*
 * Appends a head and an entry in the form of the settings, unless they leave it out. False: memory
 * is exhausted.
 */
bool tr_compdb_entry_append(const struct tr_compdb_entry *entry, struct tr_compdb_style *style,
			    bool fallback, struct tr_arena *arena, struct tr_buffer *to);

/* True for an option of GCC that Clang refuses, or ignores with a warning. */
bool tr_compdb_is_unknown_to_clang(struct tr_text word);

/*
 * An option that a table of the user adds, as Clang has it: by its role, such as -D for a definition.
 * value: the word after it; data NULL: it has its value in itself, or none. Empty: Clang has none like
 * it. data NULL: memory is exhausted.
 */
struct tr_text tr_compdb_clang_option(const struct tr_part *part, struct tr_text value,
				      struct tr_arena *arena);

/* Turns off the message about unknown warnings, which have too many names for a table. */
extern const char tr_compdb_clang_word[];

/* True if a word of the command turns on a warning. */
bool tr_compdb_has_warnings(const struct tr_invocation *invocation);

/* True if the program is GCC or one with its options, so that Clang may not know some of them. */
bool tr_compdb_has_gcc_options(const struct tr_invocation *invocation, struct tr_text program);

enum { TR_COMPDB_LANGUAGES = 4 }; /* C, C++, Objective-C and its C++ */

/* What variables of the environment add to the command line of a call. */
struct tr_compdb_variables {
	struct tr_call_words before, after; /* options */
	struct tr_compdb_list {
		enum tr_variable_use use;
		struct tr_text value; /* directories */
	} * lists;
	size_t count;
	/* the words for each language, and for others, once they are made */
	bool made[TR_COMPDB_LANGUAGES + 1];
	struct tr_call_words words[TR_COMPDB_LANGUAGES + 1];
};

/* Reads them from the environment of the call, into the arena. False: memory is exhausted. */
bool tr_compdb_variables_read(struct tr_environments *pool, struct tr_environment *env,
			      const struct tr_call *call, struct tr_arena *arena,
			      struct tr_compdb_variables *variables);

/*
 * The words for a source of that call; they come after all other options. language: as
 * tr_compdb_headers_line finds it. False: memory is exhausted.
 */
bool tr_compdb_variables_words(struct tr_compdb_variables *variables, const struct tr_call *call,
			       const char *language, struct tr_arena *arena,
			       struct tr_call_words *words);

/*
 * Appends an entry for each source that the call compiles. inlined: options of response files
 * replace the names of the files; else only where the files name sources. seeds: those of entries
 * for headers follow. variables: NULL if they add nothing. TR_WARN: the entries would be too long,
 * and none is appended. TR_FATAL: memory is exhausted.
 */
enum tr_status tr_compdb_call_append(struct tr_record *record, const struct tr_call *call,
				     bool inlined, bool seeds,
				     struct tr_compdb_variables *variables,
				     struct tr_compdb_style *style, struct tr_buffer *to,
				     struct tr_error *err);

struct tr_writer *tr_compdb_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err);

struct tr_writer *tr_buildspec_create(const struct tr_write_config *config, struct tr_output *out,
				      struct tr_error *err);

/*
 * Entries for headers. A seed is what an entry needs of a call that compiles one source, as bytes;
 * those that are added belong to the segment of the records that are put before and after them.
 */
struct tr_compdb_headers;

/* all: also headers outside of the project. NULL: err is filled. */
struct tr_compdb_headers *tr_compdb_headers_new(bool all, struct tr_error *err);
void tr_compdb_headers_free(struct tr_compdb_headers *headers);

/* The words of a call that entries for headers have, too, and what each source adds. */
struct tr_compdb_header_line {
	struct tr_text *words;
	size_t count;
	struct {
		size_t gap;	      /* the number of words before it */
		const char *language; /* NULL: one that has no headers */
	} * sources;		      /* in their order on the command line */
};

/*
 * Reads the words of a call that compiles. for_clang: without those that Clang does not know. False:
 * memory is exhausted.
 */
bool tr_compdb_headers_line(const struct tr_call *call, struct tr_text program, bool for_clang,
			    struct tr_arena *arena, struct tr_compdb_header_line *line);

/*
 * Appends the seed of a call and one of its sources, whose absolute path is path, with more words
 * after those of the line. Nothing is appended if the language has no headers.
 */
void tr_compdb_headers_seed(struct tr_record *record, const struct tr_call *call,
			    const struct tr_compdb_header_line *line, size_t source,
			    const struct tr_call_words *more, struct tr_text path,
			    struct tr_buffer *to);

/*
 * Adds a seed, of which a copy is kept. fallback: others are preferred. False: memory is exhausted.
 */
bool tr_compdb_headers_add(struct tr_compdb_headers *headers, struct tr_text seed, bool fallback);

/* Follows the files that the record uses; statuses as those of tr_deps_put. */
enum tr_status tr_compdb_headers_put(struct tr_compdb_headers *headers, struct tr_record *record,
				     struct tr_error *err);

/* Receives the parts of an entry. False: memory is exhausted. */
typedef bool tr_compdb_header_put(void *context, struct tr_text directory, struct tr_text file,
				  const struct tr_text *argv, size_t argc);

/* Ends the segment: puts one entry for each header, in the order of their paths. */
enum tr_status tr_compdb_headers_end(struct tr_compdb_headers *headers, tr_compdb_header_put *put,
				     void *context, struct tr_error *err);

/* Reports once, at the end, why headers may be missing. TR_WARN, or TR_OK. */
enum tr_status tr_compdb_headers_report(struct tr_compdb_headers *headers, struct tr_error *err);

/* Drivers whose names are unknown, found by the compilers that they start. */
struct tr_compdb_unknown;

/*
 * Takes a call that is no part of another one, or a program that is no tool. *unknown is NULL at
 * first; the caller frees it. False: memory is exhausted.
 */
bool tr_compdb_unknown_put(struct tr_compdb_unknown **unknown, struct tr_record *record,
			   const struct tr_call *call);

/* Ends the segment. unknown may be NULL. */
void tr_compdb_unknown_end(struct tr_compdb_unknown *unknown);

/* Fills err with the next note: how to make the entries of a driver. False: there is no other. */
bool tr_compdb_unknown_report(struct tr_compdb_unknown *unknown, struct tr_error *err);

/*
 * Reads the settings quoting, respfile-root, tools and those of compilers. False: err is filled. In
 * both cases the caller frees config->roots, config->compilers and the tools.
 */
bool tr_compdb_call_config(const struct tr_settings *settings, struct tr_call_config *config,
			   struct tr_tool_config **tools, struct tr_error *err);

/*
 * Replaces the words of a command, or those after its launchers, by others in which response files
 * are expanded. False: memory is exhausted.
 */
bool tr_compdb_inline(const struct tr_call_config *config, const struct tr_command *command,
		      const struct tr_respfile_rules *rules, struct tr_arena *arena,
		      const struct tr_text **argv, size_t *argc, struct tr_respfile_left *left);

/* Appends the field extra as members of compact JSON. TR_WARN: JSON cannot hold it. */
enum tr_status tr_compdb_extra(struct tr_record *record, struct tr_buffer *to,
			       struct tr_error *err);

#endif
