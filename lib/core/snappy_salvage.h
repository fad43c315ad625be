/* What is left of a snappy block that is cut or corrupt: libsnappy gives nothing of it. */
#ifndef TR_CORE_SNAPPY_SALVAGE_H
#define TR_CORE_SNAPPY_SALVAGE_H

#include "core/text.h"

/*
 * Decodes packed from its start into plain, which has room for size bytes, up
 * to the first thing that is cut or makes no sense. Returns how many came.
 */
size_t tr_snappy_salvage(struct tr_text packed, char *plain, size_t size);

#endif
