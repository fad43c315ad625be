#include "format/strace/value.h"

#include <limits.h>

#include "core/hex.h"
#include "format/strace/scan.h"
#include "record/literal.h"
#include "record/value.h"

/* Brackets and what stands behind descriptors take one each; the grammar has 60. */
enum { DEPTH = TR_LITERAL_DEPTH - 4 };

struct rendering {
	struct tr_buffer *to;
	unsigned depth;
	bool cut;
};

/* The string of that body, with some plain text behind. */
static void put_quoted(struct rendering *r, struct tr_text body, const char *more)
{
	const char *p = body.data, *end = p + body.len;

	tr_buffer_put_byte(r->to, '"');
	/* notes may hold quotes of their own */
	while ((p = tr_strace_spell(p, end, r->to)) < end) {
		tr_buffer_put_literal(r->to, "\\\"");
		p++;
	}
	tr_buffer_put_text(r->to, tr_text_from(more));
	tr_buffer_put_byte(r->to, '"');
}

/* What has no words of its own, byte for byte. */
static void put_verbatim(struct rendering *r, struct tr_text text)
{
	tr_buffer_put_byte(r->to, '"');
	tr_string_escape(text, r->to);
	tr_buffer_put_byte(r->to, '"');
}

/* Number text -> literal. False: it is none. */
static bool put_number(struct rendering *r, struct tr_text text)
{
	bool negative = text.len && *text.data == '-';
	const char *p = text.data + negative, *end = text.data + text.len;
	unsigned long long number = 0;

	if (p == end || *p < '0' || *p > '9')
		return false;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
		const char *digits = p + 2;
		for (p = digits; p < end && tr_hex_digit(*p) >= 0; p++)
			number = number << 4 | (unsigned long long)tr_hex_digit(*p);
		if (p < end || negative || p - digits > 16)
			return false;
		tr_buffer_put_literal(r->to, "0x");
		tr_buffer_put_hex(r->to, number, 1);
		return true;
	}
	if (*p == '0' && end - p > 1) { /* a mode */
		for (p++; p < end && *p >= '0' && *p <= '7' && number <= ULLONG_MAX >> 3; p++)
			number = number << 3 | (unsigned long long)(*p - '0');
		if (p < end)
			return false;
	} else if (!tr_strace_digits(&p, end, &number) || p < end) {
		return false;
	}
	if (negative)
		tr_buffer_put_byte(r->to, '-');
	tr_buffer_put_decimal(r->to, number);
	return true;
}

bool tr_strace_number(struct tr_text text, unsigned long long *number)
{
	const char *p = text.data, *end = p + text.len;

	*number = 0;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
		for (p += 2; p < end && tr_hex_digit(*p) >= 0; p++)
			*number = *number << 4 | (unsigned long long)tr_hex_digit(*p);
		return true;
	}
	return tr_strace_digits(&p, end, number);
}

/* One name of A|B|0x8: a word, or bits without a name at the end. */
static bool put_name(struct rendering *r, struct tr_text name, bool first)
{
	unsigned long long bits;

	if (tr_is_word(name, false)) {
		tr_buffer_put_text(r->to, name);
		return true;
	}
	if (first || name.len == 0 || *name.data != '0' || name.len > 18)
		return false;
	/* octal where strace prints modes */
	if (name.len > 1 && name.data[1] != 'x') {
		bits = 0;
		for (size_t i = 1; i < name.len; i++) {
			if (name.data[i] < '0' || name.data[i] > '7')
				return false;
			bits = bits << 3 | (unsigned long long)(name.data[i] - '0');
		}
	} else if (!tr_strace_number(name, &bits)) {
		return false;
	}
	if (bits) {
		tr_buffer_put_literal(r->to, "0x");
		tr_buffer_put_hex(r->to, bits, 1);
	} else {
		r->to->len--; /* the bar: nothing is left to say */
	}
	return true;
}

/* O_RDONLY|O_CLOEXEC */
static bool put_symbol(struct rendering *r, struct tr_text text)
{
	size_t begin = r->to->len;
	const char *p = text.data, *end = p + text.len;
	bool numbered = false;

	if (tr_text_is(text, "NULL")) {
		tr_buffer_put_literal(r->to, "null");
		return true;
	}
	while (p < end) {
		const char *bar = memchr(p, '|', (size_t)(end - p));
		const char *stop = bar ? bar : end;
		bool first = p == text.data;
		if (!first)
			tr_buffer_put_byte(r->to, '|');
		struct tr_text name = tr_text_span(p, stop);
		if (numbered || !put_name(r, name, first) || (bar && bar + 1 == end)) {
			r->to->len = begin;
			return false;
		}
		numbered = name.data[0] == '0';
		p = bar ? bar + 1 : end;
	}
	return text.len > 0;
}

static void put_value(struct rendering *r, struct tr_text text);

/* [a, b, ...] */
static bool put_list(struct rendering *r, struct tr_text text)
{
	const char *p = text.data + 1, *end = text.data + text.len - 1;
	bool cut = false;

	if (text.len < 2 || *end != ']')
		return false;
	tr_buffer_put_byte(r->to, '[');
	for (bool first = true; (p = tr_strace_skip(p, end)) < end;) {
		const char *stop = tr_strace_item_end(p, end);
		struct tr_text item = tr_text_trimmed(tr_text_span(p, stop));
		if (tr_text_is(item, "...")) {
			cut = true;
		} else {
			if (!first)
				tr_buffer_put_byte(r->to, ',');
			put_value(r, item);
			first = false;
		}
		if (stop == end)
			break;
		p = stop + 1;
		if (*stop != ',')
			return false;
	}
	tr_buffer_put_byte(r->to, ']');
	if (cut)
		tr_buffer_put_literal(r->to, "...");
	r->cut |= cut;
	return true;
}

