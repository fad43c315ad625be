/* SPDX-License-Identifier: MIT */
/*
 * gnatcov_loop FILE: measures the floor of the gnatcov rows. It loops over the entries and prints
 * the lines of dump-trace with a table of hex digits. It reads one form of trace and checks
 * nothing.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 256 << 10, LINE = 80 };

static char hex[256][2], tails[256][32];
static size_t lengths[256];

static char *put_hex(char *p, uint64_t n, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--, p += 2)
		memcpy(p, hex[n >> i * 8 & 0xff], 2);
	return p;
}

static char *entry(char *p, const unsigned char *e, int pc)
{
	uint64_t first = 0;
	uint16_t size;
	memcpy(&first, e, (size_t)pc);
	memcpy(&size, e + pc, 2);
	p = put_hex(p, first, pc);
	*p++ = '-';
	p = put_hex(p, first + size - 1, pc);
	memcpy(p, tails[e[pc + 2]], 32);
	return p + lengths[e[pc + 2]];
}

static void flush(const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(1, p, len);
		if (n <= 0)
			exit(1);
		p += n;
		len -= (size_t)n;
	}
}

int main(int argc, char **argv)
{
	static unsigned char in[BUFFER];
	static char out[BUFFER];
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : 0, pc = 0;
	size_t have = 0, used = 60; /* the head that gnatcov_grow writes */
	for (int i = 0; i < 256; i++) {
		char digits[3];
		snprintf(digits, sizeof digits, "%02x", i);
		memcpy(hex[i], digits, 2);
		lengths[i] = (size_t)snprintf(tails[i], 32, " ?: %02x %c%c%c%c%s%s\n", i,
					      i & 8 ? 't' : '-', i & 4 ? 't' : '-',
					      i & 2 ? 't' : '-', i & 1 ? 't' : '-',
					      i & 16 ? " block" : "", i & 32 ? " fault" : "");
	}
	char *p = out;
	for (;;) {
		ssize_t n = read(fd, in + have, BUFFER - have);
		if (n <= 0)
			break;
		have += (size_t)n;
		if (!pc) {
			if (have < used)
				return 1;
			pc = in[14];
		}
		for (; have - used >= (size_t)pc * 2; used += (size_t)pc * 2) {
			if (p > out + BUFFER - LINE) {
				flush(out, (size_t)(p - out));
				p = out;
			}
			p = entry(p, in + used, pc);
		}
		memmove(in, in + used, have - used);
		have -= used;
		used = 0;
	}
	flush(out, (size_t)(p - out));
	return 0;
}
