/* What the writers of both formats share. */
#include "format/compdb/compdb.h"
#include "record/json.h"
#include "record/literal.h"

bool tr_compdb_call_config(const struct tr_settings *settings, struct tr_call_config *config,
			   struct tr_tool_config **tools, struct tr_error *err)
{
	struct tr_text quoting = tr_setting_get(settings, "quoting", "auto");
	struct tr_text path = tr_setting_get(settings, "tools", "");

	config->quoting = tr_text_is(quoting, "gnu")	   ? TR_CALL_QUOTING_GNU
			  : tr_text_is(quoting, "windows") ? TR_CALL_QUOTING_WINDOWS
							   : TR_CALL_QUOTING_AUTO;
	if (!path.len)
		return true;
	*tools = tr_text_is(path, "xcalbuild") ? tr_tool_config_xcalbuild(err)
					       : tr_tool_config_read(path, err);
	config->tools = *tools;
	return *tools != NULL;
}

enum tr_status tr_compdb_extra(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, "extra");
	struct tr_value *value = field ? tr_field_value(record, field, err) : NULL;
	struct tr_buffer literal = TR_BUFFER_INIT;
	size_t begin = to->len;

	if (!field)
		return TR_OK;
	if (!value || value->type != TR_MAP) {
		if (value)
			tr_error_set(err, TR_CAUSE_INPUT, "extra: no map");
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	}
	tr_literal_write(value, &literal);
	bool done = !literal.failed &&
		    tr_json_from_literal(tr_buffer_text(&literal), record->arena, to, err);
	if (literal.failed || to->failed)
		tr_error_memory(err);
	tr_buffer_free(&literal);
	if (!done || to->failed) {
		to->len = begin;
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	}
	/* without its braces */
	memmove(to->data + begin, to->data + begin + 1, to->len - begin - 2);
	to->len -= 2;
	return TR_OK;
}
