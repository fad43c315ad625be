#include "record/ask.h"

const struct tr_value *tr_ask(struct tr_record *record, const char *key, enum tr_type type,
			      struct tr_error *err)
{
	struct tr_error why;
	struct tr_value *value = NULL;

	tr_error_clear(&why);
	if (tr_record_split(record, &why) != TR_FATAL) {
		struct tr_field *field = tr_record_field(record, key);
		value = field ? tr_field_value(record, field, &why) : NULL;
	}
	if (!value && why.cause == TR_CAUSE_MEMORY)
		*err = why;
	return value && value->type == type ? value : NULL;
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
