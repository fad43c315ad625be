#include <string.h>

#include "format/etrace/etrace.h"
#include "format/etrace/line.h"
#include "format/etrace/tag.h"

enum {
	PROBE = 16 << 10,
	BITS_INITCWD = 40,
	BITS_EVENT = 40, /* four numbers, their signs between them, and a tag of ours */
	BITS_LOST = 20,
	LINES = 16,
};

static int weigh(struct tr_text text)
{
	struct tr_etrace_line line;

	tr_etrace_line_read(text, NULL, &line);
	switch (line.type) {
	case TR_ETRACE_EVENT:
		return line.known ? BITS_EVENT : 0;
	case TR_ETRACE_INITCWD:
		return BITS_INITCWD;
	case TR_ETRACE_LOST:
		return BITS_LOST;
	default:
		return 0;
	}
}

/* The first line says it; noise in front of it does not hide it. */
int tr_etrace_bid(struct tr_input *in)
{
	size_t at = 0, seen = 0;
	int bits = 0;

	if (tr_input_more(in, 3) && memcmp(in->pos, "\xef\xbb\xbf", 3) == 0)
		at = seen = 3; /* with --lines nobody takes it off */
	if (tr_input_more(in, at + 1) && strchr("{[", in->pos[at]))
		return 0; /* JSON: nobody is to wait for more of that here */
	for (int lines = 0; lines < LINES && bits < BITS_EVENT;) {
		size_t available = tr_input_available(in);
		const char *lf = memchr(in->pos + seen, '\n', available - seen);
		if (!lf && available < PROBE && tr_input_more(in, available + 1)) {
			seen = available;
			continue;
		}
		const char *end = lf ? lf : in->end;
		int line = weigh(tr_text_span(in->pos + at, end));
		bits = line > bits ? line : bits;
		if (!lf || (size_t)(lf + 1 - in->pos) >= PROBE)
			break;
		at = seen = (size_t)(lf + 1 - in->pos);
		lines++;
	}
	return bits;
}
