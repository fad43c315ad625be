/* SPDX-License-Identifier: MIT */
/* What sort of record a kind is of: trec(5). */
#ifndef TR_RECORD_CONTEXT_H
#define TR_RECORD_CONTEXT_H

#include <stdbool.h>

#include "core/text.h"

enum { TR_CONTEXT_KINDS = 9 };

/* Kinds that describe their segment, and are no events of it. */
extern const char *const tr_context_kinds[TR_CONTEXT_KINDS];

/* Which of them it is; -1: none. */
int tr_context_kind(struct tr_text kind);

/* An API call, or one of its halves. */
static inline bool tr_kind_is_call(struct tr_text kind)
{
	return tr_text_equal(kind, TR_TEXT("call")) || tr_text_equal(kind, TR_TEXT("enter")) ||
	       tr_text_equal(kind, TR_TEXT("leave"));
}

#endif
