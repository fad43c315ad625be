/* The definitions of a segment, as the text of calls needs them. */
#ifndef TR_VIEW_APITRACE_TABLES_H
#define TR_VIEW_APITRACE_TABLES_H

#include "core/map.h"
#include "record/record.h"

struct tr_apitrace_argument {
	struct tr_text key;  /* of the field in a record: the name, as keys are spelled */
	struct tr_text name; /* its bytes, as far as C sees them */
};

struct tr_apitrace_function {
	struct tr_text cell; /* the name, as cells are spelled */
	struct tr_text name; /* its bytes, as far as C sees them */
	unsigned kinds;	     /* see call_kind.h */
	struct tr_apitrace_argument *arguments;
	size_t count;
	struct tr_map by_key; /* argument of that key; only of functions with many */
};

/* Zero it. */
struct tr_apitrace_tables {
	struct tr_arena arena;
	struct tr_map functions; /* by cell: the first of that name */
	struct tr_map others;	 /* by id ("F17"): all functions */
	struct tr_map frames;	 /* by id ("K3"): their text, a struct tr_text */
	struct tr_map guids;	 /* by id ("S5"): structures that are called GUID */
	bool failed;		 /* memory ran out */
};

/* Takes a definition; one that it has is not looked at again. TR_WARN: err says what is wrong. */
enum tr_status tr_apitrace_tables_add(struct tr_apitrace_tables *tables, struct tr_record *record,
				      struct tr_error *err);

/* The function of a call, by .sig or by its name; NULL: there is no definition. */
struct tr_apitrace_function *tr_apitrace_tables_function(struct tr_apitrace_tables *tables,
							 struct tr_text sig, struct tr_text cell);

/* True for the id of a structure that is called GUID. */
bool tr_apitrace_tables_is_guid(const struct tr_apitrace_tables *tables, uint64_t id);

/*
 * Names the arguments and the function itself, whose keys and cell are set, in
 * the arena. False: memory is out. A cell with bad escapes is its own name.
 */
bool tr_apitrace_function_name(struct tr_apitrace_function *function, struct tr_arena *arena);

/*
 * The argument that a key names: count or beyond where there is none. hint is
 * where it probably is.
 */
size_t tr_apitrace_function_argument(const struct tr_apitrace_function *function,
				     struct tr_text key, size_t hint);

/* Forgets all of it. */
void tr_apitrace_tables_reset(struct tr_apitrace_tables *tables);
void tr_apitrace_tables_free(struct tr_apitrace_tables *tables);

#endif
