#include "record/json_scan.h"
#include "record/string_block.h"

#if defined __SSE2__ && !defined TR_PORTABLE

TR_INLINED const char *plain_items(const char *p, const char *end, bool map)
{
	const char *behind = p;
	/* the bracket or comma before is as good as a separator: a string has to follow */
	struct tr_view view = { .between = UINT64_MAX };
	for (; p < end; p += TR_UTF8_BLOCK) {
		view = tr_view_look(tr_find_marks(p, map), map, &view);
		if (end - p < TR_UTF8_BLOCK)
			view.bad |= UINT64_MAX << (end - p);
		uint64_t good = view.bad ? (view.bad & (0 - view.bad)) - 1 : UINT64_MAX;
		uint64_t ends = view.closing & good & (map ? view.odd : UINT64_MAX);
		if (ends)
			behind = p + TR_UTF8_BLOCK - __builtin_clzll(ends);
		if (view.bad)
			break;
	}
	return behind;
}

const char *tr_json_plain_items(const char *p, const char *end, bool map)
{
	return map ? plain_items(p, end, true) : plain_items(p, end, false);
}

#else

const char *tr_json_plain_items(const char *p, const char *end, bool map)
{
	(void)end;
	(void)map;
	return p;
}

#endif
