/* SPDX-License-Identifier: MIT */
/*
 * Private to the formats compdb and buildspec.
 *
 *	compdb.c	    names, options, helpers of both writers; the reader of both formats:
 *			    bytes -> object (json_items) -> record
 *	writer.c	    record -> call -> entries -> call filter -> JSON; -O append
 *	sources.c	    call -> an entry for each source, with the words that its environment adds
 *	entry.c		    entry -> its paths in the form of the settings -> JSON
 *	unknown.c	    notes about drivers with unknown names
 *	clangd.c	    options of GCC that Clang does not accept
 *	headers.c	    calls and all records -> entries for headers
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

/* The second of two entries is left out if both have the same ... */
enum tr_compdb_unique {
	TR_COMPDB_UNIQUE_FILE_OUTPUT,
	TR_COMPDB_UNIQUE_FILE,
	TR_COMPDB_UNIQUE_ALL,
	TR_COMPDB_UNIQUE_NONE,
};

/* The form of directory, file and output. */
enum tr_compdb_paths {
	TR_COMPDB_PATHS_DEFAULT, /* AS_IS for entries that were read from a database, else ABSOLUTE */
	TR_COMPDB_PATHS_ABSOLUTE,  /* file and output, without links resolved */
	TR_COMPDB_PATHS_RELATIVE,  /* file and output, to the directory */
	TR_COMPDB_PATHS_CANONICAL, /* all three, with the links of this machine resolved */
	TR_COMPDB_PATHS_AS_IS,	   /* as the command names them */
};

struct tr_compdb_globs {
	char **list; /* owned */
	size_t count, cap;
};

/* The settings: which entries are written, and in which form. Zero it. */
struct tr_compdb_style {
	enum tr_compdb_unique unique;
	enum tr_compdb_paths paths;
	bool as_command, without_output;
	bool existing;				 /* only sources that exist on this machine */
	bool appends;				 /* set `made` in heads */
	bool for_clang;				 /* without options that Clang does not accept */
	struct tr_compdb_globs include, exclude; /* of sources */
	uint64_t left_out;			 /* number of entries */
	uint64_t seeds[2];			 /* of hashes */
};

/*
 * Reads the -O options of compdb. False: memory is exhausted, and err is filled. In both cases the
 * caller frees style with tr_compdb_style_free.
 */
bool tr_compdb_style_read(const struct tr_settings *settings, struct tr_compdb_style *style,
			  struct tr_error *err);
void tr_compdb_style_free(struct tr_compdb_style *style);

/* The parts of an entry, as bytes. The texts are borrowed. */
struct tr_compdb_entry {
	bool made;				/* from a call; false: read from a database */
	struct tr_text directory, file, output; /* output, data NULL: the command names none */
	struct tr_text implied; /* the output according to the command, if output has none */
	const struct tr_text *argv;
	size_t argc;
	/* the members without a field, as compact JSON without braces; data NULL: none */
	struct tr_text extra;
};

/* Two hashes with different seeds. Texts with the same hashes are considered equal. */
struct tr_compdb_hash {
	uint64_t id, rest; /* rest is not 0 */
};

/*
 * Finds the output of the entry of a source: the one that the command gives (if it also links, the
 * program, as in Bear's entries), or else the implied one. data NULL: none. False: memory is
 * exhausted.
 */
bool tr_compdb_find_output(const struct tr_invocation *invocation, struct tr_text source,
			   struct tr_arena *arena, struct tr_text *given, struct tr_text *implied);

/*
 * A buffer of entries holds for each of them this head, its JSON, and perhaps the seed of entries
 * for headers.
 */
struct tr_compdb_head {
	struct tr_compdb_hash key;  /* of what -O unique compares */
	struct tr_compdb_hash file; /* of the file */
	struct tr_compdb_hash made; /* of the file and its output; only if style.appends */
	bool fallback;		    /* written only if no other entry has that file */
	size_t len, seed_len;	    /* bytes of the JSON and of the seed */
};

/*
 * Appends a head and an entry in the form of the settings, unless they leave it out. False: memory
 * is exhausted.
 */
bool tr_compdb_entry_append(const struct tr_compdb_entry *entry, struct tr_compdb_style *style,
			    bool fallback, struct tr_arena *arena, struct tr_buffer *to);

/*
 * Finds out what replaces a part of a command line for Clang. *replaced: the number of parts, with
 * the value of the option; 0: the part stays. *word replaces them; empty: they are left out. end:
 * of the parts. False: memory is exhausted.
 */
bool tr_compdb_replace_for_clang(const struct tr_part *part, const struct tr_part *end,
				 struct tr_arena *arena, struct tr_text *word, size_t *replaced);

/*
 * Puts the words that name the response file of a part of the call into to, and returns their
 * number. at: of the program among the words; origin: of the part.
 */
size_t tr_compdb_put_name(const struct tr_call *call, size_t at, size_t origin, struct tr_text *to);

/* Turns off the message about unknown warnings, which have too many names for a table. */
extern const char tr_compdb_clang_word[];

