/* SPDX-License-Identifier: MIT */
/*
 * The table of compilers and other build tools: their names, options, outputs and response files.
 *
 *	compilers.txt	    the table as people read it; its head explains the words
 *	compilers.awk	    makes compilers_table.h of it when trec-tools are built: const arrays
 *			    without pointers, so that no tool spends time on it when it starts
 *	compilers.c	    the table that is built in, programs by name, options
 *	compilers_read.c    reads tables of users, which add to that table
 *
 * A section of the table describes the programs of one family and kind. By default, the name of a
 * program decides, after its target prefix, version and .exe: gcc, arm-linux-gnueabihf-g++-12.2,
 * clang++-16, cl.exe, ccache.
 *
 * A table is immutable, so several threads can use it. Texts of a table are borrowed from it.
 */
#ifndef TR_PROCESS_COMPILERS_H
#define TR_PROCESS_COMPILERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/text.h"

enum tr_tool_kind {
	TR_TOOL_NONE,
	TR_TOOL_DRIVER,	   /* takes sources, and usually links */
	TR_TOOL_DRIVER_CL, /* the same with the notation of Microsoft's options */
	TR_TOOL_COMPILER,  /* the compiler that a driver runs: cc1, clang -cc1 */
	TR_TOOL_ASSEMBLER,
	TR_TOOL_LINKER,
	TR_TOOL_ARCHIVER,
	TR_TOOL_PREPROCESSOR,
	TR_TOOL_COLLECTOR, /* collect2: a linker that runs another one */
	TR_TOOL_HELPER,	   /* only ever runs as part of another tool: lto-wrapper */
	TR_TOOL_LAUNCHER,  /* ccache, distcc: runs the command in its arguments */
	TR_TOOL_LIBTOOL,   /* a script that runs variants of the command in its arguments */
};

/* True for linkers. The collector, too, takes the options of the linker that it runs. */
static inline bool tr_tool_is_linker(enum tr_tool_kind kind)
{
	return kind == TR_TOOL_LINKER || kind == TR_TOOL_COLLECTOR;
}

/* The last step of a command line. If several are asked for, the last in this list applies. */
enum tr_mode {
	TR_MODE_LINK,	    /* default: compiles its sources and links */
	TR_MODE_COMPILE,    /* -c */
	TR_MODE_ASSEMBLY,   /* -S */
	TR_MODE_SYNTAX,	    /* -fsyntax-only */
	TR_MODE_PREPROCESS, /* -E, -M, -MM */
	TR_MODE_QUERY,	    /* --version, -print-...: prints something, or nothing to do */
};

/* The role of a word on a command line. */
enum tr_role {
	TR_ROLE_OTHER,
	TR_ROLE_PROGRAM,
	TR_ROLE_SOURCE,
	TR_ROLE_INPUT,	  /* a file for the linker: object, library */
	TR_ROLE_OUTPUT,	  /* -o and its value */
	TR_ROLE_PRODUCT,  /* the linked file, if it has an option of its own: /Fe of cl */
	TR_ROLE_MODE,	  /* -c and the like */
	TR_ROLE_LINKING,  /* an option that affects linking only, and its value */
	TR_ROLE_DEFINE,	  /* -D, -U and their values */
	TR_ROLE_SEARCH,	  /* -I and the like, with their values */
	TR_ROLE_SYSTEM,	  /* -isystem */
	TR_ROLE_INCLUDE,  /* -include, -imacros */
	TR_ROLE_DIALECT,  /* -std */
	TR_ROLE_LANGUAGE, /* -x and its value */
	TR_ROLE_FOLDER,	  /* the directory of all objects: --output_dir of armcc */
	/* only in tables; the words have the role TR_ROLE_LINKING */
	TR_ROLE_REST,	/* all words that follow only affect linking: /link of cl */
	TR_ROLE_LINKER, /* all words that follow are options of the linker: -z of TI */
	/* only in tables; the words have the role TR_ROLE_OTHER, or TR_ROLE_MODE */
	TR_ROLE_BITCODE, /* objects are bitcode of LLVM: -emit-llvm */
	TR_ROLE_MODULE,	 /* compiles to a precompiled module: --precompile */
};

