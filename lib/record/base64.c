#include "record/base64.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "record/base64_wide.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Value of a digit plus one; 0: no digit. */
static const uint8_t digits[256] = {
	['A'] = 1,  ['B'] = 2,	['C'] = 3,  ['D'] = 4,	['E'] = 5,  ['F'] = 6,	['G'] = 7,
	['H'] = 8,  ['I'] = 9,	['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14,
	['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21,
	['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28,
	['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35,
	['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
	['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49,
	['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
	['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63,
	['/'] = 64,
};

/* Room for the text is taken in pieces, so that no blob is too large for one. */
enum { PIECE = 3 << 16 };

static size_t write_piece(const unsigned char *p, size_t len, char *to)
{
	char *start = to;
	size_t groups = tr_base64_write_wide(p, len, to);
	p += 3 * groups;
	len -= 3 * groups;
	to += 4 * groups;
	for (; len >= 3; len -= 3, p += 3, to += 4) {
		uint32_t bits = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
		to[0] = alphabet[bits >> 18];
		to[1] = alphabet[bits >> 12 & 63];
		to[2] = alphabet[bits >> 6 & 63];
		to[3] = alphabet[bits & 63];
	}
	if (len > 0) {
		uint32_t bits = (uint32_t)p[0] << 16 | (len > 1 ? (uint32_t)p[1] << 8 : 0);
		to[0] = alphabet[bits >> 18];
		to[1] = alphabet[bits >> 12 & 63];
		to[2] = len > 1 ? alphabet[bits >> 6 & 63] : '=';
		to[3] = '=';
		to += 4;
	}
	return (size_t)(to - start);
}

void tr_base64_write(struct tr_text bytes, struct tr_buffer *to)
{
	const unsigned char *p = (const unsigned char *)bytes.data;
	for (size_t left = bytes.len; left > 0;) {
		size_t piece = left < PIECE ? left : PIECE;
		char *room = tr_buffer_room(to, piece / 3 * 4 + 4);
		if (!room)
			return;
		tr_buffer_used(to, write_piece(p, piece, room));
		p += piece;
		left -= piece;
	}
}

static const char not_base64[] = "no padded standard base64";

/* The last group, which may be padded. */
static const char *read_last(const unsigned char *p, char *to, size_t *size)
{
	unsigned a = digits[p[0]], b = digits[p[1]], c = digits[p[2]], d = digits[p[3]];
	size_t count = d ? 3 : c ? 2 : 1;
	if (!a || !b || (!c && (p[2] != '=' || d)) || (!d && p[3] != '='))
		return not_base64;
	uint32_t bits = (a - 1) << 18 | (b - 1) << 12 | (c ? c - 1 : 0) << 6 | (d ? d - 1 : 0);
	if (bits & (0xffffffu >> (8 * count)))
		return "bits left over in base64";
	for (size_t i = 0; i < count && to; i++)
		to[i] = (char)(bits >> (16 - 8 * i));
	*size += count;
	return NULL;
}

const char *tr_base64_read(struct tr_text text, char *to, size_t *size)
{
	const unsigned char *p = (const unsigned char *)text.data;
	*size = 0;
	if (text.len % 4)
		return not_base64;
	if (text.len == 0)
		return NULL;
	size_t groups = text.len / 4 - 1, wide = tr_base64_read_wide(p, groups, to), at = 3 * wide;
	p += 4 * wide;
	for (size_t i = wide; i < groups; i++, p += 4, at += 3) {
		uint32_t a = digits[p[0]] - 1u, b = digits[p[1]] - 1u;
		uint32_t c = digits[p[2]] - 1u, d = digits[p[3]] - 1u;
		if ((a | b | c | d) > 63)
			return not_base64;
		if (to) {
			/* the fourth byte is no byte of ours yet: the next group's, or the last's
			 */
			uint32_t bits = htobe32(a << 26 | b << 20 | c << 14 | d << 8);
			memcpy(to + at, &bits, i + 1 < groups ? 4 : 3);
		}
	}
	*size = at;
	return read_last(p, to ? to + at : NULL, size);
}
