/* SPDX-License-Identifier: MIT */
/*
 * Tokens of JSON, the walk that finds the end of a value in a window, and the texts of lists of
 * objects. The scanner keeps no tree and no copy: a token is a piece of the input, and CUT asks
 * for more bytes.
 */

#include "record/json.h"

#include <string.h>

#include "record/json_scan.h"
#include "record/literal.h"
#include "record/record.h"

/* Returns the end of the blanks at p. */
static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && tr_is_blank(*p))
		p++;
	return p;
}

/*
 * Scans a string after its opening quote. Its escapes are checked, so decoding cannot fail later.
 */
static enum tr_json_token scan_string(struct tr_json *json, struct tr_text *text)
{
	const char *begin = json->pos, *p = begin;
	for (;;) {
		p = tr_json_find_special(p, json->end);
		if (p >= json->end) {
			json->pos = json->end;
			return TR_JSON_CUT;
		}
		json->pos = p;
		if (*p == '"') {
			*text = tr_text_span(begin, p);
			json->pos = p + 1;
			return TR_JSON_STRING;
		}
		if (*p == '\n')
			return TR_JSON_BAD;
		if (json->end - p > 1 && tr_json_is_short_escape(p[1])) {
			p += 2;
			continue;
		}
		struct tr_escape element;
		enum tr_json_token token = tr_json_element(p, json->end, &element);
		if (token != TR_JSON_STRING)
			return token;
		p += element.len;
	}
}

/* Skips one or more digits. NULL: there is none; *cut: the text ends there, and may go on. */
static const char *need_digits(const char *p, const char *end, bool *cut)
{
	const char *after = tr_skip_digits(p, end);
	*cut = p == end;
	return after == p ? NULL : after;
}

/*
 * Returns the end of a JSON number. NULL: it is malformed or, with *cut, it may go on after the
 * text.
 */
static const char *scan_number_parts(const char *p, const char *end, bool *cut)
{
	if (*p == '-')
		p++;
	if (p < end && *p == '0')
		p++;
	else if (!(p = need_digits(p, end, cut)))
		return NULL;
	if (p < end && *p == '.' && !(p = need_digits(p + 1, end, cut)))
		return NULL;
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		p = need_digits(p, end, cut);
	}
	return p;
}

static enum tr_json_token scan_number(struct tr_json *json, struct tr_text *text)
{
	bool cut;
	const char *after = scan_number_parts(json->pos, json->end, &cut);
	if (!after)
		return cut ? TR_JSON_CUT : TR_JSON_BAD;
	*text = tr_text_span(json->pos, after);
	json->pos = after;
	return TR_JSON_NUMBER;
}

/* Scans a word: true, false or null. */
static enum tr_json_token scan_word(struct tr_json *json, struct tr_text word,
				    enum tr_json_token token)
{
	size_t left = (size_t)(json->end - json->pos);
	if (memcmp(json->pos, word.data, left < word.len ? left : word.len) != 0)
		return TR_JSON_BAD;
	if (left < word.len)
		return TR_JSON_CUT;
	json->pos += word.len;
	return token;
}

enum tr_json_token tr_json_next(struct tr_json *json, struct tr_text *text)
{
	json->pos = skip_blanks(json->pos, json->end);
	if (json->pos >= json->end)
		return TR_JSON_CUT;
	switch (*json->pos) {
	case '"':
		json->pos++;
		return scan_string(json, text);
	case '{':
		json->pos++;
		return TR_JSON_OBJECT;
	case '}':
		json->pos++;
		return TR_JSON_OBJECT_END;
	case '[':
		json->pos++;
		return TR_JSON_ARRAY;
	case ']':
		json->pos++;
		return TR_JSON_ARRAY_END;
	case ':':
		json->pos++;
		return TR_JSON_COLON;
	case ',':
		json->pos++;
		return TR_JSON_COMMA;
	case 't':
		return scan_word(json, TR_TEXT("true"), TR_JSON_TRUE);
	case 'f':
		return scan_word(json, TR_TEXT("false"), TR_JSON_FALSE);
	case 'n':
		return scan_word(json, TR_TEXT("null"), TR_JSON_NULL);
	case '-':
	case '0' ... '9':
		return scan_number(json, text);
	default:
		return TR_JSON_BAD;
	}
}