/* The place where an option has its value. */
enum tr_value_place {
	TR_PLACE_ALONE,	 /* nowhere: it has none */
	TR_PLACE_JOINED, /* after its name, in the same word */
	TR_PLACE_EITHER, /* there, or in the next word if the name is the whole word */
	TR_PLACE_NEXT,	 /* in the next word; a longer word is a different option */
	TR_PLACE_EQUAL,	 /* after "=", or in the next word */
	TR_PLACE_PAREN,	 /* in parentheses */
	TR_PLACE_BOTH,	 /* a part in the same word, and the value in the next word */
	TR_PLACE_TWO,	 /* two values in the next two words */
	TR_PLACE_THREE,	 /* three values in the next three words */
	TR_PLACE_NUMBER, /* in the same word, or the next one if that is a number */
};

/* The forms in which options are written; the head of compilers.txt explains each. */
enum tr_notation {
	TR_NOTATION_PLAIN,
	TR_NOTATION_GNU,
	TR_NOTATION_LD,
	TR_NOTATION_CL,
	TR_NOTATION_AR,
	TR_NOTATION_KEIL,
};

/* The words that a variable of the environment adds to a command line. */
enum tr_variable_use {
	TR_VARIABLE_BEFORE, /* options before those of the command line */
	TR_VARIABLE_AFTER,  /* options after them */
	TR_VARIABLE_SEARCH, /* directories, after those of all -I */
	TR_VARIABLE_SYSTEM, /* directories, after those of all -isystem */
	TR_VARIABLE_SYSTEM_C,
	TR_VARIABLE_SYSTEM_CXX,
	TR_VARIABLE_SYSTEM_OBJC,
	TR_VARIABLE_SYSTEM_OBJCXX,
};

/* A part of the texts of a table. */
struct tr_piece {
	uint32_t at, len;
};

/* A part of another list of a table. */
struct tr_range {
	uint32_t begin, count;
};

enum { TR_NO_SECTION = UINT32_MAX };

struct tr_section {
	struct tr_piece family;
	struct tr_piece prefix; /* characters with which options begin */
	struct tr_piece
		product;	/* default name of the linked file; *: the name of the first file */
	struct tr_piece object; /* the extension of objects; empty: it is unknown */
	struct tr_piece assembly;     /* and of assembly */
	struct tr_piece compile_only; /* option that prevents linking, such as -c; may be empty */
	struct tr_range options;      /* sorted by the bytes of their names */
	struct tr_range sources;      /* extensions of sources; none: the usual ones */
	struct tr_range respfiles;    /* options that name response files */
	struct tr_range variables;
	uint32_t like;	 /* a section whose options it has, too, or TR_NO_SECTION */
	uint32_t linker; /* the linker of the family, or TR_NO_SECTION */
	uint8_t kind;	 /* enum tr_tool_kind; TR_TOOL_NONE: runs compilers, or makes nothing */
	uint8_t notation;
	bool any_case; /* options and extensions in upper or lower case; in the table: lower */
	bool compiles; /* does not link unless an option says so */
	bool beside;   /* puts objects beside their sources */
	bool foreign;  /* compilation databases do not have its sources */
	bool windows;  /* quotes in response files as on Windows, wherever it runs */
	bool comments; /* response files may have comments of C and C++ */
};

/* Names of programs, sorted by length, then bytes; those with a condition come first. */
struct tr_program_name {
	struct tr_piece text; /* the folders that come before the name, and the name */
	uint32_t folders;     /* bytes of the folders: "pkg/tool/" and "*" for any one */
	uint32_t section;     /* TR_NO_SECTION: it is the first word of a call */
	bool exe;	      /* it has to end in .exe */
};

struct tr_option_name {
	uint32_t at; /* the name without the prefix */
	uint8_t len, role, place, mode;
};

/* A text with a number: response files and their forms, variables and their use, calls. */
struct tr_numbered {
	struct tr_piece text;
	uint32_t number;
};

