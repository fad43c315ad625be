/* What the parts of the value scanner share: messages, strings, words. */
#include "record/literal_scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/utf8.h"
#include "record/string_scan.h"

bool tr_scan_fail(struct tr_scan *scan, const char *at, const char *format, ...)
{
	if (!scan->err)
		return false;
	char reason[TR_ERROR_TEXT];
	va_list args;
	va_start(args, format);
	vsnprintf(reason, sizeof reason, format, args);
	va_end(args);
	tr_error_say_in(scan->err, TR_CAUSE_INPUT, format, "column %zu: %s",
			(size_t)(at - scan->begin) + 1, reason);
	return false;
}

bool tr_scan_fail_reason(struct tr_scan *scan, const char *at, const char *reason)
{
	tr_error_say_in(scan->err, TR_CAUSE_INPUT, reason, "column %zu: %s",
			(size_t)(at - scan->begin) + 1, reason);
	return false;
}

enum { QUOTED_MAX = 16 };

/* The character at pos in quotes, so that a blank can be told from another. */
static void quote_character(const struct tr_scan *scan, char *to)
{
	unsigned length = tr_utf8_length(scan->pos, scan->end);
	uint32_t code = length ? tr_utf8_decode(scan->pos, length) : (unsigned char)*scan->pos;
	bool visible = length && code > 0x20 && code != 0x7f && (code < 0x80 || code > 0xa0);
	if (code == '\'')
		snprintf(to, QUOTED_MAX, "\"'\"");
	else if (code == '\\')
		snprintf(to, QUOTED_MAX, "'\\\\'");
	else if (visible || code == ' ')
		snprintf(to, QUOTED_MAX, "'%.*s'", (int)length, scan->pos);
	else
		snprintf(to, QUOTED_MAX, "'\\x%02x'", (unsigned)code);
}

bool tr_scan_fail_expected(struct tr_scan *scan, const char *expected)
{
	if (scan->pos == scan->end)
		return tr_scan_fail(scan, scan->pos, "%s missing", expected);
	char quoted[QUOTED_MAX];
	quote_character(scan, quoted);
	return tr_scan_fail(scan, scan->pos, "found %s, expected %s", quoted, expected);
}

bool tr_scan_fail_value(struct tr_scan *scan)
{
	char quoted[QUOTED_MAX];
	quote_character(scan, quoted);
	return tr_scan_fail(scan, scan->pos, "no value begins with %s", quoted);
}

bool tr_scan_fail_memory(struct tr_scan *scan)
{
	if (scan->arena)
		(void)tr_arena_error(scan->arena, scan->err);
	else
		tr_error_memory(scan->err);
	return false;
}

/* A string's canonical spelling in the arena. */
static bool respell(struct tr_scan *scan, bool wide, struct tr_text *spelling)
{
	if (spelling->len > PTRDIFF_MAX / 2)
		return tr_scan_fail_memory(scan);
	char *canonical = tr_arena_alloc(scan->arena, wide ? 2 * spelling->len : spelling->len);
	if (!canonical)
		return tr_scan_fail_memory(scan);
	spelling->len = tr_string_respell(*spelling, wide, canonical);
	spelling->data = canonical;
	return true;
}

bool tr_scan_string(struct tr_scan *scan, bool wide, struct tr_text *spelling, bool *plain)
{
	const char *start = scan->pos + 1;
	struct tr_string_scan string;
	if (!tr_string_scan(start, scan->end, wide, &string))
		return tr_scan_fail_reason(scan, string.end, string.reason);
	scan->pos = string.end + 1;
	*spelling = tr_text_span(start, string.end);
	*plain = string.plain;
	if (!string.json)
		scan->traits |= TR_TRAIT_NO_JSON;
	if (string.canonical)
		return true;
	scan->canonical = false;
	if (!scan->arena)
		return true;
	if (!respell(scan, wide, spelling))
		return false;
	*plain = spelling->len == 0 || !memchr(spelling->data, '\\', spelling->len);
	return true;
}

bool tr_scan_cut(struct tr_scan *scan)
{
	if (!tr_text_starts(tr_text_span(scan->pos, scan->end), TR_TEXT("...")))
		return false;
	scan->pos += 3;
	scan->traits |= TR_TRAIT_NO_JSON;
	return true;
}

struct tr_text tr_scan_word(struct tr_scan *scan)
{
	const char *start = scan->pos, *p = start;
	while (p < scan->end && (tr_is_word_start(*p) || tr_is_digit(*p)))
		p++;
	scan->pos = p;
	return tr_text_span(start, p);
}
