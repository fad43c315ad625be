/* SPDX-License-Identifier: MIT */
/*
 * The first line is the content of a file, and a stream of records follows, whose blobs are stored
 * in a directory and fetched from it. A stored blob is fetched unchanged. A file whose name is not
 * the hash of its content is never fetched; the content on the first line makes such files.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/blob_dir.h"
#include "core/input.h"
#include "fuzz.h"
#include "record/blobs.h"
#include "record/line.h"

enum { LARGEST = 1 << 20, FILES = 8 };

static char directory[64];

static void empty_directory(void)
{
	DIR *dir = opendir(directory);

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

static void remove_directory(void)
{
	empty_directory();
	rmdir(directory);
}

static void make_directory(void)
{
	if (*directory)
		return;
	snprintf(directory, sizeof directory, "/tmp/fuzz_blob_dir.XXXXXX");
	if (!mkdtemp(directory))
		exit(2);
	atexit(remove_directory);
}

/* Writes the content to the files that the text names. True: it names some. */
static bool plant(struct tr_text content, const char *p, const char *end)
{
	unsigned count = 0;

	for (; count < FILES && end - p > TR_SHA256_HEX + 5; p++) {
		char path[sizeof directory + 1 + TR_SHA256_HEX + 1];
		if (memcmp(p, "file:", 5) != 0 || memchr(p + 5, '/', TR_SHA256_HEX) ||
		    memchr(p + 5, '\0', TR_SHA256_HEX))
			continue;
		snprintf(path, sizeof path, "%s/%.*s", directory, TR_SHA256_HEX, p + 5);
		int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd >= 0 && write(fd, content.data, content.len) < 0)
			exit(2);
		if (fd >= 0)
			close(fd);
		count++;
	}
	return count;
}

/* Writes the changed record to *to. False: it is left out. */
static bool change(struct tr_text line, enum tr_blobs what, struct tr_blob_dir *dir,
		   struct tr_arena *arena, struct tr_buffer *to)
{
	char *copy = tr_arena_alloc(arena, line.len + TR_INPUT_PAD);
	struct tr_record record;
	struct tr_error err;

	if (!copy)
		return false;
	memcpy(copy, line.data, line.len);
	memset(copy + line.len, 0, TR_INPUT_PAD);
	tr_record_init(&record, arena);
	line.data = copy;
	tr_buffer_reset(to);
	tr_error_clear(&err);
	if (tr_line_scan(copy, copy + line.len) != copy + line.len ||
	    !tr_record_from_line(&record, line, NULL) || record.type != TR_RECORD)
		return false;
	if (tr_record_blobs(&record, what, dir, &err) != TR_OK)
		return false;
	if (record.line.data) {
		tr_buffer_put_text(to, record.line);
		return !to->failed;
	}
	return tr_record_write(&record, to, &err) == TR_OK && !to->failed;
}

/*
 * A blob that was fetched is stored under the same name again. A file that has the right size but
 * other content is not overwritten when its blob is stored, and is refused when it is fetched.
 */
static void check(struct tr_text line, bool planted, struct tr_blob_dir *puts,
		  struct tr_blob_dir *gets)
{
	struct tr_buffer stored = TR_BUFFER_INIT, fetched = TR_BUFFER_INIT, again = TR_BUFFER_INIT;
	struct tr_arena arena = TR_ARENA_INIT;

	if (change(line, TR_BLOBS_STORE, puts, &arena, &stored)) {
		bool back = change(tr_buffer_text(&stored), TR_BLOBS_FETCH, gets, &arena, &fetched);
		if (!back && !planted)
			fuzz_fail("what was stored does not come back");
		if (back &&
		    (!change(tr_buffer_text(&fetched), TR_BLOBS_STORE, puts, &arena, &again) ||
		     !tr_text_equal(tr_buffer_text(&again), tr_buffer_text(&stored))))
			fuzz_fail("what came back is something else");
	}
	tr_buffer_free(&stored);
	tr_buffer_free(&fetched);
	tr_buffer_free(&again);
	tr_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	const char *lf = size ? memchr(p, '\n', size) : NULL;
	struct tr_error err;

	if (!lf)
		return 0;
	make_directory();
	bool planted = plant(tr_text_span(p, lf), lf + 1, end);
	struct tr_blob_dir *puts = tr_blob_dir_open(directory, true, LARGEST, &err);
	struct tr_blob_dir *gets = tr_blob_dir_open(directory, false, LARGEST, &err);
	if (!puts || !gets)
		exit(2);
	for (p = lf + 1; p < end && (lf = memchr(p, '\n', (size_t)(end - p))); p = lf + 1)
		check(tr_text_span(p, lf + 1), planted, puts, gets);
	tr_blob_dir_close(puts);
	tr_blob_dir_close(gets);
	empty_directory();
	return 0;
}
