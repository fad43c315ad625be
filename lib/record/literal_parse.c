/* SPDX-License-Identifier: MIT */
/* Lists, maps, structures, pairs of forms: what stands in brackets. */

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/utf8.h"
#include "record/literal_scan.h"
#include "record/string_scan.h"

/* Any value. */
static bool scan_value(struct tr_scan *scan, struct tr_value *value);

static void skip_blanks(struct tr_scan *scan)
{
	while (tr_scan_at(scan, ' ')) {
		scan->canonical = false;
		scan->pos++;
	}
}

/* Puts a value on the pile of those whose container is still open. */
static bool push(struct tr_scan *scan, struct tr_text key, const struct tr_value *value)
{
	if (!scan->arena)
		return true;
	if (scan->pending_count == scan->pending_cap && scan->arena->limit &&
	    scan->pending_cap * 2 > scan->arena->limit / sizeof *scan->pending) {
		scan->arena->limited = true;
		return tr_scan_fail_memory(scan);
	}
	if (!tr_array_room(scan->pending, scan->pending_count, scan->pending_cap))
		return tr_scan_fail_memory(scan);
	scan->pending[scan->pending_count++] = (struct tr_scan_pending){ key, *value };
	return true;
}

/* Takes the values from index base on off the pile, as the items of a list. */
static bool pop_items(struct tr_scan *scan, size_t base, struct tr_value *list)
{
	size_t count = scan->pending_count - base;
	if (!scan->arena || count == 0)
		return true;
	struct tr_value *items = tr_arena_alloc(scan->arena, count * sizeof *items);
	if (!items)
		return tr_scan_fail_memory(scan);
	for (size_t i = 0; i < count; i++)
		items[i] = scan->pending[base + i].value;
	list->as.items = items;
	list->count = count;
	scan->pending_count = base;
	return true;
}

/* The same as the members of a map or a structure. */
static bool pop_members(struct tr_scan *scan, size_t base, struct tr_value *map)
{
	size_t count = scan->pending_count - base;
	if (!scan->arena || count == 0)
		return true;
	struct tr_member *members = tr_arena_alloc(scan->arena, count * sizeof *members);
	struct tr_value *values = tr_arena_alloc(scan->arena, count * sizeof *values);
	if (!members || !values)
		return tr_scan_fail_memory(scan);
	for (size_t i = 0; i < count; i++) {
		values[i] = scan->pending[base + i].value;
		members[i] = (struct tr_member){ scan->pending[base + i].key, &values[i] };
	}
	map->as.members = members;
	map->count = count;
	scan->pending_count = base;
	return true;
}

/* Steps over the bracket at pos. */
static bool open_bracket(struct tr_scan *scan)
{
	if (scan->depth == TR_LITERAL_DEPTH) {
		tr_scan_fail(scan, scan->pos, "more than %d open brackets", TR_LITERAL_DEPTH);
		if (scan->err)
			scan->err->cause = TR_CAUSE_LIMIT;
		return false;
	}
	scan->depth++;
	scan->pos++;
	return true;
}

static void close_bracket(struct tr_scan *scan)
{
	scan->depth--;
	scan->pos++;
}

/* From the bracket that opens to after the one that closes, and what may follow that. */
static bool scan_list(struct tr_scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_LIST };
	size_t base = scan->pending_count;
	if (!open_bracket(scan))
		return false;
	skip_blanks(scan);
	if (!tr_scan_at(scan, ']')) {
		for (;;) {
			struct tr_value item;
			if (!scan_value(scan, &item) || !push(scan, TR_TEXT(""), &item))
				return false;
			skip_blanks(scan);
			if (!tr_scan_at(scan, ','))
				break;
			scan->pos++;
			skip_blanks(scan);
		}
		if (!tr_scan_at(scan, ']'))
			return tr_scan_fail_expected(scan, "',' or ']'");
	}
	close_bracket(scan);
	if (tr_scan_cut(scan))
		value->flags |= TR_CUT;
	return pop_items(scan, base, value);
}