static bool wants_value(const struct tr_json_walk *walk)
{
	return walk->wants == TR_JSON_WANTS_VALUE || walk->wants == TR_JSON_WANTS_ITEM;
}

/*
 * Opens an array or object. The kinds of the open brackets are bits of a word, which bounds their
 * number.
 */
static bool open_bracket(struct tr_json_walk *walk, bool map)
{
	if (!wants_value(walk) || walk->depth == TR_JSON_MAX_DEPTH)
		return false;
	walk->depth++;
	walk->maps = walk->maps << 1 | map;
	walk->wants = map ? TR_JSON_WANTS_MEMBER : TR_JSON_WANTS_ITEM;
	return true;
}

/* Closes a bracket of that kind. False: another kind is open, or a value is missing. */
static bool close_bracket(struct tr_json_walk *walk, bool map)
{
	bool empty = walk->wants == (map ? TR_JSON_WANTS_MEMBER : TR_JSON_WANTS_ITEM);
	if (!walk->depth || (walk->maps & 1) != map ||
	    !(empty || walk->wants == TR_JSON_WANTS_NEXT))
		return false;
	walk->depth--;
	walk->maps >>= 1;
	walk->wants = TR_JSON_WANTS_NEXT;
	return true;
}

bool tr_json_accept(struct tr_json_walk *walk, enum tr_json_token token)
{
	bool legal;
	switch (token) {
	case TR_JSON_OBJECT:
	case TR_JSON_ARRAY:
		return open_bracket(walk, token == TR_JSON_OBJECT);
	case TR_JSON_OBJECT_END:
	case TR_JSON_ARRAY_END:
		return close_bracket(walk, token == TR_JSON_OBJECT_END);
	case TR_JSON_COLON:
		legal = walk->wants == TR_JSON_WANTS_COLON;
		walk->wants = TR_JSON_WANTS_VALUE;
		return legal;
	case TR_JSON_COMMA:
		/* outside of all brackets nothing follows a value */
		legal = walk->wants == TR_JSON_WANTS_NEXT && walk->depth;
		walk->wants = walk->maps & 1 ? TR_JSON_WANTS_KEY : TR_JSON_WANTS_VALUE;
		return legal;
	case TR_JSON_STRING:
		if (walk->wants == TR_JSON_WANTS_KEY || walk->wants == TR_JSON_WANTS_MEMBER) {
			walk->wants = TR_JSON_WANTS_COLON;
			return true;
		}
		break;
	case TR_JSON_CUT:
	case TR_JSON_BAD:
		return false;
	default:
		break;
	}
	legal = wants_value(walk);
	walk->wants = TR_JSON_WANTS_NEXT;
	return legal;
}

enum tr_json_token tr_json_walk_on(struct tr_json *json, struct tr_json_walk *walk)
{
	struct tr_text text;
	enum tr_json_token token;
	do {
		token = tr_json_next(json, &text);
		if (token == TR_JSON_CUT)
			return token;
		if (!tr_json_accept(walk, token))
			return TR_JSON_BAD;
	} while (walk->depth || walk->wants != TR_JSON_WANTS_NEXT);
	return token;
}

