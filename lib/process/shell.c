/* SPDX-License-Identifier: MIT */
#include "process/shell.h"

#include "core/utf8.h"
#include "record/ask.h"
#include "record/literal.h"

/* ASCII bytes that have no meaning for a shell, wherever they are in a word. */
static const bool plain[128] = {
	['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['-' ... ':'] = true,
	['_'] = true,	      ['='] = true,	    ['+'] = true,
	[','] = true,	      ['%'] = true,	    ['@'] = true,
};

/* How many bytes at its beginning are plain. */
static size_t plain_length(struct tr_text word)
{
	size_t len = 0;

	while (len < word.len && (unsigned char)word.data[len] < 0x80 &&
	       plain[(unsigned char)word.data[len]])
		len++;
	return len;
}

static bool is_plain_word(struct tr_text word)
{
	for (size_t i = plain_length(word); i < word.len; i++) {
		unsigned char c = (unsigned char)word.data[i];
		if (c < 0x80 && !plain[c])
			return false;
	}
	return word.len > 0;
}

void tr_shell_word(struct tr_text bytes, struct tr_buffer *to)
{
	if (is_plain_word(bytes)) {
		tr_buffer_put_text(to, bytes);
		return;
	}
	tr_buffer_put_byte(to, '\'');
	for (const char *p = bytes.data, *end = p + bytes.len; p < end;) {
		const char *quote = memchr(p, '\'', (size_t)(end - p));
		const char *stop = quote ? quote : end;
		tr_buffer_put(to, p, (size_t)(stop - p));
		if (quote)
			tr_buffer_put_literal(to, "'\\''");
		p = quote ? quote + 1 : end;
	}
	tr_buffer_put_byte(to, '\'');
}

static bool is_printable(struct tr_text bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		unsigned char c = (unsigned char)bytes.data[i];
		if (c < 0x20 || c == 0x7f)
			return false;
	}
	return tr_utf8_check(bytes.data, bytes.data + bytes.len) == bytes.data + bytes.len;
}

void tr_shell_shown(struct tr_text bytes, struct tr_buffer *to)
{
	static const char letters[] = "abtnvfr"; /* of 7 to 13 */

	if (bytes.len && plain_length(bytes) == bytes.len) {
		tr_buffer_put_text(to, bytes);
		return;
	}
	if (is_printable(bytes)) {
		tr_shell_word(bytes, to);
		return;
	}
	tr_buffer_put_literal(to, "$'");
	for (size_t i = 0; i < bytes.len;) {
		unsigned char c = (unsigned char)bytes.data[i];
		size_t len = tr_utf8_length(bytes.data + i, bytes.data + bytes.len);
		if (c >= 7 && c <= 13) {
			tr_buffer_put_byte(to, '\\');
			tr_buffer_put_byte(to, letters[c - 7]);
		} else if (c < 0x20 || c == 0x7f || len == 0) {
			tr_buffer_put_byte(to, '\\');
			for (int shift = 6; shift >= 0; shift -= 3)
				tr_buffer_put_byte(to, (char)('0' + (c >> shift & 7)));
		} else {
			if (c == '\'' || c == '\\')
				tr_buffer_put_byte(to, '\\');
			tr_buffer_put(to, bytes.data + i, len);
		}
		i += len ? len : 1;
	}
	tr_buffer_put_byte(to, '\'');
}

static bool show_value(const struct tr_value *value, struct tr_arena *arena, struct tr_buffer *to)
{
	if (value->type != TR_STRING) {
		tr_literal_write(value, to);
		return true;
	}
	struct tr_text bytes = tr_value_bytes(value, arena);
	if (!bytes.data)
		return false;
	tr_shell_shown(bytes, to);
	if (value->flags & TR_CUT)
		tr_buffer_put_literal(to, "...");
	return true;
}

/* Cuts what was appended since `from` where it is longer than limit, between two characters. */
static bool cut(struct tr_buffer *to, size_t from, size_t limit)
{
	if (limit == 0 || to->len - from <= limit)
		return false;
	to->len = from + (limit > 3 ? limit - 3 : 0);
	while (to->len > from && tr_utf8_is_inside(to->data[to->len]))
		to->len--;
	tr_buffer_put_literal(to, "\xe2\x80\xa6");
	return true;
}

bool tr_shell_command(struct tr_record *record, size_t limit, struct tr_buffer *to)
{
	struct tr_error err;
	size_t from = to->len;

	tr_error_clear(&err);
	const struct tr_value *argv = tr_ask_any(record, "argv", &err);
	if (err.cause == TR_CAUSE_MEMORY)
		return false;

	if (argv && argv->type == TR_LIST && argv->count) {
		for (size_t i = 0; i < argv->count; i++) {
			if (i)
				tr_buffer_put_byte(to, ' ');
			if (!show_value(&argv->as.items[i], record->arena, to))
				return false;
			if (cut(to, from, limit))
				return !to->failed;
		}
		if (argv->flags & TR_CUT)
			tr_buffer_put_literal(to, " ...");
		return !to->failed;
	}
	struct tr_text name = tr_ask_cell(&record->name, record->arena, &err);
	if (!name.data)
		return false;
	tr_shell_shown(name, to);
	cut(to, from, limit);
	return !to->failed;
}
