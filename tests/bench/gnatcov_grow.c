/* SPDX-License-Identifier: MIT */
/* gnatcov_grow ENTRIES [32]: an execution trace, on standard output: some 8 thousand blocks, again
 * and again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 8192 };

static void header(int kind, int pc_size)
{
	unsigned char bytes[20] = "#QEMU-Traces\1";
	bytes[13] = (unsigned char)kind;
	bytes[14] = (unsigned char)pc_size;
	bytes[17] = pc_size == 8 ? 62 : 40;
	fwrite(bytes, 1, sizeof bytes, stdout);
}

int main(int argc, char **argv)
{
	static const unsigned char ops[8] = { 0x11, 0x12, 0x11, 0x12, 0x10, 0x11, 0x12, 0x01 };
	static unsigned char blocks[BLOCKS][16];
	unsigned long entries = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	int pc_size = argc > 2 && strcmp(argv[2], "32") == 0 ? 4 : 8;
	uint64_t address = 0x400000, state = 1;
	for (int i = 0; i < BLOCKS; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		uint16_t size = (uint16_t)(2 + (state >> 40) % 60);
		memcpy(blocks[i], &address, (size_t)pc_size); /* of a little-endian host */
		memcpy(blocks[i] + pc_size, &size, 2);
		blocks[i][pc_size + 2] = ops[state >> 61];
		address += size + ((state >> 50 & 7) == 0 ? 4096 : 0);
	}
	header(2, pc_size);
	fwrite("\1\0\0\0\4\0\0\0prog\0\0\0\0\0\0\0\0", 1, 20, stdout);
	header(1, pc_size);
	for (unsigned long n = 0, at = 0; n < entries; n++) {
		fwrite(blocks[at], 1, (size_t)pc_size * 2, stdout);
		state = state * 6364136223846793005u + 1442695040888963407u;
		/* mostly on to the next, now and then a jump */
		at = state >> 61 ? at + 1 : (state >> 32) % BLOCKS;
		at %= BLOCKS;
	}
	return fflush(stdout) != 0;
}
