/* What the files text*.c share. */
#ifndef TR_FORMAT_APITRACE_TEXT_PRIVATE_H
#define TR_FORMAT_APITRACE_TEXT_PRIVATE_H

#include "call/join.h"
#include "core/decimal.h"
#include "record/call_taker.h"
#include "format/apitrace/text_tables.h"
#include "format/apitrace/text.h"

/* Escape sequences of terminals, or nothing. */
struct tr_apitrace_colors {
	struct tr_text normal, bold, red, pointer, literal;
};

enum {
	TR_APITRACE_NAMES = 64,	  /* functions that are remembered by where their name is */
	TR_APITRACE_LEAF = 160,	  /* bytes that a value which is no container takes at most */
	TR_APITRACE_NUMBER = 128, /* bytes that the numbers of a call and its thread take at most */
};

/* A function by the place and the length of the name that a record has. */
struct tr_apitrace_known {
	struct tr_text cell;
	struct tr_apitrace_function *function;
};

/* What of a record is shown as what. */
struct tr_apitrace_shape {
	const struct tr_apitrace_function *function;
	size_t count; /* of text->shown: the function's arguments, and fields that are none */
	struct tr_field *result, *backtrace; /* NULL: there is none */
	bool fake;
};

struct tr_apitrace_text {
	struct tr_apitrace_text_config config;
	struct tr_output *out;
	struct tr_apitrace_colors colors;
	struct tr_join *join;
	struct tr_apitrace_tables tables;
	bool has_calls;	       /* the segment has records */
	struct tr_buffer line; /* what goes out for one record */
	struct tr_arena arena; /* for what a record needs while it is shown */

	struct tr_field **shown; /* per argument what is shown, NULL for nothing */
	size_t shown_capacity;
	struct tr_apitrace_known known[TR_APITRACE_NAMES];
	struct tr_apitrace_function guess; /* made from a record that has no definition */

	struct tr_counter number; /* of the last call */

	struct tr_call_taker taker;
	const struct tr_apitrace_function *taken; /* of the call that is being taken */
	size_t arguments;			  /* of it, so far */
	bool returned;				  /* a value came back */

	struct tr_text call; /* the number of the call that is shown, for names of blobs */
	unsigned blobs;	     /* of that call, so far */
};

/* text_shape.c: finds out what of a record, which is split, is what. False: no memory. */
bool tr_apitrace_text_shape(struct tr_apitrace_text *text, struct tr_record *record,
			    struct tr_apitrace_shape *shape);

/* The first function of that name; NULL: there is none. */
struct tr_apitrace_function *tr_apitrace_text_function(struct tr_apitrace_text *text,
						       struct tr_text cell);

/* The value of a field that is looked at, not shown; NULL: it has none. */
const struct tr_value *tr_apitrace_text_look(struct tr_apitrace_text *text,
					     struct tr_record *record, struct tr_field *field);

/* text_call.c: appends a call, or an enter that did not return, to line. */
enum tr_status tr_apitrace_text_call(struct tr_apitrace_text *text, struct tr_record *record,
				     struct tr_error *err);

/* What takes such calls as they come. */
void tr_apitrace_text_take(struct tr_call_taker *taker);

/*
 * text_value.c: writes a value that is neither a container nor text,
 * in at most TR_APITRACE_LEAF bytes, and returns where it ends; NULL: it is
 * another one.
 */
char *tr_apitrace_text_leaf(const struct tr_apitrace_text *text, const struct tr_value *value,
			    char *to);

/* Appends any value to line. False: memory is out. */
bool tr_apitrace_text_value(struct tr_apitrace_text *text, const struct tr_value *value);

/* text_string.c: a string, given by its spelling, in quotes. */
void tr_apitrace_text_string(struct tr_apitrace_text *text, struct tr_text spelling, bool wide);

/* text_guid.c: appends the name of an interface and such, or uuid(…). */
struct tr_apitrace_guid {
	uint32_t data1;
	uint16_t data2, data3;
	uint8_t data4[8];
};
void tr_apitrace_guid_write(const struct tr_apitrace_guid *guid, struct tr_buffer *to);

#endif
