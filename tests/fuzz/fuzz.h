/* SPDX-License-Identifier: MIT */
/*
 * The common part of fuzz targets. A target is one LLVMFuzzerTestOneInput; built with
 * --enable-fuzz it is a libFuzzer program, else replay.c gives it a main that
 * runs a corpus. A broken promise ends in fuzz_fail, which aborts.
 */
#ifndef TR_TESTS_FUZZ_FUZZ_H
#define TR_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "format/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv); /* of fuzz_format, for the name */

_Noreturn void fuzz_fail(const char *promise);

/* Small limits, so that a wrong length shows as an error and not as a slow run. */
struct tr_limits fuzz_limits(void);

/*
 * Reads data as format, in pieces of `piece` bytes, and appends what its
 * records are in the writer's format: to->data holds the bytes. exact as in
 * tr_read_config; of a format that has --lines it means those. Returns how often damage or a flaw
 * was reported, and fatal errors.
 */
size_t fuzz_convert(const struct tr_format *reads, const struct tr_format *writes,
		    struct tr_text data, bool exact, size_t piece, struct tr_buffer *to);

#endif
