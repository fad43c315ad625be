/* SPDX-License-Identifier: MIT */
/* Source traces: exact, whatever their layout, and safe, whatever happened to them. */
#include <stdio.h>

#include "damage.h"
#include "damage_alloc.h"
#include "tap.h"

#define HASH "\"000102030405060708090a0b0c0d0e0f10111213\""
#define UNIT(name, bits, list) \
	"unit\t0\t-\t-\t" name "\tstatement_bits=" bits "\tstatements=" list \
	"\tdecision_bits=3\tdecisions=[0,2]\tmcdc_bits=0\tmcdc=[]\tscos=" HASH "\tbit_maps=" HASH \
	"\tannotations=" HASH "\n"

static const char records[] =
	"info\t0\t-\t-\tPROGRAM_NAME\tdata=\"tiny\"\n"
	"info\t1\t-\t-\tEXEC_DATE\tdata=\"\\u0000\\xf1Se\\u0000\\u0000\\u0000\\u0000\"\n"
	"info\t2\t-\t-\tUSER_DATA\tdata=\"\"\n" UNIT("/src/a.c", "17", "[0,8,16]")
		UNIT("/src/b.c", "0", "[]");

/* A stream to a trace, as tr-repack writes it. */
static size_t make(const char *header, struct tr_buffer *trace)
{
	struct tr_buffer stream = TR_BUFFER_INIT;
	tr_buffer_put_text(&stream, tr_text_from(header));
	tr_buffer_put_text(&stream, tr_text_from(records));
	tr_buffer_put_literal(&stream, "!end\t5\n");
	size_t trouble = fuzz_convert(&tr_format_trec, &tr_format_srctrace, tr_buffer_text(&stream),
				      false, SIZE_MAX, trace);
	tr_buffer_free(&stream);
	return trouble;
}

/*
 * A cut at the end of the header, of the list of information or of a unit leaves no incomplete
 * part.
 */
static void try_layout(unsigned align, const char *endian)
{
	struct tr_buffer trace = TR_BUFFER_INIT;
	char header[100];
	bool prefix;
	snprintf(header, sizeof header,
		 "%%trec\t1\tformat=srctrace\tversion=4\talign=%u\tendian=%s\n", align, endian);
	ok(make(header, &trace) == 0, "alignment %u, %s: written", align, endian);
	struct tr_text data = tr_buffer_text(&trace);
	ok(damage_same(&tr_format_srctrace, data, SIZE_MAX), "read and written again: the same");
	ok(damage_pieces(&tr_format_srctrace, data), "in pieces: the same records");
	size_t unnoticed = damage_cuts(&tr_format_srctrace, data, &prefix);
	ok(unnoticed == 2, "cuts: noticed, but between units (%zu)", unnoticed);
	ok(prefix, "cuts: records in front of them are there");
	ok(damage_flips(&tr_format_srctrace, data), "changed bytes: harmless, and exact");
	tr_buffer_free(&trace);
}

int main(void)
{
	static const unsigned aligns[] = { 1, 2, 4, 8, 16 };
	for (size_t i = 0; i < sizeof aligns / sizeof *aligns; i++) {
		try_layout(aligns[i], "little");
		try_layout(aligns[i], "big");
	}
	ok(damage_biggest <= DAMAGE_ALLOC_MAX, "no big allocation (%zu)", damage_biggest);
	return done_testing();
}
