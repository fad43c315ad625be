#include "record/ask.h"

#include "core/buffer.h"

static struct tr_field *find(struct tr_record *record, const char *key, struct tr_error *err)
{
	struct tr_error why;

	tr_error_clear(&why);
	if (tr_record_split(record, &why) != TR_FATAL)
		return tr_record_field(record, key);
	*err = why;
	return NULL;
}

const struct tr_value *tr_ask_field(struct tr_record *record, struct tr_field *field,
				    struct tr_error *err)
{
	struct tr_error why;

	tr_error_clear(&why);
	struct tr_value *value = tr_field_value(record, field, &why);
	if (!value && why.cause == TR_CAUSE_MEMORY)
		*err = why;
	return value;
}

const struct tr_value *tr_ask_any(struct tr_record *record, const char *key, struct tr_error *err)
{
	struct tr_field *field = find(record, key, err);

	return field ? tr_ask_field(record, field, err) : NULL;
}

bool tr_ask_has(struct tr_record *record, const char *key, struct tr_error *err)
{
	return find(record, key, err) != NULL;
}

const struct tr_value *tr_ask(struct tr_record *record, const char *key, enum tr_type type,
			      struct tr_error *err)
{
	const struct tr_value *value = tr_ask_any(record, key, err);

	return value && value->type == type ? value : NULL;
}

struct tr_text tr_ask_cell(const struct tr_cell *cell, struct tr_arena *arena, struct tr_error *err)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_text bytes = cell->text;
	struct tr_error why;

	tr_error_clear(&why);
	if (cell->type == TR_CELL_TEXT) {
		if (tr_cell_bytes(cell->text, arena, &bytes, &why))
			return bytes;
		bytes = why.cause == TR_CAUSE_MEMORY ? (struct tr_text){ NULL, 0 } : cell->text;
	} else {
		tr_cell_write(cell, &text);
		bytes = text.failed ? (struct tr_text){ NULL, 0 }
				    : tr_arena_copy(arena, tr_buffer_text(&text));
		tr_buffer_free(&text);
	}
	if (!bytes.data)
		tr_error_memory(err);
	return bytes;
}

struct tr_text tr_ask_string(struct tr_record *record, const char *key, struct tr_error *err)
{
	const struct tr_value *value = tr_ask(record, key, TR_STRING, err);
	struct tr_text bytes = { NULL, 0 };

	if (!value)
		return bytes;
	bytes = tr_string_bytes(value->text, record->arena);
	if (!bytes.data)
		tr_error_memory(err);
	return bytes;
}

uint64_t tr_ask_number(struct tr_record *record, const char *key, uint64_t otherwise,
		       struct tr_error *err)
{
	const struct tr_value *value = tr_ask(record, key, TR_UINT, err);

	return value ? value->as.number : otherwise;
}

bool tr_ask_is(struct tr_record *record, const char *key, const char *word, struct tr_error *err)
{
	const struct tr_value *value = tr_ask(record, key, TR_SYMBOL, err);

	return value && value->as.symbol->numbered == TR_SYMBOL_WORDS &&
	       value->as.symbol->count == 1 && tr_text_is(value->as.symbol->names[0].text, word);
}
