/* From the text of an object to its pieces. */
#include <string.h>

#include "core/error.h"
#include "format/klocwork/id.h"
#include "format/klocwork/object.h"
#include "record/record.h"

/* What was appended since begin, as a piece. */
static struct tr_klocwork_piece piece_since(const struct tr_klocwork_object *object, size_t begin)
{
	return (struct tr_klocwork_piece){ begin, object->text.len - begin };
}

static bool is_value(enum tr_json_token token)
{
	return token != TR_JSON_CUT && token != TR_JSON_BAD;
}

/*
 * Spells the value at json. One that is JSON, but none that trec can hold, leaves
 * nothing (also of what was put since begin) and makes the object lossy.
 */
static enum tr_json_token spell_value(struct tr_klocwork_object *object, struct tr_json *json,
				      struct tr_buffer *to, size_t begin, struct tr_error *err)
{
	struct tr_json start = *json;
	struct tr_json_changes changes = { false, false };
	enum tr_json_token token = tr_json_spell(json, to, &changes, err);
	object->lossy |= changes.rounded;
	if (token != TR_JSON_BAD || to->failed)
		return token;
	struct tr_error other;
	enum tr_json_token skipped = tr_json_skip(&start, &other);
	if (!is_value(skipped))
		return skipped;
	*json = start;
	to->len = begin;
	object->lossy = true;
	return skipped;
}

/*
 * The end of a number that is the same in JSON, in a cell and in a value: short,
 * without a zero in front. NULL: look closer.
 */
static const char *plain_number(const char *p, const char *end)
{
	enum { SAFE_DIGITS = 18 };
	if (p < end && *p == '-')
		p++;
	const char *digits = p;
	if (p < end && *p == '0')
		return NULL;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	bool plain = p > digits && p - digits <= SAFE_DIGITS && p < end && (*p == ',' || *p == '}');
	return plain ? p : NULL;
}

/* What an id that is a number is compared by, as a piece. */
static struct tr_klocwork_piece number_key(struct tr_klocwork_object *object, struct tr_text number)
{
	size_t begin = object->text.len;
	tr_klocwork_number_key(number, &object->text);
	return piece_since(object, begin);
}

/* An id as it is spelled, but on one line, on which it has to go back: a blank for an LF. */
static void put_id_cell(struct tr_text id, struct tr_buffer *to)
{
	const char *p = id.data, *end = p + id.len, *lf;
	while ((lf = memchr(p, '\n', (size_t)(end - p)))) {
		if (lf > p)
			tr_cell_escape(tr_text_span(p, lf), false, to);
		tr_buffer_put_byte(to, ' ');
		p = lf + 1;
	}
	tr_cell_escape(tr_text_span(p, end), false, to);
}

/* The id is whole in its cell, as the source spells it. */
static enum tr_json_token read_id(struct tr_klocwork_object *object, struct tr_json *json,
				  struct tr_error *err)
{
	size_t begin = object->text.len;
	const char *behind = plain_number(json->pos, json->end);
	if (behind) {
		tr_buffer_put_text(&object->text, tr_text_span(json->pos, behind));
		object->pieces[TR_KLOCWORK_ID] = object->id = piece_since(object, begin);
		json->pos = behind;
		return TR_JSON_NUMBER;
	}
	struct tr_json next = *json;
	struct tr_text number;
	enum tr_json_token token = tr_json_next(&next, &number);
	while (json->pos < json->end && (unsigned char)*json->pos <= ' ')
		json->pos++;
	const char *value = json->pos;
	if (token == TR_JSON_NUMBER) {
		object->id = number_key(object, number);
		*json = next;
	} else {
		token = spell_value(object, json, &object->text, begin, err);
		if (!is_value(token))
			return token;
		object->id = piece_since(object, begin);
	}
	begin = object->text.len;
	put_id_cell(tr_text_span(value, json->pos), &object->text);
	object->pieces[TR_KLOCWORK_ID] = piece_since(object, begin);
	return token;
}

static enum tr_json_token read_parent_id(struct tr_klocwork_object *object, struct tr_json *json,
					 struct tr_error *err)
{
	struct tr_buffer *text = &object->text;
	struct tr_klocwork_piece *piece = &object->pieces[TR_KLOCWORK_PARENT_ID];
	size_t begin = text->len;
	tr_buffer_put_literal(text, "\tppid=");
	size_t value = text->len;
	const char *behind = plain_number(json->pos, json->end);
	if (behind) {
		tr_buffer_put_text(text, tr_text_span(json->pos, behind));
		json->pos = behind;
		*piece = piece_since(object, begin);
		object->parent_id = piece_since(object, value);
		return TR_JSON_NUMBER;
	}
	struct tr_json next = *json;
	struct tr_text number;
	bool is_number = tr_json_next(&next, &number) == TR_JSON_NUMBER;
	enum tr_json_token token = spell_value(object, json, text, begin, err);
	*piece = piece_since(object, begin);
	object->parent_id = is_number ? number_key(object, number)
				      : piece_since(object, piece->len ? value : begin);
	return token;
}

