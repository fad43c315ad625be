/* SPDX-License-Identifier: MIT */
/* The kinds and fields that trec(5) lists. */
#ifndef TR_RECORD_VOCABULARY_H
#define TR_RECORD_VOCABULARY_H

#include <stdbool.h>

#include "core/similar.h"

bool tr_is_known_kind(struct tr_text kind);
bool tr_is_known_field(struct tr_text key);

/* Offer all kinds, or all fields, to a search for a similar word. */
void tr_offer_kinds(struct tr_similar *similar);
void tr_offer_fields(struct tr_similar *similar);

#endif
