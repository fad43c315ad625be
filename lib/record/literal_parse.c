/* The value scanner: what begins how, and the two ways into it. */
#include <stdlib.h>

#include "record/literal_scan.h"

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
		return tr_scan_list(scan, value);
	if (c == '{')
		return tr_scan_braces(scan, value);
	if (c == '<')
		return tr_scan_repr(scan, value);
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
		(void)tr_arena_error(arena, err);
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
