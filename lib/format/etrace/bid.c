#include <string.h>

#include "format/etrace/etrace.h"
#include "format/etrace/probe.h"
#include "format/etrace/tag.h"

enum {
	BITS_INITCWD = 40,
	BITS_EVENT = 40, /* four numbers, their signs between them, and a tag of ours */
	BITS_LOST = 20,
};

static int weigh(const struct tr_etrace_line *line)
{
	switch (line->type) {
	case TR_ETRACE_EVENT:
		return line->known ? BITS_EVENT : 0;
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
	struct tr_etrace_probe probe = { 0 };
	struct tr_etrace_line line;
	int bits = 0;

	if (tr_input_more(in, 3) && memcmp(in->pos, "\xef\xbb\xbf", 3) == 0)
		probe.at = 3; /* with --lines nobody takes it off */
	if (tr_input_more(in, probe.at + 1) && strchr("{[", in->pos[probe.at]))
		return 0; /* JSON: nobody is to wait for more of that here */
	while (bits < BITS_EVENT && tr_etrace_probe_line(&probe, in, &line)) {
		int more = weigh(&line);
		bits = more > bits ? more : bits;
	}
	return bits;
}
