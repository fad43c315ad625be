/*
 * Raw snappy blocks, out. Ours because libsnappy decodes no cut block, and takes
 * the long repetitions that pictures are full of 64 bytes at a time.
 * Source: format_description.txt of the snappy project.
 */
#ifndef TR_CORE_SNAPPY_BLOCK_H
#define TR_CORE_SNAPPY_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"

/* How many bytes the block makes, by its first ones; false: they are cut, or say nothing sane. */
bool tr_snappy_size(struct tr_text packed, uint32_t *size);

/*
 * Decodes packed into plain, which has room for the size bytes that it says it
 * makes, up to the first thing that is cut or makes no sense. Returns how many
 * came; *whole: there was no such thing. Bytes of plain behind those that came,
 * but within size, may be anything.
 */
size_t tr_snappy_decode(struct tr_text packed, char *plain, size_t size, bool *whole);

#endif
