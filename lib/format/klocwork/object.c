#include "format/klocwork/object.h"

#include "record/record.h"

/* What was appended since begin, as a piece. */
static struct klocwork_piece piece_since(const struct tr_klocwork_object *object, size_t begin)
{
	return (struct klocwork_piece){ begin, object->text.len - begin };
}

/*
 * Spells the value at json behind a prefix. A value that is JSON, but none that
 * trec can hold, leaves nothing (not even the prefix) and makes the object lossy.
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
	*json = start;
	struct tr_error other;
	enum tr_json_token skipped = tr_json_skip(json, &other);
	if (skipped == TR_JSON_BAD || skipped == TR_JSON_CUT)
		return skipped;
	to->len = begin;
	object->lossy = true;
	return skipped;
}

/* TAB key=value from the value at json. */
static enum tr_json_token read_field(struct tr_klocwork_object *object, struct tr_json *json,
				     const char *key, struct klocwork_piece *piece,
				     struct tr_error *err)
{
	struct tr_buffer *text = &object->text;
	size_t begin = text->len;
	tr_buffer_put_byte(text, '\t');
	tr_buffer_put_text(text, tr_text_from(key));
	tr_buffer_put_byte(text, '=');
	enum tr_json_token token = spell_value(object, json, text, begin, err);
	*piece = piece_since(object, begin);
	return token;
}

/* The id is whole in its cell, as the source spells it. */
static enum tr_json_token read_id(struct tr_klocwork_object *object, struct tr_json *json,
				  struct tr_error *err)
{
	struct tr_json next = *json;
	struct tr_text text;
	enum tr_json_token token = tr_json_next(&next, &text);
	if (token == TR_JSON_NUMBER) {
		size_t begin = object->text.len;
		tr_buffer_put_text(&object->text, text);
		object->pieces[TR_KLOCWORK_ID] = object->id = piece_since(object, begin);
		*json = next;
		return token;
	}
	while (json->pos < json->end && (unsigned char)*json->pos <= ' ')
		json->pos++;
	const char *value = json->pos;
	size_t begin = object->text.len;
	token = spell_value(object, json, &object->text, begin, err);
	if (token == TR_JSON_BAD || token == TR_JSON_CUT)
		return token;
	object->id = piece_since(object, begin);
	begin = object->text.len;
	tr_cell_escape(tr_text_span(value, json->pos), false, &object->text);
	object->pieces[TR_KLOCWORK_ID] = piece_since(object, begin);
	return token;
}

static enum tr_json_token read_parent_id(struct tr_klocwork_object *object, struct tr_json *json,
					 struct tr_error *err)
{
	struct tr_json next = *json;
	struct tr_text text;
	enum tr_json_token token = tr_json_next(&next, &text);
	struct klocwork_piece *piece = &object->pieces[TR_KLOCWORK_PARENT_ID];
	enum tr_json_token result = read_field(object, json, "ppid", piece, err);
	if (token == TR_JSON_NUMBER) {
		/* a number that is no 64-bit integer has lost its spelling there */
		size_t begin = object->text.len;
		tr_buffer_put_text(&object->text, text);
		object->parent_id = piece_since(object, begin);
	} else {
		enum { BEFORE_VALUE = sizeof "\tppid=" - 1 };
		object->parent_id = *piece;
		if (piece->len) {
			object->parent_id.begin += BEFORE_VALUE;
			object->parent_id.len -= BEFORE_VALUE;
		}
	}
	return result;
}

static enum tr_json_token read_executable(struct tr_klocwork_object *object,
					  struct tr_json *json, struct tr_error *err)
{
	struct tr_json next = *json;
	struct tr_text body;
	object->pieces[TR_KLOCWORK_EXECUTABLE] = (struct klocwork_piece){ 0, 0 };
	if (tr_json_next(&next, &body) != TR_JSON_STRING) {
		object->lossy = true;
		return tr_json_skip(json, err);
	}
	size_t begin = object->text.len;
	object->lossy |= !tr_json_string_to_cell(body, &object->text);
	object->pieces[TR_KLOCWORK_EXECUTABLE] = piece_since(object, begin);
	*json = next;
	return TR_JSON_STRING;
}

static enum tr_json_token read_known(struct tr_klocwork_object *object, enum tr_klocwork_key key,
				     struct tr_json *json, struct tr_error *err)
{
	switch (key) {
	case TR_KLOCWORK_ID:
		return read_id(object, json, err);
	case TR_KLOCWORK_PARENT_ID:
		return read_parent_id(object, json, err);
	case TR_KLOCWORK_WORK_DIR:
		return read_field(object, json, "cwd", &object->pieces[key], err);
	case TR_KLOCWORK_EXECUTABLE:
		return read_executable(object, json, err);
	case TR_KLOCWORK_ARGS:
		return read_field(object, json, "argv", &object->pieces[key], err);
	default:
		return read_field(object, json, object->env_key, &object->pieces[key], err);
	}
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
	return spell_value(object, json, extra, begin, err);
}

static const struct {
	enum tr_klocwork_key key;
	struct tr_text name;
} keys[TR_KLOCWORK_KEYS] = {
#define KEY(key, name) { TR_KLOCWORK_##key, { name, sizeof name - 1 } }
	KEY(ID, "id"),
	KEY(PARENT_ID, "parent_id"),
	KEY(WORK_DIR, "work_dir"),
	KEY(EXECUTABLE, "executable"),
	KEY(ARGS, "args"),
	KEY(ENV_DIFF, "env-diff"),
#undef KEY
};

