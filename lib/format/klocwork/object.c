/* SPDX-License-Identifier: MIT */
/*
 * One JSON object of a trace: its ids, its pieces (tr_klocwork_object_read), and the line of its
 * record (tr_klocwork_object_line).
 */
#include <string.h>

#include "core/input.h"
#include "format/klocwork/klocwork.h"

bool tr_klocwork_id_is_plain(struct tr_text text)
{
	if (text.len && text.data[0] == '-')
		text = (struct tr_text){ text.data + 1, text.len - 1 };
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
	return text.len && (text.data[0] != '0' || text.len == 1);
}

/* Spells a value as trec does. False: it is no JSON, or trec cannot hold it. */
static bool spell(struct tr_json *json, struct tr_buffer *to, enum tr_json_token *token)
{
	struct tr_error ignored;
	*token = tr_json_spell(json, to, NULL, &ignored);
	return *token != TR_JSON_BAD && *token != TR_JSON_CUT;
}

/*
 * Appends the key of an id that is a JSON number: by its value if it has a point or an exponent,
 * else as it is written, so that numbers beyond 64 bits stay distinct.
 */
static void put_number_key(struct tr_text number, struct tr_buffer *to)
{
	size_t begin = to->len;
	bool real = false;
	for (size_t i = 0; i < number.len; i++)
		real |= number.data[i] == '.' || (number.data[i] | 0x20) == 'e';
	struct tr_json json = { number.data, number.data + number.len };
	enum tr_json_token token;
	if (!real || !spell(&json, to, &token)) {
		to->len = begin;
		tr_buffer_put_text(to, number);
		return;
	}
	/* 1e3 equals 1000; a REAL that ends in .0 is exactly that integer */
	struct tr_text key = tr_text_span(to->data + begin, to->data + to->len);
	if (key.len > 2 && memcmp(key.data + key.len - 2, ".0", 2) == 0)
		to->len -= 2;
}

bool tr_klocwork_id_key(struct tr_text text, struct tr_arena *arena, struct tr_text *key)
{
	*key = text;
	if (tr_klocwork_id_is_plain(text))
		return true;
	struct tr_buffer to = TR_BUFFER_INIT;
	char *copy = tr_arena_alloc(arena, text.len + TR_INPUT_PAD);
	if (!copy)
		return false;
	memcpy(copy, text.data, text.len);
	memset(copy + text.len, 0, TR_INPUT_PAD);
	struct tr_json json = { copy, copy + text.len }, next = json;
	struct tr_text number;
	enum tr_json_token token;
	if (tr_json_next(&next, &number) == TR_JSON_NUMBER)
		put_number_key(number, &to);
	else if (!spell(&json, &to, &token))
		to.len = 0;
	*key = (struct tr_text){ NULL, 0 };
	bool good = !to.failed;
	if (good && to.len) {
		*key = tr_arena_copy(arena, tr_buffer_text(&to));
		good = key->data;
	}
	tr_buffer_free(&to);
	return good;
}

bool tr_klocwork_names_nobody(struct tr_text parent_id)
{
	return !parent_id.data || tr_text_is(parent_id, "-1") || tr_text_is(parent_id, "null");
}

/* From the text of an object to its pieces. */

/* The text appended since begin, as a piece. */
static struct tr_klocwork_piece piece_since(const struct tr_klocwork_object *object, size_t begin)
{
	return (struct tr_klocwork_piece){ begin, object->text.len - begin };
}

/* True for a token, false for BAD and CUT. */
static bool is_value(enum tr_json_token token)
{
	return token != TR_JSON_CUT && token != TR_JSON_BAD;
}

/*
 * Spells the value at json. A value that is JSON but that trec cannot hold removes all text since
 * begin and makes the object lossy.
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
 * The end of a number that has the same spelling in JSON, in a cell and in a value: short, and
 * without a leading zero. NULL: it may differ.
 */
static const char *plain_number(const char *p, const char *end)
{
	enum { SAFE_DIGITS = 18 };
	if (p < end && *p == '-')
		p++;
	const char *digits = p;
	if (p < end && *p == '0')
		return NULL;
	p = tr_skip_digits(p, end);
	bool plain = p > digits && p - digits <= SAFE_DIGITS && p < end && (*p == ',' || *p == '}');
	return plain ? p : NULL;
}

/* Appends an id as it is spelled, with a blank for each LF, because it is written on one line. */
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

/*
 * Reads an id or a parent_id. The cell of an id is as the source spells it, and so are numbers; the
 * key follows in the text if it differs.
 */
