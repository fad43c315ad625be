/* SPDX-License-Identifier: MIT */
/* drcov files: exact, whatever wrote them, and safe, whatever happened to them. */
#include <stdio.h>

#include "damage.h"
#include "damage_alloc.h"
#include "tap.h"

#define HEAD(flavor) \
	"DRCOV VERSION: 2\nDRCOV FLAVOR: " flavor "\nModule Table: version 2, count 2\n" \
	"Columns: id, base, end, entry, path\n"
#define ROWS \
	"  0, 0x0000000000400000, 0x0000000000621000, 0x0000000000404030,  /usr/bin/ls\n" \
	"1,0x7ffff7a00000,0x7ffff7c00000,0,/lib/b\n"
#define BLOCKS "BB Table: 2 bbs\n\x10\x20\0\0\x08\0\0\0\xff\xff\xff\xff\x01\0\x01\0"
#define TEXT_BLOCKS \
	"BB Table: 2 bbs\nmodule id, start, size:\nmodule[  0]: 0x0000000000001090,   8\n" \
	"module[1]: 0x10,8\n"
#define HITS "Hit Count Table: version 1, count 2\n\x01\0\0\0\xff\xff\xff\xff"

static const struct {
	const char *name;
	struct tr_text data;
	size_t unnoticed; /* cuts that leave a whole file */
} files[] = {
	{ "binary", { HEAD("x") ROWS BLOCKS, sizeof(HEAD("x") ROWS BLOCKS) - 1 }, 0 },
	{ "text", { HEAD("x") ROWS TEXT_BLOCKS, sizeof(HEAD("x") ROWS TEXT_BLOCKS) - 1 }, 0 },
	{ "hits", { HEAD("hits") ROWS BLOCKS HITS, sizeof(HEAD("hits") ROWS BLOCKS HITS) - 1 }, 1 },
	{ "text and hits",
	  { HEAD("hits") ROWS TEXT_BLOCKS HITS, sizeof(HEAD("hits") ROWS TEXT_BLOCKS HITS) - 1 },
	  1 },
	{ "unpromised hits",
	  { HEAD("x") ROWS BLOCKS HITS, sizeof(HEAD("x") ROWS BLOCKS HITS) - 1 },
	  1 },
	{ "two dumps",
	  { HEAD("x") ROWS BLOCKS HEAD("y") ROWS TEXT_BLOCKS,
	    sizeof(HEAD("x") ROWS BLOCKS HEAD("y") ROWS TEXT_BLOCKS) - 1 },
	  1 },
};

int main(void)
{
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct tr_text data = files[i].data;
		struct tr_buffer again = TR_BUFFER_INIT;
		bool prefix;
		size_t trouble = fuzz_convert(&tr_format_drcov, &tr_format_drcov, data, false,
					      SIZE_MAX, &again);
		ok(trouble == 0 && tr_text_equal(tr_buffer_text(&again), data),
		   "%s: read and written again, the same", files[i].name);
		ok(damage_pieces(&tr_format_drcov, data), "in pieces: the same records");
		size_t unnoticed = damage_cuts(&tr_format_drcov, data, &prefix);
		ok(unnoticed == files[i].unnoticed, "cuts are noticed (%zu)", unnoticed);
		ok(damage_flips(&tr_format_drcov, data), "changed bytes: harmless, and exact");
		tr_buffer_free(&again);
	}
	ok(damage_biggest <= DAMAGE_ALLOC_MAX, "no big allocation (%zu)", damage_biggest);
	return done_testing();
}
