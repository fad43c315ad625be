#include "record/json.h"

#include "record/json_scan.h"

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && tr_json_is_blank(*p))
		p++;
	return p;
}

/* pos is behind the opening quote. Checks the escapes, so that later decoding cannot fail. */
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
		struct tr_json_element element = tr_json_element(p, json->end);
		if (element.type == TR_JSON_ENDS)
			return TR_JSON_CUT;
		if (element.type == TR_JSON_NO_ESCAPE)
			return TR_JSON_BAD;
		p += element.length;
	}
}

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/* One or more digits; NULL where there is none, and then *cut says whether the text ends there. */
static const char *need_digits(const char *p, const char *end, bool *cut)
{
	const char *behind = skip_digits(p, end);
	*cut = p == end;
	return behind == p ? NULL : behind;
}

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
	const char *behind = scan_number_parts(json->pos, json->end, &cut);
	if (!behind)
		return cut ? TR_JSON_CUT : TR_JSON_BAD;
	*text = tr_text_span(json->pos, behind);
	json->pos = behind;
	return TR_JSON_NUMBER;
}

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

static bool open_bracket(struct tr_json_walk *walk, bool map)
{
	if (!wants_value(walk) || walk->depth == TR_JSON_MAX_DEPTH)
		return false;
	walk->depth++;
	walk->maps = walk->maps << 1 | map;
	walk->wants = map ? TR_JSON_WANTS_MEMBER : TR_JSON_WANTS_ITEM;
	return true;
}

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

enum tr_json_token tr_json_go_on(struct tr_json *json, struct tr_json_walk *walk)
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
	enum tr_json_token token = tr_json_go_on(json, &walk);
	if (token == TR_JSON_CUT)
		tr_error_set(err, TR_CAUSE_INPUT, "the JSON text ends in the middle of a value");
	else if (token == TR_JSON_BAD && walk.depth == TR_JSON_MAX_DEPTH && wants_value(&walk) &&
		 (json->pos[-1] == '{' || json->pos[-1] == '['))
		tr_error_set(err, TR_CAUSE_LIMIT, "more than %d open brackets", TR_JSON_MAX_DEPTH);
	else if (token == TR_JSON_BAD)
		tr_error_set(err, TR_CAUSE_INPUT, "no JSON at byte %zu of the value",
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