enum tr_json_token tr_json_skip(struct tr_json *json, struct tr_error *err)
{
	struct tr_json_walk walk = TR_JSON_WALK_INIT;
	const char *begin = json->pos;
	enum tr_json_token token = tr_json_walk_on(json, &walk);
	if (token == TR_JSON_CUT)
		tr_error_set(err, TR_CAUSE_INPUT, "the JSON text ends in the middle of a value");
	else if (token == TR_JSON_BAD && walk.depth == TR_JSON_MAX_DEPTH && wants_value(&walk) &&
		 (json->pos[-1] == '{' || json->pos[-1] == '['))
		tr_error_set(err, TR_CAUSE_LIMIT, "more than %d open brackets", TR_JSON_MAX_DEPTH);
	else if (token == TR_JSON_BAD)
		tr_error_set(err, TR_CAUSE_INPUT, "invalid JSON at byte %zu of the value",
			     (size_t)(json->pos - begin) + 1);
	return token;
}

bool tr_json_keeps_digits(struct tr_text text)
{
	static const char max_exact[] = "9007199254740991";
	if (text.len == 0 || text.len > 16 || (text.data[0] == '0' && text.len > 1))
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
	return text.len < 16 || memcmp(text.data, max_exact, 16) <= 0;
}

bool tr_json_keeps_string(struct tr_text spelling)
{
	const char *p = spelling.data, *end = p + spelling.len;
	while (p < end && (p = memchr(p, '\\', (size_t)(end - p)))) {
		/* a lone surrogate is the only reason for \ud */
		if (end - p < 2 || p[1] == 'x' ||
		    (p[1] == 'u' && end - p > 2 && (p[2] == 'd' || p[2] == '{')))
			return false;
		p += 2;
	}
	return true;
}

/*
 * Returns the name of a type that JSON lacks, for messages. NULL: JSON has the type of the value.
 */
static const char *foreign_type(const struct tr_value *value)
{
	switch (value->type) {
	case TR_INT:
		return value->flags & TR_NEGATIVE ? NULL : "a number with a plus sign";
	case TR_POINTER:
		return "an address";
	case TR_REAL32:
		return "a 32-bit number";
	case TR_STRING:
		return value->flags & TR_CUT ? "a string that was cut" : NULL;
	case TR_WSTRING:
		return "a wide string";
	case TR_BLOB:
	case TR_BLOB_LEFT:
	case TR_BLOB_FILE:
		return "a blob";
	case TR_SYMBOL:
		return "a symbol";
	case TR_LIST:
		return value->flags & TR_CUT ? "a list that was cut" : NULL;
	case TR_STRUCT:
		return "a structure";
	case TR_REPR:
		return "a value in two forms";
	default:
		return NULL;
	}
}

/* Appends a trec string spelling as a JSON string: the same, with the bytes in place of `\xhh`. */
static void put_string(struct tr_text spelling, struct tr_buffer *to)
{
	const char *p = spelling.data, *end = p + spelling.len;
	tr_buffer_put_byte(to, '"');
	while (p < end) {
		const char *backslash = memchr(p, '\\', (size_t)(end - p));
		if (!backslash || end - backslash < 2)
			break;
		if (backslash[1] != 'x' || end - backslash < 4) {
			tr_buffer_put(to, p, (size_t)(backslash + 2 - p));
			p = backslash + 2;
			continue;
		}
		tr_buffer_put(to, p, (size_t)(backslash - p));
		int high = tr_hex_digit(backslash[2]), low = tr_hex_digit(backslash[3]);
		tr_buffer_put_byte(to, (char)(high << 4 | low));
		p = backslash + 4;
	}
	tr_buffer_put_text(to, tr_text_span(p, end));
	tr_buffer_put_byte(to, '"');
}

/* Appends a double as JSON. False: it is infinite or not a number. */
static bool put_real(uint64_t bits, struct tr_buffer *to)
{
	enum { EXPONENT_BITS = 0x7ff };
	if ((bits >> 52 & EXPONENT_BITS) == EXPONENT_BITS)
		return false;
	char text[32];
	tr_buffer_put(to, text, tr_real64_write(bits, text));
	return true;
}

/*
 * Appends a value as JSON. Returns the name of what JSON cannot hold, or NULL. The recursion is
 * bounded by TR_LITERAL_DEPTH.
 */
