/* SPDX-License-Identifier: MIT */
/*
 * Finds the columns of a line, and the first byte of a stream that is not allowed in it. Both
 * handle 64 bytes at a time where SSE2 is available, because they see every byte of a trace.
 */

#include "record/line.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/input.h"
#include "core/utf8.h"

/* True for a byte that is not allowed, or begins a longer sequence that has to be checked. */
static bool is_suspect(char byte)
{
	unsigned char c = (unsigned char)byte;
	return (c < ' ' && c != '\t' && c != '\n') || c >= 0x7f;
}

/*
 * legal_prefix returns how many bytes at p are certainly legal, up to a byte at which a sequence
 * begins. It reads STEP bytes, also after end, and the result may include some of those.
 */
#if defined __SSE2__ && !defined TR_PORTABLE

enum { STEP = TR_UTF8_BLOCK };
_Static_assert((int)STEP <= (int)TR_INPUT_PAD, "a step reads beyond the pad");

/*
 * Returns bytes that are not 0 where a byte is a suspect. Both differences wrap, so a byte below a
 * range is far above it: the smaller of the two excesses is 0 for a byte that is in either range.
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
	struct tr_block64 bytes = tr_block64_load(p);
	struct tr_block64 found = { { suspects(bytes.part[0]), suspects(bytes.part[1]),
				      suspects(bytes.part[2]), suspects(bytes.part[3]) } };
	__m128i any = _mm_or_si128(_mm_or_si128(found.part[0], found.part[1]),
				   _mm_or_si128(found.part[2], found.part[3]));
	if (_mm_movemask_epi8(is_zero(any)) == 0xffff)
		return STEP;
	struct tr_block64 clean = { { is_zero(found.part[0]), is_zero(found.part[1]),
				      is_zero(found.part[2]), is_zero(found.part[3]) } };
	uint64_t suspect = ~tr_block64_bits(clean);
	unsigned first = (unsigned)__builtin_ctzll(suspect);
	/* bytes after end must not make a cut sequence whole */
	if (end - p < STEP)
		return first;
	unsigned valid = tr_utf8_block(p);
	uint64_t control = suspect & ~tr_block64_bits(bytes);
	if (valid && control && (unsigned)__builtin_ctzll(control) < valid)
		return (unsigned)__builtin_ctzll(control);
	return valid ? valid : first;
}

/*
 * Scans many blocks at once: returns whether any has a suspect, and sets where their line ends are.
 * The difference from TAB is large for bytes below TAB and above ~, and the difference from LF + 1
 * is small for those between LF and blank. So the extremes of both are sufficient.
 */
enum { LARGEST = '~' - '\t', SMALLEST = ' ' - ('\n' + 1) };

static bool scan_blocks(const char *p, size_t blocks, uint64_t *ends)
{
	__m128i tab = _mm_set1_epi8('\t'), after_lf = _mm_set1_epi8('\n' + 1);
	__m128i largest = _mm_setzero_si128(), smallest = _mm_set1_epi8(-1);
	for (size_t i = 0; i < blocks; i++, p += STEP) {
		struct tr_block64 bytes = tr_block64_load(p);
		for (unsigned part = 0; part < 4; part++) {
			__m128i less_tab = _mm_sub_epi8(bytes.part[part], tab);
			__m128i less_lf = _mm_sub_epi8(bytes.part[part], after_lf);
			largest = _mm_max_epu8(largest, less_tab);
			smallest = _mm_min_epu8(smallest, less_lf);
		}
		ends[i] = tr_block64_equal(bytes, '\n');
	}
	__m128i bad = _mm_or_si128(_mm_subs_epu8(largest, _mm_set1_epi8(LARGEST)),
				   _mm_subs_epu8(_mm_set1_epi8(SMALLEST), smallest));
	return _mm_movemask_epi8(is_zero(bad)) != 0xffff;
}

#ifdef TR_WIDE

/* prefetched, in bytes: lines that are read in a mapped file are not in the cache yet */
enum { AHEAD = 8 << 10 };