static enum tr_json_token read_executable(struct tr_klocwork_object *object, struct tr_json *json,
					  struct tr_error *err)
{
	size_t begin = object->text.len;
	bool unique = true;
	enum tr_json_token token = tr_json_spell_cell(json, &object->text, &unique);
	if (token != TR_JSON_STRING)
		token = tr_json_skip(json, err);
	object->lossy |= !unique || token != TR_JSON_STRING;
	object->pieces[TR_KLOCWORK_EXECUTABLE] = piece_since(object, begin);
	return token;
}

static enum tr_json_token read_known(struct tr_klocwork_object *object, enum tr_klocwork_key key,
				     struct tr_json *json, struct tr_error *err)
{
	size_t begin = object->text.len;
	switch (key) {
	case TR_KLOCWORK_ID:
		return read_id(object, json, err);
	case TR_KLOCWORK_PARENT_ID:
		return read_parent_id(object, json, err);
	case TR_KLOCWORK_EXECUTABLE:
		return read_executable(object, json, err);
	case TR_KLOCWORK_WORK_DIR:
		tr_buffer_put_literal(&object->text, "\tcwd=");
		break;
	case TR_KLOCWORK_ARGS:
		tr_buffer_put_literal(&object->text, "\targv=");
		break;
	default:
		if (object->env_top)
			tr_buffer_put_literal(&object->text, "\tenvtop=");
		else
			tr_buffer_put_literal(&object->text, "\tenvdiff=");
	}
	enum tr_json_token token = spell_value(object, json, &object->text, begin, err);
	object->pieces[key] = piece_since(object, begin);
	return token;
}

/* Has the value at json as many brackets open as any may, so that none goes around it? */
static bool is_deepest(struct tr_json json, const char *end)
{
	struct tr_json_walk walk = TR_JSON_WALK_INIT;
	struct tr_text none;
	bool deepest = false;
	if (end - json.pos < 2 * TR_JSON_MAX_DEPTH)
		return false;
	json.end = end;
	while (!deepest && json.pos < end && tr_json_accept(&walk, tr_json_next(&json, &none)))
		deepest = walk.depth == TR_JSON_MAX_DEPTH;
	return deepest;
}

/* A member of another key: the extra field gets it, or it is what a META is about. */
static enum tr_json_token read_other(struct tr_klocwork_object *object, struct tr_text key,
				     struct tr_json *json, struct tr_error *err)
{
	struct tr_buffer *extra = &object->extra;
	size_t begin = extra->len;
	if (extra->len)
		tr_buffer_put_byte(extra, ',');
	tr_buffer_put_byte(extra, '"');
	tr_json_string_to_spelling(key, extra);
	tr_buffer_put_literal(extra, "\":");
	object->extra_value = extra->len;
	object->extra_count++;
	size_t name = object->text.len;
	object->name_lossy = !tr_json_string_to_cell(key, &object->text);
	object->name = piece_since(object, name);
	struct tr_json value = *json;
	enum tr_json_token token = spell_value(object, json, extra, begin, err);
	if (is_value(token))
		object->deepest |= is_deepest(value, json->pos);
	return token;
}

#define KEY_LIST(X) \
	X(ID, "id") \
	X(PARENT_ID, "parent_id") \
	X(WORK_DIR, "work_dir") \
	X(EXECUTABLE, "executable") \
	X(ARGS, "args") \
	X(ENV_DIFF, "env-diff")

/* Steps over a key of ours and its colon where they are spelled without blanks and escapes. */
static inline enum tr_klocwork_key compact_key(struct tr_json *json)
{
#define TRY(key, name) \
	if (memcmp(json->pos, "\"" name "\":", sizeof name + 2) == 0) { \
		json->pos += sizeof name + 2; \
		return TR_KLOCWORK_##key; \
	}
	enum { LONGEST = sizeof "\"executable\":" };
	if (json->end - json->pos < LONGEST)
		return TR_KLOCWORK_KEYS;
	KEY_LIST(TRY)
#undef TRY
	return TR_KLOCWORK_KEYS;
}

static enum tr_klocwork_key find_key(struct tr_text spelling)
{
#define TRY(key, name) \
	if (tr_text_equal(spelling, TR_TEXT(name))) \
		return TR_KLOCWORK_##key;
	KEY_LIST(TRY)
#undef TRY
	return TR_KLOCWORK_KEYS;
}

