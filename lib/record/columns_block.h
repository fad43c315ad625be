/*
 * The columns of a line out of two masks of its first bytes, for lib/record
 * only: where TABs are, and where backslashes.
 */
#ifndef TR_RECORD_COLUMNS_BLOCK_H
#define TR_RECORD_COLUMNS_BLOCK_H

#include <string.h>

#include "core/input.h"
#include "core/utf8_block.h"
#include "record/columns.h"

enum { TR_COLUMNS_BLOCK = 64 };
_Static_assert((int)TR_COLUMNS_BLOCK <= (int)TR_INPUT_PAD, "a block reads behind the pad");

#define TR_COLUMNS_INLINE static inline __attribute__((always_inline))

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

#endif
