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
 * A call stands where it left; enters that never returned stand at the end of
 * their segment. Behind a call that ends a frame is an empty line.
 *
 * Names come from the definitions of the stream. Without those the arguments
 * are the fields that the record has (one that was not recorded is a "?" with
 * them), frames are their ids, and a GUID is a structure like any other.
 */
#ifndef TR_FORMAT_APITRACE_TEXT_H
#define TR_FORMAT_APITRACE_TEXT_H

#include "core/buffer.h"
#include "core/output.h"
#include "record/record.h"

/* What is shown, as the switches of apitrace have it. */
struct tr_apitrace_text_config {
	bool call_numbers, thread_ids, arg_names;
	bool properties; /* of the trace, in front */
	bool multiline;	 /* backtraces, empty lines after frames, line feeds in strings as such */
	bool verbose;	 /* calls that ask for something which seldom matters, too */
	bool color;
	bool fixed_octal; /* strings whole and with real octal numbers: apitrace cuts and garbles */

	/* May be NULL: says which functions are shown. */
	bool (*wanted)(void *context, struct tr_text function);
	/*
	 * May be NULL: keeps a blob, the number-th (from 0) of its call, and
	 * appends what blob("…") says. False: it could not; its length stands then.
	 */
	bool (*keep_blob)(void *context, struct tr_text call, unsigned number, struct tr_text bytes,
			  struct tr_buffer *name);
	void *context;
};

struct tr_apitrace_text;

/* Borrows out. NULL: memory. */
struct tr_apitrace_text *tr_apitrace_text_new(const struct tr_apitrace_text_config *config,
					      struct tr_output *out);

/*
 * Shows what the next line of the stream completes; NULL is the end of the
 * stream. TR_WARN: err tells of the first that could not be shown, or only as
 * trec has it (TR_FLAW); TR_DETAIL: a record that is no call. TR_FATAL: memory.
 */
enum tr_status tr_apitrace_text_put(struct tr_apitrace_text *text, struct tr_record *record,
				    struct tr_error *err);

/* Takes calls from a reader (call_taker.h). NULL: what is asked for needs their records. */
struct tr_call_taker *tr_apitrace_text_taker(struct tr_apitrace_text *text);

void tr_apitrace_text_free(struct tr_apitrace_text *text);

#endif
