/* SPDX-License-Identifier: MIT */
/* Blobs of a record: out, into files, and back. */
#include "record/blobs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buffer.h"
#include "core/input.h"
#include "tap.h"

/* SHA-256 of "abc", FIPS 180-2, and of nothing. */
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static char directory[64];
static struct tr_blob_dir *dir;

/* The line after the change, or the message. */
static bool gives(enum tr_blobs what, const char *line, const char *expected)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer text = TR_BUFFER_INIT, have = TR_BUFFER_INIT;
	struct tr_record record;
	struct tr_error err = { 0 };

	tr_buffer_put_text(&text, tr_text_from(line));
	memset(tr_buffer_room(&text, TR_INPUT_PAD), 0, TR_INPUT_PAD);
	tr_record_init(&record, &arena);
	if (!tr_record_from_line(&record, tr_buffer_text(&text), &err))
		return false;
	if (tr_record_blobs(&record, what, dir, &err) == TR_OK) {
		if (record.line.data)
			tr_buffer_put_text(&have, record.line);
		else
			tr_record_write(&record, &have, &err);
	} else {
		tr_buffer_put_text(&have, tr_text_from(err.text));
	}
	bool same = tr_text_is(tr_buffer_text(&have), expected);
	if (!same)
		diag("%.*s", (int)have.len, have.data);
	tr_buffer_free(&text);
	tr_buffer_free(&have);
	tr_arena_free(&arena);
	return same;
}

static void test_out(void)
{
	ok(gives(TR_BLOBS_LEAVE_OUT, "call\t0\t-\t0\tf\ta=b64:YWJj\tb=1\n",
		 "call\t0\t-\t0\tf\ta=blob:3\tb=1\n"),
	   "a blob");
	ok(gives(TR_BLOBS_LEAVE_OUT,
		 "call\t0\t-\t0\tf\ta=[b64:YWJj,{x=b64:@S1}@S2]\t->\treturn={\"k\":<b64:YQ==;2>}\n",
		 "call\t0\t-\t0\tf\ta=[b64:YWJj,{x=b64:@S1}@S2]\t->\treturn={\"k\":<b64:YQ==;2>}"
		 "\n"),
	   "a record with something that is no value stays");
	ok(gives(TR_BLOBS_LEAVE_OUT,
		 "call\t0\t-\t0\tf\ta=[b64:YWJj,{x=b64:}@S2]\t->\treturn={\"k\":<b64:YQ==;2>}\n",
		 "call\t0\t-\t0\tf\ta=[blob:3,{x=blob:0}@S2]\t->\treturn={\"k\":<blob:1;2>}\n"),
	   "blobs inside everything");
	ok(gives(TR_BLOBS_LEAVE_OUT, "call\t0\t-\t0\tf\ta=[ \"b64:YWJj\" ]\tb=-0\n",
		 "call\t0\t-\t0\tf\ta=[ \"b64:YWJj\" ]\tb=-0\n"),
	   "a string is no blob, and the line stays as it is");
	ok(gives(TR_BLOBS_LEAVE_OUT, "call\t0\t-\t0\tf\t.raw=b64:YWJj\ta=b64:YWJj\n",
		 "call\t0\t-\t0\tf\t.raw=b64:YWJj\ta=blob:3\n"),
	   "what an exact rewrite needs stays");
	ok(gives(TR_BLOBS_LEAVE_OUT, "%fn\tF1\tf\ta=b64:YWJj\n", "%fn\tF1\tf\ta=b64:YWJj\n"),
	   "only records");
}

static void test_files(void)
{
	struct dirent *entry;
	int count = 0;

	ok(gives(TR_BLOBS_STORE, "call\t0\t-\t0\tf\ta=[b64:YWJj,b64:,b64:YWJj]\n",
		 "call\t0\t-\t0\tf\ta=[file:" ABC ":3,file:" NOTHING ":0,file:" ABC ":3]\n"),
	   "into files");
	DIR *listed = opendir(directory);
	while (listed && (entry = readdir(listed)))
		count += *entry->d_name != '.';
	if (listed)
		closedir(listed);
	ok(count == 2, "equal blobs are one file");
	ok(gives(TR_BLOBS_FETCH,
		 "call\t0\t-\t0\tf\ta=[file:" ABC ":3,file:" NOTHING ":0]\tb=\"file:\"\n",
		 "call\t0\t-\t0\tf\ta=[b64:YWJj,b64:]\tb=\"file:\"\n"),
	   "and back");
}

