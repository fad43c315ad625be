/* SPDX-License-Identifier: MIT */
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

/*
 * Not 0 where a byte is a suspect. Both differences wrap, so what is below the
 * range is far above it: the smaller of the two excesses is 0 for a byte that
 * lies in either range.
 */
static __m128i suspects(__m128i bytes)
{
	__m128i above_blank = _mm_sub_epi8(bytes, _mm_set1_epi8(' '));
	__m128i above_tab = _mm_sub_epi8(bytes, _mm_set1_epi8('\t'));
	return _mm_min_epu8(_mm_subs_epu8(above_blank, _mm_set1_epi8('~' - ' ')),
			    _mm_subs_epu8(above_tab, _mm_set1_epi8('\n' - '\t')));
}

static __m128i is_zero(__m128i bytes)
{
	return _mm_cmpeq_epi8(bytes, _mm_setzero_si128());
}

static unsigned legal_prefix(const char *p, const char *end)
{
	struct tr_block bytes = tr_block_load(p);
	struct tr_block found = { { suspects(bytes.part[0]), suspects(bytes.part[1]),
				    suspects(bytes.part[2]), suspects(bytes.part[3]) } };
	__m128i any = _mm_or_si128(_mm_or_si128(found.part[0], found.part[1]),
				   _mm_or_si128(found.part[2], found.part[3]));
	if (_mm_movemask_epi8(is_zero(any)) == 0xffff)
		return STEP;
	struct tr_block clean = { { is_zero(found.part[0]), is_zero(found.part[1]),
				    is_zero(found.part[2]), is_zero(found.part[3]) } };
	uint64_t suspect = ~tr_block_bits(clean);
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

/*
 * Many blocks at once: whether there is a suspect in any of them, and where
 * their line ends are. Less TAB, what is below TAB and what is above ~ is large;
 * less LF + 1, what is between LF and blank is small. So the extremes tell.
 */
enum { LARGEST = '~' - '\t', SMALLEST = ' ' - ('\n' + 1) };

static bool scan_blocks(const char *p, size_t blocks, uint64_t *ends)
{
	__m128i tab = _mm_set1_epi8('\t'), behind_lf = _mm_set1_epi8('\n' + 1);
	__m128i largest = _mm_setzero_si128(), smallest = _mm_set1_epi8(-1);
	for (size_t i = 0; i < blocks; i++, p += STEP) {
		struct tr_block bytes = tr_block_load(p);
		for (unsigned part = 0; part < 4; part++) {
			__m128i less_tab = _mm_sub_epi8(bytes.part[part], tab);
			__m128i less_lf = _mm_sub_epi8(bytes.part[part], behind_lf);
			largest = _mm_max_epu8(largest, less_tab);
			smallest = _mm_min_epu8(smallest, less_lf);
		}
		ends[i] = tr_block_equal(bytes, '\n');
	}
	__m128i bad = _mm_or_si128(_mm_subs_epu8(largest, _mm_set1_epi8(LARGEST)),
				   _mm_subs_epu8(_mm_set1_epi8(SMALLEST), smallest));
	return _mm_movemask_epi8(is_zero(bad)) != 0xffff;
}

#if defined __x86_64__ && defined __GNUC__ && !defined TR_NARROW
#define HAVE_WIDE_STEPS 1
#include <immintrin.h>

/* Bytes: where lines are looked at in a file, the next ones are far away. */
enum { AHEAD = 8 << 10 };

/* The same questions for twice as many bytes at a time, where the machine can. */
__attribute__((target("avx2"))) static __m256i wide_load(const char *p)
{
	return _mm256_loadu_si256((const __m256i *)p);
}

__attribute__((target("avx2"))) static __m256i wide_suspects(__m256i bytes)
{
	__m256i above_blank = _mm256_sub_epi8(bytes, _mm256_set1_epi8(' '));
	__m256i above_tab = _mm256_sub_epi8(bytes, _mm256_set1_epi8('\t'));
	return _mm256_min_epu8(_mm256_subs_epu8(above_blank, _mm256_set1_epi8('~' - ' ')),
			       _mm256_subs_epu8(above_tab, _mm256_set1_epi8('\n' - '\t')));
}

__attribute__((target("avx2"))) static uint64_t wide_ends(__m256i bytes)
{
	__m256i lf = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\n'));
	return (unsigned)_mm256_movemask_epi8(lf);
}

/* Steps over what has no suspects: the first step that has one, or the last whole one. */
__attribute__((target("avx2"))) static const char *skip_legal(const char *p, const char *end)
{
	for (; end - p >= STEP; p += STEP) {
		__m256i any = _mm256_or_si256(wide_suspects(wide_load(p)),
					      wide_suspects(wide_load(p + 32)));
		if (!_mm256_testz_si256(any, any))
			break;
	}
	return p;
}

/* Which of the words of a group are not 0. */
__attribute__((target("avx2"))) static uint64_t used_wide(const uint64_t *words)
{
	const __m256i *from = (const __m256i *)words;
	uint64_t unused = 0;
	for (unsigned i = 0; i < TR_LINE_GROUP; i += 4) {
		__m256i equal =
			_mm256_cmpeq_epi64(_mm256_loadu_si256(from++), _mm256_setzero_si256());
		unused |= (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(equal)) << i;
	}
	return ~unused;
}

__attribute__((target("avx2"))) static bool scan_blocks_wide(const char *p, size_t blocks,
							     uint64_t *ends)
{
	__m256i tab = _mm256_set1_epi8('\t'), behind_lf = _mm256_set1_epi8('\n' + 1);
	__m256i largest = _mm256_setzero_si256(), smallest = _mm256_set1_epi8(-1);
	for (size_t i = 0; i < blocks; i++, p += STEP) {
		_mm_prefetch(p + AHEAD, _MM_HINT_T1);
		__m256i low = wide_load(p), high = wide_load(p + 32);
		largest = _mm256_max_epu8(largest, _mm256_max_epu8(_mm256_sub_epi8(low, tab),
								   _mm256_sub_epi8(high, tab)));
		smallest = _mm256_min_epu8(smallest,
					   _mm256_min_epu8(_mm256_sub_epi8(low, behind_lf),
							   _mm256_sub_epi8(high, behind_lf)));
		ends[i] = wide_ends(low) | wide_ends(high) << 32;
	}
	__m256i bad = _mm256_or_si256(_mm256_subs_epu8(largest, _mm256_set1_epi8(LARGEST)),
				      _mm256_subs_epu8(_mm256_set1_epi8(SMALLEST), smallest));
	return !_mm256_testz_si256(bad, bad);
}
#endif

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

static bool scan_blocks(const char *p, size_t blocks, uint64_t *ends)
{
	bool found = false;
	for (size_t i = 0; i < blocks; i++, p += TR_LINE_BLOCK) {
		ends[i] = 0;
		for (unsigned k = 0; k < TR_LINE_BLOCK; k++) {
			ends[i] |= (uint64_t)(p[k] == '\n') << k;
			found = found || is_suspect(p[k]);
		}
	}
	return found;
}

#endif

#if defined __SSE2__ && !defined TR_PORTABLE
bool tr_line_may_refer(const char *p, const char *end)
{
	uint64_t tab_before = 0;
	for (; p < end; p += STEP) {
		struct tr_block bytes = tr_block_load(p);
		uint64_t tabs = tr_block_equal(bytes, '\t');
		uint64_t found = tr_block_equal(bytes, '.') & (tabs << 1 | tab_before);
		found |= tr_block_equal(bytes, '@');
		if (end - p < STEP)
			found &= (UINT64_C(1) << (end - p)) - 1;
		if (found)
			return true;
		tab_before = tabs >> (STEP - 1);
	}
	return false;
}
#else
bool tr_line_may_refer(const char *p, const char *end)
{
	for (char before = 0; p < end; before = *p++) {
		if (*p == '@' || (*p == '.' && before == '\t'))
			return true;
	}
	return false;
}
#endif

const char *tr_line_scan(const char *p, const char *end)
{
#if HAVE_WIDE_STEPS
	bool wide = __builtin_cpu_supports("avx2");
#endif
	while (p < end) {
#if HAVE_WIDE_STEPS
		if (wide)
			p = skip_legal(p, end);
#endif
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

/* The blocks of one group: whether there is a suspect, and which of them have line ends. */
static bool scan_group(const char *p, size_t blocks, uint64_t *ends, uint64_t *used)
{
	if (blocks < TR_LINE_GROUP)
		memset(ends, 0, TR_LINE_GROUP * sizeof *ends);
#if HAVE_WIDE_STEPS
	if (__builtin_cpu_supports("avx2")) {
		bool found = scan_blocks_wide(p, blocks, ends);
		*used = used_wide(ends);
		return found;
	}
#endif
	bool found = scan_blocks(p, blocks, ends);
	*used = 0;
	for (size_t i = 0; i < blocks; i++)
		*used |= (uint64_t)(ends[i] != 0) << i;
	return found;
}

void tr_line_ends(const char *p, size_t blocks, struct tr_line_ends *ends)
{
	*ends->used = ends->left = ends->group = 0;
	ends->base = p;
	ends->last = NULL;
	ends->clean = true;
	for (size_t group = 0, done = 0; done < blocks; group++) {
		uint64_t *bits = &ends->bits[done], *used = &ends->used[group];
		size_t count = blocks - done < TR_LINE_GROUP ? blocks - done : TR_LINE_GROUP;
		if (scan_group(p + done * TR_LINE_BLOCK, count, bits, used))
			ends->clean = false;
		if (*used) {
			size_t last = 63 - (unsigned)__builtin_clzll(*used);
			unsigned bit = 63 - (unsigned)__builtin_clzll(bits[last]);
			ends->last = p + (done + last) * TR_LINE_BLOCK + bit;
		}
		done += count;
	}
}
