#include "record/line.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/input.h"
#include "core/utf8.h"

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

/*
 * A suspect is a byte that may not stand raw, or that begins something longer
 * (0x80 and up), which has to be looked at on its own.
 */
#if defined __SSE2__ && !defined TR_PORTABLE

enum { STEP = 64 };
_Static_assert((int)STEP <= (int)TR_INPUT_PAD, "a step reads behind the pad");

static __m128i suspects(const char *p)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)p);
	/* the compare is signed: 0x80 and up are below the blank too */
	__m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
	__m128i legal = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')),
				     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
	__m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
	return _mm_or_si128(_mm_andnot_si128(legal, low), del);
}

/* The first suspect in the STEP bytes at p, which all may be read; STEP when there is none. */
static unsigned first_suspect(const char *p)
{
	__m128i a = suspects(p), b = suspects(p + 16), c = suspects(p + 32), d = suspects(p + 48);
	__m128i any = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d));
	if (_mm_movemask_epi8(any) == 0)
		return STEP;
	uint64_t mask = (uint64_t)(unsigned)_mm_movemask_epi8(a) |
			(uint64_t)(unsigned)_mm_movemask_epi8(b) << 16 |
			(uint64_t)(unsigned)_mm_movemask_epi8(c) << 32 |
			(uint64_t)(unsigned)_mm_movemask_epi8(d) << 48;
	return (unsigned)__builtin_ctzll(mask);
}

#else

enum { STEP = 8 };
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static bool is_suspect(unsigned char c)
{
	return (c < ' ' && c != '\t' && c != '\n') || c >= 0x7f;
}

static unsigned first_suspect(const char *p)
{
	uint64_t word;
	memcpy(&word, p, sizeof word);
	/* Seven bits a byte, so no sum carries; each term has its answer in the eighth. */
	uint64_t bits = word & EACH(0x7f);
	uint64_t low = ~(bits + EACH(0x60));
	uint64_t not_tab = (bits ^ EACH('\t')) + EACH(0x7f);
	uint64_t not_lf = (bits ^ EACH('\n')) + EACH(0x7f);
	uint64_t del = ~((bits ^ EACH(0x7f)) + EACH(0x7f));
	if ((((low & not_tab & not_lf) | del | word) & EACH(0x80)) == 0)
		return STEP;
	unsigned i = 0;
	while (i < STEP && !is_suspect((unsigned char)p[i]))
		i++;
	return i;
}

#endif

const char *tr_line_scan(const char *p, const char *end)
{
	while (p < end) {
		unsigned skipped = first_suspect(p);
		p += skipped;
		if (skipped == STEP)
			continue;
		/* other scripts come in runs */
		while (p < end && (unsigned char)*p >= 0x80) {
			unsigned length = tr_utf8_length(p, end);
			if (length == 0)
				return p;
			p += length;
		}
		if (p < end && ((unsigned char)*p < ' ' || *p == 0x7f) && *p != '\t' && *p != '\n')
			return p;
	}
	return end;
}
