/* SPDX-License-Identifier: MIT */
/* What a line of a log has in front of its command: times, progress, prompts, colours. */
#include <string.h>

#include "format/makelog/makelog.h"
#include "process/path.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The end of the digits and `others` from `at` on. */
static size_t skip_among(struct tr_text text, size_t at, const char *others)
{
	while (at < text.len &&
	       (is_digit(text.data[at]) || (text.data[at] && strchr(others, text.data[at]))))
		at++;
	return at;
}

/* [openssl-sys 0.9.60], which cargo -vv prints before the lines of crate cc. 0: none. */
static size_t skip_crate(struct tr_text text)
{
	enum { MOST = 100 };
	const char *end = memchr(text.data, ']', text.len < MOST ? text.len : MOST);
	struct tr_text rest = tr_text_span(end ? end : text.data, text.data + text.len);

	return tr_text_starts(rest, TR_TEXT("] running: ")) ? (size_t)(end - text.data) + 1 : 0;
}

/* [exec], [command] and [Step 1/2]: a name in brackets, and perhaps a number. 0: none. */
static size_t skip_name(struct tr_text text)
{
	enum { MOST = 40 };
	size_t at = 1;

	while (at < text.len && at < MOST &&
	       (((text.data[at] | 0x20) >= 'a' && (text.data[at] | 0x20) <= 'z') ||
		is_digit(text.data[at]) || (text.data[at] && strchr("_-.", text.data[at]))))
		at++;
	if (at == 1 || is_digit(text.data[1]))
		return skip_crate(text);
	if (at < text.len && text.data[at] == ' ')
		at = skip_among(text, at + 1, "/");
	return at < text.len && text.data[at] == ']' ? at + 1 : skip_crate(text);
}

/* [ 50%], [1/20], [10:00:00], [2026-11-23T10:00:00.123Z]: a number in brackets. 0: none. */
static size_t skip_brackets(struct tr_text text)
{
	enum { MOST = 60 };
	size_t at = skip_among(text, 1, " %/.:,-+TZsec");
	size_t first = 1;

	while (first < at && text.data[first] == ' ')
		first++;
	if (at == text.len || at > MOST || text.data[at] != ']' || !is_digit(text.data[first]))
		return skip_name(text);
	at++;
	return at + (at < text.len && text.data[at] == ':');
}

/* A time of day, a date, or both with T between them, and the stream that GitLab adds. 0: none. */
static size_t skip_time(struct tr_text text)
{
	size_t at = skip_among(text, 0, ":.-TZ+");

	if (at < sizeof "00:00:00" - 1 || at == text.len || text.data[at] != ' ' ||
	    (text.data[2] != ':' && text.data[4] != '-'))
		return 0;
	at++;
	if (at + 3 < text.len && is_digit(text.data[at]) && is_digit(text.data[at + 1]) &&
	    (text.data[at + 2] == 'O' || text.data[at + 2] == 'E'))
		at += 3 + (text.data[at + 3] == '+');
	return at;
}

/* #12 3.456, as docker prints it, and ##[command]. 0: none. */
static size_t skip_step(struct tr_text text)
{
	size_t at = skip_among(text, 1, ""), end;

	if (tr_text_starts(text, TR_TEXT("##[command]")))
		return sizeof "##[command]" - 1;
	if (at == 1 || at == text.len || text.data[at] != ' ')
		return 0;
	end = skip_among(text, at + 1, ".");
	return end > at + 1 && end < text.len && text.data[end] == ' ' ? end : 0;
}

/*
 * Skips an escape sequence, such as a colour. Sets *endless if the end of a link or a title is not
 * in the line, so that it is searched for only once.
 */
