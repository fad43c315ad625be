/* SPDX-License-Identifier: MIT */
/* Archives in every format: written and read back, cut, damaged, through small windows. */

#include "core/archive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "samples.h"
#include "tap.h"

static const struct tr_limits limits = TR_LIMITS_DEFAULT;
static const char *const formats[] = { "tar", "zip", "cpio", "7z" };

enum { MEMBERS = 5, LARGE = 3000001, MTIME = 1600000000 };

static struct member {
	const char *name;
	struct tr_buffer data;
} members[MEMBERS] = {
	{ "dir/one.json", TR_BUFFER_INIT },
	{ "dir/gr\xc3\xbc\xc3\x9f"
	  "e \xe2\x82\xac.json",
	  TR_BUFFER_INIT },
	{ "large lines", TR_BUFFER_INIT },
	{ "large noise", TR_BUFFER_INIT },
	{ "empty", TR_BUFFER_INIT }, /* last: a 7z has empty members at its end */
};

static bool put_member_at(struct tr_archive_writer *writer, const struct member *member,
			  int64_t mtime, struct tr_error *err)
{
	struct tr_sink *sink = tr_archive_member_sink(writer, member->name, mtime, err);
	bool good = sink != NULL;
	for (size_t at = 0; good && at < member->data.len;) {
		size_t n = member->data.len - at < 70000 ? member->data.len - at : 70000;
		good = sink->write(sink, member->data.data + at, n, err) && sink->flush(sink, err);
		at += n;
	}
	good = good && sink->finish(sink, err);
	if (sink)
		sink->close(sink);
	return good;
}

static bool put_member(struct tr_archive_writer *writer, const struct member *member,
		       struct tr_error *err)
{
	return put_member_at(writer, member, MTIME, err);
}

static bool pack(const char *format, const struct member *list, size_t count, struct tr_buffer *to,
		 struct tr_error *err)
{
	int finished = 0;
	struct tr_archive_writer *writer =
		tr_archive_create(format, memory_sink(to, &finished), err);
	bool good = writer != NULL;
	for (size_t i = 0; good && i < count; i++)
		good = put_member(writer, &list[i], err);
	good = good && tr_archive_finish(writer, err) && finished == 1;
	tr_archive_writer_free(writer);
	return good;
}

/* Counts the members that are read back unchanged; every `skip`-th one is not read. */
static size_t count_same(struct tr_archive *archive, const struct member *list, size_t count,
			 size_t piece, size_t skip, struct tr_error *err)
{
	struct tr_archive_member member;
	struct tr_buffer data = TR_BUFFER_INIT;
	size_t same = 0, i = 0;
	while (tr_archive_next(archive, &member, err) == TR_OK && i < count) {
		bool named = !strcmp(member.name, list[i].name) && member.mtime == MTIME &&
			     (member.size == -1 || (size_t)member.size == list[i].data.len);
		if (!named)
			diag("%s %" PRId64 " %" PRId64, member.name, member.size, member.mtime);
		data.len = 0;
		if (skip && i % skip == 0)
			same += named;
		else if (drain(tr_archive_source(archive), piece, &data, err))
			same += named &&
				tr_text_equal(tr_buffer_text(&data), tr_buffer_text(&list[i].data));
		i++;
	}
	tr_buffer_free(&data);
	return same;
}

static void test_round_trip(const char *format)
{
	struct tr_buffer packed = TR_BUFFER_INIT, again = TR_BUFFER_INIT;
	struct tr_error err;
	tr_error_clear(&err);
	if (!ok(pack(format, members, MEMBERS, &packed, &err), "%s: writes", format))
		diag("%s", err.text);
	pack(format, members, MEMBERS, &again, &err);
	ok(packed.len == again.len && !memcmp(packed.data, again.data, packed.len),
	   "%s: writes the same twice", format);
	for (size_t skip = 0; skip < 3; skip++) {
		struct tr_input *in = memory_input(tr_buffer_text(&packed), 0, false);
		const char *detected = tr_archive_detect(in);
		struct tr_archive *archive = tr_archive_open(in, &limits, &err);
		size_t same =
			archive ? count_same(archive, members, MEMBERS, 100000, skip, &err) : 0;
		ok(detected && !strcmp(detected, format) &&
			   !strcmp(tr_archive_format(archive), format),
		   "%s: is detected", format);
		if (!ok(same == MEMBERS, "%s: %zu of %d come back, skipping %zu", format, same,
			MEMBERS, skip))
			diag("%s", err.text);
		tr_archive_free(archive);
	}
	tr_buffer_free(&packed);
	tr_buffer_free(&again);
}

