#include "format/klocwork/id.h"

#include <string.h>

#include "core/input.h"
#include "record/json.h"

bool tr_klocwork_id_is_plain(struct tr_text text)
{
	if (text.len && text.data[0] == '-')
		text = (struct tr_text){ text.data + 1, text.len - 1 };
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
	return text.len && (text.data[0] != '0' || text.len == 1);
}

static bool spell(struct tr_json *json, struct tr_buffer *to, enum tr_json_token *token)
{
	struct tr_error ignored;
	*token = tr_json_spell(json, to, NULL, &ignored);
	return *token != TR_JSON_BAD && *token != TR_JSON_CUT;
}

void tr_klocwork_number_key(struct tr_text number, struct tr_buffer *to)
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
	/* 1e3 is 1000, too; a REAL that is written with .0 is exactly that integer */
	struct tr_text key = tr_text_span(to->data + begin, to->data + to->len);
	if (key.len > 2 && memcmp(key.data + key.len - 2, ".0", 2) == 0)
		to->len -= 2;
}

static void put_key(struct tr_json json, struct tr_buffer *to)
{
	struct tr_json next = json;
	struct tr_text number;
	enum tr_json_token token;
	if (tr_json_next(&next, &number) == TR_JSON_NUMBER)
		tr_klocwork_number_key(number, to);
	else if (!spell(&json, to, &token))
		to->len = 0;
}

bool tr_klocwork_id_key(struct tr_text json, struct tr_arena *arena, struct tr_text *key)
{
	*key = json;
	if (tr_klocwork_id_is_plain(json))
		return true;
	struct tr_buffer to = TR_BUFFER_INIT;
	char *copy = tr_arena_alloc(arena, json.len + TR_INPUT_PAD);
	if (!copy)
		return false;
	memcpy(copy, json.data, json.len);
	memset(copy + json.len, 0, TR_INPUT_PAD);
	put_key((struct tr_json){ copy, copy + json.len }, &to);
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
