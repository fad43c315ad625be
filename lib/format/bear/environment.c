/* What the interception adds to the environment, and taking it out again. */
#include "format/bear/bear.h"
#include "process/path.h"
#include "record/json_items.h"

/* The library that Bear preloads is in a folder of its own or is called so. */
static bool is_library(struct tr_text path)
{
	struct tr_text base = tr_path_base(path);

	if (tr_text_is(base, "libear.so") || tr_text_is(base, "libintercept-preload.so"))
		return true;
	struct tr_text ending = TR_TEXT("/bear/libexec.so");
	return path.len >= ending.len &&
	       memcmp(path.data + path.len - ending.len, ending.data, ending.len) == 0;
}

/* LD_PRELOAD without Bear's library, appended. False: nothing is left of it. */
static bool put_preload(struct tr_text value, struct tr_buffer *to)
{
	const char *p = value.data, *end = p + value.len;
	bool any = false;

	while (p < end) {
		const char *q = p;
		while (q < end && *q != ':' && *q != ' ')
			q++;
		struct tr_text library = tr_text_span(p, q);
		if (library.len && !is_library(library)) {
			if (any)
				tr_buffer_put_byte(to, ':');
			any = true;
			tr_json_string_to_spelling(library, to);
		}
		p = q < end ? q + 1 : end;
	}
	return any;
}

static bool is_preload(const struct tr_json_member *member)
{
	return tr_text_is(member->key, "LD_PRELOAD") && member->type == TR_JSON_STRING &&
	       !memchr(member->value.data, '\\', member->value.len);
}

static bool put_value(struct tr_text value, struct tr_buffer *to, struct tr_error *err)
{
	struct tr_json json = { value.data, value.data + value.len };
	enum tr_json_token token = tr_json_spell(&json, to, NULL, err);

	return token != TR_JSON_BAD && token != TR_JSON_CUT;
}

/* One variable; nothing of one that is Bear's. */
static bool put_variable(const struct tr_json_member *member, bool strip, bool *any,
			 struct tr_buffer *to, struct tr_error *err)
{
	size_t begin = to->len;
	bool kept = true;

	if (strip && tr_text_starts(member->key, TR_TEXT("INTERCEPT_")))
		return true;
	if (*any)
		tr_buffer_put_byte(to, ',');
	tr_buffer_put_byte(to, '"');
	tr_json_string_to_spelling(member->key, to);
	tr_buffer_put_literal(to, "\":");
	if (strip && is_preload(member)) {
		tr_buffer_put_byte(to, '"');
		kept = put_preload(
			(struct tr_text){ member->value.data + 1, member->value.len - 2 }, to);
		tr_buffer_put_byte(to, '"');
	} else if (!put_value(member->value, to, err)) {
		return false;
	}
	if (!kept && !to->failed)
		to->len = begin;
	*any |= kept;
	return true;
}

bool tr_bear_environment(struct tr_text object, bool strip, struct tr_arena *arena,
			 struct tr_buffer *to, struct tr_error *err)
{
	struct tr_json_member *members;
	size_t count;
	bool any = false;

	if (!strip)
		return put_value(object, to, err);
	if (!tr_json_members(object, arena, &members, &count)) {
		tr_error_memory(err);
		return false;
	}
	tr_buffer_put_byte(to, '{');
	for (size_t i = 0; i < count; i++)
		if (!put_variable(&members[i], strip, &any, to, err))
			return false;
	tr_buffer_put_byte(to, '}');
	return true;
}