/* A key of either kind of braces; word: it stands without quotes. */
static bool scan_key(struct tr_scan *scan, struct tr_text *key, bool *word)
{
	const char *start = scan->pos;
	bool plain;
	*word = false;
	if (tr_scan_at(scan, '"'))
		return tr_scan_string(scan, false, key, &plain);
	if (start == scan->end || !tr_is_word_start(*start))
		return tr_scan_fail(scan, start, "key expected");
	*word = true;
	*key = tr_scan_word(scan);
	if (!tr_is_word(*key, false))
		return tr_scan_fail(scan, start, "%.*s must be quoted here", (int)key->len,
				    key->data);
	return true;
}

/* One member; the first one decides by its separator whether this is a map. */
static bool scan_member(struct tr_scan *scan, struct tr_value *value, char *separator)
{
	const char *start = scan->pos;
	struct tr_text key;
	bool word;
	if (!scan_key(scan, &key, &word))
		return false;
	skip_blanks(scan);
	if (!*separator) {
		if (!tr_scan_at(scan, ':') && !tr_scan_at(scan, '='))
			return tr_scan_fail(scan, scan->pos, "expected : or = after the key");
		*separator = *scan->pos;
		value->type = *separator == ':' ? TR_MAP : TR_STRUCT;
	}
	if (word && *separator == ':')
		return tr_scan_fail(scan, start, "the keys of a map are strings");
	if (!tr_scan_at(scan, *separator))
		return tr_scan_fail_expected(scan, *separator == ':' ? "':'" : "'='");
	if (!word && *separator == '=' && tr_is_word(key, false))
		scan->canonical = false;
	scan->pos++;
	skip_blanks(scan);
	struct tr_value member;
	return scan_value(scan, &member) && push(scan, key, &member);
}

/* After "{=": a structure without members. */
static bool scan_no_members(struct tr_scan *scan, struct tr_value *value)
{
	value->type = TR_STRUCT;
	scan->pos++;
	skip_blanks(scan);
	return tr_scan_at(scan, '}') || tr_scan_fail_expected(scan, "'}'");
}

static bool scan_members(struct tr_scan *scan, struct tr_value *value)
{
	for (char separator = 0;;) {
		if (!scan_member(scan, value, &separator))
			return false;
		skip_blanks(scan);
		if (!tr_scan_at(scan, ','))
			return tr_scan_at(scan, '}') || tr_scan_fail_expected(scan, "',' or '}'");
		scan->pos++;
		skip_blanks(scan);
	}
}

static bool scan_braces(struct tr_scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_MAP };
	size_t base = scan->pending_count;
	if (!open_bracket(scan))
		return false;
	skip_blanks(scan);
	if (tr_scan_at(scan, '=')) {
		if (!scan_no_members(scan, value))
			return false;
	} else if (!tr_scan_at(scan, '}') && !scan_members(scan, value)) {
		return false;
	}
	close_bracket(scan);
	scan->traits |= value->type == TR_MAP ? TR_TRAIT_MAP : TR_TRAIT_NO_JSON;
	if (value->type == TR_STRUCT) {
		bool has_id;
		if (!tr_scan_id(scan, 'S', &has_id, &value->id))
			return false;
		value->flags |= has_id ? TR_HAS_ID : 0;
	}
	return pop_members(scan, base, value);
}

static bool scan_repr(struct tr_scan *scan, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_REPR };
	size_t base = scan->pending_count;
	scan->traits |= TR_TRAIT_NO_JSON;
	if (!open_bracket(scan))
		return false;
	for (const char *separator = ";>"; *separator; separator++) {
		struct tr_value item;
		if (!scan_value(scan, &item) || !push(scan, TR_TEXT(""), &item))
			return false;
		if (!tr_scan_at(scan, *separator))
			return tr_scan_fail_expected(scan, *separator == ';' ? "';'" : "'>'");
		if (*separator == ';')
			scan->pos++;
	}
	close_bracket(scan);
	return pop_items(scan, base, value);
}

/* The value scanner: what begins how, and the two ways into it. */