/* The functions above for twice as many bytes at a time. */
TR_WIDE static __m256i wide_suspects(__m256i bytes)
{
	__m256i above_blank = _mm256_sub_epi8(bytes, _mm256_set1_epi8(' '));
	__m256i above_tab = _mm256_sub_epi8(bytes, _mm256_set1_epi8('\t'));
	return _mm256_min_epu8(_mm256_subs_epu8(above_blank, _mm256_set1_epi8('~' - ' ')),
			       _mm256_subs_epu8(above_tab, _mm256_set1_epi8('\n' - '\t')));
}

/* Returns the first step that has a suspect, or is not complete. */
TR_WIDE static const char *skip_legal(const char *p, const char *end)
{
	for (; end - p >= STEP; p += STEP) {
		struct tr_block64_wide bytes = tr_block64_wide_load(p);
		__m256i any = _mm256_or_si256(wide_suspects(bytes.low), wide_suspects(bytes.high));
		if (!_mm256_testz_si256(any, any))
			break;
	}
	return p;
}

/* Returns which words of a group are not 0. */
TR_WIDE static uint64_t used_wide(const uint64_t *words)
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

TR_WIDE static bool scan_blocks_wide(const char *p, size_t blocks, uint64_t *ends)
{
	__m256i tab = _mm256_set1_epi8('\t'), after_lf = _mm256_set1_epi8('\n' + 1);
	__m256i largest = _mm256_setzero_si256(), smallest = _mm256_set1_epi8(-1);
	for (size_t i = 0; i < blocks; i++, p += STEP) {
		_mm_prefetch(p + AHEAD, _MM_HINT_T1);
		struct tr_block64_wide bytes = tr_block64_wide_load(p);
		largest =
			_mm256_max_epu8(largest, _mm256_max_epu8(_mm256_sub_epi8(bytes.low, tab),
								 _mm256_sub_epi8(bytes.high, tab)));
		smallest = _mm256_min_epu8(smallest,
					   _mm256_min_epu8(_mm256_sub_epi8(bytes.low, after_lf),
							   _mm256_sub_epi8(bytes.high, after_lf)));
		ends[i] = tr_block64_wide_equal(bytes, '\n');
	}
	__m256i bad = _mm256_or_si256(_mm256_subs_epu8(largest, _mm256_set1_epi8(LARGEST)),
				      _mm256_subs_epu8(_mm256_set1_epi8(SMALLEST), smallest));
	return !_mm256_testz_si256(bad, bad);
}
#endif

#else

enum { STEP = 8 };

static unsigned legal_prefix(const char *p, const char *end)
{
	uint64_t word;
	memcpy(&word, p, sizeof word);
	(void)end;
	/* each sum uses seven bits of a byte, so none carries; the eighth bit is the result */
	uint64_t bits = word & TR_EIGHT(0x7f);
	uint64_t low = ~(bits + TR_EIGHT(0x60));
	uint64_t not_tab = (bits ^ TR_EIGHT('\t')) + TR_EIGHT(0x7f);
	uint64_t not_lf = (bits ^ TR_EIGHT('\n')) + TR_EIGHT(0x7f);
	uint64_t del = ~((bits ^ TR_EIGHT(0x7f)) + TR_EIGHT(0x7f));
	if ((((low & not_tab & not_lf) | del | word) & TR_EIGHT(0x80)) == 0)
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
		struct tr_block64 bytes = tr_block64_load(p);
		uint64_t tabs = tr_block64_equal(bytes, '\t');
		uint64_t found = tr_block64_equal(bytes, '.') & (tabs << 1 | tab_before);
		found |= tr_block64_equal(bytes, '@');
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
#ifdef TR_WIDE
	bool wide = tr_wide_runs();
#endif
	while (p < end) {
#ifdef TR_WIDE
		if (wide)
			p = skip_legal(p, end);
#endif
		unsigned legal = legal_prefix(p, end);
		p += legal;
		/* this may only be a sequence that continues after the step */
		if (legal > STEP - 4)
			continue;
		/* one by one: characters of other scripts usually follow each other */
		while (p < end && is_suspect(*p)) {
			unsigned length = (unsigned char)*p < 0x80 ? 0 : tr_utf8_length(p, end);
			if (length == 0)
				return p;
			p += length;
		}
	}
	return end;
}

