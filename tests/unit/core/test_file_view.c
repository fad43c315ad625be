/* SPDX-License-Identifier: MIT */
/* Looking at a file in place: by itself, and beside the window. */
#include "core/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/input.h"
#include "tap.h"

enum { SIZE = 3 * TR_FILE_VIEW + 12345 };

static char *content;

/* The bytes differ at any two offsets that a mistake could confuse. */
static void make_content(void)
{
	uint32_t state = 1;
	content = malloc(SIZE);
	for (size_t i = 0; content && i < SIZE; i++) {
		state = state * 1664525 + 1013904223;
		content[i] = (char)(state >> 24);
	}
}

static FILE *file_with(size_t len)
{
	FILE *file = tmpfile();
	if (file && (fwrite(content, 1, len, file) != len || fflush(file) != 0))
		abort();
	return file;
}

static bool shows(struct tr_text bytes, size_t offset)
{
	return bytes.len >= TR_FILE_VIEW_LEAST && bytes.len <= TR_FILE_VIEW &&
	       bytes.len + TR_INPUT_PAD <= SIZE - offset &&
	       !memcmp(bytes.data, content + offset, bytes.len + TR_INPUT_PAD);
}

static void test_places(void)
{
	FILE *file = file_with(SIZE);
	struct tr_file_view view = { .base = NULL };
	static const size_t places[] = {
		0,
		1,
		4095,
		4096,
		TR_FILE_VIEW - TR_FILE_VIEW_LEAST,
		TR_FILE_VIEW - 1,
		2 * TR_FILE_VIEW + 77,
		5,
		SIZE - TR_INPUT_PAD - TR_FILE_VIEW_LEAST,
	};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		ok(shows(tr_file_view_at(&view, fileno(file), (off_t)places[i]), places[i]),
		   "what is at %zu", places[i]);
	struct tr_text first = tr_file_view_at(&view, fileno(file), 10);
	struct tr_text second = tr_file_view_at(&view, fileno(file), 10 + 4096);
	ok(second.data == first.data + 4096, "nothing is mapped again where it is there");

	ok(!tr_file_view_at(&view, fileno(file), SIZE - TR_FILE_VIEW_LEAST).len,
	   "too little is left");
	ok(!tr_file_view_at(&view, fileno(file), SIZE).len, "nothing is left");
	ok(!tr_file_view_at(&view, fileno(file), SIZE + 4096).len,
	   "after the end there is no view");
	ok(!tr_file_view_at(&view, fileno(file), -1).len, "before the beginning");
	ok(!view.base, "and nothing is kept for it");
	tr_file_view_free(&view);
	fclose(file);
}

static void test_growth(void)
{
	FILE *file = file_with(TR_FILE_VIEW_LEAST);
	struct tr_file_view view = { .base = NULL };
	ok(!tr_file_view_at(&view, fileno(file), 0).len, "a small file");
	fwrite(content + TR_FILE_VIEW_LEAST, 1, SIZE - TR_FILE_VIEW_LEAST, file);
	fflush(file);
	ok(shows(tr_file_view_at(&view, fileno(file), 0), 0), "that has grown");
	tr_file_view_free(&view);
	fclose(file);
}

static void test_refusals(void)
{
	int fds[2];
	struct tr_file_view view = { .base = NULL };
	if (pipe(fds) != 0)
		return;
	int directory = open("/", O_RDONLY);
	ok(!tr_file_view_at(&view, fds[0], 0).len, "a pipe");
	ok(!tr_file_view_at(&view, directory, 0).len, "a directory");
	ok(!tr_file_view_at(&view, -1, 0).len, "no descriptor");
	close(fds[0]);
	close(fds[1]);
	close(directory);
}

/* Reads and passes by in turn, by steps of all sizes, and compares every byte with the file. */
static void test_beside_the_window(void)
{
	static const struct tr_limits limits = TR_LIMITS_DEFAULT;
	FILE *file = file_with(SIZE);
	rewind(file);
	struct tr_input *in = tr_input_new(tr_source_fd(fileno(file), false), &limits, 100);
	size_t passed = 0, read = 0, wrong = 0, looks = 0;
	for (size_t turn = 1; !in->at_end; turn++) {
		struct tr_text bytes = tr_input_look(in);
		if (bytes.len) {
			wrong += !shows(bytes, in->offset);
			size_t n = turn % 3 ? turn * 31 % 300 : bytes.len / 9;
			wrong += !tr_input_pass(in, n);
			passed += n;
			looks++;
		}
		if (!tr_input_more(in, turn % 150))
			break;
		wrong += memcmp(in->pos, content + in->offset, tr_input_available(in)) != 0;
		size_t n = turn * 17 % (tr_input_available(in) + 1);
		tr_input_skip(in, n);
		read += n;
		wrong += in->offset != passed + read;
		wrong += tr_input_raw_offset(in) != in->offset + tr_input_available(in);
	}
	ok(looks > 10 && passed > SIZE / 2 && read > 100, "some of both");
	ok(wrong == 0, "the same bytes either way");
	while (tr_input_more(in, tr_input_available(in) + 1))
		;
	ok(in->offset + tr_input_available(in) == SIZE && !in->damaged, "up to the end");
	ok(!tr_input_look(in).len, "where there is nothing to look at");
	tr_input_free(in);
	fclose(file);
}

static void test_shared_place(void)
{
	static const struct tr_limits limits = TR_LIMITS_DEFAULT;
	FILE *file = file_with(SIZE);
	lseek(fileno(file), 1000, SEEK_SET);
	struct tr_input *in = tr_input_new(tr_source_fd(fileno(file), false), &limits, 100);
	struct tr_text bytes = tr_input_look(in);
	ok(shows(bytes, 1000), "a view begins at the position of the descriptor");
	ok(tr_input_pass(in, 5000) && lseek(fileno(file), 0, SEEK_CUR) == 6000, "and moves it");
	tr_input_free(in);
	fclose(file);
}

int main(void)
{
	make_content();
	if (!content)
		return 1;
	test_places();
	test_growth();
	test_refusals();
	test_beside_the_window();
	test_shared_place();
	free(content);
	return done_testing();
}
