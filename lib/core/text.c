/* SPDX-License-Identifier: MIT */
/*
 * Suggestions for words that were probably misspelled: the distance counts inserted, deleted,
 * replaced and exchanged letters.
 */

#include "core/text.h"

#include <limits.h>

/* Longer words are not compared: the distance takes the product of both lengths. */
enum { LONGEST = 64 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Three rows of the table of the distances between all prefixes are enough. */
static unsigned word_distance(struct tr_text a, struct tr_text b)
{
	unsigned rows[3][LONGEST + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	if (a.len > LONGEST || b.len > LONGEST)
		return UINT_MAX;
	for (unsigned j = 0; j <= b.len; j++)
		last[j] = j;
	for (unsigned i = 1; i <= a.len; i++) {
		row[0] = i;
		for (unsigned j = 1; j <= b.len; j++) {
			unsigned differs = a.data[i - 1] != b.data[j - 1];
			row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + differs);
			if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] &&
			    a.data[i - 2] == b.data[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		unsigned *oldest = before;
		before = last;
		last = row;
		row = oldest;
	}
	return last[b.len];
}

void tr_similar_begin(struct tr_similar *similar, struct tr_text word)
{
	unsigned most = word.len < 6 ? 1 : (unsigned)least((unsigned)word.len, LONGEST) / 3;

	*similar = (struct tr_similar){ .word = word, .distance = most + 1 };
}

void tr_similar_offer(struct tr_similar *similar, struct tr_text candidate)
{
	unsigned distance = word_distance(similar->word, candidate);

	/* a word in which all letters differ is a different word */
	if (distance < similar->distance && distance < candidate.len) {
		similar->found = candidate;
		similar->distance = distance;
	}
}
