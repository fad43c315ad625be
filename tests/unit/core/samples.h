/* SPDX-License-Identifier: MIT */
/* What the tests of codecs and archives pack, and what they read back. */
#ifndef TR_TESTS_SAMPLES_H
#define TR_TESTS_SAMPLES_H

#include "core/buffer.h"
#include "core/source.h"

/* Everything source has, in reads of `piece` bytes; false: it ended in *err. Closes it. */
__attribute__((unused)) static bool drain(struct tr_source *source, size_t piece,
					  struct tr_buffer *to, struct tr_error *err)
{
	ssize_t n = 1;
	while (n > 0) {
		char *room = tr_buffer_room(to, piece);
		n = source->read(source, room, piece, err);
		if (n > 0)
			tr_buffer_used(to, (size_t)n);
	}
	source->close(source);
	return n == 0;
}

/* len bytes of text that compresses well but is not trivial. */
__attribute__((unused)) static void put_lines(struct tr_buffer *to, size_t len)
{
	for (unsigned i = 0; to->len < len; i++) {
		tr_buffer_put_literal(to, "{\"exec\":{\"seq\":");
		tr_buffer_put_decimal(to, i * 7919u % 10007);
		tr_buffer_put_literal(to, ",\"argv\":[\"gcc\",\"-O2\",\"-c\"]}}\n");
	}
	to->len = len;
}

/* len bytes that nothing compresses, the same in every run. */
__attribute__((unused)) static void put_noise(struct tr_buffer *to, size_t len)
{
	uint64_t x = 88172645463325252u;
	char *room = tr_buffer_room(to, len);
	for (size_t i = 0; i < len; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		room[i] = (char)(x >> 32);
	}
	tr_buffer_used(to, len);
}

#endif
