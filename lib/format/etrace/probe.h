/* The first lines of a window, looked at only, so far as they are near its beginning. */
#ifndef TR_FORMAT_ETRACE_PROBE_H
#define TR_FORMAT_ETRACE_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/input.h"
#include "format/etrace/line.h"

/* All zero at first. */
struct tr_etrace_probe {
	size_t at; /* of the next line */
	unsigned lines;
	bool done;
};

/* The next line, of up to 16 in 16 KiB; the last may be cut there. False: there is none. */
bool tr_etrace_probe_line(struct tr_etrace_probe *probe, struct tr_input *in,
			  struct tr_etrace_line *line);

#endif
