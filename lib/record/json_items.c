/* SPDX-License-Identifier: MIT */
#include "record/json_items.h"

#include <string.h>

#include "record/json_scan.h"

enum { LONGEST_WORD = 4096 }; /* bytes of a number: one that is longer is none */

void tr_json_items_init(struct tr_json_items *items, struct tr_input *in, bool lines)
{
	*items = (struct tr_json_items){ .in = in, .lines = lines, .line = 1 };
}

/* Steps over n bytes of the window. */
static void skip(struct tr_json_items *items, size_t n)
{
	const char *p = items->in->pos, *end = p + n;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		items->line++;
		p++;
	}
	tr_input_skip(items->in, n);
}

/* Where an object's end is looked for. */
struct search {
	struct tr_json_walk walk;
	size_t done;   /* bytes from the object's start on that the walk took */
	size_t string; /* in an open string: bytes from the object's start on that were looked at */
};

/* The string that begins at search->done is whole in the text. */
static bool is_string_whole(struct search *search, const char *begin, const char *end)
{
	const char *p = begin + (search->string ? search->string : search->done + 1);

	for (;;) {
		p = tr_json_find_special(p, end);
		if (p >= end || (*p == '\\' && p + 1 == end))
			break;
		if (*p != '\\')
			return true; /* a quote, or a line end, which is for others to complain of
				      */
		p += 2;
	}
	search->string = (size_t)((p > end ? end : p) - begin);
	return false;
}

/* TR_JSON_OBJECT_END: the object is whole, done is its length. CUT: more is needed. BAD. */
static enum tr_json_token search_on(struct search *search, const char *begin, const char *end)
{
	struct tr_text text;

	for (;;) {
		const char *p = begin + search->done;
		while (p < end && tr_json_is_blank(*p))
			p++;
		search->done = (size_t)(p - begin);
		if (p >= end)
			return TR_JSON_CUT;
		if (*p == '"' && !is_string_whole(search, begin, end))
			return TR_JSON_CUT;
		search->string = 0;
		struct tr_json json = { p, end };
		enum tr_json_token token = tr_json_next(&json, &text);
		if (token == TR_JSON_CUT)
			return end - p > LONGEST_WORD ? TR_JSON_BAD : TR_JSON_CUT;
		/* a number that the text ends in may go on */
		if (token == TR_JSON_NUMBER && json.pos >= end)
			return end - p > LONGEST_WORD ? TR_JSON_BAD : TR_JSON_CUT;
		if (!tr_json_accept(&search->walk, token))
			return TR_JSON_BAD;
		search->done = (size_t)(json.pos - begin);
		if (!search->walk.depth)
			return TR_JSON_OBJECT_END;
	}
}

static enum tr_status report(struct tr_json_items *items, enum tr_cause cause, const char *what,
			     struct tr_error *err)
{
	tr_error_say(err, cause, what);
	tr_error_at_line(err, items->line);
	items->trouble = true;
	return TR_WARN;
}

/* The window begins with "{". */
static enum tr_status take_object(struct tr_json_items *items, struct tr_text *object,
				  struct tr_error *err)
{
	struct search search = { .walk = TR_JSON_WALK_INIT };
	struct tr_input *in = items->in;
	enum tr_json_token token;

	while ((token = search_on(&search, in->pos, in->end)) == TR_JSON_CUT) {
		if (tr_input_more(in, tr_input_available(in) + 1))
			continue;
		enum tr_status status =
			report(items, TR_CAUSE_CUT, "it ends in the middle of an object", err);
		if (in->damaged && !in->at_end) {
			tr_input_error(in, err);
			tr_error_at_line(err, items->line);
			if (err->cause == TR_CAUSE_MEMORY)
				return TR_FATAL;
		}
		items->inside = false;
		/* what is inside of it may be whole */
		skip(items, 1);
		return status;
	}
	if (token == TR_JSON_BAD) {
		enum tr_status status =
			report(items, TR_CAUSE_INPUT, "an object that is no JSON", err);
		skip(items, 1);
		return status;
	}
	items->trouble = false;
	items->taken = search.done;
	*object = (struct tr_text){ in->pos, search.done };
	return TR_OK;
}

/* Behind trouble: a step to where an object may begin. The window is not empty. */
static void pass_over(struct tr_json_items *items)
{
	struct tr_input *in = items->in;
	size_t len = tr_input_available(in);
	const char *p = memchr(in->pos, items->lines ? '\n' : '{', len);

	items->trouble = !p;
	if (p && items->lines)
		p++;
	skip(items, p ? (size_t)(p - in->pos) : len);
}

/* At a byte order mark: of the file, or of one that was put behind another. */
static bool is_mark(struct tr_input *in)
{
	return *in->pos == '\xef' && tr_input_more(in, 3) &&
	       memcmp(in->pos, "\xef\xbb\xbf", 3) == 0;
}

/* What stands between objects, a byte or a mark. TR_OK: it was stepped over. */
static enum tr_status take_filler(struct tr_json_items *items, struct tr_error *err)
{
	if (is_mark(items->in)) {
		skip(items, 3);
		return TR_OK;
	}
	char c = *items->in->pos;
	bool list = c == '[' || c == ']';

	if (!tr_json_is_blank(c) && c != ',' && !list)
		return report(items, TR_CAUSE_INPUT, "text that is no JSON object", err);
	if (c == '[')
		items->inside = true;
	if (c == ']')
		items->inside = false;
	skip(items, 1);
	return TR_OK;
}

