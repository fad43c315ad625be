/* SPDX-License-Identifier: MIT */
/* Buffers, growing arrays, digits, and similar words. */

#include "core/buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

static void test_digits(void)
{
	unsigned wrong = 0;
	char text[32], have[32];

	for (uint64_t power = 1, i = 0; i < TR_DECIMAL_MAX; i++, power *= 10) {
		for (uint64_t n = power - 1; n <= power + 1; n++) {
			size_t len = (size_t)snprintf(text, sizeof text, "%" PRIu64, n);
			wrong += tr_decimal_length(n) != len || tr_decimal_write(n, have) != len ||
				 memcmp(have, text, len) != 0;
		}
	}
	ok(tr_decimal_write(UINT64_MAX, have) == 20 && wrong == 0, "decimal digits around powers");
	wrong = 0;
	struct tr_counter counter = { 0 };
	static const uint64_t steps[] = {
		0, 1, 99, 100, 101, 100, 199, 200, 9999, 10000, 7, 10001
	};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		size_t len = (size_t)snprintf(text, sizeof text, "%" PRIu64, steps[i]);
		wrong += tr_counter_write(&counter, steps[i], have) != len ||
			 memcmp(have, text, len) != 0;
	}
	ok(wrong == 0, "a counter that steps and jumps");
	wrong = 0;
	struct tr_buffer b = TR_BUFFER_INIT;
	for (unsigned shift = 0; shift < 64; shift++) {
		for (unsigned width = 1; width <= 16; width++) {
			uint64_t n = UINT64_C(0xfedcba9876543210) >> shift;
			tr_buffer_reset(&b);
			tr_buffer_put_hex(&b, n, width);
			snprintf(text, sizeof text, "%0*" PRIx64, (int)width, n);
			wrong += !tr_text_is(tr_buffer_text(&b), text);
		}
	}
	tr_buffer_reset(&b);
	tr_buffer_put_hex(&b, 0, 0);
	tr_buffer_put_hex(&b, 1, 17);
	ok(wrong == 0 && tr_text_is(tr_buffer_text(&b), "00000000000000001"),
	   "hex digits of each width up to 16");
	tr_buffer_free(&b);
}

static void test_buffer(void)
{
	char memory[8];
	struct tr_buffer b = tr_buffer_over(memory, sizeof memory);

	tr_buffer_put_literal(&b, "abcdefg");
	tr_buffer_put_byte(&b, 'h');
	ok(b.lent && b.data == memory && b.len == 8, "memory of the caller is used up to its end");
	tr_buffer_put_byte(&b, 'i');
	ok(!b.lent && tr_text_is(tr_buffer_text(&b), "abcdefghi"), "and then copied");
	memcpy(tr_buffer_insert(&b, 0, 2), "01", 2);
	memcpy(tr_buffer_insert(&b, 5, 1), "-", 1);
	memcpy(tr_buffer_insert(&b, b.len, 1), "$", 1);
	ok(tr_text_is(tr_buffer_text(&b), "01abc-defghi$"), "bytes are inserted anywhere");
	tr_buffer_trim(&b);
	ok(b.cap == b.len && tr_text_is(tr_buffer_text(&b), "01abc-defghi$"),
	   "a trimmed buffer has no more memory than bytes");
	ok(tr_buffer_room(&b, (1 << 20) + 1) && (tr_buffer_reset(&b), !b.data),
	   "a reset frees much memory");
	ok(tr_buffer_room(&b, 1 << 20) && (tr_buffer_reset(&b), b.data && !b.len),
	   "and keeps 1 MiB");

	tr_buffer_limit(&b, 1000);
	ok(tr_buffer_room(&b, 1128) && !b.failed, "a line of the limit fits, with what follows");
	tr_buffer_used(&b, 1128);
	ok(!tr_buffer_room(&b, (1 << 20) + 1) && b.failed && b.limited, "more than that does not");
	tr_buffer_put_byte(&b, 'x');
	tr_buffer_reset(&b);
	ok(!b.failed && !b.limited && b.limit == 1128, "a reset keeps the limit only");
	tr_buffer_free(&b);
	ok(!b.data && b.limit == 1128, "and so does free");
}

