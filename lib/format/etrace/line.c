#define _GNU_SOURCE /* memmem */
#include "format/etrace/line.h"

#include <string.h>

#include "core/decimal.h"

enum {
	NANOSECONDS = 1000 * 1000 * 1000,
	PREFIX_MAX = 256, /* what trace_pipe may have put in front: command, pid, flags, time */
};

/* Digits up to the byte `stop`, and over it. NULL: they are not there, or too many. */
static const char *number_to(const char *p, const char *end, char stop, uint64_t *number,
			     bool *padded)
{
	const char *begin = p;
	uint64_t n = 0;

	for (; p < end && (unsigned char)(*p - '0') <= 9; p++) {
		unsigned digit = (unsigned char)(*p - '0');
		if (n > (UINT64_MAX - digit) / 10)
			return NULL;
		n = n * 10 + digit;
	}
	if (p == begin || p == end || *p != stop)
		return NULL;
	if (*begin == '0' && p - begin > 1)
		*padded = true;
	*number = n;
	return p + 1;
}

bool tr_etrace_number(struct tr_text text, uint64_t *number, bool *padded)
{
	uint64_t n = 0;

	for (size_t i = 0; i < text.len; i++) {
		unsigned digit = (unsigned char)(text.data[i] - '0');
		if (digit > 9 || n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	if (text.len > 1 && *text.data == '0')
		*padded = true;
	*number = n;
	return text.len > 0;
}

/* The four numbers from p on; NULL: they are not there. */
static const char *read_numbers(const char *p, const char *end, struct tr_etrace_line *line)
{
	line->padded = false;
	if ((p = number_to(p, end, ',', &line->upid, &line->padded)) &&
	    (p = number_to(p, end, ',', &line->cpu, &line->padded)) &&
	    (p = number_to(p, end, ',', &line->sec, &line->padded)) &&
	    (p = number_to(p, end, '!', &line->nsec, &line->padded)) && line->nsec < NANOSECONDS)
		return p;
	return NULL;
}

static bool is_tag_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The tag and what is behind it. False: there is no tag. */
static bool read_data(const char *p, const char *end, struct tr_etrace_line *line)
{
	const char *tag = p;

	while (p < end && is_tag_byte(*p))
		p++;
	line->tag = tr_text_span(tag, p);
	line->text = tr_text_span(p, end);
	line->index = 0;
	if (p == tag)
		return false;
	if (p == end) {
		line->form = TR_ETRACE_BARE;
		return true;
	}
	if (*p == '|') {
		line->form = TR_ETRACE_BAR;
		line->text = tr_text_span(p + 1, end);
		return true;
	}
	line->form = TR_ETRACE_PART;
	p = *p == '[' ? number_to(p + 1, end, ']', &line->index, &line->padded) : NULL;
	if (p)
		line->text = tr_text_span(p, end);
	return p != NULL;
}

/* Tries the bytes from p on as what follows the prefix. */
static bool read_event(const char *p, struct tr_etrace_line *line)
{
	const char *begin = line->whole.data, *end = begin + line->whole.len;
	const char *data = read_numbers(p, end, line);

	if (!data || !read_data(data, end, line))
		return false;
	line->type = TR_ETRACE_EVENT;
	line->prefix = tr_text_span(begin, p);
	return true;
}

/* Without the option nocontext-info trace_pipe puts more in front of the "0: ". */
static bool read_behind_context(struct tr_etrace_line *line)
{
	const char *p = line->whole.data;
	const char *end = p + (line->whole.len < PREFIX_MAX ? line->whole.len : PREFIX_MAX);

	while (p < end && (p = memmem(p, (size_t)(end - p), " 0: ", 4))) {
		p += 4;
		if (read_event(p, line))
			return true;
	}
	return false;
}

/* `CPU:3 [LOST 12 EVENTS]`, or without the number. */
static bool read_lost(struct tr_etrace_line *line)
{
	struct tr_text lost = TR_TEXT("[LOST "), tail = TR_TEXT("EVENTS]");
	const char *p = line->whole.data, *end = p + line->whole.len;
	bool padded = false;

	if (!tr_text_starts(line->whole, TR_TEXT("CPU:")))
		return false;
	p = number_to(p + 4, end, ' ', &line->cpu, &padded);
	if (!p || !tr_text_starts(tr_text_span(p, end), lost))
		return false;
	p += lost.len;
	const char *behind = number_to(p, end, ' ', &line->lost, &padded);
	line->has_lost = behind != NULL;
	line->type = TR_ETRACE_LOST;
	return tr_text_equal(tr_text_span(behind ? behind : p, end), tail);
}

void tr_etrace_line_read(struct tr_text whole, struct tr_etrace_line *line)
{
	static const struct tr_text initcwd = { "INITCWD=", 8 };
	const char *p = whole.data;
	bool usual = whole.len > 3 && memcmp(p, "0: ", 3) == 0;

	line->whole = whole;
	line->cut = false;
	if (read_event(usual ? p + 3 : p, line))
		return;
	if (tr_text_starts(whole, initcwd)) {
		line->type = TR_ETRACE_INITCWD;
		line->text = tr_text_span(p + initcwd.len, p + whole.len);
		return;
	}
	if (read_lost(line) || read_behind_context(line))
		return;
	line->type = TR_ETRACE_NOISE;
	line->reason = whole.len ? "no line of the tracer's" : "an empty line";
}

void tr_etrace_put_number(int64_t number, struct tr_buffer *to)
{
	if (number < 0)
		tr_buffer_put_byte(to, '-');
	tr_buffer_put_decimal(to, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void tr_etrace_put_time(uint64_t sec, uint64_t nsec, struct tr_buffer *to)
{
	enum { DIGITS = 9 };
	char *p = tr_buffer_room(to, TR_DECIMAL_MAX + 1 + TR_DECIMAL_MAX);
	if (!p)
		return;
	size_t len = tr_decimal_write(sec, p);
	p[len] = '.';
	/* a one in front keeps the zeros, and the point takes its place */
	(void)tr_decimal_write(nsec + NANOSECONDS, p + len);
	p[len] = '.';
	tr_buffer_used(to, len + 1 + DIGITS);
}
