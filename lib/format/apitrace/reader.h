/*
 * Private to the reader: its state. reader_unit.c parses units of the stream,
 * reader.c makes records of them, but for those that reader_take.c gives away.
 */
#ifndef TR_FORMAT_APITRACE_READER_H
#define TR_FORMAT_APITRACE_READER_H

#include "core/input.h"
#include "format/apitrace/exact.h"
#include "format/apitrace/parse.h"
#include "record/call_taker.h"

/* A call that was entered. */
struct tr_apitrace_live {
	struct tr_apitrace_signature *function;
	bool has_thread;
	uint64_t thread;
	struct tr_apitrace_live *next; /* in the list of free ones */
};

struct tr_apitrace_reader {
	struct tr_input *in;
	uint64_t max_record;
	struct tr_apitrace_parse parse;
	struct tr_apitrace_event event;
	uint64_t calls; /* entered so far */
	uint64_t streams; /* that ended before this one */
	struct tr_id_map live;
	struct tr_apitrace_live *free;
	struct tr_arena live_arena;

	/* What is due of the unit: its definitions, its flaw, its record. */
	struct tr_apitrace_signature *definition; /* the next one */
	struct tr_record definition_record;
	struct tr_arena definition_arena;
	bool record_due;

	struct tr_buffer line;		    /* of the unit, where lines are wanted */
	struct tr_call_taker *const *taker; /* NULL: nobody takes calls */

	struct tr_apitrace_exact *exact; /* NULL: nobody asked for it */
	bool begun;			 /* the head is behind us */
	bool ended;
};

/*
 * reader_unit.c: The unit at the input's position, as parse and event. False:
 * parse.outcome says why. The input stays where it is.
 */
bool tr_apitrace_read_unit(struct tr_apitrace_reader *reader);

/*
 * reader_stream.c: True if another stream of the same file begins at the input's position, where
 * an event is expected. May ask for more of the input.
 */
bool tr_apitrace_at_stream(struct tr_apitrace_reader *reader);

/* Forgets the stream that ended: another one begins at the input's position. */
void tr_apitrace_begin_stream(struct tr_apitrace_reader *reader);

/*
 * For damage: the bytes in the window up to the next stream of this version. *size is unchanged
 * if it returns false: there is none.
 */
bool tr_apitrace_find_stream(const struct tr_apitrace_reader *reader, size_t *size);

/* Skips the input up to the next stream of this version, or to its end: then it returns false. */
bool tr_apitrace_skip_to_stream(struct tr_apitrace_reader *reader);

/* reader_take.c: Gives the call at the input's position away. False: it is none that is plain. */
bool tr_apitrace_take_call(struct tr_apitrace_reader *reader, struct tr_call_taker *taker);

#endif
