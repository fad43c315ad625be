/* SPDX-License-Identifier: MIT */
/*
 * Mutations of a small trace that has a bit of everything: whatever the bytes
 * are, --exact and back gives them again, and the size of the reads does not
 * matter. SEED and ROUNDS in the environment change what is tried.
 */
#include "transcript.h"
#include "tap.h"

static const char trace[] =
	"{\"version\":101}\n{\"creator\":\"x\"} \n{\"env\":{\"A\":\"b\",\"P\":\"/a:/b\"}}\r\n"
	"{\"id\":1,\"parent_id\":-1,\"work_dir\":\"/w\",\"executable\":\"/bin/make\","
	"\"args\":[\"make\",\"-j2\"]}\n"
	"{\"id\":2,\"parent_id\":1,\"work_dir\":\"/w\",\"executable\":\"gcc\","
	"\"args\":[\"gcc\",\"-DA=\\\"x\\\"\",\"\\u00e9\",\"caf\xc3\xa9\",\"\xe9\"],"
	"\"env-diff\":{\"A\":null,\"B\":\"\\ud800\"}}\n"
	"make: *** [x] Error 1\n"
	"{\"id\":3,\"parent_id\":4,\"args\":\"a b\",\"n\":1.50}, {\"id\":\"s\",\"parent_id\":2}\n"
	"{\n \"id\":4,\n\n \"parent_id\":12345678901234567890\n}\n"
	"{\"zork\":[]}\n\n  \n{\"id\":5,\"args\":[\"cut";

static const char *const snippets[] = {
	"\n",
	"\r\n",
	"\"",
	"\\",
	"{",
	"}",
	"[",
	"]",
	",",
	":",
	" ",
	"\xff",
	"\xef\xbb\xbf",
	"0",
	"{\"id\":1}",
	"\"id\":",
	"\"args\":",
	"1e999",
	"\\u0041",
	"\\ud83d\\ude00",
	"null",
	"x",
};

static uint64_t state;

static size_t any(size_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (size_t)(state >> 33) % below;
}

/* Copies the trace with a few bytes taken out, put in or changed. */
static void mutate(struct tr_buffer *to)
{
	size_t begin = any(3) ? 0 : any(sizeof trace - 1);
	size_t len = sizeof trace - 1 - begin;
	tr_buffer_reset(to);
	tr_buffer_put(to, trace + begin, any(3) ? len : any(len));
	for (size_t n = any(5); n > 0 && to->len > 2; n--) {
		size_t at = any(to->len - 1);
		const char *snippet = snippets[any(sizeof snippets / sizeof *snippets)];
		size_t size = strlen(snippet), gone = any(2) ? 0 : 1 + any(to->len - at) % 40;
		if (gone > to->len - at)
			gone = to->len - at;
		if (!any(4))
			size = 0;
		if (!tr_buffer_room(to, size))
			return;
		memmove(to->data + at + size, to->data + at + gone, to->len - at - gone);
		memcpy(to->data + at, snippet, size);
		to->len += size - gone;
	}
}

/* The trace there and back, read in pieces; true when the bytes are the same. */
static bool comes_back(struct tr_text bytes, size_t piece, struct transcript *read)
{
	struct reading how = { .format = &tr_format_klocwork, .piece = piece, .exact = true };
	struct transcript written = { 0 };
	struct tr_buffer stream = TR_BUFFER_INIT;
	bool good = read_trace(bytes, &how, read);
	wrap_segment(&tr_format_klocwork, read, &stream);
	good &= write_trace(&tr_format_klocwork, tr_buffer_text(&stream), &written) &&
		tr_text_equal(tr_buffer_text(&written.lines), bytes);
	transcript_free(&written);
	tr_buffer_free(&stream);
	return good;
}

static bool try_one(struct tr_text bytes)
{
	struct transcript whole = { 0 }, pieces = { 0 };
	bool good =
		comes_back(bytes, 1 << 16, &whole) && comes_back(bytes, 1 + any(7), &pieces) &&
		tr_text_equal(tr_buffer_text(&whole.lines), tr_buffer_text(&pieces.lines)) &&
		tr_text_equal(tr_buffer_text(&whole.messages), tr_buffer_text(&pieces.messages));
	transcript_free(&whole);
	transcript_free(&pieces);
	return good;
}

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
	const char *value = getenv(name);
	return value ? strtoul(value, NULL, 10) : otherwise;
}

int main(void)
{
	struct tr_buffer bytes = TR_BUFFER_INIT;
	unsigned long rounds = from_environment("ROUNDS", 2000 / every(10)), failed = 0;
	state = from_environment("SEED", 1);
	for (unsigned long i = 0; i < rounds && failed < 5; i++) {
		mutate(&bytes);
		if (try_one(tr_buffer_text(&bytes)))
			continue;
		failed++;
		printf("# round %lu, %zu bytes: %.*s\n", i, bytes.len, (int)bytes.len, bytes.data);
	}
	ok(failed == 0, "%lu mutations come back to the byte, however they are read", rounds);
	tr_buffer_free(&bytes);
	return done_testing();
}