static enum tr_json_token read_id(struct tr_klocwork_object *object, enum tr_klocwork_key key,
				  struct tr_json *json, struct tr_error *err)
{
	struct tr_buffer *text = &object->text;
	bool parent = key == TR_KLOCWORK_PARENT_ID;
	struct tr_klocwork_piece *id = parent ? &object->parent_id : &object->id;
	size_t begin = text->len;
	if (parent)
		tr_buffer_put_literal(text, "\tppid=");
	size_t value = text->len;
	const char *end = plain_number(json->pos, json->end);
	if (end) {
		tr_buffer_put_text(text, tr_text_span(json->pos, end));
		json->pos = end;
		object->pieces[key] = piece_since(object, begin);
		*id = piece_since(object, value);
		return TR_JSON_NUMBER;
	}
	while (json->pos < json->end && (unsigned char)*json->pos <= ' ')
		json->pos++;
	const char *source = json->pos;
	struct tr_json next = *json;
	struct tr_text number;
	enum tr_json_token token = tr_json_next(&next, &number);
	bool is_number = token == TR_JSON_NUMBER;
	if (is_number && !parent)
		*json = next;
	else
		token = spell_value(object, json, text, begin, err);
	if (!is_value(token))
		return token;
	object->pieces[key] = piece_since(object, begin);
	*id = text->len > value ? piece_since(object, value) : (struct tr_klocwork_piece){ 0, 0 };
	begin = text->len;
	if (is_number) {
		put_number_key(number, text);
		*id = piece_since(object, begin);
		begin = text->len;
	}
	if (!parent) {
		put_id_cell(tr_text_span(source, json->pos), text);
		object->pieces[key] = piece_since(object, begin);
	}
	return token;
}

/*
 * Reads the value of a known key to its piece. A key that occurs twice has its last value, as in
 * most parsers of JSON.
 */
static enum tr_json_token read_known(struct tr_klocwork_object *object, enum tr_klocwork_key key,
				     struct tr_json *json, struct tr_error *err)
{
	struct tr_buffer *text = &object->text;
	size_t begin = text->len;
	bool unique = true;
	enum tr_json_token token;
	switch (key) {
	case TR_KLOCWORK_ID:
	case TR_KLOCWORK_PARENT_ID:
		return read_id(object, key, json, err);
	case TR_KLOCWORK_EXECUTABLE:
		token = tr_json_spell_cell(json, text, &unique);
		if (token != TR_JSON_STRING)
			token = tr_json_skip(json, err);
		object->lossy |= !unique || token != TR_JSON_STRING;
		object->pieces[key] = piece_since(object, begin);
		return token;
	case TR_KLOCWORK_WORK_DIR:
		tr_buffer_put_literal(text, "\tcwd=");
		break;
	case TR_KLOCWORK_ARGS:
		tr_buffer_put_literal(text, "\targv=");
		break;
	default:
		tr_buffer_put_text(text,
				   object->env_top ? TR_TEXT("\tenvtop=") : TR_TEXT("\tenvdiff="));
	}
	token = spell_value(object, json, text, begin, err);
	object->pieces[key] = piece_since(object, begin);
	return token;
}

/* The value at json has the maximum depth, so that no bracket can be put around it. */
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

/* Reads a member of another key, for the field extra or as the content of a META. */
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

/*
 * Skips a known key and its colon if they are spelled without blanks and escapes. Comparisons with
 * constants take less time than the search for the end of the key.
 */
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

/* Finds a key by its text without escapes. */
static enum tr_klocwork_key find_key(struct tr_text spelling)
{
#define TRY(key, name) \
	if (tr_text_is(spelling, name)) \
		return TR_KLOCWORK_##key;
	KEY_LIST(TRY)
#undef TRY
	return TR_KLOCWORK_KEYS;
}

/* Sets the message for text that is not a whole object. */
static enum tr_json_token broken(enum tr_json_token token, struct tr_error *err)
{
	bool cut = token == TR_JSON_CUT;
	tr_error_set(err, TR_CAUSE_INPUT, "%s", cut ? "the object is cut" : "invalid JSON");
	return cut ? TR_JSON_CUT : TR_JSON_BAD;
}

/* Reads a member in any spelling. */
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

/* After a member. COMMA: one more follows; OBJECT_END. */
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

/* Reads all members up to the closing bracket. */
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

/* Empties the object; its buffers keep their memory. */
static void reset(struct tr_klocwork_object *object)
{
	tr_buffer_reset(&object->text);
	tr_buffer_reset(&object->extra);
	memset(object->pieces, 0, sizeof object->pieces);
	object->id = object->parent_id = object->name = (struct tr_klocwork_piece){ 0, 0 };
	object->extra_count = object->extra_value = 0;
	object->lossy = object->name_lossy = object->deepest = false;
}

/*
 * Decides what the object is. Any key of an event makes it one, as events that lack some keys
 * occur.
 */
