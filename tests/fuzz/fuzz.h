/* SPDX-License-Identifier: MIT */
/*
 * The common part of fuzz targets. A target is one LLVMFuzzerTestOneInput; built with
 * --enable-fuzz it is a libFuzzer program, else replay.c gives it a main that
 * runs a corpus. A violated property ends in fuzz_fail, which aborts.
 */
#ifndef TR_TESTS_FUZZ_FUZZ_H
#define TR_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "format/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv); /* takes the name of fuzz_format */

_Noreturn void fuzz_fail(const char *promise);

/* Small limits, so that a wrong length shows as an error and not as a slow run. */
struct tr_limits fuzz_limits(void);

/*
 * Reads data as format, in pieces of `piece` bytes, and appends its records in the writer's format
 * to *to. exact is that of tr_read_config, or --lines where the format has these. Returns the
 * number of errors: damage, flaws and fatal ones.
 */
size_t fuzz_convert(const struct tr_format *reads, const struct tr_format *writes,
		    struct tr_text data, bool exact, size_t piece, struct tr_buffer *to);

/* Appends the stream, of records that come as text (as_text, text_out of tr_read_config). */
void fuzz_read_as_text(const struct tr_format *reads, struct tr_text data, size_t piece,
		       struct tr_buffer *to);

#endif
