/*
 * Lines that nobody wants, passed by where they lie in the file: bringing them into
 * the window first would be most of what they cost.
 */
#ifndef TR_FORMAT_TREC_PASS_BY_H
#define TR_FORMAT_TREC_PASS_BY_H

#include "core/error.h"
#include "core/input.h"
#include "record/sieve.h"

/*
 * Passes by the lines from in's place on that the sieve leaves out or takes, up to
 * one that it does not, to one that has to be looked at in another way (not plain
 * ASCII, very long, the last one), or until many went by. Adds their number to
 * *lines; ends is room to work in. Nothing is done where the sieve has no guard.
 * TR_OK, or with err TR_WARN: the file was cut while it was looked at, or TR_FATAL:
 * it cannot be passed by.
 */
enum tr_status tr_trec_pass_by(struct tr_input *in, struct tr_sieve *sieve,
			       struct tr_line_ends *ends, uint64_t *lines, struct tr_error *err);

#endif
