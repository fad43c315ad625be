/*
 * Execution traces as gnatcov prints them, byte for byte: dump-trace,
 * dump-trace-raw and dump-trace-base. Records of other kinds are not shown.
 *
 *  - dump: addresses as the files have them: less the kernel's load address, or
 *    the one of the shared object that they are in.
 *  - raw: addresses as they were when the program ran.
 *  - base: no information; the blocks of all traces so far made one sorted
 *    list, printed at the end of each. Of a trace that is damaged none is
 *    printed, as it would look whole.
 */
#ifndef TR_VIEW_GNATCOV_TEXT_H
#define TR_VIEW_GNATCOV_TEXT_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

enum tr_gnatcov_text_style {
	TR_GNATCOV_TEXT_DUMP,
	TR_GNATCOV_TEXT_RAW,
	TR_GNATCOV_TEXT_BASE,
};

struct tr_gnatcov_text;

/* Borrows out. NULL: memory. */
struct tr_gnatcov_text *tr_gnatcov_text_new(enum tr_gnatcov_text_style style,
					    struct tr_output *out);

/*
 * Shows one line of the stream. TR_WARN: it could not be shown, or not all of
 * it, err says why. TR_FATAL: memory.
 */
enum tr_status tr_gnatcov_text_put(struct tr_gnatcov_text *text, struct tr_record *record,
				   struct tr_error *err);

/* Shows what is left of a stream without a trailer. */
enum tr_status tr_gnatcov_text_finish(struct tr_gnatcov_text *text, struct tr_error *err);
void tr_gnatcov_text_free(struct tr_gnatcov_text *text);

#endif
