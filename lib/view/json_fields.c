/* SPDX-License-Identifier: MIT */
#include "view/json_fields.h"

#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "record/vocabulary.h"

bool tr_json_has_args(struct tr_text kind)
{
	return tr_kind_is_call(kind) || tr_text_is(kind, "sys");
}

static bool starts_private(struct tr_text spelling)
{
	return spelling.len && spelling.data[0] == '.';
}

static enum tr_json_place place_of(const struct tr_record *record, const struct tr_field *field,
				   bool args)
{
	if ((size_t)(field - record->fields) >= record->arrow)
		return tr_text_is(field->key, "return") ? TR_JSON_RETURN : TR_JSON_RESULTS;
	return args && !starts_private(field->key) ? TR_JSON_ARGS : TR_JSON_TOP;
}

/* True for what stands beside the fields of this record. */
static bool is_reserved(const struct tr_record *record, struct tr_text key)
{
	const char *p = key.data;
	switch (key.len) {
	case 3:
		return memcmp(p, "seq", 3) == 0;
	case 4:
		return memcmp(p, "kind", 4) == 0 || memcmp(p, "time", 4) == 0 ||
		       memcmp(p, "task", 4) == 0 || memcmp(p, "name", 4) == 0 ||
		       memcmp(p, "more", 4) == 0;
	default:
		return record->arrow != TR_NO_ARROW &&
		       (tr_text_is(key, "results") || tr_text_is(key, "return"));
	}
}

static bool is_word(struct tr_text key)
{
	for (size_t i = 0; i < key.len; i++) {
		char c = key.data[i];
		if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '_')
			return false;
	}
	return true;
}

/* The key that a spelled one is shown as. */
static enum tr_status decode(struct tr_record *record, struct tr_text spelling, struct tr_text *key,
			     struct tr_error *err)
{
	*key = spelling;
	if (!memchr(spelling.data, '\\', spelling.len))
		return TR_OK;
	struct tr_text bytes;
	struct tr_error why;
	if (!tr_cell_bytes(spelling, record->arena, &bytes, &why)) {
		bool memory = why.cause == TR_CAUSE_MEMORY;
		tr_error_set(err, why.cause, "key: %s", why.text);
		return memory ? TR_FATAL : TR_WARN;
	}
	const char *end = bytes.data + bytes.len;
	if (tr_utf8_check(bytes.data, end) == end)
		*key = bytes;
	return TR_OK;
}

static enum tr_status arrange_field(struct tr_json_field *shown, struct tr_record *record,
				    bool args, struct tr_error *err)
{
	if (!shown->field->key.data) { /* a column that is no field */
		shown->key = TR_TEXT("");
		shown->plain = true;
		shown->place = TR_JSON_MORE;
		return TR_OK;
	}
	enum tr_status status = TR_OK;
	shown->key = shown->field->key;
	shown->plain = is_word(shown->key);
	if (!shown->plain)
		status = decode(record, shown->field->key, &shown->key, err);
	shown->place = place_of(record, shown->field, args);
	if (shown->place == TR_JSON_TOP && is_reserved(record, shown->key))
		shown->place = TR_JSON_MORE;
	return status;
}

static bool same_key(const struct tr_json_field *a, const struct tr_json_field *b)
{
	return a->place == b->place && tr_text_equal(a->key, b->key);
}

static int by_place_and_key(const void *a, const void *b)
{
	const struct tr_json_field *x = *(struct tr_json_field *const *)a;
	const struct tr_json_field *y = *(struct tr_json_field *const *)b;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	size_t len = x->key.len < y->key.len ? x->key.len : y->key.len;
	int order = len ? memcmp(x->key.data, y->key.data, len) : 0;
	if (order)
		return order;
	if (x->key.len != y->key.len)
		return x->key.len < y->key.len ? -1 : 1;
	return x < y ? -1 : 1;
}

/* Of a repeated key the last is the one that counts. */
static void hide_repeated(struct tr_json_fields *fields)
{
	enum { FEW = 8 };
	struct tr_json_field *list = fields->list, **order = fields->order;
	if (fields->count <= FEW) {
		for (size_t i = 0; i < fields->count; i++)
			for (size_t j = i + 1; j < fields->count; j++)
				if (same_key(&list[i], &list[j]))
					list[i].place = TR_JSON_MORE;
		return;
	}
	for (size_t i = 0; i < fields->count; i++)
		order[i] = &list[i];
	qsort(order, fields->count, sizeof *order, by_place_and_key);
	for (size_t i = 0; i + 1 < fields->count; i++)
		if (same_key(order[i], order[i + 1]))
			order[i]->place = TR_JSON_MORE;
}

static bool reserve(struct tr_json_fields *fields, size_t count)
{
	if (count <= fields->capacity)
		return true;
	if (count > SIZE_MAX / 2 / sizeof *fields->list)
		return false;
	size_t capacity = count + count / 4; /* most records of a trace are alike */
	struct tr_json_field *list = realloc(fields->list, capacity * sizeof *list);
	if (list)
		fields->list = list;
	struct tr_json_field **order = realloc(fields->order, capacity * sizeof *order);
	if (order)
		fields->order = order;
	if (!list || !order)
		return false;
	fields->capacity = capacity;
	return true;
}

enum tr_status tr_json_fields_arrange(struct tr_json_fields *fields, struct tr_record *record,
				      struct tr_error *err)
{
	enum tr_status worst = TR_OK;
	if (!reserve(fields, record->count))
		return tr_error_memory(err);
	bool args = tr_json_has_args(record->kind);
	fields->count = record->count;
	for (size_t i = 0; i < record->count; i++) {
		fields->list[i].field = &record->fields[i];
		enum tr_status status =
			arrange_field(&fields->list[i], record, args, worst == TR_OK ? err : NULL);
		if (status == TR_FATAL)
			return tr_error_memory(err);
		if (status > worst)
			worst = status;
	}
	hide_repeated(fields);
	return worst;
}

void tr_json_fields_free(struct tr_json_fields *fields)
{
	free(fields->list);
	free(fields->order);
	*fields = (struct tr_json_fields){ 0 };
}