static void test_array(void)
{
	uint32_t *items = NULL;
	size_t count = 0, cap = 0, sum = 0;

	for (; count < 100; count++) {
		if (!tr_array_room(items, count, cap))
			break;
		items[count] = (uint32_t)count;
	}
	for (size_t i = 0; i < count; i++)
		sum += items[i];
	ok(cap == 128 && sum == 4950, "an array doubles from 16 items");
	ok(tr_array_grow(&items, &cap, 128, sizeof *items) && cap == 128, "room is not made twice");
	ok(tr_array_grow(&items, &cap, 1000, sizeof *items) && cap == 1000, "as many as needed");
	ok(!tr_array_grow(&items, &cap, PTRDIFF_MAX / 4 + 1, sizeof *items) && cap == 1000 &&
		   items[99] == 99,
	   "an impossible size changes nothing");
	free(items);
}

static void test_similar(void)
{
	static const struct {
		const char *word, *candidates[3], *found;
	} rows[] = {
		{ "exce", { "fork", "exec" }, "exec" },	       /* neighbours swapped */
		{ "exe", { "exec" }, "exec" },		       /* a letter missing */
		{ "eexec", { "exec" }, "exec" },	       /* one too many */
		{ "rat", { "cat", "bat" }, "cat" },	       /* equally near: the first */
		{ "rat", { "cut", "cat" }, "cat" },	       /* the nearer one */
		{ "abcde", { "abcxy" }, NULL },		       /* two of five */
		{ "abcdef", { "abcdxy" }, "abcdxy" },	       /* two of six */
		{ "abcdef", { "abcxyz" }, NULL },	       /* three of six */
		{ "abcdefghi", { "abcdefxyz" }, "abcdefxyz" }, /* three of nine */
		{ "a", { "b" }, NULL },			       /* nothing in common */
		{ "ab", { "ba" }, "ba" },
		{ "", { "x" }, NULL },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tr_similar similar;
		tr_similar_begin(&similar, tr_text_from(rows[i].word));
		for (int k = 0; rows[i].candidates[k]; k++)
			tr_similar_offer(&similar, tr_text_from(rows[i].candidates[k]));
		bool right = rows[i].found ? tr_text_is(similar.found, rows[i].found)
					   : !similar.found.data;
		if (!ok(right, "similar to '%s'", rows[i].word))
			diag("%.*s", (int)similar.found.len, similar.found.data);
	}
	char many[66];
	memset(many, 'x', sizeof many);
	struct tr_similar similar;
	tr_similar_begin(&similar, (struct tr_text){ many, 64 });
	tr_similar_offer(&similar, (struct tr_text){ many, 65 });
	ok(!similar.found.data, "a word of more than 64 bytes is not compared");
	tr_similar_offer(&similar, (struct tr_text){ many, 64 });
	ok(similar.found.len == 64 && similar.distance == 0, "one of 64 bytes is");
}

static void test_texts(void)
{
	ok(tr_text_is(tr_text_trimmed(TR_TEXT("\t a b\r\n ")), "a b"), "blanks are trimmed");
	ok(tr_text_trimmed(TR_TEXT(" \n")).len == 0, "all of them");
	ok(tr_text_equal_in_any_case(TR_TEXT("AZ[az@"), TR_TEXT("az[AZ@")), "any case");
	ok(!tr_text_equal_in_any_case(TR_TEXT("@["), TR_TEXT("`{")), "of letters only");
	ok(!tr_text_equal_in_any_case(TR_TEXT("ab"), TR_TEXT("abc")), "and of the same length");
	ok(tr_text_starts(TR_TEXT("ab"), TR_TEXT("ab")) &&
		   !tr_text_starts(TR_TEXT("a"), TR_TEXT("ab")),
	   "a prefix is not longer");
	ok(tr_hex_digit('f') == 15 && tr_hex_digit('A') == 10 && tr_hex_digit('g') == -1 &&
		   tr_hex_digit('@') == -1 && tr_hex_digit('/') == -1 && tr_hex_digit(':') == -1,
	   "hex digits");
}

int main(void)
{
	test_digits();
	test_buffer();
	test_array();
	test_similar();
	test_texts();
	return done_testing();
}
