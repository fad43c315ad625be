#include "format/strace/prefix.h"

#include "core/hex.h"
#include "format/strace/scan.h"

enum {
	EPOCH_DIGITS = 9, /* seconds since 1970 have no fewer since 1973, and a pid has at most 7 */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && is_digit(*p))
		p++;
	return p;
}

/* ".123456", where it is there. */
static const char *skip_fraction(const char *p, const char *end)
{
	if (p == end || *p != '.')
		return p;
	const char *behind = skip_digits(p + 1, end);
	return behind > p + 1 ? behind : p;
}

/* What may follow the number of a process: its name, its number in its own namespace. */
static const char *skip_pid_notes(const char *p, const char *end)
{
	const char *behind;

	if (p < end && *p == '<' && (behind = tr_strace_note_end(p, end)))
		p = behind;
	if (end - p > 4 && memcmp(p, " /* ", 4) == 0) {
		for (behind = p + 4; behind < end - 1 && *behind != '"'; behind++)
			if (behind[0] == '*' && behind[1] == '/')
				return behind + 2;
	}
	return p;
}

static bool take_bracketed_pid(const char **p, const char *end, struct tr_strace_prefix *prefix)
{
	const char *q = *p;
	unsigned long long pid;

	if (!tr_strace_take(&q, end, TR_TEXT("[pid ")))
		return false;
	q = tr_strace_skip(q, end);
	if (!tr_strace_digits(&q, end, &pid))
		return false;
	q = skip_pid_notes(q, end);
	if (!tr_strace_take(&q, end, TR_TEXT("] ")))
		return false;
	prefix->has_pid = prefix->bracketed = true;
	prefix->pid = pid;
	*p = q;
	return true;
}

static void take_pid(const char **p, const char *end, struct tr_strace_prefix *prefix)
{
	const char *q = *p;
	unsigned long long pid;

	if (!tr_strace_digits(&q, end, &pid) || q - *p >= EPOCH_DIGITS)
		return;
	q = skip_pid_notes(q, end);
	if (q == end || *q != ' ')
		return;
	prefix->has_pid = true;
	prefix->pid = pid;
	*p = tr_strace_skip(q, end);
}

/* A time and a blank; what is none stays where it is. */
static void take_time(const char **p, const char *end, struct tr_strace_prefix *prefix)
{
	const char *begin = tr_strace_skip(*p, end), *q = skip_digits(begin, end);
	enum tr_strace_clock clock = TR_STRACE_NO_CLOCK;
	const char *whole = q;

	if (q == begin)
		return;
	if (q - begin == 2 && end - q > 6 && q[0] == ':' && is_digit(q[1]) && is_digit(q[2]) &&
	    q[3] == ':' && is_digit(q[4]) && is_digit(q[5])) {
		clock = TR_STRACE_DAY;
		q = skip_fraction(q + 6, end);
	} else {
		q = skip_fraction(q, end);
		if (whole - begin >= EPOCH_DIGITS)
			clock = TR_STRACE_EPOCH;
		else if (q > whole)
			clock = TR_STRACE_RELATIVE;
	}
	if (clock == TR_STRACE_NO_CLOCK || q == end || *q != ' ')
		return;
	prefix->clock = clock;
	prefix->time = tr_text_span(begin, q);
	*p = tr_strace_skip(q, end);
}

/* "(+     0.000123) " behind an absolute time says nothing new. */
static void skip_relative(const char **p, const char *end)
{
	const char *q = *p;

	if (!tr_strace_take(&q, end, TR_TEXT("(+")))
		return;
	q = skip_fraction(skip_digits(tr_strace_skip(q, end), end), end);
	if (tr_strace_take(&q, end, TR_TEXT(") ")))
		*p = q;
}

/* "[  59] " and "[00007f12345678] ", "[????????????????] ". */
static bool skip_bracket(const char **p, const char *end)
{
	const char *q = *p + 1;

	if (*p == end || **p != '[')
		return false;
	q = tr_strace_skip(q, end);
	const char *begin = q;
	while (q < end && (tr_hex_digit(*q) >= 0 || *q == '?'))
		q++;
	if (q == begin || !tr_strace_take(&q, end, TR_TEXT("] ")))
		return false;
	*p = q;
	return true;
}

void tr_strace_prefix_read(struct tr_text line, struct tr_strace_prefix *prefix)
{
	const char *p = line.data, *end = p + line.len;

	*prefix = (struct tr_strace_prefix){ .clock = TR_STRACE_NO_CLOCK };
	if (!take_bracketed_pid(&p, end, prefix))
		take_pid(&p, end, prefix);
	take_time(&p, end, prefix);
	if (prefix->clock != TR_STRACE_NO_CLOCK)
		skip_relative(&p, end);
	while (skip_bracket(&p, end))
		;
	prefix->body = p;
}