static const char *put_value(const struct tr_value *value, struct tr_buffer *to)
{
	const char *foreign = foreign_type(value);
	if (foreign)
		return foreign;
	switch (value->type) {
	case TR_STRING:
		put_string(value->text, to);
		break;
	case TR_REAL64:
		if (!put_real(value->as.number, to))
			return "a number that is not finite";
		break;
	case TR_LIST:
		tr_buffer_put_byte(to, '[');
		for (size_t i = 0; i < value->count && !foreign; i++) {
			if (i)
				tr_buffer_put_byte(to, ',');
			foreign = put_value(&value->as.items[i], to);
		}
		tr_buffer_put_byte(to, ']');
		break;
	case TR_MAP:
		tr_buffer_put_byte(to, '{');
		for (size_t i = 0; i < value->count && !foreign; i++) {
			if (i)
				tr_buffer_put_byte(to, ',');
			put_string(value->as.members[i].key, to);
			tr_buffer_put_byte(to, ':');
			foreign = put_value(value->as.members[i].value, to);
		}
		tr_buffer_put_byte(to, '}');
		break;
	default: /* null, true, false and integers look the same in both */
		tr_literal_write(value, to);
		break;
	}
	return foreign;
}

/* Appends a value as JSON. False: err names what JSON cannot hold. */
static bool from_value(const struct tr_value *value, struct tr_buffer *to, struct tr_error *err)
{
	const char *foreign = put_value(value, to);
	if (foreign)
		tr_error_set(err, TR_CAUSE_INPUT, "JSON cannot hold %s", foreign);
	return !foreign;
}

bool tr_json_from_literal(struct tr_text literal, struct tr_arena *arena, struct tr_buffer *to,
			  struct tr_error *err)
{
	bool json = false;
	if (tr_literal_check(literal, &json, err) == TR_MALFORMED)
		return false;
	if (json) {
		tr_buffer_put_text(to, literal);
		return true;
	}
	const struct tr_value *value = tr_literal_parse(literal, arena, err);
	return value && from_value(value, to, err);
}

bool tr_json_from_field(struct tr_record *record, struct tr_field *field, struct tr_buffer *to,
			struct tr_error *err)
{
	bool done;
	if (field->text.data) {
		done = tr_json_from_literal(field->text, record->arena, to, err);
	} else {
		const struct tr_value *value = tr_field_value(record, field, err);
		done = value && from_value(value, to, err);
	}
	if (!done)
		tr_error_name(err, field->key);
	return done;
}

bool tr_json_members_from_field(struct tr_record *record, struct tr_field *field,
				struct tr_buffer *to, struct tr_error *err)
{
	size_t begin = to->len;
	if (!tr_json_from_field(record, field, to, err))
		return false;
	if (to->failed) {
		tr_error_memory(err);
		return false;
	}
	if (to->data[begin] != '{') {
		tr_error_set(err, TR_CAUSE_INPUT, "not a map");
		tr_error_name(err, field->key);
		return false;
	}
	size_t members = to->len - begin - 2;
	memmove(to->data + begin, to->data + begin + 1, members);
	to->len = begin + members;
	return true;
}

enum { RECENT_LEAST = 8, RECENT_MOST = 64 << 10 /* bytes of a recent object */ };

const struct tr_json_recent_object *tr_json_recent_find(const struct tr_json_recent *recent,
							const char *p, const char *end,
							unsigned depth)
{
	size_t left = (size_t)(end - p);

	for (size_t i = 0; i < TR_JSON_RECENT; i++) {
		const struct tr_json_recent_object *object = &recent->objects[i];
		const char *data = object->text.data;
		size_t len = object->text.len, tail = len - RECENT_LEAST;
		/* most objects differ from others in the first bytes, or near the end */
		if (len && len <= left && memcmp(p, data, RECENT_LEAST) == 0 &&
		    memcmp(p + tail, data + tail, RECENT_LEAST) == 0 && depth <= object->depth &&
		    memcmp(p, data, len) == 0)
			return object;
	}
	return NULL;
}

