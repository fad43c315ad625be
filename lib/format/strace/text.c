/* SPDX-License-Identifier: MIT */
/*
 * Pieces of a line: where they end, their bytes, and their value in the stream. strace prints C,
 * more or less, with abbreviations, comments and symbols from many tables. So a value gets a
 * literal if its spelling is understood as a whole, and is a string of its text otherwise: no value
 * is lost, and none is misread.
 */
#include "format/strace/lines.h"

#include <limits.h>

#include "record/literal.h"
#include "record/string_scan.h"
#include "record/value.h"

const char *tr_strace_string_end(const char *p, const char *end)
{
	while ((p = tr_string_special(p, end)) < end) {
		if (*p == '"')
			return p + 1;
		p += *p == '\\' ? 2 : 1;
		if (p > end)
			return NULL;
	}
	return NULL;
}

const char *tr_strace_note_end(const char *p, const char *end)
{
	/*
	 * A path has at most 4096 bytes, each of which may be an escape, and notes are nested
	 * twice. The limit keeps the time linear for a text of many '<'.
	 */
	enum { LONGEST = 20 << 10, DEEPEST = 8 };
	if (end - p > LONGEST)
		end = p + LONGEST;
	const char *after;
	unsigned depth = 0;

	for (; p < end; p++) {
		switch (*p) {
		case '\\':
			p++;
			break;
		case '"':
			/* in the name of a socket; in a path it is escaped */
			after = tr_strace_string_end(p + 1, end);
			if (after)
				p = after - 1;
			break;
		case '<':
			if (++depth > DEEPEST)
				return NULL;
			break;
		case '>':
			/* in a path it is escaped, in "a->b" it belongs to the arrow */
			if (p[-1] == '-')
				break;
			if (--depth == 0)
				return p + 1;
			break;
		}
	}
	return NULL;
}

/* Returns the end of the string, note or comment at p; p itself if none begins there. */
static const char *thing_end(const char *p, const char *end)
{
	const char *after = p;

	switch (*p) {
	case '"':
		return tr_strace_string_end(p + 1, end);
	case '<':
		if (end - p > 1 && (p[1] == '<' || p[1] == ' '))
			return p + 2; /* a shift, a comparison */
		after = tr_strace_note_end(p, end);
		return after ? after : p;
	case '/':
		if (end - p <= 1 || p[1] != '*')
			return p;
		after = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
		return after ? after + 2 : NULL;
	default:
		return p;
	}
}

/*
 * Finds the first closing bracket without an opening one; with commas, or a ',' outside brackets.
 */
static const char *find_end(const char *p, const char *end, bool commas)
{
	static const bool marks[UCHAR_MAX + 1] = {
		['('] = true, ['['] = true, ['{'] = true, [')'] = true, [']'] = true,
		['}'] = true, [','] = true, ['"'] = true, ['<'] = true, ['/'] = true,
	};
	unsigned depth = 0;

	for (;; p++) {
		while (p < end && !marks[(unsigned char)*p])
			p++;
		if (p == end)
			return NULL;
		switch (*p) {
		case '(':
		case '[':
		case '{':
			depth++;
			break;
		case ')':
		case ']':
		case '}':
			if (depth-- == 0)
				return p;
			break;
		case ',':
			if (commas && depth == 0)
				return p;
			break;
		case '"':
		case '<':
		case '/': {
			const char *after = thing_end(p, end);
			if (!after)
				return NULL;
			if (after > p)
				p = after - 1;
			break;
		}
		}
	}
}

const char *tr_strace_item_end(const char *p, const char *end)
{
	const char *after = find_end(p, end, true);

	return after ? after : end;
}

const char *tr_strace_arguments_end(const char *p, const char *end)
{
	return find_end(p, end, false);
}

struct tr_text tr_strace_argument(struct tr_text arguments, unsigned n)
{
	const char *p = arguments.data, *end = p + arguments.len;

	for (;; n--) {
		const char *stop = tr_strace_item_end(p, end);
		if (n == 0)
			return tr_text_span(p, stop);
		if (stop == end)
			return (struct tr_text){ end, 0 };
		p = tr_strace_skip(stop + 1, end);
	}
}

bool tr_strace_digits(const char **p, const char *end, unsigned long long *number)
{
	const char *q = *p;
	unsigned long long n = 0;

	for (; q < end && tr_is_digit(*q); q++) {
		unsigned digit = (unsigned)(*q - '0');
		if (n >= ULLONG_MAX / 10 && (n > ULLONG_MAX / 10 || digit > ULLONG_MAX % 10))
			return false;
		n = n * 10 + digit;
	}
	if (q == *p)
		return false;
	*p = q;
	*number = n;
	return true;
}

