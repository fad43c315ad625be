/* SPDX-License-Identifier: MIT */
/*
 * A set of calls: the set of the whole text is the union of the sets of its parts, and an answer
 * about all numbers from one on holds for each of them.
 */

#include <stdlib.h>
#include <string.h>

#include "record/calls.h"
#include "fuzz.h"

enum { PARTS = 16, PROBES = 64 };

static const unsigned kinds[] = { 0, TR_CALL_END_FRAME, TR_CALL_RENDER, TR_CALL_RENDER_TARGET,
				  TR_CALL_END_FRAME | TR_CALL_RENDER_TARGET };

static bool is_blank(struct tr_text text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!strchr(" \t\n\r\v\f", text.data[i]))
			return false;
	return true;
}

/* Makes a set of each part between commas. False: there are too many. */
static bool add_parts(struct tr_text text, struct tr_call_set *parts, size_t *count)
{
	for (const char *p = text.data, *end = p + text.len; p < end;) {
		struct tr_error err;
		const char *comma = memchr(p, ',', (size_t)(end - p));
		struct tr_text part = tr_text_span(p, comma ? comma : end);
		p = comma ? comma + 1 : end;
		if (is_blank(part))
			continue;
		if (*count == PARTS)
			return false;
		if (!tr_call_set_add(&parts[(*count)++], part, &err))
			fuzz_fail("a part of a good set is bad");
	}
	return true;
}

/* Adds the numbers in the text, and those next to them. */
static size_t find_probes(struct tr_text text, uint64_t *probes)
{
	size_t count = 0;
	probes[count++] = 0;
	probes[count++] = UINT64_MAX;
	for (size_t i = 0; i < text.len && count + 3 <= PROBES; i++) {
		uint64_t number = 0;
		size_t from = i;
		while (i < text.len && text.data[i] >= '0' && text.data[i] <= '9')
			number = number * 10 + (uint64_t)(text.data[i++] - '0');
		for (unsigned k = 0; i > from && k < 3; k++)
			probes[count++] = number + k - 1;
	}
	return count;
}

static void check_rest(const struct tr_call_set *set, uint64_t from, uint64_t number, bool has)
{
	enum tr_call_set_rest rest = tr_call_set_rest(set, from);
	if (number < from)
		return;
	if (rest == TR_CALL_SET_NONE && has)
		fuzz_fail("a call comes after the end of its set");
	if (rest == TR_CALL_SET_ALL && !has)
		fuzz_fail("a call is missing where all follow");
}

static void check(const struct tr_call_set *whole, const struct tr_call_set *parts, size_t count,
		  const uint64_t *probes, size_t probe_count)
{
	for (size_t i = 0; i < probe_count; i++) {
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
			bool has = tr_call_set_has(whole, probes[i], kinds[k]), any = false;
			for (size_t n = 0; n < count; n++)
				any |= tr_call_set_has(&parts[n], probes[i], kinds[k]);
			if (has != any)
				fuzz_fail("a set has something else than its parts");
			for (size_t n = 0; n < probe_count; n++)
				check_rest(whole, probes[n], probes[i], has);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tr_call_set whole = { 0 }, parts[PARTS] = { 0 };
	struct tr_text text = { (const char *)data, size };
	uint64_t probes[PROBES];
	struct tr_error err;
	size_t count = 0;

	/* reads no files of this machine */
	if (!size || memchr(data, '@', size))
		return 0;
	if (tr_call_set_add(&whole, text, &err) && add_parts(text, parts, &count))
		check(&whole, parts, count, probes, find_probes(text, probes));
	for (size_t i = 0; i < PARTS; i++)
		tr_call_set_free(&parts[i]);
	tr_call_set_free(&whole);
	return 0;
}
