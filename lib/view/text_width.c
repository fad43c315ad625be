/* SPDX-License-Identifier: MIT */
#include "view/text_width.h"

#include <stdbool.h>
#include <stdint.h>

struct range {
	uint32_t first, last;
	unsigned width;
};

/* Blocks of Unicode, in order; what is in none of them is one column wide. */
static const struct range ranges[] = {
	{ 0x0300, 0x036f, 0 },	 { 0x1100, 0x115f, 2 },	  { 0x1ab0, 0x1aff, 0 },
	{ 0x1dc0, 0x1dff, 0 },	 { 0x200b, 0x200f, 0 },	  { 0x202a, 0x202e, 0 },
	{ 0x2060, 0x2069, 0 },	 { 0x20d0, 0x20ff, 0 },	  { 0x2e80, 0x303e, 2 },
	{ 0x3041, 0xa4cf, 2 },	 { 0xa960, 0xa97f, 2 },	  { 0xac00, 0xd7a3, 2 },
	{ 0xf900, 0xfaff, 2 },	 { 0xfe00, 0xfe0f, 0 },	  { 0xfe20, 0xfe2f, 0 },
	{ 0xfe30, 0xfe6f, 2 },	 { 0xfeff, 0xfeff, 0 },	  { 0xff01, 0xff60, 2 },
	{ 0xffe0, 0xffe6, 2 },	 { 0x1b000, 0x1b2ff, 2 }, { 0x1f300, 0x1f64f, 2 },
	{ 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
};

static unsigned width_of(uint32_t character)
{
	size_t low = 0, high = sizeof ranges / sizeof *ranges;

	if (character < ranges[0].first)
		return 1;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (character > ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	bool inside = low < sizeof ranges / sizeof *ranges && character >= ranges[low].first;
	return inside ? ranges[low].width : 1;
}

size_t tr_text_width(struct tr_text text)
{
	const unsigned char *p = (const unsigned char *)text.data, *end = p + text.len;
	size_t width = 0;

	while (p < end) {
		uint32_t character = *p++;
		/* the first byte tells in its highest bits how many follow */
		if (character >= 0xc0)
			character &= character < 0xe0 ? 0x1f : character < 0xf0 ? 0x0f : 0x07;
		while (p < end && (*p & 0xc0) == 0x80)
			character = character << 6 | (*p++ & 0x3f);
		width += width_of(character);
	}
	return width;
}