/* Puts other bytes where a blob is. */
static void spoil(const char *bytes)
{
	char path[160];

	snprintf(path, sizeof path, "%s/" ABC, directory);
	FILE *file = fopen(path, "w");
	if (file) {
		fputs(bytes, file);
		fclose(file);
	}
}

static void test_damage(void)
{
	char expected[320];

	spoil("xyz");
	snprintf(expected, sizeof expected,
		 "%s/" ABC ": the content does not match the SHA-256 in its name", directory);
	ok(gives(TR_BLOBS_FETCH, "call\t0\t-\t0\tf\ta=file:" ABC ":3\n", expected),
	   "another content");
	spoil("xy");
	snprintf(expected, sizeof expected, "%s/" ABC " does not contain the 3 bytes of the blob",
		 directory);
	ok(gives(TR_BLOBS_FETCH, "call\t0\t-\t0\tf\ta=file:" ABC ":3\n", expected),
	   "another length");
	ok(gives(TR_BLOBS_STORE, "call\t0\t-\t0\tf\ta=b64:YWJj\n",
		 "call\t0\t-\t0\tf\ta=file:" ABC ":3\n") &&
		   gives(TR_BLOBS_FETCH, "call\t0\t-\t0\tf\ta=file:" ABC ":3\n",
			 "call\t0\t-\t0\tf\ta=b64:YWJj\n"),
	   "a file of another length is put right");
	char gone[65] = NOTHING, line[160];
	gone[0] = 'f';
	snprintf(line, sizeof line, "call\t0\t-\t0\tf\ta=file:%s:0\n", gone);
	snprintf(expected, sizeof expected, "%s/%s: No such file or directory", directory, gone);
	ok(gives(TR_BLOBS_FETCH, line, expected), "no such file");
	ok(gives(TR_BLOBS_FETCH, "call\t0\t-\t0\tf\ta=file:" ABC ":1001\n",
		 "a blob of 1001 bytes is larger than --max-record"),
	   "longer than allowed");
}

static void test_open(void)
{
	struct tr_error err = { 0 };
	char path[160];

	snprintf(path, sizeof path, "%s/a/b", directory);
	ok(!tr_blob_dir_open(path, true, 1, &err) && strstr(err.text, "/a/b: No such file"),
	   "a parent is missing");
	snprintf(path, sizeof path, "%s/" ABC, directory);
	ok(!tr_blob_dir_open(path, true, 1, &err) && strstr(err.text, ": Not a directory"),
	   "a file is no directory");
	ok(!tr_blob_dir_open(path, false, 1, &err) && strstr(err.text, ": Not a directory"),
	   "nor to read");
	snprintf(path, sizeof path, "%s/none", directory);
	struct tr_blob_dir *later = tr_blob_dir_open(path, false, 1, &err);
	ok(later != NULL, "to read, it need not be there yet");
	tr_blob_dir_close(later);
}

static void clean(void)
{
	char path[400];
	struct dirent *entry;
	DIR *listed = opendir(directory);

	while (listed && (entry = readdir(listed))) {
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		unlink(path);
	}
	if (listed)
		closedir(listed);
	rmdir(directory);
}

int main(void)
{
	strcpy(directory, "/tmp/trec-blobs-XXXXXX");
	if (!ok(mkdtemp(directory) && rmdir(directory) == 0 &&
			(dir = tr_blob_dir_open(directory, true, 1000, NULL)),
		"a directory is made"))
		return done_testing();
	test_out();
	test_files();
	test_damage();
	test_open();
	tr_blob_dir_close(dir);
	clean();
	return done_testing();
}
