/* Bytes as the lines of Base64 that a console carries. */
#ifndef TR_FORMAT_SRCTRACE_WRITER_CONSOLE_H
#define TR_FORMAT_SRCTRACE_WRITER_CONSOLE_H

#include "core/output.h"
#include "core/text.h"

enum { TR_SRCTRACE_LINE_BYTES = 60 }; /* become 80 columns */

struct tr_srctrace_console {
	struct tr_output *out;
	char bytes[TR_SRCTRACE_LINE_BYTES]; /* of the line that is not full yet */
	size_t count;
};

void tr_srctrace_console_begin(struct tr_srctrace_console *console);
void tr_srctrace_console_put(struct tr_srctrace_console *console, struct tr_text bytes);
void tr_srctrace_console_end(struct tr_srctrace_console *console);

#endif