static void test_small_windows(const char *format)
{
	struct tr_buffer packed = TR_BUFFER_INIT;
	struct tr_error err;
	pack(format, members, 3, &packed, &err);
	struct tr_archive *archive =
		tr_archive_open(memory_input(tr_buffer_text(&packed), 1, false), &limits, &err);
	size_t same = archive ? count_same(archive, members, 3, 1, 0, &err) : 0;
	ok(same == 3, "%s: byte by byte", format);
	tr_archive_free(archive);
	tr_buffer_free(&packed);
}

/* Reads all members. True: there was no error. */
static bool read_all(struct tr_text packed, struct tr_buffer *data, struct tr_error *err)
{
	struct tr_archive *archive = tr_archive_open(memory_input(packed, 0, false), &limits, err);
	if (!archive)
		return false;
	struct tr_archive_member member;
	enum tr_status status;
	bool good = true;
	while ((status = tr_archive_next(archive, &member, err)) == TR_OK || status == TR_WARN) {
		if (status == TR_WARN || !drain(tr_archive_source(archive), 1000, data, err))
			good = false;
	}
	tr_archive_free(archive);
	return good && status == TR_END;
}

static void test_damage(const char *format)
{
	struct tr_buffer packed = TR_BUFFER_INIT, data = TR_BUFFER_INIT;
	struct tr_error err;
	struct member two[] = { { "first", TR_BUFFER_INIT }, { "second", TR_BUFFER_INIT } };
	put_lines(&two[0].data, 700);
	put_lines(&two[1].data, 500);
	pack(format, two, 2, &packed, &err);
	size_t wrong = 0, least = 0, cut;
	for (cut = 1; cut < packed.len; cut += every(7)) {
		data.len = 0;
		read_all((struct tr_text){ packed.data, cut }, &data, &err);
		/*
		 * the result is a prefix of the input, and never shorter than that of a shorter cut
		 */
		size_t first = data.len < 700 ? data.len : 700;
		wrong += (first && memcmp(data.data, two[0].data.data, first)) || data.len < least;
		wrong += data.len > first &&
			 memcmp(data.data + first, two[1].data.data, data.len - first);
		least = data.len;
	}
	ok(wrong == 0, "%s: every cut gives a prefix", format);
	size_t bytes = packed.len < 3000 ? packed.len : 3000;
	for (size_t i = 0; i < bytes; i += every(7)) {
		packed.data[i] ^= (char)(1 << i % 8);
		data.len = 0;
		read_all(tr_buffer_text(&packed), &data, &err);
		packed.data[i] ^= (char)(1 << i % 8);
	}
	ok(true, "%s: survives flipped bits", format);
	tr_buffer_free(&two[0].data);
	tr_buffer_free(&two[1].data);
	tr_buffer_free(&packed);
	tr_buffer_free(&data);
}

/* A bad byte in the first member of a zip leaves the other two readable. */
static void test_bad_member(void)
{
	struct tr_buffer packed = TR_BUFFER_INIT, data = TR_BUFFER_INIT;
	struct member three[] = { { "bad", TR_BUFFER_INIT },
				  { "second", TR_BUFFER_INIT },
				  { "third", TR_BUFFER_INIT } };
	struct tr_error err;
	put_lines(&three[0].data, 3000);
	tr_buffer_put_literal(&three[1].data, "the second\n");
	tr_buffer_put_literal(&three[2].data, "the third\n");
	pack("zip", three, 3, &packed, &err);
	const char *second = memmem(packed.data, packed.len, "second", 6);
	size_t end = (size_t)(second - packed.data) - 30, missed = 0, silent = 0;
	/* the first four bytes are the magic, and the sizes of the others are in the data */
	for (size_t i = 4; i < end; i += every(7)) {
		packed.data[i] ^= 0x55;
		data.len = 0;
		silent += read_all(tr_buffer_text(&packed), &data, &err) &&
			  (data.len != 3021 || memcmp(data.data, three[0].data.data, 3000));
		missed += data.len < 21 ||
			  memcmp(data.data + data.len - 21, "the second\nthe third\n", 21);
		packed.data[i] ^= 0x55;
	}
	/* a header of a long name takes the following bytes for the name */
	ok(missed < 10, "zip: the members after a bad one are read (%zu of %zu are not)", missed,
	   end - 4);
	ok(silent == 0, "zip: every bad member is reported (%zu of %zu are not)", silent, end - 4);
	for (int i = 0; i < 3; i++)
		tr_buffer_free(&three[i].data);
	tr_buffer_free(&packed);
	tr_buffer_free(&data);
}

