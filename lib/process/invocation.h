/* SPDX-License-Identifier: MIT */
/*
 * What a command line asks a compiler to do, as far as its sources, its output
 * and its mode go: for drivers that take options as GCC and Clang do, and for
 * those of Microsoft's kind.
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

enum tr_mode {
	TR_MODE_LINK,	    /* none of the others was asked for: sources are compiled on the way */
	TR_MODE_COMPILE,    /* -c */
	TR_MODE_ASSEMBLY,   /* -S */
	TR_MODE_SYNTAX,	    /* -fsyntax-only */
	TR_MODE_PREPROCESS, /* -E, -M, -MM */
	TR_MODE_TELL,	    /* --version, -print-..., nothing to do */
};

enum tr_role {
	TR_ROLE_OTHER,
	TR_ROLE_PROGRAM,
	TR_ROLE_SOURCE,
	TR_ROLE_INPUT,	 /* a file for the linker: object, library */
	TR_ROLE_OUTPUT,	 /* -o and its value */
	TR_ROLE_PRODUCT, /* of linking, where that is another option: cl's /Fe */
	TR_ROLE_MODE,	 /* -c and the like */
	TR_ROLE_LINKING, /* an option that only linking looks at, and its value */
	TR_ROLE_DEFINE,	 /* -D, -U and their values */
	TR_ROLE_SEARCH,	 /* -I and the like, with their values */
	TR_ROLE_SYSTEM,	 /* -isystem */
	TR_ROLE_INCLUDE, /* -include, -imacros */
	TR_ROLE_DIALECT, /* -std */
	TR_ROLE_LANGUAGE /* -x and its value */
};

/* One word of the command line. */
struct tr_part {
	struct tr_text text;
	struct tr_text file; /* of a source: its path, which is not all of "/Tca.txt" */
	size_t origin;	     /* see struct tr_word */
	uint8_t role;	     /* enum tr_role; of an option's value that of the option */
	bool value;	     /* it is the value of the option in front of it */
	bool from_file;
};

struct tr_invocation {
	enum tr_tool tool; /* of the program itself, behind all launchers */
	enum tr_mode mode;
	struct tr_text output;	/* data NULL: none is said, or it is standard output */
	struct tr_text product; /* the same of TR_ROLE_PRODUCT */
	struct tr_part *parts;	/* from the program on */
	size_t count;
	size_t sources, inputs; /* parts of that role */
	size_t launchers;	/* words in front of the program */
};

/*
 * How many words of a command line are a launcher's and its own options;
 * *libtool: libtool compiles. argc where no program follows.
 */
size_t tr_invocation_launchers(const struct tr_text *argv, size_t argc, bool *libtool);

/*
 * Understands words, whose first is the program. program: what it is. False:
 * memory is out.
 */
bool tr_invocation_parse(enum tr_tool program, const struct tr_word *words, size_t count,
			 struct tr_arena *arena, struct tr_invocation *result);

/*
 * The file that a source is made into where the command says none: "a.o", "a.s".
 * data NULL: memory.
 */
struct tr_text tr_invocation_object(const struct tr_invocation *invocation, struct tr_text source,
				    struct tr_arena *arena);

/*
 * The output that the command says for a source, where that has one of its own:
 * not on the way to a program, not of several. A folder (cl's /Foobj\\) holds it.
 * data NULL: none is said, or memory is out (and *failed).
 */
struct tr_text tr_invocation_output(const struct tr_invocation *invocation, struct tr_text source,
				    struct tr_arena *arena, bool *failed);

/* True where the name is one of a source by its extension. */
bool tr_is_source(struct tr_text path);

#endif
