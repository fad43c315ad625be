/* SPDX-License-Identifier: MIT */
/* The options of compiler drivers and linkers: which of them take a value, and what they affect. */
#ifndef TR_PROCESS_DRIVER_OPTION_H
#define TR_PROCESS_DRIVER_OPTION_H

#include <stdbool.h>

#include "core/text.h"
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

struct tr_driver_option {
	enum tr_role role;
	bool takes_next; /* its value is the next word */
	bool sets_mode;
	enum tr_mode mode;    /* if sets_mode */
	struct tr_text value; /* the value in the same word, borrowed; data NULL: none */
};

/*
 * Looks up an option of a driver or linker. The word begins with "-", or for TR_TOOL_DRIVER_CL with
 * "/", and has another character. An unknown option has TR_ROLE_OTHER, or TR_ROLE_LINKING where a
 * linker takes it, and no value.
 */
struct tr_driver_option tr_driver_option_find(enum tr_tool program, struct tr_text word);

#endif
