/* SPDX-License-Identifier: MIT */
/*
 * Calls of build tools. tr_call_read goes from an exec record to its meaning in four steps: the
 * command (command.h), the tool after all launchers (compilers.h, tool.h), the words with response
 * files expanded (respfile.h), and the role of each word (invocation.h). All results are in the
 * arena of the record. There is no global state.
 */
#ifndef TR_PROCESS_CALL_H
#define TR_PROCESS_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/error.h"
#include "process/command.h"
#include "process/call_filter.h"
#include "process/compilers.h"
#include "process/invocation.h"
#include "process/respfile.h"
#include "process/tool.h"
#include "record/record.h"

enum tr_call_quoting {
	TR_CALL_QUOTING_AUTO, /* Windows for cl and where the directory has a drive, else GNU */
	TR_CALL_QUOTING_GNU,
	TR_CALL_QUOTING_WINDOWS,
};

/* Words from elsewhere that act as arguments of the program. Borrowed. */
struct tr_call_words {
	const struct tr_text *list;
	size_t count;
};

struct tr_call_config {
	struct tr_compilers *compilers;	    /* NULL: those that are built in */
	const struct tr_tool_config *tools; /* NULL: the name of a program decides; borrowed */
	enum tr_call_quoting quoting;
	struct tr_file_roots roots;	    /* for response files that the record does not hold */
	struct tr_call_words before, after; /* options from the environment, such as CL and _CL_ */
};

/* Frees the compilers and the roots, for a user that owns them. */
void tr_call_config_free(struct tr_call_config *config);

struct tr_call {
	/* TR_TOOL_NONE: it is not a build tool; of the other members, only command may be set */
	enum tr_tool_kind tool;
	enum tr_stage stage;
	bool unrelated;		   /* no build tool by its name; its arguments were not read */
	bool libtool;		   /* libtool runs the compiler, perhaps more than once */
	struct tr_program program; /* according to its name */
	struct tr_text path;	   /* of the program; after launchers, as in their arguments */
	const struct tr_respfile_rules *rules;
	struct tr_command command;
	struct tr_expansion expansion;
	struct tr_invocation invocation;
};

/*
 * Reads an exec record. A command line that cannot be read is TR_WARN if the program is a build
 * tool, and otherwise TR_OK with TR_TOOL_NONE. TR_FATAL: out of memory.
 */
enum tr_status tr_call_read(struct tr_record *record, const struct tr_call_config *config,
			    struct tr_call *call, struct tr_error *err);

/*
 * Two steps of tr_call_read, for commands that are known to be calls of build tools. The first finds
 * the program of call->command after all launchers, and sets the members from tool to rules (NULL:
 * out of memory). Returns its index; argc: no program follows.
 */
size_t tr_call_find_program(struct tr_call *call, const struct tr_call_config *config,
			    struct tr_arena *arena);

/*
 * The second expands the response files in the words from the program on. TR_OK, or TR_FATAL: out of
 * memory.
 */
enum tr_status tr_call_expand(struct tr_call *call, size_t at, const struct tr_call_config *config,
			      struct tr_arena *arena, struct tr_error *err);

/*
 * Finds the absolute path of the file that the call links. It is empty if a response file that
 * could not be expanded may name it; data NULL: the call links nothing. False: out of memory.
 */
bool tr_call_product(const struct tr_call *call, struct tr_arena *arena, struct tr_text *product);

/* Returns the index of the word that names the archive of an archiver; expansion.count: none. */
size_t tr_call_archive(const struct tr_call *call);

/*
 * Finds the file that the command of an exec record makes, as spelled there: the output, or the
 * first source if the output is unknown or an intermediate file (of cc1). compilers: as in
 * tr_call_config. data NULL: none. False: out of memory.
 */
bool tr_call_makes(struct tr_record *record, struct tr_compilers *compilers, struct tr_text *makes);

/* Like tr_call_makes, and sets *call; its command counts as cut if it cannot be read. */
bool tr_call_read_makes(struct tr_record *record, struct tr_compilers *compilers,
			struct tr_call *call, struct tr_text *makes);

/*
 * Bounds the bytes that are written for one call. Each source repeats all options, so a line of N
 * words can produce N * N.
 */
enum { TR_CALL_TEXT_MAX = 256 << 20 };

/* Sets err: the call is left out because it exceeds TR_CALL_TEXT_MAX. Returns TR_WARN. */
enum tr_status tr_call_too_long(const struct tr_call *call, struct tr_error *err);

/* Returns the quoting of response files of a program (section NULL: unknown) in a directory. */
enum tr_quoting tr_call_quoting(const struct tr_call_config *config,
				const struct tr_section *section, struct tr_text directory);

/*
 * Unknown programs whose command lines look like those of compilers: they have -c, a source, and an
 * output or another option of compilers. Their calls are not recognised unless an option adds them
 * to the table, so they are counted by name and reported at the end. Only a few names are kept,
 * because a build has few compilers. Zero it.
 */
struct tr_unknown_compilers {
	struct {
		char name[TR_PROGRAM_NAME_MAX + 1];
		uint64_t count;
	} list[4];
	size_t count;
};

/*
 * Counts the command of an unknown program if it looks like that of a compiler. words: the program
 * and its arguments, of which only the texts are used. Returns the index of its name in the list,
 * plus 1; 0: it is not counted.
 */
size_t tr_unknown_compilers_count(struct tr_unknown_compilers *unknown, const struct tr_word *words,
				  size_t count);

/* Sets err to a note about the next name, and removes that name. False: there is none. */
bool tr_unknown_compilers_report(struct tr_unknown_compilers *unknown, struct tr_error *err);

#endif