void tr_json_recent_put(struct tr_json_recent *recent, struct tr_text text, unsigned depth,
			struct tr_text spelling)
{
	struct tr_json_recent_object *object = &recent->objects[recent->next];

	if (text.len < RECENT_LEAST || text.len > RECENT_MOST)
		return;
	recent->next = (recent->next + 1) % TR_JSON_RECENT;
	tr_buffer_reset(&object->text);
	tr_buffer_reset(&object->spelling);
	object->depth = depth;
	tr_buffer_put_text(&object->spelling, spelling);
	if (!object->spelling.failed)
		tr_buffer_put_text(&object->text, text);
}

void tr_json_recent_free(struct tr_json_recent *recent)
{
	for (size_t i = 0; i < TR_JSON_RECENT; i++) {
		tr_buffer_free(&recent->objects[i].text);
		tr_buffer_free(&recent->objects[i].spelling);
	}
}

enum { NUMBER_MAX = 4096 }; /* bytes of a number; a longer one is not accepted */

void tr_json_items_init(struct tr_json_items *items, struct tr_input *in, bool lines)
{
	*items = (struct tr_json_items){ .in = in, .lines = lines, .line = 1 };
}

void tr_json_items_skip(struct tr_json_items *items, size_t n)
{
	const char *p = items->in->pos, *end = p + n;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		items->line++;
		p++;
	}
	tr_input_skip(items->in, n);
}

/* A search for the end of an object, which goes on when more of the text has arrived. */
struct search {
	struct tr_json_walk walk;
	size_t done;   /* bytes of the object that the walk has taken */
	size_t string; /* bytes of the object that were searched for the end of an open string */
	const struct tr_json_recent *recent; /* or NULL */
};

/* True if the text has all of the string that begins at search->done. */
static bool is_string_whole(struct search *search, const char *begin, const char *end)
{
	const char *p = begin + (search->string ? search->string : search->done + 1);

	for (;;) {
		p = tr_json_find_special(p, end);
		if (p >= end || (*p == '\\' && p + 1 == end))
			break;
		if (*p != '\\')
			return true; /* a quote, or a line end, which is reported later */
		p += 2;
	}
	search->string = (size_t)((p > end ? end : p) - begin);
	return false;
}

/* True where an item of a list or the key of a map may begin. */
static bool wants_item(const struct tr_json_walk *walk)
{
	if (walk->maps & 1)
		return walk->wants == TR_JSON_WANTS_MEMBER || walk->wants == TR_JSON_WANTS_KEY;
	return walk->depth && wants_value(walk);
}

/*
 * Continues a search in the text of the object that there is. TR_JSON_OBJECT_END: the object is
 * complete, and search->done is its length. TR_JSON_CUT: more text is needed. TR_JSON_BAD: it is
 * not JSON.
 */
static enum tr_json_token find_object_end(struct search *search, const char *begin, const char *end)
{
	struct tr_text text;

