#include "record/sieve.h"

#include "record/columns_block.h"

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

static inline bool in_block(const char *p, const char *lf, struct tr_columns *columns)
{
	struct tr_block bytes = tr_block_load(p);
	return tr_columns_in_block(p, lf, tr_block_equal(bytes, '\t'), tr_block_equal(bytes, '\\'),
				   columns);
}

#if defined __x86_64__ && defined __GNUC__ && !defined TR_NARROW
#define HAVE_WIDE_STEPS 1
#include <immintrin.h>

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
