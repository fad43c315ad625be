/* Cells: the columns of a line and the keys of its fields. */
#include <string.h>

#include "core/buffer.h"
#include "core/hex.h"
#include "core/utf8.h"
#include "record/record.h"
#include "record/record_private.h"
#include "record/string_scan.h"

static void put_hex_escape(unsigned char c, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "\\x");
	tr_buffer_put_hex(to, c, 2);
}

static void put_escape(unsigned char c, struct tr_buffer *to)
{
	switch (c) {
	case '\t':
		tr_buffer_put_literal(to, "\\t");
		return;
	case '\n':
		tr_buffer_put_literal(to, "\\n");
		return;
	case '\r':
		tr_buffer_put_literal(to, "\\r");
		return;
	case '\\':
		tr_buffer_put_literal(to, "\\\\");
		return;
	default:
		put_hex_escape(c, to);
	}
}

/* The first byte from p on that may not stand in a cell as it is, or end. */
static const char *next_escaped(const char *p, const char *end)
{
	for (;;) {
		p = tr_string_special(p, end);
		if (p == end)
			return end;
		unsigned length = 0;
		if ((unsigned char)*p >= 0x80)
			length = tr_utf8_length(p, end);
		else if (*p == '"')
			length = 1;
		if (length == 0)
			return p;
		p += length;
	}
}

/* What stands inside a cell, less the rules for whole cells and first characters. */
static void put_inside(const char *p, const char *end, bool key, struct tr_buffer *to)
{
	while (p < end) {
		const char *stop = next_escaped(p, end);
		/* keys are short */
		const char *equals = key ? memchr(p, '=', (size_t)(stop - p)) : NULL;
		if (equals)
			stop = equals;
		tr_buffer_put(to, p, (size_t)(stop - p));
		if (stop < end)
			put_escape((unsigned char)*stop++, to);
		p = stop;
	}
}

void tr_cell_escape(struct tr_text bytes, bool key, struct tr_buffer *to)
{
	if (bytes.len == 0) {
		tr_buffer_put_literal(to, "\\e");
		return;
	}
	const char *p = bytes.data, *end = p + bytes.len;
	if (bytes.len == 1 && *p == '-')
		tr_buffer_put_byte(to, '\\');
	/* raw, these mark keys that are not the source's own */
	if (key && (*p == '.' || *p == '#'))
		put_hex_escape((unsigned char)*p++, to);
	put_inside(p, end, key, to);
}

/* The byte that the escape at p stands for; NULL: it is none. Sets its length. */
static const char *read_escape(const char *p, const char *end, char *byte, size_t *len)
{
	static const char letters[] = "tnr\\", meanings[] = "\t\n\r\\";
	*len = 2;
	if (end - p < 2)
		return "unknown escape in a cell";
	if (p[1] == 'x') {
		int high = end - p >= 4 ? tr_hex_digit(p[2]) : -1;
		int low = end - p >= 4 ? tr_hex_digit(p[3]) : -1;
		if (high < 0 || low < 0)
			return "\\x needs two hex digits";
		*byte = (char)(high << 4 | low);
		*len = 4;
		return NULL;
	}
	const char *letter = p[1] ? strchr(letters, p[1]) : NULL;
	if (!letter) {
		if (p[1] == 'e')
			return "\\e must be a whole cell";
		return p[1] == '-' ? "\\- must be a whole cell" : "unknown escape in a cell";
	}
	*byte = meanings[letter - letters];
	return NULL;
}

bool tr_cell_bytes(struct tr_text spelling, struct tr_arena *arena, struct tr_text *bytes,
		   struct tr_error *err)
{
	*bytes = spelling;
	if (spelling.len == 0 || !memchr(spelling.data, '\\', spelling.len))
		return true;
	if (tr_text_is(spelling, "\\e") || tr_text_is(spelling, "\\-")) {
		*bytes = spelling.data[1] == 'e' ? TR_TEXT("") : TR_TEXT("-");
		return true;
	}
	char *to = tr_arena_alloc(arena, spelling.len);
	if (!to) {
		tr_error_memory(err);
		return false;
	}
	bytes->data = to;
	for (const char *p = spelling.data, *end = p + spelling.len; p < end;) {
		size_t len = 1;
		*to = *p;
		const char *reason = *p == '\\' ? read_escape(p, end, to, &len) : NULL;
		if (reason) {
			tr_error_say_in(err, TR_CAUSE_INPUT, reason, "%s: %.*s", reason,
					(int)(end - p), p);
			return false;
		}
		to++;
		p += len;
	}
	bytes->len = (size_t)(to - bytes->data);
	return true;
}

bool tr_cell_respell(struct tr_text spelling, bool key, struct tr_arena *arena,
		     struct tr_buffer *to, struct tr_error *err)
{
	if (key && tr_text_is(spelling, "-")) {
		tr_error_set(err, TR_CAUSE_INPUT, "a key is never absent");
		return false;
	}
	if (spelling.len == 0 || !memchr(spelling.data, '\\', spelling.len)) {
		tr_buffer_put_text(to, spelling);
		return true;
	}
	struct tr_text bytes;
	if (!tr_cell_bytes(spelling, arena, &bytes, err))
		return false;
	/* a raw mark in front is none of the name and stays as it is */
	if (key && (*spelling.data == '.' || *spelling.data == '#'))
		put_inside(bytes.data, bytes.data + bytes.len, key, to);
	else
		tr_cell_escape(bytes, key, to);
	return true;
}

bool tr_cell_number(const struct tr_cell *cell, uint64_t *number)
{
	if (cell->type == TR_CELL_NUMBER) {
		*number = cell->number;
		return true;
	}
	struct tr_text digits = cell->text;
	if (cell->type != TR_CELL_TEXT || digits.len == 0 || digits.len > 20 ||
	    (digits.len > 1 && digits.data[0] == '0'))
		return false;
	uint64_t n = 0;
	for (size_t i = 0; i < digits.len; i++) {
		unsigned digit = (unsigned char)digits.data[i] - (unsigned)'0';
		/* only the twentieth can be too much */
		if (digit > 9 || (i == 19 && n > (UINT64_MAX - digit) / 10))
			return false;
		n = n * 10 + digit;
	}
	*number = n;
	return true;
}

void tr_cell_write(const struct tr_cell *cell, struct tr_buffer *to)
{
	switch ((enum tr_cell_type)cell->type) {
	case TR_CELL_ABSENT:
		tr_buffer_put_byte(to, '-');
		return;
	case TR_CELL_TEXT:
		tr_buffer_put_text(to, cell->text);
		return;
	case TR_CELL_NUMBER:
		tr_buffer_put_decimal(to, cell->number);
		return;
	case TR_CELL_ADDRESS:
		tr_buffer_put_literal(to, "0x");
		tr_buffer_put_hex(to, cell->number, cell->width);
		return;
	}
}