	for (;;) {
		const char *p = begin + search->done;
		while (p < end && tr_is_blank(*p))
			p++;
		search->done = (size_t)(p - begin);
		if (p >= end)
			return TR_JSON_CUT;
		if (search->string && !is_string_whole(search, begin, end))
			return TR_JSON_CUT;
		search->string = 0;
		/*
		 * strings without escapes, as most values of environments are, are skipped in one
		 * step
		 */
		if (*p == '"' && wants_item(&search->walk)) {
			const char *after = tr_json_plain_items(p, end, search->walk.maps & 1);
			if (after > p) {
				search->walk.wants = TR_JSON_WANTS_NEXT;
				search->done = (size_t)(after - begin);
				continue;
			}
		}
		if (*p == '{' && search->recent && search->walk.wants == TR_JSON_WANTS_VALUE) {
			const struct tr_json_recent_object *known =
				tr_json_recent_find(search->recent, p, end, search->walk.depth);
			if (known) {
				search->walk.wants = TR_JSON_WANTS_NEXT;
				search->done += known->text.len;
				if (!search->walk.depth)
					return TR_JSON_OBJECT_END;
				continue;
			}
		}
		struct tr_json json = { p, end };
		enum tr_json_token token = tr_json_next(&json, &text);
		/* a long string is not scanned again from its start whenever more of it has come */
		if (token == TR_JSON_CUT && *p == '"' && !is_string_whole(search, begin, end))
			return TR_JSON_CUT;
		if (token == TR_JSON_CUT)
			return end - p > NUMBER_MAX ? TR_JSON_BAD : TR_JSON_CUT;
		/* a number at the end of the text may continue */
		if (token == TR_JSON_NUMBER && json.pos >= end)
			return end - p > NUMBER_MAX ? TR_JSON_BAD : TR_JSON_CUT;
		if (!tr_json_accept(&search->walk, token))
			return TR_JSON_BAD;
		search->done = (size_t)(json.pos - begin);
		if (!search->walk.depth)
			return TR_JSON_OBJECT_END;
	}
}

/* Fills err with an error at the current line. TR_WARN. */
static enum tr_status report(struct tr_json_items *items, enum tr_cause cause, const char *what,
			     struct tr_error *err)
{
	tr_error_say(err, cause, what);
	tr_error_at_line(err, items->line);
	items->trouble = true;
	return TR_WARN;
}

/* Takes the object at the start of the window, which begins with "{". */
static enum tr_status take_object(struct tr_json_items *items, struct tr_text *object,
				  struct tr_error *err)
{
	struct search search = { .walk = TR_JSON_WALK_INIT, .recent = items->recent };
	struct tr_input *in = items->in;
	enum tr_json_token token;

	while ((token = find_object_end(&search, in->pos, in->end)) == TR_JSON_CUT) {
		if (tr_input_more(in, tr_input_available(in) + 1))
			continue;
		enum tr_status status = report(items, TR_CAUSE_CUT,
					       "the input ends in the middle of an object", err);
		if (in->damaged && !in->at_end) {
			tr_input_error(in, err);
			tr_error_at_line(err, items->line);
			if (err->cause == TR_CAUSE_MEMORY)
				return TR_FATAL;
		}
		items->inside = false;
		/* an object inside of this one may be complete */
		tr_json_items_skip(items, 1);
		return status;
	}
	if (token == TR_JSON_BAD) {
		enum tr_status status =
			report(items, TR_CAUSE_INPUT, "an object that is not JSON", err);
		tr_json_items_skip(items, 1);
		return status;
	}
	items->trouble = false;
	items->taken = search.done;
	*object = (struct tr_text){ in->pos, search.done };
	return TR_OK;
}

/* Skips to where an object may begin, after an error. The window is not empty. */
static void skip_damage(struct tr_json_items *items)
{
	struct tr_input *in = items->in;
	size_t len = tr_input_available(in);
	const char *p = memchr(in->pos, items->lines ? '\n' : '{', len);

	items->trouble = !p;
	if (p && items->lines)
		p++;
	tr_json_items_skip(items, p ? (size_t)(p - in->pos) : len);
}

/* True at a byte order mark: of the file, or of one that was appended to another. */
static bool is_mark(struct tr_input *in)
{
	return *in->pos == '\xef' && tr_input_more(in, 3) &&
	       memcmp(in->pos, "\xef\xbb\xbf", 3) == 0;
}

/* Skips a byte or a byte order mark between objects. TR_OK; TR_WARN: it is something else. */
static enum tr_status skip_between(struct tr_json_items *items, struct tr_error *err)
{
	if (is_mark(items->in)) {
		tr_json_items_skip(items, 3);
		return TR_OK;
	}
	char c = *items->in->pos;
	bool list = c == '[' || c == ']';

