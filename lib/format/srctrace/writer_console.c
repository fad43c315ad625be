#include "format/srctrace/writer_console.h"

#include "format/srctrace/srctrace.h"
#include "record/base64.h"

void tr_srctrace_console_begin(struct tr_srctrace_console *console)
{
	/* as the runtime does: what was printed last may not have ended its line */
	tr_output_put_literal(console->out, "\n" TR_SRCTRACE_BEGIN "\n");
	console->count = 0;
}

static void end_line(struct tr_srctrace_console *console)
{
	char text[TR_SRCTRACE_COLUMNS + 4]; /* the encoder asks for one group more */
	struct tr_buffer line = tr_buffer_over(text, sizeof text);
	tr_base64_write((struct tr_text){ console->bytes, console->count }, &line);
	tr_output_put_text(console->out, tr_buffer_text(&line));
	tr_output_put_byte(console->out, '\n');
	console->count = 0;
}

void tr_srctrace_console_put(struct tr_srctrace_console *console, struct tr_text bytes)
{
	while (bytes.len) {
		size_t n = sizeof console->bytes - console->count;
		if (n > bytes.len)
			n = bytes.len;
		memcpy(console->bytes + console->count, bytes.data, n);
		console->count += n;
		bytes.data += n;
		bytes.len -= n;
		if (console->count == sizeof console->bytes)
			end_line(console);
	}
}

void tr_srctrace_console_end(struct tr_srctrace_console *console)
{
	if (console->count)
		end_line(console);
	tr_output_put_literal(console->out, TR_SRCTRACE_END "\n");
}
