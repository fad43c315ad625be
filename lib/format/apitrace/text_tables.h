/* SPDX-License-Identifier: MIT */
/* The definitions of a segment, as the text of calls needs them. */
#ifndef TR_FORMAT_APITRACE_TABLES_H
#define TR_FORMAT_APITRACE_TABLES_H

#include "core/buffer.h"
#include "core/map.h"
#include "record/record.h"

/* Escape sequences of a terminal around names, or nothing. */
struct tr_apitrace_look {
	struct tr_text bold, normal;
	bool arg_names; /* arguments have theirs */
};

enum { TR_APITRACE_SLACK = 16 }; /* readable bytes after lead and head */

struct tr_apitrace_argument {
	struct tr_text key;  /* of the field in a record: the name, as keys are spelled */
	struct tr_text name; /* its bytes, as far as C sees them */
	struct tr_text lead; /* the text before its value: ", name = " */
};

struct tr_apitrace_function {
	struct tr_text cell; /* the name, as cells are spelled */
	struct tr_text name; /* its bytes, as far as C sees them */
	struct tr_text head; /* the text before the arguments: "name(" */
	unsigned kinds;	     /* see calls.h */
	struct tr_apitrace_argument *arguments;
	size_t count;
	struct tr_map by_key; /* argument of that key; only of functions with many */
};

/* Zero it, and set look. */
struct tr_apitrace_tables {
	struct tr_apitrace_look look;
	struct tr_arena arena;
	struct tr_map functions; /* by cell: the first of that name */
	struct tr_map others;	 /* by id ("F17"): all functions */
	struct tr_map frames;	 /* by id ("K3"): their text, a struct tr_text */
	struct tr_map guids;	 /* by id ("S5"): structures that are called GUID */
	bool failed;		 /* memory ran out */
	struct tr_buffer scratch;
};

/* Adds a definition; a repeated one is ignored. TR_WARN: it is not valid, err says why. */
enum tr_status tr_apitrace_tables_add(struct tr_apitrace_tables *tables, struct tr_record *record,
				      struct tr_error *err);

/* The function of a call, by .sig or by its name; NULL: there is no definition. */
struct tr_apitrace_function *tr_apitrace_tables_function(struct tr_apitrace_tables *tables,
							 struct tr_text sig, struct tr_text cell);

/* True for the id of a structure that is called GUID. */
bool tr_apitrace_tables_is_guid(const struct tr_apitrace_tables *tables, uint64_t id);

/*
 * Makes a function of its cell and the keys of its arguments, which are set, in
 * the arena. False: memory is out. A cell with bad escapes is its own name.
 */
bool tr_apitrace_function_guess(struct tr_apitrace_tables *tables,
				struct tr_apitrace_function *function, struct tr_arena *arena);

/* The argument of a key; count if there is none. */
size_t tr_apitrace_function_argument(const struct tr_apitrace_function *function,
				     struct tr_text key);

/* Removes all definitions. */
void tr_apitrace_tables_reset(struct tr_apitrace_tables *tables);
void tr_apitrace_tables_free(struct tr_apitrace_tables *tables);

#endif
