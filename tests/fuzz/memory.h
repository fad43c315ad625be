/* Sources and sinks in memory, for fuzz targets and for tests of streams. */
#ifndef TR_TESTS_FUZZ_MEMORY_H
#define TR_TESTS_FUZZ_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/source.h"

/* Gives data, which is borrowed, in pieces of at most `piece` bytes. NULL: memory. */
struct tr_source *memory_source(const void *data, size_t size, size_t piece);

/* Appends to buffer, which is borrowed. NULL: memory. */
struct tr_sink *memory_sink(struct tr_buffer *buffer);

#endif