/*
 * The directory of a zip has 16 bits for the number of members, and a record of 64 bits for a
 * larger number.
 */
static void test_many_members(void)
{
	enum { MANY = 66000 };
	struct tr_buffer packed = TR_BUFFER_INIT, data = TR_BUFFER_INIT;
	struct tr_error err;
	char name[16];
	struct member tiny = { name, TR_BUFFER_INIT };
	tr_buffer_put_byte(&tiny.data, '.');
	tr_error_clear(&err);
	struct tr_archive_writer *writer =
		tr_archive_create("zip", memory_sink(&packed, NULL), &err);
	bool good = true;
	for (int i = 0; good && i < MANY; i++) {
		snprintf(name, sizeof name, "%d", i);
		good = put_member(writer, &tiny, &err);
	}
	good = good && tr_archive_finish(writer, &err);
	tr_archive_writer_free(writer);
	tr_buffer_free(&tiny.data);
	ok(good && read_all(tr_buffer_text(&packed), &data, &err) && data.len == MANY,
	   "zip: %d members are read without an error: %s", MANY, err.text);
	/* the record of 64 bits, its locator of 20 bytes, and the end of 22 */
	packed.data[packed.len - 22 - 20 - 56 + 32] ^= 1;
	ok(!read_all(tr_buffer_text(&packed), &data, &err), "zip: another number is reported: %s",
	   err.text);
	tr_buffer_free(&packed);
	tr_buffer_free(&data);
}

static void test_dropped_member(const char *format)
{
	struct tr_buffer packed = TR_BUFFER_INIT, once = TR_BUFFER_INIT;
	struct tr_error err;
	pack(format, members, 2, &once, &err);
	struct tr_archive_writer *writer =
		tr_archive_create(format, memory_sink(&packed, NULL), &err);
	put_member(writer, &members[0], &err);
	struct tr_sink *dropped = tr_archive_member_sink(writer, "dropped", MTIME, &err);
	dropped->write(dropped, "half", 4, &err);
	dropped->close(dropped);
	put_member(writer, &members[1], &err);
	tr_archive_finish(writer, &err);
	tr_archive_writer_free(writer);
	ok(packed.len == once.len && !memcmp(packed.data, once.data, once.len),
	   "%s: a member that is closed without finish was never there", format);
	tr_buffer_free(&packed);
	tr_buffer_free(&once);
}

/*
 * Writes a member of this name and time between two others. want: the name that is read; NULL: the
 * member is refused. In any case the others are read. Returns the time that is read.
 */
static int64_t put_unusual(const char *format, const char *what, const char *name, const char *want,
			   int64_t mtime)
{
	const struct tr_text content = TR_TEXT("content");
	struct tr_buffer packed = TR_BUFFER_INIT, data = TR_BUFFER_INIT;
	struct member unusual = { name, TR_BUFFER_INIT };
	struct tr_archive_member member;
	struct tr_error err;
	int64_t seen = 0;
	size_t others = 0, wanted = 0;
	tr_error_clear(&err);
	tr_buffer_put_text(&unusual.data, content);
	struct tr_archive_writer *writer =
		tr_archive_create(format, memory_sink(&packed, NULL), &err);
	bool good = put_member(writer, &members[0], &err);
	bool taken = put_member_at(writer, &unusual, mtime, &err);
	good = put_member(writer, &members[1], &err) && tr_archive_finish(writer, &err) && good;
	tr_archive_writer_free(writer);
	struct tr_archive *archive =
		tr_archive_open(memory_input(tr_buffer_text(&packed), 0, false), &limits, &err);
	while (good && tr_archive_next(archive, &member, &err) == TR_OK) {
		data.len = 0;
		good = drain(tr_archive_source(archive), 1000, &data, &err);
		if (want && strcmp(member.name, want) == 0) {
			wanted += tr_text_equal(tr_buffer_text(&data), content);
			seen = member.mtime;
		} else {
			others += strcmp(member.name, members[others > 0].name) == 0;
		}
	}
	if (!ok(good && taken == (want != NULL) && others == 2 && wanted == taken, "%s: %s %s",
		format, what, want ? "is read back" : "is refused, and the others are written"))
		diag("%s", err.text);
	tr_archive_free(archive);
	tr_buffer_free(&unusual.data);
	tr_buffer_free(&packed);
	tr_buffer_free(&data);
	return seen;
}

