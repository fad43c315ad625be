#include "record/line.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/input.h"
#include "core/utf8.h"
#include "core/utf8_block.h"

/* May not stand raw, or begins something longer, which has to be looked at as a whole. */
static bool is_suspect(char byte)
{
	unsigned char c = (unsigned char)byte;
	return (c < ' ' && c != '\t' && c != '\n') || c >= 0x7f;
}

/*
 * legal_prefix: how many bytes at p are surely legal, up to a place where a
 * sequence begins. STEP bytes may be read, of which only those before end
 * count; the result may reach behind end.
 */
#if defined __SSE2__ && !defined TR_PORTABLE

enum { STEP = TR_UTF8_BLOCK };
_Static_assert((int)STEP <= (int)TR_INPUT_PAD, "a step reads behind the pad");

static __m128i suspects(__m128i bytes)
{
	/* the compare is signed: 0x80 and up are below the blank too */
	__m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
	__m128i legal = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')),
				     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
	__m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
	return _mm_or_si128(_mm_andnot_si128(legal, low), del);
}

static unsigned legal_prefix(const char *p, const char *end)
{
	struct tr_block bytes = tr_block_load(p);
	struct tr_block found = { { suspects(bytes.part[0]), suspects(bytes.part[1]),
				    suspects(bytes.part[2]), suspects(bytes.part[3]) } };
	__m128i any = _mm_or_si128(_mm_or_si128(found.part[0], found.part[1]),
				   _mm_or_si128(found.part[2], found.part[3]));
	if (_mm_movemask_epi8(any) == 0)
		return STEP;
	uint64_t suspect = tr_block_bits(found);
	unsigned first = (unsigned)__builtin_ctzll(suspect);
	/* bytes behind end must not make a cut sequence whole */
	if (end - p < STEP)
		return first;
	unsigned valid = tr_utf8_block(p);
	uint64_t control = suspect & ~tr_block_bits(bytes);
	if (valid && control && (unsigned)__builtin_ctzll(control) < valid)
		return (unsigned)__builtin_ctzll(control);
	return valid ? valid : first;
}

#else

enum { STEP = 8 };
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static unsigned legal_prefix(const char *p, const char *end)
{
	uint64_t word;
	memcpy(&word, p, sizeof word);
	(void)end;
	/* Seven bits a byte, so no sum carries; each term has its answer in the eighth. */
	uint64_t bits = word & EACH(0x7f);
	uint64_t low = ~(bits + EACH(0x60));
	uint64_t not_tab = (bits ^ EACH('\t')) + EACH(0x7f);
	uint64_t not_lf = (bits ^ EACH('\n')) + EACH(0x7f);
	uint64_t del = ~((bits ^ EACH(0x7f)) + EACH(0x7f));
	if ((((low & not_tab & not_lf) | del | word) & EACH(0x80)) == 0)
		return STEP;
	unsigned i = 0;
	while (i < STEP && !is_suspect(p[i]))
		i++;
	return i;
}

#endif

const char *tr_line_scan(const char *p, const char *end)
{
	while (p < end) {
		unsigned legal = legal_prefix(p, end);
		p += legal;
		/* only a sequence that goes on behind the step, perhaps */
		if (legal > STEP - 4)
			continue;
		/* one by one; other scripts come in runs */
		while (p < end && is_suspect(*p)) {
			unsigned length = (unsigned char)*p < 0x80 ? 0 : tr_utf8_length(p, end);
			if (length == 0)
				return p;
			p += length;
		}
	}
	return end;
}
