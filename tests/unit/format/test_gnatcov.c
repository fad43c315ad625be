/* SPDX-License-Identifier: MIT */
/*
 * Execution traces, whatever happened to them: every cut and every changed byte
 * of small ones, of both widths and byte orders, through all that the fuzz
 * target checks, which aborts if a rule is violated.
 */
#include <stdio.h>

#include "damage.h"
#include "damage_alloc.h"
#include "tap.h"

#define SECTION(name) "section\t0\t-\t-\t" name "\tbits=%d\tendian=%s\tmachine=EM_PPC(20)\n"
#define ADDRESS(low) "\t-\t-\t0x%s" low
#define INFOS \
	"info\t0\t-\t-\tEXEC_FILE_NAME\tdata=\"/bin/x\"\n" \
	"info\t0\t-\t-\tDATE_TIME\tvalue=\"2012-02-21T08:00:37Z\"\n" \
	"info\t0\t-\t-\tUSER_DATA\tdata=\"a tag\"\n"
#define BLOCK(low, rest) "block\t0" ADDRESS(low) "\t" rest "\n"

/* cuts: places where a cut leaves a whole trace: before each entry of a section of entries */
static const struct {
	const char *name, *records;
	size_t cuts;
} traces[] = {
	{ "plain",
	  SECTION("INFO") INFOS SECTION("FLAT") BLOCK("00400000", "size=8\top=block|br0") BLOCK(
		  "00400008", "size=0\top=fault") BLOCK("fffffffe", "size=8\top=block\t.pad=0x1"),
	  3 },
	{ "kernel",
	  SECTION("INFO") INFOS "info\t0\t-\t-\tKERNEL_FILE_NAME\tdata=\"vx\"\n" SECTION("FLAT")
		  BLOCK("00000100", "size=8\top=block") "loadaddr\t0" ADDRESS(
			  "00020000") "\n" BLOCK("00020010", "size=4\top=br1"),
	  1 },
	{ "objects",
	  SECTION("INFO") INFOS SECTION("HISTORY") "load\t0" ADDRESS(
		  "70000000") "\tEXEC_FILE_NAME=\"/lib/a\"\tEXEC_FILE_SIZE=\" "
			      "200\"\tEXEC_FILE_TIME_STAMP=\"2012-02-21 08:00:37\""
			      "\tEXEC_FILE_CRC32=\" 7\"\tEXEC_CODE_SIZE=\" 256\"\n" BLOCK(
				      "70000010",
				      "size=6\top=block|br0") "unload\t0" ADDRESS("70000000") "\n",
	  3 },
	{ "appended",
	  SECTION("DECISION_MAP") BLOCK("00400000", "size=4\top=br0") SECTION("INFO")
		  INFOS SECTION("FLAT") BLOCK("00400000", "size=8\top=block") SECTION("FLAT")
			  BLOCK("00400000", "size=8\top=block"),
	  5 },
};

/* The bytes of a trace. */
static size_t make(const char *records, int bits, const char *endian, struct tr_buffer *trace)
{
	const char *high = bits == 64 ? "ffffffff" : "";
	struct tr_buffer stream = TR_BUFFER_INIT;

	tr_buffer_put_literal(&stream, "%trec\t1\tformat=gnatcov\n");
	for (const char *p = records; *p; p++) {
		if (*p != '%')
			tr_buffer_put_byte(&stream, *p);
		else if (p[1] == 'd')
			tr_buffer_put_decimal(&stream, (uint64_t)bits);
		else if (p > records && p[-1] == '=')
			tr_buffer_put_text(&stream, tr_text_from(endian));
		else
			tr_buffer_put_text(&stream, tr_text_from(high));
		p += *p == '%';
	}
	size_t trouble = fuzz_convert(&tr_format_trec, &tr_format_gnatcov, tr_buffer_text(&stream),
				      false, SIZE_MAX, trace);
	tr_buffer_free(&stream);
	return trouble;
}

static void ask(const char *data, size_t size)
{
	/* of its own size, so that a sanitizer sees what is read behind it */
	char *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput((const uint8_t *)copy, size);
	free(copy);
}

static void ask_all(struct tr_text data)
{
	static const unsigned char others[] = { 0x00, 0x7f, 0xff };
	char *copy = malloc(data.len);

	memcpy(copy, data.data, data.len);
	for (size_t i = 0; i < data.len; i += every(17)) {
		ask(data.data, i);
		for (unsigned k = 0; k < 8 + sizeof others; k++) {
			copy[i] = k < 8 ? (char)(data.data[i] ^ (1 << k)) : (char)others[k - 8];
			ask(copy, data.len);
		}
		copy[i] = data.data[i];
	}
	free(copy);
}

static void try_trace(size_t i, int bits, const char *endian)
{
	struct tr_buffer trace = TR_BUFFER_INIT;
	bool prefix;

	ok(make(traces[i].records, bits, endian, &trace) == 0, "%s, %d bits, %s endian: written",
	   traces[i].name, bits, endian);
	struct tr_text data = tr_buffer_text(&trace);
	ok(damage_same(&tr_format_gnatcov, data, SIZE_MAX), "read and written again: the same");
	ok(damage_pieces(&tr_format_gnatcov, data), "in pieces: the same records");
	size_t unnoticed = damage_cuts(&tr_format_gnatcov, data, &prefix);
	ok(unnoticed == traces[i].cuts, "cuts: noticed, but between entries (%zu)", unnoticed);
	ok(prefix, "cuts: records in front of them are there");
	ask_all(data);
	ok(true, "cuts and changed bytes: no promise broken");
	ok(damage_biggest <= DAMAGE_ALLOC_MAX, "nor much memory allocated (%zu)", damage_biggest);
	tr_buffer_free(&trace);
}

int main(void)
{
	char program[] = "fuzz_format", format[] = "gnatcov";
	char *words[] = { program, format, NULL }, **argv = words;
	int argc = 2;

	LLVMFuzzerInitialize(&argc, &argv);
	for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
		try_trace(i, 32, "little");
		try_trace(i, 32, "big");
		try_trace(i, 64, "little");
		try_trace(i, 64, "big");
	}
	return done_testing();
}
