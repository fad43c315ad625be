/* See string_block.h for how strings are looked at without looking at one. */
#include "record/literal_plain.h"

#include <stddef.h>
#include <string.h>

#include "record/string_block.h"

#if defined __SSE2__ && !defined TR_PORTABLE

/* From the first quote to behind the last, TR_UTF8_BLOCK bytes or more. */
TR_INLINED bool is_plain(const char *p, const char *end, bool map)
{
	/* the bracket is as good as a separator: a string has to follow */
	struct tr_view v = { .between = UINT64_MAX };
	for (; end - p > TR_UTF8_BLOCK; p += TR_UTF8_BLOCK) {
		v = tr_view_look(tr_find_marks(p, map), map, &v);
		if (v.bad)
			return false;
	}
	/* the last block is loaded with bytes that are done, which are shifted out */
	unsigned done = (unsigned)(TR_UTF8_BLOCK - (end - p));
	struct tr_marks marks = tr_find_marks(end - TR_UTF8_BLOCK, map);
	marks = (struct tr_marks){ marks.quotes >> done, marks.commas >> done, marks.colons >> done,
				   marks.special >> done };
	v = tr_view_look(marks, map, &v);
	uint64_t last = (uint64_t)1 << (TR_UTF8_BLOCK - 1 - done);
	return !(v.bad << done) && (v.closing & last) && (!map || (v.odd & last));
}

bool tr_literal_is_plain(const char *p, const char *end)
{
	if (*p == '[' && end[-1] == ']')
		return is_plain(p + 1, end - 1, false);
	if (*p == '{' && end[-1] == '}')
		return is_plain(p + 1, end - 1, true);
	return false;
}

#else

bool tr_literal_is_plain(const char *p, const char *end)
{
	(void)p;
	(void)end;
	return false;
}

#endif
