/*
 * Source traces as gnatcov's dump-src-trace prints them, byte for byte: the date
 * as the eight bytes that it is, and nothing of alignment, byte order and
 * version. Records of other kinds are not shown.
 */
#ifndef TR_VIEW_SRCTRACE_TEXT_H
#define TR_VIEW_SRCTRACE_TEXT_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_srctrace_text;

/* Borrows out. NULL: memory. */
struct tr_srctrace_text *tr_srctrace_text_new(struct tr_output *out);

/* Shows one line of the stream. TR_WARN: it is not shown, err says why. TR_FATAL: memory. */
enum tr_status tr_srctrace_text_put(struct tr_srctrace_text *text, struct tr_record *record,
				    struct tr_error *err);

void tr_srctrace_text_free(struct tr_srctrace_text *text);

#endif
