#include "record/columns.h"

#include "record/columns_block.h"

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