static enum tr_json_token read_member(struct tr_klocwork_object *object, struct tr_text body,
				      struct tr_json *json, struct tr_error *err)
{
	struct tr_buffer spelling = TR_BUFFER_INIT;
	struct tr_text key = body;
	if (memchr(body.data, '\\', body.len)) {
		tr_json_string_to_spelling(body, &spelling);
		object->text.failed |= spelling.failed;
		key = tr_buffer_text(&spelling);
	}
	size_t i = 0;
	while (i < TR_KLOCWORK_KEYS && !tr_text_equal(keys[i].name, key))
		i++;
	tr_buffer_free(&spelling);
	return i < TR_KLOCWORK_KEYS ? read_known(object, keys[i].key, json, err)
				    : read_other(object, body, json, err);
}

static enum tr_json_token read_members(struct tr_klocwork_object *object, struct tr_json *json,
				       struct tr_error *err)
{
	struct tr_text body;
	enum tr_json_token token = tr_json_next(json, &body);
	if (token == TR_JSON_OBJECT_END)
		return token;
	for (;;) {
		struct tr_text none;
		if (token != TR_JSON_STRING)
			break;
		token = tr_json_next(json, &none);
		if (token != TR_JSON_COLON)
			break;
		token = read_member(object, body, json, err);
		if (token == TR_JSON_CUT || token == TR_JSON_BAD)
			return token;
		token = tr_json_next(json, &none);
		if (token == TR_JSON_OBJECT_END)
			return token;
		if (token != TR_JSON_COMMA)
			break;
		token = tr_json_next(json, &body);
	}
	if (token == TR_JSON_CUT)
		tr_error_set(err, TR_CAUSE_INPUT, "the object is cut");
	else
		tr_error_set(err, TR_CAUSE_INPUT, "the object is no valid JSON");
	return token == TR_JSON_CUT ? token : TR_JSON_BAD;
}

static void reset(struct tr_klocwork_object *object)
{
	tr_buffer_reset(&object->text);
	tr_buffer_reset(&object->extra);
	memset(object->pieces, 0, sizeof object->pieces);
	object->id = object->parent_id = object->name = (struct klocwork_piece){ 0, 0 };
	object->extra_count = object->extra_value = 0;
	object->lossy = object->name_lossy = false;
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

enum tr_json_token tr_klocwork_object_read(struct tr_klocwork_object *object,
					   struct tr_json *json, struct tr_error *err)
{
	struct tr_text none;
	reset(object);
	if (tr_json_next(json, &none) != TR_JSON_OBJECT) {
		tr_error_set(err, TR_CAUSE_INPUT, "no JSON object");
		return TR_JSON_BAD;
	}
	enum tr_json_token token = read_members(object, json, err);
	if (object->text.failed || object->extra.failed) {
		tr_error_memory(err);
		return TR_JSON_BAD;
	}
	if (token != TR_JSON_OBJECT_END)
		return token;
	classify(object);
	return TR_JSON_OBJECT;
}

struct tr_text tr_klocwork_object_piece(const struct tr_klocwork_object *object,
					struct klocwork_piece piece)
{
	if (!piece.len)
		return (struct tr_text){ NULL, 0 };
	return (struct tr_text){ object->text.data + piece.begin, piece.len };
}

struct tr_text tr_klocwork_object_name(const struct tr_klocwork_object *object)
{
	struct klocwork_piece none = { 0, 0 };
	return tr_klocwork_object_piece(object, object->extra_count == 1 ? object->name : none);
}

struct tr_text tr_klocwork_object_value(const struct tr_klocwork_object *object)
{
	const struct tr_buffer *extra = &object->extra;
	if (object->extra_count != 1 || extra->len <= object->extra_value)
		return (struct tr_text){ NULL, 0 };
	return tr_text_span(extra->data + object->extra_value, extra->data + extra->len);
}

static void put_piece(const struct tr_klocwork_object *object, struct klocwork_piece piece,
		      struct tr_buffer *to)
{
	tr_buffer_put(to, object->text.data + piece.begin, piece.len);
}

static void put_cell(const struct tr_klocwork_object *object, struct klocwork_piece cell,
		     struct tr_buffer *to)
{
	if (cell.len)
		put_piece(object, cell, to);
	else
		tr_buffer_put_byte(to, '-');
}

static void put_event(const struct tr_klocwork_object *object, uint64_t seq, uint64_t parent,
		      struct tr_buffer *to, struct tr_klocwork_gaps *gaps)
{
	const struct klocwork_piece *pieces = object->pieces;
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
	gaps->flagged = to->len - begin;
	if (object->extra.len) {
		tr_buffer_put_literal(to, "\textra={");
		tr_buffer_put(to, object->extra.data, object->extra.len);
		tr_buffer_put_byte(to, '}');
	}
}

/* META and ENV. An object of several keys that is no event is one value, without a name. */
static void put_context(const struct tr_klocwork_object *object, uint64_t seq,
			struct tr_buffer *to)
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

void tr_klocwork_object_line(const struct tr_klocwork_object *object, uint64_t seq,
			     uint64_t parent, struct tr_buffer *to,
			     struct tr_klocwork_gaps *gaps)
{
	if (object->kind == TR_KLOCWORK_EVENT)
		put_event(object, seq, parent, to, gaps);
	else
		put_context(object, seq, to);
}

void tr_klocwork_object_free(struct tr_klocwork_object *object)
{
	tr_buffer_free(&object->text);
	tr_buffer_free(&object->extra);
}