static const char *skip_escape(const char *p, const char *end, bool *endless)
{
	char kind = p + 1 < end ? p[1] : 0;
	const char *q = p + 2;

	if (kind == '[') {
		while (q < end && *q >= ' ' && *q <= '?')
			q++;
		return q < end ? q + 1 : end;
	}
	/* links, titles and the like, up to BEL or ESC and a backslash */
	if (kind && strchr("]_P^", kind) && !*endless) {
		for (; q < end; q++)
			if (*q == '\a' || (*q == '\x1b' && q + 1 < end && q[1] == '\\'))
				return q + (*q == '\a' ? 1 : 2);
		*endless = true;
		q = p + 2;
	}
	return q < end ? q : end;
}

struct tr_text tr_makelog_plain(struct tr_text line, struct tr_buffer *plain)
{
	const char *end, *p, *q, *cr;
	bool endless = false;

	while (line.len && line.data[line.len - 1] == '\r')
		line.len--;
	cr = line.len ? memrchr(line.data, '\r', line.len) : NULL;
	end = line.data + line.len;
	if (cr)
		line = tr_text_span(cr + 1, end);
	p = memchr(line.data, '\x1b', line.len);
	if (!p)
		return line;
	tr_buffer_reset(plain);
	for (q = line.data; p; p = memchr(q, '\x1b', (size_t)(end - q))) {
		tr_buffer_put(plain, q, (size_t)(p - q));
		q = skip_escape(p, end, &endless);
	}
	tr_buffer_put(plain, q, (size_t)(end - q));
	return tr_buffer_text(plain);
}

/*
 * The length of what may precede a command: one prompt, time, progress or word. 0: there is none.
 */
static size_t skip_prefix(struct tr_text text)
{
	struct tr_text rest = text;
	size_t at = 0;

	switch (*text.data) {
	case '[':
		return skip_brackets(text);
	case '#':
		return skip_step(text);
	case '$':
		return text.len > 1 && text.data[1] == ' ' ? 2 : 0;
	case '+': /* sh -x prints ++ in a substitution, and so on */
		while (at < text.len && text.data[at] == '+')
			at++;
		return at < text.len && text.data[at] == ' ' ? at : 0;
	case 'P': /* PowerShell's prompt; the directory after it stays */
		return tr_text_skip(&rest, TR_TEXT("PS ")) && tr_path_has_drive(rest) ? 3 : 0;
	case 'l':
		if (tr_text_skip(&rest, TR_TEXT("libtool: ")) &&
		    (tr_text_skip(&rest, TR_TEXT("compile: ")) ||
		     tr_text_skip(&rest, TR_TEXT("link: ")) ||
		     tr_text_skip(&rest, TR_TEXT("install: "))))
			return text.len - rest.len;
		return 0;
	case 'r': /* crate cc of Rust */
		return tr_text_skip(&rest, TR_TEXT("running: ")) ? text.len - rest.len : 0;
	case '0' ... '9': /* 1> and 1:2>, the node of msbuild; or a time */
		at = skip_among(text, 0, ":");
		return at < text.len && at < 10 && text.data[at] == '>' ? at + 1 : skip_time(text);
	default:
		return 0;
	}
}

struct tr_text tr_makelog_command(struct tr_text line)
{
	enum { MOST = 8 };
	size_t skipped = 1;

	/* of Yocto; GCC prints blanks before the bar of quoted source code */
	if (tr_text_starts(line, TR_TEXT("| ")))
		line = (struct tr_text){ line.data + 2, line.len - 2 };
	for (int i = 0; i < MOST && skipped; i++) {
		while (line.len && (*line.data == ' ' || *line.data == '\t')) {
			line.data++;
			line.len--;
		}
		if (!line.len)
			break;
		skipped = skip_prefix(line);
		line = (struct tr_text){ line.data + skipped, line.len - skipped };
	}
	return line;
}

size_t tr_makelog_stamp(struct tr_text line)
{
	size_t len = 0;

	if (line.len && *line.data == '[')
		len = skip_brackets(line);
	else if (line.len && *line.data == '#')
		len = skip_step(line);
	else if (line.len && is_digit(*line.data))
		len = skip_time(line);
	return len + (len && len < line.len && line.data[len] == ' ');
}