static enum tr_json_token broken(enum tr_json_token token, struct tr_error *err)
{
	if (token == TR_JSON_CUT) {
		tr_error_set(err, TR_CAUSE_INPUT, "the object is cut");
		return TR_JSON_CUT;
	}
	tr_error_set(err, TR_CAUSE_INPUT, "no valid JSON");
	return TR_JSON_BAD;
}

/* A member however it is spelled. */
static enum tr_json_token read_member(struct tr_klocwork_object *object, struct tr_json *json,
				      struct tr_error *err)
{
	struct tr_text body, none;
	enum tr_json_token token = tr_json_next(json, &body);
	if (token != TR_JSON_STRING)
		return broken(token, err);
	token = tr_json_next(json, &none);
	if (token != TR_JSON_COLON)
		return broken(token, err);
	enum tr_klocwork_key key = find_key(body);
	if (key == TR_KLOCWORK_KEYS && memchr(body.data, '\\', body.len)) {
		struct tr_buffer spelling = TR_BUFFER_INIT;
		tr_json_string_to_spelling(body, &spelling);
		key = find_key(tr_buffer_text(&spelling));
		object->text.failed |= spelling.failed;
		tr_buffer_free(&spelling);
	}
	return key == TR_KLOCWORK_KEYS ? read_other(object, body, json, err)
				       : read_known(object, key, json, err);
}

/* From behind a member: COMMA: one more follows; OBJECT_END. */
static enum tr_json_token read_between(struct tr_json *json, struct tr_error *err)
{
	struct tr_text none;
	if (json->end - json->pos > 1 && json->pos[0] == ',' && json->pos[1] == '"') {
		json->pos++;
		return TR_JSON_COMMA;
	}
	enum tr_json_token token = tr_json_next(json, &none);
	if (token == TR_JSON_COMMA || token == TR_JSON_OBJECT_END)
		return token;
	return broken(token, err);
}

static enum tr_json_token read_members(struct tr_klocwork_object *object, struct tr_json *json,
				       struct tr_error *err)
{
	struct tr_json empty = *json;
	struct tr_text none;
	if (tr_json_next(&empty, &none) == TR_JSON_OBJECT_END) {
		*json = empty;
		return TR_JSON_OBJECT_END;
	}
	for (;;) {
		enum tr_klocwork_key key = compact_key(json);
		enum tr_json_token token = key == TR_KLOCWORK_KEYS
						   ? read_member(object, json, err)
						   : read_known(object, key, json, err);
		if (!is_value(token))
			return token;
		token = read_between(json, err);
		if (token != TR_JSON_COMMA)
			return token;
	}
}

static void reset(struct tr_klocwork_object *object)
{
	tr_buffer_reset(&object->text);
	tr_buffer_reset(&object->extra);
	memset(object->pieces, 0, sizeof object->pieces);
	object->id = object->parent_id = object->name = (struct tr_klocwork_piece){ 0, 0 };
	object->extra_count = object->extra_value = 0;
	object->lossy = object->name_lossy = object->deepest = false;
}

static void classify(struct tr_klocwork_object *object)
{
	for (size_t i = 0; i < TR_KLOCWORK_KEYS; i++) {
		if (!object->pieces[i].len)
			continue;
		object->kind = TR_KLOCWORK_EVENT;
		/* without an id the writer would make one up */
		object->lossy |= !object->pieces[TR_KLOCWORK_ID].len;
		return;
	}
	bool env = object->extra_count == 1 && tr_text_is(tr_klocwork_object_name(object), "env");
	object->kind = env ? TR_KLOCWORK_ENV : TR_KLOCWORK_META;
	object->lossy |= object->extra_count == 1 && object->name_lossy;
}

enum tr_json_token tr_klocwork_object_read(struct tr_klocwork_object *object, struct tr_json *json,
					   struct tr_error *err)
{
	struct tr_text none;
	reset(object);
	enum tr_json_token token = tr_json_next(json, &none);
	if (token != TR_JSON_OBJECT)
		return broken(token, err);
	token = read_members(object, json, err);
	if (object->text.failed || object->extra.failed) {
		tr_error_memory(err);
		return TR_JSON_BAD;
	}
	if (token != TR_JSON_OBJECT_END)
		return token;
	classify(object);
	if (object->deepest && (object->kind == TR_KLOCWORK_EVENT || object->extra_count > 1)) {
		tr_error_set(err, TR_CAUSE_LIMIT, "more than %d open brackets", TR_JSON_MAX_DEPTH);
		return TR_JSON_BAD;
	}
	return TR_JSON_OBJECT;
}

void tr_klocwork_object_free(struct tr_klocwork_object *object)
{
	tr_buffer_free(&object->text);
	tr_buffer_free(&object->extra);
}
