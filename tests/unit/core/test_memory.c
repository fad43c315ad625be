/* SPDX-License-Identifier: MIT */
/*
 * Each allocation of the core fails once, one after the other (linked with --wrap, so it works
 * under sanitizers, which look for leaks).
 */
#include "core/arena.h"
#include "core/buffer.h"
#include "core/input.h"
#include "core/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failing_alloc.h"
#include "tap.h"

/* Runs scenario with the first, the second, … allocation failing until none is left to fail. */
static void each_failure(bool (*scenario)(void), const char *name)
{
	bool right = true;
	int n = 0;
	do {
		failed = false;
		countdown = ++n;
		right = scenario() && right;
		countdown = 0;
	} while (failed && n < 1000);
	ok(right && !failed && n > 1, "%s, %d allocations", name, n - 1);
}

struct memory_source {
	struct tr_source base;
	struct tr_text left;
};

static int open_sources;

static ssize_t memory_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct memory_source *s = (struct memory_source *)source;
	(void)err;
	size_t n = s->left.len < cap ? s->left.len : cap;
	memcpy(buf, s->left.data, n);
	s->left.data += n;
	s->left.len -= n;
	return (ssize_t)n;
}

static void memory_close(struct tr_source *source)
{
	open_sources--;
	free(source);
}

static const char text[] = "a line\nand another that is longer\nend\n";

static struct tr_source *memory_source(void)
{
	struct memory_source *s = __real_malloc(sizeof *s);
	*s = (struct memory_source){ { .read = memory_read, .close = memory_close },
				     tr_text_from(text) };
	open_sources++;
	return &s->base;
}

/* Reads the whole text, or fails with an error. */
static bool read_lines(struct tr_source *source)
{
	static const struct tr_limits limits = TR_LIMITS_DEFAULT;
	struct tr_input *in = source ? tr_input_new(source, &limits, 1) : NULL;
	if (!in)
		return failed && open_sources == 0;
	struct tr_text line;
	struct tr_error err;
	enum tr_status status;
	while ((status = tr_input_line(in, &line, &err)) == TR_OK)
		tr_input_skip(in, line.len);
	bool right = status == TR_END ? in->offset == sizeof text - 1 && !in->damaged
				      : failed && in->damaged && err.cause == TR_CAUSE_MEMORY;
	tr_input_free(in);
	return right && open_sources == 0;
}

static bool input(void)
{
	return read_lines(memory_source());
}

static bool input_ahead(void)
{
	return read_lines(tr_source_ahead(memory_source()));
}

static int entries(void)
{
	DIR *dir = opendir(".");
	int count = 0;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* The file is complete or unchanged, and no temporary file is left. */
static bool output_file(void)
{
	int before = entries();
	struct tr_error err;
	struct tr_sink *sink = tr_sink_file("link", &err);
	struct tr_output *out = sink ? tr_output_new(sink) : NULL;
	bool done = false;
	if (out) {
		for (size_t size = 1 << 20; size > 1000; size /= 7) {
			char *to = tr_output_room(out, size);
			if (to) {
				memset(to, 'x', size);
				tr_output_used(out, size);
			}
			tr_output_put(out, text, sizeof text);
		}
		done = tr_output_finish(out, &err);
	}
	if (!done)
		return failed && (!sink || !out || err.cause == TR_CAUSE_MEMORY) &&
		       entries() == before && access("file", F_OK) != 0;
	return unlink("file") == 0 && entries() == before;
}

static bool buffers(void)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer buffer = TR_BUFFER_INIT;
	for (size_t size = 1; size < 3 << 20; size *= 5) {
		char *memory = tr_arena_alloc(&arena, size);
		if (memory)
			memset(memory, 0, size);
		char *to = tr_buffer_room(&buffer, size);
		if (to)
			tr_buffer_used(&buffer, size);
	}
	bool right = !buffer.failed || failed;
	tr_arena_reset(&arena);
	right = right && (tr_arena_alloc(&arena, 16) || failed);
	tr_arena_free(&arena);
	tr_buffer_free(&buffer);
	return right;
}

int main(void)
{
	char directory[] = "/tmp/trec-memory-XXXXXX";
	if (!mkdtemp(directory) || chdir(directory) != 0 || symlink("file", "link") != 0) {
		printf("1..0 # SKIP no temporary directory\n");
		return 0;
	}
	each_failure(input, "input");
	each_failure(input_ahead, "input read ahead");
	each_failure(output_file, "output to a file");
	each_failure(buffers, "arena and buffer");
	if (unlink("link") != 0 || chdir("/") != 0 || rmdir(directory) != 0)
		diag("%s stays", directory);
	return done_testing();
}