/* Reads decimal digits, or hexadecimal ones after 0x, and moves *p over them. */
static bool read_number(const char **p, const char *end, unsigned long long *number)
{
	*number = 0;
	if (end - *p <= 2 || (*p)[0] != '0' || (*p)[1] != 'x')
		return tr_strace_digits(p, end, number);
	for (*p += 2; *p < end && tr_hex_digit(**p) >= 0; ++*p)
		*number = *number << 4 | (unsigned long long)tr_hex_digit(**p);
	return true;
}

bool tr_strace_number(struct tr_text text, unsigned long long *number)
{
	const char *p = text.data;

	return read_number(&p, p + text.len, number);
}

/* Decodes the escape whose backslash is at *p, and moves *p over it. */
static unsigned char read_escape(const char **p, const char *end)
{
	static const char letters[] = "ntrvfab", meanings[] = "\n\t\r\v\f\a\b";
	const char *q = *p + 1;
	const char *letter;

	if (q == end) {
		*p = q;
		return '\\';
	}
	if (*q == 'x' && end - q > 2 && tr_hex_digit(q[1]) >= 0 && tr_hex_digit(q[2]) >= 0) {
		*p = q + 3;
		return (unsigned char)(tr_hex_digit(q[1]) << 4 | tr_hex_digit(q[2]));
	}
	if (*q >= '0' && *q <= '7') {
		unsigned byte = 0;
		for (int i = 0; i < 3 && q < end && *q >= '0' && *q <= '7'; i++)
			byte = byte << 3 | (unsigned)(*q++ - '0');
		*p = q;
		return (unsigned char)byte;
	}
	*p = q + 1;
	letter = *q ? strchr(letters, *q) : NULL;
	return letter ? (unsigned char)meanings[letter - letters] : (unsigned char)*q;
}

void tr_strace_bytes(struct tr_text body, struct tr_buffer *to)
{
	const char *p = body.data, *end = p + body.len;

	while (p < end) {
		const char *backslash = memchr(p, '\\', (size_t)(end - p));
		const char *stop = backslash ? backslash : end;
		tr_buffer_put(to, p, (size_t)(stop - p));
		p = stop;
		if (p < end)
			tr_buffer_put_byte(to, (char)read_escape(&p, end));
	}
}

/* True if the escape means the same in the stream, so that it can be copied. */
static bool is_shared_escape(const char *p, const char *end)
{
	return *p == '\\' && end - p > 1 &&
	       (p[1] == '"' || p[1] == '\\' || p[1] == 'n' || p[1] == 't' || p[1] == 'r' ||
		p[1] == 'f');
}

/*
 * Puts a run of bytes and escapes that the stream spells otherwise. They are decoded together,
 * because the bytes may make up characters: "\303\274" is "ü" in the stream. Returns the end.
 */
static const char *put_run(const char *p, const char *end, struct tr_buffer *to)
{
	enum { RUN = 64, CHARACTER = 4 }; /* bytes that are escaped at a time, and of a character */
	char run[RUN];
	size_t len = 0;

	while (p < end && *p != '"' && tr_string_is_special((unsigned char)*p) &&
	       !is_shared_escape(p, end)) {
		unsigned char byte = (unsigned char)*p;
		if (*p == '\\')
			byte = read_escape(&p, end);
		else
			p++;
		bool goes_on = (byte & 0xc0) == 0x80; /* UTF-8 */
		if (len == RUN || (len >= RUN - CHARACTER && !goes_on)) {
			tr_string_escape((struct tr_text){ run, len }, to);
			len = 0;
		}
		run[len++] = (char)byte;
	}
	tr_string_escape((struct tr_text){ run, len }, to);
	return p;
}

const char *tr_strace_spell(const char *p, const char *end, struct tr_buffer *to)
{
	const char *copied = p;

	while ((p = tr_string_special(p, end)) < end && *p != '"') {
		if (is_shared_escape(p, end)) {
			p += 2;
			continue;
		}
		tr_buffer_put(to, copied, (size_t)(p - copied));
		copied = p = put_run(p, end, to);
	}
	tr_buffer_put(to, copied, (size_t)(p - copied));
	return p;
}