enum tr_status tr_json_items_next(struct tr_json_items *items, struct tr_text *object,
				  uint64_t *line, struct tr_error *err)
{
	struct tr_input *in = items->in;

	tr_error_clear(err);
	skip(items, items->taken);
	items->taken = 0;
	while (tr_input_more(in, 1)) {
		if (items->trouble) {
			pass_over(items);
			continue;
		}
		*line = items->line;
		if (*in->pos == '{')
			return take_object(items, object, err);
		enum tr_status status = take_filler(items, err);
		if (status != TR_OK)
			return status;
	}
	if (items->inside && !in->damaged) {
		items->inside = false;
		return report(items, TR_CAUSE_CUT, "it ends in the middle of the list", err);
	}
	return TR_END;
}

bool tr_json_items_peek(struct tr_input *in, size_t most, struct tr_text *object)
{
	struct search search = { .walk = TR_JSON_WALK_INIT };
	size_t at = 0;

	for (bool more = tr_input_more(in, 1); more;) {
		const char *p = in->pos + at;
		if (at == 0 && in->end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
			p += 3;
		while (p < in->end && (tr_json_is_blank(*p) || *p == '['))
			p++;
		at = (size_t)(p - in->pos);
		if (p < in->end && *p != '{')
			return false;
		if (p < in->end) {
			enum tr_json_token token = search_on(&search, p, in->end);
			if (token == TR_JSON_BAD)
				return false;
			more = token == TR_JSON_CUT;
		}
		if (more)
			more = tr_input_available(in) < most &&
			       tr_input_more(in, tr_input_available(in) + 1);
	}
	const char *begin = in->pos + at;
	if (begin >= in->end)
		return false;
	bool whole = search.done && !search.walk.depth;
	*object = tr_text_span(begin, whole ? begin + search.done : in->end);
	return true;
}

/* Behind the quote that closes the string which p stands in. NULL: none does. */
static const char *skip_string(const char *p, const char *end)
{
	for (;;) {
		p = tr_json_find_special(p, end);
		if (p >= end || *p == '\n')
			return NULL;
		if (*p == '"')
			return p + 1;
		p += 2;
	}
}

/*
 * Behind the list or object whose bracket stands in front of p. That it is JSON is
 * known of whole objects, so brackets are all that counts. NULL: the text ends before.
 */
static const char *skip_container(const char *p, const char *end)
{
	unsigned depth = 1;

	while (p < end) {
		char c = *p++;
		if (c == '"') {
			p = skip_string(p, end);
			if (!p)
				return NULL;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if ((c == '}' || c == ']') && --depth == 0) {
			return p;
		}
	}
	return NULL;
}

static struct tr_json_member *grow(struct tr_json_member *members, size_t count, size_t *cap,
				   struct tr_arena *arena)
{
	if (count < *cap)
		return members;
	*cap = *cap ? *cap * 2 : 16;
	struct tr_json_member *more = tr_arena_alloc(arena, *cap * sizeof *more);
	if (more && count)
		memcpy(more, members, count * sizeof *more);
	return more;
}

bool tr_json_members(struct tr_text object, struct tr_arena *arena, struct tr_json_member **members,
		     size_t *count)
{
	struct tr_json json = { object.data, object.data + object.len };
	struct tr_json_member *list = NULL;
	struct tr_text text, ignored;
	size_t cap = 0;

	*count = 0;
	if (tr_json_next(&json, &ignored) != TR_JSON_OBJECT)
		return true;
	while (tr_json_next(&json, &text) == TR_JSON_STRING &&
	       tr_json_next(&json, &ignored) == TR_JSON_COLON) {
		while (json.pos < json.end && tr_json_is_blank(*json.pos))
			json.pos++;
		const char *begin = json.pos;
		struct tr_json value = json;
		enum tr_json_token type = tr_json_next(&value, &ignored);
		if (type == TR_JSON_CUT || type == TR_JSON_BAD)
			break;
		bool container = type == TR_JSON_OBJECT || type == TR_JSON_ARRAY;
		const char *behind = container ? skip_container(value.pos, json.end) : value.pos;
		json.pos = behind ? behind : json.end;
		list = grow(list, *count, &cap, arena);
		if (!list)
			return false;
		list[(*count)++] =
			(struct tr_json_member){ text, tr_text_span(begin, json.pos), type };
		if (tr_json_next(&json, &ignored) != TR_JSON_COMMA)
			break;
	}
	*members = list;
	return true;
}

const struct tr_json_member *tr_json_member_find(const struct tr_json_member *members, size_t count,
						 const char *key)
{
	for (size_t i = count; i > 0; i--)
		if (tr_text_is(members[i - 1].key, key))
			return &members[i - 1];
	return NULL;
}

bool tr_json_put_value(struct tr_text value, struct tr_buffer *to, struct tr_error *err)
{
	struct tr_json json = { value.data, value.data + value.len };
	enum tr_json_token token = tr_json_spell(&json, to, NULL, err);

	return token != TR_JSON_BAD && token != TR_JSON_CUT;
}

bool tr_json_put_field(const char *key, const struct tr_json_member *member, struct tr_buffer *to,
		       struct tr_error *err)
{
	if (!member)
		return true;
	tr_buffer_put_byte(to, '\t');
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_byte(to, '=');
	return tr_json_put_value(member->value, to, err);
}
