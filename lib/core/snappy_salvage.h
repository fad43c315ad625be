/* Raw snappy blocks as far as libsnappy is not needed, or gives nothing: cut and corrupt ones. */
#ifndef TR_CORE_SNAPPY_SALVAGE_H
#define TR_CORE_SNAPPY_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"

/* How many bytes the block makes, by its first ones; false: they are cut, or say nothing sane. */
bool tr_snappy_size(struct tr_text packed, uint32_t *size);

/*
 * Decodes packed from its start into plain, which has room for size bytes, up
 * to the first thing that is cut or makes no sense. Returns how many came.
 */
size_t tr_snappy_salvage(struct tr_text packed, char *plain, size_t size);

#endif
