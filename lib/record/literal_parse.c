/* Containers and the dispatch of the value scanner, and the two ways into it. */
#include <stdlib.h>
#include <string.h>

#include "record/literal_scan.h"

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
	enum { FIRST = 64 };
	if (!scan->arena)
		return true;
	if (scan->pending_count == scan->pending_cap) {
		size_t cap = scan->pending_cap ? scan->pending_cap * 2 : FIRST;
		struct tr_scan_pending *pending = realloc(scan->pending, cap * sizeof *pending);
		if (!pending)
			return tr_scan_fail_memory(scan);
		scan->pending = pending;
		scan->pending_cap = cap;
	}
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

/* Steps over "..." if it stands here. */
static bool scan_cut(struct tr_scan *scan)
{
	if (!tr_text_starts(tr_text_span(scan->pos, scan->end), TR_TEXT("...")))
		return false;
	scan->pos += 3;
	scan->traits |= TR_TRAIT_NO_JSON;
	return true;
}

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
			if (!tr_scan_value(scan, &item) || !push(scan, TR_TEXT(""), &item))
				return false;
			skip_blanks(scan);
			if (!tr_scan_at(scan, ','))
				break;
			scan->pos++;
			skip_blanks(scan);
		}
		if (!tr_scan_at(scan, ']'))
			return tr_scan_fail_expected(scan, ',');
	}
	close_bracket(scan);
	if (scan_cut(scan))
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
		return tr_scan_fail_expected(scan, *separator);
	if (!word && *separator == '=' && tr_is_word(key, false))
		scan->canonical = false;
	scan->pos++;
	skip_blanks(scan);
	struct tr_value member;
	return tr_scan_value(scan, &member) && push(scan, key, &member);
}

/* Behind "{=": a structure without members. */
static bool scan_no_members(struct tr_scan *scan, struct tr_value *value)
{
	value->type = TR_STRUCT;
	scan->pos++;
	skip_blanks(scan);
	return tr_scan_at(scan, '}') || tr_scan_fail_expected(scan, '}');
}

static bool scan_members(struct tr_scan *scan, struct tr_value *value)
{
	for (char separator = 0;;) {
		if (!scan_member(scan, value, &separator))
			return false;
		skip_blanks(scan);
		if (!tr_scan_at(scan, ','))
			return tr_scan_at(scan, '}') || tr_scan_fail_expected(scan, ',');
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
		if (!tr_scan_value(scan, &item) || !push(scan, TR_TEXT(""), &item))
			return false;
		if (!tr_scan_at(scan, *separator))
			return tr_scan_fail_expected(scan, *separator);
		if (*separator == ';')
			scan->pos++;
	}
	close_bracket(scan);
	return pop_items(scan, base, value);
}

static bool scan_quoted(struct tr_scan *scan, struct tr_value *value)
{
	struct tr_text spelling;
	bool plain;
	if (!tr_scan_string(scan, false, &spelling, &plain))
		return false;
	if (tr_scan_at(scan, '|') || tr_scan_at(scan, '('))
		return tr_scan_symbol(scan, spelling, true, value);
	*value = (struct tr_value){ .type = TR_STRING, .text = spelling };
	value->flags = (uint8_t)((plain ? TR_PLAIN : 0) | (scan_cut(scan) ? TR_CUT : 0));
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

bool tr_scan_value(struct tr_scan *scan, struct tr_value *value)
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

/* A whole text and nothing behind it. */
static bool scan_all(struct tr_scan *scan, struct tr_value *value)
{
	if (!tr_scan_value(scan, value))
		return false;
	if (scan->pos < scan->end)
		return tr_scan_fail(scan, scan->pos, "text after the value");
	return true;
}

static struct tr_scan scan_begin(struct tr_text text, struct tr_arena *arena, struct tr_error *err)
{
	const char *begin = text.data ? text.data : "";
	return (struct tr_scan){
		.begin = begin, .pos = begin, .end = begin + text.len, .arena = arena, .err = err,
		.canonical = true,
	};
}

struct tr_value *tr_literal_parse(struct tr_text text, struct tr_arena *arena, struct tr_error *err)
{
	struct tr_scan scan = scan_begin(text, arena, err);
	struct tr_value *value = tr_arena_alloc(arena, sizeof *value);
	if (!value)
		tr_error_memory(err);
	else if (!scan_all(&scan, value))
		value = NULL;
	free(scan.pending);
	return value;
}

enum tr_spelling tr_scan_check(struct tr_text text, unsigned *traits, struct tr_error *err)
{
	struct tr_scan scan = scan_begin(text, NULL, err);
	struct tr_value value;
	if (!scan_all(&scan, &value))
		return TR_MALFORMED;
	*traits = scan.traits;
	return scan.canonical ? TR_CANONICAL : TR_NONCANONICAL;
}
