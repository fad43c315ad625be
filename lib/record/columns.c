#include "record/columns.h"

#include <string.h>

#include "core/input.h"
#include "core/utf8_block.h"

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

/* Column by column. */
static bool find_each(const char *p, const char *lf, struct tr_columns *columns)
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

#if defined __SSE2__ && !defined TR_PORTABLE

enum { BLOCK = TR_UTF8_BLOCK };
_Static_assert((int)BLOCK <= (int)TR_INPUT_PAD, "a block reads behind the pad");

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* tr_columns_kind for bytes behind which more can be read; len is not 0. */
static inline bool find_kind(const char *p, size_t len, uint64_t *kind)
{
	uint64_t word, used = UINT64_MAX >> (64 - 8 * (len < 8 ? len : 8));
	memcpy(&word, p, sizeof word);
	*kind = word &= used;
	/* each sum has its answer in a byte's eighth bit, and none of them carries */
	uint64_t bits = word & EACH(0x7f);
	uint64_t from_a = bits + EACH(0x80 - 'a'), above_z = bits + EACH(0x7f - 'z');
	return len <= 8 && (from_a & ~above_z & ~word & EACH(0x80)) == (used & EACH(0x80));
}

/* Its lowest bit taken away. */
static inline uint64_t without_first(uint64_t bits)
{
	return bits & (bits - 1);
}

static inline const char *behind_first(const char *p, uint64_t bits)
{
	return p + (unsigned)__builtin_ctzll(bits) + 1;
}

/*
 * All at once, where they are plain and end within a block, of which the TABs
 * and backslashes are known. False says nothing.
 */
static inline __attribute__((always_inline)) bool find_in_block(const char *p, const char *lf,
								uint64_t tabs, uint64_t escapes,
								struct tr_columns *columns)
{
	uint64_t kind = tabs;
	if (lf - p < BLOCK) /* the LF ends a column too; what follows is another line's */
		kind = (kind & ((UINT64_C(1) << (lf - p)) - 1)) | UINT64_C(1) << (lf - p);
	uint64_t seq = without_first(kind), time = without_first(seq), task = without_first(time);
	uint64_t name = without_first(task), ends = kind ^ without_first(name);
	if (!name || (ends & (ends << 1 | 1)))
		return false;
	columns->start[TR_COLUMN_KIND] = p;
	columns->start[TR_COLUMN_SEQ] = behind_first(p, kind);
	columns->start[TR_COLUMN_TIME] = behind_first(p, seq);
	columns->start[TR_COLUMN_TASK] = behind_first(p, time);
	columns->start[TR_COLUMN_NAME] = behind_first(p, task);
	columns->start[TR_COLUMNS] = behind_first(p, name);
	columns->escapes = (escapes & (name ^ (name - 1))) != 0;
	return find_kind(p, (unsigned)__builtin_ctzll(kind), &columns->kind);
}

static bool find(const char *p, const char *lf, struct tr_columns *columns)
{
	struct tr_block bytes = tr_block_load(p);
	return find_in_block(p, lf, tr_block_equal(bytes, '\t'), tr_block_equal(bytes, '\\'),
			     columns);
}

#if defined __x86_64__ && defined __GNUC__
#define HAVE_WIDE_STEPS 1
#include <immintrin.h>

__attribute__((target("avx2,bmi"))) static uint64_t wide_equal(__m256i low, __m256i high, char byte)
{
	__m256i bytes = _mm256_set1_epi8(byte);
	return (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, bytes)) |
	       (uint64_t)(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, bytes)) << 32;
}

/* The same with half the steps, where the machine can. */
__attribute__((target("avx2,bmi"))) static bool find_wide(const char *p, const char *lf,
							  struct tr_columns *columns)
{
	__m256i low = _mm256_loadu_si256((const __m256i *)p);
	__m256i high = _mm256_loadu_si256((const __m256i *)(p + 32));
	return find_in_block(p, lf, wide_equal(low, high, '\t'), wide_equal(low, high, '\\'),
			     columns);
}
#endif

bool tr_columns_find(const char *p, const char *lf, struct tr_columns *columns)
{
#if HAVE_WIDE_STEPS
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"))
		return find_wide(p, lf, columns) || find_each(p, lf, columns);
#endif
	return find(p, lf, columns) || find_each(p, lf, columns);
}

#else

bool tr_columns_find(const char *p, const char *lf, struct tr_columns *columns)
{
	return find_each(p, lf, columns);
}

#endif