static void test_unusual_members(const char *format)
{
	enum { LONGEST = 65535, TOO_LONG = 70000 };
	static const struct {
		int64_t mtime, small, large; /* in zip and cpio; in tar and 7z */
	} times[] = {
		{ 0, 0, 0 },
		{ UINT32_MAX, UINT32_MAX, UINT32_MAX },
		{ -1, 0, -1 },
		{ INT64_C(1) << 32, UINT32_MAX, INT64_C(1) << 32 },
		{ INT64_MIN, 0, -11644473600 },
		{ INT64_MAX, UINT32_MAX, 910692730085 },
	};
	bool seven = !strcmp(format, "7z"),
	     small = !strcmp(format, "zip") || !strcmp(format, "cpio");
	char *name = calloc(1, TOO_LONG + 1);
	memset(name, 'x', LONGEST);
	put_unusual(format, "a name of 65535 bytes", name, name, MTIME);
	memset(name, 'x', LONGEST + 1);
	put_unusual(format, "a name of 65536 bytes", name, NULL, MTIME);
	memset(name, 'x', TOO_LONG);
	put_unusual(format, "a name of 70000 bytes", name, NULL, MTIME);
	free(name);
	put_unusual(format, "a name that is not UTF-8", "\xff/\xe2", seven ? NULL : "\xff/\xe2",
		    MTIME);
	put_unusual(format, "the name of the end of a cpio", "TRAILER!!!",
		    !strcmp(format, "cpio") ? "./TRAILER!!!" : "TRAILER!!!", MTIME);
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		int64_t want = small ? times[i].small : times[i].large;
		int64_t seen = put_unusual(format, "a member", "a", "a", times[i].mtime);
		/* libarchive's times may have 32 bits */
		if (sizeof(time_t) == sizeof(int32_t) && want > INT32_MAX)
			want = INT32_MAX;
		if (sizeof(time_t) == sizeof(int32_t) && want < INT32_MIN)
			want = INT32_MIN;
		/* libarchive does not read times before 1970 from a 7z */
		if (seven && want < 0)
			want = 0;
		ok(seen == want, "%s: the time %" PRId64 " is read as %" PRId64, format,
		   times[i].mtime, seen);
	}
}

static void test_errors(const char *format)
{
	struct tr_buffer packed = TR_BUFFER_INIT;
	struct tr_error err;
	tr_error_clear(&err);
	struct tr_sink *full = memory_sink(&packed, NULL);
	((struct memory_sink *)full)->room = 100;
	struct tr_archive_writer *writer = tr_archive_create(format, full, &err);
	bool good = put_member(writer, &members[3], &err) && tr_archive_finish(writer, &err);
	tr_archive_writer_free(writer);
	ok(!good && !strcmp(err.text, "the disk is full"), "%s: a failed write is reported: %s",
	   format, err.text);

	writer = tr_archive_create(format, memory_sink(&packed, NULL), &err);
	put_member(writer, &members[0], &err);
	packed.len = 0;
	tr_archive_writer_free(writer);
	ok(packed.len == 0, "%s: without finish nothing more is written", format);

	packed.len = 0;
	pack(format, members, MEMBERS, &packed, &err);
	struct tr_source *broken =
		memory_source((struct tr_text){ packed.data, packed.len - packed.len / 3 }, 0);
	((struct memory_source *)broken)->fails = true;
	struct tr_archive *archive =
		tr_archive_open(tr_input_new(broken, &limits, 0), &limits, &err);
	if (archive)
		count_same(archive, members, MEMBERS, 1000, 1, &err);
	tr_archive_free(archive);
	ok(err.cause == TR_CAUSE_SYSTEM, "%s: an error of the file comes through: %s", format,
	   err.text);
	tr_buffer_free(&packed);
}

