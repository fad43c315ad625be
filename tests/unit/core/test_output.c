/* SPDX-License-Identifier: MIT */
/* tr_output over a sink that remembers, and one that fails at any byte. */
#include "core/output.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "tap.h"

struct log {
	struct tr_buffer got;
	size_t writes, flushes, largest;
	bool finished, closed;
	uint64_t fail_at; /* the byte that cannot be written */
	bool fail_flush, fail_finish;
};

struct log_sink {
	struct tr_sink base;
	struct log *log;
};

static bool log_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	struct log *log = ((struct log_sink *)sink)->log;
	log->writes++;
	if (len > log->largest)
		log->largest = len;
	if (log->got.len + len > log->fail_at) {
		tr_error_set(err, TR_CAUSE_SYSTEM, "full");
		log->fail_at = 0; /* and nothing may come after it */
		return false;
	}
	tr_buffer_put(&log->got, data, len);
	return true;
}

static bool log_flush(struct tr_sink *sink, struct tr_error *err)
{
	struct log *log = ((struct log_sink *)sink)->log;
	log->flushes++;
	if (log->fail_flush)
		tr_error_set(err, TR_CAUSE_SYSTEM, "no flush");
	return !log->fail_flush;
}

static bool log_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct log *log = ((struct log_sink *)sink)->log;
	log->finished = !log->fail_finish;
	if (log->fail_finish)
		tr_error_set(err, TR_CAUSE_SYSTEM, "late");
	return !log->fail_finish;
}

static void log_close(struct tr_sink *sink)
{
	((struct log_sink *)sink)->log->closed = true;
	free(sink);
}

static struct tr_output *open_log(struct log *log)
{
	struct log_sink *sink = calloc(1, sizeof *sink);
	sink->base = (struct tr_sink){ log_write, log_flush, log_finish, log_close };
	sink->log = log;
	return tr_output_new(&sink->base);
}

static char block[700 << 10];
static const size_t sizes[] = { 0, 1, 100, 65536, 131071, 131072, 262143, 262144, 262145, 700000 };
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Every way to put, in sizes around the buffer's; returns how many bytes that were. */
static uint64_t put_all_ways(struct tr_output *out)
{
	uint64_t total = 0;
	for (size_t i = 0; i < (size_t)3 * SIZES; i++) {
		size_t n = sizes[i % SIZES];
		char *to = tr_output_room(out, n);
		memcpy(to, block, n);
		tr_output_used(out, n);
		tr_output_put(out, block, sizes[i / 3]);
		tr_output_put_byte(out, block[0]);
		tr_output_put_large(out, block, 3);
		total += n + sizes[i / 3] + 4;
	}
	return total;
}

static bool got_all(const struct tr_buffer *got)
{
	size_t at = 0;
	for (size_t i = 0; i < (size_t)3 * SIZES; i++) {
		size_t parts[] = { sizes[i % SIZES], sizes[i / 3], 1, 3 };
		for (size_t k = 0; k < 4; k++) {
			if (at + parts[k] > got->len ||
			    memcmp(got->data + at, block, parts[k]) != 0)
				return false;
			at += parts[k];
		}
	}
	return at == got->len;
}

static void test_all_ways(void)
{
	struct log log = { .fail_at = UINT64_MAX };
	struct tr_output *out = open_log(&log);
	uint64_t total = put_all_ways(out);
	ok(tr_output_count(out) == total, "counts");
	ok(tr_output_finish(out, NULL) && log.finished && log.closed, "finishes");
	ok(got_all(&log.got), "every byte in its place");
	tr_buffer_free(&log.got);
}

static void test_blocks(void)
{
	struct log log = { .fail_at = UINT64_MAX };
	struct tr_output *out = open_log(&log);
	for (int i = 0; i < 10000; i++)
		tr_output_put(out, block, 100);
	ok(log.writes == 3 && log.got.len == 3 * (256 << 10), "small puts go out in whole blocks");
	ok(tr_output_flush(out) && log.flushes == 1 && log.got.len == 1000000, "flush");
	tr_output_line_buffered(out, true);
	tr_output_put_literal(out, "record\n");
	tr_output_record_end(out);
	ok(log.got.len == 1000007 && log.flushes == 2, "line buffered");
	tr_output_discard(out);
	ok(!log.finished && log.closed, "discard closes without finish");
	tr_buffer_free(&log.got);
}

static void test_failures(void)
{
	bool right = true;
	for (uint64_t at = 0; at < 9000000; at = at * 2 + 1) {
		struct log log = { .fail_at = at };
		struct tr_output *out = open_log(&log);
		uint64_t total = put_all_ways(out);
		right = right && out->failed && tr_output_count(out) == total && log.fail_at == 0;
		size_t writes = log.writes;
		right = right && !tr_output_flush(out) && log.writes == writes && log.flushes == 0;
		struct tr_error err;
		tr_error_clear(&err);
		right = right && !tr_output_finish(out, &err) && !strcmp(err.text, "full");
		right = right && !log.finished && log.closed && log.writes == writes;
		tr_buffer_free(&log.got);
	}
	ok(right, "errors stick, whatever byte fails");

	struct log log = { .fail_at = UINT64_MAX, .fail_finish = true };
	struct tr_error err;
	ok(!tr_output_finish(open_log(&log), &err) && !strcmp(err.text, "late") && log.closed,
	   "errors at the end");
	log = (struct log){ .fail_at = UINT64_MAX, .fail_flush = true };
	struct tr_output *out = open_log(&log);
	ok(!tr_output_flush(out) && !tr_output_finish(out, &err) && !strcmp(err.text, "no flush"),
	   "errors of a flush");

	log = (struct log){ .fail_at = UINT64_MAX };
	out = open_log(&log);
	ok(tr_output_room(out, SIZE_MAX) == NULL && out->failed, "room for more than there is");
	ok(tr_output_room(out, TR_OUTPUT_ROOM) != NULL, "scratch space after that");
	ok(!tr_output_finish(out, &err) && err.cause == TR_CAUSE_MEMORY, "is an error");
}

int main(void)
{
	for (size_t i = 0; i < sizeof block; i++)
		block[i] = (char)(i * 31 + i / 251);
	test_all_ways();
	test_blocks();
	test_failures();
	return done_testing();
}
