/* SPDX-License-Identifier: MIT */
/*
 * Checks the text of values without building a tree. Almost all values of a build trace are
 * strings, small integers, and lists or maps of those in their canonical spelling: they are
 * recognised here in one pass. All other texts, and every error, are left to the scanner in
 * literal_parse.c, which starts again.
 */

#include "core/utf8.h"
#include "record/literal.h"
#include "record/string_scan.h"

/* The functions below return the end of the value at p, or NULL if the scanner has to decide. */

/* A string in its canonical spelling. */
static inline const char *skip_string(const char *p, const char *end)
{
	for (p++;;) {
		p = tr_string_special(p, end);
		if (p == end)
			return NULL;
		if (*p == '"')
			return p + 1;
		if (*p == '\\') {
			/* escapes that have no other spelling; no string ends after them */
			char c = end - p > 2 ? p[1] : 0;
			if (c != '"' && c != '\\' && c != 'n' && c != 't' && c != 'r')
				return NULL;
			p += 2;
			continue;
		}
		unsigned length = (unsigned char)*p < 0x80 ? 0 : tr_utf8_length(p, end);
		if (length == 0)
			return NULL;
		p += length;
	}
}

/* An integer that JSON certainly holds. The caller checks the byte after it. */
static const char *skip_integer(const char *p, const char *end)
{
	enum { SAFE_DIGITS = 15 };
	if (*p == '-' && (++p == end || *p == '0'))
		return NULL;
	if (*p == '0')
		return p + 1;
	const char *start = p;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p > start && p - start <= SAFE_DIGITS ? p : NULL;
}

/* A string, a small integer or null. */
static inline const char *skip_scalar(const char *p, const char *end)
{
	if (p == end)
		return NULL;
	if (*p == '"')
		return skip_string(p, end);
	if ((*p >= '0' && *p <= '9') || *p == '-')
		return skip_integer(p, end);
	return tr_text_starts(tr_text_span(p, end), TR_TEXT("null")) ? p + 4 : NULL;
}

/* A list of scalars. */
static const char *skip_list(const char *p, const char *end)
{
	if (end - p >= 2 && p[1] == ']')
		return p + 2;
	do {
		p = skip_scalar(p + 1, end);
		if (!p || p == end)
			return NULL;
	} while (*p == ',');
	return *p == ']' ? p + 1 : NULL;
}

/* A map of scalars. */
static const char *skip_map(const char *p, const char *end)
{
	if (end - p >= 2 && p[1] == '}')
		return p + 2;
	do {
		p++;
		if (p == end || *p != '"' || !(p = skip_string(p, end)) || p == end || *p != ':')
			return NULL;
		p = skip_scalar(p + 1, end);
		if (!p || p == end)
			return NULL;
	} while (*p == ',');
	return *p == '}' ? p + 1 : NULL;
}

bool tr_literal_is_json_strings(struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;

	if (text.len < 2 || *p != '[')
		return text.len >= 2 && *p == '"' && skip_string(p, end) == end;
	if (text.len >= TR_PLAIN_LEAST && tr_literal_is_plain(p, end))
		return true;
	do {
		p++;
		if (p == end || *p != '"' || !(p = skip_string(p, end)) || p == end)
			return false;
	} while (*p == ',');
	return *p == ']' && p + 1 == end;
}

enum tr_spelling tr_literal_examine(struct tr_text text, unsigned *traits, struct tr_error *err)
{
	const char *p = text.data, *end = p + text.len;
	if (text.len >= TR_PLAIN_LEAST && tr_literal_is_plain(p, end)) {
		*traits = *p == '{' ? TR_TRAIT_MAP : 0;
		return TR_CANONICAL;
	}
	if (text.len > 0) {
		const char *after = *p == '['	? skip_list(p, end)
				    : *p == '{' ? skip_map(p, end)
						: skip_scalar(p, end);
		if (after == end) {
			*traits = *p == '{' ? TR_TRAIT_MAP : 0;
			return TR_CANONICAL;
		}
	}
	return tr_literal_scan(text, traits, err);
}

enum tr_spelling tr_literal_check(struct tr_text text, bool *json, struct tr_error *err)
{
	unsigned traits = 0;
	enum tr_spelling spelling = tr_literal_examine(text, &traits, err);
	if (json)
		*json = spelling == TR_CANONICAL && !(traits & TR_TRAIT_NO_JSON);
	return spelling;
}
