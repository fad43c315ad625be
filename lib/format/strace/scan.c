#define _GNU_SOURCE /* memmem */
#include "format/strace/scan.h"

#include <limits.h>

#include "record/string_scan.h"

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
	 * A path has 4096 bytes, of which each may be an escape, and notes stand in each other
	 * twice. What goes beyond is no note, and each '<' in it would be looked at that far.
	 */
	enum { LONGEST = 20 << 10, DEEPEST = 8 };
	if (end - p > LONGEST)
		end = p + LONGEST;
	const char *behind;
	unsigned depth = 0;

	for (; p < end; p++) {
		switch (*p) {
		case '\\':
			p++;
			break;
		case '"':
			/* of a socket's name; in a path it is escaped */
			behind = tr_strace_string_end(p + 1, end);
			if (behind)
				p = behind - 1;
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

static const char *comment_end(const char *p, const char *end)
{
	const char *close = end - p >= 4 ? memmem(p + 2, (size_t)(end - p - 2), "*/", 2) : NULL;

	return close ? close + 2 : NULL;
}

/* What has an end of its own, at p; p itself where nothing of that kind begins there. */
static const char *thing_end(const char *p, const char *end)
{
	const char *behind = p;

	switch (*p) {
	case '"':
		return tr_strace_string_end(p + 1, end);
	case '<':
		if (end - p > 1 && (p[1] == '<' || p[1] == ' '))
			return p + 2; /* a shift, a comparison */
		behind = tr_strace_note_end(p, end);
		return behind ? behind : p;
	case '/':
		if (end - p > 1 && p[1] == '*')
			return comment_end(p, end);
		return p;
	default:
		return p;
	}
}

/* To the closing bracket that no opening one is for, or with commas to the first ',' outside all.
 */
static const char *find_end(const char *p, const char *end, bool commas)
{
	unsigned depth = 0;

	while (p < end) {
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
			const char *behind = thing_end(p, end);
			if (!behind)
				return NULL;
			if (behind > p) {
				p = behind;
				continue;
			}
			break;
		}
		}
		p++;
	}
	return NULL;
}

const char *tr_strace_item_end(const char *p, const char *end)
{
	const char *behind = find_end(p, end, true);

	return behind ? behind : end;
}

const char *tr_strace_arguments_end(const char *p, const char *end)
{
	return find_end(p, end, false);
}

bool tr_strace_digits(const char **p, const char *end, unsigned long long *number)
{
	const char *q = *p;
	unsigned long long n = 0;

	for (; q < end && *q >= '0' && *q <= '9'; q++) {
		unsigned digit = (unsigned)(*q - '0');
		if (n > (ULLONG_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	if (q == *p)
		return false;
	*p = q;
	*number = n;
	return true;
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
