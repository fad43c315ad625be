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
#include "core/buffer.h"
#include "core/text.h"
#include "process/compilers.h"
#include "process/respfile.h"

/* One word of a command line. */
struct tr_part {
	struct tr_text text;
	/*
	 * The path of a source, which may be a part of the word: "/Tca.txt". Or the value that an
	 * option has in the same word; data NULL: it has none.
	 */
	struct tr_text file;
	size_t origin; /* see struct tr_word */
	uint8_t role;  /* enum tr_role; a value has the role of its option */
	bool value;    /* it is the value of the option before it */
	bool own;      /* an option that a table of the user adds */
	bool from_file;
};

/* The meaning of a command line, as far as sources, output and mode are concerned. */
struct tr_invocation {
	enum tr_tool_kind tool;	   /* the program after all launchers */
	struct tr_program program; /* the same with its options; tool may differ: clang -cc1 */
	enum tr_mode mode;
	/* the mode if a response file that is not known names files */
	enum tr_mode mode_with_files;
	struct tr_text output;	/* data NULL: not given, or standard output */
	struct tr_text product; /* the same for TR_ROLE_PRODUCT */
	struct tr_text folder;	/* the same for TR_ROLE_FOLDER */
	struct tr_part *parts;	/* the program and its arguments */
	size_t count;
	size_t sources, inputs; /* number of parts with that role */
	size_t launchers;	/* number of words before the program */
	bool orderly;		/* no word makes all that follow it options of the linker */
	bool bitcode, module;	/* objects are of another kind: TR_ROLE_BITCODE, TR_ROLE_MODULE */
};

/*
 * Parses words, which begin with the name of the program. An unknown program has the options of
 * GCC. False: out of memory.
 */
bool tr_invocation_parse(const struct tr_program *program, const struct tr_word *words,
			 size_t count, struct tr_arena *arena, struct tr_invocation *result);

/* True for roles of options whose values affect neither the files of an invocation nor its mode. */
bool tr_invocation_is_inert(enum tr_role role);

/*
 * True if two options have the same inert role, and differ at most in the value that they contain.
 */
bool tr_invocation_alike(const struct tr_program *program, struct tr_text a, struct tr_text b);

/*
 * The default name of the file that a source is compiled to, such as "a.o" or "a.s"; a guess if the
 * section has no extension of objects. data NULL: out of memory.
 */
struct tr_text tr_invocation_object(const struct tr_invocation *invocation, struct tr_text source,
				    struct tr_arena *arena);

/*
 * The file that a source is compiled to as given on the command line: in a folder (/Foobj\ of cl,
 * --output_dir of armcc), or of that name if there is only one source and it is not linked. data
 * NULL: not given, or out of memory (*failed is set).
 */
struct tr_text tr_invocation_output(const struct tr_invocation *invocation, struct tr_text source,
				    struct tr_arena *arena, bool *failed);

/* Appends the default name of the linked file, such as "a.out". */
void tr_invocation_product(const struct tr_invocation *invocation, struct tr_buffer *name);

#endif
