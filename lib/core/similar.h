/* SPDX-License-Identifier: MIT */
/* Words that resemble each other, for messages that end in "did you mean". */
#ifndef TR_CORE_SIMILAR_H
#define TR_CORE_SIMILAR_H

#include "core/text.h"

/* A search for the word that resembles `word` most. */
struct tr_similar {
	struct tr_text word;
	struct tr_text found; /* data NULL: nothing so far comes near enough */
	unsigned distance;    /* of found, or the first that is too much */
};

/* Up to a third of the letters, but at least one, may differ. */
void tr_similar_begin(struct tr_similar *similar, struct tr_text word);

/* The first of two equally near candidates wins. Borrows the candidate. */
void tr_similar_offer(struct tr_similar *similar, struct tr_text candidate);

#endif
