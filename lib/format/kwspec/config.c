/*
 * Lines "config;COMPILER;OPTION;...": what a compiler defines and searches by
 * itself. Only the compiler could tell, so they come from a specification that
 * kwinject made where it could ask.
 */
#include <string.h>

#include "core/file.h"
#include "format/kwspec/kwspec.h"

enum { CONFIG_MAX = 64 << 20 };

/* Appends the lines that are meant, each with LF. */
static void put_lines(struct tr_text text, struct tr_buffer *to)
{
	const char *p = text.data, *end = p + text.len;

	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		struct tr_text line = tr_text_span(p, lf ? lf : end);
		p = lf ? lf + 1 : end;
		if (line.len && line.data[line.len - 1] == '\r')
			line.len--;
		if (!tr_text_starts(line, TR_TEXT("config;")))
			continue;
		tr_buffer_put_text(to, line);
		tr_buffer_put_byte(to, '\n');
	}
}

bool tr_kwspec_config_read(struct tr_text path, struct tr_buffer *to, struct tr_error *err)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	bool read = tr_file_read(path, CONFIG_MAX, &text, err);

	if (read)
		put_lines(tr_buffer_text(&text), to);
	tr_buffer_free(&text);
	if (!read)
		return false;
	if (to->failed)
		tr_error_memory(err);
	else if (!to->len)
		tr_error_set(err, TR_CAUSE_USAGE, "%.*s: no line 'config;...' in it",
			     (int)(path.len > 200 ? 200 : path.len), path.data);
	return !to->failed && to->len;
}