/* Scans the blocks of a group as scan_blocks does, and sets which of them have line ends. */
static bool scan_group(const char *p, size_t blocks, uint64_t *ends, uint64_t *used)
{
	if (blocks < TR_LINE_GROUP)
		memset(ends, 0, TR_LINE_GROUP * sizeof *ends);
#ifdef TR_WIDE
	if (tr_wide_runs()) {
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

/*
 * The columns of a line are found with two masks of its first bytes: the TABs and the backslashes.
 */
enum { COLUMNS_BLOCK = 64 };
_Static_assert((int)COLUMNS_BLOCK <= (int)TR_INPUT_PAD, "a block reads beyond the pad");

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Converts a kind of up to eight letters to the number in tr_columns. False: it is another kind. */
static bool read_kind(struct tr_text kind, uint64_t *word)
{
	*word = 0;
	if (kind.len == 0 || kind.len > sizeof *word)
		return false;
	for (size_t i = 0; i < kind.len; i++) {
		if (kind.data[i] < 'a' || kind.data[i] > 'z')
			return false;
		*word |= (uint64_t)(unsigned char)kind.data[i] << 8 * i;
	}
	return true;
}

bool tr_columns_find(const char *p, const char *lf, struct tr_columns *columns)
{
	const char *begin = p;
	for (unsigned i = 0; i < TR_COLUMNS; i++) {
		const char *end = memchr(p, '\t', (size_t)(lf - p));
		if (!end && i == TR_COLUMNS - 1)
			end = lf;
		if (!end || end == p)
			return false;
		columns->start[i] = p;
		p = columns->start[i + 1] = end + 1;
	}
	columns->escapes = memchr(begin, '\\', (size_t)(p - begin)) != NULL;
	return read_kind(tr_columns_text(columns, TR_COLUMN_KIND), &columns->kind);
}

/*
 * The loop of tr_sieve_pick, for each way to examine the first bytes of a line: in_block makes the
 * masks and calls columns_in_block, or returns false.
 */
ALWAYS_INLINE bool
pick_line(struct tr_sieve *sieve, struct tr_line_ends *ends, const char *p, struct tr_pick *pick,
	  bool (*in_block)(const char *p, const char *lf, struct tr_columns *columns))
{
	const char *lf;
	uint64_t left_out = 0;
	enum tr_sift answer = TR_SIFT_OUT;

	pick->columns.kind = 0;
	for (; p <= ends->last; p = lf + 1, left_out++) {
		lf = tr_line_ends_next(ends);
		pick->has_columns =
			in_block(p, lf, &pick->columns) || tr_columns_find(p, lf, &pick->columns);
		answer = TR_SIFT_OPEN;
		/* another process may change the file meanwhile, and then the line is gone */
		if (sieve && pick->has_columns && !pick->columns.escapes && *lf == '\n')
			answer = sieve->sift(sieve, &pick->columns, lf);
		if (answer == TR_SIFT_OUT)
			continue;
		pick->line = tr_text_span(p, lf + 1);
		if (answer != TR_SIFT_IN || !sieve->take ||
		    !sieve->take(sieve, pick->line, &pick->columns))
			break;
		answer = TR_SIFT_OUT;
	}
	pick->answer = answer;
	pick->left_out = left_out;
	return answer != TR_SIFT_OUT;
}

#if defined __SSE2__ && !defined TR_PORTABLE

/* True if the bytes that `used` selects are letters. */
ALWAYS_INLINE bool is_kind(uint64_t word, uint64_t used)
{
	/* each sum has its result in the eighth bit of a byte, and none of them carries */
	uint64_t bits = word & TR_EIGHT(0x7f);
	uint64_t from_a = bits + TR_EIGHT(0x80 - 'a'), above_z = bits + TR_EIGHT(0x7f - 'z');
	return ((from_a & ~above_z & ~word) & TR_EIGHT(0x80)) == (used & TR_EIGHT(0x80));
}

/* Clears the lowest bit that is set. */
ALWAYS_INLINE uint64_t next_bit(uint64_t bits)
{
	return bits & (bits - 1);
}

ALWAYS_INLINE const char *after_bit(const char *p, uint64_t bits)
{
	return p + (unsigned)__builtin_ctzll(bits) + 1;
}

/*
 * Like tr_columns_find, for columns that end within the block at p. columns->kind has to be 0 or a
 * kind that was checked before, which need not be checked again.
 */
ALWAYS_INLINE bool columns_in_block(const char *p, const char *lf, uint64_t tabs, uint64_t escapes,
				    struct tr_columns *columns)
{
	uint64_t kind = tabs;
	if (lf - p < COLUMNS_BLOCK) /* the LF ends a column too; after it is another line */
		kind = (kind & ((UINT64_C(1) << (lf - p)) - 1)) | UINT64_C(1) << (lf - p);
	uint64_t seq = next_bit(kind), time = next_bit(seq);
	uint64_t task = next_bit(time), name = next_bit(task);
	uint64_t ends = kind ^ next_bit(name);
	if (!name || (ends & (ends << 1 | 1)))
		return false;
	uint64_t word, length = (unsigned)__builtin_ctzll(kind);
	if (length > sizeof word)
		return false;
	memcpy(&word, p, sizeof word);
	uint64_t used = UINT64_MAX >> (64 - 8 * length);
	word &= used;
	if (word != columns->kind && !is_kind(word, used))
		return false;
	columns->kind = word;
	columns->start[TR_COLUMN_KIND] = p;
	columns->start[TR_COLUMN_SEQ] = after_bit(p, kind);
	columns->start[TR_COLUMN_TIME] = after_bit(p, seq);
	columns->start[TR_COLUMN_TASK] = after_bit(p, time);
	columns->start[TR_COLUMN_NAME] = after_bit(p, task);
	columns->start[TR_COLUMNS] = after_bit(p, name);
	columns->escapes = (escapes & (name ^ (name - 1))) != 0;
	return true;
}

static inline bool in_block(const char *p, const char *lf, struct tr_columns *columns)
{
	struct tr_block64 bytes = tr_block64_load(p);
	return columns_in_block(p, lf, tr_block64_equal(bytes, '\t'), tr_block64_equal(bytes, '\\'),
				columns);
}

#ifdef TR_WIDE
TR_WIDE static inline bool in_block_wide(const char *p, const char *lf, struct tr_columns *columns)
{
	struct tr_block64_wide bytes = tr_block64_wide_load(p);
	return columns_in_block(p, lf, tr_block64_wide_equal(bytes, '\t'),
				tr_block64_wide_equal(bytes, '\\'), columns);
}

TR_WIDE static bool pick_line_wide(struct tr_sieve *sieve, struct tr_line_ends *ends, const char *p,
				   struct tr_pick *pick)
{
	return pick_line(sieve, ends, p, pick, in_block_wide);
}
#endif

#else

static bool in_block(const char *p, const char *lf, struct tr_columns *columns)
{
	(void)p, (void)lf, (void)columns;
	return false;
}

#endif

bool tr_columns_find_short(const char *p, const char *lf, struct tr_columns *columns)
{
	columns->kind = 0;
	return in_block(p, lf, columns);
}

bool tr_sieve_pick(struct tr_sieve *sieve, struct tr_line_ends *ends, const char *p,
		   struct tr_pick *pick)
{
#ifdef TR_WIDE
	if (tr_wide_runs())
		return pick_line_wide(sieve, ends, p, pick);
#endif
	return pick_line(sieve, ends, p, pick, in_block);
}
