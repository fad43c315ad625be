/*
 * Units: what a trace consists of, found in the window. A unit is an object
 * with the blanks and commas around it, a blank line, or a line that is
 * neither. A line may hold several objects and an object several lines.
 */
#ifndef TR_FORMAT_KLOCWORK_UNIT_H
#define TR_FORMAT_KLOCWORK_UNIT_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/input.h"
#include "core/text.h"
#include "format/klocwork/object.h"
#include "format/klocwork/spread.h"

struct tr_klocwork_unit {
	enum {
		TR_KLOCWORK_OBJECT,
		TR_KLOCWORK_GARBAGE, /* a line; err of the call says why it is no object */
		TR_KLOCWORK_BLANK,   /* a line */
	} type;
	size_t length;	   /* of all of it, from the window's pos on: skip that when done */
	size_t begin, end; /* of the object */
	uint64_t lines;	   /* LFs in it */
};

/*
 * The next unit; an object is converted at once. Skips nothing. TR_OK; TR_END;
 * TR_WARN: a line was too long and is skipped; TR_FATAL: memory.
 * spread is the stream's: zero it at its start.
 */
enum tr_status tr_klocwork_unit_next(struct tr_input *in, const struct tr_limits *limits,
				     struct tr_klocwork_object *object,
				     struct tr_klocwork_spread *spread,
				     struct tr_klocwork_unit *unit, struct tr_error *err);

/*
 * The same for a text that is all there, for one object with nothing but
 * blanks, commas and line ends around it. True: it was converted. The text
 * needs TR_INPUT_PAD readable bytes behind it.
 */
bool tr_klocwork_unit_whole(struct tr_text text, struct tr_klocwork_object *object,
			    struct tr_error *err);

/* The garbage line in a unit's text: without blank lines before, without its LF. */
struct tr_text tr_klocwork_unit_line(struct tr_text text);

#endif
