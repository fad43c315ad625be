/* SPDX-License-Identifier: MIT */
/*
 * Calls as `apitrace dump` of apitrace 11.1 prints them, byte for byte; trace_dump.cpp and
 * cli_dump.cpp are the sources of what that is.
 *
 *	// process.name = "/usr/bin/demo"
 *	0 @0 glXQueryExtension(dpy = 0x55aa, errorb = &0, event = &-5) = true
 *	1 @0 glDrawArrays(mode = GL_TRIANGLES, first = 0, count = 3) // fake
 *	Backtrace:
 *	libfoo.so: main+0x1f: a.c:12
 *	2 @0 glFinish() // incomplete
 *
 * A call is printed when it leaves; calls that never returned are printed at the end of
 * their segment. An empty line follows a call that ends a frame.
 *
 * Names come from the definitions of the stream. Without definitions, the arguments
 * are the fields of the record (with them, an argument that was not recorded is "?"),
 * frames are ids, and a GUID is a structure like any other.
 *
 * text.c has the style and the -O keys, keeps the definitions, and prints calls: those that come as
 * records, and plain ones directly from the bytes of the trace, with spell.c. text_value.c prints
 * values.
 */
#ifndef TR_FORMAT_APITRACE_TEXT_H
#define TR_FORMAT_APITRACE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/file.h"
#include "core/map.h"
#include "core/output.h"
#include "core/text.h"
#include "format/apitrace/parse.h"
#include "format/format.h"
#include "record/calls.h"
#include "record/join.h"
#include "record/record.h"

enum { TR_APITRACE_SLACK = 16 }; /* readable bytes after lead and head */

struct tr_apitrace_argument {
	struct tr_text key;  /* of the field in a record: the name, as keys are spelled */
	struct tr_text name; /* its bytes, up to a NUL */
};

struct tr_apitrace_function {
	struct tr_text cell; /* the name, as cells are spelled */
	struct tr_text name; /* its bytes, up to a NUL */
	struct tr_text head; /* the text before the arguments: "name(" */
	unsigned kinds;	     /* see calls.h */
	struct tr_apitrace_argument *arguments;
	struct tr_text *leads; /* of each argument, the text before its value: ", name = " */
	size_t count;
	struct tr_map by_key; /* argument of that key; only of functions with many */
};

/* The definitions of a segment, as the text of calls needs them. */
struct tr_apitrace_tables {
	struct tr_arena arena;
	struct tr_map functions; /* by cell: the first of that name */
	struct tr_map others;	 /* by id ("F17"): all functions */
	struct tr_map frames;	 /* by id ("K3"): their text, a struct tr_text */
	struct tr_map guids;	 /* by id ("S5"): structures that are called GUID */
	bool failed;		 /* memory is exhausted */
	struct tr_buffer scratch;
};

/* Escape sequences of terminals, or nothing. */
struct tr_apitrace_colors {
	struct tr_text normal, bold, red, pointer, literal;
};

enum {
	TR_APITRACE_NAMES = 64,	  /* functions that are found by the address of their name */
	TR_APITRACE_LEAF = 160,	  /* bytes of a value that is no container or text, at most */
	TR_APITRACE_NUMBER = 128, /* bytes of the numbers of a call and its thread, at most */
};

/* A function by the address and the length of the name in a record. */
struct tr_apitrace_known {
	struct tr_text cell;
	struct tr_apitrace_function *function;
};

struct tr_apitrace_text {
	struct tr_text_config config;
	struct tr_output *out;

	/* What is shown, by the switches of apitrace. */
	bool call_numbers, thread_ids, arg_names;
	bool multiline; /* backtraces, empty lines after frames, and unescaped line feeds in strings */
	bool verbose;	  /* also queries that seldom matter */
	bool fixed_octal; /* whole strings with correct octal numbers; apitrace has neither */

	struct tr_apitrace_colors colors;
	struct tr_join *join;
	struct tr_apitrace_tables tables;
	bool has_calls;	       /* the segment has records */
	struct tr_buffer line; /* the text of one record */
	struct tr_arena arena; /* for what a record needs while it is shown */

	struct tr_field **shown; /* the field that is shown for each argument; NULL: none */
	size_t shown_capacity;
	struct tr_apitrace_known known[TR_APITRACE_NAMES];
	struct tr_apitrace_function guess; /* made from a record that has no definition */

	struct tr_counter number; /* of the last call */

	struct tr_call_taker taker;
	struct tr_apitrace_notation notation; /* of the calls that are taken */

	/* Files for blobs. */
	struct tr_text folder; /* data NULL: their lengths are shown instead */
	int root;	       /* descriptor of folder after a blob was kept; -1 before */
	struct tr_file_group files;
	struct tr_buffer path;
	struct tr_text call; /* the number of the call that is shown */
	unsigned blobs;	     /* of that call, so far */
};

/*
 * text.c: prints the call at parse->p, whose unit has begun, and skips it. False: it is not plain,
 * or memory is exhausted; nothing was printed, and the call has to come as a record.
 */
bool tr_apitrace_text_take(struct tr_call_taker *taker, struct tr_apitrace_parse *parse,
			   uint64_t call);

/*
 * text.c: keeps a blob of the call in a file, and appends its name to text->line. False: it failed,
 * which is reported.
 */
bool tr_apitrace_text_keep_blob(struct tr_apitrace_text *text, unsigned number,
				struct tr_text bytes);

/*
 * text_value.c: writes a value that is neither a container nor text to `to`, in at most
 * TR_APITRACE_LEAF bytes, and returns its end. NULL: the value is a container or text.
 */
char *tr_apitrace_text_leaf(const struct tr_apitrace_text *text, const struct tr_value *value,
			    char *to);

/* Appends any value to text->line. False: memory is exhausted. */
bool tr_apitrace_text_value(struct tr_apitrace_text *text, const struct tr_value *value);

/* Appends a string, given by its spelling, in quotes. */
void tr_apitrace_text_string(struct tr_apitrace_text *text, struct tr_text spelling, bool wide);

/* Real numbers as printf writes them in the C locale, and much faster. */

enum { TR_TEXT_REAL_MAX = 32 };

/* The 32-bit number with these bits as %.7g; there has to be room for TR_TEXT_REAL_MAX bytes; no
 * NUL. */
size_t tr_text_real32(uint32_t bits, char *to);

/* The 64-bit number with these bits as %.16g. */
size_t tr_text_real64(uint64_t bits, char *to);

#endif
