/* SPDX-License-Identifier: MIT */
/*
 * Two idioms of automake with command substitutions, whose results follow from their text. No part of
 * a log is ever run.
 */
#include <string.h>

#include "format/makelog/makelog.h"
#include "process/path.h"

bool tr_makelog_automake_source(struct tr_text text, struct tr_buffer *to)
{
	struct tr_text begin = TR_TEXT("test -f '"), middle = TR_TEXT("' || echo '");
	const char *split;

	if (!tr_text_skip(&text, begin) || !text.len || text.data[text.len - 1] != '\'')
		return false;
	split = memmem(text.data, text.len, middle.data, middle.len);
	if (!split)
		return false;
	struct tr_text folder = tr_text_span(split + middle.len, text.data + text.len - 1);
	if (memchr(folder.data, '\'', folder.len))
		return false;
	if (!tr_text_is(folder, "./"))
		tr_buffer_put_text(to, folder);
	return true;
}

/* Skips a text that must be there. False: another one is. */
static bool skip_text(struct tr_text *text, const char *expected)
{
	return tr_text_skip(text, tr_text_from(expected));
}

/* The folder and the extension are read from the command. */
bool tr_makelog_automake_depbase(struct tr_text text, struct tr_buffer *to,
				 struct tr_buffer *depbase)
{
	static const char name[] = "depbase=";
	size_t len = sizeof name - 1;
	const char *end;

	if (to->len < len || memcmp(to->data + to->len - len, name, len) != 0 ||
	    !skip_text(&text, "echo "))
		return false;
	end = memchr(text.data, ' ', text.len);
	if (!end)
		return false;
	struct tr_text object = tr_text_span(text.data, end);
	text = tr_text_span(end, text.data + text.len);
	if (!skip_text(&text, " | sed 's|[^/]*$|"))
		return false;
	end = memchr(text.data, '&', text.len);
	if (!end)
		return false;
	struct tr_text folder = tr_text_span(text.data, end);
	text = tr_text_span(end, text.data + text.len);
	if (!skip_text(&text, "&|;s|\\"))
		return false;
	end = memchr(text.data, '$', text.len);
	if (!end || memchr(folder.data, '|', folder.len))
		return false;
	struct tr_text extension = tr_text_span(text.data, end);
	text = tr_text_span(end, text.data + text.len);
	if (!tr_text_is(text, "$||'") || extension.len >= object.len ||
	    !tr_text_equal(extension, tr_text_span(object.data + object.len - extension.len,
						   object.data + object.len)))
		return false;
	struct tr_text base = tr_path_base(object);
	if (base.len < extension.len)
		return false;
	tr_buffer_reset(depbase);
	tr_buffer_put(depbase, object.data, object.len - base.len);
	tr_buffer_put_text(depbase, folder);
	tr_buffer_put(depbase, base.data, base.len - extension.len);
	tr_buffer_put_text(to, tr_buffer_text(depbase));
	return true;
}