static void test_limits(void)
{
	struct tr_buffer packed = TR_BUFFER_INIT, data = TR_BUFFER_INIT;
	struct tr_error err;
	struct member zeros = { "zeros", TR_BUFFER_INIT };
	memset(tr_buffer_room(&zeros.data, 80 << 20), 0, 80 << 20);
	zeros.data.len = 80 << 20;
	pack("zip", &zeros, 1, &packed, &err);
	struct tr_limits strict = TR_LIMITS_DEFAULT;
	strict.max_ratio = 5;
	strict.max_spool = 1000;
	struct tr_archive *archive =
		tr_archive_open(memory_input(tr_buffer_text(&packed), 0, false), &strict, &err);
	struct tr_archive_member member;
	tr_archive_next(archive, &member, &err);
	ok(!drain(tr_archive_source(archive), 1 << 20, &data, &err) &&
		   err.cause == TR_CAUSE_LIMIT && data.len >= 64 << 20 && data.len < 70 << 20,
	   "zip: a bomb is stopped: %s", err.text);
	ok(tr_archive_next(archive, &member, &err) == TR_END, "and nothing more is tried");
	tr_archive_free(archive);
	packed.len = 0;
	pack("7z", members, MEMBERS, &packed, &err);
	ok(!tr_archive_open(memory_input(tr_buffer_text(&packed), 0, false), &strict, &err) &&
		   err.cause == TR_CAUSE_LIMIT,
	   "7z: a small spool is not exceeded: %s", err.text);
	tr_buffer_free(&zeros.data);
	tr_buffer_free(&packed);
	tr_buffer_free(&data);
}

static void test_names(void)
{
	static const struct {
		const char *path, *format;
	} cases[] = {
		{ "out.zip", "zip" }, { "out.tar", "tar" },	 { "dir/out.tar.zst", "tar" },
		{ "out.tgz", "tar" }, { "out.cpio.gz", "cpio" }, { "out.7z", "7z" },
		{ "out.json", NULL }, { "tar", NULL },		 { "out.gz", NULL },
		{ ".tar", NULL },     { "out.tar.br", "tar" },	 { "", NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *format = tr_archive_by_extension(tr_text_from(cases[i].path));
		ok(cases[i].format ? format && !strcmp(format, cases[i].format) : !format,
		   "\"%s\" is %s", cases[i].path, format ? format : "no archive");
	}
}

static void test_no_archive(void)
{
	static const char *const texts[] = { "",     "{",  "P",	   "PK is text",
					     "0707", "7z", "7zip", "a line\nand another\n" };
	struct tr_error err;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct tr_input *in = memory_input(tr_text_from(texts[i]), 1, false);
		ok(!tr_archive_detect(in) && in->offset == 0, "text %zu is no archive", i);
		ok(!tr_archive_open(in, &limits, &err), "and cannot be opened: %s", err.text);
	}
	struct tr_buffer noise = TR_BUFFER_INIT;
	put_noise(&noise, 2000);
	struct tr_input *in = memory_input(tr_buffer_text(&noise), 0, false);
	ok(!tr_archive_detect(in), "noise is no archive");
	tr_input_free(in);
	in = memory_input(TR_TEXT("a line\nthat comes slowly"), 8, false);
	tr_archive_detect(in);
	ok(tr_input_available(in) == 8, "lines that come slowly are not waited for");
	tr_input_free(in);
	tr_buffer_free(&noise);
}

/* Writes a number as tar does: so many octal digits and a NUL. */
static void put_octal(char *to, int digits, uint64_t number)
{
	snprintf(to, (size_t)digits + 1, "%0*" PRIo64, digits, number);
}

