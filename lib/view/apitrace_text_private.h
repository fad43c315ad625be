/* What the files apitrace_text*.c share. */
#ifndef TR_VIEW_APITRACE_TEXT_PRIVATE_H
#define TR_VIEW_APITRACE_TEXT_PRIVATE_H

#include "call/join.h"
#include "view/apitrace_tables.h"
#include "view/apitrace_text.h"

/* Escape sequences of terminals, or nothing. */
struct tr_apitrace_colors {
	struct tr_text normal, bold, strike, red, pointer, literal;
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

	struct tr_field **shown; /* per argument what is shown; then fields that are no arguments */
	size_t shown_capacity;
	struct tr_apitrace_function guess; /* made from a record that has no definition */
	struct tr_text call;		   /* the number of the call that is shown */
	unsigned blobs;			   /* of that call, so far */
};

/* apitrace_text_call.c: appends a call, or an enter that did not return, to line. */
enum tr_status tr_apitrace_text_call(struct tr_apitrace_text *text, struct tr_record *record,
				     struct tr_error *err);

/* apitrace_text_value.c: appends a value to line. False: memory is out. */
bool tr_apitrace_text_value(struct tr_apitrace_text *text, const struct tr_value *value);

/* apitrace_text_string.c: a string, given by its spelling, in quotes. */
void tr_apitrace_text_string(struct tr_apitrace_text *text, struct tr_text spelling, bool wide);

/* apitrace_guid.c: appends the name of an interface and such, or uuid(…). */
struct tr_apitrace_guid {
	uint32_t data1;
	uint16_t data2, data3;
	uint8_t data4[8];
};
void tr_apitrace_guid_write(const struct tr_apitrace_guid *guid, struct tr_buffer *to);

#endif