bool tr_strace_is_string(struct tr_text text, struct tr_text *body, bool *cut)
{
	const char *end = text.data + text.len;

	if (text.len < 2 || *text.data != '"')
		return false;
	const char *after = tr_strace_string_end(text.data + 1, end);
	if (!after)
		return false;
	*body = tr_text_span(text.data + 1, after - 1);
	*cut = tr_strace_take(&after, end, TR_TEXT("..."));
	return after == end;
}

/* Returns the end of a number if it is spelled as in the stream. NULL: it is not. */
static const char *canonical_number_end(const char *p, const char *end)
{
	enum { DIGITS = 18, HEX_DIGITS = 16 }; /* that fit into 64 bits */

	p += *p == '-';
	const char *begin = p;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
		for (begin = p += 2; p < end && tr_hex_digit(*p) >= 0; p++)
			if (*p >= 'A' && *p <= 'F')
				return NULL;
		if (begin[-3] == '-' || p - begin > HEX_DIGITS)
			return NULL;
	} else {
		p = tr_skip_digits(p, end);
		if (p - begin > DIGITS)
			return NULL;
	}
	return p == begin || (*begin == '0' && p - begin > 1) ? NULL : p;
}

bool tr_strace_is_signal(struct tr_text text)
{
	const char *end = text.data + text.len;

	if (!text.len || text.len > TR_STRACE_SIGNAL_MAX)
		return false;
	if (!tr_text_starts(text, TR_TEXT("SIG")))
		return canonical_number_end(text.data, end) == end;
	for (const char *p = text.data; p < end; p++)
		if (!tr_strace_is_name(*p))
			return false;
	return true;
}

/*
 * Returns the end of symbols such as A|B if they are spelled as in the stream. NULL: they are not.
 */
static const char *symbol_end(const char *p, const char *end)
{
	enum { RESERVED = 5 }; /* the longest reserved word */

	for (;; p++) {
		const char *word = p;
		if (p < end && tr_is_digit(*p))
			return NULL;
		while (p < end && tr_strace_is_name(*p))
			p++;
		if (p == word || (p - word <= RESERVED && tr_is_reserved(tr_text_span(word, p))))
			return NULL;
		if (p == end || *p != '|')
			return p;
	}
}

const char *tr_strace_copy_value(const char *p, const char *end, struct tr_buffer *to, bool *cut)
{
	const char *begin = p;
	size_t before = to->len;
	bool dots = false;

	if (p == end)
		return NULL;
	if (*p == '"') {
		tr_buffer_put_byte(to, '"');
		p = tr_strace_spell(p + 1, end, to);
		bool closed = p < end;
		p += closed;
		dots = closed && p < end && *p == '.' && tr_strace_take(&p, end, TR_TEXT("..."));
		if (!closed || (p < end && *p != ',')) {
			to->len = before;
			return NULL;
		}
		tr_buffer_put_text(to, dots ? TR_TEXT("\"...") : TR_TEXT("\""));
		*cut |= dots;
		return p;
	}
	bool word = tr_strace_is_name(*p) && (*p < '0' || *p > '9');
	p = word ? symbol_end(p, end) : canonical_number_end(p, end);
	if (!p || (p < end && *p != ','))
		return NULL;
	struct tr_text text = tr_text_span(begin, p);
	tr_buffer_put_text(to, tr_text_is(text, "NULL") ? TR_TEXT("null") : text);
	return p;
}

/* Depth of brackets. The grammar allows 60, and a note adds levels. */
enum { DEPTH = TR_LITERAL_DEPTH - 4 };

struct rendering {
	struct tr_buffer *to;
	unsigned depth;
	bool cut;
};

/* Puts a string of that body and more plain text. */
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

/* Reads a mode. False: these are not only octal digits, or more than 64 bits. */
static bool read_octal(struct tr_text text, unsigned long long *number)
{
	const char *p = text.data, *end = p + text.len;

	for (*number = 0; p < end && *p >= '0' && *p <= '7' && *number <= ULLONG_MAX >> 3; p++)
		*number = *number << 3 | (unsigned long long)(*p - '0');
	return p == end;
}

