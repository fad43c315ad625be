/* SPDX-License-Identifier: MIT */
/*
 * The command lines of compiler drivers and linkers: which words are options, sources and outputs.
 * It ends with the names of the files that a call makes if its options do not name them.
 */
#ifndef TR_PROCESS_INVOCATION_H
#define TR_PROCESS_INVOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/text.h"
#include "process/respfile.h"
#include "process/tool.h"

/* How far a command line goes. If several are asked for, the last in this list applies. */
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
	TR_ROLE_INPUT,	 /* a file for the linker: object, library */
	TR_ROLE_OUTPUT,	 /* -o and its value */
	TR_ROLE_PRODUCT, /* the linked file, if it has an option of its own: /Fe of cl */
	TR_ROLE_MODE,	 /* -c and the like */
	TR_ROLE_LINKING, /* an option that affects linking only, and its value */
	TR_ROLE_DEFINE,	 /* -D, -U and their values */
	TR_ROLE_SEARCH,	 /* -I and the like, with their values */
	TR_ROLE_SYSTEM,	 /* -isystem */
	TR_ROLE_INCLUDE, /* -include, -imacros */
	TR_ROLE_DIALECT, /* -std */
	TR_ROLE_LANGUAGE /* -x and its value */
};

/* One word of a command line. */
struct tr_part {
	struct tr_text text;
	struct tr_text file; /* of a source: its path, which is a part of "/Tca.txt" */
	size_t origin;	     /* see struct tr_word */
	uint8_t role;	     /* enum tr_role; a value has the role of its option */
	bool value;	     /* it is the value of the option before it */
	bool from_file;
};

/* The meaning of a command line, as far as sources, output and mode are concerned. */
struct tr_invocation {
	enum tr_tool tool; /* the program after all launchers */
	enum tr_mode mode;
	struct tr_text output;	/* data NULL: not given, or standard output */
	struct tr_text product; /* the same for TR_ROLE_PRODUCT */
	struct tr_part *parts;	/* the program and its arguments */
	size_t count;
	size_t sources, inputs; /* number of parts with that role */
	size_t launchers;	/* number of words before the program */
};

/*
 * Parses words, of which the first is the program, a tool of kind `program`. False: out of memory.
 */
bool tr_invocation_parse(enum tr_tool program, const struct tr_word *words, size_t count,
			 struct tr_arena *arena, struct tr_invocation *result);

/*
 * The default name of the file that a source is compiled to, such as "a.o" or "a.s". data NULL: out
 * of memory.
 */
struct tr_text tr_invocation_object(const struct tr_invocation *invocation, struct tr_text source,
				    struct tr_arena *arena);

/*
 * The file that a source is compiled to as given on the command line: in a folder (/Foobj\ of cl),
 * or of that name if there is only one source and it is not linked. data NULL: not given, or out of
 * memory (*failed is set).
 */
struct tr_text tr_invocation_output(const struct tr_invocation *invocation, struct tr_text source,
				    struct tr_arena *arena, bool *failed);

#endif