	if (!tr_is_blank(c) && c != ',' && !list)
		return report(items, TR_CAUSE_INPUT, "text that is not a JSON object", err);
	if (c == '[')
		items->inside = true;
	if (c == ']')
		items->inside = false;
	tr_json_items_skip(items, 1);
	return TR_OK;
}

/*
 * Steps to the next object of a list or of lines. After an error, the search begins again one byte
 * later or at the next line, so that one damaged object costs no others.
 */
enum tr_status tr_json_items_next(struct tr_json_items *items, struct tr_text *object,
				  uint64_t *line, struct tr_error *err)
{
	struct tr_input *in = items->in;

	tr_error_clear(err);
	tr_json_items_skip(items, items->taken);
	items->taken = 0;
	while (tr_input_more(in, 1)) {
		if (items->trouble) {
			skip_damage(items);
			continue;
		}
		*line = items->line;
		if (*in->pos == '{')
			return take_object(items, object, err);
		enum tr_status status = skip_between(items, err);
		if (status != TR_OK)
			return status;
	}
	if (items->inside && !in->damaged) {
		items->inside = false;
		return report(items, TR_CAUSE_CUT, "the input ends in the middle of the list", err);
	}
	return TR_END;
}

bool tr_json_items_leave(struct tr_json_items *items)
{
	struct tr_input *in = items->in;

	tr_json_items_skip(items, items->taken);
	items->taken = 0;
	while (!items->trouble && tr_input_more(in, 1)) {
		char c = *in->pos;
		if (c != ']' && c != ',' && !tr_is_blank(c))
			return false;
		tr_json_items_skip(items, 1);
		if (c == ']') {
			items->inside = false;
			return true;
		}
	}
	return false;
}