/* Puts the literal of a number. False: it is none. */
static bool put_number(struct rendering *r, struct tr_text text)
{
	enum { HEX_DIGITS = 16 };
	bool negative = text.len && *text.data == '-';
	const char *begin = text.data + negative, *p = begin, *end = text.data + text.len;
	unsigned long long number;

	if (p == end || *p < '0' || *p > '9')
		return false;
	bool hex = end - p > 2 && p[0] == '0' && p[1] == 'x';
	if (*p == '0' && end - p > 1 && !hex) {
		if (!read_octal(tr_text_span(p, end), &number))
			return false;
	} else if (!read_number(&p, end, &number) || p < end ||
		   (hex && (negative || p - begin > 2 + HEX_DIGITS))) {
		return false;
	}
	if (negative)
		tr_buffer_put_byte(r->to, '-');
	if (hex) {
		tr_buffer_put_literal(r->to, "0x");
		tr_buffer_put_hex(r->to, number, 1);
	} else {
		tr_buffer_put_decimal(r->to, number);
	}
	return true;
}

/*
 * Puts one name of A|B|0x8: a word, or the bits without a name, which strace prints after the
 * names. False: it is neither.
 */
static bool put_name(struct rendering *r, struct tr_text name, bool first)
{
	enum { HEX = 18 /* bytes of the largest number */ };
	unsigned long long bits;

	if (tr_is_word(name, false)) {
		tr_buffer_put_text(r->to, name);
		return true;
	}
	if (first || name.len == 0 || *name.data != '0' || name.len > HEX)
		return false;
	/* octal where strace prints modes */
	if (name.len > 1 && name.data[1] != 'x' ? !read_octal(name, &bits)
						: !tr_strace_number(name, &bits))
		return false;
	if (bits) {
		tr_buffer_put_literal(r->to, "0x");
		tr_buffer_put_hex(r->to, bits, 1);
	} else {
		r->to->len--; /* removes the bar: no bits are left */
	}
	return true;
}

/* Puts O_RDONLY|O_CLOEXEC. */
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

/* Puts name=value of a structure. False: it has no name. */
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

/* Puts [a, b, ...] or {a=1, b=2}. */
static bool put_items(struct rendering *r, struct tr_text text)
{
	bool list = *text.data == '[', cut = false, first = true;
	const char *p = text.data + 1, *end = text.data + text.len - 1;

	if (text.len < 2 || *end != (list ? ']' : '}'))
		return false;
	tr_buffer_put_byte(r->to, *text.data);
	p = tr_strace_skip(p, end);
	if (p == end && !list)
		tr_buffer_put_byte(r->to, '='); /* {=} is the empty structure */
	while (p < end) {
		const char *stop = tr_strace_item_end(p, end);
		struct tr_text item = tr_text_trimmed(tr_text_span(p, stop));
		if (list && tr_text_is(item, "...")) {
			cut = true;
		} else {
			if (!first)
				tr_buffer_put_byte(r->to, ',');
			first = false;
			if (list)
				put_value(r, item);
			else if (!put_member(r, item))
				return false;
		}
		if (stop < end && *stop != ',')
			return false;
		p = stop < end ? tr_strace_skip(stop + 1, end) : end;
	}
	tr_buffer_put_byte(r->to, *end);
	if (cut)
		tr_buffer_put_literal(r->to, "...");
	r->cut |= cut;
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
 * Puts 3</path>, AT_FDCWD</path> or 123<make> with the note as the human form. The kernel spells
 * the path of 3</path>(deleted) with a suffix.
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

/*
 * Puts both of a number and its comment: 0x10000 and O_RDONLY|O_DIRECTORY of -X verbose. In the
 * stream a mask has a hexadecimal number and one name a decimal one, so that other pairs have no
 * literal. Nor have those whose names leave bits over, which would be written twice.
 */
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

/*
 * Puts the literal of a value by its first byte. False: its spelling is not understood as a whole.
 */
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
	case '{':
		return put_items(r, text);
	}
	if (memchr(text.data, '<', text.len))
		return put_noted(r, text);
	return put_number(r, text) || put_symbol(r, text);
}

/*
 * Puts a value: its literal, or a string of its text. What a failed attempt has appended is
 * removed. The depth is bounded, because lists and structures recurse.
 */
static void put_value(struct rendering *r, struct tr_text text)
{
	size_t begin = r->to->len;
	bool known = false;

	if (text.len && r->depth < DEPTH) {
		const char *end = text.data + text.len;
		if (tr_strace_copy_value(text.data, end, r->to, &r->cut) == end)
			return;
		r->to->len = begin;
		r->depth++;
		known = put_known(r, text);
		r->depth--;
	}
	if (known || r->to->failed)
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
	tr_string_quote(text, r->to);
}

void tr_strace_value(struct tr_text text, struct tr_buffer *to, bool *cut)
{
	struct rendering r = { to, 0, false };

	put_value(&r, tr_text_trimmed(text));
	if (cut)
		*cut |= r.cut;
}
