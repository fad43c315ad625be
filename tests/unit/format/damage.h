/* SPDX-License-Identifier: MIT */
/*
 * What a reader and writer of a whole file promise, tried on one small file:
 * what is read without trouble is written byte for byte; records do not depend
 * on how the input comes; a file that is cut anywhere gives the records before
 * the cut, and one with any byte changed causes no failure.
 */
#ifndef TR_TESTS_DAMAGE_H
#define TR_TESTS_DAMAGE_H

#include <stdlib.h>

#include "fuzz.h"

static inline bool damage_same(const struct tr_format *format, struct tr_text data, size_t piece)
{
	struct tr_buffer again = TR_BUFFER_INIT;
	size_t trouble = fuzz_convert(format, format, data, false, piece, &again);
	bool same = trouble || tr_text_equal(tr_buffer_text(&again), data);
	tr_buffer_free(&again);
	return same;
}

/* The records as a stream; returns the trouble on the way. */
static inline size_t damage_stream(const struct tr_format *format, struct tr_text data,
				   size_t piece, struct tr_buffer *stream)
{
	tr_buffer_reset(stream);
	return fuzz_convert(format, &tr_format_trec, data, false, piece, stream);
}

/* Offsets at which a cut is not reported are counted: they have to be boundaries of the format. */
static inline size_t damage_cuts(const struct tr_format *format, struct tr_text data, bool *prefix)
{
	struct tr_buffer whole = TR_BUFFER_INIT, part = TR_BUFFER_INIT;
	size_t unnoticed = 0;
	damage_stream(format, data, SIZE_MAX, &whole);
	*prefix = true;
	for (size_t n = 0; n < data.len; n++) {
		/* a copy of its own size, so that a sanitizer reports what is read after it */
		char *copy = malloc(n ? n : 1);
		memcpy(copy, data.data, n);
		struct tr_text cut = { copy, n };
		unnoticed += damage_stream(format, cut, SIZE_MAX, &part) == 0;
		*prefix &=
			!part.len || tr_text_starts(tr_buffer_text(&whole), tr_buffer_text(&part));
		free(copy);
	}
	tr_buffer_free(&whole);
	tr_buffer_free(&part);
	return unnoticed;
}

/* Every byte, each bit of it, and a few values that lengths and markers like. */
static inline bool damage_flips(const struct tr_format *format, struct tr_text data)
{
	static const unsigned char others[] = { 0x00, 0xff, '\n', '0', ' ' };
	struct tr_buffer stream = TR_BUFFER_INIT;
	char *copy = malloc(data.len);
	bool good = true;
	memcpy(copy, data.data, data.len);
	for (size_t i = 0; i < data.len; i++) {
		for (unsigned k = 0; k < 8 + sizeof others; k++) {
			copy[i] = k < 8 ? (char)(data.data[i] ^ (1 << k)) : (char)others[k - 8];
			struct tr_text changed = { copy, data.len };
			good &= damage_same(format, changed, SIZE_MAX);
		}
		copy[i] = data.data[i];
	}
	free(copy);
	tr_buffer_free(&stream);
	return good;
}

static inline bool damage_pieces(const struct tr_format *format, struct tr_text data)
{
	static const size_t pieces[] = { 1, 2, 3, 7, 64 };
	struct tr_buffer whole = TR_BUFFER_INIT, part = TR_BUFFER_INIT;
	bool same = true;
	damage_stream(format, data, SIZE_MAX, &whole);
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		damage_stream(format, data, pieces[i], &part);
		same &= tr_text_equal(tr_buffer_text(&whole), tr_buffer_text(&part));
	}
	tr_buffer_free(&whole);
	tr_buffer_free(&part);
	return same;
}

#endif
