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

/* The next library of a list with colons or blanks between; data NULL: there is none. */
static struct tr_text next_library(struct tr_text *list)
{
	const char *p = list->data, *end = p + list->len, *q;

	while (p < end && (*p == ':' || *p == ' '))
		p++;
	for (q = p; q < end && *q != ':' && *q != ' ';)
		q++;
	*list = tr_text_span(q, end);
	return q > p ? tr_text_span(p, q) : (struct tr_text){ NULL, 0 };
}

/* LD_PRELOAD without Bear's library, appended. False: nothing is left of it. */
static bool put_preload(struct tr_text list, struct tr_buffer *to)
{
	struct tr_text library;
	bool any = false;

	while ((library = next_library(&list)).data) {
		if (is_library(library))
			continue;
		if (any)
			tr_buffer_put_byte(to, ':');
		any = true;
		tr_json_string_to_spelling(library, to);
	}
	return any;
}

static bool has_library(struct tr_text list)
{
	struct tr_text library;

	while ((library = next_library(&list)).data)
		if (is_library(library))
			return true;
	return false;
}

static struct tr_text body(const struct tr_json_member *member)
{
	return (struct tr_text){ member->value.data + 1, member->value.len - 2 };
}

/* Bear's library is in it. */
static bool is_preload(const struct tr_json_member *member)
{
	return tr_text_is(member->key, "LD_PRELOAD") && member->type == TR_JSON_STRING &&
	       !memchr(member->value.data, '\\', member->value.len) && has_library(body(member));
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
		kept = put_preload(body(member), to);
		tr_buffer_put_byte(to, '"');
	} else if (!tr_json_put_value(member->value, to, err)) {
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
		return tr_json_put_value(object, to, err);
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