static void classify(struct tr_klocwork_object *object)
{
	for (size_t i = 0; i < TR_KLOCWORK_KEYS; i++) {
		if (!object->pieces[i].len)
			continue;
		object->kind = TR_KLOCWORK_EVENT;
		/* the writer would invent an id that is missing */
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

struct tr_text tr_klocwork_object_piece(const struct tr_klocwork_object *object,
					struct tr_klocwork_piece piece)
{
	if (!piece.len)
		return (struct tr_text){ NULL, 0 };
	return (struct tr_text){ object->text.data + piece.begin, piece.len };
}

struct tr_text tr_klocwork_object_name(const struct tr_klocwork_object *object)
{
	struct tr_klocwork_piece none = { 0, 0 };
	return tr_klocwork_object_piece(object, object->extra_count == 1 ? object->name : none);
}

struct tr_text tr_klocwork_object_value(const struct tr_klocwork_object *object)
{
	const struct tr_buffer *extra = &object->extra;
	if (object->extra_count != 1 || extra->len <= object->extra_value)
		return (struct tr_text){ NULL, 0 };
	return tr_text_span(extra->data + object->extra_value, extra->data + extra->len);
}

/* Appends a piece; nothing if it is absent. */
static void put_piece(const struct tr_klocwork_object *object, struct tr_klocwork_piece piece,
		      struct tr_buffer *to)
{
	tr_buffer_put(to, object->text.data + piece.begin, piece.len);
}

/* Appends a piece as a column. */
static void put_cell(const struct tr_klocwork_object *object, struct tr_klocwork_piece cell,
		     struct tr_buffer *to)
{
	if (cell.len)
		put_piece(object, cell, to);
	else
		tr_buffer_put_byte(to, '-');
}

/* Appends the line of an event. The parent may be inserted later, at gaps->parent. */
static void put_event(const struct tr_klocwork_object *object, uint64_t seq, uint64_t parent,
		      struct tr_buffer *to, struct tr_klocwork_gaps *gaps)
{
	const struct tr_klocwork_piece *pieces = object->pieces;
	size_t begin = to->len;
	tr_buffer_put_literal(to, "exec\t");
	tr_buffer_put_decimal(to, seq);
	tr_buffer_put_literal(to, "\t-\t");
	put_cell(object, pieces[TR_KLOCWORK_ID], to);
	tr_buffer_put_byte(to, '\t');
	put_cell(object, pieces[TR_KLOCWORK_EXECUTABLE], to);
	gaps->parent = to->len - begin;
	if (parent != TR_NO_POSITION) {
		tr_buffer_put_literal(to, "\tparent=");
		tr_buffer_put_decimal(to, parent);
	}
	put_piece(object, pieces[TR_KLOCWORK_PARENT_ID], to);
	put_piece(object, pieces[TR_KLOCWORK_WORK_DIR], to);
	put_piece(object, pieces[TR_KLOCWORK_ARGS], to);
	put_piece(object, pieces[TR_KLOCWORK_ENV_DIFF], to);
	/* an event without env-diff has the environment of the env line */
	if (object->env_top && !pieces[TR_KLOCWORK_ENV_DIFF].len)
		tr_buffer_put_literal(to, "\tenvtop={}");
	gaps->flagged = to->len - begin;
	if (object->extra.len) {
		tr_buffer_put_literal(to, "\textra={");
		tr_buffer_put(to, object->extra.data, object->extra.len);
		tr_buffer_put_byte(to, '}');
	}
}

/* META and ENV. An object of several keys that is not an event is one value without a name. */
static void put_context(const struct tr_klocwork_object *object, uint64_t seq, struct tr_buffer *to)
{
	bool env = object->kind == TR_KLOCWORK_ENV;
	struct tr_text name = tr_klocwork_object_name(object);
	struct tr_text value = tr_klocwork_object_value(object);
	tr_buffer_put_text(to, env ? TR_TEXT("env\t") : TR_TEXT("meta\t"));
	tr_buffer_put_decimal(to, seq);
	tr_buffer_put_literal(to, "\t-\t-\t");
	tr_buffer_put_text(to, env || !name.data ? TR_TEXT("-") : name);
	if (value.data || !name.data)
		tr_buffer_put_text(to, env ? TR_TEXT("\tvars=") : TR_TEXT("\tvalue="));
	if (value.data) {
		tr_buffer_put_text(to, value);
	} else if (!name.data) {
		tr_buffer_put_byte(to, '{');
		tr_buffer_put_text(to, tr_buffer_text(&object->extra));
		tr_buffer_put_byte(to, '}');
	}
}

void tr_klocwork_object_line(const struct tr_klocwork_object *object, uint64_t seq, uint64_t parent,
			     struct tr_buffer *to, struct tr_klocwork_gaps *gaps)
{
	if (object->kind == TR_KLOCWORK_EVENT)
		put_event(object, seq, parent, to, gaps);
	else
		put_context(object, seq, to);
}