/* A file with holes, as GNU tar stores it: before its data, between them and at its end. */
static void put_sparse(struct tr_buffer *to, const uint64_t map[][2], size_t count, uint64_t size,
		       const char *data)
{
	char header[512] = "holes", block[1024] = { 0 };
	unsigned sum = 0;
	size_t len = strlen(data);
	put_octal(header + 100, 7, 0644);
	put_octal(header + 108, 7, 0);
	put_octal(header + 116, 7, 0);
	put_octal(header + 124, 11, len);
	put_octal(header + 136, 11, MTIME);
	header[156] = 'S';
	memcpy(header + 257, "ustar  ", 8);
	for (size_t i = 0; i < count; i++) {
		put_octal(header + 386 + 24 * i, 11, map[i][0]);
		put_octal(header + 398 + 24 * i, 11, map[i][1]);
	}
	put_octal(header + 483, 11, size);
	memset(header + 148, ' ', 8);
	for (size_t i = 0; i < sizeof header; i++)
		sum += (unsigned char)header[i];
	put_octal(header + 148, 6, sum);
	tr_buffer_put(to, header, sizeof header);
	memcpy(block, data, len);
	tr_buffer_put(to, block, 512);
	memset(block, 0, sizeof block);
	tr_buffer_put(to, block, sizeof block);
}

static void test_holes(void)
{
	static const uint64_t map[][2] = { { 1000, 4 }, { 5000, 4 }, { 5004, 3 }, { 9000, 0 } };
	static const size_t pieces[] = { 1, 3, 999, 1000, 1001, 1004, 100000 };
	struct tr_buffer packed = TR_BUFFER_INIT;
	struct tr_error err;
	char want[9000] = { 0 };
	memcpy(want + 1000, "one\n", 4);
	memcpy(want + 5000, "two\nend", 7);
	put_sparse(&packed, map, 4, sizeof want, "one\ntwo\nend");
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		struct tr_buffer data = TR_BUFFER_INIT;
		struct tr_archive_member member;
		struct tr_archive *archive = tr_archive_open(
			memory_input(tr_buffer_text(&packed), 0, false), &limits, &err);
		bool good = archive && tr_archive_next(archive, &member, &err) == TR_OK &&
			    member.size == (int64_t)sizeof want &&
			    drain(tr_archive_source(archive), pieces[i], &data, &err);
		ok(good && data.len == sizeof want && !memcmp(data.data, want, sizeof want),
		   "holes are zeros, read %zu bytes at a time", pieces[i]);
		ok(good && tr_archive_next(archive, &member, &err) == TR_END,
		   "and the archive ends");
		tr_archive_free(archive);
		tr_buffer_free(&data);
	}
	tr_buffer_free(&packed);
}

/* A hole takes no bytes of the archive, but --max-ratio limits the zeros that are read for it. */
static void test_large_hole(void)
{
	static const uint64_t map[][2] = { { 0, 4 }, { 200 << 20, 0 } };
	struct tr_buffer packed = TR_BUFFER_INIT, data = TR_BUFFER_INIT;
	struct tr_archive_member member;
	struct tr_error err;
	put_sparse(&packed, map, 2, 200 << 20, "one\n");
	struct tr_archive *archive =
		tr_archive_open(memory_input(tr_buffer_text(&packed), 0, false), &limits, &err);
	ok(archive && tr_archive_next(archive, &member, &err) == TR_OK &&
		   !drain(tr_archive_source(archive), 1 << 20, &data, &err) &&
		   err.cause == TR_CAUSE_LIMIT && data.len > 64 << 20 && data.len <= 65 << 20,
	   "a large hole is stopped: %s", err.text);
	ok(tr_archive_next(archive, &member, &err) == TR_END, "and nothing more is read");
	tr_archive_free(archive);
	tr_buffer_free(&packed);
	tr_buffer_free(&data);
}

int main(void)
{
	put_lines(&members[0].data, 4000);
	put_noise(&members[1].data, 3000);
	put_lines(&members[2].data, LARGE);
	put_noise(&members[3].data, LARGE);
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		test_round_trip(formats[i]);
		test_small_windows(formats[i]);
		test_damage(formats[i]);
		test_dropped_member(formats[i]);
		test_unusual_members(formats[i]);
		test_errors(formats[i]);
	}
	test_bad_member();
	test_many_members();
	test_limits();
	test_names();
	test_holes();
	test_large_hole();
	test_no_archive();
	for (size_t i = 0; i < MEMBERS; i++)
		tr_buffer_free(&members[i].data);
	return done_testing();
}