bool tr_json_items_peek(struct tr_input *in, size_t most, struct tr_text *object)
{
	struct search search = { .walk = TR_JSON_WALK_INIT };
	size_t at = 0;

	for (bool more = tr_input_more(in, 1); more;) {
		const char *p = in->pos + at;
		if (at == 0 && in->end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
			p += 3;
		while (p < in->end && (tr_is_blank(*p) || *p == '['))
			p++;
		at = (size_t)(p - in->pos);
		if (p < in->end && *p != '{')
			return false;
		if (p < in->end) {
			enum tr_json_token token = find_object_end(&search, p, in->end);
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

/* Returns the place after the quote that closes the string around p. NULL: there is none. */
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
 * Returns the place after the list or object (map) whose bracket is before p. A complete object is
 * known to be JSON, so only brackets count. NULL: the text ends before.
 */
static const char *skip_container(const char *p, const char *end, bool map)
{
	unsigned depth = 1;
	char before = ',';

	while (p < end) {
		/* strings of the container itself without escapes are skipped in one step */
		if (depth == 1 && before == ',' && *p == '"') {
			p = tr_json_plain_items(p, end, map);
			if (p == end)
				break;
		}
		char c = before = *p++;
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

/* Makes room for a member; what the arena held before is not reused. NULL: memory is exhausted. */
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

/* How the members of an object are listed. */
struct listing {
	unsigned levels; /* of nested objects whose members are listed as well */
	const struct tr_json_recent *recent; /* objects whose ends are known; or NULL */
	struct tr_arena *arena;
};

/*
 * Lists the members of an object whose opening bracket was read, and steps to its end, or to the
 * end of a text that is cut. A nested value is a piece of the text, unless it is an object less
 * than `levels` deep, which bounds the recursion.
 */
static bool list_members(struct tr_json *json, const struct listing *listing, unsigned depth,
			 struct tr_json_member **members, size_t *count)
{
	struct tr_text key, ignored;
	enum tr_json_token token;
	size_t cap = 0;

	while ((token = tr_json_next(json, &key)) == TR_JSON_STRING &&
	       (token = tr_json_next(json, &ignored)) == TR_JSON_COLON) {
		json->pos = skip_blanks(json->pos, json->end);
		const char *begin = json->pos;
		struct tr_json_member member = { .key = key };
		token = tr_json_next(json, &ignored);
		if (token == TR_JSON_CUT || token == TR_JSON_BAD)
			break;
		member.type = token;
		const struct tr_json_recent_object *known =
			token == TR_JSON_OBJECT && listing->recent
				? tr_json_recent_find(listing->recent, begin, json->end, depth)
				: NULL;
		if (known) {
			json->pos = begin + known->text.len;
		} else if (token == TR_JSON_OBJECT && depth <= listing->levels) {
			if (!list_members(json, listing, depth + 1, &member.members, &member.count))
				return false;
		} else if (token == TR_JSON_OBJECT || token == TR_JSON_ARRAY) {
			const char *after =
				skip_container(json->pos, json->end, token == TR_JSON_OBJECT);
			json->pos = after ? after : json->end;
		}
		member.value = tr_text_span(begin, json->pos);
		*members = grow(*members, *count, &cap, listing->arena);
		if (!*members)
			return false;
		(*members)[(*count)++] = member;
		token = tr_json_next(json, &ignored);
		if (token != TR_JSON_COMMA)
			break;
	}
	if (token != TR_JSON_OBJECT_END)
		json->pos = json->end;
	return true;
}

bool tr_json_members_deep(struct tr_text object, unsigned levels,
			  const struct tr_json_recent *recent, struct tr_arena *arena,
			  struct tr_json_member **members, size_t *count)
{
	const struct listing listing = { levels, recent, arena };
	struct tr_json json = { object.data, object.data + object.len };
	struct tr_text ignored;

	*count = 0;
	*members = NULL;
	return tr_json_next(&json, &ignored) != TR_JSON_OBJECT ||
	       list_members(&json, &listing, 1, members, count);
}

bool tr_json_members(struct tr_text object, struct tr_arena *arena, struct tr_json_member **members,
		     size_t *count)
{
	return tr_json_members_deep(object, 0, NULL, arena, members, count);
}

const struct tr_json_member *tr_json_member_find(const struct tr_json_member *members, size_t count,
						 const char *key)
{
	struct tr_text wanted = tr_text_from(key);

	for (size_t i = count; i > 0; i--)
		if (tr_text_equal(members[i - 1].key, wanted))
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
	tr_field_begin(tr_text_from(key), to);
	return tr_json_put_value(member->value, to, err);
}

const struct tr_json_member *tr_json_take(struct tr_json_object *object, const char *key,
					  enum tr_json_token type)
{
	const struct tr_json_member *member =
		tr_json_member_find(object->members, object->count, key);

	if (!member || member->type != type)
		return NULL;
	return object->taken[object->taken_count++] = member;
}

bool tr_json_is_taken(const struct tr_json_object *object, const struct tr_json_member *member)
{
	size_t i = 0;

	while (i < object->taken_count && !tr_text_equal(object->taken[i]->key, member->key))
		i++;
	return i < object->taken_count;
}

bool tr_json_put_others(const struct tr_json_object *object, struct tr_buffer *to,
			struct tr_error *err)
{
	/* no member is taken twice, so if the counts are equal, all were taken */
	for (size_t i = 0; object->taken_count < object->count && i < object->count; i++) {
		const struct tr_json_member *member = &object->members[i];
		if (tr_json_is_taken(object, member))
			continue;
		tr_buffer_put_literal(to, ",\"");
		tr_json_string_to_spelling(member->key, to);
		tr_buffer_put_literal(to, "\":");
		if (!tr_json_put_value(member->value, to, err))
			return false;
	}
	return true;
}

void tr_json_put_extra(struct tr_text members, struct tr_buffer *to)
{
	if (!members.len)
		return;
	tr_buffer_put_literal(to, "\textra={");
	tr_buffer_put(to, members.data + 1, members.len - 1);
	tr_buffer_put_byte(to, '}');
}
