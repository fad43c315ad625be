/* SPDX-License-Identifier: MIT */
/* A spool gives its bytes back, in any steps, from memory and from a file. */
#include "core/spool.h"

#include <stdlib.h>

#include "core/input.h"

#include "tap.h"

/* A byte that depends on its offset. */
static char byte_at(uint64_t offset)
{
	return (char)((offset * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

static bool fill(struct tr_spool *spool, uint64_t size)
{
	char part[997];
	struct tr_error err;
	for (uint64_t done = tr_spool_size(spool); done < size; done = tr_spool_size(spool)) {
		size_t n = size - done < sizeof part ? (size_t)(size - done) : sizeof part;
		for (size_t i = 0; i < n; i++)
			part[i] = byte_at(done + i);
		if (!tr_spool_write(spool, part, n, &err))
			return false;
	}
	return true;
}

static bool is_right(const char *bytes, uint64_t offset, size_t n)
{
	for (size_t i = 0; bytes && i < n; i++)
		if (bytes[i] != byte_at(offset + i))
			return false;
	for (unsigned i = 0; bytes && i < TR_INPUT_PAD; i++)
		(void)*(volatile const char *)(bytes + n + i); /* the sanitizers would complain */
	return bytes;
}

/* Looks at everything, in steps of any size, while more is written. */
static void look_at(uint64_t size, size_t most)
{
	struct tr_spool *spool = tr_spool_new(UINT64_MAX);
	struct tr_spool_window window = { .at = 0 };
	struct tr_error err;
	bool good = fill(spool, size / 2);
	uint64_t offset = 0;
	while (good && offset < size) {
		size_t n = (size_t)rand() % most + 1, step = (size_t)rand() % (2 * most) + 1;
		if (offset + n > tr_spool_size(spool))
			good = fill(spool, size);
		if (n > size - offset)
			n = (size_t)(size - offset);
		good = good && is_right(tr_spool_look(spool, &window, offset, n, &err), offset, n);
		offset += step; /* sometimes short of what was seen, sometimes beyond */
	}
	ok(good, "%llu bytes, up to %zu at a time", (unsigned long long)size, most);
	ok(!tr_spool_look(spool, &window, size - 1, 2, &err) && err.cause == TR_CAUSE_SYSTEM,
	   "there are no bytes after the end");
	tr_buffer_free(&window.bytes);
	tr_spool_free(spool);
}

/* Reads bytes one at a time, from the file and from memory. */
static void read_bytes(uint64_t size)
{
	struct tr_spool *spool = tr_spool_new(UINT64_MAX);
	struct tr_error err;
	bool good = fill(spool, size);

	for (uint64_t offset = 0; good && offset < size; offset += 997) {
		char buf[1];
		const char *data;
		size_t n = 1;
		good = tr_spool_read(spool, offset, buf, &data, &n, &err) && n == 1 &&
		       *data == byte_at(offset);
	}
	ok(good, "%llu bytes, one at a time", (unsigned long long)size);
	tr_spool_free(spool);
}

int main(void)
{
	read_bytes(5 << 20);
	look_at(100, 7);
	look_at(1 << 20, 5000); /* in memory, to the last byte */
	look_at((1 << 20) + 1, 5000);
	look_at(5 << 20, 300);
	look_at(5 << 20, 300000);
	return done_testing();
}