enum { TR_PROGRAM_NAME_MAX = 31 };

struct tr_compilers {
	const char *texts;
	const struct tr_section *sections;
	const struct tr_program_name *names;
	const struct tr_option_name *options;
	const struct tr_numbered *respfiles; /* forms: process/respfile.h */
	const struct tr_numbered *variables; /* enum tr_variable_use */
	const struct tr_numbered *calls;     /* "zig cc", and the index of the section */
	const struct tr_piece *sources;
	uint32_t text_size, section_count, name_count, option_count, call_count;
	uint32_t respfile_count, variable_count, source_count;
	uint32_t by_length[TR_PROGRAM_NAME_MAX + 2]; /* the first name of that length */
};

/* The built-in table. */
extern const struct tr_compilers tr_compilers_known;

/* A program as a table describes it. */
struct tr_program {
	enum tr_tool_kind kind; /* TR_TOOL_NONE: unknown, or no build tool */
	const struct tr_compilers *table;
	const struct tr_section *section; /* NULL: unknown */
	size_t words;			  /* of its name: 2 for "zig cc" */
	bool calls; /* the words after the name select the program, or whether it is one */
};

/*
 * The program with this name, which may follow a path. rest: the words after it, which programs
 * such as zig need; may be NULL. table: NULL is the built-in table.
 */
struct tr_program tr_program_find(const struct tr_compilers *table, struct tr_text path,
				  const struct tr_text *rest, size_t count);

/*
 * Selects the options that --driver-mode asks for among the words after a program that was found
 * without them: those of clang-cl for clang --driver-mode=cl, and the reverse.
 */
void tr_program_follow_mode(struct tr_program *program, const struct tr_text *rest, size_t count);

/* The kind of the program with that name in the built-in table. */
enum tr_tool_kind tr_tool_of_name(struct tr_text path);

/* An unnamed program of that kind with the options of GCC. table as in tr_program_find. */
struct tr_program tr_program_usual(const struct tr_compilers *table, enum tr_tool_kind kind);

/* The last component of a path, without .exe. */
struct tr_text tr_tool_base(struct tr_text path);

static inline struct tr_text tr_compilers_text(const struct tr_compilers *table,
					       struct tr_piece piece)
{
	return (struct tr_text){ table->texts + piece.at, piece.len };
}

/*
 * The option of a section, or of those that it is like, with the longest name that the word begins
 * with, or equals if it has no value in the word. word: without the prefix, and in lower case if
 * case does not matter. NULL: none.
 */
const struct tr_option_name *tr_option_find(const struct tr_compilers *table,
					    const struct tr_section *section, struct tr_text word);

/*
 * A table that users extend: a copy of base (borrowed only here), to which names and sections are
 * added. names: with the names of base; without them only programs that are added are known, but
 * these can be like those of base. NULL: err is set.
 */
struct tr_compilers *tr_compilers_extend(const struct tr_compilers *base, bool names,
					 struct tr_error *err);

/* Adds a text as in compilers.txt. origin: its name in messages. False: err is set. */
bool tr_compilers_add(struct tr_compilers *table, struct tr_text text, struct tr_text origin,
		      struct tr_error *err);

/* Adds a file. False: err is set. */
bool tr_compilers_add_file(struct tr_compilers *table, struct tr_text path, struct tr_error *err);

/* Adds a name of the driver of a family, as "NAME=FAMILY". False: err is set. */
bool tr_compilers_add_name(struct tr_compilers *table, struct tr_text name, struct tr_error *err);

/*
 * Finds a section that was added and that nothing refers to: no name, no section that is like it,
 * no family whose linker it is. False, and err is set: there is one, which is a mistake.
 */
bool tr_compilers_check(const struct tr_compilers *table, struct tr_error *err);

/* Accepts NULL. Only for tables of tr_compilers_extend. */
void tr_compilers_free(struct tr_compilers *table);

/* The name of a kind, as in compilers.txt; of section->kind and its notation. */
const char *tr_section_kind(const struct tr_section *section);

#endif
