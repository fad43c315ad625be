/* SPDX-License-Identifier: MIT */
/* Reading ahead: the same bytes, the same error, and no thread that continues to run. */
#include "core/source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

/* Counts up to a total, in pieces that are no divisors of anything. */
struct counter {
	struct tr_source base;
	uint64_t at, total;
	bool fails, *closed;
};

static ssize_t counter_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct counter *c = (struct counter *)source;
	if (c->at == c->total) {
		if (c->fails) {
			tr_error_set(err, TR_CAUSE_INPUT, "broken");
			tr_error_at_offset(err, 5);
		}
		return c->fails ? -1 : 0;
	}
	size_t n = 1 + c->at * 7919 % 200003;
	if (n > cap)
		n = cap;
	if (n > c->total - c->at)
		n = (size_t)(c->total - c->at);
	for (size_t i = 0; i < n; i++, c->at++)
		buf[i] = (char)(c->at ^ c->at >> 8 ^ c->at >> 16);
	return (ssize_t)n;
}

static void counter_close(struct tr_source *source)
{
	*((struct counter *)source)->closed = true;
	free(source);
}

static struct tr_source *counter_new(uint64_t total, bool fails, bool *closed)
{
	struct counter *c = calloc(1, sizeof *c);
	c->base = (struct tr_source){ .read = counter_read, .close = counter_close };
	c->total = total;
	c->fails = fails;
	c->closed = closed;
	return &c->base;
}

static void test_whole(uint64_t total, bool fails, size_t cap)
{
	bool closed = false, same = true;
	struct tr_source *source = tr_source_ahead(counter_new(total, fails, &closed));
	char *buf = malloc(cap);
	struct tr_error err;
	uint64_t at = 0;
	ssize_t n;
	while ((n = source->read(source, buf, cap, &err)) > 0)
		for (ssize_t i = 0; i < n; i++, at++)
			same = same && buf[i] == (char)(at ^ at >> 8 ^ at >> 16);
	ok(same && at == total, "%d bytes by %zu", (int)total, cap);
	ok(n == (fails ? -1 : 0) && source->read(source, buf, cap, &err) == n, "the end stays");
	if (fails)
		ok(!strcmp(err.text, "broken") && err.offset == 5, "the error came through");
	ok(source->raw_offset(source) == total && !source->would_wait(source), "all is read");
	source->close(source);
	ok(closed, "owns its source");
	free(buf);
}

static void test_early_end(void)
{
	bool closed = false;
	struct tr_source *source = tr_source_ahead(counter_new(UINT64_MAX, false, &closed));
	char buf[100];
	struct tr_error err;
	ok(source->read(source, buf, sizeof buf, &err) > 0, "some bytes of many");
	source->close(source);
	ok(closed, "closed while the producer waits for space");
}

static void test_silent_pipe(void)
{
	int fds[2];
	if (pipe(fds) != 0)
		return;
	struct tr_source *source = tr_source_ahead(tr_source_fd(fds[0], true));
	char buf[100];
	struct tr_error err;
	ok(write(fds[1], "word", 4) == 4 && source->read(source, buf, sizeof buf, &err) == 4,
	   "what is there comes at once");
	ok(source->would_wait(source), "then there is nothing");
	source->close(source);
	ok(write(fds[1], "", 0) == 0, "closed while the producer waits for bytes");
	close(fds[1]);
}

int main(void)
{
	alarm(60); /* a test that hangs fails */
	test_whole(0, false, 10);
	test_whole(0, true, 10);
	test_whole(1, false, 1);
	test_whole(3000001, false, 100);
	test_whole(5000000, true, 300000);
	test_whole(5000000, false, 1 << 20);
	test_early_end();
	test_silent_pipe();
	return done_testing();
}
