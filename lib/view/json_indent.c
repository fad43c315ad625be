/* SPDX-License-Identifier: MIT */
#include "view/json_indent.h"

#include <string.h>

static void new_line(size_t depth, struct tr_buffer *to)
{
	char *room = tr_buffer_room(to, 1 + 2 * depth);
	if (!room)
		return;
	room[0] = '\n';
	memset(room + 1, ' ', 2 * depth);
	tr_buffer_used(to, 1 + 2 * depth);
}

/* Behind the string whose opening quote is at p. */
static const char *string_end(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : end;
}

void tr_json_indent(struct tr_text compact, size_t depth, struct tr_buffer *to)
{
	const char *p = compact.data, *end = p + compact.len;
	while (p < end) {
		const char *token = p++;
		switch (*token) {
		case '"':
			p = string_end(token, end);
			tr_buffer_put_text(to, tr_text_span(token, p));
			break;
		case '[':
		case '{':
			tr_buffer_put_byte(to, *token);
			if (p < end && (*p == ']' || *p == '}'))
				tr_buffer_put_byte(to, *p++);
			else
				new_line(++depth, to);
			break;
		case ']':
		case '}':
			new_line(--depth, to);
			tr_buffer_put_byte(to, *token);
			break;
		case ',':
			tr_buffer_put_byte(to, ',');
			new_line(depth, to);
			break;
		case ':':
			tr_buffer_put_literal(to, ": ");
			break;
		default:
			tr_buffer_put_byte(to, *token);
		}
	}
}
