#include "format/etrace/probe.h"

#include <string.h>

enum {
	PROBE = 16 << 10,
	LINES = 16,
};

bool tr_etrace_probe_line(struct tr_etrace_probe *probe, struct tr_input *in,
			  struct tr_etrace_line *line)
{
	size_t seen = probe->at;
	const char *lf = NULL;

	if (probe->done || probe->lines == LINES || !tr_input_more(in, probe->at + 1))
		return false;
	for (;;) {
		size_t available = tr_input_available(in);
		lf = memchr(in->pos + seen, '\n', available - seen);
		if (lf || available >= PROBE || !tr_input_more(in, available + 1))
			break;
		seen = available;
	}
	tr_etrace_line_read(tr_text_span(in->pos + probe->at, lf ? lf : in->end), NULL, line);
	probe->lines++;
	probe->done = !lf || lf + 1 - in->pos >= PROBE;
	probe->at = lf ? (size_t)(lf + 1 - in->pos) : 0;
	return true;
}