/* True if the command turns on a warning. */
bool tr_compdb_has_warnings(const struct tr_invocation *invocation);

/* True if the program has the options of GCC, some of which Clang does not accept. */
bool tr_compdb_has_gcc_options(const struct tr_invocation *invocation, struct tr_text program);

enum { TR_COMPDB_LANGUAGES = 4 }; /* C, C++, Objective-C and its C++ */

/* The words that variables of the environment add to a call. */
struct tr_compdb_variables {
	struct tr_call_words before, after; /* options */
	struct tr_compdb_list {
		enum tr_variable_use use;
		struct tr_text value; /* directories */
	} * lists;
	size_t count;
	/* the words for each language, and for all others, made when first needed */
	bool made[TR_COMPDB_LANGUAGES + 1];
	struct tr_call_words words[TR_COMPDB_LANGUAGES + 1];
};

/* Reads them from the environment of the call, into the arena. False: memory is exhausted. */
bool tr_compdb_variables_read(struct tr_environments *pool, struct tr_environment *env,
			      const struct tr_call *call, struct tr_arena *arena,
			      struct tr_compdb_variables *variables);

/*
 * Appends an entry for each source that the call compiles. inlined: replace the names of all
 * response files by their words; false: only if one of them names sources. seeds: append the seed
 * of entries for headers, too. variables: NULL if they add nothing. TR_WARN: the entries would be
 * too long, and none is appended. TR_FATAL: memory is exhausted.
 */
enum tr_status tr_compdb_call_append(struct tr_record *record, const struct tr_call *call,
				     bool inlined, bool seeds,
				     struct tr_compdb_variables *variables,
				     struct tr_compdb_style *style, struct tr_buffer *to,
				     struct tr_error *err);

/* Writes an element of the list that is the file. Errors of the output are reported at its end. */
void tr_compdb_put_element(struct tr_writer *base, struct tr_text json);

/* Create the writers of both formats, which the caller frees. NULL: err is filled. */
struct tr_writer *tr_compdb_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err);

struct tr_writer *tr_buildspec_create(const struct tr_write_config *config, struct tr_output *out,
				      struct tr_error *err);

/*
 * Entries for headers. A seed has, as bytes, the parts of a call that the entries of the headers of
 * one source need. It belongs to the current segment of the records that are put.
 */
struct tr_compdb_headers;

/* all: also headers outside of the project. NULL: err is filled. */
struct tr_compdb_headers *tr_compdb_headers_new(bool all, struct tr_error *err);
void tr_compdb_headers_free(struct tr_compdb_headers *headers);

/* The words of a call that entries for headers share, and the language of each source. */
struct tr_compdb_header_line {
	struct tr_text *words;
	size_t count;
	struct {
		size_t gap;	      /* number of words before it */
		const char *language; /* NULL: one that has no headers */
	} * sources;		      /* in their order on the command line */
};

/*
 * Reads the words of a call that compiles. for_clang: without those that Clang does not accept.
 * False: memory is exhausted.
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
 * Adds a copy of a seed. fallback: other seeds of a header are preferred. False: out of memory.
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

/* Finds drivers whose names are unknown; see unknown.c. */
struct tr_compdb_unknown;

/*
 * Takes a call that is not part of another one, or a program that is no build tool. *unknown is
 * initially NULL; the caller frees it. False: memory is exhausted.
 */
bool tr_compdb_unknown_put(struct tr_compdb_unknown **unknown, struct tr_record *record,
			   const struct tr_call *call);

/* Ends the segment. unknown may be NULL. */
void tr_compdb_unknown_end(struct tr_compdb_unknown *unknown);

/* Sets err to the next note, which says how to get the entries of a driver. False: none is left. */
bool tr_compdb_unknown_report(struct tr_compdb_unknown *unknown, struct tr_error *err);

/*
 * Reads the -O options of tr_setting_get_calls, and tools. False: err is filled. In both cases the
 * caller frees config and the tools.
 */
bool tr_compdb_call_config(const struct tr_settings *settings, struct tr_call_config *config,
			   struct tr_tool_config **tools, struct tr_error *err);

/*
 * Finds the program of call->command after all launchers, at the index *at, and expands the response
 * files in the words from there on. If no program follows, the first word is one. rules: NULL for
 * those of the program. TR_OK, or TR_FATAL: memory is exhausted.
 */
enum tr_status tr_compdb_expand(const struct tr_call_config *config,
				const struct tr_respfile_rules *rules, struct tr_arena *arena,
				struct tr_call *call, size_t *at, struct tr_error *err);

/*
 * Puts the words of an expansion in the place of those of a command, of which the first ones stay.
 * *argv and *argc stay as they are if no response file was expanded. False: memory is exhausted.
 */
bool tr_compdb_inline(const struct tr_expansion *expansion, size_t first, struct tr_arena *arena,
		      const struct tr_text **argv, size_t *argc);

/* Appends the field extra as members of compact JSON. TR_WARN: JSON cannot hold it. */
enum tr_status tr_compdb_extra(struct tr_record *record, struct tr_buffer *to,
			       struct tr_error *err);

#endif