static bool scan_quoted(struct tr_scan *scan, struct tr_value *value)
{
	struct tr_text spelling;
	bool plain;
	if (!tr_scan_string(scan, false, &spelling, &plain))
		return false;
	if (tr_scan_at(scan, '|') || tr_scan_at(scan, '('))
		return tr_scan_symbol(scan, spelling, true, value);
	*value = (struct tr_value){ .type = TR_STRING, .text = spelling };
	value->flags = (uint8_t)((plain ? TR_PLAIN : 0) | (tr_scan_cut(scan) ? TR_CUT : 0));
	return true;
}

static bool scan_wide(struct tr_scan *scan, struct tr_value *value)
{
	if (!tr_scan_at(scan, '"'))
		return tr_scan_fail(scan, scan->pos, "L needs a string");
	*value = (struct tr_value){ .type = TR_WSTRING };
	scan->traits |= TR_TRAIT_NO_JSON;
	bool plain;
	if (!tr_scan_string(scan, true, &value->text, &plain))
		return false;
	value->flags = plain ? TR_PLAIN : 0;
	return true;
}

/* Words that are values of their own. */
static bool is_constant(struct tr_scan *scan, struct tr_text word, struct tr_value *value)
{
	static const struct {
		const char *word;
		uint8_t type;
		bool json;
		uint64_t bits;
	} constants[] = {
		{ "null", TR_NULL, true, 0 },
		{ "true", TR_TRUE, true, 0 },
		{ "false", TR_FALSE, true, 0 },
		{ "inf", TR_REAL64, false, UINT64_C(0x7ff0000000000000) },
		{ "nan", TR_REAL64, false, UINT64_C(0x7ff8000000000000) },
		{ "inff", TR_REAL32, false, 0x7f800000 },
		{ "nanf", TR_REAL32, false, 0x7fc00000 },
	};
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
		if (!tr_text_is(word, constants[i].word))
			continue;
		*value = (struct tr_value){ .type = constants[i].type,
					    .as.number = constants[i].bits };
		if (!constants[i].json)
			scan->traits |= TR_TRAIT_NO_JSON;
		return true;
	}
	return false;
}

/* `word:` where that begins a value of its own; steps over the colon. */
static bool is_prefix(struct tr_scan *scan, struct tr_text word, const char *prefix)
{
	if (!tr_scan_at(scan, ':') || !tr_text_is(word, prefix))
		return false;
	scan->pos++;
	return true;
}

static bool scan_word_value(struct tr_scan *scan, struct tr_value *value)
{
	struct tr_text word = tr_scan_word(scan);
	if (tr_scan_at(scan, '('))
		return tr_scan_symbol(scan, word, false, value);
	if (is_prefix(scan, word, "nan"))
		return tr_scan_nan(scan, false, value);
	if (is_prefix(scan, word, "nanf"))
		return tr_scan_nan(scan, true, value);
	if (is_prefix(scan, word, "b64"))
		return tr_scan_base64(scan, value);
	if (is_prefix(scan, word, "blob"))
		return tr_scan_blob_left(scan, value);
	if (is_prefix(scan, word, "file"))
		return tr_scan_blob_file(scan, value);
	if (tr_text_is(word, "L"))
		return scan_wide(scan, value);
	if (is_constant(scan, word, value))
		return true;
	/* the empty set of a fixed set of words takes no other name beside it */
	if (tr_text_is(word, "none") && tr_scan_at(scan, '|'))
		return tr_scan_fail(scan, scan->pos, "text after the value");
	return tr_scan_symbol(scan, word, false, value);
}

static bool scan_value(struct tr_scan *scan, struct tr_value *value)
{
	if (scan->pos == scan->end)
		return tr_scan_fail(scan, scan->pos, "empty value");
	char c = *scan->pos;
	if (c == '"')
		return scan_quoted(scan, value);
	if (tr_is_digit(c) || c == '-' || c == '+')
		return tr_scan_number(scan, value);
	if (tr_is_word_start(c))
		return scan_word_value(scan, value);
	if (c == '[')
		return scan_list(scan, value);
	if (c == '{')
		return scan_braces(scan, value);
	if (c == '<')
		return scan_repr(scan, value);
	if (c == '?' && scan->end - scan->pos > 1 && scan->pos[1] == '(') {
		scan->pos++;
		return tr_scan_symbol(scan, (struct tr_text){ NULL, 0 }, false, value);
	}
	return tr_scan_fail_value(scan);
}

