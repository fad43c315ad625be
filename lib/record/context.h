/* Kinds of records that describe their segment, and are no events of it: trec(5). */
#ifndef TR_RECORD_CONTEXT_H
#define TR_RECORD_CONTEXT_H

#include <stdbool.h>

#include "core/text.h"

enum { TR_CONTEXT_KINDS = 9 };

/* Their names. */
extern const char *const tr_context_kinds[TR_CONTEXT_KINDS];

/* Which of them it is; -1: none. */
int tr_context_kind(struct tr_text kind);

#endif