/* name=value of a structure. False: it has no name. */
static bool put_member(struct rendering *r, struct tr_text item)
{
	const char *equals = item.len ? memchr(item.data, '=', item.len) : NULL;
	struct tr_text name = equals ? tr_text_span(item.data, equals) : item;

	if (tr_text_is(item, "...")) {
		tr_buffer_put_literal(r->to, "\"...\"=null");
		return true;
	}
	if (!equals || !tr_is_word(name, false))
		return false;
	tr_buffer_put_text(r->to, name);
	tr_buffer_put_byte(r->to, '=');
	put_value(r, tr_text_trimmed(tr_text_span(equals + 1, item.data + item.len)));
	return true;
}

static bool put_struct(struct rendering *r, struct tr_text text)
{
	const char *p = text.data + 1, *end = text.data + text.len - 1;

	if (text.len < 2 || *end != '}')
		return false;
	tr_buffer_put_byte(r->to, '{');
	p = tr_strace_skip(p, end);
	if (p == end)
		tr_buffer_put_byte(r->to, '=');
	for (bool first = true; p < end; first = false) {
		const char *stop = tr_strace_item_end(p, end);
		if (!first)
			tr_buffer_put_byte(r->to, ',');
		if (!put_member(r, tr_text_trimmed(tr_text_span(p, stop))))
			return false;
		if (stop == end)
			break;
		if (*stop != ',')
			return false;
		p = tr_strace_skip(stop + 1, end);
	}
	tr_buffer_put_byte(r->to, '}');
	return true;
}

bool tr_strace_note(struct tr_text text, struct tr_text *note)
{
	const char *end = text.data + text.len;
	const char *open = text.len ? memchr(text.data, '<', text.len) : NULL;
	const char *close = open ? tr_strace_note_end(open, end) : NULL;

	if (!close)
		return false;
	*note = tr_text_span(open + 1, close - 1);
	return true;
}

/*
 * 3</path>, AT_FDCWD</path>, 123<make>: the path is the human form of it; of 3</path>(deleted)
 * that is as the kernel spells it.
 */
static bool put_noted(struct rendering *r, struct tr_text text)
{
	size_t begin = r->to->len;
	struct tr_text note;

	if (!tr_strace_note(text, &note) || note.data - 1 == text.data)
		return false;
	struct tr_text plain = tr_text_span(text.data, note.data - 1);
	struct tr_text more = tr_text_span(note.data + note.len + 1, text.data + text.len);
	bool deleted = tr_text_is(more, "(deleted)");
	if (more.len && !deleted)
		return false;
	tr_buffer_put_byte(r->to, '<');
	put_quoted(r, note, deleted ? " (deleted)" : "");
	tr_buffer_put_byte(r->to, ';');
	if (put_number(r, plain) || put_symbol(r, plain)) {
		tr_buffer_put_byte(r->to, '>');
		return true;
	}
	r->to->len = begin;
	return false;
}

/* 0x10000 with the comment O_RDONLY|O_DIRECTORY (-X verbose): both. */
static bool put_commented(struct rendering *r, struct tr_text plain, struct tr_text comment)
{
	size_t begin = r->to->len;
	bool hex = plain.len > 2 && plain.data[1] == 'x';
	bool several = memchr(comment.data, '|', comment.len) != NULL;

	if (tr_text_is(comment, "NULL") || !put_symbol(r, comment))
		return false;
	tr_buffer_put_byte(r->to, '(');
	if ((hex || !several) && !memchr(comment.data, '?', comment.len) &&
	    r->to->data[r->to->len - 2] != 'x' && put_number(r, plain)) {
		tr_buffer_put_byte(r->to, ')');
		return true;
	}
	r->to->len = begin;
	return false;
}

static bool put_known(struct rendering *r, struct tr_text text)
{
	struct tr_text body;
	bool cut;

	switch (*text.data) {
	case '"':
		if (!tr_strace_is_string(text, &body, &cut))
			return false;
		put_quoted(r, body, "");
		if (cut)
			tr_buffer_put_literal(r->to, "...");
		r->cut |= cut;
		return true;
	case '[':
		return put_list(r, text);
	case '{':
		return put_struct(r, text);
	}
	if (memchr(text.data, '<', text.len))
		return put_noted(r, text);
	return put_number(r, text) || put_symbol(r, text);
}

static void put_value(struct rendering *r, struct tr_text text)
{
	size_t begin = r->to->len;
	bool known = false;

	if (text.len && r->depth < DEPTH) {
		r->depth++;
		known = put_known(r, text);
		r->depth--;
	}
	if (known)
		return;
	if (r->to->failed)
		return;
	r->to->len = begin;
	/* a comment at the end, of a number perhaps */
	struct tr_text plain = text;
	if (r->depth < DEPTH && tr_strace_chop(&plain, TR_TEXT(" */"))) {
		const char *open = memchr(plain.data, '/', plain.len);
		if (open && open > text.data && open[1] == '*' && open[-1] == ' ') {
			struct tr_text number = tr_text_trimmed(tr_text_span(text.data, open));
			struct tr_text comment =
				tr_text_trimmed(tr_text_span(open + 2, plain.data + plain.len));
			if (comment.len && put_commented(r, number, comment))
				return;
			put_value(r, number);
			return;
		}
	}
	put_verbatim(r, text);
}

void tr_strace_value(struct tr_text text, struct tr_buffer *to, bool *cut)
{
	struct rendering r = { to, 0, false };

	put_value(&r, tr_text_trimmed(text));
	*cut |= r.cut;
}