/* A whole text and nothing after it. */
static bool scan_all(struct tr_scan *scan, struct tr_value *value)
{
	if (!scan_value(scan, value))
		return false;
	if (scan->pos < scan->end)
		return tr_scan_fail(scan, scan->pos, "text after the value");
	return true;
}

static struct tr_scan scan_begin(struct tr_text text, struct tr_arena *arena, struct tr_error *err)
{
	const char *begin = text.data ? text.data : "";
	return (struct tr_scan){
		.begin = begin,
		.pos = begin,
		.end = begin + text.len,
		.arena = arena,
		.err = err,
		.canonical = true,
	};
}

struct tr_value *tr_literal_parse(struct tr_text text, struct tr_arena *arena, struct tr_error *err)
{
	struct tr_scan scan = scan_begin(text, arena, err);
	struct tr_value *value = tr_arena_alloc(arena, sizeof *value);
	if (!value)
		(void)tr_arena_error(arena, err);
	else if (!scan_all(&scan, value))
		value = NULL;
	free(scan.pending);
	return value;
}

/* A whole text: tr_literal_examine without its short cuts. */
static enum tr_spelling scan_check(struct tr_text text, unsigned *traits, struct tr_error *err)
{
	struct tr_scan scan = scan_begin(text, NULL, err);
	struct tr_value value;
	if (!scan_all(&scan, &value))
		return TR_MALFORMED;
	*traits = scan.traits;
	return scan.canonical ? TR_CANONICAL : TR_NONCANONICAL;
}

/*
 * Checking without building. Almost all values of a build trace are strings,
 * small integers, and lists or maps of those in the one spelling: they are
 * recognised here in one pass. Whatever else there is, and every error, is
 * left to the scanner, which starts again.
 */

/* All functions here: after what begins at p, or NULL where the scanner has to decide. */

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

/* An integer that JSON holds for certain. What may not follow it is seen by the caller. */
static const char *skip_integer(const char *p, const char *end)
{
	enum { SAFE_DIGITS = 15 };
	if (*p == '-' && (++p == end || *p == '0'))
		return NULL;
	if (*p == '0')
		return p + 1;
	const char *start = p;
	while (p < end && tr_is_digit(*p))
		p++;
	return p > start && p - start <= SAFE_DIGITS ? p : NULL;
}

static inline const char *skip_scalar(const char *p, const char *end)
{
	if (p == end)
		return NULL;
	if (*p == '"')
		return skip_string(p, end);
	if (tr_is_digit(*p) || *p == '-')
		return skip_integer(p, end);
	return tr_text_starts(tr_text_span(p, end), TR_TEXT("null")) ? p + 4 : NULL;
}

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

enum tr_spelling tr_literal_examine(struct tr_text text, unsigned *traits, struct tr_error *err)
{
	const char *p = text.data, *end = p + text.len;
	if (text.len >= TR_PLAIN_LEAST && tr_literal_is_plain(p, end)) {
		*traits = *p == '{' ? TR_TRAIT_MAP : 0;
		return TR_CANONICAL;
	}
	if (text.len > 0) {
		const char *behind = *p == '['	 ? skip_list(p, end)
				     : *p == '{' ? skip_map(p, end)
						 : skip_scalar(p, end);
		if (behind == end) {
			*traits = *p == '{' ? TR_TRAIT_MAP : 0;
			return TR_CANONICAL;
		}
	}
	return scan_check(text, traits, err);
}

enum tr_spelling tr_literal_check(struct tr_text text, bool *json, struct tr_error *err)
{
	unsigned traits = 0;
	enum tr_spelling spelling = tr_literal_examine(text, &traits, err);
	if (json)
		*json = spelling == TR_CANONICAL && !(traits & TR_TRAIT_NO_JSON);
	return spelling;
}
