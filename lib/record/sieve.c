/* SPDX-License-Identifier: MIT */

#include "core/input.h"
#include "core/utf8_block.h"
#include "record/sieve.h"

#include "record/columns.h"

/*
 * The columns of a line out of two masks of its first bytes, for lib/record
 * only: where TABs are, and where backslashes.
 */
enum { TR_COLUMNS_BLOCK = 64 };
_Static_assert((int)TR_COLUMNS_BLOCK <= (int)TR_INPUT_PAD, "a block reads behind the pad");

#define TR_COLUMNS_INLINE static inline __attribute__((always_inline))

bool tr_columns_kind(struct tr_text kind, uint64_t *word)
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
	return tr_columns_kind(tr_columns_text(columns, TR_COLUMN_KIND), &columns->kind);
}

/*
 * The loop, which is the same for every way to look at a line's first bytes:
 * in_block is tr_columns_in_block with the masks, or says no.
 */
TR_COLUMNS_INLINE bool
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
		/* in a file that somebody changes meanwhile, the line may not be there any more */
		if (sieve && pick->has_columns && !pick->columns.escapes && *lf == '\n')
			answer = sieve->sift(sieve, &pick->columns);
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

/* Letters in the bytes that are used, zeros in the others. */
TR_COLUMNS_INLINE bool tr_columns_is_kind(uint64_t word, uint64_t used)
{
	const uint64_t each = UINT64_C(0x0101010101010101), top = each * 0x80;
	/* each sum has its answer in a byte's eighth bit, and none of them carries */
	uint64_t bits = word & each * 0x7f;
	uint64_t from_a = bits + each * (0x80 - 'a'), above_z = bits + each * (0x7f - 'z');
	return (from_a & ~above_z & ~word & top) == (used & top);
}

/* Its lowest bit taken away. */
TR_COLUMNS_INLINE uint64_t tr_columns_next(uint64_t bits)
{
	return bits & (bits - 1);
}

TR_COLUMNS_INLINE const char *tr_columns_behind(const char *p, uint64_t bits)
{
	return p + (unsigned)__builtin_ctzll(bits) + 1;
}

/*
 * As tr_columns_find, where the columns end within the block at p. columns->kind
 * has to be 0 or a kind: it need not be looked at twice.
 */
TR_COLUMNS_INLINE bool tr_columns_in_block(const char *p, const char *lf, uint64_t tabs,
					   uint64_t escapes, struct tr_columns *columns)
{
	uint64_t kind = tabs;
	if (lf - p < TR_COLUMNS_BLOCK) /* the LF ends a column too; behind it is another line */
		kind = (kind & ((UINT64_C(1) << (lf - p)) - 1)) | UINT64_C(1) << (lf - p);
	uint64_t seq = tr_columns_next(kind), time = tr_columns_next(seq);
	uint64_t task = tr_columns_next(time), name = tr_columns_next(task);
	uint64_t ends = kind ^ tr_columns_next(name);
	if (!name || (ends & (ends << 1 | 1)))
		return false;
	uint64_t word, length = (unsigned)__builtin_ctzll(kind);
	if (length > sizeof word)
		return false;
	memcpy(&word, p, sizeof word);
	uint64_t used = UINT64_MAX >> (64 - 8 * length);
	word &= used;
	if (word != columns->kind && !tr_columns_is_kind(word, used))
		return false;
	columns->kind = word;
	columns->start[TR_COLUMN_KIND] = p;
	columns->start[TR_COLUMN_SEQ] = tr_columns_behind(p, kind);
	columns->start[TR_COLUMN_TIME] = tr_columns_behind(p, seq);
	columns->start[TR_COLUMN_TASK] = tr_columns_behind(p, time);
	columns->start[TR_COLUMN_NAME] = tr_columns_behind(p, task);
	columns->start[TR_COLUMNS] = tr_columns_behind(p, name);
	columns->escapes = (escapes & (name ^ (name - 1))) != 0;
	return true;
}

static inline bool in_block(const char *p, const char *lf, struct tr_columns *columns)
{
	struct tr_block bytes = tr_block_load(p);
	return tr_columns_in_block(p, lf, tr_block_equal(bytes, '\t'), tr_block_equal(bytes, '\\'),
				   columns);
}

#if defined __x86_64__ && defined __GNUC__ && !defined TR_NARROW
#define HAVE_WIDE_STEPS 1
#include <immintrin.h>
#include <string.h>

__attribute__((target("avx2,bmi"))) static inline uint64_t wide_equal(__m256i low, __m256i high,
								      char byte)
{
	__m256i bytes = _mm256_set1_epi8(byte);
	return (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, bytes)) |
	       (uint64_t)(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, bytes)) << 32;
}

/* The same with half the steps, where the machine can. */
__attribute__((target("avx2,bmi"))) static inline bool in_block_wide(const char *p, const char *lf,
								     struct tr_columns *columns)
{
	__m256i low = _mm256_loadu_si256((const __m256i *)p);
	__m256i high = _mm256_loadu_si256((const __m256i *)(p + 32));
	return tr_columns_in_block(p, lf, wide_equal(low, high, '\t'), wide_equal(low, high, '\\'),
				   columns);
}

__attribute__((target("avx2,bmi"))) static bool pick_line_wide(struct tr_sieve *sieve,
							       struct tr_line_ends *ends,
							       const char *p, struct tr_pick *pick)
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

bool tr_sieve_pick(struct tr_sieve *sieve, struct tr_line_ends *ends, const char *p,
		   struct tr_pick *pick)
{
#if HAVE_WIDE_STEPS
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"))
		return pick_line_wide(sieve, ends, p, pick);
#endif
	return pick_line(sieve, ends, p, pick, in_block);
}
