/* SPDX-License-Identifier: MIT */
/* Parses the fields that may have blobs, and changes the values in place, in the record's arena. */

#include "record/blobs.h"

#include "record/literal.h"

/* A call of tr_record_blobs. */
struct work {
	enum tr_blobs what;
	struct tr_blob_dir *dir;
	struct tr_arena *arena;
	struct tr_error *err;
	bool changed; /* the current field */
};

/* Keeps the bytes of a blob in a file of the directory, and puts the file's name in their place. */
static enum tr_status store(struct work *w, struct tr_value *value)
{
	char *name = tr_arena_alloc(w->arena, TR_SHA256_HEX);

	if (!name) {
		tr_error_memory(w->err);
		return TR_FATAL;
	}
	if (!tr_blob_dir_put(w->dir, value->text, name, w->err))
		return TR_FATAL;
	value->type = TR_BLOB_FILE;
	value->as.number = value->text.len;
	value->text = (struct tr_text){ name, TR_SHA256_HEX };
	return TR_OK;
}

/*
 * Reads the bytes of a blob that was stored. TR_WARN: the file is missing, or has other contents.
 */
static enum tr_status fetch(struct work *w, struct tr_value *value)
{
	enum tr_status status = tr_blob_dir_get(w->dir, value->text, value->as.number, w->arena,
						&value->text, w->err);

	if (status == TR_OK)
		value->type = TR_BLOB;
	return status;
}

/* Changes a value if it is such a blob, and sets w->changed then. */
static enum tr_status change(struct work *w, struct tr_value *value)
{
	if (value->type != (w->what == TR_BLOBS_FETCH ? TR_BLOB_FILE : TR_BLOB))
		return TR_OK;
	w->changed = true;
	if (w->what == TR_BLOBS_FETCH)
		return fetch(w, value);
	if (w->what == TR_BLOBS_STORE)
		return store(w, value);
	value->type = TR_BLOB_LEFT;
	value->as.number = value->text.len;
	return TR_OK;
}

/* Changes all blobs in a value. The recursion is bounded by TR_LITERAL_DEPTH. */
static enum tr_status walk(struct work *w, struct tr_value *value)
{
	enum tr_status status = TR_OK;

	switch (value->type) {
	case TR_LIST:
	case TR_REPR:
		for (size_t i = 0; i < value->count && status == TR_OK; i++)
			status = walk(w, &value->as.items[i]);
		return status;
	case TR_MAP:
	case TR_STRUCT:
		for (size_t i = 0; i < value->count && status == TR_OK; i++)
			status = walk(w, value->as.members[i].value);
		return status;
	default:
		return change(w, value);
	}
}

/* True if the text may contain a value that is to be changed; it may also be part of a string. */
static bool may_have(enum tr_blobs what, struct tr_text text)
{
	return what == TR_BLOBS_FETCH ? memmem(text.data, text.len, "file:", 5) != NULL
				      : memmem(text.data, text.len, "b64:", 4) != NULL;
}

/* True if the field may contain such a value. */
static bool is_candidate(const struct work *w, const struct tr_field *field)
{
	bool exact = field->key.len && *field->key.data == '.';

	return !exact && (!field->text.data || may_have(w->what, field->text));
}

/*
 * Parses the fields that may change. A record with a malformed field is left unchanged, because it
 * could not be written if it were changed: then the result is TR_WARN.
 */
static enum tr_status prepare(struct work *w, struct tr_record *record)
{
	struct tr_error why;
	enum tr_status status = tr_record_split(record, &why);

	for (size_t i = 0; i < record->count && status == TR_OK; i++) {
		struct tr_field *field = &record->fields[i];
		bool good = true;
		if (is_candidate(w, field))
			good = tr_field_value(record, field, &why);
		else if (field->text.data)
			good = tr_literal_check(field->text, NULL, &why) != TR_MALFORMED;
		if (!good)
			status = tr_error_status(&why);
	}
	if (status == TR_FATAL)
		tr_error_memory(w->err);
	return status;
}

/* Changes the blobs in a field, whose text is then dropped. */
static enum tr_status change_field(struct work *w, struct tr_field *field)
{
	w->changed = false;
	enum tr_status status = walk(w, field->value);
	if (w->changed)
		field->text.data = NULL;
	return status;
}

enum tr_status tr_record_blobs(struct tr_record *record, enum tr_blobs what,
			       struct tr_blob_dir *dir, struct tr_error *err)
{
	struct work w = { what, dir, record->arena, err, false };
	bool changed = false;

	if (record->type != TR_RECORD || (record->line.data && !may_have(what, record->rest)))
		return TR_OK;
	enum tr_status status = prepare(&w, record);
	if (status != TR_OK)
		return status == TR_FATAL ? TR_FATAL : TR_OK;
	for (size_t i = 0; i < record->count && status == TR_OK; i++) {
		if (is_candidate(&w, &record->fields[i]))
			status = change_field(&w, &record->fields[i]);
		changed = changed || w.changed;
	}
	if (changed)
		record->line.data = NULL;
	return status;
}
